"""The life of a deferred job: the manual's sentences and the recorded facts, one by one."""

import pytest

from crondor.classad import Expression
from crondor.pool.settings import Lengths
from crondor.schedd.protocol import Hold, ScheddError
from tests.pool.pools import NOW, Seen

HOURLY = "cron_minute = 0\non_exit_remove = false"


def test_a_crontab_job_is_matched_when_its_gates_open() -> None:
    """The match comes SCHEDD_INTERVAL and prep time before the run, and the negotiator's delay later."""
    seen = Seen(f"{HOURLY}\ncron_prep_time = 60").at(4000)
    opens = 3600 - 60 - 300
    expected = [(opens + 10, "matched"), (opens + 15, "arrived"), (3600, "started"), (3620, "ended")]
    assert seen.story("matched", "arrived", "started", "ended") == expected


def test_a_waiting_job_is_running_to_the_queue() -> None:
    """JobStatus is 2 while it waits, and NumJobStarts rises at the real start."""
    seen = Seen(HOURLY).at(3599)
    assert (seen.ad().value("JobStatus"), seen.ad().value("NumJobStarts")) == (2, 0)
    assert seen.at(3600).ad().value("NumJobStarts") == 1


def test_the_next_time_is_computed_when_a_run_ends() -> None:
    """The job keeps its ids and waits for the next hour."""
    assert Seen(HOURLY).at(3620).ad().value("DeferralTime") == NOW + 7200


def test_a_run_that_takes_longer_than_the_period_passes_over_times() -> None:
    """There is one instance at a time, and missed times are not made up."""
    seen = Seen(HOURLY, run_time=Lengths.fixed(3 * 3600)).at(8 * 3600)
    assert seen.story("started") == [(3600, "started"), (5 * 3600, "started")]


def test_a_job_that_arrives_late_starts_within_its_window() -> None:
    """Late by exactly the window still runs."""
    late = {"transfer": Lengths.fixed(640)}  # 10 s to the match, 600 s of gates: 50 s late
    assert Seen(f"{HOURLY}\ncron_window = 50", **late).at(4000).story("started") == [(3650, "started")]
    assert Seen(f"{HOURLY}\ncron_window = 49", **late).at(4000).story("started") == []


def test_a_job_that_arrives_too_late_is_held_with_code_20() -> None:
    """Nothing releases it by itself."""
    ad = Seen(HOURLY, transfer=Lengths.fixed(640)).at(90_000).ad()
    held = ("JobStatus", "HoldReasonCode", "HoldReason", "NumJobStarts")
    assert [ad.value(name) for name in held] == [5, 20, "Job missed deferred execution time", 1]


def test_a_local_job_that_arrives_too_late_has_not_started() -> None:
    """The local starter holds it at once, without a start to count; here its Requirements were edited away."""
    seen = Seen("universe = local\nhold = true")
    job = seen.jobs[0]
    seen.pool.edit(job, {"DeferralTime": NOW - 50})
    seen.pool.release(job, "by alice")
    ad = seen.at(20).ad()
    assert [ad.value(name) for name in ("JobStatus", "HoldReasonCode", "NumJobStarts")] == [5, 20, 0]


def test_a_one_time_job_that_misses_its_match_is_idle_for_ever() -> None:
    """The clause in Requirements matches no more; no hold, no word."""
    seen = Seen(f"deferral_time = {NOW + 5}").at(86_400)
    assert seen.ad().value("JobStatus") == 1
    assert seen.story("matched", "held") == []


@pytest.mark.parametrize("value", ["undefined", "0", "-5", '"abc"'])
def test_a_time_that_is_none_is_a_missed_one(value: str) -> None:
    """Without the clause of condor_submit such a job reaches the starter."""
    seen = Seen("hold = true")
    seen.pool.edit(seen.jobs[0], {"DeferralTime": Expression(value)})
    seen.pool.release(seen.jobs[0], "by alice")
    assert seen.at(60).ad().value("HoldReasonCode") == 20


