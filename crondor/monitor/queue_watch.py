"""Look repeatedly at the jobs of a queue: which times were due, and what became of each.

Memory grows with the number of scheduled jobs: each has its recent history and its open due times. An unchanged job
without a due time is not looked at again. A removed job is remembered until its next due time is judged: nobody else
would miss it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import tzinfo
from functools import lru_cache
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.deferral import LATEST, Deferral
from crondor.diagnostics import CrondorError
from crondor.event_log import JobEvent
from crondor.job.attributes import JobStatus
from crondor.job.policy import SCHEDULING, TERMS, QueuedJob
from crondor.job_queue.mirror import JobFilter
from crondor.job_queue.records import JobId
from crondor.monitor.judging import (
    OF_COPIES,
    JobFacts,
    JobStanding,
    JobWatch,
    Judgement,
    is_lost,
    is_planned,
    judge,
    log_event,
    misreading,
    note_end,
    run_at,
    terms_of,
)
from crondor.monitor.verdicts import (
    COMPLETED,
    DueRun,
    JobCondition,
    Turn,
    Verdict,
    due_between,
    has_copy,
    is_named,
    last_due,
    next_due,
    sight,
)
from crondor.recurrence import Policy
from crondor.schedd.guard import right_time
from crondor.schedd.reading import (
    NEWS,
    SHADOWLESS,
    ScheduledJob,
    ScheduledState,
    StatusReader,
    UnreadAd,
    fixed_time,
    job_id,
)
from crondor.schedule import JobSchedule, Universe
from crondor.spec import Dialect
from crondor.times import JobTimes

LOOKED_AT: Final = (
    *TERMS,
    *map(
        str.lower,
        (
            "ClusterId", "ProcId", "Owner", "Cmd", "JobStatus",
            "LastJobStatus", "EnteredCurrentStatus", "QDate", "OnExitRemove", "HoldReason",
            "HoldReasonCode", "JobCurrentStartDate", "JobCurrentStartExecutingDate", "JobLastStartDate",
            "LastRemoteWallClockTime", "NumJobStarts", "NumJobCompletions", "NumShadowStarts", "ExitCode",
            "ExitBySignal", "ExitSignal", "GridResource", "Managed", "RoutedToJobId", "NumHolds", "RemoveReason",
            "UserLog", "Iwd",
        ),
    ),
)  # fmt: skip
"""The attributes that a look uses, in lower case."""

_PLAIN: Final = tuple(name for name in TERMS if name not in ("requirements", "jobuniverse"))
IS_SCHEDULED: Final = " || ".join(f'unparse({name}) != ""' for name in SCHEDULING)
"""A constraint for the jobs with a schedule, including attributes whose value is undefined."""

_LITERAL: Final = r'(?:"[^"\\]*"|-?[0-9]+|undefined|true|false)'
_IS_ODD: Final = re.compile(rf"^(?:{'|'.join(_PLAIN)}) *=(?! *{_LITERAL} *$)", re.MULTILINE | re.IGNORECASE).search


def may_refer(text: Hashable) -> bool:
    """Return whether the schedule in an ad with these texts may refer to other attributes."""
    return isinstance(text, str) and _IS_ODD(text) is not None


def job_filter(*, is_whole: bool = False) -> JobFilter:
    """Return a filter for reading a queue's log; ``is_whole``: scheduled jobs with all attributes."""
    return JobFilter(SCHEDULING, _PLAIN, None if is_whole else LOOKED_AT)


def texts_of(ad: ClassAd) -> tuple[Hashable, ...]:
    """Return the texts, or their parsed forms, that a look uses; None for missing attributes."""
    codes = ad.codes
    return tuple([codes.get(name) for name in LOOKED_AT])


def _one(text: str | None) -> str | None:
    """Return one object for equal texts of many jobs."""
    return None if text is None else sys.intern(text)


