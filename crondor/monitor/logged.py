"""What an event of a user log tells of a job's history."""

from __future__ import annotations

from typing import Final

from crondor.event_log import EventType, JobEvent
from crondor.job.attributes import integer_of
from crondor.monitor.job_history import JobCondition, JobHistory, Start, Turn
from crondor.monitor.sightings import COMPLETED

_RECONNECT_FAILED: Final = 24
_LONGEST: Final = 300


OF_COPIES: Final = frozenset((EventType.EXECUTE, EventType.JOB_EVICTED))
"""Events in the log of a job that are no start and no loss where a copy runs in its place.

A router, or the gridmanager for a job of grid_resource condor, writes them when the copy is matched, also where that
waits for its time, and when it is idle again (HTCondor 25.14).
"""


def log_event(history: JobHistory, event: JobEvent) -> None:
    """Take in an event. A time that was waited for is not in a log: it tells when the program began."""
    time, number = int(event.time), event.number
    said = event.attributes
    if number == EventType.EXECUTE:
        history.start(Start(time))
        history.turn(Turn(time, JobCondition.RUNNING))
    elif number == EventType.JOB_HELD:
        code = integer_of(said.get("HoldReasonCode"))
        history.turn(Turn(time, JobCondition.HELD, code, str(said.get("HoldReason", ""))[:_LONGEST]))
    elif number in (EventType.SUBMIT, EventType.JOB_RELEASED):
        history.turn(Turn(time, JobCondition.IDLE))
    elif number == EventType.JOB_EVICTED:
        is_loss = not said.get("TerminatedAndRequeued")
        if not is_loss and said.get("ReturnValue") == 0:
            history.succeed(time)
        reason = str(said.get("Reason", ""))[:_LONGEST] if is_loss else ""
        history.turn(Turn(time, JobCondition.IDLE, reason=reason, is_loss=is_loss))
    elif number in (EventType.SHADOW_EXCEPTION, _RECONNECT_FAILED):
        reason = "its machine does not answer" if number == _RECONNECT_FAILED else "its shadow failed"
        history.turn(Turn(time, JobCondition.IDLE, reason=reason, is_loss=True))
    elif number == EventType.JOB_TERMINATED:
        if said.get("ReturnValue") == 0:
            history.succeed(time)
        history.turn(Turn(time, JobCondition.GONE, reason=COMPLETED))
    elif number == EventType.JOB_ABORTED:
        history.turn(Turn(time, JobCondition.GONE, reason=str(said.get("Reason", "removed"))[:_LONGEST]))
