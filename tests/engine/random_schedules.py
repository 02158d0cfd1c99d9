"""Random schedules for Hypothesis: of any kind, and such as name the days and hours of a clock change."""

from datetime import timedelta
from typing import NamedTuple

from hypothesis import assume
from hypothesis import strategies as st

from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, CronSpec, Dialect, Field, InvalidSpec
from tests.engine.clock_oracle import ZONES, Change, changes

HOUR_LONG, DAY_LONG = timedelta(hours=1), timedelta(days=1)
SETS = [Dialect.MANUAL, Dialect.UNIX]  # the dialects whose schedules are sets of instants


def items(field: Field) -> st.SearchStrategy[str]:
    """Return one item of a list."""
    value = st.integers(field.low, field.high)
    step = st.integers(1, field.high)
    ranges = st.tuples(value, value).map(lambda pair: f"{min(pair)}-{max(pair)}")
    return st.one_of(value.map(str), ranges, st.tuples(ranges, step).map(lambda pair: f"{pair[0]}/{pair[1]}"))


def texts(field: Field) -> st.SearchStrategy[str]:
    """Return a field's text: a star, a starred step, a list, or all its values written out."""
    lists = st.lists(items(field), min_size=1, max_size=3).map(",".join)
    steps = st.integers(1, field.high).map(lambda n: f"*/{n}")
    return st.one_of(st.just("*"), steps, lists, lists, st.just(f"{field.low}-{field.high}"))


HOURS = texts(HOUR) | st.sampled_from(["0", "1", "2", "3", "23", "1,2", "0-3", "2,3", "*"])  # where clocks change
DAYS = st.tuples(st.just("*") | texts(DAY_OF_MONTH), st.just("*") | texts(MONTH), st.just("*") | texts(DAY_OF_WEEK))


@st.composite
def specs(draw: st.DrawFn, dialects: list[Dialect] | None = None) -> CronSpec:
    """Return a valid schedule."""
    line = " ".join((draw(texts(MINUTE)), draw(HOURS), *draw(DAYS)))
    try:
        return CronSpec.from_line(line, dialect=draw(st.sampled_from(dialects or SETS)))
    except InvalidSpec:
        assume(False)
        raise


class Asked(NamedTuple):
    """A schedule asked at an instant (epoch seconds) within two days of a change of a zone."""

    spec: CronSpec
    zone: str
    change: Change
    at: int


@st.composite
def asked(draw: st.DrawFn, dialects: list[Dialect] | None = None) -> Asked:
    """Return a schedule, mostly one of the day of a change and of no other for months, and an instant near it."""
    zone = draw(st.sampled_from([zone for zone in ZONES if changes(zone)]))
    change = draw(st.sampled_from(changes(zone)))
    spec = draw(st.one_of(*[sparse(change, dialects)] * 4, near_days(change, dialects), specs(dialects)))
    quarters = st.one_of(*[st.integers(-4 * hours, 4 * hours) for hours in (4, 14, 48)])
    at = draw(quarters) * 900 + draw(st.sampled_from([0, 0, -1, 1, 60, 437]))
    return Asked(spec, zone, change, max(0, change.instant + at))


def times_about(change: Change) -> st.SearchStrategy[str]:
    """Return the minutes and the hours of a schedule, mostly such as a change touches."""
    minute = st.sampled_from(["*/20", "*", "0", "0,30", "30", "59", "1", "0-59/7", "*/60"])
    hours = sorted({(moment + HOUR_LONG * n).hour for moment in change.touched for n in (-1, 0, 1)})
    named = st.lists(st.sampled_from(hours), min_size=1, max_size=3).map(lambda some: ",".join(map(str, some)))
    hour = st.one_of(named, named, st.sampled_from(["*", "*/2", "0-23", "0,*/12", "1-23/2"]))
    return st.tuples(minute, hour).map(" ".join)


@st.composite
def sparse(draw: st.DrawFn, change: Change, dialects: list[Dialect] | None = None) -> CronSpec:
    """Return a schedule of the day of a change, or of one beside it, which has no other run for months."""
    day = draw(st.sampled_from([change.old, change.new])) + DAY_LONG * draw(st.sampled_from([0, 0, 0, -1, 1]))
    dates = draw(st.sampled_from(["{0.day} {0.month} *", "{0.day} * *", "{0.day},{0.day} {0.month} */7"])).format(day)
    return CronSpec.from_line(f"{draw(times_about(change))} {dates}", dialect=draw(st.sampled_from(dialects or SETS)))


@st.composite
def near_days(draw: st.DrawFn, change: Change, dialects: list[Dialect] | None = None) -> CronSpec:
    """Return a schedule of some days about a change: of its month, of its weekday, of either or both day fields."""
    days = [change.old - DAY_LONG, change.old, change.new, change.new + DAY_LONG]
    day, month, week = draw(st.tuples(*[st.sampled_from(days)] * 3))
    forms = [
        "* {m} *",
        "* {m} {w}",
        "{d} {m} {w}",
        "*/{d} {m} {w}",
        "{d},{m} {m} */7",
        "29 2 {w}",
        "* * {w}",
        "*/{d} * *",
    ]
    dates = draw(st.sampled_from(forms)).format(d=day.day, m=month.month, w=week.isoweekday() % 7)
    return CronSpec.from_line(f"{draw(times_about(change))} {dates}", dialect=draw(st.sampled_from(dialects or SETS)))
