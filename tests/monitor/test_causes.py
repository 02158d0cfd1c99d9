"""The verdict of a due time, cause by cause, of made jobs: followed, and seen only once when it was over."""

from typing import Any

import pytest

from crondor.classad import Expression
from crondor.classad.ad import ClassAd
from crondor.event_log import EventType, JobEvent
from crondor.monitor import QueueWatch, Totals
from crondor.monitor.judging import SETTLE
from crondor.spec import Dialect
from tests.monitor.made import ENTERED, HOUR, SIX, MadeJob, words

END = SIX + 60  # the last start
LATER = END + SETTLE + 1
RUN: dict[str, Any] = {"JobStatus": 2, "JobCurrentStartDate": SIX - 90, "EnteredCurrentStatus": SIX - 90}
BEGUN: dict[str, Any] = {**RUN, "JobCurrentStartExecutingDate": SIX, "NumJobStarts": 1, "DeferralTime": SIX}
ENDED: dict[str, Any] = {
    "JobStatus": 1,
    "EnteredCurrentStatus": SIX + 5,
    "JobCurrentStartDate": None,
    "JobLastStartDate": SIX - 90,
    "JobCurrentStartExecutingDate": SIX,
    "NumJobStarts": 1,
    "NumJobCompletions": 1,
    "ExitBySignal": False,
    "ExitCode": 0,
    "DeferralTime": SIX + HOUR,
}


def test_a_time_goes_from_due_over_late_to_missed() -> None:
    """Each verdict is told once, and the last one stays."""
    job = MadeJob(QueueWatch(grace=20), DeferralTime=SIX)
    job.look(SIX - 10)
    told = [words(run) for now in (SIX, SIX + 20, SIX + 21, END, LATER, LATER + 100) for run in job.look(now)]
    assert told == [("due", None), ("late", "no-match"), ("missed", "no-match")]


def test_a_time_that_requirements_exclude_is_not_due() -> None:
    """Of a compiled job every other hour, in a queue that is followed, and in one that is seen once."""
    even = Expression(f"TARGET.HasJobDeferral && (DeferralTime % 7200 == {SIX % 7200})")
    followed = MadeJob(DeferralTime=SIX + HOUR, Requirements=even)
    followed.look(SIX + 100)
    assert [run for now in range(SIX + 200, SIX + 2 * HOUR, 600) for run in followed.look(now)] == []
    told = followed.look(SIX + 2 * HOUR + LATER - SIX, DeferralTime=SIX + 2 * HOUR)
    assert [(run.run.time, *words(run)) for run in told] == [(SIX + 2 * HOUR, "missed", "no-match")]
    once = MadeJob(DeferralTime=SIX + 2 * HOUR, Requirements=even)
    (standing,) = once.watch.look([once.ad], SIX + HOUR + 1000).jobs
    assert standing.latest is not None
    assert (standing.latest.run.time, standing.right_time) == (SIX, None)


def test_a_deferral_time_that_requirements_exclude_is_not_due() -> None:
    """It never matches, and the monitor has nothing to wait for; `crondor queue status` says why."""
    job = MadeJob(CronMinute=None, DeferralTime=SIX, Requirements=Expression("DeferralTime % 7 == 9"))
    assert [run for now in (SIX - 10, SIX + 1, LATER) for run in job.look(now)] == []


def test_a_start_is_told_when_it_is_seen_and_again_when_it_is_lost() -> None:
    """By the shadow's word, with its delay; an end of its own keeps it."""
    job = MadeJob(DeferralTime=SIX)
    job.look(SIX - 10, **RUN)
    (started,) = job.look(SIX + 3, **{**BEGUN, "JobCurrentStartExecutingDate": SIX + 1})
    assert (words(started), started.delay, started.is_final) == (("started", None), 1, False)
    assert job.look(SIX + 10, **{**ENDED, "JobCurrentStartExecutingDate": SIX + 1}) == []
    assert [each.last_success for each in job.watch.look([job.ad], SIX + 11).jobs] == [SIX + 5]


