"""What `crondor monitor` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor.monitor.verdicts import Cause, Verdict
from crondor.schedd.reading import ScheduledState
from crondor_cli.kit.results import Diagnostic, Result, Start


class MonitorResult(TypedDict):
    """A due time of a job, and what became of it."""

    now: Annotated[int, "the time of the look (epoch seconds)"]
    schedd: Annotated[str, "the schedd's name; empty if it is the only one and was not named"]
    job: Annotated[str | None, "ClusterId.ProcId"]
    owner: Annotated[str | None, "Owner"]
    cmd: Annotated[str | None, "Cmd"]
    state: Annotated[str | None, "the job's state now; null if it has left", ScheduledState]
    verdict: Annotated[
        str, "the verdict; `ahead`: no due time has come yet; `unplanned`: a start without a due time", Verdict
    ]
    reason: Annotated[str | None, "why it is late, missed, lost, unknown or unplanned; otherwise null", Cause]
    message: Annotated[str | None, "the reason in words"]
    hold_reason_code: Annotated[int | None, "HoldReasonCode, if a hold is the cause"]
    due: Annotated[Start | None, "the due time and its related times; null with `ahead`"]
    started: Annotated[int | None, "the start of the program (epoch seconds)"]
    delay: Annotated[int | None, "the delay of the start, negative if a machine's clock is slow (seconds)"]
    is_final: Annotated[bool, "whether the verdict is final"]
    next: Annotated[Start | None, "the job's next start; null if there is none"]
    trouble: Annotated[Iterable[Diagnostic], "what keeps the job from running, or will"]


RESULTS = {"monitor": Result("One line each: a due time", MonitorResult)}
