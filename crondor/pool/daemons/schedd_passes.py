"""The schedd's passes over its queue: the crontab bookkeeping computes what is due, and holds what is invalid.

HTCondor: Scheduler::calculateCronTabSchedules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from crondor.pool.daemons.clock import PASS, TimetableEntry
from crondor.pool.daemons.core import Core
from crondor.pool.daemons.events import PoolEventKind
from crondor.pool.daemons.pool_job import PoolJob
from crondor.pool.daemons.turns import Turns
from crondor.schedd.applying import hold_of
from crondor.schedd.cron_tabs import CronEdit
from crondor.schedd.protocol import Hold


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

    def ask(self) -> None:
        """Ask for a pass, as whoever changes the queue does."""
        self._at(self._turns.requested(self._core.now))

    def plan(self, earliest: int = 0) -> None:
        """See to it that there is a pass when the crontab bookkeeping has something to do."""
        due, now = self._core.schedd.book.next_due, self._core.timetable.now
        if due is None or (due == self._planned and due >= now and due >= earliest and self._is_coming):
            return
        self._planned = due
        self._at(self._turns.pass_from(max(due, now, earliest)))

    @property
    def _is_coming(self) -> bool:
        return self._next is not None and self._next.call is not None

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
