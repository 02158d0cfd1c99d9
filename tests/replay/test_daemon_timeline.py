"""The recorded timelines of a pool and of a router: an altered job fails."""

import copy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crondor.router.daemon.follow import MIRRORED
from tests.examples import TIMES, some
from tests.golden.judging import differences
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case, Difference
from tests.golden.recording import read_recording

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "daemon"
RECORDING = FOLDER / "timeline.jsonl.gz"
OLDER = FOLDER / "timeline_23.jsonl.gz"
KIND = KINDS["daemon-timeline"]


def _mutants(line: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield jobs that lived otherwise."""
    for field in line.keys() - {"name", "pool"}:
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
    for case in [*some(read_recording(RECORDING), 4), *some(read_recording(OLDER), 4)]:
        assert isinstance(case.value, dict)
        for name, mutant in some([*_mutants(case.value)], 12):
            tried += 1
            if not differences(KIND, Case(case.number, case.id, mutant, case.folder)):
                survivors.append((case.id, name))
    assert tried > 50
    assert survivors == []


_T0 = 1795199640
_SUBMIT = "universe = vanilla\nexecutable = /bin/sleep\narguments = 20\nhold = true\nqueue\n"


def _made(commands: list[tuple[int, str, int]], seen: list[dict[str, Any]]) -> Case:
    """Return a recording of a job that was submitted on hold."""
    held = {"JobStatus": 5, "HoldReasonCode": 15, "NumJobStarts": 0}
    done = [(-4, "condor_submit", 0), *commands]
    line = {
        "universe": "vanilla",
        "schedd_interval": 5,
        "t0": _T0,
        "cluster": 1,
        "submit": _SUBMIT,
        "commands": [{"t": t, "cmd": command, "rc": rc, "stderr": ""} for t, command, rc in done],
        "procs": {"0": [{"t": -3.7, **held}, *seen]},
        "user_log": "",
        "final": [],
    }
    return Case(1, "made", line, Path())


def _lived_otherwise(case: Case) -> list[Difference]:
    """Return the differences in what the looks of a made line have; they have not all that a pool's have."""
    assert isinstance(case.value, dict)
    given = {name for look in case.value["procs"]["0"] for name in look}
    return [each for each in differences(KIND, case) if each.field.rpartition(".")[2] in given]


def test_a_negative_time_can_be_edited_in() -> None:
    """It is no option of condor_qedit."""
    run: dict[str, Any] = {"EnteredCurrentStatus": _T0 + 2, "NumShadowStarts": 1, "DeferralTime": -5}
    seen: list[dict[str, Any]] = [
        {"t": 1.3, "JobStatus": 5, "HoldReasonCode": 15, "NumJobStarts": 0, "DeferralTime": -5},
        {**run, "t": 3, "JobStatus": 2, "NumJobStarts": 0},
        {**run, "t": 4, "JobStatus": 2, "NumJobStarts": 1},
        {**run, "t": 14, "JobStatus": 5, "NumJobStarts": 1, "HoldReasonCode": 20},
        {"t": 60, "gone": True},
    ]
    commands = [
        (1, "condor_qedit <cluster> DeferralTime -5", 0),
        (2, "condor_release <cluster>", 0),
        (60, "condor_rm <cluster>", 0),
    ]
    assert _lived_otherwise(_made(commands, seen)) == []


def test_what_sleeps_is_over_in_time_also_when_it_was_stopped() -> None:
    """It was suspended while it waited: the queue says so five seconds after its start."""
    run: dict[str, Any] = {"EnteredCurrentStatus": _T0 + 2, "NumShadowStarts": 1, "DeferralTime": _T0 + 60}
    seen: list[dict[str, Any]] = [
        {"t": 1.3, "JobStatus": 5, "HoldReasonCode": 15, "NumJobStarts": 0, "DeferralTime": _T0 + 60},
        {**run, "t": 3, "JobStatus": 2, "NumJobStarts": 0},
        {**run, "t": 66, "JobStatus": 7, "NumJobStarts": 1},
        {**run, "t": 90, "JobStatus": 2, "NumJobStarts": 1},
        {"t": 91, "gone": True},
    ]
    commands = [
        (1, f"condor_qedit <cluster> DeferralTime {_T0 + 60}", 0),
        (2, "condor_release <cluster>", 0),
        (30, "condor_suspend <cluster>", 0),
        (35, "condor_continue <cluster>", 1),
        (76, "condor_vacate_job <cluster>", 1),
        (90, "condor_continue <cluster>", 0),
    ]
    assert _lived_otherwise(_made(commands, seen)) == []


ROUTER_JOBS = Path(__file__).resolve().parents[1] / "golden" / "router" / "jobs.jsonl.gz"
JOBS_KIND = KINDS["router-timeline"]


def _other_copies(line: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
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


def test_an_altered_copy_fails() -> None:
    """States, attributes, the copy's end, the log: all count."""
    survivors = []
    tried = 0
    for case in read_recording(ROUTER_JOBS)[3:]:
        assert isinstance(case.value, dict)
        for name, mutant in some([*_other_copies(case.value)], 8):
            tried += 1
            if not differences(JOBS_KIND, Case(case.number, case.id, mutant, case.folder)):
                survivors.append((case.id, name))
    assert tried > 50
    assert survivors == []


ROUTER_STEPS = Path(__file__).resolve().parents[1] / "golden" / "router" / "steps.jsonl.gz"
STEPS_KIND = KINDS["router-steps"]
_ALIKE = set(MIRRORED) - {"CompletionDate", "ExitCode", "MemoryUsage", "RemoteWallClockTime", "ShadowBday"}


def _other_steps(line: dict[str, Any], known: Counter[tuple[str, str]]) -> Iterator[tuple[str, dict[str, Any]]]:
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


def test_an_altered_step_fails() -> None:
    """Each attribute that the router wrote counts."""
    survivors = []
    known: Counter[tuple[str, str]] = Counter()
    tried = 0
    for case in read_recording(ROUTER_STEPS):
        assert isinstance(case.value, dict)
        for name, mutant in _other_steps(case.value, known):
            tried += 1
            if not differences(STEPS_KIND, Case(case.number, case.id, mutant, case.folder)):
                survivors.append((case.id, name))
    assert tried > 150
    assert survivors == []
