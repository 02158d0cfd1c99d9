"""The shortest clause that only the wanted times of a superset pass, on the clock of the epoch.

A way views the times by one clock, as days with bit sets of minutes, and tests the days and the minutes; times it
accepts wrongly are excluded by lists of days and spans of time. Ways are not trusted: the proof evaluates the text
(crondor.compile.writing.superset).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from math import gcd
from typing import NamedTuple

from crondor.calendar import DAY, EPOCH_ORDINAL, month_length
from crondor.compile.days import MINUTES, members, stepped
from crondor.compile.writing.superset import put

TIME = "DeferralTime"
# For a day number d, ((4 d - 44065) % 1461 / 4 * 5 + 2) % 153 / 5 is the day of the month minus 1, from 2000-03-01 to
# 2100-02-28: years begin in March, so that 29 February is the last day of four years.
_MARCH = 44065


# A clock is a number of seconds ahead of UTC: constantly, or by a table of a zone's changes up to the horizon. Both
# mean the same on every host. The clock of the evaluating host (formatTime) is short and readable.
class Change(NamedTuple):
    """From ``start`` (epoch seconds) a clock is ``offset`` seconds ahead of UTC."""

    start: int
    offset: int


class EpochClock:
    """A clock defined by its UTC offsets."""

    is_local = False

    def __init__(self, changes: tuple[Change, ...]) -> None:
        """Take the offsets in order of time; the first applies from the beginning."""
        self.changes = changes
        self.offsets = {change.offset for change in changes}
        self._starts = [change.start for change in changes[1:]]

    @property
    def has_table(self) -> bool:
        """Whether it only knows a zone's changes up to a horizon."""
        return len(self.changes) > 1

    @property
    def ends(self) -> bool:
        """Whether its texts name the zone's changes, and are valid only up to the last of them."""
        return self.has_table and not self.is_local

    def offset(self, instant: int) -> int:
        """Return the offset at an instant."""
        return self.changes[bisect_right(self._starts, instant)].offset

    def instant(self, day: int, minute: int) -> int:
        """Return the instant of a day and minute on this clock, the first of two."""
        wall = day * DAY + minute * 60
        for change in self.changes:
            found = wall - change.offset
            if self.offset(found) == change.offset and (len(self.offsets) == 1 or self._is_near(change, found)):
                return found
        return wall - self.offset(wall)

    def _is_near(self, change: Change, instant: int) -> bool:
        return self.changes[bisect_right(self._starts, instant)] == change

    def text(self, modulus: int = 0) -> str:
        """Return the text of the seconds on the clock, shortened for a remainder by the modulus."""
        if modulus:
            left = {offset % modulus for offset in self.offsets}
            if len(left) == 1:
                return _plus(left.pop())
        return _plus(self.changes[0].offset) if len(self.changes) == 1 else f"({TIME} + {self._table()})"

    def day(self, more: int = 0) -> str:
        """Return the text of the day number, plus ``more``."""
        text = f"{self.text()} / {DAY}"
        return f"({text} + {more})" if more else text

    def day_in(self, days: list[int]) -> str:
        """Return the test that the day is one of some."""
        return one_of(self.day(), days)

    def weekday_in(self, weekdays: set[int]) -> str:
        """Return the test that the day of the week (Sunday 0) is one of some."""
        return self.remainder_in(7, {(weekday - 4) % 7 for weekday in weekdays})

    def remainder_in(self, modulus: int, rest: set[int]) -> str:
        """Return the test that the day number has one of some remainders."""
        if len(rest) > 1:
            for first in rest:
                if all((first + n) % modulus in rest for n in range(len(rest))):
                    return f"{self.day(-first % modulus)} % {modulus} < {len(rest)}"
        return one_of(f"{self.day()} % {modulus}", sorted(rest))

    def month_day(self, more: int, low: int, high: int) -> str:
        """Return the test that the day ``more`` days later is a day of the month between two (included)."""
        march = 4 * more - _MARCH
        text = f"(({self.day()} * 4 {'-' if march < 0 else '+'} {abs(march)}) % 1461 / 4 * 5 + 2) % 153 / 5"
        return _week(text, low, high) or between(text, low - 1, high - 1, 0, 30)

    def minute_in(self, minutes: list[int]) -> str:
        """Return the test that the minute of the day is one of some."""
        if len(minutes) == 1:
            return f"{self.text(DAY)} % {DAY} == {60 * minutes[0]}"
        return one_of(f"{self.text(DAY)} % {DAY} / 60", minutes)

    def minute_between(self, low: int, high: int, first: int, last: int) -> str:
        """Return the test for a minute of the day between two (included), if it is one from ``first`` to ``last``."""
        return between(f"{self.text(DAY)} % {DAY}", 60 * low, 60 * high, 60 * first, 60 * last)

    def every(self, minutes: int, rest: int) -> str:
        """Return the test that the minute has a remainder."""
        return f"{self.text(60 * minutes)} % {60 * minutes} == {60 * rest}"

    def hour_in(self, hours: list[int]) -> str:
        """Return the test that the hour is one of some."""
        return one_of(f"{self.text(DAY)} % {DAY} / 3600", hours)

    def minute_of_hour_in(self, minutes: list[int]) -> str:
        """Return the test that the minute of the hour is one of some."""
        return one_of(f"{self.text(3600)} % 3600 / 60", minutes)

    def _table(self) -> str:
        """Return the text of the offset, as a table of the changes."""
        if len(self.offsets) == 2:
            low, high = sorted(self.offsets)
            spans, start = [], None
            for change in self.changes:
                if change.offset == high:
                    start = change.start
                    continue
                if start is not None:
                    spans.append(_time_span(start, change.start))
                start = None
            if start is not None:
                spans.append(_time_span(start, 0))
            if self.changes[0].offset == high and self.changes:
                spans[0] = f"{TIME} < {self.changes[1].start}"
            return f"({' || '.join(spans)} ? {high} : {low})"
        text = str(self.changes[-1].offset)
        for index in range(len(self.changes) - 2, -1, -1):
            text = f"{TIME} < {self.changes[index + 1].start} ? {self.changes[index].offset} : {text}"
        return f"({text})"