@pytest.mark.parametrize("is_over", [False, True])
@pytest.mark.parametrize("looks", [(), (LATER,)])
def test_a_made_up_run_is_that_of_the_missed_time(looks: tuple[int, ...], *, is_over: bool) -> None:
    """It is no start without a due time, seen while it runs or afterwards; a time that was told as missed stays so."""
    at = SIX + 900
    mark: dict[str, Any] = {
        "CrondorCatchUpTime": at,
        "CrondorCaughtUp": SIX,
        "JobCurrentStartDate": at - 30,
        "DeferralTime": at,
    }
    made_up: dict[str, Any] = {**BEGUN, "EnteredCurrentStatus": at - 30, "JobCurrentStartExecutingDate": at, **mark}
    over: dict[str, Any] = {
        **ENDED,
        "EnteredCurrentStatus": at + 3,
        "JobCurrentStartExecutingDate": at,
        **mark,
        "DeferralTime": SIX + HOUR,
    }
    job = MadeJob(DeferralTime=SIX)
    for now in (SIX - 10, *looks):
        job.look(now, DeferralTime=SIX + HOUR if now > SIX else SIX)
    told = job.look(at + SETTLE + 5, **(over if is_over else made_up))
    assert [(words(run), run.run.time, run.delay) for run in told] == ([] if looks else [(("started", None), SIX, 900)])


def test_a_short_run_between_two_looks_is_seen() -> None:
    """What the ad keeps of it is enough; it may have been matched again since, and in the very second of its end."""
    assert MadeJob().said(LATER, **ENDED) == ("started", None)
    again: dict[str, Any] = {**ENDED, "JobStatus": 2, "JobCurrentStartDate": SIX, "EnteredCurrentStatus": SIX}
    job = MadeJob(DeferralTime=SIX)
    job.look(SIX - 10, **RUN)
    assert [words(run) for run in job.look(SIX + 20, **again)] == [("started", None)]


@pytest.mark.parametrize(("code", "cause"), [(20, "held-20"), (25, "held-25"), (1, "held"), (None, "held")])
def test_a_hold_says_its_code(code: int | None, cause: str) -> None:
    """A job that is held through its window; what holds it is the reason's own text."""
    held: dict[str, Any] = {
        "JobStatus": 5,
        "EnteredCurrentStatus": SIX - HOUR,
        "HoldReasonCode": code,
        "HoldReason": "because",
    }
    job = MadeJob()
    assert job.said(LATER, **held) == ("missed", cause)
    (latest,) = (each.latest for each in job.watch.look([job.ad], LATER).jobs)
    assert latest is not None
    assert (latest.code, latest.detail) == (code, "because")


def test_a_late_arrival_is_no_start_though_shadow_and_log_tell_of_one() -> None:
    """HTCondor writes an execute event, JobCurrentStartExecutingDate and NumJobStarts, and holds the job 10 s later."""
    there: dict[str, Any] = {
        "JobStatus": 2,
        "EnteredCurrentStatus": END + 20,
        "JobCurrentStartDate": END + 20,
        "NumJobStarts": 1,
    }
    begun: dict[str, Any] = {**there, "JobCurrentStartExecutingDate": END + 25, "DeferralTime": SIX}
    held: dict[str, Any] = {"JobStatus": 5, "EnteredCurrentStatus": END + 35, "HoldReasonCode": 20, "LastJobStatus": 2}
    job = MadeJob(DeferralTime=SIX)
    job.look(SIX)
    assert [words(run) for run in job.look(END + 26, **begun)] == [("late", None)]
    assert [words(run) for run in job.look(END + 36, **held)] == [("missed", "held-20")]
    assert MadeJob().said(END + 40, **{**begun, **held}) == ("missed", "held-20")
    events = [JobEvent(EventType.EXECUTE, 7, 0, END + 25)]
    events += [JobEvent(EventType.JOB_HELD, 7, 0, END + 35, attributes={"HoldReasonCode": 20})]
    logged = MadeJob(QueueWatch(sees_deferral_time=False))
    assert words(logged.look(END + 40, events=events)[-1]) == ("missed", "held-20")


@pytest.mark.parametrize("is_seen", [True, False])
def test_nobody_matched_an_idle_job(is_seen: bool) -> None:
    """Its DeferralTime was the one that was due, as it was seen or as the schedd computes it."""
    job = MadeJob(DeferralTime=SIX) if is_seen else MadeJob(QueueWatch(sees_deferral_time=False))
    if is_seen:
        job.look(SIX)
    assert job.said(LATER) == ("missed", "no-match")


