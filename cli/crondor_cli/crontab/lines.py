"""Jobs as lines of a crontab, and what of them cron has no words for."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.algebra import same_meaning, translate
from crondor.crontab.export import CronLine, write_crontab
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.recurrence import never_reason
from crondor.schedule import Universe
from crondor.spec import CronSpec, Dialect
from crondor.words import describe
from crondor_cli.common.progress import PROGRESS
from crondor_cli.crontab.jobs import ExportJob


def crontab_of(jobs: list[ExportJob]) -> tuple[bytes, list[Diagnostic]]:
    """Return a crontab of the jobs that cron can run, and the findings about them and the others."""
    lines: list[CronLine] = []
    findings: list[Diagnostic] = []
    for job in PROGRESS.counted(jobs, "writing lines", "jobs"):
        faults = list(_refusals(job))
        findings += faults
        if faults or job.schedule.spec is None or job.program is None:
            continue
        comment = f"{job.place.location if job.place else job.name}: {describe(job.schedule.spec)}"
        line = CronLine(job.schedule.spec, job.program, comment)
        try:
            write_crontab([line])
        except CrondorError as error:
            findings += error.diagnostics
            continue
        lines.append(line)
        findings += _surprises(job, job.schedule.spec)
    return write_crontab(lines).encode("utf-8", "surrogateescape"), findings


def _refusals(job: ExportJob) -> Iterator[Diagnostic]:
    spec = job.schedule.spec
    if spec is None:
        message = "the job runs once, at its deferral_time: a crontab line repeats"
        yield Diagnostic("export-once", message, span=job.place, help="use at(1), or --to ics")
    elif (never := never_reason(spec)) is not None:
        yield Diagnostic("cron-never", f"the schedule never fires: {never}", span=job.place)
    elif job.program is None:
        message = "the file does not say what the job runs"
        yield Diagnostic("export-command", message, span=job.place, help="name a command with --command")


def _surprises(job: ExportJob, spec: CronSpec) -> Iterator[Diagnostic]:
    schedule = job.schedule
    if job.jobs > 1:
        yield _warning("export-count", f"{job.jobs} equal jobs become one line", job)
    if schedule.universe is not Universe.LOCAL and job.place is not None:
        message = f"a job of the {schedule.universe.name.lower()} universe runs in the pool, a crontab line on its host"
        yield _warning("export-universe", message, job)
    executable = job.program.executable if job.program is not None else "/"
    if not executable.startswith("/"):
        message = f"{executable[:40]!r} is relative to where the file is submitted; cron looks it up in PATH or at home"
        yield _warning("export-relative", message, job)
    zone = schedule.zone
    if schedule.recurrence is not None and not same_meaning(spec, translate(spec, Dialect.UNIX), zone):
        message = "on days when the clocks change cron and HTCondor run it at different times"
        yield Diagnostic("clock-changes", message, Severity.NOTE, job.place)
    lengths = f"window ({schedule.window} s) and prep time ({schedule.prep_time} s)"
    message = f"cron starts a command on the minute or not at all: {lengths} are left out"
    yield Diagnostic("export-window", message, Severity.NOTE, job.place)


def _warning(code: str, message: str, job: ExportJob) -> Diagnostic:
    return Diagnostic(code, message, Severity.WARNING, job.place)
