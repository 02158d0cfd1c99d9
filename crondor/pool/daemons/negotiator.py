"""Who gets a slot: what is free of the machines, and the jobs that found nothing, in the order of their priority.

HTCondor: Matchmaker::matchmakingAlgorithm.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from crondor.classad.ad import ClassAd
from crondor.pool.settings import Machine, Resources

_TIDY: Final = 10_000


class Waiting(Protocol):
    """A job that may wait for a slot."""

    is_starved: bool

    @property
    def rank(self) -> tuple[int, ...]:
        """The sort key of jobs: the lowest comes first."""


Job = TypeVar("Job", bound=Waiting)


class Claim(NamedTuple):
    """A run's part of the machine given by ``kind`` and ``number``; a whole slot has no resources."""

    kind: int = 0
    number: int = 0
    resources: Resources | None = None


_SLOT: Final = Claim()


class Negotiator(Generic[Job]):
    """The slots of a pool, all alike, each for one job; or machines that are divided by request.

    ``ads`` are those of the kinds of machines, as an empty one advertises itself.
    """

    def __init__(self, machine: ClassAd, slots: int, machines: Sequence[Machine] = ()) -> None:
        """Start with everything free; ``slots`` is ignored if there are ``machines``."""
        self.free = slots
        self.is_partitionable = bool(machines)
        self.ads = [kind.ad(machine) for kind in machines] or [machine]
        self.left = [[kind.resources] * kind.count for kind in machines]
        self._waiting: dict[tuple[Resources | None, tuple[int, ...]], list[tuple[tuple[int, ...], int, Job]]] = {}
        self._serial = 0

    def take(self, kinds: Sequence[int] = (), wanted: Resources | None = None) -> Claim | None:
        """Claim a slot, or the ``wanted`` resources of the first machine of some kinds; None if there is none."""
        if wanted is None:
            if self.free <= 0:
                return None
            self.free -= 1
            return _SLOT
        for kind in kinds:
            for number, free in enumerate(self.left[kind]):
                if wanted.fits(free):
                    self.left[kind][number] = free.plus(wanted, -1)
                    return Claim(kind, number, wanted)
        return None

    def give_back(self, claim: Claim) -> None:
        """Free the resources of a run."""
        if claim.resources is None:
            self.free += 1
        else:
            machines = self.left[claim.kind]
            machines[claim.number] = machines[claim.number].plus(claim.resources)

    def ad(self, claim: Claim) -> ClassAd:
        """Return the ad of a run's slot: the dynamic one if its machine is divided."""
        made = self.ads[claim.kind].copy()
        if claim.resources is not None:
            for name, number in zip(("Cpus", "Memory", "Disk"), claim.resources, strict=True):
                made.set(name, number)
            made.set("SlotType", "Dynamic")
            made.pop("PartitionableSlot", None)
            made.set("DynamicSlot", value=True)
        return made

    @property
    def has_kept_waiting(self) -> bool:
        """Return whether a job has ever waited for another one's slot."""
        return self._serial > 0

    def wait(self, job: Job, kinds: Sequence[int] = (), wanted: Resources | None = None) -> None:
        """Have a job wait for what ``take`` did not have, until ``is_starved`` is set to False."""
        job.is_starved = True
        self._serial += 1
        heapq.heappush(self._waiting.setdefault((wanted, tuple(kinds)), []), (job.rank, self._serial, job))
        if self._serial % _TIDY == 0:  # jobs that gave up, or wait twice, must not fill the memory
            self._tidy()

    def _tidy(self) -> None:
        for shape, heap in list(self._waiting.items()):
            kept = list({id(job): (rank, at, job) for rank, at, job in heap if job.is_starved}.values())
            heapq.heapify(kept)
            if kept:
                self._waiting[shape] = kept
            else:
                del self._waiting[shape]

    def best(self) -> Job | None:
        """Return the next job to get a slot, and remove it from the waiting ones; None if none can get one."""
        first: tuple[tuple[int, ...], int] | None = None
        found: list[tuple[tuple[int, ...], int, Job]] = []
        for (wanted, kinds), heap in self._waiting.items():
            while heap and not heap[0][2].is_starved:
                heapq.heappop(heap)
            if heap and (first is None or heap[0][:2] < first) and self._has_room(wanted, kinds):
                first, found = heap[0][:2], heap
        if first is None:
            return None
        job = heapq.heappop(found)[2]
        job.is_starved = False
        return job

    def _has_room(self, wanted: Resources | None, kinds: Sequence[int]) -> bool:
        if wanted is None:
            return self.free > 0
        return any(wanted.fits(free) for kind in kinds for free in self.left[kind])
