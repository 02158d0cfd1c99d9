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
    schedd: Annotated[str, "the schedd's name; empty where only one is watched and it was not named"]
    job: Annotated[str | None, "ClusterId.ProcId"]
    owner: Annotated[str | None, "Owner"]
    cmd: Annotated[str | None, "Cmd"]
    state: Annotated[str | None, "the job's state now; null for one that has left", ScheduledState]
    verdict: Annotated[
        str,
        "what became of the due time; `ahead`: none has come yet; `unplanned`: a start that no due time has",
        Verdict,
    ]
    reason: Annotated[
        str | None, "why it is late, missed, lost, unknown or unplanned; null where it is none of that", Cause
    ]
    message: Annotated[str | None, "the reason in words"]
    hold_reason_code: Annotated[int | None, "HoldReasonCode, where a hold is the cause"]
    due: Annotated[Start | None, "the due time and its moments; null with `ahead`"]
    started: Annotated[int | None, "when the program began (epoch seconds)"]
    delay: Annotated[
        int | None, "how much later than the due time it began, less than 0 where a machine's clock is slow (seconds)"
    ]
    is_final: Annotated[bool, "whether the verdict stays, whatever comes"]
    next: Annotated[Start | None, "the job's next start; null where there is none"]
    trouble: Annotated[Iterable[Diagnostic], "what keeps the job from running, or will"]


RESULTS = {"monitor": Result("One line each: a due time", MonitorResult)}
