"""How jobs come to their machines: gates that open, the negotiator's cycles, slots that are shared.

HTCondor: Scheduler::FindRunnableJobForClaim, Scheduler::IsLocalJobEligibleToRun.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Protocol

from crondor.job.status import JobStatus
from crondor.pool.daemons.clock import MATCH
from crondor.pool.daemons.core import Core
from crondor.pool.daemons.dollar_dollar import Expansion, expand
from crondor.pool.daemons.events import PoolEventKind
from crondor.pool.daemons.negotiator import Claim, Negotiator
from crondor.pool.daemons.pool_job import JobRun, PoolJob
from crondor.pool.daemons.turns import Turns
from crondor.pool.settings.machines import request
from crondor.schedd.protocol import Hold

FIRST: Final = (0,)
REJECTED: Final = "no match found"


class Shortcuts(Protocol):
    """What goes through some runs without their events."""

    def take(self, job: PoolJob, now: int) -> bool:
        """Go through runs of a job that is considered now, or have it wait for a slot; say if that was done."""


class Matching:
    """The negotiator, and the schedd's own starts of jobs that need no machine."""

    def __init__(
        self,
        core: Core,
        turns: Turns,
        begin: Callable[[PoolJob, JobRun], None],
        hold: Callable[[PoolJob, Hold], None],
    ) -> None:
        """Take who begins a run, and who puts jobs on hold.

        ``pass_if_due`` has the schedd pass over its queue where that would do something, and says so.
        ``shortcuts`` go through the runs of a job that gets a slot; None where each event has its turn.
        """
        settings = core.settings
        self._core = core
        self._turns = turns
        self._begin = begin
        self._hold = hold
        self.pass_if_due: Callable[[int], bool] = lambda _: False
        self.shortcuts: Shortcuts | None = None
        self.negotiator: Negotiator[PoolJob] = Negotiator(settings.machine, settings.slots, settings.machines)

    def look(self, job: PoolJob) -> None:
        """Have an idle job considered when its gates are open."""
        if job.turn is not None:
            self._core.timetable.cancel(job.turn)
            job.turn = None
        job.is_starved = False
        if job.is_idle:
            opens = job.gate.opens(self._core.timetable.now)
            if opens is not None:
                self._turn_at(job, opens)

    def _turn_at(self, job: PoolJob, opens: int) -> None:
        time = self.moment(job, opens, self._core.timetable.now)
        if time is not None:
            self.turn(job, time)

    def moment(self, job: PoolJob, opens: int, now: int) -> int | None:
        """Return when a job is considered whose gates open, as known at ``now`` (epoch seconds); None for never.

        One that has begun in this second is queued again too late for it: the schedd gives its claim back and waits for
        a cycle of the negotiator, and for another pass where it needs no machine. (Seen on a pool of 25.14 with
        intervals of 5 s: /bin/true ran each 5 s, in the local universe after 1 s or more.)
        """
        if job.began == now:
            now += 1
            opens = max(opens, now)
        if job.is_local:
            return self._turns.local(job.id, opens, now)
        planned = job.gate.time
        return self._turns.match(job.id, opens, now if planned is None else planned)

    def turn(self, job: PoolJob, time: int) -> None:
        """Have a job considered at a time (epoch seconds)."""
        job.turn = self._core.timetable.at(time, partial(self._consider, job), MATCH, job.rank)

    def _consider(self, job: PoolJob, now: int) -> None:
        """Give a job a machine, or reject it."""
        if self.pass_if_due(now) and (not job.is_idle or (job.turn is not None and job.turn.call is not None)):
            return
        job.turn = None
        if self.shortcuts is not None and self.shortcuts.take(job, now):
            return
        core = self._core
        if core.flow is not None and not job.is_local and not core.flow.negotiate(job):
            self._turn_at(job, now + core.settings.negotiator_interval)
            return
        kinds = self._kinds(job, now)
        if not kinds:
            self._reject(job)
            if any(gate.changes_by_itself for gate in job.gates) and job.gate.opens(now) is not None:
                self._turn_at(job, now + core.settings.negotiator_interval)
            self.serve()
        elif job.is_local:
            self.match(job, None)
        else:
            self._claim(job, kinds)

    def _kinds(self, job: PoolJob, now: int) -> Sequence[int]:
        """Return the kinds of machines whose gates let a job in."""
        context = self._core.context
        if len(job.gates) == 1:
            return FIRST if job.gate.lets(now, context) else ()
        return [kind for kind, gate in enumerate(job.gates) if gate.lets(now, context)]

    def _claim(self, job: PoolJob, kinds: Sequence[int]) -> None:
        negotiator, core = self.negotiator, self._core
        wanted = None
        if negotiator.is_partitionable:
            wanted = request(job.ad, negotiator.ads[kinds[0]], core.context(core.now))
        claim = negotiator.take(kinds, wanted)
        if claim is None:
            self._reject(job)
            negotiator.wait(job, kinds, wanted)
            return
        self.match(job, claim)
        if wanted is not None:
            self.serve()  # what is left may do for another one

    def give_back(self, claim: Claim) -> None:
        """Take a slot back, and let another job have it."""
        self.negotiator.give_back(claim)
        self.serve()

    def serve(self) -> None:
        """Consider the best job that waits for a slot, where one is free."""
        job = self.negotiator.best()
        if job is not None:
            self._turn_at(job, self._core.now)

    def _reject(self, job: PoolJob) -> None:
        if not job.is_local:
            core = self._core
            core.write(job, {"LastRejMatchTime": core.now, "LastRejMatchReason": REJECTED})
            core.tell(PoolEventKind.REJECTED, job, text=REJECTED)

    def match(self, job: PoolJob, claim: Claim | None) -> None:
        """Begin a run; one whose ``$$`` cannot be expanded is held instead."""
        core = self._core
        now = core.timetable.now
        found = self._expanded(job, claim) if job.has_dollars else None
        if found is not None and found.failed is not None:
            self._cannot_expand(job, claim, found.failed)
            return
        values = core.entered(job, JobStatus.RUNNING)
        values["JobCurrentStartDate"] = now
        values["JobRunCount"] = job.counter("jobruncount") + 1
        values["NumShadowStarts"] = job.counter("numshadowstarts") + 1
        if "jobstartdate" not in job.codes:
            values["JobStartDate"] = now
        core.count(job, values)
        given = job.ad.copy()
        if found is not None:
            for name in found.expanded:
                given[name] = found.ad[name]
        run = job.run = JobRun(given, now, claim)
        job.began = now
        run.time = job.gate.time if found is None else None
        core.tell(PoolEventKind.MATCHED, job)
        if core.flow is not None:
            core.flow.match(job, run, None if claim is None else self.negotiator.ad(claim))
        self._begin(job, run)

    def _expanded(self, job: PoolJob, claim: Claim | None) -> Expansion:
        """Expand ``$$`` in a job's ad; the queue keeps what came out."""
        core = self._core
        machine = None if claim is None else self.negotiator.ad(claim)
        found = expand(job.ad, machine, core.context(core.now))
        if found.records:
            core.write(job, found.records)
        return found

    def _cannot_expand(self, job: PoolJob, claim: Claim | None, piece: str) -> None:
        if claim is not None:
            self.negotiator.give_back(claim)
        self._hold(job, Hold(f"Cannot expand $$ expression ({piece}).", 0, 0))
        self.serve()

    def is_open(self, job: PoolJob) -> bool:
        """Say whether a job is between its time and the end of its window, and may be matched."""
        deferral = job.gate.deferral()
        now = self._core.now
        if deferral is None or not deferral.time <= now <= deferral.last_match:
            return False
        return job.gate.lets(now, self._core.context)
