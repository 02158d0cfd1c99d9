"""What `crondor agenda` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor.spec import Dialect
from crondor_cli.kit.results import Diagnostic, Instant, JobHead, NotRequired, Result


class Day(TypedDict):
    """A date and its starts."""

    date: Annotated[str, "the date (ISO 8601)"]
    weekday: Annotated[str, "the day of the week", ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")]
    seconds: Annotated[int, "the length of the whole date (seconds)"]
    starts: Annotated[int, "the starts of the date"]
    hours: Annotated[Iterable[int | None], "24 integers; null for an hour before `from` and for a skipped hour", 24]


class Minute(Instant):
    """A minute with starts."""

    starts: Annotated[int, "how many jobs start in it"]
    jobs: Annotated[Iterable[int], "the jobs, as positions in `jobs` from 0"]


class Collision(Instant):
    """Two jobs that start in the same minute, and the first such time."""

    jobs: Annotated[tuple[int, int], "two positions in `jobs`; the same twice for equal jobs"]
    count: Annotated[int, "the number of minutes in which both start"]


class CollisionGroup(Minute):
    """Jobs that start in the same minute, and the first such time."""

    count: Annotated[int, "the number of minutes in which exactly these start"]


class Job(JobHead):
    """A job with a schedule."""

    canonical: Annotated[str | None, "the crontab line; null for a deferral time"]
    runs: Annotated[int, "how often each of them starts in these days"]
    leaves: Annotated[bool, "whether each leaves the queue after its first run"]
    time: Annotated[
        int | None, "the first start at `from` or later, or an earlier deferral time; null: none (epoch seconds)"
    ]
    local: Annotated[str | None, "the same in the zone (ISO 8601 with offset); null outside the calendar"]


class Invalid(TypedDict):
    """A job or file skipped because of an error."""

    name: Annotated[str, "the file"]
    line: Annotated[int | None, "the line of the queue statement, from 1; null if the whole file is skipped"]


class Loaded(Instant):
    """A minute, its starts and the slots held in it."""

    starts: Annotated[int, "the number of starts in it"]
    held: Annotated[int, "the number of slots held in it"]


class Load(TypedDict):
    """The load of slots and starts."""

    most_starts: Annotated[int, "the most starts of a minute"]
    most_held: Annotated[int, "the most slots that are held at once"]
    busiest: Annotated[Iterable[Loaded], "the five minutes with the most slots held, then with the most starts"]


class Move(TypedDict):
    """Another minute proposed for jobs."""

    jobs: Annotated[Iterable[int], "the jobs that share this cron_minute, as positions in `jobs` from 0"]
    minute: Annotated[str, "the present minutes, as a list"]
    proposed: Annotated[str, "the proposed value"]
    hour: Annotated[str, "the present cron_hour"]
    proposed_hour: Annotated[str, "the proposed one; the same without `--hours`"]
    is_own: Annotated[bool, "whether it is the minute derived from the file's name"]
    starts: Annotated[tuple[int, int], "the most starts in one of their minutes, before and after"]
    held: Annotated[tuple[int, int], "the most slots held while they hold theirs, before and after"]
    reason: Annotated[str, "the reason, in words"]


class Fixed(TypedDict):
    """A job that cannot be moved."""

    job: Annotated[int, "the job, as a position in `jobs` from 0"]
    reason: Annotated[str, "why it is not moved"]


_From = TypedDict("_From", {"from": Annotated[int, "start of the first day (epoch seconds)"]})


class Suggestion(_From):
    """Other minutes for the jobs; with `--suggest`."""

    until: Annotated[int, "end, exclusive (epoch seconds)"]
    run_time: Annotated[int, "how long a run holds its slot, at least (seconds)"]
    before: Annotated[Load, "the present load"]
    after: Annotated[Load, "the proposed load"]
    moves: Annotated[Iterable[Move], "the proposed minutes"]
    fixed: Annotated[Iterable[Fixed], "the jobs that cannot be moved"]
    files: Annotated[Iterable[str], "the files that change"]
    written: Annotated[bool, "whether `--write` has changed them all"]
    diagnostics: Annotated[Iterable[Diagnostic], "why files are unchanged"]


class AgendaResult(_From):
    """The coming days of all jobs."""

    zone: Annotated[str, "the zone (IANA name)"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]
    until: Annotated[int, "end, exclusive (epoch seconds)"]
    dialect: Annotated[str, "the reading", Dialect]
    job_count: Annotated[int, "the number of jobs with a schedule"]
    starts: Annotated[int, "the number of their starts in these days"]
    days: Annotated[Iterable[Day], "the local dates"]
    first: Annotated[Iterable[Minute], "the first five minutes with a start"]
    busiest: Annotated[Iterable[Minute], "the five minutes with the most starts, the earliest of equal ones"]
    busiest_more: Annotated[int, "the number of other minutes with as many starts as the last of them"]
    collisions: Annotated[Iterable[Collision], "the pairs with the most collisions, `--pairs` at most"]
    collisions_more: Annotated[int, "the number of pairs not listed"]
    collision_groups: Annotated[
        Iterable[CollisionGroup],
        "the groups of jobs that start in the same minute; most frequent first, `--pairs` at most",
    ]
    collision_groups_more: Annotated[int, "the number of groups not listed"]
    jobs: Annotated[Iterable[Job], "the jobs with a schedule, in the order of the files, equal ones of a file as one"]
    invalid: Annotated[Iterable[Invalid], "the jobs and files skipped"]
    diagnostics: Annotated[Iterable[Diagnostic], "all findings"]
    suggestion: NotRequired[Annotated[Suggestion, "with `--suggest`: other minutes for the jobs"]]


RESULTS = {"agenda": Result("The coming days of all jobs", AgendaResult)}
