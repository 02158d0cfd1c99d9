"""How a text is built: its parts, what can be folded, what its words are, what it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

from crondor.crontab.file import is_system_crontab, read_crontab
from crondor.diagnostics import CrondorError
from crondor.editing.kinds import TextKind
from crondor.editing.outline import LineKind, Outline, WrittenLine
from crondor.editing.pieces import PieceKind, pieces
from crondor.editing.reading import ReadText
from crondor.knowledge import submit_commands
from crondor.knowledge.commands import CommandType
from crondor.source import Source, Span

_COMMENT: Final = re.compile(r"^[ \t]*(#[^\n]*)", re.MULTILINE)
_MOST_LINKS: Final = 200
_FROM: Final = re.compile(r"(?i)\bfrom[ \t]+([^ \t(<|][^ \t(|]*)[ \t]*$")
_FILES: Final = frozenset((CommandType.FILE, CommandType.BARE_FILE))


class PartKind(Enum):
    """What a part of a text is."""

    JOBS = "jobs"
    COMMAND = "command"
    MACRO = "macro"
    ATTRIBUTE = "attribute"
    KNOB = "knob"
    ROUTE = "route"
    RULE = "rule"
    ENTRY = "entry"


class Part(NamedTuple):
    """A part: its name, all of it, the piece that names it, and the parts that are in it."""

    name: str
    kind: PartKind
    whole: Span
    named: Span
    parts: tuple[Part, ...] = ()
    detail: str = ""


class WordClass(Enum):
    """What a word is, as editors colour them."""

    COMMENT = "comment"
    KEYWORD = "keyword"
    PROPERTY = "property"  # a command, or a knob
    VARIABLE = "variable"  # an attribute
    MACRO = "macro"
    FUNCTION = "function"
    NAMESPACE = "namespace"  # MY, TARGET
    NUMBER = "number"
    STRING = "string"


class ColouredWord(NamedTuple):
    """A word on one line, what it is, and whether its meaning is defined here."""

    span: Span
    kind: WordClass
    is_definition: bool = False


_PIECES: Final = {
    PieceKind.MACRO: WordClass.MACRO,
    PieceKind.MACRO_FUNCTION: WordClass.FUNCTION,
    PieceKind.ATTRIBUTE: WordClass.VARIABLE,
    PieceKind.FUNCTION: WordClass.FUNCTION,
    PieceKind.SCOPE: WordClass.NAMESPACE,
    PieceKind.LITERAL: WordClass.KEYWORD,
    PieceKind.NUMBER: WordClass.NUMBER,
    PieceKind.STRING: WordClass.STRING,
}


def parts(text: ReadText) -> list[Part]:
    """Return the parts of a text: of a submit description its queue statements, each with the lines that lead to it."""
    if text.kind is TextKind.CRONTAB:
        file = read_crontab(text.source, has_users=is_system_crontab(text.source.name))
        return [
            Part(each.command[:60] or "(nothing)", PartKind.ENTRY, each.span, each.schedule, (), each.schedule.text)
            for each in file.entries
        ]
    if text.kind is not TextKind.SUBMIT:
        return list(_nested(text.outline))
    found: list[Part] = []
    lines: list[Part] = []
    for written in text.outline.lines:
        if written.kind is LineKind.QUEUE:
            whole = _whole(written)
            begin = lines[0].whole.start if lines else whole.start
            name = written.line.text[:60].strip()
            found.append(Part(name, PartKind.JOBS, Span(text.source, begin, whole.end), whole, tuple(lines)))
            lines = []
        elif written.kind is LineKind.ASSIGNMENT:
            lines.append(_part(written, text.kind))
    return [*found, *lines]


def folds(text: ReadText) -> Iterator[tuple[Span, bool]]:
    """Yield what can be folded, more than a line each, and whether that is a comment."""
    begin: list[int] = []
    for written in text.outline.lines:
        whole = _whole(written)
        if written.kind is LineKind.KEYWORD and written.key == "if":
            begin.append(whole.start)
        elif written.kind is LineKind.KEYWORD and written.key == "endif" and begin:
            yield Span(text.source, begin.pop(), whole.end), False
        elif "\n" in whole.text:
            yield whole, False
    for part in parts(text):
        if part.kind is PartKind.JOBS and part.parts and "\n" in part.whole.text:
            yield part.whole, False
    yield from ((span, True) for span in _comment_blocks(text.source))


def words(text: ReadText) -> list[ColouredWord]:
    """Return the words of a text in their order, none over the end of a line, none inside another."""
    found = [] if text.kind is TextKind.AD else list(_comments(text.source))
    for written in text.outline.lines:
        found += _of_line(written, text.kind)
    found = [each for each in found if each.span.end > each.span.start and "\n" not in each.span.text]
    found.sort(key=lambda each: (each.span.start, -each.span.end))
    kept: list[ColouredWord] = []
    for each in found:
        if not kept or each.span.start >= kept[-1].span.end:
            kept.append(each)
    return kept


def links(text: ReadText) -> Iterator[tuple[Span, str]]:
    """Yield what names a file that is there, with its path as it is written."""
    files = text.settings.files
    if files is None:
        return
    left = _MOST_LINKS
    for written in text.outline.lines:
        span = file_named(written, text.kind)
        if span is None or "$" in span.text or not span.text:
            continue
        left -= 1
        if left < 0:
            return
        try:
            if files.kind(span.text) == "file":
                yield span, span.text
        except CrondorError:
            continue


def file_named(written: WrittenLine, kind: TextKind) -> Span | None:
    """Return the piece of a line that names a file: to include, to take rows from, or a command's value."""
    if kind not in {TextKind.SUBMIT, TextKind.CONFIG}:
        return None
    line = written.line
    if written.kind is LineKind.KEYWORD and written.key == "include":
        return None if line.text.endswith("|") or "command" in line.text[: written.value] else line.span(written.value)
    if written.kind is LineKind.QUEUE:
        found = _FROM.search(line.text, written.value)
        return line.span(*found.span(1)) if found else None
    command = submit_commands().get(written.key) if kind is TextKind.SUBMIT else None
    if written.kind is LineKind.ASSIGNMENT and command is not None and command.type in _FILES:
        return line.span(written.value)
    return None


