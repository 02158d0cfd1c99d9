"""A simulated router as a table with lines of time, as events, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crondor.diagnostics import Diagnostic, printable
from crondor.job.status import JobStatus
from crondor.job_queue import JobId
from crondor.router.daemon import LogEntry, RouteReason
from crondor.router.daemon.chronicle import JobEnds, StatusStep
from crondor_cli.common.columns import plural, print_rows
from crondor_cli.common.data import diagnostic_data
from crondor_cli.common.output import say
from crondor_cli.common.streaming import echo_json
from crondor_cli.simulate.route_runs import RoutedSimulation
from crondor_cli.times.text import local_text, relative

COLUMNS: Final = 72
_SIGNS: Final = ".wrHF"  # the strongest that falls into a column
_LEGEND: Final = "w a copy waits at a site, r runs, H held, F failed or removed at its site, . neither"
_RUNNING: Final = (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT)


def print_table(found: RoutedSimulation, *, timeline: bool) -> None:
    """Print what became of the jobs and of the copies of each route, and with ``timeline`` a line of time for each."""
    zone, simulated = found.simulated.clock.zone, found.simulated
    start, end = (local_text(time, zone) for time in (simulated.start, found.end))
    say(f"{plural(simulated.job_count, 'job')} from {start} until {end}")
    settings = found.table.settings
    say(f"{printable(settings.name)} polls every {settings.polling_period} s, seed {simulated.settings.seed}")
    for site in found.sites:
        say(f"  {printable(str(site))}")
    groups, routes = found.fates()
    say()
    head = ["jobs", "count", "done", "failed", "removed", "held", "running", "idle", "copies", "runs"]
    rows = []
    for group, fates in zip(simulated.groups, groups, strict=True):
        states = [fates.now[JobStatus.HELD], _running(fates), fates.now[JobStatus.IDLE]]
        numbers = [group.jobs.count, fates.done, fates.failed, fates.removed, *states, fates.made, fates.runs]
        rows.append([group.label, *map(str, numbers)])
    print_rows(head, rows)
    say()
    rows = []
    for now, fates in zip(found.pool.router.routes(), routes, strict=True):
        states = [fates.now[JobStatus.HELD], _running(fates), fates.now[JobStatus.IDLE]]
        numbers = [fates.made, fates.runs, fates.done, fates.failed, fates.removed, *states]
        rows.append([printable(now.route.name), *map(str, numbers), str(now.throttle), now.text or "yes"])
    print_rows(
        ["route", "copies", "runs", "done", "failed", "removed", "held", "running", "idle", "throttle", "takes jobs"],
        rows,
    )
    left = _left(found)
    if left:
        say("\nnot routed at the end:")
        for reason, about, count in left:
            say(f"  {count:>7}  {reason.value}{about and f' ({printable(about)})'}")
    if timeline:
        say()
        say("\n".join(_timeline(found)))


def _running(fates: JobEnds) -> int:
    return sum(fates.now[status] for status in _RUNNING)


def _left(found: RoutedSimulation) -> list[tuple[RouteReason, str, int]]:
    settled = (RouteReason.ROUTED, RouteReason.COPY)
    kept = [(why, about, count) for (why, about), count in found.pool.router.summary().items() if why not in settled]
    return sorted(kept, key=lambda each: (each[0].name, each[1]))


def _timeline(found: RoutedSimulation) -> Iterator[str]:
    """Yield a line of time for each group of sources, and for each route."""
    simulated = found.simulated
    labels = [group.label for group in simulated.groups] + [f"at {route.name}" for route in found.table.routes]
    lanes = _lanes(found)
    wide = max(map(len, map(printable, labels)), default=0)
    zone = simulated.clock.zone
    start, end = (local_text(time, zone)[:20] for time in (simulated.start, found.end))
    yield f"Timeline, {start} to {end}, {relative(_width(found))[3:]} a column: {_LEGEND}"
    for label, lane in zip(labels, lanes, strict=True):
        yield f"  {printable(label):<{wide}}  {''.join(_SIGNS[state] for state in lane)}"


def _width(found: RoutedSimulation) -> int:
    return max(1, -(-(found.end - found.simulated.start) // COLUMNS))


def _lanes(found: RoutedSimulation) -> list[list[int]]:
    """Return the columns of each group, and of each route, as places in _SIGNS."""
    groups, routes = found.simulated.groups, found.table.routes
    of_job = {job: number for number, group in enumerate(groups) for job in found.of_group(group)}
    of_route = {route.name: len(groups) + number for number, route in enumerate(routes)}
    lanes = [[0] * COLUMNS for _ in range(len(groups) + len(routes))]
    since: dict[JobId, StatusStep] = {}
    for step in [*found.chronicle.steps, *_ends(found)]:
        before = since.get(step.job)
        if before is not None:
            state = _state(before)
            for lane in _of(before, of_job, of_route):
                _mark(found, lanes[lane], before.time, step.time, state)
        for lane in _of(step, of_job, of_route):
            _mark(found, lanes[lane], step.time, step.time, _state(step))
        since[step.job] = step
    return lanes


def _of(step: StatusStep, of_job: dict[JobId, int], of_route: dict[str, int]) -> list[int]:
    """Return the lanes that a step shows in; a copy's shows in its source's too."""
    lanes = [of_job[job] for job in (step.job, step.source) if job in of_job]
    return lanes + ([of_route[step.route]] if step.route in of_route else [])


def _state(step: StatusStep) -> int:
    if step.status is JobStatus.HELD:
        return 3
    if step.source is None:
        return 4 if step.status is JobStatus.COMPLETED and step.is_failure else 0
    if step.status is JobStatus.REMOVED or step.is_failure:
        return 4
    return 2 if step.status in _RUNNING else int(step.status is JobStatus.IDLE)


def _ends(found: RoutedSimulation) -> Iterator[StatusStep]:
    """Yield the end of the time for each job that is there then."""
    mirror = found.pool.schedd.mirror
    for job in mirror:
        step = found.chronicle.last(job)
        if step is not None:
            yield step._replace(time=found.end)


def _mark(found: RoutedSimulation, lane: list[int], start: int, end: int, state: int) -> None:
    if state == 4:  # a moment, however long the job stays in the queue
        end = start
    first, last = ((time - found.simulated.start) // _width(found) for time in (start, end))
    for column in range(max(0, first), min(COLUMNS - 1, last) + 1):
        lane[column] = max(lane[column], state)


def print_events(found: RoutedSimulation) -> None:
    """Print what the router did, and what became of the copies at their sites."""
    zone = found.simulated.clock.zone
    for time, text in _events(found):
        say(f"{local_text(time, zone)}  {text}")


def _events(found: RoutedSimulation) -> Iterator[tuple[int, str]]:
    for each in found.chronicle.happened:
        if isinstance(each, LogEntry):
            yield each.time, printable(str(each))
        elif each.source is not None and each.status is not None:
            word = "failed" if each.is_failure else each.status.name.lower().replace("_", " ")
            yield each.time, printable(f"{each.route} (src={each.source},dest={each.job}): {word}")


def print_json(found: RoutedSimulation, findings: list[Diagnostic], *, events: bool, timeline: bool) -> None:
    """Print one object; `crondor schema simulate` has the keys."""
    simulated = found.simulated
    groups, routes = found.fates()
    data: dict[str, object] = {
        "zone": simulated.clock.zone_name,
        "from": simulated.start,
        "until": found.end,
        "seed": simulated.settings.seed,
        "router": found.table.settings.name,
        "polling_period": found.table.settings.polling_period,
        "sites": [str(site) for site in found.sites],
        "jobs": [
            {"name": group.name, "line": group.line, "count": group.jobs.count, **_fates(fates)}
            for group, fates in zip(simulated.groups, groups, strict=True)
        ],
        "routes": [
            {
                "route": now.route.name,
                **_fates(fates),
                "limit": None if now.limit is None else now.limit.value,
                "text": now.text or None,
                "throttle": str(now.throttle),
            }
            for now, fates in zip(found.pool.router.routes(), routes, strict=True)
        ],
        "not_routed": [{"reason": why.value, "route": about or None, "count": n} for why, about, n in _left(found)],
        "diagnostics": [diagnostic_data(finding) for finding in findings],
    }
    if timeline:
        lanes = ["".join(_SIGNS[state] for state in lane) for lane in _lanes(found)]
        data["timeline"] = {
            "seconds": _width(found),
            "jobs": lanes[: len(groups)],
            "routes": lanes[len(groups) :],
        }
    if events:
        data["events"] = [{"time": time, "text": text} for time, text in _events(found)]
    echo_json(data)


def _fates(fates: JobEnds) -> dict[str, int]:
    return {
        "copies": fates.made,
        "runs": fates.runs,
        "done": fates.done,
        "failed": fates.failed,
        "removed": fates.removed,
        "held": fates.now[JobStatus.HELD],
        "running": _running(fates),
        "idle": fates.now[JobStatus.IDLE],
    }
