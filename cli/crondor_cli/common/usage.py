"""Wrong usage, in the same words and with the same status whichever click is installed: 8.1 has others than 8.2."""

from __future__ import annotations

import os
import sys
from typing import IO, Any, Final

import click

from crondor.diagnostics import similar

_MEANT: Final = {
    "--start": "--from",
    "--since": "--from",
    "--begin": "--from",
    "--end": "--until",
    "--to": "--until",
    "--timezone": "--tz",
    "--time-zone": "--tz",
    "--interval": "--schedd-interval",
    "--number": "--count",
    "--json": "--format",
    "--output-format": "--format",
    "--out": "--output",
    "--overwrite": "--force",
}
"""Words of other programs for what has another name here."""


RENAMED: Final = {
    "prev": "next --previous",
    "at": "next --at",
    "advertise": "queue advertise",
    "transform": "classad transform",
    "doctor": "config doctor",
    "schema": "config schema",
    "service": "config service",
    "service install": "config service",
    "schedd": "queue",
    "schedd next": "next --queue",
    "queue next": "next --queue",
    "route match": "route explain",
}
"""Commands of earlier versions, and what each is now."""


class CommandMissing(click.UsageError):
    """A group was called without a command: its help, on stderr."""

    def __init__(self, ctx: click.Context) -> None:
        """Take the help of the group."""
        super().__init__(ctx.get_help(), ctx)

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the help and nothing else."""
        (file or sys.stderr).write(f"{self.message}\n")


def no_such_option(error: click.NoSuchOption, command: click.Command, ctx: click.Context) -> click.UsageError:
    """Return what to say of an option that is not there: the one that other programs call so, or that is like it."""
    known = [name for param in command.get_params(ctx) for name in param.opts if name.startswith("--")]
    meant = _MEANT.get(error.option_name)
    bare = {name.lstrip("-"): name for name in known}
    near = [bare[name] for name in similar(error.option_name.lstrip("-"), bare)]
    likely = meant if meant in known else next(iter(near), None)
    hint = f" Did you mean '{likely}'?" if likely else ""
    return click.UsageError(f"No such option '{error.option_name}'.{hint}", ctx)


def missing(error: click.MissingParameter, ctx: click.Context) -> click.UsageError:
    """Return what to say of something that has to be given: its choices in one line."""
    kind = None if error.param is None else error.param.type
    if not (isinstance(error.param, click.Option) and isinstance(kind, click.Choice)):
        return error
    *others, last = map(str, kind.choices)
    return click.UsageError(f"Missing option '{error.param.opts[0]}': {', '.join(others)} or {last}", ctx)


def need_processes(name: str) -> None:
    """Refuse a command that forks, or acts as other users. Raises UsageError on Windows."""
    if not hasattr(os, "fork"):
        context = click.get_current_context(silent=True)
        raise click.UsageError(f"crondor {name} needs a system with processes as Linux has them", context)
