"""What `crondor agenda` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor.spec import Dialect
from crondor_cli.kit.results import Diagnostic, Instant, NotRequired, Result


class Day(TypedDict):
    """One of `days`."""

    date: Annotated[str, "the date (ISO 8601)"]
    weekday: Annotated[str, "the day of the week", ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")]
    seconds: Annotated[int, "the length of the whole date (seconds)"]
    starts: Annotated[int, "the starts of the date"]
    hours: Annotated[
        Iterable[int | None], "24 integers; null for an hour before `from` and for one that the clock skips"
    ]


class Minute(Instant):
    """One of `first`."""

    starts: Annotated[int, "how many jobs start in it"]
    jobs: Annotated[Iterable[int], "which, as positions in `jobs` from 0"]


class Collision(Instant):
    """One of `collisions`."""

    jobs: Annotated[tuple[int, int], "two positions in `jobs`; the same twice for equal jobs"]
    count: Annotated[int, "in how many minutes both start"]


class CollisionGroup(Instant):
    """One of `collision_groups`."""

    starts: Annotated[int, "how many jobs start in it"]
    jobs: Annotated[Iterable[int], "all that start in it, as positions in `jobs` from 0"]
    count: Annotated[int, "in how many minutes exactly these start"]


class Job(TypedDict):
    """One of `jobs`."""

    name: Annotated[str, "the file"]
    line: Annotated[int | None, "the queue statement (a line, from 1)"]
    count: Annotated[int, "how many equal jobs this stands for"]
    canonical: Annotated[str | None, "the crontab line; null for a deferral time"]
    runs: Annotated[int, "how often each of them starts in these days"]
    leaves: Annotated[bool, "whether each leaves the queue after its first run"]
    time: Annotated[
        int | None,
        "the first start at `from` or later, a deferral time also before; null: none (epoch seconds)",
    ]
    local: Annotated[str | None, "the same in the zone (ISO 8601 with offset); null beyond the calendar"]


class Invalid(TypedDict):
    """One of `invalid`."""

    name: Annotated[str, "the file"]
    line: Annotated[int | None, "the queue statement, null where the whole file is left out (a line, from 1)"]


class Loaded(TypedDict):
    """One of `busiest`."""

    time: Annotated[int, "the minute (epoch seconds)"]
    local: Annotated[str, "the same in the zone (ISO 8601 with offset)"]
    starts: Annotated[int, "how many jobs start in it"]
    held: Annotated[int, "how many slots are held in it"]


class Load(TypedDict):
    """The load as it is."""

    most_starts: Annotated[int, "the most starts of a minute"]
    most_held: Annotated[int, "the most slots that are held at once"]
    busiest: Annotated[Iterable[Loaded], "the five minutes with the most slots held, then with the most starts"]


class Move(TypedDict):
    """One of `moves`."""

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
    """One of `fixed`."""

    job: Annotated[int, "which, as a position in `jobs` from 0"]
    reason: Annotated[str, "why it is not moved"]


_From = TypedDict("_From", {"from": Annotated[int, "where the dates looked at begin, whole ones (epoch seconds)"]})


class Suggestion(_From):
    """With `--suggest`: other minutes for the jobs."""

    until: Annotated[int, "where they end; excluded (epoch seconds)"]
    run_time: Annotated[int, "how long a run holds its slot, at least (seconds)"]
    before: Annotated[Load, "the load as it is"]
    after: Annotated[Load, "the load as proposed"]
    moves: Annotated[Iterable[Move], "the minutes that are proposed"]
    fixed: Annotated[Iterable[Fixed], "the jobs that cannot be moved"]
    files: Annotated[Iterable[str], "the files that change"]
    written: Annotated[bool, "whether `--write` has changed them all"]
    diagnostics: Annotated[Iterable[Diagnostic], "why files are left as they are"]


_From2 = TypedDict("_From2", {"from": Annotated[int, "where the days begin (epoch seconds)"]})


class AgendaResult(_From2):
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


RESULTS = {
    "agenda": Result("The coming days of all jobs", AgendaResult),
}
