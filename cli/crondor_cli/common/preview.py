"""The coming runs of a job, as the manual has them and as the real schedd will, row by row, and why they differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice, takewhile

from crondor._schedule.leaving import leaving_words
from crondor.deferral import Deferral, InvalidDeferral, past
from crondor.diagnostics import CrondorError, Diagnostic, Severity, has_error
from crondor.hold_codes import INVALID_CRON_SETTINGS
from crondor.recurrence import Recurrence, ScheddAnswer
from crondor.schedule import InvalidSchedule, JobSchedule, UnknownValue, commands_of
from crondor.spec import Dialect
from crondor_cli.common.jobs import Job, ReadSchedule, not_deferred
from crondor_cli.common.rows import DialectReason, RunRow, RunSide

_LONGEST_REASON = 300  # characters
MOST_KEPT_OUT = 10_000  # times whose match is tried


class Preview:
    """The rows of one job, and everything to say about it."""

    def __init__(self, job: Job, reading: ReadSchedule) -> None:
        """Begin with a reading and nothing found."""
        self.job = job
        self.dialect = reading.dialect
        self.schedule = reading.schedule
        self.rows: list[RunRow] = []
        self.reasons: list[DialectReason] = []
        self.findings: list[Diagnostic] = []
        self.schedd_fault: CrondorError | None = None
        self.hold_reason: str | None = None
        self.is_compared = False
        self.kept_out: list[RunSide] = []  # times of the schedule at which requirements keep the job from matching

    @property
    def leaving(self) -> str:
        """Why the job leaves the queue after its first run, empty where it may stay, and where nothing repeats it."""
        found = self.job.leaves_by
        repeats = self.schedule is not None and self.schedule.spec is not None
        return leaving_words(found) if found is not None and repeats else ""

    @property
    def differs(self) -> bool:
        """Say whether any row shown differs."""
        return any(row.differs for row in self.rows)

    @property
    def failed(self) -> bool:
        """Say whether something is wrong: an error among the findings, or a schedd that will not run the job."""
        return self.schedd_fault is not None or has_error(self.findings)


def preview(job: Job, dialect: Dialect | None, start: int, count: int, until: int | None) -> Preview:
    """Return the runs after ``start`` (epoch seconds), ``count`` of them at most, none after ``until``.

    Without a dialect the schedule is read in MANUAL and in HTCONDOR.
    """
    reading = job.read(dialect or Dialect.MANUAL)
    result = Preview(job, reading)
    runs = _collect(reading, result, start, count, until)
    if dialect is None:
        schedd = job.read(Dialect.HTCONDOR)
        theirs, result.schedd_fault = _schedd_runs(result, schedd, start, count, until)
        result.is_compared = True
        result.hold_reason = hold_reason(result.schedd_fault)
        if result.hold_reason is not None and result.schedule is None:
            result.findings.append(schedd_hold(result.hold_reason))
        result.rows = _merged(runs, theirs, count)
        end = runs[-1].deferral.time if len(runs) == count else None
        result.kept_out = [run for run in result.kept_out if end is None or run.deferral.time <= end]
        if result.differs:
            from crondor_cli.common.reasons import reasons  # noqa: PLC0415 - 0.6 ms, and most readings agree

            result.reasons = list(reasons(result.rows, result.job.clock, reading.schedule, schedd.schedule))
    else:
        result.rows = [RunRow(number, run) for number, run in enumerate(runs, 1)]
    return result


def _merged(ours: list[RunSide], theirs: list[RunSide], count: int) -> list[RunRow]:
    """Pair the runs of both sides by time.

    A side that was cut at ``count`` runs says nothing about later times: the schedd's cell is then not compared, and
    a run that only the schedd has is left out.
    """
    mine = {run.deferral.time: run for run in ours}
    other = {run.deferral.time: run for run in theirs}
    last = ours[-1].deferral.time if len(ours) == count else None
    reached = theirs[-1].deferral.time if len(theirs) == count else None
    times = sorted(time for time in mine.keys() | other.keys() if last is None or time <= last)
    return [
        RunRow(number, mine.get(time), other.get(time), compared=reached is None or time <= reached)
        for number, time in enumerate(times, 1)
    ]


def _collect(reading: ReadSchedule, result: Preview, start: int, count: int, until: int | None) -> list[RunSide]:
    """Return the runs of the main reading; what stands against them goes into the findings."""
    if reading.schedule is None:
        result.findings += reading.error.diagnostics if reading.error else ()
        return []
    result.findings += reading.schedule.notes
    if not reading.schedule.is_deferred:
        result.findings.append(not_deferred(result.job))
        return []
    state = result.job.state
    if state is not None and state.is_halted:
        return []
    try:
        runs, result.kept_out = _matching(result.job, reading.schedule, start, count, until)
        if reading.schedule.spec is None and (state is None or state.is_idle):
            result.findings += too_late(result.job, reading.schedule)
    except CrondorError as error:
        result.findings += [placed(fault, result.job) for fault in error.diagnostics]
        return []
    return runs


def _runs(job: Job, schedule: JobSchedule, start: int, count: int, until: int | None) -> Iterator[RunSide]:
    now = job.clock.now
    if schedule.recurrence is None:
        run = schedule.next(now)
        return iter((RunSide(run),) if run.time > start and (until is None or run.time <= until) else ())
    times: Iterator[int] = schedule.recurrence.upcoming(start if job.present is None else max(start, job.present))
    if job.present is not None and job.present > start:
        times = chain((job.present,), times)
    if until is not None:
        times = takewhile(until.__ge__, times)
    deferrals = ((time, schedule.deferral(int(time), now)) for time in islice(times, count))
    return (_side(run, time, schedule.recurrence) for time, run in deferrals)


def _side(run: Deferral, time: int, recurrence: Recurrence) -> RunSide:
    return RunSide(run, time if isinstance(time, ScheddAnswer) else None, recurrence.clock_mark(time))


def _schedd_runs(
    result: Preview, reading: ReadSchedule, start: int, count: int, until: int | None
) -> tuple[list[RunSide], CrondorError | None]:
    """Return the schedd's runs; the times that requirements keep from matching go into ``kept_out``."""
    job = result.job
    if reading.schedule is None:
        return [], reading.error
    if not reading.schedule.is_deferred or (job.state is not None and job.state.is_halted):
        return [], None
    try:
        found, result.kept_out = _matching(job, reading.schedule, start, count, until)
    except (InvalidDeferral, UnknownValue):  # told already, and nothing that the schedd would mind
        return [], None
    except CrondorError as error:
        return [], error
    return found, None


