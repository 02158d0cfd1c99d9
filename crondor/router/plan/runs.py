"""One line of a plan: a coming run of a job, the route that takes the job for it, and what becomes of it there."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.deferral import Deferral
from crondor.diagnostics import Diagnostic
from crondor.router.apply.applying import RoutedAd
from crondor.router.match.reasons import JobVerdict, why
from crondor.router.match.route_state import RouteState
from crondor.router.plan.copy_schedule import CopySchedule
from crondor.router.plan.jobs import PlannedJob
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable


class PlannedOutcome(str, Enum):
    """What becomes of a run."""

    ROUTED = "routed"
    BY_COPY = "by its copy"
    LOCAL = "local"
    EDITED = "edited in place"
    FAILED = "routing fails"
    BUSY = "still busy"
    STUCK = "held by its copy"
    GONE = "job is gone"


class Room(NamedTuple):
    """How a route stands with a job that it has just taken: its jobs and idle ones, and what it may have.

    Negative ``max_idle_jobs`` and ``max_managed``: no limit. ``managed`` are the jobs of all routes.
    """

    jobs: int
    max_jobs: int
    idle: int
    max_idle_jobs: int
    managed: int
    max_managed: int


class LastAsked(NamedTuple):
    """The last time that the routes were asked about a job, without one that took it."""

    table: RoutingTable
    ad: ClassAd
    route_state: RouteState
    context: Context
    owner: str | None


@dataclass(frozen=True)
class PlannedRun:
    """A run of a job's schedule, and what becomes of it; times are epoch seconds.

    ``number`` counts the job's runs from 1. ``taken`` is when the router takes the job, ``starts`` when its copy starts
    and ``ends`` when that has ended, as far as the model knows. ``route``, ``room``, ``conduct`` and ``routed`` are of
    the copy; ``stays``: it goes back to its queue when it has run. ``findings`` are those that no earlier run of the
    job had.
    """

    job: PlannedJob
    number: int
    run: Deferral
    outcome: PlannedOutcome
    route: Route | None = None
    taken: int | None = None
    starts: int | None = None
    ends: int | None = None
    room: Room | None = None
    conduct: CopySchedule | None = None
    stays: bool = False
    routed: RoutedAd | None = field(default=None, repr=False)
    findings: tuple[Diagnostic, ...] = ()
    asked: LastAsked | None = field(default=None, repr=False)

    def why(self) -> JobVerdict | None:
        """Return why no route took the job when the routes were asked last; None where one did, or none was."""
        asked = self.asked
        return (
            None if asked is None else why(asked.table, asked.ad, asked.route_state, asked.context, owner=asked.owner)
        )
