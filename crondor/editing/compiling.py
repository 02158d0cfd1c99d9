"""A schedule that a comment of a submit description says, as lines of that description."""

from __future__ import annotations

import re
from typing import Final

from crondor.compile.markers import BEGIN, END, is_order
from crondor.compile.text import WrittenSchedule, schedule_line
from crondor.compile.writing.wish import LineOptions, Wish, default_end
from crondor.compiled_text import compile_text
from crondor.diagnostics import CrondorError
from crondor.editing.changes import difference
from crondor.editing.comments import read_said
from crondor.editing.kinds import TextKind
from crondor.editing.reading import ReadText
from crondor.editing.settings import EditSettings
from crondor.lint import TextEdit
from crondor.source import Source, Span, lines_of
from crondor.zones import zone_of

_COMMENT: Final = re.compile(r"(?P<margin>[ \t]*#)[ \t]*(?P<text>[^\r\n]*?)[ \t]*\r?$", re.MULTILINE)
_LONGEST: Final = 500  # characters of a comment that may be a schedule


def says_schedule(text: ReadText, offset: int) -> bool:
    """Say whether what stands at an offset can be compiled.

    That is the description's schedule line, its compiled lines, or, without such a line, a comment that reads as one.
    """
    if text.kind is not TextKind.SUBMIT:
        return False
    try:
        line = schedule_line(text.source)
    except CrondorError:
        return False
    if line is not None:
        return _is_of(text.source, line, offset)
    return _commented(text, offset) is not None


def compiled(text: ReadText, offset: int) -> TextEdit | None:
    """Return what puts the lines of the schedule at an offset into a description; None where those that it has fit.

    They are those that `crondor compile --write` writes. Raises CrondorError for a schedule that cannot be read or
    said, and where other lines come in their way.
    """
    source, settings = text.source, text.settings
    written = _commented(text, offset) if schedule_line(source) is None else None
    if written is not None:
        begin, end = written
        said = source.text[begin:end]
        source = Source(f"{source.text[:begin]}crondor: schedule = {said}{source.text[end:]}", source.name)
    line = schedule_line(source)
    if line is None:
        return None
    schedule = read_said(line, settings)
    made = compile_text(source, lambda universe, options: _wish(schedule, universe, options, settings), settings.read)
    return difference(text.source, made.text)


def _wish(schedule: WrittenSchedule, universe: str | None, options: LineOptions, settings: EditSettings) -> Wish:
    check = settings.check
    options = options.over(LineOptions(schedd_interval=check.schedd_interval))
    return options.wish(schedule, zone_of(check.zone), check.now, default_end(check.now), universe=universe)


def _commented(text: ReadText, offset: int) -> tuple[int, int] | None:
    """Return where the schedule stands that a comment at an offset says, None where it says none."""
    whole = text.source.text
    found = _COMMENT.match(whole, whole.rfind("\n", 0, offset) + 1)
    if found is None or not found["text"] or len(found["text"]) > _LONGEST or is_order(found[0]):
        return None
    try:
        read_said(found["text"], text.settings)
    except CrondorError:
        return None
    return found.span("text")


def _is_of(source: Source, line: Span, offset: int) -> bool:
    """Say whether an offset stands in the schedule line, or in the compiled lines."""
    text = source.text
    begin = text.rfind("\n", 0, line.start) + 1
    if begin <= offset <= line.end:
        return True
    inside, at = False, 0
    for each in lines_of(text):
        bare = each.rstrip("\r\n")
        is_end = END.fullmatch(bare) is not None
        inside = inside or BEGIN.fullmatch(bare) is not None
        if at <= offset < at + len(each):
            return inside
        inside = inside and not is_end
        at += len(each)
    return False
