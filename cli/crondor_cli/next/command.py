"""`crondor next`: the coming or past runs of jobs; the starts of a queue; a time in words."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

import click

from crondor.diagnostics import CrondorError, Diagnostic, Severity, has_error, printable
from crondor.preview.facts import LAST_INSTANT
from crondor.preview.jobs import Job
from crondor.preview.runs import Preview, Wanted, placed, preview
from crondor.spec import Dialect
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command
from crondor_cli.kit.files import find
from crondor_cli.kit.options import Clock, ConfigFiles, QueueOptions, check_target, interval_of, is_typed
from crondor_cli.kit.progress import PROGRESS, watch_option
from crondor_cli.kit.schedules import (
    ScheduleRequest,
    as_request,
    asked_data,
    known_text,
    read_schedules,
    schedule_text_option,
)
from crondor_cli.kit.screen import columns_of_rows, echo_lines, say, screen_columns, show, usage
from crondor_cli.kit.tables import diagnostic_data, echo_csv, echo_json, instant
from crondor_cli.kit.times import ClockFace, local_text, relative, zone_text
from crondor_cli.next.shown import CSV_COLUMNS, print_runs

if TYPE_CHECKING:
    from crondor.compile.meaning import WrittenSchedule
    from crondor.knowledge.releases import Release
    from crondor_cli.next import results


def show_past(request: ScheduleRequest, start: int, count: int, form: str) -> None:
    """Print the runs of each job before ``start`` (epoch seconds). Exits with 1 if a job has none."""
    dialect, clock = request.dialect or Dialect.MANUAL, request.clock
    jobs, warnings = read_schedules(request)
    show(warnings)
    found = [(job, _times(job, dialect, start, count)) for job in PROGRESS.counted(jobs, "finding runs", "jobs")]
    if form == "json":
        past: results.Past = {"jobs": (_past(job, times or (), clock) for job, times in found)}
        echo_json(past)
    elif form == "epoch":
        echo_lines(str(time) for _, times in found for time in times or ())
    else:
        echo_lines(line for job, times in found if times is not None for line in _past_lines(job, times, clock))
    if has_error(warnings) or any(times is None for _, times in found):
        raise click.exceptions.Exit(1)


def _times(job: Job, dialect: Dialect, start: int, count: int) -> Sequence[int] | None:
    """Return the times before ``start``, latest first; None, after showing the reason, if a job has none."""
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
        return array("q", islice(job.times(reading.schedule).backwards(start), count))
    except CrondorError as error:
        show(placed(fault, job) for fault in error.diagnostics)
        return None


def _past(job: Job, times: Sequence[int], clock: Clock) -> results.PastJob:
    return {
        "name": job.name,
        "line": job.line,
        "count": job.count,
        "zone": clock.zone_name,
        "now": clock.now,
        "runs": (instant(time, clock.zone) for time in times),
    }


def _past_lines(job: Job, times: Sequence[int], clock: Clock) -> Iterator[str]:
    face = ClockFace(clock.zone)
    where = job.name if job.line is None else f"{job.name}:{job.line}"
    yield f"{printable(where)}, {clock.zone_name}"
    if not times:
        yield "  no run before this time"
    for time in times:
        yield f"  {face.text(time)}  {relative(time - clock.now)}"


EPILOG = """\b
Examples:
  crondor next --spec job.sub
  crondor next --spec job.sub -n 20 --from 'tomorrow 6:00' \\
      --tz Europe/Berlin
  crondor next --crontab '0 6 * * 1' --format json
  crondor next --minute 0 --hour '*/6' --until 2027-01-01
  crondor next --schedule 'last Friday of the month at 18:00'
  crondor next --spec job.sub --pool-config 50-site.conf
  crondor next --spec job.sub --previous       the last run
  condor_q -long | crondor next --ads - -n 3
  crondor next --live alice                    the starts of a queue's jobs
  condor_q -all -long | crondor next --ads - --list
  crondor next --at 'tomorrow 6:30'            as deferral_time
  crondor next --at 1795264200                 as a time

TIME is `now`, `tomorrow 6:30`, `next monday 06:00`, `in 3 hours`, a date such as `2026-11-20 06:30`, or epoch seconds.

Without --dialect the schedule is read twice: as HTCondor's manual says, and as the schedd of HTCondor 25.14 does. If
they differ, the table shows both and the reason.

--previous lists the last runs, the latest first, as the manual or --dialect unix reads the fields. A schedd's answer
depends on the time of the question, so its earlier runs cannot be computed.

With --queue, --log, --live or --list the starts of all jobs of the queue are listed in order of time; FILES are then
jobs: 12.0, 12 for a whole cluster, or an owner. A job without on_exit_remove = false leaves the queue when a run ends:
it has one start. Held jobs have no start.

