"""What `crondor explain` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor.spec import Dialect
from crondor_cli.kit.results import AskedSchedule, Diagnostic, Difference, Instant, JobHead, NotRequired, Result


class Field(TypedDict):
    """A cron field."""

    field: Annotated[str, "the field", ("minute", "hour", "day_of_month", "month", "day_of_week")]
    written: Annotated[str | None, "the text; null if the field is missing"]
    values: Annotated[Iterable[int], "the values as integers, Sunday is 0"]
    unrestricted: Annotated[bool, "whether the field restricts nothing"]


class DayRule(TypedDict):
    """How the day fields decide."""

    rule: Annotated[str, "the rule", ("every-day", "day-of-month", "day-of-week", "or", "and")]
    words: Annotated[str, "the same as a sentence"]


class Schedule(TypedDict):
    """The cron fields with their meaning."""

    words: Annotated[str, "the schedule in words"]
    canonical: Annotated[str, "the canonical crontab line"]
    portable: Annotated[str | None, "a line with the same meaning in all dialects; null if there is none"]
    fields: Annotated[Iterable[Field], "the five fields"]
    day_rule: Annotated[DayRule, "how the day fields decide"]


class Gap(TypedDict):
    """A time between two runs on the wall clock."""

    seconds: Annotated[int, "the gap (seconds)"]
    words: Annotated[str, "the same in calendar years, days and less"]
    first_after: Annotated[str, "the day of the run before the first such gap since 2000 (ISO 8601 date)"]


class Gaps(TypedDict):
    """The shortest and the longest time between runs on the wall clock."""

    shortest: Annotated[Gap, "the shortest time between two runs on the wall clock"]
    longest: Annotated[Gap, "the longest time between two runs on the wall clock"]


class Range(TypedDict):
    """The fewest and the most runs in a day, a month or a year."""

    least: Annotated[int, "the fewest runs over the 400-year cycle, clock changes aside"]
    most: Annotated[int, "the most runs over the 400-year cycle, clock changes aside"]


class Counts(TypedDict):
    """The number of runs."""

    day: Annotated[Range, "runs of a day"]
    month: Annotated[Range, "runs of a month"]
    year: Annotated[Range, "runs of a year"]
    next_12_months: Annotated[int, "runs after now, up to `until`"]
    excluded: Annotated[
        int | None,
        "times up to `until` that requirements exclude; null: too many to try, and `next_12_months` includes them",
    ]
    until: Annotated[int, "the same wall-clock time one year later (epoch seconds)"]


class Schedd(TypedDict):
    """The real schedd's reading."""

    differences: Annotated[Iterable[Difference], "its differences, and their reasons"]
    day_zero: Annotated[bool, "whether its day-0 defect can strike"]
    hold_reason: Annotated[str | None, "the HoldReason (code 25) if it holds the job"]
    hangs: Annotated[bool, "whether it never returns from its search"]


class Answer(Instant):
    """A time computed by the schedd."""

    retry: Annotated[bool, 'whether it is "now + 120 seconds"']
    computed: Annotated[int | None, "for a retry, the past time that the schedd found (epoch seconds)"]
    excluded: Annotated[bool, "whether requirements exclude it, so that the job does not run"]


class ClockChange(Instant):
    """A clock change that affects the schedule."""

    seconds: Annotated[int, "how far the clock goes forward; back: negative (seconds)"]
    low: Annotated[str, "the first wall-clock time skipped or repeated (ISO 8601, no offset)"]
    high: Annotated[str, "the end of that, exclusive (ISO 8601, no offset)"]
    compatible: Annotated[
        Iterable[Instant],
        "the runs under this policy: from the change to the end of the skipped length, or in both passes",
    ]
    debian: Annotated[Iterable[Instant], "the runs under this policy"]
    skip: Annotated[Iterable[Instant], "the runs under this policy"]
    kubernetes: Annotated[Iterable[Instant], "the runs under this policy"]
    schedd: Annotated[Iterable[Answer], "the answers there of a schedd started a day before; empty if it holds the job"]