class HostClock(EpochClock):
    """The clock of the host that evaluates the clause: the submit host, as far as known here."""

    is_local = True

    def day_in(self, days: list[int]) -> str:
        """Return the test that the day is one of some."""
        return _listed("%Y-%m-%d", [date.fromordinal(day + EPOCH_ORDINAL).isoformat() for day in days])

    def weekday_in(self, weekdays: set[int]) -> str:
        """Return the test that the day of the week (Sunday 0) is one of some."""
        return _listed("%w", [str(weekday) for weekday in sorted(weekdays)])

    def month_day(self, more: int, low: int, high: int) -> str:
        """Return the test that the day ``more`` days later is a day of the month between two (included)."""
        later = f"{TIME} + {more * DAY}" if more else TIME
        text = f'int(formatTime({later}, "%d"))'
        return _week(f"({text} - 1)", low, high) or between(text, low, high, 1, 31)

    def minute_in(self, minutes: list[int]) -> str:
        """Return the test that the minute of the day is one of some."""
        return _listed("%H:%M", [f"{minute // 60:02}:{minute % 60:02}" for minute in minutes])

    def minute_between(self, low: int, high: int, first: int, last: int) -> str:
        """Return the test for a minute of the day between two (included), if it is one from ``first`` to ``last``."""
        text = f'formatTime({TIME}, "%H:%M")'
        parts = [f'{text} >= "{low // 60:02}:{low % 60:02}"'] if low > first else []
        parts += [f'{text} <= "{high // 60:02}:{high % 60:02}"'] if high < last else []
        return " && ".join(parts) or "true"

    def hour_in(self, hours: list[int]) -> str:
        """Return the test that the hour is one of some."""
        return _listed("%H", [f"{hour:02}" for hour in hours])

    def minute_of_hour_in(self, minutes: list[int]) -> str:
        """Return the test that the minute of the hour is one of some."""
        return _listed("%M", [f"{minute:02}" for minute in minutes])


def one_of(text: str, numbers: list[int]) -> str:
    """Return the test that a number is one of some."""
    if len(numbers) == 1:
        return f"{text} == {numbers[0]}"
    return f"member({text}, {{{','.join(map(str, numbers))}}})"


def between(text: str, low: int, high: int, first: int, last: int) -> str:
    """Return the test that a number is between two (included), if it can only be one from ``first`` to ``last``."""
    if low == high:
        return f"{text} == {low}"
    parts = [f"{text} >= {low}"] if low > first else []
    parts += [f"{text} <= {high}"] if high < last else []
    return " && ".join(parts) or "true"


