"""What `crondor run` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from typing import Annotated, TypedDict

from crondor.pool.daemons.events import PoolEventKind
from crondor_cli.kit.results import NotRequired, Result


class RunResult(TypedDict):
    """An event of a job."""

    time: Annotated[int, "when (epoch seconds)"]
    job: Annotated[str, "ClusterId.ProcId"]
    what: Annotated[str, "what happened", PoolEventKind]
    deferral_time: NotRequired[Annotated[int, "the time of the next run (epoch seconds); only in `planned`"]]
    pid: NotRequired[Annotated[int | None, "the process; null if it is unknown; only in `started`"]]
    exit_code: NotRequired[Annotated[int, "how the program ended, unless by a signal; only in `ended`"]]
    signal: NotRequired[Annotated[int, "the signal that ended it; only in `ended`"]]
    queued_again: NotRequired[Annotated[bool, "whether the job stays for its next run; only in `ended`"]]
    hold_reason_code: NotRequired[Annotated[int, "HoldReasonCode; only in `held`"]]
    reason: NotRequired[Annotated[str, "why; only if there is a reason"]]


RESULTS = {"run": Result("One line each: an event", RunResult)}
