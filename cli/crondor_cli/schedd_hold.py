"""`crondor schedd hold`: jobs of the embedded queue wait until they are released."""

from __future__ import annotations

import click

from crondor.schedd.protocol import Hold
from crondor_cli.schedd_acting import Action, act, epilog, options

_ACTION = Action(
    "hold",
    "held",
    "held already",
    "removed or completed, and not to be held",
    lambda schedd, which, reason: schedd.hold(which, Hold(reason)),
)


@click.command("hold", epilog=epilog("hold"), short_help="Put jobs of the embedded queue on hold.")
@options("via crondor schedd hold")
def command(
    jobs: tuple[str, ...],
    constraint: str | None,
    queue: str | None,
    reason: str,
    now: str | None,
    tz: str | None,
    format_: str,
) -> None:
    """Put jobs of the embedded queue on hold: they do not start until they are released."""
    act(_ACTION, jobs, constraint, queue, reason, now, tz, format_)
