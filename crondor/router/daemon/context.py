"""What every step of the router needs: queues, table, counts, clock, log, hooks, and edits of jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timezone, tzinfo
from enum import Enum
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from crondor.classad import ClassAdSyntaxError, Context, Expression, print_string
from crondor.classad.ad import ClassAd
from crondor.classad.text import lower
from crondor.diagnostics import CrondorError
from crondor.event_log import EventType
from crondor.hooks.kinds import Consequence, HookType
from crondor.job.attributes import JobStatus, exact_boolean, expression, string
from crondor.job_queue.records import InvalidChange, JobId
from crondor.router.applying import RoutedAd
from crondor.router.daemon.log import EventWriter, Log, LogEntry, RouterEvent, event, no_log, silent
from crondor.router.daemon.routed_job import (
    EXTERNAL,
    HOLD_COPIED,
    SCHEDD,
    SCHEDD_DONE,
    HookRunners,
    LeftAlone,
    Patient,
    Refusals,
    RoutedCopies,
    RoutedJob,
    is_managed_by,
    status,
)
from crondor.router.match.matcher import NO_THROTTLE, RouteLoad, RouteState, Throttle
from crondor.router.sandbox.reach import FilesRefused
from crondor.router.table.route import Route, RoutingTable
from crondor.schedd.protocol import NotOffered, Refused, Schedd, ScheddError, Selection
from crondor.transform import TransformFacts


# HTCondor: JobRouter::UpdateRouteStats.
class RouteCounts:
    """A router's counts, updated in place; each ``route_state`` is an immutable snapshot."""

    def __init__(self, table: RoutingTable, now: int) -> None:
        """Start with unused routes at ``now`` (epoch seconds)."""
        self._table = table
        self.route_state = RouteState()
        self.replace(table, now)

    def replace(self, table: RoutingTable, now: int) -> None:
        """Use a new table; a route whose name already existed keeps its throttle."""
        self._table = table
        before = self.route_state
        throttles = {lower(each.name): before.throttles.get(lower(each.name), Throttle(now)) for each in table.routes}
        self.route_state = RouteState(before.loads, throttles, before.managed, before.turn)

    def recount(self, jobs: Iterable[RoutedJob], now: int) -> None:
        """Recount the jobs of each route, and update the throttles whose window has ended."""
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
        """Move the ends of the throttle windows back by as much as the clock was set back."""
        before = self.route_state
        throttles = {name: each._replace(begin=each.begin - seconds) for name, each in before.throttles.items()}
        self.route_state = RouteState(before.loads, throttles, before.managed, before.turn)

    def ended(self, job: RoutedJob) -> None:
        """Count how a job ended, before its route is cleared."""
        key = lower(job.route)
        if self._table.route(job.route) is None or (job.is_interrupted and not job.is_success):
            return
        throttle = self.route_state.throttles.get(key, NO_THROTTLE)
        done, lost = throttle.succeeded + job.is_success, throttle.failed + (not job.is_success)
        made = throttle._replace(succeeded=done, failed=lost)
        before = self.route_state
        self.route_state = RouteState(before.loads, {**before.throttles, key: made}, before.managed, before.turn)


UNDEFINED: Final = Expression("undefined")
UNMANAGED: Final = f'(Managed =?= undefined || Managed =?= "{SCHEDD}")'
IDLE: Final = "JobStatus =?= 1"


# HTCondor: claim_job, yield_job, remove_job in src/condor_job_router/submit_job.cpp.
class QueueStep(NamedTuple):
    """Attributes to set if a condition holds."""

    condition: str
    edits: Mapping[str, object]


