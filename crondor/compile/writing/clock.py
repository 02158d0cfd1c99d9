"""The time in a clause: DeferralTime by a clock, and what of it is asked, as text and as a test of numbers.

A clock is so many seconds ahead of UTC: constantly, or by a table of a zone's changes up to the horizon. Both mean
the same on every host. The clock of the evaluating host (formatTime) is short and readable.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import date
from typing import NamedTuple

from crondor.calendar import DAY, EPOCH_ORDINAL

TIME = "DeferralTime"
# Of a day number d, ((4 d - 44065) % 1461 / 4 * 5 + 2) % 153 / 5 is the day of the month less 1, from 2000-03-01 to
# 2100-02-28: years begin in March, so that 29 February is the last day of four years.
_MARCH = 44065


class Change(NamedTuple):
    """From ``start`` (epoch seconds) on a clock is ``offset`` seconds ahead of UTC."""

    start: int
    offset: int


class EpochClock:
    """A clock that is known by its offsets from UTC alone."""

    is_local = False

    def __init__(self, changes: tuple[Change, ...]) -> None:
        """Take the offsets in order of time; the first one holds from the beginning."""
        self.changes = changes
        self.offsets = {change.offset for change in changes}
        self._starts = [change.start for change in changes[1:]]

    @property
    def has_table(self) -> bool:
        """Whether it knows a zone's changes up to a horizon only."""
        return len(self.changes) > 1

    @property
    def ends(self) -> bool:
        """Whether its texts name the zone's changes, and so mean the clock up to the last of them only."""
        return self.has_table and not self.is_local

    def offset(self, instant: int) -> int:
        """Return the offset at an instant."""
        return self.changes[bisect_right(self._starts, instant)].offset

    def instant(self, day: int, minute: int) -> int:
        """Return the instant of a day and minute on this clock, of two the first."""
        wall = day * DAY + minute * 60
        for change in self.changes:
            found = wall - change.offset
            if self.offset(found) == change.offset and (len(self.offsets) == 1 or self._is_near(change, found)):
                return found
        return wall - self.offset(wall)

    def _is_near(self, change: Change, instant: int) -> bool:
        return self.changes[bisect_right(self._starts, instant)] == change

    def text(self, modulus: int = 0) -> str:
        """Return the seconds on the clock; with a modulus as short as the remainder of it allows."""
        if modulus:
            left = {offset % modulus for offset in self.offsets}
            if len(left) == 1:
                return _plus(left.pop())
        return _plus(self.changes[0].offset) if len(self.changes) == 1 else f"({TIME} + {self._table()})"

    def day(self, more: int = 0) -> str:
        """Return the day number, with so many added."""
        text = f"{self.text()} / {DAY}"
        return f"({text} + {more})" if more else text

    def day_in(self, days: list[int]) -> str:
        """Say that the day is one of some."""
        return one_of(self.day(), days)

    def weekday_in(self, weekdays: set[int]) -> str:
        """Say that the day of the week (Sunday 0) is one of some."""
        return self.remainder_in(7, {(weekday - 4) % 7 for weekday in weekdays})

    def remainder_in(self, modulus: int, rest: set[int]) -> str:
        """Say that the day number leaves one of some remainders."""
        if len(rest) > 1:
            for first in rest:
                if all((first + n) % modulus in rest for n in range(len(rest))):
                    return f"{self.day(-first % modulus)} % {modulus} < {len(rest)}"
        return one_of(f"{self.day()} % {modulus}", sorted(rest))

    def month_day(self, more: int, low: int, high: int) -> str:
        """Say that so many days on it is a day of the month between two (included)."""
        march = 4 * more - _MARCH
        text = f"(({self.day()} * 4 {'-' if march < 0 else '+'} {abs(march)}) % 1461 / 4 * 5 + 2) % 153 / 5"
        return _week(text, low, high) or between(text, low - 1, high - 1, 0, 30)

    def minute_in(self, minutes: list[int]) -> str:
        """Say that the minute of the day is one of some."""
        if len(minutes) == 1:
            return f"{self.text(DAY)} % {DAY} == {60 * minutes[0]}"
        return one_of(f"{self.text(DAY)} % {DAY} / 60", minutes)

    def minute_between(self, low: int, high: int, first: int, last: int) -> str:
        """Say that the minute of the day lies between two (included), where it is one from ``first`` to ``last``."""
        return between(f"{self.text(DAY)} % {DAY}", 60 * low, 60 * high, 60 * first, 60 * last)

    def every(self, minutes: int, rest: int) -> str:
        """Say that the minute leaves a remainder."""
        return f"{self.text(60 * minutes)} % {60 * minutes} == {60 * rest}"

    def hour_in(self, hours: list[int]) -> str:
        """Say that the hour is one of some."""
        return one_of(f"{self.text(DAY)} % {DAY} / 3600", hours)

    def minute_of_hour_in(self, minutes: list[int]) -> str:
        """Say that the minute of the hour is one of some."""
        return one_of(f"{self.text(3600)} % 3600 / 60", minutes)

    def _table(self) -> str:
        """Return the offset by a table of the changes."""
        if len(self.offsets) == 2:
            low, high = sorted(self.offsets)
            spans, start = [], None
            for change in self.changes:
                if change.offset == high:
                    start = change.start
                    continue
                if start is not None:
                    spans.append(_span(start, change.start))
                start = None
            if start is not None:
                spans.append(_span(start, 0))
            if self.changes[0].offset == high and self.changes:
                spans[0] = f"{TIME} < {self.changes[1].start}"
            return f"({' || '.join(spans)} ? {high} : {low})"
        text = str(self.changes[-1].offset)
        for index in range(len(self.changes) - 2, -1, -1):
            text = f"{TIME} < {self.changes[index + 1].start} ? {self.changes[index].offset} : {text}"
        return f"({text})"


