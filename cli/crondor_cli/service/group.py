"""`crondor service`: units of systemd for the commands that run for months."""

from __future__ import annotations

import click

from crondor_cli.common.lazy_group import LazyGroup

COMMANDS = {"install": ("crondor_cli.service.install", "Write a unit of systemd for a command.")}

EPILOG = """\b
Examples:
  crondor service install router --system --run-as condor -- --live
  crondor service install run --user -- nightly.sub"""


@click.group("service", cls=LazyGroup, modules=COMMANDS, epilog=EPILOG, no_args_is_help=True)
def command() -> None:
    """Units of systemd for the commands that run for months."""
