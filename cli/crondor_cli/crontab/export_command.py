"""`crondor export`: the schedule of a job for programs that are not HTCondor."""

from __future__ import annotations

from pathlib import Path

import click

from crondor.diagnostics import has_error
from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.common.asked import check_alone, read_asked, schedule_text_option, without_fields
from crondor_cli.common.command import Command
from crondor_cli.common.jobs import ScheduleRequest
from crondor_cli.common.options import (
    Surroundings,
    clock_of,
    clock_options,
    file_options,
    output_option,
    reading_options,
    schedule_options,
    until_option,
)
from crondor_cli.common.output import emit
from crondor_cli.common.replacing import write_file
from crondor_cli.common.show import show
from crondor_cli.crontab.calendar import asked_calendar, calendar_of
from crondor_cli.crontab.jobs import ScheduleOptions, jobs_of, line_of
from crondor_cli.crontab.lines import crontab_of

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

A crontab has no window, no prep time, no pool and no deferral_time: what is lost is said. Calendars need the Python
library icalendar (in a clone of crondor: pip install '.[ics]').

Exit status: 0 fine, 1 a finding (a job that cannot be exported), 2 wrong usage."""


@click.command(
    "export",
    cls=Command,
    example=EXAMPLE,
    epilog=EPILOG,
)
@schedule_options
@schedule_text_option
@click.option(
    "--to",
    type=click.Choice(["crontab", "ics"]),
    required=True,
    help="What to write: lines for Unix cron, or a calendar (RFC 5545).",
)
@output_option("Where it goes; - prints it.")
@click.option("--command", "text", metavar="TEXT", help="The command of the lines, instead of what the file runs.")
@click.option("-n", "--count", type=click.IntRange(1, 100_000), help="Runs in the calendar (default: 10).")
@until_option("Put runs into the calendar")
@click.option("--rrule", is_flag=True, help="One event with a recurrence rule, instead of an event for each run.")
@file_options
@clock_options
@reading_options(htcondor=False)
def command(
    paths: tuple[str, ...],
    crontab: str | None,
    schedule: str | None,
    own_zone: str | None,
    to: str,
    out: str,
    text: str | None,
    count: int | None,
    until: str | None,
    rrule: bool,
    now: str | None,
    tz: str | None,
    dialect: Dialect | None,
    policy: Policy | None,
    surroundings: Surroundings,
    **fields: str | None,
) -> None:
    """Write the schedules of a submit file, a crontab line or single fields in another form."""
    clock = clock_of(now, tz)
    if to == "crontab" and (rrule or until is not None or count is not None):
        raise _usage("--count, --until and --rrule go with --to ics: a crontab line has no end")
    if to == "crontab" and not paths and text is None:
        raise _usage("a crontab line needs a command: name it with --command")
    if check_alone(schedule, own_zone, without_fields(paths, crontab, fields) | {"--dialect": dialect}):
        wanted = read_asked(schedule or "", own_zone, clock, policy, surroundings.allow_dirs)
        show(wanted.warnings)
        if to == "ics":
            if rrule:
                raise _usage("--rrule is for cron fields; a schedule is exported run by run")
            _put(asked_calendar(wanted, clock, count, clock.last(until, "no run")), out)
            return
        crontab = line_of(wanted, clock)
    asked = ScheduleOptions(clock, dialect or Dialect.MANUAL, policy, to == "crontab")
    request = ScheduleRequest(
        paths, crontab, fields, clock, asked.dialect, policy=asked.policy, surroundings=surroundings
    )
    jobs, findings = jobs_of(request, asked, text)
    end = clock.last(until, "no run")
    data, more = crontab_of(jobs) if to == "crontab" else calendar_of(jobs, clock, count, end, rrule=rrule)
    findings += more
    show(dict.fromkeys(findings))
    _put(data, out)
    if has_error(findings):
        raise click.exceptions.Exit(1)


def _put(data: bytes, out: str) -> None:
    """Write what was exported. Exits with 1 where there is nothing."""
    if out == "-":
        emit(data)
    elif data:
        _write(Path(out), data)
    if not data:
        raise click.exceptions.Exit(1)


def _write(path: Path, data: bytes) -> None:
    write_file(str(path), data)


def _usage(message: str) -> click.UsageError:
    return click.UsageError(message, click.get_current_context(silent=True))
