"""The runs of a job, as the manual and as the real schedd read its schedule, row by row."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import NamedTuple, TypeVar

from crondor._schedule import leaving_words
from crondor.algebra import FieldDifference, Untranslatable, field_differences, has_day_zero, portable
from crondor.calendar import DAY
from crondor.codes import INVALID_CRON_SETTINGS
from crondor.deferral import Deferral, InvalidDeferral, past
from crondor.diagnostics import CrondorError, Diagnostic, Severity, has_error, shortened
from crondor.preview.jobs import Clock, Job, ReadSchedule, not_deferred
from crondor.recurrence import ClockMark, Recurrence, ScheddAnswer, never_reason
from crondor.schedule import InvalidSchedule, JobSchedule, UnknownValue, commands_of
from crondor.spec import FIELDS, CronSpec, Dialect, Field
from crondor.times import MOST_EXCLUDED
from crondor.zones import Policy, Stretch, Zone, zone_of

_RETRY = 120  # seconds by which the schedd postpones a job
_MOST_RETRIES = 10_000  # that are shown as one run
_Item = TypeVar("_Item")
_Key = TypeVar("_Key", bound=Hashable)


# A preview may have 100,000 rows: only the times of runs are kept, and rows are made when needed.
class RunSide(NamedTuple):
    """One side of a row, at ``time`` (epoch seconds); ``answer`` is the schedd's own, which may be a retry.

    ``mark`` is the effect of a clock change on it.
    """

    time: int
    deferral_at: Callable[[int], Deferral]
    answer: ScheddAnswer | None = None
    mark: ClockMark | None = None

    @property
    def deferral(self) -> Deferral:
        """The moments of the run."""
        return self.deferral_at(self.time)

    @property
    def remark(self) -> str:
        """What to print after its time: empty for most."""
        said = "retry" if self.is_retry else "" if self.mark is None else str(self.mark)
        return f" ({said})" if said else ""

    @property
    def is_retry(self) -> bool:
        """Return whether the schedd postponed the job by two minutes."""
        return self.answer is not None and self.answer.is_retry


class Runs:
    """The runs of one reading in order; ``times`` are epoch seconds."""

    def __init__(
        self,
        times: Iterable[int] = (),
        deferral_at: Callable[[int], Deferral] = Deferral,
        recurrence: Recurrence | None = None,
        excludes: Callable[[int], bool] | None = None,
        *,
        most: int | None = None,
        is_one: bool = False,
    ) -> None:
        """Take times of the recurrence, None for a job without one, and how a time becomes a run.

        ``excludes`` tells which times of the recurrence are not runs, None if all are. Of the ``most`` times, a series
        of retries ``is_one``, or as many as it has.
        """
        self._deferral_at = deferral_at
        self._recurrence = recurrence
        self._excludes = excludes
        self._is_chain = recurrence is not None and recurrence.spec.dialect is Dialect.HTCONDOR
        # Most answers of a schedd are just a time, and are made again.
        self._odd: dict[int, ScheddAnswer | None] = {}
        self.rest = 0  # retries that are shown as one
        if self._is_chain:
            self.times = array("q")
            self.is_cut = self._take(times, most, _MOST_RETRIES if is_one else 0)
        else:
            self.times = array("q", islice(times, most))
            self.is_cut = len(self.times) == most

    def _take(self, times: Iterable[int], most: int | None, free: int) -> bool:
        """Take answers of a schedd, return whether there are ``most``; ``free`` retries after another do not count."""
        before: int | None = None
        taken = 0
        for time in times:
            if self.rest < free and _goes_on(before, time):
                self.rest += 1
            elif taken == most:
                break
            else:
                taken += 1
            before = time
            self.times.append(time)
            if not isinstance(time, ScheddAnswer):
                self._odd[time] = None
            elif not time.is_plain:
                self._odd[time] = time
            if taken == most and self.rest == free:
                break
        return taken == most

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[RunSide]:
        at, recurrence, odd = self._deferral_at, self._recurrence, self._odd
        if recurrence is None:
            yield from (RunSide(time, at) for time in self.times)
        elif not self._is_chain:
            for time, mark in zip(self.times, recurrence.clock_marks(self.times), strict=True):
                yield RunSide(time, at, None, mark)
        else:
            for time in self.times:
                yield self.side(time) if time in odd else RunSide(time, at, ScheddAnswer(time))

    def side(self, time: int) -> RunSide:
        """Return the run at one of the times."""
        answer = self._odd.get(time, ScheddAnswer(time)) if self._is_chain else None
        found = None if self._is_chain and answer is None else self._recurrence
        mark = found.clock_mark(time if answer is None else answer) if found is not None else None
        return RunSide(time, self._deferral_at, answer, mark)

    def last_retry(self, time: int) -> int | None:
        """Return the last of the schedd's retries that follow one at ``time``, None if fewer than two do."""
        return None if self._recurrence is None else last_retry(self._recurrence, time, self._excludes)


