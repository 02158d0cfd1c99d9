"""The wall clock of a schedule, its context and faults, and the algebra of sets: or, and, except, from, until."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, Protocol
from zoneinfo import available_timezones

from crondor._recurrence import END_OF_INSTANTS, FIRST_INSTANT, opening
from crondor._types import Made
from crondor.calendar import DAY, EPOCH_ORDINAL, FIRST_YEAR, LAST_YEAR
from crondor.compile.days import (
    MINUTES,
    WHOLE_DAY,
    WHOLE_YEAR,
    DaySet,
    Instants,
    YearDays,
    clock_list,
    members,
    seconds_of,
    year_of,
    year_start,
)
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, shortened, similar
from crondor.recurrence import OutOfRange, Recurrence
from crondor.spec import CronSpec
from crondor.words import describe
from crondor.zones import Policy, Stretch, UnknownZone, Zone, zone_of

MOST_FAULTS = 20
WHOLE_MINUTES = "HTCondor starts runs on whole minutes"


class InvalidSchedule(CrondorError, ValueError):
    """A text that is not a schedule."""


class Remarks:
    """The faults and warnings collected while reading a text."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []

    def fault(self, kind: str, message: str, span: Span, help_text: str, fix: str | None = None) -> None:
        """Add an error."""
        self.found.append(Diagnostic(f"schedule-{kind}", message, span=span, help=help_text, fix=fix))

    def warn(self, kind: str, message: str, span: Span, help_text: str) -> None:
        """Add a warning."""
        self.found.append(Diagnostic(f"schedule-{kind}", message, Severity.WARNING, span, help_text))

    def note(self, kind: str, message: str, span: Span, help_text: str) -> None:
        """Add a note, once."""
        note = Diagnostic(f"schedule-{kind}", message, Severity.NOTE, span, help_text)
        if note not in self.found:
            self.found.append(note)

    def take(self, error: CrondorError) -> None:
        """Add the findings of another reader."""
        self.found.extend(error.diagnostics)

    def has(self, kind: str) -> bool:
        """Return whether there is an error or warning of a kind."""
        return any(each.code == f"schedule-{kind}" for each in self.found)

    @property
    def errors(self) -> list[Diagnostic]:
        """The errors by their places, up to a limit."""
        found = [each for each in self.found if each.severity is Severity.ERROR]
        return sorted(found, key=lambda each: 0 if each.span is None else each.span.start)[:MOST_FAULTS]

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The rest."""
        return tuple(each for each in self.found if each.severity is not Severity.ERROR)


def pieces(span: Span, mark: str = ",") -> Iterator[Span]:
    """Yield the pieces of a list between the marks."""
    at = 0
    for text in span.text.split(mark):
        yield span.part(at, at + len(text))
        at += len(text) + 1


def short(text: str) -> str:
    """Return a piece of text shortened for a message."""
    return shortened(text, 40)


class Files(Protocol):
    """The files that a schedule may name, such as crondor.macro.files.Files: those in allowed folders."""

    def read(self, path: str) -> Source:
        """Return a file's text. Raises CrondorError if it may not, or cannot, be read."""


class Context(NamedTuple):
    """The surroundings of a piece of text.

    ``start`` is the instant (epoch seconds) from which periods count if the text names none; ``name`` is the job's,
    which H and ~ hash; ``files`` are those that may be read, None for none. ``is_whole``: nothing follows the last
    event of a calendar file; otherwise the file is known up to there. ``behind`` is the text directly after the piece:
    its times, as in `` at 06:00``.
    """

    zone: Zone
    remarks: Remarks
    policy: Policy = Policy.COMPATIBLE
    start: int | None = None
    name: str = ""
    files: Files | None = None
    is_whole: bool = False
    behind: str = ""


def named_zone(name: str, span: Span, remarks: Remarks) -> Zone | None:
    """Return the zone of an IANA name; None, and a fault, for another word."""
    try:
        return zone_of(name)
    except UnknownZone:
        near = similar(name[:64], available_timezones(), 0.6)
    help_text = f"did you mean {near[0]}?" if near else "write an IANA name such as Europe/Berlin or UTC"
    remarks.fault("zone", f"unknown zone `{name[:40]}`", span, help_text, near[0] if near else None)
    return None


