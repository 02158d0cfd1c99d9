"""The user logs that jobs name: what happens to each is appended to its own file, in HTCondor's text form."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import tzinfo
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic, Severity, printable
from crondor.event_log import JobEvent, write_event
from crondor.job.attributes import string
from crondor.pool.daemons.events import PoolEvent
from crondor.pool.daemons.log_events import events
from crondor.rights.walk import APPENDING, append, open_own

_HOSTS: Final = ("SubmitHost", "ExecuteHost")
_MODE: Final = 0o664


class JobLogs:
    """Writes what a pool tells; ``note`` is the watcher.

    ``host`` is this machine as the events name it, ``zone`` that of their times. A log that cannot be written is
    reported once and ends no job.
    """

    def __init__(self, host: str, zone: tzinfo, report: Callable[[Diagnostic], None]) -> None:
        """Take what the events say beside the jobs."""
        self._host = f"<{host}>"
        self._zone = zone
        self._report = report
        self._refused: set[str] = set()

    def note(self, seen: PoolEvent) -> None:
        """Append the events of something that has happened."""
        path = log_path(seen.job.ad)
        if path is None or path == os.devnull:
            return
        text = "".join(write_event(self._here(event), self._zone) for event in events(seen))
        if not text:
            return
        try:
            append(open_own(path, APPENDING, _MODE), text.encode("utf-8", "surrogateescape"), path)
        except (OSError, ValueError) as error:
            self._refuse(path, error)

    def _here(self, event: JobEvent) -> JobEvent:
        said = {name: self._host if name in _HOSTS else value for name, value in event.attributes.items()}
        return replace(event, attributes=said)

    def _refuse(self, path: str, error: OSError | ValueError) -> None:
        if path in self._refused:
            return
        self._refused.add(path)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        message = f"the user log '{printable(path)}' cannot be written: {reason}"
        self._report(Diagnostic("run-log", message, Severity.WARNING, help="the jobs run without it"))


def log_path(ad: ClassAd) -> str | None:
    """Return where a job's user log is, None where it has none."""
    log, folder = string(ad, "UserLog"), string(ad, "Iwd")
    if not log:
        return None
    return os.path.join("/" if folder is None else folder, log)  # noqa: PTH118 - a Path would change it
