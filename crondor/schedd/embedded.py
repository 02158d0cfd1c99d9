"""A schedd's queue in a folder: job_queue.log and history, without HTCondor.

Each method is one transaction: when it returns, it is on disk; otherwise it has not happened. hold, release and remove
write the same attributes as the schedd of HTCondor 25.14 (``Scheduler::actOnJobs``, ``holdJob``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import tzinfo
from pathlib import Path
from typing import Final, cast

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.classad.printing import prints_as_it_is
from crondor.codes import SPOOLING_INPUT
from crondor.diagnostics import Diagnostic, Severity
from crondor.job.attributes import JobStatus, int32
from crondor.job_queue import (
    History,
    Index,
    JobId,
    JobQueue,
    JobQueueError,
    Transaction,
    by_status,
    cluster_key,
    read_history,
)
from crondor.job_queue.mirror import Mirror
from crondor.job_queue.records import refused_by_disk
from crondor.job_queue.write import Waiting, at_once
from crondor.recurrence import Policy
from crondor.rights.trust import check, make_folder
from crondor.rights.walk import is_there
from crondor.schedd import protocol
from crondor.schedd.cron_tabs import CronEdit, CronTabs, hold_of
from crondor.schedd.protocol import (
    FIXED,
    Acted,
    Capabilities,
    ChangeList,
    Clock,
    Hold,
    JobChange,
    Scheduled,
    Selection,
    Which,
    check_editable,
    read_constraint,
)
from crondor.schedd.reading import context_at, int32_in, jobs_of, latest, mirror_of, scheduled_of
from crondor.spec import Dialect

LOG: Final = "job_queue.log"
HISTORY: Final = "history"

_OF_A_JOB: Final = frozenset(
    ("procid", "jobstatus", "enteredcurrentstatus", "deferraltime", "holdreason", "holdreasoncode", "holdreasonsubcode")
)
_COUNTED: Final = FIXED | {"totalsubmitprocs"}  # set by the queue, whatever a job's ad has
_NEVER_COMMON: Final = _OF_A_JOB | _COUNTED
_GONE: Final = (JobStatus.REMOVED, JobStatus.COMPLETED)


class EmbeddedSchedd(AbstractContextManager["EmbeddedSchedd"]):
    """A queue on disk, with this object as its only writer.

    ``clock`` returns the time (epoch seconds); ``zone``, ``dialect`` and ``policy`` determine how the Cron attributes
    of its jobs are read. ``book`` computes their DeferralTime; ``recalculate`` writes it. Use it from one thread only.
    Close it, or use it as a context manager.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        clock: Clock,
        zone: str | tzinfo = "UTC",
        dialect: Dialect = Dialect.MANUAL,
        policy: Policy | None = None,
        wait: Waiting = at_once,
    ) -> None:
        """Open the queue of a folder, creating both if they are missing.

        ``wait`` is called while another process has the queue: it waits a little, and returns whether to try again.
        Raises QueueLocked if another process has it, Untrusted if another user could have created or could change it,
        DamagedLog, QueueIO and UnknownZone.
        """
        self.folder = Path(folder)
        self.capabilities = Capabilities(atomic_edits=True, can_submit=True, can_write=True, sees_deferral_time=True)
        try:
            make_folder(self.folder)
            for name in (LOG, f"{LOG}.lock", HISTORY):
                check(self.folder / name)
        except OSError as error:
            raise refused_by_disk(self.folder, "no queue can be created here", error) from error
        self._begin(JobQueue(self.folder / LOG, now=clock(), wait=wait), clock, zone, dialect, policy)

    def _begin(
        self, queue: JobQueue | MemoryQueue, clock: Clock, zone: str | tzinfo, dialect: Dialect, policy: Policy | None
    ) -> None:
        self._queue = queue
        self._clock = clock
        self._zone = zone
        self._history: History | None = None
        self._by_status: Index[int | None] | None = None
        try:
            self.book = CronTabs(self.mirror, zone=zone, dialect=dialect, policy=policy)
        except BaseException:
            self._queue.close()
            raise
        self._changes = ChangeList(self.mirror)

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the queue, so that another process can write it."""
        self.book.close()
        if self._history is not None:
            self._history.close()
        self._queue.close()

    @property
    def mirror(self) -> Mirror:
        """The queue in memory."""
        return self._queue.mirror

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings of opening the log."""
        return self._queue.diagnostics

    @property
    def next_cluster(self) -> int:
        """The number of the cluster that the next submit creates."""
        return Transaction(self.mirror).new_cluster()

    def context(self) -> Context:
        """Return the context for constraints: the clock and the zone."""
        return context_at(self._clock, self._zone)

    # Reading

    def jobs(self, which: Which = None, projection: Iterable[str] | None = None) -> list[ClassAd]:
        """Return the ads of jobs. Raises ClassAdSyntaxError."""
        return jobs_of(self.mirror, which, projection, self.context())

    def scheduled(self, which: Which = None) -> Scheduled:
        """Return the jobs with a schedule. Raises ClassAdSyntaxError."""
        return scheduled_of(self.mirror, which, self.context())

    def changes(self) -> list[JobChange]:
        """Return the changes of jobs since the last call."""
        return self._changes.take()

    def forget_changes(self) -> None:
        """Restart ``changes``, as for a new reader: the next call returns all jobs."""
        self._changes.close()
        self._changes = ChangeList(self.mirror)

    def history(
        self, which: Which = None, projection: Iterable[str] | None = None, limit: int | None = None
    ) -> list[ClassAd]:
        """Return the jobs that have left, the latest first. Raises ClassAdSyntaxError and QueueIO."""
        path = self.folder / HISTORY
        if not is_there(path):
            Selection.of(which)
            return []
        return latest(read_history(path), which, projection, limit, self.context())

    # Writing

    def together(self) -> AbstractContextManager[None]:
        """Sync the transactions of a block to disk together when the block ends.

        Others can read them at once. If the machine crashes in the block, the last ones may be lost, as if the process
        had ended earlier. Raises QueueIO at the end.
        """
        return self._queue.together()

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Set attributes of a job in one transaction if a condition holds, and return whether it did.

        LastJobStatus and the counts of holds are updated as by a schedd. Raises ClassAdSyntaxError, InvalidChange,
        QueueIO, and ScheddError for ClusterId and similar attributes.
        """
        return bool(self.edit((job,), condition, edits))

    def edit(self, jobs: Iterable[JobId], condition: str, edits: Mapping[str, object]) -> list[JobId]:
        """Set attributes of the jobs for which a condition holds, of all of them or of none, and return those jobs.

        Raises as ``edit_if`` does.
        """
        expression = read_constraint(condition, "<condition>")
        check_editable(edits)
        context = self.context()
        ads = ((job, self.mirror.ad(job)) for job in jobs if job in self.mirror)
        meant = [(job, ad) for job, ad in ads if expression.holds(ad, None, context)]
        with self._queue.transaction() as change:
            for job, ad in meant:
                for name, value in {**protocol.followed(ad, edits), **edits}.items():
                    change.set(job, name, value)
        return [job for job, _ in meant]

    def write(self, job: JobId, values: protocol.Writes) -> None:
        """Set attributes of a job, including JobStatus; None deletes. Raises InvalidChange and QueueIO."""
        with self._queue.transaction() as change:
            self._write(change, job, values)

    def leave(self, job: JobId) -> bool:
        """Move an ended job to the history, unless its LeaveJobInQueue is true; return whether it left.

        Raises InvalidChange and QueueIO.
        """
        if _STAYS.holds(self.mirror.ad(job), None, self.context()):
            return False
        with self._queue.transaction() as change:
            change.move_to_history(job, self._open_history(), self._clock())
        return True

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Add jobs to the queue in one new cluster.

        QDate, JobStatus (idle) and EnteredCurrentStatus are set if an ad lacks them; a job submitted on hold counts one
        hold. Attributes that all ads share go into the cluster's ad. Raises InvalidChange and QueueIO.
        """
        if not ads:
            return []
        now = self._clock()
        common = _common(ads)
        with self._queue.transaction() as change:
            cluster = change.new_cluster()
            parent = cluster_key(cluster)
            for low in common:
                _carry(change, parent, ads[0], low)
            if "qdate" not in common:
                change.set(parent, "QDate", now)
            jobs = []
            for ad in ads:
                job = change.new_proc(cluster)
                for name, value in (("JobStatus", int(JobStatus.IDLE)), ("EnteredCurrentStatus", now)):
                    change.set(job, name, value)
                for low in ad.names:
                    if low not in common and low not in _COUNTED:
                        _carry(change, job, ad, low)
                code = int32(ad, "HoldReasonCode")
                if code is not None and "NumHolds" not in ad:
                    self._write(change, job, protocol.counted(ad, code))
                jobs.append(job)
        return jobs

    def hold(self, which: Which, hold: Hold) -> Acted:
        """Put jobs on hold; jobs held by the schedd or a machine are held again, by their user.

        Raises ClassAdSyntaxError, InvalidChange and QueueIO.
        """
        with self._acting(which) as (jobs, change, counts):
            for job, status in jobs:
                ad = self.mirror.ad(job)
                if status in _GONE:
                    counts["bad_status"] += 1
                elif status is JobStatus.HELD and not protocol.can_be_held(ad, hold):
                    counts["already"] += 1
                else:
                    self._write(change, job, protocol.held(ad, hold, self._clock()))
                    counts["done"] += 1
        return Acted(**counts)

    def release(self, which: Which, reason: str) -> Acted:
        """Make held jobs idle. Raises ClassAdSyntaxError, InvalidChange and QueueIO."""
        with self._acting(which) as (jobs, change, counts):
            for job, status in jobs:
                ad = self.mirror.ad(job)
                if status is not JobStatus.HELD or int32(ad, "HoldReasonCode") == SPOOLING_INPUT:
                    counts["bad_status"] += 1
                    continue
                self._write(change, job, protocol.released(ad, reason, self._clock()))
                counts["done"] += 1
        return Acted(**counts)

    def remove(self, which: Which, reason: str) -> Acted:
        """Remove jobs. A job managed by others (Managed "External"), or whose LeaveJobInQueue is true, stays.

        It stays with JobStatus 3, as in HTCondor. Raises ClassAdSyntaxError, InvalidChange and QueueIO.
        """
        with self._acting(which) as (jobs, change, counts):
            for job, status in jobs:
                stays = self._stays(job)
                if status is JobStatus.REMOVED and stays:
                    counts["already"] += 1
                    continue
                if status is not JobStatus.REMOVED:
                    self._write(change, job, protocol.removed(self.mirror.ad(job), reason, self._clock()))
                if not stays:
                    change.move_to_history(job, self._open_history(), self._clock())
                counts["done"] += 1
        return Acted(**counts)

    def clear_finished(self) -> list[JobId]:
        """Move completed and removed jobs to the history, as a schedd does periodically, and return them.

        Jobs managed by others (Managed "External") stay, and those whose LeaveJobInQueue is true. Raises InvalidChange
        and QueueIO.
        """
        if self._by_status is None:
            self._by_status = by_status(self.mirror)
        gone = sorted(job for status in _GONE for job in self._by_status[int(status)])
        left = [job for job in gone if not _STAYS.holds(self.mirror.ad(job), None, self.context())]
        if left:
            with self._queue.transaction() as change:
                for job in left:
                    change.move_to_history(job, self._open_history(), self._clock())
        return left

    def recalculate(self) -> list[CronEdit]:
        """Compute, write and return the effects of one schedd pass over its crontab jobs now.

        Raises InvalidChange and QueueIO.
        """
        return self.apply(self.book.recalculate(self._clock()))

    def apply(self, edits: Iterable[CronEdit]) -> list[CronEdit]:
        """Write edits in one transaction if their jobs are idle, and return those written.

        Raises InvalidChange and QueueIO.
        """
        idle = [edit for edit in edits if edit.job in self.mirror and self._status(edit.job) is JobStatus.IDLE]
        if idle:
            with self._queue.transaction() as change:
                for edit in idle:
                    if edit.time is not None:
                        change.set_text(edit.job, "DeferralTime", str(edit.time))
                    else:
                        held = protocol.held(self.mirror.ad(edit.job), hold_of(edit), self._clock())
                        self._write(change, edit.job, held)
        return idle

    # Internal

    @contextmanager
    def _acting(
        self, which: Which
    ) -> Iterator[tuple[list[tuple[JobId, JobStatus | None]], Transaction, dict[str, int]]]:
        """Yield the selected jobs with their status, a transaction, and a counter of the outcomes."""
        chosen = Selection.of(which)
        jobs = [(job, self._status(job)) for job, _ in chosen.of_mirror(self.mirror, self.context())]
        counts = dict.fromkeys(Acted._fields, 0)
        counts["not_found"] = len(chosen.missing(self.mirror))
        with self._queue.transaction() as change:
            yield jobs, change, counts

    def _status(self, job: JobId) -> JobStatus | None:
        with suppress(ValueError):
            return JobStatus(int32_in(self.mirror, job, "JobStatus") or 0)
        return None

    @staticmethod
    def _write(change: Transaction, job: JobId, values: protocol.Writes) -> None:
        for name, value in values.items():
            if value is None:
                change.delete(job, name)
            else:
                change.set(job, name, value)

    def _stays(self, job: JobId) -> bool:
        """Return whether a job stays in the queue when it is removed."""
        removed = ClassAd({"JobStatus": int(JobStatus.REMOVED)}).chain(self.mirror.ad(job))
        return _STAYS.holds(removed, None, self.context())

    def _open_history(self) -> History:
        if self._history is None:
            self._history = History(self.folder / HISTORY)
        return self._history


