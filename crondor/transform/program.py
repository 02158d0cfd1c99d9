"""The parsed text of a transform: its header, the lines to run, and its TRANSFORM statement.

NAME, REQUIREMENTS, UNIVERSE and TRANSFORM are extracted first: conditions around them are ignored and macros in them
are not replaced (HTCondor 25.14, MacroStreamXFormSource::load and open).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from operator import methodcaller
from typing import NamedTuple, TypeVar

from crondor.classad.expression import Expression
from crondor.classad.tree import ClassAdSyntaxError
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span
from crondor.macro.files import Files, of_kind
from crondor.macro.lines import BLANKS, LineReader, LogicalLine
from crondor.macro.queue_statement import ItemSource, QueueArguments, QueueError, parse
from crondor.transform.expressions import MOST, Stop, fault, short, warning, why_not

_ENVELOPE = re.compile(r"[ \t\r\n\v\f]*(?i:(name|requirements|universe|transform))[ \t\r\n\v\f]+(?![=: \t\r\n\v\f])")
_HEREDOC = re.compile(r"[ \t\r\n\v\f]*(?:[^ \t\r\n\v\f=]+[ \t\r\n\v\f]+)?@=(?=[^ \t\r\n\v\f])")
_ONCE = re.compile(r"(?:\+?(?:0*1|0+)|-0+)?[ \t\r\n\v\f]*")
MAX_LINES = 100_000


class RuleSource(Enum):
    """The origin of the rules: a FILE, whose lines may be continued, or a KNOB, whose lines are cut.

    In a KNOB a name that the caller gives overrides NAME, and keywords inside a value of several lines count too.
    """

    FILE = "file"
    KNOB = "knob"


class Requirements(NamedTuple):
    """The condition for an ad."""

    expression: Expression
    text: str
    span: Span


class Iteration(NamedTuple):
    """The arguments of a TRANSFORM that iterates; ``rest`` is the offset of the line after it."""

    line: LogicalLine
    begin: int
    rest: int | None

    @property
    def text(self) -> str:
        """The arguments as written."""
        return self.line.text[self.begin :]

    @property
    def span(self) -> Span:
        """Where they are written."""
        return self.line.span(self.begin)


class TransformProgram(NamedTuple):
    """A parsed transform.

    ``universe`` is the text of UNIVERSE, for the job router. ``is_broken``: HTCondor does not load it; ``diagnostics``
    are the findings so far.
    """

    source: Source
    name: str
    requirements: Requirements | None
    universe: str | None
    iteration: Iteration | None
    lines: tuple[LogicalLine, ...]
    is_broken: bool
    diagnostics: tuple[Diagnostic, ...]


def read_program(source: Source, form: RuleSource, name: str, lines: Sequence[LogicalLine] = ()) -> TransformProgram:
    """Parse a text; never fails. ``lines`` are those of a KNOB in the file that sets it."""
    return _Reader(source, form, name, lines).read()


class _Reader:
    """One reading."""

    def __init__(self, source: Source, form: RuleSource, name: str, lines: Sequence[LogicalLine]) -> None:
        self._source = source
        self._given_lines = lines
        self._form = form
        self._name = name
        self._given = name if form is RuleSource.KNOB else ""
        self._requirements: Requirements | None = None
        self._universe: str | None = None
        self._iteration: Iteration | None = None
        self._is_broken = False
        self._found: list[Diagnostic] = []
        self._depth = 0  # of the conditionals around a line, only for warnings

    def read(self) -> TransformProgram:
        """Read the lines; nothing after a TRANSFORM is read.

        program = (envelope | line)*
        """
        lines: list[LogicalLine] = []
        tag = ""
        for line, rest in self._lines():
            text = line.text
            if len(lines) >= MAX_LINES:
                self._break("too-many-lines", f"crondor reads no more than {MAX_LINES} lines of rules", line.span())
                break
            found = _ENVELOPE.match(text)
            keyword = found[1].lower() if found else ""
            if tag:
                tag = "" if text == tag else tag
                keyword = ""
            elif self._form is RuleSource.FILE and (heredoc := _HEREDOC.match(text)):
                tag = "@" + text[heredoc.end() :].rstrip(BLANKS)
            elif found:
                self._envelope(keyword, line, found.end(), rest)
            if not (found and keyword):
                self._count_conditions(text)
                lines.append(line)
            if found and found[1].lower() == "transform":
                if keyword != "transform":
                    self._iterate(line, found.end(), rest)
                self._warn_of_rest(rest)
                break
        return TransformProgram(
            self._source,
            self._name,
            self._requirements,
            self._universe,
            self._iteration,
            tuple(lines),
            self._is_broken,
            tuple(self._found),
        )

    def _lines(self) -> Iterator[tuple[LogicalLine, int | None]]:
        """Yield the lines, each with the offset after it if the next lines can be read as a list."""
        if self._form is RuleSource.FILE:
            reader = LineReader(self._source)
            while (line := reader.statement()) is not None:
                yield line.unstripped(), reader.at
            return
        if self._given_lines:
            yield from ((line.stripped(), None) for line in self._given_lines)
            return
        for found in re.finditer(r"[^\r\n]+", self._source.text):
            body = found[0].strip(BLANKS)
            if body and body[0] != "#":
                start = found.start() + len(found[0]) - len(found[0].lstrip(BLANKS))
                yield LogicalLine(self._source, body, (0,), (start,)), None

    def _envelope(self, keyword: str, line: LogicalLine, begin: int, rest: int | None) -> None:
        """Process a line about the whole transform; with ``=`` or ``:`` after the keyword it is an ordinary one.

        envelope = "NAME" text | "UNIVERSE" text | "REQUIREMENTS" expression | "TRANSFORM" arguments
        """
        span = line.span(0, begin).part(0, len(keyword))
        value = line.text[begin:].rstrip(BLANKS)
        if self._depth and keyword != "transform":
            message = f"{keyword.upper()} applies whatever the condition around it is"
            help_text = "move it out of the if; it is extracted before any condition is evaluated"
            self._warn(warning("lifted", message, span, help_text))
        if keyword == "name":
            self._name = self._given or value
        elif keyword == "universe":
            self._universe = value
        elif keyword == "requirements":
            self._require(value, line, begin)
        else:
            self._iterate(line, begin, rest)

    def _require(self, value: str, line: LogicalLine, begin: int) -> None:
        span = line.span(begin, begin + len(value))
        if self._requirements is not None:
            message = "the REQUIREMENTS above are replaced: the last ones count"
            self._warn(warning("requirements-twice", message, self._requirements.span, "join them with &&"))
        try:
            expression = Expression.parse(Source(value), old=True, open_choice=True)
        except ClassAdSyntaxError as error:
            why = error.diagnostics[0]
            place = why.relocated(span) if why.span is not None else why
            help_text = "macros are not replaced in REQUIREMENTS: write the expression out" if "$(" in value else None
            if place.span is not None and place.span.text.startswith("#"):
                help_text = "a comment needs a line of its own"
            message = f"invalid REQUIREMENTS : {short(value, 1000)}: {why.message}"
            self._break("requirements", message, place.span or span, help_text or why.help)
            return
        rest = why_not(value) if "?" in value else None
        if rest is not None:
            message = f"REQUIREMENTS takes only the beginning of {short(value)} that is an expression"
            help_text = f"{rest.message}; a job router ends when it joins such requirements to its umbrella constraint"
            self._warn(warning("requirements-rest", message, span, help_text))
        if re.search(r"(?i)\btarget\.", value):
            message = "TARGET is undefined in REQUIREMENTS: they are evaluated in the ad alone"
            self._warn(warning("requirements-target", message, span, "write MY. or the bare name"))
        self._requirements = Requirements(expression, value, span)

    def _iterate(self, line: LogicalLine, begin: int, rest: int | None) -> None:
        """Keep the arguments of TRANSFORM unless they mean once; the first TRANSFORM counts."""
        if self._iteration is None and not _ONCE.fullmatch(line.text, begin):
            self._iteration = Iteration(line, begin, rest)

    def _warn_of_rest(self, rest: int | None) -> None:
        if rest is None or (self._iteration is not None and self._iteration.text.rstrip(BLANKS).endswith("(")):
            return
        after = LineReader(self._source, rest).statement()
        if after is not None:
            message = "nothing after TRANSFORM is read"
            self._found.append(warning("after-transform", message, after.span(), "move it before the TRANSFORM line"))

    def _count_conditions(self, text: str) -> None:
        words = text.lstrip()[:6].split(None, 1)
        word = words[0].lower() if words else ""
        self._depth = max(0, self._depth + {"if": 1, "endif": -1}.get(word, 0))

    def _warn(self, found: Diagnostic) -> None:
        if len(self._found) < MOST:
            self._found.append(found)

    def _break(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        self._is_broken = True
        if len(self._found) < 2 * MOST:
            self._found.append(fault(code, message, span, help))


MAX_ROWS = 1_000_000
_Answer = TypeVar("_Answer")
_SEPARATOR = re.compile(r"[, \t][ \t]*")
_ITEM = re.compile(r"[^, \t\r\n]+")


# Slices and tables are read and have no effect, and a row keeps the text between its separators (HTCondor 25.14,
# MacroStreamXFormSource::parse_iterate_args and set_iter_item).
class IteratedItems(NamedTuple):
    """The items of a TRANSFORM; ``times`` each of the rows; ``is_once``: it does not iterate."""

    times: int
    variables: tuple[str, ...]
    rows: tuple[str, ...]
    is_once: bool
    missing: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """The number of ads it makes of one."""
        return max(1, self.times) * max(1, len(self.rows))

    def rounds(self) -> Iterator[tuple[int, int, str | None]]:
        """Yield the row, the step in it, and its text; none if HTCondor does not iterate.

        A list without rows gives one empty row if there is a count before it.
        """
        rows: tuple[str | None, ...] = self.rows
        if not rows and self.times > 1:
            rows = (None,)
        for row, text in enumerate(rows):
            for step in range(max(1, self.times)):
                yield row, step, text

    def values(self, text: str | None) -> dict[str, str]:
        """Return the loop variables of a row, without those it has no text for."""
        names = [name.lower() for name in self.variables]
        if not names:
            return {}
        row, at = text or "", 0
        values: dict[str, str] = {}
        for name in names[:-1]:
            found = _SEPARATOR.search(row, at)
            if found is None:
                values[name] = row[at:]
                return values
            values[name] = row[at : found.start()]
            at = found.end()
        values[names[-1]] = row[at:]
        return values


def read_items(of: Iteration, text: str, files: Files | None) -> IteratedItems:
    """Return the items of a TRANSFORM whose arguments are ``text`` after macros were replaced. Raises Stop.

    transform = "TRANSFORM" arguments?

    HTCondor: MacroStreamXFormSource::init_iterator.
    """
    trimmed = text.strip(BLANKS)
    if not trimmed:
        return IteratedItems(1, (), (), is_once=True)
    try:
        arguments = parse(trimmed, None, 0)
    except QueueError as error:
        help_text = f"{error.message}; {error.help}"
        raise Stop(fault("transform", "invalid TRANSFORM statement", of.span, help_text)) from None
    count = arguments.per_item
    if arguments.items is None:
        return IteratedItems(count, (), ("",) if count > 1 else (), is_once=count == 1)
    rows = [item.text for item in arguments.items]
    rows += _more(of, arguments, files)
    if len(rows) > MAX_ROWS:
        raise Stop(fault("transform", f"crondor reads no more than {MAX_ROWS} items", of.span))
    missing: list[str] = []
    if arguments.kinds:
        rows = _names(of, rows, arguments.kinds, files, missing)
    return IteratedItems(count, arguments.variables, tuple(rows), is_once=False, missing=tuple(missing))


def _more(of: Iteration, arguments: QueueArguments, files: Files | None) -> Iterator[str]:
    """Yield the rows or items that are not on the line itself."""
    source = arguments.source
    are_rows = arguments.items is not None and arguments.items.are_rows
    if source is ItemSource.LINES:
        yield from _rows_behind(of, are_rows=are_rows)
    elif source is ItemSource.FILE:
        lines = LineReader(_opened(of, files, lambda known: known.read(arguments.path)))
        while (line := lines.item()) is not None:
            yield line.unstripped().text
    elif source is ItemSource.COMMAND:
        message = f"HTCondor would run {short(arguments.path)} and read items from its output; crondor runs nothing"
        raise Stop(fault("runs-command", message, of.span, "write the items into a file, or into this one"))
    elif source is ItemSource.STDIN:
        raise Stop(
            fault("transform", "crondor does not read items from standard input", of.span, "write them into a file")
        )


def _rows_behind(of: Iteration, *, are_rows: bool) -> Iterator[str]:
    if of.rest is not None:
        lines = LineReader(of.line.source, of.rest)
        while (line := lines.item()) is not None:
            row = line.unstripped().text
            if row.startswith(")"):
                return
            if row.startswith("#"):
                continue
            if are_rows:
                yield row
            else:
                yield from _ITEM.findall(row)
    number = of.line.span().source.position(of.line.offset(len(of.line.text)))[0]
    number -= of.line.unterminated  # HTCondor counts line ends
    message = f"Reached end of file without finding closing brace ')' for TRANSFORM command on line {number}"
    raise Stop(fault("transform", message, of.span, "put ) on a line of its own after the last item"))


def _names(of: Iteration, patterns: list[str], kinds: str, files: Files | None, missing: list[str]) -> list[str]:
    """Return the names of files that patterns match, each once; ``missing`` takes patterns that match none."""
    names: dict[str, None] = {}
    for pattern in patterns:
        found = of_kind(_opened(of, files, methodcaller("matching", pattern)), pattern, kinds)
        names.update(dict.fromkeys(found))
        if not found:
            missing.append(pattern)
    return list(names)


def _opened(of: Iteration, files: Files | None, ask: Callable[[Files], _Answer]) -> _Answer:
    if files is None:
        raise Stop(fault("unknown-items", "crondor opens no file here", of.span, "write the items out"))
    try:
        return ask(files)
    except CrondorError as error:
        only = error.diagnostics[0]
        raise Stop(fault(only.kind, only.message, of.span, only.help)) from None
