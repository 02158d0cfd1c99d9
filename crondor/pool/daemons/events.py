"""What a pool tells those who watch it, and these events in a user log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Final, NamedTuple, Protocol, TypeAlias

from crondor.event_log import EventType, JobEvent
from crondor.job.attributes import ending, int32, integer
from crondor.pool.daemons.pool_job import PoolJob
from crondor.pool.settings import SUCCESS, Exit


class PoolEventKind(str, Enum):
    """What happened to a job.

    ``number`` of a Happening is, for PLANNED, the DeferralTime; for ARRIVED, the seconds it waits, negative where it
    is late; for HELD, the HoldReasonCode; for ENDED, 1 where the job is queued again.
    """

    SUBMITTED = "submitted"
    PLANNED = "planned"
    REJECTED = "rejected"
    MATCHED = "matched"
    ARRIVED = "arrived"
    STARTED = "started"
    SUSPENDED = "suspended"
    RESUMED = "resumed"
    ENDED = "ended"
    EVICTED = "evicted"
    HELD = "held"
    RELEASED = "released"
    REMOVED = "removed"
    COMPLETED = "completed"
    LEFT = "left"


class PoolEvent(NamedTuple):
    """One thing that happened to a job at a time (epoch seconds)."""

    time: int
    what: PoolEventKind
    job: PoolJob
    number: int = 0
    text: str = ""


class QuietRun(NamedTuple):
    """A run of which nothing but numbers is to be told (epoch seconds): when it is matched, arrives, starts, ends; how.

    Its job stays, see ``daemons.quiet``.
    """

    matched: int
    arrived: int
    started: int
    ended: int
    exit: Exit


class RunWatcher(Protocol):
    """A watcher that can be told of a whole run at once, and of the time of the next (epoch seconds)."""

    def note_run(self, job: PoolJob, run: QuietRun) -> None:
        """Take note of all that happens to a run, from its match to its end."""

    def note_plan(self, job: PoolJob, time: int) -> None:
        """Take note of a new DeferralTime."""


Watcher: TypeAlias = Callable[[PoolEvent], None]

Told: TypeAlias = Iterator[tuple[EventType, dict[str, object]]]

_SUBMIT_HOST: Final = "<127.0.0.1:9618?alias=schedd.example.org>"
_EXECUTE_HOST: Final = "<127.0.0.1:9618?alias=execute.example.org>"
_BEGUN, _DONE, _OUT_BEGUN, _OUT_DONE = 2, 3, 5, 6  # the types of a transfer


# HTCondor: Scheduler::WriteHoldToUserLog, BaseShadow::logTerminateEvent.
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
