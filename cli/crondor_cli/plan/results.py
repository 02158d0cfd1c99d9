"""What `crondor plan` and `crondor apply` print as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor.desired.differences import Action
from crondor_cli.kit.results import Diagnostic, Instant, NotRequired, Result, names


class Change(TypedDict):
    """An attribute that differs; `(hold)` is `hold = true` of the file."""

    name: Annotated[str, "the attribute"]
    before: Annotated[str | None, "its expression in the queue; null: it is missing"]
    after: Annotated[str | None, "its expression by the file; null: the file does not set it"]


class Job(TypedDict):
    """A job of the folder or of the queue, and what is done with it."""

    action: Annotated[str, "what is done", names(Action)]
    file: Annotated[str, "its file, within the folder"]
    number: Annotated[int, "its number in the file, from 0; -1: its mark is damaged"]
    line: Annotated[int | None, "the line of its queue statement, from 1"]
    job: Annotated[str | None, "ClusterId.ProcId in the queue; null: it is not there"]
    reason: Annotated[str, "a reason in words; may be empty"]
    drift: Annotated[Iterable[str], "what was done by hand: edited, held, released, removed, duplicated"]
    waits: Annotated[bool, "whether it is done only after the job's run, without --running"]
    needs_prune: Annotated[bool, "whether only --prune does it"]
    attributes: Annotated[Iterable[Change], "the attributes that differ; of a new job those that its file sets"]
    runs_before: Annotated[Iterable[Instant], "the next three runs of the job in the queue"]
    runs_after: Annotated[Iterable[Instant], "the next three runs of the wanted job"]
    done: NotRequired[Annotated[bool, "apply: whether the queue now has what is wanted"]]
    new_job: NotRequired[Annotated[str | None, "apply: the job that is there now"]]


class Counts(TypedDict):
    """The number of jobs by action; those that wait, or need --prune, are counted there only."""

    to_submit: Annotated[int, "jobs to submit"]
    to_edit: Annotated[int, "jobs to edit in place"]
    to_replace: Annotated[int, "jobs to replace"]
    to_release: Annotated[int, "jobs to release"]
    to_hold: Annotated[int, "jobs to hold"]
    to_remove: Annotated[int, "jobs to remove"]
    unchanged: Annotated[int, "jobs that are as wanted"]
    waiting: Annotated[int, "jobs whose run has to end first"]
    failed: Annotated[int, "jobs that apply could not change"]
    to_prune: Annotated[int, "jobs that only --prune removes"]
    drift: Annotated[int, "jobs that somebody changed by hand"]


class Queue(TypedDict):
    """One queue."""

    queue: Annotated[str, "the queue, as on the command line"]
    jobs: Annotated[Iterable[Job], "the jobs, in the order of the files"]
    counts: Annotated[Counts, "the number of jobs by action"]


class Plan(TypedDict):
    """The differences between a folder and its queues."""

    plan: Annotated[str, "the plan's name"]
    files: Annotated[int, "the number of submit files"]
    queues: Annotated[Iterable[Queue], "the queues; none if a file is invalid"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about files and queues"]


RESULTS = {
    "apply": Result("The changes of a queue to what a folder wants", Plan),
    "plan": Result("What a queue lacks of a folder of submit files", Plan),
}
