"""Beside clock changes all questions have one answer: that of looking at the clock at every minute."""

from contextlib import suppress
from datetime import datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.recurrence import OutOfRange, Policy, Recurrence
from crondor.spec import CronSpec, Dialect
from tests.engine.clock_oracle import DAY, GRID, Change, grid_id, minutes, runs
from tests.engine.random_schedules import Asked, asked
from tests.examples import TIMES, examples


def expected_runs(spec: CronSpec, zone: str, policy: Policy, change: Change, low: int, high: int) -> list[int]:
    """Return the runs of an interval within some days of a change, by looking at the clock."""
    around = runs(spec, zone, policy, change.instant - 2 * DAY, change.instant + 2 * DAY)
    return [run for run in around if low < run <= high]


def assert_agreement(spec: CronSpec, zone: str, policy: Policy, change: Change, low: int) -> None:
    """Put every question about an interval that begins near a change, and compare the answers with what is expected.

    Of what comes after the interval the first run has to be the same for all questions.
    """
    high = change.instant + 2 * DAY
    expected = expected_runs(spec, zone, policy, change, low, high)
    recurrence = Recurrence(spec, zone, policy)
    if recurrence.wall_clock.never:
        assert expected == []
        assert recurrence.count(low, high) == 0
        return
    info = ZoneInfo(zone)
    start, end = (datetime.fromtimestamp(instant, info) for instant in (low, high))
    forth, at = [], low
    while (at := recurrence.next(at)) <= high:
        forth.append(at)
    assert forth == expected, "next"
    assert list(recurrence.between(low, high)) == expected, "between"
    assert list(islice(recurrence.upcoming(low), len(expected) + 1)) == [*expected, at], "upcoming"
    moments = list(islice(recurrence.upcoming(start), len(expected) + 1))
    assert [moment.timestamp() for moment in moments] == [*expected, at], "upcoming, datetimes"
    shown = [datetime.fromtimestamp(instant, info) for instant in (*expected, at)]
    assert [(m.utcoffset(), m.isoformat()) for m in moments] == [(m.utcoffset(), m.isoformat()) for m in shown]
    assert list(recurrence.between(start, end)) == moments[:-1], "between, datetimes"
    assert recurrence.next(start) == moments[0], "next, datetime"
    assert recurrence.count(low, high) == recurrence.count(start, end) == len(expected), "count"
    assert recurrence.count(low, at) == len(expected) + 1, "count as far as the next run"
    assert_agreement_backwards(recurrence, expected, low, at)


def assert_agreement_backwards(recurrence: Recurrence, expected: list[int], low: int, beyond: int) -> None:
    """Come back from the first run after the interval, and try which instants are runs."""
    back, at = [], beyond
    with suppress(OutOfRange):  # before the first run since 1970
        while (at := recurrence.previous(at)) > low:
            back.append(at)
    assert back[::-1] == expected, "previous"
    assert all(map(recurrence.matches, (*expected, beyond))), "matches"
    assert not any(recurrence.matches(run + shift) for run in expected for shift in (-1, 1)), "matches otherwise"


def assert_matches(spec: CronSpec, zone: str, policy: Policy, change: Change) -> None:
    """Ask for each minute of the clock in the hours about a change, both its passes, whether it is a run, and why."""
    low, high = (change.instant + hours * 3600 for hours in (-2, 3))
    expected = set(expected_runs(spec, zone, policy, change, low - 1, high))
    recurrence = Recurrence(spec, zone, policy)
    asked_of = {at for m in minutes(zone, low, high) for at in (*m.passes, m.moved, m.resumes) if at is not None}
    for instant in sorted(at for at in asked_of if low <= at <= high):
        assert recurrence.matches(instant) == (instant in expected)


LINES = [
    "30 {hour} {day} {month} *",
    "*/20 {hour} {day} {month} *",
    "*/20 {hour} * {month} *",
    "*/20 * {day} {month} *",
    "0,30 {before} {day} {month} *",
    "0,59 {hour} * {month} {weekday}",
    "15 */2 * * *",
    "7 0-23 * * {weekday}",
]


ASKED = (-2 * DAY, -9 * 3600, -1800, -1, 0, 1800, 3599, 9 * 3600)
"""Seconds from the change; each policy is asked at some of them, with CRONDOR_EXAMPLES=2 at each."""


