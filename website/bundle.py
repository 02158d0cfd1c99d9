"""Two archives of byte code for the playground, made in pyodide by the Python that will run them.

``now`` has the data of an answer about a crontab line, whose modules are in the snapshot; ``later`` has all the rest.
"""

from __future__ import annotations

import io
import json
import py_compile
import site
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(site.getsitepackages()[0])
LINES = ("30 7 * * 1-5", "0 6 1-10/3 * 1", "*/7 2 * * 0", "60 6 * * 1", "0 0 30 2 *", "0 6 * *", "61-60 6 * * 9/0")
ZONES = ("UTC", "Europe/Berlin")
LEFT_OUT = ("RECORD", "WHEEL")


def questions() -> list[str]:
    """Return what is asked before the snapshot."""
    common = {"now": 1_795_172_400, "window": "900", "prep": ""}
    asked = [(kind, line, zone) for line in LINES for zone in ZONES for kind in ("schedule", "compile")]
    return [json.dumps({**common, "kind": kind, "text": line, "zone": zone}) for kind, line, zone in asked]


def archives() -> tuple[bytes, bytes]:
    """Return both; the Python files in site-packages are compiled and removed."""
    for source in [*ROOT.rglob("*.py")]:
        name = str(source.relative_to(ROOT))
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(source), str(source.with_suffix(".pyc")), name, doraise=True, invalidation_mode=mode)
        source.unlink()
    files = sorted(file for file in ROOT.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    now = [file for file in files if _is_needed(file)]
    chosen = set(now)
    return _archive(now), _archive(file for file in files if file not in chosen and file.name not in LEFT_OUT)


def _is_needed(file: Path) -> bool:
    first, *_ = file.relative_to(ROOT).parts
    is_data = file.suffix != ".pyc" and first in {"crondor", "crondor_cli"}
    return first == "tzdata" or is_data or file.name == "METADATA"


def _archive(files: Iterable[Path]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for file in files:
            entry = zipfile.ZipInfo(str(file.relative_to(ROOT)))  # without the time: of the same files the same archive
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
    return made.getvalue()
