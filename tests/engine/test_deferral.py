"""The moments of one run, the gates before it and the verdict on arrival, in numbers (docs/deferral.md)."""

from datetime import datetime, timezone
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.deferral import Deferral, InvalidDeferral, Verdict
from crondor.schedule import ExpressionText, InvalidSchedule, JobSchedule
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, CronSpec, Dialect, Field

NOON = 1_795_521_600  # 2026-11-24 12:00 UTC


def test_the_defaults_are_those_of_condor_submit() -> None:
    """Window 0, prep time 300, SCHEDD_INTERVAL 300."""
    assert Deferral(NOON) == Deferral(NOON, window=0, prep_time=300, schedd_interval=300)


@pytest.mark.parametrize(
    ("run", "nominal_match", "match_opens", "last_match", "last_start"),
    [
        (Deferral(NOON), NOON - 300, NOON - 600, NOON - 1, NOON),
        (Deferral(NOON, window=120), NOON - 300, NOON - 600, NOON + 119, NOON + 120),
        (Deferral(NOON, prep_time=60), NOON - 60, NOON - 360, NOON - 1, NOON),
        (Deferral(NOON, 360, 0, 60), NOON, NOON - 60, NOON + 359, NOON + 360),
        (Deferral(NOON, 0, 0, 0), NOON, NOON, NOON - 1, NOON),
    ],
)
def test_the_four_moments(
    run: Deferral, nominal_match: int, match_opens: int, last_match: int, last_start: int
) -> None:
    """What the manual says, what the gates allow, the last second of each."""
    assert (run.nominal_match, run.match_opens, run.last_match, run.last_start) == (
        nominal_match,
        match_opens,
        last_match,
        last_start,
    )


@pytest.mark.parametrize(
    ("now", "start", "match"),
    [
        (NOON - 601, False, False),
        (NOON - 600, True, True),  # time() + 300 >= 12:00 - 300
        (NOON, True, True),
        (NOON + 119, True, True),
        (NOON + 120, True, False),  # time() < DeferralTime + DeferralWindow is strict
        (NOON + 10_000, True, False),
    ],
)
def test_the_gates(now: int, start: bool, match: bool) -> None:
    """The schedd's start test has no end; the Requirements clause ends before the window's last second."""
    run = Deferral(NOON, window=120)
    assert (run.may_start(now), run.may_match(now)) == (start, match)


def test_without_a_window_the_match_must_come_before_the_time() -> None:
    """At the very second of its time a job with window 0 matches no more, though it would still start."""
    run = Deferral(NOON)
    assert run.may_match(NOON - 1)
    assert not run.may_match(NOON)
    assert run.arrival(NOON).verdict is Verdict.START


@pytest.mark.parametrize(
    ("now", "verdict", "seconds"),
    [
        (NOON - 75, Verdict.WAIT, 75),
        (NOON - 1, Verdict.WAIT, 1),
        (NOON, Verdict.START, 0),
        (NOON + 45, Verdict.START, 45),
        (NOON + 120, Verdict.START, 120),  # exactly at the window's end
        (NOON + 121, Verdict.MISSED, 121),
        (NOON + 86400, Verdict.MISSED, 86400),
    ],
)
def test_the_verdict_on_arrival(now: int, verdict: Verdict, seconds: int) -> None:
    """Early waits, late inside the window starts at once, later is missed; the window's end is inside."""
    arrival = Deferral(NOON, window=120).arrival(now)
    assert (arrival.verdict, arrival.seconds) == (verdict, seconds)


def test_a_missed_run_is_held() -> None:
    """Code 20 with the starter's words; the other verdicts hold nothing."""
    run = Deferral(NOON)
    missed = run.arrival(NOON + 1)
    assert (missed.hold_code, missed.hold_reason) == (20, "Job missed deferred execution time")
    for now in (NOON - 1, NOON):
        assert (run.arrival(now).hold_code, run.arrival(now).hold_reason) == (None, None)


