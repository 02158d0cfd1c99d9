"""Patterns on the wall clock, and the instants they mean in a zone under a policy for clock changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from crondor._recurrence.zone_walk import opening
from crondor.calendar import DAY, FIRST_YEAR, LAST_YEAR
from crondor.compile.context import epoch_of, is_skipped
from crondor.compile.days import (
    MINUTES,
    WHOLE_DAY,
    WHOLE_YEAR,
    DaySet,
    Instants,
    YearDays,
    seconds_of,
    year_of,
    year_start,
)
from crondor.zones import Policy, Stretch, Zone


class Pattern(Protocol):
    """Days and minutes as a clock on the wall shows them, with no zone."""

    def days(self, year: int) -> int:
        """Return the days of a year (bit 0 is 1 January) that may have runs: none that has is missing."""

    def minutes(self, day: int) -> int:
        """Return the runs of a day (number since 1970-01-01) as a bit set of its minutes."""


class Timed(YearDays):
    """The same times on every day that is taken."""

    def __init__(self, days: Callable[[int], int], times: int) -> None:
        """Take the days by year (exactly those taken), and the minutes of a day as a bit set."""
        super().__init__(days)
        self._times = times

    def minutes(self, day: int) -> int:
        """Return the times, on a day that is taken."""
        year, index = year_of(day)
        return self._times if self.days(year) >> index & 1 else 0


def any_year(days: Callable[[int], int]) -> Callable[[int], int]:
    """Return the same days with none outside the years that schedules know."""
    return lambda year: days(year) if FIRST_YEAR - 1 <= year <= LAST_YEAR + 1 else 0


class WallSchedule(DaySet):
    """A pattern in a zone: runs in hours that a clock change skips or repeats go by the policy.

    ``follows`` says that the schedule follows real time: clock changes move, drop and hold back no run of it.
    """

    def __init__(
        self, pattern: Pattern, zone: Zone, words: str, policy: Policy = Policy.COMPATIBLE, *, follows: bool = False
    ) -> None:
        """Take what the wall clock shows; offsets from UTC count in whole minutes."""
        super().__init__(zone, words)
        self.pattern = pattern
        self.policy = policy
        self.follows = policy.follows(hour_starred=follows, minute_starred=follows)
        self._last = (-(1 << 62), 0)

    def days(self, year: int) -> int:
        """Return the days of a UTC year on which a local day that is taken may lie."""
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
        """Return what a clock with a constant offset would show on a UTC day."""
        shift = offset // 60
        if not shift:
            return self.pattern.minutes(day)
        first = day if shift > 0 else day - 1
        known, bits = self._last  # whoever walks along the days has met this one as the second of the day before
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
    """Return the instants of a run at a wall-clock time: none where the policy drops it, two where it runs twice."""
    return list(single_runs([wall], zone, "", policy).between(wall - 2 * DAY, wall + 2 * DAY))


def edge_of(wall: int, zone: Zone, policy: Policy, *, is_end: bool = False) -> int:
    """Return the instant that bounds what begins, or ends, at a wall-clock time: its run's, else the end of the gap.

    With ``is_end`` it is the last instant that belongs to the time before, a minute before the end of the gap.
    """
    found = moments_of(wall, zone, policy)
    if found:
        return found[-1 if is_end else 0]
    instant = epoch_of(wall, zone)
    return zone.at(instant).start - 60 * is_end if is_skipped(wall, zone) else instant
