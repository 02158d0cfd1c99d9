"""`crondor route plan`: the coming runs of scheduled jobs, and the route of each."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

import click

from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, Order
from crondor.classad.scope import Context
from crondor.deferral import LATEST
from crondor.diagnostics import Diagnostic, Severity, printable, shortened
from crondor.job.policy import QueuedJob
from crondor.router_bridge import (
    CopySchedule,
    JobSettings,
    Plannable,
    PlannedOutcome,
    PlannedRun,
    PlanOptions,
    RoutePlan,
    is_cured,
    plan,
)
from crondor.schedd.embedded import LOG
from crondor.schedd.reading import QueueLogSchedd
from crondor.schedule import COMMANDS, misspelt
from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.kit import options as opts
from crondor_cli.kit.ads import FirstFaults, ads_in, name_of
from crondor_cli.kit.command import Command
from crondor_cli.kit.configs import legacy_option, load_route_table
from crondor_cli.kit.files import check_stdin
from crondor_cli.kit.options import Clock, ConfigFiles, Surroundings
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.schedules import ScheduleRequest
from crondor_cli.kit.screen import account, echo_lines, emit, say, show, usage
from crondor_cli.kit.tables import diagnostic_data, plural
from crondor_cli.kit.times import ClockFace, local_text
from crondor_cli.route.asking import judged_data, route_state_of, route_state_options, with_copies

if TYPE_CHECKING:
    from crondor_cli.route import results


def read_plannable(
    specs: Iterable[str],
    ads: Iterable[str],
    queue: str | None,
    clock: Clock,
    surroundings: Surroundings,
    jobs: list[Plannable],
    findings: list[Diagnostic],
) -> None:
    """Add the files' jobs and findings. Raises CrondorError for an invalid file, UsageError for an unreadable one."""
    request = ScheduleRequest(clock, surroundings=surroundings.here())
    for path in PROGRESS.counted(list(specs), "reading", "files"):
        file = request.read(path)
        findings += file.warnings
        names = ((key, file.name(key)) for key in file.keys)
        findings += misspelt((span.text if span else key, span) for key, span in names)
        if not any(name in file.keys for name in COMMANDS[:-2]):
            message = f"no job of {name_of(path)} has a cron field or a deferral_time: nothing is planned"
            help_text = "define cron_minute, cron_hour ... or deferral_time; crondor route explain is for other jobs"
            findings.append(Diagnostic("not-deferred", message, Severity.NOTE, help=help_text))
        jobs.append(file)
    for path in ads:
        told = FirstFaults()
        _keep(ads_in(path, told.add), name_of(path), jobs, findings)
        findings += told.listed()
    if queue is not None:
        is_embedded = os.path.isdir(queue)
        log = os.path.join(queue, LOG) if is_embedded else queue
        schedd = QueueLogSchedd(log, clock=lambda: clock.now, zone=clock.zone, embedded=is_embedded)
        findings += schedd.diagnostics
        _keep(schedd.jobs(), queue, jobs, findings)


def _keep(ads: Iterable[ClassAd], name: str, jobs: list[Plannable], findings: list[Diagnostic]) -> None:
    found = list(ads)
    plain = sum(not QueuedJob(ad).is_scheduled for ad in found)
    if plain:
        said = f"{plain} {'job has' if plain == 1 else 'jobs have'}"
        message = f"{said} neither a cron attribute nor a DeferralTime, of {len(found)} in {name}"
        help_text = "crondor route explain shows their routes"
        findings.append(Diagnostic("not-deferred", message, Severity.NOTE, help=help_text))
    elif not found:
        findings.append(
            Diagnostic("no-ads", f"there is no job in {name}", Severity.NOTE, help="condor_q -long prints jobs")
        )
    jobs += found


