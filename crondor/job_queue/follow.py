"""Follows a log that another process writes: what each poll adds, compaction and damage included.

A poll costs what is new. Unlike HTCondor's own followers, which show a transaction half-written, this one waits for its
end; a torn last line is waited for too. A compacted log is told by its first line (107) and by being another file; one
that was cut and written again by the bytes before the place reached (HTCondor 25.14, ``ClassAdLogProber``).

HTCondor: ClassAdLogReader::Poll, ClassAdLogProber::probe.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from crondor.diagnostics import Diagnostic
from crondor.job_queue.faults import NotAQueueLog, refused_by_disk
from crondor.job_queue.log import pieces
from crondor.job_queue.mirror import AdChange, Mirror
from crondor.job_queue.recovery import Recovery, to_lines
from crondor.rights.walk import open_plain
from crondor.source import Source

_PROOF: Final = 256  # bytes before the place reached that must still be the same
_FIRST: Final = 128  # bytes in which the first line ends
_QUEUE_LOG: Final = "name the schedd's: condor_config_val JOB_QUEUE_LOG, or job_queue.log in the folder SPOOL"
_STRANGERS: Final = (
    (
        re.compile(r"[0-9]{3} \([0-9]+\.[0-9]+\.[0-9]+\) |<c>|\{\Z").match,
        ", but the log of jobs that their submit file names",
        f"{_QUEUE_LOG}; the logs of its jobs are read with --allow-dir DIR",
    ),
    (
        re.compile(r"[A-Za-z_]\w* ?= ?").match,
        ", but ads of jobs",
        f"{_QUEUE_LOG}; what condor_q -long prints is read with --ads FILE",
    ),
)
"""What is taken for a queue's log by mistake, by its first line."""


@dataclass(frozen=True)
class QueuePoll:
    """What one poll found.

    ``transactions`` are the changes of each transaction in order, or all at once where the log had been ``reloaded``.
    ``waiting`` says that a transaction has begun and not ended, or a last line is not whole yet.
    """

    transactions: tuple[tuple[AdChange, ...], ...] = ()
    reloaded: bool = False
    waiting: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def changes(self) -> tuple[AdChange, ...]:
        """The changes of all transactions."""
        return tuple(change for found in self.transactions for change in found)


class Follower:
    """Keeps a mirror up to date with a log file; the file is only read.

    ``mirror`` is the same object for good, and subscribers stay with it. It shows the view of the schedd that writes
    the log (``live``), as far as that can be known: what the schedd has not written yet nobody sees here (see
    docs/job-queue.md).
    """

    def __init__(self, path: Path | str, *, live: bool = True, on_read: Callable[[int], object] | None = None) -> None:
        """Read nothing yet; the first poll reads the log. ``on_read`` is told how many bytes of it are read."""
        self.path = Path(path)
        self.mirror = Mirror(live=live)
        self.offset = 0
        self._on_read = on_read
        self._recovery = Recovery(self.mirror, str(path), tolerant=True)
        self._torn = False
        self._first = b""
        self._file = (0, 0)
        self._proof = b""

    def poll(self) -> QueuePoll:
        """Read what is new, tell the subscribers and return it.

        Raises QueueIO while the log cannot be opened or read, as in the moment before a schedd has made it, and
        NotAQueueLog while no line of the file is a record: the mirror stays as it is, and the next poll tries again.
        """
        return self._poll(silent=False)

    def catch_up(self) -> tuple[Diagnostic, ...]:
        """Poll for the mirror and its subscribers alone: where there are none, a whole log is no list of changes.

        Returns the findings. Raises as poll does.
        """
        return self._poll(silent=not self.mirror.has_subscribers).diagnostics

    def _poll(self, *, silent: bool) -> QueuePoll:
        try:
            with os.fdopen(open_plain(self.path), "rb") as file:
                if self._goes_on(file):
                    return self._read_on(file)
                return self._reload(file, silent=silent)
        except OSError as error:
            raise refused_by_disk(self.path, "this log cannot be followed", error) from error

    def _goes_on(self, file: BinaryIO) -> bool:
        """Say whether a file is the one read before, with nothing but new records behind."""
        if not self.offset or _identity(file) != self._file:
            return False
        if _first_line(file) != self._first:
            return False
        start = self.offset - len(self._proof)
        file.seek(start)
        return file.read(len(self._proof)) == self._proof

    def _read_on(self, file: BinaryIO) -> QueuePoll:
        file.seek(self.offset)
        transactions: list[tuple[AdChange, ...]] = []
        failed: Exception | None = None
        for piece in self._whole(file):
            for changes in filter(None, self._recovery.follow(to_lines(piece))):
                transactions.append(changes)
                try:
                    self.mirror.tell(changes)
                except Exception as error:  # noqa: BLE001 - what was read counts first, then it leaves
                    failed = failed or error
        if failed is not None:
            raise failed
        return self._answer(tuple(transactions), reloaded=False)

    def _reload(self, file: BinaryIO, *, silent: bool) -> QueuePoll:
        """Read a log from its beginning, beside the mirror: what it held is compared, not forgotten.

        ``silent``: nobody wants to know what is different.
        """
        self._file, self._first = _identity(file), _first_line(file)
        self.offset, self._proof = 0, b""
        fresh = Mirror(live=self.mirror.live)
        recovery = Recovery(fresh, str(self.path), tolerant=True)
        file.seek(0)
        try:
            for piece in self._whole(file):
                recovery.feed(piece)
        except OSError:
            self.offset = 0  # the next poll begins anew
            raise
        if recovery.line and fresh.sequence is None and not fresh.keys():
            self.offset = 0
            raise NotAQueueLog(self._stranger())
        recovery.check_header()
        changes = () if silent else self.mirror.differences(fresh)
        self.mirror.adopt(fresh)
        recovery.mirror = self.mirror
        self._recovery = recovery
        self.mirror.tell(changes)
        return self._answer((changes,) if changes else (), reloaded=True)

    def _stranger(self) -> Diagnostic:
        """Return what is wrong with a file that has lines and no record: what it seems to be, and what reads that."""
        line = self._first.decode("utf-8", "replace").partition("\n")[0]
        what, hint = next(((what, hint) for is_it, what, hint in _STRANGERS if is_it(line)), ("", _QUEUE_LOG))
        message = f"this is no job_queue.log{what}: none of its lines is a record of a queue"
        return Diagnostic("queue-log-stranger", message, span=Source(line, str(self.path)).span(), help=hint)

    def _whole(self, file: BinaryIO) -> Iterator[bytes]:
        """Return whole lines from where the file stands; a line without end is left for the next poll."""
        self._torn = False
        for piece in pieces(file):
            if not piece.endswith(b"\n"):
                self._torn = True
                return
            self.offset += len(piece)
            self._proof = (self._proof + piece[-_PROOF:])[-_PROOF:]
            yield piece
            if self._on_read is not None:
                self._on_read(self.offset)

    def _answer(self, transactions: tuple[tuple[AdChange, ...], ...], *, reloaded: bool) -> QueuePoll:
        waiting = self._torn or self._recovery.in_transaction
        return QueuePoll(transactions, reloaded, waiting, self._recovery.findings.take())


def _identity(file: BinaryIO) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino


def _first_line(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.readline(_FIRST)
