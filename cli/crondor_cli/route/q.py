"""`crondor route q`: the routed jobs of a queue, as condor_router_q shows them."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor.classad import Context, print_value
from crondor.classad.ad import ClassAd
from crondor.classad.printing import Format
from crondor.diagnostics import Diagnostic, has_error, printable
from crondor.job.attributes import value
from crondor.router.tools import (
    HELD,
    IDLE,
    NOT_RUNNING,
    RUNNING,
    Listed,
    Totals,
    banner,
    batch_lines,
    job_lines,
    look_at,
    summarise,
    summary_lines,
    totals_lines,
)
from crondor.schedd.protocol import Selection
from crondor_cli.kit.ads import context_of
from crondor_cli.kit.configs import OneDashCommand, config_option
from crondor_cli.kit.options import Clock, ConfigFiles, QueueOptions, clock_options, format_option, source_options
from crondor_cli.kit.queues import live_of, read_jobs
from crondor_cli.kit.screen import emit, say, show, usage
from crondor_cli.kit.tables import diagnostic_data, echo_json, iso
from crondor_cli.route.run import copies, copies_options, missing_copies, queue_name, queue_of_copies

if TYPE_CHECKING:
    from crondor_cli.kit.results import QueueSource
    from crondor_cli.route import results

_OPTIONS = "jlrt,"


class ShownQueue(NamedTuple):
    """The jobs to show; ``everybody`` counts all jobs of the queue, None if not requested."""

    ads: list[ClassAd]
    everybody: Totals | None
    asked: QueueOptions
    clock: Clock
    context: Context
    findings: list[Diagnostic]


def _check_autoformat(options: str | None, attributes: tuple[str, ...]) -> None:
    """Check the options and attributes of -af. Raises UsageError."""
    if options is None:
        if attributes:
            raise usage("--attribute needs -af")
        return
    odd = next((letter for letter in options if letter not in _OPTIONS), None)
    if odd is not None or not attributes:
        wrong = f"-af does not know the option {printable(odd)!r}" if odd is not None else "-af needs attributes"
        raise usage(f"{wrong}: write -af:j RouteName JobStatus (j number, l name, r raw, t tabs, comma)")


def print_jobs(shown: ShownQueue, *, nobatch: bool) -> None:
    """Print condor_q's list, by batch or by job."""
    jobs = [look_at(ad, shown.context) for ad in shown.ads]
    zone = shown.clock.zone
    for line in chain(
        banner(queue_name(shown.asked), shown.clock.now, zone),
        (job_lines if nobatch else batch_lines)(jobs, zone),
        totals_lines(Totals.of(shown.ads, shown.context), shown.everybody),
    ):
        say(line)


def print_values(shown: ShownQueue, options: str, attributes: tuple[str, ...]) -> None:
    """Print a line of values for each job, like condor_q -af."""
    between = "\t" if "t" in options else ", " if "," in options else " "
    for ad in shown.ads:
        job = look_at(ad, shown.context)
        cells = [str(job.id)] if "j" in options else []
        for name in attributes:
            label = f"{printable(name)} = " if "l" in options else ""
            cells.append(label + _value(ad, name, shown.context, raw="r" in options))
        say(between.join(cells))


def _value(ad: ClassAd, name: str, context: Context, *, raw: bool) -> str:
    if name not in ad:
        return "undefined"
    found = ad.text(name) if raw else value(ad, name, context)
    return printable(found if isinstance(found, str) else print_value(found))


def print_json(shown: ShownQueue, *, is_summary: bool) -> None:
    """Print the jobs, or their summary, as JSON."""
    head: QueueSource = {"source": shown.asked.kind, "zone": shown.clock.zone_name, "now": shown.clock.now}
    found = [diagnostic_data(each) for each in shown.findings]
    if is_summary:
        rows: list[results.QCounted] = [
            {"jobs": row.jobs, "state": row.state, "route": row.route, "grid_resource": row.grid_resource}
            for row in summarise(shown.ads, shown.context)
        ]
        summary: results.Summary = {**head, "summary": rows, "diagnostics": found}
        echo_json(summary)
        return
    totals: results.Totals = {
        "query": _states(Totals.of(shown.ads, shown.context)),
        "all_users": None if shown.everybody is None else _states(shown.everybody),
    }
    jobs = [_job(look_at(ad, shown.context), shown.clock) for ad in shown.ads]
    data: results.Jobs = {**head, "jobs": jobs, "totals": totals, "diagnostics": found}
    echo_json(data)


def _states(totals: Totals) -> results.States:
    return {
        "completed": totals.completed,
        "removed": totals.removed,
        "idle": totals.idle,
        "running": totals.running,
        "held": totals.held,
        "suspended": totals.suspended,
    }


