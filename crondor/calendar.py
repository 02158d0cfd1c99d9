"""Civil days, months and weekdays as integers, bit masks and names: which days of a month a schedule takes."""

from __future__ import annotations

from datetime import date

EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
DAY = 86400

FIRST_YEAR = 1970
LAST_YEAR = 2200  # of a question; answers may be later (29 February on a Monday: up to 40 years)

_WEEKS = sum(1 << 7 * week for week in range(6))
_LENGTHS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
LONGEST = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


# By the numbers of the cron fields: Sunday is 0, January 1.
WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = (
    *("", "January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
SHORT_WEEKDAYS = tuple(name[:3] for name in WEEKDAYS)
SHORT_MONTHS = tuple(name[:3] for name in MONTHS)


def is_leap(year: int) -> bool:
    """Return whether a year of the Gregorian calendar has a 29 February."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_length(year: int, month: int) -> int:
    """Return the number of days of a month."""
    return 29 if month == 2 and is_leap(year) else _LENGTHS[month]


def day_number(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a date."""
    return date(year, month, day).toordinal() - EPOCH_ORDINAL


def weekday(day: int) -> int:
    """Return the weekday of a day number, Sunday is 0."""
    return (day + 4) % 7


def short_weekday(day: date) -> str:
    """Return the weekday of a date as "Mon", whatever the locale."""
    return SHORT_WEEKDAYS[day.isoweekday() % 7]


def lowest(bits: int) -> int:
    """Return the smallest member of a bit set that is not empty."""
    return (bits & -bits).bit_length() - 1


class DayRule:
    """The matching days of the calendar: months, days of the month, weekdays, and how the two combine.

    ``either`` is the cron rule for two restricted day fields (OR); without it both must match, and an unrestricted
    field is given as the full set.
    """

    __slots__ = ("days", "either", "every", "months", "weekdays", "weeks")

    def __init__(self, months: int, days: int, weekdays: int, *, either: bool) -> None:
        """Take the bit sets (bit n for value n, Sunday is bit 0)."""
        self.months = months
        self.days = days
        self.weekdays = weekdays
        self.either = either
        self.weeks = weekdays * _WEEKS
        every_day, every_weekday = days == 0xFFFFFFFE, weekdays == 0x7F
        self.every = months == 0x1FFE and (every_day or every_weekday if either else every_day and every_weekday)

    def in_month(self, year: int, month: int, first_weekday: int) -> int:
        """Return the matching days of a month as a bit set, ignoring ``months``."""
        pattern = self.weeks >> first_weekday << 1
        taken = self.days | pattern if self.either else self.days & pattern
        return taken & ((2 << month_length(year, month)) - 2)

    def of_year(self, year: int) -> int:
        """Return the matching days of a year as a bit set; bit 0 is 1 January."""
        if self.every:
            return (1 << 366 if is_leap(year) else 1 << 365) - 1
        taken = first = 0
        base = day_number(year, 1, 1)
        for month in range(1, 13):
            if self.months >> month & 1:
                taken |= self.in_month(year, month, weekday(base + first)) >> 1 << first
            first += month_length(year, month)
        return taken

    def never(self) -> bool:
        """Return whether no day of any year matches; exact, by the 400-year cycle of the calendar.

        Every date that exists, 29 February too, falls on every weekday within the cycle, so a schedule is empty only if
        its months lack its days of the month.
        """
        if self.either or self.days & 0x3FFFFFFE:
            return False
        return not any(self.months >> month & 1 and self.days & ((2 << LONGEST[month]) - 2) for month in range(1, 13))

    def next_day(self, day: int) -> int:
        """Return the first matching day number, ``day`` or later. The rule must not be empty."""
        if self.every:
            return day
        at = date.fromordinal(day + EPOCH_ORDINAL)
        year, month = at.year, at.month
        if self.months >> month & 1:
            rest = self.in_month(year, month, (day - at.day + 5) % 7) >> at.day
            if rest:
                return day + lowest(rest)
        while True:
            later = self.months >> month + 1
            if later:
                month += 1 + lowest(later)
            else:
                year += 1
                month = lowest(self.months)
            first = date(year, month, 1).toordinal() - EPOCH_ORDINAL
            taken = self.in_month(year, month, (first + 4) % 7)
            if taken:
                return first + lowest(taken) - 1

    def previous_day(self, day: int) -> int:
        """Return the last matching day number, ``day`` or earlier. The rule must not be empty."""
        if self.every:
            return day
        at = date.fromordinal(day + EPOCH_ORDINAL)
        year, month = at.year, at.month
        if self.months >> month & 1:
            before = self.in_month(year, month, (day - at.day + 5) % 7) & ((2 << at.day) - 1)
            if before:
                return day - at.day + before.bit_length() - 1
        while True:
            earlier = self.months & ((1 << month) - 1)
            if not earlier:
                year -= 1
                earlier = self.months
            month = earlier.bit_length() - 1
            first = date(year, month, 1).toordinal() - EPOCH_ORDINAL
            taken = self.in_month(year, month, (first + 4) % 7)
            if taken:
                return first + taken.bit_length() - 2

    def count_days(self, first: int, last: int) -> int:
        """Return how many day numbers from ``first`` to ``last``, both included, match."""
        if last < first:
            return 0
        if self.every:
            return last - first + 1
        begin = date.fromordinal(first + EPOCH_ORDINAL)
        end = date.fromordinal(last + EPOCH_ORDINAL)
        total = self._before(end.year, end.month, end.day + 1) - self._before(begin.year, begin.month, begin.day)
        if begin.year == end.year:
            return total
        kinds: dict[tuple[int, bool], int] = {}
        for year in range(begin.year, end.year):
            kind = date(year, 1, 1).weekday(), is_leap(year)
            if kind not in kinds:
                kinds[kind] = self._before(year, 12, 32)
            total += kinds[kind]
        return total

    def _before(self, year: int, month: int, day: int) -> int:
        """Return the number of matching days in a year before a date."""
        total = 0
        for m in range(1, month + 1):
            if self.months >> m & 1:
                taken = self.in_month(year, m, (day_number(year, m, 1) + 4) % 7)
                if m == month:
                    taken &= (1 << day) - 1
                total += taken.bit_count()
        return total
