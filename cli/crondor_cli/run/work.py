"""The work of `crondor run`, once its options are read."""

from __future__ import annotations

import os
import platform
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable
from crondor.job.attributes import string
from crondor.job_queue import QueueLocked
from crondor.knowledge.kinds import FileKind
from crondor.pool.local.session import Session, SessionPlan
from crondor.pool.local.user_log import JobLogs
from crondor.pool.settings.pool import PoolSettings, schedd_ad
from crondor.rights.trust import Untrusted
from crondor.schedd.embedded import LOG
from crondor.source import Source
from crondor.spec import Dialect
from crondor_cli.common.given_files import read_source
from crondor_cli.common.options import Clock, Surroundings
from crondor_cli.common.queue import is_there, no_queue
from crondor_cli.common.show import show
from crondor_cli.run.jobs import DIGEST, digest_of, path_of, read_spec
from crondor_cli.run.loop import Loop
from crondor_cli.run.text import view_of

PERIODIC_INTERVAL = 5
"""Seconds between two looks at periodic_hold, periodic_release and periodic_remove of a job."""


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
    if not is_there(folder / LOG):  # what is refused leaves no folder behind
        if not sources:
            hint = "name a submit file as well (crondor run FILE --state DIR): its queue is made there"
            raise CrondorError(replace(no_queue(folder, Severity.ERROR), help=hint))
        for number, (path, source) in enumerate(sources, start=1):
            read_spec(path, source, clock, number, surroundings)
    settings = _settings(clock, dialect)
    try:
        session = Session(folder, settings, time.time, SessionPlan(once=once, until=until))
    except QueueLocked as error:
        hint = "change its jobs by crondor queue hold, release, rm or edit, or name another --state"
        raise CrondorError([replace(found, help=hint) for found in error.diagnostics]) from None
    except Untrusted as error:
        raise error.naming("--state DIR") from None
    with session:
        show(session.embedded.diagnostics)
        return _run(session, sources, clock, surroundings, is_json=is_json)


def _run(
    session: Session, sources: list[tuple[str, Source]], clock: Clock, surroundings: Surroundings, *, is_json: bool
) -> int:
    """Submit what is new, run what there is, and return the exit status."""
    for path, source in sources:
        _submit(session, path, source, clock, surroundings)
    view = view_of(session, clock.zone, is_json=is_json)
    logs = JobLogs(platform.node() or "localhost", clock.zone, view.say)
    session.pool.watchers += [logs.note, view.note]
    return Loop(session, view).run()


def _submit(session: Session, path: str, source: Source, clock: Clock, surroundings: Surroundings) -> None:
    """Put the jobs of a file into the queue, unless they are there. Raises CrondorError."""
    there = session.submitted(path_of(path))
    if there is not None:
        mirror = session.embedded.mirror
        changed = any(string(mirror.ad(job), DIGEST) != digest_of(source) for job in there)
        _say_there(os.path.basename(source.name), len(there), is_changed=changed)
        return
    spec = read_spec(path, source, clock, session.embedded.next_cluster, surroundings)
    show(spec.findings)
    done = session.ran_at(spec.path, spec.ads)
    if done:
        message = f"{_jobs(len(done))} of {printable(spec.label)} ran at this deferral_time already"
        hint = "a run is not repeated: set another deferral_time, or another --state"
        show([Diagnostic("run-done", message, Severity.WARNING, help=hint)])
    numbers = [number for number in range(len(spec.ads)) if number not in done]
    session.submit(spec.path, [spec.ads[number] for number in numbers], numbers)


def _say_there(label: str, count: int, *, is_changed: bool) -> None:
    what = f"{_jobs(count)} of {printable(label)} {'is' if count == 1 else 'are'} in the queue already: going on"
    message = what if count else f"the jobs of {printable(label)} have all left the queue: the killed session is over"
    if is_changed:
        hint = "remove them (crondor queue rm --queue DIR), or name another --state, to run the file as it is now"
        message += ", as the file was then"
        show([Diagnostic("run-changed", message, Severity.WARNING, help=hint)])
    else:
        show([Diagnostic("run-goes-on", message, Severity.NOTE)])


def _jobs(count: int) -> str:
    return f"{count:,} job{'' if count == 1 else 's'}"


def _settings(clock: Clock, dialect: Dialect) -> PoolSettings:
    """Return this machine as its jobs meet it."""
    here = schedd_ad()
    with suppress(ValueError, OSError):
        here.set("Memory", os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20)
    return replace(PoolSettings(schedd=here), zone=clock.zone, dialect=dialect, periodic_interval=PERIODIC_INTERVAL)
