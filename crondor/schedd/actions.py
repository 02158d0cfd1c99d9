"""What hold, release and remove write into a job (HTCondor 25.14: ``Scheduler::actOnJobs``, ``holdJob``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from crondor.classad import EvaluationFailed, lower
from crondor.classad.ad import ClassAd
from crondor.queued import JobStatus
from crondor.schedd.protocol import Hold

_LONGEST: Final = 18  # digits of a number that is one

Writes: TypeAlias = Mapping[str, object]
"""Attributes by name, as Python values or Expressions; None deletes."""


def entered(ad: ClassAd, status: JobStatus, now: int) -> dict[str, object]:
    """Return what a change of JobStatus at ``now`` (epoch seconds) writes."""
    made: dict[str, object] = {"JobStatus": int(status), "EnteredCurrentStatus": now}
    before = integer(ad, "JobStatus")
    if before is not None:
        made["LastJobStatus"] = before
    return made


def held(ad: ClassAd, hold: Hold, now: int) -> dict[str, object]:
    """Return what putting a job on hold writes."""
    return {
        **entered(ad, JobStatus.HELD, now),
        "HoldReason": hold.reason,
        "HoldReasonCode": hold.code,
        "HoldReasonSubCode": hold.subcode,
        "NumHolds": count(ad, "NumHolds") + 1,
    }


def released(ad: ClassAd, reason: str, now: int) -> dict[str, object]:
    """Return what releasing a job writes: what it was held for is kept as the last reason."""
    return {**entered(ad, JobStatus.IDLE, now), "ReleaseReason": reason, **_no_longer_held(ad)}


def removed(ad: ClassAd, reason: str, now: int) -> dict[str, object]:
    """Return what removing a job writes, before it leaves."""
    return {**entered(ad, JobStatus.REMOVED, now), "RemoveReason": reason, **_no_longer_held(ad)}


def _no_longer_held(ad: ClassAd) -> dict[str, object]:
    names = [name for name in ("HoldReason", "HoldReasonCode", "HoldReasonSubCode") if name in ad]
    return {**{f"Last{name}": ad[name] for name in names}, **dict.fromkeys(names)}


def count(ad: ClassAd, name: str) -> int:
    """Return a counter of a job; 0 where it has none."""
    found = integer(ad, name)
    return found if found is not None and found > 0 else 0


def integer(ad: ClassAd, name: str) -> int | None:
    """Return an attribute's value where it is an integer."""
    text = ad.codes.get(lower(name))
    if isinstance(text, str) and text.isdecimal() and len(text) <= _LONGEST:
        return int(text)  # most are written as plain numbers, and reading them as expressions costs more
    try:
        value = ad.value(name)
    except EvaluationFailed:
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