@pytest.mark.parametrize(("zone", "change"), GRID, ids=grid_id)
def test_every_kind_of_change_has_one_truth(zone: str, change: Change) -> None:
    """Schedules that name the change's hour and day, asked before it, in it and after it; each under some policy."""
    low, high = change.touched
    for place, line in enumerate(LINES):
        for day in {low.date(), high.date()}:
            text = line.format(
                hour=low.hour,
                before=f"{(low.hour - 1) % 24},{high.hour}",
                day=day.day,
                month=day.month,
                weekday=day.isoweekday() % 7,
            )
            spec = CronSpec.from_line(text)
            for number, policy in enumerate(Policy):
                if TIMES == 1 and (place + number + low.day) % 4:
                    continue
                for ask in ASKED[number % 3 :: 3] if TIMES == 1 else ASKED:
                    if change.instant + ask >= 0:
                        assert_agreement(spec, zone, policy, change, change.instant + ask)
                assert_matches(spec, zone, policy, change)


# Runs that lie after a change of the same day, or in the second pass of a fold, and then none for a year or a month.
ALONE = [
    ("30 2 4 11 *", "America/New_York", "2012-11-04T00:00-04:00", ["2012-11-04T02:30-05:00", "2013-11-04T02:30-05:00"]),
    ("30 12 4 11 *", "America/New_York", "2012-11-04T00:00-04:00", ["2012-11-04T12:30-05:00"]),
    ("30 2 25 3 *", "Europe/Berlin", "2012-03-25T00:00+01:00", ["2012-03-25T03:30+02:00", "2013-03-25T02:30+01:00"]),
    ("*/20 2 25 10 *", "Europe/Berlin", "2026-10-25T02:40+02:00",
     ["2026-10-25T02:00+01:00", "2026-10-25T02:20+01:00", "2026-10-25T02:40+01:00", "2027-10-25T02:00+02:00"]),
    ("*/20 2 * 10 *", "Europe/Berlin", "2010-10-31T02:40+02:00",
     ["2010-10-31T02:00+01:00", "2010-10-31T02:20+01:00", "2010-10-31T02:40+01:00", "2011-10-01T02:00+02:00"]),
    ("*/30 23 17 2 *", "America/Sao_Paulo", "2018-02-17T23:30-02:00",
     ["2018-02-17T23:00-03:00", "2018-02-17T23:30-03:00", "2019-02-17T23:00-03:00"]),
]  # fmt: skip


@pytest.mark.parametrize(("line", "zone", "start", "answers"), ALONE)
def test_a_run_of_the_day_of_a_change_is_not_lost(line: str, zone: str, start: str, answers: list[str]) -> None:
    """`next`, `upcoming` and `previous` find the last run of a season though a change lies before it."""
    spec = CronSpec.from_line(line, dialect=Dialect.UNIX if "/" in line else Dialect.MANUAL)
    recurrence = Recurrence(spec, zone)
    first = datetime.fromisoformat(start)
    coming = list(islice(recurrence.upcoming(first), len(answers)))
    assert [moment.isoformat(timespec="minutes") for moment in coming] == answers
    found = [int(moment.timestamp()) for moment in coming]
    low = int(first.timestamp())
    assert list(islice(recurrence.upcoming(low), len(answers))) == found
    assert [recurrence.next(run) for run in [low, *found[:-1]]] == found
    assert [recurrence.previous(run) for run in found[1:]] == found[:-1]
    assert recurrence.count(low, found[-1]) == len(found)


@pytest.mark.parametrize("policy", list(Policy))
@pytest.mark.parametrize(("zone", "change"), GRID, ids=grid_id)
def test_why_knows_the_same_runs(zone: str, change: Change, policy: Policy) -> None:
    """In the hours about a change `why` says of each minute what the clock says, with the runs on both sides of it."""
    low, _ = change.touched
    spec = CronSpec.from_line(f"*/20 {low.hour} * * *")
    known = expected_runs(spec, zone, policy, change, change.instant - 2 * DAY, change.instant + 2 * DAY)
    recurrence = Recurrence(spec, zone, policy)
    for instant in range(change.instant - 3600, change.instant + 7201, 300):
        found = recurrence.why(instant)
        assert found.fires == (instant in known)
        assert found.fires or found.note or found.blocking
        assert not found.fires or (found.note is None) == (not found.blocking and not found.wall.second)
        assert found.earlier == max(run for run in known if run < instant)
        assert found.later == min(run for run in known if run > instant)
        assert found.wall == datetime.fromtimestamp(instant, ZoneInfo(zone)).replace(tzinfo=None)


@examples(50)
@given(question=asked(), policy=st.sampled_from(Policy))
def test_random_schedules_have_one_truth(question: Asked, policy: Policy) -> None:
    """Sparse and dense schedules of both dialects, asked within two days of any change of any zone."""
    spec, zone, change, at = question
    assert_agreement(spec, zone, policy, change, at)
    assert_matches(spec, zone, policy, change)
