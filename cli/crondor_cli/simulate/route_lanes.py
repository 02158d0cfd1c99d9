"""A simulated router as lanes of time: one for each group of sources, and one for each route."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crondor.diagnostics import printable
from crondor.job.status import JobStatus
from crondor.job_queue import JobId
from crondor.router.daemon.chronicle import StatusStep
from crondor_cli.simulate.axis import Lane, LaneSpan, TimeAxis
from crondor_cli.simulate.route_runs import RoutedSimulation

# What a column shows, the strongest that falls into it.
IDLE, HELD, WAITING, TICK, RUNNING, FAILED = range(6)
SIGNS: Final = ".Hw|rF"
_LEGEND: Final = (
    "w a copy waits at a site, | a run shorter than a column, r runs, H held, F failed or removed at its site, "
    ". neither"
)
COLOURS: Final = {
    HELD: ("#c9ccd1", "held"),
    WAITING: ("#f0c648", "a copy waits at a site"),
    RUNNING: ("#3f8f4f", "runs"),
    FAILED: ("#c8402f", "failed or removed at its site"),
}
ON_SITE: Final = (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT)


class RouteLanes:
    """The lanes, those of the sources first."""

    def __init__(self, found: RoutedSimulation, screen: int | None = None) -> None:
        """Draw what happened, for a screen of so many columns, None: any."""
        clock, groups, routes = found.simulated.clock, found.simulated.groups, found.table.routes
        names = [*(group.label for group in groups), *(f"at {route.name}" for route in routes)]
        self.labels = [printable(name) for name in names]
        whole = TimeAxis(found.simulated.start, found.end, clock.zone, clock.zone_name)
        self.axis = whole.fitting(self.labels, screen)
        self.lanes = [Lane(self.axis) for _ in names]
        self._of_job = {job: number for number, group in enumerate(groups) for job in found.of_group(group)}
        self._of_route = {route.name: len(groups) + number for number, route in enumerate(routes)}
        since: dict[JobId, StatusStep] = {}
        for step in [*found.chronicle.steps, *_ends(found)]:
            before = since.get(step.job)
            if before is not None:
                self._last(before, step.time)
            since[step.job] = step

    def texts(self) -> list[str]:
        """Return the lanes as signs."""
        return ["".join(SIGNS[state] for state in lane.columns) for lane in self.lanes]

    def lines(self) -> list[str]:
        """Return a line for each lane, with a legend and dates."""
        return [self.axis.heading(_LEGEND), *self.axis.rows(self.labels, self.texts())]

    def _last(self, step: StatusStep, end: int) -> None:
        """Draw a status from its step on; a run that fills no column is a tick, a failure is a moment."""
        state = _state(step)
        span = LaneSpan(step.time, step.time if state == FAILED else end, state)
        is_short = state == RUNNING and end - step.time < self.axis.seconds
        for number in self._of(step):
            self.lanes[number].mark(span._replace(state=TICK) if is_short else span)
            self.lanes[number].keep(span)

    def _of(self, step: StatusStep) -> list[int]:
        """Return the lanes that a step shows in; a copy's shows in its source's too."""
        lanes = [self._of_job[job] for job in (step.job, step.source) if job in self._of_job]
        return lanes + ([self._of_route[step.route]] if step.route in self._of_route else [])


def _state(step: StatusStep) -> int:
    if step.status is JobStatus.HELD:
        return HELD
    if step.source is None:
        return FAILED if step.status is JobStatus.COMPLETED and step.is_failure else IDLE
    if step.status is JobStatus.REMOVED or step.is_failure:
        return FAILED
    return RUNNING if step.status in ON_SITE else WAITING if step.status is JobStatus.IDLE else IDLE


def _ends(found: RoutedSimulation) -> Iterator[StatusStep]:
    """Yield the end of the time for each job that is there then, and for each that was gone with its last step."""
    there = set(found.pool.schedd.mirror)
    last = {step.job: step for step in found.chronicle.steps}
    for job, step in last.items():
        yield step._replace(time=found.end if job in there else step.time)