def test_requirements_that_can_never_be_true() -> None:
    """The clause of condor_submit without the attributes it names."""
    requirements = Expression("time() < DeferralTime + DeferralWindow")
    assert MadeJob(DeferralWindow=None, Requirements=requirements).said(LATER) == ("missed", "never-matches")


def test_the_schedd_reads_a_step_otherwise() -> None:
    """It had set another minute; seen, computed, and while the job waited on its machine for that minute."""
    odd: dict[str, Any] = {
        "CronMinute": "1-59/2",
        "DeferralWindow": 20,
        "EnteredCurrentStatus": SIX - 600,
        "QDate": SIX - 600,
    }
    seen = MadeJob(**odd)
    seen.look(SIX + 60, DeferralTime=SIX + 120)
    assert seen.said(SIX + 60 + 20 + SETTLE + 1) == ("missed", "schedd-reading")
    computed = MadeJob(QueueWatch(sees_deferral_time=False), **odd)
    assert computed.said(SIX + 60 + 20 + SETTLE + 1) == ("missed", "schedd-reading")
    waits = MadeJob(**odd, JobStatus=2, DeferralTime=SIX + 120, JobCurrentStartDate=SIX + 5)
    waits.look(SIX + 60, EnteredCurrentStatus=SIX + 5)
    assert waits.said(SIX + 60 + 20 + SETTLE + 1) == ("missed", "schedd-reading")


DAY_0 = 1_798_779_600  # Fri 2027-01-01 05:00 UTC


def test_day_0_covers_a_time_that_is_due() -> None:
    """A retry of the last day of the month, whose window reaches into the first Friday."""
    weekly: dict[str, Any] = {"CronHour": "5", "CronDayOfWeek": "5", "DeferralWindow": 6 * HOUR}
    job = MadeJob(**weekly)
    job.look(DAY_0, DeferralTime=DAY_0 - 5 * HOUR + 60)
    assert job.said(DAY_0 + 6 * HOUR + SETTLE + 1) == ("missed", "day-0")


def test_day_0_starts_what_is_not_due() -> None:
    """On the last day of the month, whatever day that is: no time was due, and a program began."""
    last_day = 1_798_693_200  # Thu 2026-12-31 05:00 UTC
    weekly: dict[str, Any] = {"CronHour": "5", "CronDayOfWeek": "5", "DeferralTime": last_day}
    job = MadeJob(**weekly)
    job.look(last_day - 10)
    run: dict[str, Any] = {"JobStatus": 2, "JobCurrentStartDate": last_day - 5, "EnteredCurrentStatus": last_day - 5}
    (found,) = job.look(last_day + 5, **run, JobCurrentStartExecutingDate=last_day)
    assert (words(found), found.run.time) == (("unplanned", "day-0"), last_day)
    assert job.look(last_day + 6) == []
    totals = Totals()
    totals.add([found])
    assert (totals.unplanned, totals.due, totals.started) == (1, 0, 0)


def test_an_earlier_run_had_not_ended() -> None:
    """It is one instance at a time; the run that is on counts as started."""
    job = MadeJob(DeferralTime=SIX)
    job.look(SIX - 10, **RUN)
    job.look(SIX + 5, **BEGUN)
    later = SIX + HOUR + 60 + SETTLE + 1
    assert [words(run) for run in job.look(later)] == [("missed", "still-running")]
    assert MadeJob().said(later, **BEGUN) == ("missed", "still-running")


def test_the_window_of_an_earlier_time_was_open() -> None:
    """A schedd sets the next DeferralTime when the window of this one is over, and jumps over what is in it."""
    job = MadeJob(CronMinute="*/5", DeferralWindow=600, DeferralTime=SIX - 300, EnteredCurrentStatus=SIX - 400)
    job.look(SIX)
    told = {run.run.time: words(run) for run in job.look(SIX + 600 + SETTLE + 1)}
    assert told[SIX] == ("missed", "window-overlap")


