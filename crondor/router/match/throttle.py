"""The failure throttle of a route: what HTCondor does against a site where jobs only fail."""

from __future__ import annotations

from typing import NamedTuple

WINDOW = 600
"""Seconds that results are counted for before the throttle is set anew."""

_OFF = 10_000  # times the threshold; from there on there is no throttle
_NOTICED = 0.0001  # HTCondor leaves a throttle that would change less as it is


class Throttle(NamedTuple):
    """What a route has seen since ``begin`` (epoch seconds), and how many jobs it may take in a window.

    ``jobs`` of 0 or less: there is no throttle. A route begins with ``Throttle(now)``.
    """

    begin: int = 0
    routed: int = 0
    failed: int = 0
    succeeded: int = 0
    jobs: float = 0.0

    @property
    def is_reached(self) -> bool:
        """Whether no more jobs may be routed in this window."""
        return 0 < self.jobs <= self.routed

    def with_routed(self, count: int = 1) -> Throttle:
        """Return the state after jobs were given to the route, whether or not they get there."""
        return self._replace(routed=self.routed + count)

    def with_failed(self) -> Throttle:
        """Return the state after a job failed: it was not submitted, was removed there, or met JobFailureTest."""
        return self._replace(failed=self.failed + 1)

    def with_succeeded(self) -> Throttle:
        """Return the state after a job was finished well."""
        return self._replace(succeeded=self.succeeded + 1)

    def adjusted(self, now: int, threshold: float, current_jobs: int) -> Throttle:
        """Return the throttle for the next window; before the window is over, this one as it is.

        ``threshold`` is FailureRateThreshold in failures a second, ``current_jobs`` the jobs on the route now. Above
        the threshold as many jobs may come as fail no more often than that; below it the throttle is eased, five
        times where all jobs succeed, until it is off (HTCondor 25.14, JobRoute::AdjustFailureThrottles).
        """
        elapsed = now - self.begin
        if elapsed < WINDOW:
            return self
        jobs = self.jobs
        if self.failed and self.failed / elapsed > threshold:
            ratio = self.failed / (self.failed + current_jobs + self.succeeded)
            jobs = WINDOW * threshold / ratio
        else:
            jobs = self._eased(jobs, threshold)
        return Throttle(now, jobs=jobs if abs(jobs - self.jobs) > _NOTICED else self.jobs)

    def _eased(self, jobs: float, threshold: float) -> float:
        ease = 3.0 * self.succeeded - 2.0 * self.failed
        if ease > 0:
            ease /= self.succeeded + self.failed
        ease += 2.0
        if ease > 1.0:
            jobs *= ease
        if jobs > WINDOW * threshold * _OFF:
            return 0.0
        return 1.0 if 0 < jobs < 1 and not self.failed else jobs

    def __str__(self) -> str:
        """Return the throttle as HTCondor's tools show it: none, or 0.03 jobs/sec."""
        return "none" if self.jobs <= 0 else f"{self.jobs / WINDOW:g} jobs/sec"


NO_THROTTLE = Throttle()
