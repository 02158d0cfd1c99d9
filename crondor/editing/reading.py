"""A text in an editor: its kind, outline, settings, words, and the pieces they consist of."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final, NamedTuple

from crondor.classad import Context
from crondor.config import Configuration, read_config
from crondor.dag.commands import SYNTAX, Lines
from crondor.diagnostics import Source, Span
from crondor.knowledge import submit_commands, transform_commands
from crondor.knowledge.words import CommandType
from crondor.lint import CheckSettings, Finding
from crondor.lint.dags import ReadNode
from crondor.lint.report import NodeText
from crondor.lint.subject import CheckedFile, CheckMemory
from crondor.lint.submit import read_file
from crondor.macro import BLANKS, LineReader, LogicalLine
from crondor.macro.expand import MacroKind, Scanner
from crondor.macro.files import Files
from crondor.macro.reader import conditional, is_name, queue_arguments, split
from crondor.submit import SubmitFile, read_submit


class TextKind(Enum):
    """A language; the value is its name in editors (LSP: languageId)."""

    SUBMIT = "htcondor-submit"
    CONFIG = "htcondor-config"
    TRANSFORM = "htcondor-transform"
    AD = "classad"
    CRONTAB = "crontab"
    DAG = "htcondor-dag"


_WITHOUT_MACROS: Final = frozenset((TextKind.AD, TextKind.CRONTAB, TextKind.DAG))
_LANGUAGES: Final = {
    **{kind.value: kind for kind in TextKind},
    "condor": TextKind.SUBMIT,
    "condor-submit": TextKind.SUBMIT,
    "submit": TextKind.SUBMIT,
    "htcondor": TextKind.SUBMIT,
    "condor-config": TextKind.CONFIG,
    "classads": TextKind.AD,
    "cron": TextKind.CRONTAB,
    "dag": TextKind.DAG,
}
_SUFFIXES: Final = {
    **dict.fromkeys((".sub", ".submit", ".jdl"), TextKind.SUBMIT),
    **dict.fromkeys((".conf", ".config"), TextKind.CONFIG),
    **dict.fromkeys((".rules", ".xform", ".transform"), TextKind.TRANSFORM),
    **dict.fromkeys((".ad", ".ads", ".classad", ".classads"), TextKind.AD),
    **dict.fromkeys((".crontab", ".cron"), TextKind.CRONTAB),
    ".dag": TextKind.DAG,
}
_CONFIG: Final = re.compile(r"condor_config(\..+)?").fullmatch


def kind_of(path: str, language: str = "") -> TextKind | None:
    """Return the language of a text: the editor's name for it, else by the file's name; None if it is none of ours.

    A file in a folder ``cron.d``, or named ``crontab``, is a crontab; ``condor_config`` and ``condor_config.local`` are
    configurations.
    """
    known = _LANGUAGES.get(language.lower())
    if known is not None:
        return known
    *folders, name = path.replace("\\", "/").lower().split("/")
    if name == "crontab" or folders[-1:] == ["cron.d"]:
        return TextKind.CRONTAB
    if _CONFIG(name):
        return TextKind.CONFIG
    dot = name.rfind(".")
    return _SUFFIXES.get(name[dot:]) if dot > 0 else None


_RULES: Final = ("job_router_route_", "job_router_transform_", "job_transform_")
_KEYWORDS: Final = frozenset(("include", "use", "error", "warning"))
_WORD: Final = re.compile(r"[A-Za-z]+(?=[ \t]|$)")
_ATTRIBUTE: Final = re.compile(r"[ \t\[;{]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*=(?![=?!])")
_HEAD: Final = 2000  # characters of a queue statement that may contain its variables
_VARIABLES: Final = re.compile(r"(?i)(?:[0-9]+[ \t]+)?([A-Za-z_][A-Za-z0-9_., \t]*?)[ \t]+(?:in|from|matching)\b")


class LineKind(Enum):
    """The kind of a line."""

    ASSIGNMENT = "assignment"
    QUEUE = "queue"
    COMMAND = "command"  # of a transform
    KEYWORD = "keyword"  # include, use, error, warning, if, elif, else, endif
    OTHER = "other"


class WrittenLine(NamedTuple):
    """A line: ``key`` is the lower-case name that is assigned (``my.x`` for ``+X``), or the keyword it begins with.

    ``name`` is its place, ``value`` where the rest begins, both in the line's text. ``inside`` is the key of the value
    of several lines that contains it, ``until`` the line that ends its own such value.
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
        """The place of the name or the keyword."""
        return self.line.span(*self.name)

    @property
    def attribute(self) -> tuple[int, int] | None:
        """The place of the name that a transform's command is about, None if it has none."""
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
        """Return the index in the line of an offset of the source."""
        return bisect_left(range(len(self.line.text) + 1), offset, key=self.line.offset)


