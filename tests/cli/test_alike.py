"""All commands: the same thing is called the same, and help says what to do."""

import json
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from crondor_cli.kit.command import Command, LazyGroup
from crondor_cli.kit.results import results, schema
from crondor_cli.main import cli
from tests.cli.running import Result, crondor

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
        assert option.help or option.hidden, f"{path} {name}"


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
        ("--spec", {"FILE"}),
        ("--ads", {"FILE"}),
        ("--schedd-interval", {"SECONDS"}),
        ("--pool-config", {"FILE"}),
        ("--output", {"FILE", "DIR"}),
        ("--jobs", {"N"}),
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
    """-o and --output."""
    for path, command in COMMANDS.items():
        given = options(command)
        if "--output" in given:
            assert "-o" in given["--output"].opts, path


@pytest.mark.parametrize("path", ["", *GROUPS, *COMMANDS])
def test_help_fits_a_terminal(path: str) -> None:
    """Eighty columns, also where there is more room; examples stay as they are written."""
    screen = crondor(*path.split(), "--help", env={"COLUMNS": "200"}).out
    assert [line for line in screen.splitlines() if len(line) > 80] == []
    assert r"\b" not in screen  # the sign for lines that stay as they are


SUBMIT_FILES = ("--allow-dir", "--env", "--seed")
READERS = (
    *("next", "explain", "agenda", "check", "preview", "simulate", "run", "export", "queue advertise", "queue submit"),
    *("route explain", "route apply", "route plan"),
)


@pytest.mark.parametrize("path", READERS)
def test_submit_files_are_named_alike(path: str) -> None:
    """FILES, --spec, and what says which files and variables they see."""
    given = options(COMMANDS[path])
    arguments = [each for each in COMMANDS[path].params if isinstance(each, click.Argument)]
    assert [(each.metavar, each.nargs, each.required) for each in arguments] == [("[FILES]...", -1, False)]
    assert given["--spec"].multiple
    assert set(given) >= set(SUBMIT_FILES)


def test_whoever_takes_a_submit_file_takes_it_so() -> None:
    """No command has --spec and a grammar of its own; the arguments of route diff are two configurations."""
    takers = {path for path, command in COMMANDS.items() if "--spec" in options(command)}
    assert takers - {"route diff"} == set(READERS)


def taken(option: click.Option) -> tuple[str | None, str, bool, str]:
    """Return how an option takes its value: what it is called, its type, whether it repeats, what holds without it."""
    return option.metavar, str(option.type), option.multiple, repr(option.default)


# Options that several commands have, and that are not the same everywhere: why.
OTHERWISE = {
    "--ads": "a queue is one file, jobs may come from several",
    "--as": "the name of a plan, or the hook that is called",
    "--constraint": "condor_q and condor_rm take several, and route q and rm are their kin",
    "--count": "how many are shown without it depends on how long one is",
    "--days": "how far it is sensible to look; for route history as HTCondor's tool has it",
    "--dialect": "diff compares two, simulate shows several, run needs one, and cron has no htcondor",
    "--explain": "a rule by its code, or an expression",
    "--fail-on": "verdicts of the monitor, or differences of a plan",
    "--format": "the first is what the command is for: a table, a text, or ads",
    "--from": "from when on; for ads the form they come in, beside --to",
    "--job": "a job by its number; for hook run the file with its ad",
    "--log": "route plan tells a folder from a log",
    "--name": "a schedd, for plan and apply several; for compile the name of a job",
    "--order": "classad transform prints as HTCondor's tools do, classad as its library",
    "--output": "import writes several files",
    "--reason": "who did it; for hook run why the job ends",
    "--route": "of jobs several routes, to be taken one",
    "--rules": "the rules that find something, or those that change ads",
    "--run-time": "simulate draws it",
    "--seed": "classad transform draws as HTCondor's tool does, without being asked",
    "--site": "HTCondor's name for a route; simulate says what a site does",
    "--slots": "of a pool, or of a machine",
    "--system": "of import a crontab with users, of service as systemctl has it",
    "--target": "the ad that an expression is matched with, or the release that submit files are for",
    "--to": "a format of the world outside, or a form of ads",
    "--trace": "simulate has several kinds",
    "--write": "check changes the files that it is given, compile the one that it is told",
    "--universe": "of jobs by its name, in a hook's input by its number",
}


def test_an_option_of_several_commands_is_the_same() -> None:
    """Its value's name, its type, whether it repeats, its default; and no exception is without a use."""
    found: dict[str, set[object]] = defaultdict(set)
    for command in COMMANDS.values():
        for name, option in options(command).items():
            found[name].add(taken(option))
    assert {name for name, ways in found.items() if len(ways) > 1} == set(OTHERWISE)