def test_a_real_time_runs() -> None:
    """A fraction of a second is cut off."""
    seen = Seen("hold = true")
    seen.pool.edit(seen.jobs[0], {"DeferralTime": NOW + 100.5})
    seen.pool.release(seen.jobs[0], "by alice")
    assert seen.at(200).story("started") == [(100, "started")]


def test_an_invalid_schedule_holds_the_job() -> None:
    """Code 25, with the schedd's own words."""
    ad = Seen("cron_minute = abc").at(60).ad()
    assert ad.value("HoldReasonCode") == 25
    assert ad.value("HoldReason") == "Invalid cron schedule parameters: Invalid parameter value 'abc' for CronMinute"


def test_suspended_while_waiting_it_goes_on_waiting() -> None:
    """When the time arrives it starts, and is suspended at once; it goes on when it is let.

    The queue hears of it with the starter's first update, 8 s later; until then it cannot be continued.
    """
    seen = Seen(HOURLY).at(3300)
    assert seen.pool.suspend(seen.jobs[0])
    assert seen.pool.suspend(seen.jobs[0])
    assert not seen.pool.resume(seen.jobs[0])
    assert seen.at(3599).ad().value("JobStatus") == 2
    assert seen.at(3600).story("started", "suspended") == [(3600, "started"), (3600, "suspended")]
    assert [seen.at(when).ad().value("JobStatus") for when in (3607, 3608, 5000)] == [2, 7, 7]
    assert not seen.pool.suspend(seen.jobs[0])
    assert seen.pool.resume(seen.jobs[0])
    assert seen.at(6000).story("ended") == [(5020, "ended")]


def test_a_suspended_job_is_not_vacated() -> None:
    """The schedd vacates running jobs only."""
    seen = Seen(HOURLY).at(3610)
    assert seen.pool.suspend(seen.jobs[0])
    assert seen.ad().value("JobStatus") == 7
    assert not seen.pool.vacate(seen.jobs[0])
    assert seen.pool.resume(seen.jobs[0])
    assert seen.pool.vacate(seen.jobs[0])
    assert seen.ad().value("JobStatus") == 1


@pytest.mark.parametrize("universe", ["vanilla", "local"])
def test_a_time_that_asks_for_the_clock_is_read_when_the_job_arrives(universe: str) -> None:
    """The starter evaluates it once, then waits; the schedd's gates are always open."""
    seen = Seen(f"universe = {universe}\ndeferral_time = time() + 600", schedd_interval=300).at(2000)
    (arrived,) = (when for when, _ in seen.story("arrived"))
    assert arrived < 300
    assert seen.story("started") == [(arrived + 600, "started")]


def test_gates_that_ask_for_the_clock_are_looked_at_again() -> None:
    """They are closed at first, and open by time alone."""
    seen = Seen(f"deferral_time = ifThenElse(time() > 0, {NOW + 3600}, 0)").at(4000)
    (matched,) = (when for when, _ in seen.story("matched"))
    assert 3000 <= matched < 3100
    assert seen.story("started") == [(3600, "started")]


@pytest.mark.parametrize("act", ["hold", "vacate", "remove"])
def test_taken_off_while_waiting_it_has_not_started(act: str) -> None:
    """The wait is cancelled."""
    seen = Seen(HOURLY).at(3300)
    pool, job = seen.pool, seen.jobs[0]
    assert {"hold": lambda: pool.hold(job, Hold("x")), "vacate": lambda: pool.vacate(job)}.get(
        act, lambda: pool.remove(job, "x")
    )()
    status = None if job not in pool.jobs else pool.jobs[job].ad.value("JobStatus")
    assert status == {"hold": 5, "vacate": 1, "remove": None}[act]
    seen.at(3599)
    assert seen.story("started") == []


def test_a_job_held_while_idle_keeps_its_time() -> None:
    """It keeps it until it is past; a job held while it ran gets a new one."""
    seen = Seen(HOURLY).at(100)
    seen.pool.hold(seen.jobs[0], Hold("x"))
    seen.pool.edit(seen.jobs[0], {"DeferralTime": NOW + 1800})
    seen.at(200).pool.release(seen.jobs[0], "y")
    assert seen.at(500).ad().value("DeferralTime") == NOW + 1800


