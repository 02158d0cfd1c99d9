"""A queue with one writer: its lock, its durable transactions, and compaction.

The format, the order of writes and the recovery are the schedd's (HTCondor 25.14, ``ClassAdLog``,
``TruncateClassAdLog``, ``SaveHistoricalClassAdLogs``): a schedd can take over a log written here, and the reverse.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Final, NoReturn, TypeAlias

from crondor.classad.ad import ClassAd, to_code
from crondor.classad.parser import UnparseForm, unparse
from crondor.classad.scope import code_tree
from crondor.classad.text import lower
from crondor.classad.tree import ClassAdSyntaxError
from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.job.attributes import alone, int32_of
from crondor.job_queue.history import Appendix, Disk, History, Left, leads_to, write_all
from crondor.job_queue.mirror import AdChange, Mirror
from crondor.job_queue.records import (
    BEGIN,
    EMPTY_TYPE,
    HEADER,
    InvalidChange,
    JobId,
    JobQueueError,
    Op,
    QueueIO,
    QueueLocked,
    Record,
    cluster_key,
    format_record,
    is_key,
    refused_by_disk,
)
from crondor.job_queue.recovery import read_records
from crondor.rights.walk import open_plain

if sys.platform != "win32":
    import fcntl


Waiting: TypeAlias = Callable[[], bool]
"""Called while another process has a lock: waits a little, and returns whether to try again."""


# The schedd takes no such lock: writing a log that a running schedd writes destroys it.
def at_once() -> bool:
    """Do not wait."""
    return False


class Lock:
    """A lock held until ``close``."""

    def __init__(self, path: Path, disk: Disk, wait: Waiting = at_once) -> None:
        """Take the lock file, creating it if it is missing. Raises QueueLocked and QueueIO."""
        try:
            self._descriptor = disk.open(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise refused_by_disk(path, "this lock cannot be taken", error) from error
        try:
            self._take(path, wait)
        except BaseException:
            os.close(self._descriptor)
            raise

    def _take(self, path: Path, wait: Waiting) -> None:
        """Take the lock, or raise QueueLocked or QueueIO."""
        try:
            while not self._is_taken():
                if not wait():
                    break
            else:
                return
        except OSError as error:
            raise refused_by_disk(path, "this lock cannot be taken", error) from error
        message = "another process writes this queue: two writers would destroy it"
        hint = "stop the other one, or follow the log, which needs no lock"
        raise QueueLocked(Diagnostic("queue-locked", message, span=Source("", str(path)).span(), help=hint))

    def _is_taken(self) -> bool:
        """Try to take the lock; return whether another process has it. Raises OSError."""
        try:
            if sys.platform != "win32":  # schedds run on Linux; on Windows nothing prevents a second writer
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def keep_from_daemons(self) -> bool:
        """Also lock the file against HTCondor's daemons, which use POSIX locks; return whether none of them has it.

        Such a lock belongs to the process: closing any descriptor of the file releases it.
        """
        try:
            if sys.platform != "win32":
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # a file system without such locks
            return True
        return True

    def is_at(self, path: Path) -> bool:
        """Return whether a path still leads to the locked file."""
        return leads_to(path, self._descriptor)

    def close(self) -> None:
        """Release the lock."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\Z").match
_WORD: Final = re.compile(r"[^\s\0]+\Z").match
_EXACT: Final = 1 << 63
_NEXT_CLUSTER: Final = "NextClusterNum"
_TOTAL_PROCS: Final = "TotalSubmitProcs"
_PRIVATE: Final = -2


