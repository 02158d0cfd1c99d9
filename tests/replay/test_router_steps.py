"""What a real router wrote, step by step: an altered job fails."""

import copy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crondor.router.daemon.follow import MIRRORED
from tests.examples import TIMES
from tests.golden.judging import differences
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case
from tests.golden.recording import read_recording

RECORDING = Path(__file__).resolve().parents[1] / "golden" / "router" / "steps.jsonl.gz"
KIND = KINDS["router-steps"]
_ALIKE = set(MIRRORED) - {"CompletionDate", "ExitCode", "MemoryUsage", "RemoteWallClockTime", "ShadowBday"}


def _mutants(line: dict[str, Any], known: Counter[tuple[str, str]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield jobs of which the router wrote something else, each attribute TIMES, or which had another end."""
    for number, step in enumerate(line["steps"]):
        if step.get("by") == "router":
            for name in sorted(step["set"].keys() - _ALIKE):
                known[step["job"], name] += 1
                if known[step["job"], name] > TIMES:
                    continue
                made = copy.deepcopy(line)
                for later in made["steps"][number:]:  # what is written again in one group is compared once
                    if later.get("by") != "router":
                        break
                    if later["job"] == step["job"] and name in later["set"]:
                        later["set"][name] = '"other"'
                yield f"{number} {name}", made
    for field in ("job", "copies", "steps"):
        yield f"without {field}", {key: value for key, value in line.items() if key != field}
    claimed = [n for n, step in enumerate(line["steps"]) if step.get("set", {}).get("Managed") == '"External"']
    for number in claimed:
        made = copy.deepcopy(line)
        after = next(n for n, step in enumerate(made["steps"]) if n > number and step.get("by") != "router")
        made["steps"].insert(after, {"job": "source", "gone": True})
        yield f"{after} gone", made


def test_an_altered_job_fails() -> None:
    """Each attribute that the router wrote counts."""
    survivors = []
    known: Counter[tuple[str, str]] = Counter()
    tried = 0
    for case in read_recording(RECORDING):
        assert isinstance(case.value, dict)
        for name, mutant in _mutants(case.value, known):
            tried += 1
            if not differences(KIND, Case(case.number, case.id, mutant, case.folder)):
                survivors.append((case.id, name))
    assert tried > 150
    assert survivors == []
