"""Follow the user logs that jobs name: new events only.

Any user can write the path of a log into a job's ad: only files in the allowed folders and below are opened, links are
resolved once and checked, and each read is bounded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import timezone, tzinfo
from pathlib import Path
from typing import BinaryIO, Final

from crondor._files import FileId, renamed_since
from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.event_log import JobEvent, read_events
from crondor.job.attributes import string
from crondor.job_queue.history import Reached
from crondor.job_queue.records import JobId
from crondor.macro.files import FileRefused, Files
from crondor.rights.walk import open_file
from crondor.schedd.reading import UnreadAd, job_id

MOST_BYTES: Final = 8 << 20
"""Bytes read of one log at one look: of a longer log the end, which has the latest events."""

_MOST_LOGS: Final = 10_000
_MOST_TOLD: Final = 100
_PROOF: Final = 64  # bytes before the offset that identify a file
_ENDS: Final = {b"<": b"</c>\n", b"{": b"}\n"}
_END: Final = b"...\n"
_OLD: Final = (".1", ".old")  # suffixes that HTCondor and logrotate give rotated logs
_NOBODY: Final[frozenset[JobId]] = frozenset()


class UserLogFollower:
    """Reads new events from the logs of jobs (UserLog, relative to Iwd), only in some folders and below.

    ``zone`` is the time zone of the logs. ``diagnostics`` are the failures of the last look, each once.
    """

    def __init__(self, folders: Iterable[str | Path], zone: tzinfo = timezone.utc) -> None:
        """Take the folders; open nothing."""
        self._files = Files([str(folder) for folder in folders], base="/")
        self._zone = zone
        self._reached: dict[str, Reached] = {}
        self._named: dict[str, frozenset[JobId]] = {}  # logs of the last call, with the jobs that name them
        self._known: dict[JobId, tuple[int, str | None]] = {}  # the state and log of unread ads
        self._told: set[str] = set()
        self.diagnostics: tuple[Diagnostic, ...] = ()

    def events(self, ads: Iterable[ClassAd | UnreadAd], now: int) -> Iterator[JobEvent]:
        """Yield the new events in the logs of some jobs; ``now`` (epoch seconds) completes dates without a year.

        A log's events count only for jobs that name it. The logs of the last call are read once more: a job's end is
        often written after it has left.
        """
        self._found: list[Diagnostic] = []
        found = list(map(self._log_of, ads))
        before, self._named = self._named, _by_path(found)
        for path in dict.fromkeys([*before, *self._named]):
            jobs = before.get(path, _NOBODY) | self._named.get(path, _NOBODY)
            for text in self._new(path):
                for event in read_events(text, name=path, zone=self._zone, now=now, report=self._tell):
                    if event.job in jobs:
                        yield event
        self._known = {job: self._known[job] for job, _ in found if job in self._known}
        self._reached = {path: reached for path, reached in self._reached.items() if path in self._named}
        self.diagnostics = tuple(self._found)

    def _log_of(self, ad: ClassAd | UnreadAd) -> tuple[JobId | None, str | None]:
        """Return a job and its log; an ad unchanged since the last call is not read."""
        if isinstance(ad, ClassAd):
            return job_id(ad), _path(ad)
        text, known = hash(ad.text), self._known.get(ad.job)
        if known is None or (ad.text is not None and known[0] != text):
            read = ad.read()
            known = self._known[ad.job] = text, None if read is None else _path(read)
        return ad.job, known[1]

    def _new(self, path: str) -> Iterator[str]:
        """Yield the new events of a log, preceded by those of its rotated predecessors: whole events."""
        before = self._reached.get(path)
        try:
            real = self._files.real(path)
            olds: list[str] = []
            if before is None or _file_at(real) != before.file:
                olds = renamed_since(real, before.file) if before is not None else []
                olds = olds or [f"{real}{each}" for each in _OLD]  # that file is gone: these came after it
            for each in (*olds, real):
                yield self._opened(path, each)
        except FileRefused as error:
            self._refuse(error.diagnostics[0].message)
        except (OSError, ValueError) as error:
            self._refuse(f"the user log {path} cannot be read: {getattr(error, 'strerror', None) or error}")

    def _opened(self, path: str, real: str) -> str:
        """Return the new events in a log or a rotated one; empty if it is missing. Raises OSError."""
        try:
            with os.fdopen(open_file(real), "rb") as file:
                return self._read(path, file)
        except FileNotFoundError:
            return ""

    def _read(self, path: str, file: BinaryIO) -> str:
        """Return the whole new events in an open log. Raises OSError."""
        status, before = os.fstat(file.fileno()), self._reached.get(path)
        offset = before.offset if before is not None and before.is_in(file.fileno()) else 0
        begin = max(offset, status.st_size - MOST_BYTES)
        file.seek(0)
        kind = file.read(1)
        file.seek(begin)
        data = file.read(MOST_BYTES)
        end = _ENDS.get(kind, _END)
        first = data.find(end) + len(end) if begin > offset else 0  # starting in the middle: skip the partial event
        last = data.rfind(end) + len(end)
        if last < len(end) or last <= first:
            return ""
        proof = data[max(0, last - _PROOF) : last]
        self._reached[path] = Reached(FileId.of(status), begin + last, proof)
        return data[first:last].decode("utf-8", "surrogateescape")

    def _refuse(self, message: str) -> None:
        hint = "allow its folder with --allow-dir; without the log less is known about this job"
        self._tell(Diagnostic("user-log", message, Severity.WARNING, Source("", "user log").span(), hint))

    def _tell(self, found: Diagnostic) -> None:
        if found.message not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(found.message)
            self._found.append(found)


def _file_at(real: str) -> FileId | None:
    """Return the identity of the file at a path without links, None if it is missing. Raises OSError."""
    try:
        return FileId.of(os.lstat(real))
    except FileNotFoundError:
        return None


def _by_path(logs: Iterable[tuple[JobId | None, str | None]]) -> dict[str, frozenset[JobId]]:
    """Return the logs that jobs name, each with its jobs."""
    found: dict[str, set[JobId]] = {}
    for job, path in logs:
        if path is not None and job is not None and (path in found or len(found) < _MOST_LOGS):
            found.setdefault(path, set()).add(job)
    return {path: frozenset(jobs) for path, jobs in found.items()}


def _path(ad: ClassAd) -> str | None:
    """Return the path of a job's log, None if it has none."""
    name = string(ad, "UserLog")
    if not name or name == os.devnull or "\0" in name:
        return None
    return os.path.normpath(os.path.join(string(ad, "Iwd") or "/", name))  # noqa: PTH118 - as the schedd does
