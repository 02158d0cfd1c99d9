"""`crondor queue history`: jobs that have left a queue, the latest first."""

from __future__ import annotations

import click

from crondor.classad.ad import ClassAd
from crondor.classad.printing import Format
from crondor.job.queued import QueuedJob
from crondor.job.status import JobStatus
from crondor_cli.common.columns import cell, print_rows
from crondor_cli.common.command import Command
from crondor_cli.common.options import clock_of, clock_options, format_option
from crondor_cli.common.output import emit, say
from crondor_cli.common.queue import job_arguments, no_queue, opened, selection_of
from crondor_cli.common.queue_options import QueueOptions, schedd_options
from crondor_cli.common.show import show
from crondor_cli.common.streaming import echo_json
from crondor_cli.times.text import local_text

EXAMPLE = "crondor queue history --queue q"

EPILOG = """\b
Examples:
  crondor queue history --queue q
  crondor queue history alice -n 3 --live
  crondor queue history --live --constraint 'ExitCode != 0'

Exit status: 0 fine, 1 a queue that cannot be read, 2 wrong usage."""


@click.command("history", cls=Command, example=EXAMPLE, epilog=EPILOG)
@job_arguments
@click.option("-n", "--count", type=click.IntRange(1, 1_000_000), default=10, help="How many (default: 10).")
@schedd_options
@clock_options
@format_option("table", "long", "json")
def command(
    jobs: tuple[str, ...],
    constraint: str | None,
    count: int,
    asked: QueueOptions,
    now: str | None,
    tz: str | None,
    format_: str,
) -> None:
    """Show the jobs that have left the queue, the latest first."""
    chosen = selection_of(jobs, constraint)
    clock = clock_of(now, tz)
    with opened(asked, clock) as schedd:
        if schedd is None:
            show([no_queue(asked.folder)])
        ads = [] if schedd is None else schedd.history(chosen, limit=count)
    if format_ == "json":
        echo_json({"jobs": [_data(QueuedJob(ad)) for ad in ads]})
    elif format_ == "long":
        emit("\n".join(ad.print(Format.LONG) for ad in ads))
    elif ads:
        rows = []
        for ad in ads:
            job, ended = QueuedJob(ad), _ended(ad)
            when = "-" if ended is None else local_text(ended, clock.zone)
            owner, cmd = cell(job.string("Owner")), cell(job.string("Cmd"))
            rows.append([job.id or "-", owner, cmd, _status(job), when, cell(job.string("RemoveReason"))])
        print_rows(["job", "owner", "cmd", "state", "since", "reason"], rows)
    else:
        say("no job has left the queue")


def _status(job: QueuedJob) -> str:
    return "unknown" if job.status is None else job.status.name.lower()


def _ended(ad: ClassAd) -> int | None:
    job = QueuedJob(ad)
    completed = job.integer("CompletionDate")
    return completed if completed and job.status is JobStatus.COMPLETED else job.integer("EnteredCurrentStatus")


def _data(job: QueuedJob) -> dict[str, object]:
    return {
        "job": job.id,
        "owner": job.string("Owner"),
        "cmd": job.string("Cmd"),
        "state": _status(job),
        "since": _ended(job.ad),
        "reason": job.string("RemoveReason"),
    }
