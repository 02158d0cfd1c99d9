"""What can become of a due time, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from crondor.deferral import Deferral


class Verdict(str, Enum):
    """What became of a due time; each has one, which may still change while ``DueRun.is_final`` is false."""

    AHEAD = "ahead"  # the next due time, which has not come
    DUE = "due"  # it has come, and no more than the grace has passed
    LATE = "late"  # the grace has passed without a start, and the job may still start
    STARTED = "started"
    MISSED = "missed"  # the job was in the queue and did not start in time
    LOST = "lost"  # the job had left the queue before, or its run was cut off
    UNKNOWN = "unknown"  # nobody looked at the time, and what is left does not tell
    UNPLANNED = "unplanned"  # no due time: a program began all the same


class Cause(str, Enum):
    """Why a due time was late, missed or lost."""

    HELD_20 = "held-20"
    HELD_25 = "held-25"
    HELD = "held"
    NO_MATCH = "no-match"
    NOT_STARTED = "not-started"
    NEVER_MATCHES = "never-matches"
    DAY_0 = "day-0"
    SCHEDD_READING = "schedd-reading"
    STILL_RUNNING = "still-running"
    WINDOW_OVERLAP = "window-overlap"
    NOT_COMPUTED = "not-computed"
    LEFT_QUEUE = "left-queue"
    ROUTER = "router"
    STARTER_GONE = "starter-gone"
    EVICTED = "evicted"
    UNSEEN = "unseen"


WORDS: Final = {
    Cause.HELD_20: "it came too late for its window, and was held",
    Cause.HELD_25: "the schedd cannot read its schedule, and has held it",
    Cause.HELD: "it was on hold",
    Cause.NO_MATCH: "it was idle, and no machine took it in its window",
    Cause.NOT_STARTED: "it was idle, and nothing started it in its window",
    Cause.NEVER_MATCHES: "its Requirements can never be true",
    Cause.DAY_0: "the schedd had set another time, by its day-0 defect",
    Cause.SCHEDD_READING: "the schedd reads its schedule otherwise, and had set another time",
    Cause.STILL_RUNNING: "an earlier run had not ended",
    Cause.WINDOW_OVERLAP: "the window of an earlier time was open, and a schedd sets the next only when it is over",
    Cause.NOT_COMPUTED: "the schedd had not set this time when it came",
    Cause.LEFT_QUEUE: "it had left the queue",
    Cause.ROUTER: "a job router had it, and its copy did not start",
    Cause.STARTER_GONE: "it was matched and did not begin: its starter is gone, or hangs",
    Cause.EVICTED: "its run was cut off",
    Cause.UNSEEN: "its ad does not tell: a user log, the history, or a look at the time would",
}
"""What a cause is, as part of a sentence about a job."""


@dataclass(frozen=True)
class DueRun:
    """A due time of a job and what became of it; an UNPLANNED start has the DeferralTime it was for, or its own.

    ``run`` has the moments (epoch seconds). ``started`` is when its program began, None where it did not. ``detail`` is
    a fact beside the cause, such as a HoldReason; ``code`` the HoldReasonCode. ``before`` is the verdict it had before.
    """

    queue: str
    job: str
    owner: str | None
    cmd: str | None
    run: Deferral
    verdict: Verdict
    cause: Cause | None = None
    started: int | None = None
    detail: str = ""
    code: int | None = None
    is_final: bool = True
    before: Verdict | None = None

    @property
    def delay(self) -> int | None:
        """How many seconds after its time it began; None where that is not known."""
        return None if self.started is None else self.started - self.run.time

    def is_news(self, before: DueRun | None) -> bool:
        """Say whether it tells more than what was said of the same due time before."""
        return before is None or (self.verdict, self.cause, self.started) != (
            before.verdict,
            before.cause,
            before.started,
        )

    @property
    def why(self) -> str:
        """The cause in words; empty without one."""
        if self.cause is None:
            return ""
        return f"{WORDS[self.cause]}: {self.detail}" if self.detail else WORDS[self.cause]
