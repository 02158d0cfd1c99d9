"""Look repeatedly at the jobs of a queue: which times were due, and what became of each.

Memory grows with the number of scheduled jobs: each has its recent history and its open due times. An unchanged job
without a due time is not looked at again. A removed job is remembered until its next due time is judged: nobody else
would miss it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import tzinfo
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.deferral import LATEST, Deferral
from crondor.desired.marks import NAMES, hand_changes
from crondor.diagnostics import CrondorError, Diagnostic, Severity
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
    RestingJob,
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
            "CrondorCatchUpTime", "CrondorCaughtUp", NAMES,
        ),
    ),
)  # fmt: skip
"""The attributes that a look uses, in lower case."""

_SEEN: Final = frozenset(LOOKED_AT)
DRIFT: Final = "plan-drift"
"""The kind of the note about a job of a folder that somebody changed by hand."""

OF_LOGS: Final = ("userlog", "iwd")
"""The attributes that say where a job's user log is."""

_PLAIN: Final = tuple(name for name in TERMS if name not in ("requirements", "jobuniverse"))
IS_SCHEDULED: Final = " || ".join(f'unparse({name}) != ""' for name in SCHEDULING)
"""A constraint for the jobs with a schedule, including attributes whose value is undefined."""

_DATES: Final = ("EnteredCurrentStatus", "QDate", "JobCurrentStartDate", "JobCurrentStartExecutingDate")


def may_have_changed(seconds: int) -> str:
    """Return a constraint for jobs that are on a machine or leaving, or for which the schedd wrote a date recently.

    Edits by hand, and those of a job router, are not among them.
    """
    rests = " && ".join(f"JobStatus =!= {status:d}" for status in (JobStatus.IDLE, JobStatus.HELD))
    return " || ".join((rests, *(f"{name} >= time() - {seconds}" for name in _DATES)))


_LITERAL: Final = r'(?:"[^"\\]*"|-?[0-9]+|undefined|true|false)'
_IS_ODD: Final = re.compile(rf"^(?:{'|'.join(_PLAIN)}) *=(?! *{_LITERAL} *$)", re.MULTILINE | re.IGNORECASE).search


def may_refer(text: Hashable) -> bool:
    """Return whether the schedule in an ad with these texts may refer to other attributes."""
    return isinstance(text, str) and _IS_ODD(text) is not None


def job_filter(*, is_whole: bool = False, has_logs: bool = True) -> JobFilter:
    """Return a filter for reading a queue's log; ``is_whole``: scheduled jobs with all attributes.

    ``has_logs``: with those that say where their user logs are.
    """
    return JobFilter(SCHEDULING, _PLAIN, None if is_whole else (*LOOKED_AT, *(OF_LOGS if has_logs else ())))


def texts_of(ad: ClassAd) -> tuple[Hashable, ...]:
    """Return the texts, or their parsed forms, that a look uses; None for missing attributes."""
    codes = ad.codes
    return tuple([codes.get(name) for name in (*LOOKED_AT, *OF_LOGS)])


@lru_cache(maxsize=4096)
def _one(text: str | None) -> str | None:
    """Return one object for equal texts of many jobs."""
    return text


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


class Standings:
    """The states of the jobs of a queue at a look; those of jobs at rest are made by each loop."""

    def __init__(self, queue: str, jobs: list[JobStanding | RestingJob]) -> None:
        self._queue = queue
        self._jobs = jobs

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[JobStanding]:
        for each in self._jobs:
            found = each if isinstance(each, JobStanding) else each.awake(self._queue).standing
            if found is not None:
                yield found

    def among(self, names: Container[str]) -> Standings:
        """Return those of the jobs with these numbers."""
        return Standings(self._queue, [each for each in self._jobs if str(each.job) in names])


class Look(NamedTuple):
    """The result of a look: due times with news since the look before, and all jobs.

    ``late`` is the number of due times that are late now.
    """

    now: int
    runs: list[DueRun]
    jobs: Standings
    late: int


