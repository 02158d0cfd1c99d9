"""A simulation as a table, with what would have been enough below it."""

from __future__ import annotations

import sys
from contextlib import suppress

from crondor.diagnostics import CrondorError, printable
from crondor.pool.settings.lengths import Shape
from crondor.pool.simulate.outcome import JobOutcome, RunOutcome
from crondor.schedule import JobSchedule
from crondor.spec import Dialect
from crondor_cli.common.columns import plural
from crondor_cli.common.layout import in_columns, screen_columns
from crondor_cli.common.output import Whole, echo_lines, whole
from crondor_cli.simulate.lines import Lanes
from crondor_cli.simulate.runs import Group, Simulated, SimulatedResult
from crondor_cli.times.text import local_text, relative

_COLUMNS = {
    "on time": RunOutcome.ON_TIME,
    "late": RunOutcome.LATE,
    "missed": RunOutcome.MISSED,
    "missed, held": RunOutcome.MISSED_HELD,
    "idle for ever": RunOutcome.MISSED_IDLE,
    "skipped": RunOutcome.SKIPPED,
    "on hold": RunOutcome.HELD,
}
_MOST_NAMED = 3  # jobs that the same is said of
_ALWAYS = ("on time", "late", "missed", "skipped")
_READINGS = {
    Dialect.HTCONDOR: "what the schedd of HTCondor 25.14 does",
    Dialect.MANUAL: "schedules as the manual describes them",
    Dialect.UNIX: "schedules as Unix cron reads them",
}


def print_table(simulated: Simulated, lanes: Lanes | None) -> None:
    """Print what was simulated, a table for each dialect, what to change, and the lines of time."""
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
    """Return how many times the schedd computed; a repeated one is the same time again."""
    return outcome.planned - outcome.repeated


def _table(simulated: Simulated, results: list[SimulatedResult], named: list[int]) -> list[str]:
    """Return the fates of all jobs, and where they differ both what the fields name and what the schedd computes."""
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
        rows.append([label, *planned, *counts, length(outcome.idle_slot)])
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
        lines += [
            "",
            *_named(labels),
            *(whole(f"  {line}") if isinstance(line, Whole) else f"  {line}" for line in said),
        ]
    return lines


def _others(outcome: JobOutcome, named: int) -> list[str]:
    """Say that the schedd computes other times than the fields name."""
    computed = _computed(outcome)
    if computed == named:
        return []
    return [
        f"the fields name {plural(named, 'run')}, and the schedd computes {plural(computed, 'time')}: see crondor next"
    ]


def _named(labels: list[str]) -> list[str]:
    """Return the jobs that the same is said of, the first of them by name."""
    more = len(labels) - _MOST_NAMED
    names = ", ".join(labels[:_MOST_NAMED])
    return [f"{names}{f' and {more} more' if more > 0 else ''}:"]


def _skipped(count: int, group: Group, simulated: Simulated) -> str:
    """Say why runs are skipped: the job still runs when their time comes."""
    text = f"{plural(count, 'run')} skipped: the run before was not over"
    lengths, period = simulated.settings.run_time, _period(group)
    if period is None or lengths.shape is not Shape.UNIFORM or lengths.high < period:
        return text
    takes = f"{lengths.high} s" if lengths.low == lengths.high else f"up to {lengths.high} s"
    return f"{text}; a run takes {takes}, and the schedule asks for one every {period} s"


def _period(group: Group) -> int | None:
    """Return the shortest time between two runs of the schedule in seconds, None where nothing repeats it."""
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
        said.append(f"{plural(outcome.untold, 'run')} ended, and the schedd was not told: the job was queued again")
    if outcome.repeated:
        what = plural(outcome.repeated, "run")
        said.append(f"{what} too many: the machine's clock is ahead, and the run before ended before its time")
    if outcome.is_stranded:
        said.append("queued again after its run, and idle for ever: its window is over, and Requirements match no more")
    return said + _ending(outcome)


def _ending(outcome: JobOutcome) -> list[str]:
    if outcome.hold is not None:
        return [f"held at the end: {printable(outcome.hold)}"]
    if outcome.removed:
        return [f"removed before the end: {printable(outcome.removed)}"]
    if outcome.has_left:
        return ["has left the queue before the end: on_exit_remove is not set, or not false then"]
    return []


def _enough(simulated: Simulated, group: Group, result: SimulatedResult) -> list[str]:
    enough = result.enough
    if enough is None or not result.outcome.planned:
        return []
    tried = (("prep time", enough.prep_time, "then all on time"), ("window", enough.window, "then none missed"))
    found = [f"a {name} of {seconds} s ({then})" for name, seconds, then in tried if seconds]
    said = [f"enough for all runs that can start: {', '.join(found)}"] if found else []
    none = [name for name, seconds, _ in tried if seconds is None]
    said += [f"no {' and no '.join(none)} would have been enough"] if none else []
    return said + [whole(str(change)) for change in simulated.changes(group, result)]


def length(seconds: int) -> str:
    """Return a length in its two largest units."""
    return "0" if seconds == 0 else relative(seconds)[3:]