def epoch_of(wall: int, zone: Zone) -> int:
    """Return the instant at which a clock in a zone shows ``wall`` (seconds since 1970-01-01 00:00 of that clock).

    For a time shown twice it is the first; a skipped time is read with the offset before the change.
    """
    early = wall - zone.at(wall - DAY).offset
    if zone.local(early) == wall:
        return early
    late = wall - zone.at(wall + DAY).offset
    return late if zone.local(late) == wall else early


def is_skipped(wall: int, zone: Zone) -> bool:
    """Return whether a clock in a zone never shows ``wall`` (seconds since 1970-01-01 00:00 of that clock)."""
    return zone.local(epoch_of(wall, zone)) != wall


def calendar_day(year: int, month: int, day: int) -> int | None:
    """Return the day number of a date, None if it does not exist or is outside the years of schedules."""
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    try:
        return date(year, month, day).toordinal() - EPOCH_ORDINAL
    except ValueError:
        return None


class Pattern(Protocol):
    """Days and minutes on a wall clock, without a zone."""

    def days(self, year: int) -> int:
        """Return the days of a year (bit 0 is 1 January) that may have runs: none that has is missing."""

    def minutes(self, day: int) -> int:
        """Return the runs of a day (number since 1970-01-01) as a bit set of its minutes."""


class Timed(YearDays):
    """The same times on every matching day."""

    def __init__(self, days: Callable[[int], int], times: int) -> None:
        """Take the days by year (exactly the matching ones), and the minutes of a day as a bit set."""
        super().__init__(days)
        self._times = times

    def minutes(self, day: int) -> int:
        """Return the times, if the day matches."""
        year, index = year_of(day)
        return self._times if self.days(year) >> index & 1 else 0


def any_year(days: Callable[[int], int]) -> Callable[[int], int]:
    """Return the same days, limited to the years of schedules."""
    return lambda year: days(year) if FIRST_YEAR - 1 <= year <= LAST_YEAR + 1 else 0