class _FactsReader:
    """Reads what determines when a job runs, once for all jobs with the same plain terms."""

    def __init__(self, zone: str | tzinfo, schedd: Dialect, dialect: Dialect, policy: Policy | None) -> None:
        self._zone = zone
        self._schedd = schedd
        self._dialect = dialect
        self._policy = policy
        self._status = StatusReader(zone=zone, dialect=schedd, policy=policy)
        self._known: dict[tuple[Hashable, ...], JobFacts] = {}

    def facts(self, queued: QueuedJob, terms: tuple[Hashable, ...], now: int) -> JobFacts:
        """Return the facts of a job with these terms."""
        known = self._known.get(terms)
        if known is not None:
            return known
        terms = tuple([_one(each) if isinstance(each, str) else each for each in terms])
        schedd, meant = (self._schedule(queued, now, dialect) for dialect in (self._schedd, self._dialect))
        meant = meant or schedd  # a schedule that the manual rejects means what the schedd makes of it
        if meant == schedd:
            meant = schedd  # one object, as for a job with one time
        notes = () if meant is None else meant.notes
        universe = queued.integer("JobUniverse")
        found = JobFacts(
            terms=terms,
            schedule=meant,
            schedd=schedd,
            due=None if meant is None or meant.recurrence is None else JobTimes(meant, _one(queued.requirements) or ""),
            leaves=queued.leaves,
            has_shadow=universe not in SHADOWLESS,
            never_matches=any(note.kind in _NEVER for note in notes),
            needs_machine=universe not in _WITHOUT_MACHINE,
        )
        if schedd is not None and not (notes or schedd.notes or queued.has_expressions):  # notes name their job
            if len(self._known) >= _MOST_TERMS:
                self._known.clear()
            self._known[terms] = found
        return found

    def _schedule(self, queued: QueuedJob, now: int, dialect: Dialect) -> JobSchedule | None:
        with suppress(CrondorError):
            return queued.schedule(now, dialect=dialect, zone=self._zone, policy=self._policy)
        return None

    def status(self, queued: QueuedJob, facts: JobFacts, now: int) -> ScheduledJob:
        """Return the status of a job. Raises UnknownZone."""
        return self._status.look(queued, now, facts.schedd if facts.terms in self._known else None)


def _drift(ad: ClassAd) -> Iterator[Diagnostic]:
    """Yield what somebody did by hand to a job of a folder (crondor apply), as far as a look sees its attributes."""
    done = tuple(hand_changes(ad, _SEEN)) if NAMES in ad else ()
    if done:
        message = f"{' and '.join(done)} by hand, though a folder of submit files says otherwise"
        yield Diagnostic(DRIFT, message, Severity.NOTE, help="crondor plan shows it, crondor apply undoes it")


