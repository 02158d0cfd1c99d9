"""Calendars in .ics files: the starts of their events, or their whole time; the package icalendar reads them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta, tzinfo
from operator import itemgetter
from threading import Lock
from typing import NamedTuple, Protocol

from crondor.calendar import DAY, EPOCH_ORDINAL, FIRST_YEAR, LAST_YEAR
from crondor.compile.days import (
    DAYS_END,
    MINUTES,
    WHOLE_DAY,
    WHOLE_YEAR,
    Covered,
    DaySet,
    Instants,
    Spans,
    YearDays,
    spread,
    year_start,
)
from crondor.compile.rfc import Moment, read_rule
from crondor.compile.rule import RulePattern
from crondor.compile.walls import (
    WHOLE_MINUTES,
    Context,
    DayTerm,
    Either,
    InvalidSchedule,
    Pattern,
    Remarks,
    WallSchedule,
    any_year,
    epoch_of,
    short,
)
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span
from crondor.zones import UnknownZone, Zone, load_zone, zone_of

__all__ = ["is_calendar_file", "read_calendar_file"]

_DEEPEST = 8  # an alarm of an event of a calendar is at depth 3
_MOST_CHANGES_OF_DAYS = 10_000  # in the zones of a file; Outlook's have two a year from 1601
_LAST = 2038  # the year up to which changes are computed
_PROPERTY = re.compile(r"(BEGIN|END|DTSTART|RRULE|RDATE)[;:]", re.IGNORECASE)
_YEARLY = re.compile(
    r"(?:(?:FREQ=YEARLY|INTERVAL=\d+|COUNT=\d+|UNTIL=\w+|WKST=\w\w|BYMONTH=\d+|BYDAY=[+-]?\d*\w\w"
    r"|BYMONTHDAY=-?\d+(?:,-?\d+){0,6})(?:;|$))+",
    re.IGNORECASE,
)


# icalendar follows components recursively to any depth, computes each change of a zone that a file defines up to 2038,
# even one per second, and unfolds lines in a time that grows with the square of empty lines.
def unfolded(text: str) -> list[str]:
    """Return the lines of a calendar's text with folded lines joined (RFC 5545, 3.1), without empty ones."""
    pieces: list[list[str]] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if line[:1] in {" ", "\t"} and pieces:
            pieces[-1].append(line[1:])
        elif line:
            pieces.append([line])
    return ["".join(each) for each in pieces]


def excess(lines: list[str]) -> str | None:
    """Return how a calendar exceeds a limit, as the end of a sentence; None if it does not."""
    open_: list[str] = []
    zones = _Zones()
    for line in lines:
        found = _PROPERTY.match(line)
        if found is None:
            continue
        name, value = found[1].upper(), line.rpartition(":")[2].strip()
        if name == "BEGIN":
            open_.append(value.upper())
            if len(open_) > _DEEPEST:
                return f"has components more than {_DEEPEST} deep"
        elif name == "END":
            del open_[-1:]
        if "VTIMEZONE" not in open_:
            zones.end()
        elif name == "RRULE" and not _YEARLY.fullmatch(value):
            return f"has a zone with the rule {short(value)}; zones change yearly"
        else:
            zones.take(name, value)
        if zones.changes > _MOST_CHANGES_OF_DAYS:
            return f"has zones with more than {_MOST_CHANGES_OF_DAYS} changes"
    return None


class _Zones:
    """Counts the changes of a file's zones, at least as many as are computed."""

    def __init__(self) -> None:
        self.changes = 0
        self._first, self._in_year = _LAST, 0

    def take(self, name: str, value: str) -> None:
        """Count a property of a zone, or of a part of it."""
        if name == "DTSTART":
            self._first = min(self._first, int(value[:4]) if value[:4].isdecimal() else 1)
        elif name == "RDATE":
            self.changes += 1 + value.count(",")
        elif name == "RRULE":
            self._in_year += 1 if "BYDAY" in value.upper() else 1 + value.count(",")

    def end(self) -> None:
        """Count the rules of the zone that ends here, if one does."""
        self.changes += self._in_year * (_LAST - self._first + 1)
        self._first, self._in_year = _LAST, 0


_MOST_EVENTS = 20_000
_MOST_RULES = 1_000  # repeating events
_MOST_CHANGES = 1_000_000  # series with one UID times changes of them
_LONGEST = 8 * MINUTES  # of a repeating event, in minutes
_MOST_DAYS = 366  # of an event that is counted in days
_MOST_CHARACTERS = 4_000_000
_ALWAYS = -(1 << 40), 1 << 40  # minutes on a clock
_TIMES = {"DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID"}
_PACKAGE = Lock()  # icalendar keeps the zones of a file in one place for all