class RunRow(NamedTuple):
    """A run in the dialect requested, or in MANUAL, and the real schedd's action at that time.

    ``compared`` is False if there is nothing to compare with: only one dialect, or a chain that was cut before.
    """

    number: int
    run: RunSide | None
    schedd: RunSide | None = None
    compared: bool = False

    @property
    def differs(self) -> bool:
        """Return whether the two sides differ."""
        if not self.compared:
            return False
        return (self.run and self.run.time) != (self.schedd and self.schedd.time)


class Rows:
    """The rows of two readings, paired by time, or of one reading.

    A side that was cut has no information on later times: the schedd's cell is then not compared, and a run that only
    the schedd has is omitted.
    """

    def __init__(self, ours: Runs, theirs: Runs | None = None) -> None:
        """Take the runs of the requested reading, and those of the schedd to compare with."""
        self._ours, self._theirs = ours, theirs
        self._last = ours.times[-1] if ours.is_cut else None
        self._reached = theirs.times[-1] if theirs is not None and theirs.is_cut else None
        self._number = len(ours)
        self.differing = 0
        if theirs is not None and ours.times != theirs.times:
            self._number = 0
            for mine, other in self._paired(theirs):
                self._number += 1
                self.differing += mine != other and self._is_compared(mine or other or 0)

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[RunRow]:
        """Yield the rows, numbered from 1."""
        runs, theirs = iter(self._ours), self._theirs
        if theirs is None:
            for number, run in enumerate(runs, 1):
                yield RunRow(number, run)
            return
        answers = iter(theirs)
        for number, (mine, other) in enumerate(self._paired(theirs), 1):
            run_ = None if mine is None else next(runs)
            answer = None if other is None else next(answers)
            yield RunRow(number, run_, answer, compared=self._is_compared(mine or other or 0))

    def parting(self) -> Iterator[RunRow]:
        """Yield the rows whose sides differ."""
        ours, theirs = self._ours, self._theirs
        if theirs is None or not self.differing:
            return
        for number, (mine, other) in enumerate(self._paired(theirs), 1):
            if mine != other and self._is_compared(mine or other or 0):
                run = None if mine is None else ours.side(mine)
                yield RunRow(number, run, None if other is None else theirs.side(other), compared=True)

    def folded(self) -> Iterator[tuple[RunRow, int | None]]:
        """Yield the rows with None; a series of the schedd's retries becomes its first with the time of its last."""

        def retry_of(row: RunRow) -> tuple[Runs, int] | None:
            if row.run is None:
                return (self._theirs, row.schedd.time) if self._theirs and row.schedd and row.schedd.is_retry else None
            return (self._ours, row.run.time) if row.schedd is None and row.run.is_retry else None

        return folded(self, retry_of, Runs.last_retry)

    @property
    def shown(self) -> int:
        """The number of rows of ``folded``."""
        runs = (self._ours, *((self._theirs,) if self._theirs is not None else ()))
        return sum(1 for _ in self.folded()) if any(each.rest for each in runs) else len(self)

    def _is_compared(self, time: int) -> bool:
        return self._reached is None or time <= self._reached

    def _paired(self, theirs: Runs) -> Iterator[tuple[int | None, int | None]]:
        """Yield the time of each row, on the sides that have it."""
        answers = iter(theirs.times)
        other = next(answers, None)
        for mine in self._ours.times:
            while other is not None and other < mine:
                yield None, other
                other = next(answers, None)
            if other == mine:
                yield mine, other
                other = next(answers, None)
            else:
                yield mine, None
        while other is not None and (self._last is None or other <= self._last):
            yield None, other
            other = next(answers, None)


