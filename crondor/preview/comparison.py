"""Two schedules, or two readings of one, compared: where they differ, and how they relate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from heapq import merge
from typing import TYPE_CHECKING, NamedTuple

from crondor.algebra import first_collision, first_difference, is_subset
from crondor.day_rule import is_unrestricted
from crondor.diagnostics import CrondorError, Diagnostic, Severity, shortened
from crondor.preview.facts import LAST_INSTANT, years_after
from crondor.preview.jobs import Clock, Job, ReadSchedule
from crondor.preview.runs import hold_reason, placed
from crondor.recurrence import NeverRuns, Recurrence, ScheddAnswer
from crondor.schedule import JobSchedule
from crondor.spec import FIELDS, CronSpec, Dialect, Field
from crondor.times import JobTimes
from crondor.words import describe
from crondor.zones import zone_of

if TYPE_CHECKING:
    from crondor.compile.meaning import WrittenSchedule


class Relation(str, Enum):
    """How the instants of two schedules relate."""

    SAME = "same"
    SUBSET = "subset"  # the first is a subset of the second
    SUPERSET = "superset"
    NEITHER = "neither"


class ComparedSide(NamedTuple):
    """One schedule in one dialect."""

    job: Job
    reading: ReadSchedule

    @property
    def dialect(self) -> Dialect:
        """How the fields are read."""
        return self.reading.dialect

    @property
    def schedule(self) -> JobSchedule | None:
        """The job's schedule, None if it is refused."""
        return self.reading.schedule

    @property
    def spec(self) -> CronSpec | None:
        """The crontab fields, if there are any."""
        return self.reading.spec

    @property
    def recurrence(self) -> Recurrence | None:
        """When the crontab fields fire."""
        return self.schedule.recurrence if self.schedule is not None else None

    @property
    def as_set(self) -> Recurrence | None:
        """The recurrence if it is a set of instants, and requirements exclude none."""
        return None if self.dialect is Dialect.HTCONDOR or self.times.is_restricted else self.recurrence

    @property
    def times(self) -> JobTimes:
        """When the job runs."""
        return self.job.times(self.schedule or JobSchedule())

    @property
    def refusal(self) -> str | None:
        """Why the dialect rejects the schedule, or the schedd's hold."""
        fault = self.reading.error
        if self.schedule is not None or fault is None:
            return None
        held = hold_reason(fault)
        return fault.diagnostics[0].message if held is None else f"held, {shortened(held)}"


class Parting(NamedTuple):
    """An instant at which exactly one side fires; ``is_retry`` if it is a schedd's "now + 120 s"."""

    time: int
    is_first: bool
    is_retry: bool = False


class Term(NamedTuple):
    """A difference besides the schedule: its name, and the value of each side."""

    name: str
    first: int | str | None
    second: int | str | None


@dataclass
class Comparison:
    """Two sides compared from now until ``until`` (epoch seconds)."""

    first: ComparedSide
    second: ComparedSide
    until: int
    findings: list[Diagnostic] = field(default_factory=list)
    fields: list[Field] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)
    partings: list[Parting] = field(default_factory=list)
    common: int | None = None
    wall: Relation | None = None
    zone: Relation | None = None
    trouble: bool = False

    @property
    def sides(self) -> tuple[ComparedSide, ComparedSide]:
        """Both sides."""
        return self.first, self.second

    @property
    def is_refused(self) -> bool:
        """Return whether a side has no schedule because its dialect rejects it."""
        return any(side.schedule is None for side in self.sides)

    @property
    def has_instants(self) -> bool:
        """Return whether there are times to compare: both have some, not just one unknown time."""
        if not all(side.schedule is not None and side.schedule.is_deferred for side in self.sides):
            return False
        times = [side.schedule.time for side in self.sides if side.schedule is not None and side.spec is None]
        return not (len(times) == 2 and times[0] == times[1] and not isinstance(times[0], int))

    @property
    def differs(self) -> bool:
        """Return whether more than the spelling differs."""
        deferred = {side.schedule is not None and side.schedule.is_deferred for side in self.sides}
        return bool(self.partings or self.terms) or self.is_refused or len(deferred) == 2


def compare(first: ComparedSide, second: ComparedSide, count: int, until: int | None) -> Comparison:
    """Compare two sides; ``count`` is the most instants to list, ``until`` where to stop (epoch seconds)."""
    clock = first.job.clock
    has_chain = any(side.recurrence is not None and side.as_set is None for side in (first, second))
    end = until if until is not None else years_after(clock.now, 1, clock.zone) if has_chain else LAST_INSTANT
    result = Comparison(first, second, end)
    for side in result.sides:
        result.findings += side.reading.error.diagnostics if side.reading.error else ()
        result.findings += side.schedule.notes if side.schedule else ()
    if result.is_refused:
        return result
    result.fields = [f for f in FIELDS if first.spec and second.spec and _differ(first.spec, second.spec, f)]
    result.terms = list(_terms(first, second))
    result.wall, result.zone = _relations(first, second)
    try:
        _find_instants(result, count)
    except CrondorError as error:
        result.trouble = True
        result.findings += error.diagnostics
    return result


