"""The schedd's history file: jobs that have left the queue, read once or followed.

The format is HTCondor 25.14's (``AppendHistory``): the job's attributes with those of its cluster as ``-long`` lines,
then ``*** Offset = <bytes before the ad> ClusterId = ... CurrentTime = <epoch seconds of the writing>``.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from io import TextIOWrapper
from pathlib import Path
from typing import Final, NamedTuple

from crondor._files import FileId, renamed_since
from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, ReadMode, read_ads
from crondor.classad.formats.parquet import MAGIC, read_parquet
from crondor.classad.formats.pieces import Report
from crondor.classad.scope import Context
from crondor.diagnostics import Diagnostic, Severity, Source, printable
from crondor.job import attributes
from crondor.job_queue.records import JobQueueError, QueueIO, refused_by_disk
from crondor.rights.walk import open_plain

MODE = 0o600  # as the schedd creates its log
_NO_LINKS = {errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS, errno.EXDEV}


class Disk:
    """File operations on the real disk. Every method raises OSError."""

    def open(self, path: Path, flags: int) -> int:
        """Open a file, private to the owner if created, and return its descriptor."""
        return open_plain(path, flags, MODE)

    def size(self, descriptor: int) -> int:
        """Return the size of an open file in bytes."""
        return os.fstat(descriptor).st_size

    def write(self, descriptor: int, data: bytes) -> int:
        """Write some bytes, at least one, and return their number."""
        return os.write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        """Return when the file's bytes are on disk."""
        getattr(os, "fdatasync", os.fsync)(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        """Truncate a file."""
        os.ftruncate(descriptor, size)

    def close(self, descriptor: int) -> None:
        """Close a file."""
        os.close(descriptor)

    def rename(self, old: Path, new: Path) -> None:
        """Replace a file with another atomically."""
        old.replace(new)

    def link(self, old: Path, new: Path) -> None:
        """Give a file a second name, or copy it if the file system has no hard links."""
        try:
            os.link(old, new)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            shutil.copyfile(old, new)

    def remove(self, path: Path) -> None:
        """Remove a name; a missing one is no error."""
        path.unlink(missing_ok=True)

    def sync_folder(self, path: Path) -> None:
        """Return when the names in a folder are on disk."""
        sync_folder(path)


def sync_folder(path: Path | str) -> None:
    """Return when the names in a folder are on disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def leads_to(path: Path, descriptor: int) -> bool:
    """Return whether a path leads to an open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def write_all(disk: Disk, descriptor: int, data: bytes) -> None:
    """Write all of the bytes."""
    at = disk.write(descriptor, data)
    while at < len(data):
        at += disk.write(descriptor, data[at:])


class Left(Enum):
    """What a failed append has left in the file."""

    NOTHING = "nothing"  # it was rolled back
    PART = "part"  # it was written in part, and the rollback failed
    UNKNOWN = "unknown"  # it was written, but the disk confirmed neither that nor the rollback


class Appendix:
    """The end of an open file that is appended to; an append that was not synced can be rolled back.

    After a failed rollback the end of the file is unknown, and ``broken`` is set; ``left`` is what is known about the
    last failed append.
    """

    def __init__(self, disk: Disk, descriptor: int) -> None:
        self.disk = disk
        self.descriptor = descriptor
        self.size = disk.size(descriptor)
        self.broken = False
        self.left = Left.NOTHING

    def append(self, data: bytes, *, durable: bool = True) -> None:
        """Append bytes, all or none. Raises OSError; if ``broken`` is set then, no more appends are possible.

        An interruption (KeyboardInterrupt, a signal handler that raises) rolls back too.
        """
        size, syncing = self.size, False
        self.left = Left.NOTHING
        try:
            write_all(self.disk, self.descriptor, data)
            if durable:
                syncing = True
                self.disk.sync(self.descriptor)
                syncing = False
            self.size += len(data)
        except BaseException:
            if not self.cut(size):
                self.left = Left.UNKNOWN if syncing else Left.PART
            if syncing:  # earlier unsynced bytes may be lost too, which the system reports only once
                self.broken = True
            raise

    def sync(self) -> None:
        """Wait until all appended bytes are on disk. Raises OSError, after which their state is unknown."""
        try:
            self.disk.sync(self.descriptor)
        except BaseException:
            self.broken = True
            raise

    def cut(self, size: int) -> bool:
        """Truncate the file to a size, or set ``broken``; return whether it was truncated."""
        try:
            self.disk.truncate(self.descriptor, size)
            self.disk.sync(self.descriptor)
            self.size = size
        except OSError:
            self.broken = True
            return False
        return True

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            self.disk.close(self.descriptor)


_DISK: Final = Disk()
_WINDOW: Final = 1 << 16
_BANNER: Final = re.compile(rb"^\*\*\* Offset = .*\n", re.MULTILINE)
_ROTATED: Final = re.compile(r"\d{8}T\d{6}").fullmatch
_NOT_WRITTEN: Final = {
    Left.NOTHING: "these jobs cannot be written to the history",
    Left.PART: "these jobs cannot be written to the history completely, and the part written cannot be removed",
    Left.UNKNOWN: "these jobs may or may not be in the history: the disk has confirmed neither",
}
_ATTRIBUTE: Final = re.compile(rb"[^\s=]+ = ").match


def history_record(ad: ClassAd, offset: int, now: int) -> str:
    """Return a job's ad as written in the history file.

    ``offset`` is the size of the file before it, in bytes; ``now`` epoch seconds. The job's values in the banner are
    evaluated, as in HTCondor; -1 and ? replace those that are not numbers and strings.
    Raises ClassAdSyntaxError for an ad with an invalid expression.
    """
    context = Context(now=now)
    numbers = (attributes.int32(ad, name, context) for name in ("ClusterId", "ProcId", "CompletionDate"))
    cluster, proc, completion = (-1 if number is None else number for number in numbers)
    owner = attributes.string(ad, "Owner", context)
    shown = "?" if owner is None else printable(owner)  # in HTCondor a line end in it ends the banner
    return (
        f"{ad.print(Format.LONG)}*** Offset = {offset} ClusterId = {cluster} ProcId = {proc} "
        f'Owner = "{shown}" CompletionDate = {completion} CurrentTime = {now}\n'
    )


def read_history(path: Path | str, *, report: Report | None = None) -> Iterator[ClassAd]:
    """Yield the jobs of a history file, the oldest first; it may be Parquet (``write_parquet``).

    Raises QueueIO, and ClassAdSyntaxError for an invalid ad; for Parquet MissingArrow and InvalidParquet. With
    ``report``, each invalid line is reported instead, reading continues, and expressions are parsed when they are used.
    """
    mode = ReadMode.STRICT if report is None else ReadMode.LAZY
    try:
        with os.fdopen(open_plain(path), "rb") as file:
            if file.peek(len(MAGIC)).startswith(MAGIC):
                yield from read_parquet(file, name=str(path), report=report)
                return
            text = TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline="")
            yield from read_ads(text, Format.LONG, mode, name=str(path), report=report)
    except OSError as error:
        raise refused_by_disk(path, "this history cannot be read", error) from error


