"""`crondor agenda`: the coming days of all jobs of some files."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from functools import partial
from typing import Final

import click

from crondor.diagnostics import CrondorError
from crondor.preview.agenda import Agenda
from crondor.preview.span import MOST_DAYS, AgendaSpan
from crondor.preview.suggestion import suggest
from crondor.spec import Dialect
from crondor_cli.agenda.shown import print_agenda
from crondor_cli.agenda.suggest import SuggestOptions, pinned_by, print_suggestion, suggestion_data, write_files
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command
from crondor_cli.kit.files import check_plot, needs_matplotlib, writes
from crondor_cli.kit.options import Clock
from crondor_cli.kit.parallel import FileTask, of_files, sharing_options
from crondor_cli.kit.progress import PROGRESS, watch_option
from crondor_cli.kit.schedules import ScheduleRequest, Schedules, as_request, read_schedules, schedule_text_option
from crondor_cli.kit.screen import say, show, usage
from crondor_cli.kit.tables import plural

LEAST: Final = 500
"""The number of files from which several processes read the schedules; each takes a quarter of a millisecond."""

_TOGETHER: Final = 32  # files per task


def read_each(
    request: ScheduleRequest, jobs: int | None
) -> Generator[tuple[str, Schedules | CrondorError], None, None]:
    """Yield the name of each file with its jobs and warnings, or its error, read in a number of processes.

    Without files the request itself is read. Raises UsageError for an unreadable file.
    """
    if request.paths:
        allow_dirs = request.surroundings.allow_dirs
        work = partial(_read_file, request)
        yield from of_files(work, request.paths, allow_dirs, jobs, least=LEAST, together=_TOGETHER)
        return
    name = (request.crontab or next(iter(request.ads), "command line")).strip()
    try:
        yield name, read_schedules(request)
    except CrondorError as error:
        yield name, error


def _read_file(request: ScheduleRequest, task: FileTask) -> tuple[str, Schedules | CrondorError]:
    name = "<stdin>" if task.path == "-" else task.path
    request = request._replace(surroundings=request.surroundings._replace(files=task.files))
    try:
        return name, request.of_source(task.read(), task.path)
    except CrondorError as error:
        return name, error


EPILOG = """\b
Examples:
  crondor agenda examples/*.sub
  crondor agenda --days 14 --from tomorrow --tz Europe/Berlin jobs/*.sub
  crondor agenda --from 'tuesday 02:00' --until 'tuesday 04:00' jobs/*.sub
  crondor agenda --dialect htcondor --format json jobs/*.sub
  crondor agenda --plot week.svg jobs/*.sub
  crondor agenda --schedule 'every 90 minutes from 2026-12-01' jobs/*.sub
  crondor agenda --suggest --pin nightly.sub jobs/*.sub
  crondor agenda --suggest --write jobs/*.sub
  crondor agenda --suggest --hours 2 jobs/*.sub

The first day begins at --from; the last day is whole, or ends at --until. Equal jobs count separately: `queue 10` is
ten starts. Schedules are read as HTCondor's manual says; --dialect htcondor shows the starts of HTCondor 25.14's
schedd.

Exit status: 0 fine, 1 a finding (an invalid file or job, a job that never runs; the others are shown) or a change
that --suggest shows but does not write, 2 wrong usage, or a file that cannot be written."""


@click.command("agenda", cls=Command, example='crondor agenda --crontab "0 6 * * 1-5"', epilog=EPILOG)
@watch_option()
@opts.schedule_options
@opts.ads_option
@schedule_text_option
@click.option("--days", type=click.IntRange(1, MOST_DAYS), help="Local dates to show (default: 7).")
@opts.from_option("Show starts")
@opts.until_option("Show starts")
@opts.file_options
@opts.clock_options
@opts.reading_options(htcondor=True)
@opts.interval_option
@click.option(
    "--pairs",
    type=click.IntRange(0, 100_000),
    default=10,
    show_default=True,
    help="How many collisions to list (JSON lists pairs too).",
)
@opts.format_option("table", "json", text="How to print the agenda.")
@click.option("--plot", metavar="FILE", help="Draw the agenda as well, to a .svg or .png file (needs matplotlib).")
@click.option("--suggest", is_flag=True, help="Propose less busy minutes, as a diff.")
@click.option("--write", is_flag=True, help="With --suggest: change the files.")
@click.option("--pin", multiple=True, metavar="NAME", help="With --suggest: a file not to change. Repeatable.")
@click.option(
    "--run-time",
    type=click.IntRange(0, 604_800),
    default=0,
    show_default=True,
    metavar="SECONDS",
    help="With --suggest: the minimum time that a run holds its slot.",
)
@click.option(
    "--hours",
    type=click.IntRange(0, 23),
    default=0,
    show_default=True,
    metavar="HOURS",
    help="With --suggest: also move jobs by up to this many hours.",
)
@sharing_options
@as_request
@opts.gathered("options", SuggestOptions)
def command(
    request: ScheduleRequest,
    days: int | None,
    from_: str | None,
    until: str | None,
    pairs: int,
    format_: str,
    plot: str | None,
    options: SuggestOptions,
    jobs: int | None,
) -> None:
    """List the coming starts of all jobs of submit files together; - reads standard input.

    A table of days and hours counts the starts. Below it are the first starts, the busiest minutes, the jobs that start
    in the same minute, and the jobs that do not start in these days.
    """
    check_plot(plot)
    options.check()
    clock = request.clock
    span = _span(clock, from_, until, days)
    agenda = Agenda(span, request.dialect or Dialect.MANUAL)
    request = request._replace(dialect=agenda.dialect)
    asked = request.alone(None)
    given = asked is None or request.crontab is not None or any((request.paths, request.ads, *request.fields.values()))
    if asked is not None:
        agenda.take_asked(asked, request.terms)
    if given:
        request.check()
    with closing(read_each(request, jobs)) as found:
        agenda.read(PROGRESS.counted(found if given else (), "reading", "files", len(request.paths) or 1))
    if options.suggest:
        _suggest(agenda, request, options, clock, format_, pairs, plot)
        return
    if plot is not None:
        with needs_matplotlib():
            from crondor_cli.agenda.plot import save  # noqa: PLC0415 - matplotlib is optional, and takes 0.4 s
        with writes(plot):
            save(agenda, clock, plot)
    show(dict.fromkeys(agenda.findings))
    print_agenda(agenda, clock, pairs, format_)
    if agenda.failed:
        raise click.exceptions.Exit(1)


def _span(clock: Clock, begin: str | None, until: str | None, days: int | None) -> AgendaSpan:
    """Return the time span to show. Raises UsageError."""
    if until is not None and days is not None:
        raise usage("--until and --days both set the end of the agenda: choose one")
    start, after, last = clock.read(begin, "--from"), clock.after(begin), clock.last(until, "no start", begin)
    if last is None:
        return AgendaSpan(start, 7 if days is None else days, clock.zone, after=after)
    if last - start > MOST_DAYS * 86_400:
        raise usage(f"--until is more than {MOST_DAYS} days ahead: show a shorter time")
    return AgendaSpan(start, None, clock.zone, after=after, last=last)


def _suggest(
    agenda: Agenda,
    request: ScheduleRequest,
    options: SuggestOptions,
    clock: Clock,
    format_: str,
    pairs: int,
    plot: str | None,
) -> None:
    """Show or write the suggested minutes, and exit."""
    found = suggest(agenda, request.read_from, pinned_by(agenda, options.pin), options.run_time, options.hours)
    if plot is not None:
        with needs_matplotlib():
            from crondor_cli.agenda.plot import save_suggestion  # noqa: PLC0415 - as below
        with writes(plot):
            save_suggestion(agenda, found, clock, plot)
    failed = write_files(found) if options.write else []
    show(dict.fromkeys((*agenda.findings, *found.problems)))
    row = suggestion_data(found, clock, is_written=options.write and not failed)
    if format_ == "json":
        print_agenda(agenda, clock, pairs, format_, row)
    else:
        print_suggestion(row, agenda, found, clock, shows_diff=not options.write)
    changed = len(found.files) - len(failed)
    for error in failed:
        say(f"Error: {error.message}", err=True)
    if found.files:
        would = f"would change; --write changes {'it' if changed == 1 else 'them'}"
        say(f"{plural(changed, 'file')} {'changed' if options.write else would}", err=True)
    if failed:
        raise click.exceptions.Exit(2)
    if agenda.failed or found.problems or (found.files and not options.write):
        raise click.exceptions.Exit(1)
