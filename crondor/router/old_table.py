"""A routing table with the routes that are written as ClassAds, as routers up to HTCondor 24 made it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from crondor.classad.scope import Context
from crondor.config import Configuration, read_config
from crondor.diagnostics import Diagnostic, Severity
from crondor.macro.files import Files
from crondor.router.legacy import LegacyTable, legacy_routes, read_legacy
from crondor.router.loading import NAMES, load_table
from crondor.router.table import Rejected, RoutingTable
from crondor.source import Source

_NOT_FAULTS = frozenset(("route-names", "route-knob-removed"))
"""What is no fault where ClassAd routes are taken: they need no list, and their knobs are looked at."""


def load_old_table(
    configuration: Configuration,
    *,
    files: Files | None = None,
    run: Callable[[str], str] | None = None,
    context: Context | None = None,
) -> RoutingTable:
    """Make the routing table of a configuration in either syntax, or in both.

    ClassAd routes are converted. They stand in the order of JOB_ROUTER_ROUTE_NAMES, and without that in the order in
    which they are written, routes of today behind them. ``files`` opens JOB_ROUTER_ENTRIES_FILE; ``run`` gives what
    JOB_ROUTER_ENTRIES_CMD prints, which is run by nothing else. All else is as load_table() has it. Never fails.
    """
    old = read_legacy(configuration, files=files, run=run)
    if not configuration.is_set(NAMES) and old.modern:
        configuration = read_config({NAMES: " ".join(old.modern)}, base=configuration)
    today = load_table(configuration, context=context, keep_routes=True)
    by_name = {route.name.lower(): route for route in today.routes}
    by_name.update((route.name.lower(), route) for route in legacy_routes(old, context))
    found = (*(each for each in today.diagnostics if each.code not in _NOT_FAULTS), *old.diagnostics)
    faults = [each for each in today.diagnostics if each.severity is Severity.ERROR and each.code not in _NOT_FAULTS]
    is_enabled = old.is_enabled and not faults and bool(old.order)
    rejected = (*_rejected(old, today, by_name.keys()),)
    return RoutingTable(
        tuple(by_name[name.lower()] for name in old.order if name.lower() in by_name) if is_enabled else (),
        today.before,
        today.after,
        today.settings,
        rejected,
        is_enabled,
        tuple(dict.fromkeys(found)),
        today.facts,
    )


def _rejected(old: LegacyTable, today: RoutingTable, loaded: Collection[str]) -> Iterator[Rejected]:
    """Yield the routes of either syntax that are not in the table."""
    entries = {entry.name.lower() for entry in old.entries}
    yield from (each for each in today.rejected if each.name.lower() not in entries)
    for entry in old.entries:
        if entry.name.lower() not in loaded:
            message = "the route does not load once it is converted"
            help_text = "crondor route convert writes it as commands, of which crondor route check says what is wrong"
            why = Diagnostic("route-classad", message, Severity.ERROR, entry.span, help_text)
            yield Rejected(entry.name, (why,), Source(entry.span.text, entry.knob), entry.span)
