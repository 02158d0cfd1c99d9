"""The schedules a command line names, from wherever they are: files, a crontab line, fields, or a queue."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Final, TypeAlias

from crondor.diagnostics import CrondorError, Diagnostic
from crondor_cli.common.jobs import Job, ScheduleRequest
from crondor_cli.common.parallel import of_many

Schedules: TypeAlias = "tuple[list[Job], list[Diagnostic]]"

LEAST: Final = 500
"""Files from which on several processes read their schedules, a quarter of a millisecond each."""

_TOGETHER: Final = 32  # files that a process is given


def read_each(
    requests: Iterable[tuple[str, ScheduleRequest]], jobs: int | None
) -> Generator[tuple[str, Schedules | CrondorError], None, None]:
    """Yield the name of each request with its jobs and warnings, or with why it has none, read by so many processes.

    Raises UsageError for a file that cannot be read.
    """
    return of_many(_read_named, requests, jobs, least=LEAST, together=_TOGETHER, is_own=_is_own)


def _read_named(named: tuple[str, ScheduleRequest]) -> tuple[str, Schedules | CrondorError]:
    name, request = named
    try:
        return name, read_schedules(request)
    except CrondorError as error:
        return name, error


def _is_own(named: tuple[str, ScheduleRequest]) -> bool:
    """Say whether a request is of this process: not of a file alone, or of standard input."""
    paths = named[1].paths
    return not paths or "-" in paths


def read_schedules(request: ScheduleRequest) -> Schedules:
    """Return the jobs and the warnings about their files.

    Raises CrondorError, and UsageError for a bad request and for a file that cannot be read.
    """
    request.check()
    if not request.ads:
        return request.jobs()
    from crondor_cli.common.queue_jobs import read_jobs  # noqa: PLC0415 - ads need the engine, which takes 26 ms

    jobs: list[Job] = []
    findings: list[Diagnostic] = []
    for path in request.ads:
        found, said = read_jobs(path, request)
        jobs += found
        findings += said
    return jobs, findings
