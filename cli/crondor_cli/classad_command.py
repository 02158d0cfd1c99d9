"""`crondor classad`: expressions and ads by themselves; its subcommands are loaded when they are asked for."""

from __future__ import annotations

from importlib import import_module

import click

COMMANDS = {
    "eval": ("crondor_cli.classad_eval", "The value of an expression, and why it is not true."),
    "format": ("crondor_cli.classad_format", "Ads from one form into another."),
    "match": ("crondor_cli.classad_match", "Whether two ads accept each other, and why not."),
}

EPILOG = """\b
Examples:
  crondor classad eval 'splitTime(time())'
  crondor classad eval Requirements --my job.ad --target slot.ad --explain
  crondor classad format history --to json
  crondor classad match job.ad slot.ad --explain

Ads are read in HTCondor's forms: -long (as condor_q -long prints them, and as history files hold them), new syntax,
JSON and XML; the form is told by how the text begins."""


class _Commands(click.Group):
    """Loads a subcommand on demand, and guesses at a mistyped one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - the same
        if cmd_name not in COMMANDS:
            return None
        found = import_module(COMMANDS[cmd_name][0]).command
        if not isinstance(found, click.Command):
            raise TypeError(cmd_name)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            from difflib import get_close_matches  # noqa: PLC0415 - for a mistake only

            close = get_close_matches(args[0], COMMANDS, 1)
            hint = f" Did you mean {close[0]}?" if close else f" There are {', '.join(COMMANDS)}."
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    "classad", cls=_Commands, epilog=EPILOG, no_args_is_help=True, short_help="Expressions and ads by themselves."
)
def command() -> None:
    """Evaluate, explain, rewrite and match ClassAds as HTCondor's daemons do.

    Exit status: 0 fine, 1 a finding (a text that cannot be read, no value, no match), 2 wrong usage.
    """