@dataclass(frozen=True)
class JobEdit:
    """An edit of one job.

    A schedd with atomic edits applies all steps at once, under the condition of the first. Otherwise they are applied
    in order, each under its own condition, until one fails. Only one attribute of each step makes others act; it is set
    in the first step or in the last. ``undo`` is applied if a later step fails.
    """

    job: JobId
    steps: tuple[QueueStep, ...]
    undo: QueueStep | None = None

    def do(self, schedd: Schedd | Patient) -> bool:
        """Apply the edit, and return whether all conditions held. Raises what the schedd raises."""
        if schedd.capabilities.atomic_edits:
            edits = {name: value for step in self.steps for name, value in step.edits.items()}
            return schedd.edit_if(self.job, self.steps[0].condition, edits)
        for number, step in enumerate(self.steps):
            if not schedd.edit_if(self.job, step.condition, step.edits):
                if number and self.undo is not None:
                    schedd.edit_if(self.job, self.undo.condition, self.undo.edits)
                return False
        return True


def owned(name: str) -> str:
    """Return the condition under which a job belongs to the router of this name."""
    return f"Managed =?= {print_string(EXTERNAL)} && ManagedManager =?= {print_string(name)}"


def claim(job: JobId, name: str) -> JobEdit:
    """Take over an idle job that no router manages.

    Without atomic edits the name is written first: of two routers that write it, one finds the other's name.
    """
    return JobEdit(job, tuple(QueueStep(each.condition, {each.name: each.value}) for each in claim_steps(name)))


class ClaimStep(NamedTuple):
    """One attribute of a claim; ``proof`` holds in a job only after this step."""

    condition: str
    name: str
    value: str
    proof: str


def claim_steps(name: str) -> tuple[ClaimStep, ClaimStep]:
    """Return the steps of a claim by the router of this name."""
    free = f"{IDLE} && {UNMANAGED}"
    named = f"{free} && ManagedManager =?= {print_string(name)}"
    return ClaimStep(free, "ManagedManager", name, named), ClaimStep(named, "Managed", EXTERNAL, owned(name))


def name_again(job: JobId, name: str) -> JobEdit:
    """Write the router's name into a job it manages, if someone has deleted it."""
    return JobEdit(
        job,
        (QueueStep(f"Managed =?= {print_string(EXTERNAL)} && ManagedManager =?= undefined", {"ManagedManager": name}),),
    )


def tell(job: JobId, name: str, seen: JobStatus, edits: Mapping[str, object]) -> JobEdit:
    """Write what changed in the copy into the source, while the router manages it and its status is still ``seen``.

    The reasons of a hold or a removal are written before the status, since a held job without HoldCopiedFromTargetJob
    counts as held by its user; any other status is written first, since the condition tests it. If the user holds the
    job between the two edits, the hold is the user's.
    """
    condition = f"{owned(name)} && JobStatus =?= {int(seen)}"
    now = edits.get("JobStatus")
    if now is None or len(edits) == 1:
        return JobEdit(job, (QueueStep(condition, edits),))
    rest = {attribute: value for attribute, value in edits.items() if attribute != "JobStatus"}
    changed = QueueStep(condition, {"JobStatus": now})
    if now in (JobStatus.HELD, JobStatus.REMOVED):
        undo = QueueStep(owned(name), {HOLD_COPIED: False}) if rest.get(HOLD_COPIED) is True else None
        return JobEdit(job, (QueueStep(condition, rest), changed), undo)
    return JobEdit(job, (changed, QueueStep(owned(name), rest)))


def give_back(job: JobId, ad: ClassAd, name: str, *, done: bool, release_on_hold: bool) -> JobEdit:
    """Yield a job with the status in ``ad`` to its schedd (HTCondor 25.14's job router).

    ``done``: the copy has completed, and the job leaves the queue. A hold copied from the copy is released if
    ``release_on_hold`` is set. JobStatus is written before Managed, so that no schedd finds a running job without a
    process.
    """
    now = status(ad)
    seen = "true" if now is None else f"JobStatus =?= {int(now)}"
    mine = owned(name)
    edits: dict[str, object] = {}
    if now is JobStatus.HELD and release_on_hold and exact_boolean(ad, HOLD_COPIED):
        edits = {"JobStatus": int(JobStatus.IDLE), HOLD_COPIED: UNDEFINED}
    elif now not in (JobStatus.IDLE, JobStatus.COMPLETED, JobStatus.REMOVED, JobStatus.HELD):
        edits = {"JobStatus": int(JobStatus.IDLE)}
    steps = [QueueStep(f"{mine} && {seen}", edits)] if edits else []
    seen = IDLE if edits else seen
    left = SCHEDD_DONE if done else SCHEDD
    steps += [
        QueueStep(f"{mine} && {seen}", {"Managed": left}),
        QueueStep(
            f"Managed =?= {print_string(left)} && ManagedManager =?= {print_string(name)}", {"ManagedManager": ""}
        ),
    ]
    return JobEdit(job, tuple(steps))


