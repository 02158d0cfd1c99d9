"""`crondor prev`: when a schedule fired last."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import islice

import click

from crondor.diagnostics import CrondorError, Diagnostic, Severity, has_error
from crondor.recurrence import NeverRuns, OutOfRange
from crondor.spec import Dialect
from crondor.times import JobTimes
from crondor.zones import Policy
from crondor_cli.common.asked import check_alone, read_asked, schedule_text_option, without_fields
from crondor_cli.common.command import Command
from crondor_cli.common.jobs import Job, ScheduleRequest
from crondor_cli.common.options import (
    Surroundings,
    ads_option,
    clock_of,
    clock_options,
    file_options,
    format_option,
    reading_options,
    schedule_options,
)
from crondor_cli.common.preview import placed
from crondor_cli.common.progress import PROGRESS
from crondor_cli.common.schedules import read_schedules
from crondor_cli.common.show import show
from crondor_cli.next.past import VIEWS

EXAMPLE = 'crondor prev --crontab "30 2 * * *"'

EPILOG = """\b
Examples:
  crondor prev job.sub
  crondor prev --crontab '0 6 * * 1' -n 3 --from 2026-12-01 --format epoch

The times are those of the schedule as HTCondor's manual reads it (or --dialect unix). What a schedd did is another
matter: its answers depend on when it was asked, so that they cannot be computed backwards.

Exit status: 0 fine, 1 a finding (invalid, never runs, no cron fields), 2 wrong usage."""


@click.command("prev", cls=Command, example=EXAMPLE, epilog=EPILOG, short_help="When a schedule fired last.")
@schedule_options
@ads_option
@schedule_text_option
@click.option("-n", "--count", type=click.IntRange(1, 100_000), default=1, show_default=True, help="Runs to show.")
@click.option("--from", "from_", metavar="TIME", help="Show runs until this time, inclusive (default: before now).")
@file_options
@clock_options
@reading_options(htcondor=False)
@format_option("table", "json", "epoch", text="How to print the times.")
def command(
    paths: tuple[str, ...],
    crontab: str | None,
    ads: tuple[str, ...],
    schedule: str | None,
    own_zone: str | None,
    count: int,
    from_: str | None,
    now: str | None,
    tz: str | None,
    dialect: Dialect | None,
    policy: Policy | None,
    format_: str,
    surroundings: Surroundings,
    **fields: str | None,
) -> None:
    """Show when the schedule of a job fired last, the latest time first."""
    clock = clock_of(now, tz)
    start = clock.now if from_ is None else clock.read(from_, "--from") + 1
    others = without_fields(paths, crontab, fields) | {"--ads": ads, "--dialect": dialect}
    if check_alone(schedule, own_zone, others):
        from crondor_cli.next.asked import show_previous  # noqa: PLC0415 - the languages take 15 ms

        asked = read_asked(schedule or "", own_zone, clock, policy, surroundings.allow_dirs)
        show_previous(asked, clock, start, count, format_)
        return
    only = dialect or Dialect.MANUAL
    request = ScheduleRequest(paths, crontab, fields, clock, only, policy=policy, surroundings=surroundings, ads=ads)
    jobs, warnings = read_schedules(request)
    show(warnings)
    found = [(job, _times(job, only, start, count)) for job in PROGRESS.counted(jobs, "finding runs", "jobs")]
    VIEWS[format_](found, clock)
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
