"""Which minutes of the hour a job has, and those it may have instead: as many, as far apart."""

from __future__ import annotations

import hashlib

from crondor._named_tuple import NamedTuple
from crondor.recurrence import Policy, Recurrence
from crondor.spec import FIELDS, HOUR, MINUTE, CronSpec

_HOUR = 60


class Cycle(NamedTuple):
    """Minutes evenly spaced around the hour: every ``step`` minutes from ``offset`` on; one minute has the step 60."""

    step: int
    offset: int

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
    """Return a spec that runs at other minutes of the same hours."""
    given = {field.name: text for field, text in zip(FIELDS, spec.given, strict=True)}
    return CronSpec(**{**given, MINUTE.name: cycle.text}, dialect=spec.dialect)


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
