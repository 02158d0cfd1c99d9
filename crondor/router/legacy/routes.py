"""Routes of an old table as the router of today has them."""

from __future__ import annotations

from dataclasses import replace

from crondor.classad import lower
from crondor.classad.scope import Context
from crondor.config import Configuration, read_config
from crondor.diagnostics import Diagnostic, Severity
from crondor.router.legacy.configuration import NewRoute, NewTable, convert_table
from crondor.router.legacy.corrected import convert_mended
from crondor.router.legacy.table import (
    DEFAULTS,
    ENTRIES,
    ENTRIES_CMD,
    ENTRIES_FILE,
    MERGE,
    NAMES,
    ROUTE,
    LegacyTable,
    Texts,
    live_name,
    read_legacy,
)
from crondor.router.table.loading import load_table
from crondor.router.table.route import Route, RoutingTable
from crondor.transform.classad_form import LegacyEntry, convert_faithfully


def convert(entry: LegacyEntry, *, faithful: bool = False) -> str:
    """Return a route as the text of a transform, with NAME.

    ``faithful``: as printed by condor_transform_ads -convertoldroutes of HTCondor 25.14, empty if it prints nothing.
    Never fails; ``convert_mended(entry)`` also has the changes.
    """
    if faithful:
        made = convert_faithfully(entry)
        return "" if made is None else made[1]
    return convert_mended(entry).text(entry.name)


def legacy_table(table: LegacyTable | Texts, context: Context | None = None, *, faithful: bool = False) -> RoutingTable:
    """Return a table with its ClassAd routes as a router of HTCondor 23 has it.

    Such a router converts the routes itself when it reads them; ``faithful`` keeps the defects of its conversion
    (TARGET in expressions of ``eval_set_`` is undefined) and its names for routes without one (``entries:0``).
    Otherwise they have their intended meaning, as ``convert_table`` writes them.

    The ClassAd routes have their own names, and skip the transforms before and after routes, which were not for them;
    routes that are transforms already are among them, in the old order. Never fails: a table whose defaults are
    invalid, or that has no route, is not enabled, with the reason in ``diagnostics``.
    """
    table = table if isinstance(table, LegacyTable) else read_legacy(table)
    loaded, made = _loaded(table, context, faithful=faithful)
    reads = table.is_enabled and table.configuration.is_valid
    is_enabled = loaded.is_enabled and reads
    return replace(
        loaded,
        routes=_renamed(loaded.routes, made, faithful=faithful) if is_enabled else (),
        idle=_renamed(loaded.idle, made, faithful=faithful) if reads else (),
        is_enabled=is_enabled,
        diagnostics=tuple(dict.fromkeys([*loaded.diagnostics, *filter(_holds_unconverted, made.diagnostics)])),
    )


def legacy_routes(table: LegacyTable | Texts, context: Context | None = None) -> tuple[Route, ...]:
    """Return the ClassAd routes of a table that load, in its order, like ``legacy_table``.

    A table with invalid defaults has none. Never fails.
    """
    table = table if isinstance(table, LegacyTable) else read_legacy(table)
    if not table.is_enabled:
        return ()
    loaded, made = _loaded(table, context, faithful=False)
    return tuple(route for route in _renamed(loaded.routes, made, faithful=False) if route.is_legacy)


def _loaded(table: LegacyTable, context: Context | None, *, faithful: bool) -> tuple[RoutingTable, NewTable]:
    """Load the converted routes and the others together, without their old knobs."""
    made = convert_table(table)
    without = without_old(table)
    texts = {f"{ROUTE}{route.name}": _verbatim(route) if faithful else route.text for route in made.routes}
    names = {NAMES: " ".join(made.names)} if made.names else {}
    return load_table(read_config({**texts, **names}, base=without), context=context, keep_routes=True), made


def without_old(table: LegacyTable) -> Configuration:
    """Return the configuration of a table without the knobs of its ClassAd routes."""
    old = table.configuration
    gone = {*map(lower, _OLD), *(lower(entry.knob) for entry in table.entries)}
    return replace(old, knobs={key: knob for key, knob in old.knobs.items() if key not in gone}, diagnostics=())


def _verbatim(route: NewRoute) -> str:
    """Return the commands that HTCondor 23 makes of a route; empty if it prints nothing."""
    return (convert_faithfully(route.entry) or ("", ""))[1]


def _renamed(routes: tuple[Route, ...], made: NewTable, *, faithful: bool) -> tuple[Route, ...]:
    """Return routes with the names and the rights of their entries."""
    entries = {lower(route.name): route.entry for route in made.routes}
    return tuple(
        replace(
            route, name=live_name(entry) if faithful else entry.name, takes_transforms=entry.is_knob, is_legacy=True
        )
        if (entry := entries.get(lower(route.name))) is not None
        else route
        for route in routes
    )


def _holds_unconverted(found: Diagnostic) -> bool:
    """Return whether a finding applies to a table that is used unconverted, too."""
    is_renaming = found.kind == "legacy-name" and found.severity is Severity.NOTE
    return not is_renaming and found.kind not in {"legacy-around", "legacy-refresh"}


_OLD = (DEFAULTS, ENTRIES, ENTRIES_FILE, ENTRIES_CMD, MERGE)
