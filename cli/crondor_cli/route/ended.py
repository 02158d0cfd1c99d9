"""Routed jobs that have left a queue: where their history is, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.formats import ReadMode, read_ads
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.job_queue import read_history
from crondor.rights.walk import is_there
from crondor.router.tools import EndedJob, Period, Times, ended_of, history_files
from crondor.schedd.selection import Selection
from crondor_cli.common.ad_files import chunks, context_of, name_of
from crondor_cli.common.file_problem import file_problem
from crondor_cli.common.first_faults import FirstFaults
from crondor_cli.common.options import Clock
from crondor_cli.common.queue import live_of, no_queue
from crondor_cli.common.queue_options import QueueOptions

_NEEDED = (
    "ClusterId", "ProcId", "RouteName", "RoutedFromRoute", "CompletionDate", "EnteredCurrentStatus", "JobStatus",
    "RemoteWallClockTime", "SUBMIT_Iwd", "Iwd",
)  # fmt: skip
_ROUTED = "(RouteName =!= undefined || RoutedFromRoute =!= undefined)"


class Wanted(NamedTuple):
    """Where the history is: the queue, or a folder, or files."""

    asked: QueueOptions
    spool: str | None
    files: tuple[str, ...]


def ended_jobs(wanted: Wanted, period: Period, times: Times, clock: Clock, findings: FirstFaults) -> list[EndedJob]:
    """Return the routed jobs that ended in a period, of several ads of one job the last, in the order of the first.

    Raises CrondorError; UsageError for what cannot be read.
    """
    context = context_of(clock)
    found: dict[str, EndedJob] = {}
    timeless, others = "", 0
    for ad in _ads(wanted, period, findings):
        job = ended_of(ad, context, times)
        if job is None:
            continue
        if job.time is None:
            others += bool(timeless)
            timeless = timeless or job.id
        elif period.start <= job.time <= period.end:
            found[job.id] = job
        else:
            found.pop(job.id, None)
    if timeless:
        beside = f" and {others:,} other{'s' if others > 1 else ''}" if others else ""
        message = f"job {timeless}{beside} not counted: the history does not say when it ended"
        findings.add(Diagnostic("history-time", message, Severity.WARNING))
    return list(found.values())


def _ads(wanted: Wanted, period: Period, findings: FirstFaults) -> Iterator[ClassAd]:
    """Yield the ads of a history, the oldest first. Raises CrondorError, UsageError."""
    asked = wanted.asked
    if wanted.spool or wanted.files:
        yield from _of_files(wanted.spool, wanted.files, period, findings)
    elif asked.kind == "live":
        ended = f"(CompletionDate >= {period.start:.0f} || EnteredCurrentStatus >= {period.start:.0f})"
        with live_of(asked) as schedd:
            yield from reversed(schedd.history(Selection.of(f"{_ROUTED} && {ended}"), _NEEDED))
            for each in schedd.diagnostics:
                findings.add(each)
    elif asked.kind == "ads":
        path = asked.ads or "-"
        yield from read_ads(chunks(path), None, ReadMode.LAZY, name=name_of(path), report=findings.add)
    elif asked.kind == "log":
        yield from _of_files(str(Path(asked.log or "").parent), (), period, findings)
    elif not is_there(asked.folder):
        findings.add(no_queue(asked.folder))
    else:
        yield from _of_files(str(asked.folder), (), period, findings)


def _of_files(spool: str | None, files: tuple[str, ...], period: Period, findings: FirstFaults) -> Iterator[ClassAd]:
    try:
        paths = [*map(Path, files)] if spool is None else history_files(spool, period.start)
    except OSError as error:
        raise file_problem("read", spool or "", error) from None
    for path in paths:
        yield from _of_file(path, findings)


def _of_file(path: Path, findings: FirstFaults) -> Iterator[ClassAd]:
    """Yield the ads of a file; what cannot be read of it is a finding, and the other files are read."""
    try:
        yield from read_history(path, report=findings.add)
    except CrondorError as error:
        for each in error.diagnostics:
            findings.add(each)
