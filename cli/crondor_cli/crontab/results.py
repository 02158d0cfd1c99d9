"""What `crondor import` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor_cli.kit.results import Diagnostic, Result


class Fields(TypedDict):
    """The values of the five cron commands."""

    minute: Annotated[str, "cron_minute"]
    hour: Annotated[str, "cron_hour"]
    day_of_month: Annotated[str, "cron_day_of_month"]
    month: Annotated[str, "cron_month"]
    day_of_week: Annotated[str, "cron_day_of_week"]


class File(TypedDict):
    """A submit file made of a line."""

    name: Annotated[str, "the file's name, without its folder"]
    line: Annotated[int, "the line of the crontab (from 1)"]
    written: Annotated[str, "its time fields as written"]
    schedule: Annotated[str, "the schedule line of the file"]
    fields: Annotated[Fields, "the values of the submit commands, of the first job"]
    requirements: Annotated[str | None, "the clause in requirements that excludes wrong times; null: none"]
    is_exact: Annotated[bool, "whether the fields alone have exactly the times of the line"]
    jobs: Annotated[int, "the number of jobs that share the times of the line"]
    goes_on: Annotated[bool, "whether the jobs follow the same rule after the proof's end"]
    prep_time: Annotated[int | None, "cron_prep_time (seconds)"]
    window: Annotated[int | None, "cron_window (seconds)"]
    user: Annotated[str | None, "the user of the line; null if there is none"]
    command: Annotated[str, "the command for the shell"]
    stdin: Annotated[str | None, "the command's input: the text after %"]
    text: Annotated[str, "the whole submit file"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about this line"]


class CrontabResult(TypedDict):
    """A submit file for each line."""

    has_users: Annotated[bool, "whether lines were read with a column of users, as in /etc/crontab"]
    files: Annotated[Iterable[File], "the submit files, in the order of the lines"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the crontab"]


RESULTS = {"import-crontab": Result("A submit file for each line", CrontabResult)}
