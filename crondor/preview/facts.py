"""Facts about one schedule: its sets, gaps and counts, the real schedd, and the coming clock changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone, tzinfo
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crondor.algebra import Untranslatable, has_day_zero, portable
from crondor.audit import ClockChange, clock_changes
from crondor.calendar import DAY
from crondor.diagnostics import CrondorError, Diagnostic, Severity, has_error
from crondor.preview.jobs import Clock, Job, ReadSchedule, not_deferred
from crondor.preview.runs import DialectReason, Rows, Runs, day_zero, hold_reason, placed, reasons, schedd_hold
from crondor.recurrence import Counts, Gaps, Recurrence, ScheddAnswer, Why, never_reason
from crondor.schedule import ExpressionText, JobSchedule
from crondor.spec import CronSpec, Dialect

if TYPE_CHECKING:
    from crondor.compile.meaning import WrittenSchedule

_ANSWERS = 5
_MOST_COUNTED = 20_000  # times of a year that are tried with requirements
LAST_INSTANT = 7289654399  # 2200 ends


class WallGap(Protocol):
    """Wall-clock times that the clock skips."""

    @property
    def begin(self) -> datetime:
        """The first of them."""

    @property
    def end(self) -> datetime:
        """The first that exists again."""


class SkippedWall(Protocol):
    """A requested wall-clock time that the clock skips."""

    @property
    def wall(self) -> datetime:
        """The time."""

    @property
    def gap(self) -> WallGap:
        """The gap that it is in."""


class ScheduleFacts(NamedTuple):
    """Facts about a set of instants: ``year`` runs until ``year_end`` (epoch seconds), and the next one.

    Gaps and counts are those of the fields. Requirements exclude ``excluded`` more times until then; None: there are
    too many to count, and ``year`` includes them.
    """

    gaps: Gaps
    counts: Counts
    year: int
    year_end: int
    next: int | None
    excluded: int | None = 0


class ScheddSide(NamedTuple):
    """How the real schedd reads a schedule: differing fields, day 0, or why it holds the job."""

    reasons: list[DialectReason]
    has_day_zero: bool
    hold_reason: str | None = None
    hangs: bool = False  # searching for a date that does not exist


@dataclass
class ExplainedJob:
    """One job explained; ``until`` is how far clock changes were checked, ``at`` the instant in question."""

    job: Job
    reading: ReadSchedule
    until: int
    at: int | None = None
    skipped: SkippedWall | None = None
    instead: int | None = None  # the run (epoch seconds) that replaces the skipped time
    findings: list[Diagnostic] = field(default_factory=list)
    facts: ScheduleFacts | None = None
    schedd: ScheddSide | None = None
    changes: list[ClockChange] | None = None
    answers: list[ScheddAnswer] | None = None
    asked: int = 0
    why: Why | None = None

    @property
    def schedule(self) -> JobSchedule | None:
        """The job's schedule, None if it is refused."""
        return self.reading.schedule

    @property
    def spec(self) -> CronSpec | None:
        """The crontab fields, if the job has any."""
        return self.reading.spec

    @property
    def names_skipped(self) -> bool:
        """Return whether the schedule names the requested time, which the clock skips."""
        if self.skipped is None or self.schedule is None or self.schedule.recurrence is None:
            return False
        asked = int(self.skipped.wall.replace(tzinfo=timezone.utc).timestamp())
        return self.schedule.recurrence.wall_clock.after(asked - 1) == asked

    @property
    def failed(self) -> bool:
        """Return whether the schedule is invalid or never fires."""
        return has_error(self.findings)

    @property
    def is_deferred(self) -> bool:
        """Return whether the job waits for a time."""
        return self.schedule is None or self.schedule.is_deferred


def explain(job: Job, dialect: Dialect, until: int, at: int | None, skipped: SkippedWall | None = None) -> ExplainedJob:
    """Explain a job in a dialect: as a whole, or at one instant; clock changes up to ``until`` (epoch seconds).

    ``skipped`` is a time that the clock skips; ``at`` is then the end of the gap.
    """
    reading = job.read(dialect)
    result = ExplainedJob(job, reading, until, at, skipped)
    if reading.schedule is None:
        result.findings += reading.error.diagnostics if reading.error else ()
        result.findings += [_schedds_answer(job)] if dialect is Dialect.MANUAL else []
        return result
    result.findings += reading.schedule.notes
    recurrence = reading.schedule.recurrence
    if recurrence is None:
        result.findings += _without_cron(job, reading.schedule)
        return result
    try:
        if dialect is Dialect.HTCONDOR:
            _as_a_chain(result, recurrence)
        elif at is None:
            _as_a_set(result, reading.schedule, recurrence)
        else:
            result.instead = None if skipped is None else _run_instead(recurrence, at, skipped)
            result.why = job.times(reading.schedule).why(at if result.instead is None else result.instead)
            result.changes = list(clock_changes(recurrence.spec, job.clock.zone, max(0, at - DAY), at + DAY))
            _require_runs(recurrence)
    except CrondorError as error:
        result.findings += [placed(fault, job) for fault in error.diagnostics]
    return result