def _matching(
    job: Job, schedule: JobSchedule, start: int, count: int, until: int | None
) -> tuple[list[RunSide], list[RunSide]]:
    """Return the runs, and the times before the last of them at which the job's requirements keep it from matching."""
    may_match = job.admission() if schedule.recurrence is not None else None
    if may_match is None:
        return list(_runs(job, schedule, start, count, until)), []
    found: list[RunSide] = []
    kept: list[RunSide] = []
    for run in _runs(job, schedule, start, count + MOST_KEPT_OUT, until):
        (found if may_match(run.deferral.time) else kept).append(run)
        if len(found) == count or len(kept) > MOST_KEPT_OUT:
            break
    return found, kept


def hold_reason(fault: CrondorError | None) -> str | None:
    """Return the HoldReason that the schedd gives a job whose fields it refuses, None for any other fault."""
    refusal = fault.invalid_spec if isinstance(fault, InvalidSchedule) else None
    return refusal.hold_reason if refusal is not None else None


def schedd_hold(reason: str) -> Diagnostic:
    """Say that the schedd holds the job."""
    message = f"the real schedd would hold the job (code {INVALID_CRON_SETTINGS}), HoldReason: {shortened(reason)}"
    return Diagnostic("schedd-hold", message, Severity.NOTE)


def shortened(reason: str) -> str:
    """Return a HoldReason as people can read it: it repeats the values, whatever their length."""
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}..."


def too_late(job: Job, schedule: JobSchedule) -> list[Diagnostic]:
    """Say that the one time of a job is past, where it is."""
    fault = past(schedule.next(job.clock.now), job.clock.now)
    return [] if fault is None else [replace(fault, span=job.time_span)]


def placed(fault: Diagnostic, job: Job) -> Diagnostic:
    """Point a fault of one value's text at the place the value was written at."""
    onto = (
        None
        if fault.span is None
        else next((job.spans[n] for n in commands_of(fault.span.source.name) if n in job.spans), None)
    )
    return fault if onto is None else fault.relocated(onto)
