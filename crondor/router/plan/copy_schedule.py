"""Schedules of routed copies: what a copy does with its schedule, the jobs of a plan, their runs and loads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from crondor._types import expect, wrong_type
from crondor.classad import ClassAdSyntaxError, Context, Expression
from crondor.classad.ad import ClassAd
from crondor.classad.parser import unparse
from crondor.classad.scope import Code, code_tree
from crondor.classad.text import lower
from crondor.classad.tree import Binary, Call, Node, Reference, bare, children
from crondor.deferral import DEFAULT_SCHEDD_INTERVAL, GATE, Deferral
from crondor.diagnostics import Diagnostic, Severity, Source, Span
from crondor.job.attributes import JobStatus, int32, integer, plain, string
from crondor.job.expressions import NEW_JOB, submitted_schedule
from crondor.job.policy import QueuedJob
from crondor.recurrence import Policy
from crondor.router.applying import RoutedAd
from crondor.router.match.matcher import RouteLoad, RouteState
from crondor.router.match.reasons import JobVerdict, why
from crondor.router.table.route import Route, RoutingTable
from crondor.schedd.protocol import Schedd
from crondor.schedule import ExpressionText, InvalidSchedule, JobSchedule, Universe, commands_of
from crondor.spec import FIELDS, Dialect, InvalidSpec
from crondor.submit import JobGroup, SubmitFile, job_ads

HONOURING: Final = frozenset((Universe.VANILLA, Universe.LOCAL, Universe.PARALLEL, Universe.JAVA, Universe.VM))
"""The universes in which a job waits for its time: docker and container jobs are vanilla ones."""

CRON: Final = tuple(f.attribute for f in FIELDS)
_CRON_KEYS: Final = frozenset(name.lower() for name in CRON)
DEFERRAL: Final = ("DeferralTime", "DeferralWindow", "DeferralPrepTime")
_GATE_KEYS: Final = ("deferraltime", "deferralwindow", "deferralpreptime", "scheddinterval")
_CLAUSE: Final = re.compile(r"\b(?:deferraltime|deferralwindow|deferralpreptime)\b", re.IGNORECASE).search
_OF_STARTERS: Final = re.compile(r"\bhasjobdeferral\b", re.IGNORECASE).search
_PREFIX: Final = "remote_"
_EXACT: Final = 19  # digits that fit into 64 bits


class CopySchedule(str, Enum):
    """How a copy treats its schedule; THERE: in the queue of the remote schedd that HTCondor-C submits to."""

    AT_ONCE = "starts at once"
    WAITS = "waits for its time"
    WAITS_THERE = "waits for its time at the remote schedd"
    SCHEDULES_ITSELF = "schedules itself"
    SCHEDULES_ITSELF_THERE = "schedules itself at the remote schedd"
    TOO_LATE = "is too late"
    NEVER_MATCHES = "never matches"
    NEVER_RUNS = "never runs"

    @property
    def repeats(self) -> bool:
        """Whether a schedd recomputes the copy's times, run by run."""
        return self in (CopySchedule.SCHEDULES_ITSELF, CopySchedule.SCHEDULES_ITSELF_THERE)

    @property
    def waits(self) -> bool:
        """Whether the copy has one time, and waits for it."""
        return self in (CopySchedule.WAITS, CopySchedule.WAITS_THERE)

    @property
    def runs(self) -> bool:
        """Whether the copy ever runs."""
        return self not in (CopySchedule.TOO_LATE, CopySchedule.NEVER_MATCHES, CopySchedule.NEVER_RUNS)


class Manner(NamedTuple):
    """The behaviour of a copy, which waits for ``time`` (epoch seconds); ``ad`` is that of the queue where it runs."""

    conduct: CopySchedule
    ad: ClassAd
    time: int | None = None


