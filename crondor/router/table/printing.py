"""A route as condor_job_router_info -config prints it (HTCondor: JobRouter::dump_routes)."""

from __future__ import annotations

from crondor.router.table.route import Route
from crondor.transform import Transform
from crondor.transform.universes import universe_name, universe_number


def printed_route(route: Route) -> list[str]:
    """Return the lines of a route's commands: NAME, UNIVERSE, REQUIREMENTS, then all else in its order."""
    return _printed(route.name, route.universe, route.transform)


def printed_transform(transform: Transform) -> list[str]:
    """Return the lines of a transform before or behind routes."""
    return _printed(transform.name, universe_number(transform.universe or ""), transform)


def _printed(name: str, universe: int, transform: Transform) -> list[str]:
    head = [f"NAME {name}"] if name else []
    if universe:
        head.append(f"UNIVERSE {universe_name(universe)}")
    if transform.requirements is not None:
        head.append(f"REQUIREMENTS {transform.requirements.text}")
    return head + [line.text for line in transform.lines]