def _of_line(written: WrittenLine, kind: TextKind) -> Iterator[ColouredWord]:
    line = written.line
    name = written.name_span
    if written.kind is LineKind.ASSIGNMENT:
        known = kind is TextKind.SUBMIT and not written.inside and submit_commands().get(written.key) is not None
        if kind is TextKind.AD or written.key.startswith("my."):
            yield ColouredWord(name, WordClass.VARIABLE, is_definition=True)
        elif known or (kind is TextKind.CONFIG and not written.inside):
            yield ColouredWord(name, WordClass.PROPERTY, is_definition=True)
        else:
            yield ColouredWord(name, WordClass.MACRO, is_definition=True)
    elif written.kind is not LineKind.OTHER:
        yield ColouredWord(name, WordClass.KEYWORD)
    attribute = written.attribute
    if attribute:
        yield ColouredWord(line.span(*attribute), WordClass.VARIABLE, is_definition=True)
    yield from (ColouredWord(span, WordClass.MACRO, is_definition=True) for _, span in written.variables())
    for piece in pieces(written, kind) if kind is not TextKind.CRONTAB else ():
        yield ColouredWord(line.span(piece.start, piece.end), _PIECES[piece.kind])


def _nested(outline: Outline) -> Iterator[Part]:
    """Yield the parts of a configuration, of rules or of an ad; lines of a knob's value are parts of the knob."""
    inner: list[Part] = []
    outer: WrittenLine | None = None
    for written in outline.lines:
        if written.kind not in {LineKind.ASSIGNMENT, LineKind.COMMAND}:
            continue
        if written.inside:
            inner.append(_part(written, outline.kind))
            continue
        if outer is not None:
            yield _part(outer, outline.kind)._replace(parts=tuple(inner))
        outer, inner = written, []
    if outer is not None:
        yield _part(outer, outline.kind)._replace(parts=tuple(inner))


def _part(written: WrittenLine, kind: TextKind) -> Part:
    whole, name = _whole(written), written.name_span
    value = " ".join(written.line.text[written.value :][:80].split())
    if written.kind is LineKind.COMMAND:
        return Part(f"{name.text} {value}"[:60], PartKind.RULE, whole, name)
    if kind is TextKind.AD or written.key.startswith("my."):
        return Part(name.text, PartKind.ATTRIBUTE, whole, name, (), value)
    if kind is TextKind.CONFIG and not written.inside:
        part = PartKind.ROUTE if written.until is not None else PartKind.KNOB
        return Part(name.text, part, whole, name, (), "" if written.until is not None else value)
    known = kind is TextKind.SUBMIT and submit_commands().get(written.key) is not None
    return Part(name.text, PartKind.COMMAND if known else PartKind.MACRO, whole, name, (), value)


def _whole(written: WrittenLine) -> Span:
    """Return a line with the lines that belong to it; the piece that names it stands inside."""
    span = written.line.span()
    start = min(span.start, written.name_span.start)
    end = span.end if written.until is None else max(span.end, written.until.span().end)
    return Span(span.source, start, end)


def _comments(source: Source) -> Iterator[ColouredWord]:
    for found in _COMMENT.finditer(source.text):
        yield ColouredWord(source.span(*found.span(1)), WordClass.COMMENT)


def _comment_blocks(source: Source) -> Iterator[Span]:
    begin = end = -1
    for found in _COMMENT.finditer(source.text):
        if end < 0 or source.text[end : found.start()].strip(" \t\r") != "\n":
            if begin >= 0 and "\n" in source.text[begin:end]:
                yield source.span(begin, end)
            begin = found.start()
        end = found.end()
    if begin >= 0 and "\n" in source.text[begin:end]:
        yield source.span(begin, end)