class Outline:
    """A text and its lines; made for each version of the text when needed."""

    def __init__(self, source: Source, kind: TextKind) -> None:
        self.source = source
        self.kind = kind

    @cached_property
    def lines(self) -> tuple[WrittenLine, ...]:
        """All lines with contents, in their order."""
        return tuple(_READERS[self.kind](self.source))

    @cached_property
    def _starts(self) -> list[int]:
        return [written.line.offset(0) for written in self.lines]

    def at(self, offset: int) -> WrittenLine | None:
        """Return the line of an offset, its end included; None for a comment or a blank line."""
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return None
        written = self.lines[number]
        end = written.line.span().end
        rest = self.source.text[end:offset]
        return written if offset <= end or not rest.strip(" \t") else None

    def inside(self, offset: int) -> str:
        """Return the key of the value of several lines around an offset, empty outside of any."""
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
    """Yield a line, and the lines of its value; the rows of a list are skipped."""
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
    """Return a line that is not a command of a transform."""
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


def _dag_lines(source: Source) -> Iterator[WrittenLine]:
    """Yield the lines of a DAG; those of a description in it have no key."""
    for line in Lines(source):
        word = line.text.split(maxsplit=1)[0] if line.text else ""
        key = word.upper().replace("-", "_")
        is_command = key in SYNTAX
        kind = LineKind.KEYWORD if is_command else LineKind.OTHER
        yield WrittenLine(line, kind, key if is_command else "", (0, len(word)), len(word) + 1)


_READERS: Final = {
    TextKind.SUBMIT: _statements,
    TextKind.CONFIG: _configuration,
    TextKind.TRANSFORM: _rules,
    TextKind.AD: _attributes,
    TextKind.CRONTAB: _entries,
    TextKind.DAG: _dag_lines,
}


class HintKind(Enum):
    """A kind of inline hints."""

    NEXT_RUN = "next-run"
    MACROS = "macros"


def _read_node(source: Source, node: NodeText) -> SubmitFile:
    return read_submit(source, files=node.files, variables=node.variables)


@dataclass(frozen=True)
class EditSettings:
    """Inputs of the findings of a text besides the text.

    ``check`` is that of `crondor check`; ``read`` reads a submit description, ``read_node`` that of a DAG's node;
    ``files`` are those that a configuration or a DAG may name, ``environ`` is read by $ENV() in a configuration.
    ``chosen`` and ``ignored`` are codes or their prefixes. ``new`` drops known findings. ``hints`` are those to show.
    """

    check: CheckSettings
    read: Callable[[Source], SubmitFile] = read_submit
    read_node: ReadNode = _read_node
    files: Files | None = None
    environ: Mapping[str, str] | None = None
    chosen: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    new: Callable[[Iterable[Finding]], list[Finding]] | None = None
    hints: frozenset[HintKind] = frozenset((HintKind.NEXT_RUN,))

    @property
    def context(self) -> Context:
        """The clock and the zone of expressions."""
        zone = self.check.zone
        return Context(now=self.check.now) if isinstance(zone, str) else Context(now=self.check.now, zone=zone)


class ReadText:
    """One version of a text in one language, read as far as needed; ``outline`` works for a faulty one, too.

    ``memory`` is from the versions before: common parts are not read again.
    """

    def __init__(
        self, source: Source, kind: TextKind, settings: EditSettings, memory: CheckMemory | None = None
    ) -> None:
        """Take the text; nothing is read yet."""
        self.source = source
        self.kind = kind
        self.settings = settings
        self.memory = memory
        self.outline = Outline(source, kind)

    @cached_property
    def jobs(self) -> CheckedFile:
        """A submit description for questions: its jobs, or the faults that prevent them."""
        return read_file(self.source, self.settings.check, self.settings.read, self.memory)

    @cached_property
    def configuration(self) -> Configuration:
        """The knobs of a configuration."""
        settings = self.settings
        return read_config(self.source, files=settings.files, environ=settings.environ, context=settings.context)

    @cached_property
    def outlines(self) -> tuple[Outline, ...]:
        """The lines of the text, and of the files that it includes."""
        sources: tuple[Source, ...] = ()
        if self.kind is TextKind.SUBMIT and self.jobs.submit is not None:
            sources = self.jobs.submit.sources
        elif self.kind is TextKind.CONFIG:
            sources = self.configuration.sources
        others = (Outline(source, self.kind) for source in sources if source is not self.source)
        return (self.outline, *others)


LONGEST: Final = 20_000
"""Characters of a line whose words are examined; editors do not colour longer ones."""