@pytest.mark.parametrize("time", [SIX - HOUR, SIX + HOUR])
def test_the_schedd_had_not_set_the_time(time: int) -> None:
    """It made no pass since an earlier one, or made it too late."""
    job = MadeJob(DeferralTime=time)
    job.look(SIX)
    assert job.said(LATER) == ("missed", "not-computed")
    if time < SIX:
        assert MadeJob(DeferralTime=time).said(LATER) == ("missed", "not-computed")


def test_a_router_had_it() -> None:
    """Its copy did not start; one that did is a start."""
    routed: dict[str, Any] = {"Managed": "External", "EnteredCurrentStatus": SIX - 600}
    assert MadeJob(**routed).said(LATER) == ("missed", "router")
    assert MadeJob(**routed).said(LATER, **BEGUN) == ("started", None)


def test_what_a_router_brings_over_is_no_loss() -> None:
    """It counts the starts of the copy and not their ends; in the source's log it says when the copy was matched."""
    routed: dict[str, Any] = {"Managed": "External", "RoutedToJobId": "29.0", "LastRemoteWallClockTime": 95}
    ended: dict[str, Any] = {**ENDED, **routed, "NumJobCompletions": 0, "JobCurrentStartDate": SIX - 90}
    ended["JobLastStartDate"] = None
    assert MadeJob(**ended).said(LATER) == ("started", None)
    events = [JobEvent(EventType.EXECUTE, 7, 0, SIX - 80), JobEvent(EventType.JOB_EVICTED, 7, 0, SIX + 8)]
    job = MadeJob(**ended)
    assert [words(run) for run in job.look(LATER, events=events)] == [("started", None)]
    waits: dict[str, Any] = {**routed, "JobStatus": 2, "JobCurrentStartDate": SIX - 90, "DeferralTime": SIX}
    job = MadeJob(**waits, EnteredCurrentStatus=SIX - 86, LastJobStatus=1, QDate=SIX - 600)
    assert job.look(SIX - 50, events=events[:1]) == []


@pytest.mark.parametrize("resource", ["condor far.example.org cm.example.org", "batch slurm"])
def test_a_grid_job_is_no_routers(resource: str) -> None:
    """The gridmanager has it, as it says like a router; another schedd may keep its copy waiting for its time."""
    grid: dict[str, Any] = {"JobUniverse": 9, "GridResource": resource, "Managed": "External", "DeferralTime": SIX}
    assert MadeJob(**grid).said(LATER) == ("missed", "not-started")
    begun: dict[str, Any] = {**grid, **BEGUN, "LastJobStatus": 1, "EnteredCurrentStatus": SIX - 10, "QDate": SIX - 99}
    begun["JobCurrentStartDate"] = SIX - 11
    events = [JobEvent(EventType.EXECUTE, 7, 0, SIX - 10)] if resource.startswith("condor") else []
    assert [words(run) for run in MadeJob(**begun).look(SIX + 9, events=events)] == [("started", None)]


def test_a_starter_that_is_gone() -> None:
    """JobStatus says running, and no program began though its last start is past."""
    job = MadeJob(DeferralTime=SIX)
    job.look(SIX - 10, **RUN)
    assert words(job.look(SIX)[0]) == ("due", None)
    assert job.said(LATER) == ("missed", "starter-gone")
    assert job.said(LATER + HOUR) == ("missed", "starter-gone")
    assert MadeJob(DeferralTime=SIX).said(LATER, **RUN) == ("missed", "starter-gone")
    logged = MadeJob(QueueWatch(sees_deferral_time=False))
    assert logged.said(LATER, **RUN) == ("missed", "starter-gone")


def test_a_job_without_a_shadow_has_started_when_it_was_there_at_its_time() -> None:
    """In the local universe nobody writes when the program began; one that came for the next time did not."""
    assert MadeJob(JobUniverse=12, DeferralTime=SIX).said(LATER, **RUN) == ("started", None)
    again: dict[str, Any] = {
        "JobStatus": 2,
        "LastJobStatus": 1,
        "JobLastStartDate": SIX - 90,
        "EnteredCurrentStatus": SIX + 20,
    }
    again |= {"DeferralTime": SIX + HOUR}
    assert MadeJob(JobUniverse=12).said(LATER, **again) == ("started", None)
    came: dict[str, Any] = {**again, "JobLastStartDate": None}
    assert MadeJob(JobUniverse=12).said(LATER, **came)[0] != "started"


