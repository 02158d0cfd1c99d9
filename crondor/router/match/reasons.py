"""Why a job goes to a route or does not: candidates, missed clauses, and the shortest reason."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from heapq import heapify, heappop, heapreplace
from typing import NamedTuple

from crondor.classad.evaluate import holds, value_of
from crondor.classad.expression import Expression
from crondor.classad.operators import truth
from crondor.classad.scope import Attributes, Context, print_value
from crondor.classad.tree import ERROR, UNDEFINED, ClassAdSyntaxError, EvaluationFailed
from crondor.job import attributes
from crondor.router.match.matcher import NOBODY, Match, Matcher, RouteState, Taking, limit_text
from crondor.router.match.umbrella import NO_AD, AlikeJobs, Clause, UmbrellaQuestion, built_in, meets
from crondor.router.table.route import Route, RoutingTable

_STATUS = ("", "idle", "running", "removed", "completed", "held", "transferring output", "suspended")
_BEFORE = {
    Clause.JOB: "it is not a job",
    Clause.IDLE: "only idle jobs (JobStatus 1) are routed",
    Clause.NOT_SPOOLING: "its input is still being spooled",
    Clause.NOT_DONE: "a manager has finished it",
    Clause.NOT_EXTERNAL: "a manager has it already",
    Clause.OWNED: "it has no Owner",
    Clause.NOT_COPY: "it is a copy that this router made",
    Clause.OWN: "a router that does not run as root only takes its own user's jobs",
}
_SHOWN = {
    Clause.JOB: ("ProcId",),
    Clause.IDLE: ("JobStatus",),
    Clause.NOT_SPOOLING: ("StageInStart", "StageInFinish"),
    Clause.NOT_DONE: ("Managed", "ManagedManager"),
    Clause.NOT_EXTERNAL: ("Managed", "ManagedManager", "RoutedToJobId"),
    Clause.OWNED: ("Owner",),
    Clause.NOT_COPY: ("RoutedBy", "RoutedFromJobId"),
    Clause.OWN: ("Owner",),
}
_OPTIONAL = frozenset(("ManagedManager", "RoutedToJobId", "RoutedFromJobId"))


@dataclass(frozen=True)
class Missed:
    """A clause of the umbrella constraint that a job does not meet, and the shortest reason."""

    clause: Clause
    reason: str


def missed_clauses(
    table: RoutingTable, job: Attributes, accepting: tuple[Route, ...], context: Context, owner: str | None
) -> list[Missed]:
    """Return the clauses that prevent a job from being a candidate.

    ``accepting`` are the routes that accepted jobs when the search began, ``owner`` is that of Matcher.
    """
    found = [
        Missed(each.clause, _in_words(each.clause, job, context))
        for each in built_in(table.settings.name, owner)
        if not holds(each.expression.code, NO_AD, job, context)
    ]
    constraint = table.settings.source_constraint
    if constraint is not None and not holds(constraint.code, NO_AD, job, context):
        reason = short_reason(constraint, NO_AD, job, context)
        found.append(Missed(Clause.SOURCE_CONSTRAINT, f"{Clause.SOURCE_CONSTRAINT.value}: {reason}"))
    elif any(meets(route, job, context) for route in accepting):
        # A job that meets requirements alone may fail here, where MY is no job and error wins over true.
        asked = UmbrellaQuestion(table, accepting)
        if not asked.holds(job, context):
            reason = _of_routes(accepting, job, context) or asked.reason(job, context) or "it is not true"
            found.append(Missed(Clause.ROUTES, reason))
    return found


def short_reason(expression: Expression, my: Attributes, target: Attributes | None, context: Context) -> str:
    """Return the shortest reason why an expression is not true of a job."""
    try:
        return expression.explain(my, target, context).reason() or f"{expression}: true"
    except ClassAdSyntaxError as error:
        return error.diagnostics[0].message


def _in_words(clause: Clause, job: Attributes, context: Context) -> str:
    """Return the condition of a fixed clause, and the job's actual values."""
    shown = [_attribute(name, job, context) for name in _SHOWN[clause]]
    return f"{_BEFORE[clause]}: {', '.join(each for each in shown if each)}"


def _attribute(name: str, job: Attributes, context: Context) -> str:
    if name.lower() not in job.codes:
        return "" if name in _OPTIONAL else f"no {name}"
    value = attributes.value(job, name, context)
    if value is ERROR:
        return f"{name} has no value"
    status = attributes.exact_integer_of(value) if name == "JobStatus" else None
    said = f" ({_STATUS[status]})" if status is not None and 0 < status < len(_STATUS) else ""
    return f"{name} = {print_value(value)}{said}"


