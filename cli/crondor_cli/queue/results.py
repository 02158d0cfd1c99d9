"""What `crondor queue` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor.job.attributes import JobStatus
from crondor.schedd.reading import ScheduledState
from crondor.schedule import Recalculation
from crondor_cli.kit.results import Acted, Diagnostic, Instant, QueueHead, Result, Start, names


class EditResult(TypedDict):
    """The edited jobs, and the others."""

    edited: Annotated[Iterable[str], "the edited jobs, as strings"]
    unchanged: Annotated[Iterable[str], "the jobs for which `--if` is false"]
    diagnostics: Annotated[Iterable[Diagnostic], "missing jobs"]


class Correction(Instant):
    """A DeferralTime that is not the manual's, and the correct one."""

    job: Annotated[str, "ClusterId.ProcId"]
    before: Annotated[int | None, "the present DeferralTime; null if it is not a number (epoch seconds)"]
    applied: Annotated[
        bool | None,
        "whether the time was written; null without `--apply`; false where the job had changed in the meantime",
    ]


class CatchUp(Instant):
    """The DeferralTime of a run that makes up a missed one."""

    job: Annotated[str, "ClusterId.ProcId"]
    missed: Annotated[int, "the missed time (epoch seconds)"]
    applied: Annotated[
        bool | None,
        "whether the time was written; null without `--apply`; false where the job had changed in the meantime",
    ]


class Trouble(TypedDict):
    """A job that cannot be guarded."""

    job: Annotated[str, "ClusterId.ProcId"]
    diagnostics: Annotated[Iterable[Diagnostic], "why"]


class GuardResult(TypedDict):
    """The result of one pass of the guard."""

    now: Annotated[int, "the time of the pass (epoch seconds)"]
    job_count: Annotated[int, "the number of idle crontab jobs checked"]
    corrections: Annotated[Iterable[Correction], "the times that are not the manual's"]
    catch_ups: Annotated[Iterable[CatchUp], "the runs that make up missed ones"]
    trouble: Annotated[Iterable[Trouble], "the jobs that cannot be guarded"]


class Job(TypedDict):
    """A job that has left the queue."""

    job: Annotated[str | None, "ClusterId.ProcId"]
    owner: Annotated[str | None, "Owner"]
    cmd: Annotated[str | None, "Cmd"]
    state: Annotated[str, "JobStatus when it left", names(JobStatus, "unknown")]
    since: Annotated[int | None, "when it entered that state (epoch seconds)"]
    reason: Annotated[str | None, "RemoveReason"]


class HistoryResult(TypedDict):
    """The jobs that have left."""

    jobs: Annotated[Iterable[Job], "the jobs, the latest first"]


class Edit(TypedDict):
    """A new DeferralTime for a job, or a hold."""

    job: Annotated[str, "ClusterId.ProcId"]
    before: Annotated[int | None, "the previous DeferralTime (epoch seconds)"]
    time: Annotated[int | None, "the new one; null if the job is held (epoch seconds)"]
    local: Annotated[str | None, "the same in the zone (ISO 8601 with offset)"]
    hold_reason: Annotated[str | None, "HoldReason of a job whose schedule is invalid (code 25)"]
    reason: Annotated[str, "why the schedd computed it", Recalculation]


class RecalcResult(QueueHead):
    """The edits of the schedd's pass over its crontab jobs now."""

    applied: Annotated[bool, "whether `--apply` was given"]
    edits: Annotated[Iterable[Edit], "the edits; with `--apply` those written"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings"]


class StatusJob(TypedDict):
    """A job with a schedule."""

    job: Annotated[str | None, "ClusterId.ProcId"]
    owner: Annotated[str | None, "Owner"]
    cmd: Annotated[str | None, "Cmd"]
    state: Annotated[str, "the state; `waiting`: running, before DeferralTime", ScheduledState]
    canonical: Annotated[str | None, "the crontab line; null for a deferral time, and if it cannot be read"]
    deferral_time: Annotated[int | None, "the value in the ad (epoch seconds)"]
    next: Annotated[Start | None, "the next start"]
    trouble: Annotated[Iterable[Diagnostic], "what keeps it from running, or will"]


class StatusResult(QueueHead):
    """The jobs of a queue with a schedule."""

    sees_deferral_time: Annotated[
        bool, "whether DeferralTime is seen without delay; false for a log, which shows it late"
    ]
    job_count: Annotated[int, "the number of jobs selected, including those without a schedule"]
    jobs: Annotated[Iterable[StatusJob], "the jobs with a schedule"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the queue"]


class Cluster(TypedDict):
    """The jobs of a submit file."""

    cluster: Annotated[int | None, "the new cluster; null: no job was submitted"]
    jobs: Annotated[Iterable[str], "the new jobs, as strings"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the file and the schedules"]


class File(Cluster):
    """A submit file, and its jobs."""

    file: Annotated[str, "the file"]


class Clusters(TypedDict):
    """The jobs of several submit files."""

    files: Annotated[Iterable[File], "the files, in order"]


RESULTS = {
    "queue-edit": Result("The edited jobs", EditResult),
    "queue-guard": Result("One line each: a pass", GuardResult),
    "queue-history": Result("The jobs that have left", HistoryResult),
    "queue-hold": Result("The number of jobs held", Acted),
    "queue-recalc": Result("The edits of a pass of the schedd", RecalcResult),
    "queue-release": Result("The number of jobs released", Acted),
    "queue-rm": Result("The number of jobs removed", Acted),
    "queue-status": Result("The scheduled jobs of a queue", StatusResult),
    "queue-submit": Result("The new jobs", Cluster | Clusters),
}
