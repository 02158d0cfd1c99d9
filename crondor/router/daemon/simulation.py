"""The jobs of submit files as sources of a job router with simulated sites, on a virtual clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from crondor.diagnostics import Diagnostic, Severity
from crondor.job.attributes import JobStatus
from crondor.job_queue import JobId
from crondor.pool.simulate.jobs import Group, Simulated
from crondor.router import RoutingTable
from crondor.router.daemon import Rehearsal, RouterOptions
from crondor.router.daemon.rehearsal import JobEnds, JobHistories, Site

OWNER: Final = "user"
_STEP: Final = 3600  # seconds between checks whether any job is left
_OF_POOL: Final = ("simulate-requirements", "simulate-universe")  # the local pool is not simulated here


@dataclass
class RoutedSimulation:
    """The jobs of ``simulated`` as sources of a router with a table, and the site of each route."""

    simulated: Simulated
    table: RoutingTable
    sites: tuple[Site, ...]
    pool: Rehearsal
    chronicle: JobHistories
    jobs: list[JobId] = field(default_factory=list)
    end: int = 0

    @classmethod
    def of(
        cls, simulated: Simulated, table: RoutingTable, sites: Sequence[Site], options: RouterOptions
    ) -> RoutedSimulation:
        """Set up the simulation, with the jobs submitted. Raises CrondorError."""
        settings = simulated.settings
        pool = Rehearsal(
            table, sites, simulated.start, options=options, schedd_interval=settings.schedd_interval, seed=settings.seed
        )
        made = cls(simulated, table, tuple(sites), pool, JobHistories(pool), end=simulated.start)
        files: dict[int, list[Group]] = {}
        for group in simulated.groups:
            files.setdefault(id(group.file), []).append(group)
        for groups in files.values():
            ads = []
            for group in groups:
                ad = group.ad.copy()
                if "Owner" not in ad:
                    ad.set("Owner", OWNER)
                ads += [ad] * group.jobs.count
            made.jobs += pool.schedd.submit(ads)
        pool.schedd.recalculate()
        return made

    def run(self, counted: Callable[[range], Iterable[int]] = iter) -> None:
        """Simulate to the end, or until no job is left; ``counted`` wraps the range of hours, as for a progress bar."""
        start, end = self.simulated.start, self.simulated.end
        for time in counted(range(start + _STEP, end + _STEP, _STEP)):
            self.end = min(time, end)
            self.pool.advance(self.end)
            if not len(self.pool.schedd.mirror):
                break
        self.chronicle.close()

    def of_group(self, group: Group) -> list[JobId]:
        """Return the jobs of a group."""
        return self.jobs[group.first : group.first + group.jobs.count]

    def fates(self) -> tuple[list[JobEnds], list[JobEnds]]:
        """Return the outcomes of the jobs of each group, and of the copies of each route, in the order of the table."""
        sources, routes = self.chronicle.fates()
        groups = [
            _joined([sources.get(job, JobEnds()) for job in self.of_group(group)]) for group in self.simulated.groups
        ]
        return groups, [routes.get(route.name, JobEnds()) for route in self.table.routes]

    @property
    def is_fine(self) -> bool:
        """Return whether all jobs completed, none failed, and none is held."""
        groups, _ = self.fates()
        whole = bool(groups) and all(
            found.done >= group.jobs.count and not (found.failed or found.removed or found.now[JobStatus.HELD])
            for found, group in zip(groups, self.simulated.groups, strict=True)
        )
        return whole and not self.simulated.has_failed and self.table.is_enabled


def findings_of(simulated: Simulated, table: RoutingTable) -> list[Diagnostic]:
    """Return the findings about the jobs and the table."""
    kept = [each for each in simulated.findings if each.kind not in _OF_POOL]
    return [*kept, *(each for each in table.diagnostics if each.severity is Severity.ERROR)]


def _joined(parts: Sequence[JobEnds]) -> JobEnds:
    made = JobEnds()
    for each in parts:
        made.made += each.made
        made.runs += each.runs
        made.done += each.done
        made.failed += each.failed
        made.removed += each.removed
        made.now.update(each.now)
    return made
