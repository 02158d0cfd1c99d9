"""The tables of this room as they are kept: a row a line, its columns apart by `` | ``."""

from __future__ import annotations

import os  # not pathlib, which takes 6 ms to import: every check reads a table
from collections.abc import Iterator
from typing import Final

_FOLDER: Final = f"{os.path.dirname(__file__)}/data"  # noqa: PTH120


def lines(name: str) -> list[str]:
    """Return the rows of a table as they are; blank lines and those that begin with # are passed over."""
    with open(f"{_FOLDER}/{name}", encoding="utf-8") as file:  # noqa: PTH123
        return [line for line in file.read().splitlines() if line and line[0] != "#"]


def columns(line: str) -> list[str]:
    """Return the columns of a row."""
    return [column.strip() for column in line.split(" | ")]


def rows(name: str) -> Iterator[list[str]]:
    """Yield the columns of each row of a table."""
    return map(columns, lines(name))
