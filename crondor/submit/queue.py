"""The queue statement: its arguments, its items, and the rows they make."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from crondor.macro import BLANKS, LogicalLine
from crondor.source import Span

MAX_COUNT = 2**31 - 2  # HTCondor refuses a count of INT_MAX or more
MAX_VARIABLES = 1000
_DIGITS = frozenset("0123456789")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
# Patterns are compiled by re on their first use: most files have no list.
_BLANK = frozenset(BLANKS)
_KEYWORD = r"(?i:(?:^|[ \t\r\n\v\f(])(in|from|matching)(?=[ \t\r\n\v\f(]))"
_QUALIFIER = r"([^ \t\r\n\v\f(]+)(?=[ \t\r\n\v\f(])"
_SLICE = r"\[([-+]?[0-9]{1,9})?(?::([-+]?[0-9]{1,9})?(?::([-+]?[0-9]{1,9})?)?)?\]"
_ARITHMETIC = r"[-+*/%()<>=!&|?:^~.\"'\[\]{}]"
_ITEM = r"[^, \t\r\n]+"
_SEPARATOR = r"[, \t]"
_UNIT_SEPARATOR = "\x1f"  # where a row has one, it is the only separator


class QueueError(Exception):
    """A queue statement that cannot be taken: code, message and help of its diagnostic."""

    def __init__(self, code: str, message: str, help: str) -> None:  # noqa: A002 - Diagnostic's word
        """Keep the three."""
        super().__init__(code, message, help)
        self.code, self.message, self.help = code, message, help


class Part(NamedTuple):
    """A piece of an item list: one row, or several items; ``line`` and ``shift`` lead back to the source."""

    text: str
    line: LogicalLine | None
    shift: int
    is_row: bool

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield the items and the offset of each in this part."""
        if self.is_row:
            yield self.text, 0
            return
        for found in re.finditer(_ITEM, self.text):
            item = found[0].strip("\v\f")
            if item:
                yield item, found.start() + len(found[0]) - len(found[0].lstrip("\v\f"))

    def span(self, start: int, end: int) -> Span | None:
        """Return the place of characters of this part, None where macros stand between it and the source."""
        return self.line.span(self.shift + start, self.shift + end) if self.line else None


class Arguments(NamedTuple):
    """What stands behind ``queue``: ``parts`` is None without a list, ``is_open`` when its rows are still to come."""

    per_item: int = 1
    variables: tuple[str, ...] = ()
    parts: tuple[Part, ...] | None = None
    is_open: bool = False
    is_row_list: bool = False
    chosen: slice = slice(None)


def parse(text: str, line: LogicalLine | None, shift: int) -> Arguments:
    """Read the arguments, ``shift`` being where they begin in the line; raises QueueError."""
    found = re.search(_KEYWORD, text)
    if found is None:
        return Arguments(per_item=_count(text.strip(BLANKS)))
    keyword = found[1].lower()
    if keyword == "matching":
        raise QueueError(
            "not-read-yet",
            "queue ... matching takes its items from the names of files, which crondor does not read yet",
            "write the names out: queue name in (a.dat b.dat)",
        )
    begin = _variables_begin(text, found.start(1))
    count = _count(text[:begin].strip(BLANKS))
    variables = tuple(re.findall(_ITEM, text[begin : found.start(1)])) or ("Item",)
    if len(variables) > MAX_VARIABLES:
        message = f"a queue statement with {len(variables)} variables is more than crondor reads"
        raise QueueError("queue-variables", message, f"use at most {MAX_VARIABLES}")
    at, chosen = _qualifiers(text, found.end(1), keyword)
    parts, is_open = _items(text, at, keyword, line, shift)
    return Arguments(count, tuple(v.lower() for v in variables), parts, is_open, keyword == "from", chosen)


