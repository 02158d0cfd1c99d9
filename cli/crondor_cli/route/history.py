"""`crondor route history`: report routed jobs that have left the queue, like condor_router_history."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.job_queue import read_history
from crondor.rights.walk import is_there
from crondor.router.tools import (
    EndedJob,
    Period,
    Times,
    ended_in,
    heading,
    history_files,
    record_lines,
    site_lines,
    sites_of,
)
from crondor.schedd.embedded import no_queue
from crondor.schedd.protocol import Selection
from crondor_cli.kit.ads import FirstFaults, ads_in, context_of
from crondor_cli.kit.configs import OneDashCommand, config_option
from crondor_cli.kit.files import file_problem
from crondor_cli.kit.options import Clock, ConfigFiles, QueueOptions, clock_options, format_option, source_options
from crondor_cli.kit.queues import live_of
from crondor_cli.kit.screen import say, show, usage
from crondor_cli.kit.tables import diagnostic_data, echo_json
from crondor_cli.kit.typed_times import Gap, instant
from crondor_cli.route.run import queue_of_copies

if TYPE_CHECKING:
    from crondor_cli.route import results

_NEEDED = (
    "ClusterId", "ProcId", "RouteName", "RoutedFromRoute", "CompletionDate", "EnteredCurrentStatus", "JobStatus",
    "RemoteWallClockTime", "SUBMIT_Iwd", "Iwd",
)  # fmt: skip
_ROUTED = "(RouteName =!= undefined || RoutedFromRoute =!= undefined)"


def _ads(
    asked: QueueOptions, spool: str | None, files: tuple[str, ...], period: Period, findings: FirstFaults
) -> Iterator[ClassAd]:
    """Yield the ads of a history, the oldest first, and report its faults. Raises CrondorError, UsageError."""
    if spool is None and not files:
        if asked.kind == "live":
            ended = f"(CompletionDate >= {period.start:.0f} || EnteredCurrentStatus >= {period.start:.0f})"
            with live_of(asked) as schedd:
                yield from reversed(schedd.history(Selection.of(f"{_ROUTED} && {ended}"), _NEEDED))
                for each in schedd.diagnostics:
                    findings.add(each)
            return
        if asked.kind == "ads":
            yield from ads_in(asked.ads or "-", findings.add)
            return
        if asked.kind == "queue" and not is_there(asked.folder):
            findings.add(no_queue(asked.folder))
            return
        spool = str(asked.folder if asked.kind == "queue" else Path(asked.log or "").parent)
    try:
        paths = [*map(Path, files)] if spool is None else history_files(spool, period.start)
    except OSError as error:
        raise file_problem("read", spool or "", error) from None
    yield from chain.from_iterable(_of_file(path, findings) for path in paths)


def _of_file(path: Path, findings: FirstFaults) -> Iterator[ClassAd]:
    try:
        yield from read_history(path, report=findings.add)
    except CrondorError as error:
        for each in error.diagnostics:
            findings.add(each)


def _result(
    jobs: Sequence[EndedJob], period: Period, clock: Clock, findings: Sequence[Diagnostic]
) -> results.HistoryResult:
    return {
        "zone": clock.zone_name,
        "now": clock.now,
        "from": int(period.start),
        "until": int(period.end),
        "routes": [
            {
                "route": each.name,
                "completed": each.completed,
                "aborted": each.aborted,
                "completed_seconds": int(each.seconds),
            }
            for each in sites_of(jobs)
        ],
        "jobs": [
            {
                "job": each.id,
                "state": each.state,
                "route": each.route,
                "run_time": each.runtime,
                "iwd": each.iwd,
                "time": each.time,
            }
            for each in jobs
        ],
        "diagnostics": [diagnostic_data(finding) for finding in findings],
    }


_DAY = 86400
_MOST_DAYS = 1_000_000.0


def days_option(ctx: click.Context, param: click.Parameter, text: str | None) -> float | None:
    """Return a number of days, which may have a fraction. Raises BadParameter."""
    if text is None:
        return None
    try:
        days = float(text)
    except ValueError:
        days = math.nan
    if not 0 <= days <= _MOST_DAYS:
        message = f"{printable(text)!r} is not a number of days from 0 to 1000000"
        raise click.BadParameter(message, ctx, param)
    return days


def period_of(days: float | None, age: float | None, start: str | None, clock: Clock) -> Period:
    """Return the period given by --days, --age and --start. Raises UsageError."""
    length = (1.0 if days is None else days) * _DAY
    end = clock.now - (age or 0.0) * _DAY
    if start is None:
        return Period(end - length, end)
    begin = _start(start, clock)
    if days is not None and age is None:
        end = begin + length
    if end < begin:
        raise usage(f"--start {printable(start)} is later than the end of the report")
    return Period(begin, end)


def _start(text: str, clock: Clock) -> int:
    try:
        found = instant(datetime.strptime(text, "%Y-%m-%d %H:%M"), clock.zone)  # noqa: DTZ007 - the zone comes with it
    except (ValueError, OverflowError):
        message = f'--start: write "YYYY-MM-DD HH:MM", such as "2026-11-01 00:00", not {printable(text)!r}'
        raise usage(message) from None
    return found.instant if isinstance(found, Gap) else found


EPILOG = """\b
Examples:
  crondor route history --spool /var/lib/condor/spool
  crondor route history --days=7 --show_records \\
      --history history.20261101T000000 --history history
  crondor route history --start='2026-11-01 00:00' --live --format json

