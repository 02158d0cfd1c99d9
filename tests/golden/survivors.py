"""Reads survivors.txt: the changes of a recording that its replay may leave unnoticed, each with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.golden.mutating import Change, covers
from tests.golden.recording import Unreadable

ANY = "*"


class Listed(NamedTuple):
    """One line of the list: kinds, fields and changes that it stands for, and why nobody has to notice them."""

    kind: str
    field: str
    what: str
    reason: str

    def has(self, change: Change) -> bool:
        """Say whether a change is one of those."""
        of_kind = covers(self.kind, change.shape) or change.shape.startswith(f"{self.kind}:")
        return of_kind and covers(self.field, change.field) and self.what in {ANY, change.what}


def read_survivors(path: Path) -> list[Listed]:
    """Return the lines of a list, empty ones and ``#`` comments aside. Raises Unreadable."""
    found = []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path}: {error}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) != 4 or not all(columns):
            raise Unreadable(f"{path}, line {number}: write kind, field, what was done and the reason, a tab between")
        found.append(Listed(*columns))
    return found
