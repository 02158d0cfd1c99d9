"""`crondor route history`: what became of routed jobs that have left the queue, as condor_router_history reports it."""

from __future__ import annotations

import click

from crondor.router.tools import Times
from crondor_cli.common.config_options import ConfigFiles
from crondor_cli.common.first_faults import FirstFaults
from crondor_cli.common.one_dash import OneDashCommand
from crondor_cli.common.options import clock_of, clock_options, format_option
from crondor_cli.common.output import say
from crondor_cli.common.queue_options import QueueOptions, source_options
from crondor_cli.common.show import show
from crondor_cli.route.copies import contact_options, queue_of_copies
from crondor_cli.route.ended import Wanted, ended_jobs
from crondor_cli.route.history_text import print_json, print_report
from crondor_cli.route.period import days_option, period_of

EXAMPLE = "crondor route history --queue q"

EPILOG = """\b
Examples:
  crondor route history --spool /var/lib/condor/spool
  crondor route history --days=7 --show_records \\
      --history history.20261101T000000 --history history
  crondor route history --start='2026-11-01 00:00' --live --format json

Where the history is: --spool for all history files of a folder, --history for some of them, --live for a schedd's
answer; with --log those beside the log; else the embedded queue's. The period ends --age days ago and is --days long;
with --start it begins there, and is --days long where that is given.

Exit status: 0 fine, 1 a finding (a history that cannot be read), 2 wrong usage."""

_MOST = 10  # findings that are shown


@click.command(
    "history",
    example=EXAMPLE,
    cls=OneDashCommand,
    epilog=EPILOG,
    context_settings={"help_option_names": ["--help", "-help", "-h"]},
)
@click.option("--days", callback=days_option, metavar="DAYS", help="How many days the report covers (default: 1).")
@click.option("--age", callback=days_option, metavar="DAYS", help="How many days ago it ends (default: 0).")
@click.option("--start", metavar='"YYYY-MM-DD HH:MM"', help="When it begins, in the schedd's zone.")
@click.option("--records", "--show_records", "records", is_flag=True, help="Show the jobs one by one.")
@click.option("--iwd", "--show_iwd", "iwd", is_flag=True, help="With --records: their working directories too.")
@click.option("--as-htcondor", is_flag=True, help="Count as condor_router_history: no job that was removed.")
@click.option("--spool", metavar="DIR", help="A spool folder, whose history files are read.")
@click.option("--history", "files", multiple=True, metavar="FILE", help="A history file.")
@source_options
@contact_options
@clock_options
@format_option("table", "json")
def command(
    days: float | None,
    age: float | None,
    start: str | None,
    records: bool,
    iwd: bool,
    as_htcondor: bool,
    spool: str | None,
    files: tuple[str, ...],
    asked: QueueOptions,
    config: ConfigFiles,
    allow_dirs: tuple[str, ...],
    now: str | None,
    tz: str | None,
    format_: str,
) -> None:
    """Report the routed jobs that have left the queue: hours, completed and aborted jobs of each route."""
    clock = clock_of(now, tz)
    period = period_of(days, age, start, clock)
    if sum(map(bool, (spool, files, any(asked)))) > 1:
        message = "--spool, --history and the queue's options name different histories: choose one"
        raise click.UsageError(message, click.get_current_context(silent=True))
    if not spool and not files:
        asked = queue_of_copies(asked, config, allow_dirs, clock)
    wanted, findings = Wanted(asked, spool, files), FirstFaults(_MOST)
    times = Times.HTCONDOR if as_htcondor else Times.ENDED
    jobs = ended_jobs(wanted, period, times, clock, findings)
    show(findings.shown)
    if findings.more:
        say(f"and {findings.more:,} more findings", err=True)
    if format_ == "json":
        print_json(jobs, period, clock, findings.shown)
    else:
        print_report(jobs, period, clock, records=records, iwd=iwd)
    if findings.is_bad:
        raise click.exceptions.Exit(1)
