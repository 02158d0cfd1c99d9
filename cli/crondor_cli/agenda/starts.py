"""The starts of a schedule as a bit set of minutes, and the starts of many as one tally; no list of runs is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import groupby
from operator import or_

from crondor.calendar import EPOCH_ORDINAL
from crondor.recurrence import Recurrence
from crondor.spec import Dialect
from crondor.times import JobTimes
from crondor_cli.agenda.span import AgendaSpan

_DAY_BYTES = 1440 // 8


def first_start(times: JobTimes, span: AgendaSpan, now: int) -> int | None:
    """Return the first run in the span or after it, None where requirements exclude those that were looked at.

    A deferral time, taken at ``now``, may lie before the span. Raises NeverRuns, ScheddHangs, UnknownValue and
    InvalidDeferral.
    """
    if times.schedule.recurrence is None:
        time = times.schedule.next(now).time
        return None if times.excludes(time) else time
    found = next(times.runs(span.after), None)
    return None if found is None else int(found)


def starts(times: JobTimes, first: int | None, span: AgendaSpan) -> int:
    """Return the minutes of the span in which a job with this first run is started, bit n for minute n."""
    if first is None or not span.after < first < span.end:
        return 0
    recurrence = times.schedule.recurrence
    if recurrence is None:
        return 1 << span.minute(first)
    if recurrence.spec.dialect is Dialect.HTCONDOR or times.is_restricted or times.present is not None:
        return bits_of(span, times.runs(span.after, span.end - 1))
    return _by_days(recurrence, span)


def _by_days(recurrence: Recurrence, span: AgendaSpan) -> int:
    """Put a day's pattern where the clock is plain; enumerate the runs of the other days."""
    wall = recurrence.wall_clock
    pattern = sum(wall.minutes << 60 * hour for hour in range(24) if wall.hours >> hour & 1)
    taken, free = pattern.to_bytes(_DAY_BYTES, "little"), bytes(_DAY_BYTES)
    found = 0
    begun = span.after >= span.origin  # the first minute, of which a run of a plain day would not count
    for plain, days in groupby(span.days, span.is_plain):
        some = list(days)
        first = some[0]
        if plain:
            numbers = (day.date.toordinal() - EPOCH_ORDINAL for day in some)
            block = b"".join(taken if wall.rule.next_day(number) == number else free for number in numbers)
            shift = span.minute(first.start)
            bits = int.from_bytes(block, "little")
            found |= (bits << shift if shift >= 0 else bits >> -shift) & ~int(begun)
        else:
            found |= bits_of(
                span, recurrence.between(max(first.start - 1, span.after), min(some[-1].end, span.end) - 1)
            )
    return found & ((1 << span.size) - 1)


def bits_of(span: AgendaSpan, instants: Iterable[int]) -> int:
    """Return instants of a span as a bit set of its minutes."""
    digits = bytearray(b"0" * span.size)
    for instant in instants:
        digits[-1 - span.minute(instant)] = 49  # ASCII 1
    return int(digits, 2)


def members(bits: int) -> Iterator[int]:
    """Yield the members of a bit set in order."""
    digits = bin(bits)[:1:-1]
    found = digits.find("1")
    while found >= 0:
        yield found
        found = digits.find("1", found + 1)


class Tally:
    """How many jobs start in each minute.

    The counts are kept as bit planes, plane n with the bit 2**n of every minute's count: a schedule is added to
    all minutes at once, whatever the number of its runs.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._planes: list[int] = []
        self._digits: list[str] = []

    def add(self, bits: int, jobs: int) -> None:
        """Count ``jobs`` starts in each minute of a bit set."""
        self._digits = []
        level = 0
        while jobs:
            if jobs & 1:
                self._carry(bits, level)
            jobs >>= 1
            level += 1

    def _carry(self, bits: int, level: int) -> None:
        while bits:
            self._planes += [0] * (level + 1 - len(self._planes))
            plane = self._planes[level]
            self._planes[level] = plane ^ bits
            bits &= plane
            level += 1

    @property
    def minutes(self) -> int:
        """The minutes with any start."""
        return reduce(or_, self._planes, 0)

    @property
    def shared(self) -> int:
        """The minutes with more than one start."""
        return reduce(or_, self._planes[1:], 0)

    @property
    def total(self) -> int:
        """The starts of all minutes."""
        return sum(plane.bit_count() << level for level, plane in enumerate(self._planes))

    def count(self, low: int, high: int) -> int:
        """Return the starts in the minutes from ``low`` to ``high`` (excluded)."""
        if not self._digits:
            self._digits = [bin(plane)[:1:-1] for plane in self._planes]
        return sum(digits.count("1", low, high) << level for level, digits in enumerate(self._digits))

    def levels(self) -> Iterator[tuple[int, int]]:
        """Yield the counts that occur, the largest first, each with the bit set of its minutes."""
        left = self.minutes
        while left:
            count, chosen = 0, left
            for level in reversed(range(len(self._planes))):
                if chosen & self._planes[level]:
                    chosen &= self._planes[level]
                    count |= 1 << level
            yield count, chosen
            left &= ~chosen
