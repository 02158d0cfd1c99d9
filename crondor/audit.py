"""The coming clock changes of a zone that touch a schedule, and what each policy and the real schedd do there."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo
from itertools import takewhile
from typing import NamedTuple

from crondor._readings import reread
from crondor._recurrence import WallClock
from crondor.recurrence import Policy, Recurrence, ScheddAnswer, never_reason
from crondor.spec import CronSpec, Dialect, InvalidSpec
from crondor.zones import Stretch, zone_of

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - wall-clock time


class ClockChange(NamedTuple):
    """A change that skips or repeats a time which the schedule names.

    ``instant`` is the change (epoch seconds), ``seconds`` how far the clock goes forward (back: negative). ``low`` and
    ``high`` are the wall-clock times skipped or repeated (high excluded). ``policies`` has, for each policy, the
    instants that fire from the change to the end of the skipped length, or within both passes; ``schedd`` the answers
    there of a schedd process started a day before, and those for a skipped time before the change, () if it has none.
    """

    instant: int
    seconds: int
    low: datetime
    high: datetime
    policies: dict[Policy, tuple[int, ...]]
    schedd: tuple[ScheddAnswer, ...]

    @property
    def is_gap(self) -> bool:
        """Return whether the change skips time."""
        return self.seconds > 0


def clock_changes(spec: CronSpec, zone: str | tzinfo, start: int, end: int) -> Iterator[ClockChange]:
    """Yield the changes with ``start`` < instant <= ``end`` that affect a MANUAL or UNIX schedule, in order.

    Raises NotASet, NeverRuns, OutOfRange and UnknownZone.
    """
    recurrences = {policy: Recurrence(spec, zone, policy) for policy in Policy}
    wall = recurrences[Policy.COMPATIBLE].wall_clock
    schedd = _schedd(spec, zone)
    for stretch in zone_of(zone).changes(start, end):
        if _is_touched(stretch, wall):
            yield _change(stretch, recurrences, schedd)


def _is_touched(stretch: Stretch, wall: WallClock) -> bool:
    low, high = sorted((stretch.start + stretch.before, stretch.start + stretch.offset))
    return low < high and not wall.never and wall.after(low - 1) < high


def _change(stretch: Stretch, recurrences: dict[Policy, Recurrence], schedd: Recurrence | None) -> ClockChange:
    seconds = stretch.offset - stretch.before
    low, high = sorted((stretch.start + stretch.before, stretch.start + stretch.offset))
    first = stretch.start - 1 if seconds > 0 else stretch.start + seconds - 1
    last = stretch.start + abs(seconds) - (seconds < 0)
    answers: tuple[ScheddAnswer, ...] = ()
    if schedd is not None:
        # Asked a day before, as after the previous run; within the gap its answer differs.
        chain = takewhile(last.__ge__, schedd.upcoming(max(0, first - 86400)))
        answers = tuple(a for a in chain if isinstance(a, ScheddAnswer) and (a > first or a.moved < 0))
    return ClockChange(
        stretch.start,
        seconds,
        _EPOCH + timedelta(seconds=low),
        _EPOCH + timedelta(seconds=high),
        {policy: tuple(recurrence.between(first, last)) for policy, recurrence in recurrences.items()},
        answers,
    )


def _schedd(spec: CronSpec, zone: str | tzinfo) -> Recurrence | None:
    """Return the schedd's reading of the same texts, None if it holds the job or hangs."""
    try:
        found = reread(spec, Dialect.HTCONDOR)
    except InvalidSpec:
        return None
    return None if never_reason(found) else Recurrence(found, zone)
