"""What a clock change does to one run: moved from a time that is skipped, or one pass of a time that comes twice."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from crondor._recurrence.local_walk import WallClock
from crondor.zones import LONGEST_GAP, Zone

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - wall-clock time


class ClockMark(NamedTuple):
    """``skipped`` are the wall-clock times that the run stands for; ``pass_`` is 1 or 2 of a time that comes twice."""

    skipped: tuple[datetime, ...] = ()
    pass_: int = 0

    def __str__(self) -> str:
        """Return it in words: "02:30 is skipped", "the first of two"."""
        if self.pass_:
            return f"the {'first' if self.pass_ == 1 else 'second'} of two"
        if len(self.skipped) > 2:
            return f"{self.skipped[0]:%H:%M} to {self.skipped[-1]:%H:%M} are skipped"
        times = " and ".join(f"{wall:%H:%M}" for wall in self.skipped)
        return f"{times} {'is' if len(self.skipped) == 1 else 'are'} skipped"


def clock_mark(zone: Zone, instant: int, wall: WallClock) -> ClockMark | None:
    """Return what a clock change did to a run at an instant (epoch seconds), None for most runs."""
    if zone.is_fixed:
        return None
    stretch = zone.at(instant)
    seconds, since = stretch.offset - stretch.before, instant - stretch.start
    if 0 <= since < seconds <= LONGEST_GAP:
        skipped = _skipped(instant + stretch.offset, seconds, since, wall)
        return ClockMark(tuple(_EPOCH + timedelta(seconds=each) for each in skipped)) if skipped else None
    if 0 <= since < -seconds:
        return ClockMark(pass_=2)
    following = zone.at(stretch.end)
    back = following.before - following.offset
    return ClockMark(pass_=1) if following.start == stretch.end and stretch.end - instant <= back else None


def unmarked_until(zone: Zone, instant: int) -> int:
    """Return the instant up to which (excluded) no run from ``instant`` on has a mark; ``instant`` where one may."""
    stretch = zone.at(instant)
    if instant - stretch.start < abs(stretch.offset - stretch.before):
        return instant
    following = zone.at(stretch.end)
    repeated = max(0, following.before - following.offset) if following.start == stretch.end else 0
    return stretch.end - repeated


def skipped_mark(zone: Zone, instant: int, moved: int) -> ClockMark:
    """Return the mark of a run that stands ``moved`` seconds after the wall-clock time that is skipped."""
    return ClockMark((_EPOCH + timedelta(seconds=zone.local(instant) - moved),))


def _skipped(local: int, seconds: int, since: int, wall: WallClock) -> list[int]:
    """Return the wall-clock seconds in the gap that a run at ``local`` stands for, none where it has its own time."""
    if wall.never or wall.after(local - 1) == local:
        return []
    if wall.after(local - seconds - 1) == local - seconds:
        return [local - seconds]
    return wall.within(local - since - seconds, local - since) if since == 0 else []
