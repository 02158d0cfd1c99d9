"""Why a job is no candidate: the clauses of the umbrella constraint that it does not meet, in words."""

from __future__ import annotations

from dataclasses import dataclass

from crondor.classad.errors import ClassAdSyntaxError, EvaluationFailed
from crondor.classad.evaluate import holds, value_of
from crondor.classad.expression import Expression
from crondor.classad.operators import truth
from crondor.classad.scope import AdValue, Attributes, Context
from crondor.classad.show import print_value
from crondor.classad.values import ERROR, UNDEFINED
from crondor.job import attributes
from crondor.router.match.clusters import meets
from crondor.router.match.umbrella import Clause, UmbrellaQuestion, built_in
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable

_NO_AD = AdValue({}, {})
_STATUS = ("", "idle", "running", "removed", "completed", "held", "transferring output", "suspended")
_BEFORE = {
    Clause.JOB: "it is no job",
    Clause.IDLE: "only idle jobs (JobStatus 1) are routed",
    Clause.NOT_SPOOLING: "its input is still being spooled",
    Clause.NOT_DONE: "a manager is done with it",
    Clause.NOT_EXTERNAL: "a manager has it already",
    Clause.OWNED: "it belongs to nobody",
    Clause.NOT_COPY: "it is a copy that this router made",
    Clause.OWN: "a router that does not run as root takes its own user's jobs alone",
}
_SHOWN = {
    Clause.JOB: ("ProcId",),
    Clause.IDLE: ("JobStatus",),
    Clause.NOT_SPOOLING: ("StageInStart", "StageInFinish"),
    Clause.NOT_DONE: ("Managed", "ManagedManager"),
    Clause.NOT_EXTERNAL: ("Managed", "ManagedManager", "RoutedToJobId"),
    Clause.OWNED: ("Owner",),
    Clause.NOT_COPY: ("RoutedBy", "RoutedFromJobId"),
    Clause.OWN: ("Owner",),
}
_OPTIONAL = frozenset(("ManagedManager", "RoutedToJobId", "RoutedFromJobId"))


@dataclass(frozen=True)
class Missed:
    """A clause of the umbrella constraint that a job does not meet, and the shortest reason why."""

    clause: Clause
    reason: str


def missed_clauses(
    table: RoutingTable, job: Attributes, accepting: tuple[Route, ...], context: Context, owner: str | None
) -> list[Missed]:
    """Return the clauses that keep a job from being a candidate.

    ``accepting`` are the routes that took jobs when the router began to look, ``owner`` is that of Matcher.
    """
    found = [
        Missed(each.clause, _in_words(each.clause, job, context))
        for each in built_in(table.settings.name, owner)
        if not holds(each.expression.code, _NO_AD, job, context)
    ]
    constraint = table.settings.source_constraint
    if constraint is not None and not holds(constraint.code, _NO_AD, job, context):
        reason = short_reason(constraint, _NO_AD, job, context)
        found.append(Missed(Clause.SOURCE_CONSTRAINT, f"{Clause.SOURCE_CONSTRAINT.value}: {reason}"))
    elif any(meets(route, job, context) for route in accepting):
        # A job that meets requirements alone may not pass them here, where MY is no job and error wins over true.
        asked = UmbrellaQuestion(table, accepting)
        if not asked.holds(job, context):
            found.append(Missed(Clause.ROUTES, _of_routes(accepting, job, context) or _whole(asked, job, context)))
    return found


def short_reason(expression: Expression, my: Attributes, target: Attributes | None, context: Context) -> str:
    """Return the shortest reason why an expression is not true of a job."""
    try:
        return expression.explain(my, target, context).reason() or f"{expression}: true"
    except ClassAdSyntaxError as error:
        return error.diagnostics[0].message


def _in_words(clause: Clause, job: Attributes, context: Context) -> str:
    """Return what a clause that is always there asks for, and what the job has instead."""
    shown = [_attribute(name, job, context) for name in _SHOWN[clause]]
    return f"{_BEFORE[clause]}: {', '.join(each for each in shown if each)}"


def _attribute(name: str, job: Attributes, context: Context) -> str:
    if name.lower() not in job.codes:
        return "" if name in _OPTIONAL else f"no {name}"
    value = attributes.value(job, name, context)
    if value is ERROR:
        return f"{name} has no value"
    status = attributes.exact_integer_of(value) if name == "JobStatus" else None
    said = f" ({_STATUS[status]})" if status is not None and 0 < status < len(_STATUS) else ""
    return f"{name} = {print_value(value)}{said}"


def _of_routes(accepting: tuple[Route, ...], job: Attributes, context: Context) -> str | None:
    """Return which route's requirements keep a job from all, or why none is met where the job is TARGET."""
    unmet: list[str] = []
    for route in sorted(accepting, key=lambda each: each.name.lower()):
        required = route.transform.requirements
        if required is None:
            return None
        expression = required.expression
        try:
            value = value_of(expression.code, _NO_AD, job, context)
        except (EvaluationFailed, ClassAdSyntaxError):
            return None
        if truth(value) is None and value is not UNDEFINED:
            said = f"the requirements of {route.name} are neither true nor false, and hide the routes behind it by name"
            return f"{said}: {short_reason(expression, _NO_AD, job, context)}"
        if meets(route, job, context):
            unmet.append(f"{route.name}: {short_reason(expression, _NO_AD, job, context)}")
    said = "; ".join(unmet)
    return f"where routes are asked for candidates the job is TARGET and MY is nothing: {said}" if unmet else None


def _whole(asked: UmbrellaQuestion, job: Attributes, context: Context) -> str:
    return asked.reason(job, context) or "it is not true"