def _job(job: Listed, clock: Clock) -> results.QJob:
    return {
        "job": None if job.id is None else str(job.id),
        "owner": job.owner,
        "route": job.route,
        "routed_from": job.source or None,
        "grid_resource": job.grid_resource or None,
        "job_status": job.status,
        "submitted": job.submitted,
        "submitted_local": None if job.submitted is None else iso(job.submitted, clock.zone),
        "run_time": job.run_time,
        "priority": job.priority,
        "size_mb": job.size,
        "batch_name": job.batch_name,
        "cmd": job.description,
    }


EPILOG = """\b
Examples:
  crondor route q -S --log /var/lib/condor/spool/job_queue.log
  crondor route q -route Campus -held -nobatch --live
  crondor route q -af:j RoutedFromJobId RouteName --config 50-routes.conf
  condor_q -all -long | crondor route q -S --ads -

Options have one dash or two: -idle is --idle. A job must satisfy all options; with several routes, it must be on any
of them. Without -S, -R, -I or -H the list is condor_q's, over the jobs of all users.

Exit status: 0 fine, 1 a finding (a queue that cannot be read, a missing job), 2 wrong usage."""

STATES = {"running": RUNNING, "not_running": NOT_RUNNING, "held_summary": HELD, "idle": IDLE, "held": HELD}


@click.command("q", example="crondor route q -S --queue q", cls=OneDashCommand, epilog=EPILOG)
@copies_options
@click.option("-S", "summary", is_flag=True, help="Summarise the jobs on each route.")
@click.option("-R", "running", is_flag=True, help="Summarise running jobs.")
@click.option("-I", "not_running", is_flag=True, help="Summarise jobs that do not run, including held jobs.")
@click.option("-H", "held_summary", is_flag=True, help="Summarise held jobs.")
@click.option("--nobatch", is_flag=True, help="A line for each job, not for each batch.")
@click.option("--long", "long_", is_flag=True, help="The ads: --format long.")
@click.option(
    "--af", "autoformat", metavar=":OPTIONS ATTR...", help="Values of attributes (j: the job's number first)."
)
@click.option("--attribute", "attributes", multiple=True, hidden=True)
@source_options
@config_option
@clock_options
@format_option("table", "long", "json")
def command(
    jobs: tuple[str, ...],
    routes: tuple[str, ...],
    constraints: tuple[str, ...],
    asked: QueueOptions,
    config: ConfigFiles,
    allow_dirs: tuple[str, ...],
    clock: Clock,
    nobatch: bool,
    long_: bool,
    autoformat: str | None,
    attributes: tuple[str, ...],
    format_: str,
    summary: bool,
    **states: bool,
) -> None:
    """List the routed jobs of a queue: counts by route and state, or each job."""
    _check_autoformat(autoformat, attributes)
    is_summary = summary or states["running"] or states["not_running"] or states["held_summary"]
    wanted = [text for state, text in STATES.items() if states[state]]
    chosen = copies(jobs, routes, wanted, constraints)
    asked = queue_of_copies(asked, config, allow_dirs, clock)
    shown = _read(asked, chosen, clock, totals=not (is_summary or long_ or autoformat is not None))
    show(dict.fromkeys(shown.findings))
    if autoformat is not None:
        print_values(shown, autoformat, attributes)
    elif format_ == "long" or long_:
        for ad in shown.ads:
            emit(ad.print(Format.LONG), nl=True)
    elif format_ == "json":
        print_json(shown, is_summary=is_summary)
    elif is_summary:
        for line in summary_lines(summarise(shown.ads, shown.context)):
            say(line)
    else:
        print_jobs(shown, nobatch=nobatch)
    if has_error(shown.findings):
        raise click.exceptions.Exit(1)


def _read(asked: QueueOptions, chosen: Selection, clock: Clock, *, totals: bool) -> ShownQueue:
    """Read a queue once, a live queue again for the totals. Raises CrondorError; UsageError for a file."""
    context, everybody = context_of(clock), None
    if asked.kind == "live":
        with live_of(asked) as schedd:
            ads = schedd.jobs(chosen)
            findings = [*schedd.diagnostics]
            if totals:
                everybody = Totals.of(schedd.jobs(None, ["JobStatus", "JobUniverse"]), context)
    else:
        jobs, findings = read_jobs(asked, clock)
        ads = [ad for ad in jobs if chosen.holds(ad, context)]
        everybody = Totals.of(jobs, context) if totals else None
    return ShownQueue(ads, everybody, asked, clock, context, [*findings, *missing_copies(chosen, ads)])