class _Event(NamedTuple):
    """An event: its start, its length in minutes (0: a moment), its rules, added and excluded starts.

    ``replaced`` is the start in its series that it replaces, and with ``is_onward`` all later ones too.
    """

    start: Moment
    length: int
    rules: tuple[str, ...]
    added: tuple[Moment, ...]
    removed: tuple[Moment, ...]
    series: str
    version: int  # SEQUENCE
    replaced: Moment | None
    is_onward: bool
    is_cancelled: bool


class _Component(Protocol):
    """The part used of an event of the package icalendar."""

    errors: list[tuple[str, str]]

    def get(self, key: str, default: object = None) -> object:
        """Return a property."""


class _Repeated(NamedTuple):
    """The starts of a repeating event, and the length of each."""

    starts: DaySet
    length: int
    is_date: bool


class _Changed(YearDays):
    """A pattern from one minute to another (excluded), without some minutes, and moved on the clock."""

    def __init__(self, of: Pattern, removed: dict[int, int], between: tuple[int, int], shift: int) -> None:
        """Take the excluded minutes by day, and all else in minutes on the wall clock."""
        super().__init__(self._of_year if shift else of.days)
        self._of = of
        self._removed = removed
        self._low, self._high = between
        self._shift = shift

    def minutes(self, day: int) -> int:
        """Return the runs of a day as a bit set of its minutes."""
        first, into = divmod(day * MINUTES - self._shift, MINUTES)
        bits = self._kept(first) >> into
        if into:
            bits |= self._kept(first + 1) << MINUTES - into
        return bits & WHOLE_DAY

    def _kept(self, day: int) -> int:
        """Return the remaining minutes of a day of the pattern."""
        low, high = self._low - day * MINUTES, self._high - day * MINUTES
        if not 0 <= day <= DAYS_END or low >= MINUTES or high <= 0:
            return 0
        bits = self._of.minutes(day) & ~self._removed.get(day, 0)
        if low > 0:
            bits = bits >> low << low
        return bits & ((1 << min(high, MINUTES)) - 1)

    def _of_year(self, year: int) -> int:
        first, past = year_start(year), year_start(year + 1)
        return sum(1 << day - first for day in range(first, past) if self.minutes(day))


def is_calendar_file(text: str) -> bool:
    """Return whether a text names an .ics file."""
    return text.strip('"').lower().endswith(".ics")


