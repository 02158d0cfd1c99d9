"""What the router says it does, entry by entry, in the words of HTCondor's JobRouterLog."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, TypeAlias


class RouterEvent(str, Enum):
    """What was done, or found; the value is how HTCondor 25.14 says it, where it says so at all."""

    FOUND = "Found candidate job"
    CLAIMED = "claimed job"
    NOT_CLAIMED = "candidate job could not be claimed"
    ROUTE_GONE = "route has been removed before job could be submitted"
    NOT_TRANSFORMED = "failed to apply route modifications to target ad"
    NO_OWNER = "the source has no Owner"
    NO_SANDBOX = "the route asks for a sandbox, and this router has nothing that moves files"
    NOT_SUBMITTED = "failed to submit job"
    FILES_LEFT = "files of the job were not deleted"
    UNSURE = "the schedd may have taken the copy or not"
    SUBMITTED = "submitted job"
    EDITED = "Done editing job."
    NOT_EDITED = "Failed to edit job."
    SOURCE_GONE = "failed to find src ad in job collection mirror."
    NO_STATUS = "cannot evaluate JobStatus in src job"
    SOURCE_REMOVED = "found src job marked for removal"
    SOURCE_HELD = "found src job on hold"
    SOURCE_TAKEN = "found src job managed by somebody else"
    NOT_YET = "submitted job has not yet appeared in job queue mirror or was removed"
    LAG = "giving up, because submitted job is still not in job queue mirror"
    NOT_WHOLE = "the submission of the copy has ended halfway"
    COPY_REMOVED = "dest job was removed!"
    NOT_UPDATED = "failed to update src job"
    UPDATED = "updated job status"
    COPY_UPDATED = "updated routed job status"
    COPY_NOT_UPDATED = "Failed to update routed job status."
    FINISHED = "found target job finished"
    SOURCE_UPDATED = "updated src job"
    NOT_FINALIZED = "failed to finalize job"
    NO_LOG = "failed to write the user log"
    FINALIZED = "finalized job"
    FAILED = "JobFailureTest is true, so job will count as a failure"
    AGAIN = "the source waits for its next run"
    NOT_REMOVED = "failed to remove dest job"
    NOT_YIELDED = "failed to yield job"
    YIELDED = "yielded job"
    CLEANED_UP = "Cleaned up and removed routed job."
    FORGOTTEN = "job mirror synchronized; removing job from internal 'retirement' status"
    STALE = "job mirror still not synchronized; removing job from internal 'retirement' status"
    NO_ROUTING = "no routing information found in routed job!"
    ORPHAN_COPY = "removing orphaned destination job with no matching source job."
    ADOPTED = "adopted orphaned job (from previous run?)"
    ORPHAN_SOURCE = "found orphan with no routed destination job; yielding management of it."
    POLICY_HELD = "Placed job on hold."
    POLICY_REMOVED = "Removed job."
    HOOK = "Hook"
    HOOK_ANSWER = "Hook answered"
    RELOADED = "routing table replaced"
    DISABLED = "routing is disabled; jobs that are routed go on by the old table"
    PASSED_OVER = "an expression of the job cannot be evaluated; it is passed over in this poll"
    CLOCK_SET_BACK = "the clock was set back"
    UNREACHABLE = "cannot ask the schedd"


class LogEntry(NamedTuple):
    """One thing that was done, at a time (epoch seconds), to a job as HTCondor's log calls it; empty: to none."""

    time: int
    what: RouterEvent
    job: str = ""
    text: str = ""

    def __str__(self) -> str:
        """Return the line of a log, without its time."""
        about = f" ({self.job})" if self.job else ""
        return f"JobRouter{about}: {self.what.value}{self.text}"


Log: TypeAlias = Callable[[LogEntry], None]


def silent(_entry: LogEntry) -> None:
    """Log nothing."""
