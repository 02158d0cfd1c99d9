"""When a job is considered: the schedd's passes over its queue, and the negotiator's cycles.

HTCondor: Scheduler::calculateCronTabSchedules, Matchmaker::negotiationTime.
"""

from __future__ import annotations

from typing import Final, Protocol

from crondor.job_queue import JobId
from crondor.pool.settings.lengths import Lengths, chance
from crondor.pool.settings.pool import PoolSettings

_MATCH: Final = 1
_PHASE: Final = 3
_KNOWN: Final = 100_000  # jobs


class Turns(Protocol):
    """The moments that no rule decides; all times are epoch seconds."""

    def requested(self, now: int) -> int:
        """When the schedd makes the pass that somebody asked for at ``now``."""

    def pass_from(self, time: int) -> int:
        """When the schedd makes its first pass at ``time`` or later, unless somebody asks for one."""

    def match(self, job: JobId, opens: int, run: int) -> int | None:
        """When the negotiator considers a job whose gates open; ``run`` tells its runs apart. None for never."""

    def local(self, job: JobId, opens: int, now: int) -> int | None:
        """When the schedd looks at an idle job that needs no machine; None for never."""


class RegularTurns:
    """The passes of SCHEDD_INTERVAL, which each negotiation makes too, and a wait for a match that is drawn."""

    def __init__(self, settings: PoolSettings, start: int) -> None:
        """Begin at a time (epoch seconds); where in its interval the schedd is then comes from the seed."""
        self._settings = settings
        self._interval = max(1, settings.schedd_interval)
        self._negotiation = max(1, min(settings.schedd_interval, settings.negotiator_interval))
        self._start = start - _phase(settings.seed, self._interval)
        self._last = self._start
        self._begun: dict[JobId, int] = {}

    def requested(self, now: int) -> int:
        """Keep the minimum interval between passes; those who ask in between share one."""
        if self._last >= now:
            return self._last
        since = self._start + (now - self._start) // self._negotiation * self._negotiation
        self._last = max(now, max(self._last, since) + self._settings.min_interval)
        return self._last

    def pass_from(self, time: int) -> int:
        """Return the next point of the grid that passes and negotiations make together."""
        return self._grid(time, self._negotiation)

    def match(self, job: JobId, opens: int, run: int) -> int | None:
        """Draw how long it takes."""
        delay = self._settings.match_delay
        if delay.low == delay.high and delay.is_fixed:
            return opens + delay.low
        begun = self._begun.get(job)
        if begun is None:
            if len(self._begun) >= _KNOWN:
                self._begun.clear()
            begun = self._begun[job] = chance(self._settings.seed, _MATCH, *job)
        return opens + delay.drawn(chance(run, after=begun))

    def local(self, job: JobId, opens: int, now: int) -> int | None:  # noqa: ARG002 - all local jobs share a pass
        """Return the schedd's next pass: one is made when a local job becomes idle."""
        return self.requested(now) if opens <= now else self._grid(opens, self._interval)

    def _grid(self, time: int, interval: int) -> int:
        return time + (self._start - time) % interval


def _phase(seed: int, interval: int) -> int:
    """Return how long ago the last pass was when the pool begins."""
    return Lengths(0, interval - 1).draw(seed, _PHASE)
