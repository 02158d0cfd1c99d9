"""Crontab and deferral jobs as sources: taken at once as HTCondor's router does, or run by run when a gate opens."""

from crondor.classad import Expression
from crondor.classad.ad import ClassAd
from crondor.router.daemon import RouteReason, RouterEvent, RouterOptions
from crondor.router.daemon.rehearsal import Site
from tests.router.daemon.scenes import NOW, ROUTE, Stage, job, table

HOUR = 3600
FIRST = (NOW // HOUR + 1) * HOUR
CRON = {"CronMinute": "0", "DeferralWindow": 600, "DeferralPrepTime": 120, "ScheddInterval": 60}


def stage_of(*, waits: bool, rules: str = ROUTE) -> Stage:
    """Return a stage whose schedd keeps DeferralTime."""
    return Stage(table({"Site1": rules}), [Site("Site1", run_time=60)], options=RouterOptions(waits_for_gates=waits))


def live(stage: Stage, until: int) -> list[int]:
    """Let time pass; return when copies came, and fail where two of one source are alive."""
    seen: dict[str, int] = {}
    while stage.now < until:
        stage.source.recalculate()
        stage.poll()
        alive = [ad for ad in stage.copies() if ad.python("JobStatus") in (1, 2, 5)]
        assert len(alive) <= 1
        for ad in stage.copies():
            seen.setdefault(str(ad["ClusterId"]), stage.now)
    return list(seen.values())


def recurrent(**attributes: object) -> ClassAd:
    """Return a crontab job that stays after a run."""
    return job(**CRON, OnExitRemove=Expression("false"), **attributes)


def test_htcondors_router_takes_a_crontab_job_at_once() -> None:
    """The default: the slot of the route is held until the copy starts, and the copy has the schedule."""
    stage = stage_of(waits=False)
    stage.submit(recurrent())
    live(stage, NOW + 60)
    (copy,) = stage.copies()
    assert copy.python("CronMinute") == "0"
    assert stage.router.routes()[0].load.jobs == 1


def test_a_gate_keeps_a_job_from_the_route_until_it_opens() -> None:
    """DeferralTime less prep time and SCHEDD_INTERVAL; then the copy is one run."""
    stage = stage_of(waits=True)
    (found,) = stage.submit(recurrent())
    opens = FIRST - 180
    assert live(stage, opens - 10) == []
    because = stage.router.why(found)
    assert (because.reason, because.text) == (RouteReason.WAITS_FOR_RUN, f"its gate opens at {opens}")
    assert stage.router.summary() == {(RouteReason.WAITS_FOR_RUN, ""): 1}
    came = live(stage, opens + 20)
    assert [opens <= time <= opens + 10 for time in came] == [True]
    (copy,) = stage.copies()
    assert "CronMinute" not in copy
    assert [copy.python(name) for name in ("DeferralTime", "DeferralWindow", "OnExitRemove")] == [FIRST, 600, True]


def test_each_run_is_routed_anew() -> None:
    """Three hours, three copies, one at a time; the source waits in between, and is not taken twice for one run."""
    stage = stage_of(waits=True)
    (found,) = stage.submit(recurrent())
    came = live(stage, FIRST + 2 * HOUR + 1200)
    assert [(time - FIRST + 180) // HOUR for time in came] == [0, 1, 2]
    assert stage.values(found, "JobStatus", "Managed", "NumJobCompletions") == [1, "Schedd", 3]
    assert stage.values(found, "DeferralTime") == [FIRST + 3 * HOUR]
    assert len(stage.said(RouterEvent.AGAIN)) == 3
    assert [run.source for run in stage.sites.runs] == ["1.0"] * 3


def test_a_new_router_goes_on_with_the_runs() -> None:
    """Where it ended, in the middle of a run or between two."""
    stage = stage_of(waits=True)
    stage.submit(recurrent())
    live(stage, FIRST - 130)
    stage.start()
    live(stage, FIRST + 600)
    stage.start()
    came = live(stage, FIRST + HOUR + 600)
    assert len(stage.sites.runs) == 2
    assert len(came) == 1


def test_a_crontab_job_that_leaves_after_a_run_leaves() -> None:
    """on_exit_remove is true by default."""
    stage = stage_of(waits=True)
    (found,) = stage.submit(job(**CRON))
    live(stage, FIRST + 1200)
    assert stage.source.jobs(found) == []
    assert stage.values(found, "JobStatus", "Managed") == [4, "ScheddDone"]


def test_a_route_may_want_a_schedule_of_its_own() -> None:
    """What it sets stays."""
    stage = stage_of(waits=True, rules=f'{ROUTE}SET CronMinute "30"\nSET OnExitRemove false')
    stage.submit(recurrent())
    live(stage, FIRST - 150)
    (copy,) = stage.copies()
    assert [copy.python("CronMinute"), copy.python("OnExitRemove")] == ["30", False]


def test_a_deferral_job_is_taken_when_its_gate_opens() -> None:
    """One time, one run."""
    stage = stage_of(waits=True)
    terms = {name: CRON[name] for name in ("DeferralWindow", "DeferralPrepTime", "ScheddInterval")}
    (found,) = stage.submit(job(DeferralTime=NOW + 1000, **terms))
    came = live(stage, NOW + 1300)
    assert [NOW + 820 <= time <= NOW + 830 for time in came] == [True]
    assert stage.values(found, "JobStatus", "Managed") == [4, "ScheddDone"]


def test_a_schedule_that_nobody_can_read_is_nobodys() -> None:
    """Where gates are waited for such a job is not taken, and the reason says so."""
    stage = stage_of(waits=True)
    (found,) = stage.submit(job(**CRON, CronDayOfWeek="MON"))
    stage.poll(3)
    assert stage.router.why(found)[:2] == (RouteReason.WAITS_FOR_RUN, "none left")
    assert stage.copies() == []


def test_gates_of_jobs_that_have_left_are_forgotten() -> None:
    """Also those of gates that open in a year: what waits goes with the jobs that wait."""
    stage = stage_of(waits=True)
    yearly = {**CRON, "CronHour": "3", "CronDayOfMonth": "1", "CronMonth": "1"}
    gates = []
    for _ in range(40):
        made = stage.submit(*(job(**yearly, OnExitRemove=Expression("false")) for _ in range(20)))
        stage.source.recalculate()
        stage.poll()
        for each in made:
            stage.source.remove(each, "it is time")
        stage.poll()
        gates.append(len(stage.router._queue._gates))
    assert max(gates) < 200
