"""A route: rules that make a routed copy of a job, and what the router has to know of them beside.

HTCondor: JobRoute.
"""

from __future__ import annotations

from dataclasses import dataclass

from crondor.classad.expression import Expression
from crondor.source import Source, Span
from crondor.transform import Transform

VANILLA = 5
GRID = 9
DEFAULT_MAX_JOBS = 100
DEFAULT_MAX_IDLE_JOBS = 50
DEFAULT_FAILURE_RATE = 0.03
"""Failures a second, from which on a route is throttled: 18 in a window of 600 s."""


@dataclass(frozen=True)
class Route:
    """One route of a table, as it was loaded.

    ``transform`` are its commands, with REQUIREMENTS in ``transform.requirements`` (None: every candidate matches).
    ``universe`` is the number of the copy's universe; ``grid_resource`` is only read for GRID. ``max_jobs`` negative:
    the route never accepts; ``max_idle_jobs`` negative: unlimited. ``failure_rate_threshold`` is in failures a second.
    The expressions are evaluated in the source job's ad alone (HTCondor 25.14); None: not given.
    ``takes_transforms`` is false for a route of JOB_ROUTER_ENTRIES, which the transforms before and after routes
    leave out. ``is_legacy``: it was written as a ClassAd and converted. ``source`` is its text, named like its knob;
    ``place`` is where that text stands in a file, None where it stands in none as it is.
    """

    name: str
    source: Source
    transform: Transform
    universe: int = GRID
    grid_resource: str | None = None
    max_jobs: int = DEFAULT_MAX_JOBS
    max_idle_jobs: int = DEFAULT_MAX_IDLE_JOBS
    failure_rate_threshold: float = DEFAULT_FAILURE_RATE
    job_failure_test: Expression | None = None
    job_should_be_sandboxed: Expression | None = None
    edit_job_in_place: Expression | None = None
    use_shared_x509_user_proxy: Expression | None = None
    shared_x509_user_proxy: Expression | None = None
    send_id_tokens: Expression | None = None
    takes_transforms: bool = True
    is_legacy: bool = False
    place: Span | None = None
