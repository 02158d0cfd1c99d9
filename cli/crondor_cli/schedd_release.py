"""`crondor schedd release`: held jobs of the embedded queue are idle again."""

from __future__ import annotations

import click

from crondor_cli.schedd_acting import Action, act, epilog, options

_ACTION = Action(
    "release",
    "released",
    "released already",
    "not held",
    lambda schedd, which, reason: schedd.release(which, reason),
)


@click.command("release", epilog=epilog("release"), short_help="Release held jobs of the embedded queue.")
@options("via crondor schedd release")
def command(
    jobs: tuple[str, ...],
    constraint: str | None,
    queue: str | None,
    reason: str,
    now: str | None,
    tz: str | None,
    format_: str,
) -> None:
    """Release held jobs of the embedded queue: they are idle again."""
    act(_ACTION, jobs, constraint, queue, reason, now, tz, format_)
