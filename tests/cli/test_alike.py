"""All commands: the same thing is called the same, and help says what to do."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import click
import pytest

from crondor_cli.common.lazy_group import LazyGroup
from crondor_cli.main import cli
from tests.cli.running import crondor

WIDEST = 66  # characters of a command's one line


def everything(group: click.Command, *path: str) -> Iterator[tuple[str, click.Command]]:
    """Yield the commands that do something, by what is typed."""
    if not isinstance(group, LazyGroup):
        yield " ".join(path), group
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from everything(command, *path, name)


COMMANDS = dict(everything(cli))
GROUPS = [name for name in dict.fromkeys(path.partition(" ")[0] for path in COMMANDS) if name not in COMMANDS]


def options(command: click.Command) -> dict[str, click.Option]:
    """Return the options by their long names."""
    found = [each for each in command.params if isinstance(each, click.Option)]
    return {name: each for each in found for name in each.opts if name.startswith("--")}


@pytest.mark.parametrize("path", ["", *GROUPS])
def test_a_group_lists_its_commands_as_they_say_of_themselves(path: str) -> None:
    """One short line each, the same in the list and in the command; and examples below."""
    screen = crondor(*path.split(), "--help").out
    listed, _, below = screen.partition("Commands:")[2].partition("\n\n")
    assert "  crondor " in below
    text = " ".join(listed.split())
    for name, command in COMMANDS.items():
        group, _, last = name.rpartition(" ")
        if group == path:
            line = command.get_short_help_str(1000)
            assert len(line) <= WIDEST, name
            assert f"{last} {line}" in text


@pytest.mark.parametrize("path", COMMANDS)
def test_help_has_examples_and_the_exit_status(path: str) -> None:
    """And no option without a word."""
    command = COMMANDS[path]
    assert f"crondor {path}" in (command.epilog or "")
    assert re.search(r"Exit status(, as of diff\(1\))?: 0 ", command.epilog or "")
    for name, option in options(command).items():
        assert option.help or option.hidden or (path, name) == ("simulate", "--format"), f"{path} {name}"


@pytest.mark.parametrize(
    ("name", "metavars"),
    [
        ("--now", {"TIME"}),
        ("--tz", {"ZONE"}),
        ("--config", {"FILE"}),
        ("--allow-dir", {"DIR"}),
        ("--queue", {"PATH"}),
        ("--owner", {"USER"}),
        ("--constraint", {"EXPR"}),
        ("--pool", {"HOST"}),
        ("--name", {"NAME"}),
        ("--spec", {"FILE", "FILE..."}),
        ("--ads", {"FILE"}),
        ("--schedd-interval", {"SECONDS"}),
        ("--output", {"FILE", "DIR"}),
    ],
)
def test_an_option_takes_the_same_everywhere(name: str, metavars: set[str]) -> None:
    """Its value is called the same wherever it is taken."""
    found = defaultdict(list)
    for path, command in COMMANDS.items():
        if name in (given := options(command)):
            found[given[name].metavar].append(path)
    assert found
    assert set(found) <= metavars, dict(found)


def test_a_clock_comes_with_its_zone() -> None:
    """Who can say what time it is can say where."""
    for path, command in COMMANDS.items():
        given = options(command)
        assert "--now" not in given or "--tz" in given, path


def test_a_file_to_write_is_named_alike() -> None:
    """-o and --output; --out is HTCondor's name for it."""
    for path, command in COMMANDS.items():
        given = options(command)
        if "--out" in given:
            assert "--output" in given, path
        if "--output" in given:
            assert "-o" in given["--output"].opts, path
