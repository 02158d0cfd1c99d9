"""A schedd's queue without a disk, for simulations and tests: the embedded one, and it ends with the process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import tzinfo
from typing import cast

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.job_queue import History, JobId, JobQueueError, Transaction
from crondor.job_queue.mirror import Mirror
from crondor.recurrence import Policy
from crondor.schedd.ads import mirror_of
from crondor.schedd.embedded import EmbeddedSchedd
from crondor.schedd.protocol import Capabilities, Clock
from crondor.schedd.reading import latest
from crondor.schedd.selection import Which
from crondor.spec import Dialect


class MemoryQueue:
    """The transactions of a JobQueue, in memory alone."""

    def __init__(self, mirror: Mirror) -> None:
        """Begin with the jobs of a mirror."""
        self.mirror = mirror
        self.left: list[ClassAd] = []
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._under_way = False

    @contextmanager
    def transaction(self, *, durable: bool = True, comment: str = "") -> Iterator[Transaction]:  # noqa: ARG002
        """Gather changes, and do them when the block ends; an exception in it leaves the queue as it was.

        Raises InvalidChange, and JobQueueError for a transaction within another one.
        """
        if self._under_way:
            message = "a transaction is under way in this queue"
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
        """Do nothing: there is nothing to let go."""


class MemorySchedd(EmbeddedSchedd):
    """An embedded schedd whose queue is in memory.

    ``atomic_edits`` false: several attributes of one ``edit_if`` are several transactions, the first under the
    condition, as a live schedd does it.
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
        """Begin with the jobs of some ads, with their numbers. Raises UnknownZone and ClassAdSyntaxError."""
        self._memory = MemoryQueue(mirror_of(ads))
        self.capabilities = Capabilities(
            atomic_edits=atomic_edits, can_submit=True, can_write=True, sees_deferral_time=True
        )
        self._begin(self._memory, clock, zone, dialect, policy)

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Set attributes of a job where a condition holds, and say whether it did; as in EmbeddedSchedd."""
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
        return cast("History", None)  # the queue itself keeps what leaves it
