"""Every worked example of the manual's chapter "Time Scheduling for Job Execution", as a test named after it."""

from datetime import datetime, timezone
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from crondor.deferral import Deferral, Verdict
from crondor.schedule import ExpressionText, InvalidSchedule, JobSchedule
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, CronSpec, Dialect, Field

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
