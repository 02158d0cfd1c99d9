"""Schedules compared and seen over all years: the hardest specs, and a short span beside a long one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from benchmarks.measure import Case, measure
from crondor.algebra import first_collision, first_difference, is_subset, same_meaning
from crondor.recurrence import NeverRuns, Recurrence
from crondor.spec import CronSpec, Dialect

START = 1795132800  # 2026-11-20
LEAP_DAY = 1961625600  # 2032-02-29
DAY = 86400
YEAR = 365 * DAY
END = 7289654399  # the last second of 2200

HARDEST = (
    ("29 February", "0 0 29 2 *", Dialect.UNIX),
    ("29 February on a Sunday", "0 0 29 2 */7", Dialect.UNIX),
    ("29 February or a Monday", "0 0 29 2 1", Dialect.MANUAL),
    ("31 February or April, or a Monday", "0 0 31 2,4 1", Dialect.MANUAL),
    ("every minute", "* * * * *", Dialect.MANUAL),
)
ZONES = ("UTC", "America/New_York")


@dataclass(frozen=True)
class Whole:
    """A question about all years: there is no shorter one to compare it with."""

    name: str
    work: Callable[[], object]


@dataclass(frozen=True)
class Spans:
    """A question about a short and a long span, and how many times more the long one may cost."""

    name: str
    short: Callable[[], object]
    long: Callable[[], object]
    most: float


def cases() -> Iterator[Whole | Spans]:
    """Yield every case; specs are built beforehand, and so are the zones' clock changes."""
    for name, line, dialect in HARDEST:
        recurrence = _recur(line, dialect=dialect)
        yield Whole(f"gaps over 400 years, {name}", recurrence.gaps)
        yield Whole(f"counts over 400 years, {name}", recurrence.counts)
    yield Whole("never fires: 31 February or April", _never("0 0 31 2,4 *", Dialect.MANUAL))
    yield Whole("never fires: 31 February or April on a Sunday", _never("0 0 31 2,4 */7", Dialect.UNIX))
    for zone in ZONES:
        yield from _counts(zone)
        yield from _firsts(zone)
    yield _meanings(ZONES[1])


def measured(case: Whole | Spans) -> tuple[float, float | None]:
    """Return the median microseconds of the whole or the long span, and of the short one where there is one."""
    if isinstance(case, Whole):
        return measure(Case(case.name, {"whole": case.work}, 0))["whole"], None
    found = measure(Case(case.name, {"short": case.short, "long": case.long}, case.most))
    return found["long"], found["short"]


def _recur(line: str, zone: str = "UTC", dialect: Dialect = Dialect.MANUAL) -> Recurrence:
    return Recurrence(CronSpec.from_line(line, dialect=dialect), zone)


def _never(line: str, dialect: Dialect) -> Callable[[], object]:
    spec = CronSpec.from_line(line, dialect=dialect)

    def ours() -> None:
        with contextlib.suppress(NeverRuns):
            Recurrence(spec).next(START)

    return ours


def _counts(zone: str) -> Iterator[Spans]:
    """Yield counts over one year and over all.

    Every day is a subtraction. Weekdays are summed by years, which are of 14 kinds, and clock changes are looked at
    one by one: 230 years may cost more there, but never as much as 230 times one year.
    """
    for line, most in (("0 12 * * *", 1.5), ("0 6 * * 1", 12), ("* * * * *", 1.5)):
        recurrence = _recur(line, zone)
        yield Spans(
            f"count {line}, 1 and 230 years, {zone}",
            partial(recurrence.count, START, START + YEAR),
            partial(recurrence.count, 0, END),
            most if zone == "UTC" else 230,
        )


def _firsts(zone: str) -> Iterator[Spans]:
    """Yield first collision and first difference, where the end is near or far, and where the find is."""
    last_days, others = _recur("30 12 31 * *", zone), _recur("30 12 30 4,6 *", zone)
    yield Spans(
        f"no collision, until 2027 and 2200, {zone}",
        partial(first_collision, last_days, others, START, START + YEAR),
        partial(first_collision, last_days, others, START, END),
        1.5,
    )
    same = _recur("30 12 31 1-12 *", zone)
    yield Spans(
        f"no difference, until 2027 and 2200, {zone}",
        partial(first_difference, last_days, same, START, START + YEAR),
        partial(first_difference, last_days, same, START, END),
        1.5,
    )
    # 1,440 runs a day in February. They part, or meet, on 29 February only: one day ahead, or 28 days and a year.
    february, most = _recur("* * * 2 *", zone), _recur("* * 1-28 2 *", zone)
    yield Spans(
        f"every minute, difference early and late, {zone}",
        partial(first_difference, february, most, LEAP_DAY - DAY),
        partial(first_difference, february, most, LEAP_DAY - 393 * DAY),
        3,
    )
    leap = _recur("* * 29 2 *", zone)
    yield Spans(
        f"every minute, collision early and late, {zone}",
        partial(first_collision, february, leap, LEAP_DAY - DAY),
        partial(first_collision, february, leap, LEAP_DAY - 393 * DAY),
        3,
    )


def _meanings(zone: str) -> Spans:
    """Compare two dialects on the wall clock alone, and through all clock changes of a zone."""
    manual, unix = (CronSpec.from_line("30 2 * * 1-5", dialect=d) for d in (Dialect.MANUAL, Dialect.UNIX))
    return Spans(
        f"subset on the wall clock, and same meaning in {zone}",
        lambda: is_subset(manual, unix),
        lambda: same_meaning(manual, unix, zone),
        60,  # the changes are looked at one by one
    )
