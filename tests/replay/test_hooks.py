"""The recorded hooks and cron jobs: an altered line fails."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.golden.judging import differences
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case
from tests.golden.recording import read_recording

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "hooks"
KIND = KINDS["hooks"]
FILES = ("calls.jsonl.gz", "cron_jobs.jsonl", "cron_ads.jsonl.gz")


def _mutants(line: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield lines that were recorded otherwise."""
    for field in line.keys() - {"env"}:
        yield f"without {field}", {key: value for key, value in line.items() if key != field}
    if "type" in line:
        yield "argv", {**line, "argv": [*line["argv"], "more"]}
        yield "env", {**line, "env": {**line.get("env", {"_CONDOR_JOB_IWD": "/", "_CONDOR_SLOT": ""}), "MORE": "1"}}
    elif "job" in line:
        yield "argv", {**line, "argv": [*line["argv"], "more"]}
        yield "env", {**line, "env": {"MORE": "1"}}
        yield "log", {**line, "log": ["Can't insert 'x' into 'y' ClassAd"]}
        if len(line["starts"]) > 2:
            yield "starts", {**line, "starts": [at * 1.5 for at in line["starts"]]}
    else:
        for name in line["ads"]:
            made = copy.deepcopy(line)
            made["ads"][name]["Sh_More"] = "1"
            yield f"ads.{name}", made


@pytest.mark.parametrize("name", FILES)
def test_an_altered_line_fails(name: str) -> None:
    """No field of a line is without effect."""
    for case in list(read_recording(FOLDER / name))[::4]:
        assert isinstance(case.value, dict)
        for what, line in _mutants(json.loads(json.dumps(case.value))):
            assert differences(KIND, Case(case.number, case.id, line, case.folder)), (case.id, what)


@pytest.mark.parametrize("status", [0, 1])
def test_the_consequences_follow_from_status_and_output(status: int) -> None:
    """A TRANSLATE_JOB with another exit status does not end as recorded."""
    found = 0
    for case in read_recording(FOLDER / "calls.jsonl.gz"):
        line: Any = case.value
        if line["type"] == "TRANSLATE_JOB" and (line["rc"], line["keyword"]) == (status, "RB" if status else "RA"):
            assert differences(KIND, Case(case.number, case.id, {**line, "rc": 1 - status}, case.folder)), case.id
            found += 1
    assert found
