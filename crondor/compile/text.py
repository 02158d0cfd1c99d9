"""A schedule from its text, whatever language it is written in: the one entry to the room."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crondor.compile.context import Context, Files
from crondor.compile.days import DaySet
from crondor.compile.expression import parse
from crondor.compile.faults import InvalidSchedule, Remarks
from crondor.compile.meaning import schedule_of
from crondor.compile.protocol import CronSchedule
from crondor.compile.sets import KnownUntil
from crondor.diagnostics import Diagnostic
from crondor.source import Source, Span, lines_of
from crondor.spec import CronSpec
from crondor.zones import Policy, Zone, zone_of

__all__ = ["InvalidSchedule", "WrittenSchedule", "read_schedule", "schedule_line"]

_LINE = re.compile(r"[ \t]*#[ \t]*crondor:[ \t]*schedule[ \t]*=[ \t]*(?P<text>.*?)[ \t]*", re.IGNORECASE)


class WrittenSchedule(DaySet):
    """A schedule with the text it was read from.

    ``words`` is a sentence, ``warnings`` what may surprise. ``spec`` has the five fields of a schedule that is nothing
    but them, as HTCondor's manual reads them.
    """

    def __init__(self, text: str, of: DaySet, warnings: tuple[Diagnostic, ...]) -> None:
        """Take what was read."""
        super().__init__(of.zone, of.words, of.until, of.until_reason)
        self.text = text
        self.warnings = warnings
        self._of = of

    @property
    def spec(self) -> CronSpec | None:
        """The five fields, where there is nothing else."""
        return self._of.spec if isinstance(self._of, CronSchedule) else None

    def days(self, year: int) -> int:
        """Return the days of a UTC year (bit 0 is 1 January) that may have instants."""
        return self._of.days(year)

    def minutes(self, day: int) -> int:
        """Return a UTC day's instants as a bit set of its minutes."""
        return self._of.minutes(day)

    def next(self, after: int) -> int | None:
        """Return the first instant later than ``after``."""
        return self._of.next(after)

    def previous(self, before: int) -> int | None:
        """Return the last instant earlier than ``before``."""
        return self._of.previous(before)

    def between(self, start: int, end: int) -> Iterator[int]:
        """Yield the instants with ``start`` < instant <= ``end``."""
        return self._of.between(start, end)


def read_schedule(  # noqa: PLR0913 - all that a schedule may see beside its text, by name
    text: str | Span,
    *,
    zone: str | Zone,
    start: int | None = None,
    until: int | None = None,
    name: str = "",
    files: Files | None = None,
    policy: Policy = Policy.COMPATIBLE,
    label: str = "<schedule>",
    is_whole: bool = False,
) -> WrittenSchedule:
    """Return the schedule that a text says.

    ``zone`` is the IANA zone of its wall clock where the text names none. ``start`` (epoch seconds) is what periods
    are counted from where the text does not say, ``until`` the last instant that anybody asks about. ``name`` is the
    job's, from which H and ~ choose. ``files`` are the ones that may be read, only .ics files that the text names;
    None: none. ``policy`` decides on hours that a clock change skips or repeats. A span keeps its place in errors;
    ``label`` names a text that has none.

    Raises InvalidSchedule with all faults of the text, and UnknownZone for ``zone``.
    """
    source = Source(text.text if isinstance(text, Span) else text, label)
    remarks = Remarks()
    own = zone if isinstance(zone, Zone) else zone_of(zone)
    context = Context(own, remarks, policy, start, name, files, is_whole)
    part = parse(source, remarks)
    found = None if part is None else schedule_of(part, context)
    if isinstance(text, Span):
        remarks.found = [fault.relocated(text) for fault in remarks.found]
    if found is None or remarks.errors:
        raise InvalidSchedule(remarks.errors)
    if until is not None and (found.until is None or until < found.until):
        reason = f"it is asked about until {own.moment(until):%Y-%m-%d %H:%M}"
        found = KnownUntil(found, until, reason)
    elif found.until is not None:
        found = KnownUntil(found, found.until, found.until_reason)
    return WrittenSchedule(source.text, found, remarks.warnings)


def schedule_line(source: Source) -> Span | None:
    """Return the text behind ``# crondor: schedule =`` in a submit file, None where it has no such line.

    Raises InvalidSchedule where there are two.
    """
    found: Span | None = None
    at = 0
    for line in lines_of(source.text):
        match = _LINE.fullmatch(line.rstrip("\r\n"))
        if match is not None:
            place = source.span(at + match.start("text"), at + match.end("text"))
            if found is not None:
                message = f"the file has two schedules, the first in line {found.line}"
                help_text = "join them into one with `or`"
                raise InvalidSchedule(Diagnostic("schedule-twice", message, span=place, help=help_text))
            found = place
        at += len(line)
    return found