_WIDEST = 24  # columns for a route's name
_LONGEST = 160  # characters of a reason; JSON has it in full
_SAME_WEEK = 6 * 86_400
_NOT_ASKED = "no route was asked: the job already runs, or its last match is before the router's next poll"
_CONDUCTS = {
    CopySchedule.AT_ONCE: "the copy runs when it is matched or the site takes it, at any time",
    CopySchedule.WAITS: "the copy runs once, at the time of the run",
    CopySchedule.WAITS_THERE: "the copy runs once, at the time of the run, in the remote queue",
    CopySchedule.SCHEDULES_ITSELF: "the copy keeps the Cron attributes, and its schedd computes its times",
    CopySchedule.SCHEDULES_ITSELF_THERE: "the copy keeps the Cron attributes, and the remote schedd computes its times",
    CopySchedule.TOO_LATE: "the copy's DeferralTime and window are past, and it never runs",
    CopySchedule.NEVER_MATCHES: "the copy's Requirements need a time that it lacks, and it stays idle",
    CopySchedule.NEVER_RUNS: "nothing runs a copy with such a schedule in its universe",
}
_OUTCOMES = {
    PlannedOutcome.BY_COPY: "an earlier copy does this run",
    PlannedOutcome.LOCAL: "no route takes the job in time: the local pool runs it",
    PlannedOutcome.EDITED: "the route changes the job, which stays here",
    PlannedOutcome.FAILED: "a route takes the job but cannot make the copy",
    PlannedOutcome.BUSY: "the previous run has not ended, and a missed time is not repeated",
    PlannedOutcome.STUCK: "the job waits for a copy that never ends or never runs",
    PlannedOutcome.GONE: "the job has left its queue, so there is nothing to run",
}
_NO_MORE = (PlannedOutcome.BUSY, PlannedOutcome.STUCK, PlannedOutcome.GONE)


def as_table(made: RoutePlan, clock: Clock, runs: Iterable[PlannedRun], _: dict[Diagnostic, None]) -> Iterator[str]:
    """Yield how the router takes jobs, a line for each run, and a summary."""
    width = min(_WIDEST, max(5, *(len(route.name) for route in made.table.routes), 0))
    yield _manner(made)
    face = ClockFace(clock.zone)
    counts: Counter[PlannedOutcome] = Counter()
    conducts: dict[CopySchedule, None] = {}
    last: dict[str, PlannedOutcome] = {}
    same: Counter[str] = Counter()
    reasons: dict[str, list[str]] = {}
    for run in runs:
        if not counts:
            head = ("JOB", "RUN", "ROUTE", "TAKEN", "STARTS", "JOBS", "IDLE")
            yield _line(width, *head, "OUTCOME")
        counts[run.outcome] += 1
        if run.outcome is PlannedOutcome.ROUTED and run.conduct is not None:
            conducts[run.conduct] = None
        was, last[run.job.id] = last.get(run.job.id), run.outcome
        if run.outcome in _NO_MORE and was is run.outcome:
            same[run.job.id] += 1
            continue
        row = _row(run)
        yield _line(width, *_cells(row, face, clock.zone))
        is_local = run.outcome is PlannedOutcome.LOCAL
        lines = list(_why(row)) if run.asked is not None else [_NOT_ASKED] * is_local
        if lines != reasons.get(run.job.id, []):
            yield from (f"  {line}" for line in lines)
            reasons[run.job.id] = lines
    for job, count in same.items():
        yield f"{printable(job)}: {plural(count, 'more run')} like the last one"
    yield _summary(made, counts)
    yield from _legend(counts, conducts)


def _manner(made: RoutePlan) -> str:
    if made.options.at_gate:
        return "A waiting router: it routes a job for one run, when that run's gate opens."
    period = made.table.settings.polling_period
    return f"HTCondor's job router: it routes the whole job at its next poll (every {period} s) after it is idle."


def _row(run: PlannedRun) -> results.PlannedRow:
    room = run.room
    return {
        "job": run.job.id,
        "number": run.number,
        "time": run.run.time,
        "match_opens": run.run.match_opens,
        "last_start": run.run.last_start,
        "outcome": run.outcome.value,
        "route": None if run.route is None else run.route.name,
        "taken": run.taken,
        "starts": run.starts,
        "ends": run.ends,
        "conduct": run.conduct and run.conduct.value,
        "room": None
        if room is None
        else {
            "jobs": room.jobs,
            "max_jobs": room.max_jobs,
            "idle": room.idle,
            "max_idle_jobs": room.max_idle_jobs,
            "managed": room.managed,
            "max_managed": room.max_managed,
        },
        **judged_data(run.why()),
    }


