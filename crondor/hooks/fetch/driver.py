"""The startd's and the starter's side of fetched work: one slot that fetches, runs and reports by its hooks.

What a job does while it runs is not decided here: ``execute`` starts it, and the slot asks whether it has ended.

HTCondor: StartdHookMgr, StarterHookMgr.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.classad.text import lower
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.hooks.consequence import Consequence, HookConsequence
from crondor.hooks.environment import Scratch, main_job_end, starter_environment
from crondor.hooks.fetch.cod import check_cod
from crondor.hooks.fetch.slot import (
    SlotState,
    completed,
    conclude_fetch,
    decide,
    fetch_delay,
    fetch_keyword,
    is_void,
    is_willing,
    slot_input,
)
from crondor.hooks.hook_types import HookType, Knobs, knob, knob_name
from crondor.hooks.paths import check_path
from crondor.hooks.runner import DEFAULT_LIMITS, HookCall, HookLimits, HookRun, HookRunner
from crondor.hooks.starter_hooks import (
    STARTER_HOOKS,
    conclude_starter,
    exit_timeout,
    prepare_arguments,
    starter_keyword,
    update_intervals,
)
from crondor.hooks.texts import ad_text
from crondor.job.attributes import string

_STATES: Final = {
    SlotState.UNCLAIMED: ("Unclaimed", "Idle"),
    SlotState.CLAIMED: ("Claimed", "Busy"),
    SlotState.IDLE_FETCHED: ("Claimed", "Idle"),
    SlotState.PREEMPTING: ("Preempting", "Vacating"),
}


class Execution(Protocol):
    """A job under way."""

    def attributes(self, now: float) -> Mapping[str, object]:
        """Return what an update says: JobState, JobPid, RemoteUserCpu, ..."""

    def ended(self, now: float) -> Mapping[str, object] | None:
        """Return ExitCode or ExitSignal, ExitBySignal, JobDuration once it has ended, None before."""

    def stop(self, now: float) -> None:
        """End it."""


class FetchStep(NamedTuple):
    """One thing the slot did: a hook that it called, or a decision, with what came of it."""

    time: float
    what: str
    text: str = ""
    run: HookRun | None = None
    consequence: Consequence | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass
class FetchingSlot:
    """A slot by its name (``slot1``) and ad; ``knobs`` name its hooks.

    ``scratch`` is the folder that jobs run in, which exists. ``is_static``: the slot is not divided.
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
        """Have fetched never."""
        self._running: Execution | None = None
        self._fetched = -math.inf
        self._next_fetch = 0.0
        self._next_update = 0.0

    @property
    def keyword(self) -> str:
        """The slot's keyword, empty: it does not fetch."""
        return fetch_keyword(self.name, self.knobs)

    def next_time(self) -> float | None:
        """Return when there is something to do by the clock, None: never."""
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
        """Take the claim away: EVICT_CLAIM, the end of the job, JOB_EXIT."""
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
        PREPARE_JOB_BEFORE_TRANSFER for fetched work, of which nothing is transferred (JICLocal).
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

        A startd takes a program that may not be called for none; a starter does not (StarterHookMgr::reconfig).
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
        """Return the slot's ad with its State and Activity, by which FetchWorkDelay and Start may go."""
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
            said = Consequence(
                HookConsequence.NOTHING, ClassAd(), "the startd does not look at its answer", run.diagnostics
            )
        else:
            said = conclude_starter(hook, run)
        yield FetchStep(now, hook.value, said.reason, run, said, said.diagnostics)

    def _delay(self, now: float) -> int:
        return fetch_delay(self._described_slot(), self.job, Context(now=int(now)))

    def _claim(self) -> str:
        return f"<{self.name}>#{self.claims}"

    def _release(self) -> None:
        self.state, self.job, self.rank, self._running = SlotState.UNCLAIMED, None, 0.0, None