def _differ(a: CronSpec, b: CronSpec, which: Field) -> bool:
    """Return whether a field is written or read differently; a missing one is `*`."""
    written = [(spec.given[which.index] or "*").strip() for spec in (a, b)]
    stars = [spec.stars[which.index] for spec in (a, b)]
    return written[0] != written[1] or _values(a, which) != _values(b, which) or stars[0] != stars[1]


def _values(spec: CronSpec, which: Field) -> tuple[int, bool]:
    return spec.bits[which.index], is_unrestricted(spec, which)


def _terms(first: ComparedSide, second: ComparedSide) -> Iterator[Term]:
    """Yield other differences of two jobs of files; a crontab line has none of these."""
    ours, theirs = first.schedule, second.schedule
    if ours is None or theirs is None or first.job.line is None or second.job.line is None:
        return
    found: list[tuple[str, object, object]] = [
        ("deferral_time", ours.time, theirs.time),
        ("window", ours.window, theirs.window),
        ("prep_time", ours.prep_time, theirs.prep_time),
        ("universe", ours.universe.name.lower(), theirs.universe.name.lower()),
    ]
    for name, one, two in found if ours.spec is None and theirs.spec is None else found[1:]:
        if one != two:
            yield Term(
                name, *(value if isinstance(value, int) or value is None else str(value) for value in (one, two))
            )


def _relations(first: ComparedSide, second: ComparedSide) -> tuple[Relation | None, Relation | None]:
    """Return how two sets relate on the wall clock, and in the zone."""
    a, b, zone = first.spec, second.spec, first.job.clock.zone
    if a is None or b is None or first.as_set is None or second.as_set is None:
        return None, None
    wall = _relation(inside=is_subset(a, b), around=is_subset(b, a))
    if zone_of(zone).is_fixed:
        return wall, wall
    return wall, _relation(inside=is_subset(a, b, zone), around=is_subset(b, a, zone))


def _relation(*, inside: bool, around: bool) -> Relation:
    if inside:
        return Relation.SAME if around else Relation.SUBSET
    return Relation.SUPERSET if around else Relation.NEITHER


def _find_instants(result: Comparison, count: int) -> None:
    """Find the instants that only one side has, and the first common one."""
    now, until = result.first.job.clock.now, result.until
    a, b = result.first.as_set, result.second.as_set
    if a is not None and b is not None and not (a.wall_clock.never or b.wall_clock.never):
        result.common = first_collision(a, b, now, until)
        while len(result.partings) < count:
            found = first_difference(a, b, now, until)
            if found is None:
                return
            now = found.instant
            result.partings.append(Parting(now, found.first == now))
        return
    if result.has_instants:
        ours, theirs = (_runs(side, now, until, result.findings) for side in result.sides)
        _walk(result, ours, theirs, count)


def _runs(side: ComparedSide, start: int, end: int, findings: list[Diagnostic]) -> Iterator[int]:
    """Return the runs of a side; one that never fires has none, and a warning."""
    schedule = side.schedule
    if schedule is None or not schedule.is_deferred:
        return iter(())
    if schedule.recurrence is None:
        return side.times.admitted(iter(_once(side.job, schedule, start, end)))
    try:
        return side.times.runs(start, end)
    except NeverRuns as error:
        for fault in error.diagnostics:
            found = placed(fault, side.job)
            findings.append(Diagnostic(found.kind, found.message, Severity.WARNING, found.span, found.help))
        return iter(())


def _once(job: Job, schedule: JobSchedule, start: int, end: int) -> tuple[int, ...]:
    try:
        time = schedule.next(start).time
    except CrondorError as error:
        raise CrondorError([placed(fault, job) for fault in error.diagnostics]) from None
    return (time,) if start < time <= end else ()


def _walk(result: Comparison, first: Iterator[int], second: Iterator[int], count: int) -> None:
    """Walk along two chains in parallel until nothing is left to find."""
    one, two = next(first, None), next(second, None)
    while one is not None or two is not None:
        if len(result.partings) == count and (result.common is not None or one is None or two is None):
            return
        if one == two:
            result.common = one if result.common is None else result.common
            one, two = next(first, None), next(second, None)
        elif two is None or (one is not None and one < two):
            _part(result, one, count, is_first=True)
            one = next(first, None)
        else:
            _part(result, two, count, is_first=False)
            two = next(second, None)


