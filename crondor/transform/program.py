"""The text of a transform taken apart: what stands for the whole of it, and the lines that are run.

NAME, REQUIREMENTS, UNIVERSE and TRANSFORM are taken out before anything else happens: no condition around them is
looked at and no macro in them is replaced (HTCondor 25.14, MacroStreamXFormSource::load and open).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.expression import Expression
from crondor.diagnostics import Diagnostic
from crondor.macro.lines import BLANKS, LineReader, LogicalLine
from crondor.source import Source, Span
from crondor.transform.errors import MOST, fault, short, warning
from crondor.transform.expressions import why_not_whole

_ENVELOPE = re.compile(r"[ \t\r\n\v\f]*(?i:(name|requirements|universe|transform))[ \t\r\n\v\f]+(?![=: \t\r\n\v\f])")
_HEREDOC = re.compile(r"[ \t\r\n\v\f]*(?:[^ \t\r\n\v\f=]+[ \t\r\n\v\f]+)?@=(?=[^ \t\r\n\v\f])")
_ONCE = re.compile(r"(?:\+?(?:0*1|0+)|-0+)?[ \t\r\n\v\f]*")
MAX_LINES = 100_000


class RuleSource(Enum):
    """Where the rules come from: a FILE, whose lines may go on, or a KNOB of the configuration, whose lines are cut.

    In a KNOB a name that the caller gives wins over NAME, and keywords inside a value of several lines count too.
    """

    FILE = "file"
    KNOB = "knob"


class Requirements(NamedTuple):
    """What an ad must meet."""

    expression: Expression
    text: str
    span: Span


class Iteration(NamedTuple):
    """The arguments of a TRANSFORM that does more than once; ``rest`` is the offset of the line behind it."""

    line: LogicalLine
    begin: int
    rest: int | None

    @property
    def text(self) -> str:
        """The arguments as they are written."""
        return self.line.text[self.begin :]

    @property
    def span(self) -> Span:
        """Where they are written."""
        return self.line.span(self.begin)


class TransformProgram(NamedTuple):
    """A transform taken apart.

    ``universe`` is the text of UNIVERSE, for the job router. ``is_broken`` says that HTCondor does not load it at
    all; ``diagnostics`` is what was found so far.
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
    """Take a text apart; never fails. ``lines`` are those of a KNOB where they stand in the file that sets it."""
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
        self._depth = 0  # of the conditionals around a line, for warnings alone

    def read(self) -> TransformProgram:
        """Read the lines; nothing behind a TRANSFORM is read.

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
        """Yield the lines, each with the offset behind it where lines that follow can be read as a list."""
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
        """Take a line that stands for the whole; ``=`` or ``:`` behind the keyword makes it another one.

        envelope = "NAME" text | "UNIVERSE" text | "REQUIREMENTS" expression | "TRANSFORM" arguments
        """
        span = line.span(0, begin).part(0, len(keyword))
        value = line.text[begin:].rstrip(BLANKS)
        if self._depth and keyword != "transform":
            message = f"{keyword.upper()} holds whatever the condition around it says"
            help_text = "move it out of the if; it is taken out of the text before any condition is looked at"
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
            help_text = "no macro is replaced in REQUIREMENTS: write the expression out" if "$(" in value else None
            if place.span is not None and place.span.text.startswith("#"):
                help_text = "a comment needs a line of its own"
            message = f"invalid REQUIREMENTS : {short(value, 1000)}: {why.message}"
            self._break("requirements", message, place.span or span, help_text or why.help)
            return
        rest = why_not_whole(value, old=True) if "?" in value else None
        if rest is not None:
            message = f"REQUIREMENTS takes only the beginning of {short(value)} that is an expression"
            help_text = f"{rest.message}; a job router ends when it joins such requirements to its umbrella constraint"
            self._warn(warning("requirements-rest", message, span, help_text))
        if re.search(r"(?i)\btarget\.", value):
            message = "TARGET is undefined in REQUIREMENTS: the ad is looked at alone"
            self._warn(warning("requirements-target", message, span, "write MY. or the bare name"))
        self._requirements = Requirements(expression, value, span)

    def _iterate(self, line: LogicalLine, begin: int, rest: int | None) -> None:
        """Keep the arguments of TRANSFORM unless they say once; the first TRANSFORM counts."""
        if self._iteration is None and not _ONCE.fullmatch(line.text, begin):
            self._iteration = Iteration(line, begin, rest)

    def _warn_of_rest(self, rest: int | None) -> None:
        if rest is None or (self._iteration is not None and self._iteration.text.rstrip(BLANKS).endswith("(")):
            return
        after = LineReader(self._source, rest).statement()
        if after is not None:
            message = "nothing behind TRANSFORM is read"
            self._found.append(warning("after-transform", message, after.span(), "move it before the TRANSFORM line"))

    def _count_conditions(self, text: str) -> None:
        words = text.lstrip()[:6].split(None, 1)
        word = words[0].lower() if words else ""
        self._depth = max(0, self._depth + {"if": 1, "endif": -1}.get(word, 0))

    def _warn(self, found: Diagnostic) -> None:
        if len(self._found) < MOST:
            self._found.append(found)

    def _break(self, code: str, message: str, span: Span, help: str | None = None) -> None:  # noqa: A002
        self._is_broken = True
        if len(self._found) < 2 * MOST:
            self._found.append(fault(code, message, span, help))
