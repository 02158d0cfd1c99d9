"""A queue looked at from outside says what its router says; what a router leaves beside it, and what is none."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from crondor.router.daemon import InvalidReport, QueueStatus, RouterLock, RouterReport
from crondor.router.daemon.lock import is_locked
from crondor.router.daemon.rehearsal import Site, SiteFault
from crondor.router.match.matcher import Throttle
from tests.router.daemon.scenes import NOW, ROUTE, Stage, job, table


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
