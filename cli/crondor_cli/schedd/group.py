"""`crondor schedd`: queues of jobs; its subcommands are loaded when they are asked for."""

from __future__ import annotations

import click

from crondor_cli.common.lazy_group import LazyGroup

COMMANDS = {
    "status": ("crondor_cli.schedd.status", "The crontab and deferral jobs: state, next start, trouble."),
    "next": ("crondor_cli.schedd.next", "The coming starts of all jobs, in order."),
    "recalc": ("crondor_cli.schedd.recalc", "What a schedd's pass over its crontab jobs does now."),
    "submit": ("crondor_cli.schedd.submit", "A submit file into a queue."),
    "hold": ("crondor_cli.schedd.hold", "Put jobs of a queue on hold."),
    "release": ("crondor_cli.schedd.release", "Release held jobs of a queue."),
    "rm": ("crondor_cli.schedd.rm", "Remove jobs from a queue."),
    "edit": ("crondor_cli.schedd.edit", "Set attributes of jobs of a queue."),
    "history": ("crondor_cli.schedd.history", "Jobs that have left the queue."),
    "guard": ("crondor_cli.schedd.guard", "Keep DeferralTime on the manual's meaning."),
}

EPILOG = """\b
Examples:
  crondor schedd submit nightly.sub --queue q
  crondor schedd status --queue q
  crondor schedd next -n 5 --log /var/lib/condor/spool/job_queue.log
  condor_q -all -long | crondor schedd status --ads -
  crondor schedd guard --live --once

Jobs are named as condor_q takes them: 12.0, 12 for a whole cluster, an owner; --constraint takes an expression.
Which queue: --queue, --log, --live or --ads. The environment variable CRONDOR_QUEUE names an embedded queue for the
commands that are given none of them."""


@click.group(
    "schedd",
    cls=LazyGroup,
    modules=COMMANDS,
    epilog=EPILOG,
    no_args_is_help=True,
    short_help="Queues of jobs: an embedded one, a schedd's log, a live schedd.",
)
def command() -> None:
    """Show and work on queues of jobs: a queue of one's own on disk, a schedd's log, a live schedd, or ads.

    Exit status: 0 fine, 1 a finding (trouble, an unknown job, a queue that cannot be read), 2 wrong usage.
    """
