"""What a queue shows, from poll to poll: only what has changed is asked for again.

HTCondor: JobLogMirror, NewClassAdJobLogConsumer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol, runtime_checkable

from crondor.classad.ad import ClassAd
from crondor.job_queue.keys import JobId
from crondor.job_queue.mirror import ChangeKind, Mirror
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


class QueueView:
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

    def refresh(self) -> Iterator[Seen]:
        """Yield what has become of jobs since the last call, job by job in their order; the first one yields all.

        What could not be asked for is asked for again by the next call. Raises what the schedd raises.
        """
        for change in self.schedd.changes():
            if change.kind is ChangeKind.DESTROYED:
                self._missed.pop(change.job, None)
                self._gone[change.job] = None
                self.size -= 1
                continue
            self._gone.pop(change.job, None)
            self.size += change.kind is ChangeKind.CREATED
            if change.kind is ChangeKind.CREATED or _DECIDING & change.attributes or self._cares(change.job):
                self._missed[change.job] = None
        gone, missed = self._gone, self._missed
        wanted = sorted({**gone, **missed})
        ads = {job: None for job in gone if job not in missed} | self._all(wanted)
        for start in range(0, len(wanted), _CHUNK):
            chunk = wanted[start : start + _CHUNK]
            asked = tuple(job for job in chunk if job not in ads)
            found = _named(self.schedd.jobs(Selection(jobs=asked))) if asked else {}
            for job in chunk:
                gone.pop(job, None)
                missed.pop(job, None)
                yield Seen(job, ads[job] if job in ads else found.get(job))

    def ask(self, job: JobId) -> None:
        """Have a job looked at by the next call, changed or not."""
        self._missed[job] = None

    def _all(self, wanted: Sequence[JobId]) -> dict[JobId, ClassAd | None]:
        """Return the ads of jobs, asked for at once where they are a large part of a queue that is somewhere else.

        One that is in this process is asked piece by piece, so that its ads are not all there at a time.
        """
        if isinstance(self.schedd, _InMemory) or len(wanted) <= max(_CHUNK, self.size // _SHARE):
            return {}
        every = _named(self.schedd.jobs())
        return {job: every.get(job) for job in wanted}


@runtime_checkable
class _InMemory(Protocol):
    """A schedd whose queue is in this process."""

    @property
    def mirror(self) -> Mirror:
        """The queue."""


def _named(ads: Iterable[ClassAd]) -> dict[JobId, ClassAd]:
    return {job: ad for ad in ads if (job := job_id(ad)) is not None}
