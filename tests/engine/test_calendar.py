"""Days, months and weekdays, against the standard library's calendar."""

import ast
import calendar
import re
from contextlib import suppress
from datetime import date, datetime, timedelta, timezone
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from crondor._recurrence import Range, WallClock, month_masks, months
from crondor.algebra import Untranslatable, portable
from crondor.calendar import MONTHS, WEEKDAYS, DayRule, day_number, is_leap, lowest, month_length, weekday
from crondor.day_rule import DecidedBy, day_rule, decided_by, has_day_zero, is_unrestricted, takes_every_day
from crondor.recurrence import Arm, Counts, Gaps, NeverRuns, NotASet, Recurrence
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, CronSpec, Dialect, InvalidSpec
from crondor.words import describe
from tests.engine.clock_oracle import names_day
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


FIRST = date(2000, 1, 1)
CYCLE = 146_097  # days
DAY = 86400


class Day(NamedTuple):
    """A date of the cycle, taken apart once for all schedules."""

    year: int
    month: int
    day: int
    weekday: int


@cache
def calendar_cycle() -> list[Day]:
    """Return every day from 2000 to 2399."""
    days = (FIRST + timedelta(days=n) for n in range(CYCLE))
    return [Day(day.year, day.month, day.day, day.isoweekday() % 7) for day in days]


def days_of(schedule: CronSpec) -> list[int]:
    """Return the days of the cycle that a spec names, by number, from the words of docs/dialects.md."""
    in_month = set(schedule.values(MONTH))
    by_day, by_weekday = set(schedule.values(DAY_OF_MONTH)), set(schedule.values(DAY_OF_WEEK))
    day_starred, weekday_starred = schedule.stars[2], schedule.stars[4]
    either = not (day_starred or weekday_starred)
    if schedule.dialect is Dialect.MANUAL:
        by_day = set(range(1, 32)) if day_starred else by_day
        by_weekday = set(range(7)) if weekday_starred else by_weekday
    return [
        number
        for number, (_, month, day, weekday) in enumerate(calendar_cycle())
        if month in in_month
        and ((day in by_day or weekday in by_weekday) if either else (day in by_day and weekday in by_weekday))
    ]


def times_of(schedule: CronSpec) -> list[int]:
    """Return the seconds of a day at which a spec runs."""
    return [hour * 3600 + minute * 60 for hour in schedule.values(HOUR) for minute in schedule.values(MINUTE)]


def gaps_by_walk(schedule: CronSpec) -> Gaps:
    """Return the gaps by walking from run to run, and once over the end of the cycle."""
    days, times = days_of(schedule), times_of(schedule)
    days.append(days[0] + CYCLE)
    # Within a day all days are alike, and the first of them is the first occurrence.
    found = [(b - a, days[0]) for a, b in pairwise(times)]
    # The first occurrence of each length is enough: reversed, the earliest stays.
    first = {b - a: a for a, b in reversed(list(pairwise(days)))}
    found += [(length * DAY + times[0] - times[-1], day) for length, day in first.items()]
    shortest = min(found)
    longest = max(found, key=lambda gap: (gap[0], -gap[1]))
    return Gaps(shortest[0], FIRST + timedelta(days=shortest[1]), longest[0], FIRST + timedelta(days=longest[1]))


def counts_by_walk(schedule: CronSpec) -> Counts:
    """Return the counts by looking at every day of 400 years."""
    per_day = len(times_of(schedule))
    taken = set(days_of(schedule))
    in_days = {per_day if number in taken else 0 for number in range(CYCLE)}
    in_months: dict[tuple[int, int], int] = {(year, month): 0 for year in range(2000, 2400) for month in range(1, 13)}
    in_years = dict.fromkeys(range(2000, 2400), 0)
    for number in taken:
        day = calendar_cycle()[number]
        in_months[day.year, day.month] += per_day
        in_years[day.year] += per_day
    values = (in_days, in_months.values(), in_years.values())
    return Counts(*(Range(min(found), max(found)) for found in values))


