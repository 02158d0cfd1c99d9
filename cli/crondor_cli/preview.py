"""The coming runs of a job, as the manual has them and as the real schedd will, row by row, and why they differ."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, takewhile, zip_longest

from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.recurrence import ScheddAnswer
from crondor.schedule import InvalidSchedule, JobSchedule
from crondor.spec import HOLD_CODE, Dialect
from crondor_cli.jobs import Job, Reading, not_deferred
from crondor_cli.rows import Reason, Row, Run


class Preview:
    """The rows of one job, and everything to say about it."""

    def __init__(self, job: Job, reading: Reading) -> None:
        """Begin with a reading and nothing found."""
        self.job = job
        self.dialect = reading.dialect
        self.schedule = reading.schedule
        self.rows: list[Row] = []
        self.reasons: list[Reason] = []
        self.findings: list[Diagnostic] = []
        self.schedd_fault: CrondorError | None = None
        self.hold_reason: str | None = None
        self.is_compared = False

    @property
    def differs(self) -> bool:
        """Say whether any row shown differs."""
        return any(row.differs for row in self.rows)

    @property
    def failed(self) -> bool:
        """Say whether something is wrong: an error among the findings, or a schedd that will not run the job."""
        return self.schedd_fault is not None or any(f.severity is Severity.ERROR for f in self.findings)


def preview(job: Job, dialect: Dialect | None, start: int, count: int, until: int | None) -> Preview:
    """Return the runs after ``start`` (epoch seconds), ``count`` of them at most, none after ``until``.

    Without a dialect the schedule is read in MANUAL and in HTCONDOR.
    """
    reading = job.read(dialect or Dialect.MANUAL)
    result = Preview(job, reading)
    runs = _collect(reading, result, start, count, until)
    if dialect is None and (reading.schedule is None or reading.schedule.spec is not None):
        schedd = job.read(Dialect.HTCONDOR)
        theirs, result.schedd_fault = _schedd_runs(schedd, start, count, until)
        result.is_compared = True
        result.hold_reason = hold_reason(result.schedd_fault)
        if result.hold_reason is not None and result.schedule is None:
            message = f"the real schedd would hold the job (code {HOLD_CODE}), HoldReason: {result.hold_reason}"
            result.findings.append(Diagnostic("schedd-hold", message, Severity.NOTE))
        result.rows = [
            Row(number, ours, their, compared=True) for number, (ours, their) in enumerate(zip_longest(runs, theirs), 1)
        ]
        if result.differs:
            from crondor_cli.reasons import reasons  # noqa: PLC0415 - most schedules need none

            result.reasons = list(reasons(result.rows, result.job.clock, reading.schedule, schedd.schedule))
    else:
        result.rows = [Row(number, run) for number, run in enumerate(runs, 1)]
    return result


def _collect(reading: Reading, result: Preview, start: int, count: int, until: int | None) -> list[Run]:
    """Return the runs of the main reading; what stands against them goes into the findings."""
    if reading.schedule is None:
        result.findings += reading.error.diagnostics if reading.error else ()
        return []
    result.findings += reading.schedule.notes
    if not reading.schedule.is_deferred:
        result.findings.append(not_deferred(result.job))
        return []
    try:
        runs = list(_runs(reading.schedule, start, count, until))
        if reading.schedule.spec is None:
            result.findings += _too_late(result.job, reading.schedule)
    except CrondorError as error:
        result.findings += [_placed(fault, result.job) for fault in error.diagnostics]
        return []
    return runs


def _runs(schedule: JobSchedule, start: int, count: int, until: int | None) -> Iterator[Run]:
    if schedule.recurrence is None:
        run = schedule.next(start)
        return iter((Run(run),) if run.time > start and (until is None or run.time <= until) else ())
    times: Iterator[int] = schedule.recurrence.upcoming(start)
    if until is not None:
        times = takewhile(until.__ge__, times)
    deferrals = ((time, schedule.deferral(int(time), start)) for time in islice(times, count))
    return (Run(run, time if isinstance(time, ScheddAnswer) else None) for time, run in deferrals)


def _schedd_runs(reading: Reading, start: int, count: int, until: int | None) -> tuple[list[Run], CrondorError | None]:
    if reading.schedule is None:
        return [], reading.error
    try:
        return list(_runs(reading.schedule, start, count, until)), None
    except CrondorError as error:
        return [], error


def hold_reason(fault: CrondorError | None) -> str | None:
    """Return the HoldReason that the schedd gives a job whose fields it refuses, None for any other fault."""
    refusal = fault.invalid_spec if isinstance(fault, InvalidSchedule) else None
    return refusal.hold_reason if refusal is not None else None


def _too_late(job: Job, schedule: JobSchedule) -> Iterator[Diagnostic]:
    """Say that a time which can be matched no more leaves the job idle for ever."""
    run = schedule.next(job.clock.now)
    if job.clock.now > run.last_match:
        span = next((job.spans[name] for name in ("deferral_time", "deferraltime") if name in job.spans), None)
        message = "the time is past, and its window too: the job would never match and stay idle for ever"
        help_text = "set a later deferral_time, or a longer deferral_window"
        yield Diagnostic("deferral-past", message, span=span, help=help_text)


def _placed(fault: Diagnostic, job: Job) -> Diagnostic:
    """Point a fault of one field's text at the place the field was written at."""
    if fault.span is None:
        return fault
    names = {f"cron_{fault.span.source.name}", f"cron{fault.span.source.name.replace('_', '')}"}
    onto = next((span for name, span in job.spans.items() if name in names), None)
    return fault.relocated(onto) if onto is not None else fault
