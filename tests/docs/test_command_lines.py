"""Command lines that pages and helps show without running them: each names a command that there is, and its options."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from crondor_cli.kit.command import LazyGroup
from crondor_cli.main import cli
from tests.cli.test_alike import COMMANDS
from tests.docs.test_docs import ROOT
from tests.docs.test_links import PAGES

EVERYWHERE = {"--help", "-h", "--color", "--no-config"}
NO_COMMANDS = {"COMMAND", "[OPTIONS]", "..."}  # what stands for any of them
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def shown(text: str) -> Iterator[str]:
    """Yield what a page shows as code: the lines of blocks, continued ones as one, and code in sentences."""
    for block in FENCE.finditer(text):
        if block[1] not in {"python", "toml", "yaml"}:
            yield from re.sub(r"\\\n\s*", "", block[2]).splitlines()
    for found in re.finditer(r"`([^`\n]+)`", FENCE.sub("", text)):
        yield found[1].replace("\\|", "|")


def calls(line: str) -> Iterator[list[str]]:
    """Yield the words after each `crondor` of a command line."""
    for part in re.split(r" *(?:\||&&|;) *(?=\S)", line.removeprefix("$ ")):
        words = re.sub(r"^(?:\w+=\S* )*(?:exec )?(?:/\S*/)?", "", part.strip())
        if re.match(r"crondor(?: |$)", words) and not re.match(r"crondor [=(]", words):
            try:
                yield shlex.split(words, comments=True)[1:]
            except ValueError:  # half of a quoted text: it is a sentence
                continue


def fault(words: list[str]) -> str | None:
    """Return what is wrong with a call, None for nothing."""
    command: click.Command = cli
    context = click.Context(cli)
    rest = [word for word in words if word not in {"--no-config", "..."}]
    while isinstance(command, LazyGroup) and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        if name in NO_COMMANDS:
            return None
        found = [command.get_command(context, each) for each in name.split("|")]
        if None in found:
            return f"no command {name}"
        command = found[0] or command
    if not isinstance(command, LazyGroup) and command.name in {"help", "schema"}:
        return None
    known = EVERYWHERE | {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    for word in rest[: rest.index("--")] if "--" in rest else rest:
        option = re.split(r"[=:]", word)[0]
        is_one = re.fullmatch(r"-[a-z]", option[:2]) and option[:2] in known
        if re.fullmatch(r"--?[a-zA-Z][\w-]*", option) and not is_one and not {option, f"-{option}"} & known:
            return f"{command.name} has no {option}"
    return None


NOW = [page for page in PAGES if page.name != "CHANGELOG.md"]  # which names commands of earlier versions


@pytest.mark.parametrize("page", NOW, ids=lambda page: str(page.relative_to(ROOT)))
def test_command_lines_on_pages_are_those_of_the_command(page: Path) -> None:
    """Blocks and code in sentences."""
    text = page.read_text("utf-8")
    assert [(words, wrong) for line in shown(text) for words in calls(line) if (wrong := fault(words))] == []


@pytest.mark.parametrize("path", COMMANDS)
def test_command_lines_in_helps_are_those_of_the_command(path: str) -> None:
    """Its own examples, and other commands that it names."""
    text = re.sub(r"\\\n\s*", "", COMMANDS[path].epilog or "")
    lines = [re.split(r"  +", line.strip())[0] for line in text.splitlines() if re.match(r" +\S", line)]
    assert [(words, wrong) for line in lines for words in calls(line) if (wrong := fault(words))] == []


def test_wrong_command_lines_are_found() -> None:
    """A command and an option that there are not, after a pipe, over two lines, in a sentence."""
    page = "```\n$ condor_q | crondor next --adds - \\\n    -n 3\n```\nSee `crondor nxt`,\n"
    page += "`crondor route q -routes A` and `crondor next --at x`.\n"
    found = [fault(words) for line in shown(page) for words in calls(line)]
    assert found == ["next has no --adds", "no command nxt", "q has no -routes", None]
