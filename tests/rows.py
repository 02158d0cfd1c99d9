"""Long tables of tests, kept as data."""

import json
from pathlib import Path
from typing import Any


def rows(name: str) -> list[Any]:
    """Return the rows of a file below tests: a value of JSON in each line that is not a comment."""
    lines = (Path(__file__).parent / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line and not line.startswith("#")]