def _of_routes(accepting: tuple[Route, ...], job: Attributes, context: Context) -> str | None:
    """Return which route's requirements block a job from all routes, or why none is met with the job as TARGET."""
    unmet: list[str] = []
    for route in sorted(accepting, key=lambda each: each.name.lower()):
        required = route.transform.requirements
        if required is None:
            return None
        expression = required.expression
        try:
            value = value_of(expression.code, NO_AD, job, context)
        except (EvaluationFailed, ClassAdSyntaxError):
            return None
        if truth(value) is None and value is not UNDEFINED:
            said = (
                f"the requirements of {route.name} are neither true nor false, and hide the routes after it in the "
                "order of names"
            )
            return f"{said}: {short_reason(expression, NO_AD, job, context)}"
        if meets(route, job, context):
            unmet.append(f"{route.name}: {short_reason(expression, NO_AD, job, context)}")
    said = "; ".join(unmet)
    return f"for finding candidates the job is TARGET and MY is empty: {said}" if unmet else None


class RouteOutcome(str, Enum):
    """The result for a job at a route."""

    MATCHED = "matched"
    NO_MATCH = "no match"
    FULL = "full"
    IDLE_LIMIT = "idle limit"
    THROTTLED = "throttled"
    ROUTER_FULL = "router full"
    NOT_CANDIDATE = "not a candidate"
    DISABLED = "routing is disabled"


DISABLED = "the configuration disables routing"


@dataclass(frozen=True)
class RouteVerdict:
    """The result for a job at one route; ``reason`` is None if it matches."""

    route: Route
    outcome: RouteOutcome
    reason: str | None = None


@dataclass(frozen=True)
class JobVerdict:
    """The result for a job at all routes of a table, in their order.

    ``missed`` are the clauses that prevent it from being a candidate. ``chosen`` is the route that takes it: the first
    that matches, or with round robin the one whose turn it is.
    """

    verdicts: tuple[RouteVerdict, ...]
    missed: tuple[Missed, ...]
    chosen: Route | None


def why(
    table: RoutingTable,
    job: Attributes,
    route_state: RouteState,
    context: Context,
    *,
    owner: str | None = None,
    accepting: tuple[Route, ...] | None = None,
) -> JobVerdict:
    """Explain what the router would do with a job now; ``owner`` as in Matcher.

    ``accepting`` are the routes that accepted jobs when the search began, used in the umbrella constraint; None: those
    of ``route_state``. A limit of a route is only the reason if its requirements are met.
    """
    accepting = route_state.accepting(table) if accepting is None else accepting
    missed = tuple(missed_clauses(table, job, accepting, context, owner))
    verdicts = tuple(_verdict(table, route, job, route_state, context, missed) for route in table.routes)
    matched = [each.route for each in verdicts if each.outcome is RouteOutcome.MATCHED]
    if not matched:
        return JobVerdict(verdicts, missed, None)
    turn = route_state.turn if table.settings.round_robin else 0
    return JobVerdict(verdicts, missed, matched[turn % len(matched)])


def _verdict(
    table: RoutingTable,
    route: Route,
    job: Attributes,
    route_state: RouteState,
    context: Context,
    missed: tuple[Missed, ...],
) -> RouteVerdict:
    required = route.transform.requirements
    if required is not None and not meets(route, job, context):
        return RouteVerdict(route, RouteOutcome.NO_MATCH, short_reason(required.expression, job, None, context))
    if not table.is_enabled:
        return RouteVerdict(route, RouteOutcome.DISABLED, DISABLED)
    if missed:
        return RouteVerdict(route, RouteOutcome.NOT_CANDIDATE, missed[0].reason)
    limit = route_state.limit(route)
    if limit is not None:
        text = limit_text(route, route_state.load(route), route_state.throttle(route), limit)
        return RouteVerdict(route, RouteOutcome(limit.value), text.partition(": ")[2])
    if route_state.is_full(table):
        most = table.settings.max_jobs
        return RouteVerdict(
            route, RouteOutcome.ROUTER_FULL, f"{route_state.managed} jobs, JOB_ROUTER_MAX_JOBS = {most}"
        )
    return RouteVerdict(route, RouteOutcome.MATCHED)


class MatchPoll(NamedTuple):
    """The result of a poll: the matches in the order of the jobs, and the state of the router afterwards."""

    matches: tuple[Match, ...]
    route_state: RouteState


class _Bucket:
    """Similar jobs, with the number that each got when it was first added."""

    def __init__(self, cluster: AlikeJobs) -> None:
        self.cluster = cluster
        self.jobs: dict[str, int] = {}
        self.last = 0  # the number of the last job; maximal if they are not in order
        self._gone = 0

    def add(self, job: str, number: int) -> None:
        self.jobs[job] = number
        self.last = number if number >= self.last else 1 << 62

    def remove(self, job: str) -> None:
        """Remove a job, and occasionally the gaps that removed jobs leave in a dict."""
        del self.jobs[job]
        self._gone += 1
        if self._gone > len(self.jobs):
            self.jobs = dict(self.jobs.items())
            self._gone = 0

    def in_order(self) -> Iterator[tuple[str, int]]:
        if self.last == 1 << 62:
            self.jobs = dict(sorted(self.jobs.items(), key=lambda item: item[1]))
            self.last = max(self.jobs.values(), default=0)
        return iter(self.jobs.items())


