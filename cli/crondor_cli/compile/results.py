"""What `crondor compile` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, TypedDict

from crondor_cli.kit.results import Diagnostic, Instant, Result


class Until(Instant):
    """The time up to which something is proven, and the reason for this limit."""

    reason: Annotated[str, "the reason, in words; empty: --until"]


class Job(TypedDict):
    """One of the jobs that together run at the wanted times."""

    commands: Annotated[Mapping[str, str], "submit commands and their values"]
    words: Annotated[str, "the cron fields in words"]
    unused: Annotated[int, "the number of its times until then at which nothing runs"]
    least_distance: Annotated[int | None, "the least time from one of them to the next wanted time (seconds)"]


_From = TypedDict("_From", {"from": Annotated[Instant, "after this time"]})


class Proof(_From):
    """The scope of the proof."""

    until: Annotated[Instant, "up to this time"]
    compared: Annotated[int, "the number of times that the schedd may set"]
    wanted: Annotated[int, "the number of times wanted"]
    walked: Annotated[int, "the number of steps of the schedd's own search"]


class StartCounts(TypedDict):
    """The number of wanted times that can start, and the settings."""

    certain: Annotated[int, "the number that is certain to be computed in time"]
    may_be_passed_over: Annotated[
        int, "the number within SCHEDD_INTERVAL after the previous time, which the schedd may skip"
    ]
    schedd_interval: Annotated[int, "SCHEDD_INTERVAL (seconds)"]
    window: Annotated[int, "the jobs' cron_window (seconds)"]
    prep_time: Annotated[int, "the jobs' shortest cron_prep_time (seconds)"]


class Starts(StartCounts):
    """The wanted times computed by the schedd that can start."""

    first_passed_over: Annotated[Iterable[Instant], "the first 20 that may be skipped"]


class Head(TypedDict):
    """The request."""

    schedule: Annotated[str, "the schedule as written, including options that change its meaning"]
    words: Annotated[str, "the schedule in words"]
    zone: Annotated[str, "the zone of the schedule (IANA name)"]
    submit_zone: Annotated[str, "the submit host's zone (IANA name)"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]


class CompileResult(Head):
    """A schedule as submit commands, and the proof."""

    exact: Annotated[bool, "whether the jobs run exactly at the wanted times"]
    until: Annotated[
        Until | None, "the time up to which that is proven, and the reason; null if it cannot be expressed"
    ]
    goes_on: Annotated[bool, "whether the jobs follow the same rule afterwards"]
    jobs: Annotated[Iterable[Job], "the jobs that together run at the wanted times; empty if it cannot be expressed"]
    proof: Annotated[Proof | None, "the scope of the proof; null if it cannot be expressed"]
    starts: Annotated[
        Starts | None, "the wanted times computed by the schedd that can start; null if it cannot be expressed"
    ]
    never_run: Annotated[Iterable[Instant], "with --approximate: wanted times that never start"]
    run_too: Annotated[Iterable[Instant], "with --approximate: times that start but were not wanted"]
    may_not_run: Annotated[
        Iterable[Instant], "with --approximate: wanted times so soon after a wrong one that the schedd may skip them"
    ]
    runs: Annotated[Iterable[Instant], "the next runs"]
    reason: Annotated[str | None, "why it is not exact, or cannot be expressed"]
    files: Annotated[Mapping[str, str] | None, "with --dag: the texts of the submit file and its script, by name"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings"]


RESULTS = {"compile": Result("A schedule as submit commands, and the proof", CompileResult)}
