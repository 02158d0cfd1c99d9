"""One job of the router: its state, copies, hooks, and time of the next attempt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeVar

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.classad.tree import ClassAdSyntaxError
from crondor.codes import SPOOLING_INPUT
from crondor.config import Configuration
from crondor.diagnostics import Diagnostic, Severity
from crondor.hooks.kinds import Consequence, HookProgram, HookType, RouterHooks, route_ad
from crondor.hooks.runner import HookCall, HookRun, RunningHook
from crondor.job.attributes import JobStatus, exact_integer, string
from crondor.job_queue.records import JobId
from crondor.router.table.route import Route, RoutingTable
from crondor.schedd.protocol import (
    SUBMITTING,
    Acted,
    Capabilities,
    EditsTogether,
    Forbidden,
    Schedd,
    ScheddError,
    Unreachable,
    Which,
    write,
)
from crondor.schedd.reading import owner_of

EXTERNAL: Final = "External"
SCHEDD: Final = "Schedd"
SCHEDD_DONE: Final = "ScheddDone"

ROUTED_BY: Final = "RoutedBy"
ROUTED_FROM: Final = "RoutedFromJobId"
ROUTED_TO: Final = "RoutedToJobId"
ROUTE_NAME: Final = "RouteName"
HOLD_COPIED: Final = "HoldCopiedFromTargetJob"

RUNNING: Final = (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT)

_STATUS: Final = {int(status): status for status in JobStatus}


# As in HTCondor's router, a real or a boolean does not count as an integer: the conditions of its edits compare the
# status with ``=?=``.
def status(ad: ClassAd | None) -> JobStatus | None:
    """Return a job's status; None for a status HTCondor does not have."""
    number = None if ad is None else exact_integer(ad, "JobStatus")
    return None if number is None else _STATUS.get(number)


def is_managed_by(ad: ClassAd, name: str) -> bool:
    """Return whether the router of this name manages a job."""
    return string(ad, "Managed") == EXTERNAL and string(ad, "ManagedManager") == name


class RoutedState(str, Enum):
    """The states of a routed job, in order (HTCondor 25.14's job router)."""

    UNCLAIMED = "unclaimed"
    CLAIMED = "claimed"
    SUBMITTED = "submitted"
    FINISHED = "finished"
    CLEANUP = "cleanup"
    RETIRED = "retired"


@dataclass(slots=True)
class RoutedJob:
    """The router's knowledge of a source and its copy; all of it can be recovered from the queues.

    ``source`` and ``copy`` are their last known ads, including the router's own edits; None: not in the queue. ``left``
    is the source's ad before it left, for its user log. ``since`` is when the copy was submitted, or may have been
    (epoch seconds); ``found_at_poll`` the number of the poll that assigned the route, 0 for an adopted job; ``retired``
    when the job ended. ``has_run``: the router's own edits show the source as running. ``is_unsure``: it is unknown
    whether the schedd accepted the copy. ``is_interrupted``: the end is neither a success nor a failure of the route.
    ``settled`` are the source, copy and table when the source was last found up to date with its copy.
    """

    id: JobId
    source: ClassAd | None
    route: str
    state: RoutedState = RoutedState.UNCLAIMED
    copy_id: JobId | None = None
    copy: ClassAd | None = None
    left: ClassAd | None = None
    is_claimed: bool = False
    is_in_place: bool = False
    is_sandboxed: bool = False
    is_unsure: bool = False
    was_seen: bool = False
    is_running: bool = False
    has_run: bool = False
    is_done: bool = False
    is_success: bool = False
    is_interrupted: bool = False
    is_removed: bool = False
    is_evicted: bool = False
    since: int = 0
    found_at_poll: int = 0
    retired: int = 0
    retired_at_poll: int = 0
    hook: RunningHook | None = None
    hook_type: HookType | None = None
    hook_tries: int = 0
    owed: dict[str, object] = field(default_factory=dict)
    settled: tuple[ClassAd | None, ClassAd | None, RoutingTable] | None = None

    @property
    def counts(self) -> bool:
        """Return whether the job counts on its route and for the router's maximum."""
        return self.state is not RoutedState.RETIRED

    def is_settled(self, table: RoutingTable) -> bool:
        """Return whether nothing has changed since the source was found up to date with its copy."""
        if self.settled is None or self.state is not RoutedState.SUBMITTED:
            return False
        source, copy, then = self.settled
        return source is self.source and copy is self.copy and then is table

    def see_copy(self, ad: ClassAd | None) -> None:
        """Update the copy's ad from the queue; a change to running counts at the next check, after the counting."""
        self.copy = ad
        if ad is not None:
            self.is_running = self.is_running and status(ad) in RUNNING

    def __str__(self) -> str:
        parts = [f"src={self.id}"]
        parts += [] if self.copy_id is None else [f"dest={self.copy_id}"]
        parts += [f"route={self.route}"] if self.route else []
        return ",".join(parts)


