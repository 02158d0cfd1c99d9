"""`crondor queue submit|hold|release|rm|edit --live`: the same words, and a schedd after them."""

import os
import select
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from tests.cli.running import PROGRAM, SLOWEST, Result, crondor, environment
from tests.schedd.conftest import StandIn

NIGHTLY = "executable = /bin/true\ncron_hour = 3\narguments = $(Process)\nqueue 2\n"


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    """A stand-in's queue of two jobs, the second one held."""
    made = StandIn(tmp_path / "stand_in.json")
    made.add(ClassAd({"Owner": "alice", "JobStatus": 1, "CronHour": "3"}))
    made.add(ClassAd({"Owner": "bob", "JobStatus": 5, "CronHour": "4"}))
    return made


def schedd(stand_in: StandIn, *words: str) -> Result:
    """Run a command on the live schedd."""
    return crondor("queue", *words, env=stand_in.environment)


def test_a_job_is_held_released_and_removed(stand_in: StandIn) -> None:
    """And one that is not there is said."""
    result = schedd(stand_in, "hold", "--live", "1.0", "9.0", "--reason", "not tonight")
    assert (result.status, result.out) == (1, "1 job held\n")
    assert "there is no job 9.0 in the queue" in result.err
    assert stand_in.read()["jobs"]["1.0"]["HoldReason"] == '"not tonight (by user alice)"'
    assert schedd(stand_in, "release", "--live", "bob").out == "1 job released\n"
    result = schedd(stand_in, "release", "--live", "2")
    assert "1 job not held" in result.err
    data = schedd(stand_in, "rm", "--live", "1.0", "2.0", "--format", "json").data
    assert (data["done"], data["denied"]) == (2, 0)
    assert stand_in.read()["jobs"] == {}


def test_jobs_are_edited_under_a_condition(stand_in: StandIn) -> None:
    """One by one."""
    words = ("edit", "--live", "1", "2", "--if", "JobStatus == 1", "--set", 'CronHour="5"', "--format", "json")
    data = schedd(stand_in, *words).data
    assert (data["edited"], data["unchanged"]) == (["1.0"], ["2.0"])
    assert {key: ad["CronHour"] for key, ad in stand_in.read()["jobs"].items()} == {"1.0": '"5"', "2.0": '"4"'}


def test_a_submit_file_is_submitted_a_cluster_a_job(stand_in: StandIn, tmp_path: Path) -> None:
    """The schedd says whose they are."""
    path = tmp_path / "nightly.sub"
    path.write_text(NIGHTLY, "utf-8")
    result = schedd(stand_in, "submit", "--live", str(path))
    assert (result.status, result.out) == (0, "2 jobs submitted to clusters 3 to 4\n")
    made = stand_in.read()["jobs"]
    assert [(made[key]["Args"], made[key]["CronHour"]) for key in ("3.0", "4.0")] == [('"0"', '"3"'), ('"1"', '"3"')]
    assert made["3.0"]["Owner"] == '"alice"'


def test_a_cluster_that_is_not_known_is_refused(stand_in: StandIn, tmp_path: Path) -> None:
    """Before any job is submitted."""
    path = tmp_path / "nightly.sub"
    path.write_text(NIGHTLY.replace("queue", "output = out.$(Cluster)\nqueue"), "utf-8")
    result = schedd(stand_in, "submit", "--live", str(path))
    assert result.status == 1
    assert "Out contains the cluster number" in result.err
    assert len(stand_in.read()["jobs"]) == 2


def test_two_queues_are_one_too_many(stand_in: StandIn) -> None:
    """As everywhere."""
    result = schedd(stand_in, "hold", "--live", "--queue", "q", "1.0")
    assert result.status == 2
    assert "exclude each other: choose one" in result.err


def test_what_was_submitted_before_an_error_is_said(stand_in: StandIn, tmp_path: Path) -> None:
    """Whoever submits again submits it twice."""
    path = tmp_path / "nightly.sub"
    path.write_text(NIGHTLY, "utf-8")
    stand_in.fail(("submit", ""), ("submit", "no more jobs"))
    result = schedd(stand_in, "submit", "--live", str(path))
    assert (result.status, result.out) == (1, "")
    assert "no more jobs" in result.err
    assert "warning: before that 1 job submitted to cluster 3" in result.err
    stand_in.fail(("submit", "no more jobs"))
    assert "before that" not in schedd(stand_in, "submit", "--live", str(path)).err


def test_what_was_edited_before_an_error_is_said(stand_in: StandIn) -> None:
    """The jobs that were done, and the attributes of the one that was not."""
    words = ("edit", "--live", "1", "2", "--set", "JobPrio=5", "--set", "NiceUser=true")
    stand_in.fail(*[("edit", "")] * 3, ("edit", "permission denied"))
    result = schedd(stand_in, *words)
    assert result.status == 1
    assert "warning: before that 1 job edited (1.0); JobPrio of job 2.0 set" in result.err
    stand_in.fail(("edit", "permission denied"))
    assert "before that" not in schedd(stand_in, *words).err


def ctrl_c(stand_in: StandIn, doing: str, calls: int, *words: str) -> tuple[int, str]:
    """Type Ctrl-C while the schedd is busy with one of its calls; return the status, and what was said."""
    stand_in.write({**stand_in.read(), "calls": []})
    stand_in.fail(*[(doing, "")] * (calls - 1), (doing, "hang"))
    given = stand_in.environment
    given["PYTHONPATH"] = os.pathsep.join((environment()["PYTHONPATH"], given["PYTHONPATH"]))
    command = subprocess.Popen(
        [*PROGRAM, "queue", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**given),
        start_new_session=True,
    )
    for _ in range(1000):
        with suppress(ValueError):  # it is just being written
            if stand_in.read()["calls"].count(doing) >= calls or command.poll() is not None:
                break
        select.select([], [], [], 0.05)
    os.killpg(command.pid, signal.SIGINT)
    _, said = command.communicate(timeout=SLOWEST)
    return command.returncode, said


def test_what_was_submitted_before_ctrl_c_is_said(stand_in: StandIn, tmp_path: Path) -> None:
    """And that nobody knows of the one that was on its way."""
    path = tmp_path / "nightly.sub"
    path.write_text(NIGHTLY, "utf-8")
    status, said = ctrl_c(stand_in, "submit", 2, "submit", "--live", str(path))
    assert status == 130
    assert said.splitlines() == [
        "warning: interrupted: 1 job submitted to cluster 3; one more job may have been submitted [schedd-halfway]",
        "    = help: earlier changes remain: check with condor_q",
    ]
    status, said = ctrl_c(stand_in, "submit", 1, "submit", "--live", str(path))
    assert "interrupted: nothing done before; one more job may have been submitted" in said


def test_what_was_edited_before_ctrl_c_is_said(stand_in: StandIn) -> None:
    """Job by job, and of one attribute by attribute."""
    words = ("edit", "--live", "1", "2", "--set", "JobPrio=5", "--set", "NiceUser=true")
    status, said = ctrl_c(stand_in, "edit", 4, *words)
    assert status == 130
    assert "interrupted: 1 job edited (1.0); job 2.0 may have been edited in part [schedd-halfway]" in said
