"""What is spread: jobs with their schedules, and the minutes in which each of them holds a slot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from crondor.diagnostics import CrondorError
from crondor.schedule import JobSchedule
from crondor.times import JobTimes

_MINUTE = 60


@dataclass(frozen=True)
class SpreadJob:
    """``count`` equal jobs. Those with the same ``place`` share one minute field, and move together.

    ``name`` is what the job's own minute comes of; it should not change with the folder it is seen from.
    ``fixed`` says why the minute is not to be moved, as the end of a sentence; empty: it may be. ``hours`` is by how
    many hours the job may be moved as well. ``requirements`` may exclude times of the schedule.
    """

    name: str
    schedule: JobSchedule
    place: object
    count: int = 1
    fixed: str = ""
    hours: int = 0
    requirements: str = ""

    @property
    def times(self) -> JobTimes:
        """When the job runs."""
        return JobTimes(self.schedule, self.requirements)


class SpreadTime(NamedTuple):
    """The time looked at, ``start`` <= instant < ``end`` (epoch seconds), and how long a run lasts (seconds).

    Whole local dates: what lies before a start in the midst of an hour would be lost to some minutes only.
    """

    start: int
    end: int
    run_time: int = 0

    @property
    def size(self) -> int:
        """How many minutes there are."""
        return -(-(self.end - self.start) // _MINUTE)

    def minute(self, instant: int) -> int:
        """Return the number of the minute that an instant lies in, 0 for that of ``start``."""
        return (instant - self.start) // _MINUTE


class Use(NamedTuple):
    """What one job takes: the instants of its runs, their minutes, and where it holds a slot (the end excluded)."""

    runs: tuple[int, ...]
    starts: tuple[int, ...]
    held: tuple[tuple[int, int], ...]


class Load:
    """How many jobs start in each minute, and how many hold a slot in it."""

    def __init__(self, size: int) -> None:
        """Begin without a job."""
        self.starts = [0] * size
        self.held = [0] * size

    def __repr__(self) -> str:
        """Return the number of minutes, and the most of one."""
        return f"<Load of {len(self.starts)} minutes, {self.most_starts} starts and {self.most_held} slots at most>"

    def __eq__(self, other: object) -> bool:
        """Compare minute by minute."""
        return vars(self) == vars(other) if isinstance(other, Load) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it changes

    def add(self, use: Use, jobs: int) -> None:
        """Count what some equal jobs take; a negative number takes them away."""
        for minute in use.starts:
            self.starts[minute] += jobs
        for low, high in use.held:
            for minute in range(low, high):
                self.held[minute] += jobs

    @property
    def most_starts(self) -> int:
        """The most starts of a minute."""
        return max(self.starts, default=0)

    @property
    def most_held(self) -> int:
        """The most slots that are held at once."""
        return max(self.held, default=0)

    def met(self, use: Use) -> tuple[int, int]:
        """Return the most starts and the most slots of the minutes that a job takes."""
        starts = max((self.starts[minute] for minute in use.starts), default=0)
        return starts, max((max(self.held[low:high]) for low, high in use.held), default=0)

    def is_below(self, use: Use, starts: int, held: int) -> bool:
        """Say whether no minute that a job takes has more than some starts, or more than some slots held."""
        if any(count > starts for count in map(self.starts.__getitem__, use.starts)):
            return False
        return all(max(self.held[low:high]) <= held for low, high in use.held)

    def busiest(self, most: int) -> list[int]:
        """Return the minutes with the most slots held, then with the most starts; earlier ones first."""
        numbers = (minute for minute, count in enumerate(self.held) if count)
        return sorted(numbers, key=lambda minute: (-self.held[minute], -self.starts[minute], minute))[:most]


def use_of(times: JobTimes, time: SpreadTime) -> Use:
    """Return what a job takes at its runs.

    A slot is held from when the job may be matched (``Deferral.match_opens``: prep time and SCHEDD_INTERVAL before its
    time) until its window has ended, or a run that began in time. A window that cannot be evaluated counts as none.
    """
    runs = tuple(_runs(times, time))
    before = after = 0
    if runs:
        with suppress(CrondorError):
            run = times.deferral(runs[0], time.start)
            before, after = run.time - run.match_opens, run.last_start - run.time
    after = max(after, time.run_time)
    starts = tuple(sorted({time.minute(run) for run in runs}))
    ranges = ((time.minute(run - before), time.minute(run + after) + 1) for run in runs)
    inside = ((max(0, low), min(time.size, high)) for low, high in ranges)  # one job holds one slot
    return Use(runs, starts, tuple(joined(sorted(inside))))


def _runs(times: JobTimes, time: SpreadTime) -> Iterable[int]:
    """Return the runs in the time, as `crondor next` has them in the dialect of the schedule."""
    with suppress(CrondorError):  # it never runs
        return list(times.runs(time.start - 1, time.end - 1, now=time.start))
    return ()


def joined(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join what overlaps or touches, of ranges in order of their beginnings."""
    begin = end = -1
    for low, high in ranges:
        if low > end or begin < 0:
            if begin < end:
                yield begin, end
            begin, end = low, high
        end = max(end, high)
    if begin < end:
        yield begin, end
