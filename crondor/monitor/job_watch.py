"""One watched job: how it is read, what it did, and its due times that are open."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from crondor.deferral import Deferral
from crondor.diagnostics import CrondorError
from crondor.job.attributes import count, ending
from crondor.job.queued import QueuedJob
from crondor.job.status import JobStatus
from crondor.job_queue.keys import JobId
from crondor.monitor.due_times import is_due, last_due
from crondor.monitor.job_history import CLOCKS, JobHistory, Start
from crondor.monitor.judging import JobFacts
from crondor.monitor.verdicts import Cause, DueRun
from crondor.schedd.status import TIME, ScheduledJob
from crondor.schedule import JobSchedule
from crondor.times import JobTimes

_FAR: Final = 86400 * 400  # seconds before a start in which its due time is sought


@dataclass
class JobWatch:
    """One job: how it is read, what it did, and its due times that are open."""

    job: JobId
    owner: str | None
    cmd: str | None
    history: JobHistory = field(default_factory=JobHistory)
    facts: JobFacts = field(default_factory=JobFacts)
    schedule: JobSchedule | None = None
    terms: tuple[Hashable, ...] = ()
    until: int = 0  # due times up to here were taken up
    next_due: int | None = None
    open: list[Deferral] = field(default_factory=list)
    said: dict[int, DueRun] = field(default_factory=dict)  # of those that are open
    latest: DueRun | None = None
    outcome: DueRun | None = None
    cut_off: int | None = None  # starts that did not end by themselves
    starts_seen: int = 0  # the last start that was counted
    leaves: bool = False  # when a run ends
    is_logged: bool = False  # a user log tells of its starts
    is_remote: bool = False  # a schedd has, or had, a copy of it that is to run in its place
    texts: tuple[Hashable, ...] = ()  # of the ad that was looked at last
    status: ScheduledJob | None = None  # as of that ad
    fresh_until: int = 0  # until when that is so if the ad stays as it is

    @property
    def is_crontab(self) -> bool:
        """Whether it has more than one time."""
        return self.facts.due is not None


def terms_of(queued: QueuedJob) -> tuple[Hashable, ...]:
    """Return what decides about a job's due times; the DeferralTime of a crontab job is its schedd's work."""
    terms = (*queued.terms, queued.leaves)
    return (*terms[:TIME], None, *terms[TIME + 1 :]) if queued.is_crontab else terms


def run_at(schedule: JobSchedule | None, time: int, now: int) -> Deferral:
    """Return a run with its window; one whose lengths cannot be had has none."""
    if schedule is not None:
        try:
            return schedule.deferral(time, now)
        except CrondorError:
            pass
    return Deferral(time)


def note_end(watch: JobWatch, queued: QueuedJob) -> None:
    """Take note of how the last run ended: by itself, well or not, or cut off (NumJobCompletions stays behind)."""
    start = watch.history.last_start
    if start is None or not watch.facts.has_shadow:
        return
    end = watch.history.end_of(start)
    if end is None:
        return
    completions = count(queued.ad, "NumJobCompletions")
    cut_off = count(queued.ad, "NumJobStarts") - completions
    before, watch.cut_off = watch.cut_off, cut_off
    if watch.is_remote:
        return  # the starts of a copy are brought over, and not its completions
    if (before is None and completions == 0) or (before is not None and cut_off > before):
        if queued.status is JobStatus.IDLE and cut_off > 0:
            watch.history.lose(start)
        return
    how = ending(queued.ad)
    if completions and how is not None and not how.by_signal and how.number == 0:
        watch.history.succeed(end.time)


def is_planned(start: Start, due: JobTimes, schedule: JobSchedule | None) -> bool:
    """Say whether a start belongs to a due time."""
    if start.due is not None:
        return is_due(due, start.due)
    time = last_due(due, start.time - _FAR, start.time + CLOCKS)
    return time is not None and start.time <= run_at(schedule, time, start.time).last_start + CLOCKS


def is_lost(run: DueRun | None) -> bool:
    """Say whether a due time is lost since its job has left, so that those behind it need not be said."""
    return run is not None and run.cause is Cause.LEFT_QUEUE
