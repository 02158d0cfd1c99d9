"""The structure of a text: parts, folding, links, and where names are defined and used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final, NamedTuple

from crondor.crontab.file import is_system_crontab, read_crontab
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span
from crondor.editing.reading import (
    LISTS,
    ROUTE,
    TRANSFORM,
    LineKind,
    Outline,
    PieceKind,
    ReadText,
    Spot,
    SpotKind,
    TextKind,
    WrittenLine,
    listed,
    macro_uses,
    pieces,
    spot_at,
)
from crondor.knowledge import submit_commands, submit_macros
from crondor.knowledge.words import CommandType
from crondor.lint import TextEdit
from crondor.macro.reader import is_name

_COMMENT: Final = re.compile(r"^[ \t]*(#[^\n]*)", re.MULTILINE)
_MOST_LINKS: Final = 200
_FROM: Final = re.compile(r"(?i)\bfrom[ \t]+([^ \t(<|][^ \t(|]*)[ \t]*$")
_FILES: Final = frozenset((CommandType.FILE, CommandType.BARE_FILE))


class PartKind(Enum):
    """The kind of a part."""

    JOBS = "jobs"
    COMMAND = "command"
    MACRO = "macro"
    ATTRIBUTE = "attribute"
    KNOB = "knob"
    ROUTE = "route"
    RULE = "rule"
    ENTRY = "entry"


class Part(NamedTuple):
    """A part: its name, its extent, the piece that names it, and its own parts."""

    name: str
    kind: PartKind
    whole: Span
    named: Span
    parts: tuple[Part, ...] = ()
    detail: str = ""


class WordClass(Enum):
    """The class of a word, for colouring."""

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
    """A word on one line, its class, and whether its meaning is defined here."""

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
    """Return the parts of a text: of a submit description its queue statements, each with the lines before it."""
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
    """Yield the ranges that can be folded, and whether they are comments."""
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
    """Return the words of a text in their order, none across lines or inside another."""
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
    """Yield the names of existing files, with their paths as written."""
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
    """Return the piece of a line that names a file: to include, to read rows from, or a command's value."""
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
    """Return a line with the lines of its value, including the piece that names it."""
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


_NAMED = (SpotKind.NAME, SpotKind.MACRO, SpotKind.LISTED)


class CannotRename(CrondorError, ValueError):
    """A name that cannot be changed, or not to this one."""


def definitions(text: ReadText, offset: int) -> list[Span]:
    """Return where the name at an offset is defined, in the text itself or in an included file.

    The name of such a file leads to the file. A macro of a route is local to the route if the route defines it.
    """
    spot = spot_at(text.outline, offset)
    if spot is None or spot.kind not in _NAMED:
        return _included(text, offset)
    return [span for outline, lines in _scope(text, spot) for span in _defined(spot.name, lines)]


def _included(text: ReadText, offset: int) -> list[Span]:
    """Return the beginning of the file that a line includes, if an offset is in its name."""
    written = text.outline.at(offset)
    named = file_named(written, text.kind) if written is not None else None
    if written is None or named is None or written.key != "include" or not named.start <= offset <= named.end:
        return []
    files = text.settings.files
    try:
        return [] if files is None else [files.read(named.text).span(0, 0)]
    except CrondorError:
        return []


def references(text: ReadText, offset: int, *, with_definitions: bool = True) -> list[Span]:
    """Return where the name at an offset is used, in the order of the lines, with its definitions if requested."""
    spot = spot_at(text.outline, offset)
    if spot is None or spot.kind not in _NAMED:
        return []
    found: list[Span] = []
    for outline, lines in _scope(text, spot):
        places = [*_used(outline, spot.name, lines)]
        places += _defined(spot.name, lines) if with_definitions else ()
        found += sorted(places, key=lambda span: span.start)
    return found


def renameable(text: ReadText, offset: int) -> Spot | None:
    """Return the spot at an offset if it can be renamed; its span is the part of the name to replace.

    Commands, HTCondor's knobs and what it provides keep their names.
    """
    spot = spot_at(text.outline, offset)
    if spot is None or spot.kind not in _NAMED or text.kind in {TextKind.AD, TextKind.CRONTAB, TextKind.DAG}:
        return None
    prefix = _prefix(spot.name)
    if not prefix and (spot.name.startswith("my.") or spot.name in _fixed(text)):
        return None
    if any(span.source is not text.source for span in definitions(text, offset)) or not definitions(text, offset):
        return None
    if prefix and spot.kind is not SpotKind.LISTED:
        return spot._replace(span=spot.span.part(len(prefix)))
    return spot


def renamed(text: ReadText, offset: int, new: str) -> list[TextEdit]:
    """Return the edits that rename a macro, a route or a transform everywhere in the text. Raises CannotRename."""
    spot = renameable(text, offset)
    if spot is None:
        raise _refused("nothing here can be renamed")
    prefix = _prefix(spot.name)
    if not is_name(new) or "/" in new:
        raise _refused(f"{new[:60]!r} is not a name: use letters, digits and _")
    key = prefix + new.lower()
    if key in _fixed(text) or (key != spot.name and next(_defined(key, text.outline.lines), None) is not None):
        raise _refused(f"{new[:60]} already exists")
    edits: dict[tuple[int, int], TextEdit] = {}
    for span in references(text, offset):
        if span.source is text.source:
            own = span.part(len(prefix)) if span.text.lower().startswith(prefix) else span
            edits[own.start, own.end] = TextEdit(own, new)
    return list(edits.values())


def _scope(text: ReadText, spot: Spot) -> Iterator[tuple[Outline, list[WrittenLine]]]:
    """Yield the lines in which a name means the same: of its route, or all but those of routes that define it."""
    inside = spot.written.inside if not _prefix(spot.name) else ""
    own = [each for each in text.outline.lines if each.inside == inside]
    if inside and next(_defined(spot.name, own), None) is not None:
        yield text.outline, own
        return
    for outline in text.outlines:
        bodies = (each for each in outline.lines if each.inside)
        local = {each.inside for each in bodies if next(_defined(spot.name, (each,)), None) is not None}
        yield outline, [each for each in outline.lines if each.inside not in local]


def _defined(name: str, lines: Iterable[WrittenLine]) -> Iterator[Span]:
    for written in lines:
        if written.kind is LineKind.ASSIGNMENT and written.key == name and not (written.inside and _prefix(name)):
            yield written.name_span
        elif written.kind is LineKind.COMMAND and written.key == "evalmacro":
            place = written.attribute
            if place and written.line.text[slice(*place)].lower() == name:
                yield written.line.span(*place)
        for variable, span in written.variables():
            if variable == name:
                yield span


def _used(outline: Outline, name: str, lines: Iterable[WrittenLine]) -> Iterator[Span]:
    prefix = _prefix(name)
    for written in lines:
        yield from (span for used, span in macro_uses(written, outline.kind) if used == name)
        if prefix and LISTS.get(written.key) == prefix:
            yield from (span for word, span in listed(written) if prefix + word == name)


def _prefix(name: str) -> str:
    """Return the prefix of a route's or a transform's knob, empty for another name."""
    if name in LISTS:
        return ""
    return next((each for each in (ROUTE, TRANSFORM, "job_transform_") if name.startswith(each) and name != each), "")


def _fixed(text: ReadText) -> frozenset[str]:
    """Return the names whose meaning is HTCondor's."""
    if text.kind is TextKind.SUBMIT:
        return frozenset((*submit_commands().names(), *submit_macros()))
    return frozenset(LISTS)


def _refused(message: str) -> CannotRename:
    return CannotRename(Diagnostic("rename", message))
