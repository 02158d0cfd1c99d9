"""What `crondor hook` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, TypedDict

from crondor.hooks.cron.schedule import CronStep
from crondor.hooks.kinds import HookConsequence, HookType
from crondor.hooks.runner import HookEnd
from crondor_cli.kit.results import Diagnostic, Result


class Block(TypedDict):
    """A block of output, which becomes an ad."""

    name: Annotated[str, "the name that it is kept by"]
    attributes: Annotated[Mapping[str, str], "its attributes, texts by name"]


class Event(TypedDict):
    """What happened to a cron job, or what it printed."""

    time: Annotated[float, "when (epoch seconds)"]
    job: Annotated[str, "the cron job"]
    what: Annotated[str, "what happened", CronStep]
    text: Annotated[str, "more about it, may be empty"]
    ad: Annotated[Block | None, "the block that the job has printed; null: none"]
    changed: Annotated[bool | None, "whether the ad is another one by it; null unless it was published"]
    updates: Annotated[bool | None, "whether the collector gets an update; null unless it was published"]


class Added(TypedDict):
    """What the jobs added to an ad; at the end."""

    manager: Annotated[str, "whose cron jobs they are", ("startd", "schedd", "benchmarks")]
    ad: Annotated[str, "Name of the ad"]
    attributes: Annotated[Mapping[str, str], "what the jobs have added to it, texts by name"]


class Consequence(TypedDict):
    """What the daemon does after the call."""

    action: Annotated[str, "what the daemon does", HookConsequence]
    reason: Annotated[str, "why"]
    ad: Annotated[Mapping[str, str], "the attributes that it takes, texts by name"]
    hold_reason_code: Annotated[int | None, "HoldReasonCode; null where no job is held"]
    hold_reason_subcode: Annotated[int | None, "HoldReasonSubCode; null where no job is held"]
    htcondor: Annotated[str | None, "what HTCondor 25.14 does instead; null: the same"]


class RunResult(TypedDict):
    """A call of a hook: its input, its output, and the consequence."""

    hook: Annotated[str, "the type of the hook", HookType]
    path: Annotated[str, "its program"]
    arguments: Annotated[Iterable[str], "its arguments"]
    environment: Annotated[Mapping[str, str], "its environment, by name"]
    stdin: Annotated[str | None, "what it read"]
    ended: Annotated[str, "how it ended", HookEnd]
    exit_code: Annotated[int | None, "the exit status; null where there is none"]
    signal: Annotated[int | None, "the signal that ended it; null where none did"]
    seconds: Annotated[float, "how long it ran (seconds)"]
    stdout: Annotated[str, "what it printed"]
    stderr: Annotated[str, "what it said on stderr"]
    left_running: Annotated[int, "how many it left behind (processes)"]
    consequence: Annotated[Consequence, "what the daemon does then"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the hook and its output"]


RESULTS = {
    "hook-daemon-cron": Result("One line each: an event, or an ad at the end", Event | Added),
    "hook-run": Result("A call of a hook, and what follows", RunResult),
}
