"""The state of a router's queues, seen from outside: reasons, reports and views. Nothing is written."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from crondor.classad import Context, Expression, print_string
from crondor.classad.ad import ClassAd
from crondor.classad.parser import unparse
from crondor.classad.scope import code_tree
from crondor.classad.tree import UNDEFINED, Literal, Node, Reference, plain_name
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source
from crondor.job.attributes import JobStatus, string
from crondor.job_queue.mirror import ChangeKind, Mirror
from crondor.job_queue.records import JobId, Traits, cluster_key, refused_by_disk
from crondor.rights.walk import open_plain
from crondor.router.daemon import runs
from crondor.router.daemon.context import RouteCounts, RouterContext, RouterOptions
from crondor.router.daemon.routed_job import (
    ROUTE_NAME,
    ROUTED_BY,
    ROUTED_FROM,
    RUNNING,
    RoutedJob,
    RoutedState,
    is_managed_by,
    status,
)
from crondor.router.match.matcher import Limit, Matcher, RouteLoad, RouteState, Throttle, limit_text
from crondor.router.match.reasons import DISABLED, RouteOutcome, RouteVerdict, why
from crondor.router.match.umbrella import Autoclusters, built_in, needs_of_all
from crondor.router.table.route import Route, RoutingTable
from crondor.schedd.protocol import QueuePart, Schedd, Selection
from crondor.schedd.reading import job_id
from crondor.transform.classad_form import rewrite, without_scope
from crondor.zones import zone_of


class RouteReason(str, Enum):
    """Why a job is not given to a route now; NEXT_POLL: it will be."""

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
    """A reason with its figures, and the first route concerned.

    ``verdicts`` are the results for the job at each route, if routes were consulted.
    """

    reason: RouteReason
    text: str = ""
    verdicts: tuple[RouteVerdict, ...] = ()
    route: str = ""


class RouteNow(NamedTuple):
    """The state of a route: ``limit`` prevents it from taking another job, ``text`` adds the figures."""

    route: Route
    load: RouteLoad
    throttle: Throttle
    limit: Limit | None
    text: str


Position: TypeAlias = "RouterContext | QueueStatus"
"""A router's state: its table, counts, options and the time (epoch seconds)."""


def because(position: Position, jobs: Mapping[JobId, RoutedJob], job: JobId, ad: ClassAd | None) -> Because:
    """Return why a job with an ad is not given to a route now; ``jobs`` are the router's jobs."""
    return _known(position, jobs, job, ad) or (Because(RouteReason.GONE) if ad is None else _of_ad(position, ad))


def summed(
    position: Position, jobs: Mapping[JobId, RoutedJob], ads: Iterable[ClassAd]
) -> Counter[tuple[RouteReason, str]]:
    """Return the number of a queue's jobs per reason and first route concerned; equivalent jobs are evaluated once."""
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
    """Return what the router would do with a job that it does not manage."""
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
    """Return the state of the table's routes, in order."""
    found = []
    for route in position.table.routes:
        load, throttle = position.ledger.route_state.load(route), position.ledger.route_state.throttle(route)
        limit = position.ledger.route_state.limit(route)
        text = "" if limit is None else limit_text(route, load, throttle, limit)
        found.append(RouteNow(route, load, throttle, limit, text))
    return found


def _known(position: Position, jobs: Mapping[JobId, RoutedJob], job: JobId, ad: ClassAd | None) -> Because | None:
    """Return the reason for a job that the router manages or has managed."""
    known = jobs.get(job)
    if known is not None and known.state in (RoutedState.CLEANUP, RoutedState.RETIRED):
        return Because(RouteReason.ENDING, known.state.value)
    if known is not None:
        return Because(RouteReason.ROUTED, known.route, route=known.route)
    if ad is not None and string(ad, ROUTED_BY) == position.name:
        return Because(RouteReason.COPY, string(ad, "RouteName") or "")
    return None


def _waits(position: Position, ad: ClassAd) -> Because | None:
    """Return the reason if a job waits for its next run, None if it does not."""
    if not position.options.waits_for_gates or status(ad) is not JobStatus.IDLE:
        return None
    opens = runs.opens(ad, position.now, position.options.zone)
    if opens is None or opens <= position.now:
        return None
    return Because(RouteReason.WAITS_FOR_RUN, "none left" if opens >= runs.NEVER else f"its gate opens at {opens}")


_NOBODY: Final[Mapping[str, Throttle]] = {}


class QueueStatus:
    """The answers that a router with this table would give now about one or two queues.

    ``sources`` and ``copies`` are the ads of all their jobs; ``copies`` None: they are among the sources.
    ``throttles``, by route in lower case, are counts of a running router; without them no route is throttled, as after
    a start. ``now`` is epoch seconds. ``unpaired`` are the router's sources without a copy: about to be submitted, or
    orphans.
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
        """Count the jobs. Raises UnknownZone."""
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
        """Return the reasons for all jobs: the number of jobs per reason and route concerned."""
        return summed(self, self.jobs, self.ads.values())

    def routes(self) -> list[RouteNow]:
        """Return the state of the routes, in the order of the table."""
        return routes_now(self)

    def _pair(self, copies: Iterable[ClassAd]) -> None:
        """Pair the router's sources and copies, as a new router would adopt them."""
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


