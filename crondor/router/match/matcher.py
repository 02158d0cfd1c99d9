"""Which job goes to which route: the first route that matches, route states, limits and throttles.

``Matcher(table).match(jobs, route_state, context)`` looks at jobs once; ``match.reasons.Candidates`` keeps them,
and looks at what has changed. Everything is as HTCondor 25.14's daemon does it: the umbrella constraint is asked
of the routes that take jobs when the search begins, each job being TARGET; then the routes' requirements in the job's
ad alone.

HTCondor: JobRouter::ChooseRoute.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from crondor._types import Made, expect
from crondor.classad.scope import Attributes, Context
from crondor.classad.text import lower
from crondor.router.match.umbrella import MOST_KEYS, AlikeJobs, Autoclusters, Key, UmbrellaQuestion, umbrella_text
from crondor.router.table.route import Route, RoutingTable

WINDOW = 600
"""Seconds for which results are counted before the throttle is adjusted."""

_OFF = 10_000  # times the threshold; from there on there is no throttle
_NOTICED = 0.0001  # HTCondor ignores smaller changes of a throttle


class Throttle(NamedTuple):
    """The results of a route since ``begin`` (epoch seconds), and how many jobs it may take in a window.

    ``jobs`` of 0 or less: there is no throttle. A route begins with ``Throttle(now)``.
    """

    begin: int = 0
    routed: int = 0
    failed: int = 0
    succeeded: int = 0
    jobs: float = 0.0

    @property
    def is_reached(self) -> bool:
        """Whether no more jobs may be routed in this window."""
        return 0 < self.jobs <= self.routed

    def with_routed(self, count: int = 1) -> Throttle:
        """Return the state after jobs were given to the route, whether or not they arrive."""
        return self._replace(routed=self.routed + count)

    def adjusted(self, now: int, threshold: float, current_jobs: int) -> Throttle:
        """Return the throttle for the next window; within a window, this one unchanged.

        ``threshold`` is FailureRateThreshold in failures a second, ``current_jobs`` the present jobs of the route.
        Above the threshold as many jobs are allowed as fail no more often than that; below it the throttle is eased,
        fivefold if all jobs succeed, until it is off (HTCondor 25.14, JobRoute::AdjustFailureThrottles).
        """
        elapsed = now - self.begin
        if elapsed < WINDOW:
            return self
        jobs = self.jobs
        if self.failed and self.failed / elapsed > threshold:
            ratio = self.failed / (self.failed + current_jobs + self.succeeded)
            jobs = WINDOW * threshold / ratio
        else:
            jobs = self._eased(jobs, threshold)
        return Throttle(now, jobs=jobs if abs(jobs - self.jobs) > _NOTICED else self.jobs)

    def _eased(self, jobs: float, threshold: float) -> float:
        ease = 3.0 * self.succeeded - 2.0 * self.failed
        if ease > 0:
            ease /= self.succeeded + self.failed
        ease += 2.0
        if ease > 1.0:
            jobs *= ease
        if jobs > WINDOW * threshold * _OFF:
            return 0.0
        return 1.0 if 0 < jobs < 1 and not self.failed else jobs

    def __str__(self) -> str:
        """Return the throttle as HTCondor's tools show it: none, or 0.03 jobs/sec."""
        return "none" if self.jobs <= 0 else f"{self.jobs / WINDOW:g} jobs/sec"


NO_THROTTLE = Throttle()


# HTCondor: JobRoute::AcceptingMoreJobs.
class Limit(str, Enum):
    """Why a route does not take another job."""

    FULL = "full"
    IDLE_LIMIT = "idle limit"
    THROTTLED = "throttled"


class RouteLoad(NamedTuple):
    """The jobs on a route, and those of them that do not run.

    HTCondor counts every job as idle that is not running or sending its output, including held ones and those not yet
    submitted.
    """

    jobs: int = 0
    idle: int = 0

    def routed(self, count: int = 1) -> RouteLoad:
        """Return the load with more jobs, which do not run yet."""
        return RouteLoad(self.jobs + count, self.idle + count)


def limit_of(route: Route, load: RouteLoad, throttle: Throttle = NO_THROTTLE) -> Limit | None:
    """Return why a route does not take another job, None if it does.

    HTCondor checks the throttle first, then MaxIdleJobs (negative: unlimited; 0: never takes a job), then MaxJobs
    (negative: takes none).
    """
    if throttle.is_reached:
        return Limit.THROTTLED
    if 0 <= route.max_idle_jobs <= load.idle:
        return Limit.IDLE_LIMIT
    return None if load.jobs < route.max_jobs else Limit.FULL


def room_of(route: Route, load: RouteLoad, throttle: Throttle = NO_THROTTLE) -> int:
    """Return how many more jobs a route takes before ``limit_of`` returns a limit."""
    room = route.max_jobs - load.jobs
    if route.max_idle_jobs >= 0:
        room = min(room, route.max_idle_jobs - load.idle)
    if throttle.jobs > 0:
        room = min(room, math.ceil(throttle.jobs - throttle.routed)) if math.isfinite(throttle.jobs) else room
    return max(0, room)


