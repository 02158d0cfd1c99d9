"""Instants and distances as short text, the same on every host and in every locale."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone, tzinfo

from crondor._recurrence.refusals import END_OF_INSTANTS, FIRST_INSTANT
from crondor.calendar import DAY, short_weekday
from crondor.deferral import LATEST
from crondor.zones import zone_of

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SAME_WEEK = 6 * DAY
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def relative(seconds: int) -> str:
    """Return a distance from now in seconds (negative: the past) as ``in 3 h 12 min``, ``45 s ago`` or ``now``.

    The largest unit and the one below it are shown; what is smaller is cut off, never rounded up.
    """
    if seconds == 0:
        return "now"
    rest = abs(seconds)
    first = next(i for i, (_, size) in enumerate(_UNITS) if rest >= size)
    shown = []
    for name, size in _UNITS[first : first + 2]:
        count, rest = divmod(rest, size)
        if count:
            shown.append(f"{count} {name}")
    text = " ".join(shown)
    return f"in {text}" if seconds > 0 else f"{text} ago"


def local_text(epoch: int, zone: tzinfo) -> str:
    """Return an instant (epoch seconds) as a clock in ``zone`` shows it: ``Mon 2026-11-23 06:00 -0500``.

    Seconds are shown only where they are not zero. An instant outside the years 1 to 9999, which no calendar
    here can show, is written ``epoch 99999999999999``.
    """
    try:
        moment = (_EPOCH + timedelta(seconds=epoch)).astimezone(zone)
    except OverflowError:
        return f"epoch {epoch}"
    clock = f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
    date = f"{moment.year:04}-{moment.month:02}-{moment.day:02}"
    return f"{short_weekday(moment)} {date} {clock} {_offset(moment)}"


def retries_text(time: int, last: int, zone: tzinfo) -> str:
    """Return that the schedd's retries go on after the one at ``time`` until ``last`` (epoch seconds)."""
    end = ClockFace(zone).beside(last, time)
    return f"and every 2 minutes until {'midnight' if end.endswith(' 00:00') and last - time <= DAY else end}"


def _offset(moment: datetime) -> str:
    whole = (moment.utcoffset() or timedelta(0)) // timedelta(seconds=1)
    minutes, seconds = divmod(abs(whole), 60)
    tail = f"{seconds:02}" if seconds else ""
    return f"{'-' if whole < 0 else '+'}{minutes // 60:02}{minutes % 60:02}{tail}"


class ClockFace:
    """Instants of one zone as text, many of them and mostly in order: what those of a day share is made once."""

    def __init__(self, zone: tzinfo) -> None:
        """Begin with a zone, and no text."""
        self._info = zone
        self._zone = zone_of(zone)
        self._from = self._until = 0  # the time whose offset is known
        self._offset, self._tail = 0, ""
        self._day: int | None = None
        self._head = ""
        self._hours, self._distance = 0, ""

    def relative(self, seconds: int) -> str:
        """Return what ``relative`` does."""
        if seconds < DAY:
            return relative(seconds)
        hours = seconds // 3600
        if hours != self._hours:
            self._hours, self._distance = hours, relative(seconds)
        return self._distance

    def text(self, epoch: int) -> str:
        """Return what ``local_text`` does."""
        if not self._from <= epoch < self._until:
            if not FIRST_INSTANT <= epoch < END_OF_INSTANTS:
                return local_text(epoch, self._info)
            self._from, self._until, self._offset, _ = self._zone.at(epoch)
            self._day, self._tail = None, f" {_offset(datetime.fromtimestamp(epoch, self._info))}"
        day, second = divmod(epoch + self._offset, DAY)
        minute, rest = divmod(second, 60)
        if rest:
            return local_text(epoch, self._info)
        if day != self._day:
            self._day, self._head = day, local_text(epoch, self._info)[: -5 - len(self._tail)]
        return f"{self._head}{minute // 60:02}:{minute % 60:02}{self._tail}"

    def beside(self, epoch: int, other: int) -> str:
        """Return an instant as briefly as it can be said beside another one, which is shown in full."""
        if 0 <= epoch <= LATEST and self._from <= epoch < self._until and self._from <= other < self._until:
            day, second = divmod(epoch + self._offset, DAY)
            minute, rest = divmod(second, 60)
            if day == (other + self._offset) // DAY and not rest:
                return f"{minute // 60:02}:{minute % 60:02}"
        return self._far_beside(epoch, other)

    def _far_beside(self, epoch: int, other: int) -> str:
        whole = local_text(epoch, self._info)
        if not 0 <= epoch <= LATEST:
            return whole
        moment, beside = datetime.fromtimestamp(epoch, self._info), datetime.fromtimestamp(other, self._info)
        if moment.utcoffset() != beside.utcoffset() or abs(epoch - other) > _SAME_WEEK:
            return whole
        clock = f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
        return clock if moment.date() == beside.date() else f"{whole[:3]} {clock}"
