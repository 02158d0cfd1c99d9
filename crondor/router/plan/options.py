"""How a plan is made."""

from __future__ import annotations

from dataclasses import dataclass, field

from crondor.router.match.route_state import RouteState
from crondor.router.plan.jobs import JobSettings


@dataclass(frozen=True)
class PlanOptions:
    """How a plan is made; lengths in seconds.

    ``at_gate``: the router takes a job when the gate of its run opens, and for one run, as a router that waits does;
    else at its next poll, whole, as HTCondor's daemon does. Copies run for ``run_time``, None: until the job's next
    run; they wait ``queue_time`` at the site before they start. ``rejected`` is how long from now the local pool
    rejects the jobs (LastRejMatchTime), None: it does not. ``count`` is how many runs of each job are planned, None:
    all. ``route_state`` is what the router has already; ``owner`` as in Matcher.
    """

    at_gate: bool = False
    run_time: int | None = None
    queue_time: int = 0
    rejected: int | None = None
    count: int | None = None
    route_state: RouteState = field(default_factory=RouteState)
    owner: str | None = None
    reading: JobSettings = field(default_factory=JobSettings)
