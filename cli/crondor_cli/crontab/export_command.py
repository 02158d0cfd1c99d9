"""`crondor export`: convert a job's schedule for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from crondor.crontab.file import JobProgram
from crondor.diagnostics import CrondorError, Diagnostic, Severity, has_error
from crondor.preview.export import (
    PROGRAM_COMMANDS,
    ExportGroup,
    ExportJob,
    ScheduleOptions,
    as_own_schedule,
    asked_calendar,
    calendar_of,
    crontab_of,
    groups_of,
    left_out,
    line_of,
    program_of,
    schedule_of,
)
from crondor.schedule import COMMANDS
from crondor.spec import Dialect
from crondor.times import REQUIREMENTS, JobTimes, requirements_of
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command
from crondor_cli.kit.files import write_file
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.schedules import ScheduleRequest, as_request, schedule_text_option
from crondor_cli.kit.screen import emit, show, usage


def jobs_of(
    request: ScheduleRequest, asked: ScheduleOptions, command: str | None
) -> tuple[list[ExportJob], list[Diagnostic]]:
    """Return the jobs, and all findings; a job with an error is skipped.

    ``command`` replaces the file's program. Raises CrondorError if nothing can be read.
    """
    request.check()
    found: list[ExportJob] = []
    given = None if command is None else JobProgram("/bin/sh", ("-c", command))
    groups, findings = _of_files(request, asked, is_given=given is not None) if request.paths else _typed(request)
    for name, count, values, spans, place in PROGRESS.counted(groups, "reading schedules", "jobs"):
        try:
            schedule = schedule_of(values, spans, asked)
            program = program_of(values, spans) if given is None and request.paths else given
        except CrondorError as error:
            findings += error.diagnostics
            continue
        findings += schedule.notes
        if not schedule.is_deferred:
            message = "the job has no cron field and no deferral_time: there is no schedule to export"
            findings.append(Diagnostic("not-deferred", message, Severity.NOTE, place))
            continue
        found.append(
            ExportJob(name, count, schedule, program, place, values, JobTimes(schedule, requirements_of(values)))
        )
    return found, list(dict.fromkeys(findings))


def _typed(request: ScheduleRequest) -> tuple[list[ExportGroup], list[Diagnostic]]:
    jobs, findings = request.jobs()
    return [(job.name, job.count, job.commands, job.spans, job.queue) for job in jobs], findings


def _of_files(
    request: ScheduleRequest, asked: ScheduleOptions, *, is_given: bool
) -> tuple[list[ExportGroup], list[Diagnostic]]:
    """Return the groups of all files; with several files an invalid one is a finding, and the others count."""
    groups: list[ExportGroup] = []
    findings: list[Diagnostic] = []
    for path in PROGRESS.counted(request.paths, "reading", "files"):
        try:
            file = request.read(path)
            made = list(groups_of(file, (*COMMANDS, *REQUIREMENTS, *(() if is_given else PROGRAM_COMMANDS))))
            made = as_own_schedule(file, made, asked.clock) if asked.is_crontab else made
        except CrondorError as error:
            if len(request.paths) == 1:
                raise
            findings += error.diagnostics
            continue
        groups += made
        findings += file.warnings
        findings += left_out(file) if asked.is_crontab and not is_given else ()
    return groups, findings


EXAMPLE = """\
crondor export --to crontab --crontab "30 2 * * *" --command backup"""

EPILOG = """\b
Examples:
  crondor export job.sub --to crontab
  crondor export --crontab '0 6 * * 1' --command 'report --weekly' \\
      --to crontab
  crondor export job.sub --to ics -n 50 -o runs.ics
  crondor export job.sub --to ics --rrule
  crondor export --schedule 'every 2 weeks from 2026-12-01' --to ics

A crontab has no window, prep time, pool or deferral_time: findings report the losses. Calendars need the Python
library icalendar (in a clone of crondor: pip install '.[ics]').

Exit status: 0 fine, 1 a finding (a job that cannot be exported), 2 wrong usage."""


@click.command("export", cls=Command, example=EXAMPLE, epilog=EPILOG)
@opts.schedule_options
@schedule_text_option
@click.option(
    "--to",
    type=click.Choice(["crontab", "ics"]),
    required=True,
    help="What to write: lines for Unix cron, or a calendar (RFC 5545).",
)
@opts.output_option("Where to write the output; - prints it.")
@click.option("--command", "text", metavar="TEXT", help="The command to run, instead of the file's program.")
@click.option("-n", "--count", type=click.IntRange(1, 100_000), help="Runs in the calendar (default: 10).")
@opts.until_option("Put runs into the calendar")
@click.option("--rrule", is_flag=True, help="One event with a recurrence rule, instead of an event for each run.")
@opts.file_options
@opts.clock_options
@opts.reading_options(htcondor=False)
@as_request
def command(
    request: ScheduleRequest, to: str, out: str, text: str | None, count: int | None, until: str | None, rrule: bool
) -> None:
    """Convert the schedules of submit files, a crontab line or single fields to another form."""
    if to == "crontab" and (rrule or until is not None or count is not None):
        raise usage("--count, --until and --rrule need --to ics: a crontab line has no end")
    if to == "crontab" and not request.paths and text is None:
        raise usage("a crontab line needs a command: give it with --command")
    clock, wanted = request.clock, request.alone({})
    if wanted is not None:
        show(wanted.warnings)
        if to == "ics":
            if rrule:
                raise usage("--rrule is for cron fields; a schedule is exported run by run")
            _put(asked_calendar(wanted, clock, count, clock.last(until, "no run")), out)
            return
        request = request._replace(crontab=line_of(wanted, clock))
    asked = ScheduleOptions(clock, request.dialect or Dialect.MANUAL, request.policy, to == "crontab")
    request = request._replace(dialect=asked.dialect)
    jobs, findings = jobs_of(request, asked, text)
    end = clock.last(until, "no run")
    data, more = crontab_of(jobs) if to == "crontab" else calendar_of(jobs, clock, count, end, rrule=rrule)
    findings += more
    show(dict.fromkeys(findings))
    _put(data, out)
    if has_error(findings):
        raise click.exceptions.Exit(1)


def _put(data: bytes, out: str) -> None:
    """Write the exported data. Exits with 1 if there are none."""
    if out == "-":
        emit(data)
    elif data:
        write_file(str(Path(out)), data)
    if not data:
        raise click.exceptions.Exit(1)
