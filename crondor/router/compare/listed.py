"""What differs between two tables without any job: the list of routes, limits, and values beside them."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.classad.text import lower
from crondor.router.compare.found import RouteListChange, SettingChange
from crondor.router.compare.renames import LIMITS, UNCHANGED, Renames
from crondor.router.table.loading import difference
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable

_OF_ROUTE = tuple(zip(LIMITS, ("max_jobs", "max_idle_jobs", "failure_rate_threshold", "job_failure_test"), strict=True))
_OF_ROUTER = (
    ("JOB_ROUTER_NAME", "name"),
    ("JOB_ROUTER_MAX_JOBS", "max_jobs"),
    ("JOB_ROUTER_ROUND_ROBIN_SELECTION", "round_robin"),
    ("JOB_ROUTER_SOURCE_JOB_CONSTRAINT", "source_constraint"),
    ("JOB_ROUTER_POLLING_PERIOD", "polling_period"),
    ("JOB_ROUTER_RELEASE_ON_HOLD", "release_on_hold"),
)


def listed_changes(old: RoutingTable, new: RoutingTable, called: Renames = UNCHANGED) -> RouteListChange:
    """Return the routes that come and go, those that are rejected only now, and the order where it is another one.

    ``called`` are those that have another name now.
    """
    found = difference(old, new)
    were = {lower(each.name) for each in old.rejected}
    rejected = [
        (each.name, each.diagnostics[0].message if each.diagnostics else "")
        for each in new.rejected
        if lower(each.name) not in were
    ]
    gone, come = {lower(was) for was, _ in called.pairs}, {lower(now) for _, now in called.pairs}
    added = tuple(route.name for route in found.added if lower(route.name) not in come)
    dropped = tuple(route.name for route in found.dropped if lower(route.name) not in gone)
    orders = [
        tuple(route.name for route in table.routes if route.name not in other)
        for table, other in ((old, dropped), (new, added))
    ]
    is_same = [lower(name) for name in orders[0]] == [called.before(name) for name in orders[1]]
    return RouteListChange(added, dropped, tuple(rejected), None if is_same else (orders[0], orders[1]), called.pairs)


def setting_changes(old: RoutingTable, new: RoutingTable, called: Renames = UNCHANGED) -> Iterator[SettingChange]:
    """Yield the values that differ: of the router, and of the routes that both have."""
    if old.is_enabled != new.is_enabled:
        yield SettingChange(None, "routing", *("on" if table.is_enabled else "off" for table in (old, new)))
    for name, key in _OF_ROUTER:
        texts = [_text(getattr(table.settings, key)) for table in (old, new)]
        if texts[0] != texts[1]:
            yield SettingChange(None, name, *texts)
    seen: set[str] = set()
    for route in new.routes:
        was = old.route(called.before(route.name))
        if was is not None and lower(route.name) not in seen:
            seen.add(lower(route.name))
            yield from _of_route(was, route)


def _of_route(old: Route, new: Route) -> Iterator[SettingChange]:
    for name, key in _OF_ROUTE:
        texts = [_text(getattr(route, key)) for route in (old, new)]
        if texts[0] != texts[1]:
            yield SettingChange(new.name, name, *texts)


def _text(value: object) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
