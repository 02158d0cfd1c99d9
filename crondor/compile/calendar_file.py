"""Calendars in .ics files: the starts of their events, or their whole time; the package icalendar reads (an extra)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Protocol

from crondor._named_tuple import NamedTuple
from crondor.calendar import DAY, EPOCH_ORDINAL, FIRST_YEAR, LAST_YEAR
from crondor.compile.calendar_bounds import excess, unfolded
from crondor.compile.context import Context, epoch_of
from crondor.compile.day_terms import DayTerm
from crondor.compile.days import MINUTES, WHOLE_YEAR, Covered, DaySet, Instants, Spans, spread, year_start
from crondor.compile.faults import InvalidSchedule, Remarks, short
from crondor.compile.rfc import Moment, read_rule
from crondor.compile.rule import RulePattern
from crondor.compile.sets import Either, Nothing, Without
from crondor.compile.wall import WallSchedule, any_year
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.source import Source, Span
from crondor.zones import Zone, zone_of

_MOST_EVENTS = 20_000
_MOST_RULES = 100  # events that repeat; each is asked about every day
_LONGEST = 8 * MINUTES  # of an event that repeats, in minutes
_MOST_CHARACTERS = 4_000_000


class _Event(NamedTuple):
    """An event: its start, its length in minutes (0: a moment), how it repeats, what is added and left out."""

    start: Moment
    length: int
    rules: tuple[str, ...]
    added: tuple[Moment, ...]
    removed: tuple[Moment, ...]
    key: tuple[str, int | None]  # its UID, and the start it replaces


class _Component(Protocol):
    """What is asked of an event of the package icalendar."""

    def get(self, key: str, default: object = None) -> object:
        """Return a property."""


def is_calendar_file(text: str) -> bool:
    """Say whether a text names an .ics file."""
    return text.strip('"').lower().endswith(".ics")


def read_calendar_file(span: Span, context: Context) -> tuple[DaySet, DaySet] | None:
    """Return the starts of a file's events, and all their time; None, and faults, for no calendar.

    calendar_file = [^ ]+ ".ics"
    """
    name = span.text.strip('"')
    remarks = context.remarks
    before = len(remarks.errors)
    try:
        components = _events(name, context)
    except InvalidSchedule as error:
        remarks.found += [replace(fault, span=span) for fault in error.diagnostics]
        return None
    events = [each for found in components if (each := _event(found, span, context.zone, remarks, name)) is not None]
    if sum(bool(each.rules) for each in events) > _MOST_RULES:
        remarks.fault("file", f"{name} has more than {_MOST_RULES} events that repeat", span, "take a part of it")
    if len(remarks.errors) > before:
        return None
    starts = _set_of(events, span, context, name, whole=False)
    whole = _set_of(events, span, context, name, whole=True)
    return None if len(remarks.errors) > before else (starts, whole)


def _events(name: str, context: Context) -> list[_Component]:
    """Return the events of a file. Raises InvalidSchedule."""
    if context.files is None:
        raise _refused(f"{short(name)} may not be read here", "say which folder may be read")
    try:
        source = context.files.read(name)
    except CrondorError as error:
        fault = error.diagnostics[0]
        message = fault.message if name in fault.message else f"cannot read {short(name)}: {fault.message}"
        raise _refused(message, fault.help or "name an .ics file that is there, and that you may read") from None
    try:
        import icalendar as package  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415 - an extra
    except ImportError:
        help_text = "in a clone of crondor: pip install '.[ics]'"
        raise _refused(".ics files need the package icalendar, which is not installed", help_text) from None
    if len(source.text) > _MOST_CHARACTERS:
        raise _refused(f"{short(name)} is larger than {_MOST_CHARACTERS} characters", "take a part of it")
    lines = unfolded(source.text)
    too_much = excess(lines)
    if too_much is not None:
        raise _refused(f"{short(name)} {too_much}", "take a part of it")
    try:
        package.use_zoneinfo()  # forgets the zones that other files define
        calendars = package.Calendar.from_ical("\n".join(lines), multiple=True)
        events: list[_Component] = [each for calendar in calendars for each in calendar.walk("VEVENT")]
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, ArithmeticError) as error:
        raise _refused(f"{short(name)} is no calendar: {short(str(error))}", "write an .ics file") from None
    if not calendars:
        raise _refused(f"{short(name)} is no calendar: it has no BEGIN:VCALENDAR", "write an .ics file")
    if len(events) > _MOST_EVENTS:
        raise _refused(f"{short(name)} has more than {_MOST_EVENTS} events", "take a part of it")
    return events


def _refused(message: str, help_text: str) -> InvalidSchedule:
    return InvalidSchedule(Diagnostic("schedule-file", message, help=help_text))


def _set_of(events: list[_Event], span: Span, context: Context, name: str, *, whole: bool) -> DaySet:
    """Return the starts of events, or (``whole``) all their time."""
    zone = context.zone
    moved = {each.key for each in events if each.key[1] is not None}
    words = f"{'during' if whole else 'at'} the events of {name}"
    spans: list[tuple[int, int]] = []
    found: DaySet = Nothing(zone, words)
    for each in events:
        if each.rules:
            repeated = _repeated(each, zone, context, span, moved, words)
            if repeated is not None:
                found = Either(found, _covered(repeated, each, words) if whole else repeated)
        starts = [m.instant(zone) for m in (each.added if each.rules else (each.start, *each.added))]
        gone = {m.instant(zone) for m in each.removed}
        spans += [_span(start, each, zone) for start in starts if start not in gone]
    single = Spans(spans, zone, words) if whole else Instants([start for start, _ in spans], zone, words)
    result = Either(found, single)
    result.words = words
    if any(each.rules for each in events):
        return result
    until, reason = _last(spans, name, zone)
    if until is None or not context.is_whole:
        result.until, result.until_reason = until, reason
    else:
        message = f"{reason}: behind it there is taken to be none"
        context.remarks.note("file-end", message, span, "compile again when the file has later ones")
    return result


def _covered(starts: DaySet, event: _Event, words: str) -> DaySet:
    """Return all the time of an event that repeats; days last as long as the clock says."""
    if not event.start.is_date:
        return Covered(starts, max(event.length, 1), words)
    further = -(-event.length // MINUTES) - 1
    zone = starts.zone

    def of_year(year: int) -> int:
        base, past = year_start(year), year_start(year + 1)
        first = base - further
        local = (zone.local(start) // DAY for start in starts.between((first - 2) * DAY, (past + 2) * DAY))
        row = sum(1 << day - first for day in set(local) if first <= day < past)
        return spread(row, further) >> further & WHOLE_YEAR

    return DayTerm(any_year(of_year), words, zone).whole()


def _span(start: int, event: _Event, zone: Zone) -> tuple[int, int]:
    """Return a start and its end; days last as long as the clock says."""
    if event.start.is_date:
        wall = zone.local(start) + event.length * 60
        return start, epoch_of(wall, zone)
    return start, start + max(event.length, 1) * 60


def _last(spans: list[tuple[int, int]], name: str, zone: Zone) -> tuple[int | None, str]:
    """Return up to when a file of single events is known: the end of the last one."""
    if not spans:
        return None, ""
    end = max(end for _, end in spans)
    return end, f"the last event of {name} ends {zone.moment(end):%Y-%m-%d %H:%M}"


def _repeated(
    event: _Event, zone: Zone, context: Context, span: Span, moved: set[tuple[str, int | None]], words: str
) -> DaySet | None:
    own = event.start.zone or zone
    found: DaySet | None = None
    if event.length > _LONGEST and not event.start.is_date:
        context.remarks.fault("file", "an event that repeats is longer than 8 days", span, "write it event by event")
        return None
    for text in event.rules:
        inner = Remarks()
        rule = read_rule(Source(text, "RRULE").span(), event.start, own, inner)
        if rule is None:
            fault = inner.errors[0]
            message = f"a rule of the file cannot be read: {fault.message}"
            context.remarks.fault("file", message, span, fault.help or "write another rule")
            return None
        pattern = RulePattern(rule)
        one = WallSchedule(pattern, own, words, context.policy, follows=pattern.follows)
        found = one if found is None else Either(found, one)
    gone = [m.instant(own) for m in event.removed]
    gone += [at for uid, at in moved if uid == event.key[0] and at is not None]
    if found is None or not gone:
        return found
    return Without(found, Instants(gone, own, words))


def _event(event: _Component, span: Span, zone: Zone, remarks: Remarks, name: str) -> _Event | None:
    """Return what an event says; None for one that is cancelled, or (with a fault) has no start."""
    if str(event.get("STATUS", "")).upper() == "CANCELLED":
        return None
    start = next(_moments(event.get("DTSTART")), None)
    if start is None:
        remarks.fault("file", f"an event of {name} has no start in 1970 to 2200", span, "give it a DTSTART")
        return None
    end = next(_moments(event.get("DTEND")), None)
    duration = getattr(event.get("DURATION"), "dt", None)
    length = MINUTES if start.is_date else 0
    if end is not None:
        length = max(0, (end.instant(zone) - start.instant(zone)) // 60)
        if start.is_date:
            length = max(MINUTES, end.wall - start.wall)
    elif isinstance(duration, timedelta):
        length = max(0, -(-duration // timedelta(minutes=1)))
    rules = event.get("RRULE")
    listed = rules if isinstance(rules, list) else [rules] if rules is not None else []
    replaced = next(_moments(event.get("RECURRENCE-ID")), None)
    return _Event(
        start,
        length,
        tuple(_text_of(each) for each in listed),
        tuple(_moments(event.get("RDATE"))),
        tuple(_moments(event.get("EXDATE"))),
        (str(event.get("UID", id(event))), None if replaced is None else replaced.instant(zone)),
    )


def _text_of(rule: object) -> str:
    """Return a rule as the file has it."""
    made: bytes = rule.to_ical()  # type: ignore[attr-defined]
    return made.decode()


def _moments(given: object) -> Iterator[Moment]:
    """Yield the moments of a property: one value, a list of values, or several such properties."""
    for each in given if isinstance(given, list) else [given]:
        for value in getattr(each, "dts", [each]):
            found = getattr(value, "dt", None)
            if isinstance(found, tuple):  # a period
                found = found[0]
            if isinstance(found, date) and FIRST_YEAR <= found.year <= LAST_YEAR:
                yield _moment(found)


def _moment(found: date) -> Moment:
    day = found.toordinal() - EPOCH_ORDINAL
    if not isinstance(found, datetime):
        return Moment(day * MINUTES, None, is_date=True)
    zone = None if found.tzinfo is None else zone_of(found.tzinfo)
    return Moment(day * MINUTES + found.hour * 60 + found.minute, zone, is_date=False)


__all__ = ["is_calendar_file", "read_calendar_file"]