@pytest.mark.parametrize(
    ("numbers", "codes"),
    [
        ((0, 0, 0, 0), ["deferral-time"]),
        ((-5, 0, 0, 0), ["deferral-time"]),
        ((NOON, -1, 0, 0), ["deferral-length"]),
        ((NOON, 0, -1, 0), ["deferral-length"]),
        ((NOON, 0, 0, -1), ["deferral-length"]),
        ((0, -1, -1, -1), ["deferral-time", "deferral-length", "deferral-length", "deferral-length"]),
    ],
)
def test_what_no_job_can_run_by_cannot_be_built(numbers: tuple[int, int, int, int], codes: list[str]) -> None:
    """All faults at once: a time that is not positive, negative lengths."""
    with pytest.raises(InvalidDeferral) as caught:
        Deferral(*numbers)
    assert [found.kind for found in caught.value.diagnostics] == codes
    assert isinstance(caught.value, ValueError)


def test_a_run_never_changes() -> None:
    """A deferral is a value: immutable, comparable, hashable."""
    run = Deferral(NOON)
    with pytest.raises(AttributeError):
        run.time = 5  # type: ignore[misc]
    assert len({run, Deferral(NOON), Deferral(NOON, 1)}) == 2


SMALL = st.integers(0, 100_000)


@given(run=st.builds(Deferral, st.integers(10**6, 10**10), SMALL, SMALL, SMALL), offset=st.integers(-400_000, 400_000))
def test_moments_and_gates_say_the_same(run: Deferral, offset: int) -> None:
    """The gate is open exactly from match_opens to last_match, a start possible exactly until last_start."""
    now = run.time + offset
    assert run.may_match(now) == (run.match_opens <= now <= run.last_match)
    assert run.may_start(now) == (now >= run.match_opens)
    assert (run.arrival(now).verdict is Verdict.MISSED) == (now > run.last_start)
    assert (run.arrival(now).verdict is Verdict.WAIT) == (now < run.time)


CHICAGO = ZoneInfo("America/Chicago")  # the clock of the manual's authors


def at(text: str) -> int:
    """Return the epoch seconds of an ISO time in UTC."""
    return int(datetime.fromisoformat(f"{text}+00:00").timestamp())


def read(text: str, dialect: Dialect = Dialect.MANUAL) -> JobSchedule:
    """Read submit commands as they stand in the manual; what does not bear on time is left in."""
    pairs = (line.split("=", 1) for line in text.strip().splitlines())
    return JobSchedule.from_submit({name.strip(): value.strip() for name, value in pairs}, dialect=dialect)