class AtField(TypedDict):
    """A field at the time of --at."""

    field: Annotated[str, "its name", ("minute", "hour", "day_of_month", "month", "day_of_week")]
    value: Annotated[int, "its value then"]
    matches: Annotated[bool, "whether the schedule has it"]


class At(Instant):
    """The answer to `--at`."""

    fires: Annotated[bool, "whether the schedule fires then"]
    words: Annotated[str, "the reason"]
    fields: Annotated[Iterable[AtField], "the five fields at that time"]
    arm: Annotated[
        str,
        "what selects the day: `every day`, `day of month`, `day of week`, `day of month and day of week`, `neither`",
        ("every day", "day of month", "day of week", "day of month and day of week", "neither"),
    ]
    blocking: Annotated[
        Iterable[Annotated[str, "", ("minute", "hour", "day_of_month", "month", "day_of_week")]],
        "the names of the fields that do not match",
    ]
    note: Annotated[str | None, "another reason: seconds, or a clock change"]
    earlier: Annotated[Instant | None, "the nearest run before"]
    later: Annotated[Instant | None, "the nearest run after"]


class Job(JobHead):
    """A job and its schedule."""

    zone: Annotated[str, "the zone (IANA name)"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]
    dialect: Annotated[str, "how the fields are read", Dialect]
    policy: Annotated[
        str | None,
        "the policy at clock changes; null without a set of times",
        ("compatible", "debian", "skip", "kubernetes"),
    ]
    deferral_time: Annotated[
        int | str | None, "the time of a job without cron fields; a string is an expression (epoch seconds)"
    ]
    schedule: Annotated[
        Schedule | None, "the cron fields with their meaning; null without cron fields, and if they are rejected"
    ]
    next: Annotated[Instant | None, "the next run; null with `--at` and if there is none"]
    gaps: Annotated[
        Gaps | None,
        "the shortest and longest time between runs; null with `--at`, if it never fires, and if it is no set",
    ]
    counts: Annotated[Counts | None, "the number of runs; null with `--at`, if it never fires, and if it is no set"]
    schedd: Annotated[
        Schedd | None,
        "the real schedd's reading; null with `--at` and in UNIX, and in HTCONDOR unless day 0 can strike",
    ]
    answers: Annotated[Iterable[Answer] | None, "HTCONDOR only: the schedd's next answers"]
    until: Annotated[int | None, "the end of the search for clock changes; null with `--at` (epoch seconds)"]
    clock_changes: Annotated[
        Iterable[ClockChange] | None, "the clock changes that affect the schedule; with `--at` those within a day"
    ]
    at: Annotated[At | None, "the answer to `--at`"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about this job"]


class Year(TypedDict):
    """The coming year, or the part of it that is known."""

    runs: Annotated[int, "the number of runs"]
    shortest_gap: Annotated[int | None, "between two runs (s); null below two"]
    longest_gap: Annotated[int | None, "between two runs (s); null below two"]
    until: Annotated[int, "its end (epoch seconds)"]


class ExplainAt(Instant):
    """The time of --at, and whether the schedule fires then."""

    fires: Annotated[bool, "whether it fires"]


class ExplainedSchedule(AskedSchedule):
    """The schedule of --schedule, its next and last run, and the coming year."""

    canonical: Annotated[str | None, "five cron fields with the same meaning; null if there are none"]
    next: Annotated[Instant | None, "the next run after now, or after --at"]
    earlier: Annotated[Instant | None, "the last run before it"]
    year: Annotated[Year, "the coming year, or the part of it that is known"]
    at: Annotated[ExplainAt | None, "the time of --at, and whether the schedule fires then"]


class ExplainResult(TypedDict):
    """The meaning of schedules."""

    jobs: Annotated[Iterable[Job], "the jobs in file order, equal ones as one"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the file as a whole"]
    schedules: NotRequired[Annotated[Iterable[ExplainedSchedule], "with --schedule: its explanation"]]


RESULTS = {"explain": Result("The meaning of schedules", ExplainResult)}
