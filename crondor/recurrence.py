"""When a schedule fires in a time zone: next, previous, upcoming, between and count."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo
from itertools import takewhile
from typing import overload

from crondor._cycle import Counts, Gaps, counts, gaps
from crondor._refusals import (
    END_OF_INSTANTS,
    FIRST_INSTANT,
    NeverRuns,
    NotASet,
    OutOfRange,
    ScheddHangs,
    never_reason,
    never_runs,
    none_before,
    out_of_range,
)
from crondor._schedd_walk import ScheddAnswer, ScheddWalk
from crondor._wall import WallClock
from crondor._why import Arm, FieldMatch, Why, blocking_fields, day_arm, field_matches
from crondor.calendar import DAY
from crondor.diagnostics import Diagnostic
from crondor.spec import CronSpec, Dialect
from crondor.zones import Policy, Stretch, Zone, zone_of

__all__ = [
    "Arm",
    "Counts",
    "FieldMatch",
    "Gaps",
    "NeverRuns",
    "NotASet",
    "OutOfRange",
    "Policy",
    "Recurrence",
    "ScheddAnswer",
    "ScheddHangs",
    "Why",
    "never_reason",
]

# A change of three hours or more (Apia's missing day) is a change of the calendar: its runs are dropped.
_LONGEST_GAP = 3 * 3600
_FOREVER = 1 << 62


class Recurrence:
    """The instants at which a schedule fires in a zone, under a policy for clock changes.

    Instants are asked for and answered as epoch seconds (the fast path), or as aware datetimes; naive ones are a
    TypeError. Intervals exclude their start and include their end. ``policy`` is COMPATIBLE for MANUAL and DEBIAN
    for UNIX where it is not given; the HTCONDOR dialect has none.

    In the HTCONDOR dialect only ``next`` and ``upcoming`` (each answer fed into the next) exist and ``between``
    filters that chain; an answer in epoch seconds is a ScheddAnswer, which says whether it is a retry. The other
    methods raise NotASet.
    """

    __slots__ = ("_follows", "_policy", "_spec", "_walk", "_wall", "_zone")

    def __init__(self, spec: CronSpec, zone: str | tzinfo = "UTC", policy: Policy | None = None) -> None:
        """Take a zone by IANA name or as a tzinfo. Raises UnknownZone."""
        self._spec = spec
        self._zone = zone_of(zone)
        unix = spec.dialect is Dialect.UNIX
        self._policy = Policy(policy) if policy else (Policy.DEBIAN if unix else Policy.COMPATIBLE)
        stars = spec.stars
        self._follows = self._policy is not Policy.SKIP and (stars[1] or (stars[0] and self._policy is Policy.DEBIAN))
        self._wall: WallClock | None = None
        self._walk: ScheddWalk | None = None
        if spec.dialect is Dialect.HTCONDOR:
            self._walk = ScheddWalk(spec, self._zone)
        else:
            self._wall = WallClock(spec)

    def __repr__(self) -> str:
        """Return the schedule, the zone and the policy."""
        return f"Recurrence({self._spec!r}, {self._zone.name!r}, {self._policy!s})"

    @property
    def spec(self) -> CronSpec:
        """The schedule."""
        return self._spec

    @property
    def zone(self) -> Zone:
        """The zone whose wall clock the schedule means."""
        return self._zone

    @property
    def policy(self) -> Policy:
        """What happens in hours that a clock change skips or repeats."""
        return self._policy

    @property
    def follows_real_time(self) -> bool:
        """Whether clock changes move, drop and hold back no run of the schedule (the policy and its star flags)."""
        return self._follows

    @property
    def wall_clock(self) -> WallClock:
        """The instants on the wall clock alone. Raises NotASet in the HTCONDOR dialect."""
        return self._runs("wall_clock", may_be_empty=True)

    @overload
    def next(self, after: int) -> int: ...
    @overload
    def next(self, after: datetime) -> datetime: ...
    def next(self, after: int | datetime) -> int | datetime:
        """Return the first instant strictly later than ``after``; asked in the last years it may lie after 2200.

        Raises NeverRuns (HTCONDOR: ScheddHangs) where no date serves, OutOfRange outside 1970 to 2200.
        """
        if not isinstance(after, int):
            return self._zone.moment(self.next(_floor(after)))
        if not FIRST_INSTANT <= after < END_OF_INSTANTS:
            raise out_of_range(after)
        wall = self._wall
        if wall is not None and not wall.never:
            return self._next(after, wall)
        if self._walk is not None:
            self._check_walk(self._walk)
            return self._walk.next(after)
        raise NeverRuns(never_runs(self._spec))

    @overload
    def previous(self, before: int) -> int: ...
    @overload
    def previous(self, before: datetime) -> datetime: ...
    def previous(self, before: int | datetime) -> int | datetime:
        """Return the last instant strictly earlier than ``before``.

        Raises NeverRuns, NotASet, and OutOfRange where there is none since 1970.
        """
        if not isinstance(before, int):
            return self._zone.moment(self.previous(-_floor_of(-_timestamp(before))))
        runs = self._runs("previous")
        if not FIRST_INSTANT <= before <= END_OF_INSTANTS:
            raise out_of_range(before)
        found = self._previous(before, runs)
        if found < FIRST_INSTANT:
            raise none_before(before)
        return found

    @overload
    def upcoming(self, after: int) -> Iterator[int]: ...
    @overload
    def upcoming(self, after: datetime) -> Iterator[datetime]: ...
    def upcoming(self, after: int | datetime) -> Iterator[int] | Iterator[datetime]:
        """Yield the instants strictly later than ``after``, in order, until the year 2200 ends.

        Raises as ``next`` does, at once.
        """
        start = after if isinstance(after, int) else _floor(after)
        if not FIRST_INSTANT <= start < END_OF_INSTANTS:
            raise out_of_range(start)
        if self._walk is not None:
            self._check_walk(self._walk)
            answers = takewhile(END_OF_INSTANTS.__gt__, self._walk.chain(start))
            return answers if isinstance(after, int) else map(self._zone.moment, answers)
        runs = self._runs()
        return self._epochs(start, runs) if isinstance(after, int) else self._datetimes(start, runs)

    @overload
    def between(self, start: int, end: int) -> Iterator[int]: ...
    @overload
    def between(self, start: datetime, end: datetime) -> Iterator[datetime]: ...
    def between(self, start: int | datetime, end: int | datetime) -> Iterator[int] | Iterator[datetime]:
        """Yield the instants with ``start`` < instant <= ``end``. Raises as ``next`` does, at once."""
        last = end if isinstance(end, int) else _floor(end)
        if isinstance(start, int):
            return takewhile(last.__ge__, self.upcoming(start))
        return takewhile(lambda found: found.timestamp() <= last, self.upcoming(start))

    def count(self, start: int | datetime, end: int | datetime) -> int:
        """Return the number of instants with ``start`` < instant <= ``end``, without enumerating them.

        Raises NotASet and OutOfRange; a schedule that never runs has none.
        """
        wall = self._runs("count", may_be_empty=True)
        low = start if isinstance(start, int) else _floor(start)
        high = end if isinstance(end, int) else _floor(end)
        for instant in (low, high):
            if not FIRST_INSTANT <= instant <= END_OF_INSTANTS:
                raise out_of_range(instant)
        high = min(high, END_OF_INSTANTS - 1)
        return 0 if high <= low or wall.never else self._count(low, high, wall)

    def matches(self, instant: int | datetime) -> bool:
        """Say whether the schedule fires at exactly this instant. Raises NotASet and OutOfRange."""
        wall = self._runs("matches", may_be_empty=True)
        if not isinstance(instant, int):
            at = _timestamp(instant)
            if at != _floor_of(at):
                return False
            instant = _floor_of(at)
        if not FIRST_INSTANT <= instant < END_OF_INSTANTS:
            raise out_of_range(instant)
        return not wall.never and self._next(instant - 1, wall) == instant

    def why(self, instant: int) -> Why:
        """Return why the schedule fires at an instant (epoch seconds), or what keeps it from firing.

        Raises NotASet and OutOfRange.
        """
        wall = self._runs("why", may_be_empty=True)
        fires = self.matches(instant)
        at = self._zone.moment(instant).replace(tzinfo=None)
        found = field_matches(self._spec, at)
        arm = day_arm(self._spec, found)
        blocking = blocking_fields(self._spec, found, arm)
        note = None
        if at.second:
            note = "runs start on whole minutes"
        elif fires and blocking:
            note = "a clock change skips the time that the schedule names, and the run is moved here"
        elif not fires and not blocking:
            note = "a clock change repeats this time, and the run was in its first pass"
        later = earlier = None
        if not wall.never:
            later = self._next(instant, wall)
            earlier = self._previous(instant, wall)
        return Why(
            fires,
            instant,
            at,
            found,
            arm,
            blocking,
            note,
            None if earlier is None or earlier < FIRST_INSTANT else earlier,
            None if later is None or later >= END_OF_INSTANTS else later,
        )

    why_not = why  # the question people ask of an instant that does not fire; the answer has the same shape

    def gaps(self) -> Gaps:
        """Return the shortest and longest time between runs on the wall clock, exact over the 400-year cycle.

        Raises NotASet and NeverRuns.
        """
        return gaps(self._runs("gaps"))

    def counts(self) -> Counts:
        """Return how many runs a day, a month and a year have, least and most, over the 400-year cycle.

        Clock changes aside. Raises NotASet.
        """
        return counts(self._runs("counts", may_be_empty=True))

    def _runs(self, asked: str = "", *, may_be_empty: bool = False) -> WallClock:
        """Return the wall-clock instants, or raise: NotASet in HTCONDOR, NeverRuns where there are none."""
        wall = self._wall
        if wall is None:
            message = f"the HTCONDOR dialect has no `{asked}`: the schedd's answers depend on when it is asked"
            help_text = "ask for `next` or `upcoming`, or read the schedule in the MANUAL dialect"
            raise NotASet(Diagnostic("not-a-set", message, help=help_text))
        if not may_be_empty and wall.never:
            raise NeverRuns(never_runs(self._spec))
        return wall

    def _check_walk(self, walk: ScheddWalk) -> None:
        if walk.hangs:
            raise ScheddHangs(never_runs(self._spec))

    def _next(self, after: int, wall: WallClock) -> int:
        """Find the next instant stretch by stretch of constant offset."""
        stretch = self._zone.at(after)
        while True:
            start, end, offset, before = stretch
            local = after + offset
            extra = _FOREVER
            if offset != before and not self._follows:
                local = max(local, start + before - 1)
                extra = self._moved_after(after, stretch, wall)
            found = wall.after(local) - offset
            if found < end or extra < end:
                return min(extra, found)
            # No wall-clock time before ``found`` serves, in whatever stretch: all but the last two days are skipped.
            stretch = self._zone.at(max(end, found - 2 * DAY))
            after = max(end, stretch.start) - 1

    def _previous(self, before: int, wall: WallClock) -> int:
        stretch = self._zone.at(before - 1)
        while before > FIRST_INSTANT:
            start, end, offset, earlier = stretch
            floor = start
            extra = -1
            if offset != earlier and not self._follows:
                floor = max(start, start + earlier - offset)
                extra = self._moved_before(before, stretch, wall)
            found = wall.before(min(before, end) + offset) - offset
            if found >= floor or extra >= start:
                return max(found if found >= floor else extra, extra)
            stretch = self._zone.at(min(start - 1, found + 2 * DAY))
            before = min(start, stretch.end)
        return -1

    def _gap(self, stretch: Stretch) -> int:
        """Return the length of the gap at the start of a stretch whose runs are moved behind it, else 0."""
        gap = stretch.offset - stretch.before
        moves = not self._follows and self._policy is not Policy.SKIP and gap < _LONGEST_GAP
        return gap if moves and gap > 0 else 0

    def _moved_after(self, after: int, stretch: Stretch, wall: WallClock) -> int:
        """Return the first run moved out of the gap before a stretch and strictly later than ``after``."""
        gap = self._gap(stretch)
        start, before = stretch.start, stretch.before
        if after >= start + gap:
            return _FOREVER
        if self._policy is Policy.DEBIAN:
            found = wall.after(start + before - 1)
            return start if after < start and found < start + before + gap else _FOREVER
        found = wall.after(max(after, start - 1) + before) - before
        return found if found < start + gap else _FOREVER

    def _moved_before(self, before: int, stretch: Stretch, wall: WallClock) -> int:
        """Return the last run moved out of the gap before a stretch and strictly earlier than ``before``, or -1."""
        gap = self._gap(stretch)
        start, earlier = stretch.start, stretch.before
        if not gap or before <= start:
            return -1
        if self._policy is Policy.DEBIAN:
            return start if wall.after(start + earlier - 1) < start + earlier + gap else -1
        found = wall.before(min(before, start + gap) + earlier) - earlier
        return found if found >= start else -1

    def _chunks(self, after: int, wall: WallClock) -> Iterator[tuple[int, int, tuple[int, ...], bool]]:
        """Yield the runs after an instant as day number, epoch of its midnight, seconds, and whether it is plain.

        A plain day lies in one stretch and holds no wall-clock time for the second time.
        """
        rule, table, zone = wall.rule, wall.table, self._zone
        stretch = zone.at(after)
        last = day = _FOREVER
        while True:
            start, end, offset, before = stretch
            end = min(end, END_OF_INSTANTS)
            low = after + offset + 1
            fold_end = start + before  # on the wall clock; what lies before it is the second pass
            if offset != before and not self._follows:
                low = max(low, start + before)
                moved = start + self._gap(stretch)
                while start < moved > after and (found := self._next(after, wall)) < end:
                    yield 0, 0, (found,), False
                    after = found
                    low = after + offset + 1
            first, high = low // DAY, end + offset
            if not last < first <= day:  # else the day is known from the stretch before
                day = rule.next_day(first)
            if day == first:
                seconds = table[bisect_left(table, low % DAY) :]
                if day == high // DAY:
                    seconds = seconds[: bisect_left(seconds, high % DAY)]
                yield day, day * DAY - offset, seconds, False
                day = rule.next_day(day + 1)
            last = high // DAY
            while day < last:
                yield day, day * DAY - offset, table, day * DAY >= fold_end
                day = rule.next_day(day + 1)
            if day == last > first:
                yield day, day * DAY - offset, table[: bisect_left(table, high % DAY)], day * DAY >= fold_end
            if end == END_OF_INSTANTS:
                return
            stretch = zone.at(max(end, (day - 2) * DAY - offset))
            after = max(end, stretch.start) - 1

    def _epochs(self, after: int, wall: WallClock) -> Iterator[int]:
        for _, midnight, seconds, _ in self._chunks(after, wall):
            yield from map(midnight.__add__, seconds)

    def _datetimes(self, after: int, wall: WallClock) -> Iterator[datetime]:
        epoch = datetime(1970, 1, 1, tzinfo=self._zone.info)
        info = self._zone.info
        deltas = [timedelta(seconds=s) for s in wall.table]
        for day, midnight, seconds, plain in self._chunks(after, wall):
            if plain:
                # Wall-clock arithmetic, far faster than a conversion; exact where the offset is constant.
                yield from map((epoch + timedelta(days=day)).__add__, deltas[: len(seconds)])
            else:
                for second in seconds:
                    yield datetime.fromtimestamp(midnight + second, info)

    def _count(self, low: int, high: int, wall: WallClock) -> int:
        """Count on the wall clock, interrupted only by the clock changes that touch a run."""
        begin, total = self._count_moved(low, high, self._zone.at(low), wall)
        for stretch in self._zone.changes(low, high):
            edge = sorted((stretch.start + stretch.before, stretch.start + stretch.offset))
            if wall.after(edge[0] - 1) < edge[1]:
                total += wall.count(begin, stretch.start + stretch.before - 1)
                begin, taken = self._count_moved(stretch.start - 1, high, stretch, wall)
                total += taken
        return total + wall.count(begin, high + self._zone.at(high).offset)

    def _count_moved(self, after: int, high: int, stretch: Stretch, wall: WallClock) -> tuple[int, int]:
        """Return the wall-clock time to count on from (excluded) in a stretch, and the runs counted before it."""
        start, _, offset, before = stretch
        taken = 0
        until = start + self._gap(stretch) if offset != before else start
        while after < min(until, high):
            found = self._next(after, wall)
            if found > high or found >= until:
                after = max(after, min(until, high) - 1)
                break
            after = found
            taken += 1
        begin = after + offset
        if offset != before and not self._follows:
            begin = max(begin, start + before - 1)
        return begin, taken


def _timestamp(moment: object) -> float:
    if not isinstance(moment, datetime):
        message = f"an instant is epoch seconds (int) or an aware datetime, not {type(moment).__name__}"
        raise TypeError(message)
    if moment.tzinfo is None:
        message = "a datetime without a zone names no instant: give it a tzinfo"
        raise TypeError(message)
    return moment.timestamp()


def _floor(moment: datetime) -> int:
    return _floor_of(_timestamp(moment))


def _floor_of(seconds: float) -> int:
    return int(seconds // 1)
