"""What happens in a world as the events that HTCondor writes into a job's user log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crondor.event_log import EventType, JobEvent
from crondor.schedd.actions import integer
from crondor.world.happenings import Happening, What

_SUBMIT_HOST: Final = "<127.0.0.1:9618?alias=schedd.example.org>"
_EXECUTE_HOST: Final = "<127.0.0.1:9618?alias=execute.example.org>"
_BEGUN, _DONE, _OUT_BEGUN, _OUT_DONE = 2, 3, 5, 6  # the types of a transfer


def events(seen: Happening) -> Iterator[JobEvent]:
    """Yield the events that a happening puts into the log, none for what no log tells."""
    for kind, values in _events(seen):
        yield JobEvent(kind, seen.job.id.cluster, seen.job.id.proc, seen.time, attributes=values)


def _events(seen: Happening) -> Iterator[tuple[EventType, dict[str, object]]]:
    job, what = seen.job, seen.what
    if what is What.SUBMITTED:
        yield EventType.SUBMIT, {"SubmitHost": _SUBMIT_HOST}
    elif what is What.MATCHED and not job.is_local:
        yield EventType.FILE_TRANSFER, {"Type": _BEGUN, "Host": _EXECUTE_HOST}
    elif what is What.ARRIVED and not job.is_local:
        yield EventType.FILE_TRANSFER, {"Type": _DONE}
    elif what is What.STARTED:
        yield EventType.EXECUTE, {"ExecuteHost": _EXECUTE_HOST}
    elif what is What.ENDED:
        if not job.is_local:
            yield EventType.FILE_TRANSFER, {"Type": _OUT_BEGUN}
            yield EventType.FILE_TRANSFER, {"Type": _OUT_DONE}
        if seen.number:
            yield EventType.JOB_EVICTED, {"TerminatedAndRequeued": True, "Reason": seen.text}
    elif what is What.EVICTED:
        if job.run is not None and job.run.started is not None:
            yield EventType.JOB_EVICTED, {}
    elif what is What.SUSPENDED:
        yield EventType.JOB_SUSPENDED, {}
    elif what is What.RESUMED:
        yield EventType.JOB_UNSUSPENDED, {}
    elif what is What.HELD:
        subcode = integer(job.ad, "HoldReasonSubCode") or 0
        yield EventType.JOB_HELD, {"HoldReason": seen.text, "HoldReasonCode": seen.number, "HoldReasonSubCode": subcode}
    elif what is What.RELEASED:
        yield EventType.JOB_RELEASED, {"Reason": seen.text}
    elif what is What.REMOVED:
        yield EventType.JOB_ABORTED, {"Reason": seen.text}
    elif what is What.COMPLETED:
        yield EventType.JOB_TERMINATED, {"ReturnValue": 0}
