"""`crondor check` on thousands of files: recorded descriptions and those of the examples, each read as a file."""

from __future__ import annotations

import gzip
import json
import tempfile
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from time import process_time
from typing import NamedTuple

from crondor_cli.check.run import CheckOptions, run
from crondor_cli.common.options import Surroundings

FILES = 2000
_ROOT = Path(__file__).resolve().parent.parent
_ROUNDS = 3
_NOW = "2026-11-20 12:00"


class Measured(NamedTuple):
    """Median seconds of the processor for all files, and how many findings there are."""

    seconds: float
    findings: int


def texts() -> list[str]:
    """Return the descriptions, each once."""
    recorded = gzip.decompress((_ROOT / "tests/golden/submit/submit.jsonl.gz").read_bytes()).splitlines()
    shown = (path.read_text(encoding="utf-8") for path in sorted((_ROOT / "examples").glob("*.sub")))
    return list(dict.fromkeys((*(json.loads(line)["submit"] for line in recorded), *shown)))


def measured() -> Measured:
    """Check the files as the command does, without what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, text in enumerate(islice(cycle(texts()), FILES)):
            path = Path(folder, f"{number}.sub")
            path.write_text(text, encoding="utf-8", newline="")
            paths.append(str(path))
        times = []
        for _ in range(_ROUNDS):
            start = process_time()
            result = run(tuple(paths), CheckOptions((), (), Surroundings(), "UTC", 300, strict=False), _NOW)
            times.append(process_time() - start)
        return Measured(median(times), sum(1 for _ in result.all_findings))
