"""A plan of jobs on routes: the question, and the answer run by run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crondor._types import expect
from crondor.classad.scope import Context
from crondor.config import Configuration
from crondor.diagnostics import Diagnostic, Severity
from crondor.router.plan.cure import Cure, cure
from crondor.router.plan.jobs import Plannable, PlannedJob, jobs_of
from crondor.router.plan.options import PlanOptions
from crondor.router.plan.planner import Planning, facts_at
from crondor.router.plan.remarks import waits_for_rejection, without_runs
from crondor.router.plan.runs import PlannedRun
from crondor.router.table.loading import load_table
from crondor.router.table.table import RoutingTable
from crondor.zones import zone_of


def plan(
    jobs: Plannable | Iterable[Plannable],
    routes: RoutingTable | Configuration,
    now: int,
    until: int | None = None,
    options: PlanOptions | None = None,
) -> RoutePlan:
    """Return the plan of the coming runs of jobs on the routes of a table, from ``now`` (epoch seconds) to ``until``.

    ``jobs`` are JobSchedules, submit files, ads, or a schedd with jobs, or several of these; those without a schedule
    are left out. Iterate over the plan for its runs: they are found one by one, in the order in which they are
    decided. Without ``until`` and without a count it goes on to the year 2200. The model is in docs/route-plan.md.
    Raises InvalidSubmit, InvalidConfig, ScheddError, UnknownZone.
    """
    expect("routes", routes, (RoutingTable, Configuration), "a RoutingTable or a Configuration")
    expect("now", now, int, "epoch seconds")
    table = load_table(routes) if isinstance(routes, Configuration) else routes
    options = PlanOptions() if options is None else options
    return RoutePlan(tuple(jobs_of(jobs, now, options.reading)), table, now, until, options)


@dataclass(frozen=True)
class RoutePlan:
    """Jobs and routes with what a plan is made by; each iteration makes it anew."""

    jobs: tuple[PlannedJob, ...]
    table: RoutingTable
    now: int
    until: int | None
    options: PlanOptions

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """What there is to say of the jobs before any run: each finding once."""
        found: dict[Diagnostic, None] = {}
        for job in self.jobs:
            found.update(dict.fromkeys(job.findings))
            if job.schedule is not None and self.options.rejected is None:
                found.update(dict.fromkeys(waits_for_rejection(job, self._texts)))
            found.update(dict.fromkeys(without_runs(job, self.now)))
        if not self.table.is_enabled:
            said = [each for each in self.table.diagnostics if each.severity is Severity.ERROR]
            message = "routing is switched off: no job goes on a route"
            found.update(dict.fromkeys(said))
            found[Diagnostic("plan-disabled", message, help="crondor route check says what is wrong")] = None
        return tuple(found)

    @property
    def _texts(self) -> tuple[str, ...]:
        constraint = self.table.settings.source_constraint
        required = (each.transform.requirements for each in self.table.routes)
        return (
            *(each.text for each in required if each is not None),
            *(() if constraint is None else (str(constraint),)),
        )

    def __iter__(self) -> Iterator[PlannedRun]:
        """Yield the runs."""
        return Planning(self.jobs, self.table, self.now, self.until, self.options).runs()

    def cure(self, run: PlannedRun) -> Cure | None:
        """Return the lines that take the schedule out of a run's copy; None for a run without a copy of its own."""
        if run.routed is None or run.routed.ad is None or run.taken is None:
            return None
        zone = zone_of(self.options.reading.zone).info
        return cure(run.routed, run.taken, zone, facts_at(self.table, Context(now=run.taken, zone=zone)))
