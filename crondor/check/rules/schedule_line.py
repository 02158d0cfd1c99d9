"""CRN565 to CRN567: a file's own schedule, # crondor: schedule = TEXT, and whether the jobs still do what it says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from crondor.calendar import DAY
from crondor.check.rule import RuleHit, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import CrondorError, Severity
from crondor.zones import Zone

if TYPE_CHECKING:
    from crondor.compile.writing.proof import Proof

_YEAR = 366 * DAY  # that lines without markers are compared for
_SOON = 60 * DAY


@rule("CRN565", "schedule-unlike", Severity.WARNING, "lines that no longer fit the file's schedule")
def unlike(file: CheckedFile) -> Iterator[RuleHit]:
    """Somebody has edited the lines, the schedule or a calendar that it names, and not compiled again."""
    zone, proof = file.own_schedule.zone, _proof(file)
    if proof is None or proof.is_exact:
        return
    first = min((*proof.lost, *proof.wrong))
    said = "has a run that no job has" if first in proof.lost else "has no run when a job has one"
    many = len(proof.lost) + len(proof.wrong)
    more = f" ({many} such times until {_day(zone, proof.until)})" if many > 1 else ""
    message = f"the jobs do not run as the schedule says: on {_moment(zone, first)} it {said}{more}"
    yield RuleHit(message, file.own_schedule.line, "compile again: crondor compile --write FILE")


@rule("CRN566", "schedule-ends", Severity.WARNING, "compiled lines, or a calendar, that end soon")
def ends(file: CheckedFile) -> Iterator[RuleHit]:
    """After their end no time passes any more, and the job stays idle without a word."""
    line, schedule, block, zone, _ = file.own_schedule
    if schedule is None:
        return
    now = file.settings.now
    if block is not None and block.until < now + _SOON:
        verb = "were" if block.until <= now else "are"
        message = f"the compiled lines {verb} proven until {_day(zone, block.until)}: afterwards no time may match"
        help_text = "compile again: crondor compile --write FILE"
        if schedule.until is not None and schedule.until <= block.until:
            message += f" ({schedule.until_reason})"
            help_text = "bring the calendar up to date, and compile again: crondor compile --write FILE"
        yield RuleHit(message, line, help_text)
    elif schedule.until is not None and schedule.until < now + _SOON:
        message = f"the schedule is known until {_day(zone, schedule.until)} only: {schedule.until_reason}"
        yield RuleHit(message, line, "bring the calendar up to date, and compile again")


@rule("CRN567", "schedule-line", Severity.WARNING, "a schedule line that cannot be read")
def unreadable(file: CheckedFile) -> Iterator[RuleHit]:
    """To HTCondor it is a comment; whoever wrote it meant a schedule."""
    for fault in file.own_schedule.faults:
        yield RuleHit(fault.message, fault.span, fault.help)


def _proof(file: CheckedFile) -> Proof | None:
    """Compare the jobs with the schedule from now on; None where there are none, or they cannot be read."""
    _, schedule, block, zone, _ = file.own_schedule
    if schedule is None:
        return None
    from crondor.compile.writing.fitting import WrittenJob, fit  # noqa: PLC0415 - 15 ms, and few files have a schedule of their own

    now = file.settings.now
    until = now + _YEAR if block is None else block.until
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
