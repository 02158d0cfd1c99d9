"""The items of a queue statement: where they stand, how a row of them is cut into columns, and all of them in order.

HTCondor: SubmitForeachArgs::split_item, SubmitForeachArgs::load_schema.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from typing import NamedTuple

from crondor.macro import LogicalLine
from crondor.source import Source, Span

_ITEM = r"[^, \t\r\n]+"
_UNIT_SEPARATOR = "\x1f"  # where a row has one, it is the only separator


class Part(NamedTuple):
    """A piece of an item list: one row, or several items; ``line`` and ``shift`` lead back to the source."""

    text: str
    line: LogicalLine | None
    shift: int
    is_row: bool

    def items(self) -> Iterator[Item]:
        """Yield the items of this part."""
        if self.is_row:
            yield Item(self.text, self, 0)
            return
        for found in re.finditer(_ITEM, self.text):
            item = found[0].strip("\v\f")
            if item:
                yield Item(item, self, found.start() + len(found[0]) - len(found[0].lstrip("\v\f")))

    def span(self, start: int, end: int) -> Span | None:
        """Return the place of characters of this part, None where macros stand between it and the source."""
        return self.line.span(self.shift + start, self.shift + end) if self.line else None


class Item(NamedTuple):
    """One item, and where it begins in its part."""

    text: str
    part: Part
    start: int


class Layout(NamedTuple):
    """How a row is cut into columns, as ``from table(...)`` says it.

    ``separator`` separates, blanks too where ``by_blanks``; ``header`` is the number of the row with the names of the
    columns, -1 without one; ``skip`` is how many rows are left out behind it.
    """

    header: int = -1
    skip: int = 0
    by_blanks: bool = True
    trims: bool = True
    separator: str = ","

    def columns(self, row: str, variables: int, *, fills: bool = True) -> list[tuple[int, int]]:
        """Return where the value of each variable begins and ends in a row; [] for a blank row.

        The last variable takes the rest of the row. A row that has fewer values gives empty ones, where it ``fills``.
        """
        blanks = " \t" if self.trims else ""
        start, end = _trimmed(row, 0, len(row), blanks)
        if start == end:
            return []
        if self == Layout() and _UNIT_SEPARATOR in row:
            separators = _UNIT_SEPARATOR
        else:
            separators = self.separator + (" \t" if self.by_blanks or not self.separator else "")
        separator = re.compile(f"[{re.escape(separators)}]")
        places: list[tuple[int, int]] = []
        while len(places) < variables - 1:
            found = separator.search(row, start, end)
            if found is None:
                break
            places.append(_trimmed(row, start, found.start(), blanks))
            start = _trimmed(row, found.end(), end, blanks)[0]
        places.append((start, end))
        return places + [(end, end)] * (variables - len(places)) if fills else places

    def split(self, row: str) -> list[str]:
        """Return all columns of a row, the empty ones too; [] for a blank row."""
        most = 1 + len(row)
        return [row[start:end] for start, end in self.columns(row, most, fills=False)]


TABLE = Layout(header=0, by_blanks=False)
CSV = Layout(by_blanks=False)


class Items:
    """The parts of a list, in order; rows that stand in a source by themselves cost two numbers each.

    ``blank`` and ``comment`` are the first lines that are empty, or begin with a number sign.
    """

    __slots__ = ("_count", "_lines", "_lowest", "_parts", "_source", "_starts", "are_rows", "blank", "comment")

    def __init__(self, parts: tuple[Part, ...] = (), *, are_rows: bool = False) -> None:
        """Begin with the parts that stand on the line of the statement."""
        self._parts = parts
        self.are_rows = are_rows
        self._source: Source | None = None
        self._starts = array("q")
        self._lines: dict[int, LogicalLine] = {}
        self._count = -1
        self._lowest = 0
        self.blank: LogicalLine | None = None
        self.comment: LogicalLine | None = None

    def _state(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__ if name != "_count")

    def __eq__(self, other: object) -> bool:
        """Compare the parts, and where they stand."""
        return self._state() == other._state() if isinstance(other, Items) else NotImplemented

    def __hash__(self) -> int:
        """Hash the parts of the statement's line."""
        return hash(self._parts)

    def __repr__(self) -> str:
        """Return the number of items."""
        return f"<Items: {len(self)}>"

    def add(self, line: LogicalLine) -> None:
        """Add a line of the list; all lines come from one source."""
        self._count = -1
        self._source = line.source
        extent = line.extent
        if not line.text:
            self.blank = self.blank or line
        elif line.text[0] == "#":
            self.comment = self.comment or line
        if extent is None:
            self._lines[len(self._starts) // 2] = line
            extent = (0, 0)
        self._starts.extend(extent)

    def drop(self, number: int, before: int) -> None:
        """Leave out the row ``number``, and then the first ``before`` rows."""
        rows = [row for index, row in enumerate(self._all()) if index != number]
        self._parts, self._lowest = tuple(rows[before:]), len(self._starts) // 2
        self._count = -1

    def __iter__(self) -> Iterator[Item]:
        """Yield the items."""
        for part in self._all():
            yield from part.items()

    def __len__(self) -> int:
        """Return how many items there are."""
        if self._count < 0:
            if self.are_rows:
                self._count = len(self._parts) + len(self._starts) // 2 - self._lowest
            else:
                self._count = sum(1 for _ in self)
        return self._count

    @property
    def lines(self) -> int:
        """How many lines were added."""
        return len(self._starts) // 2

    def _all(self) -> Iterator[Part]:
        yield from self._parts
        source = self._source
        if source is None:
            return
        for number in range(self._lowest, len(self._starts) // 2):
            line = self._lines.get(number)
            if line is None:
                start, end = self._starts[2 * number], self._starts[2 * number + 1]
                line = LogicalLine(source, source.text[start:end], (0,), (start,))
            yield Part(line.text, line, 0, self.are_rows)


def _trimmed(text: str, start: int, end: int, blanks: str) -> tuple[int, int]:
    while start < end and text[start] in blanks:
        start += 1
    while end > start and text[end - 1] in blanks:
        end -= 1
    return start, end
