"""Reads survivors.txt: the changes of a recording that its replay may leave unnoticed, each with the reason."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.golden.mutating import Change, Outcome, covers
from tests.golden.recording import Unreadable

ANY = "*"
SOMETIMES = "sometimes"
"""Any change of a field, as long as others of the same field are noticed in the same run."""
MOSTLY = "mostly"
"""Any change that the line stands for, as long as more of these are noticed in the same run than are not."""


class Listed(NamedTuple):
    """One line of the list: kinds, fields and changes that it stands for, and why nobody has to notice them."""

    kind: str
    field: str
    what: str
    reason: str

    def has(self, change: Change, outcome: Outcome) -> bool:
        """Say whether a change is one of those."""
        of_kind = covers(self.kind, change.shape) or change.shape.startswith(f"{self.kind}:")
        if not of_kind or not covers(self.field, change.field):
            return False
        if self.what == SOMETIMES:
            return any(each.field == change.field for each in outcome.noticed)
        if self.what == MOSTLY:
            return self._count(outcome.noticed) > self._count(outcome.survived)
        return self.what in {ANY, change.what}

    def _count(self, changes: Counter[Change]) -> int:
        return sum(count for change, count in changes.items() if covers(self.field, change.field))


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


def unlisted(outcome: Outcome, listed: list[Listed]) -> dict[Change, str]:
    """Return the survivors that stand in no line of the list, with an example each."""
    found = sorted(outcome.survived)
    return {each: outcome.examples[each] for each in found if not any(line.has(each, outcome) for line in listed)}
