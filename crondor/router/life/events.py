"""The user log of a source: what the router writes into it, since no shadow does."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from datetime import timezone, tzinfo
from pathlib import Path
from typing import Final, TypeAlias

from crondor.classad.ad import ClassAd
from crondor.event_log import EventType, JobEvent, write_event
from crondor.job_queue.keys import JobId
from crondor.router.life.reading import ROUTED_TO, integer, is_true, string

EventWriter: TypeAlias = Callable[[ClassAd, JobEvent], bool]
"""Writes an event into the log that a job's ad names, and says whether it could; a job without a log is no fault."""

_MODE: Final = 0o644
_NULL: Final = "/dev/null"


def no_log(_ad: ClassAd, _event: JobEvent) -> bool:
    """Write nothing."""
    return True


class UserLogs:
    """Appends events to the files that jobs name (UserLog, from their Iwd), at or below one folder only."""

    def __init__(self, folder: Path | str, zone: tzinfo = timezone.utc) -> None:
        """Take the folder, links followed, and the zone of the logs' times."""
        self._folder = Path(os.path.realpath(folder))
        self._zone = zone

    def __call__(self, ad: ClassAd, event: JobEvent) -> bool:
        """Append an event, whole or not at all; False where the file is elsewhere or cannot be written."""
        name = string(ad, "UserLog")
        if not name or name == _NULL:
            return True
        path = Path(os.path.realpath(Path(string(ad, "Iwd") or self._folder, name)))
        if not path.is_relative_to(self._folder):
            return False
        text = write_event(event, self._zone).encode("utf-8", "surrogateescape")
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            descriptor = os.open(path, flags | os.O_NONBLOCK, _MODE)  # nobody waits for the reader of a fifo
        except OSError:
            return False
        try:
            return stat.S_ISREG(os.fstat(descriptor).st_mode) and os.write(descriptor, text) == len(text)
        except OSError:
            return False
        finally:
            os.close(descriptor)


def event(kind: EventType, job: JobId, ad: ClassAd, now: int) -> JobEvent:
    """Return an event of a source at ``now`` (epoch seconds), with what its ad says about it."""
    return JobEvent(kind, job.cluster, job.proc, now, attributes=_TELLERS.get(kind, _nothing)(ad))


def _nothing(_ad: ClassAd) -> dict[str, object]:
    return {}


def _execute(ad: ClassAd) -> dict[str, object]:
    return {"ExecuteHost": string(ad, ROUTED_TO) or ""}


def _terminated(ad: ClassAd) -> dict[str, object]:
    if is_true(ad, "ExitBySignal"):
        return {"TerminatedNormally": False, "TerminatedBySignal": integer(ad, "ExitSignal") or 0}
    return {"TerminatedNormally": True, "ReturnValue": integer(ad, "ExitCode") or 0}


def _aborted(ad: ClassAd) -> dict[str, object]:
    return {"Reason": string(ad, "RemoveReason") or ""}


def _held(ad: ClassAd) -> dict[str, object]:
    return {
        "HoldReason": string(ad, "HoldReason") or "",
        "HoldReasonCode": integer(ad, "HoldReasonCode") or 0,
        "HoldReasonSubCode": integer(ad, "HoldReasonSubCode") or 0,
    }


_TELLERS: Final[dict[EventType, Callable[[ClassAd], dict[str, object]]]] = {
    EventType.EXECUTE: _execute,
    EventType.JOB_TERMINATED: _terminated,
    EventType.JOB_ABORTED: _aborted,
    EventType.JOB_HELD: _held,
}
