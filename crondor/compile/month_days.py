"""Days of a month by their place: the nearest weekday, the n-th of some weekdays, a number; and months in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from crondor.calendar import day_number, month_length, weekday
from crondor.compile.days import WHOLE_YEAR, day_text, year_start
from crondor.compile.rule import every_seventh, months_in_turn, nth

MonthDays = Callable[[int, int], int]  # year, month -> a bit set of days from 1, as crondor.calendar.DayRule has it


def nearest_weekday(year: int, month: int, day: int) -> int:
    """Return the Monday to Friday nearest to a day of a month and in the same month; none where it has no such day."""
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
    """Return a day by its number, -1 the last; none where the month has no such day."""
    length = month_length(year, month)
    if number < 0:
        return 1 << length
    return 1 << number if number <= length else 0


def in_turn(unit: str, number: int, day: int) -> Callable[[int], int]:
    """Return the days of every so manieth day, week (from Monday on) or month, counted from a day."""

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