def _goes_on(before: int | None, time: int) -> bool:
    """Return whether a time is the next retry of the series of the time before it."""
    if not (isinstance(before, ScheddAnswer) and isinstance(time, ScheddAnswer)):
        return False
    return before.is_retry and time.is_retry and time == before + _RETRY


def folded(
    items: Iterable[_Item],
    retry_of: Callable[[_Item], tuple[_Key, int] | None],
    last_of: Callable[[_Key, int], int | None],
) -> Iterator[tuple[_Item, int | None]]:
    """Yield items with None, and for each series of retries only the first, with the time of the last.

    ``retry_of`` returns whose retry an item is, and its time; ``last_of`` is the ``last_retry`` of such an item.
    """
    ends: dict[_Key, int] = {}
    for item in items:
        found = retry_of(item)
        if found is None:
            yield item, None
        elif found[1] > ends.get(found[0], -1):
            end = last_of(*found)
            if end is not None:
                ends[found[0]] = end
            yield item, end


def last_retry(recurrence: Recurrence, time: int, excludes: Callable[[int], bool] | None = None) -> int | None:
    """Return the last of the schedd's retries every two minutes after ``time``, None if there are fewer than two."""
    last = time
    for answer in recurrence.upcoming(time):
        is_next = isinstance(answer, ScheddAnswer) and answer.is_retry and answer == last + _RETRY
        if not is_next or last > time + DAY or (excludes is not None and excludes(answer)):
            break
        last = int(answer)
    return last if last > time + _RETRY else None


class DialectReason(NamedTuple):
    """Why the real schedd differs, and what to write to avoid that."""

    code: str
    why: str
    write: str | None = None
    is_clause: bool = False  # to be added to requirements, not to replace a line


class Preview:
    """The rows of one job, and the diagnostics about it."""

    def __init__(self, job: Job, reading: ReadSchedule) -> None:
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
        """Why the job leaves the queue after its first run, empty if it may stay or its schedule does not repeat."""
        found = self.job.leaves_by
        repeats = self.schedule is not None and self.schedule.spec is not None
        return leaving_words(found) if found is not None and repeats else ""

    @property
    def differs(self) -> bool:
        """Return whether any row shown differs."""
        return self.rows.differing > 0

    @property
    def failed(self) -> bool:
        """Return whether something is wrong: an error among the findings, or a schedd that will not run the job."""
        return self.schedd_fault is not None or has_error(self.findings)


class Wanted(NamedTuple):
    """The requested runs: after ``start`` (epoch seconds), ``most`` of them, none after ``until``.

    For people a series of retries ``is_one``; for programs each counts.
    """

    start: int
    most: int
    until: int | None
    is_one: bool = False


def preview(job: Job, dialect: Dialect | None, wanted: Wanted) -> Preview:
    """Return the requested runs. Without a dialect the schedule is read in MANUAL and in HTCONDOR."""
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
            result.reasons = list(reasons(result.rows, result.job.clock, reading.schedule, schedd.schedule))
    else:
        result.rows = Rows(runs)
    return result


