"""A group of commands that imports none of them until it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from crondor.diagnostics import similar
from crondor_cli.common.defaults import HELP, prepare
from crondor_cli.common.usage import RENAMED, CommandMissing, no_such_option


class LazyGroup(click.Group):
    """Loads a subcommand on demand, and guesses at a mistyped one.

    ``modules`` maps a name to its module and one line of help: ``module`` for its ``command``, or ``module:name``; ``unlisted`` has further ones.
    ``default`` is the command that is meant where none is named.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - click's
        modules: Mapping[str, tuple[str, str]],
        unlisted: Mapping[str, tuple[str, str]] | None = None,
        default: str | None = None,
        **kwargs: Any,  # noqa: ANN401 - click's
    ) -> None:
        """Keep the tables; everything else is click's."""
        super().__init__(*args, **kwargs)
        self._modules = modules
        self._all = {**modules, **(unlisted or {})}
        self._default = default

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the table's order."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - the same
        """Import and return a command, None for a name that is not in the table."""
        if cmd_name not in self._all:
            return None
        place, line = self._all[cmd_name]
        module, _, name = place.partition(":")
        command = getattr(import_module(module), name or "command")
        if not isinstance(command, click.Command):
            raise TypeError(cmd_name)
        command.short_help = line
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse to do nothing, with the help; for an option that is not there, name the one that is like it."""
        if self._default is not None and not HELP.intersection(args[:1]) and (not args or args[0].startswith("-")):
            args = [self._default, *args]
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            raise CommandMissing(ctx)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise no_such_option(error, self, ctx) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown name with the nearest one, as a usage error."""
        if args and not args[0].startswith("-") and args[0] not in self._all:
            self._refuse_renamed(ctx, args)
            close = similar(args[0], self._modules)
            hint = f" Did you mean {close[0]}?" if close else f" There are {', '.join(self._modules)}."
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and command is not None and not isinstance(command, click.Group):
            prepare(ctx, name, command, rest)
        return name, command, rest

    @staticmethod
    def _refuse_renamed(ctx: click.Context, args: list[str]) -> None:
        """Refuse the name that a command had in an earlier version. Raises UsageError."""
        group = ctx.command_path.split()[1:]
        for size in (2, 1):
            words = " ".join([*group, *args[:size]])
            if words in RENAMED:
                ctx.fail(f"No such command {' '.join(args[:size])!r}. It is now crondor {RENAMED[words]}.")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - the same
        """List the commands from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._modules.items()])
