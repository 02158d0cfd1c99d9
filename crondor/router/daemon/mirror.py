"""What of a copy's state its source shows: HTCondor 25.14's job router (``update_job_status``)."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from crondor.classad import lower
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.event_log import EventType
from crondor.job.attributes import exact_boolean, exact_integer, expression, string
from crondor.job.status import JobStatus
from crondor.router.daemon.operations import moved_release
from crondor.router.daemon.reading import HOLD_COPIED, RUNNING, status

MIRRORED: Final = (
    "BytesSent", "BytesRecvd", "CompletionDate", "JobRunCount", "JobStartDate", "ExitBySignal", "ExitSignal",
    "ExitCode", "ExitReason", "JobCurrentStartDate", "JobCurrentStartExecutingDate", "JobLastStartDate", "ShadowBday",
    "RemoteSysCpu", "RemoteUserCpu", "NumCkpts", "NumJobStarts", "NumJobReconnects", "NumShadowExceptions",
    "NumShadowStarts", "NumJobMatches", "NumRestarts", "RemoteWallClockTime", "LastRemoteWallClockTime",
    "JobCoreDumped", "ImageSize", "MemoryUsage", "ResidentSetSize", "ProportionalSetSizeKb", "DiskUsage",
    "ScratchDirFileCount", "SpooledOutputFiles", "CpusUsage", "CpusProvisioned", "DiskProvisioned",
    "MemoryProvisioned",
)  # fmt: skip
"""The attributes that are copied whenever the copy has them and they differ; none is ever deleted from the source."""

_MIRRORED: Final = tuple((name.lower(), name) for name in MIRRORED)


@dataclass
class Mirrored:
    """What to write into the source, and the events of its user log; no ``edits``: it shows all there is."""

    edits: dict[str, object] = field(default_factory=dict)
    events: list[EventType] = field(default_factory=list)


def mirrored(
    source: ClassAd, copy: ClassAd, now: int, *, names: Iterable[str] = (), patterns: Sequence[str] = ("Chirp*",)
) -> Mirrored | None:
    """Return what of a copy's state its source does not show at ``now`` (epoch seconds).

    ``names`` are attributes to copy beside those of MIRRORED, ``patterns`` those of CHIRP_DELAYED_UPDATE_PREFIX.
    None where one of the two has no JobStatus.
    """
    before, after = status(source), status(copy)
    if before is None or after is None:
        return None
    found = Mirrored()
    if before is not JobStatus.HELD and exact_boolean(source, HOLD_COPIED):
        found.edits[HOLD_COPIED] = False
    if before is not after:
        _status(source, copy, after, now, found)
    mine, theirs = source.codes, copy.codes
    for low, name in (*_MIRRORED, *((lower(name), name) for name in names), *_like(copy, tuple(patterns))):
        code = theirs.get(low)
        if code is None or (code.__class__ is str and code == mine.get(low)):
            continue
        shown = None if _is_same(source, copy, name) else expression(copy, name)
        if shown is not None:
            found.edits[name] = shown
    return found


def _status(source: ClassAd, copy: ClassAd, after: JobStatus, now: int, found: Mirrored) -> None:
    before = status(source)
    if after is JobStatus.REMOVED or before in (JobStatus.REMOVED, JobStatus.COMPLETED):
        return
    if after is JobStatus.HELD:
        if before is not JobStatus.HELD:
            found.edits |= dict(_hold(source, copy, now))
    elif after is JobStatus.IDLE or after in RUNNING:
        shown = JobStatus.IDLE if after is JobStatus.IDLE else JobStatus.RUNNING
        if before is shown or (before is JobStatus.HELD and not exact_boolean(source, HOLD_COPIED)):
            return
        found.edits |= {"JobStatus": int(shown), "EnteredCurrentStatus": now}
        if exact_boolean(source, HOLD_COPIED):
            found.edits[HOLD_COPIED] = False
        if shown is JobStatus.IDLE and before in RUNNING:
            found.events.append(EventType.JOB_EVICTED)
        elif shown is JobStatus.RUNNING and before is JobStatus.IDLE:
            found.events.append(EventType.EXECUTE)
    else:
        found.edits["JobStatus"] = int(after)


def _hold(source: ClassAd, copy: ClassAd, now: int) -> Iterator[tuple[str, object]]:
    """Yield what the copy's hold writes into the source; JobStatus comes last.

    Of a hold without a reason, as after a bare edit of JobStatus, the reason is empty and the subcode 0.
    """
    reason = string(copy, "HoldReason")
    yield "HoldReason", reason or ""
    yield "HoldReasonCode", exact_integer(copy, "HoldReasonCode") or 0
    yield "HoldReasonSubCode", 0 if reason is None else exact_integer(copy, "HoldReasonSubCode") or 0
    yield from moved_release(source)
    yield "NumSystemHolds", (exact_integer(source, "NumSystemHolds") or 0) + 1
    yield "EnteredCurrentStatus", now
    yield HOLD_COPIED, True
    yield "JobStatus", int(JobStatus.HELD)


def _like(copy: ClassAd, patterns: tuple[str, ...]) -> list[tuple[str, str]]:
    wanted = _wanted(patterns)
    return [(low, name) for low, name in copy.names.items() if wanted(low)] if wanted is not None else []


@lru_cache(maxsize=64)
def _wanted(patterns: tuple[str, ...]) -> Callable[[str], object] | None:
    """Return what says whether a name in lower case is like one of the patterns; None: there are none."""
    if not patterns:
        return None
    return re.compile("|".join(fnmatch.translate(lower(pattern)) for pattern in patterns)).match


def _is_same(source: ClassAd, copy: ClassAd, name: str) -> bool:
    if name not in source:
        return False
    if source.text(name) == copy.text(name):
        return True
    try:
        return source[name] == copy[name]
    except CrondorError:
        return False
