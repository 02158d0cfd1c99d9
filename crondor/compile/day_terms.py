"""Days without a time of day: what `every Monday`, `Sat,Sun`, dates and holidays name before anybody says when."""

from __future__ import annotations

from collections.abc import Callable

from crondor.compile.days import WHOLE_DAY, DaySet
from crondor.compile.phrases import clock_list
from crondor.compile.wall import Timed, WallSchedule
from crondor.zones import Policy, Zone


class DayTerm:
    """Local days of a zone, year by year; their whole time, or some times on them, are a schedule.

    ``has_midnight`` says that people who name no time mean 00:00, as with `every Monday`; of dates nobody can say.
    """

    def __init__(
        self,
        days: Callable[[int], int],
        words: str,
        zone: Zone,
        *,
        has_midnight: bool = False,
        until: int | None = None,
        until_reason: str = "",
    ) -> None:
        """Take the days of a year as a bit set (1 January is bit 0), exactly those meant."""
        self.of_year = days
        self.words = words
        self.zone = zone
        self.has_midnight = has_midnight
        self.until = until
        self.until_reason = until_reason

    def whole(self) -> DaySet:
        """Return every minute of the days, as long as they are."""
        return self._limited(WallSchedule(Timed(self.of_year, WHOLE_DAY), self.zone, self.words, follows=True))

    def at(self, times: int, policy: Policy) -> DaySet:
        """Return the times (minutes of a day, a bit set) on the days."""
        words = f"{clock_list(times)} {self.words}".strip()
        return self._limited(WallSchedule(Timed(self.of_year, times), self.zone, words, policy))

    def _limited(self, found: DaySet) -> DaySet:
        found.until, found.until_reason = self.until, self.until_reason
        return found
