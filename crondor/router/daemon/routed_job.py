"""One job of the router: its state, its copies, its hooks, and when it is tried again."""

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
    Hold,
    JobChange,
    Schedd,
    ScheddError,
    Scheduled,
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


# As HTCondor's router, it takes an integer for one only where it is no real and no boolean: what it writes goes by
# conditions that ask for the status with ``=?=``.
def status(ad: ClassAd | None) -> JobStatus | None:
    """Return a job's status, None for one that HTCondor does not have."""
    number = None if ad is None else exact_integer(ad, "JobStatus")
    return None if number is None else _STATUS.get(number)


def is_managed_by(ad: ClassAd, name: str) -> bool:
    """Say whether a router of this name has a job."""
    return string(ad, "Managed") == EXTERNAL and string(ad, "ManagedManager") == name


class RoutedState(str, Enum):
    """The states of a routed job, in the order in which it passes them (HTCondor 25.14's job router)."""

    UNCLAIMED = "unclaimed"
    CLAIMED = "claimed"
    SUBMITTED = "submitted"
    FINISHED = "finished"
    CLEANUP = "cleanup"
    RETIRED = "retired"


@dataclass(slots=True)
class RoutedJob:
    """What the router knows of a source and its copy; all of it can be found again in the queues.

    ``source`` and ``copy`` are their ads as they were seen last, with what the router itself has written; None: not
    there. ``left`` is the source's ad before it went, for its user log. ``since`` is when the copy was submitted, or
    might have been (epoch seconds), ``found_at_poll`` is the number of the poll that gave it to a route, 0 where it was
    adopted; ``retired`` when the job was done with. ``has_run`` says that the source shows as running, by what the
    router itself wrote. ``is_unsure`` says that nobody knows whether the schedd took the copy. ``is_interrupted``: the
    end is neither a success nor a failure of the route. ``settled`` are source, copy and table as they were when the
    source was found to show all that the copy does.
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
    def is_idle(self) -> bool:
        """Say whether it counts as idle on its route: whatever does not run (HTCondor 25.14's job router)."""
        return not self.is_running

    @property
    def counts(self) -> bool:
        """Say whether it counts on its route and for the router's maximum."""
        return self.state is not RoutedState.RETIRED

    def is_settled(self, table: RoutingTable) -> bool:
        """Say whether nothing has changed since source and copy were compared, and the source showed all there is."""
        if self.settled is None or self.state is not RoutedState.SUBMITTED:
            return False
        source, copy, then = self.settled
        return source is self.source and copy is self.copy and then is table

    def see_copy(self, ad: ClassAd | None) -> None:
        """Take what the queue shows of the copy now; that it runs counts when it is looked at, after the counting."""
        self.copy = ad
        if ad is not None:
            self.is_running = self.is_running and status(ad) in RUNNING

    def __str__(self) -> str:
        """Return what HTCondor's log calls it."""
        parts = [f"src={self.id}"]
        parts += [] if self.copy_id is None else [f"dest={self.copy_id}"]
        parts += [f"route={self.route}"] if self.route else []
        return ",".join(parts)


_NOTHING: Final[Mapping[JobId, ClassAd]] = {}


class RoutedCopies:
    """The copies of a router by their sources, whether it knows them or not."""

    def __init__(self, name: str) -> None:
        """Begin without any; ``name`` is the router's."""
        self._name = name
        self._ads: dict[JobId, ClassAd] = {}
        self._by_source: dict[str, dict[JobId, ClassAd]] = {}

    def __contains__(self, job: JobId) -> bool:
        """Say whether a job is one of them."""
        return job in self._ads

    def of(self, source: JobId) -> Mapping[JobId, ClassAd]:
        """Return the copies that say that they were made of a job."""
        return self._by_source.get(str(source), _NOTHING)

    def by_source(self) -> list[tuple[str, dict[JobId, ClassAd]]]:
        """Return what they say that they were made of, each with its copies, in order."""
        return sorted(self._by_source.items())

    def see(self, job: JobId, ad: ClassAd | None) -> None:
        """Take what the copies' queue shows of a job."""
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
"""Attributes that a schedd finds out by itself and lets no client set."""

_MANAGING: Final = ("Managed", "ManagedManager")


# HTCondor: JobRouter::FinishSubmitJob, submit_job.
def working(source: ClassAd) -> ClassAd:
    """Return what the route is applied to: the source as it was before the router took it."""
    made = source.flat()
    for name in _MANAGING:
        made.prune(name)
    return made


def submitted(
    routed: ClassAd, source: JobId, route: str, router: str, owner: str, now: int, *, domain: str, is_sandboxed: bool
) -> ClassAd:
    """Return the ad that is submitted at ``now`` (epoch seconds); ids are the schedd's to give.

    ``owner`` is the source's; with ``domain`` he is the copy's User. What leads back to the source comes after all
    transforms, so that no route can set it.
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
    """Say whether a copy is on hold until its input is spooled."""
    return status(copy) is JobStatus.HELD and exact_integer(copy, "HoldReasonCode") == SPOOLING_INPUT


def is_unfinished(copy: ClassAd) -> bool:
    """Say whether a copy's submission ended halfway: its ad is not whole. A schedd adds to the reason whose it is."""
    return status(copy) is JobStatus.HELD and (string(copy, "HoldReason") or "").startswith(SUBMITTING)


def domain_of(source: ClassAd) -> str:
    """Return the domain of the source's User, empty where it has none."""
    return (string(source, "User") or "").partition("@")[2]


@dataclass(frozen=True)
class HookRunners:
    """The hooks of a configuration, and what starts one, as ``HookRunner.start`` does.

    ``as_owner``: a hook runs as the job's owner, as HTCondor's router has it where it is root: with his rights and his
    environment. One of an owner whom the system does not know is not started (JobRouterHookMgr): the router's rights
    are for nobody's job.
    """

    hooks: RouterHooks
    start: Callable[[HookCall], RunningHook]
    as_owner: bool = False

    def begin(
        self, kind: HookType, source: ClassAd, copy: ClassAd | None, route: Route | None, context: Context
    ) -> tuple[HookProgram, RunningHook | None]:
        """Start a hook; None where there is none to be called."""
        found = self.hooks.find(kind, source, context)
        told = None if route is None else route_ad(route.name, route.universe, route.grid_resource)
        user = owner_of(source) if self.as_owner else None
        call = self.hooks.call(found, source, copy, told, user)
        return found, None if call is None else self.start(call)

    def conclude(self, kind: HookType, run: HookRun, tries: int) -> Consequence:
        """Return what an answer means."""
        return self.hooks.conclude(kind, run, tries)


MY_TYPE: Final = "Job_Router"
"""A type of its own, which a collector keeps among its generic ads."""

_LISTS: Final = ("JOB_ROUTER_ATTRS", "JOB_ROUTER_EXPRS", "SYSTEM_JOB_ROUTER_ATTRS")


def public_ad(configuration: Configuration, host: str, now: int) -> tuple[ClassAd, list[Diagnostic]]:
    """Return the ad of a router at ``now`` (epoch seconds), and a warning for each attribute that it cannot have.

    ``host`` is the full name of its machine. It has the attributes that JOB_ROUTER_ATTRS lists. Nothing of routes and
    jobs is in it: HTCondor's router does not say how it stands. What only a process knows is left out: its address,
    its start, the number of the update, the version.
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
            message = f"JOB_ROUTER_ATTRS lists {attribute}, whose value is no expression: {reason}"
            hint = f'write a string in quotes: {attribute} = "..."'
            knob = configuration.find(f"JOB_ROUTER_{attribute}") or configuration.find(attribute)
            span = None if knob is None else knob.span
            faults.append(Diagnostic("router-ad-attribute", message, Severity.WARNING, span, hint))
    made.set("MyCurrentTime", now)
    made.set("Machine", host)
    return made, faults


def daemon_name(name: str, host: str) -> str:
    """Return what a daemon of a name is called at its host, as ``build_valid_daemon_name`` makes it."""
    if "@" in name:
        return name
    same = name.lower() in (host.lower(), host.lower().partition(".")[0])
    return host if same else f"{name}@{host}"


_LONGEST: Final = 300  # seconds that a job waits which was refused


class Refusals:
    """A job waits one poll, then 2, 4, up to five minutes."""

    def __init__(self) -> None:
        """Begin without any."""
        self._found: dict[JobId, tuple[int, int]] = {}  # until when, and how often it was refused

    def add(self, job: JobId, now: int, period: int) -> None:
        """Note a refusal at ``now`` (epoch seconds), where a poll is made every ``period`` seconds."""
        period, times = max(1, period), self._found.get(job, (0, 0))[1]
        self._found[job] = now + min(period << min(times, 10), max(period, _LONGEST)), times + 1

    def until(self, job: JobId) -> int:
        """Return until when a job waits (epoch seconds), 0 for one that does not."""
        return self._found.get(job, (0, 0))[0]

    def forget(self, job: JobId) -> None:
        """Forget a job."""
        self._found.pop(job, None)


_Answer = TypeVar("_Answer")
_ITS_OWN: Final = (Unreachable, Forbidden)  # what is not about the job that was asked for
_MOST: Final = 30  # polls; five minutes, where a poll is made every ten seconds


class LeftAlone(ScheddError):
    """It was not asked: nothing was done."""


class Patient:
    """A schedd, asked until it refuses or does not answer; then not before ``begin_poll`` says so.

    The polls it is left alone for are none after the first time, and then 1, 3, 7 up to 30, until it has done
    something again.
    """

    def __init__(self, schedd: Schedd) -> None:
        """Take a schedd that answers, as far as is known."""
        self._schedd = schedd
        self._failures = 0
        self._left = 0
        self._is_left_alone = False

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return self._schedd.capabilities

    @property
    def is_left_alone(self) -> bool:
        """Say whether it is not asked in this poll, or not any more."""
        return self._is_left_alone

    @property
    def is_doubtful(self) -> bool:
        """Say whether it refused or did not answer when it was last asked."""
        return self._failures > 0

    @property
    def pause(self) -> int:
        """For how many of the next polls it is left alone."""
        return self._left

    def begin_poll(self) -> None:
        """Count a poll."""
        self._is_left_alone = self._left > 0
        self._left = max(0, self._left - 1)

    def ask_again(self) -> None:
        """Forget what it refused: somebody has changed something."""
        self._failures = self._left = 0
        self._is_left_alone = False

    def jobs(self, which: Which = None, projection: Iterable[str] | None = None) -> list[ClassAd]:
        """Ask for jobs."""
        return self._ask(lambda: self._schedd.jobs(which, projection))

    def scheduled(self, which: Which = None) -> Scheduled:
        """Ask for the jobs that have a schedule."""
        return self._ask(lambda: self._schedd.scheduled(which))

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Edit a job."""
        return self._write(lambda: self._schedd.edit_if(job, condition, edits))

    def edit_each(self, jobs: Sequence[JobId], condition: str, name: str, value: object, proof: str) -> list[JobId]:
        """Edit several jobs; none where the schedd can edit one at a time only."""
        schedd = self._schedd
        if not isinstance(schedd, EditsTogether):
            return []
        return self._write(lambda: schedd.edit_each(jobs, condition, name, value, proof))

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Submit jobs."""
        return self._write(lambda: self._schedd.submit(ads))

    def hold(self, which: Which, hold: Hold) -> Acted:
        """Hold jobs."""
        return self._write(lambda: self._schedd.hold(which, hold))

    def release(self, which: Which, reason: str) -> Acted:
        """Release jobs."""
        return self._write(lambda: self._schedd.release(which, reason))

    def remove(self, which: Which, reason: str) -> Acted:
        """Remove jobs."""
        return self._write(lambda: self._schedd.remove(which, reason))

    def history(
        self, which: Which = None, projection: Iterable[str] | None = None, limit: int | None = None
    ) -> list[ClassAd]:
        """Ask for jobs that have left."""
        return self._ask(lambda: self._schedd.history(which, projection, limit))

    def changes(self) -> list[JobChange]:
        """Ask what has become of jobs."""
        return self._ask(self._schedd.changes)

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