def test_a_user_who_releases_within_the_window_has_it_run_again() -> None:
    """The schedd does not forget the schedule of what a user holds while it runs; it does after on_exit_hold."""
    seen = Seen(f"{HOURLY}\ncron_window = 500").at(3610)
    seen.pool.hold(seen.jobs[0], Hold("via condor_hold"))
    seen.pool.release(seen.jobs[0], "via condor_release")
    assert seen.at(4000).story("started") == [(3600, "started"), (3625, "started")]
    seen = Seen(f"{HOURLY}\ncron_window = 500\non_exit_hold = true").at(3630)
    seen.pool.release(seen.jobs[0], "via condor_release")
    assert seen.at(4000).story("started") == [(3600, "started")]


def test_an_edit_of_the_schedule_waits_for_a_reconfig() -> None:
    """The parsed schedule is cached."""
    seen = Seen(HOURLY).at(100)
    seen.pool.edit(seen.jobs[0], {"CronMinute": "30"})
    assert seen.at(400).ad().value("DeferralTime") == NOW + 3600
    seen.pool.reconfig()
    assert seen.at(800).ad().value("DeferralTime") == NOW + 1800


def test_the_ids_and_the_status_cannot_be_edited() -> None:
    """They are the schedd's own."""
    seen = Seen(HOURLY)
    with pytest.raises(ScheddError, match="belongs to the schedd"):
        seen.pool.edit(seen.jobs[0], {"jobstatus": 2})
    with pytest.raises(ScheddError, match="identifies the job"):
        seen.pool.edit(seen.jobs[0], {"ClusterId": 2})


def test_the_machines_clock_decides() -> None:
    """A machine that is ahead starts the job early, by the schedd's clock."""
    assert Seen(HOURLY, skew=40).at(4000).story("started") == [(3560, "started")]


def test_the_queue_is_told_how_an_evicted_program_ended() -> None:
    """It died of the signal; one that had not started has not ended, and a local starter says nothing."""
    names = ("ExitBySignal", "ExitSignal", "ExitCode")
    expected = {"": (True, 2), "universe = local": (False, "undefined")}
    for universe, (by_signal, number) in expected.items():
        seen = Seen(f"{HOURLY}\n{universe}\nhold_kill_sig = SIGINT").at(3601)
        seen.pool.hold(seen.jobs[0], Hold("via condor_hold"))
        ad = seen.ad()
        assert [str(ad.value(name)).lower() for name in names] == [str(by_signal).lower(), str(number), "undefined"]
    seen = Seen(HOURLY).at(3590)
    seen.pool.hold(seen.jobs[0], Hold("via condor_hold"))
    assert seen.ad().value("ExitBySignal") is False


@pytest.mark.parametrize("text", ["on_exit_remove = false", "on_exit_hold = true"])
def test_a_local_job_that_stays_does_not_say_how_it_ended(text: str) -> None:
    """Its starter tells the schedd how the program ended only where the job is completed."""
    for universe, code in (("local", "undefined"), ("vanilla", "0")):
        seen = Seen(f"universe = {universe}\ncron_minute = 0\n{text}").at(4000)
        assert seen.story("ended") == [(3620, "ended")]
        assert str(seen.ad().value("ExitCode")).lower() == code
    seen = Seen("universe = local\ncron_minute = 0\nleave_in_queue = true").at(4000)
    assert (seen.ad().value("ExitCode"), seen.ad().value("NumJobCompletions")) == (0, 0)


def test_on_exit_remove_sees_the_start_except_in_the_local_universe() -> None:
    """The local starter's ad has NumJobStarts as it was before the run: one run more."""
    text = "cron_minute = *\non_exit_remove = NumJobStarts >= 2"
    assert len(Seen(text).at(7200).story("started")) == 2
    assert len(Seen(f"universe = local\n{text}").at(7200).story("started")) == 3


def test_on_exit_hold_comes_before_on_exit_remove() -> None:
    """The reason is the expression."""
    ad = Seen(f"{HOURLY}\non_exit_hold = NumJobStarts == 1").at(3700).ad()
    assert ad.value("HoldReasonCode") == 3
    assert ad.value("HoldReason") == "The job attribute OnExitHold expression 'NumJobStarts == 1' evaluated to TRUE"


