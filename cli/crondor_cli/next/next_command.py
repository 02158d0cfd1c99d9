"""`crondor next`: the coming runs of every job of a submit file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from crondor.diagnostics import Diagnostic, Severity, has_error
from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.common.asked import check_alone, read_asked, schedule_text_option, without_fields
from crondor_cli.common.command import Command
from crondor_cli.common.config_options import ConfigFiles
from crondor_cli.common.jobs import ScheduleRequest
from crondor_cli.common.options import (
    Surroundings,
    ads_option,
    clock_of,
    clock_options,
    file_options,
    format_option,
    from_option,
    interval_option,
    reading_options,
    schedule_options,
    until_option,
)
from crondor_cli.common.pool_config import check_target, interval_of, pool_config_options, read_pool, target_option
from crondor_cli.common.preview import Preview, Wanted, preview
from crondor_cli.common.progress import PROGRESS
from crondor_cli.common.schedules import read_schedules
from crondor_cli.common.show import show
from crondor_cli.common.watching import watch_option
from crondor_cli.next.text import print_table

if TYPE_CHECKING:
    from crondor.knowledge.releases import Release

EXAMPLE = 'crondor next --crontab "30 2 * * *"'

EPILOG = """\b
Examples:
  crondor next --spec job.sub
  crondor next --spec job.sub -n 20 --from 'tomorrow 6:00' \\
      --tz Europe/Berlin
  crondor next --crontab '0 6 * * 1' --format json
  crondor next --minute 0 --hour '*/6' --until 2027-01-01
  condor_q -long | crondor next --ads - -n 3
  crondor next --spec job.sub --pool-config 50-site.conf
  crondor next --schedule 'last Friday of the month at 18:00'

Without --dialect the schedule is read twice: as HTCondor's manual says, and as the schedd of HTCondor 25.14 really
does. Where the two part, the table shows both and says why.

Exit status: 0 fine, 1 a finding (invalid, never runs, past; with --strict: a difference), 2 wrong usage."""


@click.command(
    "next",
    cls=Command,
    example=EXAMPLE,
    epilog=EPILOG,
    short_help="When a job will run, be matched, and start at the latest.",
)
@watch_option()
@schedule_options
@ads_option
@schedule_text_option
@click.option("-n", "--count", type=click.IntRange(1, 100_000), default=10, show_default=True, help="Runs to show.")
@from_option("Show runs")
@until_option("Show runs")
@file_options
@clock_options
@reading_options(htcondor=True)
@interval_option
@pool_config_options
@target_option
@click.option("--strict", is_flag=True, help="Exit with 1 where the real schedd differs.")
@format_option("table", "json", "csv", "epoch", text="How to print the runs.")
def command(
    paths: tuple[str, ...],
    crontab: str | None,
    ads: tuple[str, ...],
    schedule: str | None,
    own_zone: str | None,
    count: int,
    from_: str | None,
    until: str | None,
    now: str | None,
    tz: str | None,
    dialect: Dialect | None,
    policy: Policy | None,
    schedd_interval: int,
    pool_config: ConfigFiles | None,
    target: Release | None,
    strict: bool,
    format_: str,
    surroundings: Surroundings,
    **fields: str | None,
) -> None:
    """Show when a job will run, from when it may be matched, and until when it may start.

    TIME is `now`, `tomorrow 6:30`, `next monday 06:00`, `in 3 hours`, a date such as `2026-11-20 06:30`, or epoch
    seconds.
    """
    clock = clock_of(now, tz)
    start = clock.after(from_)
    end = clock.last(until, "no run", from_)
    others = without_fields(paths, crontab, fields) | {"--ads": ads, "--dialect": dialect, "--strict": strict}
    if check_alone(schedule, own_zone, others):
        from crondor_cli.next.asked import show_next  # noqa: PLC0415 - the languages take 15 ms

        asked = read_asked(schedule or "", own_zone, clock, policy, surroundings.allow_dirs)
        show_next(asked, clock, start, end, count, format_)
        return
    request = ScheduleRequest(
        paths, crontab, fields, clock, dialect, schedd_interval, policy, surroundings=surroundings, ads=ads
    )
    check_target(pool_config)
    if pool_config is not None:
        access_point = read_pool(pool_config, surroundings.allow_dirs, clock, target, beside=(*paths, *ads))
        from crondor_cli.common.stored import through  # noqa: PLC0415 - 60 ms, for who has an access point

        interval = interval_of(schedd_interval, access_point)
        request = request._replace(schedd_interval=interval, through=through(access_point))
    jobs, warnings = read_schedules(request)
    wanted = Wanted(start, count, end, is_one=format_ == "table")
    previews = [preview(job, dialect, wanted) for job in PROGRESS.counted(jobs, "finding runs", "jobs")]
    for findings in _by_file(request.paths, warnings, previews):
        show(_distinct(findings))
    _print(previews, warnings, format_)
    if format_ == "epoch":
        show(_unseen(previews))
    if _is_finding(previews, strict=strict) or has_error(warnings):
        raise click.exceptions.Exit(1)


def _by_file(
    paths: Sequence[str], warnings: Iterable[Diagnostic], previews: Iterable[Preview]
) -> Iterable[list[Diagnostic]]:
    """Return what there is to say of each file: what has no place in a text stays with the file of its job."""
    if len(paths) < 2:
        return [[*warnings, *(finding for p in previews for finding in p.findings)]]
    found: dict[str, list[Diagnostic]] = {path: [] for path in paths}
    for each in warnings:
        found.setdefault("" if each.span is None else each.span.source.name, []).append(each)
    for p in previews:
        found.setdefault(p.job.name, []).extend(p.findings)
    return found.values()


def _print(previews: list[Preview], warnings: list[Diagnostic], form: str) -> None:
    if form == "table":
        print_table(previews)
    else:
        from crondor_cli.next.data import print_csv, print_epochs, print_json  # noqa: PLC0415 - 2 ms, for programs only

        {"json": print_json, "csv": print_csv, "epoch": print_epochs}[form](previews, warnings)


def _unseen(previews: list[Preview]) -> Iterator[Diagnostic]:
    """Warn of differences, where the form of the output has no place for them."""
    for p in previews:
        if p.differs:
            count = p.rows.differing
            message = f"the real schedd differs in {count} of {len(p.rows)} rows"
            help_text = "--format table shows the rows, and why"
            yield Diagnostic("schedd-differs", message, Severity.WARNING, p.job.queue, help_text)


def _distinct(findings: list[Diagnostic]) -> list[Diagnostic]:
    return list(dict.fromkeys(findings))


def _is_finding(previews: list[Preview], *, strict: bool) -> bool:
    nothing = all(p.schedule is not None and not p.schedule.is_deferred for p in previews)
    return nothing or any(p.failed or (strict and p.differs) for p in previews)
