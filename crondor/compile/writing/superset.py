"""The smallest superset of a schedule that five cron fields can express, and its proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from itertools import takewhile
from typing import NamedTuple

from crondor._spec import field_text
from crondor.algebra import has_day_zero, portable, reread
from crondor.calendar import DAY, EPOCH_ORDINAL
from crondor.compile.days import MINUTES, WHOLE_DAY, DaySet, seconds_of
from crondor.compile.walls import Timed, WallSchedule, any_year
from crondor.compile.writing.evaluation import Clause
from crondor.recurrence import Recurrence
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, CronSpec, Dialect
from crondor.zones import Policy, Stretch, Zone

_ALL_WEEKDAYS = 127


class LocalDays(NamedTuple):
    """The wanted times on the submit host's clock: day numbers with bit sets of their minutes."""

    minutes: dict[int, int]

    def moments(self) -> int:
        """Return the minutes of the day that occur on any day."""
        found = 0
        for bits in set(self.minutes.values()):
            found |= bits
        return found


def local_days(days: Iterable[tuple[int, int]], zone: Zone) -> LocalDays:
    """Return UTC days with bit sets of their minutes by the clock of a zone; offsets count in whole minutes."""
    found: dict[int, int] = {}
    for day, bits in days:
        for low, high, offset in pieces(zone, day):
            part = bits & ((1 << high) - (1 << low))
            if part:
                put(found, day, part, offset // 60)
    return LocalDays(found)


def put(days: dict[int, int], day: int, bits: int, shift: int) -> None:
    """Add a day's minutes to days that begin ``shift`` minutes earlier, so that they may be on two of them."""
    more, shift = divmod(shift, MINUTES)
    day += more
    row = bits << shift
    early, late = row & WHOLE_DAY, row >> MINUTES
    if early:
        days[day] = days.get(day, 0) | early
    if late:
        days[day + 1] = days.get(day + 1, 0) | late


def pieces(zone: Zone, day: int) -> Iterator[tuple[int, int, int]]:
    """Yield the pieces of a UTC day with one offset: from minute, to minute (excluded), seconds east of UTC."""
    start = day * DAY
    at = start
    while at < start + DAY:
        stretch: Stretch = zone.at(at)
        end = min(stretch.end, start + DAY)
        yield (at - start) // 60, -(-(end - start) // 60), stretch.offset
        at = end


def smallest(wanted: LocalDays) -> CronSpec:
    """Return the fields whose times include all wanted ones and as few others as possible.

    A day of week is never written without a day of month: the schedd then also matches the last day of the month, and
    after the last weekday of the month retries every two minutes (the day-0 defect). With a day of the month there is
    no defect, but the two are joined by OR: so the cheapest day of the month is added.
    """
    months, dates = 0, [[0] * 7 for _ in range(32)]
    for day in wanted.minutes:
        at = date.fromordinal(day + EPOCH_ORDINAL)
        months |= 1 << at.month
        dates[at.day][(day + 4) % 7] += 1
    moments = wanted.moments()
    minutes, hours = 0, 0
    for hour in range(24):
        row = moments >> 60 * hour & (1 << 60) - 1
        minutes |= row
        hours |= bool(row) << hour
    days, weekdays = _day_fields(dates, _calendar_of(wanted, months))
    bits = (minutes, hours, days, months, weekdays)
    return _spelled(bits)


def _calendar_of(wanted: LocalDays, months: int) -> list[list[int]]:
    """Return how often each day of the month is each weekday, in these months of the years of the schedule."""
    table = [[0] * 7 for _ in range(32)]
    for day in range(min(wanted.minutes), max(wanted.minutes) + 1):
        at = date.fromordinal(day + EPOCH_ORDINAL)
        if months >> at.month & 1:
            table[at.day][(day + 4) % 7] += 1
    return table


def _day_fields(dates: list[list[int]], calendar: list[list[int]]) -> tuple[int, int]:
    """Return the days of the month and the weekdays (bit sets) with the fewest dates; 0 for a star."""
    whole = sum(map(sum, calendar))
    needs = [sum(1 << number for number in range(1, 32) if dates[number][w]) for w in range(7)]
    found: list[tuple[int, int, int, int, int]] = []
    for weekdays in range(_ALL_WEEKDAYS):
        left = [w for w in range(7) if not weekdays >> w & 1]
        days = 0
        for w in left:
            days |= needs[w]
        if weekdays and not days:
            days = 1 << min(range(31, 0, -1), key=lambda n: sum(calendar[n][w] for w in left))
        if days == (1 << 32) - 2:
            if not weekdays:
                found.append((whole, 0, 0, 0, 0))
            continue
        size = whole - sum(calendar[n][w] for n in range(1, 32) if not days >> n & 1 for w in left)
        found.append((size, weekdays.bit_count(), days.bit_count(), weekdays, days))
    *_, weekdays, days = min(found)
    return days, weekdays


def _spelled(bits: tuple[int, ...]) -> CronSpec:
    """Return a MANUAL spec of bit sets, with 0 in a day field for a star; values are listed."""
    texts = {}
    for field, members in zip(FIELDS, bits, strict=True):
        full = members == field.full
        star = full or (field in {DAY_OF_MONTH, DAY_OF_WEEK} and not members)
        text = "*" if star else field_text(members, field, Dialect.HTCONDOR, star=False)
        texts[field.attribute] = (
            text if "/" not in text else ",".join(str(n) for n in range(members.bit_length()) if members >> n & 1)
        )
    return portable(CronSpec.from_mapping(texts))


class Superset:
    """Five cron fields on a submit host: the times its schedd may set, and those that its clock may show."""

    def __init__(self, spec: CronSpec, zone: Zone) -> None:
        """Take a MANUAL spec that all dialects read alike."""
        self.spec = spec
        self.zone = zone
        wall = Recurrence(spec, zone.info).wall_clock
        times = sum(1 << second // 60 for second in wall.table)
        pattern = Timed(any_year(wall.rule.of_year), times)
        self.times = times
        self._known: dict[int, int] = {}
        self._shown = WallSchedule(pattern, zone, "", follows=True)
        self._moved = WallSchedule(pattern, zone, "", Policy.COMPATIBLE)

    @property
    def schedd(self) -> Recurrence:
        """The schedd's own reading."""
        return Recurrence(reread(self.spec, Dialect.HTCONDOR), self.zone.info)

    @property
    def has_day_zero(self) -> bool:
        """Whether the schedd matches a day 0."""
        return has_day_zero(reread(self.spec, Dialect.HTCONDOR))

    def minutes(self, day: int) -> int:
        """Return the minutes of a UTC day that the schedd may return: both passes of an hour, and moved ones."""
        found = self._known.get(day)
        if found is None:
            found = self._shown.minutes(day)
            stretch = self.zone.at((day - 1) * DAY)
            if stretch.end < (day + 2) * DAY:  # a change is near
                found |= self._moved.minutes(day)
            self._known[day] = found
        return found

    def repeats(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the spans (both ends included) of second passes in which the fields name a time.

        In them the schedd may return "now + 120 s", at any second up to two minutes after the last such time.
        """
        for stretch in self.zone.changes(start, end):
            back = stretch.before - stretch.offset
            if back > 0:
                low = stretch.start
                bits = [at for at in range(low, low + back, 60) if self._shown.matches(at)]
                if bits:
                    yield low, bits[-1] + 60


def split(whole: Superset, wanted: LocalDays, most: int) -> Iterator[list[Superset]]:
    """Yield ways to split the times of a superset among several, the fewest first.

    First one without wrong minutes, if the minutes differ between hours; then every second, third ... minute or hour
    for each.
    """
    minutes, hours, days, months, weekdays = whole.spec.bits
    moments = wanted.moments()
    days = 0 if whole.spec.stars[DAY_OF_MONTH.index] else days
    weekdays = 0 if whole.spec.stars[DAY_OF_WEEK.index] else weekdays

    def part(some_minutes: int, some_hours: int) -> Superset:
        return Superset(_spelled((some_minutes, some_hours, days, months, weekdays)), whole.zone)

    groups: dict[int, int] = {}  # minutes -> the hours that have them
    for hour in range(24):
        row = moments >> 60 * hour & (1 << 60) - 1
        if row:
            groups[row] = groups.get(row, 0) | 1 << hour
    if 1 < len(groups) <= most:
        yield [part(row, those) for row, those in groups.items()]
    some = [minute for minute in range(60) if minutes >> minute & 1]
    many = [hour for hour in range(24) if hours >> hour & 1]
    for number in range(2, most + 1):
        if len(some) >= number:
            yield [part(sum(1 << minute for minute in some[at::number]), hours) for at in range(number)]
        if len(many) >= number:
            yield [part(minutes, sum(1 << hour for hour in many[at::number])) for at in range(number)]


_WALKED = 20_000  # answers of the schedd up to which its whole walk is followed
_FIRST = 3000  # otherwise only this many, and this long before and after each clock change
_AROUND = 2 * DAY


class Proof(NamedTuple):
    """The comparison from ``start`` (excluded) to ``until`` (included).

    The schedd may set the ``offered`` times, ``wanted`` were requested; ``walked`` answers of the schedd's own search
    were followed. ``lost`` are wanted times that never start, ``wrong`` are others that would.
    """

    start: int
    until: int
    offered: int
    wanted: int
    walked: int
    lost: tuple[int, ...]
    wrong: tuple[int, ...]

    @property
    def is_exact(self) -> bool:
        """Whether the two are equal."""
        return not self.lost and not self.wrong


def prove(wanted: dict[int, int], jobs: list[tuple[Superset, Clause | None]], start: int, until: int) -> Proof:
    """Compare UTC days with bit sets of the wanted minutes with the starts of jobs, from ``start`` to ``until``."""
    offered = count = walked = 0
    lost: list[int] = []
    wrong: list[int] = []
    passing: list[dict[int, int]] = [{} for _ in jobs]
    for day in range(start // DAY, until // DAY + 1):
        mask = within(day, start, until)
        found = 0
        for (superset, clause), own in zip(jobs, passing, strict=True):
            bits = superset.minutes(day) & mask
            offered += bits.bit_count()
            if bits and clause is not None:
                bits = clause.minutes(day, bits)
            if bits:
                own[day] = bits
            found |= bits
        asked = wanted.get(day, 0)
        count += asked.bit_count()
        if found != asked:
            lost += [day * DAY + second for second in seconds_of(asked & ~found)]
            wrong += [day * DAY + second for second in seconds_of(found & ~asked)]
    for (superset, clause), own in zip(jobs, passing, strict=True):
        seen, unreached, stray = _walk(superset, clause, own, start, until)
        walked += seen
        lost += unreached
        wrong += stray
    return Proof(start, until, offered, count, walked, tuple(sorted(set(lost))), tuple(sorted(set(wrong))))


def wanted_days(schedule: DaySet, start: int, until: int) -> dict[int, int]:
    """Return the UTC days on which a schedule has times after ``start`` and up to ``until``, as bit sets of minutes."""
    found: dict[int, int] = {}
    for day in schedule.days_from(max(0, start // DAY)):
        if day > until // DAY:
            break
        bits = schedule.minutes(day) & within(day, start, until)
        if bits:
            found[day] = bits
    return found


def within(day: int, start: int, until: int) -> int:
    """Return the minutes of a UTC day later than ``start`` and not later than ``until``, as a bit set."""
    low = max(0, (start - day * DAY) // 60 + 1)
    high = min(1440, (until - day * DAY) // 60 + 1)
    return (1 << high) - (1 << low) if high > low else 0


def _walk(
    superset: Superset, clause: Clause | None, passing: dict[int, int], start: int, until: int
) -> tuple[int, list[int], list[int]]:
    """Follow the schedd's answers, each the input of the next; return their number, unreached times, and stray ones."""
    walked, lost, wrong = 0, [], []
    for low, high in _stretches(superset, start, until):
        answers = {int(a) for a in takewhile(high.__ge__, superset.schedd.upcoming(low))}
        walked += len(answers)
        for day in range(low // DAY, high // DAY + 1):
            bits = passing.get(day, 0) & within(day, low, high)
            lost += [t for second in seconds_of(bits) if (t := day * DAY + second) not in answers]
        if clause is None:
            continue
        wrong += [t for t in answers if t % 60 and clause.holds(t)]
    return walked, lost, wrong


def _stretches(superset: Superset, start: int, until: int) -> Iterator[tuple[int, int]]:
    """Yield the times in which the schedd's walk is followed: all, or around possible disturbances."""
    often = max(1, superset.times.bit_count())
    if often * max(1, (until - start) // DAY) <= _WALKED:
        yield start, until
        return
    past = min(until, start + max(1, _FIRST // often) * DAY)
    yield start, past
    around = _AROUND if often < 300 else 8 * 3600
    for change in superset.zone.changes(start, until):
        low, high = max(past, change.start - around), min(until, change.start + around)
        if low < high:
            yield low, high
            past = high
