"""Schedules compared: same meaning, subset, first collision, first difference, and translation between dialects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, tzinfo
from itertools import islice
from typing import NamedTuple

from crondor._readings import (
    FieldDifference,
    Untranslatable,
    day_zero_clause,
    field_differences,
    portable,
    reread,
    translate,
)
from crondor._recurrence import END_OF_INSTANTS, FIRST_INSTANT, WallClock, month_masks, out_of_range
from crondor.calendar import DAY, day_number, lowest
from crondor.day_rule import has_day_zero
from crondor.recurrence import OutOfRange, Recurrence
from crondor.spec import CronSpec, Dialect
from crondor.zones import YearKind, year_kind, year_of

__all__ = [
    "Difference",
    "FieldDifference",
    "Untranslatable",
    "day_zero_clause",
    "field_differences",
    "first_collision",
    "first_difference",
    "has_day_zero",
    "is_subset",
    "portable",
    "reread",
    "same_meaning",
    "translate",
]

_CYCLE_MONTHS = 4800 + 1


class Difference(NamedTuple):
    """Where two chains of answers differ: the answer of each (epoch seconds), None if it has ended."""

    first: int | None
    second: int | None

    @property
    def instant(self) -> int:
        """The earlier of the two: exactly one fires then."""
        return min(time for time in self if time is not None)


def same_meaning(a: CronSpec, b: CronSpec, zone: str | tzinfo | None = None) -> bool:
    """Return whether two MANUAL or UNIX schedules fire at the same instants.

    Without a zone the wall clock is compared, without clock changes, over all years. With a zone, the clock changes of
    1970 to 2200 count too, each schedule under its dialect's policy. Exact. Raises NotASet.
    """
    return is_subset(a, b, zone) and is_subset(b, a, zone)


def is_subset(a: CronSpec, b: CronSpec, zone: str | tzinfo | None = None) -> bool:
    """Return whether every instant of ``a`` is one of ``b``; see ``same_meaning`` for the zone. Raises NotASet."""
    first, second = Recurrence(a, zone or "UTC"), Recurrence(b, zone or "UTC")
    ours, theirs = first.wall_clock, second.wall_clock
    if ours.never:
        return True
    if theirs.never or ours.minutes & ~theirs.minutes or ours.hours & ~theirs.hours:
        return False
    masks = month_masks(theirs.rule)
    if any(taken & ~masks[kind] for kind, taken in month_masks(ours.rule).items()):
        return False
    if zone is None or (first.policy, first.follows_real_time) == (second.policy, second.follows_real_time):
        return True
    return all(
        set(first.between(max(low, FIRST_INSTANT), high)) <= set(second.between(max(low, FIRST_INSTANT), high))
        for low, high in _changes(first, FIRST_INSTANT, END_OF_INSTANTS, ours, theirs, of_each_kind=True)
    )


def first_collision(a: Recurrence, b: Recurrence, start: int, end: int | None = None) -> int | None:
    """Return the first instant with ``start`` < instant <= ``end`` (epoch seconds) at which both fire, or None.

    Exact; in one zone a longer span costs no more and ``end`` is optional (2200). For two zones it is required (else
    TypeError). Raises NotASet and OutOfRange.
    """
    _check(start)
    end = _end(end, needed=a.zone is not b.zone)
    ours, theirs = a.wall_clock, b.wall_clock
    if ours.never or theirs.never:
        return None
    if a.zone is not b.zone:
        return _common(a, b, start, end)
    nearest = _near_wall(a, b, start, end, _common, both=True)
    for low, high in _changes(a, start, end if nearest is None else nearest, ours, theirs):
        moved = _common(a, b, max(low, start), min(high, end))
        if moved is not None:
            return moved if nearest is None else min(moved, nearest)
    return nearest


def first_difference(a: Recurrence, b: Recurrence, start: int, end: int | None = None) -> Difference | None:
    """Return the first answers after ``start`` and up to ``end`` (epoch seconds) that differ, or None.

    For sets of instants ``Difference.instant`` is the first at which exactly one fires; exact, and in one zone the span
    costs nothing. In the HTCONDOR dialect each answer is the input of the next, and the chains are compared. ``end`` is
    optional (2200) for sets in one zone, otherwise required (else TypeError). Raises NeverRuns, ScheddHangs and
    OutOfRange.
    """
    _check(start)
    sets = Dialect.HTCONDOR not in {a.spec.dialect, b.spec.dialect}
    end = _end(end, needed=not sets or a.zone is not b.zone)
    if not sets or a.zone is not b.zone or a.wall_clock.never or b.wall_clock.never:
        return _lockstep(a, b, start, end)
    found = _near_wall(a, b, start, end, _alone, both=False)
    if (a.policy, a.follows_real_time) != (b.policy, b.follows_real_time):
        for low, high in _changes(a, start, end if found is None else found, a.wall_clock, b.wall_clock):
            changed = _alone(a, b, max(low, start), min(high, end))
            if changed is not None:
                found = changed if found is None else min(changed, found)
                break
    return None if found is None else Difference(_from(a, found, end), _from(b, found, end))


def _end(end: int | None, *, needed: bool) -> int:
    if end is None and needed:
        message = "an end is required: comparing run by run may take very long"
        raise TypeError(message)
    return END_OF_INSTANTS - 1 if end is None else end


def _check(start: int) -> None:
    if not FIRST_INSTANT <= start < END_OF_INSTANTS:
        raise out_of_range(start)


def _near_wall(
    a: Recurrence, b: Recurrence, start: int, end: int, find: Callable[..., int | None], *, both: bool
) -> int | None:
    """Call ``find`` around the wall-clock times that both have, or that only one has, until it succeeds."""
    after = a.zone.local(start) - DAY
    while True:
        wall = _first_wall(a.wall_clock, b.wall_clock, after, both=both)
        if wall is None or wall - 2 * DAY > end:
            return None
        # No offset is as large as two days.
        found = find(a, b, max(start, wall - 2 * DAY), min(end, wall + 2 * DAY))
        if found is not None:
            return found
        after = wall + DAY


def _from(recurrence: Recurrence, instant: int, end: int) -> int | None:
    """Return the first run at ``instant`` or later, None after ``end``."""
    try:
        found = recurrence.next(instant - 1)
    except OutOfRange:
        return None
    return found if found <= end else None


def _alone(a: Recurrence, b: Recurrence, start: int, end: int) -> int | None:
    """Return the first instant at which exactly one fires, by comparing run by run."""
    found = _lockstep(a, b, start, end)
    return None if found is None else found.instant


def _changes(
    recurrence: Recurrence, start: int, end: int, *walls: WallClock, of_each_kind: bool = False
) -> Iterator[tuple[int, int]]:
    """Yield the intervals around the clock changes up to ``end`` that affect a run of one of ``walls``.

    ``of_each_kind``: of changes by the zone's rule only those of one year of each kind, which represent the others.
    """
    zone = recurrence.zone
    seen: dict[YearKind, int] = {}
    for stretch in zone.changes(start - DAY, end):  # no change skips or repeats more than a day
        if of_each_kind:
            year = year_of(stretch.start)
            if year >= zone.rule_year and seen.setdefault(year_kind(year), year) != year:
                continue
        low, high = sorted((stretch.start + stretch.before, stretch.start + stretch.offset))
        over = stretch.start + high - low
        if over > start and any(wall.after(low - 1) < high for wall in walls):
            yield stretch.start - 1, over


def _common(a: Recurrence, b: Recurrence, start: int, end: int) -> int | None:
    """Return the first common instant, leaping from one schedule to the other."""
    try:
        while start < end:
            first = a.next(start)
            second = b.next(first - 1) if first <= end else end + 1
            if first == second:
                return first if first <= end else None
            start = second - 1
    except OutOfRange:
        pass
    return None


def _lockstep(a: Recurrence, b: Recurrence, start: int, end: int) -> Difference | None:
    """Compare answer by answer."""
    first, second = a.between(start, end), b.between(start, end)
    for one in first:
        two = next(second, None)
        if one != two:
            return Difference(one, two)
    left = list(islice(second, 1))
    return Difference(None, left[0]) if left else None


def _first_wall(a: WallClock, b: WallClock, wall: int, *, both: bool) -> int | None:
    """Return the first wall-clock time after ``wall`` that both have, or that exactly one has; month by month."""
    ours, theirs = set(a.table), set(b.table)
    shared = sorted(ours & theirs)
    if both and not shared:
        return None
    alone = sorted(ours ^ theirs)
    day, _ = divmod(wall, DAY)
    year, month = _year_and_month(day)
    for _ in range(_CYCLE_MONTHS):
        first = day_number(year, month, 1)
        left, right = _taken(a, year, month, first), _taken(b, year, month, first)
        one, all_ = left ^ right, left & right
        days = all_ if both else (one | all_ if alone else one)
        if day >= first:
            days &= ~((1 << max(0, day - first + 1)) - 1)
        while days:
            number = lowest(days)
            days &= days - 1
            table = shared if both else (alone if all_ >> number & 1 else a.table if left >> number & 1 else b.table)
            midnight = (first + number - 1) * DAY
            for second in table:
                if midnight + second > wall:
                    return midnight + second
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    return None


def _taken(wall: WallClock, year: int, month: int, first: int) -> int:
    return wall.rule.in_month(year, month, (first + 4) % 7) if wall.rule.months >> month & 1 else 0


def _year_and_month(day: int) -> tuple[int, int]:
    at = date.fromordinal(day + date(1970, 1, 1).toordinal())
    return at.year, at.month