def manner_of(copy: ClassAd, taken: int, zone: tzinfo) -> Manner:
    """Return the behaviour of a routed copy that was submitted at ``taken`` (epoch seconds), which is then its QDate.

    By HTCondor 25.14: the grid manager ignores all Cron and Deferral attributes; only a copy for HTCondor-C
    (GridResource ``condor ...``) passes them on, and its remote schedd uses them.
    """
    ad = copy.copy()
    ad.set("QDate", taken)
    universe = int32(ad, "JobUniverse")
    is_remote = universe == Universe.GRID and grid_type(ad) == "condor"
    if is_remote:
        ad = _there(ad)
        universe = int32(ad, "JobUniverse")
    has_schedule = has_cron(ad) or "DeferralTime" in ad
    if universe == Universe.SCHEDULER and has_schedule:
        return Manner(CopySchedule.NEVER_RUNS, ad)
    if universe not in HONOURING:
        return Manner(CopySchedule.AT_ONCE, ad)
    if has_cron(ad):
        if any(name not in ad and asks(ad, name) for name in (*DEFERRAL[1:], "ScheddInterval")):
            return Manner(CopySchedule.NEVER_MATCHES, ad)
        return Manner(CopySchedule.SCHEDULES_ITSELF_THERE if is_remote else CopySchedule.SCHEDULES_ITSELF, ad)
    if "DeferralTime" not in ad:
        is_kept_out = _keeps_out(ad, Context(now=taken, zone=zone))
        return Manner(CopySchedule.NEVER_MATCHES if is_kept_out else CopySchedule.AT_ONCE, ad)
    return _once(ad, taken, zone, is_remote=is_remote)


def _once(ad: ClassAd, taken: int, zone: tzinfo, *, is_remote: bool) -> Manner:
    context = Context(now=taken, zone=zone)
    time, window = (integer(ad, name, context) for name in DEFERRAL[:2])
    if time is None or time <= 0 or (window is None and "DeferralWindow" in ad):
        return Manner(CopySchedule.NEVER_RUNS, ad)
    if _keeps_out(ad, Context(now=min(max(taken, time - 1), time + (window or 0) - 1), zone=zone)):
        return Manner(CopySchedule.NEVER_MATCHES, ad)
    if taken > time + (window or 0) or (taken == time + (window or 0) and asks(ad, "DeferralTime")):
        return Manner(CopySchedule.TOO_LATE, ad, time)
    return Manner(CopySchedule.WAITS_THERE if is_remote else CopySchedule.WAITS, ad, time)


def is_matched(ad: ClassAd) -> bool:
    """Return whether a copy's Requirements are ever used: for grid jobs only those of HTCondor-C are."""
    return int32(ad, "JobUniverse") != Universe.GRID or grid_type(ad) == "condor"


def has_cron(ad: ClassAd) -> bool:
    """Return whether a schedd would compute times for a job: it has any of the five Cron attributes."""
    return not _CRON_KEYS.isdisjoint(ad.codes)


def grid_type(ad: ClassAd) -> str:
    """Return the first word of GridResource in lower case, empty if there is none."""
    words = (string(ad, "GridResource") or "").split(None, 1)
    return words[0].lower() if words else ""


def asks(ad: ClassAd, name: str) -> bool:
    """Return whether a job's Requirements refer to an attribute."""
    return "Requirements" in ad and re.search(rf"(?i)\b{name}\b", ad.text("Requirements")) is not None


def without_clause(ad: ClassAd) -> str:
    """Return a job's Requirements without the clauses that condor_submit adds for a deferred job."""
    texts = (each.expression.unparse() for each in _conjuncts(ad) if not each.is_clause)
    left = [text for text in texts if not _OF_STARTERS(text)]
    return " && ".join(f"({text})" if "||" in text and not text.startswith("(") else text for text in left) or "true"


def _keeps_out(ad: ClassAd, context: Context) -> bool:
    """Return whether a clause about the job's time, which no machine can change, is not true."""
    numbers = _gate_numbers(ad)
    for each in _conjuncts(ad):
        if not each.is_clause or each.asks_machine or not all(name in ad for name in each.names):
            continue
        if numbers is not None and each.gate is not None:
            is_met = each.gate(context.now, numbers)
        else:
            is_met = each.expression.holds(ad, None, context)
        if not is_met:
            return True
    return False


_Numbers: TypeAlias = tuple[int, int, int, int]


