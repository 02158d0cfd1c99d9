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


class TimetableEntry:
    """Something to come at a time (epoch seconds); ``call`` is None once it was called off."""

    __slots__ = ("call", "time")

    def __init__(self, time: int, call: Call) -> None:
        """Take the time and what to do."""
        self.time = time
        self.call: Call | None = call


class Timetable:
    """Things to come, the next one found in O(log n).

    ``now`` (epoch seconds) never goes back; ``until`` is how far time passes by itself.
    """

    def __init__(self, now: int) -> None:
        """Begin at a time with nothing to come."""
        self.now = self.until = now
        self._heap: list[
            tuple[int, int, tuple[int, ...], int, TimetableEntry]
        ] = []  # the serial number is nobody else's
        self._off = 0
        self._serial = 0

    def __len__(self) -> int:
        """Return how many things are to come."""
        return len(self._heap) - self._off

    @property
    def next_time(self) -> int | None:
        """When the next thing comes (epoch seconds), None if nothing does."""
        heap = self._heap
        while heap and heap[0][4].call is None:
            heapq.heappop(heap)
            self._off -= 1
        return heap[0][0] if heap else None

    def at(self, time: int, call: Call, order: int = RUN, rank: tuple[int, ...] = ()) -> TimetableEntry:
        """Have something called at a time, or at once where it is past; ``rank`` orders within a second."""
        if time < self.now:  # noqa: PLR1730 - max() takes three times as long, twice in each run
            time = self.now
        self._serial += 1
        entry = TimetableEntry(time, call)
        heapq.heappush(self._heap, (time, order, rank, self._serial, entry))
        return entry

    def cancel(self, entry: TimetableEntry | None) -> None:
        """Call something off; what was called already is none the worse."""
        if entry is None or entry.call is None:
            return
        entry.call = None
        self._off += 1
        if self._off > _SPARE and self._off > len(self._heap) // 2:
            self._heap[:] = [place for place in self._heap if place[4].call is not None]
            heapq.heapify(self._heap)
            self._off = 0

    def advance(self, until: int, most: int | None = None) -> bool:
        """Do what comes up to and including a time, ``most`` things at most; say whether the time was reached."""
        heap, done = self._heap, 0
        self.until = until
        while heap:
            time, _, _, _, entry = heap[0]
            call = entry.call
            if call is None:
                heapq.heappop(heap)
                self._off -= 1
                continue
            if time > until:
                break
            if done == most:
                return False
            heapq.heappop(heap)
            entry.call = None
            self.now = time
            done += 1
            call(time)
        self.now = max(self.now, until)
        return True
