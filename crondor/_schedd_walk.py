"""The HTCONDOR dialect's own search for the next run, defects included (docs/dialects.md)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING

from crondor._canonical import values
from crondor.calendar import EPOCH_ORDINAL, LONGEST, month_length, weekday
from crondor.spec import CronSpec
from crondor.zones import Zone

if TYPE_CHECKING:
    from typing_extensions import Self  # in typing from Python 3.11 on

_RETRY = 120


class ScheddAnswer(int):
    """What the schedd sets as DeferralTime: epoch seconds, with how it came about.

    ``computed`` is the past instant that the search found when the answer is a retry, "now + 120 s", and else None.
    """

    computed: int | None

    def __new__(cls, time: int, computed: int | None = None) -> Self:
        """Make an answer at ``time`` (epoch seconds)."""
        self = super().__new__(cls, time)
        self.computed = computed
        return self

    @property
    def is_retry(self) -> bool:
        """Say whether the search found an instant in the past and put the job off by two minutes."""
        return self.computed is not None


class ScheddWalk:
    """The schedd's search: months, days, hours and minutes, each level a sorted list."""

    __slots__ = ("_days", "_hours", "_minutes", "_months", "_weekdays", "_zone", "hangs")

    def __init__(self, spec: CronSpec, zone: Zone) -> None:
        """Take a HTCONDOR spec and the schedd's zone."""
        minutes, hours, days, months, weekdays = spec.bits
        self._minutes = values(minutes)
        self._hours = values(hours)
        self._months = values(months)
        self._weekdays = 0 if spec.stars[4] else weekdays
        self._days = list(values(days))
        if len(self._days) == 31 and self._weekdays not in {0, 0x7F}:
            self._days = [0]  # the engine's 31 zeros: one is as good
        self._zone = zone
        self.hangs = not self._weekdays and not any(
            day <= LONGEST[month] for month in self._months for day in self._days
        )

    def next(self, after: int) -> ScheddAnswer:
        """Return what a fresh process answers at ``after`` (epoch seconds); the walk must not hang."""
        return self._answer(after, 0)

    def chain(self, after: int) -> Iterator[ScheddAnswer]:
        """Yield the answers of one process, each fed into the next; in a fold its memory shows (docs/dialects.md)."""
        offset = 0
        while True:
            answer = self._answer(after, offset)
            yield answer
            offset = self._zone.at(answer if answer.computed is None else answer.computed).offset
            after = int(answer)

    def _answer(self, after: int, known_offset: int) -> ScheddAnswer:
        start = after + 60 - after % 60
        found = self._instant(*self._search(start), known_offset)
        return ScheddAnswer(found) if found >= start else ScheddAnswer(after + _RETRY, found)

    def _search(self, start: int) -> tuple[int, int, int, int, int]:
        """Return year, month, day (0 in the defect), hour and minute of the first match."""
        day_number, second = divmod(self._zone.local(start), 86400)
        today = date.fromordinal(day_number + EPOCH_ORDINAL)
        hour, minute = second // 3600, second % 3600 // 60
        year, month = today.year, today.month
        if month in self._months:
            for day in self._days_of(year, month):
                if day < today.day:
                    continue
                if day > today.day:
                    return year, month, day, self._hours[0], self._minutes[0]
                later = self._time_from(hour, minute)
                if later:
                    return year, month, day, *later
        # From here on every level takes the first value of its list: day 0 where there is one.
        while True:
            later_months = [m for m in self._months if m > month]
            year, month = (year, later_months[0]) if later_months else (year + 1, self._months[0])
            days = self._days_of(year, month)
            if days:
                return year, month, days[0], self._hours[0], self._minutes[0]

    def _time_from(self, hour: int, minute: int) -> tuple[int, int] | None:
        for h in self._hours:
            if h > hour:
                return h, self._minutes[0]
            if h == hour:
                for m in self._minutes:
                    if m >= minute:
                        return h, m
        return None

    def _days_of(self, year: int, month: int) -> list[int]:
        length = month_length(year, month)
        days = {day for day in self._days if day <= length}
        first = weekday(date(year, month, 1).toordinal() - EPOCH_ORDINAL)
        days.update(day for day in range(1, length + 1) if self._weekdays >> (first + day - 1) % 7 & 1)
        return sorted(days)

    def _instant(self, year: int, month: int, day: int, hour: int, minute: int, known_offset: int) -> int:
        """Return what mktime makes of a local time with "DST unknown".

        Its search begins with the offset of the process's last answer (0 in a fresh one), which decides in a fold.
        """
        wall = (date(year, month, 1).toordinal() - EPOCH_ORDINAL + day - 1) * 86400 + hour * 3600 + minute * 60
        guess = wall - known_offset
        tried = []
        for _ in range(3):
            offset = self._zone.at(guess).offset
            if guess + offset == wall:
                return guess
            guess = wall - offset
            tried.append(guess)
        # The time does not exist: it is moved by the length of the gap.
        return max(tried)