Exit status: 0 fine, 1 a finding (invalid, never runs, past; with --strict: a difference), 2 wrong usage."""

_MANY = 10  # runs shown without -n; one for previous runs
_OF_AT = frozenset(("at", "now", "tz", "format_"))
_OF_QUEUES = frozenset((
    *("files", "constraint", "is_listed", "queue", "log", "live", "name", "pool", "ads"),
    *("count", "now", "tz", "dialect", "policy", "format_"),
))  # fmt: skip
_NOT_OF_PREVIOUS = frozenset(("until", "pool_config", "config_root", "ce", "target", "strict"))


@click.command("next", cls=Command, example='crondor next --crontab "30 2 * * *"', epilog=EPILOG)
@watch_option()
@click.argument("files", nargs=-1, metavar="[FILES]...")
@click.option("--spec", "specs", multiple=True, metavar="FILE", help="A submit file, like FILES.")
@opts.field_options
@opts.ads_option
@schedule_text_option
@click.option("--previous", "is_previous", is_flag=True, help="List the last runs instead, the latest first.")
@click.option("--at", metavar="TIME", help="Print TIME as deferral_time, or epoch seconds as a time.")
@click.option("-n", "--count", type=click.IntRange(1, 100_000), help="Runs to show (default: 10; with --previous: 1).")
@opts.from_option("Show runs")
@opts.until_option("Show runs")
@opts.file_options
@opts.clock_options
@opts.reading_options(htcondor=True)
@opts.interval_option
@opts.pool_config_options
@opts.target_option
@click.option("--strict", is_flag=True, help="Exit with 1 if the real schedd differs.")
@opts.queue_options
@click.option("--list", "is_listed", is_flag=True, help="List the starts of all jobs of --ads, or of CRONDOR_QUEUE.")
@opts.constraint_option
@opts.format_option("table", "json", "csv", "epoch", text="How to print the runs.")
@as_request
def command(
    files: tuple[str, ...],
    specs: tuple[str, ...],
    request: ScheduleRequest,
    is_previous: bool,
    at: str | None,
    count: int | None,
    from_: str | None,
    until: str | None,
    pool_config: ConfigFiles | None,
    target: Release | None,
    strict: bool,
    asked: QueueOptions,
    is_listed: bool,
    constraint: str | None,
    format_: str,
) -> None:
    """Show when a job will run, when it may be matched, and when it may start at the latest.

    Show the last runs with --previous, the coming starts of a queue with --queue, --log, --live or --list, and a
    time in words as deferral_time with --at.
    """
    clock, ads = request.clock, request.ads
    if at is not None:
        _print_time(at, clock, format_)
        return
    if is_listed or any(asked):
        from crondor_cli.next.queue import show_starts  # noqa: PLC0415 - queues need the ClassAd engine, 60 ms

        _refuse_others("a queue", _OF_QUEUES, format_, ("table", "json"))
        if len(ads) > 1:
            raise usage("--list takes one --ads")
        asked = asked._replace(ads=ads[0] if ads else None)
        show_starts(asked, files, constraint, clock, request.dialect, request.policy, count or _MANY, format_)
        return
    _refuse("only a queue takes", ("constraint",))
    if is_previous:
        request = request._replace(dialect=_checked_previous(request.dialect, format_))
    request = request._replace(paths=find((*specs, *files)))
    read = request.alone({"--strict": strict})
    end = clock.last(until, "no run", from_)
    count = count or (1 if is_previous else _MANY)
    start = clock.after(from_) if not is_previous else clock.now if from_ is None else clock.read(from_, "--from") + 1
    if read is not None:
        show_asked(read, clock, start, end, count, format_, is_previous=is_previous)
        return
    if is_previous:
        show_past(request._replace(dialect=request.dialect or Dialect.MANUAL), start, count, format_)
        return
    check_target(pool_config)
    if pool_config is not None:
        from crondor_cli.kit.pool_config import read_pool, through  # noqa: PLC0415 - 60 ms, and optional

        beside = (*request.paths, *ads)
        access_point = read_pool(pool_config, request.surroundings.allow_dirs, clock, target, beside=beside)
        interval = interval_of(request.schedd_interval, access_point)
        request = request._replace(schedd_interval=interval, through=through(access_point))
    _show_coming(request, Wanted(start, count, end, is_one=format_ == "table"), format_, strict=strict)


def _show_coming(request: ScheduleRequest, wanted: Wanted, form: str, *, strict: bool) -> None:
    """Print the coming runs. Exits with 1 for a finding."""
    jobs, warnings = read_schedules(request)
    previews = [preview(job, request.dialect, wanted) for job in PROGRESS.counted(jobs, "finding runs", "jobs")]
    for findings in _by_file(request.paths, warnings, previews):
        show(dict.fromkeys(findings))
    print_runs(previews, warnings, form)
    if form == "epoch":
        show(_unseen(previews))
    nothing = all(p.schedule is not None and not p.schedule.is_deferred for p in previews)
    if nothing or any(p.failed or (strict and p.differs) for p in previews) or has_error(warnings):
        raise click.exceptions.Exit(1)


def _checked_previous(dialect: Dialect | None, form: str) -> Dialect | None:
    """Return the dialect for --previous; a setting without past runs does not count."""
    _refuse("--previous takes no", _NOT_OF_PREVIOUS)
    if form == "csv":
        raise usage("previous runs are printed as table, json or epoch, not as csv")
    if dialect is not Dialect.HTCONDOR:
        return dialect
    _refuse("a schedd has no past: with --previous choose manual or unix for", ("dialect",))
    return None


def _refuse_others(what: str, allowed: Collection[str], form: str, forms: Sequence[str]) -> None:
    """Raise UsageError for options that do not belong to one mode of the command."""
    context = click.get_current_context()
    _refuse(f"{what} takes no", {param.name for param in context.command.params if param.name not in allowed})
    if form not in forms:
        raise usage(f"{what} is printed as {' or '.join(forms)}, not as {form}")


def _refuse(why: str, names: Collection[str | None]) -> None:
    context = click.get_current_context()
    for param in context.command.params:
        name = param.name or ""
        if name in names and context.params.get(name) and is_typed(name):
            raise usage(f"{why} {param.opts[0] if isinstance(param, click.Option) else 'FILES'}")


def _print_time(text: str, clock: Clock, form: str) -> None:
    """Print a time in words as a line for a submit file, and epoch seconds as a time."""
    _refuse_others("--at", _OF_AT, form, ("table", "epoch"))
    epoch = clock.read(text, "--at")
    shown = f"{local_text(epoch, clock.zone)} {clock.zone_name}, {relative(epoch - clock.now)}"
    if form == "epoch":
        say(epoch)
    elif text.strip().isdecimal():
        say(shown)
    else:
        say(f"# {shown}\ndeferral_time = {epoch}", fits=False)


def _by_file(
    paths: Sequence[str], warnings: Iterable[Diagnostic], previews: Iterable[Preview]
) -> Iterable[list[Diagnostic]]:
    """Return the findings of each file; those without a place belong to the file of their job."""
    if len(paths) < 2:
        return [[*warnings, *(finding for p in previews for finding in p.findings)]]
    found: dict[str, list[Diagnostic]] = {path: [] for path in paths}
    for each in warnings:
        found.setdefault("" if each.span is None else each.span.source.name, []).append(each)
    for p in previews:
        found.setdefault(p.job.name, []).extend(p.findings)
    return found.values()


def _unseen(previews: list[Preview]) -> Iterator[Diagnostic]:
    """Yield a warning about differences that the output format cannot show."""
    for p in previews:
        if p.differs:
            count = p.rows.differing
            message = f"the real schedd differs in {count} of {len(p.rows)} rows"
            help_text = "--format table shows the rows, and why"
            yield Diagnostic("schedd-differs", message, Severity.WARNING, p.job.queue, help_text)


def show_asked(
    schedule: WrittenSchedule, clock: Clock, start: int, end: int | None, count: int, form: str, *, is_previous: bool
) -> None:
    """Print the runs after ``start`` (epoch seconds), up to ``end``; or those before it, the latest first.

    Exits with 1 if there are none.
    """
    last = LAST_INSTANT if end is None else end
    runs = array("q", islice(schedule.backwards(start) if is_previous else schedule.between(start, last), count))
    findings = [*schedule.warnings]
    if not is_previous and schedule.until is not None and len(runs) < count and (end is None or end > schedule.until):
        message = f"no run is known beyond: {schedule.until_reason}"
        findings.append(Diagnostic("schedule-known", message, Severity.WARNING))
    show(findings)
    row: results.AskedRuns = {**asked_data(schedule, clock), "runs": (instant(run, clock.zone) for run in runs)}
    if form == "json":
        past: results.Past = {"jobs": [], "schedules": iter((row,))}
        coming: results.Coming = {"jobs": [], "schedules": iter((row,)), "diagnostics": map(diagnostic_data, findings)}
        echo_json(past if is_previous else coming)
    elif form == "csv":
        lines = ((row["text"], "", i, *run.values(), *[""] * 5) for i, run in enumerate(row["runs"], 1))
        echo_csv(chain((CSV_COLUMNS,), lines))
    else:
        echo_lines(map(str, runs) if form == "epoch" else _table(row, schedule, runs, clock))
    if not runs:
        raise click.exceptions.Exit(1)


def _table(row: results.AskedRuns, schedule: WrittenSchedule, runs: Sequence[int], clock: Clock) -> Iterator[str]:
    is_apart = row["zone"] != clock.zone_name
    yield from (printable(row["text"]), f"  schedule   {printable(row['words'])}")
    zone = f"{row['zone']}; the submit host's is {clock.zone_name}" if is_apart else zone_text(clock)
    yield f"  zone       {zone}"
    if row["until"] is not None:
        yield f"  known      {known_text(row['until'], clock)}"
    yield ""
    if not runs:
        yield "  no run in this time"
        return
    size = len(str(len(runs)))
    head = ["  " + "#".rjust(size + 1), "local time", "from now", *(["submit host's time"] if is_apart else [])]
    own, hosts = ClockFace(schedule.zone.info), ClockFace(clock.zone)
    rows = (
        [f"   {i:>{size}}", own.text(run), own.relative(run - clock.now), *([hosts.text(run)] if is_apart else [])]
        for i, run in enumerate(runs, 1)
    )
    yield from columns_of_rows(head, rows, screen_columns(sys.stdout))
