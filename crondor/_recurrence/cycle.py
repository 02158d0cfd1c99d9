"""A schedule over the 400-year cycle of the calendar: gaps and counts, exact, month by month and never by minute."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from crondor._recurrence.local_walk import WallClock
from crondor.calendar import LONGEST, DayRule, lowest, month_length

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
    """Return the days taken in every kind of month, by month, first weekday and length; all kinds occur."""
    kinds = {}
    for month in range(1, 13):
        for length in {28, 29} if month == 2 else {LONGEST[month]}:
            year = 2000 if length != 28 else 2001
            for first in range(7):
                taken = rule.in_month(year, month, first) if rule.months >> month & 1 else 0
                kinds[month, first, length] = taken
    return kinds


def gaps(wall: WallClock) -> Gaps:
    """Return the gaps between successive runs of a schedule that does run."""
    table = wall.table
    within = [b - a for a, b in pairwise(table)]
    overnight = table[0] - table[-1]  # to be added to whole days
    (low, low_from), (high, high_from) = _day_gaps(wall.rule)
    shortest, longest = low * 86400 + overnight, high * 86400 + overnight
    # Within a day they occur on the first day taken, before any gap overnight.
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
    """Return the first day of the cycle that is taken."""
    start = date(_FIRST, 1, 1).toordinal() - date(1970, 1, 1).toordinal()
    return date.fromordinal(rule.next_day(start) + date(1970, 1, 1).toordinal())


def _day_gaps(rule: DayRule) -> tuple[tuple[int, date], tuple[int, date]]:
    """Return the least and the most days from one day taken to the next, each with the day before the gap."""
    masks = month_masks(rule)
    start = date(_FIRST, 1, 1).toordinal()
    if all(taken.bit_count() == length for (_, _, length), taken in masks.items()):
        return (1, date.fromordinal(start)), (1, date.fromordinal(start))  # every day: most schedules
    insides: dict[int, tuple[int, int, int, int]] = {}
    last: int | None = None
    begin = start
    low, high = (1 << 40, start), (0, start)
    # Once round the cycle, and on to the first day taken again: the gap across its end counts too.
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
