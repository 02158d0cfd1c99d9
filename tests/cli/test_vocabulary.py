"""One word for one thing in the JSON of all commands: a key that another command has a word for is refused."""

import json
import re
from collections.abc import Iterator

import pytest

from crondor_cli.kit.results import results, schema

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
OTHERWISE = {("check", "start"): "an edit's offset in the file's text, beside its end"}
COMMANDS = [name for name in results() if name != "common"]


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


@pytest.mark.parametrize("command", COMMANDS)
def test_a_thing_has_one_word(command: str) -> None:
    """Scripts learn it once."""
    banned = {word: right for right, words in BANNED.items() for word in words}
    found = {key: banned[key] for key in keys(schema(command)) if key in banned}
    assert {key: right for key, right in found.items() if (command, key) not in OTHERWISE} == {}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_key_is_spelled_as_all_are(command: str) -> None:
    """Small letters, words with underscores between them."""
    assert [key for key in keys(schema(command)) if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", key)] == []


def test_the_words_are_used() -> None:
    """A word that no command has any more is none that a synonym could be banned for."""
    used = {key for command in COMMANDS for key in keys(schema(command))}
    assert set(BANNED) - used == set()
    assert "job" in json.dumps(schema("queue-status"))