def runs(job: JobSchedule, after: str, number: int) -> list[str]:
    """Return the next runs as ISO times in UTC."""
    assert job.recurrence is not None
    epochs = islice(job.recurrence.upcoming(at(after)), number)
    return [datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M") for epoch in epochs]


def test_january_1st_2006_at_noon() -> None:
    """deferral_time = 1136138400 is noon in Chicago, 18:00 UTC."""
    job = read("deferral_time = 1136138400")
    run = job.next(at("2005-12-31T00:00"))
    assert datetime.fromtimestamp(run.time, timezone.utc).isoformat() == "2006-01-01T18:00:00+00:00"
    assert datetime.fromtimestamp(run.time, CHICAGO).isoformat() == "2006-01-01T12:00:00-06:00"


def test_always_60_seconds_after_submission() -> None:
    """deferral_time = (QDate + 60) is evaluated for each job."""
    job = read("deferral_time = (QDate + 60)")
    assert job.time == ExpressionText("(QDate + 60)")
    submitted = at("2026-11-24T09:30")
    known = JobSchedule(time=job.time, evaluate=lambda text, _: submitted + 60 if text == "(QDate + 60)" else None)
    run = known.next(submitted + 5)
    assert run.time == submitted + 60
    assert run.arrival(submitted + 5).seconds == 55


def test_45_seconds_late_with_a_window_of_120() -> None:
    """The job begins, because 75 seconds of the window remain."""
    time = at("2026-11-24T12:00")
    job = read(f"deferral_time = {time}\ndeferral_window = 120")
    run = job.next(time - 3600)
    arrival = run.arrival(time + 45)
    assert (arrival.verdict, arrival.seconds) == (Verdict.START, 45)
    assert run.last_start - (time + 45) == 75


def test_a_job_that_arrives_after_its_window_is_held() -> None:
    """Less than or equal to the window starts, greater is evicted and held."""
    run = Deferral(at("2026-11-24T12:00"), window=120)
    assert run.arrival(run.time + 120).verdict is Verdict.START
    missed = run.arrival(run.time + 121)
    assert (missed.verdict, missed.hold_reason) == (Verdict.MISSED, "Job missed deferred execution time")


def test_january_1st_2010_with_a_prep_time_of_60() -> None:
    """The job may be matched 60 seconds before; really a SCHEDD_INTERVAL earlier."""
    job = read("deferral_time      = 1262368800\ndeferral_prep_time = 60")
    run = job.next(at("2006-01-01T00:00"))
    assert datetime.fromtimestamp(run.time, CHICAGO).isoformat() == "2010-01-01T12:00:00-06:00"
    assert run.nominal_match == run.time - 60 == at("2010-01-01T17:59")
    assert run.match_opens == run.time - 60 - 300
    assert not run.may_match(run.match_opens - 1)
    assert run.may_match(run.match_opens)


def test_a_scheduler_universe_job_with_a_deferral_time_is_a_fatal_error() -> None:
    """The first limitation of deferral."""
    with pytest.raises(InvalidSchedule, match=r"DeferralTime does not work for scheduler universe jobs\."):
        read("universe = scheduler\ndeferral_time = 1136138400")


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        pytest.param(MONTH, "*", list(range(1, 13)), id="the asterisk operator"),
        pytest.param(HOUR, "0-4", [0, 1, 2, 3, 4], id="ranges"),
        pytest.param(MINUTE, "15,20,25,30", [15, 20, 25, 30], id="lists"),
        pytest.param(HOUR, "0-3,9-12,15", [0, 1, 2, 3, 9, 10, 11, 12, 15], id="lists of ranges"),
        pytest.param(MINUTE, "10-30/5", [10, 15, 20, 25, 30], id="steps in a range"),
        pytest.param(HOUR, "*/3", [0, 3, 6, 9, 12, 15, 18, 21], id="steps of the asterisk"),
    ],
)
@pytest.mark.parametrize("dialect", list(Dialect))
def test_what_the_operators_represent(field: Field, text: str, expected: list[int], dialect: Dialect) -> None:
    """The manual's sets; on its own examples all dialects agree."""
    spec = CronSpec.from_mapping({field.attribute: text}, dialect=dialect)
    assert list(spec.values(field)) == expected


@pytest.mark.parametrize(
    ("field", "low", "high"), [(MINUTE, 0, 59), (HOUR, 0, 23), (DAY_OF_MONTH, 1, 31), (MONTH, 1, 12)]
)
def test_the_table_of_ranges(field: Field, low: int, high: int) -> None:
    """Table 2.3: the allowed values, which are also what a field that is not defined takes."""
    assert list(CronSpec(day_of_week="1").values(field)) == list(range(low, high + 1))
    for value in (low, high):
        assert CronSpec.from_mapping({field.attribute: str(value)}).values(field) == (value,)


def test_sunday_is_0_or_7() -> None:
    """Table 2.3 again."""
    assert CronSpec(day_of_week="0") == CronSpec(day_of_week="7")
    assert CronSpec(day_of_week="0-7").values(DAY_OF_WEEK) == (0, 1, 2, 3, 4, 5, 6)


def test_multiple_entries_of_the_same_value_are_ignored() -> None:
    """A list is a union."""
    assert CronSpec(minute="15,15,10-20") == CronSpec(minute="10-20")


def test_submitted_at_9_30() -> None:
    """At the top of every hour: the next deferral time is 10:00, and with 300 s the job may be sent from 9:55."""
    job = read("cron_minute = 0\ncron_hour = *\ncron_prep_time = 300")
    run = job.next(at("2026-11-24T09:30"))
    assert run.time == at("2026-11-24T10:00")
    assert run.nominal_match == at("2026-11-24T09:55")
    assert run == read("cron_minute = 0\ncron_prep_time = 300").next(at("2026-11-24T09:30"))  # cron_hour is not needed