def test_periodic_expressions_hold_release_and_remove() -> None:
    """They are looked at every minute; a job that a user held is not released."""
    text = f"{HOURLY}\nperiodic_hold = time() > {NOW + 100} && NumHolds =?= undefined\nperiodic_release = true"
    seen = Seen(f"{text}\nperiodic_remove = time() > {NOW + 900}").at(600)
    assert seen.story("held", "released") == [(120, "held"), (180, "released")]
    seen.pool.hold(seen.jobs[0], Hold("via condor_hold"))
    assert seen.at(880).story("released") == [(180, "released")]
    assert seen.at(1000).story("removed") == [(960, "removed")]


@pytest.mark.parametrize(
    ("timer", "held", "removed"),
    [
        (str(NOW + 60), [], [(120, "removed")]),
        (f"{NOW + 60}.5", [], [(120, "removed")]),
        ("false", [], [(60, "removed")]),
        ('real("INF")', [], [(60, "removed")]),  # of which an int of HTCondor has 0
        ("-1", [], []),
        (str(2**31), [], []),
        ('"soon"', [(3010, "held")], []),
        ("NoSuchThing", [(3010, "held")], []),
    ],
)
def test_the_timer_of_a_job_is_an_int(timer: str, held: list[object], removed: list[object]) -> None:
    """The schedd passes over one that is no number; the shadow of a run holds its job, with code 5."""
    seen = Seen(f"{HOURLY}\n+TimerRemove = {timer}").at(3400)
    assert (seen.story("held"), seen.story("removed")) == (held, removed)
    if held:
        assert seen.ad().value("HoldReasonCode") == 5
        assert "TimerRemove expression" in str(seen.ad().value("HoldReason"))


@pytest.mark.parametrize(("value", "count"), [("true", 2), ("1", 2), ("1.5", 2), ("0.5", 0), ("0", 0), ('"true"', 0)])
def test_a_policy_fires_where_it_is_an_integer_beside_zero(value: str, count: int) -> None:
    """So a half does not, which is true in Requirements."""
    seen = Seen(f"{HOURLY}\n+PeriodicHold = JobStatus == 2 ? {value} : false").at(3400)
    assert len(seen.story("held")) == bool(count)


def test_periodic_expressions_are_looked_at_when_a_starter_reports() -> None:
    """At the match and at the start. The shadow looks again at the end of the run, and holds the job a second time."""
    seen = Seen(f"{HOURLY}\nperiodic_hold = JobStatus == 2 && NumJobStarts == 0").at(3400)
    assert seen.story("matched", "held") == [(3010, "matched"), (3010, "held")]
    assert seen.ad().value("NumHolds") == 2
    seen = Seen(f"{HOURLY}\nperiodic_hold = NumJobStarts == 1").at(3600)
    assert seen.story("started", "held") == [(3600, "started"), (3600, "held")]
    seen = Seen(f"{HOURLY}\nperiodic_hold = JobStatus == 1").at(3400)
    assert seen.ad().value("NumHolds") == 1


def test_periodic_vacate_does_not_stop_the_time() -> None:
    """It takes the job off each machine at once, also where the next one is there in the same second."""
    at_once = Lengths.fixed(0)
    seen = Seen(f"{HOURLY}\nperiodic_vacate = true", match_delay=at_once, transfer=at_once).at(3599)
    assert seen.pool.now == NOW + 3599
    assert len(seen.story("evicted")) > 1
    assert seen.story("started") == []


def test_jobs_share_the_slots_by_priority() -> None:
    """The one with the higher priority runs, the other is rejected and comes when the slot is free."""
    seen = Seen("priority = 0\nqueue\npriority = 5")
    started = [h.job.id for h in seen.at(100).happened if h.what.value == "started"]
    assert started == [seen.jobs[1], seen.jobs[0]]