def test_what_is_overwritten_is_forced() -> None:
    """Whoever has -o has --force; no option has a second name for the same."""
    for path, command in COMMANDS.items():
        given = options(command)
        assert ("--output" in given) == ("--force" in given), path
        assert not {"--out", "--interval"} & set(given), path


# Examples that are about something that is found, or not there to be done.
FINDS = {"diff", "plan", "route diff", "check", "queue release", "route check", "route plan", "route rm"}


def typed(example: str) -> Result:
    """Run the lines of an example as a shell would: crondor, mkdir, echo and printf, with pipes and files."""
    result = Result(0, "", "")
    for line in example.replace("\\\n", " ").splitlines():
        text = ""
        for part in re.split(r" \| ", line):
            words = shlex.split(part)
            if words[0] == "crondor":
                result = crondor(*words[1:], stdin=text)
                assert not re.search("Usage:|Traceback", result.err), result.err
                continue
            if words[0] == "mkdir":
                Path(words[1]).mkdir()
                continue
            text = words[1].replace("\\n", "\n") + "\n" * (words[0] == "echo")
            if ">" in words[-2]:
                with Path(words[-1]).open("a" if words[-2] == ">>" else "w", encoding="utf-8") as file:
                    file.write(text)
    return result


@pytest.mark.parametrize("path", COMMANDS)
def test_help_begins_with_an_example_that_works(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is typed, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    command = COMMANDS[path]
    assert isinstance(command, Command)
    assert f"crondor {path}" in command.example
    screen = crondor(*path.split(), "--help").out
    assert screen.index("Example:") < screen.index("Options:")
    assert typed(command.example).status == (1 if path in FINDS else 0)


# What a key means, by the word that is used; and the words that mean the same, and are not.
BANNED = {
    "job": ("id", "job_id", "jobid"),  # its number, cluster.proc
    "reason": ("why", "because", "cause"),
    "run_time": ("runtime", "duration"),  # seconds
    "exit_code": ("exit_status", "exitcode", "return_code", "returncode"),
    "state": ("status",),  # JobStatus in a word
    "hold_reason": ("hold", "holdreason"),
    "hold_reason_code": ("hold_code",),
    "hold_reason_subcode": ("hold_subcode",),
    "what": ("event", "kind", "type"),  # what happened
    "before": ("old", "previous"),
    "after": ("new",),
    "from": ("start", "begin", "since_time"),  # of a period, epoch seconds
    "until": ("end", "stop"),
    "schedd_interval": ("interval",),  # SCHEDD_INTERVAL
    "max_idle_jobs": ("max_idle",),
    "diagnostics": ("errors", "warnings", "problems"),  # findings without a fix
    "signal": ("signaled", "signalled", "exit_signal"),
    "deferral_time": ("deferraltime", "deferral"),
    "owner": ("user_name", "username"),
    "file": ("filename", "path_name"),
    "line": ("lineno", "line_number"),
    "zone": ("tz", "timezone"),
    "count": ("number_of", "num"),
}
# Whose word it is where it stands in a schema all the same.
SAID_OTHERWISE = {("check", "start"): "an edit's offset in the file's text, beside its end"}
WORDED_COMMANDS = [name for name in results() if name != "common"]


def keys(part: object) -> Iterator[str]:
    """Yield the names of all properties of a schema."""
    if isinstance(part, dict):
        properties = part.get("properties")
        if isinstance(properties, dict):
            yield from properties
        for each in part.values():
            yield from keys(each)
    elif isinstance(part, list):
        for each in part:
            yield from keys(each)


@pytest.mark.parametrize("command", WORDED_COMMANDS)
def test_a_thing_has_one_word(command: str) -> None:
    """Scripts learn it once."""
    banned = {word: right for right, words in BANNED.items() for word in words}
    found = {key: banned[key] for key in keys(schema(command)) if key in banned}
    assert {key: right for key, right in found.items() if (command, key) not in SAID_OTHERWISE} == {}


@pytest.mark.parametrize("command", WORDED_COMMANDS)
def test_a_key_is_spelled_as_all_are(command: str) -> None:
    """Small letters, words with underscores between them."""
    assert [key for key in keys(schema(command)) if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", key)] == []


def test_the_words_are_used() -> None:
    """A word that no command has any more is none that a synonym could be banned for."""
    used = {key for command in WORDED_COMMANDS for key in keys(schema(command))}
    assert set(BANNED) - used == set()
    assert "job" in json.dumps(schema("queue-status"))