_NOTHING: Final[Mapping[JobId, ClassAd]] = {}


class RoutedCopies:
    """The copies of a router by their sources, including sources that the router does not know."""

    def __init__(self, name: str) -> None:
        """Start empty; ``name`` is the router's."""
        self._name = name
        self._ads: dict[JobId, ClassAd] = {}
        self._by_source: dict[str, dict[JobId, ClassAd]] = {}

    def __contains__(self, job: JobId) -> bool:
        return job in self._ads

    def of(self, source: JobId) -> Mapping[JobId, ClassAd]:
        """Return the copies made from a source."""
        return self._by_source.get(str(source), _NOTHING)

    def by_source(self) -> list[tuple[str, dict[JobId, ClassAd]]]:
        """Return the sources that the copies name, in order, each with its copies."""
        return sorted(self._by_source.items())

    def see(self, job: JobId, ad: ClassAd | None) -> None:
        """Update from what the copies' queue shows of a job."""
        before = self._ads.pop(job, None)
        if before is not None:
            kept = self._by_source.get(string(before, ROUTED_FROM) or "", {})
            kept.pop(job, None)
            if not kept:
                self._by_source.pop(string(before, ROUTED_FROM) or "", None)
        if ad is not None and string(ad, ROUTED_BY) == self._name and "Owner" in ad:
            self._ads[job] = ad
            self._by_source.setdefault(string(ad, ROUTED_FROM) or "", {})[job] = ad


SPOOLING_REASON: Final = "Spooling input data files"

NEVER_SENT: Final = (
    "x509userproxysubject", "x509UserProxyExpiration", "x509UserProxyEmail", "x509UserProxyVOName",
    "x509UserProxyFirstFQAN", "x509UserProxyFQAN", "AuthTokenSubject", "AuthTokenIssuer", "AuthTokenGroups",
    "AuthTokenScopes", "AuthTokenId",
)  # fmt: skip
"""Attributes that a schedd sets itself, and that no client may set."""

_MANAGING: Final = ("Managed", "ManagedManager")


# HTCondor: JobRouter::FinishSubmitJob, submit_job.
def working(source: ClassAd) -> ClassAd:
    """Return the ad to which the route is applied: the source as it was before the router took it."""
    made = source.flat()
    for name in _MANAGING:
        made.prune(name)
    return made


def submitted(
    routed: ClassAd, source: JobId, route: str, router: str, owner: str, now: int, *, domain: str, is_sandboxed: bool
) -> ClassAd:
    """Return the ad to submit at ``now`` (epoch seconds), without ids, which the schedd assigns.

    ``owner`` is the source's; with ``domain`` it makes the copy's User. The references to the source are set after all
    transforms, so that no route can change them.
    """
    made = routed.copy()
    for name in (*NEVER_SENT, ROUTED_TO, *_MANAGING, "ClusterId", "ProcId"):
        made.prune(name)
    routing = {ROUTED_FROM: str(source), ROUTED_BY: router, ROUTE_NAME: route}
    user = f"{owner}@{domain}" if domain else owner
    write(made, {**routing, "User": user, "QDate": now, "EnteredCurrentStatus": now})
    if "Owner" not in made:
        made.set("Owner", owner)
    if "JobStatus" not in made:
        made.set("JobStatus", int(JobStatus.IDLE))
    if is_sandboxed:
        made.set("JobStatus", int(JobStatus.HELD))
        made.set("HoldReason", SPOOLING_REASON)
        made.set("HoldReasonCode", SPOOLING_INPUT)
    made.set_text("LeaveJobInQueue", f"JobStatus == {int(JobStatus.COMPLETED)}")
    return made


