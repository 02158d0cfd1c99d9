"""docs/route-match.md: its options, outcomes and JSON keys are those of the program."""

from __future__ import annotations

import re

import pytest

from crondor.router import RouteOutcome
from crondor.router.match.umbrella import Clause
from tests.cli.running import ROOT, crondor
from tests.docs.test_docs import DOCS, bare, tables

TABLES = list(tables(DOCS / "route-match.md"))
ASKED = ("--config", str(ROOT / "examples" / "routes.conf"), str(ROOT / "examples" / "routable.ads"))


def rows(*columns: str) -> list[list[str]]:
    """Return the rows of the tables with these columns."""
    return [row for table in TABLES if tuple(table.columns) == columns for row in table.rows]


@pytest.mark.parametrize("name", ["match", "explain", "apply"])
def test_the_options_are_those_documented(name: str) -> None:
    """Those of the help, and no other."""
    text = crondor("route", name, "-h").out
    listed = set(re.findall(r"^ +(--[a-z-]+)", text.partition("Options:")[2].partition("Examples:")[0], re.MULTILINE))
    documented = rows("option", "commands", "meaning")
    written = {
        option
        for options, commands, _ in documented
        if commands == "all" or f"`{name}`" in commands
        for option in re.findall(r"--[a-z-]+", options)
    }
    assert written == listed - {"--help"}


def test_the_outcomes_are_those_documented() -> None:
    """In their order."""
    assert [bare(name) for name, _ in rows("outcome", "meaning")] == [each.value for each in RouteOutcome]


def test_the_clauses_are_those_documented() -> None:
    """Each by its name in lower case."""
    text = (DOCS / "route-match.md").read_text(encoding="utf-8")
    sentence = text[text.index("`missed` has the clauses") :].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", sentence)) - {"missed", "reason", "clause"} == {
        each.name.lower() for each in Clause
    }


@pytest.mark.parametrize("name", ["match", "explain", "apply"])
def test_the_keys_are_those_documented(name: str) -> None:
    """Each key of real output, and no other."""
    data = crondor("route", name, *ASKED, "--format", "json").data
    found = set(data[0] if name == "apply" else data)
    written = {
        key
        for command, keys, _, _ in rows("command", "key", "type", "meaning")
        if bare(command) == name
        for key in re.findall(r"`(\w+)`", keys)
    }
    assert written == found
