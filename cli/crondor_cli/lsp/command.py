"""`crondor lsp`: a language server."""

from __future__ import annotations

import io
import sys

import click

from crondor_cli.kit.command import Command, need_package
from crondor_cli.kit.files import standard_input
from crondor_cli.kit.options import clock_of, is_typed, now_options
from crondor_cli.kit.settings import HINTS

EXAMPLE = """\
printf '' | crondor lsp"""

EPILOG = """\b
Examples:
  crondor lsp
  crondor lsp --tz Europe/Berlin
  crondor lsp --hints all

The server speaks the Language Server Protocol on standard input and output; an editor starts it. docs/editors.md shows
how for VS Code, Neovim, Vim, Emacs and Helix. It runs no program that a text names, and reads only the files that
`crondor check` would read.

Settings are read from crondor.toml: see `crondor config`. It needs pygls: in a clone of crondor pip install '.[lsp]'.

Exit status: 0 the client ended the server or disconnected, 1 it did so without a shutdown, 2 wrong usage."""


@click.command("lsp", cls=Command, example=EXAMPLE, epilog=EPILOG)
@click.option("--stdio", is_flag=True, help="Serve on standard input and output (always on).")
@click.option(
    "--hints", type=click.Choice(HINTS), default="next-run", show_default=True, help="Hints shown in grey after a line."
)
@now_options
def command(stdio: bool, hints: str, now: str | None, tz: str | None) -> None:
    """Run a language server: findings while you type, fixes, explanations of words, and completions.

    For submit files, configurations, transform rules, ClassAds and crontabs.
    """
    _ = stdio
    need_package("lsp", "pygls")
    from crondor_cli.lsp.server import GivenOptions, serve  # noqa: PLC0415 - needs pygls

    clock_of(now, tz)  # report invalid options before serving
    # The settings of a folder apply only to its files.
    given = GivenOptions(now, tz if is_typed("tz") else None, hints if is_typed("hints") else None)
    raise click.exceptions.Exit(serve(given, standard_input() or io.BytesIO(), sys.stdout.buffer))