# HTCondor: Transaction::Commit.
class Transaction:
    """The changes of one transaction; only this transaction sees them until it ends.

    An ad is given by its key (``"01.-1"``, ``"0.0"``) or a JobId. An invalid change raises InvalidChange at once, and
    leaves earlier changes in place.
    """

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self.records: list[Record] = []
        self.moves: list[tuple[History, ClassAd, int]] = []
        self._ads: dict[str, dict[str, str] | None] = {}  # changed ads; None: deleted
        self._more: dict[int, int] = {}  # changes of the clusters' numbers of jobs
        self._spelled: dict[str, str] = {}  # the first spelling here, by lowercase name
        self._low: dict[str, str] = {}  # lowercase forms of the names written here

    # Reading

    def __contains__(self, ad: str | JobId) -> bool:
        return self._own(self._mirror.key(ad)) is not None

    def text(self, ad: str | JobId, name: str) -> str | None:
        """Return an attribute's new text, for a job also its cluster's. Raises InvalidChange."""
        key = self._mirror.key(ad)
        low = lower(name)
        found = self._there(key).get(low)
        job = JobId.parse(key)
        if found is None and job is not None:
            found = (self._own(cluster_key(job.cluster)) or {}).get(low)
        return found

    def _own(self, key: str) -> dict[str, str] | None:
        if key in self._ads:
            return self._ads[key]
        return self._mirror.ads.get(key)

    def _there(self, key: str) -> dict[str, str]:
        found = self._own(key)
        if found is None:
            return _refuse(key, "there is no such ad", "create it first")
        return found

    def _to_change(self, key: str) -> dict[str, str]:
        """Return the transaction's own copy of an ad's texts."""
        texts = self._ads.get(key)
        if texts is None:
            texts = self._ads[key] = dict(self._there(key))
        return texts

    # Changing

    def create(self, ad: str | JobId, my_type: str = "Job") -> None:
        """Create an ad; ``my_type`` becomes its MyType, and a Job gets TargetType Machine. Raises InvalidChange."""
        key = self._mirror.key(ad)
        if self._own(key) is not None:
            _refuse(key, "this ad exists already", "set its attributes")
        if not is_key(key):
            _refuse(key, "a key is two numbers below 2,147,483,648 with a dot between", "write cluster.proc")
        if my_type and (not _WORD(my_type) or '"' in my_type or "\\" in my_type or my_type == EMPTY_TYPE):
            _refuse(my_type, "a type is a word without blanks or quotes", "write Job")
        self._count(key, 1)
        self.records.append(Record(Op.NEW, key, my_type))
        texts = self._ads[key] = {"mytype": f'"{my_type}"'}
        if lower(my_type) == "job":
            texts["targettype"] = '"Machine"'
        job = JobId.parse(key)
        if job is not None and HEADER in self and 0 < self._counter(HEADER, _NEXT_CLUSTER) <= job.cluster:
            self.set_text(HEADER, _NEXT_CLUSTER, str(job.cluster + 1))  # otherwise the schedd would not start again

    def set(self, ad: str | JobId, name: str, value: object) -> None:
        """Set an attribute to a Python value or an Expression (a ``str`` is a string). Raises InvalidChange."""
        if value.__class__ is int and -_EXACT < value < _EXACT:
            text = str(value)
        else:
            try:
                text = unparse(code_tree(to_code(value)), UnparseForm.OLD)
            except ClassAdSyntaxError as error:
                raise InvalidChange(error.diagnostics) from None
        self.set_text(ad, name, text)

    def set_text(self, ad: str | JobId, name: str, text: str) -> None:
        """Set an attribute to an expression in old syntax, as in a log or a ``-long`` ad.

        Raises InvalidChange.
        """
        key = ad if ad.__class__ is str and ad in self._ads else self._mirror.key(ad)
        low = self._low.get(name)
        if low is None:
            self._check_name(name)
            low = self._low[name] = lower(name)
        if "\n" in text or "\0" in text:
            _refuse(text, "a value with a line end or a NUL, which no log can hold", "leave them out")
        texts = self._to_change(key)
        try:
            if not text.isascii():
                text.encode("utf-8", "surrogateescape")
            texts[low] = value = self._mirror.values[text]
        except UnicodeEncodeError:
            _refuse(text, "half of a surrogate pair, which UTF-8 cannot encode", "leave it out")
        except ClassAdSyntaxError as error:
            raise InvalidChange(error.diagnostics) from None
        self._spelled.setdefault(low, name)
        self.records.append(Record(Op.SET, key, name, value))

    def delete(self, ad: str | JobId, name: str) -> None:
        """Delete an attribute of an ad; a job whose cluster has it gets ``undefined``, as in the schedd.

        A missing attribute is no error. Raises InvalidChange.
        """
        key = self._mirror.key(ad)
        self._check_name(name)
        low = lower(name)
        job = JobId.parse(key)
        if job is not None and low in (self._own(cluster_key(job.cluster)) or {}):
            self.set_text(ad, name, "undefined")
        elif low in self._there(key):
            del self._to_change(key)[low]
            self.records.append(Record(Op.DELETE, key, name))

    def destroy(self, ad: str | JobId) -> None:
        """Remove only this ad. Raises InvalidChange."""
        key = self._mirror.key(ad)
        self._there(key)
        self._ads[key] = None
        self._count(key, -1)
        self.records.append(Record(Op.DESTROY, key))

    def _count(self, key: str, change: int) -> None:
        job = JobId.parse(key)
        if job is not None:
            self._more[job.cluster] = self._more.get(job.cluster, 0) + change

    def _check_name(self, name: str) -> None:
        if not _NAME(name):
            _refuse(name, "no attribute of a log has this name", "use letters, digits and _")

    # Jobs

    def new_cluster(self) -> int:
        """Create a new cluster's ad and return its number; numbers are never reused. Raises InvalidChange."""
        if HEADER not in self:
            self.create(HEADER)
        cluster = self._counter(HEADER, _NEXT_CLUSTER) or max(self._mirror.clusters(), default=0) + 1
        while self._mirror.procs(cluster) or cluster_key(cluster) in self:
            cluster += 1
        self.set_text(HEADER, _NEXT_CLUSTER, str(cluster + 1))
        self.create(cluster_key(cluster))
        self.set_text(cluster_key(cluster), "ClusterId", str(cluster))
        return cluster

    def new_proc(self, cluster: int) -> JobId:
        """Create a job in a cluster and return it; only its ProcId is set.

        The cluster's TotalSubmitProcs counts created jobs, so that no number is reused. Raises InvalidChange.
        """
        parent = cluster_key(cluster)
        self._there(parent)
        procs = [job.proc for job in self._mirror.procs(cluster)]
        proc = max(self._counter(parent, _TOTAL_PROCS), max(procs, default=-1) + 1)
        job = JobId(cluster, proc)
        self.create(job)
        self.set_text(job, "ProcId", str(proc))
        self.set_text(parent, _TOTAL_PROCS, str(proc + 1))
        return job

    def remove(self, job: JobId) -> None:
        """Remove a job; the last job of a cluster takes the cluster's ads with it. Raises InvalidChange."""
        self.destroy(job)
        if len(self._mirror.ads.jobs.get(job.cluster, ())) + self._more.get(job.cluster, 0):
            return
        for key in (cluster_key(job.cluster), str(JobId(job.cluster, _PRIVATE))):
            if key in self:
                self.destroy(key)

    def move_to_history(self, job: JobId, history: History, now: int) -> None:
        """Remove a job and write its final state to the history; ``now`` is epoch seconds. Raises InvalidChange.

        The history is written first: a crash in between leaves the job in the queue, and never loses it.
        """
        key = self._mirror.key(job)
        own, parent = self._there(key), self._own(cluster_key(job.cluster)) or {}
        self.moves.append((history, self._mirror.make_ad(key, {**parent, **own}, self._spelled), now))
        self.remove(job)

    def _counter(self, key: str, name: str) -> int:
        text = self.text(key, name)
        return max(0, int32_of(alone(text)) or 0)