def run_again(job: JobId, name: str, edits: Mapping[str, object]) -> JobEdit:
    """Give a completed source back to wait for its next run, with the attributes its schedd sets after a run."""
    mine = owned(name)
    done = f"{mine} && JobStatus =?= {int(JobStatus.COMPLETED)}"
    return JobEdit(
        job,
        (
            QueueStep(done, edits),
            QueueStep(done, {"JobStatus": int(JobStatus.IDLE)}),
            QueueStep(f"{mine} && {IDLE}", {"Managed": SCHEDD}),
            QueueStep(f"{UNMANAGED} && ManagedManager =?= {print_string(name)}", {"ManagedManager": ""}),
        ),
    )


def update_copy(job: JobId, name: str, edits: Mapping[str, object]) -> JobEdit:
    """Set attributes of a copy."""
    return JobEdit(job, (QueueStep(f"RoutedBy =?= {print_string(name)}", edits),))


def update_source(job: JobId, name: str, edits: Mapping[str, object]) -> JobEdit:
    """Set attributes of a source while the router manages it."""
    return JobEdit(job, (QueueStep(owned(name), edits),))


def change_in_place(job: JobId, edits: Mapping[str, object]) -> JobEdit:
    """Edit an idle job that no router manages."""
    return JobEdit(job, (QueueStep(f"{IDLE} && {UNMANAGED}", edits),))


def let_go(job: JobId, name: str) -> JobEdit:
    """Let a completed copy leave its queue."""
    mine = f"RoutedBy =?= {print_string(name)} && JobStatus =?= {int(JobStatus.COMPLETED)}"
    return JobEdit(job, (QueueStep(mine, {"LeaveJobInQueue": False}),))


def remove(schedd: Schedd | Patient, job: JobId, condition: str, reason: str) -> None:
    """Remove a job if a condition holds; a missing job is no error. Raises what the schedd raises."""
    schedd.remove(Selection(jobs=(job,)).where(condition), reason)


def live(schedd: Schedd | Patient, job: JobId) -> ClassAd | None:
    """Return a job's current ad from the schedd. Raises what the schedd raises."""
    return next(iter(schedd.jobs(Selection(jobs=(job,)))), None)


def moved_release(source: ClassAd) -> Iterator[tuple[str, object]]:
    """Yield the edits that a hold makes to the reason of an earlier release."""
    reason = expression(source, "ReleaseReason")
    if reason is not None and reason != UNDEFINED:
        yield "LastReleaseReason", reason
        yield "ReleaseReason", UNDEFINED


SURE: Final = (NotOffered, InvalidChange, FilesRefused, ClassAdSyntaxError)
"""Errors that leave the queue unchanged, and that every retry would repeat."""

UNDONE: Final = (*SURE, Refused, LeftAlone)
"""Errors that leave the queue unchanged; after any other error its state is unknown."""


class Delivery(Protocol):
    """Moves a sandboxed job's files, proxy and tokens. All methods may raise CrondorError."""

    def tick(self, now: int) -> None:
        """Do the work due at a poll (epoch seconds): refresh tokens, and delete files left by an earlier router."""

    def tokens(self) -> Mapping[str, str]:
        """Return the token files that routes may send, by name."""

    def prepare(self, job: RoutedJob, routed: RoutedAd, copy: ClassAd) -> ClassAd:
        """Return the copy's ad to submit."""

    def spool(self, job: RoutedJob) -> None:
        """Transfer a submitted copy's files to its schedd, which then releases it; finished steps are not repeated.

        A copy that no longer waits for input is left alone.
        """

    def fetch(self, job: RoutedJob) -> None:
        """Transfer the output of a completed copy to its source; may be called again."""

    def end(self, job: RoutedJob) -> None:
        """Delete the files made for a job that is over."""


