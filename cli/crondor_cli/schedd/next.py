"""`crondor schedd next`: the coming starts of a queue's jobs, in order."""

from __future__ import annotations

import click

from crondor.diagnostics import has_error
from crondor_cli.common.command import Command
from crondor_cli.common.options import format_option
from crondor_cli.common.queue import job_arguments
from crondor_cli.common.show import show
from crondor_cli.schedd.reading import QueueReading, reads_queue
from crondor_cli.schedd.starts import starts_of
from crondor_cli.schedd.text import print_starts, starts_data

EXAMPLE = "crondor schedd next --queue q"

EPILOG = """\b
Examples:
  crondor schedd next --live
  crondor schedd next -n 3 alice --queue q
  condor_q -all -long | crondor schedd next --ads -

A job without on_exit_remove = false leaves the queue when a run ends: it has one start. Held jobs have none.
`crondor next --ads` shows one job's runs in detail.

Exit status: 0 fine, 1 a finding (a job that is not there, a queue that cannot be read), 2 wrong usage."""


@click.command(
    "next", cls=Command, example=EXAMPLE, epilog=EPILOG, short_help="The coming starts of all jobs, in order."
)
@job_arguments
@click.option("-n", "--count", type=click.IntRange(1, 100_000), default=10, help="How many (default: 10).")
@reads_queue
@format_option("table", "json")
def command(count: int, read: QueueReading, format_: str) -> None:
    """Show when jobs of a queue start next, with the moments of each start."""
    starts = starts_of(read.looks(), count)
    show(dict.fromkeys(read.found.findings))
    if format_ == "json":
        starts_data(starts, read)
    else:
        print_starts(starts, read.clock)
    if has_error(read.found.findings):
        raise click.exceptions.Exit(1)
