"""Runs of a job that meets nobody, all at once: where every job has a slot, what happens to one is its own affair.

Nothing of such runs comes onto the timetable, and the ad is written when the leap is over. A leap ends before whatever
is not quiet, and the pool goes on from there event by event.
"""

from __future__ import annotations

from typing import Final

from crondor.job.status import JobStatus
from crondor.pool.daemons.core import Core
from crondor.pool.daemons.events import QuietRun
from crondor.pool.daemons.matching import Matching
from crondor.pool.daemons.negotiator import Claim
from crondor.pool.daemons.pool_job import PoolJob
from crondor.pool.daemons.quiet import Quiet, left
from crondor.pool.daemons.schedd_passes import Passes

_MOST: Final = 100  # runs in one leap: whoever shows how far a simulation is wants to be asked


class Leaps:
    """Leaps over the quiet runs of jobs, where there are as many slots as jobs."""

    def __init__(self, core: Core, matching: Matching, quiet: Quiet, passes: Passes) -> None:
        """Take what a run consists of."""
        self._core = core
        self._matching = matching
        self._quiet = quiet
        self._passes = passes

    def leap(self, job: PoolJob, claim: Claim) -> bool:
        """Go through runs of a job that is to be matched now, up to the first that is not quiet; say if there was one.

        The job is idle again then, and waits for the match of the run that follows; its slot is free.
        """
        core, quiet = self._core, self._quiet
        first = core.timetable.now
        matched: int | None = first
        runs, last = 0, None
        told: dict[str, int] = {}
        while matched is not None and runs < _MOST:
            found = quiet.run(job, matched) if job.gate.opens(matched) == matched else None
            following = None if found is None else core.schedd.book.next_time(job.id, found.ended)
            if found is None or following is None or following <= found.ended:
                break
            if runs:
                self._passes.leap_over(found.matched)
            quiet.tell(job, found)
            job.began = found.started
            last, runs = found, runs + 1
            told |= found.exit.attributes
            matched = self._plan(job, found, following)
        if last is None:
            return False
        core.plan(job, job.gate.time or 0)
        core.count(job, {"JobStatus": int(JobStatus.IDLE), **left(job, runs, first, last, told)})
        self._matching.negotiator.give_back(claim)
        if matched is not None:
            self._matching.turn(job, matched)
        self._passes.plan()
        return True

    def _plan(self, job: PoolJob, ended: QuietRun, following: int) -> int | None:
        """Tell of the next time; return when its run is matched, None where that is not known."""
        job.gate.plan(following)
        self._quiet.tell_plan(job, ended.ended, following)
        opens = job.gate.opens(ended.ended)
        return None if opens is None else self._matching.moment(job, opens, ended.ended)
