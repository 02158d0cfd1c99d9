"""What a schedule of any kind is: a set of instants, asked in time order; a crontab's five fields are one kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Protocol

from crondor._recurrence.refusals import END_OF_INSTANTS, FIRST_INSTANT
from crondor._types import Made
from crondor.compile.wall import Timed, WallSchedule, any_year
from crondor.recurrence import OutOfRange, Recurrence
from crondor.spec import CronSpec
from crondor.words import describe
from crondor.zones import Policy, Zone

__all__ = ["CronSchedule", "Schedule"]


class Schedule(Protocol):
    """A set of instants: epoch seconds on whole minutes, within the years 1970 to 2200."""

    @property
    def zone(self) -> Zone:
        """The zone whose wall clock the schedule means."""

    @property
    def until(self) -> int | None:
        """Up to this instant (included) the set is known; None: for ever."""

    @property
    def until_reason(self) -> str:
        """What limits it, in words ("the calendar holidays:DE-BW is known until 2029-12-31"); "" for nothing."""

    def next(self, after: int) -> int | None:
        """Return the first instant later than ``after``; None where there is none up to ``until``."""

    def previous(self, before: int) -> int | None:
        """Return the last instant earlier than ``before``; None where there is none."""

    def between(self, start: int, end: int) -> Iterator[int]:
        """Yield the instants with ``start`` < instant <= ``end``, ascending, lazily."""

    def matches(self, instant: int) -> bool:
        """Say whether an instant is in the set."""

    def minutes(self, day: int) -> int:
        """Return a UTC day's instants as a bit set: bit m for ``day`` * 86400 + 60 * m (``day`` 0 is 1970-01-01).

        Whole days are compared and counted by it, 1440 instants at a time.
        """


class CronSchedule(Made, WallSchedule):
    """Five fields as HTCondor's manual reads them, in a zone."""

    def __init__(self, spec: CronSpec, zone: Zone, policy: Policy = Policy.COMPATIBLE) -> None:
        """Take a spec of the MANUAL or UNIX dialect; one that never runs is the empty set."""
        self.spec = spec
        self.recurrence = Recurrence(spec, zone.info, policy)
        wall = self.recurrence.wall_clock
        self.is_never = wall.never
        times = sum(1 << second // 60 for second in wall.table)
        pattern = Timed(any_year(wall.rule.of_year), 0 if wall.never else times)
        super().__init__(pattern, zone, describe(spec), policy, follows=self.recurrence.follows_real_time)

    def _made_of(self) -> tuple[object, ...]:
        return self.spec, self.zone, self.policy

    def next(self, after: int) -> int | None:
        """Return the first instant later than ``after``."""
        if self.is_never or not FIRST_INSTANT <= after < END_OF_INSTANTS:
            return super().next(after)
        found = self.recurrence.next(after)
        return found if found < END_OF_INSTANTS else None

    def previous(self, before: int) -> int | None:
        """Return the last instant earlier than ``before``."""
        if self.is_never or before <= FIRST_INSTANT:
            return None
        with suppress(OutOfRange):
            return self.recurrence.previous(min(before, END_OF_INSTANTS))
        return None