def _refuse(text: str, message: str, hint: str) -> NoReturn:
    raise InvalidChange(Diagnostic("queue-change", message, span=Source(text, "<change>").span(), help=hint))


_DISK: Final = Disk()
_OPEN_AGAIN: Final = "close and reopen the queue: commits are safe"
_NOT_WRITTEN: Final = {
    Left.NOTHING: "this transaction cannot be written; the log is unchanged",
    Left.PART: "this transaction cannot be written completely; the part written cannot be removed, but does not count",
    Left.UNKNOWN: "this transaction may or may not be in the log: the disk has confirmed neither",
}
_IN_HISTORY: Final = "; its removed jobs are already in the history"
_PIECE: Final = 1 << 20  # bytes written at once in a compaction


class JobQueue(AbstractContextManager["JobQueue"]):
    """A job_queue.log opened for writing; ``mirror`` has its contents, ``diagnostics`` the findings of opening it.

    Use it as a context manager, or ``close`` it. Use it from one thread only.
    """

    def __init__(
        self, path: Path | str, *, now: int, rotations: int = 1, disk: Disk = _DISK, wait: Waiting = at_once
    ) -> None:
        """Recover or create the log; a log with transactions or damage is compacted first.

        ``now`` (epoch seconds) becomes the time of creation of a log without one. ``rotations`` is HTCondor's
        MAX_JOB_QUEUE_LOG_ROTATIONS: the number of logs from before a compaction stored as ``job_queue.log.<number>``.
        ``wait`` is called while another process writes the queue.
        Raises QueueLocked, QueueIO, and DamagedLog if the schedd would not start.
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
            self.mirror.sequence = 1
            try:
                self._end.append(f"{format_record(self._header(1))}\n".encode())
                self._disk.sync_folder(self.path.parent)
            except OSError as error:
                raise self._refused("this log cannot be started", error) from error

    def _compact_at_start(self, end: Appendix, *, clean: bool) -> None:
        """Compact; if that fails, a log that is merely long is used as it is, as in the schedd."""
        try:
            self.compact()
        except QueueIO as error:
            if not clean or self._end is not end:
                raise
            self.diagnostics += tuple(replace(found, severity=Severity.WARNING) for found in error.diagnostics)

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the log and release the lock; commits are complete already."""
        if self._end is not None:
            self._end.close()
            self._end = None
        self._lock.close()

    @contextmanager
    def transaction(self, *, durable: bool = True, comment: str = "") -> Iterator[Transaction]:
        """Collect changes, and commit them when the block ends; an exception in it leaves the queue unchanged.

        After a block without error the changes are on disk (``durable=False``: with the operating system, and on disk
        with the next durable ones). They are either all in the log or none of them. Without changes nothing is written.
        ``comment`` goes into the log after the transaction's end. Subscribers are called after the commit; an error of
        theirs is raised although the changes are made.
        Raises InvalidChange, QueueIO, and JobQueueError for a transaction within another or in a closed queue.
        """
        end = self._writable()
        durable = durable and not self._gathering
        if self._under_way:
            raise self._error("queue-nested", "a transaction is open in this queue", "end it before the next")
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
            end.broken |= end.size != size  # interrupted after the commit: memory may be older than the log
            raise
        finally:
            self._under_way = False
        self.mirror.tell(changes)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Sync the transactions of a block to disk together when it ends.

        Each is in the log, readable by others, as soon as it ends. If the machine crashes in the block, the last ones
        may be lost, never one without those after it. Raises QueueIO if the disk fails at the end: then the contents of
        the log are unknown, and the queue must be opened again.
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
        """Wait until all writes are on disk."""
        end, waits, self._unsynced = self._end, self._unsynced, False
        if end is None or not waits or end.broken:
            return
        try:
            end.sync()
        except OSError as error:
            raise self._refused("the last writes may be missing from this log after a crash", error) from error

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
            # If the log may have the removal, a job in both is better than in neither.
            is_out = end.size == before and (not end.broken or end.left is Left.PART)
            kept = [history for history, size in reversed(written) if not (is_out and history.take_back(size))]
            if isinstance(error, QueueIO) or not isinstance(error, OSError):
                raise
            hint = _OPEN_AGAIN if end.broken or kept else None
            raise self._refused(_NOT_WRITTEN[end.left] + _IN_HISTORY * bool(kept), error, hint) from error

    def _apply(self, records: list[Record]) -> tuple[AdChange, ...]:
        """Apply what is on disk to memory, and return the changes if there are subscribers."""
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
        """Rewrite the queue without its past: to a new file, which then replaces the log atomically.

        The old log stays as ``job_queue.log.<number>``, up to ``rotations`` of them. Raises QueueIO, after which the
        old log continues; JobQueueError within a transaction.
        """
        end = self._writable()
        if self._under_way:
            raise self._error("queue-nested", "a transaction is open in this queue", "compact after it has ended")
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
            if not leads_to(self.path, end.descriptor):  # as on a network file system, where a reply may be lost
                end.broken = True
                raise self._refused("the log may or may not be compacted", error, _OPEN_AGAIN) from error
            raise self._refused("the log cannot be compacted and is unchanged", error) from error
        end.close()
        self._end = fresh
        self.mirror.sequence = sequence + 1
        try:
            self._disk.sync_folder(self.path.parent)
        except OSError as error:
            fresh.broken = True  # after a crash the old log might return, without later writes
            raise self._refused("the compacted log may be missing after a crash", error) from error

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
        """Yield the lines of a compacted log; replayed, they give the same texts."""
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
        """Rename the old log to its number, and delete the oldest one."""
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
            message = "the disk failed, or writing was interrupted, and the end of this log is unknown"
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
