"""The queue of one writer: transactions that are on the disk when they end, and compaction.

What is written, in which order and how it is recovered is the schedd's way (HTCondor 25.14, ``ClassAdLog``,
``TruncateClassAdLog``, ``SaveHistoricalClassAdLogs``): a schedd can take
over the log, and this a schedd's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Final

from crondor.diagnostics import Diagnostic, Severity
from crondor.job_queue.disk import Appendix, Disk, Left, leads_to, write_all
from crondor.job_queue.faults import JobQueueError, QueueIO, refused_by_disk
from crondor.job_queue.history import History
from crondor.job_queue.keys import HEADER
from crondor.job_queue.lock import Lock, Waiting, at_once
from crondor.job_queue.log import read_records
from crondor.job_queue.mirror import AdChange, Mirror
from crondor.job_queue.records import BEGIN, Op, Record, format_record
from crondor.job_queue.transaction import Transaction
from crondor.rights.walk import open_plain
from crondor.source import Source

_DISK: Final = Disk()
_OPEN_AGAIN: Final = "close the queue and open it again: what was committed is there"
_NOT_WRITTEN: Final = {
    Left.NOTHING: "this transaction cannot be written, and nothing of it is",
    Left.PART: "this transaction cannot be written; a part of it cannot be taken back, and counts for nothing",
    Left.UNKNOWN: "this transaction may be in the log or not: the disk says neither that it is nor that it is not",
}
_KEPT: Final = "; the jobs that leave with it are in the history already"
_PIECE: Final = 1 << 20  # bytes written at once in a compaction


class JobQueue(AbstractContextManager["JobQueue"]):
    """A job_queue.log opened for writing; ``mirror`` is what it holds, ``diagnostics`` what opening it found.

    Use it as a context manager, or ``close`` it. It is for one thread.
    """

    def __init__(
        self, path: Path | str, *, now: int, rotations: int = 1, disk: Disk = _DISK, wait: Waiting = at_once
    ) -> None:
        """Recover the log, or make it where there is none; one with transactions or damage is compacted first.

        ``now`` (epoch seconds) becomes the time of creation of a log that has none. ``rotations`` is HTCondor's
        MAX_JOB_QUEUE_LOG_ROTATIONS: how many logs of before a compaction are kept as ``job_queue.log.<number>``.
        ``wait`` is called while another process writes the queue.
        Raises QueueLocked, DamagedLog where the schedd would not start, and QueueIO.
        """
        self.path = Path(path)
        self._rotations = rotations
        self._disk = disk
        self._under_way = False
        self._gathering = 0
        self._unsynced = False
        self._lock = Lock(Path(f"{path}.lock"), disk, wait)
        self._end: Appendix | None = None
        try:
            self._open(now)
        except BaseException:
            self.close()
            raise

    def _open(self, now: int) -> None:
        try:
            self._end = Appendix(self._disk, self._disk.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND))
            with os.fdopen(open_plain(self.path), "rb") as file:
                reading = read_records(file, str(self.path))
        except OSError as error:
            raise self._refused("this log cannot be opened for writing", error) from error
        self.mirror: Mirror = reading.mirror
        self.diagnostics: tuple[Diagnostic, ...] = reading.diagnostics
        if self.mirror.created is None:
            self.mirror.created = max(0, now)
        next_cluster = self.mirror.next_cluster()
        if next_cluster is not None:
            self.mirror.ads[HEADER]["nextclusternum"] = str(next_cluster)
        if reading.had_transactions or not reading.clean:
            self._compact_at_start(self._end, clean=reading.clean)
        elif not reading.records:
            self._begin_log(self._end)

    def _compact_at_start(self, end: Appendix, *, clean: bool) -> None:
        """Compact; a log that is only long goes on as it is where that is refused, as in the schedd."""
        try:
            self.compact()
        except QueueIO as error:
            if not clean or self._end is not end:
                raise
            self.diagnostics += tuple(replace(found, severity=Severity.WARNING) for found in error.diagnostics)

    def _begin_log(self, end: Appendix) -> None:
        self.mirror.sequence = 1
        try:
            end.append(f"{format_record(self._header(1))}\n".encode())
            self._disk.sync_folder(self.path.parent)
        except OSError as error:
            raise self._refused("this log cannot be begun", error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close the log and let others write; what was committed is there already."""
        if self._end is not None:
            self._end.close()
            self._end = None
        self._lock.close()

    @contextmanager
    def transaction(self, *, durable: bool = True, comment: str = "") -> Iterator[Transaction]:
        """Gather changes, and commit them when the block ends; an exception in it leaves the queue as it was.

        When the block has ended without an error the changes are on the disk (``durable=False``: in the system's
        hands, and on the disk with the next durable ones). They are either all in the log or none of them. Changes
        that are none write nothing. ``comment`` stands in the log behind the transaction's end. Subscribers are called
        after the commit; an error of theirs leaves the block although the changes are made.
        Raises InvalidChange, QueueIO, JobQueueError for a transaction within another one or in a closed queue.
        """
        end = self._writable()
        durable = durable and not self._gathering
        if self._under_way:
            raise self._error("queue-nested", "a transaction is under way in this queue", "end it before the next")
        self._under_way = True
        size = end.size
        try:
            found = Transaction(self.mirror)
            yield found
            if not found.records:
                return
            self._write(end, found, comment, durable=durable)
            changes = self._apply(found.records)
        except BaseException:
            end.broken |= end.size != size  # interrupted behind the commit: memory may lag behind the log
            raise
        finally:
            self._under_way = False
        self.mirror.tell(changes)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Have the transactions of a block reach the disk when it ends, all with one wait for it.

        Each is in the log, for others to read, as soon as it ends. Where the machine itself goes down in the block the
        last ones may be lost, never one without those behind it. Raises QueueIO where the disk fails at the end: then
        what is in the log is not known, and the queue is to be opened again.
        """
        self._writable()
        self._gathering += 1
        try:
            yield
        finally:
            self._gathering -= 1
            if not self._gathering:
                self._settle()

    def _settle(self) -> None:
        """Wait until what was written is on the disk."""
        end, waits, self._unsynced = self._end, self._unsynced, False
        if end is None or not waits or end.broken:
            return
        try:
            end.sync()
        except OSError as error:
            raise self._refused("what was written last may not be in this log after a crash", error) from error

    def _write(self, end: Appendix, found: Transaction, comment: str, *, durable: bool) -> None:
        closing = Record(Op.END, value=comment)
        try:
            lines = [BEGIN, *map(_line, found.records), format_record(closing), ""]
        except ValueError as error:
            raise self._error("queue-change", str(error), "leave out the line ends") from None
        data = "\n".join(lines).encode("utf-8", "surrogateescape")
        written: list[tuple[History, int]] = []
        before = end.size
        try:
            for (history, now), moves in groupby(found.moves, lambda move: (move[0], move[2])):
                size = history.size
                history.append([ad for _, ad, _ in moves], now)
                written.append((history, size))
            end.append(data, durable=durable)
            self._unsynced = not durable
        except BaseException as error:
            # Where the log may have the removal, a job in both is better than in neither.
            is_out = end.size == before and (not end.broken or end.left is Left.PART)
            kept = [history for history, size in reversed(written) if not (is_out and history.take_back(size))]
            if isinstance(error, QueueIO) or not isinstance(error, OSError):
                raise
            hint = _OPEN_AGAIN if end.broken or kept else None
            raise self._refused(_NOT_WRITTEN[end.left] + _KEPT * bool(kept), error, hint) from error

    def _apply(self, records: list[Record]) -> tuple[AdChange, ...]:
        """Do in memory what is on the disk, and return what has changed if anybody wants to know."""
        mirror = self.mirror
        if mirror.has_subscribers:
            mirror.begin()
        for record in records:
            mirror.apply(record)
        if mirror.has_subscribers:
            return mirror.changes()
        mirror.settle()
        return ()

    # Compaction

    def compact(self) -> None:
        """Write the queue anew without its past: beside the log, and then in its place at once.

        The log of before stays as ``job_queue.log.<number>``, the last ``rotations`` of them. Raises QueueIO, after
        which the log of before goes on; JobQueueError within a transaction.
        """
        end = self._writable()
        if self._under_way:
            raise self._error("queue-nested", "a transaction is under way in this queue", "compact when it has ended")
        sequence = 1 if self.mirror.sequence is None else self.mirror.sequence
        temporary = Path(f"{self.path}.tmp")
        fresh: Appendix | None = None
        try:
            self._disk.remove(temporary)
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND
            fresh = Appendix(self._disk, self._disk.open(temporary, flags))
            self._write_state(fresh, sequence + 1)
            self._keep_old(sequence)
            self._disk.rename(temporary, self.path)
        except OSError as error:
            if fresh is not None:
                fresh.close()
            with suppress(OSError):
                self._disk.remove(temporary)
            if not leads_to(self.path, end.descriptor):  # as over a network, where an answer may be lost
                end.broken = True
                raise self._refused("the log may be compacted or not", error, _OPEN_AGAIN) from error
            raise self._refused("the log cannot be compacted and stays as it is", error) from error
        end.close()
        self._end = fresh
        self.mirror.sequence = sequence + 1
        try:
            self._disk.sync_folder(self.path.parent)
        except OSError as error:
            fresh.broken = True  # after a crash the old log might be back, without what comes now
            raise self._refused("the compacted log may not be there after a crash", error) from error

    def _write_state(self, fresh: Appendix, sequence: int) -> None:
        pieces: list[bytes] = []
        size = 0
        for line in self._state(sequence):
            pieces.append(f"{line}\n".encode("utf-8", "surrogateescape"))
            size += len(pieces[-1])
            if size >= _PIECE:
                write_all(self._disk, fresh.descriptor, b"".join(pieces))
                pieces, size = [], 0
        if pieces:
            write_all(self._disk, fresh.descriptor, b"".join(pieces))
        self._disk.sync(fresh.descriptor)
        fresh.size = self._disk.size(fresh.descriptor)

    def _state(self, sequence: int) -> Iterator[str]:
        """Return the lines of a compacted log; replayed, they give the same texts."""
        yield format_record(self._header(sequence))
        for key in self.mirror.ads:
            texts, names = self.mirror.ads.parts(key)
            kind = texts.get("mytype", "")[1:-1]
            kind = kind if kind.isalnum() and kind.isascii() else ""
            yield format_record(Record(Op.NEW, key, kind))
            for low, text in texts.items():
                yield f"103 {key} {names[low]} {text}"
            if "mytype" not in texts:
                yield f"104 {key} MyType"
            if kind.lower() == "job" and "targettype" not in texts:
                yield f"104 {key} TargetType"

    def _header(self, sequence: int) -> Record:
        return Record(Op.HEADER, str(sequence), "CreationTimestamp", str(self.mirror.created))

    def _keep_old(self, sequence: int) -> None:
        """Give the log of before the name it keeps, and forget the oldest one."""
        if self._rotations <= 0:
            return
        kept = Path(f"{self.path}.{sequence}")
        self._disk.remove(kept)
        self._disk.link(self.path, kept)
        if sequence - self._rotations >= 0:
            self._disk.remove(Path(f"{self.path}.{sequence - self._rotations}"))

    # Errors

    def _writable(self) -> Appendix:
        if self._end is None:
            raise self._error("queue-closed", "this queue is closed", "open it again")
        if self._end.broken:
            message = "the disk failed, or writing was interrupted, and how this log ends is not known"
            raise self._error("queue-broken", message, _OPEN_AGAIN)
        return self._end

    def _refused(self, doing: str, error: OSError, hint: str | None = None) -> QueueIO:
        return refused_by_disk(self.path, doing, error, hint)

    def _error(self, code: str, message: str, hint: str) -> JobQueueError:
        return JobQueueError(Diagnostic(code, message, span=Source("", str(self.path)).span(), help=hint))


def _line(record: Record) -> str:
    """Return the line of a record that a Transaction has checked."""
    if record.op is Op.SET:
        return f"103 {record.key} {record.name} {record.value}"
    return format_record(record)
