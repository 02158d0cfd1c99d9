"""How a router's queues stand, seen from outside: nothing is written, and no router need be running."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.job.attributes import string
from crondor.job.status import JobStatus
from crondor.job_queue.keys import JobId
from crondor.router.daemon.context import RouterOptions
from crondor.router.daemon.counts import RouteCounts
from crondor.router.daemon.reading import ROUTE_NAME, ROUTED_BY, ROUTED_FROM, RUNNING, is_managed_by, status
from crondor.router.daemon.reasons import Because, RouteNow, RouteReason, because, routes_now, summed
from crondor.router.daemon.routed_job import RoutedJob, RoutedState
from crondor.router.match.route_state import RouteState
from crondor.router.match.throttle import Throttle
from crondor.router.table.table import RoutingTable
from crondor.schedd.ads import job_id
from crondor.zones import zone_of

_NOBODY: Final[Mapping[str, Throttle]] = {}


class QueueStatus:
    """What a router of a table would say now of two queues, or of one.

    ``sources`` and ``copies`` are the ads of all their jobs; ``copies`` None: they are among the sources.
    ``throttles``, by route in lower case, are what a running router has counted; without them no route is throttled,
    as for a router that has just started. ``now`` is epoch seconds. ``unpaired`` are sources of the router without a
    copy: one that it is about to submit, or an orphan.
    """

    def __init__(
        self,
        table: RoutingTable,
        sources: Iterable[ClassAd],
        copies: Iterable[ClassAd] | None,
        now: int,
        *,
        options: RouterOptions | None = None,
        throttles: Mapping[str, Throttle] = _NOBODY,
        turn: int = 0,
    ) -> None:
        """Count. Raises UnknownZone."""
        self.table = table
        self.options = RouterOptions() if options is None else options
        self.now = now
        self.context = Context(now=now, zone=zone_of(self.options.zone).info)
        self.ads = {job: ad for ad in sources if (job := job_id(ad)) is not None}
        self.jobs: dict[JobId, RoutedJob] = {}
        self.unpaired: list[JobId] = []
        self._pair(self.ads.values() if copies is None else copies)
        self.ledger = RouteCounts(table, now)
        self.ledger.route_state = RouteState({}, dict(throttles), 0, turn)
        self.ledger.recount(self.jobs.values(), now)

    @property
    def name(self) -> str:
        """JOB_ROUTER_NAME."""
        return self.table.settings.name

    @property
    def route_state(self) -> RouteState:
        """The loads and throttles of the routes."""
        return self.ledger.route_state

    def why(self, job: JobId) -> Because:
        """Return why a job is not given to a route now."""
        return because(self, self.jobs, job, self.ads.get(job))

    def summary(self) -> Counter[tuple[RouteReason, str]]:
        """Return the same for all jobs: how many for each reason, and the route it is about."""
        return summed(self, self.jobs, self.ads.values())

    def routes(self) -> list[RouteNow]:
        """Return how the routes stand, in the order of the table."""
        return routes_now(self)

    def _pair(self, copies: Iterable[ClassAd]) -> None:
        """Bring sources and copies of the router together, as a new one would adopt them."""
        of: dict[str, ClassAd] = {}
        for ad in copies:
            if string(ad, ROUTED_BY) == self.name and status(ad) is not JobStatus.REMOVED:
                of[string(ad, ROUTED_FROM) or ""] = ad
        for job, ad in self.ads.items():
            if not is_managed_by(ad, self.name):
                continue
            copy = of.get(str(job))
            if copy is None:
                self.jobs[job] = RoutedJob(job, ad, "", RoutedState.CLEANUP, is_claimed=True)
                self.unpaired.append(job)
                continue
            made = RoutedJob(
                job, ad, string(copy, ROUTE_NAME) or "", RoutedState.SUBMITTED, job_id(copy), is_claimed=True
            )
            made.copy, made.is_running = copy, status(copy) in RUNNING
            self.jobs[job] = made