def _week(text: str, low: int, high: int) -> str:
    """Return the test that a day of the month (``text`` is it minus 1) is in its week 2, 3 or 4, else ""."""
    return f"{text} / 7 == {low // 7}" if high - low == 6 and low in {8, 15, 22} else ""


def _listed(form: str, texts: list[str]) -> str:
    time = f'formatTime({TIME}, "{form}")'
    if len(texts) == 1:
        return f'{time} == "{texts[0]}"'
    return f'stringListMember({time}, "{",".join(texts)}", ",")'


def _plus(offset: int) -> str:
    if not offset:
        return TIME
    return f"({TIME} {'-' if offset < 0 else '+'} {abs(offset)})"


def _time_span(start: int, end: int) -> str:
    return f"{TIME} >= {start} && {TIME} < {end}" if end else f"{TIME} >= {start}"


_MOST_PATTERNS = 6
WORTH = 150
"""Extra characters that an unlimited rule may have compared with a list up to a horizon."""

_LONGEST_CYCLE = 3660  # days
_WEEKS = (7, 14, 21, 28)


class Day(NamedTuple):
    """A day on some clock: the minutes of the superset, and the wanted ones among them."""

    offered: int
    wanted: int


def by_clock(days: dict[int, Day], clock: EpochClock) -> dict[int, Day]:
    """Return UTC days as days of a clock."""
    if clock.offsets == {0}:
        return days
    offered: dict[int, int] = {}
    wanted: dict[int, int] = {}
    for day, (some, taken) in days.items():
        start = day * DAY
        low, at = 0, start
        while low < MINUTES:
            offset = clock.offset(at)
            later = [c.start for c in clock.changes[1:] if at < c.start < start + DAY] if clock.has_table else []
            high = -(-(later[0] - start) // 60) if later else MINUTES
            mask = (1 << high) - (1 << low)
            put(offered, day, some & mask, offset // 60)
            put(wanted, day, taken & mask, offset // 60)
            low, at = high, start + 60 * high
    return {day: Day(bits, wanted.get(day, 0)) for day, bits in offered.items()}


@dataclass
class Way:
    """One way to write the wanted times: its text, and the days and minutes that it accepts wrongly."""

    text: str
    clock: EpochClock
    excess: dict[int, int] = field(default_factory=dict)
    is_list: bool = False  # days one by one, up to a horizon

    @property
    def is_rule(self) -> bool:
        """Whether it may be valid forever."""
        return not (self.excess or self.is_list or self.clock.ends)

    @property
    def rank(self) -> int:
        """Return about how long the whole text will be; an unlimited rule may be longer."""
        left_out = sum(7 for bits in self.excess.values() if bits)
        return len(self.text) + left_out + (0 if self.is_rule else WORTH)


class Test(NamedTuple):
    """A text and the set that it accepts."""

    text: str
    takes: Callable[[int], bool]
    cost: int = 0
    is_list: bool = False


def ways(days: dict[int, Day], clock: EpochClock) -> Iterator[Way]:
    """Yield the ways to write the wanted UTC days by a clock."""
    table = by_clock(days, clock)
    yield Way("", clock, {day: some & ~taken for day, (some, taken) in table.items() if some & ~taken})
    found = _stepped(table, clock)
    if found is not None:
        yield found
    found = _by_patterns(table, clock)
    if found is not None:
        yield found


def _stepped(table: dict[int, Day], clock: EpochClock) -> Way | None:
    """Return the way for times at a constant distance."""
    step, first = 0, None
    for day, (_, wanted) in table.items():
        if wanted:
            low, apart = _progression(wanted)
            at = day * MINUTES + low
            first = at if first is None else first
            step = gcd(step, apart, at - first)
            if step == 1:
                return None
    if not step or first is None:
        return None
    rest = first % step
    excess = {}
    for day, (offered, wanted) in table.items():
        left = offered & stepped((rest - day * MINUTES) % step, step) & ~wanted
        if left:
            excess[day] = left
    return Way(clock.every(step, rest), clock, excess)


@lru_cache(maxsize=4096)
def _progression(bits: int) -> tuple[int, int]:
    minutes = members(bits)
    return minutes[0], gcd(*(minute - minutes[0] for minute in minutes))


def _by_patterns(table: dict[int, Day], clock: EpochClock) -> Way | None:
    """Return the way by days and their minutes, for each of a few patterns of a day."""
    groups = _grouped(table)
    if groups is None:
        return None
    texts: list[str] = []
    excess: dict[int, int] = {}
    is_list = False
    for taken in groups:
        minutes = _minute_test(table, taken, clock)
        if minutes is None:
            return None
        text, allowed = minutes
        others = [d for d, day in table.items() if d not in taken and day.offered & allowed & ~day.wanted]
        days = _day_test(sorted(taken), others, clock)
        is_list = is_list or days.is_list
        texts.append(" && ".join(part for part in (days.text, text) if part))
        for d, (offered, wanted) in table.items():
            if d in taken or days.takes(d):
                left = offered & allowed & ~wanted
                if left:
                    excess[d] = excess.get(d, 0) | left
    texts = list(dict.fromkeys(texts))
    if "" in texts:
        return None  # one of them accepts all
    return Way(either(texts), clock, excess, is_list)


def _grouped(table: dict[int, Day]) -> list[set[int]] | None:
    """Return the days with times in groups of one pattern; None for too many patterns.

    A rare pattern that is part of a common one joins it: spans exclude the missing times.
    """
    count = Counter(day.wanted for day in table.values() if day.wanted)
    if len(count) > _MOST_PATTERNS * 50:
        return None
    few = max(2, sum(count.values()) // 50)
    common = [bits for bits, times in count.most_common() if times > few] or [max(count, key=lambda b: b.bit_count())]
    home: dict[int, int] = {}
    for bits in sorted(count, key=lambda b: -b.bit_count()):
        whole = [other for other in common if bits & ~other == 0]
        home[bits] = bits if bits in common or not whole else min(whole, key=lambda b: b.bit_count())
    groups: dict[int, set[int]] = {}
    for d, day in table.items():
        if day.wanted:
            groups.setdefault(home[day.wanted], set()).add(d)
    return list(groups.values()) if len(groups) <= _MOST_PATTERNS else None


def _minute_test(table: dict[int, Day], taken: set[int], clock: EpochClock) -> tuple[str, int] | None:
    """Return the shortest test that accepts the wanted minutes of some days, and no other offered one, and its bits."""
    wanted = offered = 0
    for pair in {table[d] for d in taken}:
        offered |= pair.offered
        wanted |= pair.wanted
    if wanted == offered:
        return "", (1 << MINUTES) - 1
    found = [test for test in _minute_texts(wanted, offered, clock) if test[1] & offered == wanted]
    return min(found, key=lambda test: len(test[0])) if found else None


def _minute_texts(wanted: int, offered: int, clock: EpochClock) -> Iterator[tuple[str, int]]:
    minutes, low, high = members(wanted), (offered & -offered).bit_length() - 1, offered.bit_length() - 1
    if len(minutes) <= 96:
        yield clock.minute_in(minutes), wanted
    hours = {minute // 60 for minute in minutes}
    yield clock.hour_in(sorted(hours)), sum(((1 << 60) - 1) << 60 * hour for hour in hours)
    past = sorted({minute % 60 for minute in minutes})
    yield clock.minute_of_hour_in(past), sum(1 << 60 * hour + minute for hour in range(24) for minute in past)
    first, step = _progression(wanted)
    if step > 1 and MINUTES % step == 0:
        yield clock.every(step, first % step), stepped(first % step, step)
    runs = runs_between(wanted, offered)
    if len(runs) <= 4:
        texts = [clock.minute_between(start, end, low, high) for start, end in runs]
        yield grouped(either(texts)), sum((1 << end + 1) - (1 << start) for start, end in runs)


def runs_between(wanted: int, offered: int) -> list[tuple[int, int]]:
    """Return the wanted minutes as runs, separated by offered minutes that are not wanted."""
    runs: list[tuple[int, int]] = []
    is_open = False
    for minute in members(offered):
        if wanted >> minute & 1:
            runs = [*runs[:-1], (runs[-1][0], minute)] if is_open else [*runs, (minute, minute)]
        is_open = bool(wanted >> minute & 1)
    return runs


def _day_test(taken: list[int], others: list[int], clock: EpochClock) -> Test:
    """Return the shortest test that accepts some days, and as few of some others as possible."""
    if not others:
        return Test("", lambda _: True)
    tests = [Test("", lambda _: True, len(others))]
    step = gcd(*(day - taken[0] for day in taken))
    least = len(others)
    for cycle in sorted({*_WEEKS, step, 7 * step}):
        if 1 < cycle <= _LONGEST_CYCLE:
            rest = {day % cycle for day in taken}
            if len(rest) == cycle or len(rest) > 40:
                continue
            left = sum(day % cycle in rest for day in others)
            if left >= least:
                continue  # a shorter cycle works too
            least = left
            text = clock.weekday_in({(r + 4) % 7 for r in rest}) if cycle == 7 else clock.remainder_in(cycle, rest)
            tests.append(Test(text, lambda day, c=cycle, r=rest: day % c in r, left))  # type: ignore[misc]
    tests += [test for test in (_in_month(taken, others, clock, ahead=a) for a in (False, True)) if test is not None]
    if len(taken) <= 600:
        members_ = frozenset(taken)
        tests.append(Test(clock.day_in(taken), members_.__contains__, is_list=True))
    return min(tests, key=lambda test: len(test.text) + 7 * test.cost + (WORTH if test.cost or test.is_list else 0))


def _in_month(taken: list[int], others: list[int], clock: EpochClock, *, ahead: bool) -> Test | None:
    """Return the test of weekdays by days of the month from its beginning or, ``ahead``, its end (0 is the last).

    All days of a weekday in the month go together: last Fridays, third Tuesdays, last working days.
    """
    place = _from_end if ahead else _month_day
    table: dict[int, set[int]] = {}
    for day in taken:
        table.setdefault((day + 4) % 7, set()).add(place(day))
    left = [day for day in others if place(day) in table.get((day + 4) % 7, ())]
    if len(left) * 2 > len(others):
        return None
    alone: dict[int, list[set[int]]] = {}
    for day in others:
        alone.setdefault((day + 4) % 7, [set()])[0].add(place(day))
    groups: dict[tuple[tuple[int, int], ...], set[int]] = {}
    for weekday, numbers in table.items():
        free = alone.get(weekday, [set()])[0] - numbers
        runs = tuple(_ranges(numbers, free))
        groups.setdefault(runs, set()).add(weekday)
    merged = sorted(groups.items(), key=lambda item: -len(item[1]))
    texts = []
    for runs, weekdays in merged:
        if len(runs) > 3:
            return None
        parts = [] if len(weekdays) == 7 else [clock.weekday_in(weekdays)]
        spans = [_span(clock, low, high, ahead=ahead) for low, high in runs]
        if None in spans:
            return None
        said = [span for span in spans if span and span != "true"]
        if said:
            parts.append(grouped(either(said)))
        texts.append(" && ".join(parts) or "true")

    def takes(day: int) -> bool:
        number = place(day)
        return any((day + 4) % 7 in w and any(low <= number <= high for low, high in r) for r, w in merged)

    cost = sum(takes(day) for day in others)
    return Test(grouped(either(texts)), takes, cost)


def either(texts: list[str]) -> str:
    """Return texts joined by ``||``."""
    return texts[0] if len(texts) == 1 else " || ".join(f"({text})" if "&&" in text else text for text in texts)


def grouped(text: str) -> str:
    """Return a text that can be joined by ``&&``: in parentheses if it has a ``||`` outside of any."""
    depth, is_open = 0, False
    for at, sign in enumerate(text):
        depth += (sign in "({") - (sign in ")}")
        is_open = is_open or (not depth and text.startswith(("||", "?"), at))
    return f"({text})" if is_open else text


def _span(clock: EpochClock, low: int, high: int, *, ahead: bool) -> str | None:
    if not ahead:
        return clock.month_day(0, low, high)
    if high > 27:
        return None
    return clock.month_day(high + 1, 1, high + 1 - low)


def _ranges(numbers: set[int], free: set[int]) -> Iterator[tuple[int, int]]:
    """Yield spans that contain some numbers and none of some others."""
    start = last = None
    for number in sorted(numbers):
        if start is None or last is None:
            start = last = number
        elif any(last < other < number for other in free):
            yield start, last
            start = last = number
        else:
            last = number
    if start is not None and last is not None:
        yield start, last


@lru_cache(maxsize=32768)
def _month_day(day: int) -> int:
    return date.fromordinal(day + EPOCH_ORDINAL).day


@lru_cache(maxsize=32768)
def _from_end(day: int) -> int:
    at = date.fromordinal(day + EPOCH_ORDINAL)
    return month_length(at.year, at.month) - at.day
