"""The schedd's passes over its queue: the crontab bookkeeping computes what is due, and holds what is invalid.

HTCondor: Scheduler::calculateCronTabSchedules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from crondor.pool.daemons.clock import PASS, TimetableEntry
from crondor.pool.daemons.core import Core
from crondor.pool.daemons.events import PoolEventKind
from crondor.pool.daemons.pool_job import PoolJob
from crondor.pool.daemons.turns import Turns
from crondor.schedd.applying import hold_of
from crondor.schedd.cron_tabs import CronEdit
from crondor.schedd.protocol import Hold

_WORD: Final = 1024  # seconds


class Passes:
    """When the schedd looks through its queue, and what it does then."""

    def __init__(
        self, core: Core, turns: Turns, hold: Callable[[PoolJob, Hold], None], look: Callable[[PoolJob], None]
    ) -> None:
        """Take who puts jobs on hold, and who is told of a job with a new time."""
        self._core = core
        self._turns = turns
        self._hold = hold
        self._look = look
        self._next: TimetableEntry | None = None
        self._planned: int | None = None  # the time that the next pass is for
        self._leapt: dict[int, int] = {}  # seconds at which a job is considered without an event, as bits

    def ask(self) -> None:
        """Ask for a pass, as whoever changes the queue does."""
        self._at(self._turns.requested(self._core.now))

    def plan(self, earliest: int = 0) -> None:
        """See to it that there is a pass when the crontab bookkeeping has something to do."""
        due, now = self._core.schedd.book.next_due, self._core.timetable.now
        if due is None or (due == self._planned and due >= now and due >= earliest and self._is_coming):
            return
        self._planned = due
        time = max(due, now, earliest)
        self._at(self._first_look(time, self._turns.pass_from(time)))

    @property
    def _is_coming(self) -> bool:
        return self._next is not None and self._next.call is not None

    def leap_over(self, time: int) -> None:
        """Note that a job is considered at a time to come (epoch seconds), of which no event will tell.

        The schedd passes over its queue before, where that is due.
        """
        word, bit = divmod(time, _WORD)
        self._leapt[word] = self._leapt.get(word, 0) | 1 << bit
        coming = self._next
        if self._planned is not None and coming is not None and self._planned <= time < coming.time:
            self._at(time)

    def _first_look(self, low: int, high: int) -> int:
        """Return the first time from ``low`` to ``high`` that was leapt over, else ``high``."""
        if not self._leapt:
            return high
        word, bit = divmod(low, _WORD)
        while word * _WORD < high:
            bits = self._leapt.get(word, 0) >> bit
            if bits:
                return min(high, word * _WORD + bit + (bits & -bits).bit_length() - 1)
            word, bit = word + 1, 0
        return high

    def _at(self, time: int) -> None:
        before = self._next
        if before is not None and before.call is not None:
            if before.time <= time:
                return
            self._core.timetable.cancel(before)
        self._next = self._core.timetable.at(time, self.look_through, PASS)

    def look_if_due(self, now: int) -> bool:
        """Pass over the queue where that would do something, and say so."""
        due = self._core.schedd.book.next_due
        if due is None or due > now:
            return False
        self.look_through(now)
        return True

    def look_through(self, now: int) -> None:
        """Pass over the queue."""
        self._apply(self._core.schedd.book.recalculate(now))
        self.plan(now + 1)  # a negative window makes a new time past at once: the next pass sees to it

    def run_ended(self, job: PoolJob) -> None:
        """Compute the next time of a job that has just become idle."""
        edit = self._core.schedd.book.recalculate_one(job.id, self._core.now)
        if edit is not None:
            self._apply((edit,))

    def _apply(self, edits: Iterable[CronEdit]) -> None:
        core = self._core
        for edit in edits:
            job = core.jobs[edit.job]
            if edit.time is None:
                self._hold(job, hold_of(edit))
                continue
            core.plan(job, edit.time)
            for gate in job.gates:
                gate.plan(edit.time)
            core.tell(PoolEventKind.PLANNED, job, edit.time, edit.why.value)
            self._look(job)
