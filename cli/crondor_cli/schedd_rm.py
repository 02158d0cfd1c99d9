"""`crondor schedd rm`: jobs leave the embedded queue."""

from __future__ import annotations

import click

from crondor_cli.schedd_acting import Action, act, epilog, options

_ACTION = Action(
    "rm",
    "removed",
    "removed already: somebody else lets them go",
    "not to be removed",
    lambda schedd, which, reason: schedd.remove(which, reason),
)


@click.command("rm", epilog=epilog("rm"), short_help="Remove jobs from the embedded queue.")
@options("via crondor schedd rm")
def command(
    jobs: tuple[str, ...],
    constraint: str | None,
    queue: str | None,
    reason: str,
    now: str | None,
    tz: str | None,
    format_: str,
) -> None:
    """Remove jobs from the embedded queue; crondor schedd history shows them."""
    act(_ACTION, jobs, constraint, queue, reason, now, tz, format_)
