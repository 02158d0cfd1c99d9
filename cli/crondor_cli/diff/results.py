"""What `crondor diff` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor.spec import Dialect
from crondor_cli.kit.results import AskedSchedule, Diagnostic, Instant, JobHead, NotRequired, Result


class Side(JobHead):
    """A side of a comparison."""

    dialect: Annotated[str, "how the fields are read", Dialect]
    words: Annotated[str | None, "the schedule in words; null without cron fields"]
    canonical: Annotated[str | None, "the canonical crontab line"]
    deferral_time: Annotated[int | str | None, "the time of a job without cron fields (epoch seconds)"]
    refusal: Annotated[str | None, "why this reading does not accept the schedule"]


class Relation(TypedDict):
    """How the two sets of times relate."""

    wall_clock: Annotated[
        str, "the relation of the sets of times; `subset`: A is a part of B", ("same", "subset", "superset", "neither")
    ]
    zone: Annotated[str, "the same with the clock changes of the zone", ("same", "subset", "superset", "neither")]


class Reading(TypedDict):
    """A field of one side."""

    written: Annotated[str | None, "the text; null if the field is missing"]
    values: Annotated[Iterable[int], "the values as integers"]
    starred: Annotated[bool, "whether it counts as `*`"]


class Field(TypedDict):
    """A field that differs."""

    field: Annotated[str, "its name", ("minute", "hour", "day_of_month", "month", "day_of_week")]
    first: Annotated[Reading | None, "the field in A"]
    second: Annotated[Reading | None, "the field in B"]


class Term(TypedDict):
    """A term other than the schedule that differs."""

    term: Annotated[str, "the term", ("deferral_time", "window", "prep_time", "universe")]
    first: Annotated[int | str | None, "its value in A (seconds; of deferral_time epoch seconds)"]
    second: Annotated[int | str | None, "its value in B (seconds; of deferral_time epoch seconds)"]


class AskedParting(Instant):
    """A time that only one side has."""

    fires: Annotated[str, "the side that has it", ("first", "second")]


class Parting(AskedParting):
    """A time that only one side has, and whether it is a retry of the schedd."""

    retry: Annotated[bool, 'whether it is the schedd\'s "now + 120 seconds"']


class Pair(TypedDict):
    """Two schedules compared."""

    first: Annotated[Side, "the side A"]
    second: Annotated[Side, "the side B"]
    zone: Annotated[str, "the zone (IANA name)"]
    now: Annotated[int, "start of the comparison (epoch seconds)"]
    until: Annotated[int, "end of the comparison (epoch seconds)"]
    differs: Annotated[bool, "whether they differ, as in the exit status"]
    relation: Annotated[Relation | None, "the relation of the sets of times; null if a side is not a set of times"]
    fields: Annotated[Iterable[Field], "the fields with different texts or values"]
    terms: Annotated[Iterable[Term], "other differences between two jobs of files"]
    partings: Annotated[Iterable[Parting], "the times that only one side has, `-n` at most"]
    first_common: Annotated[Instant | None, "the first time that both have"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the two"]


class ComparedSchedule(AskedSchedule):
    """The schedule of --schedule compared with the jobs of a file."""

    file: Annotated[str, "the other side: a file or a crontab line"]
    jobs: Annotated[int, "the number of its schedules, equal jobs as one"]
    compared_until: Annotated[Instant, "the time up to which they were compared"]
    compared: Annotated[int, "the number of times compared, common ones counted once"]
    partings: Annotated[
        Iterable[AskedParting], "the times that only one of them has: first is the schedule, second the file"
    ]
    first_common: Annotated[Instant | None, "the first time that both have"]


class DiffResult(TypedDict):
    """The differences between pairs of schedules."""

    differs: Annotated[bool, "whether any pair differs"]
    pairs: Annotated[Iterable[Pair], "the pairs of jobs in order"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the files as a whole"]
    schedules: NotRequired[Annotated[Iterable[ComparedSchedule], "with --schedule: the comparison"]]


RESULTS = {"diff": Result("The differences between pairs of schedules", DiffResult)}
