"""What hold, release and remove write into a job (HTCondor 25.14: ``Scheduler::actOnJobs``, ``holdJob``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from crondor.classad import lower
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.hold_codes import HOLD_CODES, SPOOLING_INPUT, USER_REQUEST
from crondor.job.attributes import count, expression, int32, integer_of
from crondor.job.status import JobStatus
from crondor.schedd.protocol import Hold

_FOLLOWED: Final = frozenset(("jobstatus", "holdreasoncode"))

Writes: TypeAlias = Mapping[str, object]
"""Attributes by name, as Python values or Expressions; None deletes."""


def entered(ad: ClassAd, status: JobStatus, now: int) -> dict[str, object]:
    """Return what a change of JobStatus at ``now`` (epoch seconds) writes."""
    made: dict[str, object] = {"JobStatus": int(status), "EnteredCurrentStatus": now}
    before = int32(ad, "JobStatus")
    if before is not None:
        made["LastJobStatus"] = before
    return made


def can_be_held(ad: ClassAd, hold: Hold) -> bool:
    """Say whether a job that is held can be held again: by its user, where somebody else had held it."""
    return hold.code == USER_REQUEST and int32(ad, "HoldReasonCode") not in {USER_REQUEST, SPOOLING_INPUT}


def held(ad: ClassAd, hold: Hold, now: int, *, by_schedd: bool = True) -> dict[str, object]:
    """Return what putting a job on hold writes: what it was released for last is kept.

    The schedd moves ReleaseReason to LastReleaseReason; where shadow or starter hold a job, it stays as it is.
    """
    edits: dict[str, object] = {
        **(_moved(ad, "ReleaseReason") if by_schedd else {}),
        "JobStatus": int(JobStatus.HELD),
        "EnteredCurrentStatus": now,
        "LastSuspensionTime": 0,
        "HoldReason": hold.reason,
        "HoldReasonCode": hold.code,
        **({} if hold.subcode is None else {"HoldReasonSubCode": hold.subcode}),
    }
    return {**edits, **followed(ad, edits)}


def counted(ad: ClassAd, code: int) -> dict[str, object]:
    """Return NumHolds and NumHoldsByReason of a job with one hold more; one to spool its input is none."""
    if code == SPOOLING_INPUT:
        return {}
    name = HOLD_CODES.get(code, HOLD_CODES[0])
    reasons = _reasons(ad)
    before = reasons.get(name)
    reasons[name] = (integer_of(before) or 0) + 1
    return {"NumHolds": count(ad, "NumHolds") + 1, "NumHoldsByReason": reasons}


def followed(ad: ClassAd, edits: Mapping[str, object]) -> dict[str, object]:
    """Return what a schedd writes by itself beside edits of a job that has ``ad`` (25.14: ``SetAttribute``).

    The status that it had, where that changes; for a HoldReasonCode one hold more. What the edits say themselves stays.
    """
    given = {lower(name) for name in edits}
    if given.isdisjoint(_FOLLOWED):
        return {}
    asked = ClassAd({name: edits[name] for name in edits if lower(name) in _FOLLOWED})
    made: dict[str, object] = {}
    before, after = int32(ad, "JobStatus"), int32(asked, "JobStatus")
    if before is not None and before > 0 and after is not None and after != before:
        made["LastJobStatus"] = before
        if (before, after) == (JobStatus.REMOVED, JobStatus.HELD):
            made["JobStatusOnRelease"] = before
    code = int32(asked, "HoldReasonCode")
    if code is not None:
        made |= counted(ad, code)
    return {name: value for name, value in made.items() if lower(name) not in given}


def _reasons(ad: ClassAd) -> dict[str, object]:
    try:
        value = ad.python("NumHoldsByReason")
    except CrondorError:
        value = None
    return dict(value) if isinstance(value, Mapping) else {}


def released(ad: ClassAd, reason: str, now: int) -> dict[str, object]:
    """Return what releasing a job writes: what it was held for is kept as the last reason."""
    status = int32(ad, "JobStatusOnRelease")
    after = JobStatus(status) if status in set(JobStatus) else JobStatus.IDLE
    return {**entered(ad, after, now), "ReleaseReason": reason, **_no_longer_held(ad)}


def removed(ad: ClassAd, reason: str, now: int) -> dict[str, object]:
    """Return what removing a job writes, before it leaves."""
    return {**entered(ad, JobStatus.REMOVED, now), "RemoveReason": reason, **_no_longer_held(ad)}


def _no_longer_held(ad: ClassAd) -> dict[str, object]:
    gone = {"JobStatusOnRelease": None} if "JobStatusOnRelease" in ad else {}
    return {**_moved(ad, "HoldReason", "HoldReasonCode", "HoldReasonSubCode"), **gone}


def _moved(ad: ClassAd, *names: str) -> dict[str, object]:
    there = {name: expression(ad, name) for name in names if name in ad}
    kept = {f"Last{name}": code for name, code in there.items() if code is not None}
    return {**kept, **dict.fromkeys(there)}
