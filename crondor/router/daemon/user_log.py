"""The user log of a source: what the router writes into it, since no shadow does.

HTCondor: WriteTerminateEventToUserLog and its kin in src/condor_job_router/submit_job.cpp.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import timezone, tzinfo
from pathlib import Path
from typing import Final, TypeAlias

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Severity
from crondor.event_log import EventType, JobEvent, write_event
from crondor.job.attributes import exact_boolean, exact_integer, string
from crondor.job_queue.keys import JobId
from crondor.rights.accounts import Account, Accounts, account_of
from crondor.router.daemon.reading import ROUTED_TO
from crondor.router.sandbox.faults import FilesRefused, Report, fault, ignored
from crondor.router.sandbox.reach import Reach
from crondor.schedd.ads import owner_of

EventWriter: TypeAlias = Callable[[ClassAd, JobEvent], bool]
"""Writes an event into the log that a job's ad names, and says whether it could; a job without a log is no fault."""

_MODE: Final = 0o644
_NULL: Final = "/dev/null"
_MOST_TOLD: Final = 1000  # reasons


def no_log(_ad: ClassAd, _event: JobEvent) -> bool:
    """Write nothing."""
    return True


class UserLogs:
    """Appends events to the files that jobs name (UserLog, from their Iwd), at or below one folder only.

    Each is written as the job's owner (Owner), as his account stands in ``accounts``: by root with his rights and not
    with its own, by another user only to logs of his own jobs. One whom the system does not know has no log.
    ``report`` is told why a log is not written, once for each reason.
    """

    def __init__(
        self,
        folder: Path | str,
        zone: tzinfo = timezone.utc,
        *,
        accounts: Accounts = account_of,
        report: Report = ignored,
    ) -> None:
        """Take the folder, links followed, and the zone of the logs' times."""
        self._folder = os.path.realpath(folder)
        self._zone = zone
        self._accounts = accounts
        self._report = report
        self._told: set[str] = set()

    def __call__(self, ad: ClassAd, event: JobEvent) -> bool:
        """Append an event, whole or not at all; False where the file is elsewhere or cannot be written."""
        name = string(ad, "UserLog")
        if not name or name == _NULL:
            return True
        path = os.path.join(string(ad, "Iwd") or self._folder, name)  # noqa: PTH118 - a Path would change it
        text = write_event(event, self._zone).encode("utf-8", "surrogateescape")
        try:
            Reach([self._folder], self._owner(ad)).append(path, text, _MODE)
        except FilesRefused as error:
            self._say(error)
            return False
        return True

    def _owner(self, ad: ClassAd) -> Account:
        """Return whose log it is. Raises FilesRefused."""
        owner = owner_of(ad)
        found = self._accounts(owner)
        if found is None:
            raise FilesRefused(fault("no-account", f"there is no account {owner!r} on this machine to write a log as"))
        return found

    def _say(self, error: FilesRefused) -> None:
        for found in error.diagnostics:
            if found.message not in self._told and len(self._told) < _MOST_TOLD:
                self._told.add(found.message)
                self._report(replace(found, severity=Severity.WARNING))


def event(kind: EventType, job: JobId, ad: ClassAd, now: int) -> JobEvent:
    """Return an event of a source at ``now`` (epoch seconds), with what its ad says about it."""
    return JobEvent(kind, job.cluster, job.proc, now, attributes=_TELLERS.get(kind, _nothing)(ad))


def _nothing(_ad: ClassAd) -> dict[str, object]:
    return {}


def _execute(ad: ClassAd) -> dict[str, object]:
    return {"ExecuteHost": string(ad, ROUTED_TO) or ""}


def _terminated(ad: ClassAd) -> dict[str, object]:
    if exact_boolean(ad, "ExitBySignal"):
        return {"TerminatedNormally": False, "TerminatedBySignal": exact_integer(ad, "ExitSignal") or 0}
    return {"TerminatedNormally": True, "ReturnValue": exact_integer(ad, "ExitCode") or 0}


def _aborted(ad: ClassAd) -> dict[str, object]:
    return {"Reason": string(ad, "RemoveReason") or ""}


def _held(ad: ClassAd) -> dict[str, object]:
    return {
        "HoldReason": string(ad, "HoldReason") or "",
        "HoldReasonCode": exact_integer(ad, "HoldReasonCode") or 0,
        "HoldReasonSubCode": exact_integer(ad, "HoldReasonSubCode") or 0,
    }


_TELLERS: Final[dict[EventType, Callable[[ClassAd], dict[str, object]]]] = {
    EventType.EXECUTE: _execute,
    EventType.JOB_TERMINATED: _terminated,
    EventType.JOB_ABORTED: _aborted,
    EventType.JOB_HELD: _held,
}