def fresh_until(status: ScheduledJob, now: int) -> int:
    """Return until when a status holds if the ad does not change: an expression may change at any time.

    For a job on a machine this is not computed; there are few of those.
    """
    schedule = status.schedule
    if status.state not in (ScheduledState.IDLE, ScheduledState.HELD):
        return 0
    if schedule is None or not all(isinstance(each, int) for each in (schedule.window, schedule.prep_time)):
        return 0
    if schedule.recurrence is None and not isinstance(schedule.time, int):
        return 0
    runs = [run for run in (status.next, _run_of(status)) if run is not None]
    moments = [moment for run in runs for moment in _moments(run) if moment > now]
    return min(moments, default=LATEST)


def _run_of(status: ScheduledJob) -> Deferral | None:
    time = status.deferral_time
    return None if time is None or not 0 < time <= LATEST else run_at(status.schedule, time, time)


def _moments(run: Deferral) -> tuple[int, ...]:
    """Return the times at which something about a run changes, and at which an unstarted run is in trouble."""
    return run.match_opens, run.time, run.last_match + 1, run.last_start + 1, run.last_start + NEWS + 1


_MOST_OPEN: Final = 64  # open due times of a job
_MOST_GONE: Final = 10_000
_MOST_TERMS: Final = 10_000  # recent terms of jobs, shared by equal ones
_WITHOUT_MACHINE: Final = SHADOWLESS | {Universe.GRID}
_OUTCOMES: Final = frozenset((Verdict.STARTED, Verdict.MISSED, Verdict.LOST))
_NEVER: Final = frozenset(("never-matches", "universe-scheduler"))

FindLeft = Callable[[Sequence[JobId]], Iterable[ClassAd]]
"""Returns the known ads among jobs that have left the queue."""


class Look(NamedTuple):
    """The result of a look: due times with news since the look before, and all jobs.

    ``late`` is the number of due times that are late now.
    """

    now: int
    runs: list[DueRun]
    jobs: list[JobStanding]
    late: int


@lru_cache(maxsize=8)
def _reader(zone: str | tzinfo, dialect: Dialect, policy: Policy | None) -> StatusReader:
    """Return a reader shared by all queues that are read alike: many of their schedules are the same."""
    return StatusReader(zone=zone, dialect=dialect, policy=policy)