def test_a_rejected_job_says_so() -> None:
    """The negotiator sets LastRejMatchTime and LastRejMatchReason."""
    ad = Seen("requirements = TARGET.Colour == 3").at(100).ad()
    assert (ad.value("LastRejMatchTime"), ad.value("LastRejMatchReason")) == (NOW + 10, "no match found")


def test_a_scheduler_universe_job_with_a_schedule_never_runs() -> None:
    """Its Requirements ask for HasJobDeferral, which the schedd has not."""
    seen = Seen("universe = scheduler\ncron_minute = *").at(3600)
    assert seen.story("started") == []
    assert seen.at(3700).ad().value("DeferralTime") in {NOW + 3660, NOW + 3720}


def test_a_negative_window_does_not_stop_the_time() -> None:
    """Each new time is past at once; the schedd computes the next one in its next pass, not in the same one."""
    seen = Seen("cron_minute = *\non_exit_remove = false\n+DeferralWindow = -500").at(3600)
    assert seen.pool.now == NOW + 3600
    assert len(seen.story("planned")) <= 61
    assert seen.story("started") == []


@pytest.mark.parametrize("window", ["-(5)", "0 - 5"])
def test_a_negative_window_closes_the_gates_earlier(window: str) -> None:
    """The job is matched until then, waits, and starts at its time."""
    text = f"{HOURLY}\ncron_prep_time = 60\ncron_window = {window}"
    expected = [(3600 - 360 + 10, "matched"), (3600, "started")]
    assert Seen(text).at(3610).story("matched", "started") == expected
    late = {"match_delay": Lengths.fixed(360 - 5)}
    assert Seen(text, **late).at(3610).story("matched", "started") == []


@pytest.mark.parametrize("time", ["QDate + 1000", f"{NOW} + 10 * 100"])
def test_an_expression_with_one_value_opens_the_gates_in_its_second(time: str) -> None:
    """The negotiator need not try again and again."""
    seen = Seen(f"deferral_time = {time}\ndeferral_prep_time = 20", schedd_interval=5).at(2000)
    assert seen.story("rejected", "matched", "started") == [(985, "matched"), (1000, "started")]


def test_a_time_that_follows_the_runs_opens_the_gates_for_each() -> None:
    """It has another value after a start."""
    text = f"deferral_time = {NOW + 100} + 1000 * NumJobStarts\ndeferral_prep_time = 0\ndeferral_window = 50"
    seen = Seen(f"{text}\non_exit_remove = NumJobStarts >= 3", schedd_interval=5).at(3000)
    expected = [(105, "matched"), (110, "started"), (1105, "matched"), (1110, "started"), (2105, "matched")]
    assert seen.story("rejected", "matched", "started") == [*expected, (2110, "started")]


def test_the_longest_time_of_a_job_counts_from_its_match() -> None:
    """A job that waits for its time uses it up, and is held before it starts."""
    seen = Seen(f"{HOURLY}\nallowed_job_duration = 400").at(3599)
    assert seen.story("started") == []
    held = ("JobStatus", "HoldReasonCode", "HoldReason")
    assert [seen.ad().value(name) for name in held] == [5, 46, "The job exceeded allowed job duration of 06:40"]
    assert seen.story("matched", "held") == [(3010, "matched"), (3420, "held")]


def test_the_longest_time_of_a_program_counts_from_its_start() -> None:
    """It is looked at each minute."""
    seen = Seen(f"{HOURLY}\nallowed_execute_duration = 100", run_time=Lengths.fixed(1000)).at(5000)
    assert seen.story("started", "held") == [(3600, "started"), (3720, "held")]
    assert seen.ad().value("HoldReasonCode") == 47


def test_periodic_vacate_makes_a_running_job_idle() -> None:
    """A crontab job gets its next time."""
    text = f"{HOURLY}\nperiodic_vacate = time() - JobCurrentStartExecutingDate > 100"
    seen = Seen(text, run_time=Lengths.fixed(1000)).at(4000)
    assert seen.story("started", "evicted") == [(3600, "started"), (3720, "evicted")]
    assert (seen.ad().value("JobStatus"), seen.ad().value("DeferralTime")) == (1, NOW + 7200)
