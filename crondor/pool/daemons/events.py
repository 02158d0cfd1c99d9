"""What a pool tells those who watch it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, Protocol, TypeAlias

from crondor.pool.daemons.pool_job import PoolJob
from crondor.pool.settings.exits import Exit


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