def _cells(row: results.PlannedRow, face: ClockFace, zone: tzinfo) -> Iterator[str]:
    room, conduct, time = row["room"], row["conduct"], row["time"]
    yield from (row["job"], face.text(time), row["route"] or "-")
    yield _short_time(row["taken"], time, zone)
    yield _short_time(row["starts"], time, zone) or ("" if conduct is None else "never")
    yield "" if room is None else _of(room["jobs"], room["max_jobs"])
    yield "" if room is None else _of(room["idle"], room["max_idle_jobs"])
    is_routed = row["outcome"] == PlannedOutcome.ROUTED.value
    yield conduct if is_routed and conduct is not None else row["outcome"]


def _line(width: int, *cells: str) -> str:
    job, run, route, taken, starts, jobs, idle, what = map(printable, cells)
    row = f"{job:<8} {run:<26} {route:<{width}} {taken:<12} {starts:<12} {jobs:<7} {idle:<6} {what}"
    return row.rstrip()


def _of(count: int, most: int) -> str:
    return str(count) if most < 0 else f"{count}/{most}"


def _short_time(epoch: int | None, time: int, zone: tzinfo) -> str:
    """Return a time in the shortest form that is clear next to the time of its run."""
    if epoch is None:
        return ""
    if not 0 <= epoch <= LATEST:
        return local_text(epoch, zone)
    if abs(epoch - time) > _SAME_WEEK:
        return f"{datetime.fromtimestamp(epoch, zone):%Y-%m-%d}"
    moment, beside = datetime.fromtimestamp(epoch, zone), datetime.fromtimestamp(time, zone)
    clock = f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
    return clock if moment.date() == beside.date() else f"{local_text(epoch, zone)[:3]} {clock}"


def _why(row: results.PlannedRow) -> Iterator[str]:
    """Yield the reasons why no route took the job."""
    for missed in row["missed"]:
        yield f"not a candidate: {shortened(printable(missed['reason']), _LONGEST)}"
        return
    for verdict in row["routes"]:
        reason = "" if verdict["reason"] is None else f": {shortened(printable(verdict['reason']), _LONGEST)}"
        yield f"{printable(verdict['route'])}: {verdict['outcome']}{reason}"


def _summary(made: RoutePlan, counts: Counter[PlannedOutcome]) -> str:
    if not counts:
        is_planned = any(job.schedule is not None for job in made.jobs)
        return "no run in this time" if is_planned else "no job with a schedule that can be planned"
    total = counts.total()
    parts = ", ".join(f"{counts[each]:,} {each.value}" for each in PlannedOutcome if counts[each])
    return f"{plural(total, 'run')}: {parts}"


def _legend(counts: Counter[PlannedOutcome], conducts: Iterable[CopySchedule]) -> Iterator[str]:
    """Yield the meanings of the words used in the last column."""
    for conduct in conducts:
        yield f"  {conduct.value}: {_CONDUCTS[conduct]}"
    yield from (f"  {each.value}: {_OUTCOMES[each]}" for each in _OUTCOMES if counts[each])
    if conducts:
        yield "  JOBS, IDLE: the route's jobs then, with this one, and its idle ones, of MaxJobs and MaxIdleJobs"


def as_long(_: RoutePlan, __: Clock, runs: Iterable[PlannedRun], ___: dict[Diagnostic, None]) -> Iterator[str]:
    """Yield the routed ads, each followed by an empty line."""
    for run in runs:
        if run.routed is not None and run.routed.ad is not None:
            yield f"{run.routed.ad.print(Format.LONG, Order.NAME)}\n"