_STAYS: Final = read_constraint('LeaveJobInQueue =?= true || Managed =?= "External"')


def _carry(change: Transaction, key: str | JobId, ad: ClassAd, low: str) -> None:
    """Copy an attribute from an ad; most are literals, whose text is the same in a log."""
    code = ad.codes[low]
    if code.__class__ is str and prints_as_it_is(code):
        change.set_text(key, ad.names[low], code)
    else:
        change.set(key, ad.names[low], ad[low])


def _common(ads: Sequence[ClassAd]) -> dict[str, str]:
    """Return the attributes, by lowercase name, that have the same text in all ads, except those set job by job."""
    first = {low: ads[0].text(name) for low, name in ads[0].names.items() if low not in _NEVER_COMMON}
    for ad in {id(ad): ad for ad in ads[1:]}.values():  # equal jobs are often one object
        names = ad.names
        first = {low: text for low, text in first.items() if low in names and ad.text(low) == text}
    return first


def no_queue(folder: Path, severity: Severity = Severity.NOTE) -> Diagnostic:
    """Return a finding about a folder without a queue."""
    hint = "crondor queue submit creates it; choose another folder with --queue"
    return Diagnostic("queue-missing", f"there is no queue yet in {folder}", severity, help=hint)


class MemoryQueue:
    """The transactions of a JobQueue, in memory only."""

    def __init__(self, mirror: Mirror) -> None:
        """Start with the jobs of a mirror."""
        self.mirror = mirror
        self.left: list[ClassAd] = []
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._under_way = False

    @contextmanager
    def transaction(self, *, durable: bool = True, comment: str = "") -> Iterator[Transaction]:  # noqa: ARG002
        """Collect changes, and apply them when the block ends; an exception in it leaves the queue unchanged.

        Raises InvalidChange, and JobQueueError for a transaction within another.
        """
        if self._under_way:
            message = "a transaction is open in this queue"
            raise JobQueueError(Diagnostic("queue-nested", message, help="end it before the next"))
        self._under_way = True
        try:
            found = Transaction(self.mirror)
            yield found
        finally:
            self._under_way = False
        self.left += [ad for _, ad, _ in found.moves]
        self.mirror.begin()
        for record in found.records:
            self.mirror.apply(record)
        self.mirror.tell(self.mirror.changes())

    def together(self) -> AbstractContextManager[None]:
        """Do nothing: there is no disk to wait for."""
        return nullcontext()

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


