"""What became of the planned runs of each job: on time, late, missed, skipped; counted as they happen, none is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from crondor.codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job.attributes import JobStatus
from crondor.job.policy import QueuedJob
from crondor.job_queue import JobId
from crondor.pool.daemons.events import PoolEvent, PoolEventKind, QuietRun
from crondor.pool.daemons.hops import tell_run
from crondor.pool.daemons.pool import Pool
from crondor.pool.daemons.pool_job import PoolJob
from crondor.pool.daemons.starter import LOST_REPORT
from crondor.schedule import speaks_of_time
from crondor.spec import FIELDS
from crondor.times import JobTimes

_MOST = 100_000  # times that are counted as skipped at once
_MINUTE = 60
_CRON = tuple(field.attribute for field in FIELDS)
_KNOWN = 100  # times of a schedule that are cached


class RunOutcome(str, Enum):
    """The result of one planned run."""

    ON_TIME = "on_time"
    LATE = "late"  # started after its time, within the window
    MISSED_HELD = "missed_held"  # arrived too late: held with code 20
    MISSED = "missed"  # no match in time; a crontab job gets its next time
    MISSED_IDLE = "missed_idle"  # no match in time, and the job stays idle forever
    SKIPPED = "skipped"  # the run before had not ended
    HELD = "held"  # the job was on hold


class _Cause(Enum):
    """What a job has been doing since its last planned time."""

    IDLE = RunOutcome.MISSED
    RUNNING = RunOutcome.SKIPPED
    HELD = RunOutcome.HELD


@dataclass
class Lateness:
    """The greatest lateness of some runs (s; negative: early; None: no runs). ``arrival`` is by the machine's clock."""

    match: int | None = None
    arrival: int | None = None


@dataclass
class JobOutcome:
    """The runs of one job.

    ``counts`` by result; ``starts`` are all starts of its program, ``evicted`` the runs that were ended from outside
    after their start, ``untold`` those whose end the schedd did not learn, ``repeated`` those matched again for the
    same time: if a machine's clock is ahead, a run may end before its time. ``idle_slot`` is the time its slots waited,
    in seconds. ``ready`` are the runs whose gates opened while the job was idle, ``unready`` the others, which no prep
    time can help. ``hold`` is the hold reason at the end, ``is_stranded``: it has had its run, was queued again, and is
    idle forever; ``removed`` is why a policy removed it from the queue; ``trouble`` why nothing is planned for it.
    """

    counts: dict[RunOutcome, int] = field(default_factory=lambda: dict.fromkeys(RunOutcome, 0))
    starts: int = 0
    evicted: int = 0
    untold: int = 0
    repeated: int = 0
    idle_slot: int = 0
    ready: Lateness = field(default_factory=Lateness)
    unready: Lateness = field(default_factory=Lateness)
    hold: str | None = None
    removed: str | None = None
    has_left: bool = False
    is_stranded: bool = False
    is_deferred: bool = False
    trouble: tuple[Diagnostic, ...] = ()

    @property
    def planned(self) -> int:
        """The number of planned runs."""
        return sum(self.counts.values())

    @property
    def failed(self) -> int:
        """The number of runs that did not start, or not in their window."""
        return self.planned - self.counts[RunOutcome.ON_TIME] - self.counts[RunOutcome.LATE]


class _Times:
    """The runs of a job, with recent results; shared by jobs with the same schedule."""

    __slots__ = ("_known", "_times")

    def __init__(self, times: JobTimes) -> None:
        self._times = times
        self._known: dict[int, int] = {}

    def excludes(self, time: int) -> bool:
        """Return whether requirements exclude a time, so that nothing is planned for it."""
        return self._times.excludes(time)

    def next(self, after: int) -> int:
        """Return the next time. Raises CrondorError if there is none."""
        found = self._known.get(after)
        if found is None:
            if len(self._known) >= _KNOWN:
                self._known.clear()
            found = self._known[after] = int(self._times.next(after))
        return found


class _Course:
    """The present state of one job."""

    __slots__ = ("cause", "idle_since", "last", "outcome", "time", "times")

    def __init__(self, now: int) -> None:
        self.outcome = JobOutcome()
        self.times: _Times | None = None  # of its schedule
        self.time: int | None = None  # the planned run without a result yet
        self.last: int | None = None  # the planned time before
        self.cause = _Cause.IDLE
        self.idle_since = now


