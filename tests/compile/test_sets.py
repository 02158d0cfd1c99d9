"""The algebra of schedules: its laws, and that every question is answered from the same instants."""

from datetime import datetime, timezone
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.compile.days import DAYS_END, DaySet
from crondor.compile.meaning import read_schedule
from crondor.compile.walls import Active, Both, CronSchedule, Either, Schedule, Without, first_difference
from crondor.recurrence import Recurrence
from crondor.spec import CronSpec
from crondor.zones import Policy, zone_of
from tests.compile.cases import ZONES
from tests.engine.clock_oracle import changes

TEXTS = (
    "*/7 * * * *",
    "0 */2 * * 1-5",
    "30 2 * * *",
    "0 18 * * 5L",
    "15 3 15W * *",
    "every 90 minutes from 2020-03-01T00:10",
    "every 3 days at 02:30 from 2020-01-05",
    "RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1 from 2020-01-01T17:00",
    "Mon..Fri *-*~1..3 0/6:45",
    "2020-03-29T02:30, 2020-10-25T02:30, 2021-03-28T03:15",
    "0 0 29 2 1",
    "every minute only 2020-03-28..2020-03-30",
    "* * * * * only holidays:DE",
)
MOMENT = st.integers(1_577_000_000, 1_700_000_000)
SETS = st.builds(lambda text, zone: read_schedule(text, zone=zone), st.sampled_from(TEXTS), st.sampled_from(ZONES))
DAYS = st.integers(18_250, 19_000)


def same(one: DaySet, other: DaySet, day: int) -> bool:
    """Say whether two sets have the same instants on some days."""
    return all(one.minutes(d) == other.minutes(d) for d in range(day, day + 5))


@given(SETS, SETS, SETS, DAYS)
def test_the_laws_of_sets_hold(a: DaySet, b: DaySet, c: DaySet, day: int) -> None:
    """Union and intersection commute, associate and distribute; except is and-not."""
    assert same(Either(a, b), Either(b, a), day)
    assert same(Both(a, b), Both(b, a), day)
    assert same(Either(a, Either(b, c)), Either(Either(a, b), c), day)
    assert same(Both(a, Both(b, c)), Both(Both(a, b), c), day)
    assert same(Both(a, Either(b, c)), Either(Both(a, b), Both(a, c)), day)
    assert same(Either(a, Both(b, c)), Both(Either(a, b), Either(a, c)), day)
    assert same(Without(a, Either(b, c)), Without(Without(a, b), c), day)
    assert same(Without(a, Both(b, c)), Either(Without(a, b), Without(a, c)), day)
    assert same(Either(Without(a, b), Both(a, b)), a, day)
    assert all(not Without(a, b).minutes(d) & b.minutes(d) for d in range(day, day + 5))


@given(SETS, SETS, st.sampled_from(("or", "and", "except", "only")), DAYS)
def test_the_days_of_a_year_miss_no_instant(a: DaySet, b: DaySet, word: str, day: int) -> None:
    """Where ``days`` has no day, ``minutes`` has none of it."""
    whole: DaySet = {"or": Either(a, b), "and": Both(a, b), "except": Without(a, b), "only": Both(a, b, "only")}[word]
    known = set(islice(whole.days_from(day), 40))
    for d in range(day, min(day + 20, max(known, default=DAYS_END))):
        assert d in known or not whole.minutes(d)


@given(SETS, MOMENT, st.integers(0, 40))
def test_all_questions_have_one_answer(a: Schedule, moment: int, days: int) -> None:
    """Next, previous and matches go by the instants that ``between`` lists."""
    end = moment + 86_400 * days
    listed = list(islice(a.between(moment, end), 500))
    walked: list[int] = []
    at: int | None = moment
    while at is not None and len(walked) < 500:
        at = a.next(at)
        if at is None or at > end:
            break
        walked.append(at)
    assert walked == listed
    for earlier, later in pairwise(listed):
        assert a.previous(later) == earlier
        assert a.matches(later)
        assert not a.matches(later + 30)