@pytest.mark.parametrize("universe", [7, 9, 12])
def test_no_cause_speaks_of_machines_where_none_is_needed(universe: int) -> None:
    """A job of the schedd's own, or of a grid, that has been idle through its window."""
    job = MadeJob(JobUniverse=universe, DeferralTime=SIX)
    verdict, cause = job.said(LATER)
    assert (verdict, cause) == ("missed", "never-matches" if universe == 7 else "not-started")
    (standing,) = job.watch.look([job.ad], LATER).jobs
    assert standing.latest is not None
    assert "machine" not in standing.latest.why


LOCAL: dict[str, Any] = {
    "JobUniverse": 12,
    "LastJobStatus": 2,
    "EnteredCurrentStatus": SIX,
    "JobCurrentStartDate": SIX - 295,
    "LastRemoteWallClockTime": 295.0,
    "RemoteWallClockTime": 295.0,
    "CumulativeSlotTime": 295.0,
    "NumJobStarts": 1,
    "NumShadowStarts": 1,
    "NumJobCompletions": 1,
    "DeferralTime": SIX + HOUR,
}


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, ("started", None)),  # it ended in the second in which it began
        ({"EnteredCurrentStatus": SIX + 9}, ("started", None)),
        ({"EnteredCurrentStatus": SIX - 1}, ("missed", "not-started")),  # taken back before its time
        ({"EnteredCurrentStatus": SIX + HOUR // 2, "LastJobStatus": 5}, ("started", None)),  # held since, and released
        ({"JobCurrentStartDate": SIX - HOUR - 295, "EnteredCurrentStatus": SIX + 9}, ("missed", "still-running")),
        ({"JobCurrentStartDate": SIX - HOUR + 20}, ("unknown", "unseen")),  # for this time, or late for the one before
        ({"JobCurrentStartDate": SIX - HOUR + 20, "JobLastStartDate": SIX - HOUR - 99}, ("started", None)),
        ({"JobStatus": 5, "HoldReasonCode": 20, "EnteredCurrentStatus": SIX + 70, "JobCurrentStartDate": SIX + 65},
         ("missed", "held-20")),
        ({"JobStatus": 2, "LastJobStatus": 1, "EnteredCurrentStatus": SIX + HOUR - 300, "DeferralTime": SIX + HOUR,
          "JobCurrentStartDate": SIX + HOUR - 300, "JobLastStartDate": SIX - 295}, ("started", None)),
        ({"JobStatus": 2, "LastJobStatus": 1, "EnteredCurrentStatus": SIX + HOUR - 300, "DeferralTime": SIX + HOUR,
          "JobCurrentStartDate": SIX + HOUR - 300, "JobLastStartDate": SIX - HOUR - 295}, ("missed", "not-started")),
    ],
)  # fmt: skip
def test_one_look_at_a_local_job_says_what_its_ad_proves(
    changed: dict[str, Any], verdict: tuple[str, str | None]
) -> None:
    """Without a user log; what the ad leaves open is unknown."""
    assert MadeJob(**{**LOCAL, **changed}).said(SIX + HOUR - 250) == verdict


def test_one_look_does_not_guess_what_was_before_a_release() -> None:
    """A job was held for some time, and nobody knows since when; in between it may have been idle."""
    released: dict[str, Any] = {"EnteredCurrentStatus": LATER + 60, "LastJobStatus": 5, "NumHolds": 1}
    early: dict[str, Any] = {"JobCurrentStartDate": SIX - HOUR - 90, "JobCurrentStartExecutingDate": SIX - HOUR}
    early["LastRemoteWallClockTime"] = 95
    assert MadeJob(**released, **early).said(LATER + 90) == ("unknown", "unseen")
    assert MadeJob(**early, EnteredCurrentStatus=SIX - HOUR + 5, LastJobStatus=2).said(LATER) == ("missed", "no-match")


