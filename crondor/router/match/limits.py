"""How much a route takes: its jobs, how many of them do not run, and why it takes no more.

HTCondor: JobRoute::AcceptingMoreJobs.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple

from crondor.router.match.throttle import NO_THROTTLE, WINDOW, Throttle
from crondor.router.table.route import Route


class Limit(str, Enum):
    """What keeps a route from taking one more job."""

    FULL = "full"
    IDLE_LIMIT = "idle limit"
    THROTTLED = "throttled"


class RouteLoad(NamedTuple):
    """The jobs on a route, and those of them that do not run.

    HTCondor counts as idle whatever is not running or sending its output: held jobs and those not yet submitted, too.
    """

    jobs: int = 0
    idle: int = 0

    def routed(self, count: int = 1) -> RouteLoad:
        """Return the load with jobs more, which do not run yet."""
        return RouteLoad(self.jobs + count, self.idle + count)


def limit_of(route: Route, load: RouteLoad, throttle: Throttle = NO_THROTTLE) -> Limit | None:
    """Return what keeps a route from taking one more job, None if nothing does.

    HTCondor asks for the throttle first, then for MaxIdleJobs, which is unlimited where it is negative and never
    takes a job where it is 0, then for MaxJobs, which takes none where it is negative.
    """
    if throttle.is_reached:
        return Limit.THROTTLED
    if 0 <= route.max_idle_jobs <= load.idle:
        return Limit.IDLE_LIMIT
    return None if load.jobs < route.max_jobs else Limit.FULL


def room_of(route: Route, load: RouteLoad, throttle: Throttle = NO_THROTTLE) -> int:
    """Return how many jobs more a route takes before ``limit_of`` says no."""
    room = route.max_jobs - load.jobs
    if route.max_idle_jobs >= 0:
        room = min(room, route.max_idle_jobs - load.idle)
    if throttle.jobs > 0:
        room = min(room, math.ceil(throttle.jobs - throttle.routed)) if math.isfinite(throttle.jobs) else room
    return max(0, room)


def limit_text(route: Route, load: RouteLoad, throttle: Throttle, limit: Limit) -> str:
    """Return a limit that is reached with its figures: ``full: 100 of 100 jobs``."""
    if limit is Limit.THROTTLED:
        return f"throttled: too many failures; {throttle.routed} routed in {WINDOW} s, which allow {throttle.jobs:g}"
    if limit is Limit.IDLE_LIMIT and not route.max_idle_jobs:
        return "idle limit: MaxIdleJobs = 0, and such a route never takes a job"
    if limit is Limit.IDLE_LIMIT:
        return f"idle limit: {load.idle} idle, MaxIdleJobs = {route.max_idle_jobs}"
    if route.max_jobs < 0:
        return f"full: MaxJobs = {route.max_jobs} is negative, and such a route never takes a job"
    return f"full: {load.jobs} jobs, MaxJobs = {route.max_jobs}"
