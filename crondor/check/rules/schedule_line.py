"""CRN565 to CRN567: a file's own schedule, # crondor: schedule = TEXT, and whether the jobs still do what it says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from crondor.calendar import DAY
from crondor.check.rule import RuleHit, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import CrondorError, Severity
from crondor.zones import UnknownZone, Zone, zone_of

if TYPE_CHECKING:
    from crondor.compile.text import WrittenSchedule
    from crondor.compile.writing.marked import Block
    from crondor.compile.writing.proof import Proof
    from crondor.source import Span

_YEAR = 366 * DAY  # that lines without markers are compared for
_SOON = 60 * DAY


@rule("CRN565", "schedule-unlike", Severity.WARNING, "lines that no longer fit the file's schedule")
def unlike(file: CheckedFile) -> Iterator[RuleHit]:
    """Somebody has edited the lines, or the schedule, and not compiled again."""
    found = _read(file)
    if found is None:
        return
    line, schedule = found
    zone = _host(file)
    proof = _proof(file, schedule, _end(file), zone)
    if proof is None or proof.is_exact:
        return
    first = min((*proof.lost, *proof.wrong))
    said = "has a run that no job has" if first in proof.lost else "has no run when a job has one"
    many = len(proof.lost) + len(proof.wrong)
    more = f" ({many} such times until {_day(zone, proof.until)})" if many > 1 else ""
    message = f"the jobs do not run as the schedule says: on {_moment(zone, first)} it {said}{more}"
    yield RuleHit(message, line, "compile again: crondor compile --write FILE")


@rule("CRN566", "schedule-ends", Severity.WARNING, "compiled lines, or a calendar, that end soon")
def ends(file: CheckedFile) -> Iterator[RuleHit]:
    """After their end no time passes any more, and the job stays idle without a word."""
    found = _read(file)
    if found is None:
        return
    line, schedule = found
    zone, now = _host(file), file.settings.now
    end = _end(file)
    if end is not None and end < now + _SOON:
        verb = "were" if end <= now else "are"
        message = f"the compiled lines {verb} proven until {_day(zone, end)}: afterwards no time may match"
        yield RuleHit(message, line, "compile again: crondor compile --write FILE")
    elif schedule.until is not None and schedule.until < now + _SOON:
        message = f"the schedule is known until {_day(zone, schedule.until)} only: {schedule.until_reason}"
        yield RuleHit(message, line, "bring the calendar up to date, and compile again")


@rule("CRN567", "schedule-line", Severity.WARNING, "a schedule line that cannot be read")
def unreadable(file: CheckedFile) -> Iterator[RuleHit]:
    """To HTCondor it is a comment; whoever wrote it meant a schedule."""
    try:
        _line_and_schedule(file)
    except CrondorError as error:
        for fault in error.diagnostics:
            yield RuleHit(fault.message, fault.span, fault.help)


def _read(file: CheckedFile) -> tuple[Span, WrittenSchedule] | None:
    try:
        return _line_and_schedule(file)
    except CrondorError:
        return None  # CRN567 says why


def _line_and_schedule(file: CheckedFile) -> tuple[Span, WrittenSchedule] | None:
    """Return the line's text and what it means; None for a file without, or one that names other files."""
    lowered = file.source.text.lower()
    if "crondor:" not in lowered or "schedule" not in lowered:
        return None
    from crondor.compile.text import read_schedule, schedule_line  # noqa: PLC0415 - 15 ms, and few files have a schedule of their own

    line = schedule_line(file.source)
    if line is None or ".ics" in line.text.lower():
        return None
    policy = file.settings.policy
    zone = _host(file)
    return line, read_schedule(line, zone=zone) if policy is None else read_schedule(line, zone=zone, policy=policy)


def _block(file: CheckedFile) -> Block | None:
    from crondor.compile.writing.marked import marked_lines  # noqa: PLC0415 - as above

    try:
        return marked_lines(file.source)
    except CrondorError:
        return None


def _end(file: CheckedFile) -> int | None:
    """Return up to when the compiled lines are proven, None for a file without."""
    block = _block(file)
    return None if block is None else block.until


def _host(file: CheckedFile) -> Zone:
    """Return the submit host's zone: the one that the lines were compiled for, wherever they are checked."""
    block = _block(file)
    try:
        return zone_of(block.zone if block is not None and block.zone else file.settings.zone)
    except UnknownZone:
        return zone_of(file.settings.zone)


def _proof(file: CheckedFile, schedule: WrittenSchedule, end: int | None, zone: Zone) -> Proof | None:
    """Compare the jobs with the schedule from now on; None where there are none, or they cannot be read."""
    from crondor.compile.writing.fitting import WrittenJob, fit  # noqa: PLC0415 - as above

    now = file.settings.now
    until = now + _YEAR if end is None else end
    jobs = [
        WrittenJob(job.crontab.manual, job.values.get("requirements", ""))
        for job in file.jobs
        if job.crontab.manual is not None
    ]
    if not jobs or len(jobs) < len(file.jobs) or until <= now:
        return None
    try:
        return fit(schedule, jobs, zone, now, until)
    except CrondorError:
        return None


def _day(zone: Zone, instant: int) -> str:
    return f"{zone.moment(instant):%Y-%m-%d}"


def _moment(zone: Zone, instant: int) -> str:
    at: datetime = zone.moment(instant)
    return f"{at:%Y-%m-%d %H:%M}"