_FORMAT: Final = 1
_MOST: Final = 1 << 20  # bytes of a report; a thousand routes take a tenth of it
_COUNTS: Final = ("begin", "routed", "failed", "succeeded")
_MODE: Final = 0o644


class InvalidReport(CrondorError, ValueError):
    """A file that is not a router's report."""


@dataclass(frozen=True)
class RouterReport:
    """A router's report about itself; times are epoch seconds, names of routes are in lower case.

    ``answered``: the queues answered the last poll. ``turn`` is how often a route has been chosen. ``pause``: the
    number of polls for which a schedd that refused, or did not answer, is left alone.
    """

    name: str
    started: int
    polled: int
    answered: bool = True
    turn: int = 0
    throttles: Mapping[str, Throttle] = field(default_factory=dict)
    pause: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    poll_seconds: float = 0.0

    def write(self, path: Path | str) -> None:
        """Write the report as JSON, whole or not at all. Raises QueueIO."""
        data = {
            "format": _FORMAT,
            "name": self.name,
            "started": self.started,
            "polled": self.polled,
            "answered": self.answered,
            "turn": self.turn,
            "pause": self.pause,
            "counts": dict(self.counts),
            "poll_seconds": self.poll_seconds,
            "throttles": {name: throttle._asdict() for name, throttle in self.throttles.items()},
        }
        temporary = Path(f"{path}.tmp")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(temporary, flags, _MODE), "w", encoding="utf-8") as file:
                json.dump(data, file)
            temporary.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise refused_by_disk(path, "the router's report cannot be written", error) from error

    @classmethod
    def read(cls, path: Path | str) -> RouterReport | None:
        """Return the report in a file; None if there is no file. Raises InvalidReport and QueueIO."""
        try:
            with os.fdopen(open_plain(path), "rb") as file:
                data = file.read(_MOST)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refused_by_disk(path, "this report cannot be read", error) from error
        try:
            return cls._of(json.loads(data))  # a truncated file is not valid JSON
        except (ValueError, RecursionError) as error:
            span = Source("", str(path)).span()
            message = f"this is not a router's report: {error}"
            hint = "a running router rewrites it at its next poll; otherwise remove it"
            raise InvalidReport(Diagnostic("router-report", message, Severity.WARNING, span, hint)) from None

    @classmethod
    def _of(cls, data: object) -> RouterReport:
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            raise ValueError(f"its format is not {_FORMAT}")
        throttles = data.get("throttles")
        if not isinstance(throttles, dict) or not isinstance(data.get("name"), str):
            raise ValueError("a name and throttles are missing")  # noqa: TRY004 - of a file, as below
        return cls(
            data["name"],
            _count(data, "started"),
            _count(data, "polled"),
            data.get("answered") is True,
            _count(data, "turn"),
            {name: _throttle(each) for name, each in throttles.items()},
            _count(data, "pause") if "pause" in data else 0,
            _counts(data.get("counts", {})),
            _number(data.get("poll_seconds", 0.0), "poll_seconds"),
        )


def _throttle(data: object) -> Throttle:
    if not isinstance(data, dict):
        raise ValueError("a throttle must be an object")  # noqa: TRY004 - a value of a file
    jobs = _number(data.get("jobs"), "jobs of a throttle")
    begin, routed, failed, succeeded = (_count(data, name) for name in _COUNTS)
    return Throttle(begin, routed, failed, succeeded, jobs)


def _counts(data: object) -> dict[str, int]:
    if not isinstance(data, dict):
        raise ValueError("counts must be an object")  # noqa: TRY004 - a value of a file
    return {name: _count(data, name) for name in data}


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e12:
        raise ValueError(f"{name} must be a number")
    return float(value)


def _count(data: Mapping[str, object], name: str) -> int:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 48:
        raise ValueError(f"{name} must be a count")
    return value


_CHUNK: Final = 200  # jobs queried by number at once
_SHARE: Final = 8  # of the queue, for a larger part of which all of it is queried
_MOST_DULL: Final = 1 << 12  # kinds of jobs
DECIDING: Final = frozenset(
    ("jobstatus", "managed", "managedmanager", "owner", "procid", "routedby", "stageinstart", "stageinfinish")
)


# HTCondor: JobLogMirror, NewClassAdJobLogConsumer.
class Seen(NamedTuple):
    """A changed job with its current ad; None: it has left the queue. ``key``: the texts that QueueView compares."""

    job: JobId
    ad: ClassAd | None
    key: Hashable = None


