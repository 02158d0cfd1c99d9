"""What is to come, in order of time; the time itself is told from outside."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Final, TypeAlias

Call: TypeAlias = Callable[[int], None]

_SPARE: Final = 1000

# What comes first within one second: a run ends before the schedd looks, and the schedd looks before a match is made.
RUN: Final = 0
POLICY: Final = 1
PASS: Final = 2
MATCH: Final = 3


class Entry:
    """Something to come at a time (epoch seconds); ``call`` is None once it was called off."""

    __slots__ = ("call", "key", "time")

    def __init__(self, time: int, key: tuple[int, ...], call: Call) -> None:
        """Take the time, what orders it, and what to do."""
        self.time = time
        self.key = key
        self.call: Call | None = call

    def __lt__(self, other: Entry) -> bool:
        """Order by time, then by what comes first within a second."""
        return self.key < other.key


class Timetable:
    """Things to come, the next one found in O(log n).

    ``now`` (epoch seconds) never goes back.
    """

    def __init__(self, now: int) -> None:
        """Begin at a time with nothing to come."""
        self.now = now
        self._heap: list[Entry] = []
        self._off = 0
        self._serial = 0

    def __len__(self) -> int:
        """Return how many things are to come."""
        return len(self._heap) - self._off

    @property
    def next_time(self) -> int | None:
        """When the next thing comes (epoch seconds), None if nothing does."""
        heap = self._heap
        while heap and heap[0].call is None:
            heapq.heappop(heap)
            self._off -= 1
        return heap[0].time if heap else None

    def at(self, time: int, call: Call, order: int = RUN, rank: tuple[int, ...] = ()) -> Entry:
        """Have something called at a time, or at once where it is past; ``rank`` orders within a second."""
        time = max(time, self.now)
        self._serial += 1
        entry = Entry(time, (time, order, *rank, self._serial), call)
        heapq.heappush(self._heap, entry)
        return entry

    def cancel(self, entry: Entry | None) -> None:
        """Call something off; what was called already is none the worse."""
        if entry is None or entry.call is None:
            return
        entry.call = None
        self._off += 1
        if self._off > _SPARE and self._off > len(self._heap) // 2:
            self._heap = [entry for entry in self._heap if entry.call is not None]
            heapq.heapify(self._heap)
            self._off = 0

    def advance(self, until: int, most: int | None = None) -> bool:
        """Do what comes up to and including a time, ``most`` things at most; say whether the time was reached."""
        done = 0
        while True:
            time = self.next_time
            if time is None or time > until:
                self.now = max(self.now, until)
                return True
            if done == most:
                return False
            entry = heapq.heappop(self._heap)
            call, entry.call = entry.call, None
            self.now = time
            done += 1
            if call is not None:
                call(time)
