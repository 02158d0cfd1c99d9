"""Where a macro, a knob, a route or a transform is defined, where it is used, and what another name would change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.editing.kinds import TextKind
from crondor.editing.outline import LineKind, Outline, WrittenLine
from crondor.editing.pieces import macro_uses
from crondor.editing.reading import ReadText
from crondor.editing.spots import LISTS, ROUTE, TRANSFORM, Spot, SpotKind, listed, spot_at
from crondor.editing.structure import file_named
from crondor.knowledge import submit_commands, submit_macros
from crondor.lint import TextEdit
from crondor.macro.statement import is_name
from crondor.source import Span

_NAMED = (SpotKind.NAME, SpotKind.MACRO, SpotKind.LISTED)


class CannotRename(CrondorError, ValueError):
    """A name that cannot be changed, or not into this one."""


def definitions(text: ReadText, offset: int) -> list[Span]:
    """Return where what stands at an offset is defined, in the text itself or a file that it includes.

    The name of such a file leads to the file. A macro of a route is that route's alone, where the route defines it.
    """
    spot = spot_at(text.outline, offset)
    if spot is None or spot.kind not in _NAMED:
        return _included(text, offset)
    return [span for outline, lines in _scope(text, spot) for span in _defined(spot.name, lines)]


def _included(text: ReadText, offset: int) -> list[Span]:
    """Return the beginning of the file that a line includes, where an offset stands in its name."""
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
    """Return where what stands at an offset is used, in the order of the lines, with its definitions if asked for."""
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
    """Return what can be given another name at an offset; its span is what is written there of the name.

    Commands, knobs of HTCondor's and what it provides keep their names.
    """
    spot = spot_at(text.outline, offset)
    if spot is None or spot.kind not in _NAMED or text.kind in {TextKind.AD, TextKind.CRONTAB}:
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
    """Return what gives a macro, a route or a transform another name everywhere in the text. Raises CannotRename."""
    spot = renameable(text, offset)
    if spot is None:
        raise _refused("nothing that can be renamed stands here")
    prefix = _prefix(spot.name)
    if not is_name(new) or "/" in new:
        raise _refused(f"{new[:60]!r} is no name: write letters, digits and _")
    key = prefix + new.lower()
    if key in _fixed(text) or (key != spot.name and next(_defined(key, text.outline.lines), None) is not None):
        raise _refused(f"there is a {new[:60]} already")
    edits: dict[tuple[int, int], TextEdit] = {}
    for span in references(text, offset):
        if span.source is text.source:
            own = span.part(len(prefix)) if span.text.lower().startswith(prefix) else span
            edits[own.start, own.end] = TextEdit(own, new)
    return list(edits.values())


def _scope(text: ReadText, spot: Spot) -> Iterator[tuple[Outline, list[WrittenLine]]]:
    """Yield the lines in which a name means the same: of its route, or all but the routes that define it themselves."""
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
    """Return what the name of a route's or a transform's knob begins with, nothing for another name."""
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
