"""The schedd of a pool: its queue in memory, and the crontab bookkeeping of crondor.schedd over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from crondor.classad import Expression, UnparseForm, lower, print_string
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.job.attributes import printed
from crondor.job.policy import QueuedJob
from crondor.job_queue import JobId
from crondor.job_queue.mirror import Mirror, Subscriber
from crondor.job_queue.records import Op, Record
from crondor.pool.daemons.pool_job import VOLATILE, PoolJob
from crondor.pool.settings import PoolSettings
from crondor.schedd.cron_tabs import CronEdit, CronTabs
from crondor.schedd.protocol import write

# Attributes that a run changes and no plain schedule depends on: the bookkeeping is not informed.
_QUIET: Final = VOLATILE - {"jobstatus", "deferraltime", "holdreasoncode"}
Follower: TypeAlias = Callable[[Record], object]


class _Keys(dict[str, str]):
    """Names in lower case, by their spelling."""

    def __missing__(self, name: str) -> str:
        key = self[name] = lower(name)
        return key


_KEYS: Final = _Keys()


class ScheddQueue:
    """A queue: changes go into the job's ad, to the crontab bookkeeping, and to followers of the log.

    ``followers`` are called with each record that job_queue.log would get.
    """

    def __init__(self, settings: PoolSettings) -> None:
        """Start with an empty queue. Raises UnknownZone."""
        self.ads: dict[JobId, ClassAd] = {}
        self.mirror = Mirror()
        self.book = CronTabs(self.mirror, zone=settings.zone, dialect=settings.dialect, policy=settings.policy)
        self.followers: list[Follower] = []
        self._cluster = 0
        self._curious: set[JobId] = set()  # whose Cron attributes may refer to any other attribute
        self._is_computing = False
        self._is_watched = type(self) is not ScheddQueue  # a queue that is stored elsewhere is informed of everything

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call a subscriber with changes of the mirror, which only has what the crontab bookkeeping needs."""
        self._is_watched = True
        self.mirror.subscribe(subscriber)

    def new_cluster(self) -> int:
        """Return the number of the next cluster."""
        self._cluster += 1
        return self._cluster

    def enter(self, job: JobId, ad: ClassAd) -> None:
        """Put a job into the queue; the queue owns the ad from now on."""
        key = str(job)
        self.ads[job] = ad
        if _has_expressions(ad):
            self._curious.add(job)
        records = [Record(Op.NEW, key, "Job", "Machine")]
        records += [Record(Op.SET, key, name, printed(ad, name)) for name in ad]
        mirror = self.mirror
        mirror.begin()
        for record in records:
            mirror.apply(record)
        mirror.tell(mirror.changes())
        self._follow(records)

    def write(self, job: JobId, values: Mapping[str, object]) -> None:
        """Set attributes of a job in one transaction, to Python values or Expressions; None deletes."""
        write(self.ads[job], values)
        key = str(job)
        if self.followers and not self._is_computing:
            self._follow([_record(key, name, value) for name, value in values.items()])
        told = values if job in self._curious else {name: v for name, v in values.items() if _KEYS[name] not in _QUIET}
        if not told:
            return
        mirror = self.mirror
        mirror.begin()
        for name, value in told.items():
            mirror.apply(_record(key, name, value))
        mirror.tell(mirror.changes())

    def is_counted(self, job: JobId) -> bool:
        """Return whether nothing has to be informed of what ``count`` writes about a job."""
        return not (self._is_watched or self.followers or job in self._curious)

    def count(self, job: PoolJob, numbers: Mapping[str, int]) -> None:
        """Set attributes of a run to numbers or truth values: like ``write``, in a fraction of the time."""
        if self._is_watched or (self._curious and job.id in self._curious):
            self.write(job.id, numbers)
            return
        codes, keys = job.codes, _KEYS
        for name, number in numbers.items():
            key = keys[name]
            if key in codes:
                codes[key] = str(number) if number.__class__ is int else _text(number)
            else:
                job.ad.put(name, _text(number))
        if "JobStatus" in numbers:
            self.mirror.ads[job.key]["jobstatus"] = str(numbers["JobStatus"])
            self.book.enter_status(job.id, numbers["JobStatus"])
        if self.followers:
            self._follow([_record(job.key, name, number) for name, number in numbers.items()])

    def plan(self, job: PoolJob, time: int) -> None:
        """Set the DeferralTime (epoch seconds) that the bookkeeping has computed. As in HTCondor, it is not logged."""
        if self._is_watched or (self._curious and job.id in self._curious):
            self._is_computing = True
            self.write(job.id, {"DeferralTime": time})
            self._is_computing = False
            return
        text = str(time)
        if "deferraltime" in job.codes:
            job.codes["deferraltime"] = text
        else:
            job.kept.put("DeferralTime", text)
        self.mirror.ads[job.key]["deferraltime"] = text

    def _follow(self, records: Sequence[Record]) -> None:
        for follower in self.followers:
            for record in records:
                follower(record)

    def leave(self, job: JobId) -> None:
        """Take a job out of the queue."""
        mirror = self.mirror
        mirror.begin()
        mirror.apply(Record(Op.DESTROY, str(job)))
        del self.ads[job]
        self._curious.discard(job)
        mirror.tell(mirror.changes())
        self._follow([Record(Op.DESTROY, str(job))])

    def recalculate(self, now: int) -> list[CronEdit]:
        """Return the effects on crontab jobs of a pass over the queue at ``now`` (epoch seconds)."""
        return self.book.recalculate(now)


def _has_expressions(ad: ClassAd) -> bool:
    try:
        return QueuedJob(ad).has_expressions
    except CrondorError:
        return False  # an invalid expression never had a value


def _record(key: str, name: str, value: object) -> Record:
    return Record(Op.DELETE, key, name) if value is None else Record(Op.SET, key, name, _text(value))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return print_string(value)
    if isinstance(value, Mapping):
        return str(ClassAd(value))
    return value.unparse(UnparseForm.OLD) if isinstance(value, Expression) else str(value)
