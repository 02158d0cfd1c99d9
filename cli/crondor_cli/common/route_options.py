"""What the commands of `crondor route` share: the files of the configuration, and the table they make."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

import click

from crondor.classad.scope import Context
from crondor.config import Configuration, read_config
from crondor.diagnostics import Severity, printable
from crondor.macro.files import Files
from crondor.router import RoutingTable, load_table
from crondor.router.legacy import legacy_table, read_legacy
from crondor.source import Source
from crondor_cli.common.command import Command
from crondor_cli.common.completion import completing
from crondor_cli.common.jobs import files_of, read_source
from crondor_cli.common.options import include_option
from crondor_cli.common.show import show

CONFIG_HELP: Final = "A configuration file, - for standard input; of several, later lines win."

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
            _, others, _ = self.make_parser(ctx).parse_args(given)
            if not others:
                raise
            shown = " ".join(f"--config {printable(each)}" for each in others)
            raise click.UsageError(f"a file is named with --config: {shown}", ctx) from error


def config_option(function: _Function) -> _Function:
    """Add --config FILE, at least one, to a command, as ``config``; --allow-dir DIR as ``allow_dirs``."""
    return config_only_option(include_option(function))


def config_only_option(function: _Function) -> _Function:
    """Add --config FILE, at least one, to a command that has --allow-dir already."""
    return click.option("--config", metavar="FILE", multiple=True, required=True, help=CONFIG_HELP)(function)


def legacy_option(function: _Function) -> _Function:
    """Add --legacy to a command, as ``legacy``: see load_route_table()."""
    return click.option(
        "--legacy", is_flag=True, help="Take routes written as ClassAds too, as HTCondor up to 24 does."
    )(function)


def load_route_table(
    paths: Sequence[str], allow_dirs: Iterable[str], context: Context, *, legacy: bool
) -> RoutingTable:
    """Make the table of the files; with ``legacy`` the routes of JOB_ROUTER_ENTRIES and its kin are in it.

    JOB_ROUTER_ENTRIES_FILE is read below the folders of the files and the allowed ones; JOB_ROUTER_ENTRIES_CMD is not
    run. Raises as load_config() does.
    """
    folders = tuple(allow_dirs)
    return table_of(load_config(paths, folders, context), paths, folders, context, legacy=legacy)


def table_of(
    configuration: Configuration, paths: Sequence[str], folders: tuple[str, ...], context: Context, *, legacy: bool
) -> RoutingTable:
    """Make the table of a configuration that was read from files, as load_route_table() does."""
    if not legacy:
        return load_table(configuration, context=context)
    return legacy_table(read_legacy(configuration, files=files_below(paths, folders)), context)


def _completed_routes(ctx: click.Context) -> Iterable[str]:
    """Return the routes of the configuration that is named before, for the shell."""
    table = load_route_table(ctx.params.get("config") or (), (), Context(), legacy=bool(ctx.params.get("legacy")))
    return [route.name for route in table.routes]


complete_route = completing(_completed_routes)


def show_faults(table: RoutingTable) -> None:
    """Write to stderr why routing is off, and why routes are left out."""
    show(each for each in table.diagnostics if each.severity is Severity.ERROR)
    for rejected in table.rejected:
        for each in rejected.diagnostics:
            if each.severity is Severity.ERROR:
                show([replace(each, message=f"route {rejected.name} is left out: {each.message}")])


def files_below(paths: Iterable[str], allow_dirs: Iterable[str]) -> Files:
    """Return the files below the folders of the configuration and the allowed ones."""
    folders = [os.path.dirname(path) or "." for path in paths if path != "-"]
    return Files((*folders, *allow_dirs), base=folders[0] if folders else ".", is_named_whole=True)


def load_config(paths: Iterable[str], allow_dirs: Iterable[str] = (), context: Context | None = None) -> Configuration:
    """Read the files in their order; each may include what stands below its own folder and the allowed ones.

    Raises CrondorError for a file that is no text, UsageError for one that cannot be read.
    """
    return join_config(((path, read_source(path)) for path in check_paths(paths)), allow_dirs, context)


def join_config(
    texts: Iterable[tuple[str, Source]], allow_dirs: Iterable[str] = (), context: Context | None = None
) -> Configuration:
    """Read texts in their order, each with its path."""
    folders = tuple(allow_dirs)
    made: Configuration | None = None
    for path, source in texts:
        files = files_of(path, folders)
        made = read_config(source, files=files, environ=os.environ, base=made, context=context)
    return Configuration() if made is None else made


def check_paths(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths. Raises UsageError where standard input is named twice."""
    given = tuple(paths)
    if given.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once", click.get_current_context(silent=True))
    return given