class MemorySchedd(EmbeddedSchedd):
    """An embedded schedd whose queue is in memory.

    ``atomic_edits`` false: several attributes of one ``edit_if`` are several transactions, the first with the
    condition, as in a live schedd.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        zone: str | tzinfo = "UTC",
        dialect: Dialect = Dialect.MANUAL,
        policy: Policy | None = None,
        atomic_edits: bool = True,
        ads: Iterable[ClassAd] = (),
    ) -> None:
        """Start with the jobs of some ads, with their numbers. Raises UnknownZone and ClassAdSyntaxError."""
        self._memory = MemoryQueue(mirror_of(ads))
        self.capabilities = Capabilities(
            atomic_edits=atomic_edits, can_submit=True, can_write=True, sees_deferral_time=True
        )
        self._begin(self._memory, clock, zone, dialect, policy)

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Set attributes of a job if a condition holds, and return whether it did; as in EmbeddedSchedd."""
        if self.capabilities.atomic_edits or len(edits) < 2:
            return super().edit_if(job, condition, edits)
        first, *rest = edits
        if not super().edit_if(job, condition, {first: edits[first]}):
            return False
        for name in rest:
            super().edit_if(job, "true", {name: edits[name]})
        return True

    def history(
        self, which: Which = None, projection: Iterable[str] | None = None, limit: int | None = None
    ) -> list[ClassAd]:
        """Return the jobs that have left, the latest first. Raises ClassAdSyntaxError."""
        return latest(iter(self._memory.left), which, projection, limit, self.context())

    def _open_history(self) -> History:
        return cast("History", None)  # the queue itself stores the jobs that leave
