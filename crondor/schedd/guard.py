"""Keeps the DeferralTime of queued crontab jobs as the manual defines it, and makes up runs for jobs that ask for it.

This corrects jobs already in the queue: a match between two passes cannot be prevented. At submission the remedy is a
clause in requirements (``crondor next`` prints it, docs/dialects.md).

A job asks by CrondorCatchUp (seconds) or CrondorOverlap = "queue" (docs/compile.md). Its run is made up by a
DeferralTime that is not in its schedule, which stays until it is past (Scheduler::calculateCronTabSchedule).
"""

from __future__ import annotations

from datetime import tzinfo
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job import attributes
from crondor.job.attributes import JobStatus
from crondor.job.policy import QueuedJob
from crondor.job_queue.records import JobId
from crondor.recurrence import NeverRuns, OutOfRange, Policy
from crondor.schedd.protocol import Schedd, Selection, Which
from crondor.schedd.reading import SHADOWLESS, job_id
from crondor.schedule import JobSchedule
from crondor.spec import FIELDS
from crondor.times import JobTimes

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


class CatchUp(NamedTuple):
    """A run that makes up a missed time of a job: ``time`` is its DeferralTime (epoch seconds).

    ``applied`` is None if it is only reported, and False if the job had changed in the meantime.
    """

    job: JobId
    missed: int
    time: int
    applied: bool | None


class GuardPass(NamedTuple):
    """The corrections of one pass, the number of jobs checked, jobs that cannot be corrected, and made-up runs."""

    corrections: list[Correction]
    jobs: int
    trouble: dict[JobId, tuple[Diagnostic, ...]]
    catch_ups: list[CatchUp]


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
        catch_ups: list[CatchUp] = []
        ads = self._schedd.jobs(self._which)
        for ad in ads:
            job = job_id(ad)
            if job is None:
                continue
            before = attributes.exact_integer(ad, "DeferralTime")  # the edit compares it with =?=
            try:  # the manual may not allow the schedule, or it never runs
                times = JobTimes.from_queue(QueuedJob(ad), now, zone=self._zone, policy=self._policy)
                time = None if is_made_up(ad, times, now) else right_time(times.schedule, before, now)
                missed = missed_time(ad, times, now) if time is None else None
                made_up = None if missed is None else makeup_time(times, missed, now)
            except CrondorError as error:
                trouble[job] = error.diagnostics
                continue
            if time is not None:
                corrections.append(Correction(job, before, time, self._edit(job, before, time) if apply else None))
            elif missed is not None and made_up is not None:
                done = self._make_up(ad, job, missed, made_up) if apply else None
                catch_ups.append(CatchUp(job, missed, made_up, done))
        return GuardPass(corrections, len(ads), trouble, catch_ups)

    def _edit(self, job: JobId, before: int | None, time: int, condition: str = "true") -> bool:
        seen = "isInteger(DeferralTime) == false" if before is None else f"DeferralTime =?= {before}"
        return self._schedd.edit_if(job, f"JobStatus == 1 && {seen} && {condition}", {"DeferralTime": time})

    def _make_up(self, ad: ClassAd, job: JobId, missed: int, time: int) -> bool:
        """Mark a job, and then set its DeferralTime: of two guards, only the one whose mark it has goes on."""
        before, mark = (attributes.exact_integer(ad, name) for name in ("DeferralTime", _MARK))
        unmarked = f"{_MARK} =?= {'undefined' if mark is None else mark}"
        condition = f"JobStatus == 1 && DeferralTime =?= {before} && {unmarked}"
        marked = self._schedd.edit_if(job, condition, {_MARK: time, "CrondorCaughtUp": missed})
        return marked and self._edit(job, before, time, f"{_MARK} =?= {time}")


_MARK: Final = "CrondorCatchUpTime"
_LEAD: Final = 120  # seconds for a negotiation, before the window of a made-up run ends
_CLOCKS: Final = 10  # seconds by which clocks may differ
_RAN: Final = frozenset((JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT, JobStatus.SUSPENDED))


def is_made_up(ad: ClassAd, times: JobTimes, now: int) -> bool:
    """Return whether a guard has set the DeferralTime of an idle job, and the run may still start at ``now``."""
    time = times.present  # that the schedd sees
    return (
        time is not None and time == attributes.exact_integer(ad, _MARK) and now <= times.deferral(time, now).last_start
    )


# A shadow sets JobCurrentStartExecutingDate when the program starts; local jobs have only the time of the match,
# JobCurrentStartDate, later JobLastStartDate. A change of JobStatus sets LastJobStatus and EnteredCurrentStatus.
def missed_time(ad: ClassAd, times: JobTimes, now: int) -> int | None:
    """Return the last time of an idle job that it wants to be made up at ``now`` (epoch seconds), None if none.

    Its last time before now counts, if the job was in the queue and not on hold then, and no program started for it.
    """
    within, present = attributes.exact_integer(ad, "CrondorCatchUp"), times.present
    queues = attributes.string(ad, "CrondorOverlap") == "queue"
    if (within is None and not queues) or present is None or present <= now or is_made_up(ad, times, now):
        return None
    missed = _previous(times, now + 1)
    if missed is None or missed <= (attributes.integer(ad, "QDate") or 0):
        return None
    since, state = attributes.integer(ad, "EnteredCurrentStatus") or 0, attributes.int32(ad, "LastJobStatus")
    was_late = attributes.int32(ad, "LastHoldReasonCode") == MISSED_DEFERRED_EXECUTION_TIME
    if missed <= since and state == JobStatus.HELD and not was_late:
        return None
    match = max(attributes.integer(ad, name) or 0 for name in ("JobCurrentStartDate", "JobLastStartDate"))
    began, earliest = attributes.integer(ad, "JobCurrentStartExecutingDate") or 0, missed - _CLOCKS
    if attributes.int32(ad, "JobUniverse") in SHADOWLESS:
        began, earliest = match if attributes.count(ad, "NumJobStarts") else 0, _first_match(times, missed, now)
    if state == JobStatus.HELD and was_late:
        began = 0  # the shadow has written a start, and its starter let nothing run
    if began >= earliest:
        return None
    if missed <= since and state in _RAN and 0 < match <= began:
        return missed if queues else None
    return missed if within is not None and now - missed <= within else None


def _first_match(times: JobTimes, time: int, now: int) -> int:
    """Return the earliest match for a time, after the window of the time before it."""
    before, opens = _previous(times, time), times.deferral(time, now).match_opens
    return opens if before is None else min(max(opens, times.deferral(before, now).last_start + 1), time)


def _previous(times: JobTimes, before: int) -> int | None:
    try:
        return times.previous(before)
    except (NeverRuns, OutOfRange):
        return None


def makeup_time(times: JobTimes, missed: int, now: int) -> int | None:
    """Return the DeferralTime for a run at ``now`` that makes up a time, None if the next run is too close."""
    window = times.deferral(missed, now).window
    time = now + max(_LEAD - window, 0)
    following = next(times.runs(now), None)
    return time if following is None or time + window + _CLOCKS < following else None


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
