"""The schedd's answers beside clock changes, against its search in words and the C library's own mktime."""

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor._readings import ScheddWalk
from crondor.audit import clock_changes
from crondor.recurrence import Recurrence, ScheddAnswer, never_reason
from crondor.spec import DAY_OF_WEEK, FIELDS, CronSpec, Dialect
from crondor.zones import zone_of
from tests.engine.clock_oracle import DAY, GRID, Change, grid_id
from tests.engine.random_schedules import Asked, asked
from tests.engine.schedd_oracle import Question, answers
from tests.examples import TIMES, examples

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the schedd's mktime is that of the GNU C library")

COUNT = 8
LINES = [
    "30 {hour} {day} {month} *",
    "*/20 {hour} * {month} *",
    "0,59 {hour} * {month} {weekday}",
    "15 {hour} * * {weekday}",
    "*/20 */2 * * *",
    "*/10 * {day},1 * *",
]


def question(spec: CronSpec, zone: str, after: int) -> Question:
    """Return what the oracle is asked."""
    fields = [list(spec.values(field)) for field in FIELDS]
    if spec.stars[DAY_OF_WEEK.index]:
        fields[DAY_OF_WEEK.index] = []  # an empty list is the schedd's `*`
    return Question(zone, fields, after, COUNT)


def assert_chain(spec: CronSpec, zone: str, after: int, expected: list[int]) -> None:
    """Compare every question that the dialect knows with the answers of a process."""
    recurrence = Recurrence(spec, zone)
    chain = [answer for answer in islice(recurrence.upcoming(after), COUNT) if isinstance(answer, ScheddAnswer)]
    assert chain == expected
    assert recurrence.next(after) == expected[0]
    assert list(recurrence.between(after, expected[-1])) == expected
    moments = [datetime.fromtimestamp(instant, ZoneInfo(zone)) for instant in (after, *expected)]
    coming = list(islice(recurrence.upcoming(moments[0]), COUNT))
    assert [moment.isoformat() for moment in coming] == [moment.isoformat() for moment in moments[1:]]
    assert recurrence.next(moments[0]) == coming[0]
    for asked_at, answer in zip([after, *expected], chain, strict=False):
        assert answer.is_retry == (answer.computed is not None)
        assert not answer.is_retry or answer == asked_at + 120


def cases(change: Change) -> list[tuple[CronSpec, int]]:
    """Return schedules that name a change's hour, and when they are asked: before it and in it."""
    low, _ = change.touched
    values = {"hour": low.hour, "day": low.day, "month": low.month, "weekday": low.isoweekday() % 7}
    specs = [CronSpec.from_line(line.format(**values), dialect=Dialect.HTCONDOR) for line in LINES]
    starts = [change.instant + shift for shift in (-2 * DAY, -3600, -1, 1800) if change.instant + shift >= 0]
    return [(spec, after) for spec in specs for after in starts][:: 3 if TIMES == 1 else 1]


Grid = dict[tuple[str, Change], list[list[int]]]


@pytest.fixture(scope="module")
def grid() -> Grid:
    """Return the expected answers at each change: all of them are asked for at once."""
    asked_of = [(zone, change, spec, after) for zone, change in GRID for spec, after in cases(change)]
    found = answers([question(spec, zone, after) for zone, _, spec, after in asked_of])
    result: Grid = {}
    for (zone, change, _, _), expected in zip(asked_of, found, strict=True):
        result.setdefault((zone, change), []).append(expected)
    return result


@pytest.mark.parametrize(("zone", "change"), GRID, ids=grid_id)
def test_every_kind_of_change_is_met_as_mktime_does(zone: str, change: Change, grid: Grid) -> None:
    """Each answer is fed into the next."""
    for (spec, after), expected in zip(cases(change), grid[zone, change], strict=True):
        assert_chain(spec, zone, after, expected)


