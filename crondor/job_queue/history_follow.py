"""Follows a history file that a schedd writes: the jobs that each poll adds, also where it was rotated in between.

The schedd gives a history that has become long another name, with its time (``history.20261125T060000``), and begins a
new one (HTCondor 25.14: MaybeRotateHistory, MAX_HISTORY_LOG, MAX_HISTORY_ROTATIONS). A poll costs what is new.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from crondor._rotation import FileId, renamed_since
from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, ReadMode, read_ads
from crondor.classad.formats.pieces import Report
from crondor.diagnostics import Diagnostic, Severity
from crondor.job_queue.faults import refused_by_disk
from crondor.job_queue.history import history_files
from crondor.rights.walk import open_plain
from crondor.source import Source

_PIECE: Final = 1 << 22  # bytes read at once
_WINDOW: Final = 1 << 16  # bytes of the end of a file in which the last record's end is sought first
_LONGEST: Final = 1 << 26  # bytes of one job
_PROOF: Final = 256  # bytes before the place reached by which a file is known again
_BANNER: Final = b"\n*** "


class _Reached(NamedTuple):
    """How far a file was read, and what stands before that: a new file may have the number of one that is gone."""

    file: FileId
    offset: int
    proof: bytes

    def is_in(self, descriptor: int) -> bool:
        """Say whether an open file is this one. Raises OSError."""
        is_same = FileId.of(os.fstat(descriptor)) == self.file
        return is_same and _read_at(descriptor, len(self.proof), self.offset - len(self.proof)) == self.proof


class HistoryFollower:
    """Reads what is new in a history file; the file is only read."""

    def __init__(self, path: Path | str) -> None:
        """Read nothing yet: the first poll reads all that is there, unless ``skip`` leaves it out."""
        self.path = os.fspath(path)
        self._reached: _Reached | None = None

    def skip(self) -> None:
        """Leave out what is there now. Raises QueueIO."""
        for path in history_files(self.path)[-1:]:
            with self._opened(path) as descriptor:
                if descriptor is not None:
                    self._reached = _end_of(descriptor)

    def poll(self, report: Report) -> Iterator[ClassAd]:
        """Yield the jobs that are new, the oldest first; one whose record is not whole yet is left for the next poll.

        A file that is not there has no jobs. ``report`` is called with each line that cannot be read, and where a
        rotated file is gone before its end was read. Raises QueueIO; what was yielded before is done with.
        """
        for path in self._paths(report):
            with self._opened(path) as descriptor:
                if descriptor is None:
                    continue  # deleted since, or rotated: then the next poll finds it
                if self._reached is None or not self._reached.is_in(descriptor):
                    self._reached = _Reached(FileId.of(os.fstat(descriptor)), 0, b"")
                yield from self._new(descriptor, path, self._reached, report)

    def _paths(self, report: Report) -> list[str]:
        """Return the files that have something new, the oldest first. Raises QueueIO."""
        before = self._reached
        if before is None:
            return history_files(self.path)
        if self._is_in(before, self.path):
            return [self.path]
        others = renamed_since(self.path, before.file)
        if not others or not self._is_in(before, others[0]):
            message = "the history was rotated or cut, and its end is gone: of some jobs it is not known how they left"
            hint = "poll more often, or keep more of them (MAX_HISTORY_ROTATIONS)"
            report(Diagnostic("history-rotated", message, Severity.WARNING, Source("", self.path).span(), hint))
        return [*others, self.path]

    def _is_in(self, reached: _Reached, path: str) -> bool:
        with self._opened(path) as descriptor:
            return descriptor is not None and reached.is_in(descriptor)

    @contextmanager
    def _opened(self, path: str) -> Iterator[int | None]:
        """Give a file's descriptor, None where it is not there. Raises QueueIO."""
        try:
            try:
                descriptor = open_plain(path)
            except FileNotFoundError:
                yield None
                return
            try:
                yield descriptor
            finally:
                os.close(descriptor)
        except OSError as error:
            raise refused_by_disk(path, "this history cannot be read", error) from error

    def _new(self, descriptor: int, path: str, reached: _Reached, report: Report) -> Iterator[ClassAd]:
        """Yield the jobs behind the place reached, which moves on; whole records only. Raises OSError."""
        file, offset, _ = reached
        data = b""
        while more := _read_at(descriptor, _PIECE, offset + len(data)):
            data += more
            end = _end(data)
            text = data[:end].decode("utf-8", "surrogateescape")
            if not end and len(data) > _LONGEST:
                end = len(data)  # no history: nothing in it is a record's end
            if end:
                self._reached = _Reached(file, offset + end, data[max(0, end - _PROOF) : end])
                offset, data = offset + end, data[end:]
            if text:
                yield from read_ads(text, Format.LONG, ReadMode.LAZY, name=path, report=report)


def _read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Return bytes from a place on; Windows has no pread. Raises OSError."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)


def _end_of(descriptor: int) -> _Reached:
    """Return where the last whole record of a file ends. Raises OSError."""
    status = os.fstat(descriptor)
    size, offset = status.st_size, 0
    for most in (_WINDOW, 16 * _WINDOW, 256 * _WINDOW, size):
        window = min(size, most)
        end = _end(_read_at(descriptor, window, size - window))
        if end:
            offset = size - window + end
            break
    proof = _read_at(descriptor, min(_PROOF, offset), max(0, offset - _PROOF))
    return _Reached(FileId.of(status), offset, proof)


def _end(data: bytes) -> int:
    """Return where the last whole record ends, 0 where none does."""
    at = len(data)
    while (at := data.rfind(_BANNER, 0, at)) >= 0:
        end = data.find(b"\n", at + 1)
        if end >= 0:
            return end + 1
    return 0
