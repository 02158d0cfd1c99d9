"""The manual's three sites, in both of its spellings: a site gets no more jobs while ten of its own are idle."""

from pathlib import Path

import pytest

from crondor.classad import Expression
from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.router import RoutingTable, load_table
from crondor.router.daemon import Rehearsal, RouteReason, RouterOptions
from crondor.router.daemon.rehearsal import Site, SiteFault
from crondor.router.legacy import legacy_table, read_legacy
from crondor.router_bridge import JobSettings, PlannedOutcome, PlanOptions, plan
from tests.router.daemon.scenes import NOW, ROUTE, Stage, job, table

CONFIG = Path(__file__).parent / "three-sites.conf"
OLD = """
JOB_ROUTER_SOURCE_JOB_CONSTRAINT = true
JOB_ROUTER_DEFAULTS @=jrd
  [
    requirements=target.WantJobRouter is True;
    MaxIdleJobs = 10;
    MaxJobs = 200;
    set_PeriodicRemove = JobStatus == 5 || (JobStatus == 1 && (time() - QDate) > 3600*6);
    delete_WantJobRouter = true;
    set_requirements = true;
  ]
@jrd
JOB_ROUTER_ENTRIES @=jre
  [ GridResource = "batch slurm"; name = "Site_1"; ]
  [ GridResource = "arc"; name = "Site_2"; set_ArcRte = "ENV/PROXY"; ]
  [ GridResource = "condor"; name = "Site_3"; set_remote_jobuniverse = 5; ]
@jre
JOB_ROUTER_ROUTE_NAMES = Site_1 Site_2 Site_3
"""


def new() -> RoutingTable:
    """Return the table of today's spelling."""
    return load_table(read_config(Source(CONFIG.read_text(), CONFIG.name)))


def old() -> RoutingTable:
    """Return the table of the ClassAds."""
    return legacy_table(read_legacy(read_config(OLD)))


@pytest.mark.parametrize(("table", "limits"), [(new(), [10, 10, 20]), (old(), [10, 10, 10])], ids=["new", "old"])
def test_a_site_gets_no_more_than_may_be_idle(table: RoutingTable, limits: list[int]) -> None:
    """As long as none of them runs; the others stay in the local queue, and the reason is said."""
    names = [route.name for route in table.routes]
    pool = Rehearsal(table, [Site(name, fault=SiteFault.SWALLOWS) for name in names], NOW)
    jobs = pool.submit([job() for _ in range(60)])
    pool.advance(NOW + 3600)
    assert [now.load for now in pool.router.routes()] == [(limit, limit) for limit in limits]
    assert len(pool.schedd.jobs("RoutedBy isnt undefined")) == sum(limits)
    found = pool.router.why(jobs[-1])
    assert (found.reason, found.text) == (RouteReason.IDLE_LIMIT, f"{names[0]}: 10 idle, MaxIdleJobs = 10")
    assert pool.router.summary()[RouteReason.IDLE_LIMIT, names[0]] == 60 - sum(limits)


@pytest.mark.parametrize("table", [new(), old()], ids=["new", "old"])
def test_a_site_gets_more_as_its_jobs_run(table: RoutingTable) -> None:
    """Each time one starts, another one follows; at no poll are more idle than may be."""
    names = [route.name for route in table.routes]
    most = [route.max_idle_jobs for route in table.routes]
    pool = Rehearsal(table, [Site(name, slots=4, run_time=100_000) for name in names], NOW)
    pool.submit([job() for _ in range(100)])
    for poll in range(30):
        pool.advance(NOW + 10 * poll)
        assert all(now.load.idle <= limit for now, limit in zip(pool.router.routes(), most, strict=True))
    assert [now.load for now in pool.router.routes()] == [(limit + 4, limit) for limit in most]


UNTIL = NOW + 4 * 3600
ATTRIBUTES = {
    "CronMinute": "0,30",
    "DeferralWindow": 600,
    "DeferralPrepTime": 120,
    "ScheddInterval": 60,
    "OnExitRemove": Expression("false"),
}


def test_a_router_that_waits_takes_jobs_when_the_plan_says() -> None:
    """Each copy comes with the poll that the plan names, with the same DeferralTime, and no other comes."""
    routes = table({"Site1": ROUTE})
    stage = Stage(routes, [Site("Site1", run_time=60)], options=RouterOptions(waits_for_gates=True))
    source = job(**ATTRIBUTES)
    stage.submit(source)
    ad = source.copy()
    for name, value in (("ClusterId", 1), ("ProcId", 0), ("QDate", NOW), ("JobStatus", 1)):
        ad.set(name, value)
    options = PlanOptions(at_gate=True, run_time=60, reading=JobSettings("UTC"))
    foretold = [run for run in plan(ad, routes, NOW, UNTIL, options) if run.outcome is PlannedOutcome.ROUTED]
    came: dict[str, tuple[int, object]] = {}
    while stage.now < UNTIL:
        stage.source.recalculate()
        stage.poll()
        for copy in stage.copies():
            came.setdefault(str(copy["ClusterId"]), (stage.now, copy.python("DeferralTime")))
    assert [time for _, time in came.values()] == [run.run.time for run in foretold]
    for (seen, _), run in zip(came.values(), foretold, strict=True):
        assert run.taken is not None
        assert abs(seen - run.taken) <= routes.settings.polling_period
