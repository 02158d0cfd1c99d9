"""How a router stands before it looks for candidates: the jobs on each route, throttles, the turn of the routes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from crondor.classad.text import lower
from crondor.router.match.limits import Limit, RouteLoad, limit_of
from crondor.router.match.throttle import NO_THROTTLE, Throttle
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable

_TURNS = 1 << 32  # HTCondor counts in an unsigned int


@dataclass(frozen=True)
class RouteState:
    """What a router counts, as a value; names of routes in lower case.

    ``managed`` is the number of jobs that JOB_ROUTER_MAX_JOBS counts, ``turn`` how often a route has been chosen: with
    JOB_ROUTER_ROUND_ROBIN_SELECTION it says which of the routes that match is next, one count for all jobs.
    """

    loads: Mapping[str, RouteLoad] = field(default_factory=dict)
    throttles: Mapping[str, Throttle] = field(default_factory=dict)
    managed: int = 0
    turn: int = 0

    def load(self, route: Route) -> RouteLoad:
        """Return the jobs on a route."""
        return self.loads.get(lower(route.name), RouteLoad())

    def throttle(self, route: Route) -> Throttle:
        """Return the throttle of a route."""
        return self.throttles.get(lower(route.name), NO_THROTTLE)

    def limit(self, route: Route) -> Limit | None:
        """Return what keeps a route from taking one more job."""
        return limit_of(route, self.load(route), self.throttle(route))

    def accepting(self, table: RoutingTable) -> tuple[Route, ...]:
        """Return the routes of a table that take one more job."""
        return tuple(route for route in table.routes if self.limit(route) is None)

    def is_full(self, table: RoutingTable) -> bool:
        """Whether the router has as many jobs as JOB_ROUTER_MAX_JOBS allows."""
        return 0 <= table.settings.max_jobs <= self.managed

    def after(self, counts: Mapping[str, int]) -> RouteState:
        """Return the state after so many jobs were given to routes."""
        loads, throttles = dict(self.loads), dict(self.throttles)
        for name, count in counts.items():
            key = lower(name)
            loads[key] = loads.get(key, RouteLoad()).routed(count)
            throttles[key] = throttles.get(key, NO_THROTTLE).with_routed(count)
        total = sum(counts.values())
        return RouteState(loads, throttles, self.managed + total, (self.turn + total) % _TURNS)

    def adjusted(self, table: RoutingTable, now: int) -> RouteState:
        """Return the state with the throttles of windows that are over set anew, as at the begin of a poll."""
        throttles = dict(self.throttles)
        for route in table.routes:
            throttle = throttles.get(lower(route.name), Throttle(now))
            throttles[lower(route.name)] = throttle.adjusted(now, route.failure_rate_threshold, self.load(route).jobs)
        return RouteState(self.loads, throttles, self.managed, self.turn)
