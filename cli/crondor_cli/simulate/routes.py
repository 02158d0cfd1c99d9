"""`crondor simulate --routes`: a job router in the simulated pool."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import click

from crondor.classad import lower
from crondor.classad.scope import Context
from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.job.attributes import JobStatus
from crondor.job_queue import JobId
from crondor.pool.settings import PoolSettings
from crondor.pool.simulate.jobs import Simulated
from crondor.router import RoutingTable
from crondor.router.daemon import LogEntry, RouteReason, RouterOptions
from crondor.router.daemon.rehearsal import JobEnds, Site, StatusStep
from crondor.router.daemon.simulation import RoutedSimulation, findings_of
from crondor_cli.kit.configs import load_route_table
from crondor_cli.kit.files import needs_matplotlib, writes
from crondor_cli.kit.options import UsageProblem
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.screen import say, screen_columns, show
from crondor_cli.kit.tables import diagnostic_data, echo_json, plural, print_rows
from crondor_cli.kit.times import local_text
from crondor_cli.simulate.runs import SimulationOptions
from crondor_cli.simulate.shown import Lane, LaneSpan, Picture, TimeAxis

if TYPE_CHECKING:
    from crondor_cli.simulate import results


def draw(picture: Callable[[], Picture], path: str | None) -> None:
    """Draw into a file. Raises UsageError if it cannot be written, and without matplotlib."""
    if path is None:
        return
    with needs_matplotlib():
        from crondor_cli.simulate.plot import save  # noqa: PLC0415 - matplotlib is optional, and takes 0.4 s
    with writes(path):
        save(picture(), path)


def sites_of(table: RoutingTable, texts: Sequence[str], settings: PoolSettings) -> list[Site]:
    """Return the site of each route: from --site, or running copies as --slots and --run-time say.

    Raises UsageProblem.
    """
    found: dict[str, Site] = {}
    faults: list[Diagnostic] = []
    base = Site("", settings.slots, settings.match_delay, settings.run_time)
    for text in texts:
        try:
            site = Site.parse(text, base, "--site")
        except CrondorError as error:
            faults += error.diagnostics
            continue
        if table.route(site.name) is None:
            names = ", ".join(route.name for route in table.routes) or "none"
            faults.append(Diagnostic("site", f"there is no route {printable(site.name)} (routes: {printable(names)})"))
        found[lower(site.name)] = site
    if faults:
        raise UsageProblem(CrondorError(faults))
    return [
        found.get(lower(route.name)) or Site(route.name, base.slots, base.delay, base.run_time)
        for route in table.routes
    ]


# The states of a column; the last one in this order wins.
IDLE, HELD, WAITING, TICK, RUNNING, FAILED = range(6)
SIGNS: Final = ".Hw|rF"
_LEGEND: Final = (
    "w a copy waits at a site, | a run shorter than a column, r runs, H held, F failed or removed at its site, "
    ". neither"
)
COLOURS: Final = {
    HELD: ("#c9ccd1", "held"),
    WAITING: ("#f0c648", "a copy waits at a site"),
    RUNNING: ("#3f8f4f", "runs"),
    FAILED: ("#c8402f", "failed or removed at its site"),
}
ON_SITE: Final = (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT)


class RouteLanes:
    """The lanes, with those of the sources first."""

    def __init__(self, found: RoutedSimulation, screen: int | None = None) -> None:
        """Draw the simulation for a screen with a number of columns, None: any width."""
        clock, groups, routes = found.simulated.clock, found.simulated.groups, found.table.routes
        names = [*(group.label for group in groups), *(f"at {route.name}" for route in routes)]
        self.labels = [printable(name) for name in names]
        whole = TimeAxis(found.simulated.start, found.end, clock.zone, clock.zone_name)
        self.axis = whole.fitting(self.labels, screen)
        self.lanes = [Lane(self.axis) for _ in names]
        self._of_job = {job: number for number, group in enumerate(groups) for job in found.of_group(group)}
        self._of_route = {route.name: len(groups) + number for number, route in enumerate(routes)}
        since: dict[JobId, StatusStep] = {}
        for step in [*found.chronicle.steps, *_ends(found)]:
            before = since.get(step.job)
            if before is not None:
                self._last(before, step.time)
            since[step.job] = step

    def texts(self) -> list[str]:
        """Return the lanes as characters."""
        return ["".join(SIGNS[state] for state in lane.columns) for lane in self.lanes]

    def lines(self) -> list[str]:
        """Return a line for each lane, with a legend and dates."""
        return [self.axis.heading(_LEGEND), *self.axis.rows(self.labels, self.texts())]

    def _last(self, step: StatusStep, end: int) -> None:
        """Draw a status from its step on; a run shorter than a column is a tick, a failure is a point."""
        state = _state(step)
        span = LaneSpan(step.time, step.time if state == FAILED else end, state)
        is_short = state == RUNNING and end - step.time < self.axis.seconds
        lanes = [self._of_job[job] for job in (step.job, step.source) if job in self._of_job]
        for number in lanes + ([self._of_route[step.route]] if step.route in self._of_route else []):
            self.lanes[number].mark(span._replace(state=TICK) if is_short else span)
            self.lanes[number].keep(span)


def _state(step: StatusStep) -> int:
    if step.status is JobStatus.HELD:
        return HELD
    if step.source is None:
        return FAILED if step.status is JobStatus.COMPLETED and step.is_failure else IDLE
    if step.status is JobStatus.REMOVED or step.is_failure:
        return FAILED
    return RUNNING if step.status in ON_SITE else WAITING if step.status is JobStatus.IDLE else IDLE


def _ends(found: RoutedSimulation) -> Iterator[StatusStep]:
    """Yield the end of the simulation as a step for each remaining job, and the last step of each job that left."""
    there = set(found.pool.schedd.mirror)
    last = {step.job: step for step in found.chronicle.steps}
    for job, step in last.items():
        yield step._replace(time=found.end if job in there else step.time)


def print_table(found: RoutedSimulation, lanes: RouteLanes | None) -> None:
    """Print the outcome of the jobs and of the copies of each route, and with ``lanes`` a timeline of each."""
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
    data: results.Routes = {
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
        data["timeline"] = {"seconds": lanes.axis.seconds, "jobs": texts[: len(groups)], "routes": texts[len(groups) :]}
    if events:
        data["events"] = [{"time": time, "text": text} for time, text in _events(found)]
    echo_json(data)


def _fates(fates: JobEnds) -> results.Ends:
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


def run(simulated: Simulated, options: SimulationOptions) -> None:
    """Simulate the jobs of some files, and print the outcome; exit with 1 if not all completed."""
    zone = simulated.clock.zone
    table = load_route_table(options.routes, (), Context(now=simulated.start, zone=zone), legacy=False)
    sites = sites_of(table, options.sites, simulated.settings)
    made = RoutedSimulation.of(
        simulated, table, sites, RouterOptions(waits_for_gates=options.wait_for_gates, zone=zone)
    )
    made.run(lambda hours: PROGRESS.counted(hours, "simulating", "hours"))
    findings = list(dict.fromkeys(findings_of(simulated, table)))
    show(findings)
    if not table.is_enabled:
        say("JobRouter is disabled.", err=True)
    screen = None if options.format_ == "json" else screen_columns(sys.stdout)
    lanes = RouteLanes(made, screen) if options.timeline or options.plot is not None else None
    shown = lanes if options.timeline else None
    if lanes is not None:
        title = f"{plural(made.simulated.job_count, 'job')}, {plural(len(made.table.routes), 'route')}"
        draw(lambda: Picture(title, lanes.axis, lanes.labels, lanes.lanes, COLOURS), options.plot)
    if options.format_ == "json":
        print_json(made, findings, shown, events=options.events)
    else:
        if options.events:
            for time, text in _events(made):
                say(f"{local_text(time, made.simulated.clock.zone)}  {text}")
        print_table(made, shown)
    if not made.is_fine:
        raise click.exceptions.Exit(1)
