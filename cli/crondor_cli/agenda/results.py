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
    hours: Annotated[
        Iterable[int | None], "24 integers; null for an hour before `from` and for one that the clock skips", 24
    ]


class Minute(Instant):
    """A minute with starts."""

    starts: Annotated[int, "how many jobs start in it"]
    jobs: Annotated[Iterable[int], "which, as positions in `jobs` from 0"]


class Collision(Instant):
    """Two jobs that start in the same minute, and the first time that they do."""

    jobs: Annotated[tuple[int, int], "two positions in `jobs`; the same twice for equal jobs"]
    count: Annotated[int, "in how many minutes both start"]


class CollisionGroup(Minute):
    """Jobs that start in the same minute, and the first time that they do."""

    count: Annotated[int, "in how many minutes exactly these start"]


class Job(JobHead):
    """A job that has a time."""

    canonical: Annotated[str | None, "the crontab line; null for a deferral time"]
    runs: Annotated[int, "how often each of them starts in these days"]
    leaves: Annotated[bool, "whether each leaves the queue after its first run"]
    time: Annotated[
        int | None, "the first start at `from` or later, a deferral time also before; null: none (epoch seconds)"
    ]
    local: Annotated[str | None, "the same in the zone (ISO 8601 with offset); null beyond the calendar"]


class Invalid(TypedDict):
    """A job or file left out for an error."""

    name: Annotated[str, "the file"]
    line: Annotated[int | None, "the queue statement, null where the whole file is left out (a line, from 1)"]


class Loaded(Instant):
    """A minute, its starts and the slots held in it."""

    starts: Annotated[int, "how many jobs start in it"]
    held: Annotated[int, "how many slots are held in it"]


class Load(TypedDict):
    """The load of the minutes."""

    most_starts: Annotated[int, "the most starts of a minute"]
    most_held: Annotated[int, "the most slots that are held at once"]
    busiest: Annotated[Iterable[Loaded], "the five minutes with the most slots held, then with the most starts"]


class Move(TypedDict):
    """Another minute proposed for jobs."""

    jobs: Annotated[Iterable[int], "which share this cron_minute, as positions in `jobs` from 0"]
    minute: Annotated[str, "the minutes as they are, as a list"]
    proposed: Annotated[str, "the value that is proposed"]
    hour: Annotated[str, "cron_hour as it is"]
    proposed_hour: Annotated[str, "the same, unless `--hours` lets it move"]
    is_own: Annotated[bool, "whether it is the minute that comes of the file's name"]
    starts: Annotated[tuple[int, int], "the most starts in a minute that they start in, before and after"]
    held: Annotated[tuple[int, int], "the most slots held while they hold theirs, before and after"]
    reason: Annotated[str, "why, in words"]


class Fixed(TypedDict):
    """A job that cannot be moved."""

    job: Annotated[int, "which, as a position in `jobs` from 0"]
    reason: Annotated[str, "why it is not moved"]


_From = TypedDict("_From", {"from": Annotated[int, "where the first day begins (epoch seconds)"]})


class Suggestion(_From):
    """Other minutes for the jobs; with `--suggest`."""

    until: Annotated[int, "where they end; excluded (epoch seconds)"]
    run_time: Annotated[int, "how long a run holds its slot, at least (seconds)"]
    before: Annotated[Load, "the load as it is"]
    after: Annotated[Load, "the load as proposed"]
    moves: Annotated[Iterable[Move], "the minutes that are proposed"]
    fixed: Annotated[Iterable[Fixed], "the jobs that cannot be moved"]
    files: Annotated[Iterable[str], "the files that change"]
    written: Annotated[bool, "whether `--write` has changed them all"]
    diagnostics: Annotated[Iterable[Diagnostic], "why files are left as they are"]


class AgendaResult(_From):
    """The coming days of all jobs."""

    zone: Annotated[str, "the zone (IANA name)"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]
    until: Annotated[int, "where they end; excluded (epoch seconds)"]
    dialect: Annotated[str, "the reading", Dialect]
    job_count: Annotated[int, "how many jobs have a time"]
    starts: Annotated[int, "how many starts they have in these days"]
    days: Annotated[Iterable[Day], "the local dates"]
    first: Annotated[Iterable[Minute], "the first five minutes with a start"]
    busiest: Annotated[Iterable[Minute], "the five minutes with the most starts, of equal ones the earlier"]
    busiest_more: Annotated[int, "how many more have as many starts as the last of them"]
    collisions: Annotated[Iterable[Collision], "the pairs with the most collisions, `--pairs` at most"]
    collisions_more: Annotated[int, "how many pairs are not listed"]
    collision_groups: Annotated[
        Iterable[CollisionGroup],
        "the jobs that start in the same minute, all of them together; most frequent first, `--pairs` at most",
    ]
    collision_groups_more: Annotated[int, "how many such groups are not listed"]
    jobs: Annotated[Iterable[Job], "the jobs that have a time, in the order of the files, equal ones of a file as one"]
    invalid: Annotated[Iterable[Invalid], "what was left out"]
    diagnostics: Annotated[Iterable[Diagnostic], "all findings"]
    suggestion: NotRequired[Annotated[Suggestion, "with `--suggest`: other minutes for the jobs"]]


RESULTS = {"agenda": Result("The coming days of all jobs", AgendaResult)}