def cures(made: RoutePlan, _: Clock, runs: Iterable[PlannedRun], __: dict[Diagnostic, None]) -> Iterator[str]:
    """Yield the lines to add to each route, and the behaviour of the copies without and with them."""
    known: set[tuple[str, str]] = set()
    for run in runs:
        found = made.cure(run)
        if found is None or run.route is None or run.conduct is None or (run.route.name, found.text) in known:
            continue
        known.add((run.route.name, found.text))
        name, was = printable(run.route.name), run.conduct.value
        if not found.text:
            yield f"# {name}: the copy of {printable(run.job.id)} {was}, there is nothing to remove"
            continue
        again = " again and again" if run.stays and not run.conduct.repeats and run.conduct.runs else ""
        now = f"{found.manner.conduct.value}, and runs once" if is_cured(found) else found.manner.conduct.value
        yield f"# {name}: the copy of {printable(run.job.id)} {was}{again}; with these lines it {now}"
        lines = found.text.split("\n")
        if any(line.startswith("SET Requirements") for line in lines):
            yield f"# (the Requirements are those of {printable(run.job.id)}: for other jobs write theirs)"
        yield from map(printable, lines)
    if not known:
        yield "# no job goes to a route"


def as_json(made: RoutePlan, _: Clock, runs: Iterable[PlannedRun], found: dict[Diagnostic, None]) -> Iterator[str]:
    """Yield one object, with a line for each run; `crondor config schema route plan` has the keys."""
    head = {
        "at_gate": made.options.at_gate,
        "polling_period": made.table.settings.polling_period,
        "now": made.now,
        "until": made.until,
        "run_time": made.options.run_time,
        "queue_time": made.options.queue_time,
        "jobs": [{"job": job.id, "name": job.name, "is_planned": job.schedule is not None} for job in made.jobs],
        "rejected": [each.name for each in made.table.rejected],
    }
    yield json.dumps(head, indent=2)[:-2] + ',\n  "runs": ['
    before = ""
    for run in runs:
        if before:
            yield before
        before = f"    {json.dumps(_data(made, run))},"
    if before:
        yield before[:-1]
    diagnostics = json.dumps([diagnostic_data(each) for each in found], indent=2).replace("\n", "\n  ")
    yield f'  ],\n  "diagnostics": {diagnostics}\n}}'


def _data(made: RoutePlan, run: PlannedRun) -> results.Run:
    cured, copy = made.cure(run), None if run.routed is None else run.routed.ad
    return {
        **_row(run),
        "cure": cured and {"text": cured.text, "conduct": cured.manner.conduct.value},
        "codes": [each.code for each in run.findings],
        "ad": None if copy is None else json.loads(copy.print(Format.JSON, Order.NAME)),
    }


EXAMPLE = """\
echo 'JOB_ROUTER_ROUTE_NAMES = A' > r.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS true' >> r.conf
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor route plan --config r.conf job.sub"""

EPILOG = """\b
Examples:
  crondor route plan nightly.sub --config 50-routes.conf
  crondor route plan nightly.sub --config 50-routes.conf --at-gate \\
      --run-time 3600 --days 7
  crondor route plan --queue /var/lib/condor/spool/job_queue.log \\
      --config 50-routes.conf --count-copies
  condor_q -long | crondor route plan --ads - --config 50-routes.conf \\
      --format json
  crondor route plan nightly.sub --config 50-routes.conf --cure

HTCondor's job router takes an idle job at its next poll, with its schedule, and does not wait for the gate of a run:
whether the runs happen depends on where the copy goes. --at-gate shows a router that takes the job for each run when
its gate opens. A copy runs for --run-time seconds, or until the job's next run.

Exit status: 0 fine or notes only; 1 an error or a warning (a schedule that does not work on its route, a job with
missing attributes, routing is switched off); 2 wrong usage."""

_MOST_FINDINGS = 1000
_DEFAULT_COUNT = 10


