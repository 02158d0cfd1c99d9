"""A text line by line, as far as an editor must know it: also one that nobody could submit, while it is written."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from typing import Final, NamedTuple

from crondor.editing.kinds import TextKind
from crondor.knowledge import transform_commands
from crondor.macro import BLANKS, LineReader, LogicalLine
from crondor.macro.statement import conditional, is_name, queue_arguments, split
from crondor.source import Source, Span

_RULES: Final = ("job_router_route_", "job_router_transform_", "job_transform_")
_KEYWORDS: Final = frozenset(("include", "use", "error", "warning"))
_WORD: Final = re.compile(r"[A-Za-z]+(?=[ \t]|$)")
_ATTRIBUTE: Final = re.compile(r"[ \t\[;{]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*=(?![=?!])")
_HEAD: Final = 2000  # characters of a queue statement in which its variables stand
_VARIABLES: Final = re.compile(r"(?i)(?:[0-9]+[ \t]+)?([A-Za-z_][A-Za-z0-9_., \t]*?)[ \t]+(?:in|from|matching)\b")


class LineKind(Enum):
    """What a line is."""

    ASSIGNMENT = "assignment"
    QUEUE = "queue"
    COMMAND = "command"  # of a transform
    KEYWORD = "keyword"  # include, use, error, warning, if, elif, else, endif
    OTHER = "other"


class WrittenLine(NamedTuple):
    """A line: ``key`` is the lower-case name that is assigned (``my.x`` for ``+X``), or the keyword it begins with.

    ``name`` is where that stands, ``value`` where the rest begins, both in the line's text. ``inside`` is the key in
    whose value of several lines it stands, ``until`` the line that ends its own such value.
    """

    line: LogicalLine
    kind: LineKind
    key: str
    name: tuple[int, int]
    value: int
    inside: str = ""
    until: LogicalLine | None = None

    @property
    def name_span(self) -> Span:
        """Where the name or the keyword stands."""
        return self.line.span(*self.name)

    @property
    def attribute(self) -> tuple[int, int] | None:
        """Where the name stands that a transform's command is about, None for one without."""
        if self.kind is not LineKind.COMMAND or self.key in {"requirements", "transform", "name", "universe"}:
            return None
        found = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*").match(self.line.text, self.value)
        return found.span() if found else None

    def variables(self) -> Iterator[tuple[str, Span]]:
        """Yield the loop variables of a queue statement: lower-case name and place."""
        is_queue = self.kind is LineKind.QUEUE
        found = _VARIABLES.match(self.line.text[: self.value + _HEAD], self.value) if is_queue else None
        for word in re.compile(r"[A-Za-z0-9_.]+").finditer(self.line.text, *found.span(1)) if found else ():
            yield word[0].lower(), self.line.span(*word.span())

    def character(self, offset: int) -> int:
        """Return which character of the line stands at an offset of the source."""
        return bisect_left(range(len(self.line.text) + 1), offset, key=self.line.offset)


class Outline:
    """A text and its lines; made anew for each version of the text, and only where somebody asks."""

    def __init__(self, source: Source, kind: TextKind) -> None:
        """Take the text."""
        self.source = source
        self.kind = kind

    @cached_property
    def lines(self) -> tuple[WrittenLine, ...]:
        """All lines that say something, in their order."""
        return tuple(_READERS[self.kind](self.source))

    @cached_property
    def _starts(self) -> list[int]:
        return [written.line.offset(0) for written in self.lines]

    def at(self, offset: int) -> WrittenLine | None:
        """Return the line that an offset stands in, its end included; None for a comment or a blank."""
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return None
        written = self.lines[number]
        end = written.line.span().end
        rest = self.source.text[end:offset]
        return written if offset <= end or not rest.strip(" \t") else None

    def inside(self, offset: int) -> str:
        """Return the key in whose value of several lines an offset stands, nothing outside of any."""
        before = self.lines[: bisect_right(self._starts, offset)]
        last = next((each for each in reversed(before) if each.until is not None), None)
        if last is None or last.until is None or offset >= last.until.span().end:
            return ""
        return last.key


def _statements(source: Source) -> Iterator[WrittenLine]:
    reader = LineReader(source)
    while (line := reader.statement()) is not None:
        yield from _statement(reader, line, has_rules=False)


def _configuration(source: Source) -> Iterator[WrittenLine]:
    reader = LineReader(source)
    while (line := reader.statement()) is not None:
        yield from _statement(reader, line, has_rules=True)


