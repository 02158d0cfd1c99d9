"""Quiet runs: those of which all is known at the match, as numbers.

From the match to the end of the program what happens to a job is its own affair. Where nothing is expanded, checked,
preempted, lost or held on the way, a run is when it is matched, when its files are there, when its program starts and
ends. ``leaps`` goes through many such runs of a job that never has to wait for a slot, ``hops`` through one at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from crondor.classad import Code, lower
from crondor.deferral import Verdict
from crondor.job.attributes import plain
from crondor.job.policy import Act
from crondor.job.status import JobStatus
from crondor.pool.daemons.arrivals import arrival
from crondor.pool.daemons.core import Core
from crondor.pool.daemons.events import PoolEvent, PoolEventKind
from crondor.pool.daemons.pool_job import JobRun, PoolJob
from crondor.pool.daemons.programs import Lasting
from crondor.pool.daemons.starter import Starter
from crondor.pool.settings.exits import Exit

_COUNTERS: Final = ("JobRunCount", "NumShadowStarts", "NumJobStarts", "NumJobCompletions")
_LARGE: Final = 1 << 30

_made: Final = tuple.__new__  # a third of what the class itself takes


class QuietRun(NamedTuple):
    """A run as numbers (epoch seconds): when it is matched, its files are there, its program starts, ends, and how."""

    matched: int
    arrived: int
    started: int
    ended: int
    exit: Exit


class Quiet:
    """Which runs are quiet in a pool where nobody acts while time passes, and what the watchers are told of them."""

    def __init__(self, core: Core, starter: Starter) -> None:
        """Take what a run consists of."""
        self._core = core
        self._starter = starter
        settings = core.settings
        self._is_possible = core.flow is None and settings.preemption is None and settings.skew == 0

    def has_quiet_runs(self, job: PoolJob) -> bool:
        """Say whether the runs of a job are numbers, and end without a look at it."""
        if job.is_quiet is None:
            job.is_quiet = (
                self._is_possible
                and job.ruling is not None
                and job.ruling.act is Act.STAY
                and not (job.is_local or job.is_periodic or job.has_dollars)
                and len(job.gates) == 1
                and all(_is_plain(job.codes.get(lower(name))) for name in _COUNTERS)
            )
        return job.is_quiet and job.gate.is_settled and self._core.schedd.is_counted(job.id)

    def numbers(self, job: PoolJob, run: JobRun, matched: int) -> QuietRun | None:
        """Return a run that is matched at a time as numbers; None where it is not quiet, or does not end in time."""
        core, gate = self._core, job.gate
        time = gate.time
        if time is None or gate.opens(matched) != matched:
            return None
        arrived = started = matched + self._starter.transfer(job)
        if arrived < time:
            started = time
        else:
            verdict = arrival(run.ad, arrived, core.context, time)
            if verdict is None or verdict.verdict is not Verdict.START:
                return None
        begun = self._starter.programs.start(job, run, time)
        if not isinstance(begun, Lasting):
            return None
        ended = started + begun.seconds
        if ended > core.timetable.until:
            return None
        return _made(QuietRun, (matched, arrived, started, ended, begun.exit))

    def tell(self, time: int, what: PoolEventKind, job: PoolJob, number: int = 0, text: str = "") -> None:
        """Tell the watchers of something that happens to a job at a time of its own (epoch seconds)."""
        happening = _made(PoolEvent, (time, what, job, number, text))
        for watcher in self._core.watchers:
            watcher(happening)

    def begin(self, job: PoolJob, run: JobRun, quiet: QuietRun) -> None:
        """Tell of a run up to the start of its program."""
        job.run = run
        run.arrived, run.started = quiet.arrived, None
        self.tell(quiet.matched, PoolEventKind.MATCHED, job)
        self.tell(quiet.arrived, PoolEventKind.ARRIVED, job, (job.gate.time or 0) - quiet.arrived)
        run.started = quiet.started
        self.tell(quiet.started, PoolEventKind.STARTED, job)

    def end(self, job: PoolJob, ended: int) -> None:
        """Tell of the end of a run."""
        self.tell(ended, PoolEventKind.ENDED, job, 1, "" if job.ruling is None else job.ruling.reason)
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