class QueueWatch:
    """The scheduled jobs of one queue.

    ``name`` is the queue's name in its runs. ``schedd`` is how its schedd reads Cron attributes, ``dialect`` their
    intended meaning. ``since`` (epoch seconds) is the start of the due times judged from before the first look; None:
    only the last one of each job. ``sees_deferral_time`` false: the ads show DeferralTime late.
    """

    def __init__(
        self,
        name: str = "",
        *,
        zone: str | tzinfo = "UTC",
        schedd: Dialect = Dialect.HTCONDOR,
        dialect: Dialect = Dialect.MANUAL,
        policy: Policy | None = None,
        sees_deferral_time: bool = True,
        grace: int = 60,
        since: int | None = None,
    ) -> None:
        """Start without jobs. The first job raises UnknownZone."""
        self.name = name
        self._zone = zone
        self._policy = policy
        self._status = _reader(zone, schedd, policy)
        self._meant = _reader(zone, dialect, policy)
        self._sees_deferral_time = sees_deferral_time
        self._grace = grace
        self._since = since
        self._looked = 0  # time of the last look
        self._terms: dict[tuple[Hashable, ...], tuple[Hashable, ...]] = {}  # recent terms, shared by equal ones
        self._jobs: dict[JobId, JobWatch] = {}
        self._gone: dict[JobId, JobWatch] = {}

    def __len__(self) -> int:
        """Return the number of watched jobs, including jobs that have left with a due time to come."""
        return len(self._jobs) + len(self._gone)

    def missing(self, here: Container[JobId | None]) -> list[JobId]:
        """Return the jobs of the last look that are not in ``here``, and that a look would pass to ``find_left``."""
        return [job for job, watch in self._jobs.items() if job not in here and watch.history.gone is None]

    def look(
        self,
        ads: Iterable[ClassAd | UnreadAd],
        now: int,
        *,
        events: Iterable[JobEvent] = (),
        find_left: FindLeft | None = None,
        left: Iterable[ClassAd] = (),
    ) -> Look:
        """Process the ads of the queue at ``now`` (epoch seconds), and judge what is due.

        ``events`` are new events of user logs; ``find_left`` is called with jobs that have left; ``left`` are ads of
        jobs that have left, perhaps unseen. Raises UnknownZone.
        """
        here: dict[JobId, None] = {}
        logged: dict[JobId, list[JobEvent]] = {}
        for event in events:
            logged.setdefault(event.job, []).append(event)
        for ad in left:
            self._remember(job_id(ad))
            self._take(ad, now, {}, logged)
        for each in ads:
            self._take(each, now, here, logged)
        self._log(logged)
        self._note_left([job for job in self._jobs if job not in here], now, find_left)
        runs: list[DueRun] = []
        late = 0
        for watch in [*self._gone.values(), *self._jobs.values()]:
            if watch.packed and (watch.next_due is None or watch.next_due > now):
                continue
            watch.wake(now)
            runs += self._judged(watch, now)
            runs += self._unplanned(watch)
            watch.history.prune()
            late += sum(run.verdict is Verdict.LATE for run in watch.said)
            if watch.job in here:
                self._stand(watch, now)
                watch.rest()
        self._forget(now)
        self._looked = now
        if len(self._terms) >= _MOST_TERMS:
            self._terms.clear()
        jobs = [self._jobs[job].standing for job in here if job in self._jobs]
        return Look(now, runs, [standing for standing in jobs if standing is not None], late)

    # Processing

    def _remember(self, job: JobId | None) -> None:
        """Resume a job that is already known to have left."""
        watch = None if job is None else self._gone.pop(job, None)
        if watch is not None:
            self._jobs[watch.job] = watch

    def knows(self, ad: UnreadAd) -> bool:
        """Return whether an ad is unchanged since the last look."""
        watch = self._jobs.get(ad.job)
        return watch is not None and watch.texts == hash(ad.text)

    def _take(
        self, ad: ClassAd | UnreadAd, now: int, here: dict[JobId, None], logged: dict[JobId, list[JobEvent]]
    ) -> None:
        job, texts = (job_id(ad), texts_of(ad)) if isinstance(ad, ClassAd) else (ad.job, hash(ad.text))
        watch = None if job is None else self._jobs.get(job)
        if watch is not None and texts == watch.texts and now < watch.fresh_until and watch.job not in logged:
            if not watch.packed:
                watch.history.look_again(now)
            here[watch.job] = None
            return
        read = ad if isinstance(ad, ClassAd) else ad.read()
        queued = QueuedJob(ClassAd() if read is None else read)
        if job is None or not queued.is_scheduled:
            return
        if watch is None:
            watch = JobWatch(job, _one(queued.string("Owner")), _one(queued.string("Cmd")))
            self._jobs[job] = watch
            self._gone.pop(job, None)  # it has returned, as when another log replaced the old one
        watch.wake(self._looked)
        terms = terms_of(queued)
        if terms != watch.terms:
            is_new = not watch.terms
            if not is_new:
                self._open(watch, now)  # due times according to the old texts
            watch.terms = self._terms.setdefault(terms, terms)
            self._read(watch, queued, now)
            self._begin(watch, now, is_new=is_new)
        watch.is_remote |= has_copy(queued)
        for event in logged.pop(job, ()):
            self._note(watch, event)
        sight(watch.history, queued, now, sees_deferral_time=self._sees_deferral_time, is_logged=watch.is_logged)
        note_end(watch, queued)
        if queued.status not in (JobStatus.REMOVED, JobStatus.COMPLETED):
            here[job] = None
            watch.texts, watch.fresh_until = texts, self._find(watch, queued, now)

    def _find(self, watch: JobWatch, queued: QueuedJob, now: int) -> int:
        """Record a job's state, and return until when it holds if the ad does not change."""
        found = self._status.look(queued, now)
        schedule = found.schedule
        if schedule is not None and schedule.recurrence is not None:
            schedule = self._status.schedule(queued, now, shared=True)
        owner, cmd = _one(queued.string("Owner")), _one(queued.string("Cmd"))
        time, coming, trouble = found.deferral_time, found.next, found.trouble
        watch.standing = JobStanding(watch.job, owner, cmd, found.state, schedule, time, coming, trouble)
        return fresh_until(found, now)

    def _read(self, watch: JobWatch, queued: QueuedJob, now: int) -> None:
        """Compute when a job is meant to run, and when its schedd makes it run."""
        schedd: JobSchedule | None = None
        meant: JobSchedule | None = None
        try:
            schedd = self._status.schedule(queued, now, shared=True)
        except CrondorError:
            schedd = None
        try:
            meant = self._meant.schedule(queued, now, shared=True)
        except CrondorError:
            meant = schedd  # a schedule that the manual rejects means what the schedd makes of it
        watch.schedule = meant
        watch.leaves = queued.leaves
        times = None if meant is None else JobTimes(meant, queued.requirements)
        notes = () if meant is None else meant.notes
        watch.facts = JobFacts(
            due=None if meant is None or meant.recurrence is None else times,
            schedd=None if schedd is None else schedd.recurrence,
            entered=queued.integer("QDate"),
            has_shadow=queued.integer("JobUniverse") not in SHADOWLESS,
            needs_machine=queued.integer("JobUniverse") not in _WITHOUT_MACHINE,
            never_matches=any(note.kind in _NEVER for note in notes),
        )
        if not watch.is_crontab:
            time = fixed_time(queued, now)
            is_coming = time is not None and watch.until < time <= LATEST
            watch.next_due = time if is_coming and not (times and time and times.excludes(time)) else None

    def _begin(self, watch: JobWatch, now: int, *, is_new: bool) -> None:
        """Set the time from which a job's due times are judged."""
        due = watch.facts.due
        if due is None:
            return
        if not is_new:  # an edited schedule counts from now on
            watch.next_due = next_due(due, max(watch.until, now))
            return
        after = max(watch.facts.entered or 0, 0 if self._since is None else self._since - 1)
        if self._since is None:
            last = last_due(due, after, now)
            watch.next_due = next_due(due, max(after, now)) if last is None else last
        else:
            watch.next_due = next_due(due, after)

    def _log(self, logged: dict[JobId, list[JobEvent]]) -> None:
        """Process the events of jobs that have left the queue."""
        for job, events in logged.items():
            watch = self._jobs.get(job) or self._gone.get(job)
            if watch is not None:
                watch.wake(self._looked)
                for event in events:
                    self._note(watch, event)

    @staticmethod
    def _note(watch: JobWatch, event: JobEvent) -> None:
        """Process an event of a job's log."""
        watch.is_logged = not watch.is_remote
        if not (watch.is_remote and event.number in OF_COPIES):
            log_event(watch.history, event)

    def _note_left(self, missing: Sequence[JobId], now: int, find_left: FindLeft | None) -> None:
        """Record the jobs that have left the queue."""
        for job in missing:
            self._jobs[job].wake(self._looked)
        if not missing:
            return
        asked = [job for job in missing if self._jobs[job].history.gone is None]
        for ad in () if find_left is None or not asked else find_left(asked):
            if job_id(ad) in self._jobs:
                self._take(ad, now, {}, {})
        for job in missing:
            watch = self._jobs.pop(job)
            if watch.history.gone is None:
                last = watch.history.last
                has_ended = watch.leaves and last is not None and last.condition is JobCondition.RUNNING
                watch.history.turn(Turn(now, JobCondition.GONE, reason=COMPLETED if has_ended else ""))
            self._gone[job] = watch

    # Judging

    def _judged(self, watch: JobWatch, now: int) -> list[DueRun]:
        """Return the due times of a job with news."""
        self._open(watch, now)
        runs: list[DueRun] = []
        left: list[Deferral] = []
        told = {said.run.time: said for said in watch.said}
        behind = [*(run.time for run in watch.open[1:]), watch.next_due]
        for run, following in zip(watch.open, behind, strict=False):
            found = judge(run, following, watch.history, watch.facts, now, self._grace)
            before = told.get(run.time)
            said = self._run(watch, run, found, None if before is None else before.verdict)
            if said.is_news(before):
                runs.append(said)
            watch.latest = said
            if said.verdict in _OUTCOMES:
                watch.outcome = said
            if found.is_final:
                continue
            told[run.time] = said
            left.append(run)
        watch.open = left[-_MOST_OPEN:] or ()
        watch.said = [told[run.time] for run in watch.open] or ()
        return runs

    def _open(self, watch: JobWatch, now: int) -> None:
        """Open the due times since the last look; for a job that has left, only those before its end."""
        first, due = watch.next_due, watch.facts.due
        gone = watch.history.gone
        if first is None or first > now:
            return
        watch.open = opened = [*watch.open]
        if due is None:
            watch.next_due, watch.until = None, first
            self._open_one(opened, watch, first, now, gone)
            return
        for time in due_between(due, first - 1, now):
            if not self._open_one(opened, watch, time, now, gone):
                watch.next_due = None
                return
        watch.until = now
        watch.next_due = next_due(due, now)

    @staticmethod
    def _open_one(opened: list[Deferral], watch: JobWatch, time: int, now: int, gone: Turn | None) -> bool:
        """Open a due time, and return whether later ones are due as well: of a removed job only the first."""
        if gone is not None and time > gone.time and (gone.reason == COMPLETED or is_lost(watch.latest)):
            return False
        opened.append(run_at(watch.schedule, time, now))
        return gone is None or time <= gone.time

    def _run(self, watch: JobWatch, run: Deferral, found: Judgement, before: Verdict | None) -> DueRun:
        name = str(watch.job) if watch.latest is None else watch.latest.job
        return DueRun(self.name, name, watch.owner, watch.cmd, run, *found, before)

    def _unplanned(self, watch: JobWatch) -> Iterator[DueRun]:
        """Yield new starts that belong to no due time; those before the first look are ignored."""
        due = watch.facts.due
        for start in watch.history.starts_since(watch.starts_seen + 1):
            watch.starts_seen = start.time
            if due is None or is_planned(start, due, watch.schedule):
                continue
            run = run_at(watch.schedule, start.due or start.time, start.time)
            found = Judgement(Verdict.UNPLANNED, misreading(watch.facts), start.time)
            yield self._run(watch, run, found, None)

    def _stand(self, watch: JobWatch, now: int) -> None:
        """Record the state of a job according to its ad."""
        known, history = watch.standing, watch.history
        if known is None:
            return
        is_idle, coming, start = known.state is ScheduledState.IDLE, known.next, history.last_start
        right = None
        if is_idle and self._is_misset(known.deferral_time, watch.schedule):
            watch.fresh_until = 0  # the correct time changes
            with suppress(CrondorError):
                right = None if watch.schedule is None else right_time(watch.schedule, known.deferral_time, now)
        watch.standing = replace(
            known,
            latest=watch.latest,
            outcome=watch.outcome,
            last_start=None if start is None else start.time,
            last_success=history.success,
            is_gate_open=is_idle and coming is not None and coming.may_match(now),
            right_time=right,
        )

    def _is_misset(self, present: int | None, meant: JobSchedule | None) -> bool:
        """Return whether the DeferralTime of an idle job is not one of its schedule.

        A past time of its schedule is corrected by the schedd's next pass.
        """
        if not self._sees_deferral_time or present is None or meant is None or meant.recurrence is None:
            return False
        return meant.recurrence.spec.dialect is not Dialect.HTCONDOR and not is_named(JobTimes(meant), present)

    def _forget(self, now: int) -> None:
        """Forget jobs that have left and have no due time open or to come."""
        for job, watch in [*self._gone.items()]:
            ended = watch.history.gone
            is_over = ended is not None and ended.reason == COMPLETED and not watch.open
            if is_over or (not watch.open and (watch.next_due is None or watch.next_due <= now)):
                del self._gone[job]
        for job in [*self._gone][: max(0, len(self._gone) - _MOST_GONE)]:
            del self._gone[job]
