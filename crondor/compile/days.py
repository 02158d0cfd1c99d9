"""Sets of instants day by day: a UTC day is a bit set of 1440 minutes; and phrases for them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import lru_cache

from crondor.calendar import DAY, EPOCH_ORDINAL, FIRST_YEAR, LAST_YEAR, lowest
from crondor.words import clock_words
from crondor.zones import Zone, zone_of

MINUTES = 1440
WHOLE_DAY = (1 << MINUTES) - 1
WHOLE_YEAR = (1 << 366) - 1
DAYS_END = date(LAST_YEAR + 1, 1, 1).toordinal() - EPOCH_ORDINAL  # the first day after the last year
# Zones, and weeks across the end of a year, need the years before the first and after the last.
_FIRST = FIRST_YEAR - 4
YEAR_STARTS = tuple(date(year, 1, 1).toordinal() - EPOCH_ORDINAL for year in range(_FIRST, LAST_YEAR + 7))
UTC = zone_of("UTC")


def year_of(day: int) -> tuple[int, int]:
    """Return the year of a day number (days since 1970-01-01), and the days since its 1 January."""
    index = bisect_right(YEAR_STARTS, day) - 1
    return _FIRST + index, day - YEAR_STARTS[index]


def year_start(year: int) -> int:
    """Return the day number of 1 January."""
    return YEAR_STARTS[year - _FIRST]


def day_text(day: int) -> str:
    """Return a day number as 2026-12-24."""
    return date.fromordinal(day + EPOCH_ORDINAL).isoformat()


@lru_cache(maxsize=4096)
def seconds_of(bits: int) -> tuple[int, ...]:
    """Return the seconds of a day for a bit set of its minutes, in order."""
    if bits.bit_count() > 64:
        return tuple(60 * minute for minute in members(bits))
    found = []
    while bits:
        bit = bits & -bits
        found.append(60 * (bit.bit_length() - 1))
        bits ^= bit
    return tuple(found)


def members(bits: int) -> list[int]:
    """Return the members of a bit set in order."""
    text = f"{bits:b}"
    return [at for at, digit in enumerate(reversed(text)) if digit == "1"]


def taken_days(days: Callable[[int], int], day: int) -> Iterator[int]:
    """Yield the matching day numbers from one on, until 2200."""
    if day >= DAYS_END:
        return
    year, index = year_of(day)
    while year <= LAST_YEAR:
        base = year_start(year)
        mask = days(year) & ((1 << year_start(year + 1) - base) - 1)
        mask = mask >> index << index
        while mask:
            bit = mask & -mask
            yield base + bit.bit_length() - 1
            mask ^= bit
        year, index = year + 1, 0


class YearDays:
    """The matching days of each year, computed once."""

    def __init__(self, work_out: Callable[[int], int]) -> None:
        """Take a function that computes the days of a year."""
        self._work_out = work_out
        self._known: dict[int, int] = {}

    def days(self, year: int) -> int:
        """Return the days of a year (bit 0 is 1 January) that may have runs: all that have runs are included."""
        found = self._known.get(year)
        if found is None:
            found = self._known[year] = self._work_out(year)
        return found


class DaySet:
    """A schedule that knows its days; instants are derived from ``days`` and ``minutes``.

    Subclasses define these two. ``words`` is the schedule in English; ``until`` and ``until_reason`` limit what is
    known, applied by the reader of the whole (crondor.compile.meaning).
    """

    def __init__(self, zone: Zone, words: str, until: int | None = None, until_reason: str = "") -> None:
        """Take the zone of the wall clock, the sentence, and the limit."""
        self.zone = zone
        self.words = words
        self.until = until
        self.until_reason = until_reason

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.words}>"

    def days(self, year: int) -> int:
        """Return the days of a UTC year (bit 0 is 1 January) that may have instants: all that have are included."""
        raise NotImplementedError

    def minutes(self, day: int) -> int:
        """Return a UTC day's instants as a bit set of its minutes."""
        raise NotImplementedError

    def next(self, after: int) -> int | None:
        """Return the first instant (epoch seconds) later than ``after``; None if there is none until 2200."""
        day, minute = divmod(max(after // 60 + 1, 0), MINUTES)
        if day >= DAYS_END:
            return None
        bits = self.minutes(day) >> minute
        if bits:
            return (day * MINUTES + minute + lowest(bits)) * 60
        for later in self.days_from(day + 1):
            bits = self.minutes(later)
            if bits:
                return (later * MINUTES + lowest(bits)) * 60
        return None

    def previous(self, before: int) -> int | None:
        """Return the last instant earlier than ``before``; None if there is none since 1970."""
        day, minute = divmod(min(-(-before // 60), DAYS_END * MINUTES), MINUTES)  # minutes below `minute` are earlier
        if day < 0:
            return None
        bits = self.minutes(day) & ((1 << minute) - 1) if minute else 0
        if bits:
            return (day * MINUTES + bits.bit_length() - 1) * 60
        for earlier in self._days_before(day):
            bits = self.minutes(earlier)
            if bits:
                return (earlier * MINUTES + bits.bit_length() - 1) * 60
        return None

    def between(self, start: int, end: int) -> Iterator[int]:
        """Yield the instants with ``start`` < instant <= ``end``, ascending."""
        first, last = max(start, -1) // DAY, min(end // DAY, DAYS_END - 1)
        if start < 0:
            first = 0
        for day in self.days_from(first):
            if day > last:
                return
            seconds: tuple[int, ...] = seconds_of(self.minutes(day))
            midnight = day * DAY
            if day in {first, last}:
                low, high = bisect_right(seconds, start - midnight), bisect_right(seconds, end - midnight)
                seconds = seconds[low:high]
            yield from map(midnight.__add__, seconds)

    def matches(self, instant: int) -> bool:
        """Return whether an instant is in the set."""
        day, second = divmod(instant, DAY)
        return 0 <= day < DAYS_END and not second % 60 and bool(self.minutes(day) >> second // 60 & 1)

    def days_from(self, day: int) -> Iterator[int]:
        """Yield the day numbers from one on that may have instants, until 2200."""
        return taken_days(self.days, day)

    def _days_before(self, day: int) -> Iterator[int]:
        """Yield the day numbers before one that may have instants, the latest first, back to 1970."""
        if day <= 0:
            return
        year, index = year_of(day - 1)
        mask = self.days(year) & ((2 << index) - 1)
        while True:
            base = year_start(year)
            while mask:
                bit = mask.bit_length() - 1
                yield base + bit
                mask ^= 1 << bit
            year -= 1
            if year < FIRST_YEAR:
                return
            mask = self.days(year) & ((1 << year_start(year + 1) - year_start(year)) - 1)


class Instants(DaySet):
    """Single instants."""

    def __init__(self, instants: list[int], zone: Zone, words: str) -> None:
        """Take epoch seconds on whole minutes, in any order."""
        super().__init__(zone, words)
        self._minutes: dict[int, int] = {}
        self._years: dict[int, int] = {}
        for instant in instants:
            day, second = divmod(instant, DAY)
            self._minutes[day] = self._minutes.get(day, 0) | 1 << second // 60
            year, index = year_of(day)
            self._years[year] = self._years.get(year, 0) | 1 << index

    def days(self, year: int) -> int:
        """Return the days of a year that have instants."""
        return self._years.get(year, 0)

    def minutes(self, day: int) -> int:
        """Return a day's instants."""
        return self._minutes.get(day, 0)


class Spans(DaySet):
    """Every minute of some spans of time: from a start (included) to an end (excluded), in epoch seconds."""

    def __init__(self, spans: list[tuple[int, int]], zone: Zone, words: str) -> None:
        """Take the spans in any order; a partly covered minute counts."""
        super().__init__(zone, words)
        merged: list[list[int]] = []
        for start, end in sorted((max(start // 60, 0), -(-end // 60)) for start, end in spans):
            if merged and start <= merged[-1][1]:
                merged[-1][1] = max(end, merged[-1][1])
            elif end > start:
                merged.append([start, end])
        self._starts = [start for start, _ in merged]
        self._ends = [end for _, end in merged]

    def days(self, year: int) -> int:
        """Return the days of a year that a span touches."""
        base, mask = year_start(year), 0
        low, high = base * MINUTES, year_start(year + 1) * MINUTES
        for at in range(bisect_right(self._ends, low), bisect_left(self._starts, high)):
            first = max(self._starts[at], low) // MINUTES - base
            last = (min(self._ends[at], high) - 1) // MINUTES - base
            mask |= (2 << last) - (1 << first)
        return mask

    def minutes(self, day: int) -> int:
        """Return a day's minutes that are covered."""
        low, bits = day * MINUTES, 0
        for at in range(bisect_right(self._ends, low), bisect_left(self._starts, low + MINUTES)):
            first, past = max(self._starts[at] - low, 0), min(self._ends[at] - low, MINUTES)
            bits |= (1 << past) - (1 << first)
        return bits


class Elapsed(DaySet):
    """Every so many minutes of real time from an instant; clock changes have no effect."""

    def __init__(self, start: int, step: int, zone: Zone, words: str) -> None:
        """Take the first instant (epoch seconds) and the step in minutes."""
        super().__init__(zone, words)
        self._start = start // 60
        self._step = step

    def days(self, year: int) -> int:
        """Return the days of a year that have instants."""
        base, after = year_start(year), year_start(year + 1)
        if self._step <= MINUTES:
            return WHOLE_YEAR if after * MINUTES > self._start else 0
        at = self._start + max(0, -(-(base * MINUTES - self._start) // self._step)) * self._step
        return sum(1 << minute // MINUTES - base for minute in range(at, after * MINUTES, self._step))

    def minutes(self, day: int) -> int:
        """Return a day's instants."""
        low = day * MINUTES
        if low + MINUTES <= self._start:
            return 0
        if low <= self._start:
            return stepped(self._start - low, self._step)
        return stepped((self._start - low) % self._step, self._step)


@lru_cache(maxsize=8192)
def stepped(first: int, step: int) -> int:
    """Return every ``step``-th minute of a day from one on, as a bit set."""
    return sum(1 << minute for minute in range(first, MINUTES, step))


class Covered(DaySet):
    """The whole time of events that start at a schedule's instants, all equally long."""

    def __init__(self, starts: DaySet, length: int, words: str) -> None:
        """Take the starts and the length in minutes, at least 1."""
        super().__init__(starts.zone, words, starts.until, starts.until_reason)
        self._starts = starts
        self._length = length
        self._back = -(-(length - 1) // MINUTES)  # days before one whose events reach into it

    def days(self, year: int) -> int:
        """Return the days of a year that an event may touch."""
        mask = spread(self._starts.days(year), self._back)
        if year > FIRST_YEAR:
            base, before = year_start(year), year_start(year - 1)
            mask |= spread(self._starts.days(year - 1), self._back) >> base - before
        return mask & WHOLE_YEAR

    def minutes(self, day: int) -> int:
        """Return a day's minutes that an event covers."""
        row = 0
        for earlier in range(self._back, -1, -1):
            row = row | self._starts.minutes(day - earlier) << (self._back - earlier) * MINUTES
        return spread(row, self._length - 1) >> self._back * MINUTES & WHOLE_DAY


def spread(bits: int, further: int) -> int:
    """Return a bit set with the ``further`` places after each member added."""
    done = 0
    while done < further:
        step = min(done + 1, further - done)
        bits |= bits << step
        done += step
    return bits


_MOST = 8  # items of a list; the others are counted


def listed(words: Sequence[str], word: str = "and") -> str:
    """Return words as a list: "a, b and c"; a long one is cut, with the number of the others."""
    if len(words) > _MOST:
        words = [*words[: _MOST - 1], f"{len(words) - _MOST + 1} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {word} {words[-1]}"


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 11th, 23rd."""
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def at_times(times: int) -> str:
    """Return the minutes of a day (a bit set) as a schedule is written: "at 09:00, 17:00"."""
    return f"at {', '.join(f'{second // 3600:02}:{second // 60 % 60:02}' for second in seconds_of(times))}"


def clock_list(times: int) -> str:
    """Return the minutes of a day (a bit set) in words: "at 09:00 and 17:00", "every 10 minutes"."""
    minutes = [second // 60 for second in seconds_of(times)]
    hours = sorted({minute // 60 for minute in minutes})
    of_hour = sorted({minute % 60 for minute in minutes})
    if len(hours) * len(of_hour) == len(minutes):
        return clock_words(of_hour, hours)
    return f"at {listed([f'{minute // 60:02}:{minute % 60:02}' for minute in minutes])}"
