"""`crondor route plan`: the coming runs of scheduled jobs, and the route of each."""

from __future__ import annotations

import getpass
from collections.abc import Iterator

import click

from crondor.classad.scope import Context
from crondor.diagnostics import Diagnostic, Severity, printable
from crondor.router_bridge import JobSettings, Plannable, PlannedRun, PlanOptions, RoutePlan, plan
from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.common.command import Command
from crondor_cli.common.config_options import ConfigFiles, config_options
from crondor_cli.common.options import (
    Clock,
    Surroundings,
    ads_option,
    clock_of,
    clock_options,
    file_options,
    format_option,
    interval_option,
    reading_options,
    until_option,
)
from crondor_cli.common.output import echo_lines, emit, say
from crondor_cli.common.progress import PROGRESS
from crondor_cli.common.route_options import legacy_option, load_route_table
from crondor_cli.common.show import show
from crondor_cli.common.submit_files import submit_files
from crondor_cli.route import plan_text
from crondor_cli.route.plan_jobs import read_plannable
from crondor_cli.route.state import route_state_of, route_state_options, with_copies

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

HTCondor's job router takes a job at its next poll after it is idle, whole, and does not wait for the gate of a run: the
copy has the schedule, and what becomes of the runs depends on where it goes. --at-gate shows what a router does that
takes the job for each run when its gate opens. A copy runs for --run-time seconds, or until the job's next run.

Exit status: 0 fine or notes only; 1 an error or a warning (what becomes of a schedule, what a job lacks, routing is
switched off); 2 wrong usage."""

_MOST_FINDINGS = 1000
_DEFAULT_COUNT = 10


@click.command(
    "plan",
    cls=Command,
    example=EXAMPLE,
    epilog=EPILOG,
)
@submit_files()
@ads_option
@click.option("--queue", "--log", metavar="PATH", help="The jobs of an embedded queue's folder, or of a job_queue.log.")
@config_options
@file_options
@legacy_option
@click.option(
    "-n", "--count", type=click.IntRange(1, 1_000_000), help="Runs of each job (default: 10; with an end: all)."
)
@until_option("Plan runs")
@click.option("--days", type=click.IntRange(1, 36_600), help="Plan so many days of 24 h.")
@click.option("--at-gate", is_flag=True, help="Take a job run by run, when its gate opens.")
@click.option("--run-time", type=click.IntRange(1, 10**9), metavar="SECONDS", help="How long a copy runs.")
@click.option(
    "--queue-time", type=click.IntRange(0, 10**9), default=0, metavar="SECONDS", help="How long it waits at the site."
)
@click.option(
    "--rejected",
    type=click.IntRange(0, 10**9),
    metavar="SECONDS",
    help="The local pool rejects the jobs then.",
)
@route_state_options
@click.option("--job-owner", metavar="NAME", help="Owner of the jobs of submit files (default: you).")
@clock_options
@reading_options(htcondor=True)
@interval_option
@click.option("--cure", is_flag=True, help="Print the lines that take the schedules out of the copies.")
@format_option("table", "long", "json", text="How to print; long: the routed ads.")
def command(
    paths: tuple[str, ...],
    ads: tuple[str, ...],
    queue: str | None,
    config: ConfigFiles,
    surroundings: Surroundings,
    legacy: bool,
    count: int | None,
    until: str | None,
    days: int | None,
    at_gate: bool,
    run_time: int | None,
    queue_time: int,
    rejected: int | None,
    loads: tuple[str, ...],
    throttled: tuple[str, ...],
    count_copies: bool,
    owner: str | None,
    job_owner: str | None,
    now: str | None,
    tz: str | None,
    dialect: Dialect | None,
    policy: Policy | None,
    schedd_interval: int,
    cure: bool,
    format_: str,
) -> None:
    """Show which route takes a scheduled job for each coming run, and what becomes of its schedule there."""
    if not (paths or ads or queue):
        raise _usage("name the jobs: FILES, --ads FILE or --queue PATH")
    if [*paths, *ads, *config.paths].count("-") > 1:
        raise _usage("standard input (-) can be read only once")
    clock = clock_of(now, tz)
    end = _end(clock, until, days)
    reading = JobSettings(
        clock.zone,
        dialect or Dialect.MANUAL,
        policy,
        schedd_interval,
        job_owner or getpass.getuser(),
    )
    context = Context(now=clock.now, zone=clock.zone)
    table = load_route_table(config, surroundings.allow_dirs, context, legacy=legacy)
    route_state = route_state_of(table, loads, throttled)
    jobs: list[Plannable] = []
    findings: list[Diagnostic] = []
    read_plannable(paths, ads, queue, clock, surroundings, jobs, findings)
    if count_copies:
        route_state = with_copies(route_state, table, plan_text.ads_of(jobs), context)
    limit = count if count is not None or end is not None else _DEFAULT_COUNT
    options = PlanOptions(
        at_gate=at_gate,
        run_time=run_time,
        queue_time=queue_time,
        rejected=rejected,
        count=limit,
        route_state=route_state,
        owner=owner,
        reading=reading,
    )
    made = plan(jobs, table, clock.now, end, options)
    said = _Said([*findings, *made.findings])
    forms = {"table": plan_text.table, "json": plan_text.data, "long": plan_text.long}
    shown = plan_text.cures if cure else forms[format_]
    texts = shown(made, clock, said.runs(made), said.found)
    if shown is plan_text.long:
        for text in texts:
            emit(text, nl=True)
    else:
        echo_lines(texts, fits=shown is plan_text.table)
    _close(made, said)


class _Said:
    """Collects the findings of a plan while its runs pass by, each once."""

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
    """Show what was found behind the plan, and exit with 1 where something was wrong."""
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
        raise _usage("--until and --days say both when the plan ends: choose one")
    if days is not None:
        return clock.now + days * 86_400 - 1
    return clock.last(until, "no run")


def _usage(message: str) -> click.UsageError:
    return click.UsageError(message, click.get_current_context(silent=True))
