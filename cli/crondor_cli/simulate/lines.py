"""What happens in a simulation as lines of text: events as they come, and a lane of time for each job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from crondor.diagnostics import columns_of, printable
from crondor.hold_codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.pool.daemons.events import PoolEvent, PoolEventKind, Watcher
from crondor_cli.common.layout import padded
from crondor_cli.common.output import say
from crondor_cli.simulate.runs import Group, Simulated
from crondor_cli.times.text import local_text, relative

COLUMNS: Final = 72
MOST_LANES: Final = 50

# What a column shows, the strongest that falls into it.
IDLE, WAITING, TICK, RUNNING, LATE, HELD, MISSED = range(7)
SIGNS: Final = ".w|rLHM"
_LEGEND: Final = "w waits on its slot, | a run shorter than a column, r runs, L started late, M missed, H held, . idle"
MOST_SPANS: Final = 5000  # of a lane that are kept to the second


class Lanes:
    """Each job's line of time: as many columns as there are, however long the span and however many the runs."""

    def __init__(self, simulated: Simulated) -> None:
        """Begin with idle jobs."""
        self._simulated = simulated
        self._width = max(1, -(-(simulated.end - simulated.start) // COLUMNS))
        self.columns: dict[int, list[int]] = {}
        self.spans: dict[int, list[tuple[int, int, int]]] = {}  # start, end (epoch seconds) and state, in order
        self._since: dict[int, tuple[int, int]] = {}
        self._owner: dict[tuple[int, int], int] = {}
        self._files = list(dict.fromkeys(id(group.file) for group in simulated.groups))

    def note(self, seen: PoolEvent) -> None:
        """Take note of something that has happened."""
        number = self._group(seen)
        if number is None or number >= MOST_LANES:
            return
        self.columns.setdefault(number, [IDLE] * COLUMNS)
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

    def lines(self) -> list[str]:
        """Return a line for each group of jobs, with a legend."""
        self.close()
        labels = [group.label for group in self._simulated.groups[:MOST_LANES]]
        wide = max(map(columns_of, labels), default=0)
        zone = self._simulated.clock.zone
        start, end = (local_text(time, zone)[:20] for time in (self._simulated.start, self._simulated.end))
        made = [f"Timeline, {start} to {end}, {relative(self._width)[3:]} a column: {_LEGEND}"]
        for number, label in enumerate(labels):
            lane = self.columns.get(number, [IDLE] * COLUMNS)
            made.append(f"  {padded(label, wide)}  {''.join(SIGNS[state] for state in lane)}")
        if labels:
            made.append(f"  {'':<{wide}}  {self._dates()}".rstrip())
        if len(self._simulated.groups) > MOST_LANES:
            made.append(f"  and {len(self._simulated.groups) - MOST_LANES} more")
        return made

    def _dates(self) -> str:
        """Return month, day and time of day, each below the column that begins there."""
        zone, line = self._simulated.clock.zone, ""
        for column in range(0, COLUMNS, 12):
            text = local_text(self._simulated.start + column * self._width, zone)
            line = f"{line:<{column}}{text[9:20]}"
        return line

    def _moment(self, number: int, time: int, state: int) -> None:
        """Draw what has no length."""
        self._mark(self.columns[number], time, time, state)
        if state != TICK:
            self.spans.setdefault(number, []).append((time, time, state))

    def _last(self, number: int, start: int, end: int, state: int) -> None:
        """Draw a state that has lasted; a run that fills no column is a tick."""
        is_short = state == RUNNING and end - start < self._width
        self._mark(self.columns[number], start, end, TICK if is_short else state)
        spans = self.spans.setdefault(number, [])
        if state != IDLE and len(spans) < MOST_SPANS:
            spans.append((start, end, state))

    def _mark(self, lane: list[int], start: int, end: int, state: int) -> None:
        first, last = ((time - self._simulated.start) // self._width for time in (start, end))
        for column in range(max(0, first), min(COLUMNS - 1, last) + 1):
            lane[column] = max(lane[column], state)

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
