"""Time zones as stretches of constant UTC offset, and the policies for the hours that a change skips or repeats."""

from __future__ import annotations

from bisect import bisect_right
from datetime import datetime, timedelta, timezone, tzinfo
from enum import Enum
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from crondor.diagnostics import CrondorError, Diagnostic

# The closest two changes of any zone since 1970 lie 6.9 days apart (Gaza, Noronha): between two looks at
# this distance there is one at most.
_STRIDE = timedelta(days=4)
_SLACK = 86400
_FOREVER = 1 << 62


class Policy(str, Enum):
    """What happens to a run in an hour that a clock change skips (gap) or repeats (fold); docs/clock-changes.md.

    A schedule follows real time, and is neither moved nor dropped nor kept from repeating by hand, when its hour
    field is ``*`` or ``*/n`` (COMPATIBLE), or its minute or hour field begins with ``*`` (DEBIAN).
    """

    COMPATIBLE = "compatible"  # gap: shifted by its length; fold: the first pass
    DEBIAN = "debian"  # gap: at the first instant after it; fold: the first pass
    SKIP = "skip"  # gap: dropped; fold: the first pass, for every schedule


class UnknownZone(CrondorError, ValueError):
    """A name that is no IANA time zone."""


class Stretch(NamedTuple):
    """A time of constant offset: epochs from ``start`` to ``end`` (excluded), ``offset`` seconds east of UTC.

    ``before`` is the offset until ``start``. A stretch may end where the years looked at end, so that the offsets
    of two neighbours may be equal.
    """

    start: int
    end: int
    offset: int
    before: int


class Zone:
    """The stretches of one time zone, found year by year as they are asked for."""

    __slots__ = ("_first_year", "_last_year", "_starts", "_stretches", "info", "is_fixed", "name")

    def __init__(self, info: tzinfo) -> None:
        """Take any tzinfo; only its offsets count."""
        self.info = info
        self.name = str(info)
        self._stretches: list[Stretch] = []
        self._starts: list[int] = []
        self._first_year = self._last_year = 0
        constant = info.utcoffset(None)
        self.is_fixed = constant is not None
        if constant is not None:
            offset = _seconds(constant)
            self._stretches.append(Stretch(-_FOREVER, _FOREVER, offset, offset))
            self._starts.append(-_FOREVER)

    def at(self, epoch: int) -> Stretch:
        """Return the stretch that an epoch second lies in."""
        if self.is_fixed:
            return self._stretches[0]
        if not self._starts or not self._starts[0] <= epoch < self._stretches[-1].end:
            self._cover(epoch)
        return self._stretches[bisect_right(self._starts, epoch) - 1]

    def local(self, epoch: int) -> int:
        """Return the wall-clock time of an epoch second, as seconds since 1970-01-01 00:00 of the same clock."""
        return epoch + self.at(epoch).offset

    def moment(self, epoch: int) -> datetime:
        """Return an epoch second as an aware datetime."""
        return datetime.fromtimestamp(epoch, self.info)

    def _cover(self, epoch: int) -> None:
        """Find the stretches of all years from those known to the one of ``epoch``."""
        if not self._starts:
            self._first_year = 1970 + epoch // 31556952  # the mean year; a neighbour does as well
            self._last_year = self._first_year - 1
        while not self._starts or epoch >= self._stretches[-1].end:
            self._last_year += 1
            new = self._year(self._last_year)
            if self._starts and new[0].offset == new[0].before:
                new[0] = Stretch(self._starts.pop(), *new[0][1:3], self._stretches.pop().before)
            self._stretches += new
            self._starts += [stretch.start for stretch in new]
        while epoch < self._starts[0]:
            self._first_year -= 1
            new = self._year(self._first_year)
            if self._stretches[0].offset == self._stretches[0].before:
                new[-1] = new[-1]._replace(end=self._stretches.pop(0).end)
                del self._starts[0]
            self._stretches[:0] = new
            self._starts[:0] = [stretch.start for stretch in new]

    def _year(self, year: int) -> list[Stretch]:
        """Return the stretches of a UTC year."""
        start, end = _year_start(year), _year_start(year + 1)
        before = self._offset(start - 1)
        offset = self._offset(start)
        found: list[Stretch] = []
        look = datetime(year, 1, 1, tzinfo=self.info) - _STRIDE  # a change at New Year's midnight is none too early
        stop = datetime(year + 1, 1, 1, tzinfo=self.info) + _STRIDE
        known = look.utcoffset()
        while look < stop:
            look += _STRIDE
            seen = look.utcoffset()
            if seen == known:
                continue
            change = self._change(look, known, seen)
            known = seen
            if start < change < end:
                found.append(Stretch(start, change, offset, before))
                before = offset
                start, offset = change, self._offset(change)
        found.append(Stretch(start, end, offset, before))
        return found

    def _change(self, look: datetime, old: timedelta | None, new: timedelta | None) -> int:
        """Return the instant of the one change in the stride that ends with ``look``."""
        wall = (look.replace(tzinfo=None) - datetime(1970, 1, 1)) // timedelta(seconds=1)  # noqa: DTZ001 - wall clock
        high = wall - _seconds(new) + _SLACK
        low = wall - _STRIDE.days * 86400 - _seconds(old) - _SLACK
        before = self._offset(low)
        while high - low > 1:
            middle = (low + high) // 2
            if self._offset(middle) == before:
                low = middle
            else:
                high = middle
        return high

    def _offset(self, epoch: int) -> int:
        return _seconds(datetime.fromtimestamp(epoch, self.info).utcoffset())


def zone_of(zone: str | tzinfo) -> Zone:
    """Return the stretches of a zone given by IANA name or as a tzinfo. Raises UnknownZone."""
    try:
        return _known_zone(zone)
    except TypeError:  # a tzinfo that cannot be hashed, such as dateutil's
        return Zone(load_zone(zone) if isinstance(zone, str) else zone)


@lru_cache(maxsize=64)
def _known_zone(zone: str | tzinfo) -> Zone:
    return Zone(load_zone(zone) if isinstance(zone, str) else zone)


def load_zone(name: str) -> tzinfo:
    """Return the tzinfo of an IANA zone name. Raises UnknownZone."""
    if name == "UTC":
        return timezone.utc
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError) as error:  # ZoneInfoNotFoundError is a KeyError; a directory is an OSError
        message = f"{name!r} is no time zone of the IANA database"
        help_text = "write a name such as Europe/Berlin, America/New_York or UTC"
        raise UnknownZone(Diagnostic("zone-unknown", message, help=help_text)) from error


def _seconds(offset: timedelta | None) -> int:
    return 0 if offset is None else offset // timedelta(seconds=1)


def _year_start(year: int) -> int:
    return int(datetime(year, 1, 1, tzinfo=timezone.utc).timestamp())