MANUAL_LINES = [
    "* * * * *",
    "0 * * * *",
    "*/7 * * * *",
    "0 0 * * *",
    "0 0,12 * * *",
    "0 0,12 1,15,16 * *",
    "0 6,18 2,3 * *",
    "59 0,23 * * *",
    "0 0,23 1,2 1 *",
    "0 0 29 2 *",
    "0,30 6-8 29 2 *",
    "0 0 29 2 1",
    "0 0 31 2,4 1",
    "0 0 31 * *",
    "0 0 30,31 * *",
    "0 0 29-31 2 *",
    "0 0 1 1 *",
    "0 0 31 12 *",
    "0 0 1,31 1,12 *",
    "0 0 13 * 5",
    "0 0 1-7 * 1",
    "0 0 */2 * *",
    "0 0 * * */2",
    "0 0 * * 1-5",
    "0 9-17 * * 1-5",
    "0 0 * 2 6",
    "0 0 1 1 0",
    "0 0 1-31 * 1",
    "0 0 15 */3 *",
    "30 4 28 2 *",
]
UNIX_LINES = [
    "0 0 29 2 */7",
    "0,30 6,7 29 2 */7",
    "0 0 */2 * 1",
    "0 0 */30 2,3 0-3",
    "0 0 1-7 * */7",
    "0 0 31 1,12 */4",
    "0 0 31 12 */7",
    "0 0 1 1 */7",
    "0 0 */31 1 6",
    "0 0 1-31 * */2",
    "0 0 */2 * 0-6",
    "0 0 13 * 5",
]
LINES = [(line, Dialect.MANUAL) for line in MANUAL_LINES] + [(line, Dialect.UNIX) for line in UNIX_LINES]


@pytest.mark.parametrize(("line", "dialect"), LINES)
def test_gaps_and_counts_are_those_of_every_day_of_400_years(line: str, dialect: Dialect) -> None:
    """Lengths, the dates they first occur, and least and most of a day, a month and a year."""
    schedule = CronSpec.from_line(line, dialect=dialect)
    assert Recurrence(schedule).gaps() == gaps_by_walk(schedule)
    assert Recurrence(schedule).counts() == counts_by_walk(schedule)


def texts(choices: list[str]) -> st.SearchStrategy[str]:
    """Return one or two of some items as a list."""
    return st.lists(st.sampled_from(choices), min_size=1, max_size=2, unique=True).map(",".join)


@examples(10)
@given(
    time=st.sampled_from(["0 0", "0 0,12", "0,30 23", "0 0,23", "59 1,2,23"]),
    day=texts(["*", "1", "15,16", "29", "30", "31", "28-31", "*/2", "1-31/5"]),
    month=texts(["*", "2", "1,12", "2,4", "6-8", "*/3"]),
    weekday=texts(["*", "*", "0", "1-5", "*/7", "*/3", "6"]),
    dialect=st.sampled_from([Dialect.MANUAL, Dialect.UNIX]),
)
@example(time="0 0", day="29", month="2", weekday="*/7", dialect=Dialect.UNIX)
def test_gaps_and_counts_of_random_schedules(time: str, day: str, month: str, weekday: str, dialect: Dialect) -> None:
    """The same walks on whatever comes."""
    try:
        schedule = CronSpec.from_line(f"{time} {day} {month} {weekday}", dialect=dialect)
    except InvalidSpec:
        assume(False)
        raise
    recurrence = Recurrence(schedule)
    assert recurrence.counts() == counts_by_walk(schedule)
    if recurrence.wall_clock.never:
        assert days_of(schedule) == []
        return
    assert recurrence.gaps() == gaps_by_walk(schedule)


