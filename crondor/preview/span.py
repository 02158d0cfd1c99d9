"""The span of an agenda: its days and hours in a zone, and the clock changes in it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta, tzinfo
from typing import NamedTuple

from crondor.recurrence import Recurrence
from crondor.spec import CronSpec
from crondor.zones import Zone, zone_of


def is_skipped(day: Day, hour: int, span: AgendaSpan) -> bool:
    """Return whether the clock skips an hour of a date; times before the span are ignored."""
    later = any(inside.ranges for inside in day.hours[:hour]) or day.start >= span.start
    return later and not day.hours[hour].length


MOST_DAYS = 366


_HOUR = 3600


_DAY = 86400


class Hour(NamedTuple):
    """One local hour of a date: ``length`` in seconds, 0 if the clock skips it, more than 3600 if it repeats.

    ``ranges`` are its minutes in the span (the end excluded); two for a repeated hour.
    """

    length: int
    ranges: tuple[tuple[int, int], ...]


class Day(NamedTuple):
    """A local date, when it begins and ends (epoch seconds), and its 24 hours."""

    date: date
    start: int
    end: int
    hours: tuple[Hour, ...]


class OffsetChange(NamedTuple):
    """A clock change within the span: its instant, and the offsets before and after it (seconds)."""

    instant: int
    before: int
    after: int


class AgendaSpan:
    """Some local dates from an instant on: ``start`` <= instant < ``end``, in epoch seconds.

    Starts later than ``after`` count: with ``start`` itself, or without. Minutes are numbered from that of ``start``,
    which is 0.
    """

    def __init__(
        self, start: int, days: int | None, zone: str | tzinfo, *, after: int | None = None, last: int | None = None
    ) -> None:
        """Take the rest of the first date and the dates after it, ``days`` in all, or up to and including ``last``.

        Without ``after`` the start counts. Raises OutOfRange outside the years of crondor, 1970 to 2200.
        """
        Recurrence(CronSpec(minute="*")).next(start)
        self.zone: Zone = zone_of(zone)
        self.start = start
        self.origin = start - self.zone.local(start) % 60
        first = self.zone.moment(start).date()
        self.after = start - 1 if after is None else after
        self.end = self._midnight(first + timedelta(days=days or 1)) if last is None else last + 1
        self.is_whole = last is None
        self.size = self.minute(self.end - 1) + 1
        self.days = tuple(self._days(first))
        self.changes = tuple(self._changes())

    def minute(self, instant: int) -> int:
        """Return the number of the minute of an instant."""
        return (instant - self.origin) // 60

    def instant(self, minute: int) -> int:
        """Return when a minute begins, at least the beginning of the span."""
        return max(self.start, self.origin + 60 * minute)

    def _midnight(self, day: date) -> int:
        """Return the beginning of a date; if the clock skips midnight, the instant of the change."""
        return int(datetime(day.year, day.month, day.day, tzinfo=self.zone.info).timestamp())

    def _days(self, first: date) -> Iterator[Day]:
        found: dict[date, list[list[tuple[int, int]]]] = {}
        for low, high in self._pieces(self._midnight(first)):
            local = self.zone.moment(low)
            found.setdefault(local.date(), [[] for _ in range(24)])[local.hour].append((low, high))
        for day, hours in sorted(found.items()):
            yield Day(
                day,
                self._midnight(day),
                self._midnight(day + timedelta(days=1)),
                tuple(Hour(sum(high - low for low, high in pieces), self._inside(pieces)) for pieces in hours),
            )

    def _pieces(self, low: int) -> Iterator[tuple[int, int]]:
        """Yield the times up to the end, each in one local hour without a clock change."""
        while low < self.end:
            stretch = self.zone.at(low)
            high = min(low + _HOUR - (low + stretch.offset) % _HOUR, stretch.end, self.end)
            yield low, high
            low = high

    def _inside(self, pieces: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        clipped = [(self.minute(max(low, self.start)), self.minute(high)) for low, high in pieces if high > self.start]
        return tuple(clipped)

    def _changes(self) -> Iterator[OffsetChange]:
        stretch = self.zone.at(self.start)
        while stretch.end < self.end:
            stretch = self.zone.at(stretch.end)
            if stretch.offset != stretch.before:
                yield OffsetChange(stretch.start, stretch.before, stretch.offset)

    def is_plain(self, day: Day) -> bool:
        """Return whether no clock change affects the runs of a date, nor one on the day before."""
        stretch = self.zone.at(day.start)
        steady = stretch.offset == stretch.before or stretch.start <= day.start - _DAY
        return steady and stretch.start <= day.start and stretch.end >= day.end and day.end - day.start == _DAY
