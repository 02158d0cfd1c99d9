"""A route as condor_job_router_info -config prints it."""

from __future__ import annotations

from crondor.router.route import Route, universe_name
from crondor.source import Source
from crondor.transform import Form, Transform
from crondor.transform.program import read_program


def printed_route(route: Route) -> list[str]:
    """Return the lines of a route's commands: NAME, UNIVERSE, REQUIREMENTS, then all else in its order."""
    return _printed(route.name, route.universe, route.transform, route.source)


def printed_transform(transform: Transform) -> list[str]:
    """Return the lines of a transform before or behind routes."""
    from crondor.router.route import universe_number  # noqa: PLC0415

    return _printed(transform.name, universe_number(transform.universe or ""), transform, transform.source)


def _printed(name: str, universe: int, transform: Transform, source: Source) -> list[str]:
    head = [f"NAME {name}"] if name else []
    if universe:
        head.append(f"UNIVERSE {universe_name(universe)}")
    if transform.requirements is not None:
        head.append(f"REQUIREMENTS {transform.requirements.text}")
    return head + [line.text for line in read_program(source, Form.KNOB, name).lines]