@dataclass(frozen=True)
class RouterOptions:
    """How a router differs from HTCondor's, and where it works.

    ``owner``: the only user whose jobs are routed; None: all users', as for root. ``domain`` is UID_DOMAIN, used for
    the User of the copies; empty: the domain of the source's User. ``waits_for_gates``: a crontab or deferral job is
    taken only when it may be matched for its next run, each run is routed separately, and the copy has no schedule;
    HTCondor's router takes such a job at once. ``zone`` is the time zone of the schedd.
    """

    owner: str | None = None
    domain: str = ""
    waits_for_gates: bool = False
    zone: str | tzinfo = "UTC"
    hooks: HookRunners | None = None
    delivery: Delivery | None = None
    write_event: EventWriter = no_log
    log: Log = silent


@dataclass
class _Failure:
    """A problem of a poll: the first job it affected, the text to log, and how often it occurred."""

    job: str
    text: str
    count: int = 1


@dataclass
class RouterContext:
    """The router's surroundings; ``table`` may be replaced, ``now`` (epoch seconds) is the time of the poll.

    ``look_again`` makes the next poll look at a source even if it has not changed.
    ``routed`` and ``refused`` count the jobs of this poll that were routed and that a schedd refused; ``tried`` and
    ``claimed`` count its claims; ``claimed_ahead`` are the jobs already claimed in a batch.
    """

    source: Patient
    destination: Patient
    table: RoutingTable
    ledger: RouteCounts
    options: RouterOptions
    copies: RoutedCopies
    refusals: Refusals
    look_again: Callable[[JobId], None]
    context_zone: tzinfo = timezone.utc
    now: int = 0
    polls: int = 0
    routed: int = 0
    refused: int = 0
    tried: int = 0
    claimed: int = 0
    claimed_ahead: set[JobId] = field(default_factory=set)
    counts: Counter[RouterEvent] = field(default_factory=Counter)
    _context: Context = field(default_factory=Context)
    _failures: dict[tuple[RouterEvent, str], _Failure] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """JOB_ROUTER_NAME."""
        return self.table.settings.name

    @property
    def context(self) -> Context:
        """The current context of expressions."""
        if self._context.now != self.now or self._context.zone is not self.context_zone:
            self._context = Context(now=self.now, zone=self.context_zone)
        return self._context

    @property
    def facts(self) -> TransformFacts:
        """The facts that transforms may use now."""
        facts = self.table.facts
        made = TransformFacts(environ=facts.environ, context=self.context, files=facts.files, version=facts.version)
        made.knobs = facts.knobs
        return made

    def say(self, what: RouterEvent, job: RoutedJob | str = "", text: str = "", times: int = 1) -> None:
        """Log an event that occurred ``times`` times."""
        self.counts[what] += times
        self.options.log(LogEntry(self.now, what, str(job), text))

    def failed(self, what: RouterEvent, job: RoutedJob | str, error: CrondorError) -> None:
        """Log an error and what happens next: once a poll for an error that several jobs share.

        A schedd that is left alone is not logged again: the error that led to it was.
        """
        if not isinstance(error, LeftAlone):
            reason = "; ".join(each.message for each in error.diagnostics)
            self.hindered(what, job, reason, self._advice(error))

    def hindered(self, what: RouterEvent, job: RoutedJob | str, reason: str, advice: str = "") -> None:
        """Log why a job gets no further; failed claims are counted, and logged in one line at the end of the poll."""
        key = what, reason.replace(str(job.id), "") if isinstance(job, RoutedJob) else reason
        if key in self._failures:
            self._failures[key].count += 1
        else:
            self._failures[key] = _Failure(str(job), f": {reason}{advice}")
            if what is not RouterEvent.NOT_CLAIMED:
                self.say(what, job, f": {reason}{advice}")

    def _advice(self, error: CrondorError) -> str:
        if not isinstance(error, ScheddError):
            return ""
        pause = max(self.source.pause, self.destination.pause)
        until = f"; it is left alone for {pause} poll{'s' if pause > 1 else ''}" if pause else ""
        return "".join(f" ({each.help})" for each in error.diagnostics if each.help) + until

    @property
    def is_hindered(self) -> bool:
        """Return whether a queue that must be written to before a job is routed is being left alone."""
        return self.source.is_left_alone or self.destination.is_left_alone

    def begin_poll(self) -> None:
        """Count a poll whose queues answered."""
        self.polls += 1
        self.routed = self.refused = self.tried = self.claimed = 0

    def end_poll(self) -> None:
        """Log the failed claims, and how often each error that was logged once occurred."""
        for (what, reason), found in self._failures.items():
            more = found.count - 1
            if what is RouterEvent.NOT_CLAIMED:
                self.say(what, found.job, f"{found.text}{f'; the same for {more:,} more' if more else ''}", found.count)
            elif more:
                self.say(what, "", f" for {more:,} more: {reason}", more)
        self._failures.clear()

    def edit(self, edit: JobEdit, *, copy: bool = False) -> bool:
        """Apply an edit in the queue of the sources, or of the copies. Raises what the schedd raises."""
        return edit.do(self.destination if copy else self.source)

    def managed_ad(self, job: JobId, ad: ClassAd) -> ClassAd | None:
        """Return the ad of a source that the router took and still manages; None if it no longer does.

        A source whose ManagedManager was deleted still counts, as when HTCondor's router yields a job. The name is
        written again for the next router. Raises what the schedd raises.
        """
        if is_managed_by(ad, self.name):
            return ad
        if string(ad, "Managed") != EXTERNAL or string(ad, "ManagedManager") is not None:
            return None
        self.edit(name_again(job, self.name))
        found = live(self.source, job)
        return found if found is not None and is_managed_by(found, self.name) else None

    def tell(self, kind: EventType, job: RoutedJob) -> bool:
        """Write an event to a source's user log, and return whether that worked; a missing source uses its last ad."""
        ad = job.source if job.source is not None else job.left
        if ad is None:
            return False
        written = self.options.write_event(ad, event(kind, job.id, ad, self.now))
        if not written:
            self.say(RouterEvent.NO_LOG, job, f" (event {int(kind):03})")
        return written