def columns(row: str, variables: int) -> list[tuple[int, int]]:
    """Return where the value of each variable begins and ends in a row; [] for a blank row.

    The last variable takes the rest of the row. A row that has fewer values gives empty ones.
    """
    start, end = _trimmed(row, 0, len(row))
    if start == end:
        return []
    separator = re.compile(_UNIT_SEPARATOR if _UNIT_SEPARATOR in row else _SEPARATOR)
    places: list[tuple[int, int]] = []
    while len(places) < variables - 1:
        found = separator.search(row, start, end)
        if found is None:
            break
        places.append(_trimmed(row, start, found.start()))
        start = _trimmed(row, found.end(), end)[0]
    places.append((start, end))
    return places + [(end, end)] * (variables - len(places))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in " \t":
        start += 1
    while end > start and text[end - 1] in " \t":
        end -= 1
    return start, end


def _count(text: str) -> int:
    if not text:
        return 1
    if re.fullmatch(r"[-+]?[0-9]{1,30}", text):
        count = int(text)
        if 0 <= count <= MAX_COUNT:
            return count
        raise QueueError("queue-count", f"queue count out of range: {text}", f"write a number from 0 to {MAX_COUNT}")
    shown = text if len(text) <= 40 else text[:40] + "..."
    if re.search(_ARITHMETIC, text) and any(c.isdigit() for c in text):
        message = f"the queue count {shown} is an expression, which crondor does not read yet"
        raise QueueError("not-read-yet", message, "write the number out")
    raise QueueError(
        "queue-count",
        f"invalid queue count: {shown} is not a number",
        "write queue, queue N, queue N var in (a b), or queue N var1,var2 from ( rows )",
    )


def _variables_begin(text: str, end: int) -> int:
    """Return where the variables before a keyword begin: HTCondor reads backwards over what a name may have.

    A digit belongs to a name only with a letter before it; what is left in front is the count.
    """
    at = begin = len(text[:end].rstrip(BLANKS))
    while at > 0:
        last = text[at - 1]
        if last in _DIGITS:
            while at > 0 and text[at - 1] in _DIGITS:
                at -= 1
            if at == 0 or text[at - 1] not in _LETTERS:
                break
        elif last not in _LETTERS and last not in BLANKS and last not in ",_.":
            break
        at -= 1
        begin = at
    return begin


def _qualifiers(text: str, at: int, keyword: str) -> tuple[int, slice]:
    """Step over what may stand between the keyword and the list."""
    chosen = slice(None)
    while True:
        while text[at : at + 1] in _BLANK:
            at += 1
        found = re.compile(_QUALIFIER).match(text, at)
        word = found[1].lower() if found else ""
        if word == "table" and keyword == "from":
            message = "queue ... from table reads its rows from a file, which crondor does not read yet"
            raise QueueError("not-read-yet", message, "write the rows out: queue a,b from ( rows )")
        if word in {"files", "dirs", "any", "table"}:
            raise QueueError("queue-keyword", f"{word} does not go with {keyword}", "leave it out")
        if not word.startswith("["):
            return at, chosen
        chosen, at = _slice(text, at)


def _slice(text: str, at: int) -> tuple[slice, int]:
    found = re.compile(_SLICE).match(text, at)
    if found is None:
        raise QueueError("queue-slice", "invalid slice", "write [start:end] or [start:end:step], in whole numbers")
    start, end, step = (int(n) if n else None for n in found.groups())
    if step is not None and step <= 0:
        raise QueueError("queue-slice", "the step of a slice must be 1 or more", "count upwards")
    return slice(start, end, step), found.end()


def _items(text: str, at: int, keyword: str, line: LogicalLine | None, shift: int) -> tuple[tuple[Part, ...], bool]:
    """Read the list as far as it stands on the line of the statement."""
    end, one_line = len(text), False
    if text.startswith("(", at) and text.endswith(")"):
        at, end, one_line = at + 1, end - 1, True
    is_open = text.startswith("(", at, end)
    at += is_open
    body = text[at:end].lstrip(BLANKS)
    at = end - len(body)
    if keyword == "from" and not one_line and not is_open:
        kind = "the output of a command" if body.endswith("|") else "a file"
        message = f"queue ... from takes its rows from {kind}, which crondor does not read yet"
        raise QueueError("not-read-yet", message, "write the rows out: queue a,b from ( rows )")
    if is_open and not body:
        return (), True
    return (Part(body, line, shift + at, keyword == "from"),), is_open