def waits_for_input(copy: ClassAd) -> bool:
    """Return whether a copy is held until its input is spooled."""
    return status(copy) is JobStatus.HELD and exact_integer(copy, "HoldReasonCode") == SPOOLING_INPUT


def is_unfinished(copy: ClassAd) -> bool:
    """Return whether a copy's submission was interrupted: its ad is incomplete. A schedd adds a user to the reason."""
    return status(copy) is JobStatus.HELD and (string(copy, "HoldReason") or "").startswith(SUBMITTING)


def domain_of(source: ClassAd) -> str:
    """Return the domain of the source's User, empty if there is none."""
    return (string(source, "User") or "").partition("@")[2]


@dataclass(frozen=True)
class HookRunners:
    """The hooks of a configuration, and a function like ``HookRunner.start`` to start them.

    ``as_owner``: a hook runs as the job's owner, with the owner's rights and environment, as under HTCondor's router as
    root. A hook for an unknown owner is not started (JobRouterHookMgr): it must not run with the router's rights.
    """

    hooks: RouterHooks
    start: Callable[[HookCall], RunningHook]
    as_owner: bool = False

    def begin(
        self, kind: HookType, source: ClassAd, copy: ClassAd | None, route: Route | None, context: Context
    ) -> tuple[HookProgram, RunningHook | None]:
        """Start a hook; None if there is none to call."""
        found = self.hooks.find(kind, source, context)
        told = None if route is None else route_ad(route.name, route.universe, route.grid_resource)
        user = owner_of(source) if self.as_owner else None
        call = self.hooks.call(found, source, copy, told, user)
        return found, None if call is None else self.start(call)

    def conclude(self, kind: HookType, run: HookRun, tries: int) -> Consequence:
        """Return the meaning of a hook's answer."""
        return self.hooks.conclude(kind, run, tries)


MY_TYPE: Final = "Job_Router"
"""A type of its own, which a collector stores among its generic ads."""

_LISTS: Final = ("JOB_ROUTER_ATTRS", "JOB_ROUTER_EXPRS", "SYSTEM_JOB_ROUTER_ATTRS")


def public_ad(configuration: Configuration, host: str, now: int) -> tuple[ClassAd, list[Diagnostic]]:
    """Return the ad of a router at ``now`` (epoch seconds), and a warning for each attribute left out.

    ``host`` is the full name of its machine. The ad has the attributes listed in JOB_ROUTER_ATTRS, and nothing about
    routes and jobs, like that of HTCondor's router. It lacks what only a running process knows: its address, its start,
    the number of the update, the version.
    """
    name = configuration.string("JOB_ROUTER_NAME") or "jobrouter"
    made = ClassAd({"MyType": MY_TYPE, "Name": daemon_name(name, host)})
    faults = []
    listed = dict.fromkeys(each for knob in _LISTS for each in configuration.names(knob))
    for attribute in listed:
        text = configuration.string(f"JOB_ROUTER_{attribute}") or configuration.string(attribute)
        if not text:
            continue
        try:
            made.set_text(attribute, text)
        except ClassAdSyntaxError as error:
            reason = error.diagnostics[0].message
            message = f"JOB_ROUTER_ATTRS lists {attribute}, whose value is not an expression: {reason}"
            hint = f'write a string in quotes: {attribute} = "..."'
            knob = configuration.find(f"JOB_ROUTER_{attribute}") or configuration.find(attribute)
            span = None if knob is None else knob.span
            faults.append(Diagnostic("router-ad-attribute", message, Severity.WARNING, span, hint))
    made.set("MyCurrentTime", now)
    made.set("Machine", host)
    return made, faults


def daemon_name(name: str, host: str) -> str:
    """Return the name of a daemon at its host, as ``build_valid_daemon_name`` makes it."""
    if "@" in name:
        return name
    same = name.lower() in (host.lower(), host.lower().partition(".")[0])
    return host if same else f"{name}@{host}"


