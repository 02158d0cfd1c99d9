"""Two archives of byte code for the playground, made in pyodide by the Python that will run them.

``now`` has what an answer about a crontab line needs, found out by asking some; ``later`` has all the rest. Compiling
and unpacking in the browser took two thirds of the time to the first answer.
"""

from __future__ import annotations

import importlib
import io
import json
import py_compile
import site
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(site.getsitepackages()[0])
LINES = ("30 7 * * 1-5", "0 6 1-10/3 * 1", "*/7 2 * * 0", "60 6 * * 1", "0 0 30 2 *", "0 6 * *", "61-60 6 * * 9/0")
TO_BE_PRESENT = ("tzdata",)  # what is read by name, not imported
LEFT_OUT = ("RECORD", "WHEEL")


def archives() -> tuple[bytes, bytes]:
    """Return both; the Python files in site-packages are compiled and removed."""
    _ask()
    loaded = {Path(file) for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
    for source in [*ROOT.rglob("*.py")]:
        name = str(source.relative_to(ROOT))
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(source), str(source.with_suffix(".pyc")), name, doraise=True, invalidation_mode=mode)
        source.unlink()
    files = sorted(file for file in ROOT.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    now = [file for file in files if _is_needed(file, loaded)]
    chosen = set(now)
    return _archive(now), _archive(file for file in files if file not in chosen and file.name not in LEFT_OUT)


def _ask() -> None:
    engine = importlib.import_module("engine")  # it stands in the folder that this fills archives from
    for line in LINES:
        for zone in ("UTC", "Europe/Berlin"):
            question = {
                "kind": "schedule",
                "text": line,
                "zone": zone,
                "now": 1_795_172_400,
                "window": "900",
                "prep": "",
            }
            json.loads(engine.answer(json.dumps(question)))


def _is_needed(file: Path, loaded: set[Path]) -> bool:
    first, *_ = file.relative_to(ROOT).parts
    is_data = file.suffix != ".pyc" and first in {"crondor", "crondor_cli"}
    return file.with_suffix(".py") in loaded or first in TO_BE_PRESENT or is_data or file.name == "METADATA"


def _archive(files: Iterable[Path]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for file in files:
            entry = zipfile.ZipInfo(str(file.relative_to(ROOT)))  # without the time: of the same files the same archive
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
    return made.getvalue()
