"""`crondor queue`: queues of jobs; its subcommands are loaded when they are asked for."""

from __future__ import annotations

import click

from crondor_cli.kit.command import LazyGroup

COMMANDS = {
    "status": ("crondor_cli.queue.status", "List the jobs with a schedule: state, next start, trouble."),
    "recalc": ("crondor_cli.queue.status:recalc", "Show what a schedd's pass over its crontab jobs does now."),
    "submit": ("crondor_cli.queue.submit", "Submit a file to a queue."),
    "hold": ("crondor_cli.queue.acting:hold", "Put jobs of a queue on hold."),
    "release": ("crondor_cli.queue.acting:release", "Release held jobs of a queue."),
    "rm": ("crondor_cli.queue.acting:remove", "Remove jobs from a queue."),
    "edit": ("crondor_cli.queue.submit:edit", "Set attributes of jobs of a queue."),
    "history": ("crondor_cli.queue.status:history", "List jobs that have left the queue."),
    "guard": ("crondor_cli.queue.guard", "Keep DeferralTime on the manual's meaning."),
    "advertise": ("crondor_cli.queue.advertise", "Print a queue's next starts, as a Schedd Cron job does."),
}

EPILOG = """\b
Examples:
  crondor queue submit nightly.sub --queue q
  crondor queue status --queue q
  crondor queue status --log /var/lib/condor/spool/job_queue.log
  condor_q -all -long | crondor queue status --ads -
  crondor queue guard --live --once

Jobs are named as condor_q takes them: 12.0, 12 for a whole cluster, an owner; --constraint takes an expression.
Which queue: --queue, --log, --live or --ads. The environment variable CRONDOR_QUEUE names an embedded queue for the
commands that are given none of them. `crondor next --queue PATH` lists the coming starts."""


@click.group("queue", cls=LazyGroup, modules=COMMANDS, epilog=EPILOG, no_args_is_help=True)
def command() -> None:
    """Show and change queues of jobs: an embedded queue on disk, a schedd's log, a live schedd, or ads.

    Exit status: 0 fine, 1 a finding (trouble, an unknown job, a queue that cannot be read), 2 wrong usage.
    """
