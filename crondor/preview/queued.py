"""The jobs of a queue whose runs are requested, and their state in the queue."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final, TypeAlias

from crondor.diagnostics import Span, printable
from crondor.job.attributes import JobStatus
from crondor.job.policy import QueuedJob
from crondor.preview.jobs import Job, JobState, ReadingTerms, ReadSchedule
from crondor.schedule import InvalidSchedule, JobSchedule
from crondor.spec import Dialect

HALTED: Final = frozenset((JobStatus.REMOVED, JobStatus.COMPLETED, JobStatus.HELD))

Known: TypeAlias = "dict[tuple[Hashable, ...], JobSchedule]"


class QueueJob(Job):
    """One job of a queue."""

    def __init__(self, queued: QueuedJob, name: str, terms: ReadingTerms, known: Known) -> None:
        """Take the ad's job, its name, and the schedules that other jobs share."""
        super().__init__(name, None, 1, {}, {}, terms)
        self.line = queued.place.line
        self.present = queued.present
        self.requirements = queued.requirements
        self.state = _state(queued, name)
        self._queued = queued
        self._known = known

    @property
    def spans(self) -> Mapping[str, Span]:
        """The places of the attributes, computed when a message needs them."""
        return self._queued.spans

    def read(self, dialect: Dialect) -> ReadSchedule:
        """Read the schedule in a dialect."""
        terms = self._terms
        key = (dialect, *self._queued.terms)
        schedule = self._known.get(key)
        if schedule is not None:
            return ReadSchedule(dialect, schedule)
        try:
            schedule = self._queued.schedule(
                self.clock.now,
                dialect=dialect,
                zone=self.clock.zone,
                policy=terms.policy,
                schedd_interval=terms.schedd_interval,
            )
        except InvalidSchedule as error:
            return ReadSchedule(dialect, None, error)
        if not schedule.notes and not self._queued.has_expressions:
            self._known[key] = schedule
        return ReadSchedule(dialect, schedule)


def _state(queued: QueuedJob, name: str) -> JobState:
    status, owner, cmd = queued.status, queued.string("Owner"), queued.string("Cmd")
    title = "  ".join(printable(word) for word in (f"job {name}" if queued.id else name, owner, cmd) if word)
    return JobState(queued, title, status in (JobStatus.IDLE, None), status in HALTED)
