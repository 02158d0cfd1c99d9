"""The queue statement: its arguments, its items from lists, files and patterns, and the rows they make.

HTCondor: SubmitForeachArgs::parse_queue_args.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from crondor.diagnostics import Source, Span, shortened
from crondor.macro import BLANKS, LogicalLine
from crondor.macro.functions import as_integer

_ITEM = r"[^, \t\r\n]+"
_UNIT_SEPARATOR = "\x1f"  # in a row that has one, it is the only separator


# HTCondor: SubmitForeachArgs::split_item, SubmitForeachArgs::load_schema.
class Part(NamedTuple):
    """A piece of an item list: one row, or several items; ``line`` and ``shift`` give its place in the source."""

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
        """Return the place of characters of this part, None if macros were expanded in it."""
        return self.line.span(self.shift + start, self.shift + end) if self.line else None


class Item(NamedTuple):
    """One item, and where it begins in its part."""

    text: str
    part: Part
    start: int


class Layout(NamedTuple):
    """How a row is split into columns, from ``from table(...)``.

    ``separator`` separates, and blanks too if ``by_blanks``; ``header`` is the number of the row with the names of the
    columns, -1 without one; ``skip`` is the number of rows to skip after it.
    """

    header: int = -1
    skip: int = 0
    by_blanks: bool = True
    trims: bool = True
    separator: str = ","

    def columns(self, row: str, variables: int, *, fills: bool = True) -> list[tuple[int, int]]:
        """Return where the value of each variable begins and ends in a row; [] for a blank row.

        The last variable takes the rest of the row. A row with fewer values gives empty ones, if it ``fills``.
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
        """Return all columns of a row, including empty ones; [] for a blank row."""
        most = 1 + len(row)
        return [row[start:end] for start, end in self.columns(row, most, fills=False)]


TABLE = Layout(header=0, by_blanks=False)
CSV = Layout(by_blanks=False)


class Items:
    """The parts of a list, in order; rows that are in a source unchanged cost two numbers each.

    ``blank`` and ``comment`` are the first lines that are empty, or begin with a number sign.
    """

    __slots__ = ("_count", "_lines", "_lowest", "_parts", "_source", "_starts", "are_rows", "blank", "comment")

    def __init__(self, parts: tuple[Part, ...] = (), *, are_rows: bool = False) -> None:
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
        return self._state() == other._state() if isinstance(other, Items) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._parts)

    def __repr__(self) -> str:
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

    def size_in(self, source: Source) -> int:
        """Return the number of characters of its rows in a source, each with a line end."""
        starts = self._starts
        return sum(starts[1::2]) - sum(starts[::2]) + len(starts) // 2 if self._source == source else 0

    def drop(self, number: int, before: int) -> None:
        """Drop the row ``number``, and then the first ``before`` rows."""
        rows = [row for index, row in enumerate(self._all()) if index != number]
        self._parts, self._lowest = tuple(rows[before:]), len(self._starts) // 2
        self._count = -1

    def __iter__(self) -> Iterator[Item]:
        for part in self._all():
            yield from part.items()

    def __len__(self) -> int:
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


MAX_COUNT = 2**31 - 2  # HTCondor refuses a count of INT_MAX or more
MAX_VARIABLES = 1000
_DIGITS = frozenset("0123456789")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
# Patterns are compiled by re on their first use: most files have no list.
_BLANK = frozenset(BLANKS)
_KEYWORD = r"(?i:(?:^|[ \t\r\n\v\f(])(in|from|matching)(?=[ \t\r\n\v\f(]))"
_QUALIFIER = r"([^ \t\r\n\v\f(]{1,40})(?=[ \t\r\n\v\f(])"
_FIRST = r"[^ \t\r\n\v\f(]*[ \t\r\n\v\f(]"  # HTCondor sees a slice only if a blank or ( comes later
_END = r"([ \t\r\n\v\f]*[-+]?[0-9]{1,9})?"
_SLICE = rf"\[{_END}(?::{_END}(?::{_END})?)?\]"


class QueueError(Exception):
    """A queue statement that cannot be read: code, message and help of its diagnostic."""

    def __init__(self, code: str, message: str, help: str) -> None:
        super().__init__(code, message, help)
        self.code, self.message, self.help = code, message, help


class ItemSource(Enum):
    """The source of the items of a list, besides those on the line of the statement."""

    HERE = 0  # from nowhere else
    LINES = 1  # from the lines that follow, up to a closing parenthesis
    FILE = 2
    COMMAND = 3  # from the output of a command
    STDIN = 4
    NAMES = 5  # from the names of files that the items match


