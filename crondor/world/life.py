"""The World: the life of deferred and crontab jobs, from submission to the last run.

Sources: the manual (Job Deferral, CronTab Scheduling), HTCondor 25.14 (schedd, starter) and recordings of a pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.deferral import MISSED_CODE, MISSED_REASON, Verdict
from crondor.job_queue import JobId
from crondor.queued import JobStatus
from crondor.schedd import actions
from crondor.schedd.applying import hold_of
from crondor.schedd.crontab_book import Edit
from crondor.schedd.editing import check_editable
from crondor.schedd.protocol import Hold
from crondor.world import policy, starter
from crondor.world.clock import MATCH, PASS, POLICY, Entry, Timetable
from crondor.world.exits import Exit
from crondor.world.happenings import Happening, Watcher, What
from crondor.world.negotiator import Negotiator
from crondor.world.policy import Act
from crondor.world.programs import DrawnPrograms, Programs
from crondor.world.schedd_part import ScheddPart
from crondor.world.settings import Settings
from crondor.world.turns import RegularTurns, Turns
from crondor.world.world_job import Run, WorldJob
from crondor.zones import zone_of

_TRANSFER: Final = 2
_PLACED: Final = frozenset(("jobstatus", "enteredcurrentstatus"))


class World:
    """A pool with one schedd, whose time somebody else tells: see ``advance``.

    All times are epoch seconds of the schedd's clock. What is done to a job that has left the queue, or that it does
    not allow (releasing one that is not held), is passed over and answered with False, as HTCondor's tools do.
    """

    def __init__(
        self,
        settings: Settings,
        now: int,
        *,
        turns: Turns | None = None,
        schedd: ScheddPart | None = None,
        programs: Programs | None = None,
        timetable: Timetable | None = None,
    ) -> None:
        """Begin at a time with an empty queue, or with a queue whose jobs ``restore`` brings in. Raises UnknownZone."""
        self.settings = settings
        self.schedd = ScheddPart(settings) if schedd is None else schedd
        self.jobs: dict[JobId, WorldJob] = {}
        self.watchers: list[Watcher] = []
        self.timetable = Timetable(now) if timetable is None else timetable
        self._programs = DrawnPrograms(settings) if programs is None else programs
        self._turns = RegularTurns(settings, now) if turns is None else turns
        self._negotiator = Negotiator(settings.slots)
        self._zone = zone_of(settings.zone).info
        self._start = now
        self._pass: Entry | None = None

    @property
    def now(self) -> int:
        """How late it is."""
        return self.timetable.now

    @property
    def next_time(self) -> int | None:
        """When something happens next, if nobody does anything; None for never."""
        return self.timetable.next_time

    def advance(self, until: int, most: int | None = None) -> bool:
        """Let time pass up to and including ``until``, ``most`` steps at most; say whether it was reached."""
        return self.timetable.advance(until, most)

    # What users do

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
            if actions.count(ad, "JobStatus") == JobStatus.HELD and "NumHolds" not in ad:
                ad.set("NumHolds", 1)
            self.schedd.enter(job_id, ad)
            made.append(job_id)
            self._tell(What.SUBMITTED, self._enter(job_id))
        self._ask_for_pass()
        return made

    def restore(self, job_id: JobId, *, untold: Sequence[What] = (), started: int | None = None) -> WorldJob:
        """Bring in a job that is in the queue already; ``untold`` is what has happened and nobody was told of.

        ``started`` is when its program did, which runs still or whose end nobody knows yet: call ``ended``. A run that
        had only been matched goes on waiting, and an idle job whose window is open is matched before it gets another
        time.
        """
        job = self._enter(job_id)
        run = Run(job.ad.copy(), self.now, has_slot=False)
        if started is not None:
            job.run, run.arrived, run.started = run, started, started
            run.is_suspended = job.status == JobStatus.SUSPENDED
            run.ad.set("NumJobStarts", max(0, actions.count(job.ad, "NumJobStarts") - 1))
        for what in untold:
            self._tell(what, job)
        if started is not None:
            return job
        if job.status in (JobStatus.RUNNING, JobStatus.SUSPENDED):
            job.run = run
            self._arrive(job, run)
        elif job.is_idle and self._is_open(job) and self._turns.local(job_id, self.now, self.now) is not None:
            self.timetable.cancel(job.turn)
            job.turn = None
            self._match(job, has_slot=False)
        self._ask_for_pass()
        return job

    def _enter(self, job_id: JobId) -> WorldJob:
        ad = self.schedd.ads[job_id]
        job = self.jobs[job_id] = WorldJob(job_id, ad, self.settings.machine, self.settings.schedd)
        self._look(job)
        self._check_later(job)
        return job

    def _is_open(self, job: WorldJob) -> bool:
        deferral = job.gate.deferral()
        if deferral is None or not deferral.time <= self.now <= deferral.last_match:
            return False
        return job.gate.lets(self.now, self._context(self.now))

    def hold(self, job_id: JobId, hold: Hold) -> bool:
        """Put a job on hold: one that runs or waits leaves its machine."""
        job = self.jobs.get(job_id)
        if job is None or job.status in (JobStatus.HELD, JobStatus.REMOVED):
            return False
        self._hold(job, hold)
        return True

    def release(self, job_id: JobId, reason: str) -> bool:
        """Make a held job idle."""
        job = self.jobs.get(job_id)
        if job is None or job.status != JobStatus.HELD:
            return False
        self._write(job, actions.released(job.ad, reason, self.now))
        self._tell(What.RELEASED, job, text=reason)
        self._look(job)
        self._ask_for_pass()
        return True

    def remove(self, job_id: JobId, reason: str) -> bool:
        """Remove a job from the queue."""
        job = self.jobs.get(job_id)
        if job is None:
            return False
        self._leave_machine(job, "RemoveKillSig")
        self._write(job, actions.removed(job.ad, reason, self.now))
        self._leave(job, What.REMOVED, reason)
        return True

    def vacate(self, job_id: JobId) -> bool:
        """Take a job off its machine; it is idle again, and one that waited has not started."""
        job = self.jobs.get(job_id)
        if job is None or job.run is None:
            return False
        self._leave_machine(job)
        self._queue_again(job, {"LastVacateTime": self.now})
        return True

    def suspend(self, job_id: JobId) -> bool:
        """Suspend a job; one that waits goes on waiting, and is suspended as soon as it has started."""
        job = self.jobs.get(job_id)
        run = None if job is None else job.run
        if job is None or run is None or run.is_suspended:
            return False
        run.is_suspended = True
        if run.started is not None:
            self._freeze(job, run)
        return True

    def resume(self, job_id: JobId) -> bool:
        """Let a suspended job go on (condor_continue)."""
        job = self.jobs.get(job_id)
        run = None if job is None else job.run
        if job is None or run is None or not run.is_suspended:
            return False
        run.is_suspended = False
        if run.started is not None:
            self._programs.resume(job, run)
            self._write(job, actions.entered(job.ad, JobStatus.RUNNING, self.now))
            if run.left is not None:
                run.next = self.timetable.at(self.now + run.left, lambda _: self._end(job, run, run.exit))
            self._tell(What.RESUMED, job)
        return True

    def edit(self, job_id: JobId, values: Mapping[str, object]) -> bool:
        """Set attributes as condor_qedit does, to Python values or Expressions; None deletes.

        A run that is under way keeps the ad it began with. Raises ScheddError for what says which job it is, and for
        JobStatus.
        """
        check_editable(values, _PLACED)
        job = self.jobs.get(job_id)
        if job is None:
            return False
        self._write(job, values)
        job.read(self.settings.machine, self.settings.schedd)
        self._look(job)
        self._check_later(job)
        self._ask_for_pass()
        return True

    def reconfig(self) -> None:
        """Have the schedd forget its parsed schedules (condor_reconfig)."""
        self.schedd.book.reconfig()
        self._ask_for_pass()

    # The schedd's passes

    def _ask_for_pass(self) -> None:
        self._pass_at(self._turns.requested(self.now))

    def _plan_pass(self, earliest: int = 0) -> None:
        """See to it that there is a pass when the crontab bookkeeping has something to do."""
        due = self.schedd.book.next_due
        if due is not None:
            self._pass_at(self._turns.pass_from(max(due, self.now, earliest)))

    def _pass_at(self, time: int) -> None:
        before = self._pass
        if before is not None and before.call is not None:
            if before.time <= time:
                return
            self.timetable.cancel(before)
        self._pass = self.timetable.at(time, self._look_through, PASS)

    def _look_through(self, now: int) -> None:
        """Pass over the queue: compute what is due, hold what is invalid."""
        self._apply(self.schedd.book.recalculate(now))
        self._plan_pass(now + 1)  # a negative window makes a new time past at once: the next pass sees to it

    def _apply(self, edits: Iterable[Edit]) -> None:
        for edit in edits:
            job = self.jobs[edit.job]
            if edit.time is None:
                self._hold(job, hold_of(edit))
                continue
            self._write(job, {"DeferralTime": edit.time})
            self._tell(What.PLANNED, job, edit.time, edit.why.value)
            self._look(job)

    # Matches

    def _look(self, job: WorldJob) -> None:
        """See to it that the pool turns to an idle job when its gates are open."""
        self.timetable.cancel(job.turn)
        job.turn = None
        job.is_starved = False
        opens = job.gate.opens(self.now) if job.is_idle else None
        if opens is not None:
            self._turn_at(job, opens)

    def _turn_at(self, job: WorldJob, opens: int) -> None:
        if job.is_local:
            time = self._turns.local(job.id, opens, self.now)
        else:
            time = self._turns.match(job.id, opens, self._run_of(job)[-1])
        if time is not None:
            job.turn = self.timetable.at(time, lambda now: self._consider(job, now), MATCH, job.rank)

    def _run_of(self, job: WorldJob) -> tuple[int, int, int]:
        """Return what tells a run from others, whenever it is matched: what is drawn for it belongs to these."""
        deferral = job.gate.deferral()
        return (*job.id, self.now if deferral is None else deferral.time)

    def _consider(self, job: WorldJob, now: int) -> None:
        """Give a job a machine, or reject it."""
        due = self.schedd.book.next_due
        if due is not None and due <= now:
            self._look_through(now)
            if not job.is_idle or (job.turn is not None and job.turn.call is not None):
                return
        job.turn = None
        if not job.gate.lets(now, self._context(now)):
            self._reject(job)
            if job.gate.changes_by_itself and job.gate.opens(now) is not None:
                self._turn_at(job, now + self.settings.negotiator_interval)
            self._serve()
        elif job.is_local:
            self._match(job, has_slot=False)
        elif self._negotiator.take():
            self._match(job, has_slot=True)
        else:
            self._reject(job)
            self._negotiator.wait(job)

    def _serve(self) -> None:
        """Turn to the best job that waits for a slot, where one is free."""
        job = self._negotiator.best()
        if job is not None:
            self._turn_at(job, self.now)

    def _reject(self, job: WorldJob) -> None:
        if not job.is_local:
            self._write(job, {"LastRejMatchTime": self.now, "LastRejMatchReason": _REJECTED})
            self._tell(What.REJECTED, job, text=_REJECTED)

    def _match(self, job: WorldJob, *, has_slot: bool) -> None:
        now = self.now
        values = actions.entered(job.ad, JobStatus.RUNNING, now)
        values["JobCurrentStartDate"] = now
        for name in ("JobRunCount", "NumShadowStarts"):
            values[name] = actions.count(job.ad, name) + 1
        if "JobStartDate" not in job.ad:
            values["JobStartDate"] = now
        self._write(job, values)
        run = job.run = Run(job.ad.copy(), now, has_slot=has_slot)
        self._tell(What.MATCHED, job)
        length = self.settings.transfer.draw(self.settings.seed, _TRANSFER, *self._run_of(job)) if has_slot else 0
        run.next = self.timetable.at(now + length, lambda _: self._arrive(job, run))

    # On the machine

    def _arrive(self, job: WorldJob, run: Run) -> None:
        """Wait, start, or have missed it, by the machine's clock: the files are there."""
        run.arrived = now = self.now
        there = now if job.is_local else now + self.settings.skew
        verdict = starter.arrival(run.ad, there, self._context(there))
        if verdict is None:
            self._start_program(job, run)
            return
        waits = verdict.seconds if verdict.verdict is Verdict.WAIT else -verdict.seconds
        self._tell(What.ARRIVED, job, waits)
        if verdict.verdict is Verdict.WAIT:
            run.next = self.timetable.at(now + waits, lambda _: self._wake(job, run, now + waits))
        elif verdict.verdict is Verdict.START:
            self._start_program(job, run)
        elif job.is_local:
            self._hold(job, Hold(MISSED_REASON, MISSED_CODE, 0))
        else:
            self._write(job, {"NumJobStarts": actions.count(job.ad, "NumJobStarts") + 1})
            later = now + self.settings.missed_delay
            run.next = self.timetable.at(later, lambda _: self._hold(job, Hold(MISSED_REASON, MISSED_CODE, 0)))

    def _wake(self, job: WorldJob, run: Run, due: int) -> None:
        """Start what has waited; on a clock that was stopped meanwhile it may have missed its time."""
        if self.now > due:
            self._arrive(job, run)
        else:
            self._start_program(job, run)

    def _start_program(self, job: WorldJob, run: Run) -> None:
        run.started = now = self.now
        starts = actions.count(job.ad, "NumJobStarts")
        values: dict[str, object] = {"NumJobStarts": starts + 1, **self._programs.marks(job, run, now)}
        if not job.is_local:
            values["JobCurrentStartExecutingDate"] = now
        self._write(job, values)
        begun = self._programs.start(job, run, now)
        if isinstance(begun, Hold):
            run.started = None
            self._write(job, {"NumJobStarts": starts})
            self._hold(job, begun)
            return
        self._tell(What.STARTED, job)
        if begun is not None:
            run.exit = begun.exit
            run.next = self.timetable.at(now + begun.seconds, lambda _: self._end(job, run, run.exit))
        if run.is_suspended:
            self._freeze(job, run)

    def _freeze(self, job: WorldJob, run: Run) -> None:
        """Stop the clock of a program."""
        if run.next is not None:
            run.left = run.next.time - self.now
            self.timetable.cancel(run.next)
        self._programs.suspend(job, run)
        values = actions.entered(job.ad, JobStatus.SUSPENDED, self.now)
        values["LastSuspensionTime"] = self.now
        values["TotalSuspensions"] = actions.count(job.ad, "TotalSuspensions") + 1
        self._write(job, values)
        self._tell(What.SUSPENDED, job)

    def ended(self, job_id: JobId, ending: Exit) -> bool:
        """Say that the program of a job has ended, and how."""
        job = self.jobs.get(job_id)
        if job is None or job.run is None or job.run.started is None:
            return False
        self._end(job, job.run, ending)
        return True

    def _end(self, job: WorldJob, run: Run, ending: Exit) -> None:
        """End a program: the job leaves, is held, or is queued again.

        In the local universe on_exit_* see the ad that the starter was given, with NumJobStarts as it was before.
        """
        now = self.now
        seen = run.ad if job.is_local else job.ad
        exited = ending.attributes
        if job.is_local:
            for name, value in exited.items():
                seen.set(name, value)
        else:
            exited["NumJobCompletions"] = actions.count(job.ad, "NumJobCompletions") + 1
        self._write(job, exited)
        ruling = policy.at_exit(seen, now, self._context(now))
        self._tell(What.ENDED, job, int(ruling.act is Act.STAY), ruling.reason)
        self._free(job)
        if ruling.act is Act.STAY:
            self._queue_again(job, {})
        elif ruling.act is Act.HOLD:
            self._hold(job, Hold(ruling.reason, ruling.code, ruling.subcode))
        else:
            self._write(job, {**actions.entered(job.ad, JobStatus.COMPLETED, now), "CompletionDate": now})
            self._leave(job, What.COMPLETED, ruling.reason)

    def _queue_again(self, job: WorldJob, values: Mapping[str, object]) -> None:
        """Make a job idle after its run; its next time is computed at once."""
        self._write(job, {**actions.entered(job.ad, JobStatus.IDLE, self.now), **values})
        edit = self.schedd.book.recalculate_one(job.id, self.now)
        self._apply(() if edit is None else (edit,))
        if job.is_idle and job.turn is None:
            self._look(job)
        self._plan_pass()

    def _leave_machine(self, job: WorldJob, signal: str = "KillSig") -> None:
        """End a run from outside; a program that was started is evicted."""
        run = job.run
        if run is None:
            return
        if run.started is not None:
            self._programs.stop(job, run, signal)
        self._tell(What.EVICTED, job)
        self._free(job)

    def _free(self, job: WorldJob) -> None:
        run, job.run = job.run, None
        if run is None:
            return
        self.timetable.cancel(run.next)
        if run.has_slot:
            self._negotiator.give_back()
            self._serve()

    # The queue

    def _hold(self, job: WorldJob, hold: Hold) -> None:
        self._leave_machine(job, "HoldKillSig")
        self._write(job, actions.held(job.ad, hold, self.now))
        self._tell(What.HELD, job, hold.code, hold.reason)
        self._look(job)
        self._plan_pass()

    def _leave(self, job: WorldJob, what: What, reason: str) -> None:
        self._tell(what, job, text=reason)
        job.has_left = True
        self._look(job)
        self.timetable.cancel(job.check)
        del self.jobs[job.id]
        self.schedd.leave(job.id)
        self._plan_pass()

    def _write(self, job: WorldJob, values: Mapping[str, object]) -> None:
        self.schedd.write(job.id, values)
        status = values.get("JobStatus")
        if isinstance(status, int):
            job.status = status
        if job.is_periodic and job.check is None:
            self._check_later(job)

    def _check_later(self, job: WorldJob) -> None:
        if job.is_periodic and job.check is None:
            interval = max(1, self.settings.periodic_interval)
            time = self.now + 1 + (self._start - self.now - 1) % interval
            job.check = self.timetable.at(time, lambda now: self._check(job, now), POLICY)

    def _check(self, job: WorldJob, now: int) -> None:
        """Look at a job's periodic expressions."""
        job.check = None
        ruling = policy.periodic(job.ad, job.status, now, self._context(now))
        if ruling.act is Act.HOLD:
            self._hold(job, Hold(ruling.reason, ruling.code, ruling.subcode))
        elif ruling.act is Act.RELEASE:
            self.release(job.id, ruling.reason)
        elif ruling.act is Act.REMOVE:
            self.remove(job.id, ruling.reason)
        elif policy.asks_clock(job.ad):
            self._check_later(job)

    def _context(self, now: int) -> Context:
        return Context(now=now, zone=self._zone, seed=self.settings.seed)

    def _tell(self, what: What, job: WorldJob, number: int = 0, text: str = "") -> None:
        if self.watchers:
            happening = Happening(self.now, what, job, number, text)
            for watcher in self.watchers:
                watcher(happening)


_REJECTED: Final = "no match found"
_FRESH: Final = (
    ("JobStatus", int(JobStatus.IDLE)),
    ("NumJobStarts", 0),
    ("NumJobCompletions", 0),
    ("ExitBySignal", False),
)
