"""`crondor check` on thousands of files: recorded descriptions and those of the examples, each read as a file."""

from __future__ import annotations

import gzip
import json
import tempfile
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from time import process_time
from typing import NamedTuple

from crondor.diagnostics import CrondorError
from crondor.lint.submit import fixed
from crondor.submit import read_submit
from crondor_cli.check.command import CheckOptions, run
from crondor_cli.kit.files import read_source
from crondor_cli.kit.options import Surroundings

FILES = 2000
_ROOT = Path(__file__).resolve().parent.parent
_ROUNDS = 3
_NOW = "2026-11-20 12:00"


class Measured(NamedTuple):
    """Median seconds of the processor for reading all files, for checking them, and for curing them after that.

    ``findings`` and ``cured`` say how many findings there are, and how many files are another after --fix.
    """

    reading: float
    seconds: float
    fixing: float
    findings: int
    cured: int


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
        options = CheckOptions((), (), Surroundings(), "UTC", 300, strict=False, no_files=False, now=_NOW)
        reading, checking, fixing = list[float](), list[float](), list[float]()
        for _ in range(_ROUNDS):
            begun = process_time()
            for name in paths:
                with suppress(CrondorError):
                    read_submit(read_source(name))
            read = process_time()
            result = run(tuple(paths), options, 1)
            checked = process_time()
            cured = [fixed(report, result.settings, read=result.read) for report in result.reports]
            reading.append(read - begun)
            checking.append(checked - read)
            fixing.append(process_time() - checked)
        changed = sum(bool(each.titles) for each in cured)
        found = sum(1 for _ in result.all_findings)
        return Measured(median(reading), median(checking), median(fixing), found, changed)
