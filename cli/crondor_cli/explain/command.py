"""`crondor explain`: what a schedule means, and why it fires at a time or does not."""

from __future__ import annotations

import click

from crondor.diagnostics import has_error
from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.common.asked import check_alone, read_asked, schedule_text_option, without_fields
from crondor_cli.common.command import Command
from crondor_cli.common.jobs import ScheduleRequest
from crondor_cli.common.options import (
    Clock,
    Surroundings,
    UsageProblem,
    ads_option,
    clock_of,
    clock_options,
    file_options,
    format_option,
    reading_options,
    schedule_options,
    until_option,
)
from crondor_cli.common.progress import PROGRESS
from crondor_cli.common.schedule_facts import LAST_INSTANT, explain, years_after
from crondor_cli.common.schedules import read_schedules
from crondor_cli.common.show import show
from crondor_cli.explain.data import print_json
from crondor_cli.explain.text import print_table
from crondor_cli.times.tokens import SkippedTime

EXAMPLE = 'crondor explain --crontab "30 2 * * *"'

EPILOG = """\b
Examples:
  crondor explain job.sub
  crondor explain --crontab '0 6 1-10/3 * 1' --tz Europe/Berlin
  crondor explain --crontab '30 2 * * *' --at '2026-12-02 02:31'
  crondor explain --minute 0 --hour '*/6' --until 2030-01-01 --format json
  crondor explain --schedule 'Mon..Fri 09:00 except holidays:DE'

The fields are read as HTCondor's manual says, and compared with what the schedd of HTCondor 25.14 really reads;
--dialect names another reading.

Exit status: 0 fine, whatever the answer to --at; 1 a finding (invalid, never fires); 2 wrong usage."""


@click.command(
    "explain",
    cls=Command,
    example=EXAMPLE,
    epilog=EPILOG,
)
@schedule_options
@ads_option
@schedule_text_option
@click.option("--at", metavar="TIME", help="Say why the schedule fires at this time, or why not.")
@until_option("Look for clock changes", "two years on")
@file_options
@clock_options
@reading_options(htcondor=True)
@format_option("table", "json", text="How to print the explanation.")
def command(
    paths: tuple[str, ...],
    crontab: str | None,
    ads: tuple[str, ...],
    schedule: str | None,
    own_zone: str | None,
    at: str | None,
    until: str | None,
    now: str | None,
    tz: str | None,
    dialect: Dialect | None,
    policy: Policy | None,
    format_: str,
    surroundings: Surroundings,
    **fields: str | None,
) -> None:
    """Explain a schedule: its values, gaps and counts, what the schedd reads otherwise, and clock changes ahead.

    With --at it says instead why the schedule fires at that time, or which field keeps it from firing.
    """
    clock = clock_of(now, tz)
    end = _until(clock, until, at)
    instant, skipped = _instant(clock, at)
    others = without_fields(paths, crontab, fields) | {"--ads": ads, "--dialect": dialect, "--until": until}
    if check_alone(schedule, own_zone, others):
        from crondor_cli.explain.asked import show_explanation  # noqa: PLC0415 - the languages take 15 ms

        asked = read_asked(schedule or "", own_zone, clock, policy, surroundings.allow_dirs)
        show_explanation(asked, clock, instant, format_)
        return
    only = dialect or Dialect.MANUAL
    request = ScheduleRequest(paths, crontab, fields, clock, only, policy=policy, surroundings=surroundings, ads=ads)
    jobs, warnings = read_schedules(request)
    counted = PROGRESS.counted(jobs, "explaining", "jobs")
    explanations = [explain(job, only, end, instant, skipped) for job in counted]
    show(dict.fromkeys([*warnings, *(finding for e in explanations for finding in e.findings)]))
    if format_ == "table":
        print_table(explanations)
    else:
        print_json(explanations, warnings)
    if has_error(warnings) or any(e.failed for e in explanations) or not any(e.is_deferred for e in explanations):
        raise click.exceptions.Exit(1)


def _instant(clock: Clock, at: str | None) -> tuple[int | None, SkippedTime | None]:
    """Return the instant of --at; for a time that the clock skips the end of the gap, and what was typed."""
    if at is None:
        return None, None
    try:
        return clock.read(at, "--at"), None
    except UsageProblem as problem:
        if not isinstance(problem.error, SkippedTime):
            raise
        return problem.error.gap.instant, problem.error


def _until(clock: Clock, until: str | None, at: str | None) -> int:
    if until is not None and at is not None:
        message = "--until is for the clock changes ahead, which --at does not ask for"
        raise click.UsageError(message, click.get_current_context(silent=True))
    end = clock.last(until, "no clock change")
    return years_after(clock.now, 2, clock.zone) if end is None else min(end, LAST_INSTANT)
