"""The table of routes of the configuration on a command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import click

from crondor.classad.scope import Context
from crondor.config import Configuration
from crondor.diagnostics import Diagnostic, Severity
from crondor.router import RoutingTable, load_table
from crondor.router import legacy as old_routes
from crondor.transform.loading import as_warnings
from crondor_cli.kit.configs import files_below, load_config
from crondor_cli.kit.options import ConfigFiles, completing, config_of, given_config
from crondor_cli.kit.screen import show

legacy_option = click.option(
    "--legacy", is_flag=True, help="Use routes written as ClassAds too, as HTCondor up to 24 does."
)
"""--legacy, as ``legacy``: see load_route_table()."""


def load_route_table(
    config: ConfigFiles | Sequence[str], allow_dirs: Iterable[str], context: Context, *, legacy: bool
) -> RoutingTable:
    """Make the table of the files; with ``legacy`` it includes the routes of JOB_ROUTER_ENTRIES and related knobs.

    JOB_ROUTER_ENTRIES_FILE is read below the folders of the files and the allowed ones; JOB_ROUTER_ENTRIES_CMD is not
    run. Raises as load_config() does.
    """
    folders, config = tuple(allow_dirs), config_of(config)
    return table_of(load_config(config, folders, context), config, folders, context, legacy=legacy)


def table_of(
    configuration: Configuration, config: ConfigFiles, folders: tuple[str, ...], context: Context, *, legacy: bool
) -> RoutingTable:
    """Make the table of a configuration read from files, as load_route_table() does."""
    if not legacy:
        return load_table(configuration, context=context)
    read = old_routes.read_legacy(configuration, files=files_below(config, folders))
    return old_routes.legacy_table(read, context, faithful=True)


def _completed_routes(ctx: click.Context) -> Iterable[str]:
    """Return the routes of the selected configuration, for completion."""
    table = load_route_table(given_config(ctx), (), Context(), legacy=bool(ctx.params.get("legacy")))
    return [route.name for route in table.routes]


complete_route = completing(_completed_routes)


def show_faults(table: RoutingTable) -> None:
    """Print on stderr why routing is off, why routes are rejected, and which knobs refer to themselves."""
    show(each for each in table.diagnostics if each.severity is Severity.ERROR)
    for rejected in table.rejected:
        for each in rejected.diagnostics:
            if each.severity is Severity.ERROR:
                show([replace(each, message=f"route {rejected.name} is left out: {each.message}")])
    show(as_warnings(table.circles))


def one_for_each_place(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return one finding for each code and place: a fault in the defaults is found for each route."""
    kept: dict[object, Diagnostic] = {}
    for each in found:
        span = each.span
        key = (each.code, each.message) if span is None else (each.code, span.source.name, span.start, span.end)
        kept.setdefault(key, each)
    return list(kept.values())