class QueueView:
    """The changes of one queue.

    ``cares`` returns whether every change of a job matters; for other jobs only the changes do that can make them the
    router's business: of state, owner or manager. ``has`` returns whether the router does anything with a job; of the
    others, those with the same texts as one that was of no interest are left out.
    """

    def __init__(self, schedd: Schedd, cares: Callable[[JobId], bool], has: Callable[[JobId], bool]) -> None:
        self.schedd = schedd
        self._cares = cares
        self._has = has
        self.compare(())
        self._missed: dict[JobId, None] = {}
        self._gone: dict[JobId, None] = {}
        self._size = 0

    def compare(self, names: Iterable[str] | None) -> None:
        """Start to compare the texts of DECIDING and more attributes (lower case); None: leave out no job."""
        self._names = None if names is None else (DECIDING - {"procid"}).union(names)
        self._traits = Traits(self._names or (), "procid")
        self._dull: dict[Hashable, Callable[[JobId], None]] = {}
        self._cluster: tuple[int, Hashable] = (0, None)

    def leave_out(self, seen: Seen, act: Callable[[JobId], None]) -> None:
        """Leave out the jobs with the texts of this one, and do something else with them.

        A text that is an expression adds the attributes it refers to.
        """
        if self._names is None or seen.key is None or seen.ad is None or self._has(seen.job):
            return
        needs = needs_of_all(map(seen.ad.codes.get, self._names))
        if not self._names.issuperset(needs.names):
            self.compare(self._names.union(needs.names))
        elif not (needs.is_timed or needs.is_open):
            if len(self._dull) >= _MOST_DULL:
                self._dull.clear()
            self._dull[seen.key] = act

    def _key(self, mirror: Mirror, job: JobId) -> Hashable:
        """Return the texts of a job."""
        if self._cluster[0] != job.cluster:
            self._cluster = job.cluster, mirror.traits(cluster_key(job.cluster), self._traits)
        return self._cluster[1], mirror.traits(job, self._traits)

    def refresh(self) -> Iterator[Seen]:
        """Yield the jobs that changed since the last call, in order; the first call yields all jobs.

        Failed queries are repeated by the next call. Raises what the schedd raises.
        """
        for change in self.schedd.changes():
            if change.kind is ChangeKind.DESTROYED:
                self._missed.pop(change.job, None)
                self._gone[change.job] = None
                self._size -= 1
                continue
            self._gone.pop(change.job, None)
            self._size += change.kind is ChangeKind.CREATED
            if change.kind is ChangeKind.CREATED or DECIDING & change.attributes or self._cares(change.job):
                self._missed[change.job] = None
        gone, missed = self._gone, self._missed
        wanted = sorted({**gone, **missed})
        mirror = getattr(self.schedd, "mirror", None)
        if mirror is not None:
            is_late = getattr(self.schedd, "is_late", None)
            self._cluster = (0, None)
            for job in wanted if is_late is None else [job for job in wanted if not is_late(job)]:
                gone.pop(job, None)
                missed.pop(job, None)
                key = None if self._names is None else self._key(mirror, job)
                act = self._dull.get(key)
                if act is None or self._has(job):
                    yield Seen(job, mirror.ad(job) if job in mirror else None, key)
                else:
                    act(job)
            return
        is_much, jobs = len(missed) > max(_CHUNK, self._size // _SHARE), tuple(missed)
        parts = (Selection(jobs=jobs[at : at + _CHUNK]) for at in range(0, len(jobs), _CHUNK))
        ads = {job_id(ad): ad for asked in ([None] if is_much else parts) for ad in self.schedd.jobs(asked)}
        for job in wanted:
            ad = ads.get(job) if job in missed else None
            gone.pop(job, None)
            missed.pop(job, None)
            yield Seen(job, ad)

    def ask(self, job: JobId) -> None:
        """Include a job in the next call, changed or not."""
        self._missed[job] = None


def queue_parts(table: RoutingTable, owner: str | None = None, more: Iterable[str] = ()) -> tuple[QueuePart, ...]:
    """Return the parts of a queue that a router needs: jobs that a route might take, and jobs it manages.

    The schedd evaluates a constraint in the job's own ad, so TARGET is dropped; MY, which is not a job in the umbrella
    constraint, is undefined. The first part includes every job that may match: it tests all routes, full or not, and an
    error in one hides no job. Its ads have the attributes that the routes refer to, and ``more``.
    """
    required = [route.transform.requirements for route in table.routes]
    routes = " || ".join("true" if each is None else _asked_of_job(each.expression) for each in required) or "false"
    constraint = table.settings.source_constraint
    first = [] if constraint is None else [_asked_of_job(constraint)]
    clauses = (_asked_of_job(each.expression) for each in built_in(table.settings.name, owner))
    clusters = Autoclusters(table, owner)
    names = None if clusters.is_open else (*clusters.names, *more)
    name = print_string(table.settings.name)
    return (
        QueuePart(Expression(" && ".join([*clauses, *first, f"({routes})"])), names),
        QueuePart(Expression(f'Managed is "External" || ManagedManager is {name} || RoutedBy is {name}')),
    )


def _asked_of_job(expression: Expression) -> str:
    tree = rewrite(rewrite(code_tree(expression.code), _no_my), without_scope(frozenset(("target", "other"))))
    return f"((({unparse(tree)}) || false) is true)"


def _no_my(node: Node) -> Node | None:
    if isinstance(node, Reference) and node.scope is not None and plain_name(node.scope) in ("my", "self"):
        return Literal(UNDEFINED)
    return None