class QueueArguments(NamedTuple):
    """The arguments of ``queue``: ``items`` is None without a list.

    ``source`` is where (more) items come from, ``path`` is the file or command; ``kinds`` is which names of files are
    used: ``files``, ``dirs``, ``any``, or empty if the file's own commands decide. ``is_whole``: all items are known:
    none comes from a file or a command that was not read.
    """

    per_item: int = 1
    variables: tuple[str, ...] = ()
    items: Items | None = None
    source: ItemSource = ItemSource.HERE
    path: str = ""
    kinds: str = ""
    chosen: slice = slice(None)
    layout: Layout = Layout()
    is_whole: bool = True


def parse(text: str, line: LogicalLine | None, shift: int) -> QueueArguments:
    """Read the arguments, ``shift`` being where they begin in the line; raises QueueError.

    arguments = count? (variables? (in | from | matching) items)?
    in = "in" slice*
    from = "from" (slice | table)*
    matching = "matching" slice* (("files" | "dirs" | "any") slice*)?

    The texts of the errors are HTCondor's.
    """
    found = re.search(_KEYWORD, text)
    if found is None:
        return QueueArguments(per_item=_count(text.strip(BLANKS)))
    keyword = found[1].lower()
    begin = _variables_begin(text, found.start(1))
    variables = tuple(re.findall(_ITEM, text[begin : found.start(1)])) or ("Item",)
    if len(variables) > MAX_VARIABLES:
        message = f"a queue statement with {len(variables)} variables exceeds the limit of crondor"
        raise QueueError("queue-variables", message, f"use at most {MAX_VARIABLES}")
    at, qualified = _qualifiers(text, found.end(1), keyword)
    count = _count(text[:begin].strip(BLANKS))
    made = qualified._replace(per_item=count, variables=tuple(v.lower() for v in variables))
    return _items(made, text, at, keyword, line, shift)


def likely(text: str) -> QueueArguments:
    """Return the probable request of a faulty statement: its list, without the count or the words before it."""
    found = re.search(_KEYWORD, text)
    if found is None:
        return QueueArguments()
    begin = _variables_begin(text, found.start(1))
    head, items = text[begin : found.end(1)], text[found.end(1) :]
    at = items.find("(")
    bare = f" {items[at:]}" if at >= 0 else f" {items.rpartition(' ')[2]}"
    return _parsed(head + items) or _parsed(head + bare) or QueueArguments()


def _parsed(text: str) -> QueueArguments | None:
    try:
        return parse(text, None, 0)
    except QueueError:
        return None


def _count(text: str) -> int:
    """Read how many jobs there are of each item.

    count = expression
    """
    if not text:
        return 1
    count = as_integer(text)
    shown = shortened(text, 40)
    if count is None:
        raise QueueError(
            "queue-count",
            f"Invalid Queue count expression: {shown} is not a whole number",
            "write queue, queue N, queue N var in (a b), or queue N var1,var2 from ( rows )",
        )
    if 0 <= count <= MAX_COUNT:
        return count
    raise QueueError("queue-count", f"Queue count out of range: {shown}", f"write a number from 0 to {MAX_COUNT}")


