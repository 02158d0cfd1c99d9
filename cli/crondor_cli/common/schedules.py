"""The schedules a command line names, from wherever they are: files, a crontab line, fields, or a queue."""

from __future__ import annotations

from crondor.diagnostics import Diagnostic
from crondor_cli.common.jobs import Job, ScheduleRequest


def read_schedules(request: ScheduleRequest) -> tuple[list[Job], list[Diagnostic]]:
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
