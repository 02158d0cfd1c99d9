"""`crondor config schema`: a schema for each command that prints JSON, which says exactly what it prints."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete
from jsonschema import Draft202012Validator

from crondor.diagnostics import Severity
from crondor.hooks.cron.schedule import CronStep
from crondor.hooks.kinds import HookConsequence, HookType
from crondor.hooks.runner import HookEnd
from crondor.monitor import Cause, Verdict
from crondor.pool.daemons.events import PoolEventKind
from crondor.pool.settings import Party
from crondor.router.daemon.log import RouterEvent
from crondor.router.daemon.status import RouteReason
from crondor.router.match.matcher import Limit
from crondor.router.match.reasons import RouteOutcome
from crondor.router.match.umbrella import Clause
from crondor.router.plan.copy_schedule import CopySchedule, PlannedOutcome
from crondor.schedd.reading import ScheduledState
from crondor.schedule import Recalculation
from crondor.spec import Dialect
from crondor_cli.main import cli
from crondor_cli.schema.catalogue import names, schema, title
from tests.cli.conftest import Write
from tests.cli.running import crondor, next_of
from tests.cli.schemas import OPTIONS, check_output, faults
from tests.cli.test_alike import COMMANDS

MAPS = {"ad", "environment", "attributes", "commands", "macros"}  # objects whose keys are data


def with_json() -> set[str]:
    """Return the names of the commands that can print JSON."""
    return {
        path.replace(" ", "-")
        for path, command in COMMANDS.items()
        for each in command.params
        if isinstance(each.type, click.Choice) and "json" in each.type.choices and set(each.opts) & set(OPTIONS)
    }


def parts(found: object, key: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every part of a schema that is an object, with the key that it stands under."""
    if isinstance(found, dict):
        yield key, found
        for name, inner in found.items():
            yield from parts(inner, name)
    elif isinstance(found, list):
        for inner in found:
            yield from parts(inner, key)


def objects(document: object) -> Iterator[dict[str, Any]]:
    """Yield every object of some JSON."""
    return (found for _, found in parts(document))


def test_each_command_with_json_has_a_schema() -> None:
    """And no schema is without a command."""
    assert set(names()) == with_json()


@pytest.mark.parametrize("name", names())
def test_a_schema_is_valid_and_stands_for_itself(name: str) -> None:
    """It needs no other file, and has nothing that it does not need."""
    found = schema(name)
    Draft202012Validator.check_schema(found)
    asked = {part["$ref"].removeprefix("#/$defs/") for _, part in parts(found) if isinstance(part.get("$ref"), str)}
    assert asked == set(found["$defs"])


@pytest.mark.parametrize("name", names())
def test_every_key_has_a_description_and_no_other_is_allowed(name: str) -> None:
    """What an object may have is said, with a word for each; maps and ads are exempt."""
    assert title(name)
    for key, part in parts(schema(name)):
        if part.get("type") != "object":
            continue
        if "properties" not in part:
            assert key in MAPS, key
            continue
        assert part["additionalProperties"] is False
        assert set(part["required"]) <= set(part["properties"])
        for inner, said in part["properties"].items():
            assert said.get("description"), f"{name}: {inner}"


def test_the_list_has_a_line_for_each() -> None:
    """Its name, and what the document is."""
    listed = crondor("config", "schema")
    assert [line.split()[0] for line in listed.lines] == names()
    assert "queue-guard        One line each: a pass" in listed.lines
    assert max(map(len, listed.lines)) <= 80


def test_a_schema_is_printed_by_the_words_of_its_command() -> None:
    """Apart, or joined by a hyphen."""
    apart, joined = crondor("config", "schema", "queue", "status"), crondor("config", "schema", "queue-status")
    assert apart.data == joined.data == schema("queue-status")
    assert apart.status == 0


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["nxt"], "Did you mean next?"),
        (["queue", "stauts"], "Did you mean queue-status?"),
        (["hook"], "Did you mean hook-daemon-cron or hook-run?"),
        (["common"], "crondor config schema lists them."),
        (["../next"], "Did you mean next?"),
        (["zzzzzz"], "crondor config schema lists them."),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(words: list[str], hint: str) -> None:
    """As wrong usage."""
    answer = crondor("config", "schema", *words)
    assert answer.status == 2
    assert answer.out == ""
    assert hint in answer.err


