"""`crondor config schema`: a schema for each command that prints JSON, which says exactly what it prints."""

import copy
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, is_typeddict

import click
import pytest
from click.shell_completion import ShellComplete
from jsonschema import Draft7Validator, Draft202012Validator

from crondor.lint.site import InvalidRules, read_rules
from crondor.monitor import Cause, Verdict
from crondor_cli.kit import settings
from crondor_cli.kit.results import results, schema
from crondor_cli.kit.settings import SETTINGS, BadSettings, SettingsFile
from crondor_cli.main import cli
from tests.cli.conftest import Write
from tests.cli.running import ROOT, crondor, next_of
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
    assert set(results()) == with_json()


@pytest.mark.parametrize("name", results())
def test_a_schema_is_valid_and_stands_for_itself(name: str) -> None:
    """It needs no other file, and has nothing that it does not need."""
    found = schema(name)
    Draft202012Validator.check_schema(found)
    asked = {part["$ref"].removeprefix("#/$defs/") for _, part in parts(found) if isinstance(part.get("$ref"), str)}
    assert asked == set(found["$defs"])


@pytest.mark.parametrize("name", results())
def test_every_key_has_a_description_and_no_other_is_allowed(name: str) -> None:
    """What an object may have is said, with a word for each; maps and ads are exempt."""
    assert results()[name].title
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
    assert [line.split()[0] for line in listed.lines] == [*results(), "crondor.toml"]
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
        (["crondro.toml"], "Did you mean crondor.toml?"),
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
    [
        ([], "ne", ["next"]),
        ([], "cr", ["crondor.toml"]),
        ([], "queue-g", ["queue-guard"]),
        (["hook"], "", ["daemon-cron", "run"]),
    ],
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
    name = "-".join(given[:2]) if "-".join(given[:2]) in results() else given[0]
    real = crondor(*given, "--format", "json").data
    assert not faults(name, real)
    optional = {key for _, part in parts(schema(name)) for key in _optional(part)}
    alike = set()
    for number, found in enumerate(objects(real)):
        if (keys := frozenset(found)) in alike:  # one of each kind of object
            continue
        alike.add(keys)
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


def test_a_fault_names_the_types_and_the_key() -> None:
    """Whoever adds a key reads where to add it, too."""
    data = next_of("0 6 * * *", "--format", "json").data
    data["jobs"][0]["queued"] = {"surprise": 1}
    with pytest.raises(AssertionError) as told:
        check_output(["next", "--format", "json"], 0, json.dumps(data))
    assert "'surprise' was unexpected" in str(told.value)
    assert "the types of next (results.py)" in str(told.value)
    assert "$.jobs[0].queued" in str(told.value)


def test_closed_sets_are_those_of_the_code() -> None:
    """A type takes its values from an enumeration of the library where there is one."""
    part = schema("monitor")["properties"]
    assert part["verdict"]["enum"] == [each.value for each in Verdict]
    assert part["reason"]["enum"] == [*(each.value for each in Cause), None]


def test_no_two_types_of_a_schema_have_one_name() -> None:
    """A definition has the name of its type: the types of a command are none of those that several have."""
    assert results()
    own: dict[str, list[str]] = {}
    for name, room in sys.modules.items():
        if re.fullmatch(r"crondor_cli\.\w+\.results", name):
            found = [key for key, each in vars(room).items() if is_typeddict(each) and each.__module__ == name]
            own |= {name: found}
    shared = own.pop("crondor_cli.kit.results")
    assert {name: both for name, found in own.items() if (both := set(found) & set(shared))} == {}


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SAMPLES = sorted((ROOT / "packaging/schemastore").glob("*/*.toml"))
VALUES = ("true", "0", "1", "60", "-1", "1000001", "1.5", '""', '"60"', '"skip"', '"CRN1"', '["CRN1"]', "[1]", "{}")
VALIDATOR = Draft7Validator(crondor("config", "schema", "crondor.toml").data)


def taken(text: str) -> bool:
    """Return whether the settings of a file are read."""
    file = SettingsFile("crondor.toml", text)
    check = tomllib.loads(text).get("check", {})
    try:
        settings.read_values(file)
        read_rules(file.source, check.get("rule", []) if isinstance(check, dict) else [])
    except (BadSettings, InvalidRules):
        return False
    return True


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_samples_for_schemastore_are_judged_alike(path: Path) -> None:
    """Positive ones are read, and negative ones refused, by the schema and by crondor."""
    text = path.read_text(encoding="utf-8")
    wanted = path.parent.name == "positive"
    assert VALIDATOR.is_valid(tomllib.loads(text)) is wanted
    assert taken(text) is wanted


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.name)
def test_every_value_is_judged_alike(setting: settings.Setting) -> None:
    """Only texts may be refused that the schema allows: it does not look into zones, sizes, releases and knobs."""
    head = f"[{setting.table}]\n" if setting.table else ""
    for value in VALUES:
        text = f"{head}{setting.key} = {value}\n"
        is_valid = VALIDATOR.is_valid(tomllib.loads(text))
        assert is_valid == taken(text) or (is_valid and ('"' in value or setting.key == "target")), text
