"""From what a clock on the wall shows to an instant, where the clock may skip or repeat an hour."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Gap:
    """Wall-clock times that a zone skips.

    ``begin`` is the first skipped time and ``end`` the first that exists again, at ``instant`` (epoch seconds).
    """

    begin: datetime
    end: datetime
    instant: int


def wall_clock(epoch: int, zone: tzinfo) -> datetime:
    """Return what a clock in ``zone`` shows at ``epoch`` (seconds), without zone.

    Raises OverflowError outside the years 1 to 9999.
    """
    return (_EPOCH + timedelta(seconds=epoch)).astimezone(zone).replace(tzinfo=None)


def instant(wall: datetime, zone: tzinfo) -> int | Gap:
    """Return the epoch seconds at which a clock in ``zone`` shows ``wall`` (no zone, whole seconds).

    Of a time shown twice the first pass is taken; of a time never shown, the gap it falls into is returned.
    Raises OverflowError next to the years 1 and 9999.
    """
    found = _epoch(wall.replace(tzinfo=zone, fold=0))
    if wall_clock(found, zone) == wall:
        return found
    # In a gap fold=0 counts with the offset before the change, and so lands after it; fold=1 the other way round.
    before, after = _epoch(wall.replace(tzinfo=zone, fold=1)), found
    shift = _shift(before, zone)
    while after - before > 1:
        middle = (before + after) // 2
        if _shift(middle, zone) == shift:
            before = middle
        else:
            after = middle
    return Gap(wall_clock(before, zone) + _SECOND, wall_clock(after, zone), after)


def _epoch(moment: datetime) -> int:
    return (moment - _EPOCH) // _SECOND


def _shift(epoch: int, zone: tzinfo) -> timedelta:
    return wall_clock(epoch, zone) - wall_clock(epoch, timezone.utc)