class OutcomeCounts:
    """Watches a pool and counts; ``close`` settles the rest at the end."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.seen = 0  # events
        self._courses: dict[JobId, _Course] = {}
        self._times: dict[tuple[str | None, ...], _Times] = {}  # by the texts of the schedule
        pool.watchers.append(self.note)
        pool.watchers_of_runs[self.note] = self

    def __getitem__(self, job: JobId) -> JobOutcome:
        return self._courses[job].outcome

    def note(self, seen: PoolEvent) -> None:
        """Record an event."""
        self.seen += 1
        if seen.what is PoolEventKind.SUBMITTED:
            self._enter(seen)
            return
        course = self._courses.get(seen.job.id)
        if course is not None:
            note = _NOTES.get(seen.what)
            if note is not None:
                note(self, course, seen)

    def _enter(self, seen: PoolEvent) -> None:
        job = QueuedJob(seen.job.ad)
        course = self._courses[seen.job.id] = _Course(seen.time)
        course.outcome.is_deferred = job.is_scheduled
        try:
            self._plan_first(course, job, seen)
        except CrondorError as error:
            course.outcome.trouble = error.diagnostics
        if seen.job.status == JobStatus.HELD:
            course.cause = _Cause.HELD

    def _plan_first(self, course: _Course, job: QueuedJob, seen: PoolEvent) -> None:
        """Read a job's schedule, unless another job's is the same."""
        ad, settings = seen.job.ad, self._pool.settings
        texts = [ad.text(name) if name in ad else None for name in _CRON]
        requirements = job.requirements
        key = (*texts, requirements if speaks_of_time(requirements) else "")
        is_plain = any(texts) and not job.has_expressions
        course.times = self._times.get(key) if is_plain else None
        if course.times is not None:
            return
        schedule = job.schedule(seen.time, dialect=settings.dialect, zone=settings.zone, policy=settings.policy)
        times = JobTimes(schedule, requirements)
        if schedule.recurrence is not None:
            course.times = _Times(times)
            if is_plain:
                self._times[key] = course.times
        elif schedule.is_deferred:
            time = schedule.next(seen.time).time
            course.time = None if times.excludes(time) else time

    def plan(self, course: _Course, seen: PoolEvent) -> None:
        """Take a new DeferralTime."""
        self._plan(course, seen.number)

    def note_plan(self, job: PoolJob, time: int) -> None:
        """Record a new DeferralTime (epoch seconds)."""
        self.seen += 1
        course = self._courses.get(job.id)
        if course is not None:
            self._plan(course, time)

    def _plan(self, course: _Course, time: int) -> None:
        """Settle what was planned until a new time."""
        if time == course.time:
            return
        self.settle(course, time)
        course.time = time
        if course.times is not None and course.times.excludes(time):
            course.time, course.last = None, time
        course.cause = _Cause.IDLE

    def settle(self, course: _Course, until: int) -> None:
        """Count the planned run that did not happen, and those between it and ``until``."""
        counts, fate = course.outcome.counts, course.cause.value
        last = course.last
        if course.time is not None:
            if course.time >= until:
                return
            counts[fate] += 1
            last = course.time
        if last is not None and until - last > _MINUTE:
            counts[fate] += self._between(course, last, until)
        course.last, course.time = last, None

    def _between(self, course: _Course, low: int, high: int) -> int:
        """Return how many times of the schedule are strictly between two."""
        number = 0
        try:
            while course.times is not None and number < _MOST:
                low = course.times.next(low)
                if low >= high:
                    break
                number += 1
        except CrondorError:
            pass  # no more times
        return number

    def match(self, course: _Course, seen: PoolEvent) -> None:
        """Record how late the match was; a second match for the same time is planned once more."""
        if course.time is None and course.times is not None and seen.job.gate.time == course.last is not None:
            course.time = course.last
            course.outcome.repeated += 1
        if course.time is not None:
            late = _lateness(course, seen.job)
            late.match = _later(late.match, seen.time - course.time)

    def arrive(self, course: _Course, seen: PoolEvent) -> None:
        """Record how late the job arrived, and for which time, if that is an expression.

        A second run for the same time is not counted as planned.
        """
        if course.time is None:
            return
        late = _lateness(course, seen.job)
        late.arrival = _later(late.arrival, -seen.number)
        run = seen.job.run
        if course.times is None and run is not None and run.time is not None:
            course.time = run.time

    def start(self, course: _Course, seen: PoolEvent) -> None:
        """Count a start."""
        run = seen.job.run
        if run is not None and run.has_slot and run.arrived is not None:
            course.outcome.idle_slot += seen.time - run.arrived
        _count_start(course, seen.time if seen.job.is_local else seen.time + self._pool.settings.skew)

    def note_run(self, job: PoolJob, run: QuietRun) -> None:
        """Record everything that happens to a run, from its match to its end."""
        course = self._courses.get(job.id)
        if course is None or course.time is None or course.times is None:
            tell_run(self.note, job, run)
            return
        self.seen += 4
        late, time = _lateness(course, job), course.time
        late.match = _later(late.match, run.matched - time)
        late.arrival = _later(late.arrival, run.arrived - time)
        course.outcome.idle_slot += run.started - run.arrived
        _count_start(course, run.started)
        course.idle_since = run.ended

    def evict(self, course: _Course, seen: PoolEvent) -> None:
        """Record that a run was ended from outside."""
        run = seen.job.run
        if run is not None and run.started is not None:
            course.outcome.evicted += 1
            course.idle_since = seen.time
        if run is None or run.started is not None or run.arrived is None or not run.has_slot:
            return
        if course.time is not None and course.time > run.arrived:
            course.outcome.idle_slot += seen.time - run.arrived

    def end(self, course: _Course, seen: PoolEvent) -> None:
        """Record since when the job is idle again."""
        course.idle_since = seen.time
        course.outcome.untold += seen.text == LOST_REPORT

    def hold(self, course: _Course, seen: PoolEvent) -> None:
        """Record why a job is held."""
        outcome = course.outcome
        outcome.hold = seen.text
        if seen.number == MISSED_DEFERRED_EXECUTION_TIME and course.time is not None:
            outcome.counts[RunOutcome.MISSED_HELD] += 1
            course.last, course.time = course.time, None
        course.cause = _Cause.HELD

    def release(self, course: _Course, seen: PoolEvent) -> None:
        """Record that a job is idle again."""
        course.outcome.hold = None
        course.idle_since = seen.time
        if course.time is not None and course.time > seen.time:
            course.cause = _Cause.IDLE

    def leave(self, course: _Course, seen: PoolEvent) -> None:
        """Record that a job is gone: nothing more is planned for it."""
        if course.time is not None and course.time < seen.time:
            course.outcome.counts[course.cause.value] += 1
        course.outcome.has_left = True
        course.outcome.removed = seen.text if seen.what is PoolEventKind.REMOVED else None
        course.time = course.last = course.times = None

    def close(self) -> None:
        """Settle what was planned before the end."""
        end = self._pool.now
        for job_id, course in self._courses.items():
            job = self._pool.jobs.get(job_id)
            if job is None:
                continue
            self._close(course, job, end)

    def _close(self, course: _Course, job: PoolJob, end: int) -> None:
        deferral = job.gate.deferral()
        window = 0 if deferral is None else deferral.window
        if course.time is None and course.times is None and deferral is not None and job.is_idle:
            course.outcome.is_stranded = job.gate.opens(end) is None
        if course.time is not None and course.time + window >= end:
            course.time = None  # it may still start
        elif course.time is not None and course.times is None and job.status == JobStatus.IDLE:
            course.outcome.counts[RunOutcome.MISSED_IDLE] += 1
            course.time = None
        elif job.run is None or job.run.started is not None:
            self.settle(course, end)


def _lateness(course: _Course, job: PoolJob) -> Lateness:
    """Return the lateness that a match and an arrival count for."""
    opens = job.gate.match_opens
    is_ready = opens is not None and course.idle_since <= opens
    return course.outcome.ready if is_ready else course.outcome.unready


def _count_start(course: _Course, there: int) -> None:
    """Count a start, ``there`` by the machine's clock (epoch seconds)."""
    outcome = course.outcome
    outcome.starts += 1
    course.cause = _Cause.RUNNING
    if course.time is not None:
        outcome.counts[RunOutcome.ON_TIME if there <= course.time else RunOutcome.LATE] += 1
        course.last, course.time = course.time, None


def _later(one: int | None, other: int) -> int:
    return other if one is None or other > one else one


_NOTES = {
    PoolEventKind.PLANNED: OutcomeCounts.plan,
    PoolEventKind.MATCHED: OutcomeCounts.match,
    PoolEventKind.ARRIVED: OutcomeCounts.arrive,
    PoolEventKind.STARTED: OutcomeCounts.start,
    PoolEventKind.ENDED: OutcomeCounts.end,
    PoolEventKind.EVICTED: OutcomeCounts.evict,
    PoolEventKind.HELD: OutcomeCounts.hold,
    PoolEventKind.RELEASED: OutcomeCounts.release,
    PoolEventKind.REMOVED: OutcomeCounts.leave,
    PoolEventKind.COMPLETED: OutcomeCounts.leave,
}