_LONGEST: Final = 300  # seconds that a refused job waits


class Refusals:
    """Waiting times of refused jobs: one poll, then 2, 4, up to five minutes."""

    def __init__(self) -> None:
        self._found: dict[JobId, tuple[int, int]] = {}  # until when, and how often it was refused

    def add(self, job: JobId, now: int, period: int) -> None:
        """Record a refusal at ``now`` (epoch seconds), with a poll every ``period`` seconds."""
        period, times = max(1, period), self._found.get(job, (0, 0))[1]
        self._found[job] = now + min(period << min(times, 10), max(period, _LONGEST)), times + 1

    def until(self, job: JobId) -> int:
        """Return when a job's wait ends (epoch seconds); 0 if it does not wait."""
        return self._found.get(job, (0, 0))[0]

    def forget(self, job: JobId) -> None:
        """Forget a job."""
        self._found.pop(job, None)


_Answer = TypeVar("_Answer")
_ITS_OWN: Final = (Unreachable, Forbidden)  # errors that do not concern the job
_MOST: Final = 30  # polls; five minutes at a poll every ten seconds


class LeftAlone(ScheddError):
    """The schedd was not asked; nothing was done."""


class Patient:
    """A schedd that is left alone for some polls after it refuses or does not answer.

    The number of polls is 0 after the first time, then 1, 3, 7 up to 30, until the schedd accepts something again.
    """

    def __init__(self, schedd: Schedd) -> None:
        """Take a schedd, which is assumed to answer."""
        self._schedd = schedd
        self._failures = 0
        self._left = 0
        self._is_left_alone = False

    @property
    def capabilities(self) -> Capabilities:
        """The schedd's capabilities."""
        return self._schedd.capabilities

    @property
    def is_left_alone(self) -> bool:
        """Return whether the schedd is not asked in this poll, or no longer is."""
        return self._is_left_alone

    @property
    def is_doubtful(self) -> bool:
        """Return whether the schedd refused or did not answer the last request."""
        return self._failures > 0

    @property
    def pause(self) -> int:
        """The number of coming polls in which the schedd is left alone."""
        return self._left

    def begin_poll(self) -> None:
        """Count a poll."""
        self._is_left_alone = self._left > 0
        self._left = max(0, self._left - 1)

    def ask_again(self) -> None:
        """Forget refusals, after a change elsewhere."""
        self._failures = self._left = 0
        self._is_left_alone = False

    def jobs(self, which: Which = None, projection: Iterable[str] | None = None) -> list[ClassAd]:
        """Ask for jobs."""
        return self._ask(lambda: self._schedd.jobs(which, projection))

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Edit a job."""
        return self._write(lambda: self._schedd.edit_if(job, condition, edits))

    def edit_each(self, jobs: Sequence[JobId], condition: str, name: str, value: object, proof: str) -> list[JobId]:
        """Edit several jobs; none if the schedd can only edit single jobs."""
        schedd = self._schedd
        if not isinstance(schedd, EditsTogether):
            return []
        return self._write(lambda: schedd.edit_each(jobs, condition, name, value, proof))

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Submit jobs."""
        return self._write(lambda: self._schedd.submit(ads))

    def remove(self, which: Which, reason: str) -> Acted:
        """Remove jobs."""
        return self._write(lambda: self._schedd.remove(which, reason))

    def _write(self, call: Callable[[], _Answer]) -> _Answer:
        answer = self._ask(call)
        self._failures = self._left = 0
        return answer

    def _ask(self, call: Callable[[], _Answer]) -> _Answer:
        if self._is_left_alone:
            raise LeftAlone(Diagnostic("route-left-alone", "the schedd is left alone for a while"))
        try:
            return call()
        except ScheddError as error:
            if not isinstance(error, _ITS_OWN) and not isinstance(error.__cause__, _ITS_OWN):
                raise
            self._failures += 1
            self._left = min((1 << min(self._failures - 1, 10)) - 1, _MOST)
            self._is_left_alone = True
            raise
