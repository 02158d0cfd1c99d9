"""What a queue shows, from poll to poll: only what has changed is asked for again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.job_queue.keys import JobId
from crondor.job_queue.mirror import Kind
from crondor.schedd.ads import job_id
from crondor.schedd.protocol import Schedd
from crondor.schedd.selection import Selection

_CHUNK: Final = 200
_SHARE: Final = 8
_DECIDING: Final = frozenset(
    ("jobstatus", "managed", "managedmanager", "owner", "procid", "routedby", "stageinstart", "stageinfinish")
)


class Seen(NamedTuple):
    """A job that has changed, with its ad as it is now; None: it has left the queue."""

    job: JobId
    ad: ClassAd | None


class View:
    """The changes of one queue.

    ``cares`` says whether every change of a job matters; of all others only those do that can make it the router's
    business: its state, its owner, and whose it is.
    """

    def __init__(self, schedd: Schedd, cares: Callable[[JobId], bool]) -> None:
        """Begin with a queue of which nothing is known."""
        self.schedd = schedd
        self._cares = cares
        self._missed: dict[JobId, None] = {}
        self._gone: dict[JobId, None] = {}
        self.size = 0

    def refresh(self) -> list[Seen]:
        """Return what has become of jobs since the last call, job by job in their order; the first one returns all.

        What could not be asked for is asked for again by the next call. Raises what the schedd raises.
        """
        for change in self.schedd.changes():
            if change.kind is Kind.DESTROYED:
                self._missed.pop(change.job, None)
                self._gone[change.job] = None
                self.size -= 1
                continue
            self._gone.pop(change.job, None)
            self.size += change.kind is Kind.CREATED
            if change.kind is Kind.CREATED or _DECIDING & change.attributes or self._cares(change.job):
                self._missed[change.job] = None
        ads = self._ads(self._missed)
        found = [Seen(job, None) for job in self._gone] + [Seen(job, ads.get(job)) for job in self._missed]
        self._missed, self._gone = {}, {}
        return sorted(found, key=lambda seen: seen.job)

    def ask(self, job: JobId) -> None:
        """Have a job looked at by the next call, changed or not."""
        self._missed[job] = None

    def _ads(self, jobs: Iterable[JobId]) -> dict[JobId, ClassAd]:
        wanted = list(jobs)
        if len(wanted) > max(_CHUNK, self.size // _SHARE):
            every = set(wanted)
            return {job: ad for job, ad in _named(self.schedd.jobs()).items() if job in every}
        found: dict[JobId, ClassAd] = {}
        for start in range(0, len(wanted), _CHUNK):
            found |= _named(self.schedd.jobs(Selection(jobs=tuple(wanted[start : start + _CHUNK]))))
        return found


def _named(ads: Iterable[ClassAd]) -> dict[JobId, ClassAd]:
    return {job: ad for ad in ads if (job := job_id(ad)) is not None}
