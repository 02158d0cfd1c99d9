"""The ClassAd recordings: an altered line fails."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden.judging import differences
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case
from tests.golden.recording import read_recording

RECORDINGS = Path(__file__).resolve().parents[1] / "golden" / "classad"
PROSE = frozenset({"note", "upstream_defect"})


def _cases(kind: str) -> list[Case]:
    return read_recording(RECORDINGS / f"{kind}.jsonl.gz")


def _altered(value: object) -> list[object]:
    if isinstance(value, bool):
        return [not value, None, "x"]
    if isinstance(value, str):
        return [value + "x", None, 5]
    if isinstance(value, list):
        return [[*value, "x"], None]
    return [7.5, "x"]


def _mutants(line: dict[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    given = {"expr", "my", "target", "ad", "job", "machine"}
    for field in line.keys() - PROSE - given:
        for value in _altered(line[field]):
            yield field, {**line, field: value}
    value = line.get("value")
    if isinstance(value, dict):
        for field in value:
            for other in _altered(value[field]):
                yield f"value.{field}", {**line, "value": {**value, field: other}}
    for field in line.keys() - PROSE:
        yield field, {name: line[name] for name in line if name != field}
        yield field, {**line, field: 7.5}
    yield "expectation", {**line, "expectation": 1}


@pytest.mark.parametrize("kind", ["parse", "eval", "match", "refs"])
def test_an_altered_line_fails(kind: str) -> None:
    """Every recorded field counts, and none may be missing, unknown or of another type."""
    survivors = []
    for case in _cases(kind)[::23]:
        line = case.value
        assert isinstance(line, dict)
        if "upstream_defect" in line:
            continue
        for field, mutant in _mutants(line):
            absent = field not in mutant and field in ("compact", "old")  # then it is the same as the one before
            changed = case.__class__(case.number, case.id, mutant, case.folder)
            if not absent and not differences(KINDS[f"classad-{kind}"], changed):
                survivors.append((field, mutant))
    assert survivors == []
