"""What the comment says that holds a description's schedule, and the zones that texts name."""

from __future__ import annotations

import re
from typing import Final

from crondor.compile.text import WrittenSchedule, read_schedule, schedule_line
from crondor.diagnostics import CrondorError
from crondor.editing.kinds import TextKind
from crondor.editing.outline import LineKind
from crondor.editing.reading import ReadText
from crondor.editing.settings import EditSettings
from crondor.source import Span
from crondor.zones import zone_of

_ZONE: Final = re.compile(r"(?i)\bzone[ \t]+(\S+)")
_OF_CRONTABS: Final = frozenset(("cron_tz", "tz"))


def schedule_at(text: ReadText, offset: int) -> Span | None:
    """Return the text of the description's own schedule where an offset stands in its line, None elsewhere."""
    if text.kind is not TextKind.SUBMIT:
        return None
    try:
        line = schedule_line(text.source)
    except CrondorError:
        return None
    begin = text.source.text.rfind("\n", 0, line.start) + 1 if line is not None else 0
    return line if line is not None and begin <= offset <= line.end else None


def zone_at(text: ReadText, offset: int) -> Span | None:
    """Return the name of a zone at an offset: of a schedule, or a crontab's variable; None where none stands."""
    if text.kind is TextKind.CRONTAB:
        written = text.outline.at(offset)
        if written is None or written.kind is not LineKind.ASSIGNMENT or written.key.lower() not in _OF_CRONTABS:
            return None
        span = written.line.span(written.value)
        return span if span.start <= offset <= span.end else None
    line = schedule_at(text, offset)
    if line is None:
        return None
    spans = (line.part(*found.span(1)) for found in _ZONE.finditer(line.text))
    return next((span for span in spans if span.start <= offset <= span.end), None)


def read_said(said: str | Span, settings: EditSettings) -> WrittenSchedule:
    """Return the schedule that a text says. Raises InvalidSchedule."""
    check = settings.check
    host = zone_of(check.zone)
    if check.policy is None:
        return read_schedule(said, zone=host, files=settings.files)
    return read_schedule(said, zone=host, files=settings.files, policy=check.policy)
