"""The startd's and the starter's side of fetched work: one slot that fetches, runs and reports by its hooks.

What a job does while it runs is not decided here: ``execute`` starts it, and the slot asks whether it has ended.

HTCondor: StartdHookMgr, StarterHookMgr.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, Protocol

from crondor.classad.ad import ClassAd
from crondor.classad.printing import Format
from crondor.classad.scope import Context
from crondor.classad.text import lower
from crondor.classad.tree import UNDEFINED
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.hooks.kinds import (
    STARTER_HOOKS,
    UPSTREAM,
    Consequence,
    HookConsequence,
    HookType,
    Knobs,
    Scratch,
    ad_text,
    conclude_starter,
    exit_timeout,
    knob,
    knob_name,
    main_job_end,
    prepare_arguments,
    read_output,
    starter_environment,
    starter_keyword,
    update_intervals,
)
from crondor.hooks.runner import DEFAULT_LIMITS, HookCall, HookEnd, HookLimits, HookRun, HookRunner, check_path
from crondor.job import attributes
from crondor.job.attributes import string

_TEXTS: Final = ("Cmd", "Owner", "Iwd", "In", "Out", "Err", "Args", "Arguments", "Env", "Environment", "JarFiles")
_PATHS: Final = ("Cmd", "Iwd")
_NUMBERS: Final = ("JobUniverse", "KillSig", "RequestCpus", "RequestMemory", "RequestDisk", "ClusterId", "ProcId")
_KINDS: Final = (
    (_TEXTS, attributes.string, "string", "write it in double quotes"),
    (_NUMBERS, attributes.number, "number", "write a number"),
)
_UNIVERSES: Final = (5, 10)
_REQUESTS: Final = ("RequestCpus", "RequestMemory", "RequestDisk")


def check_cod(job: ClassAd, *, is_partitionable: bool = False) -> list[Diagnostic]:
    """Return the faults of a job ad from FETCH_WORK.

    Cmd and Owner are required, and RequestCpus, RequestMemory and RequestDisk for a partitionable slot (others get 1 of
    each from the startd). No files are transferred: Cmd and Iwd are paths on the machine.
    """
    required = ("Cmd", "Owner", *(_REQUESTS if is_partitionable else ()))
    hint = "FETCH_WORK must print it: the starter requires it"
    found = [_fault(f"the job has no {name}", hint) for name in required if name not in job]
    found += [
        _fault(f"{name} = {job.text(name)} is not a valid {kind}", help_text)
        for names, read, kind, help_text in _KINDS
        for name in names
        if name in job and read(job, name) is None
    ]
    found += [
        _fault(f"{name} = {job.text(name)} is not a full path", "write a path of the execute machine")
        for name in _PATHS
        if not (attributes.string(job, name) or "/").startswith("/")
    ]
    if attributes.value(job, "JobUniverse") is UNDEFINED:
        message = "the job has no JobUniverse"
        found.append(Diagnostic("cod-universe", message, Severity.WARNING, help="print JobUniverse = 5"))
    elif attributes.int32(job, "JobUniverse") not in _UNIVERSES:
        message = f"JobUniverse = {job.text('JobUniverse')}: only 5 (vanilla) and 10 (java) are known to work"
        found.append(Diagnostic("cod-universe", message, Severity.WARNING))
    return found


def _fault(message: str, help_text: str) -> Diagnostic:
    return Diagnostic("cod-attribute", message, help=help_text)


SEPARATOR: Final = "-----"
DEFAULT_DELAY: Final = 300
"""Seconds from the end of one fetch to the next, if FetchWorkDelay is not an integer."""

_UPSTREAM: Final = {**UPSTREAM, HookEnd.SIGNALED: "takes what was printed"}


# HTCondor: Resource::tryFetchWork, Resource::evalNextFetchWorkDelay.
class SlotState(Enum):
    """The state of a slot with respect to fetching."""

    UNCLAIMED = "unclaimed"
    CLAIMED = "claimed"
    IDLE_FETCHED = "idle-fetched"
    """Claimed for fetched work whose job has ended."""

    PREEMPTING = "preempting"


class Decision(NamedTuple):
    """Whether a slot accepts a fetched job, its rank there, and why."""

    accepted: bool
    rank: float
    reason: str


def fetch_keyword(slot: str, knobs: Knobs) -> str:
    """Return the keyword of a slot (``slot1``): SLOT<N>_JOB_HOOK_KEYWORD, else STARTD_JOB_HOOK_KEYWORD; empty: none."""
    return knob(knobs, f"{slot.upper()}_JOB_HOOK_KEYWORD") or knob(knobs, "STARTD_JOB_HOOK_KEYWORD")


def conclude_fetch(run: HookRun) -> Consequence:
    """Return the job that FETCH_WORK printed; its exit status does not count, and one bad line voids the answer.

    A hook that did not end by itself has offered nothing, whatever it printed: HTCondor would run it. A single line end
    is an answer, too: a job without attributes (FetchClient::hookExited).
    """
    if run.ended is not HookEnd.EXITED:
        return Consequence(
            HookConsequence.NO_WORK, ClassAd(), run.reason, run.diagnostics, _UPSTREAM.get(run.ended, "")
        )
    output = read_output(run.stdout, run.call.name, takes_odd_names=True)
    if output.faults:
        reason = f"{run.call.name} printed a line that is not an attribute, which voids its answer"
        return Consequence(HookConsequence.NO_WORK, ClassAd(), reason, (*run.diagnostics, *output.faults))
    if not run.stdout:
        return Consequence(HookConsequence.NO_WORK, ClassAd(), "there is no work", run.diagnostics)
    if not output.ad:
        reason = f"{run.call.name} printed only blanks, which is a job without attributes"
        problem = Diagnostic("hook-output-empty", reason, help="print nothing at all if there is no work")
        return Consequence(HookConsequence.OFFER_JOB, ClassAd(), reason, (*run.diagnostics, problem))
    findings = (*run.diagnostics, *output.odd)
    return Consequence(HookConsequence.OFFER_JOB, output.ad, "the slot decides whether to accept the job", findings)


def is_void(said: Consequence) -> bool:
    """Return whether an answer of FETCH_WORK was not an ad: then the startd keeps even an idle claim."""
    return said.action is HookConsequence.NO_WORK and any(each.kind == "hook-output" for each in said.diagnostics)


def completed(job: ClassAd, keyword: str, *, is_static: bool) -> ClassAd:
    """Return a fetched job with the startd's additions: HookKeyword, and the requests for a slot that is not divided.

    HTCondor: Resource::createOrUpdateFetchClaim.
    """
    found = job.copy()
    if is_static:
        for name in _REQUESTS:
            if name not in found:
                found[name] = 1
    if attributes.string(found, "HookKeyword") is None:
        found["HookKeyword"] = keyword
    return found


def decide(
    job: ClassAd, slot: ClassAd, state: SlotState, current_rank: float = 0.0, context: Context | None = None
) -> Decision:
    """Return whether a slot accepts a fetched job (StartdHookMgr::handleHookFetchWork).

    The slot's Requirements (START and more) decide; the job's Requirements are ignored in HTCondor 25.14. A busy slot
    only accepts a job that it ranks strictly higher.
    """
    if state is SlotState.PREEMPTING:
        return Decision(accepted=False, rank=0.0, reason="the slot is still preempting its last job")
    context = context or Context()
    asked = "Requirements" if "Requirements" in slot else "Start"
    if not attributes.boolean(slot, asked, context, job):
        return Decision(accepted=False, rank=0.0, reason=f"the slot's {asked} is not true for the job")
    rank = _rank(slot, job, context)
    if state is SlotState.CLAIMED and rank <= current_rank:
        reason = f"its rank {rank:g} is not above {current_rank:g}, that of the running job"
        return Decision(accepted=False, rank=rank, reason=reason)
    return Decision(accepted=True, rank=rank, reason="the slot accepts the job")


def is_willing(slot: ClassAd, context: Context | None = None) -> bool:
    """Return whether a slot would run anything at all, a condition for fetching: START is not false."""
    return attributes.boolean(slot, "Start", context or Context()) is not False


def has_ended(slot: ClassAd) -> bool:
    """Return whether a fetching slot no longer runs a job, by its State and Activity.

    A divided slot runs jobs in other slots, about which nothing is known.
    """
    is_divided = attributes.boolean(slot, "PartitionableSlot")
    state = attributes.string(slot, "State"), attributes.string(slot, "Activity")
    return not is_divided and (state[0] in {"Owner", "Unclaimed"} or state == ("Claimed", "Idle"))


def refuses(slot: ClassAd, job: ClassAd, context: Context) -> bool:
    """Return whether a slot has a job that it would not give up: it still asks every FetchWorkDelay."""
    current = attributes.number(slot, "CurrentRank")
    is_busy = attributes.string(slot, "State") == "Claimed" and attributes.string(slot, "Activity") != "Idle"
    return is_busy and current is not None and _rank(slot, job, context) <= current


def fetch_delay(slot: ClassAd, job: ClassAd | None = None, context: Context | None = None) -> int:
    """Return how many seconds after its last fetch a slot fetches again: FetchWorkDelay in the slot and its job."""
    delay = attributes.int32(slot, "FetchWorkDelay", context or Context(), job)
    return DEFAULT_DELAY if delay is None else delay


def slot_input(job: ClassAd, slot: ClassAd, claim: str | None) -> str:
    """Return the input of REPLY_FETCH and EVICT_CLAIM: the job, a line of five dashes, the slot with its claim, if any.

    Quotes inside a claim's id get a backslash, so that the line can be read; HTCondor 25.14 prints them unchanged.
    """
    claimed = "" if claim is None else ClassAd({"ClaimId": claim}).print(Format.LONG)
    return f"{ad_text(job)}{SEPARATOR}\n{ad_text(slot)}{claimed}"


def _rank(slot: ClassAd, job: ClassAd, context: Context) -> float:
    return float(attributes.number(slot, "Rank", context, job) or 0)


_STATES: Final = {
    SlotState.UNCLAIMED: ("Unclaimed", "Idle"),
    SlotState.CLAIMED: ("Claimed", "Busy"),
    SlotState.IDLE_FETCHED: ("Claimed", "Idle"),
    SlotState.PREEMPTING: ("Preempting", "Vacating"),
}


class Execution(Protocol):
    """A running job."""

    def attributes(self, now: float) -> Mapping[str, object]:
        """Return the attributes of an update: JobState, JobPid, RemoteUserCpu, ..."""

    def ended(self, now: float) -> Mapping[str, object] | None:
        """Return ExitCode or ExitSignal, ExitBySignal, JobDuration once it has ended, None before."""

    def stop(self, now: float) -> None:
        """End it."""


class FetchStep(NamedTuple):
    """One step of the slot: a hook call, or a decision, with its result."""

    time: float
    what: str
    text: str = ""
    run: HookRun | None = None
    consequence: Consequence | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass
class FetchingSlot:
    """A slot by its name (``slot1``) and ad; ``knobs`` name its hooks.

    ``scratch`` is the existing folder in which jobs run. ``is_static``: the slot is not divided.
    """

    name: str
    ad: ClassAd
    knobs: Knobs
    execute: Callable[[ClassAd, float], Execution]
    environ: Mapping[str, str]
    scratch: str
    runner: HookRunner = field(default_factory=HookRunner)
    limits: HookLimits = DEFAULT_LIMITS
    is_static: bool = True
    state: SlotState = SlotState.UNCLAIMED
    job: ClassAd | None = None
    rank: float = 0.0
    claims: int = 0

    def __post_init__(self) -> None:
        self._running: Execution | None = None
        self._fetched = -math.inf
        self._next_fetch = 0.0
        self._next_update = 0.0

    @property
    def keyword(self) -> str:
        """The slot's keyword, empty: it does not fetch."""
        return fetch_keyword(self.name, self.knobs)

    def next_time(self) -> float | None:
        """Return when there is something to do by the clock, None for never."""
        times = [self._next_fetch] if self.keyword else []
        return min(times + ([self._next_update] if self._running else []), default=None)

    def step(self, now: float) -> Iterator[FetchStep]:
        """Do what is due: an update, the end of the job, a fetch."""
        if self._running is not None and (result := self._running.ended(now)) is not None:
            yield from self._end(result, "exit", now)
            self.state = SlotState.IDLE_FETCHED
            self._next_fetch = max(now, self._fetched + self._delay(now))
        elif self._running is not None and now >= self._next_update:
            self._next_update = now + update_intervals(self.knobs)[1]
            yield from self._starter_hook(HookType.UPDATE_JOB_INFO, self._described(self._running.attributes(now)), now)
        if self.keyword and now >= self._next_fetch:
            if self.state is SlotState.UNCLAIMED and not is_willing(self._described_slot(), Context(now=int(now))):
                yield FetchStep(now, "no fetch", "the slot's Start is false")
            else:
                yield from self._fetch(now)
                self._fetched = now
            self._next_fetch = now + max(1, self._delay(now))

    def evict(self, now: float) -> Iterator[FetchStep]:
        """End the claim: EVICT_CLAIM, the end of the job, JOB_EXIT."""
        if self.job is None:
            return
        stdin = slot_input(self.job, self._described_slot(), self._claim())
        yield from self._startd_hook(HookType.EVICT_CLAIM, (), stdin, now)
        if self._running is not None:
            self._running.stop(now)
            result = self._running.ended(now) or {"ExitBySignal": True, "ExitSignal": 15}
            yield from self._end(result, "evict", now)
        self._release()

    def _fetch(self, now: float) -> Iterator[FetchStep]:
        slot = self._described_slot()
        steps = list(self._startd_hook(HookType.FETCH_WORK, (), ad_text(slot), now))
        yield from steps
        said = steps[0].consequence if steps else None
        if said is None or said.action is not HookConsequence.OFFER_JOB:
            if self.state is SlotState.IDLE_FETCHED and not (said and is_void(said)):
                yield FetchStep(now, "claim given up", "there is no more work")
                self._release()
            return
        job = completed(said.ad, self.keyword, is_static=self.is_static)
        faults = check_cod(job, is_partitionable=not self.is_static)
        decision = decide(job, slot, self.state, self.rank, Context(now=int(now)))
        yield FetchStep(
            now, "accepted" if decision.accepted else "rejected", decision.reason, diagnostics=tuple(faults)
        )
        preempts = decision.accepted and self.state is SlotState.CLAIMED
        self.claims += decision.accepted and self.state is not SlotState.IDLE_FETCHED
        word = "accept" if decision.accepted else "reject"
        claim = self._claim() if decision.accepted else None
        yield from self._startd_hook(HookType.REPLY_FETCH, (word,), slot_input(job, slot, claim), now)
        if preempts:
            yield from self.evict(now)
        if decision.accepted:
            self.job, self.rank = job, decision.rank
            yield from self._begin(now)
        elif self.state is SlotState.IDLE_FETCHED:
            self._release()

    def _begin(self, now: float) -> Iterator[FetchStep]:
        """Prepare the job and start it.

        As recorded, the starter calls UPDATE_JOB_INFO once before PREPARE_JOB. It never calls
        PREPARE_JOB_BEFORE_TRANSFER for fetched work, which transfers nothing (JICLocal).
        """
        job = self.job or ClassAd()
        self.state = SlotState.CLAIMED
        problem = self._unfit(job)
        if problem is not None:
            yield FetchStep(now, "not started", problem.message, diagnostics=(problem,))
            self._release()
            return
        for name in ("Cmd", "Iwd"):
            if name in job:
                job.put(f"Orig{name}", job.codes[lower(name)])
        yield from self._starter_hook(HookType.UPDATE_JOB_INFO, job, now)
        for step in self._starter_hook(HookType.PREPARE_JOB, job, now):
            yield step
            said = step.consequence
            if said is not None and said.action is not HookConsequence.START_JOB:
                yield FetchStep(now, "not started", said.reason)
                self._release()
                return
            if said is not None:
                for name in said.ad:
                    job.put(name, said.ad.code(name))
        self._running = self.execute(job, now)
        self._next_update = now + update_intervals(self.knobs)[0]
        yield FetchStep(now, "started", job.text("Cmd") if "Cmd" in job else "")

    def _unfit(self, job: ClassAd) -> Diagnostic | None:
        """Return why the starter ends before the job starts: no Cmd, a hook that may not be called, or bad ARGS.

        A startd ignores a program that may not be called; a starter does not (StarterHookMgr::reconfig).
        """
        if string(job, "Cmd") is None:
            return Diagnostic("cod-attribute", "the job has no Cmd", help="FETCH_WORK must print it")
        keyword = starter_keyword(job, self.knobs)
        try:
            prepare_arguments(keyword, self.knobs)
        except CrondorError as error:
            return error.diagnostics[0]
        names = [knob_name(keyword, hook) for hook in STARTER_HOOKS] if keyword else []
        paths = [(path, name) for name in names if (path := knob(self.knobs, name))]
        return next((problem for path, name in paths if (problem := check_path(path, name)) is not None), None)

    def _end(self, result: Mapping[str, object], reason: str, now: float) -> Iterator[FetchStep]:
        running, self._running = self._running, None
        yield FetchStep(now, "ended", reason)
        if running is not None:
            yield from self._starter_hook(HookType.UPDATE_JOB_INFO, self._described(running.attributes(now)), now)
        job = self._described({"JobState": "Exited", **result})
        yield from self._starter_hook(HookType.JOB_EXIT, job, now, (reason,))

    def _described_slot(self) -> ClassAd:
        """Return the slot's ad with its State and Activity, which FetchWorkDelay and Start may use."""
        found = self.ad.copy()
        found["State"], found["Activity"] = _STATES[self.state]
        return found

    def _described(self, attributes: Mapping[str, object]) -> ClassAd:
        job = (self.job or ClassAd()).copy()
        for name, value in attributes.items():
            job[name] = value
        return job

    def _startd_hook(self, hook: HookType, arguments: tuple[str, ...], stdin: str, now: float) -> Iterator[FetchStep]:
        yield from self._call(hook, self.keyword, arguments, stdin, dict(self.environ), None, self.limits, now)

    def _starter_hook(
        self, hook: HookType, job: ClassAd, now: float, arguments: tuple[str, ...] = ()
    ) -> Iterator[FetchStep]:
        keyword = starter_keyword(job, self.knobs)
        if hook.value.startswith("PREPARE"):
            arguments = prepare_arguments(keyword, self.knobs)
        limits = HookLimits(exit_timeout(keyword, self.knobs)) if hook is HookType.JOB_EXIT else self.limits
        iwd = string(job, "Iwd")
        ending = main_job_end(job) if hook is HookType.JOB_EXIT else {}
        scratch = Scratch(self.scratch, self.scratch if iwd is None else iwd, self.name, ending=ending)
        environ = starter_environment(self.environ, scratch)
        yield from self._call(hook, keyword, arguments, ad_text(job), environ, self.scratch, limits, now)

    def _call(
        self,
        hook: HookType,
        keyword: str,
        arguments: tuple[str, ...],
        stdin: str,
        environ: Mapping[str, str],
        folder: str | None,
        limits: HookLimits,
        now: float,
    ) -> Iterator[FetchStep]:
        name = knob_name(keyword, hook)
        path = knob(self.knobs, name) if keyword else ""
        if not path:
            return
        problem = check_path(path, name)
        if problem is not None:
            yield FetchStep(now, hook.value, "not configured: " + problem.message, diagnostics=(problem,))
            return
        run = self.runner.run(HookCall(path, arguments, stdin, environ, folder, limits, name=name))
        if hook is HookType.FETCH_WORK:
            said = conclude_fetch(run)
        elif hook in {HookType.REPLY_FETCH, HookType.EVICT_CLAIM}:
            said = Consequence(HookConsequence.NOTHING, ClassAd(), "the startd ignores its answer", run.diagnostics)
        else:
            said = conclude_starter(hook, run)
        yield FetchStep(now, hook.value, said.reason, run, said, said.diagnostics)

    def _delay(self, now: float) -> int:
        return fetch_delay(self._described_slot(), self.job, Context(now=int(now)))

    def _claim(self) -> str:
        return f"<{self.name}>#{self.claims}"

    def _release(self) -> None:
        self.state, self.job, self.rank, self._running = SlotState.UNCLAIMED, None, 0.0, None
