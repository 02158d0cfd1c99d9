"""The loads of routes along a plan: jobs come, start, wait again and go."""

from __future__ import annotations

from crondor.classad.text import lower
from crondor.router.match.limits import RouteLoad
from crondor.router.match.route_state import RouteState
from crondor.router.plan.runs import Room
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable


class Load:
    """How a router stands; ``route_state`` is that as a value."""

    def __init__(self, table: RoutingTable, route_state: RouteState) -> None:
        """Begin with what the router has already, which stays as it is."""
        self.route_state = route_state
        self._table = table

    def take(self, route: Route) -> Room:
        """Give a job to a route: it waits there, and round robin goes on."""
        self.route_state = self.route_state.after({route.name: 1})
        load, settings = self.route_state.load(route), self._table.settings
        return Room(
            load.jobs, route.max_jobs, load.idle, route.max_idle_jobs, self.route_state.managed, settings.max_jobs
        )

    def start(self, route: Route) -> None:
        """Let a waiting copy run."""
        self._change(route, 0, -1)

    def wait(self, route: Route) -> None:
        """Let a copy that ran wait for its next time."""
        self._change(route, 0, 1)

    def leave(self, route: Route, *, was_idle: bool) -> None:
        """Let a copy go."""
        self._change(route, -1, -int(was_idle))

    def _change(self, route: Route, jobs: int, idle: int) -> None:
        old = self.route_state.load(route)
        made = RouteLoad(max(0, old.jobs + jobs), max(0, old.idle + idle))
        loads = {**self.route_state.loads, lower(route.name): made}
        state = self.route_state
        self.route_state = RouteState(loads, state.throttles, max(0, state.managed + jobs), state.turn)
