"""`crondor import`: schedules that other programs keep; its subcommands are loaded when they are asked for."""

from __future__ import annotations

import click

from crondor_cli.kit.command import LazyGroup

COMMANDS = {"crontab": ("crondor_cli.crontab.import_crontab", "Convert a Unix crontab to a submit file for each line.")}

EPILOG = """\b
Examples:
  crontab -l | crondor import crontab -
  crondor import crontab /etc/crontab -o jobs"""


@click.group("import", cls=LazyGroup, modules=COMMANDS, epilog=EPILOG, no_args_is_help=True)
def command() -> None:
    """Convert the schedules of other programs to submit files.

    Exit status: 0 fine, 1 a finding (a line that has no equivalent), 2 wrong usage.
    """
