"""Walks on the local clock and through a zone, the cycle of a schedule, and why a schedule never fires."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from crondor._readings import ScheddWalk
from crondor._types import expect
from crondor.calendar import DAY, LONGEST, DayRule, lowest, month_length
from crondor.day_rule import day_rule
from crondor.diagnostics import CrondorError, Diagnostic, Source
from crondor.spec import DAY_OF_MONTH, MONTH, CronSpec, Dialect
from crondor.zones import LONGEST_GAP, Policy, Stretch, YearKind, Zone, year_kind, year_of, year_start, zone_of


class WallClock:
    """The instants of a schedule as wall-clock seconds, all on whole minutes."""

    __slots__ = ("_first", "_last", "_table", "hours", "minutes", "never", "rule")

    def __init__(self, spec: CronSpec) -> None:
        """Take a MANUAL or UNIX spec."""
        bits = spec.bits
        self.minutes = minutes = bits[0]
        self.hours = hours = bits[1]
        self.rule = rule = day_rule(spec)
        self._first = (hours & -hours).bit_length() * 60 + (minutes & -minutes).bit_length() - 61
        self._last = hours.bit_length() * 60 + minutes.bit_length() - 61
        self.never = not rule.every and rule.never()
        self._table: tuple[int, ...] = ()

    @property
    def per_day(self) -> int:
        """The number of runs on a matching day."""
        return self.minutes.bit_count() * self.hours.bit_count()

    @property
    def table(self) -> tuple[int, ...]:
        """The seconds of a day at which the schedule runs, in order; computed once."""
        if not self._table:
            minutes = [60 * m for m in range(60) if self.minutes >> m & 1]
            self._table = tuple([3600 * h + m for h in range(24) if self.hours >> h & 1 for m in minutes])
        return self._table

    def after(self, wall: int) -> int:
        """Return the first instant after ``wall``."""
        day, minute = divmod(wall // 60 + 1, 1440)
        if minute > self._last:
            return (self.rule.next_day(day + 1) * 1440 + self._first) * 60
        taken = self.rule.next_day(day)
        if taken != day:
            return (taken * 1440 + self._first) * 60
        hour, minute = divmod(minute, 60)
        hours = self.hours >> hour
        if hours & 1:
            minutes = self.minutes >> minute
            if minutes:
                return (day * 1440 + hour * 60 + minute + lowest(minutes)) * 60
            hours -= 1
        # Minute and hour together are not past the last of the day, so there is a later hour.
        return (day * 1440 + (hour + lowest(hours)) * 60 + lowest(self.minutes)) * 60

    def before(self, wall: int) -> int:
        """Return the last instant before ``wall``."""
        day, minute = divmod(-(-wall // 60) - 1, 1440)
        if minute < self._first:
            return (self.rule.previous_day(day - 1) * 1440 + self._last) * 60
        taken = self.rule.previous_day(day)
        if taken != day:
            return (taken * 1440 + self._last) * 60
        hour, minute = divmod(minute, 60)
        hours = self.hours & ((2 << hour) - 1)
        if hours >> hour:
            minutes = self.minutes & ((2 << minute) - 1)
            if minutes:
                return (day * 1440 + hour * 60 + minutes.bit_length() - 1) * 60
            hours ^= 1 << hour
        return (day * 1440 + (hours.bit_length() - 1) * 60 + self.minutes.bit_length() - 1) * 60

    def within(self, low: int, high: int) -> list[int]:
        """Return the instants with ``low`` <= instant < ``high``, a span of a few hours."""
        found: list[int] = []
        for day in range(low // DAY, (high - 1) // DAY + 1):
            if self.rule.next_day(day) == day:
                midnight = day * DAY
                first, past = (bisect_left(self.table, wall - midnight) for wall in (low, high))
                found += [midnight + second for second in self.table[first:past]]
        return found

    def count(self, low: int, high: int) -> int:
        """Return the number of instants with ``low`` < instant <= ``high``."""
        if high <= low:
            return 0
        first, low_second = divmod(low, DAY)
        last, high_second = divmod(high, DAY)
        total = self.rule.count_days(first, last - 1) * self.per_day
        if self.rule.next_day(first) == first:
            total -= bisect_right(self.table, low_second)
        if self.rule.next_day(last) == last:
            total += bisect_right(self.table, high_second)
        return total


_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - wall-clock time


class ClockMark(NamedTuple):
    """``skipped`` are the wall-clock times that the run stands for; ``pass_`` is 1 or 2 for a repeated time."""

    skipped: tuple[datetime, ...] = ()
    pass_: int = 0

    def __str__(self) -> str:
        """Return it in words: "02:30 is skipped", "the first of two"."""
        if self.pass_:
            return f"the {'first' if self.pass_ == 1 else 'second'} of two"
        if len(self.skipped) > 2:
            return f"{self.skipped[0]:%H:%M} to {self.skipped[-1]:%H:%M} are skipped"
        times = " and ".join(f"{wall:%H:%M}" for wall in self.skipped)
        return f"{times} {'is' if len(self.skipped) == 1 else 'are'} skipped"


def clock_mark(zone: Zone, instant: int, wall: WallClock) -> ClockMark | None:
    """Return what a clock change did to a run at an instant (epoch seconds), None for most runs."""
    if zone.is_fixed:
        return None
    stretch = zone.at(instant)
    seconds, since = stretch.offset - stretch.before, instant - stretch.start
    if 0 <= since < seconds <= LONGEST_GAP:
        skipped = _skipped(instant + stretch.offset, seconds, since, wall)
        return ClockMark(tuple(_EPOCH + timedelta(seconds=each) for each in skipped)) if skipped else None
    if 0 <= since < -seconds:
        return ClockMark(pass_=2)
    following = zone.at(stretch.end)
    back = following.before - following.offset
    return ClockMark(pass_=1) if following.start == stretch.end and stretch.end - instant <= back else None


def unmarked_until(zone: Zone, instant: int) -> int:
    """Return the instant up to which (excluded) no run from ``instant`` on has a mark; ``instant`` if one may."""
    stretch = zone.at(instant)
    if instant - stretch.start < abs(stretch.offset - stretch.before):
        return instant
    following = zone.at(stretch.end)
    repeated = max(0, following.before - following.offset) if following.start == stretch.end else 0
    return stretch.end - repeated


def skipped_mark(zone: Zone, instant: int, moved: int) -> ClockMark:
    """Return the mark of a run that is ``moved`` seconds after the skipped wall-clock time."""
    return ClockMark((_EPOCH + timedelta(seconds=zone.local(instant) - moved),))


def _skipped(local: int, seconds: int, since: int, wall: WallClock) -> list[int]:
    """Return the wall-clock seconds in the gap that a run at ``local`` stands for, none if it has its own time."""
    if wall.never or wall.after(local - 1) == local:
        return []
    if wall.after(local - seconds - 1) == local - seconds:
        return [local - seconds]
    return wall.within(local - since - seconds, local - since) if since == 0 else []


_FIRST, _LAST = 2000, 2399  # a cycle; it ends with the weekday it began with


class Gaps(NamedTuple):
    """The shortest and the longest time between two runs, in wall-clock seconds, and where they first occur.

    ``longest_from`` and ``shortest_from`` are the dates of the run before the gap, within the years 2000 to 2399.
    """

    shortest: int
    shortest_from: date
    longest: int
    longest_from: date


class Range(NamedTuple):
    """The least and the most of something."""

    least: int
    most: int


class Counts(NamedTuple):
    """How many runs a day, a month and a year have, at least and at most; wall clock, no clock changes."""

    day: Range
    month: Range
    year: Range


def months() -> Iterator[tuple[int, int, int]]:
    """Yield year, month and first weekday (Sunday is 0) of each month of the cycle."""
    first = 6  # 1 January 2000 was a Saturday
    for year in range(_FIRST, _LAST + 1):
        for month in range(1, 13):
            yield year, month, first
            first = (first + month_length(year, month)) % 7


def month_masks(rule: DayRule) -> dict[tuple[int, int, int], int]:
    """Return the matching days of every kind of month, by month, first weekday and length; all kinds occur."""
    kinds = {}
    for month in range(1, 13):
        for length in {28, 29} if month == 2 else {LONGEST[month]}:
            year = 2000 if length != 28 else 2001
            for first in range(7):
                taken = rule.in_month(year, month, first) if rule.months >> month & 1 else 0
                kinds[month, first, length] = taken
    return kinds


def gaps(wall: WallClock) -> Gaps:
    """Return the gaps between successive runs of a schedule that runs."""
    table = wall.table
    within = [b - a for a, b in pairwise(table)]
    overnight = table[0] - table[-1]  # to be added to whole days
    (low, low_from), (high, high_from) = _day_gaps(wall.rule)
    shortest, longest = low * 86400 + overnight, high * 86400 + overnight
    # Within a day they occur on the first matching day, before any gap overnight.
    if within and min(within) <= shortest:
        shortest, low_from = min(within), _first_day(wall.rule)
    if within and max(within) >= longest:
        longest, high_from = max(within), _first_day(wall.rule)
    return Gaps(shortest, low_from, longest, high_from)


def counts(wall: WallClock) -> Counts:
    """Return the runs of a day, a month and a year."""
    masks = month_masks(wall.rule)
    in_months = [taken.bit_count() for taken in masks.values()]
    every_day = all(taken.bit_count() == length for (_, _, length), taken in masks.items())
    some_day = any(in_months)
    years: dict[tuple[int, bool], int] = {}
    for first in range(7):
        for leap in (False, True):
            years[first, leap] = _days_of_year(masks, first, leap=leap)
    per_day = wall.per_day
    return Counts(
        Range(per_day if every_day else 0, per_day if some_day else 0),
        Range(min(in_months) * per_day, max(in_months) * per_day),
        Range(min(years.values()) * per_day, max(years.values()) * per_day),
    )


def _days_of_year(masks: dict[tuple[int, int, int], int], first: int, *, leap: bool) -> int:
    total = 0
    for month in range(1, 13):
        length = (29 if leap else 28) if month == 2 else LONGEST[month]
        total += masks[month, first, length].bit_count()
        first = (first + length) % 7
    return total


def _first_day(rule: DayRule) -> date:
    """Return the first matching day of the cycle."""
    start = date(_FIRST, 1, 1).toordinal() - date(1970, 1, 1).toordinal()
    return date.fromordinal(rule.next_day(start) + date(1970, 1, 1).toordinal())


def _day_gaps(rule: DayRule) -> tuple[tuple[int, date], tuple[int, date]]:
    """Return the least and the most days between matching days, each with the day before the gap."""
    masks = month_masks(rule)
    start = date(_FIRST, 1, 1).toordinal()
    if all(taken.bit_count() == length for (_, _, length), taken in masks.items()):
        return (1, date.fromordinal(start)), (1, date.fromordinal(start))  # every day: most schedules
    insides: dict[int, tuple[int, int, int, int]] = {}
    last: int | None = None
    begin = start
    low, high = (1 << 40, start), (0, start)
    # Once around the cycle, and to the first matching day again: the gap across its end counts too.
    for lap in range(2):
        for year, month, first in months():
            length = month_length(year, month)
            taken = masks[month, first, length]
            if taken:
                if taken not in insides:
                    insides[taken] = _inside(taken)
                least, least_at, most, most_at = insides[taken]
                if last is not None:
                    gap = begin + lowest(taken) - 1 - last
                    low, high = min(low, (gap, last)), max(high, (gap, -last))
                if lap:
                    return (low[0], date.fromordinal(low[1])), (high[0], date.fromordinal(-high[1]))
                if least:
                    low, high = min(low, (least, begin + least_at - 1)), max(high, (most, -(begin + most_at - 1)))
                last = begin + taken.bit_length() - 2
            begin += length
    raise ValueError(rule)  # never: the schedule runs


def _inside(taken: int) -> tuple[int, int, int, int]:
    """Return the least and the most days between two days of one month, each with the day before; 0 for one day."""
    days = [day for day in range(1, 32) if taken >> day & 1]
    pairs = [(b - a, a) for a, b in pairwise(days)]
    if not pairs:
        return 0, 0, 0, 0
    least, least_at = min(pairs)
    most, most_at = max(pairs, key=lambda pair: (pair[0], -pair[1]))
    return least, least_at, most, most_at


FIRST_INSTANT = 0
END_OF_INSTANTS = 7289654400  # 2201-01-01 00:00 UTC


class NeverRuns(CrondorError, ValueError):
    """The schedule names no date that exists."""


class ScheddHangs(NeverRuns):
    """The schedule names no date that exists, and a schedd never returns from searching for one."""


class NotASet(CrondorError, TypeError):
    """The HTCONDOR dialect has no set of instants: its answers depend on when it is asked."""


class OutOfRange(CrondorError, OverflowError):
    """An instant outside the years 1970 to 2200."""


def never_reason(spec: CronSpec) -> str | None:
    """Return why a schedule never fires ("day 31 does not occur in months 2, 4"), or None if it does.

    Exact for every dialect.
    """
    expect("spec", spec, CronSpec, "a CronSpec", "write CronSpec.from_line('30 2 * * *')")
    empty = ScheddWalk(spec, zone_of("UTC")).hangs if spec.dialect is Dialect.HTCONDOR else WallClock(spec).never
    if not empty:
        return None
    days = spec.values(DAY_OF_MONTH)
    months = spec.values(MONTH)
    which = f"day {days[0]} does" if len(days) == 1 else f"days {', '.join(map(str, days))} do"
    where = f"month {months[0]}" if len(months) == 1 else f"months {', '.join(map(str, months))}"
    return f"{which} not occur in {where}"


def never_runs(spec: CronSpec) -> Diagnostic:
    message = f"the schedule never fires: {never_reason(spec)}"
    if spec.dialect is Dialect.HTCONDOR:
        message += "; a schedd never returns from searching for it"
    span = None
    text = spec.given[DAY_OF_MONTH.index]
    if text is not None:
        span = Source(text, DAY_OF_MONTH.name).span()
    longest = max(LONGEST[month] for month in spec.values(MONTH))
    help_text = f"write a day of month up to {longest}, or other months"
    return Diagnostic("cron-never", message, span=span, help=help_text)


def out_of_range(instant: int) -> OutOfRange:
    """Return the error for an instant (epoch seconds) that is out of range."""
    shown = str(instant) if abs(instant) < 10**18 else "given"
    message = f"the instant {shown} (epoch seconds) is outside the years 1970 to 2200"
    return OutOfRange(Diagnostic("time-range", message, help="ask for a time between 1970 and 2200"))


def none_before(instant: int) -> OutOfRange:
    """Return the error for a schedule that has not fired between 1970 and an instant (epoch seconds)."""
    message = f"there is no run between 1970 and {instant} (epoch seconds)"
    return OutOfRange(Diagnostic("time-range", message, help="ask for a later time"))


# Instants further apart than this have wall-clock times in the same order: no two offsets are two days apart.
_FURTHEST = 2 * DAY

_LONG = 40 * 366 * DAY  # a span of whole years, many of them of the same kind


# Only ``opening`` applies a policy, and only ``_onward`` and ``_back`` choose the stretch of the next run: all
# questions about instants use these.
def opening(
    within: Callable[[int, int], Sequence[int]], policy: Policy, stretch: Stretch, after: int
) -> tuple[int, Sequence[int]]:
    """Return how a stretch begins for wall-clock runs: an instant, and the runs after ``after`` up to it.

    After that instant the stretch has the runs that its wall clock shows. ``after`` is in the stretch or just before
    it; ``within`` gives the wall-clock times from one (included) to another. Only this function applies a policy.
    """
    start, _, offset, before = stretch
    gap = offset - before
    if after - start >= abs(gap):
        return after, ()
    if gap <= 0:
        return max(after, start - gap - 1), ()
    if policy is Policy.SKIP or gap >= LONGEST_GAP:
        return after, ()
    skipped = within(start + before, start + offset)
    if not skipped:
        return after, ()
    moved = {start} if policy is Policy.DEBIAN else {run - before for run in skipped}
    moved.update(run - offset for run in within(start + offset, start + offset + gap))
    return start + gap - 1, sorted(run for run in moved if run > after)


class ZoneWalk:
    """The runs of a MANUAL or UNIX schedule in a zone under a policy; instants are epoch seconds.

    ``follows``: no clock change moves, drops or delays a run.
    """

    __slots__ = ("_policy", "_zone", "follows", "wall")

    def __init__(self, wall: WallClock, zone: Zone, policy: Policy, *, follows: bool) -> None:
        """Take a schedule on the wall clock; only ``count`` works for one that never runs."""
        self.wall = wall
        self.follows = follows
        self._zone = zone
        self._policy = policy

    def next(self, after: int) -> int:
        """Return the first run after ``after``."""
        wall, stretch = self.wall, self._zone.at(after)
        while True:
            start, end, offset, before = stretch
            low = after
            if after - start < abs(offset - before):
                low, moved = self._opening(stretch, after)
                if moved:
                    return moved[0]
            found = wall.after(low + offset) - offset
            if found < end:
                return found
            stretch = self._onward(end, after, found)
            after = max(end, stretch.start) - 1

    def previous(self, before: int) -> int:
        """Return the last run before ``before``, -1 if there is none since 1970."""
        wall, stretch = self.wall, self._zone.at(before - 1)
        while before > FIRST_INSTANT:
            start, _, offset, earlier = stretch
            found = wall.before(before + offset) - offset
            low = start - 1
            moved: Sequence[int] = ()
            if found < start + abs(offset - earlier):
                low, moved = self._opening(stretch, low)
            if found > low:
                return found
            for run in reversed(moved):
                if run < before:
                    return run
            stretch = self._back(start, before, found)
            before = min(start, stretch.end)
        return -1

    def epochs(self, after: int) -> Iterator[int]:
        """Yield the runs after ``after`` until the end of 2200."""
        for _, midnight, seconds, _ in self._days(after):
            yield from map(midnight.__add__, seconds)

    def moments(self, after: int) -> Iterator[datetime]:
        """Yield the same as aware datetimes."""
        info = self._zone.info
        epoch = datetime(1970, 1, 1, tzinfo=info)
        deltas = [timedelta(seconds=s) for s in self.wall.table]
        for day, midnight, seconds, is_plain in self._days(after):
            if is_plain:
                # Wall-clock arithmetic, far faster than a conversion; exact while the offset is constant.
                yield from map((epoch + timedelta(days=day)).__add__, deltas)
            else:
                for second in seconds:
                    yield datetime.fromtimestamp(midnight + second, info)

    def count(self, low: int, high: int) -> int:
        """Return the number of runs with ``low`` < instant <= ``high``, without listing them.

        Of the years in which only a rule changes the zone's clocks, one of each kind is counted.
        """
        if high <= low or self.wall.never:
            return 0
        if self._zone.is_fixed or high - low < _LONG:
            return self._count(low, high)
        first = max(year_of(low) + 1, self._zone.rule_year)
        kinds = Counter(map(year_kind, range(first, year_of(high))))
        if kinds.total() <= len(kinds):
            return self._count(low, high)
        of_kinds: dict[YearKind, int] = {}
        for year in range(first, year_of(high)):
            kind = year_kind(year)
            if kind not in of_kinds:
                of_kinds[kind] = self._count(year_start(year) - 1, year_start(year + 1) - 1)
        whole = sum(number * of_kinds[kind] for kind, number in kinds.items())
        begin, end = year_start(first) - 1, year_start(year_of(high)) - 1
        return self._count(low, begin) + whole + self._count(end, high)

    def _count(self, low: int, high: int) -> int:
        """Return the same, counted on the wall clock, interrupted only by the clock changes that affect a run."""
        if high <= low:
            return 0
        wall = self.wall
        begin, total = self._counted(self._zone.at(low), low, high)
        for stretch in self._zone.changes(low, high):
            edge, past = sorted((stretch.start + stretch.before, stretch.start + stretch.offset))
            if wall.after(edge - 1) < past:
                total += wall.count(begin, stretch.start + stretch.before - 1)
                begin, moved = self._counted(stretch, stretch.start - 1, high)
                total += moved
        return total + wall.count(begin, high + self._zone.at(high).offset)

    def _counted(self, stretch: Stretch, after: int, high: int) -> tuple[int, int]:
        """Return the wall-clock time to count from (excluded) in a stretch, and the runs up to it."""
        low, moved = self._opening(stretch, after)
        return low + stretch.offset, sum(run <= high for run in moved)

    def _opening(self, stretch: Stretch, after: int) -> tuple[int, Sequence[int]]:
        """Return the instant after which a stretch has the runs that its wall clock shows, and those until then.

        Both are after ``after``, which is in the stretch or just before it. A fold's second pass counts for schedules
        that follow real time; the runs moved out of a gap are among those shown.
        """
        if self.follows:
            return after, ()
        return opening(self.wall.within, self._policy, stretch, after)

    def _onward(self, end: int, after: int, found: int) -> Stretch:
        """Return the next stretch to examine after one that has no run after ``after``.

        ``found`` is where the next wall-clock time of the schedule would be with its offset. No stretch shows one
        before that, except a time that a fold repeats, which is close after ``after``.
        """
        return self._zone.at(end if end - after <= _FURTHEST else max(end, found - _FURTHEST))

    def _back(self, start: int, before: int, found: int) -> Stretch:
        """Return the stretch to examine before one that has no run before ``before``: ``_onward``, mirrored."""
        return self._zone.at(start - 1 if before - start <= _FURTHEST else min(start - 1, found + _FURTHEST))

    def _days(self, after: int) -> Iterator[tuple[int, int, Sequence[int], bool]]:
        """Yield the runs after an instant as day number, epoch of its midnight, seconds, and whether it is plain.

        A plain day is whole and repeats no wall-clock time. Runs that a clock change moves are yielded as their own
        day, with epochs for seconds.
        """
        rule, table = self.wall.rule, self.wall.table
        stretch = self._zone.at(after)
        known, day = 0, -1  # of the days from ``known`` on, ``day`` is the first match
        while after < END_OF_INSTANTS:
            start, end, offset, before = stretch
            low, moved = self._opening(stretch, after)
            if moved:
                yield 0, 0, moved, False
            first, low_second = divmod(low + 1 + offset, DAY)
            last, high_second = divmod(min(end, END_OF_INSTANTS) + offset, DAY)
            if not known <= first <= day:
                known, day = first, rule.next_day(first)
            if day == first:
                past = bisect_left(table, high_second) if day == last else None
                yield day, day * DAY - offset, table[bisect_left(table, low_second) : past], False
                known = day + 1
                day = rule.next_day(known)
            while day < last:
                yield day, day * DAY - offset, table, day * DAY >= start + before
                known = day + 1
                day = rule.next_day(known)
            if day == last > first:
                yield day, day * DAY - offset, table[: bisect_left(table, high_second)], False
            if end >= END_OF_INSTANTS:
                return
            stretch = self._onward(end, max(after, known * DAY - offset), day * DAY - offset)
            after = max(end, stretch.start) - 1
