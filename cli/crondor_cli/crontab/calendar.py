"""The coming runs of jobs as a calendar."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from itertools import islice
from typing import TYPE_CHECKING

from crondor.crontab.ical import CalendarEvent, rule_of, write_calendar
from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.recurrence import Recurrence
from crondor.schedule import JobSchedule
from crondor_cli.common.options import Clock
from crondor_cli.common.progress import PROGRESS
from crondor_cli.common.schedule_facts import LAST_INSTANT
from crondor_cli.crontab.jobs import ExportJob

if TYPE_CHECKING:
    from crondor.compile.text import WrittenSchedule

_RUNS = 10


def calendar_of(
    jobs: list[ExportJob], clock: Clock, count: int | None, end: int | None, *, rrule: bool
) -> tuple[bytes, list[Diagnostic]]:
    """Return a calendar of the runs of all jobs, b"" where there are none, and what stands against the others.

    Raises NoCalendar.
    """
    events: list[CalendarEvent] = []
    findings: list[Diagnostic] = []
    for job in PROGRESS.counted(jobs, "listing runs", "jobs"):
        found, faults = _events(job, clock.now, count, end, rrule=rrule)
        events += found
        findings += faults
    return write_calendar(events, clock.zone, clock.now) if events else b"", findings


def asked_calendar(schedule: WrittenSchedule, clock: Clock, count: int | None, end: int | None) -> bytes:
    """Return a calendar of the coming runs of a schedule of any language, b"" where there are none.

    Raises NoCalendar.
    """
    end = LAST_INSTANT if end is None else end
    runs = islice(schedule.between(clock.now, end), count or _RUNS)
    key = f"{schedule.text}\n{schedule.zone.name}"
    events = [
        CalendarEvent(JobSchedule(time=run).deferral(run, clock.now), printable(schedule.text)[:200], key)
        for run in runs
    ]
    return write_calendar(events, clock.zone, clock.now) if events else b""


def _events(
    job: ExportJob, now: int, count: int | None, end: int | None, *, rrule: bool
) -> tuple[list[CalendarEvent], tuple[Diagnostic, ...]]:
    recurrence = job.schedule.recurrence
    try:
        if rrule and recurrence is not None and not job.times.is_restricted:
            return [_repeated(job, recurrence, now, count, end)], ()
        return list(_single(job, now, count or _RUNS, end)), ()
    except CrondorError as error:
        return [], tuple(replace(fault, span=fault.span or job.place) for fault in error.diagnostics)


def _repeated(job: ExportJob, recurrence: Recurrence, now: int, count: int | None, end: int | None) -> CalendarEvent:
    first, rule = rule_of(recurrence, now)
    if end is not None:
        rule["until"] = datetime.fromtimestamp(end, timezone.utc)
    elif count is not None:
        rule["count"] = count
    return CalendarEvent(job.schedule.deferral(first, now), _summary(job), _key(job), rule)


def _single(job: ExportJob, now: int, count: int, end: int | None) -> Iterator[CalendarEvent]:
    times = job.times.runs(now, end, now=now)
    for time in islice(times, count):
        yield CalendarEvent(job.schedule.deferral(time, now), _summary(job), _key(job))


def _summary(job: ExportJob) -> str:
    if job.program is None:
        return job.name
    program = job.program
    shown = program.arguments[1] if tuple(program.arguments[:1]) == ("-c",) and len(program.arguments) == 2 else ""
    return (shown or " ".join((program.executable, *program.arguments)))[:200]


def _key(job: ExportJob) -> str:
    """Return what tells a job from the others, and stays the same from one export to the next."""
    schedule, program = job.schedule, job.program
    parts = [str(schedule.spec or schedule.time), str(schedule.zone), str(schedule.window), str(schedule.prep_time)]
    if program is not None:
        parts += [program.executable, *program.arguments, str(sorted(program.environment.items())), str(program.stdin)]
    return "\n".join(parts)