The history is read from the folder of --spool, the files of --history, the schedd of --live, the files next to --log,
or else the embedded queue. The period ends --age days ago and is --days long; with --start it begins there, and is
--days long if that is given.

Exit status: 0 fine, 1 a finding (a history that cannot be read), 2 wrong usage."""

_MOST = 10  # findings shown


@click.command("history", example="crondor route history --queue q", cls=OneDashCommand, epilog=EPILOG)
@click.option("--days", callback=days_option, metavar="DAYS", help="How many days the report covers (default: 1).")
@click.option(
    "--age", callback=days_option, metavar="DAYS", help="The end of the period, in days before now (default: 0)."
)
@click.option("--start", metavar='"YYYY-MM-DD HH:MM"', help="The start of the period, in the schedd's zone.")
@click.option("--records", "--show_records", "records", is_flag=True, help="Show each job.")
@click.option("--iwd", "--show_iwd", "iwd", is_flag=True, help="With --records: their working directories too.")
@click.option("--as-htcondor", is_flag=True, help="Count as condor_router_history does: no removed jobs.")
@click.option("--spool", metavar="DIR", help="A spool folder, whose history files are read.")
@click.option("--history", "files", multiple=True, metavar="FILE", help="A history file.")
@source_options
@config_option
@clock_options
@format_option("table", "json")
def command(
    days: float | None,
    age: float | None,
    start: str | None,
    records: bool,
    iwd: bool,
    as_htcondor: bool,
    spool: str | None,
    files: tuple[str, ...],
    asked: QueueOptions,
    config: ConfigFiles,
    allow_dirs: tuple[str, ...],
    clock: Clock,
    format_: str,
) -> None:
    """Report the routed jobs that have left the queue: hours, completed and aborted jobs of each route."""
    period = period_of(days, age, start, clock)
    if sum(map(bool, (spool, files, any(asked)))) > 1:
        raise usage("--spool, --history and the queue's options exclude each other: choose one")
    if not spool and not files:
        asked = queue_of_copies(asked, config, allow_dirs, clock)
    findings = FirstFaults(_MOST)
    times = Times.HTCONDOR if as_htcondor else Times.ENDED
    jobs = ended_in(_ads(asked, spool or None, files, period, findings), period, context_of(clock), times, findings.add)
    show(findings.shown)
    if findings.more:
        say(f"and {findings.more:,} more findings", err=True)
    if format_ == "json":
        echo_json(_result(jobs, period, clock, findings.shown))
    else:
        say(f"{heading(period, clock.zone)}\n")
        for line in record_lines(jobs, iwd=iwd) if records or iwd else site_lines(sites_of(jobs)):
            say(line)
    if findings.is_bad:
        raise click.exceptions.Exit(1)
