"""`crondor route q`: the routed jobs of a queue, as condor_router_q shows them."""

from __future__ import annotations

from typing import NamedTuple

import click

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic, has_error
from crondor.router.tools import HELD, IDLE, NOT_RUNNING, RUNNING, Totals
from crondor.schedd.selection import Selection
from crondor_cli.common.ad_files import context_of
from crondor_cli.common.config_options import ConfigFiles
from crondor_cli.common.one_dash import OneDashCommand
from crondor_cli.common.options import Clock, clock_of, clock_options, format_option
from crondor_cli.common.queue import live_of, read_jobs
from crondor_cli.common.queue_options import QueueOptions, source_options
from crondor_cli.common.show import show
from crondor_cli.route.copies import contact_options, copies, copies_options, missing_copies, queue_of_copies
from crondor_cli.route.q_text import (
    ShownQueue,
    autoformat_of,
    jobs_data,
    print_ads,
    print_jobs,
    print_summary,
    print_values,
    summary_data,
)

EXAMPLE = "crondor route q -S --queue q"

EPILOG = """\b
Examples:
  crondor route q -S --log /var/lib/condor/spool/job_queue.log
  crondor route q -route Campus -held -nobatch --live
  crondor route q -af:j RoutedFromJobId RouteName --config 50-routes.conf
  condor_q -all -long | crondor route q -S --ads -

Options have one dash or two: -idle is --idle. All of them hold at once; of several routes any one will do. Without
-S, -R, -I or -H it is condor_q's list, over the jobs of all users.

Exit status: 0 fine, 1 a finding (a queue that cannot be read, a job that is not there), 2 wrong usage."""

STATES = {"running": RUNNING, "not_running": NOT_RUNNING, "held_summary": HELD, "idle": IDLE, "held": HELD}


class RoutedJobs(NamedTuple):
    """The routed jobs that were asked for, and all jobs counted where that is wanted."""

    ads: list[ClassAd]
    everybody: Totals | None
    findings: list[Diagnostic]


@click.command(
    "q",
    example=EXAMPLE,
    cls=OneDashCommand,
    epilog=EPILOG,
    context_settings={"help_option_names": ["--help", "-help", "-h"]},
)
@copies_options
@click.option("-S", "summary", is_flag=True, help="Summarise the jobs on each route.")
@click.option("-R", "running", is_flag=True, help="Summarise running jobs.")
@click.option("-I", "not_running", is_flag=True, help="Summarise jobs that do not run, the held ones too.")
@click.option("-H", "held_summary", is_flag=True, help="Summarise held jobs.")
@click.option("--nobatch", is_flag=True, help="A line for each job, not for each batch.")
@click.option("--long", "long_", is_flag=True, help="The ads: --format long.")
@click.option(
    "--af", "autoformat", metavar=":OPTIONS ATTR...", help="Values of attributes (j: the job's number first)."
)
@click.option("--attribute", "attributes", multiple=True, hidden=True)
@source_options
@contact_options
@clock_options
@format_option("table", "long", "json")
def command(
    jobs: tuple[str, ...],
    routes: tuple[str, ...],
    constraints: tuple[str, ...],
    asked: QueueOptions,
    config: ConfigFiles,
    allow_dirs: tuple[str, ...],
    now: str | None,
    tz: str | None,
    nobatch: bool,
    long_: bool,
    autoformat: str | None,
    attributes: tuple[str, ...],
    format_: str,
    summary: bool,
    **states: bool,
) -> None:
    """Show the routed jobs of a queue: how many in which state on each route, or job by job."""
    forms = autoformat_of(autoformat, attributes)
    is_summary = summary or states["running"] or states["not_running"] or states["held_summary"]
    wanted = [text for state, text in STATES.items() if states[state]]
    chosen = copies(jobs, routes, wanted, constraints)
    clock = clock_of(now, tz)
    asked = queue_of_copies(asked, config, allow_dirs, clock)
    found = _read(asked, chosen, clock, totals=not (is_summary or long_ or forms))
    found.findings.extend(missing_copies(chosen, found.ads))
    show(dict.fromkeys(found.findings))
    shown = ShownQueue(found.ads, found.everybody, asked, clock, context_of(clock), tuple(found.findings))
    if forms is not None:
        print_values(shown, forms)
    elif format_ == "long" or long_:
        print_ads(shown)
    elif is_summary:
        (summary_data if format_ == "json" else print_summary)(shown)
    elif format_ == "json":
        jobs_data(shown)
    else:
        print_jobs(shown, nobatch=nobatch)
    if has_error(found.findings):
        raise click.exceptions.Exit(1)


def _read(asked: QueueOptions, chosen: Selection, clock: Clock, *, totals: bool) -> RoutedJobs:
    """Read a queue once, a live one a second time for the totals. Raises CrondorError; UsageError for a file."""
    context = context_of(clock)
    if asked.kind == "live":
        with live_of(asked) as schedd:
            ads = schedd.jobs(chosen)
            findings = [*schedd.diagnostics]
            everybody = Totals.of(schedd.jobs(None, ["JobStatus", "JobUniverse"]), context) if totals else None
        return RoutedJobs(ads, everybody, findings)
    jobs, findings = read_jobs(asked, clock)
    ads = [ad for ad in jobs if chosen.holds(ad, context)]
    return RoutedJobs(ads, Totals.of(jobs, context) if totals else None, findings)
