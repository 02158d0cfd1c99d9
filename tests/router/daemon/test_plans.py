"""What `plan` foretells of crontab jobs is what the living router does with them."""

from crondor.classad import Expression
from crondor.router.daemon import RouterOptions
from crondor.router.daemon.rehearsal import Site
from crondor.router_bridge import JobSettings, PlannedOutcome, PlanOptions, plan
from tests.router.daemon.scenes import NOW, ROUTE, Stage, job, table

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
