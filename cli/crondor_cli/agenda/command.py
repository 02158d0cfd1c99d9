"""`crondor agenda`: the coming days of all jobs of some files."""

from __future__ import annotations

import click

from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.agenda.days import Agenda
from crondor_cli.agenda.span import AgendaSpan
from crondor_cli.agenda.text import print_table
from crondor_cli.common.asked import check_alone, read_asked, schedule_text_option, without_fields
from crondor_cli.common.command import Command
from crondor_cli.common.jobs import ScheduleRequest
from crondor_cli.common.options import (
    Clock,
    Surroundings,
    ads_option,
    clock_of,
    clock_options,
    file_options,
    format_option,
    interval_option,
    reading_options,
    schedule_options,
)
from crondor_cli.common.plot_file import check_plot, needs_matplotlib, writes
from crondor_cli.common.show import show
from crondor_cli.common.watching import watch_option

EXAMPLE = 'crondor agenda --crontab "0 6 * * 1-5"'

EPILOG = """\b
Examples:
  crondor agenda examples/*.sub
  crondor agenda --days 14 --from tomorrow --tz Europe/Berlin jobs/*.sub
  crondor agenda --dialect htcondor --format json jobs/*.sub
  crondor agenda --plot week.svg jobs/*.sub
  crondor agenda --schedule 'every 90 minutes from 2026-12-01' jobs/*.sub

The first of the days is that of --from, as far as it is left. Equal jobs count one by one: `queue 10` is ten starts.
Schedules are read as HTCondor's manual says; --dialect htcondor shows what the schedd of HTCondor 25.14 does.

Exit status: 0 fine, 1 a finding (an invalid file or job, one that never runs; the others are shown), 2 wrong usage."""


@click.command(
    "agenda", cls=Command, example=EXAMPLE, epilog=EPILOG, short_help="The coming days of all jobs of some files."
)
@watch_option()
@schedule_options
@ads_option
@schedule_text_option
@click.option("--days", type=click.IntRange(1, 366), default=7, show_default=True, help="Local dates to show.")
@click.option("--from", "from_", metavar="TIME", help="Show starts at this time or later (default: now).")
@file_options
@clock_options
@reading_options(htcondor=True)
@interval_option
@click.option(
    "--pairs", type=click.IntRange(0, 100_000), default=10, show_default=True, help="Pairs of colliding jobs to list."
)
@format_option("table", "json", text="How to print the agenda.")
@click.option("--plot", metavar="FILE", help="Draw it as well, into a file .svg or .png (needs matplotlib).")
def command(
    paths: tuple[str, ...],
    crontab: str | None,
    ads: tuple[str, ...],
    schedule: str | None,
    own_zone: str | None,
    days: int,
    from_: str | None,
    now: str | None,
    tz: str | None,
    dialect: Dialect | None,
    policy: Policy | None,
    schedd_interval: int,
    pairs: int,
    format_: str,
    plot: str | None,
    surroundings: Surroundings,
    **fields: str | None,
) -> None:
    """Show when the jobs of submit files start in the coming days, all together; - reads standard input.

    A table of days and hours counts the starts. Below it stand the first starts, the busiest minutes, the jobs that
    start in the same minute, and those that do not start in these days.
    """
    check_plot(plot)
    clock = clock_of(now, tz)
    span = AgendaSpan(clock.read(from_, "--from"), days, clock.zone)
    agenda = Agenda(span, dialect or Dialect.MANUAL)
    request = ScheduleRequest(
        paths, crontab, fields, clock, agenda.dialect, schedd_interval, policy, surroundings=surroundings, ads=ads
    )
    requests = request.each()
    if check_alone(schedule, own_zone, {}):
        asked = read_asked(schedule or "", own_zone, clock, policy, surroundings.allow_dirs)
        agenda.take_asked(asked, request)
        given = any(without_fields(paths, crontab, fields).values()) or ads
        requests = request.each() if given else iter(())
    else:
        given = True
    if given:
        request.check()
    agenda.read(requests)
    if plot is not None:
        _draw(agenda, clock, plot)
    show(dict.fromkeys(agenda.findings))
    if format_ == "table":
        print_table(agenda, clock, pairs)
    else:
        from crondor_cli.agenda.data import print_json  # noqa: PLC0415 - 2 ms, for programs only

        print_json(agenda, clock, pairs)
    if agenda.failed:
        raise click.exceptions.Exit(1)


def _draw(agenda: Agenda, clock: Clock, path: str) -> None:
    with needs_matplotlib():
        from crondor_cli.agenda.plot import save  # noqa: PLC0415 - matplotlib is optional, and takes 0.4 s
    with writes(path):
        save(agenda, clock, path)
