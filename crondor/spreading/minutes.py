"""Which minutes of the hour a job has, and those it may have instead: as many, as far apart; and other hours."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from crondor.recurrence import Policy, Recurrence
from crondor.spec import FIELDS, HOUR, MINUTE, CronSpec

_HOUR = 60
_HOURS = 24


class Cycle(NamedTuple):
    """Minutes evenly spaced around the hour: every ``step`` minutes from ``offset`` on; one minute has the step 60.

    ``later`` is by how many hours the job's hours are moved, less than 0 for earlier ones.
    """

    step: int
    offset: int
    later: int = 0

    @property
    def text(self) -> str:
        """The minutes as a list, which the manual and the schedd of HTCondor 25.14 read alike.

        That schedd keeps only the multiples of a step, so that ``5-59/15`` would say something else to it.
        """
        return ",".join(map(str, range(self.offset, _HOUR, self.step)))


def cycle_of(spec: CronSpec) -> Cycle | None:
    """Return the minutes of a spec where they are evenly spaced, over the full hour as well, else None."""
    minutes = spec.values(MINUTE)
    if not minutes or _HOUR % len(minutes):
        return None
    found = Cycle(_HOUR // len(minutes), minutes[0])
    return found if minutes == tuple(range(found.offset, _HOUR, found.step)) else None


def with_minutes(spec: CronSpec, cycle: Cycle) -> CronSpec:
    """Return a spec that runs at other minutes, of the same hours or of moved ones."""
    given = {field.name: text for field, text in zip(FIELDS, spec.given, strict=True)}
    if cycle.later:
        given[HOUR.name] = hours_text(spec, cycle.later)
    return CronSpec(**{**given, MINUTE.name: cycle.text}, dialect=spec.dialect)


def hours_text(spec: CronSpec, later: int) -> str:
    """Return the hours as they are written, or as a list those that are so much later."""
    if not later:
        return spec.given[HOUR.index] or "*"
    return ",".join(str(hour + later) for hour in spec.values(HOUR))


def may_move(spec: CronSpec, most: int) -> tuple[int, int]:
    """Return by how many hours, ``most`` at most, a spec may be moved earlier and later and keep its dates.

    Hours that are starred, or all of them, follow real time at clock changes and stay.
    """
    hours = spec.values(HOUR)
    if spec.stars[HOUR.index] or not hours or len(hours) == _HOURS:
        return 0, 0
    return min(most, hours[0]), min(most, _HOURS - 1 - hours[-1])


def why_not(recurrence: Recurrence) -> str:
    """Say why the minutes of a schedule cannot be moved safely, as the end of a sentence; empty: they can."""
    spec = recurrence.spec
    cycle = cycle_of(spec)
    if cycle is None:
        return "its minutes are not evenly spaced"
    if cycle.step == 1:
        return "it runs in every minute"
    if recurrence.policy is Policy.DEBIAN and spec.stars[MINUTE.index] and not spec.stars[HOUR.index]:
        return "its * in the minute decides what a clock change does to it"
    return ""


def own_offset(name: str, step: int) -> int:
    """Return the minute that a name has for itself, below ``step``: the same on every host and day."""
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()[:8], "big") % step
