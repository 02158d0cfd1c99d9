"""`crondor run`: run the jobs of submit files on this machine, on the real clock."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click

from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, printable
from crondor.job.attributes import string
from crondor.job_queue import QueueLocked
from crondor.knowledge.kinds import FileKind
from crondor.lint import CheckSettings, check_submit
from crondor.pool.local.session import JobLogs, Session, SessionPlan
from crondor.pool.local.submit_file import DIGEST, RunFile, digest_of, read_spec
from crondor.pool.settings import PoolSettings, schedd_ad
from crondor.rights.trust import Untrusted
from crondor.schedd.embedded import LOG, no_queue
from crondor.spec import Dialect
from crondor.submit import SubmitFile, SubmitHost
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command, need_processes, with_default
from crondor_cli.kit.files import read_source
from crondor_cli.kit.options import Clock, Surroundings, UsageProblem, clock_of, complete_zone
from crondor_cli.kit.queues import is_there
from crondor_cli.kit.schedules import read_description
from crondor_cli.kit.screen import account, show, usage
from crondor_cli.kit.typed_times import parse_time
from crondor_cli.run.loop import Loop, view_of

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

A job runs as in the local universe: its executable with its arguments and environment, in its initialdir, with its
files, policies (periodic_*, on_exit_*) and user log. The queue, its history and the records of running jobs are in the
folder .crondor/FILE next to the submit file. If crondor run is killed and started again, it continues from this folder
and starts nothing twice. After Ctrl-C it starts no more jobs and waits for the running ones; a second Ctrl-C ends them.

Exit status: 0 success, 1 a program failed, a job is held or has missed its time, or a file is invalid, 2 wrong
usage, 130 left by a second Ctrl-C."""

_DIALECTS = click.Choice([dialect.value for dialect in Dialect], case_sensitive=False)
_LENGTH = re.compile(r"\s*\d+(?!\d)\s*(?:[a-z]+\s*)?(?:\d+\s*[a-z]+\s*)*", re.IGNORECASE).fullmatch
_FOLDER = ".crondor"


@click.command("run", cls=Command, is_endless=True, example=EXAMPLE, epilog=EPILOG)
@opts.submit_files()
@opts.file_options
@click.option("--state", metavar="DIR", help="The folder of the queue (default: .crondor/FILE next to the first FILE).")
@click.option("--once", is_flag=True, help="Only the next run of each job.")
@click.option("--until", metavar="TIME", help="Start runs until this time, inclusive, or for a length such as 2h.")
@with_default("--dialect", "manual", "How cron fields are read.", _DIALECTS)
@click.option(
    "--tz", metavar="ZONE", shell_complete=complete_zone, help="The zone of the schedules (default: this host's)."
)
@opts.format_option("text", "json", text="How to print the events.")
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
    """Run the jobs of submit files on this machine at their times.

    Without a file, --state continues with the jobs that are in that queue.
    """
    need_processes("run")
    if not paths and state is None:
        raise usage("give a submit file: crondor run FILE, or a queue to continue: --state DIR")
    if "-" in paths and state is None:
        raise usage("a file from standard input (-) needs --state DIR for its queue")
    clock = clock_of(None, tz)
    end = _until(until, clock)
    if end is not None and end < clock.now - 1:
        message = f"--until {printable(until or '')} is past: nothing is started"
        show([Diagnostic("run-until", message, Severity.WARNING, help="write a future time, or a length such as 2h")])
    default = Path(os.path.dirname(paths[0]) or ".") / _FOLDER / os.path.basename(paths[0])
    folder = default if state is None else Path(state)
    status = run(paths, folder, clock, Dialect(dialect), surroundings, once=once, until=end, is_json=format_ == "json")
    if status:
        raise click.exceptions.Exit(status)


def _until(text: str | None, clock: Clock) -> int | None:
    """Return the time of --until. Raises UsageProblem."""
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


def path_of(path: str) -> str:
    """Return the path of a submit file as stored in the queue."""
    return os.path.abspath(path) if path != "-" else "<stdin>"


def _read(path: str, source: Source, clock: Clock, cluster: int, surroundings: Surroundings) -> RunFile:
    """Read and check a submit file for the cluster of its jobs. Raises CrondorError for an error in it."""
    host = SubmitHost(user=account(), folder=os.getcwd())

    def read(text: Source, append: Sequence[str]) -> SubmitFile:
        return read_description(text, path, surroundings.here(), clock.now, clock.zone, host=host, append=append)

    report = check_submit(source, CheckSettings(clock.now, clock.zone, files=False), lambda text: read(text, ()))
    errors = [each.diagnostic for each in report.findings if each.diagnostic.severity is Severity.ERROR]
    if errors:
        raise CrondorError(errors)
    return read_spec(path_of(path), source, cluster, read)


