"""How the router stands that a route command asks: the loads of the routes, as they are told or counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

import click

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.classad.text import lower
from crondor.diagnostics import printable
from crondor.job.attributes import exact_integer, string
from crondor.router import RouteLoad, RouteState, RoutingTable, Throttle

_Function = TypeVar("_Function", bound=Callable[..., None])
_LOAD = re.compile(r"(.+)=([0-9]{1,9})(?:/([0-9]{1,9}))?").fullmatch
_RUNNING = (2, 6)  # JobStatus of jobs that do not count as idle: running, and sending their output


def route_state_options(function: _Function) -> _Function:
    """Add --load, --throttled, --count-copies and --owner."""
    for add in (
        click.option("--owner", metavar="USER", help="Look at this user's jobs alone, as a router not run by root."),
        click.option("--count-copies", is_flag=True, help="Count the routed copies among the jobs on their routes."),
        click.option("--throttled", metavar="ROUTE", multiple=True, help="Take a route for throttled by failures."),
        click.option(
            "--load", "loads", metavar="ROUTE=JOBS[/IDLE]", multiple=True, help="What is on a route (default: nothing)."
        ),
    ):
        function = add(function)
    return function


def route_state_of(table: RoutingTable, loads: Iterable[str], throttled: Iterable[str]) -> RouteState:
    """Return the route state that the options say. Raises UsageError."""
    found: dict[str, RouteLoad] = {}
    for each in loads:
        match = _LOAD(each)
        if match is None:
            raise click.UsageError(f"--load {printable(each)}: write ROUTE=JOBS or ROUTE=JOBS/IDLE, like Site1=100/20")
        name, jobs, idle = match[1], int(match[2]), int(match[3] or 0)
        if idle > jobs:
            raise click.UsageError(f"--load {printable(each)}: {idle} of {jobs} jobs cannot be idle")
        found[_known(table, name, "--load")] = RouteLoad(jobs, idle)
    stopped = {_known(table, name, "--throttled"): Throttle(routed=1, jobs=1.0) for name in throttled}
    return RouteState(found, stopped, sum(load.jobs for load in found.values()))


def _known(table: RoutingTable, name: str, option: str) -> str:
    if table.route(name) is None:
        names = ", ".join(route.name for route in table.routes) or "none"
        raise click.UsageError(f"{option}: there is no route '{printable(name)}' (routes: {printable(names)})")
    return lower(name)


def with_copies(route_state: RouteState, table: RoutingTable, ads: Iterable[ClassAd], context: Context) -> RouteState:
    """Return the route state with the copies among some jobs counted, as the router itself counts them."""
    loads = dict(route_state.loads)
    count = 0
    for ad in ads:
        by, name = (string(ad, each, context) for each in ("RoutedBy", "RouteName"))
        if by != table.settings.name or name is None or table.route(name) is None:
            continue
        status = exact_integer(ad, "JobStatus", context)
        count += 1
        load = loads.get(lower(name), RouteLoad())
        loads[lower(name)] = RouteLoad(load.jobs + 1, load.idle + (status not in _RUNNING))
    return RouteState(loads, route_state.throttles, route_state.managed + count, route_state.turn)