def _gate_numbers(ad: ClassAd) -> _Numbers | None:
    """Return DeferralTime, DeferralWindow, DeferralPrepTime and ScheddInterval if all are literal numbers."""
    found = [code if isinstance(code, str) else None for code in map(ad.codes.get, _GATE_KEYS)]
    time, window, prep_time, interval = (None if text is None else plain(text) for text in found)
    if time is None or window is None or prep_time is None or interval is None:
        return None
    return time, window, prep_time, interval


def _opens(now: int, numbers: _Numbers) -> bool:
    time, _, prep_time, interval = numbers
    return now + interval >= time - prep_time


def _closes(now: int, numbers: _Numbers) -> bool:
    time, window, _, _ = numbers
    return now < time + window


class _Conjunct(NamedTuple):
    """A part of Requirements that && joins with others.

    ``is_clause``: it is about the job's time. ``names`` are a machine's if the job has none of that name;
    ``asks_machine``: it always depends on a machine.
    """

    expression: Expression
    is_clause: bool
    asks_machine: bool
    names: tuple[str, ...]
    gate: Callable[[int, _Numbers], bool] | None


def _conjuncts(ad: ClassAd) -> tuple[_Conjunct, ...]:
    """Return the parts that && joins; none if the expression is invalid."""
    try:
        return _split(ad.code("Requirements"))
    except (KeyError, ClassAdSyntaxError):
        return ()


@lru_cache(maxsize=256)
def _split(requirements: Code) -> tuple[_Conjunct, ...]:
    found = []
    for node, inner in _parts(code_tree(requirements)):
        part = Expression.of(node)
        asks_machine, names = _asked_by(node)
        is_clause = _CLAUSE(part.unparse()) is not None
        found.append(_Conjunct(part, is_clause, asks_machine, names, _gates().get(unparse(inner))))
    return tuple(found)


def _parts(tree: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the operands of &&, with and without parentheses."""
    left = [tree]
    while left:
        node = left.pop()
        inner = bare(node)
        if isinstance(inner, Binary) and inner.op == "&&":
            left += [inner.right, inner.left]
        else:
            yield node, inner


@lru_cache(maxsize=1)
def _gates() -> dict[str, Callable[[int, _Numbers], bool]]:
    """Return the parts of condor_submit's clause, whose numbers need no evaluation."""
    texts = (unparse(inner) for _, inner in _parts(Expression(GATE).tree))
    return dict(zip(texts, (_opens, _closes), strict=True))


def _asked_by(tree: Node) -> tuple[bool, tuple[str, ...]]:
    """Return whether an expression always needs a machine, and the attributes that only a machine may have."""
    names: list[str] = []
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, Reference):
            scope = node.scope.name.lower() if isinstance(node.scope, Reference) else ""
            if scope in {"target", "other"}:
                return True, ()
            if not scope and node.name.lower() not in _OF_JOBS:
                names.append(node.name)
            continue
        if isinstance(node, Call) and node.name.lower() == "eval":
            return True, ()
        left.extend(children(node))
    return False, tuple(names)


_OF_JOBS: Final = frozenset(name.lower() for name in (*DEFERRAL, "ScheddInterval", "CurrentTime"))


def _there(ad: ClassAd) -> ClassAd:
    """Return a copy's ad as HTCondor-C submits it: Remote_ attributes count, on_exit_remove stays here (25.14)."""
    made = ad.copy()
    made.set("JobUniverse", int(Universe.VANILLA))
    made.prune("OnExitRemove")
    for key, name in list(ad.names.items()):
        if key.startswith(_PREFIX):
            made.prune(name)
    for key, name in list(ad.names.items()):
        if key.startswith(_PREFIX) and len(key) > len(_PREFIX):
            made.put(name[len(_PREFIX) :], ad.codes[key])
    return made


Plannable: TypeAlias = JobSchedule | SubmitFile | ClassAd | QueuedJob | Schedd
"""A source of jobs with schedules."""

MOST_JOBS: Final = 50_000
"""The maximum number of jobs planned of a submit file, of some 9 kB each; the plan reports if there are more."""

_REQUIREMENTS: Final = ("requirements", "my.requirements")
_OUT_OF_PLAY: Final = frozenset((JobStatus.HELD, JobStatus.REMOVED, JobStatus.COMPLETED))


