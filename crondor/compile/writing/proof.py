"""The proof that compiled jobs run at the wanted times and at no other: all that the schedd may set is tried."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from crondor.calendar import DAY
from crondor.compile.days import DaySet, seconds_of
from crondor.compile.writing.evaluation import Clause
from crondor.compile.writing.superset import Superset

_WALKED = 20_000  # answers of the schedd up to which its whole walk is made
_FIRST = 3000  # otherwise it is made for so many, and so long before and after each clock change
_AROUND = 2 * DAY


class Proof(NamedTuple):
    """What was compared from ``start`` (excluded) to ``until`` (included).

    ``offered`` times may be set by the schedd, ``wanted`` were asked for; ``walked`` is how many answers of the
    schedd's own search were followed. ``lost`` are wanted times that never start, ``wrong`` others that would.
    """

    start: int
    until: int
    offered: int
    wanted: int
    walked: int
    lost: tuple[int, ...]
    wrong: tuple[int, ...]

    @property
    def is_exact(self) -> bool:
        """Whether the two are the same."""
        return not self.lost and not self.wrong


def prove(wanted: dict[int, int], jobs: list[tuple[Superset, Clause | None]], start: int, until: int) -> Proof:
    """Compare UTC days with bit sets of the wanted minutes with what jobs start, from ``start`` to ``until``."""
    offered = count = walked = 0
    lost: list[int] = []
    wrong: list[int] = []
    passing: list[dict[int, int]] = [{} for _ in jobs]
    for day in range(start // DAY, until // DAY + 1):
        mask = within(day, start, until)
        found = 0
        for (superset, clause), own in zip(jobs, passing, strict=True):
            bits = superset.minutes(day) & mask
            offered += bits.bit_count()
            if bits and clause is not None:
                bits = clause.minutes(day, bits)
            if bits:
                own[day] = bits
            found |= bits
        asked = wanted.get(day, 0)
        count += asked.bit_count()
        if found != asked:
            lost += [day * DAY + second for second in seconds_of(asked & ~found)]
            wrong += [day * DAY + second for second in seconds_of(found & ~asked)]
    for (superset, clause), own in zip(jobs, passing, strict=True):
        seen, unreached, stray = _walk(superset, clause, own, start, until)
        walked += seen
        lost += unreached
        wrong += stray
    return Proof(start, until, offered, count, walked, tuple(sorted(set(lost))), tuple(sorted(set(wrong))))


def wanted_days(schedule: DaySet, start: int, until: int) -> dict[int, int]:
    """Return the UTC days on which a schedule has times after ``start`` and up to ``until``, as bit sets of minutes."""
    found: dict[int, int] = {}
    for day in schedule.days_from(max(0, start // DAY)):
        if day > until // DAY:
            break
        bits = schedule.minutes(day) & within(day, start, until)
        if bits:
            found[day] = bits
    return found


def within(day: int, start: int, until: int) -> int:
    """Return the minutes of a UTC day later than ``start`` and not later than ``until``, as a bit set."""
    low = max(0, (start - day * DAY) // 60 + 1)
    high = min(1440, (until - day * DAY) // 60 + 1)
    return (1 << high) - (1 << low) if high > low else 0


def _walk(
    superset: Superset, clause: Clause | None, passing: dict[int, int], start: int, until: int
) -> tuple[int, list[int], list[int]]:
    """Follow the schedd's answers, each fed into the next; return how many, the times unreached, and stray ones."""
    walked, lost, wrong = 0, [], []
    for low, high in _stretches(superset, start, until):
        answers = {int(a) for a in takewhile(high.__ge__, superset.schedd.upcoming(low))}
        walked += len(answers)
        for day in range(low // DAY, high // DAY + 1):
            bits = passing.get(day, 0) & within(day, low, high)
            lost += [t for second in seconds_of(bits) if (t := day * DAY + second) not in answers]
        if clause is None:
            continue
        wrong += [t for t in answers if t % 60 and clause.holds(t)]
    return walked, lost, wrong


def _stretches(superset: Superset, start: int, until: int) -> Iterator[tuple[int, int]]:
    """Yield the times in which the schedd's walk is made: all, or around what may disturb it."""
    often = max(1, superset.times.bit_count())
    if often * max(1, (until - start) // DAY) <= _WALKED:
        yield start, until
        return
    past = min(until, start + max(1, _FIRST // often) * DAY)
    yield start, past
    around = _AROUND if often < 300 else 8 * 3600
    for change in superset.zone.changes(start, until):
        low, high = max(past, change.start - around), min(until, change.start + around)
        if low < high:
            yield low, high
            past = high
