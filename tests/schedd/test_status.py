"""How scheduled jobs stand: state, next start, trouble."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import Expression
from crondor.classad.ad import ClassAd
from crondor.schedd.reading import ScheduledJob, ScheduledState, StatusReader
from crondor.spec import Dialect

NOW = 1_795_195_625  # a Friday, 17:27:05 UTC
HOUR = NOW - NOW % 3600 + 3600


def look(**attributes: object) -> ScheduledJob:
    """Look at one crontab job, which is idle if nothing else is said."""
    usual = {"ClusterId": 1, "ProcId": 0, "JobStatus": 1, "CronMinute": "0", "OnExitRemove": False}
    usual |= {"DeferralWindow": 60, "DeferralPrepTime": 120}
    given = {name: value for name, value in {**usual, **attributes}.items() if value is not None}
    (found,) = StatusReader(dialect=Dialect.MANUAL).looks([ClassAd(given)], NOW)
    return found


def start(found: ScheduledJob) -> int | None:
    """Return the time of the next start."""
    return None if found.next is None else found.next.time


def test_an_idle_job_starts_at_its_time_or_the_next_one() -> None:
    """What the schedd has computed counts while it is good, and then what it will compute."""
    assert start(look()) == HOUR
    assert start(look(DeferralTime=NOW + 5000)) == NOW + 5000
    assert start(look(DeferralTime=NOW - 59)) == NOW - 59
    assert start(look(DeferralTime=NOW - 60)) == HOUR
    assert look().state is ScheduledState.IDLE


def test_a_time_that_requirements_exclude_is_no_start() -> None:
    """The schedd sets it all the same; the next start is the first that can match, and a note says why."""
    even = Expression("TARGET.HasJobDeferral && DeferralTime % 7200 == 0")
    assert HOUR % 7200 == 0
    assert start(look(Requirements=even, DeferralTime=HOUR)) == HOUR
    found = look(Requirements=even, DeferralTime=HOUR - 3600 + 3559)
    assert start(found) == HOUR
    assert start(look(Requirements=even, DeferralTime=HOUR - 3600)) == HOUR
    odd = Expression("DeferralTime % 7200 != 0")
    found = look(Requirements=odd, DeferralTime=HOUR)
    assert start(found) == HOUR + 3600
    (note,) = found.trouble
    assert (note.kind, note.severity.value) == ("times-excluded", "note")
    assert note.message.endswith(f"{HOUR}: DeferralTime % 7200 != 0")
    assert start(look(Requirements=odd, DeferralTime=HOUR, JobStatus=2)) == HOUR  # it is on its machine
    once = look(CronMinute=None, Requirements=odd, DeferralTime=HOUR)
    assert (start(once), [trouble.kind for trouble in once.trouble]) == (None, ["times-excluded"])
    never = look(Requirements=Expression("DeferralTime < 5"))
    assert (start(never), [trouble.kind for trouble in never.trouble]) == (None, ["times-excluded"])


def test_running_may_mean_waiting() -> None:
    """HTCondor calls both Running; the next start of one that runs comes after it, if it stays in the queue."""
    waiting = look(JobStatus=2, DeferralTime=NOW + 100)
    assert (waiting.state, start(waiting)) == (ScheduledState.WAITING, NOW + 100)
    running = look(JobStatus=2, DeferralTime=NOW - 100)
    assert (running.state, start(running)) == (ScheduledState.RUNNING, HOUR)
    assert start(look(JobStatus=2, DeferralTime=NOW - 100, OnExitRemove=None)) is None
    assert look(JobStatus=7, DeferralTime=NOW + 100).state is ScheduledState.SUSPENDED


@pytest.mark.parametrize(
    "edited",
    [{"CronMinute": "zz"}, {"CronMinute": "*/0"}, {"DeferralWindow": -5}, {"DeferralWindow": Expression("-(5)")}],
)
def test_what_waits_starts_at_its_time_whatever_was_edited(edited: dict[str, object]) -> None:
    """Its starter has the ad it began with; the trouble comes with the next time."""
    found = look(JobStatus=2, DeferralTime=NOW + 100, **edited)
    assert (found.state, start(found)) == (ScheduledState.WAITING, NOW + 100)
    assert found.trouble


def test_a_time_is_read_as_the_starter_does() -> None:
    """A real number by its whole part; an expression at the moment that is asked for."""
    once = {"CronMinute": None, "OnExitRemove": None}
    assert start(look(**once, DeferralTime=NOW + 100.7)) == NOW + 100
    clock = look(**once, DeferralTime=Expression("time() + 20"))
    assert (clock.state, start(clock)) == (ScheduledState.IDLE, NOW + 20)
    assert [trouble.kind for trouble in clock.trouble] == ["expression-clock"]
    there = look(**once, JobStatus=2, DeferralTime=Expression("time() + 20"))
    assert (there.state, start(there)) == (ScheduledState.RUNNING, None)


@pytest.mark.parametrize(("code", "help_"), [(25, "Cron attributes"), (20, "release"), (1, None)])
def test_a_held_job_says_why(code: int, help_: str | None) -> None:
    """With what helps, where that is known."""
    found = look(JobStatus=5, HoldReason="because", HoldReasonCode=code)
    assert (found.state, found.next) == (ScheduledState.HELD, None)
    assert found.trouble[0].message == f"held (code {code}): because"
    assert help_ is None or help_ in (found.trouble[0].help or "")


def test_a_missed_time_is_trouble() -> None:
    """A job of one time whose window is past stays Idle for ever, and HTCondor does not say so."""
    found = look(CronMinute=None, DeferralTime=NOW - 60)
    assert [trouble.kind for trouble in found.trouble] == ["missed-idle"]
    assert not look(CronMinute=None, DeferralTime=NOW - 59).trouble
    assert not look(CronMinute=None, JobStatus=2, DeferralTime=NOW - 60).trouble


def test_a_job_that_runs_and_never_began_is_trouble() -> None:
    """Past its last start, where its shadow would have said so; the beginning of an earlier run counts for none."""
    last = NOW - 1000 + 59  # the usual window is 60 seconds
    on_machine: dict[str, object] = {"JobStatus": 2, "DeferralTime": NOW - 1000, "JobCurrentStartDate": NOW - 1100}

    def codes(later: int = 0, **more: object) -> list[str]:
        ad = ClassAd({"ClusterId": 1, "ProcId": 0, "CronMinute": "0", "DeferralWindow": 60, **on_machine, **more})
        (found,) = StatusReader(dialect=Dialect.MANUAL).looks([ad], NOW + later)
        return [trouble.kind for trouble in found.trouble]

    assert codes() == ["missed-running"]
    assert codes(JobCurrentStartExecutingDate=NOW - 5000) == ["missed-running"]
    assert codes(CronMinute="zz")[-1] == "missed-running"
    assert codes(JobCurrentStartExecutingDate=NOW - 1000) == []
    assert codes(JobStatus=1) == []
    assert codes(DeferralTime=0) == []
    assert codes(JobUniverse=12) == []
    assert codes(DeferralWindow=2000) == []
    assert codes(last + 1 - NOW) == []
    assert codes(JobCurrentStartDate=NOW - 1) == []


def test_a_job_that_never_began_is_seen_in_a_log_that_shows_no_time() -> None:
    """By the last time that the schedd may have set when it was matched; one from before the match tells nothing."""
    there = HOUR - 100

    def codes(now: int, **more: object) -> list[str]:
        usual = {"ClusterId": 1, "ProcId": 0, "CronMinute": "0", "DeferralWindow": 60, "DeferralPrepTime": 120}
        ad = ClassAd({**usual, "JobStatus": 2, "JobCurrentStartDate": there, **more})
        (found,) = StatusReader().looks([ad], now)
        return [trouble.kind for trouble in found.trouble]

    last = HOUR + 60
    assert codes(last + 10) == []
    assert codes(last + 11) == ["missed-running"]
    stale = {"DeferralTime": HOUR - 3600}
    assert codes(HOUR - 20, **stale) == []
    assert codes(last + 11, **stale) == ["missed-running"]
    assert codes(last + 11, JobCurrentStartExecutingDate=HOUR) == []
    assert codes(last + 11, CronMinute="*/0") == ["schedd-step"]
    assert codes(last + 11, DeferralPrepTime=7200) == []


@pytest.mark.parametrize(
    ("attributes", "code"),
    [
        ({"CronMinute": "99"}, "cron-range"),
        ({"CronDayOfMonth": "31", "CronMonth": "2"}, "cron-never"),
        ({"JobUniverse": 7}, "universe-scheduler"),
        ({"DeferralWindow": Expression("Nothing")}, "bad-value"),
    ],
)
def test_what_keeps_a_job_from_running_is_trouble(attributes: dict[str, object], code: str) -> None:
    """A schedule that is none, a universe that does not wait, a number that is none."""
    assert code in [trouble.kind for trouble in look(**attributes).trouble]


def test_odd_ads_are_no_tracebacks() -> None:
    """Whatever stands where a number should."""
    for value in ("x", 1.5, True, -1, 0, 2**62, [1], {"a": 1}, Expression("1/0"), Expression("undefined")):
        for name in ("JobStatus", "DeferralTime", "DeferralWindow", "CronMinute", "ClusterId", "HoldReasonCode"):
            assert look(**{name: value}).id
    assert list(StatusReader().looks([ClassAd({"Owner": "alice"})], NOW)) == []


TIMES = st.sampled_from([None, NOW + 100, NOW - 30, NOW - 900, Expression("time() + 5"), "soon", 0, 7.5])


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["0", "*/5", "zz", None, Expression("undefined"), Expression('strcat("1", "5")')]),
            TIMES,
            st.sampled_from([60, 600, None, Expression("ProcId * 60")]),
            st.sampled_from([1, 2, 5]),
        ),
        max_size=8,
    )
)
def test_jobs_that_are_looked_at_together_stand_as_alone(rows: list[tuple[object, object, object, int]]) -> None:
    """Whatever schedules they share, each has its own DeferralTime; what has been read of a cluster changes nothing."""
    parent = ClassAd({"ClusterId": 1, "DeferralPrepTime": 120, "OnExitRemove": False})
    names = ("CronMinute", "DeferralTime", "DeferralWindow", "JobStatus")

    def ads(chain: ClassAd) -> list[ClassAd]:
        given_ = [{**dict(zip(names, row, strict=True)), "ProcId": proc} for proc, row in enumerate(rows)]
        return [ClassAd({n: v for n, v in each.items() if v is not None}).chain(chain) for each in given_]

    def shown(found: ScheduledJob) -> tuple[object, ...]:
        time = None if found.schedule is None else found.schedule.time
        faults = [(each.kind, each.message) for each in found.trouble]
        return found.id, found.state, found.deferral_time, found.next, str(time), faults

    together = [shown(each) for each in StatusReader(dialect=Dialect.MANUAL).looks(ads(parent), NOW)]
    alone = [shown(each) for ad in ads(parent.copy()) for each in StatusReader(dialect=Dialect.MANUAL).looks([ad], NOW)]
    assert together == alone
