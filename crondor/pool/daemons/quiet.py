"""Quiet runs: those of which all is known at the match, as numbers.

From the match to the end of the program what happens to a job is its own affair. Where nothing is expanded, checked,
preempted, lost or held on the way, a run is when it is matched, when its files are there, when its program starts and
ends. ``leaps`` goes through many such runs of a job that never has to wait for a slot, ``hops`` through one at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crondor.classad import Code, lower
from crondor.deferral import Verdict
from crondor.job.attributes import plain
from crondor.job.policy import Act
from crondor.job.status import JobStatus
from crondor.pool.daemons.arrivals import arrival
from crondor.pool.daemons.core import Core
from crondor.pool.daemons.events import PoolEvent, PoolEventKind, QuietRun, RunWatcher, Watcher
from crondor.pool.daemons.negotiator import Claim
from crondor.pool.daemons.pool_job import JobRun, PoolJob
from crondor.pool.daemons.programs import DrawnPrograms
from crondor.pool.daemons.starter import Starter
from crondor.schedule import Recalculation

_COUNTERS: Final = ("JobRunCount", "NumShadowStarts", "NumJobStarts", "NumJobCompletions")
_LARGE: Final = 1 << 30
_RUN_ENDED: Final = Recalculation.RUN_ENDED.value

_made: Final = tuple.__new__  # a third of what the class itself takes


class Quiet:
    """Which runs are quiet in a pool where nobody acts while time passes, and what the watchers are told of them."""

    def __init__(self, core: Core, starter: Starter) -> None:
        """Take what a run consists of."""
        self._core = core
        self._starter = starter
        self._known: list[tuple[Watcher, RunWatcher | None]] = []
        settings = core.settings
        programs = starter.programs
        self._programs = programs if isinstance(programs, DrawnPrograms) else None
        self._is_possible = core.flow is None and settings.preemption is None and settings.skew == 0

    def has_quiet_runs(self, job: PoolJob) -> bool:
        """Say whether the runs of a job are numbers, and end without a look at it, once its gate is settled."""
        if job.is_quiet is None:
            job.is_quiet = (
                self._is_possible
                and job.ruling is not None
                and job.ruling.act is Act.STAY
                and not (job.is_local or job.is_periodic or job.has_dollars)
                and len(job.gates) == 1
                and all(_is_plain(job.codes.get(lower(name))) for name in _COUNTERS)
            )
        return job.is_quiet and job.gate.is_still and self._core.schedd.is_counted(job.id)

    def run(self, job: PoolJob, matched: int) -> QuietRun | None:
        """Return a job's run that is matched at a time, its gates open; None for one that is not quiet, or too long."""
        core, programs = self._core, self._programs
        time = job.gate.time
        if time is None or programs is None:
            return None
        arrived = started = matched + self._starter.transfer(job)
        if arrived < time:
            started = time
        else:
            verdict = arrival(job.kept, arrived, core.context, time)
            if verdict is None or verdict.verdict is not Verdict.START:
                return None
        seconds, ending = programs.drawn(job, time)
        ended = started + seconds
        return None if ended > core.timetable.until else _made(QuietRun, (matched, arrived, started, ended, ending))

    def _watchers(self) -> list[tuple[Watcher, RunWatcher | None]]:
        """Return who is told, and how of whole runs."""
        core = self._core
        if len(self._known) != len(core.watchers):
            self._known = [(watcher, core.watchers_of_runs.get(watcher)) for watcher in core.watchers]
        return self._known

    def tell(self, job: PoolJob, run: QuietRun) -> None:
        """Tell the watchers all that happens to a run."""
        for watcher, whole in self._watchers():
            if whole is None:
                tell_run(watcher, job, run)
            else:
                whole.note_run(job, run)

    def tell_plan(self, job: PoolJob, now: int, time: int) -> None:
        """Tell the watchers of the time of a job's next run, as of the end of its last one (epoch seconds)."""
        for watcher, whole in self._watchers():
            if whole is None:
                watcher(PoolEvent(now, PoolEventKind.PLANNED, job, time, _RUN_ENDED))
            else:
                whole.note_plan(job, time)


def tell_run(watcher: Watcher, job: PoolJob, run: QuietRun) -> None:
    """Tell a watcher of a run step by step."""
    time = job.gate.time or 0
    job.run = whole = JobRun(job.kept, run.matched, Claim())
    watcher(PoolEvent(run.matched, PoolEventKind.MATCHED, job))
    whole.arrived = run.arrived
    watcher(PoolEvent(run.arrived, PoolEventKind.ARRIVED, job, time - run.arrived))
    whole.started = run.started
    watcher(PoolEvent(run.started, PoolEventKind.STARTED, job))
    watcher(PoolEvent(run.ended, PoolEventKind.ENDED, job, 1, "" if job.ruling is None else job.ruling.reason))
    job.run = None


def left(job: PoolJob, runs: int, first: int, last: QuietRun, told: Mapping[str, int]) -> dict[str, int]:
    """Return what some runs have left in a job's ad: counters, and what the last of them has written.

    ``first`` is when the first was matched (epoch seconds), ``told`` what the starters have reported.
    """
    values = {
        **{name: job.counter(lower(name)) + runs for name in _COUNTERS},
        **told,
        "JobCurrentStartDate": last.matched,
        "JobCurrentStartExecutingDate": last.started,
        "EnteredCurrentStatus": last.ended,
        "LastJobStatus": int(JobStatus.RUNNING),
    }
    if "jobstartdate" not in job.codes:
        values["JobStartDate"] = first
    return values


def _is_plain(code: str | Code | None) -> bool:
    """Say whether a counter is a number that can be counted on from, and stays within an ``int``, or is not there."""
    if code is None:
        return True
    number = plain(code) if isinstance(code, str) else code.const
    return type(number) is int and 0 <= number < _LARGE