def test_one_look_ends_a_run_with_its_match() -> None:
    """A job that was matched anew and then held has not lost the run before."""
    held: dict[str, Any] = {"JobStatus": 5, "LastJobStatus": 2, "EnteredCurrentStatus": SIX + 31, "HoldReasonCode": 1}
    held |= {"JobLastStartDate": SIX - 90, "JobCurrentStartDate": SIX + 15, "LastRemoteWallClockTime": 16.0}
    assert MadeJob(**held, JobCurrentStartExecutingDate=SIX).said(SIX + 40) == ("started", None)


@pytest.mark.parametrize(("when", "reason"), [(SIX - 100, "removed by alice"), (SIX + 10, ""), (SIX - 100, None)])
def test_a_job_that_was_removed_is_lost_once(when: int, reason: str | None) -> None:
    """With the reason of the history, where that is known; the times after the next one are due to nobody."""
    job = MadeJob(DeferralTime=SIX)
    job.look(when - 5)
    left = job.set(JobStatus=3, EnteredCurrentStatus=when, RemoveReason=reason).ad
    watch = job.watch
    told = list(watch.look([], when + 1, find_left=lambda _: [] if reason is None else [left]).runs)
    told += watch.look([], LATER).runs
    assert [(words(run), run.detail, run.run.time) for run in told if run.is_final] == [
        (("lost", "left-queue"), reason or ("removed" if reason == "" else ""), SIX)
    ]
    assert watch.look([], LATER + 2 * HOUR).runs == []
    assert len(watch) == 0


@pytest.mark.parametrize("status", [3, 4])
def test_a_job_that_stays_in_the_queue_after_its_end_is_judged_once(status: int) -> None:
    """As with LeaveJobInQueue, or output that nobody fetches; the looks after its end tell nothing."""
    job = MadeJob(OnExitRemove=True, DeferralTime=SIX)
    job.look(SIX - 10, **RUN)
    told = [words(run) for run in job.look(SIX + 5, **BEGUN)]
    told += [words(run) for run in job.look(SIX + 20, **{**ENDED, "JobStatus": status})]
    assert told == [("started", None), ("lost", "left-queue")][: 5 - status]
    assert [job.look(SIX + 20 + 30 * step) for step in range(1, 300)] == [[]] * 299
    assert len(job.watch) == 0


def test_a_job_that_ends_leaves_nothing_behind() -> None:
    """Its run is started, and no time after it is due."""
    job = MadeJob(OnExitRemove=True, DeferralTime=SIX)
    job.look(SIX - 10, **RUN)
    job.look(SIX + 5, **BEGUN)
    done = job.set(**{**ENDED, "JobStatus": 4}).ad
    assert job.watch.look([], SIX + 20, find_left=lambda _: [done]).runs == []
    assert (job.watch.look([], LATER + HOUR).runs, len(job.watch)) == ([], 0)


def test_a_job_that_has_left_before_the_first_look() -> None:
    """The history tells of it, from the time on that is asked for."""
    job = MadeJob(QueueWatch(since=SIX - 2 * HOUR))
    left = job.set(JobStatus=3, EnteredCurrentStatus=SIX - 100, RemoveReason="via condor_rm").ad
    assert [words(run) for run in job.watch.look([], LATER, left=[left]).runs][-1] == ("lost", "left-queue")


def test_a_run_that_was_cut_off_is_lost() -> None:
    """NumJobCompletions stays behind, the log says it was evicted, a hold or a removal says what for."""
    back: dict[str, Any] = {**ENDED, "NumJobCompletions": 0}
    job = MadeJob(DeferralTime=SIX)
    job.look(SIX - 10, **RUN)
    job.look(SIX + 5, **BEGUN)
    assert [words(run) for run in job.look(SIX + 10, **back)] == [("lost", "evicted")]
    assert MadeJob().said(LATER, **back) == ("lost", "evicted")
    events = [
        JobEvent(EventType.EXECUTE, 7, 0, SIX),
        JobEvent(EventType.JOB_EVICTED, 7, 0, SIX + 9, attributes={"Reason": "it had to go"}),
    ]
    logged = MadeJob(QueueWatch(sees_deferral_time=False))
    (run,) = logged.look(LATER, events=events)
    assert (words(run), run.detail, run.delay) == (("lost", "evicted"), "it had to go", 0)
    held: dict[str, Any] = {
        "JobStatus": 5,
        "EnteredCurrentStatus": SIX + 9,
        "HoldReasonCode": 1,
        "HoldReason": "by alice",
    }
    assert MadeJob(DeferralTime=SIX).said(LATER, **{**BEGUN, **held}) == ("lost", "held")


