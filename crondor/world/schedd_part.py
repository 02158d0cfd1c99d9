"""The schedd of a world: its queue in memory, and the crontab bookkeeping of crondor.schedd over it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crondor.classad import Expression, Form, lower, print_string
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.job_queue import JobId
from crondor.job_queue.mirror import Mirror
from crondor.job_queue.records import Op, Record
from crondor.queued import QueuedJob
from crondor.schedd.crontab_book import CrontabBook, Edit
from crondor.world.gate import VOLATILE
from crondor.world.settings import Settings

# What a run changes and no schedule of plain texts depends on: the bookkeeping need not hear of it.
_QUIET: Final = VOLATILE - {"jobstatus", "deferraltime"}


class ScheddPart:
    """A queue: what is written goes into the job's ad, and past the crontab bookkeeping."""

    def __init__(self, settings: Settings) -> None:
        """Begin with an empty queue. Raises UnknownZone."""
        self.ads: dict[JobId, ClassAd] = {}
        self.mirror = Mirror()
        self.book = CrontabBook(self.mirror, zone=settings.zone, dialect=settings.dialect, policy=settings.policy)
        self._cluster = 0
        self._curious: set[JobId] = set()  # whose Cron attributes may ask for any other attribute

    def new_cluster(self) -> int:
        """Return the number of the next cluster."""
        self._cluster += 1
        return self._cluster

    def enter(self, job: JobId, ad: ClassAd) -> None:
        """Put a job into the queue; the ad is the queue's from now on."""
        key = str(job)
        self.ads[job] = ad
        if _has_expressions(ad):
            self._curious.add(job)
        mirror = self.mirror
        mirror.begin()
        mirror.apply(Record(Op.NEW, key, "Job"))
        for name, expression in ad.items():
            mirror.apply(Record(Op.SET, key, name, expression.unparse(Form.OLD)))
        mirror.tell(mirror.changes())

    def write(self, job: JobId, values: Mapping[str, object]) -> None:
        """Set attributes of a job in one transaction, to Python values or Expressions; None deletes."""
        ad = self.ads[job]
        for name, value in values.items():
            if value is None:
                ad.pop(name, None)
            else:
                ad.set(name, value)
        told = values if job in self._curious else {name: v for name, v in values.items() if lower(name) not in _QUIET}
        if not told:
            return
        key, mirror = str(job), self.mirror
        mirror.begin()
        for name, value in told.items():
            if value is None:
                mirror.apply(Record(Op.DELETE, key, name))
            else:
                mirror.apply(Record(Op.SET, key, name, _text(value)))
        mirror.tell(mirror.changes())

    def leave(self, job: JobId) -> None:
        """Take a job out of the queue."""
        mirror = self.mirror
        mirror.begin()
        mirror.apply(Record(Op.DESTROY, str(job)))
        del self.ads[job]
        self._curious.discard(job)
        mirror.tell(mirror.changes())

    def recalculate(self, now: int) -> list[Edit]:
        """Return what a pass over the queue at ``now`` (epoch seconds) does about crontab jobs."""
        return self.book.recalculate(now)


def _has_expressions(ad: ClassAd) -> bool:
    try:
        return QueuedJob(ad).has_expressions
    except CrondorError:
        return False  # a text that is no expression has no value to begin with


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return print_string(value)
    return value.unparse(Form.OLD) if isinstance(value, Expression) else str(value)