_TOKEN: Final = re.compile(
    r"\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|(?P<number>[0-9][0-9A-Za-z_.]*)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)(?P<call>[ \t]*\()?",
    re.DOTALL,
)
_ARGUMENT: Final = re.compile(r"[ \t]*([A-Za-z0-9_./]+)")
_LITERALS: Final = frozenset(("true", "false", "undefined", "error", "is", "isnt"))
_SCOPES: Final = frozenset(("my", "target", "parent"))
_WITHOUT_NAMES: Final = frozenset(("ENV", "RANDOM_CHOICE", "RANDOM_INTEGER"))
_EXPRESSIONS: Final = frozenset(
    (
        CommandType.EXPRESSION,
        CommandType.BOOLEAN,
        CommandType.INTEGER,
        CommandType.COUNT,
        CommandType.MIB,
        CommandType.KIB,
    )
)
_OF_CONFIG: Final = re.compile(
    r"(?:\w+\.)?(?:start|rank|preempt|suspend|continue|kill|want_\w+|\w*(?:expr|requirements?|constraint)\w*|system_periodic_\w+|\w*_hold_reason)"
).fullmatch


class PieceKind(Enum):
    """The kind of a piece."""

    MACRO = "macro"
    MACRO_FUNCTION = "macro function"
    ATTRIBUTE = "attribute"
    FUNCTION = "function"
    SCOPE = "scope"
    LITERAL = "literal"
    NUMBER = "number"
    STRING = "string"


class Piece(NamedTuple):
    """A piece of a line's text: its name (of a macro in lower case, else as written), and its place."""

    kind: PieceKind
    name: str
    start: int
    end: int


def pieces(written: WrittenLine, kind: TextKind) -> list[Piece]:
    """Return the pieces of a line's value in their order; none if the line is too long."""
    text = written.line.text
    if len(text) > LONGEST:
        return []
    begin = written.value
    macros = list(_macros(text, begin)) if kind not in _WITHOUT_MACROS else []
    if not is_expression(written, kind):
        return [piece for piece, _ in macros]
    covered = _reaches(macros)
    found = [piece for piece, _ in macros]
    attribute = written.attribute
    found += (piece for piece in _tokens(text, attribute[1] if attribute else begin) if not _inside(piece, covered))
    return sorted(found, key=lambda piece: piece.start)


def is_expression(written: WrittenLine, kind: TextKind) -> bool:
    """Return whether the value of a line is a ClassAd expression."""
    if kind is TextKind.AD:
        return True
    if written.kind is LineKind.COMMAND:
        return written.key in {"set", "default", "evalset", "evalmacro", "requirements"}
    if written.kind is not LineKind.ASSIGNMENT:
        return False
    if kind is TextKind.SUBMIT:
        command = submit_commands().get(written.key)
        return written.key.startswith("my.") or (command is not None and command.type in _EXPRESSIONS)
    return kind is TextKind.CONFIG and _OF_CONFIG(written.key) is not None


def macro_uses(written: WrittenLine, kind: TextKind) -> Iterator[tuple[str, Span]]:
    """Yield the macros that a line uses, by lower-case name, with the place of the name."""
    if kind in _WITHOUT_MACROS or len(written.line.text) > LONGEST:
        return
    for piece, _ in _macros(written.line.text, 0):
        if piece.kind is PieceKind.MACRO:
            yield piece.name, written.line.span(piece.start, piece.end)


def _macros(text: str, begin: int) -> Iterator[tuple[Piece, tuple[int, int]]]:
    """Yield the macros of a text, each with its extent, including those in defaults and arguments."""
    scanner = Scanner(text)
    at = text.find("$", begin)
    while at >= 0:
        found = scanner.scan(at)
        if found.kind is MacroKind.MACRO:
            start = text.index("(", at) + 1
            yield Piece(PieceKind.MACRO, found.name, start, start + len(found.name)), (at, found.end)
            at = text.find("$", start)
        elif found.kind is MacroKind.FUNCTION:
            start = at + 1
            yield Piece(PieceKind.MACRO_FUNCTION, found.name, start, start + len(found.name)), (at, found.end)
            inner = start + len(found.name) + 1
            argument = _ARGUMENT.match(text, inner)
            if argument and found.name not in _WITHOUT_NAMES and not argument[1].isdigit():
                yield Piece(PieceKind.MACRO, argument[1].lower(), *argument.span(1)), (at, found.end)
            at = text.find("$", inner)
        else:
            at = text.find("$", at + 1)


def _tokens(text: str, begin: int) -> Iterator[Piece]:
    for found in _TOKEN.finditer(text, begin):
        if found["number"]:
            yield Piece(PieceKind.NUMBER, found["number"], *found.span())
        elif not found["word"]:
            yield Piece(PieceKind.STRING, found[0], *found.span())
        else:
            word = found["word"]
            if found["call"]:
                kind = PieceKind.FUNCTION
            elif word.lower() in _LITERALS:
                kind = PieceKind.LITERAL
            elif word.lower() in _SCOPES and text.startswith(".", found.end()):
                kind = PieceKind.SCOPE
            else:
                kind = PieceKind.ATTRIBUTE
            yield Piece(kind, word, *found.span("word"))