class WallSchedule(DaySet):
    """A pattern in a zone: the policy decides on runs in hours that a clock change skips or repeats.

    ``follows``: the schedule follows real time: no clock change moves, drops or delays a run.
    """

    def __init__(
        self, pattern: Pattern, zone: Zone, words: str, policy: Policy = Policy.COMPATIBLE, *, follows: bool = False
    ) -> None:
        """Take the pattern of the wall clock; UTC offsets count in whole minutes."""
        super().__init__(zone, words)
        self.pattern = pattern
        self.policy = policy
        self.follows = policy.follows(hour_starred=follows, minute_starred=follows)
        self._last = (-(1 << 62), 0)

    def days(self, year: int) -> int:
        """Return the days of a UTC year that may overlap a matching local day."""
        mask = self.pattern.days(year)
        length = year_start(year + 1) - year_start(year)
        mask |= mask << 1 | mask >> 1
        if year > FIRST_YEAR and self.pattern.days(year - 1) >> year_start(year) - year_start(year - 1) - 1 & 1:
            mask |= 1
        if self.pattern.days(year + 1) & 1:
            mask |= 1 << length - 1
        return mask & WHOLE_YEAR

    def minutes(self, day: int) -> int:
        """Return a UTC day's instants."""
        start = day * DAY
        stretch = self.zone.at(start)
        if stretch.end >= start + DAY and start - stretch.start >= abs(stretch.offset - stretch.before):
            return self._shown(day, stretch.offset)
        bits = 0
        while True:
            bits |= self._piece(day, stretch)
            if stretch.end >= start + DAY:
                return bits
            stretch = self.zone.at(stretch.end)

    def _shown(self, day: int, offset: int) -> int:
        """Return the minutes of a UTC day on a clock with a constant offset."""
        shift = offset // 60
        if not shift:
            return self.pattern.minutes(day)
        first = day if shift > 0 else day - 1
        known, bits = self._last  # when walking along the days, this was the second day before
        one = bits if known == first else self.pattern.minutes(first)
        other = self.pattern.minutes(first + 1)
        self._last = first + 1, other
        if shift > 0:
            return one >> shift | (other & ((1 << shift) - 1)) << MINUTES - shift
        return one >> MINUTES + shift | other << -shift & WHOLE_DAY

    def _piece(self, day: int, stretch: Stretch) -> int:
        """Return the instants of a UTC day in a stretch that begins or ends on it, or began just before."""
        start = day * DAY
        first = max(0, -(-(stretch.start - start) // 60))
        past = min(MINUTES, -(-(stretch.end - start) // 60))
        moved = 0
        if not self.follows:
            low, runs = opening(self._within, self.policy, stretch, stretch.start - 1)
            first = max(first, (low - start) // 60 + 1)
            for run in runs:
                if start <= run < start + DAY:
                    moved |= 1 << (run - start) // 60
        if past <= first:
            return moved
        return moved | self._shown(day, stretch.offset) & ((1 << past) - (1 << first))

    def _within(self, low: int, high: int) -> list[int]:
        """Return the wall-clock times of the pattern from ``low`` to ``high`` (excluded), in seconds."""
        return [
            day * DAY + second
            for day in range(low // DAY, (high - 1) // DAY + 1)
            for second in seconds_of(self.pattern.minutes(day))
            if low <= day * DAY + second < high
        ]


def single_runs(walls: list[int], zone: Zone, words: str, policy: Policy) -> WallSchedule:
    """Return the runs at single wall-clock times (seconds since 1970-01-01 00:00 of that clock), under a policy."""
    return WallSchedule(Instants(walls, zone, ""), zone, words, policy)


def moments_of(wall: int, zone: Zone, policy: Policy) -> list[int]:
    """Return the instants of a run at a wall-clock time: none if the policy drops it, two if it runs twice."""
    return list(single_runs([wall], zone, "", policy).between(wall - 2 * DAY, wall + 2 * DAY))


def edge_of(wall: int, zone: Zone, policy: Policy, *, is_end: bool = False) -> int:
    """Return the instant of a beginning, or an end, at a wall-clock time: its run's, else the end of the gap.

    With ``is_end`` it is the last instant of the time before, a minute before the end of the gap.
    """
    found = moments_of(wall, zone, policy)
    if found:
        return found[-1 if is_end else 0]
    instant = epoch_of(wall, zone)
    return zone.at(instant).start - 60 * is_end if is_skipped(wall, zone) else instant


@dataclass(frozen=True, eq=False)
class DayTerm:
    """Local days of a zone, year by year; their whole time, or some times on them, are a schedule.

    ``of_year`` returns exactly the matching days as a bit set (1 January is bit 0). ``has_midnight``: without a time
    00:00 is meant, as with `every Monday`; for dates that is unclear.
    """

    of_year: Callable[[int], int]
    words: str
    zone: Zone
    has_midnight: bool = False
    until: int | None = None
    until_reason: str = ""

    def whole(self) -> DaySet:
        """Return every minute of the days, at their actual length."""
        return self._limited(WallSchedule(Timed(self.of_year, WHOLE_DAY), self.zone, self.words, follows=True))

    def at(self, times: int, policy: Policy) -> DaySet:
        """Return the times (minutes of a day, a bit set) on the days."""
        words = f"{clock_list(times)} {self.words}".strip()
        return self._limited(WallSchedule(Timed(self.of_year, times), self.zone, words, policy))

    def _limited(self, found: DaySet) -> DaySet:
        found.until, found.until_reason = self.until, self.until_reason
        return found


class Schedule(Protocol):
    """A set of instants: epoch seconds on whole minutes, within the years 1970 to 2200."""

    @property
    def zone(self) -> Zone:
        """The zone of the schedule's wall clock."""

    @property
    def until(self) -> int | None:
        """The set is known up to this instant (included); None: without end."""

    @property
    def until_reason(self) -> str:
        """What limits it, in words ("the calendar holidays:DE-BW is known until 2029-12-31"); "" for nothing."""

    def next(self, after: int) -> int | None:
        """Return the first instant later than ``after``; None if there is none up to ``until``."""

    def previous(self, before: int) -> int | None:
        """Return the last instant earlier than ``before``; None if there is none."""

    def between(self, start: int, end: int) -> Iterator[int]:
        """Yield the instants with ``start`` < instant <= ``end``, ascending, lazily."""

    def matches(self, instant: int) -> bool:
        """Return whether an instant is in the set."""

    def minutes(self, day: int) -> int:
        """Return a UTC day's instants as a bit set: bit m for ``day`` * 86400 + 60 * m (``day`` 0 is 1970-01-01).

        Used to compare and count whole days, 1440 instants at a time.
        """


class CronSchedule(Made, WallSchedule):
    """Five fields in a zone, read like HTCondor's manual."""

    def __init__(self, spec: CronSpec, zone: Zone, policy: Policy = Policy.COMPATIBLE) -> None:
        """Take a spec of the MANUAL or UNIX dialect; one that never runs is the empty set."""
        self.spec = spec
        self.recurrence = Recurrence(spec, zone.info, policy)
        wall = self.recurrence.wall_clock
        self.is_never = wall.never
        times = sum(1 << second // 60 for second in wall.table)
        pattern = Timed(any_year(wall.rule.of_year), 0 if wall.never else times)
        super().__init__(pattern, zone, describe(spec), policy, follows=self.recurrence.follows_real_time)

    def _made_of(self) -> tuple[object, ...]:
        return self.spec, self.zone, self.policy

    def next(self, after: int) -> int | None:
        """Return the first instant later than ``after``."""
        if self.is_never or not FIRST_INSTANT <= after < END_OF_INSTANTS:
            return super().next(after)
        found = self.recurrence.next(after)
        return found if found < END_OF_INSTANTS else None

    def previous(self, before: int) -> int | None:
        """Return the last instant earlier than ``before``."""
        if self.is_never or before <= FIRST_INSTANT:
            return None
        with suppress(OutOfRange):
            return self.recurrence.previous(min(before, END_OF_INSTANTS))
        return None


_MANY = 8  # schedules; from so many on, only those that may have instants on a day are asked


class Either(DaySet):
    """The instants of any of some schedules: ``or``."""

    def __init__(self, *of: DaySet) -> None:
        """Take one or more; the zone is the first's."""
        super().__init__(of[0].zone, ", or ".join(each.words for each in of), *nearest(of))
        self._of = of
        self._by_day = {0: dict[int, list[DaySet]]()}  # of a year; for many schedules only

    def days(self, year: int) -> int:
        """Return the days of a year that may have instants."""
        mask = 0
        for each in self._of:
            mask |= each.days(year)
        return mask

    def minutes(self, day: int) -> int:
        """Return a day's instants."""
        bits = 0
        for each in self._of if len(self._of) < _MANY else self._touching(day):
            bits |= each.minutes(day)
        return bits

    def _touching(self, day: int) -> list[DaySet]:
        """Return the schedules that may have instants on a day."""
        year, index = year_of(day)
        found = self._by_day.get(year)
        if found is None:
            found = {}
            for each in self._of:
                for taken in members(each.days(year)):
                    found.setdefault(taken, []).append(each)
            self._by_day = {year: found}  # days are asked for in order
        return found.get(index, [])


class Both(DaySet):
    """The common instants of two schedules: ``and``, ``only``."""

    def __init__(self, first: DaySet, second: DaySet, word: str = "and") -> None:
        """Take both; the zone is the first's."""
        super().__init__(first.zone, f"{first.words}, {word} {second.words}", *nearest((first, second)))
        self._first, self._second = first, second

    def days(self, year: int) -> int:
        """Return the days of a year that may have instants."""
        days = self._first.days(year)
        return days and days & self._second.days(year)

    def minutes(self, day: int) -> int:
        """Return a day's instants."""
        bits = self._first.minutes(day)
        return bits and bits & self._second.minutes(day)


class Without(DaySet):
    """The instants of one schedule that another does not have: ``except``."""

    def __init__(self, first: DaySet, second: DaySet) -> None:
        """Take both; the zone is the first's."""
        word = " and" if isinstance(first, Without) else ", except"
        super().__init__(first.zone, f"{first.words}{word} {second.words}", *nearest((first, second)))
        self._first, self._second = first, second

    def days(self, year: int) -> int:
        """Return the days of a year that may have instants."""
        return self._first.days(year)

    def minutes(self, day: int) -> int:
        """Return a day's instants."""
        bits = self._first.minutes(day)
        return bits and bits & ~self._second.minutes(day)


class Active(DaySet):
    """A schedule between two instants, both included; None: no limit on that side."""

    def __init__(self, of: DaySet, start: int | None, end: int | None, words: str) -> None:
        """Take epoch seconds; the end of knowledge is the earlier of the two."""
        ended = end is not None and of.until is not None and end <= of.until
        super().__init__(of.zone, words, None if ended else of.until, "" if ended else of.until_reason)
        self._of = of
        self._low = 0 if start is None else max(0, -(-start // 60))
        self._high = None if end is None else end // 60

    def days(self, year: int) -> int:
        """Return the days of a year that may have instants."""
        base = year_start(year)
        if year_start(year + 1) * MINUTES <= self._low or (self._high is not None and base * MINUTES > self._high):
            return 0
        mask = self._of.days(year)
        first = self._low // MINUTES - base
        if first > 0:
            mask = mask >> first << first
        if self._high is not None:
            mask &= (2 << max(0, self._high // MINUTES - base)) - 1
        return mask

    def minutes(self, day: int) -> int:
        """Return a day's instants."""
        low = self._low - day * MINUTES
        if low >= MINUTES or (self._high is not None and day * MINUTES > self._high):
            return 0
        bits = self._of.minutes(day)
        if low > 0:
            bits = bits >> low << low
        if self._high is not None and self._high - day * MINUTES < MINUTES:
            bits &= (2 << self._high - day * MINUTES) - 1
        return bits


class Nothing(DaySet):
    """The empty set."""

    def days(self, year: int) -> int:  # noqa: ARG002 - as of every schedule
        """Return no day."""
        return 0

    def minutes(self, day: int) -> int:  # noqa: ARG002 - the same
        """Return no minute."""
        return 0


class KnownUntil(Active):
    """A schedule cut where knowledge ends, with the reason."""

    def __init__(self, of: DaySet, until: int, reason: str) -> None:
        """Take the last known instant (epoch seconds), and what limits it."""
        super().__init__(of, None, until, of.words)
        self.until: int | None = until
        self.until_reason = reason


def nearest(of: Iterable[DaySet]) -> tuple[int | None, str]:
    """Return up to when all of some schedules are known, and what limits it."""
    return min(
        ((each.until, each.until_reason) for each in of if each.until is not None),
        default=(None, ""),
        key=lambda each: each[0],
    )


def first_difference(one: DaySet, other: DaySet, after: int, until: int) -> int | None:
    """Return the first instant with ``after`` < instant <= ``until`` that exactly one of two schedules has.

    Whole days are compared at a time.
    """
    first, last = (after + 60) // DAY, until // DAY
    year, _ = year_of(max(0, first))
    while year_start(year) <= last:
        mask = one.days(year) | other.days(year)
        base = year_start(year)
        while mask:
            bit = mask & -mask
            mask ^= bit
            day = base + bit.bit_length() - 1
            if first <= day <= last and day < year_start(year + 1):
                bits = one.minutes(day) ^ other.minutes(day)
                while bits:
                    low = bits & -bits
                    instant = day * DAY + 60 * (low.bit_length() - 1)
                    if after < instant <= until:
                        return instant
                    bits ^= low
        year += 1
    return None
