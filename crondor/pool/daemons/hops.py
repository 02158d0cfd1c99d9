"""Stretches of time in which nothing is decided, passed in one step: quiet runs, leaps and hops.

That is all that other jobs come to know of a run: that it has a slot, and gives it back. What a hop would write into
the ad is kept, and written when somebody looks at the ad, at the latest when time stands still.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from crondor.classad import Code, lower
from crondor.deferral import Verdict
from crondor.job.attributes import JobStatus, plain
from crondor.job.policy import Act
from crondor.pool.daemons.core import Core
from crondor.pool.daemons.events import PoolEvent, PoolEventKind, QuietRun, RunWatcher, Watcher
from crondor.pool.daemons.matching import FIRST, REJECTED, Matching, Passes
from crondor.pool.daemons.negotiator import Claim
from crondor.pool.daemons.pool_job import JobRun, PoolJob
from crondor.pool.daemons.starter import DrawnPrograms, Starter, arrival
from crondor.schedule import Recalculation

_COUNTERS: Final = ("JobRunCount", "NumShadowStarts", "NumJobStarts", "NumJobCompletions")
_LARGE: Final = 1 << 30
_RUN_ENDED: Final = Recalculation.RUN_ENDED.value

_made: Final = tuple.__new__  # takes a third of the time of the class itself


# From the match to the end of the program a job does not affect others. If nothing is expanded, checked, preempted,
# lost or held on the way, a run is just four times: match, arrival of its files, start and end of its program.
# ``leaps`` passes many such runs of a job that never has to wait for a slot, ``hops`` one at a time.
class Quiet:
    """Decides which runs are quiet in a pool without user actions, and reports them to the watchers."""

    def __init__(self, core: Core, starter: Starter) -> None:
        self._core = core
        self._starter = starter
        self._known: list[tuple[Watcher, RunWatcher | None]] = []
        settings = core.settings
        programs = starter.programs
        self._programs = programs if isinstance(programs, DrawnPrograms) else None
        self._is_possible = core.flow is None and settings.preemption is None and settings.skew == 0

    def has_quiet_runs(self, job: PoolJob) -> bool:
        """Return whether the runs of a job are just numbers, and end without a check, once its gate is settled."""
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
        """Return a job's run that is matched at a time with its gates open; None if it is not quiet, or too long."""
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
        """Return the watchers, and how to report whole runs to them."""
        core = self._core
        if len(self._known) != len(core.watchers):
            self._known = [(watcher, core.watchers_of_runs.get(watcher)) for watcher in core.watchers]
        return self._known

    def tell(self, job: PoolJob, run: QuietRun) -> None:
        """Report everything that happens to a run."""
        for watcher, whole in self._watchers():
            if whole is None:
                tell_run(watcher, job, run)
            else:
                whole.note_run(job, run)

    def tell_plan(self, job: PoolJob, now: int, time: int) -> None:
        """Report the time of a job's next run, as of the end of its last one (epoch seconds)."""
        for watcher, whole in self._watchers():
            if whole is None:
                watcher(PoolEvent(now, PoolEventKind.PLANNED, job, time, _RUN_ENDED))
            else:
                whole.note_plan(job, time)


def tell_run(watcher: Watcher, job: PoolJob, run: QuietRun) -> None:
    """Report a run to a watcher step by step."""
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
    """Return the effect of some runs on a job's ad: counters, and the values of the last run.

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
    """Return whether a counter is unset, or a number that still fits an ``int`` when incremented."""
    if code is None:
        return True
    number = plain(code) if isinstance(code, str) else code.const
    return type(number) is int and 0 <= number < _LARGE


_MOST: Final = 100  # runs in one leap, so that progress can be shown in between
_IDLE: Final = int(JobStatus.IDLE)
_RUNNING: Final = int(JobStatus.RUNNING)


class _Unwritten:
    """The effect of some runs that is not in the job's ad yet."""

    def __init__(self, core: Core, job: PoolJob) -> None:
        self._core = core
        self._job = job
        self._runs = self._first = 0
        self._last: QuietRun | None = None
        self._told: dict[str, int] = {}
        self.rejected: int | None = None
        self.time: int | None = None  # the DeferralTime

    def add(self, run: QuietRun) -> None:
        """Add a run that has ended."""
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


# The runs of a leap are not on the timetable; the ad is written after the leap. A leap ends before anything that is not
# quiet, and the pool continues from there event by event.
class Shortcuts:
    """Handles quiet runs: leaps over many if each job has a slot, hops if jobs compete for them."""

    def __init__(self, core: Core, matching: Matching, quiet: Quiet, passes: Passes) -> None:
        self._core = core
        self._matching = matching
        self._quiet = quiet
        self._passes = passes
        self._slots = core.settings.slots
        self._book = core.schedd.book

    def take(self, job: PoolJob, now: int) -> bool:
        """Pass the quiet runs of a job that is considered now, and return whether that is all.

        A job that finds no slot is rejected, and waits for one.
        """
        negotiator, gate = self._matching.negotiator, job.gate
        if not self._quiet.has_quiet_runs(job) or negotiator.is_partitionable:
            return False
        if not gate.lets(now, self._core.context) or not gate.is_settled:
            return False
        claim = negotiator.take()
        if claim is None:
            self._owed(job).rejected = self._core.timetable.now
            self._core.tell(PoolEventKind.REJECTED, job, text=REJECTED)
            negotiator.wait(job, FIRST)
            return True
        competes = len(self._core.jobs) > self._slots
        if self._hop(job, claim) if competes else self._leap(job, claim):
            return True
        negotiator.give_back(claim)
        return False

    def _leap(self, job: PoolJob, claim: Claim) -> bool:
        """Pass the runs of a job that is matched now, up to the first that is not quiet; return whether there was one.

        The job is then idle again, and waits for the match of the next run; its slot is free.
        """
        core, quiet = self._core, self._quiet
        first = core.timetable.now
        matched: int | None = first
        runs, last = 0, None
        told: dict[str, int] = {}
        while matched is not None and runs < _MOST:
            found = quiet.run(job, matched) if job.gate.opens(matched) == matched else None
            following = None if found is None else self._book.next_time(job.id, found.ended)
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
        """Report the next time; return when its run is matched, None if unknown."""
        job.gate.plan(following)
        self._quiet.tell_plan(job, ended.ended, following)
        opens = job.gate.opens(ended.ended)
        return None if opens is None else self._matching.moment(job, opens, ended.ended)

    def _hop(self, job: PoolJob, claim: Claim) -> bool:
        """Pass the run of a job that is matched now; return whether it is quiet. Its slot becomes free at its end."""
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
        """End a run: its slot goes to another job, and the job gets its next time."""
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

    def write(self) -> None:
        """Write everything that is not written yet."""
        for job in self._core.jobs.values():
            if job.unwritten is not None:
                job.unwritten.write()

    def _owed(self, job: PoolJob) -> _Unwritten:
        """Return the unwritten effect of a job, to be extended."""
        found = job.unwritten
        if not isinstance(found, _Unwritten):
            found = job.unwritten = _Unwritten(self._core, job)
        return found