def _run_instead(recurrence: Recurrence, gap_end: int, skipped: SkippedWall) -> int | None:
    """Return the run (epoch seconds) that replaces a skipped time, None if there is none."""
    runs = recurrence.between(gap_end - 1, gap_end + round((skipped.gap.end - skipped.gap.begin).total_seconds()))
    for run in runs:
        mark = recurrence.clock_mark(run)
        if mark is not None and skipped.wall.replace(second=0) in mark.skipped:
            return run
    return None


def _without_cron(job: Job, schedule: JobSchedule) -> list[Diagnostic]:
    """Add that a job has no schedule, or that its time is an expression without a usable value."""
    if not schedule.is_deferred:
        return [not_deferred(job)]
    if isinstance(schedule.time, ExpressionText):
        try:
            schedule.next(job.clock.now)
        except CrondorError as error:
            return [placed(fault, job) for fault in error.diagnostics]
    return []


def _schedds_answer(job: Job) -> Diagnostic:
    """Add how the schedd handles a schedule that the manual does not allow."""
    held = hold_reason(job.read(Dialect.HTCONDOR).error)
    if held is not None:
        return schedd_hold(held)
    message = "the real schedd accepts the schedule without a message"
    return Diagnostic(
        "schedd-accepts", message, Severity.NOTE, help=("--dialect htcondor explains how it reads the schedule")
    )


def _as_a_chain(result: ExplainedJob, recurrence: Recurrence) -> None:
    """Add the schedd's next answers, computed now or just before the instant in question."""
    result.asked = result.job.clock.now if result.at is None else max(0, result.at - 1)
    chain = islice(recurrence.upcoming(result.asked), _ANSWERS)
    if has_day_zero(recurrence.spec):
        cure = day_zero(result.schedule, recurrence.spec, result.job.clock)
        result.schedd = ScheddSide(list(cure), has_day_zero=True)
    result.answers = [answer for answer in chain if isinstance(answer, ScheddAnswer)]


def _as_a_set(result: ExplainedJob, schedule: JobSchedule, recurrence: Recurrence) -> None:
    job, now = result.job, result.job.clock.now
    if recurrence.spec.dialect is Dialect.MANUAL:
        result.schedd = _schedd_side(job, result.reading)
    _require_runs(recurrence)
    year_end = years_after(now, 1, job.clock.zone)
    times = job.times(schedule)
    following = next(times.runs(now), None)
    year = recurrence.count(now, year_end)
    excluded: int | None = 0
    if times.is_restricted:
        excluded = None
        if year <= _MOST_COUNTED:
            excluded = sum(map(times.excludes, recurrence.between(now, year_end)))
    gaps, counts = recurrence.gaps(), recurrence.counts()
    result.facts = ScheduleFacts(gaps, counts, year - (excluded or 0), year_end, following, excluded)
    result.changes = list(clock_changes(recurrence.spec, job.clock.zone, now, result.until))


def _require_runs(recurrence: Recurrence) -> None:
    """Raise NeverRuns if there are none."""
    if recurrence.wall_clock.never:
        recurrence.gaps()


def _schedd_side(job: Job, reading: ReadSchedule) -> ScheddSide:
    """Compare with the schedd's reading; the day-0 defect counts if it can ever occur."""
    theirs = job.read(Dialect.HTCONDOR)
    schedd = theirs.spec
    found = list(reasons(Rows(Runs()), job.clock, reading.schedule, theirs.schedule))
    strikes = schedd is not None and has_day_zero(schedd)
    if strikes and reading.schedule is not None and reading.schedule.spec is not None:
        found += day_zero(reading.schedule, reading.schedule.spec, job.clock)
    hangs = schedd is not None and never_reason(schedd) is not None
    return ScheddSide(found, strikes, hold_reason(theirs.error), hangs)


def years_after(now: int, years: int, zone: tzinfo) -> int:
    """Return the same wall-clock time some years later, at most the last second of 2200."""
    moment = datetime.fromtimestamp(now, zone)
    if (moment.month, moment.day) == (2, 29):
        moment = moment.replace(day=28)
    return min(int(moment.replace(year=moment.year + years).timestamp()), LAST_INSTANT)


def portable_line(spec: CronSpec) -> str | None:
    """Return the line that every dialect reads alike, None if there is none."""
    if spec.dialect is Dialect.HTCONDOR:
        return None
    try:
        alike = portable(CronSpec.from_line(str(spec), dialect=spec.dialect))
    except Untranslatable:
        return None
    return " ".join(text or "*" for text in alike.given)


class AskedYear(NamedTuple):
    """The runs of the coming year (or its known part): how many, and the seconds between them."""

    runs: int
    shortest: int | None
    longest: int | None
    end: int


def asked_year(schedule: WrittenSchedule, clock: Clock) -> AskedYear:
    """Return the runs of a schedule in the year after now."""
    end = years_after(clock.now, 1, clock.zone)
    if schedule.until is not None:
        end = min(end, schedule.until)
    runs, shortest, longest = 0, None, None
    first: int | None = None
    for one, other in pairwise(schedule.between(clock.now, end)):
        gap = other - one
        runs += 1
        first = one if first is None else first
        shortest = gap if shortest is None else min(shortest, gap)
        longest = gap if longest is None else max(longest, gap)
    found = schedule.next(clock.now)
    return AskedYear(runs + (found is not None and found <= end), shortest, longest, end)