def _reaches(found: list[tuple[Piece, tuple[int, int]]]) -> list[tuple[int, int]]:
    """Return the extents of macros, including nested ones, in order."""
    outer: list[tuple[int, int]] = []
    for _, (low, high) in found:
        if outer and low < outer[-1][1]:
            outer[-1] = outer[-1][0], max(high, outer[-1][1])
        else:
            outer.append((low, high))
    return outer


def _inside(piece: Piece, covered: list[tuple[int, int]]) -> bool:
    """Return whether a piece is inside a macro; a text may have macros in it."""
    if piece.kind is PieceKind.STRING:
        return False
    number = bisect_right(covered, (piece.start, sys.maxsize)) - 1
    return number >= 0 and piece.start < covered[number][1]


ROUTE: Final = "job_router_route_"
TRANSFORM: Final = "job_router_transform_"
LISTS: Final = {
    "job_router_route_names": ROUTE,
    "job_router_pre_route_transform_names": TRANSFORM,
    "job_router_post_route_transform_names": TRANSFORM,
    "job_transform_names": "job_transform_",
}
"""Knobs that list names, and the prefix of the knobs for these names."""

_LISTED: Final = re.compile(r"[^, \t]+")


class SpotKind(Enum):
    """The kind of a spot."""

    NAME = "name"  # assigned by a line: a command, a knob, a macro, an attribute
    COMMAND = "command"  # of a transform
    KEYWORD = "keyword"
    MACRO = "macro"
    MACRO_FUNCTION = "macro function"
    ATTRIBUTE = "attribute"
    FUNCTION = "function"
    LISTED = "listed"  # a route or a transform in a list; ``name`` is its knob's


class Spot(NamedTuple):
    """A spot: its name in lower case, its place, and its line."""

    kind: SpotKind
    name: str
    span: Span
    written: WrittenLine


_PIECES: Final = {
    PieceKind.MACRO: SpotKind.MACRO,
    PieceKind.MACRO_FUNCTION: SpotKind.MACRO_FUNCTION,
    PieceKind.ATTRIBUTE: SpotKind.ATTRIBUTE,
    PieceKind.FUNCTION: SpotKind.FUNCTION,
}
_NAMES: Final = {
    LineKind.COMMAND: SpotKind.COMMAND,
    LineKind.KEYWORD: SpotKind.KEYWORD,
    LineKind.QUEUE: SpotKind.KEYWORD,
}


def spot_at(outline: Outline, offset: int) -> Spot | None:
    """Return the spot at an offset, None if there is nothing to describe."""
    written = outline.at(offset)
    if written is None:
        return None
    at = written.character(offset)
    low, high = written.name
    if low <= at <= high and written.key and written.kind is not LineKind.OTHER:
        return Spot(_NAMES.get(written.kind, SpotKind.NAME), written.key, written.name_span, written)
    found = _piece_at(written, outline.kind, at)
    return found if found is not None else _word_at(written, outline.kind, offset, at)


def _piece_at(written: WrittenLine, kind: TextKind, at: int) -> Spot | None:
    for piece in pieces(written, kind):
        spot = _PIECES.get(piece.kind)
        if spot is not None and piece.start <= at <= piece.end:
            name = piece.name if spot is SpotKind.MACRO_FUNCTION else piece.name.lower()
            return Spot(spot, name, written.line.span(piece.start, piece.end), written)
    return None


def _word_at(written: WrittenLine, kind: TextKind, offset: int, at: int) -> Spot | None:
    """Return the loop variable, the attribute of a command, or the word of a list at a place."""
    for name, span in written.variables():
        if span.start <= offset <= span.end:
            return Spot(SpotKind.NAME, name, span, written)
    attribute = written.attribute
    if attribute and attribute[0] <= at <= attribute[1]:
        span = written.line.span(*attribute)
        return Spot(SpotKind.ATTRIBUTE, span.text.lower(), span, written)
    words = listed(written) if kind is TextKind.CONFIG and written.key in LISTS else []
    here = next(((word, span) for word, span in words if span.start <= offset <= span.end), None)
    return None if here is None else Spot(SpotKind.LISTED, LISTS[written.key] + here[0], here[1], written)


def listed(written: WrittenLine) -> list[tuple[str, Span]]:
    """Return the words of a list in lower case, with their places; none if there are macros between them."""
    text = written.line.text
    if "$" in text:
        return []
    return [(word[0].lower(), written.line.span(*word.span())) for word in _LISTED.finditer(text, written.value)]
