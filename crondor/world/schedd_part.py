"""The schedd of a world: its queue in memory, and the crontab bookkeeping of crondor.schedd over it."""

from __future__ import annotations

from collections.abc import Mapping

from crondor.classad import Expression, Form, print_string
from crondor.classad.ad import ClassAd
from crondor.job_queue import JobId
from crondor.job_queue.mirror import Mirror
from crondor.job_queue.records import Op, Record
from crondor.schedd.crontab_book import CrontabBook, Edit
from crondor.world.settings import Settings


class ScheddPart:
    """A queue: what is written goes into the job's ad, and past the crontab bookkeeping."""

    def __init__(self, settings: Settings) -> None:
        """Begin with an empty queue. Raises UnknownZone."""
        self.ads: dict[JobId, ClassAd] = {}
        self.mirror = Mirror()
        self.book = CrontabBook(
            self.mirror, zone=settings.zone, dialect=settings.dialect, policy=settings.policy
        )
        self._cluster = 0

    def new_cluster(self) -> int:
        """Return the number of the next cluster."""
        self._cluster += 1
        return self._cluster

    def enter(self, job: JobId, ad: ClassAd) -> None:
        """Put a job into the queue; the ad is the queue's from now on."""
        key = str(job)
        self.ads[job] = ad
        mirror = self.mirror
        mirror.begin()
        mirror.apply(Record(Op.NEW, key, "Job"))
        for name, expression in ad.items():
            mirror.apply(Record(Op.SET, key, name, expression.unparse(Form.OLD)))
        mirror.tell(mirror.changes())

    def write(self, job: JobId, values: Mapping[str, object]) -> None:
        """Set attributes of a job in one transaction, to Python values or Expressions; None deletes."""
        key, ad, mirror = str(job), self.ads[job], self.mirror
        mirror.begin()
        for name, value in values.items():
            if value is None:
                ad.pop(name, None)
                mirror.apply(Record(Op.DELETE, key, name))
            else:
                ad.set(name, value)
                mirror.apply(Record(Op.SET, key, name, _text(value)))
        mirror.tell(mirror.changes())

    def leave(self, job: JobId) -> None:
        """Take a job out of the queue."""
        mirror = self.mirror
        mirror.begin()
        mirror.apply(Record(Op.DESTROY, str(job)))
        del self.ads[job]
        mirror.tell(mirror.changes())

    def recalculate(self, now: int) -> list[Edit]:
        """Return what a pass over the queue at ``now`` (epoch seconds) does about crontab jobs."""
        return self.book.recalculate(now)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return print_string(value)
    return value.unparse(Form.OLD) if isinstance(value, Expression) else str(value)
