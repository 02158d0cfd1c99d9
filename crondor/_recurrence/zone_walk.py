"""A schedule's walk through a zone, from one stretch of constant offset to the next, and the runs beside clock changes.

What a policy does stands in ``opening`` alone, and which stretch may hold the next run in ``_onward`` and ``_back``:
every question about instants is answered from these.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from crondor._recurrence.local_walk import WallClock
from crondor._recurrence.refusals import END_OF_INSTANTS, FIRST_INSTANT
from crondor.calendar import DAY
from crondor.zones import LONGEST_GAP, Policy, Stretch, YearKind, Zone, year_kind, year_of, year_start

# Two instants further apart than this show wall-clock times in the same order: no two offsets lie two days apart.
_FURTHEST = 2 * DAY

_LONG = 40 * 366 * DAY  # a span of whole years, of which there are many of the same kind


def opening(
    within: Callable[[int, int], Sequence[int]], policy: Policy, stretch: Stretch, after: int
) -> tuple[int, Sequence[int]]:
    """Return how a stretch begins for runs on the wall clock: an instant, and the runs later than ``after`` up to it.

    After that instant the stretch has the runs that its wall clock shows. ``after`` lies in the stretch or just before
    it; ``within`` gives the wall-clock times from one (included) to another. What a policy does stands here alone.
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

    ``follows`` says that clock changes move, drop and hold back no run.
    """

    __slots__ = ("_policy", "_zone", "follows", "wall")

    def __init__(self, wall: WallClock, zone: Zone, policy: Policy, *, follows: bool) -> None:
        """Take a schedule on the wall clock; only ``count`` may be asked of one that never runs."""
        self.wall = wall
        self.follows = follows
        self._zone = zone
        self._policy = policy

    def next(self, after: int) -> int:
        """Return the first run strictly later than ``after``."""
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
        """Return the last run strictly earlier than ``before``, -1 where there is none since 1970."""
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
        """Yield the runs later than ``after`` until the year 2200 ends."""
        for _, midnight, seconds, _ in self._days(after):
            yield from map(midnight.__add__, seconds)

    def moments(self, after: int) -> Iterator[datetime]:
        """Yield the same as aware datetimes."""
        info = self._zone.info
        epoch = datetime(1970, 1, 1, tzinfo=info)
        deltas = [timedelta(seconds=s) for s in self.wall.table]
        for day, midnight, seconds, is_plain in self._days(after):
            if is_plain:
                # Wall-clock arithmetic, far faster than a conversion; exact where the offset is constant.
                yield from map((epoch + timedelta(days=day)).__add__, deltas)
            else:
                for second in seconds:
                    yield datetime.fromtimestamp(midnight + second, info)

    def count(self, low: int, high: int) -> int:
        """Return the number of runs with ``low`` < instant <= ``high``, none of them listed.

        Of the years in which a rule alone changes the zone's clocks, one of each kind is counted.
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
        """Return the same, counted on the wall clock, interrupted only by the clock changes that touch a run."""
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
        """Return the wall-clock time to count on from (excluded) in a stretch, and the runs up to there."""
        low, moved = self._opening(stretch, after)
        return low + stretch.offset, sum(run <= high for run in moved)

    def _opening(self, stretch: Stretch, after: int) -> tuple[int, Sequence[int]]:
        """Return the instant after which a stretch has the runs that its wall clock shows, and those until then.

        Both are later than ``after``, which lies in the stretch or just before it. A fold's second pass counts for
        schedules that follow real time; in the length of a gap the runs moved out of it lie among those shown.
        """
        if self.follows:
            return after, ()
        return opening(self.wall.within, self._policy, stretch, after)

    def _onward(self, end: int, after: int, found: int) -> Stretch:
        """Return the stretch to look at next, when one has ended and had no run later than ``after``.

        ``found`` is where the next wall-clock time of the schedule would lie with its offset. No stretch shows one
        before that, but for what a fold shows again, and that lies close behind ``after``.
        """
        return self._zone.at(end if end - after <= _FURTHEST else max(end, found - _FURTHEST))

    def _back(self, start: int, before: int, found: int) -> Stretch:
        """Return the stretch to look at before one that had no run earlier than ``before``: ``_onward``, mirrored."""
        return self._zone.at(start - 1 if before - start <= _FURTHEST else min(start - 1, found + _FURTHEST))

    def _days(self, after: int) -> Iterator[tuple[int, int, Sequence[int], bool]]:
        """Yield the runs after an instant as day number, epoch of its midnight, seconds, and whether it is plain.

        A plain day is whole and holds no wall-clock time for the second time. Runs that a clock change moves come
        as a day of their own, with epochs for seconds.
        """
        rule, table = self.wall.rule, self.wall.table
        stretch = self._zone.at(after)
        known, day = 0, -1  # of the days from ``known`` on, ``day`` is the first that is taken
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
