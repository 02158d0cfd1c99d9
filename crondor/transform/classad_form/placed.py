"""A text put together from pieces of others (macros, continued lines), each character still known by its place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from itertools import accumulate
from typing import NamedTuple

from crondor.macro.lines import LogicalLine
from crondor.macro.scan import MacroKind, Scanner
from crondor.source import Source, Span

STRINGS = (
    r'"[^"\\]*(?:\\[\s\S][^"\\]*)*("|\\?\Z)|\'[^\'\\]*(?:\\[\s\S][^\'\\]*)*(\'|\\?\Z)|//[^\n]*|/\*[\s\S]*?(\*/|\Z)'
)
"""Strings, names in quotes and comments; ``is_closed`` tells those that have no end, behind which there is nothing."""

_STRING = re.compile(STRINGS)
_FAR = 1 << 62


class Macros(Enum):
    """What becomes of $(macros): all EXPANDED, those inside strings KEPT, or all left RAW."""

    EXPANDED = "expanded"
    KEPT = "kept"
    RAW = "raw"


class Segment(NamedTuple):
    """A piece: characters of a line from ``at`` on, or what stands for the one place ``span``."""

    text: str
    line: LogicalLine | None = None
    at: int = 0
    span: Span | None = None

    def place(self, start: int, end: int) -> Span:
        """Return where characters ``start`` to ``end`` come from."""
        if self.line is not None:
            return self.line.span(self.at + start, self.at + end)
        return self.span or Source("").span()


class Placed:
    """The text of some segments in a row."""

    __slots__ = ("_segments", "_starts", "text")

    def __init__(self, segments: Sequence[Segment]) -> None:
        """Join them."""
        self._segments = tuple(each for each in segments if each.text) or tuple(segments[:1]) or (Segment(""),)
        self._starts = [0, *accumulate(len(each.text) for each in self._segments[:-1])]
        self.text = "".join(each.text for each in self._segments)

    @classmethod
    def of(cls, source: Source) -> Placed:
        """Return the whole of a source."""
        return cls([Segment(source.text, LogicalLine(source, source.text, (0,), (0,)))])

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """Return where characters ``start`` to ``end`` come from: one piece of the source of the first of them."""
        end = len(self.text) if end is None else max(start, end)
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, max(start, end - 1)) - 1
        low = self._inside(first, start, end)
        high = low if first == last else self._inside(last, self._starts[last], end)
        is_one = low.source is high.source and high.end >= low.start
        return Span(low.source, low.start, high.end) if is_one else low

    def _inside(self, number: int, start: int, end: int) -> Span:
        segment, begin = self._segments[number], self._starts[number]
        return segment.place(start - begin, min(end - begin, len(segment.text)))

    def segments(self, start: int, end: int) -> Iterator[Segment]:
        """Yield the segments of a piece."""
        for number in range(max(0, bisect_right(self._starts, start) - 1), len(self._segments)):
            segment, begin = self._segments[number], self._starts[number]
            if begin >= end:
                return
            low, high = max(start - begin, 0), min(end - begin, len(segment.text))
            if low < high:
                at = segment.at + low if segment.line is not None else 0
                yield segment._replace(text=segment.text[low:high], at=at)

    def expanded(self, fill: Callable[[str], str], macros: Macros = Macros.EXPANDED) -> Placed:
        """Return the text with its macros replaced by ``fill``; what it gives stands where the macro is written.

        Raises what ``fill`` raises.
        """
        text = self.text
        if macros is Macros.RAW or "$" not in text:
            return self
        strings: list[tuple[int, int]] = []
        if macros is Macros.KEPT:
            strings = [found.span() for found in _STRING.finditer(text) if is_closed(found)]
        parts: list[Segment] = []
        begin, at = 0, text.find("$")
        scanner = Scanner(text)
        while at >= 0:
            found = scanner.scan(at)
            if _is_inside(strings, at) or found.kind is MacroKind.PLAIN:
                at = text.find("$", max(found.resume, at + 1))
                continue
            end = found.end if found.kind in {MacroKind.MACRO, MacroKind.FUNCTION} else len(text)
            parts += self.segments(begin, at)
            parts.append(Segment(fill(text[at:end]), span=self.span(at, end)))
            begin, at = end, text.find("$", end)
        return Placed([*parts, *self.segments(begin, len(text))])


def is_closed(found: re.Match[str]) -> bool:
    """Say whether what STRINGS has found ends before the text does."""
    return found.lastindex is None or found[found.lastindex] not in {"", "\\"}


def _is_inside(spans: Sequence[tuple[int, int]], at: int) -> bool:
    number = bisect_right(spans, (at, _FAR)) - 1
    return number >= 0 and spans[number][0] <= at < spans[number][1]