def read_calendar_file(span: Span, context: Context) -> tuple[DaySet, DaySet] | None:
    """Return the starts of a file's events, and all their time; None, and faults, if it is not a calendar.

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
    calendar = _Calendar(name, span, context)
    groups: dict[str, list[_Event]] = {}
    for each in components:
        event = calendar.event(each)
        if event is not None:
            groups.setdefault(event.series, []).append(event)
    for group in groups.values():
        calendar.take(group)
    return None if len(remarks.errors) > before else (calendar.starts(), calendar.whole())


def _events(name: str, context: Context) -> list[_Component]:
    """Return the events of a file. Raises InvalidSchedule."""
    if context.files is None:
        raise _refused(f"{short(name)} may not be read here", "allow its folder")
    try:
        source = context.files.read(name)
    except CrondorError as error:
        fault = error.diagnostics[0]
        message = fault.message if name in fault.message else f"cannot read {short(name)}: {fault.message}"
        raise _refused(message, fault.help or "name an existing .ics file that you may read") from None
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
    zones = package.timezone.zoneinfo.ZONEINFO()
    zones.timezone = zones.knows_timezone_id = (
        _zone_or_none  # the package's own raise OSError for a folder, or for a long name
    )
    try:
        with _PACKAGE:
            package.timezone.tzp.use(zones)  # forgets the zones that other files define
            try:
                calendars = package.Calendar.from_ical("\n".join(lines), multiple=True)
            finally:
                package.use_zoneinfo()
        events: list[_Component] = [each for calendar in calendars for each in calendar.walk("VEVENT")]
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, ArithmeticError) as error:
        raise _refused(f"{short(name)} is not a calendar: {short(str(error))}", "write an .ics file") from None
    if not calendars:
        raise _refused(f"{short(name)} is not a calendar: it has no BEGIN:VCALENDAR", "write an .ics file")
    if len(events) > _MOST_EVENTS:
        raise _refused(f"{short(name)} has more than {_MOST_EVENTS} events", "take a part of it")
    return events


def _refused(message: str, help_text: str) -> InvalidSchedule:
    return InvalidSchedule(Diagnostic("schedule-file", message, help=help_text))


def _zone_or_none(name: str) -> tzinfo | None:
    """Return a zone by its name; None if the file may define it."""
    try:
        return load_zone(name)
    except UnknownZone:
        return None


class _Calendar:
    """The events of a file: repeating ones, and single ones from start to end."""

    def __init__(self, name: str, span: Span, context: Context) -> None:
        """Start empty; faults are reported at ``span``."""
        self.repeated: list[_Repeated] = []
        self._single: list[tuple[int, int]] = []
        self._name = name
        self._span = span
        self._context = context
        self._words = f"the events of {name}"
        self._rules = 0
        self._said: set[str] = set()

    def event(self, given: _Component) -> _Event | None:
        """Return an event of the file; None, and faults, if it cannot be read."""
        name, zone = self._name, self._context.zone
        for key, reason in given.errors:
            if str(key).upper() in _TIMES:
                self._fault(f"an event of {name} has a {key} that cannot be read: {short(reason)}", "write another")
        start, end, replaced = (
            next(self._moments(given.get(key)), None) for key in ("DTSTART", "DTEND", "RECURRENCE-ID")
        )
        if start is None:
            self._fault(f"an event of {name} has no start in 1970 to 2200", "give it a DTSTART")
            return None
        duration = getattr(given.get("DURATION"), "dt", None)
        length = MINUTES if start.is_date else 0
        if end is not None:
            length = max(0, (end.instant(zone) - start.instant(zone)) // 60)
            if start.is_date:
                length = max(MINUTES, end.wall - start.wall)
        elif isinstance(duration, timedelta):
            length = max(0, -(-duration // timedelta(minutes=1)))
        added = tuple(self._moments(given.get("RDATE")))
        if start.second or any(each.second for each in added):
            message = f"{WHOLE_MINUTES}: the seconds of starts in {name} are dropped"
            self._warn(message, "let the starts end in 00 seconds")
        rules = _listed(given.get("RRULE"))
        self._rules += len(rules)
        if self._rules > _MOST_RULES:
            self._fault(f"{name} has more than {_MOST_RULES} events that repeat", "take a part of it")
            return None
        version = given.get("SEQUENCE")
        future = str(getattr(given.get("RECURRENCE-ID"), "params", {}).get("RANGE", ""))
        return _Event(
            start,
            length,
            tuple(text for each in rules if (text := self._rule(each))),
            added,
            tuple(self._moments(given.get("EXDATE"))),
            str(given.get("UID", id(given))),
            version if isinstance(version, int) else 0,
            replaced,
            future.upper() == "THISANDFUTURE",
            str(given.get("STATUS", "")).upper() == "CANCELLED",
        )

    def take(self, group: list[_Event]) -> None:
        """Add the events of one UID: series, and changes of single starts.

        If an event occurs twice, the one with the higher SEQUENCE counts.
        """
        newest = max((each.version for each in group if each.replaced is None), default=-1)
        series = [
            self._series(each)
            for each in group
            if each.replaced is None and each.version == newest and not each.is_cancelled
        ]
        changes: dict[tuple[Moment, bool], _Event] = {}
        for each in group:
            if each.replaced is not None:
                key = each.replaced, each.is_onward
                if key not in changes or changes[key].version <= each.version:
                    changes[key] = each
        if len(series) * len(changes) > _MOST_CHANGES:
            self._fault(f"{self._name} has too many events with the UID {short(group[0].series)}", "take a part of it")
            return
        touched = {key: [one for one in series if one.has(key[0])] for key in changes}
        for key, each in changes.items():
            if not touched[key] and each.version < newest:
                continue  # it changes a start of an earlier version of the series
            for one in touched[key] or series:
                one.change(each, key[0])
            if not each.is_cancelled and not (each.is_onward and series):
                self._once(each.start.instant(self._context.zone), each)
        for one in series:
            self._add(one)

    def starts(self) -> DaySet:
        """Return the starts of all events."""
        words = f"at {self._words}"
        single = Instants([start for start, _ in self._single], self._context.zone, words)
        return self._known(Either(*(each.starts for each in self.repeated), single), words)

    def whole(self) -> DaySet:
        """Return all the time of all events."""
        words = f"during {self._words}"
        single = Spans(self._single, self._context.zone, words)
        return self._known(Either(*(_covered(each, words) for each in self.repeated), single), words)

    def _known(self, found: DaySet, words: str) -> DaySet:
        """Set up to when a file of single events is known: the end of the last one."""
        found.zone, found.words = self._context.zone, words
        if self.repeated or not self._single:
            return found
        end = max(end for _, end in self._single)
        reason = f"the last event of {self._name} ends {found.zone.moment(end):%Y-%m-%d %H:%M}"
        if not self._context.is_whole:
            found.until, found.until_reason = end, reason
        else:
            message = f"{reason}: after it there is taken to be none"
            self._context.remarks.note("file-end", message, self._span, "compile again when the file has later ones")
        return found

    def _series(self, event: _Event) -> _Series:
        """Return an event with its rules, and faults for those that cannot be read."""
        zone = event.start.zone or self._context.zone
        patterns = []
        for text in event.rules:
            inner = Remarks()
            rule = read_rule(Source(text, "RRULE").span(), event.start, zone, inner)
            for each in inner.found:
                what = "cannot be read" if rule is None else "is read in part"
                message, help_text = f"a rule of the file {what}: {each.message}", each.help or "write another rule"
                (self._fault if rule is None else self._warn)(message, help_text)
            if rule is not None:
                patterns.append(RulePattern(rule))
        return _Series(event, zone, patterns)

    def _add(self, series: _Series) -> None:
        """Add the starts of a series, each stretch separately."""
        policy, words = self._context.policy, f"at {self._words}"
        stretches = list(series.stretches())
        if len(self.repeated) + len(stretches) * len(series.patterns) > _MOST_RULES:
            self._fault(f"{self._name} has more than {_MOST_RULES} events that repeat", "take a part of it")
            return
        for stretch in stretches:
            longest = _MOST_DAYS * MINUTES if stretch.like.start.is_date else _LONGEST
            if series.patterns and stretch.like.length > longest:
                message = f"an event that repeats is longer than {longest // MINUTES} days"
                self._fault(message, "write it event by event")
                return
            for pattern in series.patterns:
                is_whole = not series.removed and stretch.shift == 0 and stretch.between == _ALWAYS
                part = pattern if is_whole else _Changed(pattern, series.removed, stretch.between, stretch.shift)
                starts = WallSchedule(part, series.zone, words, policy, follows=pattern.follows)
                self.repeated.append(_Repeated(starts, stretch.like.length, stretch.like.start.is_date))
            for wall, moment in series.left(stretch.between):
                moved = (wall + stretch.shift) * 60
                start = epoch_of(moved, series.zone) if stretch.shift else moment.instant(series.zone)
                self._once(start, stretch.like)

    def _once(self, start: int, like: _Event) -> None:
        """Add a single event at an instant; days have the length that the clock gives them."""
        zone, end = self._context.zone, start + max(like.length, 1) * 60
        if like.start.is_date:
            end = epoch_of(zone.local(start) + like.length * 60, zone)
        self._single.append((start, end))

    def _rule(self, rule: object) -> str:
        """Return a rule of the file; none, and a warning, for an empty one."""
        made: bytes = rule.to_ical()  # type: ignore[attr-defined]
        if not made:
            self._warn("a rule of the file is empty: its event is read as a single one", "write FREQ=...")
        return made.decode()

    def _moments(self, given: object) -> Iterator[Moment]:
        """Yield the moments of a property: one value, a list of values, or several such properties."""
        for each in _listed(given):
            zone = str(getattr(each, "params", {}).get("TZID", ""))
            for value in getattr(each, "dts", [each]):
                found = getattr(value, "dt", None)
                if isinstance(found, tuple):  # a period
                    found = found[0]
                if zone and isinstance(found, datetime) and found.tzinfo is None:
                    help_text = "write an IANA name such as Europe/Berlin, or define the zone in the file"
                    self._fault(f"{self._name} has times in the unknown zone `{short(zone)}`", help_text)
                    zone = ""
                if isinstance(found, date) and FIRST_YEAR <= found.year <= LAST_YEAR:
                    yield _moment(found)

    def _fault(self, message: str, help_text: str) -> None:
        if message not in self._said:
            self._said.add(message)
            self._context.remarks.fault("file", message, self._span, help_text)

    def _warn(self, message: str, help_text: str) -> None:
        if message not in self._said:
            self._said.add(message)
            self._context.remarks.warn("file", message, self._span, help_text)


class _Stretch(NamedTuple):
    """The starts of a series between two times on its clock (minutes, the second excluded), and their event."""

    between: tuple[int, int]
    shift: int
    like: _Event


class _Series:
    """An event that may repeat, with the file's changes of single starts, or of all from one on."""

    def __init__(self, event: _Event, zone: Zone, patterns: list[RulePattern]) -> None:
        """Take the event and the patterns of its starts; changes are added later."""
        self.zone = zone
        self.patterns = patterns
        self.removed: dict[int, int] = {}  # minutes by day
        self._event = event
        single = event.added if event.rules else (event.start, *event.added)
        self._single = sorted(((self.wall(each), each) for each in single), key=itemgetter(0))
        self._days: dict[int, int] = {}  # their minutes
        for wall, _ in self._single:
            self._days[wall // MINUTES] = self._days.get(wall // MINUTES, 0) | 1 << wall % MINUTES
        self._onward: list[tuple[int, _Event]] = []
        for each in event.removed:
            if event.start.is_date or each.is_date or each.second == event.start.second:
                self._remove(each)

    def wall(self, moment: Moment) -> int:
        """Return the minutes on the clock of the series at a moment; for days the date as written."""
        if self._event.start.is_date:
            return moment.wall // MINUTES * MINUTES
        if moment.zone is None or moment.zone is self.zone:
            return moment.wall
        return self.zone.local(moment.instant(self.zone)) // 60

    def left(self, between: tuple[int, int]) -> Iterator[tuple[int, Moment]]:
        """Yield the single starts between two times on its clock that are not excluded."""
        low, high = (bisect_left(self._single, at, key=itemgetter(0)) for at in between)
        for wall, moment in self._single[low:high]:
            if not self.removed.get(wall // MINUTES, 0) >> wall % MINUTES & 1:
                yield wall, moment

    def has(self, moment: Moment) -> bool:
        """Return whether there is a start at a moment, or on a date, that is not excluded."""
        day, minutes = self._minutes(moment)
        bits = self._days.get(day, 0)
        for pattern in self.patterns:
            bits |= pattern.minutes(day)
        return bool(bits & minutes & ~self.removed.get(day, 0))

    def change(self, event: _Event, moment: Moment) -> None:
        """Take an event that replaces the start at a moment, or all starts from then on."""
        if event.is_onward:
            self._onward.append((self.wall(moment), event))
        else:
            self._remove(moment)

    def stretches(self) -> Iterator[_Stretch]:
        """Yield the starts that share an event, in order, without cancelled ones."""
        start, shift, like = _ALWAYS[0], 0, self._event
        for at, event in sorted(self._onward, key=itemgetter(0)):
            if not like.is_cancelled:
                yield _Stretch((start, at), shift, like)
            moved = event.start.wall if event.start.is_date else self.zone.local(event.start.instant(self.zone)) // 60
            start, shift, like = at, moved - at, event
        if not like.is_cancelled:
            yield _Stretch((start, _ALWAYS[1]), shift, like)

    def _minutes(self, moment: Moment) -> tuple[int, int]:
        """Return the day of a moment, and its minutes on that day: two for a moment in a gap."""
        day, minute = divmod(self.wall(moment), MINUTES)
        if moment.is_date or self._event.start.is_date:
            return day, WHOLE_DAY
        at = moment.instant(self.zone)
        stretch = self.zone.at(at)
        gap = stretch.offset - stretch.before
        skipped = minute - gap // 60 if at - stretch.start < gap else minute
        return day, 1 << minute | 1 << max(skipped, 0)

    def _remove(self, moment: Moment) -> None:
        day, minutes = self._minutes(moment)
        self.removed[day] = self.removed.get(day, 0) | minutes


def _covered(event: _Repeated, words: str) -> DaySet:
    """Return all the time of a repeating event; days have the length that the clock gives them."""
    starts = event.starts
    if not event.is_date:
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


def _listed(given: object) -> list[object]:
    """Return the properties of one name."""
    return given if isinstance(given, list) else [] if given is None else [given]


def _moment(found: date) -> Moment:
    day = found.toordinal() - EPOCH_ORDINAL
    if not isinstance(found, datetime):
        return Moment(day * MINUTES, None, is_date=True)
    zone = None if found.tzinfo is None else zone_of(found.tzinfo)
    return Moment(day * MINUTES + found.hour * 60 + found.minute, zone, is_date=False, second=found.second)
