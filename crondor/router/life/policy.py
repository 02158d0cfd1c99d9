"""The periodic policy of sources: their schedd leaves it to whoever manages them (router.md 1.8)."""

from __future__ import annotations

from typing import Final, NamedTuple

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.event_log import EventType
from crondor.queued import JobStatus
from crondor.router.life.operations import UNDEFINED
from crondor.router.life.reading import HOLD_COPIED, integer, is_true, status
from crondor.world.policy import Act, has_periodic, periodic

UNDEFINED_CODE: Final = 5  # CONDOR_HOLD_CODE JobPolicyUndefined
DURATION_CODE: Final = 46  # CONDOR_HOLD_CODE JobDurationExceeded
EXECUTE_CODE: Final = 47  # CONDOR_HOLD_CODE JobExecuteExceeded
_OVER: Final = (JobStatus.REMOVED, JobStatus.COMPLETED)


class Ruled(NamedTuple):
    """What a source's policy writes into it, and the event of its log; HTCondor's router writes none for a removal."""

    edits: dict[str, object]
    event: EventType | None


def ruled(source: ClassAd, now: int, context: Context) -> Ruled | None:
    """Return what a source's periodic expressions and longest times do to it at ``now`` (epoch seconds), or None.

    A release is nobody's business: who is held by his own policy is given back to the schedd. One that shows its copy's
    hold may be removed, unless its periodic_release is true: that comes first. So does the periodic_vacate of one that
    runs, which is the copy's to follow.
    """
    current = status(source)
    if current is None or current in _OVER:
        return None
    if current is JobStatus.HELD:
        return _periodic(source, current, now, context) if has_periodic(source) else None
    if current in (JobStatus.RUNNING, JobStatus.SUSPENDED):
        too_long = _exceeded(source, now)
        if too_long is not None:
            return _hold(source, *too_long, 0, now)
        if is_true(source, "PeriodicVacate", context):
            return None
    if "TimerRemove" in source and integer(source, "TimerRemove") is None:
        text = source.text("TimerRemove")
        return _hold(
            source, f"The job attribute TimerRemove expression '{text}' evaluated to UNDEFINED", UNDEFINED_CODE, 0, now
        )
    return _periodic(source, current, now, context) if has_periodic(source) else None


def _periodic(source: ClassAd, current: JobStatus, now: int, context: Context) -> Ruled | None:
    found = periodic(source, int(current), now, context)
    if found.act is Act.HOLD:
        return _hold(source, found.reason, found.code, found.subcode, now)
    if found.act is Act.REMOVE:
        return Ruled({"RemoveReason": found.reason, "EnteredCurrentStatus": now, "JobStatus": 3}, None)
    return None


def _exceeded(source: ClassAd, now: int) -> tuple[str, int] | None:
    """Return why a job that runs has done so for too long, and the code of its hold; None where it has not.

    It counts from ShadowBday and JobCurrentStartExecutingDate, which the copy shows in its source; of two runs'
    times the older one does not count (``UserPolicy::AnalyzePolicy``).
    """
    born = integer(source, "ShadowBday")
    if born is None:
        return None
    allowed = integer(source, "AllowedJobDuration")
    if allowed is not None and now - born >= allowed:
        return f"The job exceeded allowed job duration of {_duration(allowed)}", DURATION_CODE
    allowed, began = integer(source, "AllowedExecuteDuration"), integer(source, "JobCurrentStartExecutingDate")
    if allowed is None or began is None or began < born:
        return None
    began = max(began, integer(source, "TransferOutFinished") or 0)
    if now - began > allowed:
        return f"The job exceeded allowed execute duration of {_duration(allowed)}", EXECUTE_CODE
    return None


def _duration(seconds: int) -> str:
    """Return a length as HTCondor's ``format_time_short`` writes it: ``1+02:03:04`` without what is 0 in front."""
    minutes, second = divmod(max(0, seconds), 60)
    hours, minute = divmod(minutes, 60)
    text = f"{hours // 24}+{hours % 24:02}:{minute:02}:{second:02}".lstrip(" 0+")
    return text.removeprefix(":")


def _hold(source: ClassAd, reason: str, code: int, subcode: int, now: int) -> Ruled:
    edits: dict[str, object] = {"HoldReason": reason, "HoldReasonCode": code, "HoldReasonSubCode": subcode}
    if "ReleaseReason" in source and source.text("ReleaseReason").strip().lower() != "undefined":
        edits |= {"LastReleaseReason": source["ReleaseReason"], "ReleaseReason": UNDEFINED}
    edits |= {"NumSystemHolds": (integer(source, "NumSystemHolds") or 0) + 1, "EnteredCurrentStatus": now}
    if is_true(source, HOLD_COPIED):  # of an earlier hold, which somebody has released
        edits[HOLD_COPIED] = False
    return Ruled({**edits, "JobStatus": int(JobStatus.HELD)}, EventType.JOB_HELD)
