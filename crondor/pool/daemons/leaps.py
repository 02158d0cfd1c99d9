"""Runs of a job that meets nobody, all at once: where every job has a slot, what happens to one is its own affair.

Such a run is a few numbers: when it is matched, when its files are there, how long its program takes, and the next time
of its schedule. Nothing of it comes onto the timetable, and the ad is written when the leap is over. A leap ends before
whatever is not as quiet as that, and the pool goes on from there event by event.
"""

from __future__ import annotations

from typing import Final

from crondor.classad import lower
from crondor.job.attributes import plain
from crondor.job.policy import Act
from crondor.job.status import JobStatus
from crondor.pool.daemons.core import Core
from crondor.pool.daemons.events import PoolEvent, PoolEventKind
from crondor.pool.daemons.matching import Matching
from crondor.pool.daemons.negotiator import Claim
from crondor.pool.daemons.pool_job import JobRun, PoolJob
from crondor.pool.daemons.programs import Lasting
from crondor.pool.daemons.schedd_passes import Passes
from crondor.pool.daemons.starter import Starter
from crondor.pool.settings.exits import Exit
from crondor.schedule import Recalculation

_MOST: Final = 100  # runs in one leap: whoever shows how far a simulation is wants to be asked
_COUNTERS: Final = ("JobRunCount", "NumShadowStarts", "NumJobStarts", "NumJobCompletions")
_LARGE: Final = 1 << 30
_PLANNED: Final = Recalculation.RUN_ENDED.value

_happening: Final = tuple.__new__  # a third of what the class itself takes


class Leaps:
    """Leaps over the runs of jobs, in a pool where nobody changes a job and the watchers do not ask who was first.

    They are told all that happens to a job, in its order, but not job by job as time passes.
    """

    def __init__(self, core: Core, matching: Matching, starter: Starter, passes: Passes) -> None:
        """Take what a run consists of."""
        self._core = core
        self._matching = matching
        self._starter = starter
        self._passes = passes

    def leap(self, job: PoolJob, claim: Claim) -> bool:
        """Go through runs of a job that is to be matched now, up to the first that is not quiet; say if there was one.

        The job is idle again then, and waits for the match of the run that follows.
        """
        core = self._core
        matched: int | None = core.timetable.now
        if not self._is_quiet(job):
            return False
        first = core.timetable.now
        run = JobRun(job.ad, first, claim)
        runs = started = ended = last = 0
        told: dict[str, int] = {}
        while matched is not None and runs < _MOST:
            found = self._one(job, run, matched)
            if found is None:
                break
            last, runs = matched, runs + 1
            started, ended, ending, matched = found
            told |= ending.attributes
        if not runs:
            return False
        self._write(job, runs, (first, last, started, ended), told)
        if matched is not None:
            self._matching.turn(job, matched)
        self._passes.plan()
        return True

    def _is_quiet(self, job: PoolJob) -> bool:
        """Say whether a job is one whose runs are numbers, and nobody has to wait for another one's slot."""
        core = self._core
        settings = core.settings
        return (
            core.flow is None
            and settings.preemption is None
            and settings.skew == 0
            and len(core.jobs) <= settings.slots
            and core.schedd.is_counted(job.id)
            and job.ruling is not None
            and job.ruling.act is Act.STAY
            and not (job.is_local or job.is_periodic or job.has_dollars)
            and len(job.gates) == 1
            and job.gate.is_settled
            and all(_is_plain(job.codes.get(lower(name))) for name in _COUNTERS)
        )

    def _one(self, job: PoolJob, run: JobRun, matched: int) -> tuple[int, int, Exit, int | None] | None:
        """Go through one run; None where it is not quiet, or does not end in time.

        Else return when it started and ended, and how, and when the next one is matched, None where that is not known.
        """
        core, gate = self._core, job.gate
        time = gate.time
        if time is None or gate.opens(matched) != matched:
            return None
        arrived = matched + self._starter.transfer(job)
        if arrived >= time:
            return None
        begun = self._starter.programs.start(job, run, time)
        if not isinstance(begun, Lasting):
            return None
        ended = time + begun.seconds
        if ended > core.timetable.until:
            return None
        following = core.schedd.book.next_time(job.id, ended)
        if following is None or following <= ended:
            return None
        run.arrived, job.run, job.began = arrived, run, time
        self._tell(matched, PoolEventKind.MATCHED, job)
        self._tell(arrived, PoolEventKind.ARRIVED, job, time - arrived)
        self._tell(time, PoolEventKind.STARTED, job)
        self._tell(ended, PoolEventKind.ENDED, job, 1, "" if job.ruling is None else job.ruling.reason)
        job.run = None
        gate.plan(following)
        self._tell(ended, PoolEventKind.PLANNED, job, following, _PLANNED)
        opens = gate.opens(ended)
        return time, ended, begun.exit, None if opens is None else self._matching.moment(job, opens, ended)

    def _tell(self, time: int, what: PoolEventKind, job: PoolJob, number: int = 0, text: str = "") -> None:
        happening = _happening(PoolEvent, (time, what, job, number, text))
        for watcher in self._core.watchers:
            watcher(happening)

    def _write(self, job: PoolJob, runs: int, times: tuple[int, int, int, int], told: dict[str, int]) -> None:
        """Write what some runs have left in the ad: the next time, counters, and what the last of them has written.

        ``times`` are those of the first match, and of the last match, start and end; ``told`` is what the starters have
        reported.
        """
        core = self._core
        first, matched, started, ended = times
        values = {
            **{name: job.counter(lower(name)) + runs for name in _COUNTERS},
            **told,
            "JobCurrentStartDate": matched,
            "JobCurrentStartExecutingDate": started,
            "JobStatus": int(JobStatus.IDLE),
            "EnteredCurrentStatus": ended,
            "LastJobStatus": int(JobStatus.RUNNING),
        }
        if "jobstartdate" not in job.codes:
            values["JobStartDate"] = first
        core.count(job, {"DeferralTime": job.gate.time or 0})
        core.count(job, values)


def _is_plain(code: object) -> bool:
    """Say whether a counter is a number that can be counted on from, and stays within an ``int``, or is not there."""
    number = plain(code) if isinstance(code, str) else None
    return code is None or (number is not None and 0 <= number < _LARGE)
