"""What happens in a simulation as lines of text: events as they come, and a lane of time for each job."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from crondor.diagnostics import printable
from crondor.hold_codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.pool.daemons.events import PoolEvent, PoolEventKind, Watcher
from crondor_cli.common.layout import screen_columns
from crondor_cli.common.output import say
from crondor_cli.simulate.axis import Lane, LaneSpan, TimeAxis
from crondor_cli.simulate.runs import Group, Simulated
from crondor_cli.times.text import local_text

MOST_LANES: Final = 50

# What a column shows, the strongest that falls into it.
IDLE, WAITING, TICK, RUNNING, LATE, HELD, MISSED = range(7)
SIGNS: Final = ".w|rLHM"
_LEGEND: Final = "w waits on its slot, | a run shorter than a column, r runs, L started late, M missed, H held, . idle"
COLOURS: Final = {
    WAITING: ("#f0c648", "waits on its slot"),
    RUNNING: ("#3f8f4f", "runs"),
    LATE: ("#8cc46b", "started late, in the window"),
    HELD: ("#7a7f87", "held"),
    MISSED: ("#c8402f", "missed"),
}


class Lanes:
    """Each job's line of time: as many columns as there are, however long the span and however many the runs."""

    def __init__(self, simulated: Simulated) -> None:
        """Begin with idle jobs."""
        self._simulated = simulated
        clock = simulated.clock
        whole = TimeAxis(simulated.start, simulated.end, clock.zone, clock.zone_name)
        self.axis = whole.fitting(self.labels, screen_columns(sys.stdout))
        self._lanes: dict[int, Lane] = {}
        self._since: dict[int, tuple[int, int]] = {}
        self._owner: dict[tuple[int, int], int] = {}
        self._files = list(dict.fromkeys(id(group.file) for group in simulated.groups))

    def note(self, seen: PoolEvent) -> None:
        """Take note of something that has happened."""
        number = self._group(seen)
        if number is None or number >= MOST_LANES:
            return
        self._lanes.setdefault(number, Lane(self.axis))
        state, since = self._since.get(number, (IDLE, seen.time))
        if seen.what is PoolEventKind.STARTED and state != HELD:
            deferral = seen.job.gate.deferral()
            late = deferral is not None and seen.time + self._simulated.settings.skew > deferral.time
            self._moment(number, seen.time, LATE if late else TICK)
        if seen.what is PoolEventKind.PLANNED and "window" in seen.text:
            self._moment(number, seen.time, MISSED)
        if seen.what is PoolEventKind.HELD and seen.number == MISSED_DEFERRED_EXECUTION_TIME:
            self._moment(number, seen.time, MISSED)
        after = _STATES.get(seen.what)
        if after is not None:
            self._last(number, since, seen.time, state)
            self._since[number] = after, seen.time

    def close(self) -> None:
        """Draw what lasts until the end."""
        for number, (state, since) in self._since.items():
            self._last(number, since, self._simulated.end, state)
        self._since.clear()

    @property
    def labels(self) -> list[str]:
        """What the lanes are called."""
        return [group.label for group in self._simulated.groups[:MOST_LANES]]

    def lane(self, number: int) -> Lane:
        """Return the lane of a group of jobs, by its number."""
        return self._lanes.get(number) or Lane(self.axis)

    def lines(self) -> list[str]:
        """Return a line for each group of jobs, with a legend."""
        self.close()
        labels = self.labels
        lanes = ("".join(SIGNS[state] for state in self.lane(number).columns) for number in range(len(labels)))
        made = [self.axis.heading(_LEGEND), *self.axis.rows(labels, lanes)]
        if len(self._simulated.groups) > MOST_LANES:
            made.append(f"  and {len(self._simulated.groups) - MOST_LANES} more")
        return made

    def _moment(self, number: int, time: int, state: int) -> None:
        """Draw what has no length."""
        span = LaneSpan(time, time, state)
        self._lanes[number].mark(span)
        if state != TICK:
            self._lanes[number].spans.append(span)

    def _last(self, number: int, start: int, end: int, state: int) -> None:
        """Draw a state that has lasted; a run that fills no column is a tick."""
        is_short = state == RUNNING and end - start < self.axis.seconds
        lane = self._lanes[number]
        lane.mark(LaneSpan(start, end, TICK if is_short else state))
        lane.keep(LaneSpan(start, end, state))

    def _group(self, seen: PoolEvent) -> int | None:
        """Return the number of a job's group."""
        key = seen.job.id.cluster, seen.job.id.proc
        if key not in self._owner:
            self._owner[key] = number_of(self._simulated, *key)
        return self._owner[key]


_STATES: Final = {
    PoolEventKind.ARRIVED: WAITING,
    PoolEventKind.STARTED: RUNNING,
    PoolEventKind.ENDED: IDLE,
    PoolEventKind.EVICTED: IDLE,
    PoolEventKind.HELD: HELD,
    PoolEventKind.RELEASED: IDLE,
    PoolEventKind.REMOVED: IDLE,
    PoolEventKind.COMPLETED: IDLE,
}


def number_of(simulated: Simulated, cluster: int, proc: int) -> int:
    """Return the number of the group that a job belongs to; a cluster is a file."""
    files = list(dict.fromkeys(id(group.file) for group in simulated.groups))
    left = proc
    for number, group in enumerate(simulated.groups):
        if id(group.file) == files[cluster - 1]:
            if left < group.jobs.count:
                return number
            left -= group.jobs.count
    raise ValueError(f"no job {cluster}.{proc}")


def print_happenings(simulated: Simulated, into: list[dict[str, object]] | None) -> Watcher:
    """Return what prints each thing that happens, or keeps it for JSON."""
    owners: dict[tuple[int, int], Group] = {}

    def note(seen: PoolEvent) -> None:
        key = seen.job.id.cluster, seen.job.id.proc
        if key not in owners:
            owners[key] = simulated.groups[number_of(simulated, *key)]
        said = _said(seen, simulated)
        if into is None:
            when = local_text(seen.time, simulated.clock.zone)
            say(f"{when}  {seen.job.id!s:<7} {owners[key].label}  {seen.what.value}{said and f': {said}'}")
        else:
            into.append({"time": seen.time, "job": str(seen.job.id), "what": seen.what.value, "detail": said})

    return note


def _said(seen: PoolEvent, simulated: Simulated) -> str:
    words: dict[PoolEventKind, Callable[[], str]] = {
        PoolEventKind.PLANNED: lambda: f"DeferralTime {local_text(seen.number, simulated.clock.zone)}, {seen.text}",
        PoolEventKind.ARRIVED: lambda: (
            f"waits {seen.number} s" if seen.number > 0 else f"{-seen.number} s after its time" if seen.number else ""
        ),
        PoolEventKind.HELD: lambda: f"code {seen.number}, {printable(seen.text)}",
        PoolEventKind.ENDED: lambda: "queued again" if seen.number else "done",
    }
    return words.get(seen.what, lambda: printable(seen.text))()
