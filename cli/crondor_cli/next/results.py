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
    """What the queue says of the job."""

    job: Annotated[str | None, "ClusterId.ProcId; null for an ad without them"]
    owner: Annotated[str | None, "Owner"]
    cmd: Annotated[str | None, "Cmd"]
    state: Annotated[
        str | None, "JobStatus", ("idle", "running", "removed", "completed", "held", "transferring_output", "suspended")
    ]
    hold_reason: Annotated[str | None, "HoldReason of a held job"]
    hold_reason_code: Annotated[int | None, "its HoldReasonCode"]
    deferral_time: Annotated[
        int | None, "the DeferralTime that the schedd has computed for a crontab job (epoch seconds)"
    ]
    leaves: Annotated[bool, "whether the job leaves the queue when a run ends"]


class Fields(TypedDict):
    """The five fields of a schedule in canonical form."""

    minute: Annotated[str, "cron_minute, canonical"]
    hour: Annotated[str, "cron_hour, canonical"]
    day_of_month: Annotated[str, "cron_day_of_month, canonical"]
    month: Annotated[str, "cron_month, canonical"]
    day_of_week: Annotated[str, "cron_day_of_week, canonical"]


class Schedule(TypedDict):
    """The cron fields as they are read."""

    words: Annotated[str, "the sentence"]
    canonical: Annotated[str, "the canonical crontab line"]
    fields: Annotated[Fields, "its five fields"]


_Pass = TypedDict(
    "_Pass",
    {"pass": Annotated[int | None, "which of the two it is, where the clock shows the time twice; else null", (1, 2)]},
)
_NoPass = TypedDict("_NoPass", {"pass": Annotated[None, "always null: the real schedd knows no passes"]})


class ReadStart(Start):
    """A run in a reading of the schedule."""

    skipped: Annotated[
        Iterable[str] | None,
        "the wall-clock times that the clock skips and this run stands for (ISO 8601); null for most runs",
    ]


class RunStart(ReadStart, _Pass):
    """A run as the manual or Unix cron has it."""


class ScheddStart(ReadStart, _NoPass):
    """A run of the real schedd; the last two keys are there for jobs with cron fields."""

    retry: NotRequired[Annotated[bool, 'whether the time is "now + 120 seconds"']]
    computed: NotRequired[Annotated[int | None, "of a retry, the past instant that the schedd found (epoch seconds)"]]


class Run(TypedDict):
    """A row: a run, and whether the real schedd has it too."""

    number: Annotated[int, "the row, in order of time (from 1)"]
    manual: NotRequired[Annotated[RunStart | None, "the run as the manual has it; only where it is read so"]]
    htcondor: NotRequired[Annotated[ScheddStart | None, "the run of the real schedd; only where it is read so"]]
    unix: NotRequired[Annotated[RunStart | None, "the run of Unix cron; only with `--dialect unix`"]]
    differs: Annotated[
        bool,
        "whether only one of the two has a run; false where nothing is compared: one dialect, or a chain that was cut",
    ]


class KeptOut(TypedDict):
    """Times of the schedule that the job's requirements exclude."""

    count: Annotated[int, "how many up to the last row; at most 10,001 are counted"]
    first: Annotated[int, "the first of them (epoch seconds)"]


class ScheddFault(TypedDict):
    """Why the real schedd does not run the job."""

    message: Annotated[str, "why"]
    hold_reason: Annotated[str | None, "the HoldReason (code 25), null where the schedd does not hold the job"]


class _AskedJob(JobHead):
    zone: Annotated[str, "the zone (IANA name)"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]


class Terms(TypedDict):
    """When a job runs, and the terms around each run."""

    schedule: Annotated[
        Schedule | None, "the cron fields as they are read; null without cron fields, and where the reading is refused"
    ]
    deferral_time: Annotated[
        int | str | None, "the job's own time; a string is an expression; null: none, or not readable (epoch seconds)"
    ]
    window: Annotated[
        int | str | None, "the window; a string is an expression; null where the reading is refused (seconds)"
    ]
    prep_time: Annotated[
        int | str | None, "the preparation; a string is an expression; null where the reading is refused (seconds)"
    ]
    schedd_interval: Annotated[int | None, "SCHEDD_INTERVAL; null where the reading is refused (seconds)"]
    universe: Annotated[
        str | None,
        "JobUniverse; null where the reading is refused",
        ("vanilla", "scheduler", "grid", "java", "parallel", "local", "vm"),
    ]


class Job(_AskedJob, Terms):
    """The coming runs of a job."""

    submitted: Annotated[
        int | None,
        "the time of submission that expressions were evaluated with; null where there are none (epoch seconds)",
    ]
    queued: Annotated[Queued | None, "what the queue says of the job; null without `--ads`"]
    dialect: Annotated[str | None, "the one dialect; null where MANUAL and HTCONDOR are compared", Dialect]
    leaves: Annotated[bool, "whether a crontab job of a submit file leaves the queue after its first run"]
    runs: Annotated[Iterable[Run], "the rows, in order of time"]
    differences: Annotated[Iterable[Difference], "why the real schedd differs"]
    kept_out: Annotated[
        KeptOut | None,
        "times of the schedule that the job's requirements exclude: the job does not run then, and they are no rows",
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
    schedules: NotRequired[Annotated[Iterable[AskedRuns], "with --schedule: what was asked about"]]


class PastJob(_AskedJob):
    """The last runs of a job."""

    runs: Annotated[Iterable[Instant], "the runs, the latest first"]


class Past(TypedDict):
    """The last runs; with --previous."""

    jobs: Annotated[Iterable[PastJob], "the jobs in file order"]
    schedules: NotRequired[Annotated[Iterable[AskedRuns], "with --schedule: what was asked about"]]


class NextStart(Start):
    """A coming start of a job of the queue."""

    job: Annotated[str, "ClusterId.ProcId, or where the ad stands"]
    owner: Annotated[str | None, "Owner"]
    cmd: Annotated[str | None, "Cmd"]


class Starts(QueueHead):
    """The coming starts of a queue; with --queue, --log, --live or --list."""

    starts: Annotated[Iterable[NextStart], "the starts in order of time"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings"]


RESULTS = {"next": Result("When jobs run, in both readings", Coming | Past | Starts)}
