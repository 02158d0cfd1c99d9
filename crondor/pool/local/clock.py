"""What a pool needs to follow a clock that nobody can stop: what is overdue happens now, and passes come at once."""

from __future__ import annotations

import heapq
from typing import Final

from crondor.job_queue import JobId
from crondor.pool.daemons.clock import Timetable

_PAUSE: Final = 5  # SCHEDD_MIN_INTERVAL: between two starts of a job that asks for no time


class WallTimetable(Timetable):
    """A timetable whose ``now`` is what it was told, however late something was done."""

    def advance(self, until: int, most: int | None = None) -> bool:
        """Do what is due at a time, ``most`` things at most; say whether all of it was done."""
        self.now = max(self.now, until)
        done = 0
        while True:
            time = self.next_time
            if time is None or time > self.now:
                return True
            if done == most:
                return False
            entry = heapq.heappop(self._heap)[4]
            call, entry.call = entry.call, None
            done += 1
            if call is not None:
                call(self.now)


class PromptTurns:
    """A schedd whose passes come at once, and which considers a local job as soon as its gates are open.

    ``closed`` are the jobs that are not considered any more, ``is_closed`` says that none does.
    """

    def __init__(self) -> None:
        """Begin with all jobs welcome."""
        self.closed: set[JobId] = set()
        self.is_closed = False
        self._last: dict[JobId, int] = {}

    def requested(self, now: int) -> int:
        """Return ``now``."""
        return now

    def pass_from(self, time: int) -> int:
        """Return the time."""
        return time

    def match(self, job: JobId, opens: int, run: int) -> int | None:  # noqa: ARG002 - the protocol's signature
        """Return None: there are no machines."""
        return None

    def local(self, job: JobId, opens: int, now: int) -> int | None:
        """Return the moment the gates open; a job that is queued again and asks for no time waits a little."""
        if self.is_closed or job in self.closed:
            return None
        last = self._last.get(job)
        time = max(opens, now) if last is None else max(opens, now, last + _PAUSE)
        self._last[job] = time
        return time
