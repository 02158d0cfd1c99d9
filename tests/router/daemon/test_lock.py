"""One router of a name at a time."""

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from crondor.job_queue.history import Disk
from crondor.job_queue.records import QueueIO
from crondor.job_queue.write import Lock
from crondor.rights.trust import Untrusted
from crondor.router.daemon import InvalidReport, QueueStatus, RouterLock, RouterLocked, RouterReport
from crondor.router.daemon import lock as module
from crondor.router.daemon.lock import is_locked
from crondor.router.daemon.rehearsal import Site, SiteFault
from crondor.router.match.matcher import Throttle
from tests.router.daemon.scenes import NOW, ROUTE, Stage, job, table


def test_a_second_router_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    """The file goes with a clean end."""
    path = tmp_path / "jobrouterLock"
    with RouterLock(path, "jobrouter"):
        with pytest.raises(RouterLocked, match="another router named jobrouter is running"):
            RouterLock(path, "jobrouter")
        assert path.exists()
    assert not path.exists()
    RouterLock(path, "jobrouter").close()


_DAEMON = """
import fcntl, os, sys
descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
try:
    fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    sys.exit("locked")
print("mine", flush=True)
sys.stdin.read()
"""


def daemon(path: Path) -> subprocess.Popen[str]:
    """Return a process that locks a file as condor_job_router does, with POSIX's lock, until its input ends."""
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", _DAEMON, str(path)], stdin=pipe, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_condor_job_router_counts_too(tmp_path: Path) -> None:
    """Its lock is of another kind than flock; its file stays."""
    path = tmp_path / "jobrouterLock"
    with daemon(path) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "mine\n"
        with pytest.raises(RouterLocked, match="another router named jobrouter is running"):
            RouterLock(path, "jobrouter")
        assert path.exists()
        running.communicate("")
    with RouterLock(path, "jobrouter"), daemon(path) as refused:
        assert refused.communicate("") == ("", "locked\n")


def test_a_lock_on_a_file_that_was_just_removed_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first router ends between the second one's opening of the file and its locking it."""
    path = tmp_path / "jobrouterLock"
    removed: list[Path] = []

    def lock(where: Path, disk: Disk) -> Lock:
        made = Lock(where, disk)
        if not removed:
            removed.append(where)
            where.unlink()
        return made

    monkeypatch.setattr(module, "Lock", lock)
    with RouterLock(path, "jobrouter"), pytest.raises(RouterLocked):
        RouterLock(path, "jobrouter")
    assert removed == [path]


def test_a_lock_in_a_folder_that_others_may_write_is_refused(tmp_path: Path) -> None:
    """Beside it stands what the router believes, and a link could have it make or delete any file."""
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks").chmod(0o777)
    with pytest.raises(Untrusted, match="can be written by everybody") as caught:
        RouterLock(tmp_path / "locks/lock", "jobrouter")
    assert "JOB_ROUTER_LOCK" in str(caught.value)
    assert list((tmp_path / "locks").iterdir()) == []
    (tmp_path / "locks").chmod(0o755)
    with RouterLock(tmp_path / "locks/new/lock", "jobrouter"):
        assert (tmp_path / "locks/new").stat().st_mode & 0o777 == 0o700


def test_nobody_waits_for_a_pipe_in_the_place_of_a_lock(tmp_path: Path) -> None:
    """Nor in that of a router's report."""
    os.mkfifo(tmp_path / "lock")
    assert not module.is_locked(tmp_path / "lock")
    with pytest.raises(QueueIO, match="not a plain file"):
        RouterReport.read(tmp_path / "lock")


@pytest.mark.parametrize("two", [False, True], ids=["one queue", "two queues"])
def test_it_says_what_the_router_says(*, two: bool) -> None:
    """Loads, reasons, sums; the throttles are the router's own, handed on."""
    made = table({"Site1": f"{ROUTE}MaxIdleJobs = 3", "Site2": f"{ROUTE}MaxJobs = 4"})
    sites = [Site("Site1", slots=2, run_time=50), Site("Site2", fault=SiteFault.FAILS, run_time=20)]
    stage = Stage(made, sites, two=two)
    jobs = stage.submit(*[job(WantJobRouter=number % 5 > 0) for number in range(25)])
    for _ in range(8):
        stage.poll()
        for _ in range(2):  # at the same time: what the first has written is seen, then counted
            stage.router.poll()
        copies = stage.destination.jobs() if two else None
        report = stage.router.report()
        survey = QueueStatus(made, stage.source.jobs(), copies, stage.now, throttles=report.throttles)
        there = {found.id for found in stage.router.jobs.values() if found.counts}
        assert {found.id for found in survey.jobs.values() if found.route} == there
        assert survey.routes() == stage.router.routes()
        for each in jobs:
            known = stage.router.jobs.get(each)
            if stage.source.jobs(each) and (known is None or known.counts):
                assert survey.why(each)[:2] == stage.router.why(each)[:2]


