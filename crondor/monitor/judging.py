"""The verdict of a due time, and the state of one job."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.codes import INVALID_CRON_SETTINGS, MISSED_DEFERRED_EXECUTION_TIME
from crondor.day_rule import has_day_zero
from crondor.deferral import LATEST, Deferral
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.event_log import EventType, JobEvent
from crondor.job.attributes import JobStatus, count, ending, integer_of
from crondor.job.policy import QueuedJob
from crondor.job_queue.records import JobId
from crondor.monitor.verdicts import (
    CLOCKS,
    COMPLETED,
    ON_MACHINES,
    Cause,
    DueRun,
    JobCondition,
    JobHistory,
    Sighted,
    Start,
    Stay,
    Turn,
    Verdict,
    is_due,
    is_named,
    last_due,
    next_due,
    packed_times,
)
from crondor.schedd.reading import TIME, ScheduledJob, ScheduledState
from crondor.schedule import JobSchedule
from crondor.times import JobTimes

SETTLE: Final = 30
"""Seconds after the last start before a miss is final: a hold of code 20 follows a late arrival by some 10 s."""

_STEPS: Final = 2000  # of the schedd's chain of times that are followed
_HELD: Final = {MISSED_DEFERRED_EXECUTION_TIME: Cause.HELD_20, INVALID_CRON_SETTINGS: Cause.HELD_25}
_IN_THE_WAY: Final = {
    JobCondition.ROUTED: Cause.ROUTER,
    JobCondition.UNSEEN: Cause.UNSEEN,
    JobCondition.RUNNING: Cause.STILL_RUNNING,
}  # in order of precedence


@dataclass(frozen=True, slots=True)
class JobFacts:
    """What jobs with the same terms have in common.

    ``schedule`` is the schedule as it is meant, ``schedd`` as their schedd reads it, None if it is invalid; ``due`` are
    the times at which they should run, None if there is only one time. ``leaves``: they leave the queue after a run.
    ``has_shadow`` false: nothing records when a program started, so its match counts as the start. ``never_matches``:
    their Requirements cannot be true. ``needs_machine`` false: the schedd starts them itself, or a grid service does.
    """

    terms: tuple[Hashable, ...] = ()
    schedule: JobSchedule | None = None
    schedd: JobSchedule | None = None
    due: JobTimes | None = None
    leaves: bool = False
    has_shadow: bool = True
    never_matches: bool = False
    needs_machine: bool = True


class Judgement(NamedTuple):
    """A verdict, with the details of a DueRun; ``is_final``: nothing learned later changes it."""

    verdict: Verdict
    cause: Cause | None = None
    started: int | None = None
    detail: str = ""
    code: int | None = None
    is_final: bool = True


class _Reason(NamedTuple):
    cause: Cause
    detail: str = ""
    code: int | None = None


def judge(
    run: Deferral, following: int | None, history: JobHistory, facts: JobFacts, now: int, grace: int = 60
) -> Judgement:
    """Return what has become of a due time at ``now`` (epoch seconds).

    ``following`` is the job's next due time after it. ``grace`` is the number of seconds before a missing start makes
    the time LATE, if the window is longer.
    """
    if now < run.time:
        return Judgement(Verdict.AHEAD, is_final=False)
    starts = history.starts_for(run.time, run.last_start, following) or _unwritten(run, history, facts)
    if not starts:
        return _not_started(run, following, history, facts, now, grace)
    return _started(starts, run, history, now)


def _not_started(
    run: Deferral, following: int | None, history: JobHistory, facts: JobFacts, now: int, grace: int
) -> Judgement:
    gone = history.gone
    if gone is not None and gone.time <= run.last_start:
        return Judgement(Verdict.LOST, Cause.LEFT_QUEUE, detail="" if gone.reason == COMPLETED else gone.reason)
    if now > run.last_start + SETTLE:
        reason = _held_late(run, following, history) or _reason(run, history, facts, run.last_start)
        verdict = Verdict.UNKNOWN if reason.cause is Cause.UNSEEN else Verdict.MISSED
        is_final = facts.due is not None or gone is not None or reason.cause is Cause.HELD_20
        return Judgement(verdict, reason.cause, None, reason.detail, reason.code, is_final)
    if now <= run.time + grace:
        return Judgement(Verdict.DUE, is_final=False)
    cause, detail, code = _held_late(run, following, history) or _reason(run, history, facts, now)
    return Judgement(Verdict.LATE, cause, None, detail, code, is_final=False)


def _unwritten(run: Deferral, history: JobHistory, facts: JobFacts) -> list[Start]:
    """Return the start of a job without a shadow: a match in or before the window that lasted at least until its time.

    A run may end in the second in which it started.
    """
    if facts.has_shadow:
        return []
    for stay in history.stays(run.time - 1, run.last_start):
        is_over = stay.until is not None and stay.until < run.time
        if stay.turn.condition in ON_MACHINES and not is_over and _is_match_for(run, stay, history, facts):
            return [Start(max(run.time, stay.turn.time), run.time)]
        if stay.turn.condition is JobCondition.UNSEEN and not is_over:
            return []
    return []


def _is_match_for(run: Deferral, stay: Stay, history: JobHistory, facts: JobFacts) -> bool | None:
    """Return whether a job was matched for this time and not for an earlier one; None if that is unknown.

    Its DeferralTime was seen, or no earlier time was pending or open then, or an earlier match had used it.
    """
    there = stay.turn.time
    seen = history.sighted(there, LATEST if stay.until is None else stay.until - 1)
    if seen or facts.due is None:
        return not seen or any(each.time == run.time for each in seen)
    first = next_due(facts.due, there - run.window - 1)
    if first is None or first >= run.time:
        return True
    if first > there:
        return False
    earlier = (each.turn for each in history.stays(first, there - 1))
    return True if any(turn.condition in ON_MACHINES for turn in earlier) else None


def _started(starts: Sequence[Start], run: Deferral, history: JobHistory, now: int) -> Judgement:
    """Judge a time with starts: the first gives the time, the last the outcome. An evicted run may start again."""
    begun, end = starts[0].time, history.end_of(starts[-1])
    if end is None:
        if starts[-1].time > run.last_start + CLOCKS and now <= starts[-1].time + SETTLE:
            return Judgement(Verdict.LATE, is_final=False)  # its starter may be about to hold it
        return Judgement(Verdict.STARTED, None, begun, is_final=False)
    is_over = now > run.last_start + SETTLE
    if end.is_loss:
        return Judgement(Verdict.LOST, Cause.EVICTED, begun, end.reason, is_final=is_over)
    if end.condition is JobCondition.HELD and not end.is_own:
        cause = _HELD.get(end.code or 0, Cause.HELD)
        return Judgement(Verdict.LOST, cause, begun, end.reason, end.code, is_final=is_over)
    if end.condition is JobCondition.GONE and end.reason != COMPLETED:
        return Judgement(Verdict.LOST, Cause.LEFT_QUEUE, begun, end.reason)
    return Judgement(Verdict.STARTED, None, begun)


def _held_late(run: Deferral, following: int | None, history: JobHistory) -> _Reason | None:
    """Return the hold of a job that reached its machine after the last start, None if there is none.

    The hold belongs to the last due time before it.
    """
    later = history.stays(run.time, LATEST if following is None else following)
    turn = next((stay.turn for stay in later if stay.turn.code == MISSED_DEFERRED_EXECUTION_TIME), None)
    return None if turn is None else _Reason(Cause.HELD_20, turn.reason, turn.code)


def _reason(run: Deferral, history: JobHistory, facts: JobFacts, until: int) -> _Reason:
    """Return why a job did not start between its time and ``until``; a hold is the first reason."""
    begin = run.time if facts.has_shadow else run.time - 1  # a match may end in the second of its time
    stays = history.stays(begin, min(until, run.last_start))
    is_told = bool(stays) and stays[0].turn.time <= run.time
    if facts.due is None and not is_told:
        stays = history.stays(run.time, LATEST)  # its only time, so its later states count too
        is_told = bool(stays)
    if not stays:
        return _Reason(Cause.UNSEEN)
    held = [stay for stay in stays if stay.turn.condition is JobCondition.HELD]
    if held:
        turn = held[-1].turn
        return _Reason(_HELD.get(turn.code or 0, Cause.HELD), turn.reason, turn.code)
    if not is_told:
        return _Reason(Cause.UNSEEN)  # it may have run and returned since
    conditions = {stay.turn.condition for stay in stays}
    cause = next((cause for condition, cause in _IN_THE_WAY.items() if condition in conditions), None)
    if cause is None and not facts.has_shadow and stays[0].turn.condition is JobCondition.WAITING:
        is_unknown = _is_match_for(run, stays[0], history, facts) is None
        cause = Cause.UNSEEN if is_unknown else Cause.STILL_RUNNING
    if cause is not None:
        began = stays[0].turn.time if stays[0].turn.condition is JobCondition.RUNNING else run.time
        ago = f"it started {run.time - began} s before this time"
        return _Reason(cause, ago if cause is Cause.STILL_RUNNING and began < run.time else "")
    return _unstarted(run, history, facts, stays)


def _unstarted(run: Deferral, history: JobHistory, facts: JobFacts, stays: Sequence[Stay]) -> _Reason:
    """Return why a job that was idle or on a machine did not start: whether its schedd had set another time or none.

    That time is the one seen, or else the one the schedd would compute.
    """
    is_there = stays[-1].turn.condition is JobCondition.WAITING
    if facts.never_matches and not is_there:
        return _Reason(Cause.NEVER_MATCHES)
    seen = history.sighted(run.time, run.last_start) or _before(run, history)
    since = max(stays[0].turn.time, history.entered or 0)
    time = seen[-1].time if seen else _computed(run, since, facts)
    if is_there and (time is None or time <= run.time):
        return _Reason(Cause.STARTER_GONE)
    if time is None or time == run.time or any(each.time == run.time for each in seen):
        return _Reason(Cause.NO_MATCH if facts.needs_machine else Cause.NOT_STARTED)
    if facts.due is not None and not is_named(facts.due, time):
        return _Reason(misreading(facts), f"DeferralTime was {time}")
    if time < run.time <= time + run.window:
        return _Reason(Cause.WINDOW_OVERLAP, f"DeferralTime was {time}")
    return _Reason(Cause.NOT_COMPUTED, f"DeferralTime was {time}")


def misreading(facts: JobFacts) -> Cause:
    """Return why a schedd sets times that its job does not mean."""
    spec = None if facts.schedd is None else facts.schedd.spec
    return Cause.DAY_0 if spec is not None and has_day_zero(spec) else Cause.SCHEDD_READING


def _before(run: Deferral, history: JobHistory) -> list[Sighted]:
    """Return other evidence of the DeferralTime at a due time: a value seen before it, and then pending or open.

    Or a value seen after it that is earlier: a schedd only moves forward.
    """
    seen = history.sighted(0, run.time)[-1:]
    if seen and seen[0].time + run.window >= run.time:
        return seen
    return [each for each in history.sighted(run.last_start, LATEST)[:1] if each.time <= run.time]


def _computed(run: Deferral, since: int, facts: JobFacts) -> int | None:
    """Return the time that the schedd of an idle job had set at a due time; None if it is unknown.

    The schedd computes it at ``since``, and whenever a window is over.
    """
    recurrence = None if facts.schedd is None else facts.schedd.recurrence
    if recurrence is None or since >= run.time:
        return None
    asked = since
    try:
        for _ in range(_STEPS):
            time = int(recurrence.next(asked))
            if time + run.window >= run.time:
                return time
            asked = time + run.window + 1
    except CrondorError:
        return None
    return None


@dataclass(frozen=True, slots=True)
class JobStanding:
    """The state of a job in the queue; times are epoch seconds.

    ``latest`` is its last due time, ``outcome`` the last one that was started, missed or lost. ``last_success`` is the
    end of its last program with exit code 0, as far as is known. ``right_time`` is the correct DeferralTime of an idle
    job with a wrong one (crondor queue guard). The rest is as in ``status``.
    """

    job: JobId
    owner: str | None
    cmd: str | None
    state: ScheduledState
    schedule: JobSchedule | None
    deferral_time: int | None
    next: Deferral | None
    trouble: tuple[Diagnostic, ...]
    latest: DueRun | None = None
    outcome: DueRun | None = None
    last_start: int | None = None
    last_success: int | None = None
    is_gate_open: bool = False
    right_time: int | None = None

    @property
    def status(self) -> ScheduledJob:
        """The same as a schedd reports it, with no attributes but Owner and Cmd."""
        said = {"ClusterId": self.job.cluster, "ProcId": self.job.proc, "Owner": self.owner, "Cmd": self.cmd}
        queued = QueuedJob(ClassAd({name: value for name, value in said.items() if value is not None}))
        schedule, time = self.schedule, self.deferral_time
        if schedule is not None and schedule.recurrence is not None:
            schedule = schedule.with_time(time)
        return ScheduledJob(queued, self.state, schedule, time, self.next, self.trouble)


_FAR: Final = 86400 * 400  # seconds before a start in which its due time is searched


class RestingJob(NamedTuple):
    """A job of which an unchanged ad tells nothing new before ``until`` (epoch seconds).

    There may be very many, so what only its own moments need is packed as JSON. ``late`` is the number of its due times
    that are late.
    """

    job: JobId
    owner: str | None
    cmd: str | None
    facts: JobFacts
    schedule: JobSchedule | None  # as in JobStanding
    trouble: tuple[Diagnostic, ...]
    texts: Hashable  # of the ad at the last look
    until: int
    late: int
    packed: str

    def awake(self, queue: str) -> JobWatch:
        """Return the job with its history and its state; ``queue`` is the name of its queue."""
        history, numbers, runs, opened, said, (state, deferral_time, coming, *rest) = json.loads(self.packed)
        owned = str(self.job), self.owner, self.cmd
        found = [DueRun.unpacked(queue, *owned, each) if each else None for each in runs]
        watch = JobWatch(self.job, self.owner, self.cmd, JobHistory.unpacked(history), self.facts, self.texts)
        watch.latest, watch.outcome = found[0], found[-1]
        watch.open = [Deferral(*run) for run in opened]
        watch.said = [DueRun.unpacked(queue, *owned, each) for each in said]
        for name, number in zip(_NUMBERS, numbers, strict=True):
            setattr(watch, name, number)
        following = None if coming is None else Deferral(*coming)
        seen = ScheduledState(state), self.schedule, deferral_time, following, self.trouble
        ends = watch.history.ends
        watch.standing = JobStanding(self.job, self.owner, self.cmd, *seen, watch.latest, watch.outcome, *ends, *rest)
        return watch


@dataclass(slots=True)
class JobWatch:
    """One job: its facts, its history, and its open due times."""

    job: JobId
    owner: str | None
    cmd: str | None
    history: JobHistory = field(default_factory=JobHistory)
    facts: JobFacts = JobFacts()
    texts: Hashable = ()  # of the ad at the last look
    standing: JobStanding | None = None  # according to that ad
    latest: DueRun | None = None
    outcome: DueRun | None = None
    open: Sequence[Deferral] = ()
    said: Sequence[DueRun] = ()  # the last verdicts of open due times
    fresh_until: int = 0  # until when that holds if the ad does not change
    until: int = 0  # due times up to here were opened
    next_due: int | None = None
    cut_off: int | None = None  # number of evicted runs
    starts_seen: int = 0  # the last start counted
    is_logged: bool = False  # a user log records its starts
    is_remote: bool = False  # a schedd has, or had, a copy to run in its place

    def at_rest(self, now: int, grace: int) -> RestingJob | None:
        """Return the job packed after a look at ``now`` (epoch seconds); None if it has left the queue."""
        standing, last = self.standing, self.history.last
        if standing is None or self.history.gone is not None:
            return None
        moments = [moment for run in self.open for moment in _moments(run, self.history, grace) if moment > now]
        until = min(self.fresh_until, LATEST if self.next_due is None else self.next_due, *moments)
        runs = [self.latest] if self.outcome is self.latest else [self.latest, self.outcome]
        coming = None if standing.next is None else packed_times(standing.next)
        kept = (
            self.history.packed(is_whole=self.facts.due is None or bool(self.open)),
            [getattr(self, name) for name in _NUMBERS],
            [each and each.packed() for each in runs],
            [packed_times(run) for run in self.open],
            [each.packed() for each in self.said],
            (standing.state.value, standing.deferral_time, coming, standing.is_gate_open, standing.right_time),
        )
        return RestingJob(
            self.job, self.owner, self.cmd, self.facts, standing.schedule, standing.trouble, self.texts,
            now if last is not None and last.time > now else until,
            sum(each.verdict is Verdict.LATE for each in self.said),
            _encoded(kept),
        )  # fmt: skip


def _moments(run: Deferral, history: JobHistory, grace: int) -> tuple[int, ...]:
    """Return the times at which the verdict of an open due time may change, although nothing new is known."""
    start = history.ends[0]
    settled = () if start is None else (start + SETTLE + 1,)
    return run.time + grace + 1, run.last_start, run.last_start + 1, run.last_start + SETTLE + 1, *settled


_NUMBERS: Final = ("fresh_until", "until", "next_due", "cut_off", "starts_seen", "is_logged", "is_remote")
_encoded: Final = json.JSONEncoder(separators=(",", ":")).encode


def terms_of(queued: QueuedJob) -> tuple[Hashable, ...]:
    """Return what determines a job's due times; the DeferralTime of a crontab job is set by its schedd."""
    terms = (*queued.terms, queued.leaves)
    return (*terms[:TIME], None, *terms[TIME + 1 :]) if queued.is_crontab else terms