def _collect(reading: ReadSchedule, result: Preview, wanted: Wanted) -> Runs:
    """Return the runs of the main reading; errors become findings."""
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
    except (InvalidDeferral, UnknownValue):  # reported already, and irrelevant to the schedd
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
    """Yield times once their runs are known to be possible: ``each`` of them, or just the first."""
    for time in times:
        deferral_at(int(time))
        yield time
        if not each:
            yield from times


def hold_reason(fault: CrondorError | None) -> str | None:
    """Return the HoldReason of a job whose fields the schedd rejects, None for any other fault."""
    refusal = fault.invalid_spec if isinstance(fault, InvalidSchedule) else None
    return refusal.hold_reason if refusal is not None else None


def schedd_hold(reason: str) -> Diagnostic:
    """Return the error that the schedd holds the job."""
    message = f"the real schedd would hold the job (code {INVALID_CRON_SETTINGS}), HoldReason: {shortened(reason)}"
    return Diagnostic("schedd-hold", message, Severity.NOTE)


def too_late(job: Job, schedule: JobSchedule) -> list[Diagnostic]:
    """Return a diagnostic if the only time of a job is past."""
    fault = past(schedule.next(job.clock.now), job.clock.now)
    return [] if fault is None else [replace(fault, span=job.time_span)]


def placed(fault: Diagnostic, job: Job) -> Diagnostic:
    """Return a fault of a value's text with the place where the value is written."""
    onto = (
        None
        if fault.span is None
        else next((job.spans[n] for n in commands_of(fault.span.source.name) if n in job.spans), None)
    )
    return fault if onto is None else fault.relocated(onto)


DAY_ZERO = (
    "day 0: with a day of week and no day of month the schedd also runs the job on the last day of a month, "
    "and then every two minutes until the month ends"
)
_NO_STRING = "the schedd reads an attribute that is not a string as `*`"


def reasons(rows: Rows, clock: Clock, ours: JobSchedule | None, theirs: JobSchedule | None) -> Iterator[DialectReason]:
    """Yield why rows differ: the manual's reading ``ours`` against the schedd's, None if that is refused."""
    if ours is None:
        yield DialectReason("accepted", "condor_submit and the schedd accept the schedule without a message")
    elif ours.spec is None:
        yield DialectReason("attribute", f"{_NO_STRING}, even where it is undefined")
    else:
        is_cure = never_reason(ours.spec) is None  # a schedule that never fires would hang a schedd that read it alike
        for reason in _reasons(rows, clock, ours, ours.spec, theirs.spec if theirs else None):
            yield reason if is_cure else reason._replace(write=None, is_clause=False)


def _reasons(
    rows: Rows, clock: Clock, ours: JobSchedule, spec: CronSpec, schedd: CronSpec | None
) -> Iterator[DialectReason]:
    differences = field_differences(spec)
    for difference in differences:
        yield DialectReason("field", _field_words(difference), f"{difference.field.command} = {difference.portable}")
    if schedd is not None:
        yield from _unread(spec, schedd)
    if differences:
        yield from _left_over(spec, [difference.field for difference in differences])
    odd = (row.schedd for row in rows.parting() if row.schedd is not None)
    strikes = schedd is not None and has_day_zero(schedd) and has_day_zero(portable(spec))
    if strikes and any(run.is_retry or _is_extra(run, ours) for run in odd):
        yield from day_zero(ours, spec, clock)
    yield from _clock_changes(rows, clock, ours.policy)


def _field_words(difference: FieldDifference) -> str:
    manual, schedd = _few(difference.manual), difference.schedd
    read = "nothing" if schedd is None else _few(schedd)
    title = f"{difference.field.title} {difference.text.strip()}"
    if schedd == difference.manual:
        return f"{title}: {difference.why}"
    return f"{title}: the manual reads {manual}, the schedd {read}: {difference.why}"


