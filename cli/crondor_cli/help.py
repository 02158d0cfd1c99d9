"""`crondor help`: the help of a command, by its name."""

from __future__ import annotations

import click

from crondor_cli.kit.command import Command
from crondor_cli.kit.screen import say

EPILOG = """\b
Examples:
  crondor help                  all commands
  crondor help route explain    what `crondor route explain --help` shows

Exit status: 0 shown, 2 no such command."""


@click.command("help", cls=Command, example="crondor help next", epilog=EPILOG)
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def command(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Show what a command does and takes, as its --help."""
    shown = ctx.find_root()
    for name in names:
        group = shown.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{shown.command_path} has no commands of its own, so there is no {name!r}.", shown)
        _, found, _ = group.resolve_command(shown, [name])
        if found is not None:
            shown = found.context_class(found, info_name=name, parent=shown, **found.context_settings)
    say(shown.get_help())
