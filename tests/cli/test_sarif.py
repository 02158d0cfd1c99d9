"""SARIF 2.1.0: what the standard and code scanning require of a log, written down here in short."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from crondor.lint import RULES, address
from tests.cli.conftest import Write
from tests.cli.running import at_now

LOG = json.loads(Path(__file__).with_name("sarif.schema.json").read_text(encoding="utf-8"))

FAULTY = (
    "executable = x",
    "cron_minutes = 0",
    "cron_minute = 60",
    "cron_day_of_week = MON",
    "deferral_time = (",
    "arguments = 'ä \u202e' $(nope",
    "+CronHour = 5",
    "queue 2",
    "cron_hour = 6",
)


def sarif(*arguments: str) -> dict[str, Any]:
    """Return a log that the schema takes."""
    log: dict[str, Any] = at_now("check", "--no-config", "--format", "sarif", *arguments).data
    jsonschema.Draft202012Validator.check_schema(LOG)
    jsonschema.Draft202012Validator(LOG).validate(log)
    return log


def regions(value: object) -> Iterator[dict[str, int]]:
    """Yield all regions of a log."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in {"region", "deletedRegion"}:
                yield inner
            yield from regions(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from regions(inner)


def test_a_log_is_what_the_standard_says(write: Write) -> None:
    """With names that need escapes, and text of many kinds; the rules are those of the results, and no others."""
    paths = [write(*FAULTY, name=name) for name in ("a b.sub", "c%d.sub", "ä.sub")]
    (run,) = sarif(*paths)["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert {result["ruleId"] for result in run["results"]} == set(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert unquote(uri.removeprefix("file://")) in paths
    lines = Path(paths[0]).read_text(encoding="utf-8").split("\n")
    for region in regions(run["results"]):
        assert (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"])
        assert region["endLine"] <= len(lines)
        assert region["endColumn"] <= len(lines[region["endLine"] - 1]) + 1
    assert run["invocations"] == [{"executionSuccessful": True}]


def test_what_could_not_be_read_is_in_the_log(write: Write) -> None:
    """The others are checked."""
    (run,) = sarif(write(*FAULTY), "none.sub")["runs"]
    (invocation,) = run["invocations"]
    assert not invocation["executionSuccessful"]
    assert "none.sub" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    assert run["results"]


def test_fingerprints_stay_when_lines_move(write: Write) -> None:
    """And no two findings have the same."""
    fingerprints = []
    for lines in (FAULTY, ("# moved", "", *FAULTY)):
        results = sarif(write(*lines))["runs"][0]["results"]
        fingerprints.append(sorted(result["partialFingerprints"]["crondor/v1"] for result in results))
        assert len(set(fingerprints[-1])) == len(results)
    assert fingerprints[0] == fingerprints[1]


@pytest.mark.parametrize("code", RULES)
def test_each_rule_has_an_address(code: str) -> None:
    """An absolute one that ends with its code; it names no host that nobody keeps."""
    assert re.fullmatch(rf"(https://\S+/|urn:crondor:rule:){code}", address(code))


def test_addresses_follow_the_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line of pyproject.toml gives them a place."""
    from email.message import Message  # noqa: PLC0415 - of this test alone

    found = Message()
    found["Project-URL"] = "Source, https://example.org/git"
    found["Project-URL"] = "Rules, https://example.org/rules/"
    monkeypatch.setattr("importlib.metadata.metadata", lambda _: found)
    assert address("CRN101") == "https://example.org/rules/CRN101"