def _unread(spec: CronSpec, schedd: CronSpec) -> Iterator[DialectReason]:
    """Yield the fields that the schedd does not see: attributes that are not strings."""
    for field in FIELDS:
        text = spec.given[field.index]
        if text is not None and schedd.given[field.index] != text:
            yield DialectReason("attribute", f"{field.title} {text}: {_NO_STRING}", f"{field.command} = {text}")


def _left_over(spec: CronSpec, named: list[Field]) -> Iterator[DialectReason]:
    """Yield a day field that adds nothing now, but would decide once the others are rewritten."""
    wanted = portable(spec)
    for field in FIELDS:
        text = spec.given[field.index]
        if text is None or field in named or spec.stars[field.index] or wanted.given[field.index] != "*":
            continue
        why = f"{field.title} {text.strip()}: adds nothing, since every day matches already"
        yield DialectReason("field", why, f"{field.command} = *")


def _few(values: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, values[:8]))
    return f"{shown} ..." if len(values) > 8 else shown


def _is_extra(run: RunSide, ours: JobSchedule) -> bool:
    """Return whether the schedd runs the job at a time that the manual's reading does not have."""
    return ours.recurrence is not None and not ours.recurrence.matches(run.time)


def day_zero(schedule: JobSchedule | None, spec: CronSpec, clock: Clock) -> Iterator[DialectReason]:
    """Yield the effects of the day-0 defect on a schedule, and the fields and the clause that fix them."""
    from crondor.compile.writing.compiler import day_zero_cure  # noqa: PLC0415 - 15 ms, and few jobs have the defect

    try:
        wanted = spec if spec.dialect is Dialect.HTCONDOR else portable(spec)
    except Untranslatable:
        wanted = None
    if wanted is None or not has_day_zero(wanted):  # by what is to be written anyway
        yield DialectReason("day-zero", DAY_ZERO)
        return
    cure = day_zero_cure(wanted, schedule, zone_of(clock.zone), clock.now)
    for field, text in cure.texts.items():
        why = f"{field.title}: {text} avoids day 0 (see below); the clause excludes the runs that it adds"
        yield DialectReason("field", why, f"{field.command} = {text}")
    yield DialectReason("day-zero", DAY_ZERO, cure.clause, is_clause=True)


def _clock_changes(rows: Rows, clock: Clock, policy: Policy | None) -> Iterator[DialectReason]:
    """Yield the first clock change next to a row that differs."""
    zone = zone_of(clock.zone)
    for row in rows.parting():
        for run in (row.run, row.schedd):
            change = _change_beside(run, zone) if run is not None else None
            if change is not None:
                day = zone.moment(change.start).date()
                forward = change.offset > change.before
                if policy is not None and policy is not Policy.COMPATIBLE:
                    said = f"the schedd handles that in its own way, whatever --policy {policy.value} is"
                elif forward and run is not None and run.answer is not None and run.answer.moved < 0:
                    said = "the schedd puts a run in the skipped time before it, and then answers now + 120 s"
                elif forward:
                    said = "the schedd moves a run in the skipped time to after it"
                else:
                    said = "the schedd's answer depends on what its process computed before"
                where = f"in {clock.zone_name} the clocks go {'forward' if forward else 'back'} on {day}"
                yield DialectReason("clock-change", f"{where}, and {said}")
                return


def _change_beside(run: RunSide, zone: Zone) -> Stretch | None:
    """Return the stretch that a clock change begins: one just before the run, or one that repeats or moved its time.

    For a retry the instant that the schedd found counts: what follows a clock change does not explain it.
    """
    found = run.answer.computed if run.answer is not None else None
    time = run.time if found is None else found
    now = zone.at(time)
    then = zone.at(now.end)
    shift = then.before - then.offset if run.answer is None or run.answer.moved >= 0 else then.offset - then.before
    if time < then.start <= time + shift:
        return then
    return now if found is None and now.offset != now.before and time - now.start < DAY else None
