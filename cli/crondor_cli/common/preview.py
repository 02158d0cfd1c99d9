"""The coming runs of a job, as the manual has them and as the real schedd will, row by row, and why they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import NamedTuple

from crondor._schedule.leaving import leaving_words
from crondor.deferral import Deferral, InvalidDeferral, past
from crondor.diagnostics import CrondorError, Diagnostic, Severity, has_error, shortened
from crondor.hold_codes import INVALID_CRON_SETTINGS
from crondor.schedule import InvalidSchedule, JobSchedule, UnknownValue, commands_of
from crondor.spec import Dialect
from crondor.times import MOST_EXCLUDED
from crondor_cli.common.jobs import Job, ReadSchedule, not_deferred
from crondor_cli.common.rows import DialectReason, Rows, Runs


class Preview:
    """The rows of one job, and everything to say about it."""

    def __init__(self, job: Job, reading: ReadSchedule) -> None:
        """Begin with a reading and nothing found."""
        self.job = job
        self.dialect = reading.dialect
        self.schedule = reading.schedule
        self.rows = Rows(Runs())
        self.reasons: list[DialectReason] = []
        self.findings: list[Diagnostic] = []
        self.schedd_fault: CrondorError | None = None
        self.hold_reason: str | None = None
        self.is_compared = False
        self.excluded: list[int] = []  # times of the schedule that requirements exclude

    @property
    def leaving(self) -> str:
        """Why the job leaves the queue after its first run, empty where it may stay, and where nothing repeats it."""
        found = self.job.leaves_by
        repeats = self.schedule is not None and self.schedule.spec is not None
        return leaving_words(found) if found is not None and repeats else ""

    @property
    def differs(self) -> bool:
        """Say whether any row shown differs."""
        return self.rows.differing > 0

    @property
    def failed(self) -> bool:
        """Say whether something is wrong: an error among the findings, or a schedd that will not run the job."""
        return self.schedd_fault is not None or has_error(self.findings)


class Wanted(NamedTuple):
    """Which runs: after ``start`` (epoch seconds), ``most`` of them, none after ``until``.

    A series of retries ``is_one`` where people read the runs, and as many as it has where programs do.
    """

    start: int
    most: int
    until: int | None
    is_one: bool = False


def preview(job: Job, dialect: Dialect | None, wanted: Wanted) -> Preview:
    """Return the runs that are wanted. Without a dialect the schedule is read in MANUAL and in HTCONDOR."""
    reading = job.read(dialect or Dialect.MANUAL)
    result = Preview(job, reading)
    runs = _collect(reading, result, wanted)
    if dialect is None:
        schedd = job.read(Dialect.HTCONDOR)
        theirs, result.schedd_fault = _schedd_runs(result, schedd, wanted)
        result.is_compared = True
        result.hold_reason = hold_reason(result.schedd_fault)
        if result.hold_reason is not None and result.schedule is None:
            result.findings.append(schedd_hold(result.hold_reason))
        result.rows = Rows(runs, theirs)
        end = runs.times[-1] if runs.is_cut else None
        result.excluded = [time for time in result.excluded if end is None or time <= end]
        if result.differs:
            from crondor_cli.common.reasons import reasons  # noqa: PLC0415 - 0.6 ms, and most readings agree

            result.reasons = list(reasons(result.rows, result.job.clock, reading.schedule, schedd.schedule))
    else:
        result.rows = Rows(runs)
    return result


def _collect(reading: ReadSchedule, result: Preview, wanted: Wanted) -> Runs:
    """Return the runs of the main reading; what stands against them goes into the findings."""
    if reading.schedule is None:
        result.findings += reading.error.diagnostics if reading.error else ()
        return Runs()
    result.findings += reading.schedule.notes
    if not reading.schedule.is_deferred:
        result.findings.append(not_deferred(result.job))
        return Runs()
    state = result.job.state
    if state is not None and state.is_halted:
        return Runs()
    try:
        runs, result.excluded = _matching(result.job, reading.schedule, wanted)
        if reading.schedule.spec is None and (state is None or state.is_idle):
            result.findings += too_late(result.job, reading.schedule)
    except CrondorError as error:
        result.findings += [placed(fault, result.job) for fault in error.diagnostics]
        return Runs()
    return runs


def _schedd_runs(result: Preview, reading: ReadSchedule, wanted: Wanted) -> tuple[Runs, CrondorError | None]:
    """Return the schedd's runs; the times that requirements exclude go into ``excluded``."""
    job = result.job
    if reading.schedule is None:
        return Runs(), reading.error
    if not reading.schedule.is_deferred or (job.state is not None and job.state.is_halted):
        return Runs(), None
    try:
        found, result.excluded = _matching(job, reading.schedule, wanted)
    except (InvalidDeferral, UnknownValue):  # told already, and nothing that the schedd would mind
        return Runs(), None
    except CrondorError as error:
        return Runs(), error
    return found, None


def _matching(job: Job, schedule: JobSchedule, wanted: Wanted) -> tuple[Runs, list[int]]:
    """Return the runs, and the times before the last of them that requirements exclude."""
    now = job.clock.now
    times = job.times(schedule)
    excluded: list[int] = []
    most = 2 * MOST_EXCLUDED if wanted.is_one else MOST_EXCLUDED
    named = islice(times.named(wanted.start, wanted.until, now=now), wanted.most + most)
    runs = times.admitted(named, MOST_EXCLUDED, excluded.append)
    if schedule.recurrence is None:
        run = schedule.next(now)
        return Runs(runs, lambda _: run), excluded
    window, prep_time = schedule.window, schedule.prep_time
    deferral_at: Callable[[int], Deferral]
    has_expressions = not (isinstance(window, int) and isinstance(prep_time, int))
    if isinstance(window, int) and isinstance(prep_time, int):
        interval = schedule.schedd_interval
        deferral_at = partial(Deferral, window=window, prep_time=prep_time, schedd_interval=interval)
    else:
        deferral_at = cache(partial(schedule.deferral, now=now))
    checked = _checked(runs, deferral_at, each=has_expressions)
    excludes = times.excludes if times.is_restricted else None
    repeated = schedule.recurrence
    return Runs(checked, deferral_at, repeated, excludes, most=wanted.most, is_one=wanted.is_one), excluded


def _checked(times: Iterator[int], deferral_at: Callable[[int], Deferral], *, each: bool) -> Iterator[int]:
    """Yield times once their runs are known to be possible: ``each`` of them, or the first, which speaks for all."""
    for time in times:
        deferral_at(int(time))
        yield time
        if not each:
            yield from times


def hold_reason(fault: CrondorError | None) -> str | None:
    """Return the HoldReason that the schedd gives a job whose fields it refuses, None for any other fault."""
    refusal = fault.invalid_spec if isinstance(fault, InvalidSchedule) else None
    return refusal.hold_reason if refusal is not None else None


def schedd_hold(reason: str) -> Diagnostic:
    """Say that the schedd holds the job."""
    message = f"the real schedd would hold the job (code {INVALID_CRON_SETTINGS}), HoldReason: {shortened(reason)}"
    return Diagnostic("schedd-hold", message, Severity.NOTE)


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
