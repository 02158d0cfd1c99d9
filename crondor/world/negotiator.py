"""Who gets a slot: the free ones are counted, and jobs that found none wait in the order of their priority."""

from __future__ import annotations

import heapq
from typing import Final

from crondor.world.world_job import WorldJob

_TIDY: Final = 10_000


class Negotiator:
    """The slots of a pool, all alike; each takes one job."""

    def __init__(self, slots: int) -> None:
        """Begin with all slots free."""
        self.free = slots
        self._waiting: list[tuple[tuple[int, ...], int, WorldJob]] = []
        self._serial = 0

    def take(self) -> bool:
        """Claim a slot, and say whether there was one."""
        if self.free <= 0:
            return False
        self.free -= 1
        return True

    def give_back(self) -> None:
        """Free a slot."""
        self.free += 1

    def wait(self, job: WorldJob) -> None:
        """Have a job wait for a slot, until somebody sets ``is_starved`` to False."""
        job.is_starved = True
        self._serial += 1
        heapq.heappush(self._waiting, (job.rank, self._serial, job))
        if self._serial % _TIDY == 0:  # those that gave up, or wait twice, must not fill the memory
            self._waiting = list(
                {job.id: (rank, at, job) for rank, at, job in self._waiting if job.is_starved}.values()
            )
            heapq.heapify(self._waiting)

    def best(self) -> WorldJob | None:
        """Return the job that is the next to get a slot, and let it wait no more; None if no slot is free."""
        while self.free > 0 and self._waiting:
            job = heapq.heappop(self._waiting)[2]
            if job.is_starved:
                job.is_starved = False
                return job
        return None
