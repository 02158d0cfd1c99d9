"""Days, months and weekdays, against the standard library's calendar."""

import calendar
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.calendar import DayRule, day_number, is_leap, lowest, month_length, weekday
from tests.examples import examples

EPOCH = date(1970, 1, 1)
FULL_MONTHS, FULL_DAYS, FULL_WEEK = 0x1FFE, 0xFFFFFFFE, 0x7F


def bits(*numbers: int) -> int:
    """Return a bit set."""
    return sum(1 << n for n in set(numbers))


def taken(rule: DayRule, day: date) -> bool:
    """Say whether a rule takes a day, from the definition alone."""
    if not rule.months >> day.month & 1:
        return False
    by_day = bool(rule.days >> day.day & 1)
    by_weekday = bool(rule.weekdays >> day.isoweekday() % 7 & 1)
    return by_day or by_weekday if rule.either else by_day and by_weekday


def test_leap_years_and_lengths_of_months() -> None:
    """They are those of the Gregorian calendar, 1900, 2000, 2100 and 2200 among them."""
    for year in range(1896, 2405):
        assert is_leap(year) == calendar.isleap(year)
        for month in range(1, 13):
            assert month_length(year, month) == calendar.monthrange(year, month)[1]


@given(st.dates(date(1, 1, 1), date(9999, 12, 31)))
def test_days_are_counted_from_1970(day: date) -> None:
    """A day number is the days since 1970-01-01, negative before, and Sunday is weekday 0."""
    number = day_number(day.year, day.month, day.day)
    assert EPOCH + timedelta(days=number) == day
    assert weekday(number) == day.isoweekday() % 7


@pytest.mark.parametrize(("members", "smallest"), [((0,), 0), ((5, 9), 5), ((31,), 31), ((59, 7), 7)])
def test_the_lowest_member_of_a_bit_set(members: tuple[int, ...], smallest: int) -> None:
    """The lowest set bit is the smallest value."""
    assert lowest(bits(*members)) == smallest


def _sets(low: int, high: int, full: int) -> st.SearchStrategy[int]:
    some = st.sets(st.integers(low, high), min_size=1, max_size=4).map(lambda chosen: bits(*chosen))
    return st.one_of(some, some, st.just(full))


RULES = st.builds(
    DayRule, _sets(1, 12, FULL_MONTHS), _sets(1, 31, FULL_DAYS), _sets(0, 6, FULL_WEEK), either=st.booleans()
)
DAYS = st.dates(date(1970, 1, 1), date(2200, 12, 31))


@examples(37)
@given(rule=RULES, start=DAYS)
def test_next_and_previous_day_are_the_nearest_taken(rule: DayRule, start: date) -> None:
    """The answer is taken, and no day between it and the start is; the start itself may be the answer."""
    if rule.never():
        return
    number = (start - EPOCH).days
    for found, step in ((rule.next_day(number), 1), (rule.previous_day(number), -1)):
        day = start
        for _ in range(1500):  # 29 February beside 2100 and weekdays lie farther apart: those are looked at from there
            if taken(rule, day):
                break
            day += timedelta(days=step)
        else:
            assert abs(found - number) >= 1500
            day = EPOCH + timedelta(days=found)
            assert taken(rule, day)
        assert found == (day - EPOCH).days


@examples(25)
@given(rule=RULES, start=DAYS, length=st.integers(-3, 1200))
def test_count_is_the_number_of_taken_days(rule: DayRule, start: date, length: int) -> None:
    """Both ends count; an end before the start counts nothing."""
    first = (start - EPOCH).days
    expected = sum(taken(rule, start + timedelta(days=n)) for n in range(length + 1))
    assert rule.count_days(first, first + length) == expected


@examples(10)
@given(rule=RULES)
def test_count_over_centuries(rule: DayRule) -> None:
    """Whole years are counted by their kind; the sum is still exact."""
    first, last = date(1970, 1, 1), date(2200, 12, 31)
    expected = sum(taken(rule, first + timedelta(days=n)) for n in range((last - first).days + 1))
    assert rule.count_days(0, (last - EPOCH).days) == expected


@examples(25)
@given(rule=RULES, year=st.integers(1970, 2200), month=st.integers(1, 12))
def test_the_days_of_a_month(rule: DayRule, year: int, month: int) -> None:
    """A month's bit set holds its taken days and no day that it does not have."""
    if not rule.months >> month & 1:
        return
    first = weekday(day_number(year, month, 1))
    expected = bits(*(d for d in range(1, month_length(year, month) + 1) if taken(rule, date(year, month, d))))
    assert rule.in_month(year, month, first) == expected


@pytest.mark.parametrize(
    ("months", "days", "weekdays", "either", "never"),
    [
        (bits(2), bits(30, 31), FULL_WEEK, False, True),
        (bits(2), bits(29), FULL_WEEK, False, False),
        (bits(2), bits(29), bits(1), False, False),  # a Monday: 1988, 2016, 2044 ...
        (bits(2, 4, 6, 9, 11), bits(31), FULL_WEEK, False, True),
        (bits(2, 4, 6, 9, 11, 12), bits(31), FULL_WEEK, False, False),
        (bits(4), bits(31), bits(3), False, True),
        (bits(4), bits(31), bits(3), True, False),  # the weekdays serve
        (bits(2), bits(30, 1), FULL_WEEK, False, False),
        (FULL_MONTHS, FULL_DAYS, FULL_WEEK, True, False),
    ],
)
def test_never_is_decided(months: int, days: int, weekdays: int, either: bool, never: bool) -> None:
    """Only days that none of the months has make a rule empty."""
    assert DayRule(months, days, weekdays, either=either).never() == never


def test_every_date_meets_every_weekday() -> None:
    """Within 400 years each date, 29 February too, falls on each weekday: the reason why `never` is exact."""
    seen: dict[tuple[int, int], int] = {}
    for n in range(146097):
        day = EPOCH + timedelta(days=n)
        seen[day.month, day.day] = seen.get((day.month, day.day), 0) | 1 << day.isoweekday() % 7
    assert len(seen) == 366
    assert set(seen.values()) == {FULL_WEEK}
    assert (EPOCH + timedelta(days=146097)).isoweekday() == EPOCH.isoweekday()


def test_the_longest_wait_is_found_at_once() -> None:
    """29 February on a Saturday: from 2072 to 2112 no such day, since 2100 is no leap year."""
    rule = DayRule(bits(2), bits(29), bits(6), either=False)
    found, years = day_number(1970, 1, 1), []
    while (found := rule.next_day(found + 1)) < day_number(2201, 1, 1):
        years.append((EPOCH + timedelta(days=found)).year)
    assert years == [y for y in range(1972, 2201) if is_leap(y) and date(y, 2, 29).isoweekday() == 6]


def test_a_rule_of_every_day_takes_today() -> None:
    """Nothing is looked up where every day is taken."""
    for either in (False, True):
        rule = DayRule(FULL_MONTHS, FULL_DAYS, FULL_WEEK, either=either)
        assert (rule.next_day(12345), rule.previous_day(12345), rule.count_days(10, 19)) == (12345, 12345, 10)
