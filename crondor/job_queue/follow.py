"""Follow a log that another process writes, across compaction and damage; index the queue.

A poll costs only the new records. Unlike HTCondor's followers, which show transactions half-written, this one waits for
the end of a transaction, and of a torn last line. A compacted log is recognized by its first line (107) and its file
identity; a log that was truncated and rewritten by the bytes before the current offset (HTCondor 25.14,
``ClassAdLogProber``).

HTCondor: ClassAdLogReader::Poll, ClassAdLogProber::probe.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Generic, TypeVar

from crondor.classad.formats.long_form import read_lazily
from crondor.classad.scope import Value
from crondor.classad.text import lower
from crondor.diagnostics import Diagnostic, Source
from crondor.job.attributes import alone, int32_of, string_of
from crondor.job_queue.mirror import AdChange, ChangeKind, JobFilter, Mirror
from crondor.job_queue.records import JobId, NotAQueueLog, cluster_of, refused_by_disk
from crondor.job_queue.recovery import Recovery, pieces, to_lines
from crondor.rights.walk import open_plain
from crondor.spec import FIELDS

_PROOF: Final = 256  # bytes before the offset that must be unchanged
_FIRST: Final = 128  # bytes that contain the first line
_QUEUE_LOG: Final = "give the schedd's log: condor_config_val JOB_QUEUE_LOG, or job_queue.log in the folder SPOOL"
_STRANGERS: Final = (
    (
        re.compile(r"[0-9]{3} \([0-9]+\.[0-9]+\.[0-9]+\) |<c>|\{\Z").match,
        ", but the user log of some jobs",
        f"{_QUEUE_LOG}; for the logs of its jobs use --allow-dir DIR",
    ),
    (
        re.compile(r"[A-Za-z_]\w* ?= ?").match,
        ", but ads of jobs",
        f"{_QUEUE_LOG}; for the output of condor_q -long use --ads FILE",
    ),
)
"""Files mistaken for a queue's log, by their first line."""


@dataclass(frozen=True)
class QueuePoll:
    """The result of a poll.

    ``transactions`` are the changes of each transaction in order, or all in one if the log was ``reloaded``.
    ``waiting``: a transaction has not ended, or the last line is incomplete.
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

    ``mirror`` is always the same object, and its subscribers remain. It shows the view of the schedd that writes the
    log (``live``), as far as it can be known: changes the schedd has not written yet are not visible (see
    docs/queue.md).
    """

    def __init__(
        self,
        path: Path | str,
        *,
        live: bool = True,
        on_read: Callable[[int], object] | None = None,
        only: JobFilter | None = None,
    ) -> None:
        """Read nothing yet; the first poll reads the log. ``on_read`` gets the number of bytes read each time.

        ``only``: which jobs the mirror holds.
        """
        self.path = Path(path)
        self.mirror = Mirror(live=live, only=only)
        self.offset = 0
        self._on_read = on_read
        self._recovery = Recovery(self.mirror, str(path), tolerant=True)
        self._torn = False
        self._first = b""
        self._file = (0, 0)
        self._proof = b""

    def poll(self) -> QueuePoll:
        """Read new records, notify the subscribers and return the changes.

        Raises QueueIO if the log cannot be opened or read, as just before a schedd creates it, and NotAQueueLog if no
        line of the file is a record: the mirror is unchanged, and the next poll tries again.
        """
        return self._poll(silent=False)

    def catch_up(self) -> tuple[Diagnostic, ...]:
        """Poll without a list of changes, which a whole log would make long; subscribers are still notified.

        Returns the findings. Raises as poll does.
        """
        return self._poll(silent=not self.mirror.has_subscribers).diagnostics

    def _poll(self, *, silent: bool) -> QueuePoll:
        try:
            with os.fdopen(open_plain(self.path), "rb") as file:
                found = self._read_on(file, silent=silent) if self._goes_on(file) else None
                return found or self._reload(file, silent=silent)
        except OSError as error:
            raise refused_by_disk(self.path, "this log cannot be followed", error) from error

    def _goes_on(self, file: BinaryIO) -> bool:
        """Return whether a file is the one read before, with nothing but new records appended."""
        if not self.offset or _identity(file) != self._file:
            return False
        if _first_line(file) != self._first:
            return False
        start = self.offset - len(self._proof)
        file.seek(start)
        return file.read(len(self._proof)) == self._proof

    def _read_on(self, file: BinaryIO, *, silent: bool) -> QueuePoll | None:
        """Read new records; None if the file must be read from the start."""
        file.seek(self.offset)
        transactions: list[tuple[AdChange, ...]] = []
        failed: Exception | None = None
        for piece in self._whole(file):
            if self.mirror.only is not None and self.mirror.only.scan(piece):
                return None
            if silent:
                self._recovery.feed(piece)
                continue
            for changes in filter(None, self._recovery.follow(to_lines(piece))):
                transactions.append(changes)
                try:
                    self.mirror.tell(changes)
                except Exception as error:  # noqa: BLE001 - raised again once the records read are applied
                    failed = failed or error
        if failed is not None:
            raise failed
        return self._answer(tuple(transactions), reloaded=False)

    def _reload(self, file: BinaryIO, *, silent: bool) -> QueuePoll:
        """Read a log from its start, and compare it with the mirror.

        ``silent``: the differences are not needed.
        """
        self._file, self._first = _identity(file), _first_line(file)
        self.offset, self._proof = 0, b""
        only = self.mirror.only
        fresh = Mirror(live=self.mirror.live, only=only)
        recovery = Recovery(fresh, str(self.path), tolerant=True)
        file.seek(0)
        try:
            if only is not None:
                only.forget()
                for piece in pieces(file):
                    only.scan(piece)
            scanned = file.tell()
            file.seek(0)
            for piece in self._whole(file):
                if only is not None and self.offset > scanned and only.scan(piece):
                    return self._reload(file, silent=silent)  # it has grown meanwhile
                recovery.feed(piece)
        except OSError:
            self.offset = 0  # the next poll starts from the beginning
            raise
        is_held = bool(fresh.keys()) or (only is not None and self._first.startswith(b"10"))
        if recovery.line and fresh.sequence is None and not is_held:
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
        """Return an error for a file without records, with a guess what it is and which option reads it."""
        line = self._first.decode("utf-8", "replace").partition("\n")[0]
        what, hint = next(((what, hint) for is_it, what, hint in _STRANGERS if is_it(line)), ("", _QUEUE_LOG))
        message = f"this is not a job_queue.log{what}: none of its lines is a record of a queue"
        return Diagnostic("queue-log-stranger", message, span=Source(line, str(self.path)).span(), help=hint)

    def _whole(self, file: BinaryIO) -> Iterator[bytes]:
        """Yield whole lines from the current position; a line without end is left for the next poll."""
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


