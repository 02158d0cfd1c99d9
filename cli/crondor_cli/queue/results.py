"""What `crondor queue` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor.schedd.reading import ScheduledState
from crondor.schedule import Recalculation
from crondor_cli.kit.results import Acted, Diagnostic, Instant, QueueHead, Result, Start


class EditResult(TypedDict):
    """What was edited."""

    edited: Annotated[Iterable[str], "the jobs that were edited, each a string"]
    unchanged: Annotated[Iterable[str], "those for which `--if` does not hold"]
    diagnostics: Annotated[Iterable[Diagnostic], "jobs that are not there"]


class Correction(Instant):
    """One of `corrections`."""

    job: Annotated[str, "ClusterId.ProcId"]
    before: Annotated[int | None, "the DeferralTime that is there; null where it is no number (epoch seconds)"]
    applied: Annotated[
        bool | None,
        "whether the time was written; null without `--apply`; false where the job had changed in the meantime",
    ]


class Trouble(TypedDict):
    """One of `trouble`."""

    job: Annotated[str, "ClusterId.ProcId"]
    diagnostics: Annotated[Iterable[Diagnostic], "why"]


class GuardResult(TypedDict):
    """A pass."""

    now: Annotated[int, "the time of the pass (epoch seconds)"]
    job_count: Annotated[int, "how many idle crontab jobs were looked at"]
    corrections: Annotated[Iterable[Correction], "the times that are not the manual's"]
    trouble: Annotated[Iterable[Trouble], "the jobs that cannot be guarded"]


class Job(TypedDict):
    """One of `jobs`."""

    job: Annotated[str | None, "ClusterId.ProcId"]
    owner: Annotated[str | None, "Owner"]
    cmd: Annotated[str | None, "Cmd"]
    state: Annotated[
        str,
        "JobStatus as it left",
        ("idle", "running", "removed", "completed", "held", "transferring_output", "suspended", "unknown"),
    ]
    since: Annotated[int | None, "when it entered that state (epoch seconds)"]
    reason: Annotated[str | None, "RemoveReason"]


class HistoryResult(TypedDict):
    """The jobs that have left."""

    jobs: Annotated[Iterable[Job], "the jobs, the latest first"]


class Edit(TypedDict):
    """One of `edits`."""

    job: Annotated[str, "ClusterId.ProcId"]
    before: Annotated[int | None, "the DeferralTime that was there (epoch seconds)"]
    time: Annotated[int | None, "the new one; null for a job to be held (epoch seconds)"]
    local: Annotated[str | None, "the same in the zone (ISO 8601 with offset)"]
    hold_reason: Annotated[str | None, "HoldReason of a job whose schedule is invalid (code 25)"]
    reason: Annotated[str, "what made the schedd look", Recalculation]


class RecalcResult(QueueHead):
    """What a pass of the schedd writes."""

    applied: Annotated[bool, "whether `--apply` was given"]
    edits: Annotated[Iterable[Edit], "what the pass does; with `--apply` what was written"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings"]


class StatusJob(TypedDict):
    """One of `jobs`."""

    job: Annotated[str | None, "ClusterId.ProcId"]
    owner: Annotated[str | None, "Owner"]
    cmd: Annotated[str | None, "Cmd"]
    state: Annotated[str, "the state; `waiting`: running with DeferralTime ahead", ScheduledState]
    canonical: Annotated[str | None, "the crontab line; null for a deferral time, and where it cannot be read"]
    deferral_time: Annotated[int | None, "what stands in the ad (epoch seconds)"]
    next: Annotated[Start | None, "the next start"]
    trouble: Annotated[Iterable[Diagnostic], "what keeps it from running, or will"]


class StatusResult(QueueHead):
    """The scheduled jobs of a queue."""

    sees_deferral_time: Annotated[
        bool, "whether DeferralTime is seen as it is written; false for a log, which shows it late"
    ]
    job_count: Annotated[int, "how many jobs were asked for, those without a schedule too"]
    jobs: Annotated[Iterable[StatusJob], "the jobs with a schedule"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the queue"]


class Cluster(TypedDict):
    """Of one file."""

    cluster: Annotated[int, "the new cluster"]
    jobs: Annotated[Iterable[str], "the new jobs, each a string"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the file and the schedules"]


class File(TypedDict):
    """One of `files`."""

    file: Annotated[str, "the file"]
    cluster: Annotated[int, "its new cluster"]
    jobs: Annotated[Iterable[str], "its new jobs, each a string"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the file and the schedules"]


class Clusters(TypedDict):
    """Of several files."""

    files: Annotated[Iterable[File], "the files, in their order"]


RESULTS = {
    "queue-edit": Result("What was edited", EditResult),
    "queue-guard": Result("One line each: a pass", GuardResult),
    "queue-history": Result("The jobs that have left", HistoryResult),
    "queue-hold": Result("What was held", Acted),
    "queue-recalc": Result("What a pass of the schedd writes", RecalcResult),
    "queue-release": Result("What was released", Acted),
    "queue-rm": Result("What was removed", Acted),
    "queue-status": Result("The scheduled jobs of a queue", StatusResult),
    "queue-submit": Result("The new jobs", Cluster | Clusters),
}