# HTCondor: JobRouterHookMgr.
class _Waiting(Enum):
    WAITING = "waiting"


WAITING: Final = _Waiting.WAITING
"""The hook has not answered yet."""

Answer: TypeAlias = "Consequence | Literal[_Waiting.WAITING] | None"


def ask(context: RouterContext, job: RoutedJob, kind: HookType, route: Route | None = None) -> Answer:
    """Return a hook's answer about a job: None without a hook, WAITING until it has answered.

    Every poll asks again; a hook that was started is waited for.
    """
    hooks = context.options.hooks
    if hooks is None:
        return None
    if job.hook is None:
        found, job.hook = hooks.begin(kind, job.source or ClassAd(), job.copy, route, context.context)
        said = found.path or "UNDEFINED"
        if found.problem is not None:
            context.say(RouterEvent.HOOK, job, f" {kind.value}: {found.problem.message}")
        context.say(RouterEvent.HOOK, job, f" {kind.value}: {said}")
        if job.hook is None:
            return None
        job.hook_tries = job.hook_tries + 1 if job.hook_type is kind else 1
        job.hook_type = kind
    run = job.hook.poll()
    if run is None:
        return WAITING
    job.hook = None
    answer = hooks.conclude(kind, run, job.hook_tries)
    context.say(RouterEvent.HOOK_ANSWER, job, f" {kind.value}: {answer.reason}")
    return answer
