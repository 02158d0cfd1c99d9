"""The last runs of jobs, the latest first: as a table, JSON or bare epoch seconds."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import click

from crondor.diagnostics import CrondorError, Diagnostic, Severity, has_error, printable
from crondor.recurrence import NeverRuns, OutOfRange
from crondor.spec import Dialect
from crondor.times import JobTimes
from crondor_cli.common.data import instant
from crondor_cli.common.jobs import Job, ScheduleRequest
from crondor_cli.common.options import Clock
from crondor_cli.common.output import echo_lines
from crondor_cli.common.preview import placed
from crondor_cli.common.progress import PROGRESS
from crondor_cli.common.schedules import read_schedules
from crondor_cli.common.show import show
from crondor_cli.common.streaming import echo_json
from crondor_cli.times.text import ClockFace, relative

Found = list[tuple[Job, "Sequence[int] | None"]]


def show_past(request: ScheduleRequest, start: int, count: int, form: str) -> None:
    """Print the runs of each job before ``start`` (epoch seconds). Exits with 1 where a job has none."""
    dialect = request.dialect or Dialect.MANUAL
    jobs, warnings = read_schedules(request)
    show(warnings)
    found = [(job, _times(job, dialect, start, count)) for job in PROGRESS.counted(jobs, "finding runs", "jobs")]
    _VIEWS[form](found, request.clock)
    if has_error(warnings) or any(times is None for _, times in found):
        raise click.exceptions.Exit(1)


def _times(job: Job, dialect: Dialect, start: int, count: int) -> Sequence[int] | None:
    """Return the times before ``start``, latest first; None, with the reason shown, for a job that has none."""
    reading = job.read(dialect)
    if reading.schedule is None:
        show(reading.error.diagnostics if reading.error else ())
        return None
    show(reading.schedule.notes)
    if reading.schedule.recurrence is None:
        span = job.time_span or job.queue
        show([Diagnostic("no-cron", "a job without cron fields has no earlier run", Severity.NOTE, span)])
        return None
    try:
        return array("q", islice(_backwards(job.times(reading.schedule), start), count))
    except CrondorError as error:
        show(placed(fault, job) for fault in error.diagnostics)
        return None


def _backwards(times: JobTimes, start: int) -> Iterator[int]:
    is_first = True
    while True:
        try:
            start = times.previous(start)
        except OutOfRange:
            return
        except NeverRuns:
            if is_first:
                raise
            return
        is_first = False
        yield start


def _print_table(found: Found, clock: Clock) -> None:
    echo_lines(_lines(found, clock))


def _lines(found: Found, clock: Clock) -> Iterator[str]:
    face = ClockFace(clock.zone)
    for job, times in found:
        if times is None:
            continue
        where = job.name if job.line is None else f"{job.name}:{job.line}"
        yield f"{printable(where)}, {clock.zone_name}"
        if not times:
            yield "  no run before this time"
        for time in times:
            yield f"  {face.text(time)}  {relative(time - clock.now)}"


def _print_json(found: Found, clock: Clock) -> None:
    jobs = (
        {
            "name": job.name,
            "line": job.line,
            "count": job.count,
            "zone": clock.zone_name,
            "now": clock.now,
            "runs": (instant(time, clock.zone) for time in times or ()),
        }
        for job, times in found
    )
    echo_json({"jobs": jobs})


def _print_epochs(found: Found, _: Clock) -> None:
    echo_lines(str(time) for _job, times in found for time in times or ())


_VIEWS: dict[str, Callable[[Found, Clock], None]] = {
    "table": _print_table,
    "json": _print_json,
    "epoch": _print_epochs,
}