@pytest.mark.parametrize(
    ("before", "begun", "wanted"),
    [([], "ne", ["next"]), ([], "queue-g", ["queue-guard"]), (["hook"], "", ["daemon-cron", "run"])],
)
def test_names_are_completed(before: list[str], begun: str, wanted: list[str]) -> None:
    """The second word of a command, too."""
    shell = ShellComplete(cli, {}, "crondor", "_CRONDOR_COMPLETE")
    assert [each.value for each in shell.get_completions(["config", "schema", *before], begun)] == wanted


@pytest.mark.parametrize(
    "arguments",
    [
        ("next", "--crontab", "0 6 1-10/3 * 1"),
        ("next", "--spec", "JOB"),
        ("explain", "--crontab", "0 6 1-10/3 * 1"),
        ("diff", "0 6 * * 1", "0 7 * * 1"),
        ("agenda", "JOB"),
        ("check", "JOB"),
        ("simulate", "--spec", "JOB", "--days", "1", "--events"),
        ("queue", "status", "--ads", "examples/queue.long"),
        ("next", "--list", "--ads", "examples/queue.long"),
        ("classad", "eval", "1 + x", "--explain"),
    ],
)
def test_a_key_less_and_a_key_more_are_found(arguments: tuple[str, ...], write: Write) -> None:
    """Each key of real output is needed or known to be optional, and one more is refused, in every object."""
    path = write("executable = /bin/true", "cron_minute = 0", "cron_minutes = 5", "queue")
    given = [path if word == "JOB" else word for word in arguments]
    name = "-".join(given[:2]) if "-".join(given[:2]) in names() else given[0]
    real = crondor(*given, "--format", "json").data
    assert not faults(name, real)
    optional = {key for _, part in parts(schema(name)) for key in _optional(part)}
    for number, found in enumerate(objects(real)):
        changed = copy.deepcopy(real)
        list(objects(changed))[number]["surprise"] = 1
        assert any("'surprise' was unexpected" in fault for fault in faults(name, changed))
        for key in found.keys() - optional:
            changed = copy.deepcopy(real)
            del list(objects(changed))[number][key]
            assert faults(name, changed), f"{key} may be missing"


def _optional(part: dict[str, Any]) -> set[str]:
    """Return the keys that an object may lack."""
    return set(part["properties"]) - set(part["required"]) if "required" in part else set()


def test_a_fault_names_the_file_and_the_key() -> None:
    """Whoever adds a key reads where to add it, too."""
    data = next_of("0 6 * * *", "--format", "json").data
    data["jobs"][0]["queued"] = {"surprise": 1}
    with pytest.raises(AssertionError) as told:
        check_output(["next", "--format", "json"], 0, json.dumps(data))
    assert "'surprise' was unexpected" in str(told.value)
    assert "cli/crondor_cli/schema/documents/next.json" in str(told.value)
    assert "$.jobs[0].queued" in str(told.value)


@pytest.mark.parametrize(
    ("name", "definition", "key", "values"),
    [
        ("next", "difference", "code", ["field", "attribute", "day-zero", "clock-change", "accepted"]),
        ("next", "diagnostic", "severity", Severity),
        ("agenda", None, "dialect", Dialect),
        ("run", None, "what", PoolEventKind),
        ("simulate", "event", "what", PoolEventKind),
        ("simulate", "message", "to", Party),
        ("simulate", "not_routed", "reason", RouteReason),
        ("queue-status", "job", "state", ScheduledState),
        ("monitor", None, "state", [*ScheduledState, None]),
        ("monitor", None, "verdict", Verdict),
        ("monitor", None, "reason", [*Cause, None]),
        ("queue-recalc", "edit", "reason", Recalculation),
        ("route-explain", "verdict", "outcome", RouteOutcome),
        ("route-explain", "clause", "clause", [each.name.lower() for each in Clause]),
        ("route-explain", "route", "limit", [*Limit, None]),
        ("route-plan", "run", "outcome", PlannedOutcome),
        ("route-plan", "run", "conduct", [*CopySchedule, None]),
        ("route-run", "entry", "what", [each.name.lower() for each in RouterEvent]),
        ("route-run", "stays", "reason", RouteReason),
        ("route-status", "job", "reason", RouteReason),
        ("hook-run", None, "hook", HookType),
        ("hook-run", None, "ended", HookEnd),
        ("hook-run", "consequence", "action", HookConsequence),
        ("hook-daemon-cron", "event", "what", CronStep),
    ],
)
def test_closed_sets_are_those_of_the_code(
    name: str, definition: str | None, key: str, values: Iterable[Enum | str | None]
) -> None:
    """Also the values that no test meets."""
    found = schema(name)
    part = found if definition is None else found["$defs"][definition]
    assert part["properties"][key]["enum"] == [each.value if isinstance(each, Enum) else each for each in values]
