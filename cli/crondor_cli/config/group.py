"""`crondor config`: what belongs to this installation; its subcommands are loaded when they are asked for."""

from __future__ import annotations

import click

from crondor_cli.kit.command import LazyGroup

COMMANDS = {
    "show": ("crondor_cli.config.show", "Show the settings, and where each comes from (default)."),
    "doctor": ("crondor_cli.config.doctor", "Show what is installed, and whether a schedd answers."),
    "schema": ("crondor_cli.config.schema", "Print the JSON of a command as a JSON Schema."),
    "service": ("crondor_cli.config.service", "Write a systemd unit for a command that runs for months."),
}

EPILOG = """\b
Examples:
  crondor config
  crondor config doctor --live
  crondor config schema next > next.schema.json
  crondor config service router --system --run-as condor -- --live"""


@click.group("config", cls=LazyGroup, modules=COMMANDS, default="show", epilog=EPILOG)
def command() -> None:
    """Show the settings, check this installation, print JSON Schemas, and write systemd units.

    Exit status: 0 fine, 1 a finding (an installation with a fault, a unit that cannot be written), 2 wrong usage.
    """
