"""A schedule on the wall clock alone: seconds since 1970-01-01 00:00 local, with no zone and no clock changes."""

from __future__ import annotations

from bisect import bisect_right

from crondor._fields import Dialect
from crondor.calendar import DAY, DayRule, lowest
from crondor.spec import CronSpec

_FULL_DAYS = 0xFFFFFFFE
_FULL_WEEK = 0x7F


def day_rule(spec: CronSpec) -> DayRule:
    """Return the days a MANUAL or UNIX spec takes, with the dialect's rule for the two day fields."""
    _, _, days, months, weekdays = spec.bits
    _, _, days_star, _, weekdays_star = spec.stars
    either = not (days_star or weekdays_star)
    if spec.dialect is Dialect.MANUAL and not either:
        # A starred day field restricts nothing, whatever else its list names.
        days = _FULL_DAYS if days_star else days
        weekdays = _FULL_WEEK if weekdays_star else weekdays
    return DayRule(months, days, weekdays, either=either)


class WallClock:
    """The instants of a schedule as wall-clock seconds, all of them whole minutes."""

    __slots__ = ("_first", "_last", "_table", "hours", "minutes", "never", "rule")

    def __init__(self, spec: CronSpec) -> None:
        """Take a MANUAL or UNIX spec."""
        minutes, hours, *_ = spec.bits
        self.minutes = minutes
        self.hours = hours
        self.rule = rule = day_rule(spec)
        self._first = (hours & -hours).bit_length() * 60 + (minutes & -minutes).bit_length() - 61
        self._last = hours.bit_length() * 60 + minutes.bit_length() - 61
        self.never = rule.never()
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
