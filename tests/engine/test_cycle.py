"""Gaps and counts over the 400-year cycle, against walks over all its days."""

from datetime import date, timedelta
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from crondor._recurrence import Range, WallClock, month_masks, months
from crondor.day_rule import day_rule
from crondor.recurrence import Counts, Gaps, NeverRuns, NotASet, Recurrence
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, CronSpec, Dialect, InvalidSpec
from tests.examples import examples

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
def calendar() -> list[Day]:
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
        for number, (_, month, day, weekday) in enumerate(calendar())
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
        day = calendar()[number]
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
