"""The periodic policy of sources: their schedd leaves it to whoever manages them (router.md 1.8)."""

from __future__ import annotations

from typing import Final, NamedTuple

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.event_log import EventType
from crondor.job.attributes import exact_boolean, exact_integer, fires
from crondor.queued import JobStatus
from crondor.router.life.operations import moved_release
from crondor.router.life.reading import HOLD_COPIED, status
from crondor.world.policy import Act, exceeded, has_periodic, held_for_it, periodic

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
        too_long = exceeded(source, int(current), now, "ShadowBday")  # which the copy shows in its source
        if too_long is not None:
            return _hold(source, too_long.reason, too_long.code, 0, now)
        if fires(source, "PeriodicVacate", context):
            return None
    return _periodic(source, current, now, context) if has_periodic(source) else None


def _periodic(source: ClassAd, current: JobStatus, now: int, context: Context) -> Ruled | None:
    found = periodic(source, int(current), now, context)
    if found.act is Act.UNDEFINED and current is not JobStatus.HELD:
        found = held_for_it(found)
    if found.act is Act.HOLD:
        return _hold(source, found.reason, found.code, found.subcode, now)
    if found.act is Act.REMOVE:
        return Ruled({"RemoveReason": found.reason, "EnteredCurrentStatus": now, "JobStatus": 3}, None)
    return None


def _hold(source: ClassAd, reason: str, code: int, subcode: int, now: int) -> Ruled:
    edits: dict[str, object] = {"HoldReason": reason, "HoldReasonCode": code, "HoldReasonSubCode": subcode}
    edits |= dict(moved_release(source))
    edits |= {"NumSystemHolds": (exact_integer(source, "NumSystemHolds") or 0) + 1, "EnteredCurrentStatus": now}
    if exact_boolean(source, HOLD_COPIED):  # of an earlier hold, which somebody has released
        edits[HOLD_COPIED] = False
    return Ruled({**edits, "JobStatus": int(JobStatus.HELD)}, EventType.JOB_HELD)