class Candidates:
    """Keeps the jobs of a queue for successive polls.

    ``put`` adds a job, or its changed ad; ``drop`` removes it. A matched job is not examined again before it is put
    again.
    """

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._numbers: dict[str, int] = {}
        self._places: dict[str, _Bucket] = {}
        self._buckets: dict[AlikeJobs, _Bucket] = {}
        self._ready: dict[int, list[_Bucket]] = {}
        self._doubtful: dict[str, Attributes] = {}
        self._count = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def put(self, job: str, ad: Attributes, context: Context) -> None:
        """Add a job's ad, chained to its cluster's; after a change it must be put again."""
        self._leave(job)
        self.number(job)
        clusters = self._matcher.clusters
        codes = ad.codes
        is_fixed = clusters.is_fixed(codes)
        cluster, is_shared = clusters.find(ad, context)
        if not is_fixed or not is_shared:
            self._doubtful[job] = ad
        elif (cluster.is_timed or cluster.matched) and clusters.is_candidate(ad, codes, context):
            bucket = self._buckets.get(cluster)
            if bucket is None:
                bucket = self._buckets[cluster] = _Bucket(cluster)
            if not bucket.jobs:
                self._ready.clear()
            bucket.add(job, self._numbers[job])
            self._places[job] = bucket

    def number(self, job: str) -> None:
        """Add a job without its ad, which no route matches; a known job is unchanged."""
        if job not in self._numbers:
            self._count += 1
            self._numbers[job] = self._count

    def may_match(self, job: str) -> bool:
        """Return whether a poll may give a job to a route, as far as its ad tells."""
        return job in self._places or job in self._doubtful

    def drop(self, job: str) -> None:
        """Remove a job, if it is known."""
        self._leave(job)
        self._numbers.pop(job, None)

    def poll(self, route_state: RouteState, context: Context, *, managed: Collection[str] = NOBODY) -> MatchPoll:
        """Give jobs to routes; ``managed`` are the ids of jobs that the router has already."""
        taking = Taking(self._matcher.table, route_state)
        if not taking.room:
            return MatchPoll((), route_state)
        turn = route_state.turn if self._matcher.table.settings.round_robin else None
        found: list[Match] = []
        for job, cluster in self._in_order(taking, context, managed):
            among = taking.among(cluster.matched)
            at = among[0 if turn is None else turn % len(among)]
            turn = None if turn is None else turn + 1
            found.append(Match(job, taking.routes[at]))
            if not taking.give(at):
                break
        for match in found:
            self._leave(match.job)
        return MatchPoll(tuple(found), route_state.after(taking.given()))

    def _leave(self, job: str) -> None:
        bucket = self._places.pop(job, None)
        if bucket is not None:
            bucket.remove(job)
        self._doubtful.pop(job, None)

    def _in_order(self, taking: Taking, context: Context, managed: Collection[str]) -> Iterator[tuple[str, AlikeJobs]]:
        """Yield the jobs that a route takes now, with their clusters; ``taking`` may change meanwhile."""
        heads: list[tuple[int, str, AlikeJobs, Iterator[tuple[str, int]]]] = []
        at_first = taking.accepting
        buckets = [bucket for bucket in self._at(at_first, context) if bucket.cluster.matched & at_first]
        for bucket in buckets:
            rest = bucket.in_order()
            job, number = next(rest)
            heads.append((number, job, bucket.cluster, rest))
        for job, ad in self._doubtful.items():
            cluster, _ = self._matcher.clusters.find(ad, context)
            if self._matcher.passes(cluster, at_first) and self._matcher.clusters.is_candidate(ad, ad.codes, context):
                heads.append((self._numbers[job], job, cluster, iter(())))
        heapify(heads)
        while heads:
            _, job, cluster, rest = heads[0]
            if not cluster.matched & taking.accepting:
                heappop(heads)
                continue
            if job not in managed:
                yield job, cluster
            following = next(rest, None)
            if following is None:
                heappop(heads)
            else:
                heapreplace(heads, (following[1], following[0], cluster, rest))

    def _at(self, accepting: int, context: Context) -> list[_Bucket]:
        """Return the buckets with jobs that pass the umbrella constraint of some routes."""
        ready = self._ready.get(accepting)
        if ready is None:
            self._buckets = {each: bucket for each, bucket in self._buckets.items() if bucket.jobs}
            passes = self._matcher.passes
            ready = [
                bucket for cluster, bucket in self._buckets.items() if cluster.is_timed or passes(cluster, accepting)
            ]
            self._ready[accepting] = ready
        return [bucket for bucket in ready if bucket.jobs and self._passes_now(bucket.cluster, accepting, context)]

    def _passes_now(self, cluster: AlikeJobs, accepting: int, context: Context) -> bool:
        if not cluster.is_timed:
            return True
        self._matcher.clusters.renew(cluster, context)
        return self._matcher.passes(cluster, accepting)
