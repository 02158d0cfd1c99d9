"""docs/cli.md on `crondor schedd`: its options and JSON keys are those of real output."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from crondor_cli.schedd.group import COMMANDS
from tests.cli.running import crondor
from tests.docs.test_docs import DOCS, JSON_TYPES, bare, tables, walk

TABLES = list(tables(DOCS / "cli.md"))
NOW = ("--now", "2026-11-20 12:00")
ACTIONS = ("hold", "release", "rm")

FILES = {
    "report.sub": "executable = /bin/date\ncron_minute = 0\ncron_hour = 1-10/3\nqueue\n",
    "held.sub": "executable = /bin/date\ncron_minute = 61\nqueue\n",
    "once.sub": "executable = /bin/date\ndeferral_time = 1\ncron_minutes = 5\nqueue\n",
    "ads": 'ClusterId = 9\nProcId = 0\nCronMinute = "0"\nJobStatus = 5\n\nCronMinute = "0"\n\nCronMinute = ((\n\n'
    'ClusterId = 8\nProcId = 0\nCronMinute = "0"\nJobStatus = 1\n',
}
# Each line is a command; its output is looked at as JSON.
SESSION = (
    "status",
    "submit report.sub",
    "submit held.sub",
    "submit once.sub",
    "recalc --dialect htcondor",
    "recalc --dialect htcondor --apply",
    "guard --once",
    "edit 2.0 --set JobStatus=1 --set DeferralTime=5",
    "edit 1.0 9.0 --set A=1 --if JobStatus==7",
    "guard --once --apply",
    "edit 1.0 --set DeferralTime='\"x\"'",
    "guard --once",
    "status",
    "status 7.7",
    "status --ads ads",
    "recalc --ads ads",
    "next",
    "next 7.7",
    "next --ads ads",
    "recalc 2.0 7.7",
    "hold 1.0 7.7",
    "hold 1.0",
    "release 1.0 7.7",
    "rm 1.0 7.7",
    "history",
)


@pytest.mark.parametrize("name", COMMANDS)
def test_options_are_documented(name: str) -> None:
    """The options whose row names a subcommand are those that its help lists."""
    help_ = crondor("schedd", name, "-h").out.partition("Options:")[2].partition("Examples:")[0]
    (found,) = (t for t in TABLES if t.heading == "Options of crondor schedd")
    rows = [row for row in found.rows if name in re.findall(r"\w+", row[1])]
    written = {option for row in rows for option in re.findall(r"--[a-z-]+", row[0])}
    assert written == set(re.findall(r"--[a-z-]+", help_)) - {"--help"}


def test_every_subcommand_is_in_the_table() -> None:
    """With what it does."""
    (found,) = (t for t in TABLES if t.heading == "crondor schedd" and t.columns[0] == "command")
    text = " ".join(row[0] for row in found.rows)
    assert all(re.search(rf"\b{name}\b", text) for name in COMMANDS)


def documented() -> dict[tuple[str, str], dict[str, list[str]]]:
    """Return the rows of the JSON tables by subcommand and path; those of diagnostics belong to all."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for table in TABLES:
        head = re.match(r"schedd(?: (\w+))?: `([^`]*)`", table.heading)
        if head and table.columns[0] == "key":
            path = "" if head[2] == "{}" else head[2]
            found[head[1] or "", path] = {bare(row[0]): row for row in table.rows}
    return found


def place_of(name: str, path: str) -> tuple[str, str]:
    """Return where an object is documented."""
    if path.endswith(("diagnostics[]", "trouble[]")) and (name, path) != ("guard", "trouble[]"):
        return "", "diagnostics[]"
    return ("act" if name in ACTIONS else name), path


def test_json_keys_are_those_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key of real output is documented with its types, and each documented key occurs with all of them."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    (tmp_path / "queue").mkdir()
    odd = 'A = 1\n*** Offset = 0 ClusterId = -1 ProcId = -1 Owner = "?" CompletionDate = -1 CurrentTime = 0\n'
    (tmp_path / "queue" / "history").write_text(odd, encoding="utf-8")
    keys = documented()
    seen: dict[tuple[tuple[str, str], str], set[str]] = {}
    for line in SESSION:
        name, *given = shlex.split(line)
        env = {"CRONDOR_QUEUE": str(tmp_path / "queue")}
        result = crondor("schedd", name, *NOW, *given, "--format", "json", env=env)
        assert result.out, (line, result.err)
        for path, pairs in walk(result.data):
            place = place_of(name, path)
            assert set(dict(pairs)) == set(keys[place]), (line, path)
            for key, inner in pairs:
                kind = next(k for k, t in JSON_TYPES.items() if type(inner) is t)
                seen.setdefault((place, key), set()).add(kind)
    written = {(place, key): set(row[1].split(" or ")) for place, rows in keys.items() for key, row in rows.items()}
    assert seen == written
