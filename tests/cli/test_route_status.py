"""`crondor route status`: a queue without a router, one with a router that runs, two queues, the collector's ad."""

import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.running import NOW, NOW_EPOCH, PROGRAM, SLOWEST, Result, crondor, environment

CONFIG = """JOB_ROUTER_ROUTE_NAMES = Site1 Site2
JOB_ROUTER_POLLING_PERIOD = 1
FULL_HOSTNAME = submit.example.org
JOB_ROUTER_ATTRS = Contact, Broken
Contact = "admin@example.org"
Broken = 1 +
JOB_ROUTER_ROUTE_Site1 @=end
  REQUIREMENTS WantJobRouter
  UNIVERSE vanilla
  MaxIdleJobs = 2
@end
JOB_ROUTER_ROUTE_Site2 @=end
  REQUIREMENTS WantSite2
  UNIVERSE vanilla
  MaxJobs = 0
@end
"""
JOB = "executable = /bin/true\n+WantJobRouter = true\nqueue 5\n+WantJobRouter = false\nqueue\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a configuration, and a queue of six jobs of which two are routed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "routes.conf").write_text(CONFIG)
    (tmp_path / "job.sub").write_text(JOB)
    assert crondor("queue", "submit", "job.sub", "--queue", "queue", "--now", NOW).status == 0
    assert crondor("route", "run", "--config", "routes.conf", "--queue", "queue", "--now", NOW, "--once").status == 0
    return tmp_path


def status(*arguments: str) -> Result:
    """Ask how the router of the folder's queue stands."""
    return crondor("route", "status", "--config", "routes.conf", "--now", NOW, *arguments)


@pytest.mark.usefixtures("folder")
def test_a_queue_without_a_router() -> None:
    """What is in the queue is counted; what only a process knows is said to be unknown."""
    found = status("--queue", "queue")
    assert (found.status, found.err) == (0, "")
    assert "throttles are unknown" in found.lines[0]
    assert [line.split()[:6] for line in found.lines[2:5]] == [
        ["route", "jobs", "idle", "throttle", "failed", "succeeded"],
        ["Site1", "2/100", "2/2", "-", "-", "-"],
        ["Site2", "0/0", "0/50", "-", "-", "-"],
    ]
    assert found.lines[-3:] == ["not routed now: 4 jobs", "        1  no match", "        3  idle limit (Site1)"]
    assert status("--log", "queue/job_queue.log").lines[-3:] == found.lines[-3:]


@pytest.mark.usefixtures("folder")
def test_one_job() -> None:
    """Its reason with figures, and each route's."""
    found = status("--queue", "queue", "--job", "1.4")
    assert found.lines[0] == "job 1.4: idle limit: Site1: 2 idle, MaxIdleJobs = 2"
    assert found.lines[1] == "  Site1  idle limit: 2 idle, MaxIdleJobs = 2"
    assert status("--queue", "queue", "--job", "1.0").lines == ["job 1.0: routed: Site1"]
    data = status("--queue", "queue", "--job", "1.5", "--format", "json").data["job"]
    assert (data["job"], data["reason"]) == ("1.5", "no match")
    assert [each["outcome"] for each in data["routes"]] == ["no match", "no match"]
    gone = status("--queue", "queue", "--job", "9.0")
    assert gone.status == 1
    assert "there is no job 9.0" in gone.err
    assert status("--queue", "queue", "--job", "alice").status == 2


@pytest.mark.usefixtures("folder")
def test_json() -> None:
    """The same for programs."""
    data = status("--queue", "queue", "--format", "json").data
    assert data["router"] is None
    assert [(each["route"], each["jobs"], each["limit"], each["failed"]) for each in data["routes"]] == [
        ("Site1", 2, "idle limit", None),
        ("Site2", 0, "full", None),
    ]
    assert {"reason": "idle limit", "route": "Site1", "count": 3} in data["jobs"]


@pytest.mark.usefixtures("folder")
def test_two_queues() -> None:
    """Sources in one, copies in the other."""
    Path("two.sub").write_text("executable = /bin/true\n+WantJobRouter = true\nqueue\n", encoding="utf-8")
    for name in ("sources", "copies"):
        assert crondor("queue", "submit", "two.sub", "--queue", name, "--now", NOW).status == 0
    both = ("--queue", "sources", "--destination-queue", "copies")
    assert crondor("route", "run", "--config", "routes.conf", "--now", NOW, "--once", *both).status == 0
    assert crondor("route", "q", "-S", "--queue", "sources").lines[1:] == []
    assert len(crondor("route", "q", "-S", "--queue", "copies").lines) == 2
    assert status(*both, "--format", "json").data["routes"][0]["jobs"] == 1
    assert status("--queue", "sources", "--format", "json").data["unpaired"] == ["1.0"]
    wrong = status("--queue", "sources", "--destination-queue", "copies", "--destination-log", "x")
    assert wrong.status == 2
    assert (
        crondor("route", "run", "--config", "routes.conf", "--queue", "sources", "--destination-queue", "no").status
        == 1
    )


@pytest.mark.usefixtures("folder")
def test_what_a_collector_is_told() -> None:
    """Who and where it is, and what JOB_ROUTER_ATTRS adds; nothing of its jobs (HTCondor 25.14)."""
    found = status("--format", "ad")
    assert found.status == 0
    assert sorted(found.lines) == [
        'Contact = "admin@example.org"',
        'Machine = "submit.example.org"',
        f"MyCurrentTime = {NOW_EPOCH}",
        'MyType = "Job_Router"',
        'Name = "jobrouter@submit.example.org"',
    ]
    assert "JOB_ROUTER_ATTRS lists Broken" in found.err


def test_a_router_that_runs(folder: Path) -> None:
    """Its throttles are shown; a report that is damaged, or left by a crash, is not believed."""
    command = [*PROGRAM, "route", "run", "--config", "routes.conf", "--queue", "queue"]
    report = folder / "queue" / "jobrouterLock.status"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder, env=environment()) as running:
        try:
            end = time.monotonic() + SLOWEST
            while not report.exists() and time.monotonic() < end:
                time.sleep(0.05)
            found = status("--queue", "queue")
            assert "a router runs here" in found.lines[0]
            assert found.lines[3].split()[3:5] == ["none", "0"]
        finally:
            running.kill()
    assert report.exists()
    assert "throttles are unknown" in status("--queue", "queue").lines[0]
    report.write_text("{")
    found = status("--queue", "queue")
    assert found.status == 0
    assert "this is not a router's report" in found.err


@pytest.mark.usefixtures("folder")
def test_what_cannot_be_shown() -> None:
    """Routing that is switched off, a queue that is not there."""
    Path("off.conf").write_text("JOB_ROUTER_NAME = x\n", encoding="utf-8")
    found = crondor("route", "status", "--config", "off.conf", "--queue", "queue", "--now", NOW)
    assert found.status == 1
    assert "JobRouter is disabled." in found.err
    assert "there is no queue yet" in status("--queue", "nowhere").err


@pytest.mark.usefixtures("folder")
def test_a_dry_run_says_who_stays() -> None:
    """How many jobs are not routed, and why."""
    found = crondor("route", "run", "--config", "routes.conf", "--queue", "queue", "--now", NOW, "--dry-run")
    assert [line.partition("JobRouter: ")[2] for line in found.lines[-2:]] == [
        "3 jobs not routed: idle limit (Site1)",
        "1 job not routed: no match",
    ]
