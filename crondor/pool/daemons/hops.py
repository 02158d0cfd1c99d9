"""Quiet runs of jobs that compete for slots, each in two steps: its match, and its end.

That is all that other jobs come to know of a run: that it has a slot, and gives it back. What a hop would write into
the ad is kept, and written when somebody looks at the ad, at the latest when time stands still.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from crondor.job.status import JobStatus
from crondor.pool.daemons.core import Core
from crondor.pool.daemons.events import PoolEventKind, QuietRun
from crondor.pool.daemons.leaps import Leaps
from crondor.pool.daemons.matching import FIRST, REJECTED, Matching
from crondor.pool.daemons.negotiator import Claim
from crondor.pool.daemons.pool_job import PoolJob
from crondor.pool.daemons.quiet import Quiet, left
from crondor.pool.daemons.schedd_passes import Passes

_IDLE: Final = int(JobStatus.IDLE)
_RUNNING: Final = int(JobStatus.RUNNING)


class _Unwritten:
    """What some runs of a job have left, and is not in its ad yet."""

    __slots__ = ("_core", "_first", "_job", "_last", "_runs", "_told", "rejected", "time")

    def __init__(self, core: Core, job: PoolJob) -> None:
        self._core = core
        self._job = job
        self._runs = self._first = 0
        self._last: QuietRun | None = None
        self._told: dict[str, int] = {}
        self.rejected: int | None = None
        self.time: int | None = None  # the DeferralTime

    def add(self, run: QuietRun) -> None:
        """Take note of a run that has ended."""
        if not self._runs:
            self._first = run.matched
        self._runs += 1
        last, self._last = self._last, run
        if last is None or last.exit != run.exit:
            self._told |= run.exit.attributes

    def write(self) -> None:
        """Write it."""
        core, job = self._core, self._job
        job.unwritten = None
        if self.time is not None:
            core.plan(job, self.time)
        if self.rejected is not None:
            core.write(job, {"LastRejMatchTime": self.rejected, "LastRejMatchReason": REJECTED})
        if self._last is not None:
            core.count(job, left(job, self._runs, self._first, self._last, self._told))


class Hops:
    """Hops over the quiet runs of jobs, one at a time."""

    def __init__(self, core: Core, matching: Matching, quiet: Quiet, passes: Passes) -> None:
        """Take what a run consists of."""
        self._core = core
        self._matching = matching
        self._quiet = quiet
        self._passes = passes
        self._book = core.schedd.book

    def hop(self, job: PoolJob, claim: Claim) -> bool:
        """Go through the run of a job that is to be matched now; say if it is quiet. Its slot is free at its end."""
        core, quiet = self._core, self._quiet
        found = quiet.run(job, core.timetable.now)
        if found is None:
            return False
        job.status, job.began = _RUNNING, found.started
        self._book.begin_run(job.id)
        quiet.tell(job, found)
        core.timetable.at(found.ended, partial(self._land, job, found, claim))
        return True

    def _land(self, job: PoolJob, run: QuietRun, claim: Claim, _: int) -> None:
        """End a run: the slot is somebody else's, and the job gets its next time."""
        owed = self._owed(job)
        owed.add(run)
        self._matching.give_back(claim)
        job.status = _IDLE
        following = self._book.end_run(job.id, run.ended)
        if following is None:
            self._book.enter_status(job.id, _IDLE)
            self._passes.run_ended(job)
        else:
            owed.time = following
            job.gate.plan(following)
            self._quiet.tell_plan(job, run.ended, following)
        if job.turn is None:
            self._matching.look(job)
        self._passes.plan()

    def reject(self, job: PoolJob) -> None:
        """Note that no machine was found for a job."""
        self._owed(job).rejected = self._core.timetable.now
        self._core.tell(PoolEventKind.REJECTED, job, text=REJECTED)

    def write(self) -> None:
        """Write all that is not written yet."""
        for job in self._core.jobs.values():
            if job.unwritten is not None:
                job.unwritten.write()

    def _owed(self, job: PoolJob) -> _Unwritten:
        """Return what is not written of a job, to be added to."""
        found = job.unwritten
        if not isinstance(found, _Unwritten):
            found = job.unwritten = _Unwritten(self._core, job)
        return found


class Shortcuts:
    """What a pool does with quiet runs: leaps where each job has a slot, hops where jobs compete for them."""

    def __init__(self, core: Core, matching: Matching, quiet: Quiet, passes: Passes) -> None:
        """Take what a run consists of."""
        self._core = core
        self._matching = matching
        self._quiet = quiet
        self._slots = core.settings.slots
        self._leaps = Leaps(core, matching, quiet, passes)
        self._hops = Hops(core, matching, quiet, passes)
        self.write = self._hops.write

    def take(self, job: PoolJob, now: int) -> bool:
        """Go through what is quiet of a job that is considered now, and say if that is all.

        One that finds no slot is rejected, and waits for one.
        """
        negotiator, gate = self._matching.negotiator, job.gate
        if not self._quiet.has_quiet_runs(job) or negotiator.is_partitionable:
            return False
        if not gate.lets(now, self._core.context) or not gate.is_settled:
            return False
        claim = negotiator.take()
        if claim is None:
            self._hops.reject(job)
            negotiator.wait(job, FIRST)
            return True
        competes = len(self._core.jobs) > self._slots
        if self._hops.hop(job, claim) if competes else self._leaps.leap(job, claim):
            return True
        negotiator.give_back(claim)
        return False
