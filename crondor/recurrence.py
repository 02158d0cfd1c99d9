"""When a schedule fires in a time zone: next, previous, upcoming, between and count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo
from itertools import takewhile
from typing import overload

from crondor._readings import Arm, FieldMatch, ScheddAnswer, ScheddWalk, Why, blocking_fields, day_arm, field_matches
from crondor._recurrence import (
    END_OF_INSTANTS,
    FIRST_INSTANT,
    ClockMark,
    Counts,
    Gaps,
    NeverRuns,
    NotASet,
    OutOfRange,
    ScheddHangs,
    WallClock,
    ZoneWalk,
    clock_mark,
    counts,
    gaps,
    never_reason,
    never_runs,
    none_before,
    out_of_range,
    skipped_mark,
    unmarked_until,
)
from crondor._types import Made, expect, late
from crondor.diagnostics import Diagnostic
from crondor.spec import CronSpec, Dialect
from crondor.zones import Policy, Zone, zone_of

__all__ = [
    "Arm",
    "ClockMark",
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

# Explaining costs 1 ms of each start, and most commands only need times.
_HOMES = {
    "Arm": "crondor._readings",
    "Counts": "crondor._recurrence",
    "FieldMatch": "crondor._readings",
    "Gaps": "crondor._recurrence",
    "Why": "crondor._readings",
}
__getattr__, __dir__ = late(__name__, _HOMES)

# Members of an Enum are slow to look up, and a Recurrence is made for every question.
_HTCONDOR, _UNIX = Dialect.HTCONDOR, Dialect.UNIX
_COMPATIBLE, _DEBIAN = Policy.COMPATIBLE, Policy.DEBIAN


class Recurrence(Made):
    """The instants at which a schedule fires in a zone, under a policy for clock changes.

    Instants are epoch seconds (the fast path) or aware datetimes, and results have the same type; naive datetimes are a
    TypeError. Intervals exclude their start and include their end. ``policy`` defaults to COMPATIBLE for MANUAL and
    DEBIAN for UNIX; the HTCONDOR dialect has none.

    The HTCONDOR dialect only has ``next`` and ``upcoming`` (each answer is the input of the next), and ``between``,
    which filters that chain; an answer in epoch seconds is a ScheddAnswer, which says whether it is a retry. The other
    methods raise NotASet.
    """

    __slots__ = ("_chain", "_follows", "_policy", "_set", "_spec", "_zone")

    def __init__(self, spec: CronSpec, zone: str | tzinfo = "UTC", policy: Policy | None = None) -> None:
        """Take a zone by IANA name or as a tzinfo. Raises UnknownZone."""
        expect("spec", spec, CronSpec, "a CronSpec", "write CronSpec.from_line('30 2 * * *')")
        self._spec = spec
        self._zone = zone_of(zone)
        dialect = spec.dialect
        policy = Policy(policy) if policy else _DEBIAN if dialect is _UNIX else _COMPATIBLE
        self._policy = policy
        stars = spec.stars  # of the minutes and the hours
        self._follows = follows = policy.follows(hour_starred=stars[1], minute_starred=stars[0])
        self._set: ZoneWalk | None = None
        self._chain: ScheddWalk | None = None
        if dialect is _HTCONDOR:
            self._chain = ScheddWalk(spec, self._zone)
        else:
            self._set = ZoneWalk(WallClock(spec), self._zone, policy, follows=follows)

    def __repr__(self) -> str:
        return f"Recurrence({self._spec!r}, {self._zone.name!r}, {self._policy!s})"

    def _made_of(self) -> tuple[object, ...]:
        return self._spec, self._zone.info, self._policy

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Recurrence):
            return NotImplemented
        return self is other or (self._spec, self._zone, self._policy) == (other._spec, other._zone, other._policy)

    def __hash__(self) -> int:
        return hash((self._spec, self._zone, self._policy))

    @property
    def spec(self) -> CronSpec:
        """The schedule."""
        return self._spec

    @property
    def zone(self) -> Zone:
        """The zone of the schedule's wall clock."""
        return self._zone

    @property
    def policy(self) -> Policy:
        """The treatment of runs in hours that a clock change skips or repeats."""
        return self._policy

    @property
    def follows_real_time(self) -> bool:
        """Whether no clock change moves, drops or delays a run (given the policy and the star flags)."""
        return self._follows

    @property
    def wall_clock(self) -> WallClock:
        """The instants on the wall clock only. Raises NotASet in the HTCONDOR dialect."""
        return self._runs("wall_clock", may_be_empty=True).wall

    @overload
    def next(self, after: int) -> int: ...
    @overload
    def next(self, after: datetime) -> datetime: ...
    def next(self, after: int | datetime) -> int | datetime:
        """Return the first instant after ``after``; near 2200 it may be later than 2200.

        Raises NeverRuns (HTCONDOR: ScheddHangs) if no date matches, OutOfRange outside 1970 to 2200.
        """
        if not isinstance(after, int):
            return self._zone.moment(self.next(_floor(after)))
        if not FIRST_INSTANT <= after < END_OF_INSTANTS:
            raise out_of_range(after)
        runs = self._set
        if runs is not None and not runs.wall.never:
            return runs.next(after)
        if self._chain is not None:
            self._check_chain(self._chain)
            return self._chain.next(after)
        raise NeverRuns(never_runs(self._spec))

    @overload
    def previous(self, before: int) -> int: ...
    @overload
    def previous(self, before: datetime) -> datetime: ...
    def previous(self, before: int | datetime) -> int | datetime:
        """Return the last instant before ``before``.

        Raises NeverRuns, NotASet, and OutOfRange if there is none since 1970.
        """
        if not isinstance(before, int):
            return self._zone.moment(self.previous(-_floor_of(-_timestamp(before))))
        runs = self._runs("previous")
        if not FIRST_INSTANT <= before <= END_OF_INSTANTS:
            raise out_of_range(before)
        found = runs.previous(before)
        if found < FIRST_INSTANT:
            raise none_before(before)
        return found

    @overload
    def upcoming(self, after: int) -> Iterator[int]: ...
    @overload
    def upcoming(self, after: datetime) -> Iterator[datetime]: ...
    def upcoming(self, after: int | datetime) -> Iterator[int] | Iterator[datetime]:
        """Yield the instants after ``after``, in order, until the end of 2200. Raises like ``next``, at once."""
        start = after if isinstance(after, int) else _floor(after)
        if not FIRST_INSTANT <= start < END_OF_INSTANTS:
            raise out_of_range(start)
        if self._chain is not None:
            self._check_chain(self._chain)
            answers = takewhile(END_OF_INSTANTS.__gt__, self._chain.chain(start))
            return answers if isinstance(after, int) else map(self._zone.moment, answers)
        runs = self._runs()
        return runs.epochs(start) if isinstance(after, int) else runs.moments(start)

    @overload
    def between(self, start: int, end: int) -> Iterator[int]: ...
    @overload
    def between(self, start: datetime, end: datetime) -> Iterator[datetime]: ...
    def between(self, start: int | datetime, end: int | datetime) -> Iterator[int] | Iterator[datetime]:
        """Yield the instants with ``start`` < instant <= ``end``. Raises like ``next``, at once."""
        last = end if isinstance(end, int) else _floor(end)
        if isinstance(start, int):
            return takewhile(last.__ge__, self.upcoming(start))
        return takewhile(lambda found: found.timestamp() <= last, self.upcoming(start))

    def count(self, start: int | datetime, end: int | datetime) -> int:
        """Return the number of instants with ``start`` < instant <= ``end``, without listing them.

        Raises NotASet and OutOfRange; a schedule that never runs has none.
        """
        runs = self._runs("count", may_be_empty=True)
        low = start if isinstance(start, int) else _floor(start)
        high = end if isinstance(end, int) else _floor(end)
        for instant in (low, high):
            if not FIRST_INSTANT <= instant <= END_OF_INSTANTS:
                raise out_of_range(instant)
        return runs.count(low, min(high, END_OF_INSTANTS - 1))

    def matches(self, instant: int | datetime) -> bool:
        """Return whether the schedule fires at exactly this instant. Raises NotASet and OutOfRange."""
        runs = self._runs("matches", may_be_empty=True)
        if not isinstance(instant, int):
            at = _timestamp(instant)
            if at != _floor_of(at):
                return False
            instant = _floor_of(at)
        if not FIRST_INSTANT <= instant < END_OF_INSTANTS:
            raise out_of_range(instant)
        return not runs.wall.never and runs.next(instant - 1) == instant

    def why(self, instant: int) -> Why:
        """Return why the schedule fires at an instant (epoch seconds) or not. Raises NotASet and OutOfRange."""
        runs = self._runs("why", may_be_empty=True)
        fires = self.matches(instant)
        at = self._zone.moment(instant).replace(tzinfo=None)
        found = field_matches(self._spec, at)
        arm = day_arm(self._spec, found)
        blocking = blocking_fields(found, arm)
        note = None
        if at.second and not fires:
            note = "runs start on whole minutes"
        elif fires and (blocking or at.second):  # seconds: a change of 44 minutes and 30 seconds (Monrovia, 1972)
            note = "a clock change skips the time that the schedule names, and the run is moved here"
        elif not fires and not blocking:
            note = "a clock change repeats this time, and the run was in its first pass"
        later = earlier = None
        if not runs.wall.never:
            later = runs.next(instant)
            earlier = runs.previous(instant)
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

    def clock_mark(self, run: int) -> ClockMark | None:
        """Return what a clock change did to a run (epoch seconds), None for most runs.

        A run may stand for a time that the clock skips, or be one of the two occurrences of a repeated time.
        """
        if isinstance(run, ScheddAnswer):
            return skipped_mark(self._zone, run, run.moved) if run.moved > 0 else None
        return None if self._set is None else clock_mark(self._zone, run, self._set.wall)

    def clock_marks(self, runs: Iterable[int]) -> Iterator[ClockMark | None]:
        """Yield ``clock_mark`` of each of many runs in order, at almost no cost."""
        plain_from, plain_until = 0, 0
        for run in runs:
            if plain_from <= run < plain_until:
                yield None
                continue
            yield self.clock_mark(run)
            if not isinstance(run, ScheddAnswer):
                plain_from, plain_until = run, unmarked_until(self._zone, run)

    why_not = why  # the usual question about an instant that does not fire; the result is the same

    def gaps(self) -> Gaps:
        """Return the shortest and longest time between runs on the wall clock, exact over the 400-year cycle.

        Raises NotASet and NeverRuns.
        """
        return gaps(self._runs("gaps").wall)

    def counts(self) -> Counts:
        """Return how many runs a day, a month and a year have, least and most, over the 400-year cycle.

        Clock changes are ignored. Raises NotASet.
        """
        return counts(self._runs("counts", may_be_empty=True).wall)

    def _runs(self, asked: str = "", *, may_be_empty: bool = False) -> ZoneWalk:
        """Return the walk of the instants. Raises NotASet in HTCONDOR, NeverRuns if there are none."""
        runs = self._set
        if runs is None:
            message = f"the HTCONDOR dialect has no `{asked}`: the schedd's answers depend on when it is asked"
            help_text = "ask for `next` or `upcoming`, or read the schedule in the MANUAL dialect"
            raise NotASet(Diagnostic("not-a-set", message, help=help_text))
        if not may_be_empty and runs.wall.never:
            raise NeverRuns(never_runs(self._spec))
        return runs

    def _check_chain(self, walk: ScheddWalk) -> None:
        if walk.hangs:
            raise ScheddHangs(never_runs(self._spec))


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
