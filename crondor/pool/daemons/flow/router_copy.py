"""The router's copy of the queue: it follows job_queue.log, and knows nothing else (HTCondor: JobLogMirror)."""

from __future__ import annotations

from crondor.classad.ad import ClassAd
from crondor.job_queue import JobId
from crondor.job_queue.mirror import Mirror
from crondor.job_queue.records import Op, Record


class RouterCopy:
    """A queue as it was at the router's last look, and what was written since.

    A DeferralTime that the schedd computes is not in the log, so the router does not see it.
    """

    def __init__(self) -> None:
        """Begin with an empty queue."""
        self.mirror = Mirror()
        self._unread: dict[str, dict[str, Record]] = {}  # by key and name: the last one counts

    def note(self, record: Record) -> None:
        """Take note of what is written into the log."""
        unread = self._unread.setdefault(record.key, {})
        if record.op is Op.DESTROY:
            is_new = "" in unread
            unread.clear()
            if is_new:
                del self._unread[record.key]
                return
        unread["" if record.op in (Op.NEW, Op.DESTROY) else record.name.lower()] = record

    def read(self) -> dict[str, list[Record]]:
        """Read on to the end, and return what was new of each ad."""
        found = {key: list(records.values()) for key, records in self._unread.items()}
        self._unread.clear()
        for records in found.values():
            for record in records:
                self.mirror.apply(record)
        return found

    def view(self, job: JobId) -> ClassAd | None:
        """Return a job as it was at the last look; None where it was not there."""
        return self.mirror.ad(job) if job in self.mirror else None
