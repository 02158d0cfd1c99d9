"""What the check of a text leaves for the next check of nearly the same one, as an editor asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crondor._memory import Memory

if TYPE_CHECKING:
    from crondor.audit import ClockChange
    from crondor.check.crontab import Crontab
    from crondor.schedule import JobSchedule


class CheckMemory:
    """Readings without a fault, by the values that were read: they have no place in the text, and hold wherever it is.

    ``schedules``, ``crontabs`` and ``changes`` are what the values of a job come to, the latter in one zone from one
    moment on; ``made`` are the commands that condor_submit looks up of a job whose ad can be made.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.schedules: Memory[JobSchedule] = Memory()
        self.crontabs: Memory[Crontab] = Memory()
        self.changes: Memory[tuple[ClockChange, ...]] = Memory()
        self.made: Memory[frozenset[str]] = Memory()

    def turn(self) -> None:
        """Begin another check."""
        for each in (self.schedules, self.crontabs, self.changes, self.made):
            each.turn()
