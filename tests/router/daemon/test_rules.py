"""Each rule of the router's life, one by one (HTCondor 25.14's job router), on a virtual clock."""

from collections.abc import Mapping
from typing import NoReturn

import pytest

from crondor.classad import Expression
from crondor.config import read_config
from crondor.event_log import EventType
from crondor.job_queue import JobId
from crondor.router.daemon import RoutedState, RouteReason, RouterEvent, RouterOptions
from crondor.router.daemon.rehearsal import Site, SiteFault
from crondor.router.match.matcher import WINDOW
from crondor.router.table.loading import load_table
from crondor.schedd.protocol import SUBMITTING, Hold
from tests.router.daemon.faults import unreachable
from tests.router.daemon.scenes import NOW, ROUTE, Stage, job, table

EXECUTE, EVICTED, TERMINATED, ABORTED, HELD_EVENT = (
    EventType.EXECUTE,
    EventType.JOB_EVICTED,
    EventType.JOB_TERMINATED,
    EventType.JOB_ABORTED,
    EventType.JOB_HELD,
)
SLOW = Site("Site1", slots=100, run_time=100_000)
DEAF = Site("Site1", fault=SiteFault.SWALLOWS)


def one(rules: str = ROUTE, site: Site = SLOW, knobs: str = "", options: RouterOptions | None = None) -> Stage:
    """Return a stage with one route and one site."""
    return Stage(table({"Site1": rules}, knobs), [site], options=options)


# 1.4 Candidates


@pytest.mark.parametrize(
    "attributes",
    [
        {"JobStatus": 5},
        {"Managed": "External", "ManagedManager": "other"},
        {"Managed": "ScheddDone"},
        {"StageInStart": 1},
        {"RoutedBy": "jobrouter"},
        {"Owner": Expression("undefined")},
        {"WantJobRouter": False},
    ],
)
def test_who_is_no_candidate(attributes: dict[str, object]) -> None:
    """Held, managed, being spooled, a copy, nobody's, unwilling."""
    stage = one()
    (found,) = stage.submit(job(**attributes))
    stage.poll(3)
    assert stage.states() == []
    assert stage.router.why(found).reason in {RouteReason.NOT_CANDIDATE, RouteReason.NO_MATCH, RouteReason.COPY}


def test_a_job_whose_spooling_is_over_is_a_candidate() -> None:
    """StageInFinish is there; Managed "Schedd" is as good as none."""
    stage = one()
    stage.submit(job(StageInStart=1, StageInFinish=2, Managed="Schedd", ManagedManager=""))
    stage.poll()
    assert stage.states() == [RoutedState.SUBMITTED]


def test_only_the_owners_jobs_where_the_router_is_not_root() -> None:
    """Other people's are left alone."""
    stage = one(options=RouterOptions(owner="alice"))
    stage.submit(job(), job(Owner="bob"))
    stage.poll()
    assert [str(found.id) for found in stage.router.jobs.values()] == ["1.0"]


def test_the_first_route_that_matches_takes_the_job() -> None:
    """In the order of JOB_ROUTER_ROUTE_NAMES; one that is full is skipped."""
    stage = Stage(table({"A": f"{ROUTE}MaxJobs = 1", "B": f"{ROUTE}MaxJobs = 1"}))
    jobs = stage.submit(job(), job(), job())
    stage.poll()
    assert [stage.router.jobs[found].route for found in jobs[:2]] == ["A", "B"]
    because = stage.router.why(jobs[2])
    assert (because.reason, because.text) == (RouteReason.FULL, "A: 1 jobs, MaxJobs = 1")


def test_round_robin_takes_turns() -> None:
    """One count for all jobs."""
    stage = Stage(table({"A": ROUTE, "B": ROUTE, "C": ROUTE}, "JOB_ROUTER_ROUND_ROBIN_SELECTION = true"))
    jobs = stage.submit(*[job() for _ in range(5)])
    stage.poll()
    assert [stage.router.jobs[found].route for found in jobs] == ["A", "B", "C", "A", "B"]


def test_the_idle_limit_stops_a_route_until_jobs_run() -> None:
    """Ten idle copies, as in the manual's configuration; as they run, more come."""
    stage = one(f"{ROUTE}MaxIdleJobs = 10", Site("Site1", slots=4, run_time=100_000))
    stage.submit(*[job() for _ in range(30)])
    stage.poll()
    assert len(stage.copies()) == 10
    assert stage.router.summary()[RouteReason.IDLE_LIMIT, "Site1"] == 20
    stage.poll(2)
    assert len(stage.copies()) == 14
    (now,) = stage.router.routes()
    assert (now.load.jobs, now.load.idle, now.text) == (14, 10, "idle limit: 10 idle, MaxIdleJobs = 10")


def test_a_copy_counts_as_running_from_the_poll_after_the_one_that_saw_it_run() -> None:
    """Counting comes first in a poll, looking at copies last; one that runs no more counts as idle at once."""
    stage = one(f"{ROUTE}MaxIdleJobs = 1", Site("Site1", slots=2, delay=1, run_time=100_000))
    stage.submit(*[job() for _ in range(4)])
    counts = []
    for _ in range(5):
        stage.poll()
        counts.append(len(stage.copies()))
    assert counts == [1, 1, 2, 2, 3]
    first = next(iter(stage.router.jobs.values()))
    assert first.copy_id is not None
    stage.destination.hold(first.copy_id, Hold("by the site"))
    stage.poll()
    (now,) = stage.router.routes()
    assert (now.load.jobs, now.load.idle) == (3, 2)


