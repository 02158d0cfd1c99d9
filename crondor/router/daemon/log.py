"""The router's log entries, in the words of HTCondor's JobRouterLog, and events in user logs."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import timezone, tzinfo
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Severity
from crondor.event_log import EventType, JobEvent, write_event
from crondor.job.attributes import exact_boolean, exact_integer, string
from crondor.job_queue.records import JobId
from crondor.rights.trust import Account, Accounts, account_of
from crondor.router.daemon.routed_job import ROUTED_TO
from crondor.router.sandbox.reach import FilesRefused, Reach, Report, fault, ignored
from crondor.schedd.reading import owner_of


class RouterEvent(str, Enum):
    """What was done or found; the value is HTCondor 25.14's text, if it has one."""

    FOUND = "Found candidate job"
    CLAIMED = "claimed job"
    NOT_CLAIMED = "candidate job could not be claimed"
    ROUTE_GONE = "route has been removed before job could be submitted"
    NOT_TRANSFORMED = "failed to apply route modifications to target ad"
    NO_OWNER = "the source has no Owner"
    NO_SANDBOX = "the route asks for a sandbox, but this router cannot move files"
    NOT_SUBMITTED = "failed to submit job"
    FILES_LEFT = "files of the job were not deleted"
    UNSURE = "the schedd may or may not have accepted the copy"
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
    NOT_WHOLE = "the submission of the copy was interrupted"
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
    DISABLED = "routing is disabled; routed jobs continue with the old table"
    PASSED_OVER = "an expression of the job cannot be evaluated; it is skipped in this poll"
    CLOCK_SET_BACK = "the clock was set back"
    UNREACHABLE = "cannot ask the schedd"


class LogEntry(NamedTuple):
    """One event at a time (epoch seconds), about a job as HTCondor's log names it; an empty job: about no job."""

    time: int
    what: RouterEvent
    job: str = ""
    text: str = ""

    def __str__(self) -> str:
        """Return the log line, without its time."""
        about = f" ({self.job})" if self.job else ""
        return f"JobRouter{about}: {self.what.value}{self.text}"


Log: TypeAlias = Callable[[LogEntry], None]


def silent(_entry: LogEntry) -> None:
    """Log nothing."""


EventWriter: TypeAlias = Callable[[ClassAd, JobEvent], bool]
"""Writes an event to the log that a job's ad names; returns whether it could. A job without a log is no error."""

_MODE: Final = 0o644
_NULL: Final = "/dev/null"
_MOST_TOLD: Final = 1000  # reasons


# HTCondor: WriteTerminateEventToUserLog and similar functions in src/condor_job_router/submit_job.cpp.
def no_log(_ad: ClassAd, _event: JobEvent) -> bool:
    """Write nothing."""
    return True


class UserLogs:
    """Appends events to the files that jobs name (UserLog, relative to Iwd), only in one folder and below.

    Each is written as the job's owner (Owner), looked up in ``accounts``: root writes with the owner's rights, another
    user writes only the logs of its own jobs. An unknown owner has no log. ``report`` gets each reason why a log is not
    written, once.
    """

    def __init__(
        self,
        folder: Path | str,
        zone: tzinfo = timezone.utc,
        *,
        accounts: Accounts = account_of,
        report: Report = ignored,
    ) -> None:
        """Take the folder, with links resolved, and the time zone of the logs."""
        self._folder = os.path.realpath(folder)
        self._zone = zone
        self._accounts = accounts
        self._report = report
        self._told: set[str] = set()

    def __call__(self, ad: ClassAd, event: JobEvent) -> bool:
        """Append an event, whole or not at all; return False if the file is elsewhere or cannot be written."""
        name = string(ad, "UserLog")
        if not name or name == _NULL:
            return True
        path = os.path.join(string(ad, "Iwd") or self._folder, name)  # noqa: PTH118 - a Path would change it
        text = write_event(event, self._zone).encode("utf-8", "surrogateescape")
        try:
            Reach([self._folder], self._owner(ad)).append(path, text, _MODE)
        except FilesRefused as error:
            for found in error.diagnostics:
                if found.message not in self._told and len(self._told) < _MOST_TOLD:
                    self._told.add(found.message)
                    self._report(replace(found, severity=Severity.WARNING))
            return False
        return True

    def _owner(self, ad: ClassAd) -> Account:
        """Return the owner of a log. Raises FilesRefused."""
        owner = owner_of(ad)
        found = self._accounts(owner)
        if found is None:
            raise FilesRefused(fault("no-account", f"this machine has no account {owner!r} to write a log as"))
        return found


def event(kind: EventType, job: JobId, ad: ClassAd, now: int) -> JobEvent:
    """Return an event of a source at ``now`` (epoch seconds), with the details in its ad."""
    told: dict[str, object] = {}
    if kind is EventType.EXECUTE:
        told = {"ExecuteHost": string(ad, ROUTED_TO) or ""}
    elif kind is EventType.JOB_TERMINATED and exact_boolean(ad, "ExitBySignal"):
        told = {"TerminatedNormally": False, "TerminatedBySignal": exact_integer(ad, "ExitSignal") or 0}
    elif kind is EventType.JOB_TERMINATED:
        told = {"TerminatedNormally": True, "ReturnValue": exact_integer(ad, "ExitCode") or 0}
    elif kind is EventType.JOB_ABORTED:
        told = {"Reason": string(ad, "RemoveReason") or ""}
    elif kind is EventType.JOB_HELD:
        codes = {name: exact_integer(ad, name) or 0 for name in ("HoldReasonCode", "HoldReasonSubCode")}
        told = {"HoldReason": string(ad, "HoldReason") or "", **codes}
    return JobEvent(kind, job.cluster, job.proc, now, attributes=told)
