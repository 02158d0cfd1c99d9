"""A recurrence rule of RFC 5545 as a pattern on the wall clock, in words, and days of a month.

Source of the rules: RFC 5545, 3.3.10. A part BYxxx keeps the days (or times) that it names; DTSTART gives the rest.
Weeks, months and years with an interval count from that of DTSTART.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from crondor.calendar import EPOCH_ORDINAL, MONTHS, WEEKDAYS, day_number, month_length, weekday
from crondor.compile.days import (
    MINUTES,
    WHOLE_YEAR,
    YearDays,
    clock_list,
    day_text,
    listed,
    ordinal,
    seconds_of,
    spread,
    stepped,
    taken_days,
    year_of,
    year_start,
)

_HOUR = (1 << 60) - 1
_MOST_PERIODS = 64  # that are cached; they are needed in order


class Frequency(IntEnum):
    """FREQ, from the longest period to the shortest."""

    YEARLY = 0
    MONTHLY = 1
    WEEKLY = 2
    DAILY = 3
    HOURLY = 4
    MINUTELY = 5


class Rule(NamedTuple):
    """The parts of a rule. Weekdays are 0 (Sunday) to 6; a part that is not given is empty.

    ``start`` and ``until`` are minutes on the wall clock since 1970-01-01 00:00, both included.
    """

    frequency: Frequency
    start: int
    interval: int = 1
    runs: int | None = None  # COUNT
    until: int | None = None
    months: Sequence[int] = ()
    week_numbers: Sequence[int] = ()
    year_days: Sequence[int] = ()
    month_days: Sequence[int] = ()
    weekdays: Sequence[tuple[int, int]] = ()  # the number (0: every) and the weekday
    hours: Sequence[int] = ()
    minutes: Sequence[int] = ()
    positions: Sequence[int] = ()
    week_start: int = 1


class RulePattern(YearDays):
    """The days and minutes of a rule; without BYSETPOS and below HOURLY exactly the days that have runs."""

    def __init__(self, rule: Rule) -> None:
        """Take the rule; missing parts come from its start."""
        self.rule = rule = completed(rule)
        self._start_day, self._start_minute = divmod(rule.start, MINUTES)
        self._minutes = sum(1 << minute for minute in set(rule.minutes)) if rule.minutes else _HOUR
        hours = sorted(set(rule.hours)) or range(24)
        if rule.frequency >= Frequency.HOURLY and rule.positions:
            self._minutes = _positioned_minutes(rule, self._minutes)
        self._times = sum(self._minutes << 60 * hour for hour in hours)
        self._time_list = [second // 60 for second in seconds_of(self._times)] if rule.positions else []
        super().__init__(self._of_year)
        self._periods: dict[tuple[int, int], dict[int, int]] = {}
        self._last = rule.until
        if rule.runs is not None:
            self._last = _earlier(self._counted(rule.runs), rule.until)

    @property
    def follows(self) -> bool:
        """Whether the rule repeats hour after hour, whatever the clock shows."""
        return self.rule.frequency >= Frequency.HOURLY and not self.rule.hours

    @property
    def times(self) -> int:
        """The minutes of a day with runs, if all are the same; an hourly rule has at most these."""
        return self._times

    @property
    def last(self) -> int | None:
        """The last minute on the wall clock within COUNT or UNTIL, None if neither ends the rule."""
        return self._last

    def minutes(self, day: int) -> int:
        """Return the runs of a day as a bit set of its minutes."""
        last = self._last
        if day < self._start_day or (last is not None and day * MINUTES > last):
            return 0
        year, index = year_of(day)
        if not self.days(year) >> index & 1:
            return 0
        bits = self._of_day(day)
        if day == self._start_day:
            bits = bits >> self._start_minute << self._start_minute
        if last is not None and last - day * MINUTES < MINUTES:
            bits &= (2 << last - day * MINUTES) - 1
        return bits

    def _of_day(self, day: int) -> int:
        """Return the runs of a matching day, ignoring the ends of the rule."""
        frequency, interval = self.rule.frequency, self.rule.interval
        if frequency >= Frequency.HOURLY:
            if interval == 1:
                return self._times
            if frequency == Frequency.HOURLY:
                return self._times & _hours((self.rule.start // 60 - day * 24) % interval, interval)
            return self._times & stepped((self.rule.start - day * MINUTES) % interval, interval)
        if self.rule.positions:
            return self._chosen(day).get(day, 0)
        return self._times

    def _of_year(self, year: int) -> int:
        """Return the matching days of a year, by the parts and the interval."""
        start_year = date.fromordinal(self._start_day + EPOCH_ORDINAL).year
        if year < start_year or (self._last is not None and year_start(year) * MINUTES > self._last):
            return 0
        return _kept_by_parts(self.rule, year) & self._in_turn(year)

    def _in_turn(self, year: int) -> int:
        """Return the days of a year whose year, month, week or day matches the interval."""
        frequency, interval = self.rule.frequency, self.rule.interval
        if interval == 1 or frequency >= Frequency.HOURLY:
            return WHOLE_YEAR
        start, base = date.fromordinal(self._start_day + EPOCH_ORDINAL), year_start(year)
        if frequency == Frequency.YEARLY:
            return WHOLE_YEAR if (year - start.year) % interval == 0 else 0
        if frequency == Frequency.MONTHLY:
            return months_in_turn(year, start.year * 12 + start.month - 1, interval)
        if frequency == Frequency.DAILY:
            return sum(1 << day for day in range((self._start_day - base) % interval, 366, interval))
        first = self._week(self._start_day) - base
        row = sum(1 << day + 7 for day in range((first + 7) % (7 * interval) - 7, 366, 7 * interval))
        return spread(row, 6) >> 7 & WHOLE_YEAR

    def _week(self, day: int) -> int:
        """Return the first day of the week of a day."""
        return day - (weekday(day) - self.rule.week_start) % 7

    def _chosen(self, day: int) -> dict[int, int]:
        """Return what BYSETPOS keeps of the period of a day: minutes by day."""
        first, past = self._period(day)
        found = self._periods.get((first, past))
        if found is None:
            if len(self._periods) > _MOST_PERIODS:
                self._periods.clear()
            days = [each for each in range(first, past) if self._is_taken(each)]
            times = self._time_list
            found = {}
            for position in self.rule.positions:
                index = position - 1 if position > 0 else len(days) * len(times) + position
                if 0 <= index < len(days) * len(times):
                    at, time = divmod(index, len(times))
                    found[days[at]] = found.get(days[at], 0) | 1 << times[time]
            self._periods[first, past] = found
        return found

    def _is_taken(self, day: int) -> bool:
        """Return whether a day, in a period that matches the interval, matches the parts; also before the start."""
        year, index = year_of(day)
        key = -year  # separate from years that are cut at their start
        mask = self._known.get(key)
        if mask is None:
            mask = self._known[key] = _kept_by_parts(self.rule, year)
        return bool(mask >> index & 1)

    def _period(self, day: int) -> tuple[int, int]:
        """Return the first day of the period that a day lies in, and the first day after it."""
        frequency = self.rule.frequency
        if frequency == Frequency.WEEKLY:
            first = self._week(day)
            return first, first + 7
        if frequency == Frequency.DAILY:
            return day, day + 1
        at = date.fromordinal(day + EPOCH_ORDINAL)
        if frequency == Frequency.YEARLY:
            return year_start(at.year), year_start(at.year + 1)
        first = day - at.day + 1
        return first, first + month_length(at.year, at.month)

    def _counted(self, count: int) -> int | None:
        """Return the minute of the last of so many runs, None if there are fewer until 2200."""
        for day in taken_days(self.days, max(self._start_day, 0)):
            bits = self.minutes(day)
            if bits.bit_count() >= count:
                for _ in range(count - 1):
                    bits &= bits - 1
                return day * MINUTES + (bits & -bits).bit_length() - 1
            count -= bits.bit_count()
        return None


@lru_cache(maxsize=1024)
def _hours(first: int, step: int) -> int:
    """Return every minute of every ``step``-th hour of a day from one on."""
    return sum(_HOUR << 60 * hour for hour in range(first, 24, step))


def completed(rule: Rule) -> Rule:
    """Return a rule with its missing parts, taken from its start."""
    start_day, minute = divmod(rule.start, MINUTES)
    start = date.fromordinal(start_day + EPOCH_ORDINAL)
    frequency = rule.frequency
    if not (rule.week_numbers or rule.year_days or rule.month_days or rule.weekdays):
        if frequency == Frequency.YEARLY:
            rule = rule._replace(months=rule.months or (start.month,), month_days=(start.day,))
        elif frequency == Frequency.MONTHLY:
            rule = rule._replace(month_days=(start.day,))
        elif frequency == Frequency.WEEKLY:
            rule = rule._replace(weekdays=((0, weekday(start_day)),))
    elif rule.week_numbers and not (rule.year_days or rule.month_days or rule.weekdays):
        rule = rule._replace(weekdays=((0, weekday(start_day)),))
    if frequency < Frequency.HOURLY and not rule.hours:
        rule = rule._replace(hours=(minute // 60,))
    if frequency < Frequency.MINUTELY and not rule.minutes:
        rule = rule._replace(minutes=(minute % 60,))
    return rule


def _kept_by_parts(rule: Rule, year: int) -> int:
    """Return the days of a year that match all parts."""
    mask = (1 << year_start(year + 1) - year_start(year)) - 1
    if rule.months:
        mask &= _of_months(year, rule.months)
    if rule.month_days:
        mask &= _by_month(year, lambda first, length: _numbered(rule.month_days, length) << first)
    if rule.year_days:
        mask &= _numbered(rule.year_days, year_start(year + 1) - year_start(year))
    if rule.week_numbers:
        mask &= _of_weeks(year, rule.week_numbers, rule.week_start)
    if rule.weekdays:
        mask &= _of_weekdays(rule, year)
    return mask


def _numbered(numbers: Iterable[int], length: int) -> int:
    """Return the days by their numbers from 1, or from the end (-1 is the last), as bits from 0."""
    found = 0
    for number in numbers:
        index = number - 1 if number > 0 else length + number
        if 0 <= index < length:
            found |= 1 << index
    return found


def _by_month(year: int, days: Callable[[int, int], int]) -> int:
    mask = first = 0
    for month in range(1, 13):
        length = month_length(year, month)
        mask |= days(first, length)
        first += length
    return mask


def _of_months(year: int, months: Iterable[int]) -> int:
    base = year_start(year)
    mask = 0
    for month in set(months):
        mask |= ((1 << month_length(year, month)) - 1) << day_number(year, month, 1) - base
    return mask


def months_in_turn(year: int, start: int, interval: int) -> int:
    """Return the days of every ``interval``-th month, counted from a month (year * 12 + month - 1)."""
    return _of_months(year, [month for month in range(1, 13) if (year * 12 + month - 1 - start) % interval == 0])


def _of_weekdays(rule: Rule, year: int) -> int:
    """Return the days that BYDAY names; a number counts within the month, or within the year."""
    base = year_start(year)
    length = year_start(year + 1) - base
    within_month = rule.frequency == Frequency.MONTHLY or bool(rule.months)
    mask = 0
    for number, day in rule.weekdays:
        row = every_seventh(base, day, length)
        if not number:
            mask |= row
        elif within_month:
            mask |= _by_month(year, lambda first, size, row=row, number=number: nth(row, first, size, number))  # type: ignore[misc]
        else:
            mask |= nth(row, 0, length, number)
    return mask


def every_seventh(base: int, day: int, length: int) -> int:
    """Return each of a weekday among ``length`` days from day number ``base`` on, as bits from 0."""
    first = (day - weekday(base)) % 7
    return sum(1 << index for index in range(first, length, 7))


def nth(row: int, first: int, length: int, number: int) -> int:
    """Return the member of a bit set that is the ``number``-th from bit ``first`` on, -1 the last of ``length``."""
    part = row >> first & ((1 << length) - 1)
    if number < 0:
        for _ in range(-number - 1):
            part ^= 1 << part.bit_length() - 1 if part else 0
        return 1 << first + part.bit_length() - 1 if part else 0
    for _ in range(number - 1):
        part &= part - 1 if part else 0
    return (part & -part) << first


def _of_weeks(year: int, numbers: Iterable[int], week_start: int) -> int:
    """Return the days of a year in the weeks of these numbers; week 1 is the first with four days in the year.

    Days of the year before in week 1, and of the year after in the last week, are not included.
    """
    base = year_start(year)

    def first_week(of: int) -> int:
        start = year_start(of)
        into = (weekday(start) - week_start) % 7
        return start - into if into <= 3 else start + 7 - into

    begin, end = first_week(year), first_week(year + 1)
    weeks = (end - begin) // 7
    mask = 0
    for number in numbers:
        index = number - 1 if number > 0 else weeks + number
        if 0 <= index < weeks:
            low = begin + 7 * index - base
            mask |= 0x7F << low if low >= 0 else 0x7F >> -low
    # Week 1 of the next year may begin in this one, and the last week of the year before may end in it.
    if 1 in numbers or -((first_week(year + 2) - end) // 7) in numbers:
        mask |= 0x7F << end - base
    before = (begin - first_week(year - 1)) // 7
    if (before in numbers or -1 in numbers) and begin > base:
        mask |= (1 << begin - base) - 1
    return mask & ((1 << year_start(year + 1) - base) - 1)


def _positioned_minutes(rule: Rule, minutes: int) -> int:
    """Return the minutes that BYSETPOS keeps of an hour, or of a minute, which has one run."""
    listed = [minute for minute in range(60) if minutes >> minute & 1]
    if rule.frequency == Frequency.MINUTELY:
        return minutes if {1, -1} & set(rule.positions) else 0
    chosen = [p - 1 if p > 0 else len(listed) + p for p in rule.positions]
    return sum(1 << listed[index] for index in set(chosen) if 0 <= index < len(listed))


def _earlier(one: int | None, other: int | None) -> int | None:
    return min(each for each in (one, other) if each is not None) if (one, other) != (None, None) else None


_UNITS = ("year", "month", "week", "day", "hour", "minute")


def rule_words(pattern: RulePattern, given: Rule) -> str:
    """Return a rule in words: "at 17:00 on the last of Monday to Friday of every month"."""
    rule, frequency = pattern.rule, pattern.rule.frequency
    unit = _UNITS[frequency]
    often = f"every {unit}" if rule.interval == 1 else f"every {rule.interval} {unit}s"
    said = [often]
    if frequency < Frequency.HOURLY:
        said.insert(0, clock_list(pattern.times))
    elif rule.hours or rule.minutes:
        if rule.minutes:
            said.append(f"at minute{'s' * (len(rule.minutes) > 1)} {listed([str(m) for m in rule.minutes])}")
        if rule.hours:
            said.append(f"in hour{'s' * (len(rule.hours) > 1)} {listed([str(h) for h in rule.hours])}")
    limits = _limits(rule)
    if rule.positions and limits:
        said.append(f"on the {listed([_place(p) for p in rule.positions])} of {limits.removeprefix('on ')}")
    elif limits:
        said.append(limits)
    if given.months or (frequency == Frequency.YEARLY and rule.months):
        said.append(f"in {listed([MONTHS[month] for month in rule.months])}")
    if rule.interval > 1:
        said.append(f"from {day_text(rule.start // MINUTES)}")
    if rule.runs is not None:
        said.append(f"({rule.runs} times)")
    return " ".join(said)


def _limits(rule: Rule) -> str:
    """Return the days that the parts name."""
    said = []
    if rule.weekdays:
        days = [f"the {_place(n)} {WEEKDAYS[d]}" if n else WEEKDAYS[d] for n, d in rule.weekdays]
        said.append(listed(days))
    if rule.month_days:
        said.append(f"the {listed([_place(n) for n in rule.month_days])} of the month")
    if rule.year_days:
        said.append(f"the {listed([_place(n) for n in rule.year_days])} day of the year")
    if rule.week_numbers:
        said.append(f"week {listed([str(n) for n in rule.week_numbers])}")
    return f"on {' that is '.join(said)}" if said else ""


def _place(number: int) -> str:
    if number > 0:
        return ordinal(number)
    return "last" if number == -1 else f"{ordinal(-number)} last"


MonthDays = Callable[[int, int], int]  # year, month -> a bit set of days from 1, as in crondor.calendar.DayRule


def nearest_weekday(year: int, month: int, day: int) -> int:
    """Return the Monday to Friday nearest to a day of a month and in the same month; none if the day does not exist."""
    length = month_length(year, month)
    if not 1 <= day <= length:
        return 0
    of_week = weekday(day_number(year, month, day))
    if of_week == 6:
        day += -1 if day > 1 else 2
    elif of_week == 0:
        day += 1 if day < length else -2
    return 1 << day


def weekdays_of_month(year: int, month: int, weekdays: Iterable[int]) -> int:
    """Return all days of a month that are one of some weekdays (Sunday is 0)."""
    base, length, bits = day_number(year, month, 1), month_length(year, month), 0
    for day in weekdays:
        bits |= every_seventh(base, day, length)
    return bits << 1


def nth_of_month(year: int, month: int, weekdays: Iterable[int], numbers: Iterable[int]) -> int:
    """Return the n-th days of a month among those of some weekdays, -1 the last."""
    row, length, bits = weekdays_of_month(year, month, weekdays) >> 1, month_length(year, month), 0
    for number in numbers:
        bits |= nth(row, 0, length, number)
    return bits << 1


def day_of_month(year: int, month: int, number: int) -> int:
    """Return a day by its number, -1 the last; none if the month has no such day."""
    length = month_length(year, month)
    if number < 0:
        return 1 << length
    return 1 << number if number <= length else 0


def in_turn(unit: str, number: int, day: int) -> Callable[[int], int]:
    """Return every n-th day, week (from Monday on) or month, counted from a day."""

    def of_year(year: int) -> int:
        base = year_start(year)
        if unit == "month":
            year_of_day, month = map(int, day_text(day).split("-")[:2])
            return months_in_turn(year, year_of_day * 12 + month - 1, number)
        if unit == "day":
            return sum(1 << index for index in range((day - base) % number, 366, number))
        monday = day - (day + 3) % 7
        mask = 0
        for first in range((monday - base) % (7 * number) - 7 * number, 366, 7 * number):
            mask |= 0x7F << first if first >= 0 else 0x7F >> -first
        return mask & WHOLE_YEAR

    return of_year
