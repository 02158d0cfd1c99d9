"""What an ad tells of a job's history: one look at it, now or when it had left the queue.

A shadow writes JobCurrentStartExecutingDate at once when the program begins; it stays when the run has ended, and
JobCurrentStartDate, that of the match, becomes JobLastStartDate with the next match. A match that has ended took
LastRemoteWallClockTime. Local jobs have all of these but JobCurrentStartExecutingDate: a schedd that starts one itself
calls that a match (HTCondor 25.14, a personal pool).
"""

from __future__ import annotations

from typing import Final

from crondor.classad import Context
from crondor.hold_codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.job.attributes import count, int32, integer
from crondor.job.queued import QueuedJob
from crondor.job.status import ON_MACHINE, JobStatus
from crondor.monitor.job_history import CLOCKS, JobCondition, JobHistory, Start, Turn
from crondor.schedule import Universe

_EXTERNAL: Final = "External"  # Managed: a router's, or the gridmanager's
_LONGEST: Final = 300  # characters of a reason
_AHEAD: Final = 60  # seconds by which a machine's clock may be ahead of ours
_THERE: Final = ON_MACHINE | {JobStatus.TRANSFERRING_OUTPUT}
_ENDS: Final = {
    JobStatus.IDLE: JobCondition.IDLE,
    JobStatus.HELD: JobCondition.HELD,
    JobStatus.REMOVED: JobCondition.GONE,
    JobStatus.COMPLETED: JobCondition.GONE,
}
COMPLETED: Final = "completed"


def sight(
    history: JobHistory, queued: QueuedJob, now: int, *, sees_deferral_time: bool = True, is_logged: bool = False
) -> None:
    """Take in what an ad says at ``now`` (epoch seconds); a DeferralTime only from who sees it as it is written.

    ``is_logged``: a user log tells of each start, also of those between two looks.
    """
    status, ad = queued.status, queued.ad
    if status is None:
        return
    since = _past(integer(ad, "EnteredCurrentStatus"), now)
    if since is None:
        since = now  # of an ad that does not say, only how it is now is known
    due = integer(ad, "DeferralTime", Context(now=now)) if sees_deferral_time else None
    if due is not None and status not in (JobStatus.REMOVED, JobStatus.COMPLETED):
        history.sight(due, now)
    last, there = (_past(integer(ad, name), now) for name in ("JobLastStartDate", "JobCurrentStartDate"))
    matches = 0 if is_logged else count(ad, "NumShadowStarts")
    seen = history.see(now, matches, [time for time in (last, there) if time is not None])
    began = _began(queued, status, since, now)
    if last is not None and last <= since:
        is_unseen = not is_logged and began is not None and there is not None and began >= there
        if is_unseen and (seen is None or seen < last):
            history.turn(Turn(last, JobCondition.UNSEEN))  # no ad tells any more when its program began
        else:
            history.match(last)
    was_held = not is_logged and seen is None and count(ad, "NumHolds") > 0
    away = JobCondition.UNSEEN if was_held else JobCondition.IDLE
    if status in _THERE:
        _sight_there(history, queued, since, began, due, away)
        return
    if there is not None and there <= since:
        history.match(there)
    if began is not None:
        _begin(history, began, None)
    if int32(ad, "LastJobStatus") not in _THERE:
        _end(history, queued, there, since, away)
    history.turn(_turn(queued, status, since))


def has_copy(queued: QueuedJob) -> bool:
    """Say whether a copy runs in the place of a job: a router made it, or the gridmanager in another schedd."""
    is_grid = (queued.string("GridResource") or "").lower().startswith("condor ")
    return "RoutedToJobId" in queued.ad or (is_grid and queued.integer("JobUniverse") == Universe.GRID)


def _sight_there(
    history: JobHistory, queued: QueuedJob, since: int, began: int | None, due: int | None, away: JobCondition
) -> None:
    """Take in that a job is on a machine, and whether its program has begun there; ``away`` as for ``_end``."""
    there, last = (integer(queued.ad, name) for name in ("JobCurrentStartDate", "JobLastStartDate"))
    has_come = int32(queued.ad, "LastJobStatus") == JobStatus.IDLE
    if began is not None and _is_of_match(began, there, due):
        if has_come:
            history.match(since)
        _begin(history, began, due)
        return
    if began is not None:
        _begin(history, began, None)
    _end(history, queued, last, since, away)
    if there is None:
        history.turn(Turn(since, JobCondition.UNSEEN))  # of a shortened ad nobody knows whether its program began
    elif has_come:
        history.match(since)
    else:
        history.turn(Turn(since, JobCondition.WAITING))


def _begin(history: JobHistory, began: int, due: int | None) -> None:
    history.start(Start(began, due))
    history.turn(Turn(began, JobCondition.RUNNING))


def _is_of_match(began: int, there: int | None, due: int | None) -> bool:
    """Say whether the program that began last is that of the present match, and none before it.

    One may have ended in the second in which the job was matched again; none begins before its DeferralTime.
    """
    return (there is None or began >= there) and (due is None or began >= due - CLOCKS)


def _began(queued: QueuedJob, status: JobStatus, since: int, now: int) -> int | None:
    """Return when the last program began, None where none is known; a hold of code 20 tells that none did."""
    began = integer(queued.ad, "JobCurrentStartExecutingDate")
    if began is None or not 0 < began <= now + _AHEAD:
        return None
    if status is not JobStatus.HELD:
        return began
    missed = queued.integer("HoldReasonCode") == MISSED_DEFERRED_EXECUTION_TIME
    there = integer(queued.ad, "JobCurrentStartDate")
    return None if missed and (there is None or began >= there) and began <= since else began


def _end(history: JobHistory, queued: QueuedJob, begin: int | None, since: int, away: JobCondition) -> None:
    """Take in the end of the last match that has ended, which began at ``begin``, where the ad tells of it.

    ``away`` is what the job did from then to ``since``: of one that was held before the first look nobody knows when.
    """
    length = integer(queued.ad, "LastRemoteWallClockTime")
    if begin is not None and length is not None and begin + length <= since:
        history.turn(Turn(begin + length, away))


def _turn(queued: QueuedJob, status: JobStatus, since: int) -> Turn:
    condition = _ENDS[status]
    if condition is JobCondition.HELD:
        return Turn(since, condition, queued.integer("HoldReasonCode"), _short(queued.string("HoldReason")))
    if status is JobStatus.REMOVED:
        return Turn(since, condition, reason=_short(queued.string("RemoveReason")) or "removed")
    if status is JobStatus.COMPLETED:
        return Turn(since, condition, reason=COMPLETED)
    has_manager = queued.string("Managed") == _EXTERNAL
    by_router = has_manager and ("RoutedToJobId" in queued.ad or queued.integer("JobUniverse") != Universe.GRID)
    return Turn(since, JobCondition.ROUTED if by_router else condition)


def _past(time: int | None, now: int) -> int | None:
    """Return a moment that an ad names, None for none; one ahead of our clock is taken for now."""
    return None if time is None or time <= 0 else min(time, now)


def _short(text: str | None) -> str:
    return (text or "")[:_LONGEST]