def test_a_source_without_a_copy_is_named() -> None:
    """It is on no route."""
    stage = Stage(table({"Site1": ROUTE}))
    (found,) = stage.submit(job(Managed="External", ManagedManager="jobrouter"))
    survey = QueueStatus(stage.table, stage.source.jobs(), None, NOW)
    assert survey.unpaired == [found]
    assert survey.route_state.loads.get("site1", (0, 0)) == (0, 0)


def test_a_queue_is_summed_as_each_job_is_answered() -> None:
    """Also where requirements are open, no two jobs alike, on round robin, and where routers or routes are full."""
    opened = ROUTE.replace("REQUIREMENTS", 'REQUIREMENTS eval("WantA") =?= true &&', 1)
    tables = [
        table({"Site1": opened, "Site2": ROUTE}, knobs)
        for knobs in ("", "JOB_ROUTER_ROUND_ROBIN_SELECTION = true", "JOB_ROUTER_MAX_JOBS = 0")
    ]
    tables.append(table({"Site1": f"{opened}MaxJobs = 0", "Site2": f"{ROUTE}MaxIdleJobs = 0"}))
    for made in tables:
        stage = Stage(made)
        stage.submit(*[job(WantA=n % 3 == 0, WantJobRouter=n % 5 > 0, Number=n) for n in range(300)])
        status = QueueStatus(made, stage.source.jobs(), None, NOW)
        answers = Counter((found.reason, found.route) for found in map(status.why, status.ads))
        assert status.summary() == answers
        assert len(answers) > 1


def test_a_report_reads_back(tmp_path: Path) -> None:
    """All of it, and there is none where none was written."""
    path = tmp_path / "report"
    assert RouterReport.read(path) is None
    report = RouterReport("jobrouter", NOW, NOW + 10, True, 7, {"site1": Throttle(NOW, 3, 2, 1, 0.5)}, 3)
    report = replace(report, counts={"claimed": 5, "not_claimed": 2}, poll_seconds=0.25)
    report.write(path)
    assert RouterReport.read(path) == report
    assert [each.name for each in tmp_path.iterdir()] == ["report"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100_000,
        "[]",
        '{"format": 2}',
        '{"format": 1, "name": 5, "throttles": {}}',
        '{"format": 1, "name": "x", "started": -1, "polled": 0, "turn": 0, "throttles": {}}',
        '{"format": 1, "name": "x", "started": 1, "polled": 0, "turn": 0, "throttles": {"a": 5}}',
        '{"format": 1, "name": "x", "started": 1, "polled": 0, "turn": 0, "throttles": {"a": {"jobs": NaN}}}',
        '{"format": 1, "name": "x", "started": 1, "polled": 0, "turn": 0, "throttles": {}, "counts": {"claimed": -1}}',
        '{"format": 1, "name": "x", "started": 1, "polled": 0, "turn": 0, "throttles": {}, "poll_seconds": "1"}',
        '"' + "x" * (1 << 20) + '"',
    ],
)
def test_what_is_no_report_is_said(text: str, tmp_path: Path) -> None:
    """With the file's name; nothing of it is believed."""
    path = tmp_path / "report"
    path.write_text(text)
    with pytest.raises(InvalidReport) as caught:
        RouterReport.read(path)
    (found,) = caught.value.diagnostics
    assert found.kind == "router-report"
    assert found.span is not None
    assert found.span.source.name == str(path)


def test_a_lock_is_seen_from_outside(tmp_path: Path) -> None:
    """While it is held; looking makes no file."""
    path = tmp_path / "lock"
    assert not is_locked(path)
    assert not path.exists()
    with RouterLock(path, "jobrouter"):
        assert is_locked(path)
    path.write_text("")
    assert not is_locked(path)
