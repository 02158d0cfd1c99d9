"""One event of a user log (HTCondor: ULogEvent, ULogEventNumber)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from crondor.diagnostics import CrondorError
from crondor.job_queue.keys import JobId


class InvalidEvent(CrondorError, ValueError):
    """A text that is no event, or an event that cannot be written."""


class EventType(IntEnum):
    """The number of an event (ULogEventNumber); others than these are plain integers."""

    SUBMIT = 0
    EXECUTE = 1
    EXECUTABLE_ERROR = 2
    CHECKPOINTED = 3
    JOB_EVICTED = 4
    JOB_TERMINATED = 5
    IMAGE_SIZE = 6
    SHADOW_EXCEPTION = 7
    GENERIC = 8
    JOB_ABORTED = 9
    JOB_SUSPENDED = 10
    JOB_UNSUSPENDED = 11
    JOB_HELD = 12
    JOB_RELEASED = 13
    CLUSTER_SUBMIT = 35
    CLUSTER_REMOVE = 36
    FILE_TRANSFER = 40


@dataclass(frozen=True)
class JobEvent:
    """What happened to a job at a time (epoch seconds, with a fraction where the log has one).

    ``proc`` is -1 for an event of the whole cluster. ``attributes`` have the names and values of HTCondor's event ads
    (SubmitHost, HoldReason, ...), those that the form and the kind of the event give; ``head`` is what the text form
    says behind the time, and ``lines`` are its other lines, without the tab they begin with: of an event read from
    XML or JSON they are empty. ``raw`` is both as they stand in a log in text form, None for any other event.
    """

    number: int
    cluster: int
    proc: int
    time: float
    subproc: int = 0
    attributes: Mapping[str, object] = field(default_factory=dict)
    head: str = ""
    lines: tuple[str, ...] = ()
    raw: tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    @property
    def job(self) -> JobId:
        """The job."""
        return JobId(self.cluster, self.proc)

    @property
    def type(self) -> EventType | None:
        """What kind of event it is, None for one of the rarer kinds."""
        return next((known for known in EventType if known == self.number), None)
