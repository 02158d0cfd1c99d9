"""Routes of an old table as the router of today has them."""

from __future__ import annotations

from dataclasses import replace

from crondor.classad.scope import Context
from crondor.config import Configuration, read_config
from crondor.router.legacy.configuration import convert_table
from crondor.router.legacy.entry import LegacyEntry
from crondor.router.legacy.faithful import convert_faithfully
from crondor.router.legacy.knobs import Texts
from crondor.router.legacy.mended import convert_mended
from crondor.router.legacy.table import NAMES, ROUTE, LegacyTable, read_legacy
from crondor.router.loading import load_table
from crondor.router.route import Route


def convert(entry: LegacyEntry, *, faithful: bool = False) -> str:
    """Return a route as the text of a transform, with NAME.

    ``faithful``: as condor_transform_ads -convertoldroutes of HTCondor 25.14 prints it, nothing where it prints
    nothing. Never fails; ``convert_mended(entry)`` has what was changed, too.
    """
    if faithful:
        made = convert_faithfully(entry)
        return "" if made is None else made[1]
    return convert_mended(entry).text(entry.name)


def legacy_routes(table: LegacyTable | Texts, context: Context | None = None) -> tuple[Route, ...]:
    """Return the ClassAd routes of a table that load, in its order, under their own names.

    They leave out the transforms before and behind routes, which were not for them. A table whose defaults do not
    read has none. Never fails.
    """
    table = table if isinstance(table, LegacyTable) else read_legacy(table)
    if not table.is_enabled:
        return ()
    made = convert_table(table)
    knobs = {f"{ROUTE}{route.name}": route.text for route in made.routes}
    texts = {**knobs, NAMES: " ".join(route.name for route in made.routes)}
    old = table.configuration
    without = Configuration(
        {key: knob for key, knob in old.knobs.items() if not key.startswith(ROUTE.lower())},
        old.defaults,
        environ=old.environ,
        context=old.context,
        subsystem=old.subsystem,
        local_name=old.local_name,
        version=old.version,
    )
    loaded = load_table(read_config(texts, base=without), context=context, keep_routes=True)
    by_name = {route.name.lower(): route for route in loaded.routes}
    return tuple(
        replace(by_name[each.name.lower()], name=each.entry.name, takes_transforms=each.entry.is_knob, is_legacy=True)
        for each in made.routes
        if each.name.lower() in by_name
    )
