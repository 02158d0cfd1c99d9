"""The HTCONDOR dialect's own search for the next run, defects included (docs/dialects.md).

HTCondor: CronTab::nextRunTime, CronTab::matchFields.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING

from crondor._spec.canonical import values
from crondor.calendar import DAY, EPOCH_ORDINAL, LONGEST, day_number, month_length, weekday
from crondor.day_rule import has_day_zero
from crondor.spec import CronSpec
from crondor.zones import Zone

if TYPE_CHECKING:
    from typing_extensions import Self  # in typing from Python 3.11 on

_RETRY = 120
_PROBES = 6  # mktime gives up after that many


class ScheddAnswer(int):
    """What the schedd sets as DeferralTime: epoch seconds, with how it came about.

    ``computed`` is the past instant that the search found when the answer is a retry, "now + 120 s", and else None.
    ``moved`` is by how many seconds the clock at the instant found is ahead of the local time searched for: 0, but
    where a clock change skips that time, and negative where it is put before the change.
    """

    computed: int | None = None
    moved: int = 0

    def __new__(cls, time: int, computed: int | None = None, moved: int = 0) -> Self:
        """Make an answer at ``time`` (epoch seconds)."""
        self = super().__new__(cls, time)
        if computed is not None or moved:  # rare: most answers are a number, and take its memory
            self.computed = computed
            self.moved = moved
        return self

    @property
    def is_plain(self) -> bool:
        """Say whether it is what the schedule names: no retry, and moved by no clock change."""
        return self.computed is None and not self.moved

    @property
    def is_retry(self) -> bool:
        """Say whether the search found an instant in the past and put the job off by two minutes."""
        return self.computed is not None


class ScheddWalk:
    """The schedd's search: months, days, hours and minutes, each level a sorted list."""

    __slots__ = ("_days", "_hours", "_listed", "_minutes", "_months", "_table", "_weekdays", "_zone", "hangs")

    def __init__(self, spec: CronSpec, zone: Zone) -> None:
        """Take a HTCONDOR spec and the schedd's zone."""
        minutes, hours, days, months, weekdays = spec.bits
        self._minutes = values(minutes)
        self._hours = values(hours)
        self._months = values(months)
        self._weekdays = 0 if spec.stars[4] else weekdays
        self._days = list(values(days))
        if has_day_zero(spec):
            self._days = [0]  # the engine's 31 zeros: one is as good
        self._zone = zone
        self._table: tuple[int, ...] = ()  # the seconds of a day that hours and minutes name, once they are asked for
        self._listed: tuple[int, int, list[int]] = 0, 0, []  # the year and month whose days were listed last
        self.hangs = not self._weekdays and not any(
            day <= LONGEST[month] for month in self._months for day in self._days
        )

    def next(self, after: int) -> ScheddAnswer:
        """Return what a fresh process answers at ``after`` (epoch seconds); the walk must not hang.

        HTCondor: CronTab::nextRunTime.
        """
        return self._answer(after, 0)[0]

    def chain(self, after: int) -> Iterator[ScheddAnswer]:
        """Yield the answers of one process, each fed into the next; in a fold its memory shows (docs/dialects.md)."""
        offset = 0
        while True:
            answer, offset = self._answer(after, offset)
            yield answer
            after = int(answer)
            for later in self._rest_of_day(after, offset):
                yield ScheddAnswer(later)
                after = later

    def _rest_of_day(self, after: int, known_offset: int) -> Iterator[int]:
        """Yield the answers that follow ``after`` on its day, as far as its offset lasts; none where it is not plain.

        With the offset that the process knows, mktime finds each of them at its first look, and none lies in the past.
        """
        _, end, offset, _ = self._zone.at(after)
        if offset != known_offset or offset % 60:  # the search drops the seconds of an offset: it may look back
            return iter(())
        day, second = divmod(after + offset, DAY)
        today = date.fromordinal(day + EPOCH_ORDINAL)
        if today.month not in self._months or today.day not in self._days_of(today.year, today.month):
            return iter(())
        if not self._table:
            self._table = tuple([3600 * hour + 60 * minute for hour in self._hours for minute in self._minutes])
        midnight = day * DAY - offset
        first, past = bisect_right(self._table, second), bisect_left(self._table, end - midnight)
        return map(midnight.__add__, self._table[first:past])

    def _answer(self, after: int, known_offset: int) -> tuple[ScheddAnswer, int]:
        """Return the answer at ``after``, and the offset that the process knows from then on."""
        start = after + 60 - after % 60
        wall = self._search(start)
        found = self._instant(wall, known_offset)
        moved = self._zone.local(found) - wall
        if found >= start:
            return ScheddAnswer(found, None, moved), wall - found
        return ScheddAnswer(after + _RETRY, found, moved), wall - found

    def _search(self, start: int) -> int:
        """Return the local time (seconds) of the first match; day 0 of a month is the day before its first.

        HTCondor: CronTab::matchFields.
        """
        day_number, second = divmod(self._zone.local(start), DAY)
        today = date.fromordinal(day_number + EPOCH_ORDINAL)
        hour, minute = second // 3600, second % 3600 // 60
        year, month = today.year, today.month
        if month in self._months:
            for day in self._days_of(year, month):
                if day < today.day:
                    continue
                if day > today.day:
                    return _seconds(year, month, day, self._hours[0], self._minutes[0])
                later = self._time_from(hour, minute)
                if later:
                    return _seconds(year, month, day, *later)
        # From here on every level takes the first value of its list: day 0 where there is one.
        while True:
            later_months = [m for m in self._months if m > month]
            year, month = (year, later_months[0]) if later_months else (year + 1, self._months[0])
            days = self._days_of(year, month)
            if days:
                return _seconds(year, month, days[0], self._hours[0], self._minutes[0])

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
        listed = self._listed
        if listed[:2] == (year, month):
            return listed[2]
        length = month_length(year, month)
        days = {day for day in self._days if day <= length}
        first = weekday(date(year, month, 1).toordinal() - EPOCH_ORDINAL)
        days.update(day for day in range(1, length + 1) if self._weekdays >> (first + day - 1) % 7 & 1)
        self._listed = year, month, sorted(days)
        return self._listed[2]

    def _instant(self, wall: int, known_offset: int) -> int:
        """Return what mktime makes of a local time (seconds) with "DST unknown": glibc, time/mktime.c.

        Its search begins with the offset of the process's last answer (0 in a fresh one), which decides in a fold. In
        a gap it swings between the offsets of both sides, and ends on that of daylight saving time, or where neither
        side has more of it than the other, where it was first. The offset before the change moves the time behind
        the gap, the one after it puts the time before the gap.
        """
        at = last = last_but_one = wall - known_offset
        for _ in range(_PROBES):
            guess = wall - self._zone.at(at).offset
            if guess == at or (at == last_but_one != last and self._is_dst(last) <= self._is_dst(at)):
                return at
            last_but_one, last, at = last, at, guess
        return -1

    def _is_dst(self, instant: int) -> bool:
        """Return tm_isdst; the rules of Ireland and Morocco set it in winter, with the clock an hour back."""
        return bool(self._zone.moment(instant).dst())


def _seconds(year: int, month: int, day: int, hour: int, minute: int) -> int:
    return (day_number(year, month, 1) + day - 1) * DAY + hour * 3600 + minute * 60
