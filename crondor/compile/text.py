"""A schedule from its text, whatever language it is written in: the one entry to the room."""

from __future__ import annotations

from crondor.compile.protocol import CronSchedule, Schedule
from crondor.spec import CronSpec
from crondor.zones import zone_of

__all__ = ["read_schedule"]


def read_schedule(text: str, *, zone: str) -> Schedule:
    """Return the schedule that a text says, on the wall clock of an IANA zone.

    Raises InvalidSpec (all faults at once) and UnknownZone.
    """
    return CronSchedule(CronSpec.from_line(text, name="<schedule>"), zone_of(zone))