class HostClock(EpochClock):
    """The clock of the host that evaluates the clause: the submit host, as far as it is known here."""

    is_local = True

    def day_in(self, days: list[int]) -> str:
        """Say that the day is one of some."""
        return _listed("%Y-%m-%d", [date.fromordinal(day + EPOCH_ORDINAL).isoformat() for day in days])

    def weekday_in(self, weekdays: set[int]) -> str:
        """Say that the day of the week (Sunday 0) is one of some."""
        return _listed("%w", [str(weekday) for weekday in sorted(weekdays)])

    def month_day(self, more: int, low: int, high: int) -> str:
        """Say that so many days on it is a day of the month between two (included)."""
        later = f"{TIME} + {more * DAY}" if more else TIME
        text = f'int(formatTime({later}, "%d"))'
        return _week(f"({text} - 1)", low, high) or between(text, low, high, 1, 31)

    def minute_in(self, minutes: list[int]) -> str:
        """Say that the minute of the day is one of some."""
        return _listed("%H:%M", [f"{minute // 60:02}:{minute % 60:02}" for minute in minutes])

    def minute_between(self, low: int, high: int, first: int, last: int) -> str:
        """Say that the minute of the day lies between two (included), where it is one from ``first`` to ``last``."""
        text = f'formatTime({TIME}, "%H:%M")'
        parts = [f'{text} >= "{low // 60:02}:{low % 60:02}"'] if low > first else []
        parts += [f'{text} <= "{high // 60:02}:{high % 60:02}"'] if high < last else []
        return " && ".join(parts) or "true"

    def hour_in(self, hours: list[int]) -> str:
        """Say that the hour is one of some."""
        return _listed("%H", [f"{hour:02}" for hour in hours])

    def minute_of_hour_in(self, minutes: list[int]) -> str:
        """Say that the minute of the hour is one of some."""
        return _listed("%M", [f"{minute:02}" for minute in minutes])


def one_of(text: str, numbers: list[int]) -> str:
    """Say that a number is one of some."""
    if len(numbers) == 1:
        return f"{text} == {numbers[0]}"
    return f"member({text}, {{{','.join(map(str, numbers))}}})"


def between(text: str, low: int, high: int, first: int, last: int) -> str:
    """Say that a number lies between two (included), where it can only be one from ``first`` to ``last``."""
    if low == high:
        return f"{text} == {low}"
    parts = [f"{text} >= {low}"] if low > first else []
    parts += [f"{text} <= {high}"] if high < last else []
    return " && ".join(parts) or "true"


def _week(text: str, low: int, high: int) -> str:
    """Say that a day of the month (``text`` is it less 1) is in the second, third or fourth week of it, "" else."""
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


def _span(start: int, end: int) -> str:
    return f"{TIME} >= {start} && {TIME} < {end}" if end else f"{TIME} >= {start}"
