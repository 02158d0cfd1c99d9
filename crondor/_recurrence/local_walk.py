"""A schedule on the wall clock alone: seconds since 1970-01-01 00:00 local, with no zone and no clock changes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from crondor.calendar import DAY, lowest
from crondor.day_rule import day_rule
from crondor.spec import CronSpec


class WallClock:
    """The instants of a schedule as wall-clock seconds, all of them whole minutes."""

    __slots__ = ("_first", "_last", "_table", "hours", "minutes", "never", "rule")

    def __init__(self, spec: CronSpec) -> None:
        """Take a MANUAL or UNIX spec."""
        bits = spec.bits
        self.minutes = minutes = bits[0]
        self.hours = hours = bits[1]
        self.rule = rule = day_rule(spec)
        self._first = (hours & -hours).bit_length() * 60 + (minutes & -minutes).bit_length() - 61
        self._last = hours.bit_length() * 60 + minutes.bit_length() - 61
        self.never = not rule.every and rule.never()
        self._table: tuple[int, ...] = ()

    @property
    def per_day(self) -> int:
        """How many runs a day has that is taken."""
        return self.minutes.bit_count() * self.hours.bit_count()

    @property
    def table(self) -> tuple[int, ...]:
        """The seconds of a day at which the schedule runs, in order; made once."""
        if not self._table:
            minutes = [60 * m for m in range(60) if self.minutes >> m & 1]
            self._table = tuple([3600 * h + m for h in range(24) if self.hours >> h & 1 for m in minutes])
        return self._table

    def after(self, wall: int) -> int:
        """Return the first instant strictly later than ``wall``."""
        day, minute = divmod(wall // 60 + 1, 1440)
        if minute > self._last:
            return (self.rule.next_day(day + 1) * 1440 + self._first) * 60
        taken = self.rule.next_day(day)
        if taken != day:
            return (taken * 1440 + self._first) * 60
        hour, minute = divmod(minute, 60)
        hours = self.hours >> hour
        if hours & 1:
            minutes = self.minutes >> minute
            if minutes:
                return (day * 1440 + hour * 60 + minute + lowest(minutes)) * 60
            hours -= 1
        # Minute and hour together are not past the last of the day, so that a later hour is there.
        return (day * 1440 + (hour + lowest(hours)) * 60 + lowest(self.minutes)) * 60

    def before(self, wall: int) -> int:
        """Return the last instant strictly earlier than ``wall``."""
        day, minute = divmod(-(-wall // 60) - 1, 1440)
        if minute < self._first:
            return (self.rule.previous_day(day - 1) * 1440 + self._last) * 60
        taken = self.rule.previous_day(day)
        if taken != day:
            return (taken * 1440 + self._last) * 60
        hour, minute = divmod(minute, 60)
        hours = self.hours & ((2 << hour) - 1)
        if hours >> hour:
            minutes = self.minutes & ((2 << minute) - 1)
            if minutes:
                return (day * 1440 + hour * 60 + minutes.bit_length() - 1) * 60
            hours ^= 1 << hour
        return (day * 1440 + (hours.bit_length() - 1) * 60 + self.minutes.bit_length() - 1) * 60

    def within(self, low: int, high: int) -> list[int]:
        """Return the instants with ``low`` <= instant < ``high``, which lie some hours apart."""
        found: list[int] = []
        for day in range(low // DAY, (high - 1) // DAY + 1):
            if self.rule.next_day(day) == day:
                midnight = day * DAY
                first, past = (bisect_left(self.table, wall - midnight) for wall in (low, high))
                found += [midnight + second for second in self.table[first:past]]
        return found

    def count(self, low: int, high: int) -> int:
        """Return the number of instants with ``low`` < instant <= ``high``."""
        if high <= low:
            return 0
        first, low_second = divmod(low, DAY)
        last, high_second = divmod(high, DAY)
        total = self.rule.count_days(first, last - 1) * self.per_day
        if self.rule.next_day(first) == first:
            total -= bisect_right(self.table, low_second)
        if self.rule.next_day(last) == last:
            total += bisect_right(self.table, high_second)
        return total
