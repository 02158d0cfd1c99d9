"""What `crondor diff` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor.spec import Dialect
from crondor_cli.kit.results import Diagnostic, Instant, Known, NotRequired, Result


class Side(TypedDict):
    """The side A."""

    name: Annotated[str, "the file or the crontab line"]
    line: Annotated[int | None, "the queue statement (a line, from 1)"]
    count: Annotated[int, "how many equal jobs this stands for"]
    dialect: Annotated[str, "how the fields are read", Dialect]
    words: Annotated[str | None, "the sentence, null without cron fields"]
    canonical: Annotated[str | None, "the canonical crontab line"]
    deferral_time: Annotated[int | str | None, "the time of a job without cron fields (epoch seconds)"]
    refusal: Annotated[str | None, "why this reading does not accept the schedule"]


class Relation(TypedDict):
    """How the two sets of times relate."""

    wall_clock: Annotated[
        str, "how the sets of times relate; `subset`: A is a part of B", ("same", "subset", "superset", "neither")
    ]
    zone: Annotated[str, "the same with the clock changes of the zone", ("same", "subset", "superset", "neither")]


class Reading(TypedDict):
    """The field in A."""

    written: Annotated[str | None, "the text, null where the field is not given"]
    values: Annotated[Iterable[int], "the values as integers"]
    starred: Annotated[bool, "whether it counts as `*`"]


class Field(TypedDict):
    """One of `fields`."""

    field: Annotated[str, "its name", ("minute", "hour", "day_of_month", "month", "day_of_week")]
    first: Annotated[Reading | None, "the field in A"]
    second: Annotated[Reading | None, "the field in B"]


class Term(TypedDict):
    """One of `terms`."""

    term: Annotated[str, "what differs", ("deferral_time", "window", "prep_time", "universe")]
    first: Annotated[int | str, "its value in A (seconds; of deferral_time epoch seconds)"]
    second: Annotated[int | str, "its value in B (seconds; of deferral_time epoch seconds)"]


class Parting(Instant):
    """One of `partings`."""

    fires: Annotated[str, "the side that has it", ("first", "second")]
    retry: Annotated[bool, 'whether it is the schedd\'s "now + 120 seconds"']


class Pair(TypedDict):
    """One of `pairs`."""

    first: Annotated[Side, "the side A"]
    second: Annotated[Side, "the side B"]
    zone: Annotated[str, "the zone (IANA name)"]
    now: Annotated[int, "where the comparison begins (epoch seconds)"]
    until: Annotated[int, "where it ends (epoch seconds)"]
    differs: Annotated[bool, "whether they differ, as the exit status has it"]
    relation: Annotated[Relation | None, "how the two sets of times relate; null where a side is no set of times"]
    fields: Annotated[Iterable[Field], "the fields that are written or read otherwise"]
    terms: Annotated[Iterable[Term], "what else differs of two jobs of files"]
    partings: Annotated[Iterable[Parting], "the times that one side has alone, `-n` at most"]
    first_common: Annotated[Instant | None, "the first time that both have"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the two"]


class DiffParting(TypedDict):
    """One of `partings`."""

    time: Annotated[int, "epoch seconds (UTC)"]
    local: Annotated[str, "the same in the zone (ISO 8601 with offset)"]
    fires: Annotated[str, "which of them has it", ("first", "second")]


class Asked(TypedDict):
    """One of `schedules`."""

    text: Annotated[str, "the schedule as it was written"]
    words: Annotated[str, "the schedule in words"]
    zone: Annotated[str, "the zone whose clock it means (IANA name)"]
    until: Annotated[Known | None, "up to when it is known"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]
    file: Annotated[str, "what it is compared with: a file or a crontab line"]
    jobs: Annotated[int, "how many schedules that has, equal jobs as one"]
    compared_until: Annotated[Instant, "up to when they were compared"]
    compared: Annotated[int, "how many times were looked at, those of both once"]
    partings: Annotated[
        Iterable[DiffParting], "the times that only one of them has: first is the schedule, second the file"
    ]
    first_common: Annotated[Instant | None, "the first time that both have"]


class DiffResult(TypedDict):
    """Where pairs of schedules part."""

    differs: Annotated[bool, "whether any pair differs"]
    pairs: Annotated[Iterable[Pair], "the pairs of jobs in order"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the files as a whole"]
    schedules: NotRequired[Annotated[Iterable[Asked], "with --schedule: what was asked about"]]


RESULTS = {
    "diff": Result("Where pairs of schedules part", DiffResult),
}