def run_at(schedule: JobSchedule | None, time: int, now: int) -> Deferral:
    """Return a run with its window; invalid lengths give no window."""
    if schedule is not None:
        try:
            return schedule.deferral(time, now)
        except CrondorError:
            pass
    return Deferral(time)


def note_end(watch: JobWatch, queued: QueuedJob) -> None:
    """Record how the last run ended: with success, with failure, or evicted (NumJobCompletions does not grow)."""
    start = watch.history.last_start
    if start is None or not watch.facts.has_shadow:
        return
    end = watch.history.end_of(start)
    if end is None:
        return
    completions = count(queued.ad, "NumJobCompletions")
    cut_off = count(queued.ad, "NumJobStarts") - completions
    before, watch.cut_off = watch.cut_off, cut_off
    if watch.is_remote:
        return  # the starts of a copy are transferred, its completions are not
    if (before is None and completions == 0) or (before is not None and cut_off > before):
        if queued.status is JobStatus.IDLE and cut_off > 0:
            watch.history.lose(start)
        return
    how = ending(queued.ad)
    if completions and how is not None and not how.by_signal and how.number == 0:
        watch.history.succeed(end.time)


def is_planned(start: Start, due: JobTimes, schedule: JobSchedule | None) -> bool:
    """Return whether a start belongs to a due time."""
    if start.due is not None:
        return is_due(due, start.due)
    time = last_due(due, start.time - _FAR, start.time + CLOCKS)
    return time is not None and start.time <= run_at(schedule, time, start.time).last_start + CLOCKS


