"""Logical lines: what HTCondor reads as one line, each character of it still known by its place in the source.

HTCondor: getline_implementation in src/condor_utils/config.cpp.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from crondor._types import Made
from crondor.source import Source, Span

BLANKS = " \t\r\n\v\f"  # C's isspace; str.strip() without arguments would also take Unicode blanks


class LogicalLine(Made):
    """One line after joining its continuations, without the blanks around each of its pieces.

    ``text`` is the line; ``unterminated`` says that the file ends inside it, without a line end;
    ``swallowed`` is a comment inside a continuation whose last character HTCondor takes for part of the line.
    """

    __slots__ = ("_at", "_starts", "source", "swallowed", "text", "unterminated")

    def __init__(
        self,
        source: Source,
        text: str,
        starts: tuple[int, ...],
        at: tuple[int, ...],
        *,
        unterminated: bool = False,
        swallowed: Span | None = None,
    ) -> None:
        """Keep the text; its pieces begin at ``starts`` in the text and come from ``at`` in the source."""
        self.source = source
        self.text = text
        self.unterminated = unterminated
        self.swallowed = swallowed
        self._starts = starts
        self._at = at

    def __repr__(self) -> str:
        """Return the text, and where it begins."""
        return f"<LogicalLine {self.text[:60]!r} at {self.span(0, 0).location}>"

    def _made_of(self) -> tuple[object, ...]:
        return self.source, self.text, self._starts, self._at, self.unterminated, self.swallowed

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle by its pieces."""
        return _made, self._made_of()

    def offset(self, index: int) -> int:
        """Return the offset in the source of the line's character ``index`` (the line's length: just behind it)."""
        if len(self._at) == 1:
            return self._at[0] + index
        if index > 0 and index == len(self.text):
            return self.offset(index - 1) + 1
        piece = bisect_right(self._starts, index) - 1
        return self._at[piece] + index - self._starts[piece]

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """Return the piece of the source that characters ``start`` to ``end`` of the line were read from.

        Over a continuation it is one contiguous piece, with the backslash and the line end inside it.
        """
        return Span(self.source, *self.place(start, end))

    def place(self, start: int = 0, end: int | None = None) -> tuple[int, int]:
        """Return the two offsets of span()."""
        end = len(self.text) if end is None else end
        low = self.offset(start)
        return low, self.offset(end - 1) + 1 if end > start else low

    def behind(self, index: int) -> LogicalLine:
        """Return the line from a character on, without blanks before it."""
        index += len(self.text) - index - len(self.text[index:].lstrip(BLANKS))
        first = max(0, bisect_right(self._starts, index) - 1)
        starts = tuple(max(0, start - index) for start in self._starts[first:])
        at = (self._at[first] + index - self._starts[first], *self._at[first + 1 :])
        text = self.text[index:]
        return LogicalLine(self.source, text, starts, at, unterminated=self.unterminated, swallowed=self.swallowed)

    def stripped(self) -> LogicalLine:
        """Return the line without the blanks at its end, which stay where nothing is joined to it."""
        text = self.text.rstrip(BLANKS)
        return self if len(text) == len(self.text) else LogicalLine(self.source, text, self._starts, self._at)

    @property
    def extent(self) -> tuple[int, int] | None:
        """The two offsets of a line that stands in its source as it is, None for one that was joined."""
        return (self._at[0], self._at[0] + len(self.text)) if len(self._at) == 1 else None

    @property
    def is_ragged(self) -> bool:
        """Whether it is an indented last line without a line end: HTCondor strips no blanks from such a line."""
        at = self._at[0]
        return self.unterminated and len(self._at) == 1 and at > 0 and self.source.text[at - 1] in " \t\r\v\f"

    def unstripped(self) -> LogicalLine:
        """Return the line with the blanks that HTCondor leaves around a last piece without a line end."""
        if not self.unterminated:
            return self
        low = self.source.text.rfind("\n") + 1
        text = self.text[: self._starts[-1]] + self.source.text[low:]
        return LogicalLine(self.source, text, self._starts, (*self._at[:-1], low), unterminated=True)

    @property
    def is_empty(self) -> bool:
        """Whether the line is blank or a comment."""
        return not self.text.strip(BLANKS) or self.text[0] == "#"


