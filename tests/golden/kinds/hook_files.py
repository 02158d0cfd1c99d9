"""The files that lie beside a recording of hooks."""

import gzip
import json
from functools import lru_cache
from pathlib import Path

from tests.golden.kinds.case import Malformed


def knob_of(line: str) -> tuple[str, str]:
    """Return name and value of a line of a configuration."""
    name, _, value = line.partition("=")
    return name.strip(), value.strip()


@lru_cache(maxsize=8)
def lines_of(path: Path) -> tuple[dict[str, object], ...]:
    """Return the lines of a file that lies beside the recording."""
    packed = path.with_name(f"{path.name}.gz")
    try:
        data = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
        lines = data.decode("utf-8").splitlines()
    except OSError as error:
        raise Malformed("folder", f"{path.name} must lie beside it: {error}") from None
    return tuple(json.loads(line) for line in lines if line)


@lru_cache(maxsize=2)
def config_of(folder: Path) -> dict[str, str]:
    """Return the knobs of the hooks, and ``t0``, the epoch second of the common zero."""
    data = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    knobs = dict(map(knob_of, data["hook_config"]))
    return {**{name: value.replace("$(LOG)", "/var/log/condor") for name, value in knobs.items()}, "t0": data["t0"]}