@dataclass(frozen=True)
class JobSettings:
    """How jobs are read: the submit host's zone, the dialect of Cron attributes, and defaults for submit files.

    ``owner`` is the Owner of jobs that have none; ``schedd_interval`` (seconds) is SCHEDD_INTERVAL.
    """

    zone: str | tzinfo = "UTC"
    dialect: Dialect = Dialect.MANUAL
    policy: Policy | None = None
    schedd_interval: int = DEFAULT_SCHEDD_INTERVAL
    owner: str = "nobody"


@dataclass(frozen=True, eq=False)
class PlannedJob:
    """A job of a plan: its id ``cluster.proc``, its ad as the schedd would have it, and its schedule.

    ``schedule`` is None if it cannot be read, or if the job is not available; ``findings`` say why. ``name`` is its
    origin.
    """

    id: str
    name: str
    ad: ClassAd
    schedule: JobSchedule | None
    findings: tuple[Diagnostic, ...] = ()
    spans: Mapping[str, Span] = field(default_factory=dict, repr=False)
    here: Span | None = field(default=None, repr=False)

    def place(self, *attributes: str) -> Span | None:
        """Return where the first of some attributes was written, else the place of the job."""
        names = (name for attribute in attributes for name in commands_of(attribute))
        return next((self.spans[name] for name in names if name in self.spans), self.here)

    def command_place(self, *commands: str) -> Span | None:
        """Return where the first of some submit commands (lower case) was written, else the place of the job."""
        return next((self.spans[name] for name in commands if name in self.spans), self.here)


_PLANNED: Final = "a JobSchedule, SubmitFile, ClassAd, QueuedJob or Schedd, or several of them"


def jobs_of(jobs: Plannable | Iterable[Plannable], now: int, reading: JobSettings) -> Iterator[PlannedJob]:
    """Yield the scheduled jobs; others are skipped. Raises InvalidSubmit, ScheddError, UnknownZone, TypeError.

    Submit files and schedules are numbered as clusters from 1 on, in their order.
    """
    expect("jobs", jobs, (Iterable, JobSchedule, SubmitFile, QueuedJob, Schedd), _PLANNED)
    cluster = 0
    for each in (jobs,) if isinstance(jobs, (JobSchedule, SubmitFile, ClassAd, QueuedJob, Schedd)) else jobs:
        cluster += isinstance(each, (JobSchedule, SubmitFile))
        yield from _jobs_of(each, cluster, now, reading)


def _jobs_of(each: object, cluster: int, now: int, reading: JobSettings) -> Iterator[PlannedJob]:
    if isinstance(each, JobSchedule):
        yield _of_schedule(each, cluster, now, reading)
    elif isinstance(each, SubmitFile):
        yield from _of_file(each, cluster, now, reading)
    elif isinstance(each, QueuedJob):
        yield from _of_queued(each, now, reading)
    elif isinstance(each, ClassAd):
        yield from _of_queued(QueuedJob(each), now, reading)
    elif isinstance(each, Schedd):
        for ad in each.jobs():
            yield from _of_queued(QueuedJob(ad), now, reading)
    else:
        raise wrong_type("a planned job", each, _PLANNED)


def _of_schedule(schedule: JobSchedule, cluster: int, now: int, reading: JobSettings) -> PlannedJob:
    """Make a job of a schedule without anything else; a crontab job stays in the queue, or it would have one run."""
    own = {"ClusterId": cluster, "ProcId": 0, "Owner": reading.owner, "QDate": now}
    lengths = {"JobUniverse": int(schedule.universe), "ScheddInterval": schedule.schedd_interval}
    ad = ClassAd({**NEW_JOB, **own, **lengths})
    if schedule.spec is not None:
        ad.set("OnExitRemove", value=False)
        for f, text in zip(FIELDS, schedule.spec.given, strict=True):
            if text is not None:
                ad.set(f.attribute, text)
    moments = {"DeferralTime": schedule.time}
    if schedule.complete:
        moments |= {"DeferralWindow": schedule.window, "DeferralPrepTime": schedule.prep_time}
    for name, number in moments.items():
        if isinstance(number, ExpressionText):
            ad[name] = Expression(number.text)
        elif number is not None:
            ad.set(name, number)
    clause = schedule.requirements_clause()
    if clause is not None:
        ad.set_text("Requirements", clause)
    here = Source("", f"job {cluster}.0").span()
    return PlannedJob(f"{cluster}.0", f"job {cluster}.0", ad, schedule, schedule.notes, {}, here)


