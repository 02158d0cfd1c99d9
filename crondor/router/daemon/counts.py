"""What the router counts while it runs: how loaded each route is, how it has done lately, whose turn it is.

HTCondor: JobRouter::UpdateRouteStats.
"""

from __future__ import annotations

from collections.abc import Iterable

from crondor.classad.text import lower
from crondor.router.daemon.routed_job import RoutedJob
from crondor.router.match.limits import RouteLoad
from crondor.router.match.route_state import RouteState
from crondor.router.match.throttle import NO_THROTTLE, Throttle
from crondor.router.table.table import RoutingTable


class RouteCounts:
    """What a router has counted, kept up to date; ``route_state`` is a value and may be kept."""

    def __init__(self, table: RoutingTable, now: int) -> None:
        """Begin with routes that nobody uses, at ``now`` (epoch seconds)."""
        self._table = table
        self.route_state = RouteState()
        self.replace(table, now)

    def replace(self, table: RoutingTable, now: int) -> None:
        """Take a new table; a route that was there under its name keeps its throttle."""
        self._table = table
        before = self.route_state
        throttles = {lower(each.name): before.throttles.get(lower(each.name), Throttle(now)) for each in table.routes}
        self.route_state = RouteState(before.loads, throttles, before.managed, before.turn)

    def recount(self, jobs: Iterable[RoutedJob], now: int) -> None:
        """Count the jobs of each route anew, and set the throttles whose window is over."""
        counts: dict[str, list[int]] = {}
        managed = 0
        for job in jobs:
            if job.counts:
                managed += 1
                count = counts.get(job.route)
                if count is None:
                    count = counts[job.route] = [0, 0]
                count[0] += 1
                count[1] += not job.is_running
        loads: dict[str, RouteLoad] = {}
        for name, (total, idle) in counts.items():
            before_it = loads.get(lower(name), RouteLoad())
            loads[lower(name)] = RouteLoad(before_it.jobs + total, before_it.idle + idle)
        before = self.route_state
        self.route_state = RouteState(loads, before.throttles, managed, before.turn).adjusted(self._table, now)

    def set_back(self, seconds: int) -> None:
        """Have the windows of the throttles end as much earlier as the clock was set back."""
        before = self.route_state
        throttles = {name: each._replace(begin=each.begin - seconds) for name, each in before.throttles.items()}
        self.route_state = RouteState(before.loads, throttles, before.managed, before.turn)

    def ended(self, job: RoutedJob) -> None:
        """Count how a job ended, before it forgets its route."""
        key = lower(job.route)
        if self._table.route(job.route) is None or (job.is_interrupted and not job.is_success):
            return
        throttle = self.route_state.throttles.get(key, NO_THROTTLE)
        made = throttle.with_succeeded() if job.is_success else throttle.with_failed()
        before = self.route_state
        self.route_state = RouteState(before.loads, {**before.throttles, key: made}, before.managed, before.turn)
