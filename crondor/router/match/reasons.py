"""Why a job goes on a route, or does not: for each route, with the shortest reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from crondor.classad.scope import Attributes, Context
from crondor.router.match.clusters import meets
from crondor.router.match.limits import limit_text
from crondor.router.match.missed_clauses import Missed, missed_clauses, short_reason
from crondor.router.match.route_state import RouteState
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable


class RouteOutcome(str, Enum):
    """What becomes of a job at a route."""

    MATCHED = "matched"
    NO_MATCH = "no match"
    FULL = "full"
    IDLE_LIMIT = "idle limit"
    THROTTLED = "throttled"
    ROUTER_FULL = "router full"
    NOT_CANDIDATE = "not a candidate"
    DISABLED = "routing is disabled"


DISABLED = "the configuration switches routing off"


@dataclass(frozen=True)
class RouteVerdict:
    """What becomes of a job at one route; ``reason`` is None where it matches."""

    route: Route
    outcome: RouteOutcome
    reason: str | None = None


@dataclass(frozen=True)
class JobVerdict:
    """What becomes of a job at all routes of a table, in their order.

    ``missed`` are the clauses that keep it from being a candidate. ``chosen`` is the route that takes it: the first
    that matches, or with round robin the one whose turn it is.
    """

    verdicts: tuple[RouteVerdict, ...]
    missed: tuple[Missed, ...]
    chosen: Route | None


def why(
    table: RoutingTable,
    job: Attributes,
    route_state: RouteState,
    context: Context,
    *,
    owner: str | None = None,
    accepting: tuple[Route, ...] | None = None,
) -> JobVerdict:
    """Explain what the router would do with a job now; ``owner`` as in Matcher.

    ``accepting`` are the routes that took jobs when the router began to look, of which the umbrella constraint is made;
    None: those of ``route_state``. A route says first whether its requirements are met: a limit is the reason only
    where they are.
    """
    accepting = route_state.accepting(table) if accepting is None else accepting
    missed = tuple(missed_clauses(table, job, accepting, context, owner))
    verdicts = tuple(_verdict(table, route, job, route_state, context, missed) for route in table.routes)
    matched = [each.route for each in verdicts if each.outcome is RouteOutcome.MATCHED]
    if not matched:
        return JobVerdict(verdicts, missed, None)
    turn = route_state.turn if table.settings.round_robin else 0
    return JobVerdict(verdicts, missed, matched[turn % len(matched)])


def _verdict(
    table: RoutingTable,
    route: Route,
    job: Attributes,
    route_state: RouteState,
    context: Context,
    missed: tuple[Missed, ...],
) -> RouteVerdict:
    required = route.transform.requirements
    if required is not None and not meets(route, job, context):
        return RouteVerdict(route, RouteOutcome.NO_MATCH, short_reason(required.expression, job, None, context))
    if not table.is_enabled:
        return RouteVerdict(route, RouteOutcome.DISABLED, DISABLED)
    if missed:
        return RouteVerdict(route, RouteOutcome.NOT_CANDIDATE, missed[0].reason)
    limit = route_state.limit(route)
    if limit is not None:
        text = limit_text(route, route_state.load(route), route_state.throttle(route), limit)
        return RouteVerdict(route, RouteOutcome(limit.value), text.partition(": ")[2])
    if route_state.is_full(table):
        most = table.settings.max_jobs
        return RouteVerdict(
            route, RouteOutcome.ROUTER_FULL, f"{route_state.managed} jobs, JOB_ROUTER_MAX_JOBS = {most}"
        )
    return RouteVerdict(route, RouteOutcome.MATCHED)