def _rules(source: Source) -> Iterator[WrittenLine]:
    reader = LineReader(source)
    while (line := reader.statement()) is not None:
        yield _rule(line, "") or _plain(line, "")


def _statement(reader: LineReader, line: LogicalLine, *, has_rules: bool) -> Iterator[WrittenLine]:
    """Yield a line, and those that belong to it: of a value of several lines; the rows of a list are left out."""
    written = _plain(line, "")
    if written.kind is LineKind.ASSIGNMENT and line.text[: written.value].rstrip(BLANKS).endswith("@="):
        tag = "@" + line.text[written.value :]
        inner: list[LogicalLine] = []
        while (each := reader.statement()) is not None and each.text != tag:
            inner.append(each)
        yield written._replace(until=each or (inner[-1] if inner else None))
        rules = has_rules and written.key.startswith(_RULES)
        for each in inner:
            found = (_rule(each, written.key) or _plain(each, written.key)) if rules else None
            yield found or WrittenLine(each, LineKind.OTHER, "", (0, 0), 0, written.key)
        return
    if written.kind is LineKind.QUEUE and line.text.endswith("("):
        last = None
        while (row := reader.item()) is not None:
            last = row
            if row.text.startswith(")"):
                break
        written = written._replace(until=last)
    yield written


def _plain(line: LogicalLine, inside: str) -> WrittenLine:
    """Return a line that is no command of a transform."""
    text = line.text
    word = conditional(text)
    if word:
        return WrittenLine(line, LineKind.KEYWORD, word, (0, len(word)), len(word) + 1, inside)
    begin = queue_arguments(text)
    parts = split(text)
    if begin is not None and (parts.is_sentence or parts.operator in {"", ":"} or parts.name.lower() == "queue"):
        size = len(text.split(maxsplit=1)[0])
        return WrittenLine(line, LineKind.QUEUE, "queue", (0, size), begin, inside)
    name = parts.name
    place = (0, len(name))
    if parts.operator == ":" and name.removeprefix("@").lower() in _KEYWORDS:
        return WrittenLine(line, LineKind.KEYWORD, name.removeprefix("@").lower(), place, parts.value, inside)
    if parts.operator in {"=", "@=", "+="} and not parts.is_sentence and name:
        key = f"my.{name[1:].lower()}" if name[0] in "+-" else name.lower()
        return WrittenLine(line, LineKind.ASSIGNMENT, key, place, parts.value, inside)
    return WrittenLine(line, LineKind.OTHER, name.lower(), place, len(name), inside)


def _rule(line: LogicalLine, inside: str) -> WrittenLine | None:
    """Return a line with a command of a transform, None for another."""
    found = _WORD.match(line.text)
    if found is None or found[0].lower() not in transform_commands():
        return None
    rest = line.text[found.end() :]
    value = len(line.text) - len(rest.lstrip(BLANKS))
    if rest.lstrip(BLANKS).startswith("=") and is_name(found[0]):
        return None
    return WrittenLine(line, LineKind.COMMAND, found[0].lower(), found.span(), value, inside)


def _attributes(source: Source) -> Iterator[WrittenLine]:
    """Yield the lines of ads that begin an attribute; an ad in brackets may have several in a line."""
    at = 0
    for text in source.text.split("\n"):
        body = text.rstrip("\r")
        found = _ATTRIBUTE.match(body)
        if body.strip():
            line = LogicalLine(source, body, (0,), (at,))
            if found is None:
                yield WrittenLine(line, LineKind.OTHER, "", (0, 0), 0)
            else:
                yield WrittenLine(line, LineKind.ASSIGNMENT, found[1].lower(), found.span(1), found.end())
        at += len(text) + 1


def _entries(source: Source) -> Iterator[WrittenLine]:
    """Yield the lines of a crontab: variables, and lines with a schedule."""
    at = 0
    for text in source.text.split("\n"):
        body = text.rstrip("\r")
        if body.strip() and not body.lstrip().startswith("#"):
            line = LogicalLine(source, body, (0,), (at,))
            parts = split(body)
            if parts.operator == "=" and is_name(parts.name) and not parts.is_sentence:
                yield WrittenLine(line, LineKind.ASSIGNMENT, parts.name, (0, len(parts.name)), parts.value)
            else:
                yield WrittenLine(line, LineKind.OTHER, "", (0, 0), 0)
        at += len(text) + 1


_READERS: Final = {
    TextKind.SUBMIT: _statements,
    TextKind.CONFIG: _configuration,
    TextKind.TRANSFORM: _rules,
    TextKind.AD: _attributes,
    TextKind.CRONTAB: _entries,
}
