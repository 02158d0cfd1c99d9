"""`crondor plan` and `crondor apply --live`, by a stand-in for the bindings."""

from pathlib import Path

import pytest

from crondor.desired.marks import DIGEST, SUBMITTING
from tests.cli.running import NOW, Result, crondor
from tests.desired.conftest import Desk
from tests.schedd.conftest import StandIn


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    """Return an empty queue."""
    return StandIn(tmp_path / "stand_in.json")


def run(desk: Desk, stand_in: StandIn, command: str, *arguments: str) -> Result:
    """Run plan or apply on the live schedd."""
    words = (command, str(desk.folder), "--live", "--now", NOW, *arguments)
    return crondor(*words, env=stand_in.environment)


def test_a_folder_on_a_live_schedd(desk: Desk, stand_in: StandIn) -> None:
    """Submit, edit, replace for another schedule, drift, prune; each job is released at the end."""
    desk.write("a.sub", "cron_hour = 3")
    desk.write("b.sub", "hold = true")
    assert run(desk, stand_in, "apply").lines[-1] == "Done: 2 submitted; 0 unchanged"
    jobs = stand_in.read()["jobs"]
    assert [jobs[key]["JobStatus"] for key in ("1.0", "2.0")] == ["1", "5"]
    assert run(desk, stand_in, "plan").status == 0

    desk.write("a.sub", "cron_hour = 3", "arguments = x")
    desk.write("b.sub", "cron_hour = 4")
    plan = run(desk, stand_in, "plan")
    assert plan.lines[-1] == "Plan: 1 to edit, 1 to replace; 0 unchanged"
    assert run(desk, stand_in, "apply").status == 0
    jobs = stand_in.read()["jobs"]
    assert (sorted(jobs), jobs["1.0"]["Args"], jobs["3.0"]["JobStatus"]) == (["1.0", "3.0"], '"x"', "1")

    crondor("queue", "edit", "1.0", "--live", "--set", "JobPrio=5", env=stand_in.environment)
    drift = run(desk, stand_in, "plan", "--fail-on", "drift")
    assert (drift.status, "5 -> 0   (edited by hand)" in drift.out) == (1, True)
    (desk.folder / "b.sub").unlink()
    assert run(desk, stand_in, "apply", "--prune", "1").lines[-1] == "Done: 1 edited, 1 removed; 0 unchanged"
    assert run(desk, stand_in, "plan").status == 0


def test_an_edit_that_was_cut_off_is_finished(desk: Desk, stand_in: StandIn) -> None:
    """The digest says that it was not finished, so it is no drift."""
    desk.write("a.sub")
    run(desk, stand_in, "apply")
    desk.write("a.sub", "arguments = x", "priority = 2")
    stand_in.fail(("edit", ""), ("edit", ""), ("edit", "exit"))
    assert run(desk, stand_in, "apply").status == 2
    assert stand_in.read()["jobs"]["1.0"][DIGEST].startswith('"unfinished ')
    assert run(desk, stand_in, "plan", "--fail-on", "drift").status == 0
    assert run(desk, stand_in, "apply").lines[-1] == "Done: 1 edited; 0 unchanged"
    assert run(desk, stand_in, "plan").status == 0


def test_what_a_schedd_refuses_does_not_stop_the_others(desk: Desk, stand_in: StandIn) -> None:
    """It is reported at its file, and the status is 1."""
    desk.write("a.sub")
    desk.write("b.sub")
    stand_in.fail(("submit", "Unable to commit transaction, SCHEDD:2:No."))
    result = run(desk, stand_in, "apply")
    assert (result.status, result.lines[-1]) == (1, "Done: 1 submitted, 1 not done; 0 unchanged")
    assert "a.sub is not done" in result.err
    assert SUBMITTING not in str(stand_in.read())
