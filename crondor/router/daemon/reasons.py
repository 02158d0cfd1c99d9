"""Why a job is not routed now, for one job and summed over a queue; and how each route stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final, NamedTuple, Protocol

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.job.attributes import string
from crondor.job.queued import JobStatus
from crondor.job_queue.keys import JobId
from crondor.router.daemon import runs
from crondor.router.daemon.context import RouterOptions
from crondor.router.daemon.counts import RouteCounts
from crondor.router.daemon.reading import ROUTED_BY, status
from crondor.router.daemon.routed_job import RoutedJob, State
from crondor.router.match.limits import Limit, RouteLoad, limit_text
from crondor.router.match.matcher import Matcher
from crondor.router.match.reasons import Outcome, Verdict, why
from crondor.router.match.throttle import Throttle
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable
from crondor.schedd.ads import job_id


class Reason(str, Enum):
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
    """The reason with its figures; ``verdicts`` say what becomes of the job at each route, where routes are asked."""

    reason: Reason
    text: str = ""
    verdicts: tuple[Verdict, ...] = ()


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


_OF_OUTCOME: Final = {
    Outcome.FULL: Reason.FULL,
    Outcome.IDLE_LIMIT: Reason.IDLE_LIMIT,
    Outcome.THROTTLED: Reason.THROTTLED,
    Outcome.ROUTER_FULL: Reason.ROUTER_FULL,
    Outcome.DISABLED: Reason.DISABLED,
}
_OF_LIMIT: Final = {
    Limit.FULL: Reason.FULL,
    Limit.IDLE_LIMIT: Reason.IDLE_LIMIT,
    Limit.THROTTLED: Reason.THROTTLED,
}


def because(desk: Position, jobs: Mapping[JobId, RoutedJob], job: JobId, ad: ClassAd | None) -> Because:
    """Return why a job with an ad is not given to a route now; ``jobs`` are those that the router has."""
    ours = _known(desk, jobs, job, ad)
    if ours is not None or ad is None:
        return ours or Because(Reason.GONE)
    found = why(desk.table, ad, desk.ledger.standing, desk.context, owner=desk.options.owner)
    if found.missed:
        missed = found.missed[0]
        return Because(Reason.NOT_CANDIDATE, f"not met: {missed.clause.value} ({missed.reason})", found.verdicts)
    waits = _waits(desk, ad)
    if waits is not None:
        return waits
    if found.chosen is not None:
        return Because(Reason.NEXT_POLL, found.chosen.name, found.verdicts)
    for verdict in found.verdicts:
        if verdict.outcome in _OF_OUTCOME:
            text = f"{verdict.route.name}: {verdict.reason}"
            return Because(_OF_OUTCOME[verdict.outcome], text, found.verdicts)
    reason = Reason.NO_MATCH if desk.table.is_enabled else Reason.DISABLED
    return Because(reason, "no route's requirements are met" if found.verdicts else "there is no route", found.verdicts)


def summed(desk: Position, jobs: Mapping[JobId, RoutedJob], ads: Iterable[ClassAd]) -> Counter[tuple[Reason, str]]:
    """Return how many jobs of a queue there are for each reason, with the first route that it is about.

    Jobs that are alike are asked once.
    """
    table, standing, context = desk.table, desk.ledger.standing, desk.context
    matcher = Matcher(table, desk.options.owner)
    clusters = matcher.clusters
    limits = [standing.limit(route) for route in table.routes]
    accepting = sum(1 << at for at, limit in enumerate(limits) if limit is None)
    counts: Counter[tuple[Reason, str]] = Counter()
    for ad in ads:
        job = job_id(ad)
        known = None if job is None else _known(desk, jobs, job, ad)
        if known is not None:
            counts[known.reason, known.text if known.reason is Reason.ROUTED else ""] += 1
            continue
        cluster, _ = clusters.find(ad, context)
        if not cluster.is_candidate or not clusters.is_candidate(ad, ad.codes, context):
            counts[Reason.NOT_CANDIDATE, ""] += 1
        elif not table.is_enabled:
            counts[Reason.DISABLED, ""] += 1
        elif _waits(desk, ad) is not None:
            counts[Reason.WAITS_FOR_RUN, ""] += 1
        elif not cluster.matched:
            counts[Reason.NO_MATCH, ""] += 1
        elif cluster.matched & accepting and not matcher.passes(cluster, accepting):
            counts[Reason.NOT_CANDIDATE, ""] += 1
        elif cluster.matched & accepting:
            first = _first(cluster.matched & accepting)
            reason = Reason.ROUTER_FULL if standing.is_full(table) else Reason.NEXT_POLL
            counts[reason, table.routes[first].name] += 1
        else:
            first = _first(cluster.matched)
            limit = limits[first]
            counts[Reason.FULL if limit is None else _OF_LIMIT[limit], table.routes[first].name] += 1
    return counts


def routes_now(desk: Position) -> list[RouteNow]:
    """Return how the routes of the table stand, in their order."""
    found = []
    for route in desk.table.routes:
        load, throttle = desk.ledger.standing.load(route), desk.ledger.standing.throttle(route)
        limit = desk.ledger.standing.limit(route)
        text = "" if limit is None else limit_text(route, load, throttle, limit)
        found.append(RouteNow(route, load, throttle, limit, text))
    return found


def _first(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _known(desk: Position, jobs: Mapping[JobId, RoutedJob], job: JobId, ad: ClassAd | None) -> Because | None:
    """Return what the router itself knows of a job."""
    known = jobs.get(job)
    if known is not None and known.state in (State.CLEANUP, State.RETIRED):
        return Because(Reason.ENDING, known.state.value)
    if known is not None:
        return Because(Reason.ROUTED, known.route)
    if ad is not None and string(ad, ROUTED_BY) == desk.name:
        return Because(Reason.COPY, string(ad, "RouteName") or "")
    return None


def _waits(desk: Position, ad: ClassAd) -> Because | None:
    """Return that a job waits for its next run, None if it does not."""
    if not desk.options.waits_for_gates or status(ad) is not JobStatus.IDLE:
        return None
    opens = runs.opens(ad, desk.now, desk.options.zone)
    if opens is None or opens <= desk.now:
        return None
    return Because(Reason.WAITS_FOR_RUN, "there is none" if opens >= runs.NEVER else f"its gate opens at {opens}")
