"""The user logs that jobs name, followed: what is new in them, event by event.

A job's ad says where its log is, and any user can write that: only files at or below the folders that are allowed are
opened, links followed once and judged, and of each only so much is read as bounds go.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import timezone, tzinfo
from pathlib import Path
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic, Severity
from crondor.event_log import JobEvent, read_events
from crondor.job.attributes import string
from crondor.macro.files import FileRefused, Files
from crondor.rights.walk import open_file
from crondor.source import Source

MOST_BYTES: Final = 8 << 20
"""Of one log at one look: of a longer one the end, which has what was last."""

_MOST_LOGS: Final = 10_000
_MOST_TOLD: Final = 100
_PROOF: Final = 64  # bytes before the place reached by which a file is known again
_ENDS: Final = {b"<": b"</c>\n", b"{": b"}\n"}
_END: Final = b"...\n"


class _Reached(NamedTuple):
    """How far a log was read: in which file, to which byte, and what stands before that."""

    file: tuple[int, int]
    offset: int
    proof: bytes


class UserLogFollower:
    """Reads what is new in the logs of jobs (UserLog, from their Iwd), at or below some folders only.

    ``zone`` is that of the logs' times. ``diagnostics`` are what could not be read at the last look, once each.
    """

    def __init__(self, folders: Iterable[str | Path], zone: tzinfo = timezone.utc) -> None:
        """Take the folders; nothing is opened."""
        self._files = Files([str(folder) for folder in folders], base="/")
        self._zone = zone
        self._reached: dict[str, _Reached] = {}
        self._told: set[str] = set()
        self.diagnostics: tuple[Diagnostic, ...] = ()

    def events(self, ads: Iterable[ClassAd], now: int) -> Iterator[JobEvent]:
        """Yield the events that are new in the logs of some jobs; ``now`` (epoch seconds) is for dates without year."""
        self._found: list[Diagnostic] = []
        for path in list(dict.fromkeys(filter(None, map(_path, ads))))[:_MOST_LOGS]:
            text = self._new(path)
            if text:
                yield from read_events(text, name=path, zone=self._zone, now=now, report=self._tell)
        self.diagnostics = tuple(self._found)

    def _new(self, path: str) -> str:
        """Return the events that are whole and new in a log."""
        try:
            real = self._files.real(path)
            with os.fdopen(open_file(real), "rb") as file:
                status = os.fstat(file.fileno())
                before = self._reached.get(path)
                offset = 0
                if before is not None and before.file == (status.st_dev, status.st_ino):
                    file.seek(before.offset - len(before.proof))
                    offset = before.offset if file.read(len(before.proof)) == before.proof else 0
                begin = max(offset, status.st_size - MOST_BYTES)
                file.seek(0)
                kind = file.read(1)
                file.seek(begin)
                data = file.read(MOST_BYTES)
        except FileRefused as error:
            self._refuse(error.diagnostics[0].message)
            return ""
        except FileNotFoundError:
            return ""  # no event yet
        except (OSError, ValueError) as error:
            self._refuse(f"the user log {path} cannot be read: {getattr(error, 'strerror', None) or error}")
            return ""
        end = _ENDS.get(kind, _END)
        first = data.find(end) + len(end) if begin > offset else 0  # from the middle: behind the event that is cut
        last = data.rfind(end) + len(end)
        if last < len(end) or last <= first:
            return ""
        proof = data[max(0, last - _PROOF) : last]
        self._reached[path] = _Reached((status.st_dev, status.st_ino), begin + last, proof)
        return data[first:last].decode("utf-8", "surrogateescape")

    def _refuse(self, message: str) -> None:
        hint = "allow its folder with --allow-dir; without its log less is known of this job"
        self._tell(Diagnostic("user-log", message, Severity.WARNING, Source("", "user log").span(), hint))

    def _tell(self, found: Diagnostic) -> None:
        if found.message not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(found.message)
            self._found.append(found)


def _path(ad: ClassAd) -> str | None:
    """Return where the log of a job is, None for one that has none."""
    name = string(ad, "UserLog")
    if not name or name == os.devnull or "\0" in name:
        return None
    return os.path.normpath(os.path.join(string(ad, "Iwd") or "/", name))  # noqa: PTH118 - as the schedd does