def _of_file(file: SubmitFile, cluster: int, now: int, reading: JobSettings) -> Iterator[PlannedJob]:
    made = 0
    for each in job_ads(file, in_order=True, cluster=cluster):
        if not QueuedJob(each.ad).is_scheduled:
            continue
        first = each.jobs.first[1]
        schedule: JobSchedule | None = None
        found: tuple[Diagnostic, ...] = ()
        for proc in range(first, first + each.jobs.count):
            if made == MOST_JOBS:
                message = f"only the first {MOST_JOBS} jobs of {file.source.name} are planned"
                more = Diagnostic("plan-jobs", message, Severity.WARNING, each.jobs.queue, "plan fewer of them")
                yield PlannedJob("", file.source.name, each.ad, None, (more,))
                return
            ad = each.ad.copy()
            ad.set("ProcId", proc)
            for name, value in (("JobStatus", 1), ("Owner", reading.owner), ("QDate", now)):
                if name not in ad:
                    ad.set(name, value)
            if proc == first or any("procid" in text.lower() for text in each.jobs.values.values()):
                schedule, found = _submitted(each.jobs, proc, now, reading)
            made += 1
            name = f"{file.source.name}:{each.jobs.queue.line}" if each.jobs.queue else file.source.name
            yield PlannedJob(f"{cluster}.{proc}", name, ad, schedule, found, each.jobs.spans, each.jobs.queue)


def _submitted(
    group: JobGroup, proc: int, now: int, reading: JobSettings
) -> tuple[JobSchedule | None, tuple[Diagnostic, ...]]:
    commands = {name: text for name, text in group.values.items() if name not in _REQUIREMENTS}
    try:
        schedule = submitted_schedule(
            commands,
            now,
            spans=group.spans,
            proc_id=proc,
            dialect=reading.dialect,
            schedd_interval=reading.schedd_interval,
            zone=reading.zone,
            policy=reading.policy,
        )
    except (InvalidSchedule, InvalidSpec) as error:
        return None, error.diagnostics
    return schedule, schedule.notes


def _of_queued(queued: QueuedJob, now: int, reading: JobSettings) -> Iterator[PlannedJob]:
    if not queued.is_scheduled:
        return
    ad = queued.ad.flat()
    ad.place = queued.ad.place
    place = queued.place
    name = f"{place.name}:{place.line}"
    job_id = queued.id or name
    here = Source("", f"{name}: job {job_id}").span()
    why = _out_of_play(queued, here)
    schedule: JobSchedule | None = None
    found: tuple[Diagnostic, ...] = ()
    if why is not None:
        found = (why,)
    else:
        try:
            schedule = queued.schedule(
                now,
                dialect=reading.dialect,
                schedd_interval=reading.schedd_interval,
                zone=reading.zone,
                policy=reading.policy,
            )
            found = schedule.notes
        except InvalidSchedule as error:
            found = error.diagnostics
    yield PlannedJob(job_id, name, ad, schedule, found, queued.spans if schedule is not None else {}, here)


def _out_of_play(queued: QueuedJob, here: Span) -> Diagnostic | None:
    """Return why no router takes a job of a queue, now or later, as things stand; None if one does."""
    status = queued.status
    if status in _OUT_OF_PLAY and status is not None:
        message = f"the job is {status.name.lower()}: no router takes it, and it does not run"
        help_text = "release it with condor_release" if status is JobStatus.HELD else "submit it again"
        return Diagnostic("plan-not-idle", message, Severity.WARNING, here, help_text)
    managed = queued.string("Managed")
    if managed == "External":
        to = queued.string("RoutedToJobId")
        message = f"the job is managed by a job router{f', its copy is {to}' if to else ''}: no route is tried"
        help_text = "plan the copy: its ad says what it does; remove the copy, and the job is idle again"
        return Diagnostic("plan-managed", message, Severity.NOTE, here, help_text)
    return None


