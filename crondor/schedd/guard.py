"""Keeps the DeferralTime of queued crontab jobs as the manual defines it, where the schedd differs.

This corrects jobs already in the queue: a match between two passes cannot be prevented. At submission the remedy is a
clause in requirements (``crondor next`` prints it, docs/dialects.md).
"""

from __future__ import annotations

from datetime import tzinfo
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job import attributes
from crondor.job.policy import QueuedJob
from crondor.job_queue.records import JobId
from crondor.recurrence import Policy
from crondor.schedd.protocol import Schedd, Selection, Which
from crondor.schedd.reading import job_id
from crondor.schedule import JobSchedule
from crondor.spec import FIELDS, Dialect

_WANTED: Final = (
    f"JobStatus == 1 && ({' || '.join(f'{field.attribute} =!= undefined' for field in FIELDS)})"
    " && DeferralTime =!= undefined"
)


class Correction(NamedTuple):
    """A job whose DeferralTime is not the manual's (epoch seconds).

    ``applied`` is None if it is only reported, and False if the job had changed in the meantime.
    """

    job: JobId
    before: int | None
    time: int
    applied: bool | None


class GuardPass(NamedTuple):
    """The corrections of one pass, the number of jobs checked, and jobs that cannot be corrected."""

    corrections: list[Correction]
    jobs: int
    trouble: dict[JobId, tuple[Diagnostic, ...]]


class Guard:
    """Compares idle crontab jobs with the manual, and corrects their DeferralTime with a conditional edit.

    The condition is that the job is idle and still has the time seen: a faster schedd wins, and the next pass checks
    again.
    """

    def __init__(
        self, schedd: Schedd, *, zone: str | tzinfo = "UTC", policy: Policy | None = None, which: Which = None
    ) -> None:
        """Take a schedd, the zone of its host, and the jobs to check. Raises ClassAdSyntaxError."""
        self._schedd = schedd
        self._zone = zone
        self._policy = policy
        self._which = Selection.of(which).where(_WANTED)

    def guard(self, now: int, *, apply: bool = False) -> GuardPass:
        """Make one pass at ``now`` (epoch seconds); without ``apply`` nothing is written.

        Raises what the schedd raises.
        """
        corrections: list[Correction] = []
        trouble: dict[JobId, tuple[Diagnostic, ...]] = {}
        ads = self._schedd.jobs(self._which)
        for ad in ads:
            job = job_id(ad)
            if job is None:
                continue
            try:
                found = self._wanted(ad, now)
            except CrondorError as error:
                trouble[job] = error.diagnostics
                continue
            if found is not None:
                before, time = found
                corrections.append(Correction(job, before, time, self._edit(job, before, time) if apply else None))
        return GuardPass(corrections, len(ads), trouble)

    def _wanted(self, ad: ClassAd, now: int) -> tuple[int | None, int] | None:
        """Return a job's DeferralTime and the correct one; None if it is correct.

        Raises NeverRuns, OutOfRange, and InvalidSchedule for a schedule that the manual does not allow.
        """
        queued = QueuedJob(ad)
        schedule = queued.schedule(now, dialect=Dialect.MANUAL, zone=self._zone, policy=self._policy)
        present = attributes.exact_integer(ad, "DeferralTime")  # the edit compares it with =?=
        time = right_time(schedule, present, now)
        return None if time is None else (present, time)

    def _edit(self, job: JobId, before: int | None, time: int) -> bool:
        seen = "isInteger(DeferralTime) == false" if before is None else f"DeferralTime =?= {before}"
        return self._schedd.edit_if(job, f"JobStatus == 1 && {seen}", {"DeferralTime": time})


def right_time(schedule: JobSchedule, present: int | None, now: int) -> int | None:
    """Return the correct DeferralTime of an idle crontab job at ``now``, None if ``present`` is correct.

    All are epoch seconds; ``schedule`` is the manual's reading. Raises UnknownValue, NeverRuns and OutOfRange.
    """
    recurrence = schedule.recurrence
    if recurrence is None or (present is not None and _is_under_way(schedule, present, now)):
        return None
    time = recurrence.next(now)
    return None if time == present else time


def _is_under_way(schedule: JobSchedule, present: int, now: int) -> bool:
    """Return whether a time of the manual's schedule is in its window, so that the job may still start."""
    if schedule.recurrence is None or not 0 < present <= now:
        return False
    return now <= schedule.deferral(present, now).last_start and schedule.recurrence.matches(present)