def _made(
    source: Source,
    text: str,
    starts: tuple[int, ...],
    at: tuple[int, ...],
    unterminated: bool,  # noqa: FBT001 - of a pickle
    swallowed: Span | None,
) -> LogicalLine:
    return LogicalLine(source, text, starts, at, unterminated=unterminated, swallowed=swallowed)


class LineReader:
    """The logical lines of a source, one after the other."""

    def __init__(self, source: Source, at: int = 0) -> None:
        """Begin at the line that begins at offset ``at``; a byte order mark is stepped over."""
        self._source = source
        self._at = 1 if at == 0 and source.text.startswith("\ufeff") else at

    @property
    def at(self) -> int:
        """The offset where the next line begins."""
        return self._at

    def statement(self) -> LogicalLine | None:
        """Return the next line that is neither blank nor a comment, None at the end of the text.

        A backslash at the end of a comment does not continue it.
        """
        size = len(self._source.text)
        while self._at < size:
            begin = self._at
            start, body, terminated = self._physical()
            if not body or body[0] == "#":
                continue
            if body[-1] != "\\" or not terminated:
                return LogicalLine(self._source, body, (0,), (start,), unterminated=not terminated)
            self._at = begin
            line = self._join(comments=True)
            if not line.is_empty:
                return line
        return None

    def item(self) -> LogicalLine | None:
        """Return the next line of a list of queue items, blank ones and comments too; None at the end of the text.

        There a comment is a line like any other to the continuation (HTCondor reads these lines by other rules).
        """
        begin = self._at
        if begin >= len(self._source.text):
            return None
        start, body, terminated = self._physical()
        if not body.endswith("\\") or not terminated:
            return LogicalLine(self._source, body, (0,), (start,), unterminated=not terminated)
        self._at = begin
        return self._join(comments=False)

    def _join(self, *, comments: bool) -> LogicalLine:
        source, text = self._source, self._source.text
        parts: list[str] = []
        at: list[int] = []
        solid: list[int] = []  # the numbers of parts that are not empty
        eaten: dict[int, int] = {}
        swallowed, terminated = None, True
        while self._at < len(text):
            start, body, terminated = self._physical()
            if parts and comments and body.startswith("#"):
                # HTCondor drops such a comment but for its last character: harmless only if that is a backslash.
                if body[-1] != "\\":
                    swallowed = swallowed or source.span(start, start + len(body))
                start, body = start + len(body) - 1, body[-1]
            goes_on = terminated and body.endswith("\\")
            parts.append(body[:-1] if goes_on else body)
            at.append(start)
            if parts[-1]:
                solid.append(len(parts) - 1)
            if not body and terminated:
                goes_on = _eats_backslash(parts, solid, eaten)
            if not goes_on:
                break
        for number, count in eaten.items():
            parts[number] = parts[number][:-count]
        starts = (0, *accumulate(map(len, parts[:-1])))
        return LogicalLine(source, "".join(parts), starts, tuple(at), unterminated=not terminated, swallowed=swallowed)

    def _physical(self) -> tuple[int, str, bool]:
        """Step over one line of the file; return where its text begins, the text, and whether it has a line end."""
        text = self._source.text
        end = text.find("\n", self._at)
        terminated = end >= 0
        if not terminated:
            end = len(text)
        body = text[self._at : end].lstrip(BLANKS)
        self._at = end + 1
        return end - len(body), body.rstrip(BLANKS), terminated


def _eats_backslash(parts: list[str], solid: list[int], eaten: dict[int, int]) -> bool:
    """Say whether a blank line goes on: HTCondor looks at the end of all it has, where another backslash may stand.

    ``eaten`` has how many characters at the ends of parts are gone by that, ``solid`` the parts with some left.
    """
    if not solid:
        return False
    last = solid[-1]
    count = eaten.get(last, 0)
    if parts[last][-1 - count] != "\\":
        return False
    eaten[last] = count + 1
    if eaten[last] == len(parts[last]):
        solid.pop()
    return True
