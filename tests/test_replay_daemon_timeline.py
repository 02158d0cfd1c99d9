"""The recorded timelines of a pool: every job passes, and an altered one fails."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.golden.judging import differences, judge
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case
from tests.golden.recording import read_recording

RECORDING = Path(__file__).resolve().parent / "golden" / "daemon" / "timeline.jsonl.gz"
KIND = KINDS["daemon-timeline"]


def test_every_recorded_job_passes() -> None:
    """Nothing is accepted."""
    result = judge(KIND, read_recording(RECORDING), {})
    assert [(case.id, found) for case, found in result.failed[:3]] == []
    assert result.passed == 21


def _mutants(line: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield jobs that lived otherwise."""
    for field in line.keys() - {"name"}:
        yield f"without {field}", {key: value for key, value in line.items() if key != field}
    for proc in line["procs"]:
        yield from _other_lives(line, proc)
    for n in range(len(line["final"])):
        made = copy.deepcopy(line)
        made["final"][n]["NumJobStarts"] = "77"
        yield f"final[{n}]", made


def _other_lives(line: dict[str, Any], proc: str) -> Iterator[tuple[str, dict[str, Any]]]:
    seen = line["procs"][proc]
    for n in range(1, len(seen)):
        for name, value in (("DeferralTime", 7), ("JobStatus", 4), ("HoldReasonCode", 99), ("NumJobStarts", 50)):
            made = copy.deepcopy(line)
            for later in made["procs"][proc][n:]:
                later[name] = value
            yield f"{proc}[{n}].{name}", made
    for n in range(2, len(seen)):
        if seen[n].get("DeferralTime") != seen[n - 1].get("DeferralTime") and "gone" not in seen[n]:
            made = copy.deepcopy(line)
            for later in made["procs"][proc][n:]:
                if later.get("DeferralTime") == seen[n]["DeferralTime"]:
                    later["DeferralTime"] += 60
            yield f"{proc}[{n}] a minute later", made


def test_an_altered_job_fails() -> None:
    """States, times, holds and starts all count."""
    survivors = []
    tried = 0
    for case in read_recording(RECORDING)[::3]:
        assert isinstance(case.value, dict)
        for name, mutant in _mutants(case.value):
            tried += 1
            if not differences(KIND, Case(case.number, case.id, mutant, case.folder)):
                survivors.append((case.id, name))
    assert tried > 100
    assert survivors == []
