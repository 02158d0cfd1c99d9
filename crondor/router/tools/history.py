"""Routed jobs that have left the queue: condor_router_history of HTCondor 25.14, and what it leaves out.

The tool goes by CompletionDate, which is 0 in a job that was removed: its column Aborted is always 0. Here such a job
ended when it entered its last state. ``Times.HTCONDOR`` is the tool's own reading.

HTCondor: src/condor_job_router/condor_router_history.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.router.tools.summary import state_letter
from crondor.router.tools.values import AdValues

DAY: Final = 86400
_COMPLETED: Final = "C"
_RULE: Final = "-" * 55
_FORM: Final = "%Y-%m-%d %H:%M"
_NAME: Final = "history"


class Times(Enum):
    """When a job ended, and where it ran.

    ENDED: CompletionDate, or EnteredCurrentStatus for a job that never completed; SUBMIT_Iwd, or Iwd of a job whose
    files were not spooled. HTCONDOR: CompletionDate and SUBMIT_Iwd alone, as condor_router_history does.
    """

    ENDED = "ended"
    HTCONDOR = "htcondor"


class Period(NamedTuple):
    """A time from ``start`` to ``end``, both included, epoch seconds."""

    start: float
    end: float


class EndedJob(NamedTuple):
    """A routed job that has left; ``runtime`` in seconds, ``time`` epoch seconds or None where the ad does not say."""

    id: str
    state: str
    route: str
    runtime: float
    iwd: str
    time: float | None


class RouteHistory(NamedTuple):
    """What became of the jobs of a route; ``seconds`` is the run time of those that completed."""

    name: str
    seconds: float
    completed: int
    aborted: int

    @property
    def line(self) -> str:
        """The row as the tool prints it."""
        return f"{self.name:<15} {round(self.seconds / 3600):>5} {self.completed:>7} {self.aborted:>5}"


def ended_of(ad: ClassAd, context: Context, times: Times = Times.ENDED) -> EndedJob | None:
    """Return what the history says of a routed job, None for another one."""
    job = AdValues(ad, context)
    route = job.text("RouteName") or job.text("RoutedFromRoute")  # the second is what old routers wrote
    cluster, proc = job.integer("ClusterId"), job.integer("ProcId")
    if not route or cluster is None or proc is None:
        return None
    time = job.number("CompletionDate")
    iwd = job.text("SUBMIT_Iwd")
    if times is Times.ENDED:
        time = time if time is not None and time > 0 else job.number("EnteredCurrentStatus")
        iwd = iwd or job.text("Iwd")
    state = state_letter(job.integer("JobStatus"))
    runtime = max(0.0, float(job.number("RemoteWallClockTime") or 0))
    return EndedJob(f"{cluster}.{proc}", state, route.replace('"', ""), runtime, iwd or "", time)


def history_files(folder: Path | str, since: float) -> list[Path]:
    """Return the history files of a spool folder written to at or after ``since`` (epoch seconds), the oldest first.

    Raises OSError.
    """
    found = [path for path in Path(folder).iterdir() if path.name.startswith(_NAME) and path.is_file()]
    return sorted(
        (path for path in found if path.stat().st_mtime >= since), key=lambda path: (path.name == _NAME, path.name)
    )


def heading(period: Period, zone: tzinfo) -> str:
    """Return the first line of both reports."""
    return f"Routed job history from {_moment(period.start, zone)} to {_moment(period.end, zone)}"


def _moment(epoch: float, zone: tzinfo) -> str:
    try:
        return datetime.fromtimestamp(epoch, zone).strftime(_FORM)
    except (OverflowError, OSError, ValueError):
        return f"epoch {epoch:.0f}"


def record_lines(jobs: Iterable[EndedJob], *, iwd: bool = False) -> Iterator[str]:
    """Yield a line for each job, each with a blank at its end as the tool writes it."""
    yield "JobID Status Site Runtime " + ("IWD " if iwd else "")
    for job in jobs:
        yield f"{job.id} {job.state} {job.route} {round(job.runtime)} " + (f"{job.iwd} " if iwd else "")


def sites_of(jobs: Iterable[EndedJob]) -> list[RouteHistory]:
    """Return what became of the jobs, by route: the one with most hours completed first."""
    found: dict[str, RouteHistory] = {}
    for job in jobs:
        site = found.get(job.route, RouteHistory(job.route, 0.0, 0, 0))
        if job.state == _COMPLETED:
            found[job.route] = site._replace(seconds=site.seconds + round(job.runtime), completed=site.completed + 1)
        else:
            found[job.route] = site._replace(aborted=site.aborted + 1)
    return sorted(found.values(), key=lambda site: (-site.seconds, site.name))


def site_lines(sites: Iterable[RouteHistory]) -> Iterator[str]:
    """Yield the summary: a row for each route, and their total."""
    total = RouteHistory("TOTAL", 0.0, 0, 0)
    yield f"{'Site':<15} {'Hours':>5} {'Jobs':>7} {'Runs':>7}"
    yield f"{'':<15} {'':>5} Completed Aborted"
    yield _RULE
    for site in sites:
        yield site.line
        seconds = total.seconds + site.seconds
        total = RouteHistory("TOTAL", seconds, total.completed + site.completed, total.aborted + site.aborted)
    yield _RULE
    yield total.line
