"""What became of sources and copies in a rehearsal, step by step, and what it comes to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from crondor.classad.ad import ClassAd
from crondor.job.attributes import ending, string
from crondor.job.status import JobStatus
from crondor.job_queue.keys import JobId
from crondor.job_queue.mirror import AdChange, ChangeKind
from crondor.router.daemon.log import LogEntry
from crondor.router.daemon.reading import ROUTE_NAME, ROUTED_FROM, status
from crondor.router.daemon.rehearsal import Rehearsal
from crondor.schedd.changes import job_changes


class StatusStep(NamedTuple):
    """A job has another status since ``time`` (epoch seconds), None: it has left the queue.

    ``source`` and ``route`` are those of a copy, None and empty for a source. ``is_failure``: it is completed, and its
    program ended by a signal or with an exit code other than 0.
    """

    time: int
    job: JobId
    status: JobStatus | None
    source: JobId | None = None
    route: str = ""
    is_failure: bool = False


@dataclass
class JobEnds:
    """How often what became of some jobs: ``now`` by their last status, and how many were made and have run."""

    made: int = 0
    runs: int = 0
    done: int = 0
    failed: int = 0
    removed: int = 0
    now: Counter[JobStatus] = field(default_factory=Counter)

    def add(self, step: StatusStep) -> None:
        """Count a step, but not what the job is now."""
        self.runs += step.status is JobStatus.RUNNING
        if step.status is JobStatus.COMPLETED:
            self.failed += step.is_failure
            self.done += not step.is_failure
        self.removed += step.status is JobStatus.REMOVED


class JobHistories:
    """Takes down each change of status in a rehearsal's queue.

    ``steps`` are all of them in their order, ``happened`` the same with the entries of the router's journal between.
    """

    def __init__(self, pool: Rehearsal) -> None:
        """Begin; jobs that are there already count as they are."""
        self._pool = pool
        self._mirror = pool.schedd.mirror
        self._last: dict[JobId, StatusStep] = {}
        self.steps: list[StatusStep] = []
        self.happened: list[LogEntry | StatusStep] = []
        pool.watchers.append(self.happened.append)
        for job in self._mirror:
            self._see(job)
        self.close = self._mirror.subscribe(self._note)

    def last(self, job: JobId) -> StatusStep | None:
        """Return the last step of a job in the queue; of one that has left, that before."""
        return self._last.get(job)

    def copies(self) -> list[StatusStep]:
        """Return the last step of each copy."""
        return [step for step in self._last.values() if step.source is not None]

    def fates(self) -> tuple[dict[JobId, JobEnds], dict[str, JobEnds]]:
        """Return what became of each source, its copies and their runs counted, and of the copies of each route."""
        sources: dict[JobId, JobEnds] = {}
        routes: dict[str, JobEnds] = {}
        made: set[JobId] = set()
        for step in self.steps:
            if step.source is None:
                fates = sources.setdefault(step.job, JobEnds())
                if step.status is not JobStatus.RUNNING:  # the run is its copy's
                    fates.add(step)
                continue
            route, of = routes.setdefault(step.route, JobEnds()), sources.setdefault(step.source, JobEnds())
            route.add(step)
            of.runs += step.status is JobStatus.RUNNING
            if step.job not in made:
                made.add(step.job)
                route.made += 1
                of.made += 1
        for job, step in self._last.items():
            if job in self._mirror and step.status is not None:
                into = sources[job] if step.source is None else routes[step.route]
                into.now[step.status] += 1
        return sources, routes

    def _note(self, changes: tuple[AdChange, ...]) -> None:
        for change in job_changes(self._mirror, changes):
            if change.kind is ChangeKind.DESTROYED:
                before = self._last.get(change.job)
                if before is not None:
                    self._take(before._replace(time=self._pool.sites.now, status=None, is_failure=False))
            elif change.kind is ChangeKind.CREATED or "jobstatus" in change.attributes:
                self._see(change.job)

    def _see(self, job: JobId) -> None:
        if job not in self._mirror:
            return
        ad = self._mirror.ad(job)
        source = JobId.parse(string(ad, ROUTED_FROM) or "")
        found = status(ad)
        step = StatusStep(
            self._pool.sites.now,
            job,
            found,
            source,
            (string(ad, ROUTE_NAME) or "") if source is not None else "",
            found is JobStatus.COMPLETED and _has_failed(ad),
        )
        self._last[job] = step
        self._take(step)

    def _take(self, step: StatusStep) -> None:
        self.steps.append(step)
        self.happened.append(step)


def _has_failed(ad: ClassAd) -> bool:
    found = ending(ad)
    return found is not None and (found.by_signal or found.number != 0)
