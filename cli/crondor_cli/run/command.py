"""`crondor run`: the jobs of submit files on this machine, on the real clock."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click

from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable
from crondor.spec import Dialect
from crondor_cli.common.command import Command
from crondor_cli.common.completion import complete_zone
from crondor_cli.common.options import Clock, Surroundings, UsageProblem, clock_of, file_options, format_option
from crondor_cli.common.show import show
from crondor_cli.common.submit_files import submit_files
from crondor_cli.common.usage import need_processes
from crondor_cli.times.parse import parse_time

EXAMPLE = """\
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor run job.sub --state q --until 1s"""

EPILOG = """\b
Examples:
  crondor run backup.sub
  crondor run job.sub --once
  crondor run job.sub --until "tomorrow 06:00" --format json
  crondor queue status --queue .crondor/backup.sub
  crondor queue hold --queue .crondor/backup.sub 1.0

A job runs as in the local universe: its executable with its arguments and its environment, in its initialdir, with its
files, its policies (periodic_*, on_exit_*) and its user log. The queue, its history and the records of what runs are in
a folder, .crondor/FILE beside the submit file; killed and started again, crondor run goes on with what is there, and
nothing is started twice. Ctrl-C starts nothing more and waits for what runs; a second one ends that at once.

Exit status: 0 all went well, 1 a program failed, a job is held or has missed its time, or a file is invalid,
2 wrong usage, 130 left by a second Ctrl-C."""

_DIALECTS = click.Choice([dialect.value for dialect in Dialect], case_sensitive=False)
_LENGTH = re.compile(r"\s*\d+(?!\d)\s*(?:[a-z]+\s*)?(?:\d+\s*[a-z]+\s*)*", re.IGNORECASE).fullmatch
_FOLDER = ".crondor"


@click.command(
    "run",
    cls=Command,
    is_endless=True,
    example=EXAMPLE,
    epilog=EPILOG,
)
@submit_files()
@file_options
@click.option("--state", metavar="DIR", help="The folder of the queue (default: .crondor/FILE beside the first FILE).")
@click.option("--once", is_flag=True, help="Each job's next run only.")
@click.option("--until", metavar="TIME", help="Start runs until this time, inclusive, or for a length such as 2h.")
@click.option("--dialect", type=_DIALECTS, default="manual", show_default=True, help="How cron fields are read.")
@click.option(
    "--tz", metavar="ZONE", shell_complete=complete_zone, help="The zone of the schedules (default: this host's)."
)
@format_option("text", "json", text="How to say what happens.")
def command(
    paths: tuple[str, ...],
    state: str | None,
    once: bool,
    until: str | None,
    dialect: str,
    tz: str | None,
    format_: str,
    surroundings: Surroundings,
) -> None:
    """Run the jobs of submit files on this machine, when it is their time.

    Without a file, --state goes on with the jobs that are in the queue there.
    """
    _check_paths(paths, state)
    clock = clock_of(None, tz)
    end = _until(until, clock)
    if end is not None and end < clock.now - 1:
        message = f"--until {printable(until or '')} is over: nothing is started"
        show([Diagnostic("run-until", message, Severity.WARNING, help="write a time to come, or a length such as 2h")])
    folder = _folder(paths, state)
    from crondor_cli.run.work import run  # noqa: PLC0415 - 60 ms, which --help does not need

    status = run(paths, folder, clock, Dialect(dialect), surroundings, once=once, until=end, is_json=format_ == "json")
    if status:
        raise click.exceptions.Exit(status)


def _check_paths(paths: tuple[str, ...], state: str | None) -> None:
    """Refuse what cannot be run. Raises UsageError."""
    context = click.get_current_context(silent=True)
    need_processes("run")
    if not paths and state is None:
        raise click.UsageError("name a submit file: crondor run FILE, or a queue to go on with: --state DIR", context)
    if "-" in paths and state is None:
        raise click.UsageError("a file from standard input (-) needs --state DIR, where its queue is to be", context)


def _folder(paths: tuple[str, ...], state: str | None) -> Path:
    if state is not None:
        return Path(state)
    return Path(os.path.dirname(paths[0]) or ".") / _FOLDER / os.path.basename(paths[0])


def _until(text: str | None, clock: Clock) -> int | None:
    """Return when --until is. Raises UsageProblem."""
    if text is None:
        return None
    if _LENGTH(text):
        seconds = f"{text} s" if text.strip().isdecimal() and len(text.strip()) < 9 else text
        try:
            return parse_time(f"in {seconds}", clock.now, clock.zone, label="--until") - 1
        except CrondorError as error:
            if not text.strip().isdecimal():
                raise UsageProblem(error) from None
    return clock.read(text, "--until")
