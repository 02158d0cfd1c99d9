"""The code action that compiles a schedule: the lines are those of `crondor compile --write`."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import NOW, ZONE, crondor
from tests.lsp.client import Client, place
from tests.lsp.test_editing import applied

JOB = "executable = /bin/x\nrequirements = true\nqueue\n"
SCHEDULE = "every 2 days at 06:00 from 2026-11-20"
TITLE = "Compile this schedule"


def written(path: Path, text: str) -> str:
    """Return what the command makes of a file."""
    path.write_text(text, encoding="utf-8")
    assert crondor("compile", "--write", str(path), "--now", NOW, "--tz", ZONE).status == 0
    return path.read_text(encoding="utf-8")


def action_at(client: Client, uri: str, line: int, *only: str) -> dict[str, Any] | None:
    """Return the action at a line, None where it is not offered."""
    context = {"diagnostics": [], **({"only": list(only)} if only else {})}
    found = client.about("codeAction", uri, range=place(line, 3, line, 3), context=context)
    return next((each for each in found if each["title"] == TITLE), None)


def compiled(client: Client, uri: str, text: str, line: int) -> str:
    """Return a text after the action at a line."""
    action = action_at(client, uri, line)
    assert action is not None
    command = {name: action["command"][name] for name in ("command", "arguments")}
    number = client.request("workspace/executeCommand", command)
    edit = client.reply("workspace/applyEdit", {"applied": True})["edit"]
    assert client.later(number)["result"] is True
    return applied(text, edit)


def test_the_lines_are_those_of_the_command(client: Client, tmp_path: Path) -> None:
    """From the line with the schedule."""
    text = f"# crondor: schedule = {SCHEDULE}\n{JOB}"
    path = tmp_path / "a.sub"
    uri = client.open(path, text)
    assert compiled(client, uri, text, 0) == written(path, text)


def test_policies_are_compiled_too(client: Client, tmp_path: Path) -> None:
    """Also from their own lines, where a finding says that they are not."""
    text = f"# crondor: schedule = {SCHEDULE}\n# crondor: start_deadline = 10m\n{JOB}"
    path = tmp_path / "p.sub"
    uri = client.open(path, text)
    assert compiled(client, uri, text, 1) == written(path, text)


def test_a_comment_that_reads_as_a_schedule_becomes_one(client: Client, tmp_path: Path) -> None:
    """Where the description has no schedule line; another comment is left alone."""
    text = f"# The nightly run.\n# {SCHEDULE}\n{JOB}"
    path = tmp_path / "b.sub"
    uri = client.open(path, text)
    assert action_at(client, uri, 0) is None
    assert action_at(client, uri, 2) is None
    assert compiled(client, uri, text, 1) == written(path, text.replace("# every", "# crondor: schedule = every"))


def test_lines_that_no_longer_fit_are_compiled_anew(client: Client, tmp_path: Path) -> None:
    """As the fix of the finding that says so; a refactoring is what it is elsewhere."""
    path = tmp_path / "c.sub"
    text = written(path, f"# crondor: schedule = {SCHEDULE}\n{JOB}").replace("06:00", "07:00")
    uri = client.open(path, text)
    assert "CRN565" in [each["code"] for each in client.diagnostics(uri)]
    action = action_at(client, uri, 0, "quickfix")
    assert action is not None
    assert [each["code"] for each in action["diagnostics"]] == ["CRN565"]
    lines = text.split("\n")
    begin = next(number for number, line in enumerate(lines) if "compiled lines until" in line)
    assert action_at(client, uri, begin + 1, "refactor.rewrite") is not None
    assert action_at(client, uri, begin + 1, "source.fixAll") is None
    assert compiled(client, uri, text, 0) == written(path, text)


@pytest.mark.parametrize(
    ("schedule", "message"), [("every other blue moon", "d.sub:1:"), ("every 90 seconds at 06:00", "d.sub:1:")]
)
def test_what_cannot_be_compiled_is_said(client: Client, schedule: str, message: str) -> None:
    """With the place and what to write."""
    uri = client.open("/nowhere/d.sub", f"# crondor: schedule = {schedule}\n{JOB}")
    action = action_at(client, uri, 0)
    assert action is not None
    command = {name: action["command"][name] for name in ("command", "arguments")}
    assert client.ask("workspace/executeCommand", **command) is False
    said = client.message("window/showMessage")
    assert said["type"] == 1
    assert message in said["message"]


def test_lines_that_fit_stay(client: Client, tmp_path: Path) -> None:
    """And the user hears why nothing happens."""
    path = tmp_path / "e.sub"
    uri = client.open(path, written(path, f"# crondor: schedule = {SCHEDULE}\n{JOB}"))
    action = action_at(client, uri, 0)
    assert action is not None
    command = {name: action["command"][name] for name in ("command", "arguments")}
    assert client.ask("workspace/executeCommand", **command) is False
    assert "nothing was changed" in client.message("window/showMessage")["message"]