def history_files(path: str, since: int = 0) -> list[str]:
    """Return a history file and its rotated predecessors, the oldest first.

    ``since`` (epoch seconds): only files written to later. A missing file gives none.
    """
    folder, name = os.path.split(path)
    found: list[tuple[str, str]] = []
    with suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in entries:
            time = entry.name.removeprefix(f"{name}.")
            is_one = entry.name == name or (time != entry.name and _ROTATED(time))
            if is_one and entry.is_file() and entry.stat().st_mtime >= since:
                found.append(("~" if entry.name == name else time, entry.path))
    return [each for _, each in sorted(found)]


class History:
    """A history file that jobs are moved to; each append is durable when it returns."""

    def __init__(self, path: Path | str, disk: Disk = _DISK) -> None:
        """Open or create the file; an incomplete record at its end, left by a crash, is removed.

        Raises QueueIO, and JobQueueError for a file that is not a history.
        """
        self.path = Path(path)
        try:
            descriptor = disk.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            self._end = Appendix(disk, descriptor)
            torn = self._torn()
        except OSError as error:
            raise refused_by_disk(path, "this history cannot be opened", error) from error
        if torn:
            self.take_back(self.size - torn)

    def _torn(self) -> int:
        """Return the size of an incomplete record, left by a crash, at the end of the file.

        Raises JobQueueError for a file that is not a history, and OSError.
        """
        with os.fdopen(open_plain(self.path), "rb") as file:
            window = 0
            while True:
                window = min(self.size, max(_WINDOW, window * 2))
                file.seek(self.size - window)
                data = file.read(window)
                banners = list(_BANNER.finditer(data))
                if banners or window == self.size:
                    break
        tail = data[banners[-1].end() :] if banners else data
        if not all(map(_ATTRIBUTE, tail.split(b"\n")[:-1])):
            self.close()
            message = "this does not end like a history file: with a job's attributes and a line that begins with ***"
            raise JobQueueError(Diagnostic("queue-history", message, span=Source("", str(self.path)).span()))
        return len(tail)

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self._end.size

    def append(self, ads: list[ClassAd], now: int) -> None:
        """Append jobs, all or none; ``now`` is epoch seconds. Raises QueueIO.

        If the disk fails twice, the end of the file is unknown, and nothing more is written: open it again.
        """
        if self._end.broken:
            message = "the disk failed, and the end of this history is unknown"
            hint = "close and reopen it: an incomplete record at its end is removed"
            raise QueueIO(Diagnostic("queue-history", message, span=Source("", str(self.path)).span(), help=hint))
        text, at = b"", self.size
        for ad in ads:
            text += history_record(ad, at + len(text), now).encode("utf-8", "surrogateescape")
        try:
            self._end.append(text)
        except OSError as error:
            raise refused_by_disk(self.path, _NOT_WRITTEN[self._end.left], error) from error

    def take_back(self, size: int) -> bool:
        """Truncate the file to an earlier size, if a removal failed later; return whether that was done."""
        return self._end.cut(size)

    def close(self) -> None:
        """Close the file."""
        self._end.close()


