"""What `crondor compile` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, TypedDict

from crondor_cli.kit.results import Diagnostic, Instant, Result


class Until(Instant):
    """Up to when something is proven, and why no further."""

    reason: Annotated[str, "what limits it, in words; empty: --until"]


class Job(TypedDict):
    """One of the jobs that together run at the wanted times."""

    commands: Annotated[Mapping[str, str], "submit commands and their values"]
    words: Annotated[str, "the cron fields in words"]
    unused: Annotated[int, "how many times until then at which nothing runs"]
    least_distance: Annotated[int | None, "the least time from one of them to a wanted one after it (seconds)"]


_From = TypedDict("_From", {"from": Annotated[Instant, "after this instant"]})


class Proof(_From):
    """What was compared."""

    until: Annotated[Instant, "up to this instant"]
    compared: Annotated[int, "how many times the schedd may set"]
    wanted: Annotated[int, "how many times were asked for"]
    walked: Annotated[int, "how many answers of the schedd's own search were followed"]


class StartCounts(TypedDict):
    """How many of the wanted times can start, and with which lengths."""

    certain: Annotated[int, "how many are certain to be computed in time"]
    may_be_passed_over: Annotated[
        int, "how many lie within SCHEDD_INTERVAL after the time before, so that the schedd may pass over them"
    ]
    schedd_interval: Annotated[int, "SCHEDD_INTERVAL (seconds)"]
    window: Annotated[int, "the jobs' cron_window (seconds)"]
    prep_time: Annotated[int, "the jobs' shortest cron_prep_time (seconds)"]


class Starts(StartCounts):
    """Which of the wanted times that the schedd computes can start."""

    first_passed_over: Annotated[Iterable[Instant], "the first 20 that may be skipped"]


class Head(TypedDict):
    """What was asked for."""

    schedule: Annotated[str, "the schedule as it was written, with what options say of its meaning"]
    words: Annotated[str, "the schedule in words"]
    zone: Annotated[str, "the zone whose clock it means (IANA name)"]
    submit_zone: Annotated[str, "the submit host's zone (IANA name)"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]


class CompileResult(Head):
    """A schedule as submit commands, and the proof."""

    exact: Annotated[bool, "whether the jobs run at the wanted times and at no other"]
    until: Annotated[
        Until | None, "up to when that is proven, and what keeps it from going further; null where it cannot be said"
    ]
    goes_on: Annotated[bool, "whether the jobs go on by the same rule afterwards"]
    jobs: Annotated[Iterable[Job], "the jobs that together run at the wanted times; empty where it cannot be said"]
    proof: Annotated[Proof | None, "what was compared; null where it cannot be said"]
    starts: Annotated[
        Starts | None, "which of the wanted times that the schedd computes can start; null where it cannot be said"
    ]
    never_run: Annotated[Iterable[Instant], "with --approximate: wanted times that never start"]
    run_too: Annotated[Iterable[Instant], "with --approximate: times that start and were not asked for"]
    may_not_run: Annotated[
        Iterable[Instant],
        "with --approximate: wanted times so near after a wrong one that the schedd may jump over them",
    ]
    runs: Annotated[Iterable[Instant], "the next runs"]
    reason: Annotated[str | None, "why it is not exact, or cannot be said"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings"]


RESULTS = {"compile": Result("A schedule as submit commands, and the proof", CompileResult)}
