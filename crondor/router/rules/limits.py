"""CRN64.: what a route says of itself: how many jobs, and where they go."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.check.rule import Rule, RuleHit, rule
from crondor.diagnostics import Severity
from crondor.router.rules.reported import said
from crondor.router.rules.subject import CheckedTable
from crondor.source import Span


@rule("CRN641", "never-accepts", Severity.WARNING, "a limit under which no job is routed")
def _never(table: CheckedTable) -> Iterator[RuleHit]:
    """A route accepts while its jobs are fewer than MaxJobs and its idle ones fewer than MaxIdleJobs."""
    for route in table.routes:
        if route.max_jobs <= 0:
            what = "negative is not unlimited" if route.max_jobs < 0 else "not one job is fewer than none"
            message = f"{route.name} never accepts a job: MaxJobs is {route.max_jobs}, and {what}"
            place = table.assigned(route, "MaxJobs") or _default(table, "JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE")
            yield RuleHit(message, place or table.place(route), "write as many as there may be")
        if route.max_idle_jobs == 0:
            message = f"{route.name} never accepts a job: MaxIdleJobs is 0, and a new job is idle"
            place = table.assigned(route, "MaxIdleJobs") or _default(
                table, "JOB_ROUTER_DEFAULT_MAX_IDLE_JOBS_PER_ROUTE"
            )
            yield RuleHit(message, place or table.place(route), "write at least 1, or -1 for no limit")
    if table.table.settings.max_jobs == 0:
        message = "the router never routes a job: JOB_ROUTER_MAX_JOBS is 0"
        yield RuleHit(message, _default(table, "JOB_ROUTER_MAX_JOBS"), "write -1 for no limit")


@rule("CRN646", "idle-limit", Severity.NOTE, "a limit of idle jobs that is never reached")
def _idle(table: CheckedTable) -> Iterator[RuleHit]:
    """A route with as many jobs as MaxJobs allows takes none, idle or not."""
    for route in table.routes:
        own = table.assigned(route, "MaxIdleJobs")
        if own is not None and 0 < route.max_jobs < route.max_idle_jobs:
            message = (
                f"{route.name}: MaxIdleJobs {route.max_idle_jobs} is never reached, for MaxJobs is {route.max_jobs}"
            )
            yield RuleHit(message, own, "write fewer than MaxJobs, or -1 for no limit of idle jobs")


def _default(table: CheckedTable, name: str) -> Span | None:
    knob = table.configuration.find(name)
    return knob.span if knob is not None else None


LIMIT_RULES: tuple[Rule[CheckedTable], ...] = (
    _never,
    _idle,
    said("CRN642", "limit-ignored", Severity.WARNING, "a number that is none, so that the default holds"),
    said("CRN643", "bad-route-value", Severity.WARNING, "a value of a route that counts as not given"),
    said("CRN644", "no-grid-resource", Severity.WARNING, "a grid route that names no resource"),
)
