"""The recorded jobs of a real router: an altered one fails."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.examples import some
from tests.golden.judging import differences
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case
from tests.golden.recording import read_recording

RECORDING = Path(__file__).resolve().parents[1] / "golden" / "router" / "jobs.jsonl.gz"
KIND = KINDS["router-timeline"]


def _mutants(line: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield jobs that lived otherwise."""
    for field in line.keys() - {"name", "source"}:
        yield f"without {field}", {key: value for key, value in line.items() if key != field}
    for name in ("JobStatus", "Managed", "ManagedManager", "CompletionDate", "NumJobStarts", "ExitCode", "HoldReason"):
        if name in line["source"] and (
            name[:4] in {"JobS", "Mana"} or any("JobStartDate" in each for each in line["copies"])
        ):
            made = copy.deepcopy(line)
            made["source"][name] = '"other"'
            yield f"source.{name}", made
    for name in ("JobStatus", "RouteName", "RoutedBy", "LeaveJobInQueue"):
        for n in range(len(line["copies"])):
            made = copy.deepcopy(line)
            made["copies"][n][name] = '"other"'
            yield f"copies[{n}].{name}", made
    made = copy.deepcopy(line)
    made["procs"]["0"].insert(1, {**line["procs"]["0"][0], "t": 1.0, "JobStatus": 5})
    yield "held in between", made
    for words, other in (("claimed job", "updated job status"), ("yielded job (done=1)", "yielded job (done=0)")):
        if any(words in each for each in line["router_log"]):
            made = copy.deepcopy(line)
            made["router_log"] = [each.replace(words, other) for each in line["router_log"]]
            yield f"{words} is {other}", made


def test_an_altered_job_fails() -> None:
    """States, attributes, the copy's end, the log: all count."""
    survivors = []
    tried = 0
    for case in read_recording(RECORDING)[3:]:
        assert isinstance(case.value, dict)
        for name, mutant in some([*_mutants(case.value)], 8):
            tried += 1
            if not differences(KIND, Case(case.number, case.id, mutant, case.folder)):
                survivors.append((case.id, name))
    assert tried > 50
    assert survivors == []
