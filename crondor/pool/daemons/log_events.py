"""What happens in a pool as the events that HTCondor writes into a job's user log.

HTCondor: Scheduler::WriteHoldToUserLog, BaseShadow::logTerminateEvent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from crondor.event_log import EventType, JobEvent
from crondor.job.attributes import ending, int32, integer
from crondor.pool.daemons.events import PoolEvent, PoolEventKind
from crondor.pool.settings.exits import SUCCESS

Told: TypeAlias = Iterator[tuple[EventType, dict[str, object]]]

_SUBMIT_HOST: Final = "<127.0.0.1:9618?alias=schedd.example.org>"
_EXECUTE_HOST: Final = "<127.0.0.1:9618?alias=execute.example.org>"
_BEGUN, _DONE, _OUT_BEGUN, _OUT_DONE = 2, 3, 5, 6  # the types of a transfer


def events(seen: PoolEvent) -> Iterator[JobEvent]:
    """Yield the events that a happening puts into the log, none for what no log tells."""
    teller = _TELLERS.get(seen.what)
    for kind, values in () if teller is None else teller(seen):
        yield JobEvent(kind, seen.job.id.cluster, seen.job.id.proc, seen.time, attributes=values)


def _submitted(_seen: PoolEvent) -> Told:
    yield EventType.SUBMIT, {"SubmitHost": _SUBMIT_HOST}


def _matched(seen: PoolEvent) -> Told:
    if not seen.job.is_local:
        yield EventType.FILE_TRANSFER, {"Type": _BEGUN, "Host": _EXECUTE_HOST}


def _arrived(seen: PoolEvent) -> Told:
    if not seen.job.is_local:
        yield EventType.FILE_TRANSFER, {"Type": _DONE}


def _started(_seen: PoolEvent) -> Told:
    yield EventType.EXECUTE, {"ExecuteHost": _EXECUTE_HOST}


def _ended(seen: PoolEvent) -> Told:
    if not seen.job.is_local:
        yield EventType.FILE_TRANSFER, {"Type": _OUT_BEGUN}
        yield EventType.FILE_TRANSFER, {"Type": _OUT_DONE}
    if seen.number:
        yield EventType.JOB_EVICTED, {"TerminatedAndRequeued": True, "Reason": seen.text, **_exit(seen)}


def _evicted(seen: PoolEvent) -> Told:
    if seen.job.run is not None and seen.job.run.started is not None:
        yield EventType.JOB_EVICTED, {}


def _suspended(_seen: PoolEvent) -> Told:
    yield EventType.JOB_SUSPENDED, {}


def _resumed(_seen: PoolEvent) -> Told:
    yield EventType.JOB_UNSUSPENDED, {}


def _held(seen: PoolEvent) -> Told:
    subcode = int32(seen.job.ad, "HoldReasonSubCode") or 0
    yield EventType.JOB_HELD, {"HoldReason": seen.text, "HoldReasonCode": seen.number, "HoldReasonSubCode": subcode}


def _released(seen: PoolEvent) -> Told:
    yield EventType.JOB_RELEASED, {"Reason": seen.text}


def _removed(seen: PoolEvent) -> Told:
    yield EventType.JOB_ABORTED, {"Reason": seen.text}


def _completed(seen: PoolEvent) -> Told:
    yield EventType.JOB_TERMINATED, _exit(seen)


def _exit(seen: PoolEvent) -> dict[str, object]:
    """Return how the program ended, and what processor time it took where that is known."""
    ad, run = seen.job.ad, seen.job.run
    found = run.exit if run is not None else ending(ad) or SUCCESS  # the queue is not told everything
    said: dict[str, object] = {"TerminatedBySignal" if found.by_signal else "ReturnValue": found.number}
    user, system = (_span(integer(ad, name)) for name in ("RemoteUserCpu", "RemoteSysCpu"))
    if user is not None and system is not None:
        said |= dict.fromkeys(("RunRemoteUsage", "TotalRemoteUsage"), f"Usr {user}, Sys {system}")
    return said


def _span(seconds: int | None) -> str | None:
    if seconds is None or seconds < 0:
        return None
    return f"{seconds // 86_400} {seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


_TELLERS: Final[dict[PoolEventKind, Callable[[PoolEvent], Told]]] = {
    PoolEventKind.SUBMITTED: _submitted,
    PoolEventKind.MATCHED: _matched,
    PoolEventKind.ARRIVED: _arrived,
    PoolEventKind.STARTED: _started,
    PoolEventKind.ENDED: _ended,
    PoolEventKind.EVICTED: _evicted,
    PoolEventKind.SUSPENDED: _suspended,
    PoolEventKind.RESUMED: _resumed,
    PoolEventKind.HELD: _held,
    PoolEventKind.RELEASED: _released,
    PoolEventKind.REMOVED: _removed,
    PoolEventKind.COMPLETED: _completed,
}
