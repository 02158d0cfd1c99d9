"""The tables of this room as they are kept: a row a line, its columns apart by `` | ``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).with_name("data")


def rows(name: str) -> Iterator[list[str]]:
    """Yield the columns of each row of a table; blank lines and those that begin with # are passed over."""
    for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield [column.strip() for column in line.split(" | ")]
