"""`crondor queue status`: the crontab and deferral jobs of a queue, and how they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click

from crondor.diagnostics import Severity, has_error
from crondor.schedd.status import ScheduledJob
from crondor_cli.common.command import Command
from crondor_cli.common.options import format_option
from crondor_cli.common.queue import job_arguments
from crondor_cli.common.queue_reading import QueueReading, reads_queue
from crondor_cli.common.show import show
from crondor_cli.queue.text import print_status, status_data

EXAMPLE = "crondor queue status --queue q"

EPILOG = """\b
Examples:
  crondor queue status --live
  crondor queue status alice --queue q --constraint 'JobStatus == 5'
  crondor queue status --log /var/lib/condor/spool/job_queue.log
  condor_q -all -long | crondor queue status --ads -

A job that HTCondor calls Running while it waits on its machine for its DeferralTime is `waiting` here. A followed log
shows DeferralTime late: what is not there is computed from the schedule.

Exit status: 0 fine, 1 a finding (a job with trouble, or that is not there; a queue that cannot be read), 2 wrong
usage."""


@click.command(
    "status",
    cls=Command,
    example=EXAMPLE,
    epilog=EPILOG,
)
@job_arguments
@reads_queue
@format_option("table", "json")
def command(read: QueueReading, format_: str) -> None:
    """Show the jobs that have a schedule: what they do, when they start next, and what keeps them from it."""
    looks = _Watched(read.looks())
    show(dict.fromkeys(read.found.findings))
    if format_ == "json":
        status_data(looks, read)
    else:
        print_status(looks, read)
    if looks.troubled or has_error(read.found.findings):
        raise click.exceptions.Exit(1)


class _Watched:
    """Hands jobs on, and remembers whether one had trouble."""

    def __init__(self, looks: Iterable[ScheduledJob]) -> None:
        self._looks = looks
        self.troubled = False

    def __iter__(self) -> Iterator[ScheduledJob]:
        for look in self._looks:
            self.troubled |= any(trouble.severity is not Severity.NOTE for trouble in look.trouble)
            yield look