def _variables_begin(text: str, end: int) -> int:
    """Return where the variables before a keyword begin: HTCondor reads backwards over characters of names.

    A digit belongs to a name only with a letter before it; what is left in front is the count.

    variables = variable (","? variable)*
    variable = ([_.] | [A-Za-z] [0-9]*)+
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


def _qualifiers(text: str, at: int, keyword: str) -> tuple[int, QueueArguments]:
    """Skip what may come between the keyword and the list: slices, ``files`` and the like, tables."""
    made = QueueArguments()
    while True:
        while text[at : at + 1] in _BLANK and at < len(text):
            at += 1
        if text[at : at + 1] == "[" and re.compile(_FIRST).match(text, at):
            chosen, at = _slice(text, at)
            made = made._replace(chosen=chosen)
            continue
        found = re.compile(_QUALIFIER).match(text, at)
        word = found[1].lower() if found else ""
        if found is None or word not in {"files", "dirs", "any", "table"}:
            return at, made
        if (word == "table") != (keyword == "from") or (keyword == "in") or (word != "table" and made.kinds):
            raise QueueError("queue-keyword", f"Queue keyword conflict: {word} does not go here", "remove it")
        at = found.end()
        if word == "table":
            layout, at = _table(text, at)
            made = made._replace(layout=layout)
        else:
            made = made._replace(kinds=word)


def _table(text: str, at: int) -> tuple[Layout, int]:
    """Read the options of a table in the parentheses directly after the word.

    table = "table" | "table(" (option ("," option)*)? ")"

    HTCondor: SubmitForeachArgs::set_table_opts.
    """
    if text[at : at + 1] != "(":
        return TABLE, at
    end = _closing(text, at)
    if end < 0:
        message = "Invalid TABLE options: the closing parenthesis is missing"
        raise QueueError("queue-table", message, "write table(csv) or table(header=0,sep=;)")
    layout = TABLE
    for option in text[at + 1 : end].split(","):
        name, _, value = (each.strip(BLANKS) for each in option.partition("="))
        layout = _with_option(layout, name.lower(), value)
    return layout, end + 1


def _with_option(layout: Layout, name: str, value: str) -> Layout:
    """Return a layout with one option; an unknown one changes nothing, as in HTCondor.

    option = "standard" | "csv" | ("header" | "skip" | "trim" | "comma_sep") "=" expression
           | "header" "=" "none" | "sep" "=" [^,)]
    """
    if name in {"standard", "csv"} and not value:
        return Layout() if name == "standard" else CSV
    if name == "sep":
        return layout._replace(separator=value[:1])
    if name == "header" and value.lower() == "none":
        return layout._replace(header=-1)
    number = as_integer(value) if value else None
    if number is None:
        return layout
    if name == "header":
        layout = layout._replace(header=number)
    elif name == "skip":
        layout = layout._replace(skip=number)
    elif name == "trim":
        layout = layout._replace(trims=bool(number))
    elif name == "comma_sep":
        layout = layout._replace(separator="," if number else "")
    return layout


def _closing(text: str, at: int) -> int:
    """Return where a parenthesis closes, -1 if it does not; parentheses in quotes do not count."""
    depth, quote, skips = 0, "", False
    for index in range(at, len(text)):
        char = text[index]
        if skips or quote:
            skips = not skips and char == "\\"
            quote = "" if char == quote and not skips else quote
        elif char in "'\"":
            quote = char
        else:
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0)
            if depth == 0:
                return index
    return -1


def _slice(text: str, at: int) -> tuple[slice, int]:
    """Read a slice of the items as in Python, with a step of 1 or more (HTCondor: qslice).

    slice = "[" integer? (":" integer? (":" ("+"? [0-9]+)?)?)? "]"
    integer = [-+]? [0-9]+
    """
    found = re.compile(_SLICE).match(text, at)
    if found is None:
        message = "Invalid [::] statement: a slice is made of whole numbers"
        raise QueueError("queue-slice", message, "write [start:end] or [start:end:step]")
    start, end, step = (int(n) if n else None for n in found.groups())
    if step is not None and step <= 0:
        raise QueueError("queue-slice", "Invalid [::] statement: the step must be 1 or more", "count upwards")
    return slice(start, end, step), found.end()


def _items(
    made: QueueArguments, text: str, at: int, keyword: str, line: LogicalLine | None, shift: int
) -> QueueArguments:
    r"""Read the list as far as it is on the line of the statement.

    items = "(" text ")" | "(" text? rows | text
    rows = ("\n" text)* "\n" ")"
    """
    end, one_line, are_rows = len(text), False, keyword == "from"
    if text.startswith("(", at) and text.endswith(")"):
        at, end, one_line = at + 1, end - 1, True
    is_open = text.startswith("(", at, end)
    at += is_open
    body = text[at:end].lstrip(BLANKS)
    at = end - len(body)
    if are_rows and not one_line and not is_open:
        return _elsewhere(made, body.strip(BLANKS))
    source = ItemSource.LINES if is_open else ItemSource.NAMES if keyword == "matching" else ItemSource.HERE
    has_part = bool(body) or (are_rows and one_line and not is_open)
    parts = (Part(body, line, shift + at, are_rows),) if has_part else ()
    kinds = (made.kinds or "*") if keyword == "matching" else ""
    return made._replace(items=Items(parts, are_rows=are_rows), source=source, kinds=kinds)


def _elsewhere(made: QueueArguments, path: str) -> QueueArguments:
    """Read where rows come from that are not in the file."""
    source = ItemSource.COMMAND if "|" in path else ItemSource.STDIN if path == "-" else ItemSource.FILE
    return made._replace(items=Items(are_rows=True), source=source if path else ItemSource.HERE, path=path)
