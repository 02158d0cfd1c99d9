"""`crondor route run --live` with the bindings' stand-in: what reaches the schedd, what is said where it refuses."""

import json
from pathlib import Path

import pytest

from crondor.classad import Expression
from crondor.classad.ad import ClassAd
from tests.cli.running import Result, crondor
from tests.schedd.conftest import StandIn

CONFIG = """JOB_ROUTER_ROUTE_NAMES = Site1
JOB_ROUTER_ROUTE_Site1 @=end
  REQUIREMENTS WantJobRouter
  UNIVERSE vanilla
@end
"""
REFUSED = (
    "Failed to connect to schedd, errmsg=AUTHENTICATE:1003:Failed to authenticate with any method"
    "|AUTHENTICATE:1004:Failed to authenticate using FS|FS:1004:Directory name doesn't match server's network address."
)
SOURCE: dict[str, object] = {
    "Owner": "crondor-alice", "User": "crondor-alice@example.org", "JobStatus": 1, "JobUniverse": 5,
    "WantJobRouter": True,
    "Cmd": "/bin/echo", "Args": 'one "two" $(HOME)', "Env": "A=1;B=C:\\dir", "Note": "$ENV(HOME) $$(OpSys)",
}  # fmt: skip


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """A schedd of the stand-in, and a configuration with one route."""
    monkeypatch.chdir(tmp_path)
    made = StandIn(tmp_path / "stand_in.json")
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "routes.conf").write_text(f"LOCK = {tmp_path}\n{CONFIG}")
    return made


def run(*arguments: str) -> Result:
    """Make one poll."""
    return crondor("route", "run", "--config", "routes.conf", "--live", "--once", *arguments)


def test_a_copy_has_what_the_routed_ad_has(stand_in: StandIn) -> None:
    """Attribute for attribute, in one transaction; no daemon finds Arguments or Environment beside Args and Env."""
    source = stand_in.add(ClassAd({**SOURCE, "Requirements": Expression("TARGET.Memory > 5")}))
    assert run().status == 0
    state = stand_in.read()
    (copy,) = (ad for key, ad in state["jobs"].items() if key != str(source))
    for name, text in state["jobs"][str(source)].items():
        if name not in {"ClusterId", "ProcId", "Managed", "ManagedManager", "WantJobRouter"}:
            assert copy[name] == text, name
    assert (copy["Arguments"], copy["Environment"]) == ("undefined", "undefined")
    assert json.loads(copy["RoutedFromJobId"]) == str(source)
    assert state["calls"].count("submit") == 1


def test_a_schedd_that_takes_no_writing_is_a_finding(stand_in: StandIn) -> None:
    """Status 1; the reason and what to set are said once, and one job was tried, not all of them."""
    for _ in range(20):
        stand_in.add(ClassAd(SOURCE))
    stand_in.fail(*[("edit", REFUSED)] * 20)
    found = run()
    assert found.status == 1
    (line,) = (line for line in found.lines if "claimed" in line)
    assert "authentication (FS) failed: Directory name doesn't match server's network address" in line
    assert "SEC_FS_ENFORCE_CHANNEL_BINDING = false" in line
    assert stand_in.read()["calls"].count("edit") == 1


def test_a_schedd_that_refuses_every_job_is_a_finding(stand_in: StandIn) -> None:
    """Status 1; one that refuses some is none."""
    for _ in range(3):
        stand_in.add(ClassAd(SOURCE))
    stand_in.fail(*[("edit", "Unable to edit jobs matching constraint")] * 4)  # all together, then one by one
    found = run()
    assert found.status == 1
    (one,) = (line for line in found.lines if "could not be claimed" in line)
    assert "the request to the schedd failed" in one
    assert "QUEUE_SUPER_USERS" in one
    assert one.endswith("; the same for 2 more")
    stand_in.fail(*[("edit", "Unable to edit jobs matching constraint")] * 2)
    assert run().status == 0


def test_missing_user_logs_are_said_at_the_start(stand_in: StandIn, tmp_path: Path) -> None:
    """Beside a pool people look for them; a folder that is not there is wrong usage."""
    stand_in.add(ClassAd(SOURCE))
    assert "note: the user logs of the jobs are not written" in run().err
    assert run("--user-logs", str(tmp_path)).err == ""
    assert "not written" not in run("--dry-run").err
    wrong = run("--user-logs", str(tmp_path / "none"))
    assert (wrong.status, "there is no folder" in wrong.err) == (2, True)


def _log_of(stand_in: StandIn, path: Path) -> None:
    """Write the stand-in's queue as its schedd's log."""
    lines = ["107 1 CreationTimestamp 1795195625"]
    for key, ad in stand_in.read()["jobs"].items():
        lines += [f"101 {key} Job Machine", *(f"103 {key} {name} {text}" for name, text in ad.items())]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


@pytest.mark.parametrize("is_option", [True, False])
def test_the_log_is_followed(stand_in: StandIn, tmp_path: Path, is_option: bool) -> None:
    """The queue is read from the log that an option or the configuration names; the schedd is asked to write only."""
    source = stand_in.add(ClassAd(SOURCE))
    log = tmp_path / "job_queue.log"
    _log_of(stand_in, log)
    if not is_option:
        (tmp_path / "routes.conf").write_text(f"LOCK = {tmp_path}\nJOB_ROUTER_SCHEDD1_SPOOL = {tmp_path}\n{CONFIG}")
        (tmp_path / ".schedd_address").write_text("<127.0.0.1:9618>\n$CondorVersion: 25.14.0 $\n")
    assert run(*(["--log", str(log)] if is_option else [])).status == 0
    state = stand_in.read()
    assert state["calls"].count("submit") == 1
    assert state["calls"].count("query") <= 3  # whose log it is, and by number the jobs that are taken
    assert json.loads(state["jobs"][str(source)]["Managed"]) == "External"


def test_a_log_that_cannot_be_read(stand_in: StandIn, tmp_path: Path) -> None:
    """With --log it is an error; where the configuration names it, a note says so, and the schedd is asked."""
    stand_in.add(ClassAd(SOURCE))
    found = run("--log", str(tmp_path / "none.log"))
    assert (found.status, "none.log" in found.err) == (1, True)
    assert "submit" not in stand_in.read()["calls"]
    knob = f"JOB_ROUTER_SCHEDD1_JOB_QUEUE_LOG = {tmp_path}/none.log\n"
    (tmp_path / "routes.conf").write_text(f"LOCK = {tmp_path}\n{knob}{CONFIG}")
    found = run()
    assert "the schedd is queried at each poll instead" in found.err
    assert stand_in.read()["calls"].count("submit") == 1


def test_only_jobs_that_matter_are_asked_for(stand_in: StandIn) -> None:
    """Jobs that no route takes are not sent at all."""
    for number in range(3):
        stand_in.add(ClassAd({**SOURCE, "WantJobRouter": number == 0}))
    assert run().status == 0
    assert stand_in.read()["calls"].count("submit") == 1
