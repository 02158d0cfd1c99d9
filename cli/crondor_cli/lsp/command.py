"""`crondor lsp`: a language server."""

from __future__ import annotations

import io
import sys

import click

from crondor_cli.common.command import Command
from crondor_cli.common.options import clock_of, clock_options
from crondor_cli.common.standard_input import standard_input

EXAMPLE = """\
printf '' | crondor lsp"""

EPILOG = """\b
Examples:
  crondor lsp
  crondor lsp --tz Europe/Berlin

It speaks the Language Server Protocol on standard input and output: an editor starts it, nobody types to it.
docs/editors.md says how VS Code, Neovim, Vim, Emacs and Helix do. It runs nothing that a text names, and reads only
what `crondor check` would read.

The settings are those of crondor.toml: see `crondor config`. It needs pygls: in a clone of crondor
pip install '.[lsp]'.

Exit status: 0 the client ended it, or went away, 1 it ended it without a shutdown, 2 wrong usage."""


@click.command(
    "lsp",
    cls=Command,
    example=EXAMPLE,
    epilog=EPILOG,
    short_help="A language server: findings and help while you write.",
)
@click.option("--stdio", is_flag=True, help="Serve on standard input and output, as it always does.")
@clock_options
def command(stdio: bool, now: str | None, tz: str | None) -> None:
    """Serve an editor: findings as one types, fixes, what words mean, what may stand here.

    For submit files, configurations, transform rules, ClassAds and crontabs.
    """
    _ = stdio
    try:
        import pygls  # noqa: F401, PLC0415 - optional
    except ImportError:
        message = "crondor lsp needs pygls, which is not installed: pip install '.[lsp]' in a clone of crondor"
        raise click.UsageError(message, click.get_current_context(silent=True)) from None
    from crondor_cli.lsp.serving import serve  # noqa: PLC0415 - 400 ms, which --help does not need
    from crondor_cli.lsp.settings import ClockOptions  # noqa: PLC0415 - the same

    clock_of(now, tz)  # what cannot be read is said before anything is served
    raise click.exceptions.Exit(serve(ClockOptions(now, tz), standard_input() or io.BytesIO(), sys.stdout.buffer))