PERIODIC_INTERVAL = 5
"""Seconds between evaluations of a job's periodic_hold, periodic_release and periodic_remove."""


def run(
    paths: tuple[str, ...],
    folder: Path,
    clock: Clock,
    dialect: Dialect,
    surroundings: Surroundings,
    *,
    once: bool,
    until: int | None,
    is_json: bool,
) -> int:
    """Run the jobs of the files and of the queue in a folder, and return the exit status.

    ``once``: each job's next run only; nothing is started after ``until`` (epoch seconds). Raises CrondorError.
    """
    sources = [(path, read_source(path, FileKind.SUBMIT)) for path in paths]
    if not is_there(folder / LOG):  # create no folder for an invalid file
        if not sources:
            hint = "also give a submit file (crondor run FILE --state DIR): its queue is created there"
            raise CrondorError(replace(no_queue(folder, Severity.ERROR), help=hint))
        for number, (path, source) in enumerate(sources, start=1):
            _read(path, source, clock, number, surroundings)
    settings = _settings(clock, dialect)
    try:
        session = Session(folder, settings, time.time, SessionPlan(once=once, until=until))
    except QueueLocked as error:
        hint = "change its jobs with crondor queue hold, release, rm or edit, or use another --state"
        raise CrondorError([replace(found, help=hint) for found in error.diagnostics]) from None
    except Untrusted as error:
        raise error.naming("--state DIR") from None
    with session:
        show(session.embedded.diagnostics)
        return _run(session, sources, clock, surroundings, is_json=is_json)


def _run(
    session: Session, sources: list[tuple[str, Source]], clock: Clock, surroundings: Surroundings, *, is_json: bool
) -> int:
    """Submit new jobs, run the queue, and return the exit status."""
    for path, source in sources:
        _submit(session, path, source, clock, surroundings)
    view = view_of(session, clock.zone, is_json=is_json)
    logs = JobLogs(platform.node() or "localhost", clock.zone, view.say)
    session.pool.watchers += [logs.note, view.note]
    return Loop(session, view).run()


def _submit(session: Session, path: str, source: Source, clock: Clock, surroundings: Surroundings) -> None:
    """Submit the jobs of a file, unless they are in the queue already. Raises CrondorError."""
    there = session.submitted(path_of(path))
    if there is not None:
        mirror = session.embedded.mirror
        changed = any(string(mirror.ad(job), DIGEST) != digest_of(source) for job in there)
        _say_there(os.path.basename(source.name), len(there), is_changed=changed)
        return
    spec = _read(path, source, clock, session.embedded.next_cluster, surroundings)
    show(spec.findings)
    done = session.ran_at(spec.path, spec.ads)
    if done:
        message = f"{_jobs(len(done))} of {printable(spec.label)} already ran at this deferral_time"
        hint = "a run is not repeated: set another deferral_time, or use another --state"
        show([Diagnostic("run-done", message, Severity.WARNING, help=hint)])
    numbers = [number for number in range(len(spec.ads)) if number not in done]
    session.submit(spec.path, [spec.ads[number] for number in numbers], numbers)


def _say_there(label: str, count: int, *, is_changed: bool) -> None:
    what = f"{_jobs(count)} of {printable(label)} {'is' if count == 1 else 'are'} already in the queue: continuing"
    message = what if count else f"the jobs of {printable(label)} have all left the queue: the earlier session is over"
    if is_changed:
        hint = "remove them (crondor queue rm --queue DIR), or use another --state, to run the present file"
        message += ", from the earlier file"
        show([Diagnostic("run-changed", message, Severity.WARNING, help=hint)])
    else:
        show([Diagnostic("run-goes-on", message, Severity.NOTE)])


def _jobs(count: int) -> str:
    return f"{count:,} job{'' if count == 1 else 's'}"


def _settings(clock: Clock, dialect: Dialect) -> PoolSettings:
    """Return the settings of this machine as a pool."""
    here = schedd_ad()
    with suppress(ValueError, OSError):
        here.set("Memory", os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20)
    return replace(PoolSettings(schedd=here), zone=clock.zone, dialect=dialect, periodic_interval=PERIODIC_INTERVAL)