@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("line", ["30 2 * * *", "*/20 * * * *", "*/30 1-3 1-15 * 1"])
def test_cron_fields_have_the_instants_of_their_recurrence(line: str, zone: str, policy: Policy) -> None:
    """As bit sets of days, around two clock changes."""
    spec = CronSpec.from_line(line)
    schedule = CronSchedule(spec, zone_of(zone), policy)
    recurrence = Recurrence(spec, zone, policy)
    for change in list(changes(zone, 1_600_000_000, 1_700_000_000))[:2]:
        day = change.instant // 86_400
        for each in range(day - 1, day + 2):
            expected = list(recurrence.between(each * 86_400 - 1, each * 86_400 + 86_399))
            assert [each * 86_400 + 60 * m for m in range(1440) if schedule.minutes(each) >> m & 1] == expected
        low, high = change.instant - 90_000, change.instant + 90_000
        assert list(schedule.between(low, high)) == list(recurrence.between(low, high))


@given(SETS, SETS, MOMENT)
def test_the_first_difference_is_where_one_alone_fires(a: DaySet, b: DaySet, moment: int) -> None:
    """None comes before it, and both are compared day by day."""
    end = moment + 20 * 86_400
    found = first_difference(a, b, moment, end)
    ours, theirs = set(a.between(moment, end)), set(b.between(moment, end))
    assert found == min(ours ^ theirs, default=None)


def test_a_schedule_that_ends_needs_no_calendar_beyond() -> None:
    """What is known limits only what lies after it."""
    open_end = read_schedule("0 9 * * 1-5 except holidays:SG", zone="UTC")
    assert open_end.until is not None
    assert "holidays:SG is known until" in open_end.until_reason
    assert read_schedule("0 9 * * 1-5 except holidays:SG until 2026-12-31", zone="UTC").until is None
    last = open_end.previous(1 << 40)
    assert last is not None
    assert last <= open_end.until
    assert open_end.next(open_end.until) is None


def test_activation_includes_both_ends() -> None:
    """A date means all its day, in the schedule's zone."""
    found = read_schedule("0 0 * * * from 2026-12-01 until 2026-12-03", zone="Europe/Berlin")
    days = [datetime.fromtimestamp(at, timezone.utc).isoformat() for at in found.between(0, 1 << 40)]
    assert days == ["2026-11-30T23:00:00+00:00", "2026-12-01T23:00:00+00:00", "2026-12-02T23:00:00+00:00"]
    active = Active(found, None, 1_796_166_000, "")
    assert active.previous(1 << 40) == 1_796_166_000


def test_a_day_is_as_long_as_the_clock_says() -> None:
    """`except` takes a local day of 23 or 25 hours; nothing of its neighbours."""
    for date, hours in (("2026-03-29", 23), ("2026-10-25", 25), ("2026-12-24", 24)):
        whole = read_schedule(f"every hour only {date}", zone="Europe/Berlin")
        assert len(list(whole.between(0, 1 << 40))) == hours
        rest = read_schedule(f"every hour except {date} only 2026-01-01..2026-12-31", zone="Europe/Berlin")
        assert len(list(rest.between(0, 1 << 40))) == 8760 - hours


@pytest.mark.parametrize("text", [*TEXTS, "RRULE:FREQ=YEARLY;BYWEEKNO=1,53,-1;BYDAY=MO,SU from 1970-01-01"])
def test_the_years_of_crondor_have_both_ends(text: str) -> None:
    """Nothing is asked of 1969 or 2201 that cannot be answered."""
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        found = read_schedule(text, zone=zone)
        first, last = found.next(-1 << 40), found.previous(1 << 40)
        assert first is not None
        assert last is not None
        assert 0 <= first <= last < 86_400 * DAYS_END
        assert found.previous(first) is None
        assert found.next(last) is None
        assert found.matches(first)
        assert not found.matches(first - 86_400 * 400_000)
