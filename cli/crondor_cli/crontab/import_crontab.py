"""`crondor import crontab`: convert each line of a Unix crontab to a submit file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crondor.crontab.file import is_system_crontab, read_crontab
from crondor.crontab.import_ import Imported, ImportSettings, SubmitText, import_crontab
from crondor.diagnostics import has_error, printable
from crondor.knowledge.kinds import FileKind
from crondor.schedule import Universe
from crondor.spec import FIELDS
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command, with_default
from crondor_cli.kit.files import file_problem, read_source, write_file
from crondor_cli.kit.options import Clock, asked_interval, refuse_existing
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.screen import emit, say, show
from crondor_cli.kit.tables import diagnostic_data, echo_json

if TYPE_CHECKING:
    from crondor_cli.crontab import results

EPILOG = """\b
Examples:
  crontab -l | crondor import crontab -
  crondor import crontab /etc/crontab --tz Europe/Berlin -o jobs
  crondor import crontab my.crontab --universe vanilla --window 900
  crondor import crontab /etc/cron.d/backup --format json

The jobs run in the local universe, on the access point, where the crontab's commands, folders and clock are; with
--universe vanilla they run on any machine of the pool. Lines that HTCondor cannot express, or reads differently, are
reported; docs/crontab.md lists the reasons.

Exit status: 0 fine, 1 a finding (a line without an equivalent, or none at all), 2 wrong usage."""


@click.command("crontab", cls=Command, example="echo '30 2 * * * backup' | crondor import crontab -", epilog=EPILOG)
@click.argument("file", metavar="FILE|-")
@opts.output_option("Write NAME.sub files into this folder (default: print them).", "DIR", None)
@click.option(
    "--system/--user",
    "has_users",
    default=None,
    help="Whether a user's name follows the schedule (default: only in etc/crontab and in cron.d/).",
)
@with_default("--universe", "local", "Where the jobs run.", click.Choice(["local", "vanilla"], case_sensitive=False))
@click.option("--window", type=click.IntRange(0, 86400 * 366), metavar="SECONDS", help="The cron_window of all jobs.")
@click.option("--prep-time", type=click.IntRange(0, 86400 * 366), metavar="SECONDS", help="Their cron_prep_time.")
@opts.interval_option
@opts.clock_options
@opts.format_option("text", "json", text="How to print the submit files.")
def command(
    file: str,
    out: str | None,
    force: bool,
    has_users: bool | None,
    universe: str,
    window: int | None,
    prep_time: int | None,
    schedd_interval: int,
    clock: Clock,
    format_: str,
) -> None:
    """Convert the crontab FILE (- is standard input) to submit files, one file for each line with a schedule."""
    interval = asked_interval(schedd_interval)
    settings = ImportSettings(clock.now, Universe[universe.upper()], clock.zone_name, window, prep_time, interval)
    with_users = is_system_crontab(os.path.abspath(file)) if has_users is None else has_users
    crontab = read_crontab(read_source(file, FileKind.CRONTAB), has_users=with_users)
    PROGRESS.begin("making submit files")
    found = import_crontab(crontab, settings)
    show(dict.fromkeys(finding for submit in found.files for finding in submit.diagnostics))
    show(found.diagnostics)
    if out is not None:
        for path in _write(found.files, Path(out), force=force):
            if format_ == "text":
                say(printable(str(path)))
    if format_ == "json":
        echo_json(_data(found, has_users=with_users))
    elif out is None:
        for number, submit in enumerate(found.files):
            emit(f"{chr(10) if number else ''}#### {submit.name}.sub\n{submit.text}")
    if not found.files or has_error(found.diagnostics):
        raise click.exceptions.Exit(1)


def _write(files: list[SubmitText], folder: Path, *, force: bool) -> list[Path]:
    """Write the files and return their paths; write none if one exists and must not be overwritten."""
    paths = [folder / f"{submit.name}.sub" for submit in files]
    if not force:
        refuse_existing(map(str, paths))
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise file_problem("write", str(error.filename or folder), error) from None
    for path, submit in PROGRESS.counted(zip(paths, files, strict=True), "writing", "files", len(files)):
        write_file(str(path), submit.text.encode())
    return paths


def _data(found: Imported, *, has_users: bool) -> results.CrontabResult:
    return {
        "has_users": has_users,
        "files": [_file_data(submit) for submit in found.files],
        "diagnostics": [diagnostic_data(finding) for finding in found.diagnostics],
    }


def _file_data(submit: SubmitText) -> results.File:
    entry, found = submit.entry, submit.schedule
    jobs, options = found.compiled.jobs, found.options
    minute, hour, day, month, weekday = (jobs[0].commands.get(field.command, "*") for field in FIELDS)
    return {
        "name": f"{submit.name}.sub",
        "line": entry.span.line,
        "written": entry.schedule.text,
        "schedule": found.schedule.text,
        "fields": {"minute": minute, "hour": hour, "day_of_month": day, "month": month, "day_of_week": weekday},
        "requirements": jobs[0].clause or None,
        "is_exact": not any(job.spacing.wrong for job in jobs),
        "jobs": len(jobs),
        "goes_on": found.compiled.is_open,
        "prep_time": options.prep_time,
        "window": options.window,
        "user": entry.user,
        "command": entry.command,
        "stdin": entry.stdin,
        "text": submit.text,
        "diagnostics": [diagnostic_data(finding) for finding in submit.diagnostics],
    }
