"""The recorded conversions of ClassAd routes: every line passes, an altered one fails."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.examples import some
from tests.golden.judging import differences, judge
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case
from tests.golden.recording import read_recording

RECORDINGS = Path(__file__).resolve().parents[1] / "golden" / "legacy_routes"
KIND = KINDS["legacy-routes"]


def _cases() -> list[Case]:
    return read_recording(RECORDINGS / "conversions.jsonl.gz")


def test_every_recorded_line_passes() -> None:
    """None is accepted with a difference."""
    result = judge(KIND, _cases(), {})
    assert [(case.value, found) for case, found in result.failed[:3]] == []
    assert result.passed == 120


def _mutants(line: dict[str, object]) -> Iterator[dict[str, object]]:
    yield {**line, "rc": 1}
    yield {**line, "expectation": 1}
    yield {**line, "stderr": "Failed to open"}
    yield {**line, "mode": "file" if line["mode"] == "config" else "config"}
    for field in ("mode", "text", "rc", "out", "stderr"):
        yield {name: value for name, value in line.items() if name != field}
        yield {**line, field: 7.5}
    out = line["out"]
    assert isinstance(out, str)
    yield {**line, "out": out.replace("NAME ", "NAME X", 1) if "NAME " in out else f"{out}x"}
    for found in re.finditer(r"(?m)^ *(SET|EVALSET|DELETE|COPY|REQUIREMENTS) .*$", out):
        yield {**line, "out": out[: found.start()] + out[found.end() + 1 :]}
        yield {**line, "out": f"{out[: found.end()]} x{out[found.end() :]}"}


def test_an_altered_line_fails() -> None:
    """Every recorded field counts, and every command of every route."""
    survivors = []
    for case in some(_cases(), 5):
        line = case.value
        assert isinstance(line, dict)
        if "autoconversion" not in str(line["out"]):
            continue
        mutants = (case.__class__(case.number, case.id, mutant, case.folder) for mutant in _mutants(line))
        survivors += [mutant.value for mutant in mutants if not differences(KIND, mutant)]
    assert survivors == []