class PlannedOutcome(str, Enum):
    """The result of a run."""

    ROUTED = "routed"
    BY_COPY = "by its copy"
    LOCAL = "local"
    EDITED = "edited in place"
    FAILED = "routing fails"
    BUSY = "still busy"
    STUCK = "held by its copy"
    GONE = "job is gone"


class Room(NamedTuple):
    """A route's counts including a job that it has just taken: its jobs and idle ones, and its limits.

    Negative ``max_idle_jobs`` and ``max_managed``: no limit. ``managed`` are the jobs of all routes.
    """

    jobs: int
    max_jobs: int
    idle: int
    max_idle_jobs: int
    managed: int
    max_managed: int


class LastAsked(NamedTuple):
    """The last time that the routes were tried for a job and none took it."""

    table: RoutingTable
    ad: ClassAd
    route_state: RouteState
    context: Context
    owner: str | None


@dataclass(frozen=True)
class PlannedRun:
    """A run of a job's schedule, and its result; times are epoch seconds.

    ``number`` counts the job's runs from 1. ``taken`` is when the router takes the job, ``starts`` when its copy starts
    and ``ends`` when that has ended, as far as the model knows. ``route``, ``room``, ``conduct`` and ``routed`` are of
    the copy; ``stays``: it returns to its queue after its run. ``findings`` are those that no earlier run of the job
    had.
    """

    job: PlannedJob
    number: int
    run: Deferral
    outcome: PlannedOutcome
    route: Route | None = None
    taken: int | None = None
    starts: int | None = None
    ends: int | None = None
    room: Room | None = None
    conduct: CopySchedule | None = None
    stays: bool = False
    routed: RoutedAd | None = field(default=None, repr=False)
    findings: tuple[Diagnostic, ...] = ()
    asked: LastAsked | None = field(default=None, repr=False)

    def why(self) -> JobVerdict | None:
        """Return why no route took the job at the last try; None if one did, or none was tried."""
        asked = self.asked
        return (
            None if asked is None else why(asked.table, asked.ad, asked.route_state, asked.context, owner=asked.owner)
        )


@dataclass(frozen=True)
class PlanOptions:
    """How a plan is made; lengths in seconds.

    ``at_gate``: the router takes a job when the gate of its run opens, and for one run, like a router that waits;
    otherwise at its next poll, as a whole, like HTCondor's daemon. Copies run for ``run_time``, None: until the job's
    next run; they wait ``queue_time`` at the site before they start. ``rejected`` is how long from now the local pool
    rejects the jobs (LastRejMatchTime), None: it does not. ``count`` is how many runs of each job are planned, None:
    all. ``route_state`` is what the router has already; ``owner`` as in Matcher.
    """

    at_gate: bool = False
    run_time: int | None = None
    queue_time: int = 0
    rejected: int | None = None
    count: int | None = None
    route_state: RouteState = field(default_factory=RouteState)
    owner: str | None = None
    reading: JobSettings = field(default_factory=JobSettings)


class Load:
    """The state of a router; ``route_state`` is that as a value."""

    def __init__(self, table: RoutingTable, route_state: RouteState) -> None:
        """Start with the router's present state, which is not changed."""
        self.route_state = route_state
        self._table = table

    def take(self, route: Route) -> Room:
        """Give a job to a route: it waits there, and round robin advances."""
        self.route_state = self.route_state.after({route.name: 1})
        load, settings = self.route_state.load(route), self._table.settings
        return Room(
            load.jobs, route.max_jobs, load.idle, route.max_idle_jobs, self.route_state.managed, settings.max_jobs
        )

    def start(self, route: Route) -> None:
        """Record that a waiting copy runs."""
        self._change(route, 0, -1)

    def wait(self, route: Route) -> None:
        """Record that a copy waits for its next time."""
        self._change(route, 0, 1)

    def leave(self, route: Route, *, was_idle: bool) -> None:
        """Remove a copy."""
        self._change(route, -1, -int(was_idle))

    def _change(self, route: Route, jobs: int, idle: int) -> None:
        old = self.route_state.load(route)
        made = RouteLoad(max(0, old.jobs + jobs), max(0, old.idle + idle))
        loads = {**self.route_state.loads, lower(route.name): made}
        state = self.route_state
        self.route_state = RouteState(loads, state.throttles, max(0, state.managed + jobs), state.turn)
