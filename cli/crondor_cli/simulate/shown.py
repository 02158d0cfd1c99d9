"""A simulation as text, events, messages and JSON (`crondor config schema simulate`)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Final, NamedTuple

from crondor.calendar import DAY
from crondor.codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.diagnostics import CrondorError, columns_of, printable, shortened
from crondor.pool.daemons.events import PoolEvent, PoolEventKind, Watcher
from crondor.pool.daemons.flow import Listener, Message
from crondor.pool.settings import Shape
from crondor.pool.simulate.jobs import Group, Simulated, SimulatedResult
from crondor.pool.simulate.outcome import JobOutcome, RunOutcome
from crondor.schedule import JobSchedule
from crondor.spec import Dialect
from crondor_cli.kit.screen import Whole, echo_lines, in_columns, padded, say, screen_columns, whole
from crondor_cli.kit.tables import diagnostic_data, echo_json, plural
from crondor_cli.kit.times import length, local_text

if TYPE_CHECKING:
    from crondor_cli.simulate import results


class Picture(NamedTuple):
    """A drawing: lanes with labels, and the colour and name of each state, the strongest last."""

    title: str
    axis: TimeAxis
    labels: Sequence[str]
    lanes: Sequence[Lane]
    colours: Mapping[int, tuple[str, str]]


COLUMNS: Final = 72
_FEWEST: Final = 24  # columns of a lane, even in a narrow terminal
MOST_SPANS: Final = 5000  # spans of a lane stored to the second
_MARGINS: Final = 4  # columns before the label and after it
_DATE: Final = 12  # columns between dates
_MINUTES: Final = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720)  # between ticks
_DAYS: Final = (1, 2, 7, 14, 28, 91, 182, 364)  # between ticks


class LaneSpan(NamedTuple):
    """A state from and to epoch seconds; a moment has equal ends."""

    start: int
    end: int
    state: int


class TimeAxis(NamedTuple):
    """A span of time (epoch seconds), and the zone for its dates."""

    start: int
    end: int
    zone: tzinfo
    zone_name: str
    columns: int = COLUMNS

    def fitting(self, labels: Iterable[str], screen: int | None) -> TimeAxis:
        """Return an axis that fits next to the labels on a screen with a number of columns, None: any width."""
        if screen is None:
            return self
        room = screen - _MARGINS - max(map(columns_of, labels), default=0)
        return self._replace(columns=max(_FEWEST, min(COLUMNS, room)))

    @property
    def seconds(self) -> int:
        """The number of seconds per column."""
        return max(1, -(-(self.end - self.start) // self.columns))

    def heading(self, legend: str) -> str:
        """Return the line above the lanes."""
        start, end = (local_text(time, self.zone)[:20] for time in (self.start, self.end))
        return f"Timeline, {start} to {end}, {length(self.seconds, 2)} a column: {legend}"

    def rows(self, labels: Sequence[str], lanes: Iterable[str]) -> list[str]:
        """Return the lanes after their labels, and below them the dates."""
        wide = max(map(columns_of, labels), default=0)
        made = [f"  {padded(label, wide)}  {lane}" for label, lane in zip(labels, lanes, strict=True)]
        return [*made, f"  {'':<{wide}}  {self._dates()}".rstrip()] if made else []

    def _dates(self) -> str:
        """Return month, day and time of day, below their columns."""
        line = ""
        for apart in (_DATE, _DATE // 2, _DATE // 4):
            for time in self.ticks(apart * self.seconds):
                column = (time - self.start) // self.seconds
                if (not line or len(line) < column) and column + _DATE - 1 <= self.columns:
                    line = f"{line:<{column}}{local_text(time, self.zone)[9:20]}"
            if line:
                break
        return line

    def ticks(self, apart: int) -> list[int]:
        """Return round times of the zone's clock (epoch seconds), at least a number of seconds apart."""
        step = next((60 * minutes for minutes in _MINUTES if 60 * minutes >= apart), DAY)
        days = next((days for days in _DAYS if days * DAY >= apart), -(-apart // DAY))
        found: list[int] = []
        day = datetime.combine(datetime.fromtimestamp(self.start, self.zone).date(), datetime.min.time())
        while day.replace(tzinfo=self.zone).timestamp() <= self.end:
            if (day.toordinal() - 1) % days == 0:  # whole weeks start on Mondays
                walls = ((day + timedelta(seconds=second)).replace(tzinfo=self.zone) for second in range(0, DAY, step))
                found += [int(wall.timestamp()) for wall in walls]  # a skipped time is as much later
            day += timedelta(1)
        return sorted({time for time in found if self.start <= time <= self.end})


class Lane:
    """One timeline with a fixed number of columns; the first spans are also stored to the second."""

    def __init__(self, axis: TimeAxis) -> None:
        self.columns = [0] * axis.columns
        self.spans: list[LaneSpan] = []
        self._axis = axis

    def mark(self, span: LaneSpan) -> None:
        """Draw a state; a column shows the strongest state in it."""
        axis = self._axis
        first, last = ((time - axis.start) // axis.seconds for time in (span.start, span.end))
        for column in range(max(0, first), min(axis.columns - 1, last) + 1):
            self.columns[column] = max(self.columns[column], span.state)

    def keep(self, span: LaneSpan) -> None:
        """Store a state to the second, if there is room."""
        if span.state and len(self.spans) < MOST_SPANS:
            self.spans.append(span)


MOST_LANES: Final = 50

# The states of a column; the strongest one wins.
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
    """Each job's timeline, with a fixed number of columns however long the span and however many the runs."""

    def __init__(self, simulated: Simulated) -> None:
        self._simulated = simulated
        clock = simulated.clock
        whole = TimeAxis(simulated.start, simulated.end, clock.zone, clock.zone_name)
        self.axis = whole.fitting(self.labels, screen_columns(sys.stdout))
        self._lanes: dict[int, Lane] = {}
        self._since: dict[int, tuple[int, int]] = {}

    def note(self, seen: PoolEvent) -> None:
        """Record an event."""
        number = self._simulated.numbers[seen.job.id]
        if number >= MOST_LANES:
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
        """Draw the states that last until the end."""
        for number, (state, since) in self._since.items():
            self._last(number, since, self._simulated.end, state)
        self._since.clear()

    @property
    def labels(self) -> list[str]:
        """The labels of the lanes."""
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
        """Draw a moment."""
        span = LaneSpan(time, time, state)
        self._lanes[number].mark(span)
        if state != TICK:
            self._lanes[number].spans.append(span)

    def _last(self, number: int, start: int, end: int, state: int) -> None:
        """Draw a state that has ended; a run shorter than a column is a tick."""
        is_short = state == RUNNING and end - start < self.axis.seconds
        lane = self._lanes[number]
        lane.mark(LaneSpan(start, end, TICK if is_short else state))
        lane.keep(LaneSpan(start, end, state))


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


def print_happenings(simulated: Simulated, into: list[results.Event] | None) -> Watcher:
    """Return a watcher that prints each event, or collects it for JSON."""

    def note(seen: PoolEvent) -> None:
        said = _said(seen, simulated)
        if into is None:
            when = local_text(seen.time, simulated.clock.zone)
            label = simulated.groups[simulated.numbers[seen.job.id]].label
            say(f"{when}  {seen.job.id!s:<7} {label}  {seen.what.value}{said and f': {said}'}")
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


_COLUMNS = {
    "on time": RunOutcome.ON_TIME,
    "late": RunOutcome.LATE,
    "missed": RunOutcome.MISSED,
    "missed, held": RunOutcome.MISSED_HELD,
    "idle forever": RunOutcome.MISSED_IDLE,
    "skipped": RunOutcome.SKIPPED,
    "on hold": RunOutcome.HELD,
}
_MOST_NAMED = 3  # jobs named in one message
_ALWAYS = ("on time", "late", "missed", "skipped")
_READINGS = {
    Dialect.HTCONDOR: "what the schedd of HTCondor 25.14 does",
    Dialect.MANUAL: "schedules as the manual describes them",
    Dialect.UNIX: "schedules as Unix cron reads them",
}


def print_table(simulated: Simulated, lanes: Lanes | None) -> None:
    """Print the simulation's settings, a table for each dialect, suggested changes, and the timelines."""
    lines = _head(simulated)
    for dialect, results in simulated.sides.items():
        named = [simulated.named(g, r.outcome) for g, r in zip(simulated.groups, results, strict=True)]
        if dialect is not Dialect.HTCONDOR:
            named = [result.outcome.planned for result in results]
        lines += ["", f"{dialect.value}: {_READINGS[dialect]}", *_table(simulated, results, named)]
        lines += _notes(simulated, results, named)
    if lanes is not None:
        lines += ["", *lanes.lines()]
    echo_lines(lines)


def _head(simulated: Simulated) -> list[str]:
    settings, zone = simulated.settings, simulated.clock.zone
    start, end = (local_text(time, zone) for time in (simulated.start, simulated.end))
    pool = [
        f"SCHEDD_INTERVAL {settings.schedd_interval} s",
        f"match delay {settings.match_delay} s",
        f"transfer {settings.transfer} s",
        f"run time {settings.run_time} s",
        *(f"machine {machine}" for machine in settings.machines),
    ]
    if not settings.machines:
        pool.append(plural(settings.slots, "slot"))
    if str(settings.exits) != "0":
        pool.append(f"exit code {settings.exits}")
    if settings.preemption is not None:
        pool.append(f"preempted after {settings.preemption} s")
    pool += [f"{fault} fails" for fault in settings.flow.faults]
    if settings.skew:
        pool.append(f"execute clock {settings.skew:+} s")
    pool.append(f"seed {settings.seed}")
    return [f"{plural(simulated.job_count, 'job')} from {start} until {end}", ", ".join(pool)]


def _computed(outcome: JobOutcome) -> int:
    """Return how many times the schedd computed; a repeat of the same time does not count."""
    return outcome.planned - outcome.repeated


def _table(simulated: Simulated, results: list[SimulatedResult], named: list[int]) -> list[str]:
    """Return the outcomes of all jobs, with the runs that the fields mean and the schedd computes if they differ."""
    shown = {
        name: fate
        for name, fate in _COLUMNS.items()
        if name in _ALWAYS or any(result.outcome.counts[fate] for result in results)
    }
    rows = []
    differ = any(number != _computed(result.outcome) for number, result in zip(named, results, strict=True))
    for group, (outcome, _), number in zip(simulated.groups, results, named, strict=True):
        label = group.label if group.jobs.count == 1 else f"{group.label} ({group.jobs.count} jobs)"
        counts = [str(outcome.counts[fate]) for fate in shown.values()]
        planned = [str(number), str(_computed(outcome))] if differ else [str(outcome.planned)]
        rows.append([label, *planned, *counts, length(outcome.idle_slot, 2)])
    head = ["", "planned", *(["computed"] if differ else []), *shown, "slot idle"]
    return in_columns(head, rows, screen_columns(sys.stdout), right=range(1, len(head)))


def _notes(simulated: Simulated, results: list[SimulatedResult], named: list[int]) -> list[str]:
    lines: list[str] = []
    same: dict[tuple[str, ...], list[str]] = {}
    for group, result, number in zip(simulated.groups, results, named, strict=True):
        outcome = result.outcome
        said = (*_others(outcome, number), *_state(group, simulated, outcome), *_enough(simulated, group, result))
        if said:
            same.setdefault(said, []).append(group.label)
    for said, labels in same.items():
        more = len(labels) - _MOST_NAMED
        lines += [
            "",
            f"{', '.join(labels[:_MOST_NAMED])}{f' and {more} more' if more > 0 else ''}:",
            *(whole(f"  {line}") if isinstance(line, Whole) else f"  {line}" for line in said),
        ]
    return lines


def _others(outcome: JobOutcome, named: int) -> list[str]:
    """Return a message if the schedd computes other times than the fields mean."""
    computed = _computed(outcome)
    if computed == named:
        return []
    return [
        f"the fields mean {plural(named, 'run')}, but the schedd computes {plural(computed, 'time')}: see crondor next"
    ]


def _skipped(count: int, group: Group, simulated: Simulated) -> str:
    """Return why runs are skipped: the job still runs at their time."""
    text = f"{plural(count, 'run')} skipped: the previous run was not over"
    lengths, period = simulated.settings.run_time, _period(group)
    if period is None or lengths.shape is not Shape.UNIFORM or lengths.high < period:
        return text
    takes = f"{lengths.high} s" if lengths.low == lengths.high else f"up to {lengths.high} s"
    return f"{text}; a run takes {takes}, but the schedule has one every {period} s"


def _period(group: Group) -> int | None:
    """Return the shortest time between two runs of the schedule in seconds, None if it does not repeat."""
    with suppress(CrondorError):
        found = JobSchedule.from_submit(group.jobs.values).recurrence
        return None if found is None else found.gaps().shortest
    return None


def _state(group: Group, simulated: Simulated, outcome: JobOutcome) -> list[str]:
    said = [printable(fault.message) for fault in outcome.trouble]
    if not outcome.is_deferred:
        said.append(f"has no schedule: it runs as soon as it can ({plural(outcome.starts, 'start')})")
    elif not outcome.planned and not outcome.trouble:
        said.append("no run is planned in this time")
    if outcome.counts[RunOutcome.SKIPPED]:
        said.append(_skipped(outcome.counts[RunOutcome.SKIPPED], group, simulated))
    if outcome.evicted:
        said.append(f"{plural(outcome.evicted, 'run')} evicted after the start")
    if outcome.untold:
        said.append(f"{plural(outcome.untold, 'run')} ended without the schedd learning it: the job was queued again")
    if outcome.repeated:
        what = plural(outcome.repeated, "run")
        said.append(f"{what} too many: the machine's clock is ahead, and the previous run ended before its time")
    if outcome.is_stranded:
        said.append(
            "queued again after its run, then idle forever: its window is over and Requirements no longer match"
        )
    return said + _ending(outcome)


def _ending(outcome: JobOutcome) -> list[str]:
    if outcome.hold is not None:
        return [f"held at the end: {printable(outcome.hold)}"]
    if outcome.removed:
        return [f"removed before the end: {printable(outcome.removed)}"]
    if outcome.has_left:
        return ["left the queue before the end: on_exit_remove is not set, or was not false"]
    return []


def _enough(simulated: Simulated, group: Group, result: SimulatedResult) -> list[str]:
    enough = result.enough
    if enough is None or not result.outcome.planned:
        return []
    tried = (("prep time", enough.prep_time, "then all on time"), ("window", enough.window, "then none missed"))
    found = [f"a {name} of {seconds} s ({then})" for name, seconds, then in tried if seconds]
    said = [f"sufficient for all runs that can start: {', '.join(found)}"] if found else []
    none = [name for name, seconds, _ in tried if seconds is None]
    said += [f"no {' and no '.join(none)} would have been sufficient"] if none else []
    return said + [whole(str(change)) for change in simulated.changes(group, result)]


def print_json(
    simulated: Simulated, happened: list[results.Event] | None, messages: list[results.Message] | None = None
) -> None:
    """Print one object."""
    settings = simulated.settings
    data: results.Pool = {
        "zone": simulated.clock.zone_name,
        "from": simulated.start,
        "until": simulated.end,
        "schedd_interval": settings.schedd_interval,
        "match_delay": str(settings.match_delay),
        "transfer": str(settings.transfer),
        "run_time": str(settings.run_time),
        "slots": settings.slots,
        "skew": settings.skew,
        "seed": settings.seed,
        "machines": [str(machine) for machine in settings.machines],
        "exit_code": str(settings.exits),
        "preempt": None if settings.preemption is None else str(settings.preemption),
        "fail": [str(fault) for fault in settings.flow.faults],
        "readings": [
            {
                "dialect": dialect.value,
                "jobs": [_job(simulated, group, result) for group, result in zip(simulated.groups, found, strict=True)],
            }
            for dialect, found in simulated.sides.items()
        ],
        "diagnostics": [diagnostic_data(finding) for finding in dict.fromkeys(simulated.findings)],
    }
    if happened is not None:
        data["events"] = happened
    if messages is not None:
        data["flow"] = messages
    echo_json(data)


def _job(simulated: Simulated, group: Group, result: SimulatedResult) -> results.Job:
    outcome, enough = result
    counts = outcome.counts
    return {
        "name": group.name,
        "line": group.line,
        "count": group.jobs.count,
        "is_deferred": outcome.is_deferred,
        "planned": outcome.planned,
        "named": simulated.named(group, outcome),
        "on_time": counts[RunOutcome.ON_TIME],
        "late": counts[RunOutcome.LATE],
        "missed_held": counts[RunOutcome.MISSED_HELD],
        "missed": counts[RunOutcome.MISSED],
        "missed_idle": counts[RunOutcome.MISSED_IDLE],
        "skipped": counts[RunOutcome.SKIPPED],
        "held": counts[RunOutcome.HELD],
        "starts": outcome.starts,
        "evicted": outcome.evicted,
        "untold": outcome.untold,
        "repeated": outcome.repeated,
        "is_stranded": outcome.is_stranded,
        "idle_slot": outcome.idle_slot,
        "has_left": outcome.has_left,
        "hold_reason": outcome.hold,
        "removed": outcome.removed,
        "trouble": [fault.message for fault in outcome.trouble],
        "enough_prep_time": None if enough is None else enough.prep_time,
        "enough_window": None if enough is None else enough.window,
        "changes": [
            {"file": c.name, "line": c.line, "command": c.command, "before": c.old, "after": c.new}
            for c in simulated.changes(group, result)
        ],
    }


_LONGEST = 60  # characters of a value


def print_messages(simulated: Simulated, into: list[results.Message] | None) -> Listener:
    """Return a listener that prints each message, or collects it for JSON."""

    def note(message: Message) -> None:
        job = message.job
        sender, _, receiver = message.link.value.partition("-")
        if into is not None:
            into.append(
                {
                    "time": message.time,
                    "job": str(job) if job.cluster else None,
                    "from": sender,
                    "to": receiver,
                    "what": message.why,
                    "arrived": message.arrived,
                    "attributes": message.whole or len(message.values),
                    "values": [{"name": name, "text": text} for name, text in message.values.items()],
                }
            )
            return
        when = local_text(message.time, simulated.clock.zone)
        place = f"{job!s:<7} {simulated.groups[simulated.numbers[job]].label}" if job.cluster else "all jobs"
        say(f"{when}  {place}  {sender} -> {receiver}: {', '.join(_sentence(message))}")

    return note


def _sentence(message: Message) -> list[str]:
    said = [message.why]
    if not message.arrived:
        said.append("FAILED")
    if message.whole:
        said.append(f"{message.whole} attributes")
    for name, text in message.values.items():
        shown = shortened(text, _LONGEST)
        said.append(printable(f"{name} = {shown}"))
    return said
