"""The jobs of a queue, from the ads that condor_q prints, as the preview takes jobs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TypeAlias

from crondor.classad.formats.pieces import Report
from crondor.diagnostics import Diagnostic, Severity, printable, shortened
from crondor.job.queued import QueuedJob, read_queue
from crondor.job.status import ON_MACHINE, JobStatus
from crondor.schedule import InvalidSchedule, JobSchedule
from crondor.source import Span
from crondor.spec import Dialect
from crondor_cli.common.ad_files import chunks, name_of
from crondor_cli.common.first_faults import FirstFaults
from crondor_cli.common.jobs import Job, JobState, ReadSchedule, ScheduleRequest
from crondor_cli.times.text import local_text

_HALTED = frozenset((JobStatus.REMOVED, JobStatus.COMPLETED, JobStatus.HELD))
_LONGEST = 300  # characters of a HoldReason


Known: TypeAlias = "dict[tuple[Hashable, ...], JobSchedule]"


class QueueJob(Job):
    """One job of a queue."""

    def __init__(self, queued: QueuedJob, name: str, request: ScheduleRequest, known: Known) -> None:
        """Take the ad's job, its name, and the schedules that other jobs have already."""
        super().__init__(name, None, 1, {}, {}, request)
        self.line = queued.place.line
        self.present = queued.present
        self.requirements = queued.requirements
        self.state = _state(queued, name, request)
        self._queued = queued
        self._known = known

    @property
    def spans(self) -> Mapping[str, Span]:
        """Where the attributes stand, found when a message needs it."""
        return self._queued.spans

    def read(self, dialect: Dialect) -> ReadSchedule:
        """Read the schedule in a dialect."""
        request = self._request
        key = (dialect, *self._queued.terms)
        schedule = self._known.get(key)
        if schedule is not None:
            return ReadSchedule(dialect, schedule)
        try:
            schedule = self._queued.schedule(
                self.clock.now,
                dialect=dialect,
                zone=self.clock.zone,
                policy=request.policy,
                schedd_interval=request.schedd_interval,
            )
        except InvalidSchedule as error:
            return ReadSchedule(dialect, None, error)
        if not schedule.notes and not self._queued.has_expressions:
            self._known[key] = schedule
        return ReadSchedule(dialect, schedule)


def read_jobs(path: str, request: ScheduleRequest) -> tuple[list[Job], list[Diagnostic]]:
    """Return the scheduled jobs of a file of ads, and what there is to say of the file.

    Raises UsageError if it cannot be read.
    """
    told = FirstFaults()
    jobs, plain, total = _jobs(path, request, told.add)
    faults = told.listed()
    if not total:
        faults.append(Diagnostic("no-ads", f"there is no ad in {name_of(path)}", Severity.NOTE))
    elif plain:
        jobs_have = f"{plain} {'job has' if plain == 1 else 'jobs have'}"
        message = f"{jobs_have} neither a cron attribute nor a DeferralTime, of {total} in {name_of(path)}"
        faults.append(Diagnostic("not-deferred", message, Severity.NOTE))
    return jobs, faults


def _jobs(path: str, request: ScheduleRequest, report: Report) -> tuple[list[Job], int, int]:
    """Return the scheduled jobs, and how many others and how many in all there are."""
    jobs: list[Job] = []
    known: Known = {}
    total = 0
    for queued in read_queue(chunks(path), name=name_of(path), report=report):
        total += 1
        if queued.is_scheduled:
            jobs.append(QueueJob(queued, queued.id or name_of(path), request, known))
    return jobs, total - len(jobs), total


def _state(queued: QueuedJob, name: str, request: ScheduleRequest) -> JobState:
    status, owner, cmd = queued.status, queued.string("Owner"), queued.string("Cmd")
    reason, code = queued.string("HoldReason"), queued.integer("HoldReasonCode")
    title = "  ".join(printable(word) for word in (f"job {name}" if queued.id else name, owner, cmd) if word)
    data: dict[str, object] = {
        "job": queued.id,
        "owner": owner,
        "cmd": cmd,
        "state": status.name.lower() if status is not None else None,
        "hold_reason": reason if status is JobStatus.HELD else None,
        "hold_reason_code": code if status is JobStatus.HELD else None,
        "deferral_time": queued.present,
        "leaves": queued.leaves,
    }
    facts = [("state", printable(text)) for text in _words(queued, status, request)]
    return JobState(title, status in (JobStatus.IDLE, None), status in _HALTED, facts, data)


def _words(queued: QueuedJob, status: JobStatus | None, request: ScheduleRequest) -> Iterator[str]:
    """Yield sentences about what the job does now, and what it waits for."""
    now, zone = request.clock.now, request.clock.zone
    time = queued.integer("DeferralTime")
    ahead = time is not None and time > now
    if status is JobStatus.HELD:
        yield from _held_words(queued)
    elif status in (JobStatus.REMOVED, JobStatus.COMPLETED):
        yield f"{status.name.lower()}: it does not run again"
    elif status in ON_MACHINE and ahead and time is not None:
        paused = "" if status is JobStatus.RUNNING else ", suspended"
        yield f"matched{paused}: waits on its machine for {local_text(time, zone)}"
    elif status is not None and status is not JobStatus.IDLE:
        word = status.name.lower().replace("_", " ")
        yield f"{word}: the next time is computed when the run ends" if queued.is_crontab else word
    elif queued.is_crontab:
        yield from _idle_words(queued.present, now)
    if status not in _HALTED and queued.is_crontab and queued.leaves:
        yield "leaves the queue when a run ends, for want of on_exit_remove = false"


def _held_words(queued: QueuedJob) -> Iterator[str]:
    reason, code = queued.string("HoldReason") or "no HoldReason", queued.integer("HoldReasonCode")
    said = shortened(reason, _LONGEST)
    yield f"held{'' if code is None else f' (code {code})'}: {said}"
    yield "does not run, and gets no new time, until it is released"


def _idle_words(present: int | None, now: int) -> Iterator[str]:
    if present is None:
        yield "idle, without a DeferralTime: the schedd computes one at its next look"
    elif present > now:
        yield "idle; the first time below is the DeferralTime that the schedd has computed"
    else:
        yield "idle; its DeferralTime is past, and the schedd computes another when the window is"
