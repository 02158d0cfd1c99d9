"""The Pool: deferred and crontab jobs from submission to the last run.

Sources: the manual (Job Deferral, CronTab Scheduling), HTCondor 25.14 (schedd, starter) and recordings of a pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.job.attributes import ON_MACHINE, JobStatus, boolean, count
from crondor.job.policy import Act, Ruling
from crondor.job_queue import JobId
from crondor.pool.daemons.core import Core
from crondor.pool.daemons.events import PoolEventKind
from crondor.pool.daemons.hops import Quiet, Shortcuts
from crondor.pool.daemons.matching import Matching, Passes, RegularTurns, Turns
from crondor.pool.daemons.negotiator import Claim
from crondor.pool.daemons.pool_job import JobRun, PoolJob, Timetable
from crondor.pool.daemons.schedd import ScheddQueue
from crondor.pool.daemons.starter import DrawnPrograms, Programs, Starter
from crondor.pool.settings import Exit, PoolSettings
from crondor.schedd import protocol
from crondor.schedd.protocol import Hold, check_editable

_PLACED: Final = frozenset(("jobstatus", "enteredcurrentstatus"))
_LEAVE: Final = "LeaveJobInQueue"


class Pool(Core):
    """A pool with one schedd, driven by ``advance``.

    All times are epoch seconds of the schedd's clock. An action on a job that has left the queue, or that its state
    does not allow (releasing a job that is not held), is skipped and returns False, as with HTCondor's tools.
    """

    def __init__(
        self,
        settings: PoolSettings,
        now: int,
        *,
        turns: Turns | None = None,
        schedd: ScheddQueue | None = None,
        programs: Programs | None = None,
        timetable: Timetable | None = None,
    ) -> None:
        """Start with an empty queue, or with a queue whose jobs are added by ``restore``. Raises UnknownZone."""
        super().__init__(settings, now, schedd, timetable)
        turns = self._turns = RegularTurns(settings, now) if turns is None else turns
        programs = DrawnPrograms(settings) if programs is None else programs
        hold = partial(self._hold, by_schedd=False)
        self.starter = Starter(self, hold, self._vacate, self._exited, self._freed, programs)
        self.matching = Matching(self, turns, self.starter.begin, self._hold)
        self.passes = Passes(self, turns, self._hold, self.matching.look)
        self.matching.pass_if_due = self.passes.look_if_due
        self._shortcuts: Shortcuts | None = None

    def let_leap(self) -> None:
        """Let jobs pass runs that are fully determined at their match without an event for each step.

        For a pool without user actions whose watchers do not depend on the order of two jobs.
        """
        self._shortcuts = Shortcuts(self, self.matching, Quiet(self, self.starter), self.passes)
        self.matching.shortcuts = self._shortcuts

    @property
    def next_time(self) -> int | None:
        """The time of the next event without user actions; None for never."""
        return self.timetable.next_time

    def advance(self, until: int, most: int | None = None) -> bool:
        """Let time pass up to and including ``until``, at most ``most`` steps; return whether it was reached."""
        is_reached = self.timetable.advance(until, most)
        if is_reached and self._shortcuts is not None:
            self._shortcuts.write()
        return is_reached

    # Actions of users

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Put jobs into the queue as one new cluster; the ads are those of condor_submit."""
        cluster = self.schedd.new_cluster()
        made = []
        for proc, given in enumerate(ads):
            job_id, ad = JobId(cluster, proc), given.copy()
            own = {"ClusterId": cluster, "ProcId": proc, "QDate": self.now, "EnteredCurrentStatus": self.now}
            for name, value in (*own.items(), *_FRESH):
                if name in own or name not in ad:
                    ad.set(name, value)
            if count(ad, "JobStatus") == JobStatus.HELD and "NumHolds" not in ad:
                ad.set("NumHolds", 1)
            self.schedd.enter(job_id, ad)
            made.append(job_id)
            self.tell(PoolEventKind.SUBMITTED, self._enter(job_id))
        self.passes.ask()
        return made

    def restore(self, job_id: JobId, *, untold: Sequence[PoolEventKind] = (), started: int | None = None) -> PoolJob:
        """Add a job that is in the queue already; ``untold`` are events not reported yet.

        ``started`` is when its program started, which still runs or whose end is unknown yet: call ``ended``. A run
        that had only been matched continues to wait, and an idle job whose window is open is matched before it gets
        another time.
        """
        job = self._enter(job_id)
        run = JobRun(job.ad.copy(), self.now, None)
        if started is not None:
            job.run, run.arrived, run.started = run, started, started
            run.is_suspended = job.status == JobStatus.SUSPENDED
            run.ad.set("NumJobStarts", max(0, count(job.ad, "NumJobStarts") - 1))
        for what in untold:
            self.tell(what, job)
        if started is not None:
            return job
        if job.status in ON_MACHINE:
            job.run = run
            self.starter.arrive(job, run)
        elif job.is_idle and self.matching.is_open(job) and self._turns.local(job_id, self.now, self.now) is not None:
            self.timetable.cancel(job.turn)
            job.turn = None
            self.matching.match(job, None)
        self.passes.ask()
        return job

    def _enter(self, job_id: JobId) -> PoolJob:
        ad = self.schedd.ads[job_id]
        job = self.jobs[job_id] = PoolJob(
            job_id, ad, self.matching.negotiator.ads, self.settings.schedd, has_policy=bool(self.settings.system_policy)
        )
        if self.flow is not None:
            self.flow.submit(job)
        self.matching.look(job)
        self.check_later(job)
        return job

    def ended(self, job_id: JobId, ending: Exit) -> bool:
        """Report that the program of a job has ended, and how."""
        job = self.jobs.get(job_id)
        if job is None or job.run is None or job.run.started is None or job.run.is_over:
            return False
        job.run.exit = ending
        self.starter.end(job, job.run)
        return True

    def hold(self, job_id: JobId, hold: Hold) -> bool:
        """Hold a job: one that runs or waits leaves its machine."""
        job = self.jobs.get(job_id)
        if job is None or job.is_over or job.status == JobStatus.HELD:
            return False
        self._hold(job, hold)
        return True

    def release(self, job_id: JobId, reason: str) -> bool:
        """Make a held job idle."""
        job = self.jobs.get(job_id)
        if job is None or job.status != JobStatus.HELD:
            return False
        self._release(job, reason)
        return True

    def remove(self, job_id: JobId, reason: str) -> bool:
        """Remove a job from the queue; it stays there, as removed, while its LeaveJobInQueue is true."""
        job = self.jobs.get(job_id)
        if job is None or job.status == JobStatus.REMOVED:
            return False
        self._remove(job, reason)
        return True

    def vacate(self, job_id: JobId) -> bool:
        """Evict a job; it is idle again, and one that waited has not started. A suspended job is not evicted."""
        job = self.jobs.get(job_id)
        if job is None or job.run is None or job.status != JobStatus.RUNNING:
            return False
        self._vacate(job)
        return True

    def suspend(self, job_id: JobId) -> bool:
        """Suspend a job; one that waits continues to wait, and is suspended as soon as it has started.

        Its JobStatus is Suspended only when the starter has reported: at once, or with its first update after such a
        start.
        """
        job = self.jobs.get(job_id)
        run = None if job is None else job.run
        if job is None or run is None or run.is_over or job.status != JobStatus.RUNNING:
            return False
        self.starter.suspend(job, run)
        return True

    def resume(self, job_id: JobId) -> bool:
        """Continue a job whose JobStatus is Suspended (condor_continue)."""
        job = self.jobs.get(job_id)
        run = None if job is None else job.run
        if job is None or run is None or job.status != JobStatus.SUSPENDED:
            return False
        self.starter.resume(job, run)
        return True

    def edit(self, job_id: JobId, values: Mapping[str, object]) -> bool:
        """Set attributes like condor_qedit, to Python values or Expressions; None deletes.

        The starter of a present run keeps its ad; the shadow is informed. Raises ScheddError for attributes that
        identify the job, and for JobStatus.
        """
        check_editable(values, _PLACED)
        job = self.jobs.get(job_id)
        if job is None:
            return False
        self.schedd.write(job.id, values)
        job.read(self.matching.negotiator.ads, self.settings.schedd)
        if self.flow is not None:
            self.flow.edit(job, values)
        self.matching.look(job)
        self.check_later(job)
        self.passes.ask()
        return True

    def reconfig(self) -> None:
        """Make the schedd forget its parsed schedules (condor_reconfig)."""
        self.schedd.book.reconfig()
        self.passes.ask()

    # Consequences

    def _freed(self, claim: Claim) -> None:
        """Give a slot to another job."""
        self.matching.give_back(claim)

    def _hold(self, job: PoolJob, hold: Hold, *, by_schedd: bool = True) -> None:
        self.starter.leave(job, "HoldKillSig")
        self.write(job, protocol.held(job.ad, hold, self.now, by_schedd=by_schedd))
        self.tell(PoolEventKind.HELD, job, hold.code, hold.reason)
        self.matching.look(job)
        self.passes.plan()

    def _release(self, job: PoolJob, reason: str) -> None:
        self.write(job, protocol.released(job.ad, reason, self.now))
        self.tell(PoolEventKind.RELEASED, job, text=reason)
        self.matching.look(job)
        self.passes.ask()

    def _remove(self, job: PoolJob, reason: str) -> None:
        self.starter.leave(job, "RemoveKillSig")
        self.write(job, protocol.removed(job.ad, reason, self.now))
        self._over(job, PoolEventKind.REMOVED, reason)

    def _vacate(self, job: PoolJob) -> None:
        self.starter.leave(job)
        self.write(job, {"LastVacateTime": self.now})
        self._queue_again(job)

    def _exited(self, job: PoolJob, ruling: Ruling) -> None:
        """Apply a job's policy at exit: it leaves, is held, or is queued again."""
        if ruling.act is Act.STAY:
            self._queue_again(job)
        elif ruling.act is Act.HOLD:
            self._hold(job, Hold(ruling.reason, ruling.code, ruling.subcode), by_schedd=False)
        else:
            self.write(job, {**self.entered(job, JobStatus.COMPLETED), "CompletionDate": self.now})
            self._over(job, PoolEventKind.COMPLETED, ruling.reason)

    def _queue_again(self, job: PoolJob) -> None:
        """Make a job idle after its run; its next time is computed at once."""
        self.count(job, self.entered(job, JobStatus.IDLE))
        self.passes.run_ended(job)
        if job.is_idle and job.turn is None:
            self.matching.look(job)
        self.passes.plan()

    def _rule(self, job: PoolJob, ruling: Ruling) -> None:
        """Apply the ruling of periodic expressions."""
        if ruling.act is Act.HOLD:
            is_shadow = job.run is not None and job.run.claim is not None
            self._hold(job, Hold(ruling.reason, ruling.code, ruling.subcode), by_schedd=not is_shadow)
            if is_shadow:  # the starter's final report makes the shadow check again, and hold the job once more
                self.count(job, {"NumHolds": job.counter("numholds") + 1})
        elif ruling.act is Act.RELEASE:
            self._release(job, ruling.reason)
        elif ruling.act is Act.VACATE:
            self._vacate(job)
        else:
            self._remove(job, ruling.reason)

    def _over(self, job: PoolJob, what: PoolEventKind, reason: str) -> None:
        """Remove a completed or removed job from the queue, if its LeaveJobInQueue allows."""
        self.tell(what, job, text=reason)
        job.is_over = True
        self.matching.look(job)
        self._leave(job)

    def _leave(self, job: PoolJob) -> None:
        """Let a job leave; while LeaveJobInQueue is true, check again periodically."""
        if boolean(job.ad, _LEAVE, self.context(self.now)):
            later = self.now + max(1, self.settings.periodic_interval)
            self.timetable.cancel(job.check)
            job.check = self.timetable.at(later, lambda _: self._leave(job))
            job.has_stayed = True
            self.passes.plan()
            return
        job.has_left = True
        self.timetable.cancel(job.check)
        if job.has_stayed:
            self.tell(PoolEventKind.LEFT, job)
        if self.flow is not None:
            self.flow.leave(job)
        del self.jobs[job.id]
        self.schedd.leave(job.id)
        self.passes.plan()


_FRESH: Final = (
    ("JobStatus", int(JobStatus.IDLE)),
    ("NumJobStarts", 0),
    ("NumJobCompletions", 0),
    ("ExitBySignal", False),
)