_PIECE: Final = 1 << 22  # bytes read at once
_LONGEST: Final = 1 << 26  # bytes of one job
_PROOF: Final = 256  # bytes before the offset that identify a file
_BANNER_START: Final = b"\n*** "


# The schedd renames a long history with the time (``history.20261125T060000``), and starts a new one (HTCondor 25.14:
# MaybeRotateHistory, MAX_HISTORY_LOG, MAX_HISTORY_ROTATIONS). A poll costs only the new records.
class Reached(NamedTuple):
    """How far a file was read, and the bytes before: a new file may reuse the inode of a deleted one."""

    file: FileId
    offset: int
    proof: bytes

    def is_in(self, descriptor: int) -> bool:
        """Return whether an open file is this one. Raises OSError."""
        is_same = FileId.of(os.fstat(descriptor)) == self.file
        return is_same and _read_at(descriptor, len(self.proof), self.offset - len(self.proof)) == self.proof


class HistoryFollower:
    """Reads new records of a history file; the file is only read."""

    def __init__(self, path: Path | str) -> None:
        """Read nothing yet: the first poll reads the whole file, unless ``skip`` is called first."""
        self.path = os.fspath(path)
        self._reached: Reached | None = None

    def skip(self) -> None:
        """Skip the present contents. Raises QueueIO."""
        for path in history_files(self.path)[-1:]:
            with self._opened(path) as descriptor:
                if descriptor is not None:
                    self._reached = _end_of(descriptor)

    def poll(self, report: Report) -> Iterator[ClassAd]:
        """Yield the new jobs, the oldest first; an incomplete record is left for the next poll.

        A missing file has no jobs. ``report`` is called for each unreadable line, and if a rotated file was deleted
        before its end was read. Raises QueueIO; jobs yielded before are not repeated.
        """
        for path in self._paths(report):
            with self._opened(path) as descriptor:
                if descriptor is None:
                    continue  # deleted or rotated since: the next poll finds it
                if self._reached is None or not self._reached.is_in(descriptor):
                    self._reached = Reached(FileId.of(os.fstat(descriptor)), 0, b"")
                yield from self._new(descriptor, path, self._reached, report)

    def _paths(self, report: Report) -> list[str]:
        """Return the files with new contents, the oldest first. Raises QueueIO."""
        before = self._reached
        if before is None:
            return history_files(self.path)
        if self._is_in(before, self.path):
            return [self.path]
        others = renamed_since(self.path, before.file)
        if not others or not self._is_in(before, others[0]):
            message = "the history was rotated or truncated before its end was read: how some jobs left is unknown"
            hint = "poll more often, or increase MAX_HISTORY_ROTATIONS"
            report(Diagnostic("history-rotated", message, Severity.WARNING, Source("", self.path).span(), hint))
        return [*others, self.path]

    def _is_in(self, reached: Reached, path: str) -> bool:
        with self._opened(path) as descriptor:
            return descriptor is not None and reached.is_in(descriptor)

    @contextmanager
    def _opened(self, path: str) -> Iterator[int | None]:
        """Yield a file's descriptor, None if it is missing. Raises QueueIO."""
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

    def _new(self, descriptor: int, path: str, reached: Reached, report: Report) -> Iterator[ClassAd]:
        """Yield the jobs after the offset, which advances; whole records only. Raises OSError."""
        file, offset, _ = reached
        if not offset and _read_at(descriptor, len(MAGIC), 0) == MAGIC:
            with os.fdopen(os.dup(descriptor), "rb") as whole:
                yield from read_parquet(whole, name=path, report=report)
            size = os.fstat(descriptor).st_size
            self._reached = Reached(file, size, _read_at(descriptor, _PROOF, max(0, size - _PROOF)))
            return
        data = b""
        while more := _read_at(descriptor, _PIECE, offset + len(data)):
            data += more
            end = _end(data)
            text = data[:end].decode("utf-8", "surrogateescape")
            if not end and len(data) > _LONGEST:
                end = len(data)  # not a history: it has no end of a record
            if end:
                self._reached = Reached(file, offset + end, data[max(0, end - _PROOF) : end])
                offset, data = offset + end, data[end:]
            if text:
                yield from read_ads(text, Format.LONG, ReadMode.LAZY, name=path, report=report)


def _read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Return bytes from an offset; Windows has no pread. Raises OSError."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)


def _end_of(descriptor: int) -> Reached:
    """Return the end of the last whole record of a file. Raises OSError."""
    status = os.fstat(descriptor)
    size, offset = status.st_size, 0
    for most in (_WINDOW, 16 * _WINDOW, 256 * _WINDOW, size):
        window = min(size, most)
        end = _end(_read_at(descriptor, window, size - window))
        if end:
            offset = size - window + end
            break
    proof = _read_at(descriptor, min(_PROOF, offset), max(0, offset - _PROOF))
    return Reached(FileId.of(status), offset, proof)


def _end(data: bytes) -> int:
    """Return the end of the last whole record, 0 if there is none."""
    at = len(data)
    while (at := data.rfind(_BANNER_START, 0, at)) >= 0:
        end = data.find(b"\n", at + 1)
        if end >= 0:
            return end + 1
    return 0
