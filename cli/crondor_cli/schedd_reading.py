"""The jobs of a queue and how their schedules are read there: where the commands that look at them begin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crondor.schedd.look import Looker, ScheduledJob
from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.options import Clock, clock_of
from crondor_cli.schedd_queue import Asked, Found, read_scheduled, selection_of


class Reading(NamedTuple):
    """What was found in a queue, and how the schedules in it are read."""

    asked: Asked
    clock: Clock
    found: Found
    dialect: Dialect
    policy: Policy | None

    def looks(self) -> Iterator[ScheduledJob]:
        """Yield how the jobs with a schedule stand now."""
        looker = Looker(zone=self.clock.zone, dialect=self.dialect, policy=self.policy)
        return looker.looks(self.found.ads, self.clock.now)


def read_queue(
    asked: Asked,
    jobs: tuple[str, ...],
    constraint: str | None,
    now: str | None,
    tz: str | None,
    dialect: Dialect | None,
    policy: Policy | None,
) -> Reading:
    """Read what the options of these names say. Raises CrondorError; UsageError for what cannot be read."""
    chosen = selection_of(jobs, constraint)
    clock = clock_of(now, tz)
    return Reading(asked, clock, read_scheduled(asked, chosen, clock), dialect or asked.dialect, policy)