def test_a_log_tells_of_the_eviction_before_the_hold_of_one_second() -> None:
    """Whichever was taken in first: the job is held."""
    held: dict[str, Any] = {
        "JobStatus": 5,
        "EnteredCurrentStatus": SIX - 100,
        "HoldReasonCode": 1,
        "HoldReason": "by alice",
    }
    events = [
        JobEvent(EventType.JOB_EVICTED, 7, 0, SIX - 100),
        JobEvent(EventType.JOB_HELD, 7, 0, SIX - 100, attributes={"HoldReasonCode": 1}),
    ]
    job = MadeJob(QueueWatch(sees_deferral_time=False), **held)
    assert words(job.look(LATER, events=events)[0]) == ("missed", "held")


def test_what_nobody_saw_is_unknown() -> None:
    """A job that runs a later time by now, of whose earlier ones nothing is left."""
    run: dict[str, Any] = {"JobStatus": 2, "JobCurrentStartDate": SIX + 30, "EnteredCurrentStatus": SIX + 30}
    job = MadeJob(QueueWatch(since=SIX - HOUR - 1), **run)
    told = [words(run) for run in job.look(SIX + 40)]
    assert told == [("unknown", "unseen"), ("due", None)]


def test_a_job_of_one_time_has_one_due_time() -> None:
    """Also where it came too late; an edited one is a new one."""
    once: dict[str, Any] = {"CronMinute": None, "DeferralTime": SIX}
    job = MadeJob(**once)
    assert job.said(LATER) == ("missed", "no-match")
    assert job.look(LATER + 10) == []
    assert job.look(LATER + 20, DeferralTime=LATER + 100) == []
    assert [words(run) for run in job.look(LATER + 200 + SETTLE)] == [("missed", "no-match")]
    assert MadeJob(**once, QDate=SIX + 100, EnteredCurrentStatus=SIX + 100).said(SIX + 200)[0] in {"unknown", "missed"}


def test_what_only_the_schedd_can_read_is_due_as_it_does() -> None:
    """Minute 60 is every minute for it."""
    job = MadeJob(CronMinute="60", DeferralWindow=0, DeferralTime=SIX, EnteredCurrentStatus=SIX - 30)
    assert job.said(SIX + SETTLE + 1) == ("missed", "no-match")
    manual = MadeJob(QueueWatch(schedd=Dialect.MANUAL), CronMinute="60")
    (standing,) = manual.watch.look([manual.ad], SIX).jobs
    assert standing.latest is None
    assert standing.status.trouble


def test_edited_fields_count_from_the_next_look_on() -> None:
    """What was due before is judged by the old ones."""
    job = MadeJob(DeferralTime=SIX)
    job.look(SIX - 10)
    told = job.look(LATER, CronMinute="30", DeferralTime=SIX + HOUR // 2)
    assert [(words(run)[0], run.run.time) for run in told] == [("missed", SIX)]
    (next_,) = job.look(SIX + HOUR // 2 + 1)
    assert next_.run.time == SIX + HOUR // 2


def test_odd_ads_are_no_fault() -> None:
    """Without numbers, without a status, with texts for numbers: nothing is said of them, or nothing is known."""
    watch = QueueWatch()
    ads = [ClassAd({"CronMinute": "0"}), ClassAd({"ClusterId": 1, "ProcId": 0, "CronMinute": "0"})]
    ads += [ClassAd({"ClusterId": 2, "ProcId": 0, "CronMinute": "0", "JobStatus": "x", "EnteredCurrentStatus": "y"})]
    ads += [ClassAd({"ClusterId": 3, "ProcId": 0, "DeferralTime": "soon", "JobStatus": 1})]
    ads += [ClassAd({"ClusterId": 4, "ProcId": 0, "DeferralTime": 10**18, "JobStatus": 1})]
    look = watch.look(ads, SIX)
    assert {words(run) for run in look.runs} <= {("due", None), ("unknown", "unseen")}
    assert len(look.jobs) == 4
    assert ENTERED < SIX