Answer = TypeVar("Answer", bound=Hashable)
Lookup = Callable[[str], "str | None"]

_NOTHING: Final[frozenset[JobId]] = frozenset()
_CRON: Final = tuple(field.attribute for field in FIELDS)


class Index(Generic[Answer]):
    """The jobs of a mirror grouped by an answer computed from some of their attributes.

    ``index[answer]`` are the jobs, a live set: do not modify it, and copy it if jobs change during iteration. The
    answer uses the attributes' texts, those of the cluster for jobs without their own; attributes that these refer to
    are ignored.
    """

    def __init__(self, mirror: Mirror, attributes: Iterable[str], answer: Callable[[Lookup], Answer]) -> None:
        """Index all jobs, and each job that changes from now on.

        ``answer`` gets a function that returns an attribute's text (old syntax, or None), and may only ask for
        ``attributes``.
        """
        self._mirror = mirror
        self._names = frozenset(map(lower, attributes))
        self._answer = answer
        self._jobs: dict[Answer, set[JobId]] = {}
        self._answers: dict[JobId, Answer] = {}
        for job in mirror:
            self._put(job)
        self.close = mirror.subscribe(self._update)

    def __getitem__(self, answer: Answer) -> Collection[JobId]:
        """Return the jobs with an answer, none if there are none."""
        return self._jobs.get(answer, _NOTHING)

    def answers(self) -> Collection[Answer]:
        """Return the answers that have jobs."""
        return self._jobs.keys()

    def _update(self, changes: tuple[AdChange, ...]) -> None:
        for change in changes:
            if change.kind is ChangeKind.CHANGED and not self._names & change.attributes:
                continue
            cluster = cluster_of(change.key)
            if cluster is not None:
                for job in self._mirror.procs(cluster):
                    self._put(job)
                continue
            found = JobId.parse(change.key)
            if found is not None and found in self._mirror:
                self._put(found)
            elif found is not None:
                self._drop(found)

    def _put(self, job: JobId) -> None:
        answer = self._answer(lambda name: self._mirror.text(job, name))
        if job in self._answers:
            if self._answers[job] == answer:
                return
            self._drop(job)
        self._answers[job] = answer
        self._jobs.setdefault(answer, set()).add(job)

    def _drop(self, job: JobId) -> None:
        if job not in self._answers:
            return
        answer = self._answers.pop(job)
        jobs = self._jobs[answer]
        jobs.discard(job)
        if not jobs:
            del self._jobs[answer]


def by_status(mirror: Mirror) -> Index[int | None]:
    """Return the jobs by JobStatus (1 idle, 2 running, 3 removed, 4 completed, 5 held); None: not a literal number."""
    return Index(mirror, ["JobStatus"], lambda text: int32_of(_value(text("JobStatus"))))


def by_owner(mirror: Mirror) -> Index[str | None]:
    """Return the jobs by Owner; None: not a literal string."""
    return Index(mirror, ["Owner"], lambda text: string_of(_value(text("Owner"))))


def by_cron(mirror: Mirror) -> Index[bool]:
    """Return the jobs by whether any of the five Cron attributes has a value: whether they have a schedule."""
    return Index(mirror, _CRON, lambda text: any(map(_given, map(text, _CRON))))


def _value(text: str | None) -> Value:
    return alone(None if text is None else read_lazily(text))


def _given(text: str | None) -> bool:
    return text is not None and lower(text) != "undefined"