@examples(4)
@given(st.lists(asked([Dialect.HTCONDOR]), min_size=25, max_size=25))
def test_random_schedules_are_met_as_mktime_does(questions: list[Asked]) -> None:
    """Of any kind, asked within two days of any change of any zone."""
    usable = [q for q in questions if never_reason(q.spec) is None]
    found = answers([question(q.spec, q.zone, q.at) for q in usable])
    for (spec, zone, _, after), expected in zip(usable, found, strict=True):
        assert_chain(spec, zone, after, expected)


class OneByOne(ScheddWalk):
    """The walk without its table of a day: each answer is searched for by itself."""

    def _rest_of_day(self, after: int, known_offset: int) -> Iterator[int]:
        """Yield nothing."""
        del after, known_offset
        return iter(())


def seen(answers_: Iterator[ScheddAnswer]) -> list[tuple[int, int | None, int]]:
    """Return what a thousand answers say."""
    return [(int(answer), answer.computed, answer.moved) for answer in islice(answers_, 1000)]


@given(asked([Dialect.HTCONDOR]))
def test_the_answers_of_a_day_are_those_that_a_search_finds_one_by_one(question_: Asked) -> None:
    """With retries and moved times, through clock changes and the ends of months."""
    spec, zone, _, after = question_
    if never_reason(spec) is None:
        assert seen(ScheddWalk(spec, zone_of(zone)).chain(after)) == seen(OneByOne(spec, zone_of(zone)).chain(after))


@given(asked())
def test_the_marks_of_many_runs_are_those_of_each(question_: Asked) -> None:
    """Whatever clock changes lie between them."""
    spec, zone, _, after = question_
    recurrence = Recurrence(spec, zone)
    if never_reason(spec) is None:
        runs = list(islice(recurrence.upcoming(after), 500))
        assert list(recurrence.clock_marks(runs)) == [recurrence.clock_mark(run) for run in runs]


def shown(zone: str, instants: Iterable[int]) -> list[str]:
    """Return instants as local times."""
    return [datetime.fromtimestamp(instant, ZoneInfo(zone)).isoformat(timespec="minutes") for instant in instants]


def test_a_skipped_time_is_moved_behind_the_gap() -> None:
    """Where the gap begins summer time, and `moved` says how far."""
    spec = CronSpec.from_line("30 2 * * *", dialect=Dialect.HTCONDOR)
    start = datetime.fromisoformat("2026-03-28T12:00+01:00")
    chain = list(islice(Recurrence(spec, "Europe/Berlin").upcoming(int(start.timestamp())), 2))
    assert shown("Europe/Berlin", chain) == ["2026-03-29T03:30+02:00", "2026-03-30T02:30+02:00"]
    assert [answer.moved for answer in chain if isinstance(answer, ScheddAnswer)] == [3600, 0]


def test_a_skipped_time_is_put_before_the_gap_that_ends_a_winter_s_daylight_saving_time() -> None:
    """In Dublin 01:30 becomes 00:30, and is found again every two minutes until the gap; the audit shows all of it."""
    zone, spec = "Europe/Dublin", CronSpec.from_line("30 1 * * *", dialect=Dialect.HTCONDOR)
    start, end = (int(datetime.fromisoformat(f"2026-03-{day}T12:00+00:00").timestamp()) for day in (28, 29))
    chain = [a for a in takewhile(end.__gt__, Recurrence(spec, zone).upcoming(start)) if isinstance(a, ScheddAnswer)]
    expected = [f"2026-03-29T00:{minute}+00:00" for minute in range(30, 60, 2)] + ["2026-03-29T02:00+01:00"]
    assert shown(zone, chain) == expected
    assert [answer.computed for answer in chain] == [None] + [chain[0]] * 15
    assert {answer.moved for answer in chain} == {-3600}
    (change,) = clock_changes(CronSpec.from_line("30 1 * * *"), zone, start, end)
    assert list(change.schedd) == chain