_reader = lru_cache(maxsize=8)(_FactsReader)  # shared by all queues that are read alike


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
        self._reader = _reader(zone, schedd, dialect, policy)
        self._sees_deferral_time = sees_deferral_time
        self._grace = grace
        self._since = since
        self._looked = 0  # time of the last look
        self._jobs: dict[JobId, JobWatch] = {}  # those that are not at rest
        self._resting: dict[JobId, RestingJob] = {}
        self._gone: dict[JobId, JobWatch] = {}
        self._kept: set[JobId] = set()  # that have left, with an ad at the last look (LeaveJobInQueue, spooled output)
        self._news: list[DueRun] = []  # of a look that failed

    def __len__(self) -> int:
        """Return the number of watched jobs, including jobs that have left with a due time to come."""
        return len(self._jobs) + len(self._resting) + len(self._gone)

    def missing(self, here: Container[JobId | None]) -> list[JobId]:
        """Return the jobs of the last look that are not in ``here``, and that a look would pass to ``find_left``."""
        missing = [job for job in self._resting if job not in here]
        return missing + [job for job, watch in self._jobs.items() if job not in here and watch.history.gone is None]

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
        kept, self._kept = self._kept, set()
        logged: dict[JobId, list[JobEvent]] = {}
        for event in events:
            logged.setdefault(event.job, []).append(event)
        for ad in left:
            self._remember(job_id(ad))
            self._take(ad, now, {}, logged)
        runs = self._news
        for each in ads:
            watch = self._take(each, now, here, logged, kept)
            if watch is not None:  # one after the other, so that few are awake at the same time
                runs += self._finished(watch, now)
                self._stand(watch, now)
                self._rest(watch, now)
        self._log(logged)
        self._note_left(sorted(job for job in chain(self._jobs, self._resting) if job not in here), now, find_left)
        runs[:0] = [run for watch in self._gone.values() for run in self._finished(watch, now)]
        awake = chain(self._gone.values(), self._jobs.values())
        late = sum(run.verdict is Verdict.LATE for watch in awake for run in watch.said)
        late += sum(each.late for each in self._resting.values())
        self._forget(now)
        self._looked, self._news = now, []
        jobs = (self._resting.get(job) or self._jobs[job].standing for job in here)
        return Look(now, runs, Standings(self.name, [each for each in jobs if each is not None]), late)

    # Processing

    def _remember(self, job: JobId | None) -> None:
        """Resume a job that is already known to have left."""
        watch = None if job is None else self._gone.pop(job, None)
        if watch is not None:
            self._jobs[watch.job] = watch

    def _wake(self, job: JobId) -> JobWatch | None:
        """Return a job of the queue, None if it is new."""
        resting = self._resting.pop(job, None)
        if resting is not None:
            watch = self._jobs[job] = resting.awake(self.name)
            watch.history.look_again(self._looked)
        return self._jobs.get(job)

    def _rest(self, watch: JobWatch, now: int) -> None:
        """Pack a job that is in the queue."""
        resting = watch.at_rest(now, self._grace)
        if resting is not None:
            self._resting[watch.job] = resting
            del self._jobs[watch.job]

    def present(self) -> Iterator[JobId]:
        """Yield the jobs of the last look that were in the queue."""
        yield from self._resting
        yield from (job for job, watch in self._jobs.items() if watch.history.gone is None)

    def due(self, until: int) -> list[JobId]:
        """Return those of them that may have news up to ``until`` (epoch seconds) even if nobody edits them."""
        awake = (job for job, watch in self._jobs.items() if watch.history.gone is None)
        return [*(job for job, resting in self._resting.items() if resting.until <= until), *awake]

    def knows(self, ad: UnreadAd) -> bool:
        """Return whether an ad is unchanged since the last look."""
        known = self._resting.get(ad.job) or self._jobs.get(ad.job)
        return known is not None and known.texts == hash(ad.text)

    def _take(
        self,
        ad: ClassAd | UnreadAd,
        now: int,
        here: dict[JobId, None],
        logged: dict[JobId, list[JobEvent]],
        kept: Container[JobId] = (),
    ) -> JobWatch | None:
        """Process an ad, and return its job if there may be news; those in ``kept`` have left before."""
        texts: Hashable
        if isinstance(ad, ClassAd):
            job, texts = job_id(ad), texts_of(ad)
        else:
            job, texts = ad.job, None if ad.text is None else hash(ad.text)
        if job is None:
            return None
        resting = self._resting.get(job)
        if resting is not None and now < resting.until and texts in (None, resting.texts) and job not in logged:
            here[job] = None
            return None
        watch = self._wake(job)
        if watch is not None and texts in (None, watch.texts) and now < watch.fresh_until and job not in logged:
            watch.history.look_again(now)
            here[job] = None
            return watch
        read = ad if isinstance(ad, ClassAd) else ad.read()
        queued = QueuedJob(ClassAd() if read is None else read)
        has_left = queued.status in (JobStatus.REMOVED, JobStatus.COMPLETED)
        self._kept |= {job} if has_left else set()
        if not queued.is_scheduled or (has_left and job in kept):
            return None
        owner, cmd = _one(queued.string("Owner")), _one(queued.string("Cmd"))
        if watch is None:
            watch = self._jobs[job] = JobWatch(job, owner, cmd)
            self._gone.pop(job, None)  # it has returned, as when another log replaced the old one
        watch.owner, watch.cmd = owner, cmd
        self._read(watch, queued, now)
        watch.is_remote |= has_copy(queued)
        for event in logged.pop(job, ()):
            self._note(watch, event)
        sight(watch.history, queued, now, sees_deferral_time=self._sees_deferral_time, is_logged=watch.is_logged)
        note_end(watch, queued)
        if has_left:
            return None
        here[job] = None
        if texts is not None:
            watch.texts = texts
        watch.fresh_until = self._find(watch, queued, now)
        return watch

    def _find(self, watch: JobWatch, queued: QueuedJob, now: int) -> int:
        """Record a job's state, and return until when it holds if the ad does not change."""
        found = self._reader.status(queued, watch.facts, now)
        time, coming, trouble = found.deferral_time, found.next, (*found.trouble, *_drift(queued.ad))
        watch.standing = JobStanding(
            watch.job, watch.owner, watch.cmd, found.state, found.schedule, time, coming, trouble
        )
        return fresh_until(found, now)

    def _read(self, watch: JobWatch, queued: QueuedJob, now: int) -> None:
        """Record a job's facts if its terms are new, and its next due time."""
        terms, is_new = terms_of(queued), not watch.facts.terms
        if terms == watch.facts.terms:
            return
        if not is_new:
            self._open(watch, now)  # due times according to the old texts
        watch.facts = self._reader.facts(queued, terms, now)
        watch.history.entered = queued.integer("QDate")
        if watch.facts.due is None:
            time, meant = fixed_time(queued, now), watch.facts.schedule
            is_coming = time is not None and watch.until < time <= LATEST
            is_excluded = is_coming and meant is not None and JobTimes(meant, queued.requirements).excludes(time or 0)
            watch.next_due = time if is_coming and not is_excluded else None
        self._begin(watch, now, is_new=is_new)

    def _begin(self, watch: JobWatch, now: int, *, is_new: bool) -> None:
        """Set the time from which a job's due times are judged."""
        due = watch.facts.due
        if due is None:
            return
        if not is_new:  # an edited schedule counts from now on
            watch.next_due = next_due(due, max(watch.until, now))
            return
        after = max(watch.history.entered or 0, 0 if self._since is None else self._since - 1)
        if self._since is None:
            last = last_due(due, after, now)
            watch.next_due = next_due(due, max(after, now)) if last is None else last
        else:
            watch.next_due = next_due(due, after)

    def _log(self, logged: dict[JobId, list[JobEvent]]) -> None:
        """Process the events of jobs that have left the queue."""
        for job, events in logged.items():
            watch = self._wake(job) or self._gone.get(job)
            if watch is not None:
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
        if not missing:
            return
        for job in missing:
            self._wake(job)
        asked = [job for job in missing if self._jobs[job].history.gone is None]
        for ad in () if find_left is None or not asked else find_left(asked):
            if job_id(ad) in self._jobs:
                self._take(ad, now, {}, {})
        for job in missing:
            watch = self._jobs.pop(job)
            if watch.history.gone is None:
                last = watch.history.last
                has_ended = watch.facts.leaves and last is not None and last.condition is JobCondition.RUNNING
                watch.history.turn(Turn(now, JobCondition.GONE, reason=COMPLETED if has_ended else ""))
            self._gone[job] = watch

    # Judging

    def _finished(self, watch: JobWatch, now: int) -> list[DueRun]:
        """Return the news of a job whose ad and events have been processed."""
        runs = [*self._judged(watch, now), *self._unplanned(watch)]
        watch.history.prune()
        return runs

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
        opened.append(run_at(watch.facts.schedule, time, now))
        return gone is None or time <= gone.time

    def _run(self, watch: JobWatch, run: Deferral, found: Judgement, before: Verdict | None) -> DueRun:
        name = str(watch.job) if watch.latest is None else watch.latest.job
        return DueRun(self.name, name, watch.owner, watch.cmd, run, *found, before)

    def _unplanned(self, watch: JobWatch) -> Iterator[DueRun]:
        """Yield new starts that belong to no due time; those before the first look are ignored."""
        due = watch.facts.due
        for start in watch.history.starts_since(watch.starts_seen + 1):
            watch.starts_seen = start.time
            if due is None or is_planned(start, due, watch.facts.schedule):
                continue
            run = run_at(watch.facts.schedule, start.due or start.time, start.time)
            found = Judgement(Verdict.UNPLANNED, misreading(watch.facts), start.time)
            yield self._run(watch, run, found, None)

    def _stand(self, watch: JobWatch, now: int) -> None:
        """Record the state of a job according to its ad."""
        known, history, meant = watch.standing, watch.history, watch.facts.schedule
        if known is None:
            return
        is_idle, coming, (last_start, last_success) = known.state is ScheduledState.IDLE, known.next, history.ends
        right = None
        if is_idle and self._is_misset(known.deferral_time, meant):
            watch.fresh_until = 0  # the correct time changes
            with suppress(CrondorError):
                right = None if meant is None else right_time(meant, known.deferral_time, now)
        watch.standing = replace(
            known,
            latest=watch.latest,
            outcome=watch.outcome,
            last_start=last_start,
            last_success=last_success,
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
