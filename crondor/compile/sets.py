"""The algebra of schedules: or, and, except, from and until, as sets of instants."""

from __future__ import annotations

from collections.abc import Iterable

from crondor.calendar import DAY
from crondor.compile.days import MINUTES, DaySet, day_text, members, year_of, year_start

_MANY = 8  # schedules; of so many each day is asked about those that may have instants on it


class Either(DaySet):
    """The instants that any of some schedules has: ``or``."""

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
    """The instants that two schedules have in common: ``and``, ``only``."""

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
    """The instants of one schedule that another has not: ``except``."""

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
    """A schedule between two instants, both included; None: no end on that side."""

    def __init__(self, of: DaySet, start: int | None, end: int | None, words: str) -> None:
        """Take epoch seconds; what is known of the schedule ends where it ends, if that is sooner."""
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
    """No instant at all."""

    def days(self, year: int) -> int:  # noqa: ARG002 - as of every schedule
        """Return no day."""
        return 0

    def minutes(self, day: int) -> int:  # noqa: ARG002 - the same
        """Return no minute."""
        return 0


class KnownUntil(Active):
    """A schedule cut where it is no longer known; it says so."""

    def __init__(self, of: DaySet, until: int, reason: str) -> None:
        """Take the last instant that is known (epoch seconds), and what limits it."""
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

    Whole days are compared at once.
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


__all__ = ["Active", "Both", "Either", "KnownUntil", "Nothing", "Without", "day_text", "first_difference"]