@click.command("plan", cls=Command, example=EXAMPLE, epilog=EPILOG)
@opts.submit_files()
@opts.ads_option
@click.option("--queue", "--log", metavar="PATH", help="The jobs of an embedded queue's folder, or of a job_queue.log.")
@opts.config_options
@opts.file_options
@legacy_option
@click.option(
    "-n", "--count", type=click.IntRange(1, 1_000_000), help="Runs of each job (default: 10; with an end: all)."
)
@opts.until_option("Plan runs")
@click.option("--days", type=click.IntRange(1, 36_600), help="Days of 24 h to plan.")
@click.option("--at-gate", is_flag=True, help="Route a job for each run, when the gate of the run opens.")
@click.option("--run-time", type=click.IntRange(1, 10**9), metavar="SECONDS", help="How long a copy runs.")
@click.option(
    "--queue-time",
    type=click.IntRange(0, 10**9),
    default=0,
    metavar="SECONDS",
    help="How long a copy waits at the site.",
)
@click.option(
    "--rejected",
    type=click.IntRange(0, 10**9),
    metavar="SECONDS",
    help="The local pool rejects the jobs after this time.",
)
@route_state_options
@click.option("--job-owner", metavar="NAME", help="Owner of the jobs of submit files (default: you).")
@opts.clock_options
@opts.reading_options(htcondor=True)
@opts.interval_option
@click.option("--cure", is_flag=True, help="Print lines that remove the schedules from the copies.")
@opts.format_option("table", "long", "json", text="How to print; long: the routed ads.")
@opts.gathered("options", PlanOptions)
def command(
    paths: tuple[str, ...],
    ads: tuple[str, ...],
    queue: str | None,
    config: ConfigFiles,
    surroundings: Surroundings,
    legacy: bool,
    until: str | None,
    days: int | None,
    loads: tuple[str, ...],
    throttled: tuple[str, ...],
    count_copies: bool,
    job_owner: str | None,
    options: PlanOptions,
    clock: Clock,
    dialect: Dialect | None,
    policy: Policy | None,
    schedd_interval: int,
    cure: bool,
    format_: str,
) -> None:
    """List the coming runs of scheduled jobs, the route that takes each, and the schedule of the copy."""
    if not (paths or ads or queue):
        raise usage("give the jobs: FILES, --ads FILE or --queue PATH")
    check_stdin(*paths, *ads, *config.paths)
    end = _end(clock, until, days)
    reading = JobSettings(clock.zone, dialect or Dialect.MANUAL, policy, schedd_interval, job_owner or account())
    context = Context(now=clock.now, zone=clock.zone)
    table = load_route_table(config, surroundings.allow_dirs, context, legacy=legacy)
    route_state = route_state_of(table, loads, throttled)
    jobs: list[Plannable] = []
    findings: list[Diagnostic] = []
    read_plannable(paths, ads, queue, clock, surroundings, jobs, findings)
    if count_copies:
        route_state = with_copies(route_state, table, (each for each in jobs if isinstance(each, ClassAd)), context)
    if options.count is None and end is None:
        options = replace(options, count=_DEFAULT_COUNT)
    options = replace(options, route_state=route_state, reading=reading)
    made = plan(jobs, table, clock.now, end, options)
    said = _Said([*findings, *made.findings])
    forms = {"table": as_table, "json": as_json, "long": as_long}
    shown = cures if cure else forms[format_]
    texts = shown(made, clock, said.runs(made), said.found)
    if shown is as_long:
        for text in texts:
            emit(text, nl=True)
    else:
        echo_lines(texts, fits=shown is as_table)
    _close(made, said)


class _Said:
    """Collects each finding of a plan once while its runs are processed."""

    def __init__(self, findings: list[Diagnostic]) -> None:
        self.found: dict[Diagnostic, None] = dict.fromkeys(findings)
        self.left_out = 0

    def runs(self, made: RoutePlan) -> Iterator[PlannedRun]:
        for run in PROGRESS.counted(made, "planning", "runs"):
            for finding in run.findings:
                if finding in self.found:
                    continue
                if len(self.found) < _MOST_FINDINGS:
                    self.found[finding] = None
                else:
                    self.left_out += 1
            yield run


def _close(made: RoutePlan, said: _Said) -> None:
    """Show the findings after the plan, and exit with 1 if there are faults."""
    show(said.found)
    if said.left_out:
        show([Diagnostic("more-faults", f"{said.left_out} more findings like these", Severity.WARNING)])
    if made.table.rejected:
        rejected = ", ".join(printable(each.name) for each in made.table.rejected)
        say(f"rejected: {rejected}; see crondor route check", err=True)
    if any(each.severity is not Severity.NOTE for each in said.found) or not made.table.is_enabled:
        raise click.exceptions.Exit(1)


def _end(clock: Clock, until: str | None, days: int | None) -> int | None:
    if until is not None and days is not None:
        raise usage("--until and --days both set the end of the plan: choose one")
    if days is not None:
        return clock.now + days * 86_400 - 1
    return clock.last(until, "no run")
