"""What the commands of `crondor route` share: the files of the configuration, and the table they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from shlex import quote
from typing import TypeVar

import click

from crondor.classad.scope import Context
from crondor.config import Configuration
from crondor.diagnostics import Severity, printable
from crondor.router import RoutingTable, load_table
from crondor.transform.circular import as_warnings
from crondor_cli.common.command import Command
from crondor_cli.common.completion import completing
from crondor_cli.common.config_files import ConfigReader, files_below
from crondor_cli.common.config_options import ConfigFiles, config_of, config_options, given_config
from crondor_cli.common.options import include_option
from crondor_cli.common.show import show

_Function = TypeVar("_Function", bound=Callable[..., None])


class ConfigCommand(Command):
    """A command that takes no arguments: who names a file alone is told how to."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a command line. Raises UsageError."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if not isinstance(error, click.MissingParameter) and type(error) is not click.UsageError:
                raise
            _, others, _ = self.make_parser(ctx).parse_args(list(given))
            if not others:
                raise
            named = [word for each in others for word in ("--config", each)]
            words = [printable(quote(each)) for each in (*without(given, others), *named)]
            raise click.UsageError(
                f"a file is named with --config: {ctx.command_path} {' '.join(words)}", ctx
            ) from error


def without(words: Sequence[str], others: Iterable[str]) -> list[str]:
    """Return words in their order, each of ``others`` left out once, the last that is like it."""
    left = list(reversed(words))
    for each in others:
        left.remove(each)
    return list(reversed(left))


def config_option(function: _Function) -> _Function:
    """Add --config FILE and its kin to a command, as ``config``; --allow-dir DIR as ``allow_dirs``."""
    return config_options(include_option(function))


def legacy_option(function: _Function) -> _Function:
    """Add --legacy to a command, as ``legacy``: see load_route_table()."""
    return click.option(
        "--legacy", is_flag=True, help="Take routes written as ClassAds too, as HTCondor up to 24 does."
    )(function)


def load_route_table(
    config: ConfigFiles | Sequence[str], allow_dirs: Iterable[str], context: Context, *, legacy: bool
) -> RoutingTable:
    """Make the table of the files; with ``legacy`` the routes of JOB_ROUTER_ENTRIES and its kin are in it.

    JOB_ROUTER_ENTRIES_FILE is read below the folders of the files and the allowed ones; JOB_ROUTER_ENTRIES_CMD is not
    run. Raises as load_config() does.
    """
    folders, config = tuple(allow_dirs), config_of(config)
    return table_of(load_config(config, folders, context), config, folders, context, legacy=legacy)


def table_of(
    configuration: Configuration, config: ConfigFiles, folders: tuple[str, ...], context: Context, *, legacy: bool
) -> RoutingTable:
    """Make the table of a configuration that was read from files, as load_route_table() does."""
    if not legacy:
        return load_table(configuration, context=context)
    from crondor.router.legacy import legacy_table, read_legacy  # noqa: PLC0415 - 6 ms, and few tables are so old

    return legacy_table(read_legacy(configuration, files=files_below(config, folders)), context, faithful=True)


def _completed_routes(ctx: click.Context) -> Iterable[str]:
    """Return the routes of the configuration that is named before, for the shell."""
    table = load_route_table(given_config(ctx), (), Context(), legacy=bool(ctx.params.get("legacy")))
    return [route.name for route in table.routes]


complete_route = completing(_completed_routes)


def show_faults(table: RoutingTable) -> None:
    """Write to stderr why routing is off, why routes are left out, and what in them refers to itself."""
    show(each for each in table.diagnostics if each.severity is Severity.ERROR)
    for rejected in table.rejected:
        for each in rejected.diagnostics:
            if each.severity is Severity.ERROR:
                show([replace(each, message=f"route {rejected.name} is left out: {each.message}")])
    show(as_warnings(table.circles))


def load_config(
    config: ConfigFiles | Sequence[str], allow_dirs: Iterable[str] = (), context: Context | None = None
) -> Configuration:
    """Read a configuration as it is deployed: each file, and behind it those that it names, in HTCondor's order.

    Raises CrondorError for a file that is no text, UsageError for one that cannot be read and where there is none.
    """
    return ConfigReader(config_of(config), allow_dirs, context).read()
