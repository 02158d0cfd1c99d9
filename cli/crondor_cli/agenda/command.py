"""`crondor agenda`: the coming days of all jobs of some files."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from crondor.diagnostics import CrondorError, Source, printable
from crondor.preview.agenda import LISTED, Agenda, AgendaEntry, with_count
from crondor.preview.span import MOST_DAYS, AgendaSpan
from crondor.preview.suggestion import Suggestion, suggest, why
from crondor.spec import Dialect
from crondor.spreading import Load
from crondor_cli.agenda.shown import aligned, print_agenda, some
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command, with_default
from crondor_cli.kit.files import check_plot, diff_of, needs_matplotlib, write_source, writes
from crondor_cli.kit.options import Clock
from crondor_cli.kit.parallel import FileTask, of_files, sharing_options
from crondor_cli.kit.progress import PROGRESS, watch_option
from crondor_cli.kit.schedules import ScheduleRequest, Schedules, as_request, read_schedules, schedule_text_option
from crondor_cli.kit.screen import emit, in_columns, say, screen_columns, show, usage
from crondor_cli.kit.tables import diagnostic_data, instant, plural
from crondor_cli.kit.times import local_text

if TYPE_CHECKING:
    from crondor_cli.agenda import results


class SuggestOptions(NamedTuple):
    """The options for a suggestion; ``run_time`` in seconds, ``hours`` by which jobs may move."""

    suggest: bool
    write: bool
    pin: tuple[str, ...]
    run_time: int
    hours: int

    def check(self) -> None:
        """Raise UsageError for options that need --suggest."""
        given = {"--write": self.write, "--pin": bool(self.pin), "--run-time": bool(self.run_time)}
        given["--hours"] = bool(self.hours)
        for name, is_given in given.items():
            if is_given and not self.suggest:
                raise usage(f"{name} needs --suggest")


def write_files(suggestion: Suggestion) -> list[click.UsageError]:
    """Write the proposed minutes into the files; return an error for each file that could not be written."""
    failed = (_written(before, after) for before, after in suggestion.files)
    return [error for error in failed if error is not None]


def _written(before: Source, after: Source) -> click.UsageError | None:
    try:
        write_source(before, after)
    except click.UsageError as error:
        return error
    return None


def pinned_by(agenda: Agenda, pins: Sequence[str]) -> set[int]:
    """Return the entries given by --pin: by file or by file and line, as shown; * matches anything."""
    found: set[int] = set()
    for pin in pins:
        named = {n for n, entry in enumerate(agenda.entries) if _is_named(entry, pin)}
        if not named:
            raise usage(f"--pin '{printable(pin)}' matches no job: write a file as shown, or 'nightly*'")
        found |= named
    return found


def _is_named(entry: AgendaEntry, pin: str) -> bool:
    names = (entry.label, entry.job.name, os.path.basename(entry.job.name), f"{entry.job.name}:{entry.job.line}")
    return any(pin == name or fnmatchcase(name, pin) for name in names)


_REASONS = 10  # jobs not moved, listed


def print_suggestion(
    row: results.Suggestion, agenda: Agenda, suggestion: Suggestion, clock: Clock, *, shows_diff: bool
) -> None:
    """Print it, with the diff of each file if requested; nothing if no file has a job with a schedule."""
    if not agenda.entries:
        return
    say("\n".join(_lines(row, agenda, clock)))
    if suggestion.files and shows_diff:
        say()
        for old, new in suggestion.files:
            emit(diff_of(old, new).encode("utf-8", "surrogateescape"))


def _lines(row: results.Suggestion, agenda: Agenda, clock: Clock) -> Iterator[str]:
    before, after, moves, fixed = row["before"], row["after"], list(row["moves"]), list(row["fixed"])
    start, end = (local_text(time, clock.zone) for time in (row["from"], row["until"]))
    yield f"{plural(agenda.jobs, 'job')} from {start} until {end}"
    held = "a slot is held from when a job may be matched until its window ends"
    held += f", or {row['run_time']} s after its start" if row["run_time"] else ""
    yield from (f"zone {clock.zone_name}, dialect {agenda.dialect.value}; {held}", "")
    rows = [
        ["most starts in a minute", str(before["most_starts"]), str(after["most_starts"])],
        ["most slots held at once", str(before["most_held"]), str(after["most_held"])],
    ]
    yield from in_columns(["", "before", "after"], rows, screen_columns(sys.stdout), right={1, 2})
    loads = (("Busiest minutes before", before), ("Busiest minutes after", after))
    for title, load in loads if moves else (("Busiest minutes", before),):
        minutes = [
            [local_text(each["time"], clock.zone), plural(each["held"], "slot"), plural(each["starts"], "start")]
            for each in load["busiest"]
        ]
        yield from ("", title, *(aligned(minutes, right={1, 2}) or ["  none"]))
    yield ""
    if moves:
        has_hours = any(_moves_hours(move) for move in moves)
        yield "Proposed for cron_minute and cron_hour" if has_hours else "Proposed for cron_minute"
        yield from aligned([_move_cells(move, agenda, has_hours=has_hours) for move in moves])
    else:
        yield "Nothing to move: no other minutes are better"
    if fixed:
        rows = [[with_count(agenda.entries[each["job"]]), each["reason"]] for each in fixed[:_REASONS]]
        yield from ("", "Not moved", *aligned(rows))
    if len(fixed) > _REASONS:
        yield f"  and {len(fixed) - _REASONS:,} more"


def _moves_hours(move: results.Move) -> bool:
    return move["hour"] != move["proposed_hour"]


def _move_cells(move: results.Move, agenda: Agenda, *, has_hours: bool) -> list[str]:
    hours = f"hour {move['hour']} -> {move['proposed_hour']}" if _moves_hours(move) else ""
    minutes = f"{move['minute']} -> {move['proposed']}"
    return [some(agenda, list(move["jobs"])), minutes, *([hours] if has_hours else []), move["reason"]]


def suggestion_data(suggestion: Suggestion, clock: Clock, *, is_written: bool) -> results.Suggestion:
    """Return the JSON form of a suggestion."""
    spreading = suggestion.spreading
    return {
        "from": suggestion.time.start,
        "until": suggestion.time.end,
        "run_time": suggestion.time.run_time,
        "before": _load(spreading.before, suggestion, clock),
        "after": _load(spreading.after, suggestion, clock),
        "moves": [
            {
                "jobs": list(move.jobs),
                "minute": move.before.text,
                "proposed": move.after.text,
                "hour": move.hours[0],
                "proposed_hour": move.hours[1],
                "is_own": move.is_own,
                "starts": move.starts,
                "held": move.held,
                "reason": why(suggestion, number),
            }
            for number, move in enumerate(suggestion.moves)
        ],
        "fixed": [{"job": number, "reason": reason} for number, reason in sorted(spreading.fixed.items())],
        "files": [old.name for old, _ in suggestion.files],
        "written": is_written,
        "diagnostics": [diagnostic_data(each) for each in suggestion.problems],
    }


def _load(load: Load, suggestion: Suggestion, clock: Clock) -> results.Load:
    minutes: list[results.Loaded] = []
    for minute in load.busiest(LISTED):
        at = suggestion.time.start + 60 * minute
        minutes.append({**instant(at, clock.zone), "starts": load.starts[minute], "held": load.held[minute]})
    return {"most_starts": load.most_starts, "most_held": load.most_held, "busiest": minutes}


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
@with_default("--pairs", 10, "How many collisions to list (JSON lists pairs too).", click.IntRange(0, 100_000))
@opts.format_option("table", "json", text="How to print the agenda.")
@click.option("--plot", metavar="FILE", help="Draw the agenda as well, to a .svg or .png file (needs matplotlib).")
@click.option("--suggest", is_flag=True, help="Propose less busy minutes, as a diff.")
@click.option("--write", is_flag=True, help="With --suggest: change the files.")
@click.option("--pin", multiple=True, metavar="NAME", help="With --suggest: a file not to change. Repeatable.")
@with_default(
    "--run-time",
    0,
    "With --suggest: the minimum time that a run holds its slot.",
    click.IntRange(0, 604_800),
    metavar="SECONDS",
)
@with_default(
    "--hours", 0, "With --suggest: also move jobs by up to this many hours.", click.IntRange(0, 23), metavar="HOURS"
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
