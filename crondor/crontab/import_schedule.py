"""A crontab line's schedule in HTCondor's words."""

from __future__ import annotations

from datetime import tzinfo
from typing import NamedTuple

from crondor.algebra import Untranslatable, day_zero_clause, has_day_zero, portable, same_meaning
from crondor.recurrence import Recurrence
from crondor.spec import CronSpec, Dialect


class Translated(NamedTuple):
    """A UNIX schedule in the MANUAL dialect.

    ``requirements`` is a clause that keeps the job from wrong times, where it needs one. With ``is_joined`` the
    MANUAL schedule by itself has more times than the line, since cron wants both of its day fields at once.
    ``changes_differ`` says that the two part when the clocks change; ``shortest`` is the shortest time between two
    runs (seconds).
    """

    spec: CronSpec
    requirements: str | None
    is_joined: bool
    changes_differ: bool
    shortest: int


def translated(spec: CronSpec, zone: str | tzinfo | None) -> Translated:
    """Say a UNIX schedule in the MANUAL dialect, with values written out where the schedd reads steps otherwise.

    ``zone`` is where clock changes are looked for; None looks for none. Raises NeverRuns.
    """
    shortest = Recurrence(spec).gaps().shortest
    try:
        found = portable(spec)
    except Untranslatable:
        # Only cron can want both day fields at once. The days of the month go into the schedule: in the day of week
        # the schedd's day-0 defect would strike as well.
        minute, hour, day_of_month, month, _ = spec.given
        wider = CronSpec(minute=minute, hour=hour, day_of_month=day_of_month, month=month, dialect=Dialect.UNIX)
        joined = portable(wider)
        return Translated(joined, day_zero_clause(spec), True, _differ(wider, joined, zone), shortest)  # noqa: FBT003
    clause = day_zero_clause(found) if has_day_zero(found) else None
    return Translated(found, clause, False, _differ(spec, found, zone), shortest)  # noqa: FBT003


def _differ(unix: CronSpec, manual: CronSpec, zone: str | tzinfo | None) -> bool:
    return zone is not None and not same_meaning(unix, manual, zone)