class TestKnown:
    """Gaps that can be worked out by hand."""

    def test_29_february(self) -> None:
        """Four years, and eight over 2100: 2096 is the first to wait for it, since 2000 had its day."""
        found = Recurrence(CronSpec.from_line("0 0 29 2 *")).gaps()
        assert found == Gaps(1461 * DAY, date(2000, 2, 29), 2921 * DAY, date(2096, 2, 29))

    def test_29_february_on_a_sunday(self) -> None:
        """28 years as a rule, 40 over a century without a leap day."""
        found = Recurrence(CronSpec.from_line("0 0 29 2 */7", dialect=Dialect.UNIX)).gaps()
        sundays = [year for year in range(2000, 2800, 4) if year % 100 or not year % 400]
        sundays = [year for year in sundays if date(year, 2, 29).isoweekday() == 7]
        years = [b - a for a, b in pairwise(sundays)]
        assert (min(years), max(years)) == (28, 40)
        lengths = [(date(b, 2, 29) - date(a, 2, 29)).days for a, b in pairwise(sundays)]
        assert (found.shortest, found.longest) == (min(lengths) * DAY, max(lengths) * DAY)
        assert found.longest_from == date(sundays[lengths.index(max(lengths))], 2, 29)
        assert found.shortest_from == date(sundays[lengths.index(min(lengths))], 2, 29)

    @pytest.mark.parametrize("line", ["0 0 31 12 */7", "0 0 1 1 */7", "0 0 */28 2 */7", "0 0 29 2 */7"])
    def test_the_gap_over_the_end_of_the_cycle(self, line: str) -> None:
        """The last gap begins in one cycle and ends in the next: two cycles in a row show no other gap."""
        schedule = CronSpec.from_line(line, dialect=Dialect.UNIX)
        days = days_of(schedule)
        twice = days + [day + CYCLE for day in days]
        lengths = {(b - a) * DAY for a, b in pairwise(twice)}
        found = Recurrence(schedule).gaps()
        assert (found.shortest, found.longest) == (min(lengths), max(lengths))

    def test_the_days_around_a_gap_are_days_of_the_schedule(self) -> None:
        """The date named begins the gap, and its length later there is a run again."""
        schedule = CronSpec.from_line("0 0 1 1 */7", dialect=Dialect.UNIX)
        found = Recurrence(schedule).gaps()
        assert found.longest_from.isoweekday() == 7
        after = found.longest_from + timedelta(seconds=found.longest)
        assert (after.month, after.day, after.isoweekday()) == (1, 1, 7)

    def test_a_day_that_short_months_do_not_have(self) -> None:
        """The 31st: from 31 July to 31 August, and from 31 March over April to 31 May; February is shorter."""
        found = Recurrence(CronSpec.from_line("0 0 31 * *")).gaps()
        assert (found.shortest, found.shortest_from) == (31 * DAY, date(2000, 7, 31))
        assert (found.longest, found.longest_from) == (61 * DAY, date(2000, 3, 31))

    def test_several_times_a_day(self) -> None:
        """From the last of one day to the first of the next."""
        found = Recurrence(CronSpec.from_line("0 8,9,17 * * 1-5")).gaps()
        assert (found.shortest, found.shortest_from) == (3600, date(2000, 1, 3))
        assert (found.longest, found.longest_from) == ((2 * 24 + 15) * 3600, date(2000, 1, 7))

    def test_a_gap_within_a_day_is_told_by_the_first_day(self) -> None:
        """Twelve hours lie between the two runs of 1 January already, not only in the night of the 15th."""
        found = Recurrence(CronSpec.from_line("0 0,12 1,15,16 * *")).gaps()
        assert (found.shortest, found.shortest_from) == (12 * 3600, date(2000, 1, 1))

    def test_counts_of_the_manual_s_13th_or_friday(self) -> None:
        """52 or 53 Fridays and twelve 13ths, which are Fridays one to three times a year."""
        assert Recurrence(CronSpec.from_line("0 0 13 * 5")).counts() == ((0, 1), (4, 6), (61, 64))

    def test_what_never_runs(self) -> None:
        """No gaps, and counts of nothing."""
        never = Recurrence(CronSpec.from_line("0 0 31 2,4 *"))
        with pytest.raises(NeverRuns, match="day 31 does not occur"):
            never.gaps()
        assert never.counts() == ((0, 0), (0, 0), (0, 0))

    def test_the_schedd_has_neither(self) -> None:
        """Its answers depend on the question."""
        schedd = Recurrence(CronSpec.from_line("0 6 * * *", dialect=Dialect.HTCONDOR))
        for ask in (schedd.gaps, schedd.counts):
            with pytest.raises(NotASet):
                ask()

    def test_the_zone_does_not_matter(self) -> None:
        """Gaps and counts are the wall clock's."""
        schedule = CronSpec.from_line("30 2 * * 0")
        assert Recurrence(schedule, "America/New_York").gaps() == Recurrence(schedule).gaps()
        assert Recurrence(schedule, "America/New_York").counts() == Recurrence(schedule).counts()