def test_a_cron_window_of_360() -> None:
    """Six minutes within which a late job begins, exactly six included."""
    job = read("cron_minute = 0\ncron_hour = *\ncron_window = 360")
    run = job.next(at("2026-11-24T09:30"))
    assert run.window == 360
    assert run.arrival(at("2026-11-24T10:06")).verdict is Verdict.START
    assert run.arrival(at("2026-11-24T10:06") + 1).verdict is Verdict.MISSED


@pytest.mark.parametrize("dialect", list(Dialect))
def test_rounded_later_to_the_next_minute(dialect: Dialect) -> None:
    """A deferral time is determined from the current time rounded up to the next minute."""
    job = read("cron_minute = *", dialect)
    for second in (0, 1, 59):
        assert job.next(at("2026-11-24T09:30") + second).time == at("2026-11-24T09:31")


def test_the_start_expression() -> None:
    """( time() + SCHEDD_INTERVAL ) >= ( DeferralTime - CronPrepTime )."""
    run = read("cron_minute = 0\ncron_prep_time = 60").next(at("2026-11-24T09:30"))
    assert not run.may_start(at("2026-11-24T09:53") + 59)
    assert run.may_start(at("2026-11-24T09:54"))


@pytest.mark.parametrize("dialect", list(Dialect))
def test_23_minutes_after_every_two_hours(dialect: Dialect) -> None:
    """Every day of the week: 0:23, 2:23 ... 22:23."""
    job = read(
        """
        on_exit_remove = false
        cron_minute = 23
        cron_hour = 0-23/2
        cron_day_of_month = *
        cron_month = *
        cron_day_of_week = *
        """,
        dialect,
    )
    assert runs(job, "2026-11-24T00:00", 13) == [f"2026-11-24T{h:02}:23" for h in range(0, 24, 2)] + [
        "2026-11-25T00:23"
    ]


MAY = """
    on_exit_remove = false
    cron_minute = 30
    cron_hour = 20
    cron_day_of_month = 10-20
    cron_month = 5
    cron_day_of_week = 2
"""


@pytest.mark.parametrize("dialect", list(Dialect))
def test_the_example_whose_sentence_contradicts_its_values(dialect: Dialect) -> None:
    """The sentence says 10:30pm and Mondays, the values are hour 20 and day 2: 8:30pm and Tuesdays. The values win."""
    job = read(MAY, dialect)
    days = [5, *range(10, 21), 26]  # Tuesdays of May 2026: 5, 12, 19, 26
    assert runs(job, "2026-04-01T00:00", 13) == [f"2026-05-{day:02}T20:30" for day in days]


def test_the_remaining_mondays_of_may_as_the_sentence_has_them() -> None:
    """What the sentence means is written with hour 22 and day 1."""
    job = read(MAY.replace("cron_hour = 20", "cron_hour = 22").replace("week = 2", "week = 1"))
    days = [4, *range(10, 21), 25]  # Mondays of May 2026: 4, 11, 18, 25
    assert runs(job, "2026-04-01T00:00", 13) == [f"2026-05-{day:02}T22:30" for day in days]


@pytest.mark.parametrize("dialect", list(Dialect))
def test_every_10_and_every_6_minutes_before_noon_on_january_18th(dialect: Dialect) -> None:
    """Two steps in one list, twelve hours, one day of the year, two minutes of preparation."""
    job = read(
        """
        on_exit_remove = false
        cron_minute = */10,*/6
        cron_hour = 0-11
        cron_day_of_month = 18
        cron_month = 1
        cron_day_of_week = *
        cron_prep_time = 120
        """,
        dialect,
    )
    minutes = [0, 6, 10, 12, 18, 20, 24, 30, 36, 40, 42, 48, 50, 54]
    expected = [f"2027-01-18T{hour:02}:{minute:02}" for hour in range(12) for minute in minutes]
    assert runs(job, "2026-11-24T09:30", 12 * 14 + 1) == [*expected, "2028-01-18T00:00"]
    run = job.next(at("2026-11-24T09:30"))
    assert run.nominal_match == at("2027-01-17T23:58")
