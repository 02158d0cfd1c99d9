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

    ``number`` is, for PLANNED, the DeferralTime; for ARRIVED, the seconds it waits, negative if it is late; for HELD,
    the HoldReasonCode; for ENDED, 1 if the job is queued again.
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
    """An event of a job at a time (epoch seconds)."""

    time: int
    what: PoolEventKind
    job: PoolJob
    number: int = 0
    text: str = ""


class QuietRun(NamedTuple):
    """A run with only numbers to report (epoch seconds): when it is matched, arrives, starts, ends; and its exit.

    Its job stays, see ``Quiet``.
    """

    matched: int
    arrived: int
    started: int
    ended: int
    exit: Exit


class RunWatcher(Protocol):
    """A watcher that accepts a whole run at once, and the time of the next (epoch seconds)."""

    def note_run(self, job: PoolJob, run: QuietRun) -> None:
        """Record everything that happens to a run, from its match to its end."""

    def note_plan(self, job: PoolJob, time: int) -> None:
        """Record a new DeferralTime."""


Watcher: TypeAlias = Callable[[PoolEvent], None]

_SUBMIT_HOST: Final = "<127.0.0.1:9618?alias=schedd.example.org>"
_EXECUTE_HOST: Final = "<127.0.0.1:9618?alias=execute.example.org>"
_SIMPLE: Final[dict[PoolEventKind, tuple[EventType, dict[str, object]]]] = {
    PoolEventKind.SUBMITTED: (EventType.SUBMIT, {"SubmitHost": _SUBMIT_HOST}),
    PoolEventKind.STARTED: (EventType.EXECUTE, {"ExecuteHost": _EXECUTE_HOST}),
    PoolEventKind.SUSPENDED: (EventType.JOB_SUSPENDED, {}),
    PoolEventKind.RESUMED: (EventType.JOB_UNSUSPENDED, {}),
}
_BY_REASON: Final = {PoolEventKind.RELEASED: EventType.JOB_RELEASED, PoolEventKind.REMOVED: EventType.JOB_ABORTED}
_TRANSFERS: Final[
    dict[PoolEventKind, tuple[dict[str, object], ...]]
] = {  # begin and end of the input, begin and end of the output
    PoolEventKind.MATCHED: ({"Type": 2, "Host": _EXECUTE_HOST},),
    PoolEventKind.ARRIVED: ({"Type": 3},),
    PoolEventKind.ENDED: ({"Type": 5}, {"Type": 6}),
}


# HTCondor: Scheduler::WriteHoldToUserLog, BaseShadow::logTerminateEvent.
def events(seen: PoolEvent) -> Iterator[JobEvent]:
    """Yield the log events of a pool event, none if no log has it."""
    for kind, values in _told(seen):
        yield JobEvent(kind, seen.job.id.cluster, seen.job.id.proc, seen.time, attributes=values)


def _told(seen: PoolEvent) -> Iterator[tuple[EventType, dict[str, object]]]:
    job, what = seen.job, seen.what
    simple = _SIMPLE.get(what)
    if simple is not None:
        yield simple
    elif what in _BY_REASON:
        yield _BY_REASON[what], {"Reason": seen.text}
    elif what in _TRANSFERS and not job.is_local:
        for values in _TRANSFERS[what]:
            yield EventType.FILE_TRANSFER, dict(values)
    if what is PoolEventKind.ENDED and seen.number:
        yield EventType.JOB_EVICTED, {"TerminatedAndRequeued": True, "Reason": seen.text, **_exit(seen)}
    elif what is PoolEventKind.EVICTED and job.run is not None and job.run.started is not None:
        yield EventType.JOB_EVICTED, {}
    elif what is PoolEventKind.HELD:
        subcode = int32(job.ad, "HoldReasonSubCode") or 0
        yield EventType.JOB_HELD, {"HoldReason": seen.text, "HoldReasonCode": seen.number, "HoldReasonSubCode": subcode}
    elif what is PoolEventKind.COMPLETED:
        yield EventType.JOB_TERMINATED, _exit(seen)


def _exit(seen: PoolEvent) -> dict[str, object]:
    """Return how the program ended, and its processor time if known."""
    ad, run = seen.job.ad, seen.job.run
    found = run.exit if run is not None else ending(ad) or SUCCESS  # the queue does not get everything
    said: dict[str, object] = {"TerminatedBySignal" if found.by_signal else "ReturnValue": found.number}
    user, system = (_span(integer(ad, name)) for name in ("RemoteUserCpu", "RemoteSysCpu"))
    if user is not None and system is not None:
        said |= dict.fromkeys(("RunRemoteUsage", "TotalRemoteUsage"), f"Usr {user}, Sys {system}")
    return said


def _span(seconds: int | None) -> str | None:
    if seconds is None or seconds < 0:
        return None
    return f"{seconds // 86_400} {seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
