"""What `crondor next` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor.spec import Dialect
from crondor_cli.kit.results import (
    AskedSchedule,
    Diagnostic,
    Difference,
    Instant,
    JobHead,
    NotRequired,
    QueueHead,
    Result,
    Start,
)


class Queued(TypedDict):
    """The job's state in the queue."""

    job: Annotated[str | None, "ClusterId.ProcId; null for an ad without them"]
    owner: Annotated[str | None, "Owner"]
    cmd: Annotated[str | None, "Cmd"]
    state: Annotated[
        str | None, "JobStatus", ("idle", "running", "removed", "completed", "held", "transferring_output", "suspended")
    ]
    hold_reason: Annotated[str | None, "HoldReason of a held job"]
    hold_reason_code: Annotated[int | None, "its HoldReasonCode"]
    deferral_time: Annotated[int | None, "the DeferralTime that the schedd computed for a crontab job (epoch seconds)"]
    leaves: Annotated[bool, "whether the job leaves the queue when a run ends"]


class Fields(TypedDict):
    """The five fields of a schedule in canonical form."""

    minute: Annotated[str, "cron_minute, canonical"]
    hour: Annotated[str, "cron_hour, canonical"]
    day_of_month: Annotated[str, "cron_day_of_month, canonical"]
    month: Annotated[str, "cron_month, canonical"]
    day_of_week: Annotated[str, "cron_day_of_week, canonical"]


class Schedule(TypedDict):
    """The cron fields with their meaning."""

    words: Annotated[str, "the schedule in words"]
    canonical: Annotated[str, "the canonical crontab line"]
    fields: Annotated[Fields, "its five fields"]


_Pass = TypedDict(
    "_Pass", {"pass": Annotated[int | None, "1 or 2 if the clock shows the time twice; otherwise null", (1, 2)]}
)
_NoPass = TypedDict("_NoPass", {"pass": Annotated[None, "always null: the real schedd has no passes"]})


class ReadStart(Start):
    """A run in a reading of the schedule."""

    skipped: Annotated[
        Iterable[str] | None, "the skipped wall-clock times that this run replaces (ISO 8601); null for most runs"
    ]


class RunStart(ReadStart, _Pass):
    """A run in the manual's or Unix cron's reading."""


class ScheddStart(ReadStart, _NoPass):
    """A run of the real schedd; the last two keys are present for jobs with cron fields."""

    retry: NotRequired[Annotated[bool, 'whether the time is "now + 120 seconds"']]
    computed: NotRequired[Annotated[int | None, "for a retry, the past time that the schedd found (epoch seconds)"]]


class Run(TypedDict):
    """A row: a run, and whether the real schedd also has it."""

    number: Annotated[int, "the row, in order of time (from 1)"]
    manual: NotRequired[Annotated[RunStart | None, "the manual's run; only in this reading"]]
    htcondor: NotRequired[Annotated[ScheddStart | None, "the real schedd's run; only in this reading"]]
    unix: NotRequired[Annotated[RunStart | None, "the run of Unix cron; only with `--dialect unix`"]]
    differs: Annotated[
        bool, "whether only one of the two has a run; false without a comparison: one dialect, or a truncated chain"
    ]


class KeptOut(TypedDict):
    """Times of the schedule that the job's requirements exclude."""

    count: Annotated[int, "their number up to the last row; at most 10,001"]
    first: Annotated[int, "the first of them (epoch seconds)"]


class ScheddFault(TypedDict):
    """Why the real schedd does not run the job."""

    message: Annotated[str, "why"]
    hold_reason: Annotated[str | None, "the HoldReason (code 25); null if the schedd does not hold the job"]


class _AskedJob(JobHead):
    zone: Annotated[str, "the zone (IANA name)"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]


class Terms(TypedDict):
    """The schedule of a job, and the settings for each run."""

    schedule: Annotated[
        Schedule | None, "the cron fields with their meaning; null without cron fields, and if they are rejected"
    ]
    deferral_time: Annotated[
        int | str | None, "the job's own time; a string is an expression; null: none, or not readable (epoch seconds)"
    ]
    window: Annotated[
        int | str | None, "the window; a string is an expression; null if this reading rejects it (seconds)"
    ]
    prep_time: Annotated[
        int | str | None, "the preparation; a string is an expression; null if this reading rejects it (seconds)"
    ]
    schedd_interval: Annotated[int | None, "SCHEDD_INTERVAL; null if this reading rejects the job (seconds)"]
    universe: Annotated[
        str | None,
        "JobUniverse; null if this reading rejects the job",
        ("vanilla", "scheduler", "grid", "java", "parallel", "local", "vm"),
    ]


class Job(_AskedJob, Terms):
    """The coming runs of a job."""

    submitted: Annotated[
        int | None, "the time of submission used for expressions; null without expressions (epoch seconds)"
    ]
    queued: Annotated[Queued | None, "the job's state in the queue; null without `--ads`"]
    dialect: Annotated[str | None, "the only dialect; null if MANUAL and HTCONDOR are compared", Dialect]
    leaves: Annotated[bool, "whether a crontab job of a submit file leaves the queue after its first run"]
    runs: Annotated[Iterable[Run], "the rows, in order of time"]
    differences: Annotated[Iterable[Difference], "why the real schedd differs"]
    kept_out: Annotated[
        KeptOut | None, "times of the schedule that the job's requirements exclude; they are not among the rows"
    ]
    schedd_fault: Annotated[ScheddFault | None, "why the real schedd does not run the job"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about this job"]


class AskedRuns(AskedSchedule):
    """The schedule of --schedule, and its runs."""

    runs: Annotated[Iterable[Instant], "the runs in order; with --previous the latest first"]


class Coming(TypedDict):
    """The coming runs; without --previous, and not of a queue."""

    jobs: Annotated[Iterable[Job], "the jobs in file order, equal ones as one"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the file as a whole"]
    schedules: NotRequired[Annotated[Iterable[AskedRuns], "with --schedule: its runs"]]


class PastJob(_AskedJob):
    """The last runs of a job."""

    runs: Annotated[Iterable[Instant], "the runs, the latest first"]


class Past(TypedDict):
    """The last runs; with --previous."""

    jobs: Annotated[Iterable[PastJob], "the jobs in file order"]
    schedules: NotRequired[Annotated[Iterable[AskedRuns], "with --schedule: its runs"]]


class NextStart(Start):
    """A coming start of a job of the queue."""

    job: Annotated[str, "ClusterId.ProcId, or the location of the ad"]
    owner: Annotated[str | None, "Owner"]
    cmd: Annotated[str | None, "Cmd"]


class Starts(QueueHead):
    """The coming starts of a queue; with --queue, --log, --live or --list."""

    starts: Annotated[Iterable[NextStart], "the starts in order of time"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings"]


RESULTS = {"next": Result("When jobs run, in both readings", Coming | Past | Starts)}