def limit_text(route: Route, load: RouteLoad, throttle: Throttle, limit: Limit) -> str:
    """Return a reached limit with its figures: ``full: 100 of 100 jobs``."""
    if limit is Limit.THROTTLED:
        return f"throttled: too many failures; {throttle.routed} routed in {WINDOW} s, the limit is {throttle.jobs:g}"
    if limit is Limit.IDLE_LIMIT and not route.max_idle_jobs:
        return "idle limit: MaxIdleJobs = 0, and such a route never takes a job"
    if limit is Limit.IDLE_LIMIT:
        return f"idle limit: {load.idle} idle, MaxIdleJobs = {route.max_idle_jobs}"
    if route.max_jobs < 0:
        return f"full: MaxJobs = {route.max_jobs} is negative, and such a route never takes a job"
    return f"full: {load.jobs} jobs, MaxJobs = {route.max_jobs}"


LAST_TURN = (1 << 32) - 1  # HTCondor counts in an unsigned int


@dataclass(frozen=True)
class RouteState:
    """The counters of a router, as a value; names of routes in lower case.

    ``managed`` is the number of jobs that JOB_ROUTER_MAX_JOBS counts, ``turn`` how often a route has been chosen: with
    JOB_ROUTER_ROUND_ROBIN_SELECTION it determines which of the matching routes is next, one count for all jobs.
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
        """Return why a route does not take another job, None if it does."""
        return limit_of(route, self.load(route), self.throttle(route))

    def accepting(self, table: RoutingTable) -> tuple[Route, ...]:
        """Return the routes of a table that take another job."""
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
        return RouteState(loads, throttles, self.managed + total, (self.turn + total) & LAST_TURN)

    def adjusted(self, table: RoutingTable, now: int) -> RouteState:
        """Return the state with the throttles of finished windows adjusted, as at the beginning of a poll."""
        throttles = dict(self.throttles)
        for route in table.routes:
            throttle = throttles.get(lower(route.name), Throttle(now))
            throttles[lower(route.name)] = throttle.adjusted(now, route.failure_rate_threshold, self.load(route).jobs)
        return RouteState(self.loads, throttles, self.managed, self.turn)


NOBODY: frozenset[str] = frozenset()
_ANY = 1 << 62

_Ad = TypeVar("_Ad", bound=Attributes)
_Kept = TypeVar("_Kept")


class Match(NamedTuple):
    """A candidate job, by its id ``cluster.proc``, and the route that takes it."""

    job: str
    route: Route


class Matcher(Made):
    """Matches jobs with the routes of a table, and caches the results of similar jobs.

    ``owner``: only this user's jobs are candidates, for a router that does not run as root; None: everybody's.
    """

    def __init__(self, table: RoutingTable, owner: str | None = None) -> None:
        expect("table", table, RoutingTable, "a RoutingTable", "write load_table(read_config(text))")
        self.table = table
        self.owner = owner
        self.clusters = Autoclusters(table, owner)
        self._asked: dict[int, UmbrellaQuestion] = {}

    def __repr__(self) -> str:
        return f"Matcher({self.table!r}{'' if self.owner is None else f', owner={self.owner!r}'})"

    def _made_of(self) -> tuple[object, ...]:
        return self.table, self.owner

    def match(
        self,
        jobs: Iterable[tuple[str, _Ad]],
        route_state: RouteState,
        context: Context,
        *,
        managed: Collection[str] = NOBODY,
    ) -> Search[_Ad]:
        """Return a search for candidates among jobs in their order; iterate over it for the matches.

        ``managed`` are the ids of jobs that the router has already, including finished ones that still exist. Jobs are
        read only while some route accepts jobs.
        """
        return Search(self, judge(self, jobs, route_state, context), route_state, managed)

    def passes(self, cluster: AlikeJobs, accepting: int) -> bool:
        """Return whether the jobs of a cluster pass the umbrella constraint of the routes whose bits are set."""
        return cluster.is_candidate and bool(accepting) and cluster.passes(accepting, self._asked_of(accepting))

    def _asked_of(self, accepting: int) -> UmbrellaQuestion:
        found = self._asked.get(accepting)
        if found is None:
            if len(self._asked) >= 1024:
                self._asked.clear()
            routes = [each for at, each in enumerate(self.table.routes) if accepting >> at & 1]
            found = self._asked[accepting] = UmbrellaQuestion(self.table, routes)
        return found


class Taking:
    """The routes that accept jobs during a search.

    ``accepting`` has a bit for each that does; ``counts`` are the jobs given to each so far. ``room`` is how many more
    can be given before ``look_again`` has to determine which still accept. A route that is listed twice shares its
    jobs.
    """

    def __init__(self, table: RoutingTable, route_state: RouteState) -> None:
        self.routes = table.routes
        most = table.settings.max_jobs
        self._left = [room_of(route, route_state.load(route), route_state.throttle(route)) for route in self.routes]
        self._most = (max(0, most - route_state.managed) if most >= 0 else _ANY) if table.is_enabled else 0
        self.counts = [0] * len(self.routes)
        self.look_again()

    def look_again(self) -> None:
        """Determine which routes still accept jobs; none if the router itself has enough."""
        given = self.given()
        left = [room - given.get(route.name, 0) for room, route in zip(self._left, self.routes, strict=True)]
        router = self._most - sum(self.counts)
        self.accepting = sum(1 << at for at, room in enumerate(left) if room) if router else 0
        self.room = min([router, *(room for room in left if room)]) if self.accepting else 0

    def give(self, at: int) -> bool:
        """Give a job to a route, by its place in the table; return whether any route still accepts one."""
        self.counts[at] += 1
        self.room -= 1
        if not self.room:
            self.look_again()
        return self.room > 0

    def given(self) -> dict[str, int]:
        """Return how many jobs were given to each route, by its name."""
        found: dict[str, int] = {}
        for route, count in zip(self.routes, self.counts, strict=True):
            if count:
                found[route.name] = found.get(route.name, 0) + count
        return found

    def among(self, matched: int) -> tuple[int, ...]:
        """Return the places, as bits, of the matching routes that accept a job."""
        found = matched & self.accepting
        return tuple(at for at in range(found.bit_length()) if found >> at & 1)


Judged: TypeAlias = tuple[str, int, _Kept]
"""A job: its id; the routes that it matches, a bit for each place in the table; and its data to keep."""


def judge(
    matcher: Matcher, jobs: Iterable[tuple[str, _Ad]], route_state: RouteState, context: Context
) -> Iterator[Judged[_Ad]]:
    """Yield each job with the bits of the routes that it matches, none if it is not a candidate, and its ad.

    This is the expensive part of a search. It can be done for any part of a queue, by another process too.
    ``route_state`` is that at the beginning of the search: the umbrella constraint uses the routes that accept jobs
    then.
    """
    clusters = matcher.clusters
    names, find, is_candidate, owners = clusters.names, clusters.find, clusters.is_candidate, clusters.owners
    accepting = Taking(matcher.table, route_state).accepting
    known: dict[Key, int] = {}
    for job, ad in jobs:
        codes = ad.codes
        get = codes.get
        key = tuple(map(get, names))
        routes = known.get(key)
        if routes is None:
            cluster = find(ad, context)[0]
            routes = cluster.matched if matcher.passes(cluster, accepting) else 0
            if isinstance(clusters.known.get(key), AlikeJobs):  # the key is enough
                if len(known) >= MOST_KEYS:
                    known.clear()
                known[key] = routes
        if routes:
            proc = get("procid")  # the plainest candidates, which are the most, are known by their texts
            if not (
                proc.__class__ is str and proc.isdigit() and get("owner") in owners and get("stageinstart") is None
            ) and not is_candidate(ad, codes, context):
                routes = 0
        yield job, routes, ad


class Search(Generic[_Kept]):
    """Processes judged jobs in their order. Afterwards ``route_state`` includes the matches.

    ``kept`` is the data of the job in the last match, None before the first. ``accepting`` are the routes that accept
    jobs when the search begins, as bits. ``is_stopped``: it ended early, since no route accepts more.
    """

    def __init__(
        self,
        matcher: Matcher,
        judged: Iterable[Judged[_Kept]],
        route_state: RouteState,
        managed: Collection[str] = NOBODY,
    ) -> None:
        """Start; nothing is examined before the matches are requested."""
        self._matcher = matcher
        self._judged = judged
        self._begun = route_state
        self._managed = managed
        self._taking = Taking(matcher.table, route_state)
        self.accepting = self._taking.accepting
        self.is_stopped = False
        self.kept: _Kept | None = None

    @property
    def ad(self) -> _Kept | None:
        """The ad of the job in the last match, if ads are searched."""
        return self.kept

    @property
    def route_state(self) -> RouteState:
        """The state of the router after the matches so far."""
        return self._begun.after(self._taking.given())

    @property
    def umbrella(self) -> str | None:
        """The constraint for candidates, as HTCondor writes it; None if no route accepts a job."""
        if not self.accepting:
            return None
        table = self._matcher.table
        routes = (each for at, each in enumerate(table.routes) if self.accepting >> at & 1)
        return umbrella_text(table, routes, self._matcher.owner)

    def __iter__(self) -> Iterator[Match]:
        """Yield the matches in the order of the jobs."""
        taking, managed = self._taking, self._managed
        turn = self._begun.turn if self._matcher.table.settings.round_robin else None
        self.is_stopped = not taking.room
        for job, matched, kept in self._judged if taking.room else ():
            left = matched & taking.accepting
            if not left or job in managed:
                continue
            at = (left & -left).bit_length() - 1
            if turn is not None:
                among = taking.among(left)
                at = among[turn % len(among)]
                turn = (turn + 1) & LAST_TURN
            self.kept = kept
            is_room = taking.give(at)
            yield Match(job, taking.routes[at])
            if not is_room:
                self.is_stopped = True
                return