def test_job_router_max_jobs_is_for_all_routes() -> None:
    """The router takes no more, whatever its routes take."""
    stage = Stage(table({"A": ROUTE, "B": ROUTE}, "JOB_ROUTER_MAX_JOBS = 3"))
    jobs = stage.submit(*[job() for _ in range(5)])
    stage.poll(2)
    assert len(stage.copies()) == 3
    assert stage.router.why(jobs[4]).reason is RouteReason.ROUTER_FULL


@pytest.mark.parametrize(("knob", "count"), [("MaxJobs = -1", 0), ("MaxIdleJobs = 0", 0), ("MaxIdleJobs = -1", 60)])
def test_negative_limits(knob: str, count: int) -> None:
    """MaxJobs below 0 is none, MaxIdleJobs below 0 any number, and 0 none."""
    stage = one(f"{ROUTE}{knob}", DEAF)
    stage.submit(*[job() for _ in range(60)])
    stage.poll(2)
    assert len(stage.copies()) == count


# 1.5 The throttle


def test_a_black_hole_is_throttled_and_recovers() -> None:
    """Jobs that fail at once: after a window only as many may come as the threshold allows; success eases it."""
    hole = Site("Site1", slots=500, delay=1, run_time=1, fault=SiteFault.FAILS)
    stage = one(f"{ROUTE}MaxJobs = 20\nMaxIdleJobs = -1\nJobFailureTest = ExitCode =!= 0", hole)
    for _ in range(WINDOW // 10 + 1):
        stage.submit(*[job() for _ in range(40 - len(stage.source.jobs("JobStatus == 1")))])
        stage.poll()
    (now,) = stage.router.routes()
    assert now.throttle.jobs == pytest.approx(18, abs=1)
    assert stage.router.table.routes[0].failure_rate_threshold * WINDOW == 18
    stage.poll(20)
    (now,) = stage.router.routes()
    assert now.throttle.routed == 19
    assert now.limit is not None
    assert now.text.startswith("throttled: ")
    waiting = stage.submit(job())
    stage.poll()
    assert stage.router.why(waiting[0]).reason is RouteReason.THROTTLED
    stage.sites.change(Site("Site1", slots=500, delay=1, run_time=1))
    stage.poll(3 * WINDOW // 10)
    (eased,) = stage.router.routes()
    assert eased.throttle.jobs > now.throttle.jobs


def test_a_removal_by_the_user_is_no_failure_of_the_route() -> None:
    """Interrupted: neither success nor failure; a removed copy is one."""
    stage = one()
    first, _ = stage.submit(job(), job())
    stage.poll(2)
    stage.source.remove(first, "by alice")
    stage.poll()
    (now,) = stage.router.routes()
    assert (now.throttle.failed, now.throttle.succeeded) == (0, 0)
    stage.destination.remove(stage.copy(), "by the site")
    stage.poll()
    (now,) = stage.router.routes()
    assert now.throttle.failed == 1


def test_a_jobs_failure_test_counts_but_the_job_is_done() -> None:
    """It leaves the queue as completed all the same."""
    stage = one(
        f"{ROUTE}JobFailureTest = ExitCode =!= 0", Site("Site1", run_time=5, fault=SiteFault.FAILS, exit_code=3)
    )
    (found,) = stage.submit(job())
    stage.poll(5)
    assert stage.values(found, "JobStatus", "ExitCode", "Managed") == [4, 3, "ScheddDone"]
    (now,) = stage.router.routes()
    assert (now.throttle.failed, now.throttle.succeeded) == (1, 0)


# 1.6 Taking over and submitting


def test_a_claim_says_whose_job_it_is() -> None:
    """And the copy says where it comes from, whatever the route sets."""
    stage = one(f'{ROUTE}SET RoutedFromJobId "9.9"\nSET LeaveJobInQueue false\nSET QDate 1\nSET AuthTokenId "x"')
    (found,) = stage.submit(job(RoutedToJobId="7.7"))
    stage.poll()
    assert stage.values(found, "Managed", "ManagedManager") == ["External", "jobrouter"]
    (copy,) = stage.copies()
    shown = {name: str(copy[name]) for name in ("RoutedFromJobId", "RoutedBy", "RouteName", "LeaveJobInQueue", "User")}
    assert shown == {
        "RoutedFromJobId": '"1.0"',
        "RoutedBy": '"jobrouter"',
        "RouteName": '"Site1"',
        "LeaveJobInQueue": "JobStatus == 4",
        "User": '"alice@example.org"',
    }
    assert [copy.python(name) for name in ("QDate", "EnteredCurrentStatus", "JobStatus")] == [stage.now, stage.now, 1]
    assert {"AuthTokenId", "RoutedToJobId", "Managed"}.isdisjoint(copy)


def test_a_job_that_another_router_takes_first_is_left_to_it() -> None:
    """Between the look and the claim: a failure of the route, and the job stays the other's."""
    stage = one()
    (found,) = stage.submit(job())
    original = stage.source.jobs

    def jobs(*args: object) -> object:
        ads = original(*args)  # type: ignore[arg-type]
        if stage.source.mirror.text(found, "Managed") is None:
            stage.source.edit_if(found, "true", {"Managed": "External", "ManagedManager": "other"})
        return ads

    stage.source.jobs = jobs  # type: ignore[method-assign, assignment]
    stage.poll(2)
    assert "already managed by another process" in stage.said(RouterEvent.NOT_CLAIMED)[0].text
    assert len(stage.said(RouterEvent.NOT_CLAIMED)) == len(stage.said(RouterEvent.FOUND))
    assert stage.values(found, "ManagedManager") == ["other"]
    assert stage.copies() == []


def test_a_transform_that_fails_gives_the_job_back() -> None:
    """It counts as a failure, and the job is a candidate again, for the next poll."""
    stage = one(f"{ROUTE}if $(MY.Broken)\nSET X 1\nendif")
    (found,) = stage.submit(job(Broken=Expression("1 + Owner")))
    stage.poll()
    assert stage.values(found, "Managed", "ManagedManager") == ["Schedd", ""]
    assert len(stage.said(RouterEvent.NOT_TRANSFORMED)) == 1
    assert stage.states() == []
    stage.poll(2)
    assert len(stage.said(RouterEvent.NOT_TRANSFORMED)) == 3
    assert stage.router.routes()[0].throttle.failed == 3
    assert stage.copies() == []


def test_a_job_edited_in_place_is_a_candidate_of_the_next_poll() -> None:
    """For as long as it matches."""
    stage = one("REQUIREMENTS WantJobRouter\nEditJobInPlace = True\nEVALSET Times (Times ?: 0) + 1")
    (found,) = stage.submit(job())
    for times in range(1, 6):
        stage.poll()
        assert stage.values(found, "Times") == [times]


def test_a_job_edited_in_place_is_never_claimed() -> None:
    """The difference is written, and it is a candidate for as long as it matches."""
    rules = "REQUIREMENTS WantJobRouter && Edited =!= true\nEditJobInPlace = True\nSET Edited true\nDELETE Notes\n"
    stage = one(rules + "EVALSET Twice ClusterId * 2")
    (found,) = stage.submit(job(Notes="x"))
    stage.poll(4)
    assert stage.values(found, "Edited", "Notes", "Twice", "Managed")[0] is True
    assert stage.ad(found).text("Notes").lower() == "undefined"
    assert stage.values(found, "Twice", "Managed", "JobStatus") == [2, None, 1]
    assert len(stage.said(RouterEvent.EDITED)) == 1
    assert stage.copies() == []
    assert stage.events == []


def test_a_sandbox_is_refused_where_nobody_moves_files() -> None:
    """Said and counted; the job is not taken, so that its schedd may run it."""
    stage = one(f"{ROUTE}JobShouldBeSandboxed = true")
    (found,) = stage.submit(job())
    stage.poll()
    assert len(stage.said(RouterEvent.NO_SANDBOX)) == 1
    assert stage.values(found, "Managed") == [None]
    assert stage.said(RouterEvent.CLAIMED) == []


# 1.6 and 1.8 While the copy lives


def test_the_source_shows_what_the_copy_does() -> None:
    """Status, times, numbers; the user's log too, in which the copy is the host."""
    stage = one(site=Site("Site1", delay=5, run_time=30))
    (found,) = stage.submit(job())
    stage.poll(2)
    assert stage.values(found, "JobStatus", "RoutedToJobId", "NumJobStarts", "NumShadowStarts") == [2, "2.0", 1, 1]
    assert stage.values(found, "EnteredCurrentStatus") == [stage.now]
    stage.poll(4)
    assert stage.values(found, "JobStatus", "ExitCode", "RemoteWallClockTime", "Managed") == [4, 0, 30.0, "ScheddDone"]
    assert stage.told() == [EXECUTE, TERMINATED]
    assert stage.events[0].attributes == {"ExecuteHost": "2.0"}
    stage.poll(2)
    assert stage.source.jobs() == []
    assert stage.states() == []


def test_transferring_output_shows_as_running() -> None:
    """6 is 2, without another event."""
    stage = one()
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.edit(stage.copy(), JobStatus=6)
    stage.poll()
    assert stage.values(found, "JobStatus") == [2]
    assert stage.told() == [EXECUTE]


def test_a_copy_that_is_idle_again_evicts_the_source() -> None:
    """Event 004."""
    stage = one()
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.sites.change(DEAF)
    stage.edit(stage.copy(), JobStatus=1)
    stage.poll()
    assert stage.values(found, "JobStatus") == [1]
    assert stage.told() == [EXECUTE, EVICTED]


def test_a_hold_of_the_copy_is_mirrored_and_ends_with_it() -> None:
    """The source stays managed; a release of the source alone does not last."""
    stage = one()
    (found,) = stage.submit(job(ReleaseReason="last time"))
    stage.poll(2)
    stage.destination.hold(stage.copy(), Hold("no disk", 12, 34))
    stage.poll()
    names = ("JobStatus", "HoldReason", "HoldReasonCode", "HoldReasonSubCode", "HoldCopiedFromTargetJob", "Managed")
    assert stage.values(found, *names) == [5, "no disk", 12, 34, True, "External"]
    assert stage.values(found, "NumSystemHolds", "LastReleaseReason") == [1, "last time"]
    stage.source.release(found, "by alice")
    stage.poll()
    assert stage.values(found, "JobStatus", "NumSystemHolds") == [5, 2]
    stage.sites.change(DEAF)
    stage.destination.release(stage.copy(), "mended")
    stage.poll()
    assert stage.values(found, "JobStatus", "HoldCopiedFromTargetJob") == [1, False]
    assert stage.states() == [RoutedState.SUBMITTED]


def test_a_hold_of_the_copy_without_a_reason_shows_none() -> None:
    """As where somebody has edited its JobStatus."""
    stage = one()
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.edit(stage.copy(), JobStatus=5, HoldReasonCode=3, HoldReasonSubCode=7)
    stage.poll()
    names = ("JobStatus", "HoldReason", "HoldReasonCode", "HoldReasonSubCode", "HoldCopiedFromTargetJob")
    assert stage.values(found, *names) == [5, "", 3, 0, True]


def test_chirp_attributes_and_those_of_the_keyword_are_mirrored() -> None:
    """Names that begin with Chirp, by default; none is deleted."""
    stage = one()
    (found,) = stage.submit(job(ChirpOld=1))
    stage.poll(2)
    stage.edit(stage.copy(), ChirpNew=7, Private=8)
    stage.poll()
    assert stage.values(found, "ChirpNew", "ChirpOld", "Private") == [7, 1, None]


@pytest.mark.parametrize(("keyword", "ends"), [(None, [1, None, None]), ("y", [None, 2, None]), ("z", [None] * 3)])
def test_attributes_of_the_keyword_are_mirrored_without_hooks(keyword: str | None, ends: list[object]) -> None:
    """A job's HookKeyword before JOB_ROUTER_HOOK_KEYWORD, in any case; an empty CHIRP_DELAYED_UPDATE_PREFIX is none."""
    knobs = "JOB_ROUTER_HOOK_KEYWORD = x\nX_ATTRS_TO_COPY = First\nY_ATTRS_TO_COPY = Second\n"
    stage = one(knobs=f"{knobs}CHIRP_DELAYED_UPDATE_PREFIX =")
    (found,) = stage.submit(job() if keyword is None else job(HookKeyword=keyword))
    stage.poll(2)
    stage.edit(stage.copy(), First=1, Second=2, ChirpNew=3)
    stage.poll()
    assert stage.values(found, "First", "Second", "ChirpNew") == ends


def test_a_removed_source_takes_its_copy_with_it() -> None:
    """The user's log says aborted, and the source leaves."""
    stage = one()
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.source.remove(found, "by alice")
    assert len(stage.source.jobs(found)) == 1
    stage.poll()
    assert stage.source.jobs(found) == []
    assert stage.values(found, "JobStatus", "Managed", "RemoveReason") == [3, "Schedd", "by alice"]
    assert stage.copies() == []
    assert [ad.python("RemoveReason") for ad in stage.destination.history('RoutedBy == "jobrouter"')] == [
        "JobRouter aborted job"
    ]
    assert ABORTED in stage.told()


def test_a_held_source_takes_its_copy_with_it_and_stays_held() -> None:
    """Released, it is routed anew."""
    stage = one()
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.source.hold(found, Hold("by alice"))
    stage.poll()
    assert stage.values(found, "JobStatus", "Managed") == [5, "Schedd"]
    assert stage.copies() == []
    stage.poll(2)
    stage.source.release(found, "by alice")
    stage.poll(2)
    assert stage.states() == [RoutedState.SUBMITTED]


@pytest.mark.parametrize("how", ["removed", "held"])
@pytest.mark.parametrize("restarted", [False, True])
def test_a_source_that_showed_as_running_is_evicted_when_its_user_ends_it(how: str, restarted: bool) -> None:
    """The last that the router wrote counts: event 004 after the abort, or the hold, of a job that ran."""
    stage = one()
    (found,) = stage.submit(job())
    stage.poll(3)
    if restarted:
        stage.start()
        stage.poll()
    if how == "removed":
        stage.source.remove(found, "by alice")
    else:
        stage.source.hold(found, Hold("by alice"))
    stage.poll(2)
    assert stage.told() == ([EXECUTE, ABORTED, EVICTED] if how == "removed" else [EXECUTE, EVICTED])


def test_a_source_that_is_gone_takes_its_copy_with_it() -> None:
    """As where somebody forced it out."""
    stage = one()
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.edit(found, Managed="Schedd")
    stage.source.remove(found, "forced")
    stage.poll(2)
    assert stage.copies() == []
    assert stage.states() == []


def test_the_log_of_a_source_that_was_forced_out_says_evicted() -> None:
    """As recorded of HTCondor's router after condor_rm -forcex: the last ad names the log."""
    stage = one(site=Site("Site1", delay=0, run_time=100_000))
    (found,) = stage.submit(job())
    stage.poll(3)
    assert stage.told() == [EXECUTE]
    stage.edit(found, Managed="Schedd")
    stage.source.remove(found, "via condor_rm -forcex")
    stage.poll()
    assert stage.told() == [EXECUTE, EVICTED]
    assert stage.copies() == []


def test_a_removed_copy_makes_the_source_idle_and_it_is_routed_again() -> None:
    """Event 004 where it ran; the copy's number is another."""
    stage = one()
    (found,) = stage.submit(job())
    stage.poll(2)
    first = stage.copy()
    stage.destination.remove(first, "by the site")
    stage.poll()
    assert stage.values(found, "JobStatus", "Managed") == [1, "Schedd"]
    assert stage.told() == [EXECUTE, EVICTED]
    stage.poll(2)
    assert stage.copy() != first


def test_a_copy_that_completed_without_the_flag_keeps_waiting() -> None:
    """JobFinishedHookDone: the schedd has not finished it."""
    stage = one()
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.edit(stage.copy(), JobStatus=4, ExitCode=0, LeaveJobInQueue=True)
    stage.poll(3)
    assert stage.states() == [RoutedState.SUBMITTED]
    assert stage.values(found, "JobStatus") == [4]
    stage.edit(stage.copy(), JobFinishedHookDone=1)
    stage.poll()
    assert stage.states() == [RoutedState.RETIRED]


def test_a_log_that_cannot_be_written_is_no_completion() -> None:
    """The copy is removed, and the job is not called done (HTCondor 25.14's job router, finalise)."""
    stage = one(site=Site("Site1", run_time=5))
    (found,) = stage.submit(job())
    stage.poll(1)
    stage.log_works = False
    stage.poll(3)
    assert stage.values(found, "Managed") == ["Schedd"]
    assert len(stage.said(RouterEvent.NO_LOG)) > 0
    assert stage.copies() == []


# 1.8 The source's own policy


def test_the_sources_periodic_remove_is_the_routers_to_evaluate() -> None:
    """Every PERIODIC_EXPR_INTERVAL; the next check takes the route down."""
    stage = one()
    (found,) = stage.submit(job(PeriodicRemove=Expression("NumJobStarts > 0")))
    stage.poll(10)
    assert stage.source.jobs(found) == []
    assert stage.values(found, "JobStatus", "RemoveReason") == [
        3,
        "The job attribute PeriodicRemove expression 'NumJobStarts > 0' evaluated to TRUE",
    ]
    assert stage.copies() == []


@pytest.mark.parametrize(
    ("more", "ends"),
    [
        ({}, [3, "The job attribute PeriodicRemove expression 'JobStatus == 5' evaluated to TRUE"]),
        ({"TimerRemove": NOW}, [3, f"The job attribute TimerRemove expression '{NOW}' evaluated to TRUE"]),
        ({"PeriodicRelease": True}, [5, None]),
        ({"PeriodicRemove": False}, [5, None]),
    ],
)
def test_a_source_that_shows_its_copys_hold_may_be_removed(more: dict[str, object], ends: list[object]) -> None:
    """By periodic_remove or its timer; a periodic_release that is true comes first, and does nothing."""
    stage = one()
    (found,) = stage.submit(job(**{"PeriodicRemove": Expression("JobStatus == 5"), **more}))
    stage.poll(2)
    stage.destination.hold(stage.copy(), Hold("by the site", 21))
    stage.poll(8)
    assert stage.values(found, "JobStatus", "RemoveReason") == ends
    assert len(stage.copies()) == (ends[0] == 5)


@pytest.mark.parametrize(("vacates", "ends"), [(True, 2), (False, 5)])
def test_periodic_vacate_comes_before_periodic_hold(vacates: bool, ends: int) -> None:
    """While it runs; to vacate is the business of whoever runs the copy."""
    stage = one()
    (found,) = stage.submit(job(PeriodicVacate=vacates, PeriodicHold=Expression("JobStatus == 2")))
    stage.poll(8)
    assert stage.values(found, "JobStatus") == [ends]


def test_the_sources_periodic_hold_is_a_hold_of_its_own() -> None:
    """Not the copy's: the copy is removed, and the source stays held; its log says why."""
    stage = one(f"{ROUTE}DELETE PeriodicHold")
    (found,) = stage.submit(job(PeriodicHold=Expression("JobStatus == 2"), PeriodicHoldReason="enough"))
    stage.poll(10)
    assert stage.values(found, "JobStatus", "HoldReason", "HoldReasonCode", "NumSystemHolds") == [5, "enough", 3, 1]
    assert stage.copies() == []
    (event,) = [each for each in stage.events if each.number == HELD_EVENT]
    assert event.attributes["HoldReason"] == "enough"


def test_a_hold_by_policy_is_not_the_copys_though_the_last_one_was() -> None:
    """Somebody releases a mirrored hold, and the source's policy holds it before the router looks."""
    stage = one(f"{ROUTE}DELETE PeriodicHold")
    (found,) = stage.submit(job(PeriodicHold=Expression('LastHoldReason =?= "no disk"'), PeriodicHoldReason="enough"))
    stage.poll(2)
    stage.destination.hold(stage.copy(), Hold("no disk"))
    stage.poll()
    stage.source.release(found, "by alice")
    stage.poll(seconds=60)
    assert stage.values(found, "JobStatus", "HoldReason", "Managed") == [5, "enough", "Schedd"]
    assert stage.copies() == []


def test_a_users_hold_between_two_edits_is_the_users() -> None:
    """On a schedd that edits attribute by attribute, while the copy's hold is written."""
    stage = Stage(table({"Site1": ROUTE}), [SLOW], atomic=False)
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.destination.hold(stage.copy(), Hold("no disk"))
    original = stage.source.edit_if

    def edit_if(job_id: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        done = original(job_id, condition, edits)
        if "HoldCopiedFromTargetJob" in edits and stage.values(found, "JobStatus") == [2]:
            stage.source.hold(found, Hold("by alice"))
        return done

    stage.source.edit_if = edit_if  # type: ignore[method-assign, assignment]
    stage.poll(2)
    assert stage.values(found, "JobStatus", "HoldReason", "Managed") == [5, "by alice", "Schedd"]
    assert stage.copies() == []


def test_a_timer_that_has_no_value_holds_the_source() -> None:
    """As an expression of the policy that is undefined."""
    stage = one(f"{ROUTE}DELETE TimerRemove")
    (found,) = stage.submit(job(TimerRemove=Expression("NoSuchThing")))
    stage.poll(10)
    assert stage.values(found, "JobStatus", "HoldReasonCode") == [5, 5]
    assert "TimerRemove" in str(stage.values(found, "HoldReason"))
    assert stage.copies() == []


@pytest.mark.parametrize("timer", ['real("INF")', '-real("INF")', 'real("NaN")', "1e300", "2.5"])
def test_a_timer_beyond_all_numbers_ends_no_router(timer: str) -> None:
    """It is what HTCondor makes an int of, and of that job alone."""
    site = Site("Site1", slots=9, run_time=30)
    stage = one(f"{ROUTE}DELETE TimerRemove", site, "PERIODIC_EXPR_INTERVAL = 10")
    bad, good = stage.submit(job(TimerRemove=Expression(timer)), job())
    stage.poll(12)
    assert stage.values(good, "JobStatus", "Managed") == [4, "ScheddDone"]
    assert stage.values(bad, "JobStatus") == [3]


@pytest.mark.parametrize("shown", ["1", "1.0", '"true"'])
def test_a_hold_is_the_copys_where_a_boolean_says_so(shown: str) -> None:
    """HTCondor's router asks for a boolean (EvaluateAttrBool), and takes no number for one."""
    stage = one()
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.edit(found, HoldCopiedFromTargetJob=Expression(shown), JobStatus=5)
    stage.poll()
    assert stage.values(found, "Managed") == ["Schedd"]


def test_the_policy_is_nobodys_where_the_interval_is_zero() -> None:
    """PERIODIC_EXPR_INTERVAL = 0."""
    stage = one(knobs="PERIODIC_EXPR_INTERVAL = 0")
    (found,) = stage.submit(job(PeriodicRemove=Expression("NumJobStarts > 0")))
    stage.poll(20)
    assert stage.values(found, "JobStatus", "Managed") == [2, "External"]


@pytest.mark.parametrize(
    ("allowed", "reason", "code"),
    [
        ({"AllowedJobDuration": 60}, "The job exceeded allowed job duration of 01:00", 46),
        ({"AllowedExecuteDuration": 3700}, "The job exceeded allowed execute duration of 1:01:40", 47),
    ],
)
def test_a_source_that_runs_too_long_is_held(allowed: dict[str, int], reason: str, code: int) -> None:
    """HTCondor's UserPolicy looks at it before the expressions; ShadowBday is the copy's."""
    stage = one()
    (found,) = stage.submit(job(**allowed))
    stage.poll(2)
    stage.edit(stage.copy(), ShadowBday=NOW)
    stage.poll()
    assert stage.states() == [RoutedState.SUBMITTED]
    stage.poll(10, seconds=500)
    assert stage.values(found, "JobStatus", "HoldReason", "HoldReasonCode") == [5, reason, code]
    assert stage.copies() == []


# 1.9 Yielding


@pytest.mark.parametrize(("knob", "ends"), [("true", [1, "Schedd"]), ("false", [5, "Schedd"])])
def test_release_on_hold(knob: str, ends: list[object]) -> None:
    """A hold that was the copy's ends with the route, unless JOB_ROUTER_RELEASE_ON_HOLD says no."""
    stage = one(site=DEAF, knobs=f"JOB_ROUTER_RELEASE_ON_HOLD = {knob}")
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.destination.hold(stage.copy(), Hold("no disk"))
    stage.poll()
    stage.destination.remove(stage.copy(), "by the site")
    stage.poll()
    assert stage.values(found, "JobStatus", "Managed") == ends


def test_a_job_that_is_no_longer_the_routers_is_not_yielded() -> None:
    """Somebody has taken it away: the copy goes, and nothing is written into it."""
    stage = one()
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.edit(found, ManagedManager="other")
    stage.poll(2)
    assert stage.values(found, "Managed", "ManagedManager") == ["External", "other"]
    assert stage.copies() == []
    assert "instead of expected" in stage.said(RouterEvent.NOT_YIELDED)[0].text


@pytest.mark.parametrize("again", ["no", "removed", "restarted"])
@pytest.mark.parametrize("atomic", [True, False])
def test_a_source_from_which_the_name_was_deleted_is_still_the_routers(again: str, atomic: bool) -> None:
    """ManagedManager counts where it is present: the job goes on, and is given back; nobody else would."""
    stage = Stage(table({"Site1": ROUTE}), [Site("Site1", run_time=60)], atomic=atomic)
    (found,) = stage.submit(job())
    stage.poll(3)
    stage.edit(found, ManagedManager=Expression("undefined"))
    if again == "removed":
        stage.destination.remove(stage.copy(), "by the site")
        stage.poll()
        assert stage.values(found, "JobStatus", "Managed", "ManagedManager") == [1, "Schedd", ""]
    if again == "restarted":
        stage.start()
        stage.poll()
        assert stage.values(found, "Managed", "ManagedManager") == ["External", "jobrouter"]
    stage.poll(12)
    assert stage.values(found, "JobStatus", "Managed") == [4, "ScheddDone"]
    assert len(stage.sites.ended) == 1


# 1.6 Forgetting, adopting


def test_a_retired_job_waits_for_the_queues() -> None:
    """It is forgotten when they show that it is over, or after MAX_JOB_MIRROR_UPDATE_LAG."""
    stage = one(site=Site("Site1", run_time=5), knobs="MAX_JOB_MIRROR_UPDATE_LAG = 30")
    stage.submit(job())
    stage.poll(2)
    stage.sites._schedd.clear_finished = list  # type: ignore[method-assign]
    stage.poll(2)
    assert stage.states() == [RoutedState.RETIRED]
    stage.poll()
    assert stage.states() == []
    assert len(stage.said(RouterEvent.STALE)) == 1


def test_a_copy_whose_submission_ended_halfway_is_made_anew() -> None:
    """A live schedd may have it on hold until it is whole; it is nobody's hold, and the source does not show it."""
    stage = one()
    (found,) = stage.submit(job())
    stage.poll()
    left = stage.copy()
    stage.source.hold(left, Hold(f"{SUBMITTING} (by user alice)"))
    stage.start()
    stage.poll()
    assert len(stage.said(RouterEvent.NOT_WHOLE)) == 1
    assert stage.values(found, "Managed", "JobStatus", "HoldReason") == ["Schedd", 1, None]
    stage.poll(2)
    assert stage.copy() > left
    assert stage.values(found, "Managed") == ["External"]


def test_a_new_router_adopts_copies() -> None:
    """The job goes on, and is done once."""
    stage = one(site=Site("Site1", run_time=60))
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.start()
    stage.poll()
    assert len(stage.said(RouterEvent.ADOPTED)) == 1
    stage.poll(8)
    assert stage.values(found, "JobStatus", "Managed") == [4, "ScheddDone"]
    assert len(stage.sites.runs) == 1


def test_a_copy_without_a_source_is_removed() -> None:
    """And one that does not say whose it is is left alone."""
    stage = one(site=DEAF)
    stage.destination.submit([job(RoutedBy="jobrouter", RoutedFromJobId="99.0", RouteName="Site1")])
    stage.destination.submit([job(RoutedBy="jobrouter")])
    stage.poll()
    assert [str(ad["ClusterId"]) for ad in stage.copies()] == ["2"]
    assert [ad.python("RemoveReason") for ad in stage.destination.history()] == ["JobRouter orphan"]
    assert len(stage.said(RouterEvent.NO_ROUTING)) == 1


def test_a_source_without_a_copy_is_given_back() -> None:
    """Idle again, with an evict event if it ran; it is routed anew."""
    stage = one()
    (found,) = stage.submit(job(Managed="External", ManagedManager="jobrouter", JobStatus=2))
    stage.poll()
    assert stage.values(found, "JobStatus", "Managed") == [1, "Schedd"]
    assert stage.told() == [EVICTED]
    stage.poll()
    assert stage.states() == [RoutedState.SUBMITTED]


def test_a_completed_source_without_a_copy_is_told_to_its_user() -> None:
    """The last router let the copy go and ended: nobody waits for the log's event for ever."""
    stage = one()
    (found,) = stage.submit(job(Managed="External", ManagedManager="jobrouter", JobStatus=4, ExitCode=3))
    stage.poll(2)
    assert stage.told() == [TERMINATED]
    assert stage.events[0].attributes["ReturnValue"] == 3
    assert stage.values(found, "JobStatus", "Managed") == [4, "Schedd"]
    assert stage.source.jobs() == []


def test_a_router_with_another_name_is_another_router() -> None:
    """It touches neither the sources nor the copies of the old name, which goes on with them when it is back.

    As long as its routes do not want the copies, that is.
    """
    stage = one(f"{ROUTE}DELETE WantJobRouter", DEAF)
    (found,) = stage.submit(job())
    stage.poll()
    mine = stage.table
    stage.table = table({"Site1": f"{ROUTE}DELETE WantJobRouter"}, "JOB_ROUTER_NAME = renamed")
    stage.start()
    stage.poll(6)
    assert stage.router.jobs == {}
    assert stage.values(found, "JobStatus", "ManagedManager") == [1, "jobrouter"]
    stage.table = mine
    stage.sites.change(Site("Site1", run_time=20))
    stage.start()
    stage.poll(6)
    assert stage.values(found, "JobStatus", "Managed") == [4, "ScheddDone"]
    assert len(stage.sites.runs) == 1


def test_orphans_of_another_router_are_its_own() -> None:
    """The name decides."""
    stage = one(site=DEAF)
    stage.source.submit([job(Managed="External", ManagedManager="other")])
    stage.destination.submit([job(RoutedBy="other", RoutedFromJobId="99.0", RouteName="X", WantJobRouter=False)])
    stage.poll(7)
    assert len(stage.source.jobs()) == 2


# Reconfiguration


def test_a_route_that_goes_leaves_its_jobs() -> None:
    """They end as they would; new ones go by the new table, and throttles stay by name."""
    stage = one(site=Site("Site1", run_time=60))
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.router.reload(table({"Site2": ROUTE}))
    assert str(stage.entries[-1]) == "JobRouter: routing table replaced (adding Site2; dropping Site1)"
    (more,) = stage.submit(job())
    stage.poll()
    assert [each.route for each in stage.router.jobs.values()] == ["Site1", "Site2"]
    stage.poll(8)
    assert stage.values(found, "JobStatus", "Managed") == [4, "ScheddDone"]
    assert stage.values(more, "Managed") == ["External"]


def test_a_table_that_is_not_enabled_takes_no_more_jobs() -> None:
    """Jobs that are routed end as they would, by the table that was; another table takes jobs again."""
    stage = one(site=Site("Site1", run_time=60))
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.router.reload(load_table(read_config("JOB_ROUTER_MAX_JOBS = 5")))
    assert str(stage.entries[-1]) == "JobRouter: routing is disabled; routed jobs continue with the old table"
    (more,) = stage.submit(job())
    stage.poll(9)
    assert stage.values(found, "JobStatus", "Managed") == [4, "ScheddDone"]
    assert stage.values(more, "JobStatus", "Managed") == [1, None]
    assert stage.router.why(more).reason is RouteReason.DISABLED
    assert [each.throttle.succeeded for each in stage.router.routes()] == [1]
    stage.router.reload(stage.table)
    stage.poll()
    assert stage.values(more, "Managed") == ["External"]


def test_a_router_keeps_its_name() -> None:
    """Under another one it would not know its own jobs."""
    stage = one(site=Site("Site1", run_time=20))
    (found,) = stage.submit(job())
    stage.poll(2)
    stage.router.reload(table({"Site1": ROUTE}, "JOB_ROUTER_NAME = other"))
    stage.poll(4)
    assert stage.values(found, "JobStatus", "Managed") == [4, "ScheddDone"]


def test_a_new_table_asks_waiting_jobs_anew() -> None:
    """A job that matched nothing is taken by a route that comes later."""
    stage = one("REQUIREMENTS false\nUNIVERSE vanilla")
    (found,) = stage.submit(job())
    stage.poll(3)
    assert stage.router.why(found).reason is RouteReason.NO_MATCH
    stage.router.reload(table({"Site1": ROUTE}))
    stage.poll()
    assert stage.states() == [RoutedState.SUBMITTED]


# The clock


def test_a_clock_that_is_set_back_stops_nothing() -> None:
    """What was waited for is waited for no longer than before: the copy, the policy, the window of the throttle."""
    stage = one(knobs="MAX_JOB_MIRROR_UPDATE_LAG = 60")
    (found,) = stage.submit(job(PeriodicRemove=Expression("NumJobStarts > 0")))
    stage.poll(2)
    begun = stage.router.routes()[0].throttle.begin
    stage.now -= 30 * 86400
    stage.router.poll()
    (said,) = stage.said(RouterEvent.CLOCK_SET_BACK)
    assert said.text == f" by {30 * 86400} seconds"
    assert stage.router.routes()[0].throttle.begin == begun - 30 * 86400
    for _ in range(8):
        stage.now += 10
        stage.router.poll()
    assert stage.values(found, "JobStatus") == [3]
    assert stage.copies() == []


def test_an_unanswered_submission_is_given_up_though_the_clock_was_set_back() -> None:
    """After MAX_JOB_MIRROR_UPDATE_LAG the job is routed again."""
    stage = one(knobs="MAX_JOB_MIRROR_UPDATE_LAG = 60")
    stage.submit(job())
    original = stage.source.submit
    stage.source.submit = _silent  # type: ignore[method-assign, assignment]
    stage.poll()
    stage.source.submit = original  # type: ignore[method-assign]
    stage.now -= 86400
    for _ in range(10):
        stage.now += 10
        stage.router.poll()
    assert len(stage.said(RouterEvent.LAG)) == 1
    assert len(stage.copies()) == 1


def _silent(_ads: object) -> list[JobId]:
    raise unreachable()


# A schedd that does not answer


@pytest.mark.parametrize("which", ["source", "destination"])
def test_an_hour_of_silence_loses_nothing(which: str) -> None:
    """Meanwhile one copy completes, one is removed by its site, and one source by its user; new jobs come."""
    stage = Stage(table({"Site1": ROUTE}), [Site("Site1", slots=9, run_time=1200)], two=True)
    jobs = stage.submit(job(), job(), job())
    stage.poll(2)
    silent = getattr(stage, which)
    original, silent.changes = silent.changes, _no_changes
    stage.poll()
    stage.destination.remove('RoutedFromJobId == "2.0"', "by the site")
    stage.source.remove(jobs[2], "by alice")
    jobs += stage.submit(job())
    stage.poll(360)
    assert len(stage.said(RouterEvent.UNREACHABLE)) == 361
    silent.changes = original
    stage.poll(200)
    assert [stage.values(found, "JobStatus") for found in jobs] == [[4], [4], [3], [4]]
    assert len(set(stage.sites.ended)) == len(stage.sites.ended)
    assert {"1.0", "2.0", "4.0"} <= set(stage.sites.ended)
    assert (stage.copies(), stage.states(), stage.source.jobs()) == ([], [], [])


def _no_changes() -> NoReturn:
    raise unreachable()


# The seed's jobs


def test_a_job_that_waits_for_a_local_rejection() -> None:
    """job1.sub of the manual: +WantJobRouter = LastRejMatchTime =!= UNDEFINED."""
    stage = one()
    (found,) = stage.submit(job(WantJobRouter=Expression("LastRejMatchTime =!= UNDEFINED")))
    stage.poll(3)
    assert stage.copies() == []
    assert stage.router.why(found).reason is RouteReason.NO_MATCH
    stage.edit(found, LastRejMatchTime=stage.now)
    stage.poll()
    assert stage.states() == [RoutedState.SUBMITTED]


def test_a_requirement_that_asks_the_clock() -> None:
    """Idle for an hour: nothing in the queue changes, time does."""
    stage = one("REQUIREMENTS time() - QDate > 3600\nUNIVERSE vanilla")
    stage.submit(job())
    stage.poll(359)
    assert stage.copies() == []
    stage.poll(2)
    assert len(stage.copies()) == 1


def test_two_schedds() -> None:
    """Sources in one queue, copies in the other."""
    stage = Stage(table({"Site1": ROUTE}), [Site("Site1", run_time=20)], two=True)
    (found,) = stage.submit(job())
    stage.poll(2)
    assert len(stage.destination.jobs()) == 1
    stage.poll(4)
    assert stage.values(found, "JobStatus", "Managed") == [4, "ScheddDone"]
    assert stage.destination.jobs() == []
