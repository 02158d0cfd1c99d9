"""Runs as events of a calendar (RFC 5545), written by the library icalendar, which the extra ``ics`` brings along."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone, tzinfo
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from crondor._recurrence.refusals import END_OF_INSTANTS
from crondor.calendar import WEEKDAYS
from crondor.day_rule import day_rule
from crondor.deferral import Deferral
from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.recurrence import Policy, Recurrence
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, Dialect
from crondor.zones import LONGEST_GAP

_PRODUCT = "-//crondor//crondor//EN"
_DAYS = tuple(name[:2].upper() for name in WEEKDAYS)  # RFC 5545
_DAY = timedelta(days=1)


class NoCalendar(CrondorError, ImportError):
    """The library icalendar is not installed."""


class NoRule(CrondorError, ValueError):
    """A schedule that no single recurrence rule says exactly."""


class CalendarEvent(NamedTuple):
    """One run: its moments, a line that names it, and a text that tells its schedule from every other.

    ``rule`` is a recurrence rule that repeats the run, as ``rule_of`` returns it.
    """

    run: Deferral
    summary: str
    key: str
    rule: dict[str, Any] | None = None


def write_calendar(events: Iterable[CalendarEvent], zone: tzinfo, stamp: int) -> bytes:
    """Return a calendar with one event for each run: its start in ``zone``, its window as the duration.

    ``stamp`` is the time of writing (epoch seconds). An event's UID is made of its key and its start, so that a
    calendar written later updates the events of an earlier one. Raises NoCalendar.
    """
    library = _library()
    calendar = library.Calendar()
    calendar.add("prodid", _PRODUCT)
    calendar.add("version", "2.0")
    starts: list[datetime] = []
    has_rule = False
    for event in events:
        calendar.add_component(_component(library, event, zone, stamp))
        starts.append(datetime.fromtimestamp(event.run.time, zone))
        has_rule = has_rule or event.rule is not None
    if has_rule:
        calendar.add_missing_timezones(min(starts).date() - _DAY)  # and on to 2038, the library's end
    elif starts:
        calendar.add_missing_timezones(min(starts).date() - _DAY, max(starts).date() + _DAY)
    return bytes(calendar.to_ical())


def rule_of(recurrence: Recurrence, after: int) -> tuple[int, dict[str, Any]]:
    """Return a run and the rule that repeats it: the runs of a schedule, as one recurrence rule from that run on.

    The run is the first later than ``after`` (epoch seconds), or where a change of the clocks moves that one, the
    last before it that is not moved. Raises NoRule where no rule has the same instants: the days are those of either
    day field, or clock changes to come are handled otherwise than RFC 5545 does (a skipped time is moved by the gap,
    of a repeated time the first counts). Raises NeverRuns and OutOfRange.
    """
    spec = recurrence.spec
    if spec.dialect is Dialect.HTCONDOR:
        raise _no_rule("the schedd's answers depend on the question")
    as_rfc = recurrence.policy is Policy.COMPATIBLE and not recurrence.follows_real_time
    changes = recurrence.zone.changes(after, END_OF_INSTANTS)
    if any(not as_rfc or change.offset - change.before >= LONGEST_GAP for change in changes):
        raise _no_rule("when the clocks change its runs are not those of a recurrence rule")
    days = day_rule(spec)
    by_day, by_weekday = days.days != DAY_OF_MONTH.full, days.weekdays != DAY_OF_WEEK.full
    if days.either:
        if by_day and by_weekday:
            raise _no_rule("it takes the days of the month and the days of the week, and a rule only what is both")
        by_day = by_weekday = False  # either field alone takes every day
    rule: dict[str, Any] = {"freq": "DAILY", "byhour": spec.values(HOUR), "byminute": spec.values(MINUTE)}
    if spec.bits[MONTH.index] != MONTH.full:
        rule["bymonth"] = spec.values(MONTH)
    if by_day:
        rule["bymonthday"] = spec.values(DAY_OF_MONTH)
    if by_weekday:
        rule["byday"] = [_DAYS[number] for number in spec.values(DAY_OF_WEEK)]
    first = recurrence.next(after)
    while not _is_unmoved(recurrence, first):
        first = recurrence.previous(first)
    return first, {name: list(value) if name != "freq" else value for name, value in rule.items()}


def _is_unmoved(recurrence: Recurrence, instant: int) -> bool:
    second = recurrence.zone.local(instant) % 86_400
    return second in recurrence.wall_clock.table


def _no_rule(why: str) -> NoRule:
    message = f"no single recurrence rule says this schedule: {why}"
    return NoRule(Diagnostic("export-rule", message, help="leave out --rrule: each run is then an event"))


def _component(library: ModuleType, event: CalendarEvent, zone: tzinfo, stamp: int) -> Any:  # noqa: ANN401 - imported late
    run = event.run
    found = library.Event()
    uid = hashlib.sha256(f"{event.key}\n{run.time}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
    found.add("uid", f"{uid}@crondor")
    found.add("dtstamp", datetime.fromtimestamp(stamp, timezone.utc))
    start = datetime.fromtimestamp(run.time, zone)
    # A repeated local time means its first pass in a calendar: the second one is written in UTC.
    found.add("dtstart", start.astimezone(timezone.utc) if start.fold else start)
    if run.window:
        found.add("duration", timedelta(seconds=run.window))
    if event.rule is not None:
        found.add("rrule", event.rule)
    found.add("summary", printable(event.summary))
    lengths = f"prep time {run.prep_time} s, window {run.window} s, SCHEDD_INTERVAL {run.schedd_interval} s"
    if event.rule is None:
        moments = {"match opens": run.match_opens, "last start": run.last_start}
        lines = [f"{name} {datetime.fromtimestamp(at, zone).isoformat(' ')}" for name, at in moments.items()]
    else:
        lines = [f"match opens {run.time - run.match_opens} s before", f"last start {run.window} s after"]
    found.add("description", "\n".join([*lines, lengths]))
    return found


def _library() -> ModuleType:
    try:
        return import_module("icalendar")
    except ImportError:
        message = "calendars need the Python library icalendar, which is not installed"
        help_text = "in a clone of crondor: pip install '.[ics]'"
        raise NoCalendar(Diagnostic("no-icalendar", message, help=help_text)) from None
