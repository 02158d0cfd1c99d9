"""A text with a name, and a piece of it: what every error points at."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple, NoReturn

from crondor._types import Made, expect


class Source(Made):
    """A text and the name people know it by (a path, ``<stdin>``, a field's name).

    Two sources are equal that have the same name and text: equal texts in two files are two places.
    """

    __slots__ = ("_line_starts", "name", "text")

    text: str
    name: str
    _line_starts: list[int]

    def __init__(self, text: str, name: str = "<text>") -> None:
        """Take the text as it is."""
        expect("text", text, str, "text", "for bytes bytes.decode()")
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_line_starts", [])

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: a source never changes."""
        message = f"Source is immutable: {name}"
        raise AttributeError(message)

    def _made_of(self) -> tuple[str, str]:
        return self.text, self.name

    def __repr__(self) -> str:
        """Return the name and the size."""
        return f"<Source {self.name!r}, {len(self.text)} characters>"

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """Return the piece from offset ``start`` to ``end`` (characters, end excluded; None: to the end)."""
        size = len(self.text)
        end = size if end is None else end
        start = max(0, min(start, size))
        return Span(self, start, max(start, min(end, size)))

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column (both from 1, columns in characters) of an offset."""
        starts = self._starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return the text of a line (from 1), without its line end."""
        starts = self._starts()
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    def _starts(self) -> list[int]:
        if not self._line_starts:
            starts, at = [0], self.text.find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = self.text.find("\n", at + 1)
            self._line_starts.extend(starts)
        return self._line_starts


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends, parted where HTCondor and patch(1) do: at line feeds alone."""
    parts = text.split("\n")
    last = parts.pop()
    return [*(f"{part}\n" for part in parts), *([last] if last else [])]


class Span(NamedTuple):
    """The characters ``start`` to ``end`` (end excluded) of a source."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters themselves."""
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        """The line the span begins on, from 1."""
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        """The column the span begins at, from 1, in characters."""
        return self.source.position(self.start)[1]

    @property
    def location(self) -> str:
        """``name:line:column``, as editors and compilers write it."""
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"

    def part(self, start: int, end: int | None = None) -> Span:
        """Return a piece of this span, offsets counted from its beginning and kept inside it."""
        low = min(self.start + max(0, start), self.end)
        high = self.end if end is None else min(self.start + max(0, end), self.end)
        return Span(self.source, low, max(low, high))
