"""What happens to a run on its machine: files travel, it waits, starts, is suspended, ends, or is taken off.

HTCondor: Starter::SpawnJob, Starter::Suspend, Starter::Continue.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from crondor.deferral import MISSED_REASON, Verdict
from crondor.hold_codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.job import policy
from crondor.job.policy import Ruling
from crondor.job.status import JobStatus
from crondor.pool.daemons.arrivals import arrival
from crondor.pool.daemons.core import Core
from crondor.pool.daemons.events import PoolEventKind
from crondor.pool.daemons.job_process import killing_of
from crondor.pool.daemons.negotiator import Claim
from crondor.pool.daemons.pool_job import JobRun, PoolJob
from crondor.pool.daemons.programs import Programs
from crondor.pool.settings.exits import Exit
from crondor.schedd.protocol import Hold

_TRANSFER: Final = 2
_PREEMPTION: Final = 5
_MISSED: Final = Hold(MISSED_REASON, MISSED_DEFERRED_EXECUTION_TIME, None)
LOST_REPORT: Final = "the shadow could not tell the schedd how the job ended"


class Starter:
    """The starters of a pool and of the schedd's own machine; all times are epoch seconds of the schedd's clock."""

    def __init__(
        self,
        core: Core,
        hold: Callable[[PoolJob, Hold], None],
        vacate: Callable[[PoolJob], None],
        exited: Callable[[PoolJob, Ruling], None],
        freed: Callable[[Claim], None],
        programs: Programs,
    ) -> None:
        """Take who holds jobs, makes them idle again, does what they want at exit, gets slots back, has programs."""
        self._core = core
        self.programs = programs
        self._hold = hold
        self._vacate = vacate
        self._exited = exited
        self._freed = freed

    def begin(self, job: PoolJob, run: JobRun) -> None:
        """Send the files of a job that was matched."""
        core = self._core
        settings, now = core.settings, core.timetable.now
        length = 0
        if run.claim is not None:
            length = self.transfer(job)
            lost = None if settings.preemption is None else settings.preemption.drawn(core.chance(job, _PREEMPTION))
            if lost is not None:
                run.taken = core.timetable.at(now + lost, lambda _: self._vacate(job))
            core.check_soon(job)
        run.next = core.timetable.at(now + length, lambda _: self.arrive(job, run))

    def transfer(self, job: PoolJob) -> int:
        """Return how long the files of a job's next run travel (seconds)."""
        transfer = self._core.settings.transfer
        return transfer.low if transfer.is_fixed else transfer.drawn(self._core.chance(job, _TRANSFER))

    def arrive(self, job: PoolJob, run: JobRun) -> None:
        """Wait, start, or have missed it, by the machine's clock: the files are there."""
        core = self._core
        run.arrived = now = core.timetable.now
        there = now if job.is_local else now + core.settings.skew
        if run.time is not None and there < run.time:
            core.tell(PoolEventKind.ARRIVED, job, run.time - there)
            due = now + run.time - there
            run.next = core.timetable.at(due, lambda _: self._wake(job, run, due))
            return
        verdict = arrival(run.ad, there, core.context, run.time)
        if verdict is None:
            self._start(job, run)
            return
        waits = verdict.seconds if verdict.verdict is Verdict.WAIT else -verdict.seconds
        if run.time is None and verdict.verdict is not Verdict.MISSED:
            run.time = there + waits
        core.tell(PoolEventKind.ARRIVED, job, waits)
        if verdict.verdict is Verdict.WAIT:
            run.next = core.timetable.at(now + waits, lambda _: self._wake(job, run, now + waits))
        elif verdict.verdict is Verdict.START:
            self._start(job, run)
        elif job.is_local:
            self._hold(job, _MISSED)
        else:
            starts = job.counter("numjobstarts") + 1
            core.count(job, {"NumJobStarts": starts, "JobCurrentStartExecutingDate": now})
            run.next = core.timetable.at(now + core.settings.missed_delay, lambda _: self._hold(job, _MISSED))

    def _wake(self, job: PoolJob, run: JobRun, due: int) -> None:
        """Start what has waited; on a clock that was stopped meanwhile it may have missed its time."""
        if self._core.timetable.now > due:
            self.arrive(job, run)
        else:
            self._start(job, run)

    def _start(self, job: PoolJob, run: JobRun) -> None:
        core = self._core
        run.started = job.began = now = core.timetable.now
        starts = job.counter("numjobstarts")
        marks = self.programs.marks(job, run, now)
        values = {"NumJobStarts": starts + 1}
        if not job.is_local:
            values["JobCurrentStartExecutingDate"] = now
        if marks:
            core.write(job, {**values, **marks})  # at once: whoever is killed in between starts nothing twice
        else:
            core.count(job, values)
        begun = self.programs.start(job, run, now)
        if isinstance(begun, Hold):
            run.started = None
            core.count(job, {"NumJobStarts": starts})
            self._hold(job, begun)
            return
        core.tell(PoolEventKind.STARTED, job)
        if run.claim is not None:
            core.check_soon(job)
        if begun is not None:
            run.exit = begun.exit
            run.next = core.timetable.at(now + begun.seconds, lambda _: self.end(job, run))
        if core.flow is not None:
            core.flow.start(job, lambda: self._vacate(job))
        if run.is_suspended:
            self._freeze(job, run, is_told=job.is_local)

    def suspend(self, job: PoolJob, run: JobRun) -> None:
        """Suspend a run; one that waits is suspended as soon as it has started."""
        is_first, run.is_suspended = not run.is_suspended, True
        if run.started is not None and is_first:
            self._freeze(job, run)

    def _freeze(self, job: PoolJob, run: JobRun, *, is_told: bool = True) -> None:
        """Stop the clock of a program; where nobody is told, the queue knows it from the starter's first update."""
        core = self._core
        if run.next is not None:
            run.left = run.next.time - core.now
            core.timetable.cancel(run.next)
        self.programs.suspend(job, run)
        core.tell(PoolEventKind.SUSPENDED, job)
        if core.flow is not None:
            core.flow.suspend(job, is_told=is_told)
        if is_told:
            self._report_suspended(job)
        else:
            later = core.now + core.settings.flow.first_update
            run.next = core.timetable.at(later, lambda _: self._report_suspended(job))

    def _report_suspended(self, job: PoolJob) -> None:
        core = self._core
        values = core.entered(job, JobStatus.SUSPENDED)
        values["LastSuspensionTime"] = core.now
        values["TotalSuspensions"] = job.counter("totalsuspensions") + 1
        core.count(job, values)

    def resume(self, job: PoolJob, run: JobRun) -> None:
        """Let a suspended run go on."""
        core = self._core
        run.is_suspended = False
        if run.started is not None:
            self.programs.resume(job, run)
            core.count(job, core.entered(job, JobStatus.RUNNING))
            if run.left is not None:
                run.next = core.timetable.at(core.now + run.left, lambda _: self.end(job, run))
            core.tell(PoolEventKind.RESUMED, job)
            if core.flow is not None:
                core.flow.resume(job)

    def end(self, job: PoolJob, run: JobRun) -> None:
        """End a program: the starter reports it as soon as it can."""
        core = self._core
        run.is_over = True
        if core.flow is not None and not job.is_local:
            again = core.flow.exit(job, run.exit.attributes)
            if again is not None:
                run.next = core.timetable.at(again, lambda _: self.end(job, run))
                return
        self._report(job, run)

    def _report(self, job: PoolJob, run: JobRun) -> None:
        """Have the expressions that count at exit see how a program ended.

        In the local universe they see the ad that the starter was given, with NumJobStarts as it was before; the queue
        gets to know how the program ended only where the job is completed (JICLocalSchedd::notifyJobExit).
        """
        core = self._core
        values = run.exit.attributes
        is_told = not job.is_local or core.settings.counts_local_runs
        if is_told:
            values["NumJobCompletions"] = job.counter("numjobcompletions") + 1
            core.count(job, values)
        if job.is_local:
            for name, value in values.items():
                run.ad.set(name, value)
        ruling = job.ruling
        if ruling is None:
            seen = run.ad if job.is_local else job.ad if core.flow is None else core.flow.policy_ad(job)
            ruling = policy.at_exit(seen, core.now, core.context(core.now), core.settings.system_policy)
        if not is_told and ruling.act is policy.Act.REMOVE:
            core.count(job, values)
        self._settle(job, run, ruling, 0)

    def _settle(self, job: PoolJob, run: JobRun, ruling: Ruling, attempt: int) -> None:
        """Have the shadow tell the schedd; it tries some times, then the job is queued again as if it had not ended."""
        core = self._core
        if core.flow is not None and not job.is_local and not core.flow.final(job, attempt):
            settings = core.settings.flow
            if attempt < settings.shadow_max_job_cleanup_retries:
                later = core.now + settings.shadow_job_cleanup_retry_delay
                run.next = core.timetable.at(later, lambda _: self._settle(job, run, ruling, attempt + 1))
                return
            core.write(job, core.flow.forgotten(job))
            ruling = Ruling(policy.Act.STAY, LOST_REPORT)
        core.tell(PoolEventKind.ENDED, job, int(ruling.act is policy.Act.STAY), ruling.reason)
        self.free(job)
        self._exited(job, ruling)

    def leave(self, job: PoolJob, signal: str = "KillSig") -> None:
        """End a run from outside; a program that was started is evicted, with the signal that an attribute names."""
        run, core = job.run, self._core
        if run is None:
            return
        if run.started is not None and not run.is_over:
            self.programs.stop(job, run, signal)
            if not job.is_local:  # the starter reports how it has ended it, and the shadow tells the schedd
                core.count(job, Exit(killing_of(run.ad, signal)[0], by_signal=True).attributes)
        core.tell(PoolEventKind.EVICTED, job)
        lost = {} if core.flow is None else core.flow.evict(job)
        if lost:
            core.write(job, lost)
        self.free(job)

    def free(self, job: PoolJob) -> None:
        """Take a job off its machine, and let another one have it."""
        run, job.run = job.run, None
        if run is None:
            return
        core = self._core
        core.timetable.cancel(run.next)
        if run.taken is not None:
            core.timetable.cancel(run.taken)
        if core.flow is not None:
            core.flow.free(job)
        if run.claim is not None:
            self._freed(run.claim)
