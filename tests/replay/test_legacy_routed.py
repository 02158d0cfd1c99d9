"""What HTCondor 23.9.6 makes of jobs with routes written as ClassAds: every line passes, an altered one fails."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.examples import some
from tests.golden.judging import differences, judge
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case
from tests.golden.recording import read_accepted, read_recording

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "legacy_routes"
KIND = KINDS["legacy-routed"]


def _cases() -> list[Case]:
    return read_recording(FOLDER / "routed.jsonl.gz")


def test_every_recorded_line_passes() -> None:
    """One is accepted with a difference in the umbrella constraint."""
    result = judge(KIND, _cases(), read_accepted(FOLDER / "accepted_routed.txt"))
    assert [(case.value, found) for case, found in result.failed[:3]] == []
    assert (result.passed, len(result.accepted)) == (25, 1)


def _mutants(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {**line, "expectation": 1}
    yield {**line, "jobs": "none"}
    yield {**line, "umbrella": None}
    yield {**line, "rc": {**line["rc"], "match": 1}}
    yield {**line, "matches": line["matches"][:-1]}
    yield {**line, "routed": line["routed"][:-1]}
    for field in ("config", "jobs", "table", "umbrella", "matches", "routed", "rc", "stderr"):
        yield {name: value for name, value in line.items() if name != field}
        yield {**line, field: 7.5}
    for field in ("Name", "Universe", "MaxJobs", "MaxIdleJobs", "GridResource", "Requirements"):
        altered = copy.deepcopy(line)
        altered["table"][0][field] += "1"
        yield altered
    for name in line["routed"][0]["ad"] or ():
        altered = copy.deepcopy(line)
        altered["routed"][0]["ad"][name] = "7.25"
        yield altered


def test_an_altered_line_fails() -> None:
    """Every recorded field counts."""
    survivors = []
    for case in some(_cases(), 3):
        line = case.value
        assert isinstance(line, dict)
        mutants = (Case(case.number, case.id, mutant, case.folder) for mutant in _mutants(line))
        survivors += [mutant.value for mutant in mutants if not differences(KIND, mutant)]
    assert survivors == []