def _part(result: Comparison, time: int | None, count: int, *, is_first: bool) -> None:
    if time is not None and len(result.partings) < count:
        result.partings.append(Parting(time, is_first, isinstance(time, ScheddAnswer) and time.is_retry))


def pairs(
    left: list[Job], right: list[Job], dialects: tuple[Dialect, Dialect]
) -> Iterator[tuple[ComparedSide, ComparedSide]]:
    """Pair two equally long lists of jobs, in order."""
    for ours, theirs in zip(left, right, strict=True):
        yield ComparedSide(ours, ours.read(dialects[0])), ComparedSide(theirs, theirs.read(dialects[1]))


_YEARS = 10  # that are compared without --until
_MOST_TIMES = 300_000  # of the jobs that are tried, if requirements depend on the time


@dataclass
class AskedComparison:
    """A schedule compared with jobs, from now until ``until`` (epoch seconds)."""

    schedule: WrittenSchedule
    jobs: list[Job]
    clock: Clock
    until: int
    reason: str = ""  # why no further
    compared: int = 0  # times that one or both have
    common: int | None = None
    partings: list[tuple[int, bool]] = field(default_factory=list)  # and whether the schedule has it
    findings: list[Diagnostic] = field(default_factory=list)
    trouble: bool = False
    words: list[str] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        """Return whether any time differs."""
        return bool(self.partings)


def compare_asked(
    schedule: WrittenSchedule, jobs: list[Job], dialect: Dialect, clock: Clock, end: int | None, count: int
) -> AskedComparison:
    """Compare a schedule with all jobs together: one must have each time; at most ``count`` times are listed."""
    until = end if end is not None else years_after(clock.now, _YEARS, clock.zone)
    found = AskedComparison(schedule, jobs, clock, until)
    if schedule.until is not None and schedule.until < until:
        found.until, found.reason = schedule.until, schedule.until_reason
    found.findings += schedule.warnings
    budget = _Budget()
    runs = [_asked_runs(job, dialect, found, budget) for job in jobs]
    if not found.trouble:
        try:
            _part_asked(found, schedule.between(clock.now, found.until), merge(*runs), count)
        except _TooMany as cut:
            found.until = cut.at
            found.reason = (
                f"the limit of {_MOST_TIMES} times of the jobs was reached; choose others with --until and --now"
            )
        except CrondorError as error:
            found.trouble = True
            found.findings += error.diagnostics
    return found


class _TooMany(Exception):
    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at


class _Budget:
    """How many times of jobs may still be tried."""

    def __init__(self) -> None:
        self.left = _MOST_TIMES

    def counted(self, times: Iterable[int]) -> Iterator[int]:
        """Yield times that are to be tried."""
        for time in times:
            self.left -= 1
            if self.left < 0:
                raise _TooMany(time - 1)
            yield time


def _asked_runs(job: Job, dialect: Dialect, found: AskedComparison, budget: _Budget) -> Iterable[int]:
    """Return the times of a job up to the end; errors become findings."""
    reading = job.read(dialect)
    read = reading.schedule
    if read is None:
        found.trouble = True
        found.findings += reading.error.diagnostics if reading.error else ()
        return ()
    found.findings += read.notes
    now, until = found.clock.now, found.until
    times = job.times(read)
    where = ", with requirements on the time" if times.is_restricted else ""
    if not read.is_deferred:
        found.words.append("no schedule")
        return ()
    found.words.append(f"{'once' if read.recurrence is None else describe(read.recurrence.spec)}{where}")
    try:
        named = map(int, times.named(now, until))
    except CrondorError as error:
        found.trouble = True
        found.findings += [placed(fault, job) for fault in error.diagnostics]
        return ()
    return times.admitted(budget.counted(named)) if times.is_restricted else named


def _part_asked(found: AskedComparison, ours: Iterator[int], theirs: Iterator[int], count: int) -> None:
    """Walk along both in order of time."""
    last = -1
    one, other = next(ours, None), next(theirs, None)
    while (one is not None or other is not None) and len(found.partings) < count:
        if other is not None and other == last:  # two jobs have it
            other = next(theirs, None)
            continue
        found.compared += 1
        if one == other:
            last = one or 0
            found.common = last if found.common is None else found.common
            one, other = next(ours, None), next(theirs, None)
        elif other is None or (one is not None and one < other):
            found.partings.append((one or 0, True))
            one = next(ours, None)
        else:
            last = other
            found.partings.append((other, False))
            other = next(theirs, None)