def test_the_cycle_is_the_calendar() -> None:
    """4,800 months with their first weekdays, every kind of month among them."""
    expected = [(y, m, date(y, m, 1).isoweekday() % 7) for y in range(2000, 2400) for m in range(1, 13)]
    assert list(months()) == expected
    lengths = {(m, w, (date(y + m // 12, m % 12 + 1, 1) - date(y, m, 1)).days) for y, m, w in expected}
    every = CronSpec.from_line("0 0 * * *")
    masks = month_masks(day_rule(every))
    assert set(masks) == lengths
    assert all(taken == (2 << length) - 2 for (_, _, length), taken in masks.items())
    assert WallClock(every).rule.every


ROOT = Path(__file__).parents[2]
DAY_TEXTS = ["*", "1", "1-31", "*/2", "*/1", "1,*", "31", "*/31", "1-15,16-31"]
WEEK = ["*", "1", "0-6", "*/2", "1,*", "7", "1-5", "*/7"]
YEAR = [datetime(2028, 1, 1, 6, tzinfo=timezone.utc) + timedelta(days=n) for n in range(0, 366, 3)]


def specs(*dialects: Dialect) -> list[CronSpec]:
    """Return every pair of day fields in every dialect."""
    found = []
    for days, week, dialect in product(DAY_TEXTS, WEEK, dialects):
        with suppress(InvalidSpec):  # the schedd finds no day in */31 from 1 on
            found.append(CronSpec.from_line(f"0 6 {days} * {week}", dialect=dialect))
    return found


@pytest.mark.parametrize("spec", specs(Dialect.MANUAL, Dialect.UNIX), ids=repr)
def test_days_reasons_and_runs_go_by_one_rule(spec: CronSpec) -> None:
    """A day counts for the calendar, for `why` and for the runs if and only if the words of the dialect say so."""
    rule, by, recurrence = day_rule(spec), decided_by(spec), Recurrence(spec)
    assert recurrence.wall_clock.rule.in_month(2028, 2, 2) == rule.in_month(2028, 2, 2)
    for day in YEAR:
        counts = names_day(spec, day.replace(tzinfo=None))
        first = weekday(day_number(day.year, day.month, 1))
        why = recurrence.why(int(day.timestamp()))
        assert bool(rule.in_month(day.year, day.month, first) >> day.day & 1) == counts
        assert why.fires == counts
        assert (why.arm is not Arm.NEITHER) == counts
        assert (not {DAY_OF_MONTH, DAY_OF_WEEK} & set(why.blocking)) == counts
        assert counts or by is not DecidedBy.NEITHER
    every_day = all(rule.in_month(2028, m, 0).bit_count() == month_length(2028, m) for m in range(1, 13))
    assert takes_every_day(spec) == every_day or by in {DecidedBy.DAY_OF_MONTH, DecidedBy.DAY_OF_WEEK}


@pytest.mark.parametrize("spec", specs(*Dialect), ids=repr)
def test_words_and_spellings_go_by_the_same_rule(spec: CronSpec) -> None:
    """The sentence says "or" and "any" where the rule does, and only AND has no spelling for all dialects."""
    by, words = decided_by(spec), describe(spec)
    full = [spec.bits[field.index] == field.full for field in (DAY_OF_MONTH, DAY_OF_WEEK)]
    assert (", or" in words) == (by is DecidedBy.EITHER and not all(full))
    assert ("on any" in words) == (by is DecidedBy.BOTH)
    free = [is_unrestricted(spec, field) for field in (DAY_OF_MONTH, DAY_OF_WEEK)]
    assert by is not DecidedBy.EITHER or free == [False, False]
    if spec.dialect is Dialect.HTCONDOR:
        assert has_day_zero(spec) == (by is DecidedBy.DAY_OF_WEEK)
        return
    try:
        alike = portable(spec)
    except Untranslatable:
        assert by is DecidedBy.BOTH
    else:
        assert day_rule(alike).in_month(2028, 2, 2) == day_rule(spec).in_month(2028, 2, 2)


def test_the_names_of_weekdays_and_months_stand_in_one_place() -> None:
    """No other module writes them out, in full, in short or in capitals: all are made of the calendar's."""
    names = {text for name in (*WEEKDAYS, *MONTHS[1:]) for text in (name.lower(), name[:3].lower()) if text != "may"}
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("crondor", "cli")
        for path in (ROOT / folder).rglob("*.py")
        if (words := names & set(re.findall("[a-z]+", (text := path.read_text()).lower())))
        if len(words) > 2 or words & {"monday", "january"}
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if len(names & set(node.value.lower().replace(",", " ").split())) > 2
        or node.value.lower() in {"monday", "january"}
    }
    assert found == {"crondor/calendar.py"}