def is_lost(run: DueRun | None) -> bool:
    """Return whether a due time is lost since its job has left, so that later ones need no verdict."""
    return run is not None and run.cause is Cause.LEFT_QUEUE


_RECONNECT_FAILED: Final = 24
_LONGEST: Final = 300

OF_COPIES: Final = frozenset((EventType.EXECUTE, EventType.JOB_EVICTED))
"""Events that mean neither a start nor a loss if a copy runs in place of the job.

A router, or the gridmanager for a job of grid_resource condor, writes them when the copy is matched, even if it then
waits for its time, and when it is idle again (HTCondor 25.14).
"""


def log_event(history: JobHistory, event: JobEvent) -> None:
    """Add a log event to a history. A log has no DeferralTime, only the start of the program."""
    time, number = int(event.time), event.number
    said = event.attributes
    if number == EventType.EXECUTE:
        history.start(Start(time))
        history.turn(Turn(time, JobCondition.RUNNING))
    elif number == EventType.JOB_HELD:
        code = integer_of(said.get("HoldReasonCode"))
        history.turn(Turn(time, JobCondition.HELD, code, str(said.get("HoldReason", ""))[:_LONGEST]))
    elif number in (EventType.SUBMIT, EventType.JOB_RELEASED):
        history.turn(Turn(time, JobCondition.IDLE))
    elif number == EventType.JOB_EVICTED:
        is_loss = not said.get("TerminatedAndRequeued")
        if not is_loss and said.get("ReturnValue") == 0:
            history.succeed(time)
        reason = str(said.get("Reason", ""))[:_LONGEST] if is_loss else ""
        history.turn(Turn(time, JobCondition.IDLE, reason=reason, is_loss=is_loss))
    elif number in (EventType.SHADOW_EXCEPTION, _RECONNECT_FAILED):
        reason = "its machine does not answer" if number == _RECONNECT_FAILED else "its shadow failed"
        history.turn(Turn(time, JobCondition.IDLE, reason=reason, is_loss=True))
    elif number == EventType.JOB_TERMINATED:
        if said.get("ReturnValue") == 0:
            history.succeed(time)
        history.turn(Turn(time, JobCondition.GONE, reason=COMPLETED))
    elif number == EventType.JOB_ABORTED:
        history.turn(Turn(time, JobCondition.GONE, reason=str(said.get("Reason", "removed"))[:_LONGEST]))
