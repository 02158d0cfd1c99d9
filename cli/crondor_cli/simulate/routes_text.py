"""A simulated router as a table with lines of time, as events, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.diagnostics import Diagnostic, printable
from crondor.job.status import JobStatus
from crondor.router.daemon import LogEntry, RouteReason
from crondor.router.daemon.chronicle import JobEnds
from crondor_cli.common.columns import plural, print_rows
from crondor_cli.common.data import diagnostic_data
from crondor_cli.common.output import say
from crondor_cli.common.streaming import echo_json
from crondor_cli.simulate.route_lanes import ON_SITE, RouteLanes
from crondor_cli.simulate.route_runs import RoutedSimulation
from crondor_cli.times.text import local_text


def print_table(found: RoutedSimulation, lanes: RouteLanes | None) -> None:
    """Print what became of the jobs and of the copies of each route, and with ``lanes`` a line of time for each."""
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
    if lanes is not None:
        say()
        say("\n".join(lanes.lines()))


def _running(fates: JobEnds) -> int:
    return sum(fates.now[status] for status in ON_SITE)


def _left(found: RoutedSimulation) -> list[tuple[RouteReason, str, int]]:
    settled = (RouteReason.ROUTED, RouteReason.COPY)
    kept = [(why, about, count) for (why, about), count in found.pool.router.summary().items() if why not in settled]
    return sorted(kept, key=lambda each: (each[0].name, each[1]))


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


def print_json(found: RoutedSimulation, findings: list[Diagnostic], lanes: RouteLanes | None, *, events: bool) -> None:
    """Print one object; `crondor config schema simulate` has the keys."""
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
    if lanes is not None:
        texts = lanes.texts()
        data["timeline"] = {
            "seconds": lanes.axis.seconds,
            "jobs": texts[: len(groups)],
            "routes": texts[len(groups) :],
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
