"""Why a job is not routed now, for one job and summed over a queue; and how each route stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple, Protocol

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.job.attributes import string
from crondor.job.status import JobStatus
from crondor.job_queue.keys import JobId
from crondor.router.daemon import runs
from crondor.router.daemon.context import RouterOptions
from crondor.router.daemon.counts import RouteCounts
from crondor.router.daemon.reading import ROUTED_BY, status
from crondor.router.daemon.routed_job import RoutedJob, RoutedState
from crondor.router.match.limits import Limit, RouteLoad, limit_text
from crondor.router.match.matcher import Matcher
from crondor.router.match.reasons import DISABLED, RouteOutcome, RouteVerdict, why
from crondor.router.match.throttle import Throttle
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable
from crondor.schedd.ads import job_id


class RouteReason(str, Enum):
    """Why a job is not given to a route now, or that it is."""

    ROUTED = "routed"
    ENDING = "being given back"
    COPY = "a routed copy"
    NOT_CANDIDATE = "not a candidate"
    WAITS_FOR_RUN = "waits for its next run"
    NO_MATCH = "no match"
    FULL = "full"
    IDLE_LIMIT = "idle limit"
    THROTTLED = "throttled"
    ROUTER_FULL = "router full"
    DISABLED = "routing is disabled"
    NEXT_POLL = "taken by the next poll"
    GONE = "not in the queue"


class Because(NamedTuple):
    """The reason with its figures, and the first route that it is about.

    ``verdicts`` say what becomes of the job at each route, where routes are asked.
    """

    reason: RouteReason
    text: str = ""
    verdicts: tuple[RouteVerdict, ...] = ()
    route: str = ""


class RouteNow(NamedTuple):
    """How a route stands: ``limit`` is what keeps it from taking one more job, ``text`` says that with its figures."""

    route: Route
    load: RouteLoad
    throttle: Throttle
    limit: Limit | None
    text: str


class Position(Protocol):
    """Where a router stands: its table, what it has counted, its options and the time (epoch seconds)."""

    @property
    def table(self) -> RoutingTable:
        """The table in force."""

    @property
    def ledger(self) -> RouteCounts:
        """What it counts."""

    @property
    def options(self) -> RouterOptions:
        """How it differs from HTCondor's."""

    @property
    def now(self) -> int:
        """How late it is."""

    @property
    def context(self) -> Context:
        """The context of expressions now."""

    @property
    def name(self) -> str:
        """JOB_ROUTER_NAME."""


def because(position: Position, jobs: Mapping[JobId, RoutedJob], job: JobId, ad: ClassAd | None) -> Because:
    """Return why a job with an ad is not given to a route now; ``jobs`` are those that the router has."""
    return _known(position, jobs, job, ad) or (Because(RouteReason.GONE) if ad is None else _of_ad(position, ad))


def summed(
    position: Position, jobs: Mapping[JobId, RoutedJob], ads: Iterable[ClassAd]
) -> Counter[tuple[RouteReason, str]]:
    """Return how many jobs of a queue there are for each reason, with the first route that it is about.

    Of the jobs that match the same routes, and wait or not, one is asked.
    """
    matcher, context = Matcher(position.table, position.options.owner), position.context
    clusters, route_state = matcher.clusters, position.ledger.route_state
    accepting = sum(1 << at for at, route in enumerate(position.table.routes) if route_state.limit(route) is None)
    counts: Counter[tuple[RouteReason, str]] = Counter()
    asked: dict[tuple[int, bool, bool, bool], Because] = {}
    for ad in ads:
        job = job_id(ad)
        found = None if job is None else _known(position, jobs, job, ad)
        if found is None:
            cluster, _ = clusters.find(ad, context)
            is_candidate = cluster.is_candidate and clusters.is_candidate(ad, ad.codes, context)
            passes = is_candidate and (not cluster.matched & accepting or matcher.passes(cluster, accepting))
            alike = (cluster.matched, is_candidate, passes, passes and _waits(position, ad) is not None)
            found = asked.get(alike) or asked.setdefault(alike, _of_ad(position, ad))
        counts[found.reason, found.route] += 1
    return counts


def _of_ad(position: Position, ad: ClassAd) -> Because:
    """Return what the router would do with a job that it has not."""
    table = position.table
    found = why(table, ad, position.ledger.route_state, position.context, owner=position.options.owner)
    if found.missed:
        missed = found.missed[0]
        return Because(RouteReason.NOT_CANDIDATE, f"not met: {missed.clause.value} ({missed.reason})", found.verdicts)
    if not table.is_enabled:
        return Because(RouteReason.DISABLED, DISABLED, found.verdicts)
    waits = _waits(position, ad)
    if waits is not None:
        return waits
    if found.chosen is not None:
        return Because(RouteReason.NEXT_POLL, found.chosen.name, found.verdicts, found.chosen.name)
    full = next((each for each in found.verdicts if each.outcome is not RouteOutcome.NO_MATCH), None)
    if full is not None:
        name = full.route.name
        return Because(RouteReason(full.outcome.value), f"{name}: {full.reason}", found.verdicts, name)
    text = "no route's requirements are met" if found.verdicts else "there is no route"
    return Because(RouteReason.NO_MATCH, text, found.verdicts)


def routes_now(position: Position) -> list[RouteNow]:
    """Return how the routes of the table stand, in their order."""
    found = []
    for route in position.table.routes:
        load, throttle = position.ledger.route_state.load(route), position.ledger.route_state.throttle(route)
        limit = position.ledger.route_state.limit(route)
        text = "" if limit is None else limit_text(route, load, throttle, limit)
        found.append(RouteNow(route, load, throttle, limit, text))
    return found


def _known(position: Position, jobs: Mapping[JobId, RoutedJob], job: JobId, ad: ClassAd | None) -> Because | None:
    """Return what the router itself knows of a job."""
    known = jobs.get(job)
    if known is not None and known.state in (RoutedState.CLEANUP, RoutedState.RETIRED):
        return Because(RouteReason.ENDING, known.state.value)
    if known is not None:
        return Because(RouteReason.ROUTED, known.route, route=known.route)
    if ad is not None and string(ad, ROUTED_BY) == position.name:
        return Because(RouteReason.COPY, string(ad, "RouteName") or "")
    return None


def _waits(position: Position, ad: ClassAd) -> Because | None:
    """Return that a job waits for its next run, None if it does not."""
    if not position.options.waits_for_gates or status(ad) is not JobStatus.IDLE:
        return None
    opens = runs.opens(ad, position.now, position.options.zone)
    if opens is None or opens <= position.now:
        return None
    return Because(RouteReason.WAITS_FOR_RUN, "there is none" if opens >= runs.NEVER else f"its gate opens at {opens}")
