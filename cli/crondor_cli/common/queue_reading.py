"""The jobs of a queue and how their schedules are read there: where the commands that look at them begin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import NamedTuple

from crondor.schedd.status import ScheduledJob, StatusReader
from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.common.options import Clock, clock_of, clock_options, reading_options
from crondor_cli.common.progress import PROGRESS
from crondor_cli.common.queue import QueueJobs, read_scheduled, selection_of
from crondor_cli.common.queue_options import QueueOptions, source_options


class QueueReading(NamedTuple):
    """What was found in a queue, and how the schedules in it are read."""

    asked: QueueOptions
    clock: Clock
    found: QueueJobs
    dialect: Dialect
    policy: Policy | None

    @property
    def head(self) -> dict[str, object]:
        """The keys that the JSON of all such commands begins with."""
        clock = self.clock
        return {"source": self.asked.kind, "zone": clock.zone_name, "now": clock.now, "dialect": self.dialect.value}

    def looks(self) -> Iterator[ScheduledJob]:
        """Yield how the jobs with a schedule stand now."""
        looker = StatusReader(zone=self.clock.zone, dialect=self.dialect, policy=self.policy)
        looks = looker.looks(self.found.ads, self.clock.now)
        return PROGRESS.counted(looks, "looking at schedules", "jobs", len(self.found.ads))


def read_queue(
    asked: QueueOptions,
    jobs: tuple[str, ...],
    constraint: str | None,
    clock: Clock,
    dialect: Dialect | None,
    policy: Policy | None,
) -> QueueReading:
    """Read what the options of these names say. Raises CrondorError; UsageError for what cannot be read."""
    chosen = selection_of(jobs, constraint)
    return QueueReading(asked, clock, read_scheduled(asked, chosen, clock), dialect or asked.dialect, policy)


def reads_queue(function: Callable[..., None]) -> Callable[..., None]:
    """Add what names a queue, the clock and the reading; with the jobs they come as one argument ``read``."""

    @wraps(function)
    def command(
        asked: QueueOptions,
        jobs: tuple[str, ...],
        constraint: str | None,
        now: str | None,
        tz: str | None,
        dialect: Dialect | None,
        policy: Policy | None,
        **options: object,
    ) -> None:
        function(read=read_queue(asked, jobs, constraint, clock_of(now, tz), dialect, policy), **options)

    return source_options(clock_options(reading_options(htcondor=True)(command)))
