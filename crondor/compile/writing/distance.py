"""How far a wanted time lies behind a time that passes by unused, and whether that is far enough.

The schedd computes anew at its first pass after DeferralTime + DeferralWindow: until then the job holds the wrong time,
and a wanted one that lies before is jumped over (measured on HTCondor 25.14, docs/compile.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from crondor._schedule.job_terms import UNIVERSES, Universe
from crondor.calendar import DAY, lowest
from crondor.compile.days import MINUTES, members, spread
from crondor.deferral import DEFAULT_PREP_TIME, DEFAULT_SCHEDD_INTERVAL, DEFAULT_WINDOW, passed_over

_SHORTEST_PREP = {"local": 15}  # seconds that finding a slot, or in the local universe starting, may take
_SHORTEST = 60


class Timing(NamedTuple):
    """What decides on the distance that is needed (seconds); ``prep_time`` None: as long as fits, up to 300."""

    window: int = DEFAULT_WINDOW
    prep_time: int | None = None
    schedd_interval: int = DEFAULT_SCHEDD_INTERVAL
    universe: str = "vanilla"

    @property
    def least_prep(self) -> int:
        """Return the shortest prep time that may be chosen."""
        if self.prep_time is not None:
            return self.prep_time
        return _SHORTEST_PREP.get(self.universe, _SHORTEST)

    @property
    def needed(self) -> int:
        """Return how many seconds must lie between a wrong time and the next right one."""
        return self.window + self.schedd_interval + self.least_prep

    @property
    def pass_interval(self) -> int:
        """Return the seconds within which the schedd computes a job's next time once; 0 where it waits for no pass."""
        universe = UNIVERSES.get(self.universe.lower(), Universe.VANILLA)
        return self.schedd_interval if universe.waits_for_passes else 0

    def prep_for(self, distance: int | None) -> int | None:
        """Return the prep time to write for a distance, None where HTCondor's own does."""
        if self.prep_time is not None or distance is None:
            return self.prep_time
        left = distance - self.window - self.schedd_interval
        return None if left >= DEFAULT_PREP_TIME else left


class Spacing(NamedTuple):
    """``least``: seconds from a wrong time to the right one behind it, at the least; None where none is behind one.

    ``wrong`` times pass by unused; ``between_runs`` is the least time from a right one to the next.
    """

    least: int | None
    wrong: int
    between_runs: int | None


class _Inner(NamedTuple):
    least: int | None
    apart: int | None
    first: int
    first_is_wanted: bool
    last: int
    last_is_wanted: bool
    first_wanted: int
    last_wanted: int


def spacing(days: Iterable[tuple[int, int, int]]) -> Spacing:
    """Return the distances in UTC days, in order, with bit sets of the offered and the wanted minutes."""
    least = apart = wrong_at = right_at = None
    wrong = 0
    for day, offered, wanted in days:
        if not offered:
            continue
        inner = _inside(offered, wanted)
        wrong += (offered & ~wanted).bit_count()
        if inner.first_is_wanted and wrong_at is not None:
            least = _less(least, day * DAY + inner.first - wrong_at)
        least = _less(least, inner.least)
        if wanted:
            if right_at is not None:
                apart = _less(apart, day * DAY + inner.first_wanted - right_at)
            apart = _less(apart, inner.apart)
            right_at = day * DAY + inner.last_wanted
        wrong_at = None if inner.last_is_wanted else day * DAY + inner.last
    return Spacing(least, wrong, apart)


def spoiled(days: Iterable[tuple[int, int, int]], needed: int) -> list[int]:
    """Return the wanted times (epoch seconds) less than ``needed`` seconds behind a wrong one, of all days in order.

    Whether the schedd jumps over them depends on when its passes come.
    """
    found: list[int] = []
    reach = -(-needed // 60) - 1  # minutes
    behind = 0
    for day, offered, wanted in days:
        behind |= spread(offered & ~wanted, reach)
        found += [day * DAY + 60 * minute for minute in members(behind & wanted)]
        behind >>= MINUTES
    return found


def hurried(days: Mapping[int, int], interval: int) -> dict[int, int]:
    """Return which of a job's times, UTC days in order with bit sets of minutes, a schedd may pass over.

    It computes the next one once in ``interval`` seconds (crondor.deferral.passed_over).
    """
    found: dict[int, int] = {}
    last: int | None = None  # the last time that was kept
    for day, bits in days.items():
        before = None if last is None else max(last - day * DAY, -interval)
        lost, kept = _hurried(bits, before, interval)
        if lost:
            found[day] = lost
        last = last if kept is None else day * DAY + kept
    return found


@lru_cache(maxsize=4096)
def _hurried(bits: int, before: int | None, interval: int) -> tuple[int, int | None]:
    times = [60 * minute for minute in members(bits)]
    lost = passed_over(times, interval, before)
    kept = set(times) - set(lost)
    return sum(1 << time // 60 for time in lost), max(kept, default=None)


@lru_cache(maxsize=4096)
def _inside(offered: int, wanted: int) -> _Inner:
    least = apart = wrong_at = right_at = None
    for minute in members(offered):
        second = minute * 60
        if not wanted >> minute & 1:
            wrong_at = second
            continue
        if wrong_at is not None:
            least = _less(least, second - wrong_at)
        if right_at is not None:
            apart = _less(apart, second - right_at)
        wrong_at, right_at = None, second
    first, last = lowest(offered), offered.bit_length() - 1
    return _Inner(
        least,
        apart,
        first * 60,
        bool(wanted >> first & 1),
        last * 60,
        bool(wanted >> last & 1),
        lowest(wanted) * 60 if wanted else 0,
        (wanted.bit_length() - 1) * 60,
    )


def _less(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)
