"""Due times and their verdicts, and a job's known history."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import Any, Final, NamedTuple

from crondor.classad import Context
from crondor.codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.deferral import Deferral
from crondor.diagnostics import CrondorError
from crondor.job.attributes import ON_MACHINE, JobStatus, count, int32, integer
from crondor.job.policy import QueuedJob
from crondor.recurrence import NotASet
from crondor.schedule import Universe
from crondor.times import JobTimes


class Verdict(str, Enum):
    """What became of a due time; the verdict may change until ``DueRun.is_final`` is true."""

    AHEAD = "ahead"  # the next due time, still to come
    DUE = "due"  # it has come, and the grace period has not passed
    LATE = "late"  # the grace period has passed without a start, but the job may still start
    STARTED = "started"
    MISSED = "missed"  # the job was in the queue and did not start in time
    LOST = "lost"  # the job had left the queue, or its run was evicted
    UNKNOWN = "unknown"  # nobody looked at that time, and the remaining records do not show it
    UNPLANNED = "unplanned"  # a program started without a due time


class Cause(str, Enum):
    """Why a due time was late, missed or lost."""

    HELD_20 = "held-20"
    HELD_25 = "held-25"
    HELD = "held"
    NO_MATCH = "no-match"
    NOT_STARTED = "not-started"
    NEVER_MATCHES = "never-matches"
    DAY_0 = "day-0"
    SCHEDD_READING = "schedd-reading"
    STILL_RUNNING = "still-running"
    WINDOW_OVERLAP = "window-overlap"
    NOT_COMPUTED = "not-computed"
    LEFT_QUEUE = "left-queue"
    ROUTER = "router"
    STARTER_GONE = "starter-gone"
    EVICTED = "evicted"
    UNSEEN = "unseen"


WORDS: Final = {
    Cause.HELD_20: "it reached its machine after its window, and was held",
    Cause.HELD_25: "the schedd could not read its schedule, and held it",
    Cause.HELD: "it was on hold",
    Cause.NO_MATCH: "it was idle, and no machine took it in its window",
    Cause.NOT_STARTED: "it was idle, and nothing started it in its window",
    Cause.NEVER_MATCHES: "its Requirements can never be true",
    Cause.DAY_0: "the schedd had set another time, because of its day-0 defect",
    Cause.SCHEDD_READING: "the schedd reads its schedule differently, and had set another time",
    Cause.STILL_RUNNING: "an earlier run had not ended",
    Cause.WINDOW_OVERLAP: "the window of an earlier time was open, and a schedd sets the next time only after it",
    Cause.NOT_COMPUTED: "the schedd had not set this time when it came",
    Cause.LEFT_QUEUE: "it had left the queue",
    Cause.ROUTER: "a job router had it, and its copy did not start",
    Cause.STARTER_GONE: "it was matched and did not start: its starter has ended, or hangs",
    Cause.EVICTED: "its run was evicted",
    Cause.UNSEEN: "its ad does not show it: a user log, the history, or a look at that time would",
}
"""The cause as part of a sentence about a job."""


def packed_times(run: Deferral) -> tuple[int, ...]:
    """Return the values of a Deferral."""
    return run.time, run.window, run.prep_time, run.schedd_interval


@dataclass(frozen=True, slots=True)
class DueRun:
    """A due time of a job and what became of it; an UNPLANNED start has its DeferralTime, or its own time.

    ``run`` has the times (epoch seconds). ``started`` is the start of its program, None if it did not start. ``detail``
    adds a fact to the cause, such as a HoldReason; ``code`` is the HoldReasonCode. ``before`` is the previous verdict.
    """

    queue: str
    job: str
    owner: str | None
    cmd: str | None
    run: Deferral
    verdict: Verdict
    cause: Cause | None = None
    started: int | None = None
    detail: str = ""
    code: int | None = None
    is_final: bool = True
    before: Verdict | None = None

    def packed(self) -> tuple[object, ...]:
        """Return what the run does not have in common with its job, as values that JSON has."""
        cause, before = (None if each is None else each.value for each in (self.cause, self.before))
        said = self.started, self.detail, self.code, self.is_final
        return packed_times(self.run), self.verdict.value, cause, *said, before

    @classmethod
    def unpacked(cls, queue: str, job: str, owner: str | None, cmd: str | None, values: Sequence[Any]) -> DueRun:
        """Return the run of a job from packed values."""
        run, verdict, cause, started, detail, code, is_final, before = values
        why, was = None if cause is None else Cause(cause), None if before is None else Verdict(before)
        said = started, detail, code, is_final, was
        return cls(queue, job, owner, cmd, Deferral(*run), Verdict(verdict), why, *said)

    @property
    def delay(self) -> int | None:
        """Seconds from its time to its start; None if unknown."""
        return None if self.started is None else self.started - self.run.time

    def is_news(self, before: DueRun | None) -> bool:
        """Return whether it has news compared with the previous result for the same due time."""
        return before is None or (self.verdict, self.cause, self.started) != (
            before.verdict,
            before.cause,
            before.started,
        )

    @property
    def why(self) -> str:
        """The cause in words; empty without one."""
        if self.cause is None:
            return ""
        return f"{WORDS[self.cause]}: {self.detail}" if self.detail else WORDS[self.cause]


_BEGUN = frozenset((Verdict.STARTED, Verdict.LOST))


@dataclass
class Totals:
    """Counts of due times since the monitor started, including the last one of each job before that.

    A run that started and was later evicted counts as started and as lost.
    """

    due: int = 0
    started: int = 0
    unknown: int = 0
    unplanned: int = 0
    missed: Counter[Cause] = field(default_factory=Counter)
    lost: Counter[Cause] = field(default_factory=Counter)

    def add(self, runs: Iterable[DueRun]) -> None:
        """Count the news of a look."""
        for run in runs:
            if run.verdict is Verdict.UNPLANNED:
                self.unplanned += 1
                continue
            self.due += run.before is None
            if run.verdict is Verdict.STARTED:
                self.started += run.before not in _BEGUN
            elif run.verdict is Verdict.UNKNOWN:
                self.unknown += 1
            elif run.verdict is Verdict.MISSED and run.cause is not None:
                self.missed[run.cause] += run.before is not Verdict.MISSED
            elif run.verdict is Verdict.LOST and run.cause is not None:
                self.started += run.started is not None and run.before not in _BEGUN
                self.lost[run.cause] += run.before is not Verdict.LOST


_MOST: Final = 100_000  # due times of one job between two looks
_SPANS: Final = tuple(3600 * hours for hours in (1, 24, 24 * 32, 24 * 400))  # searched for a schedd's last answer


# Due times follow the manual's reading, without the times that its requirements exclude. If the manual rejects a field
# that the schedd accepts, as minute 60, they follow the schedd's.
def due_between(times: JobTimes, after: int, until: int) -> Iterator[int]:
    """Yield the due times with ``after`` < time <= ``until`` (epoch seconds); none for a schedule that never runs."""
    try:
        yield from islice(times.runs(after, until), _MOST)
    except CrondorError:
        return


def last_due(times: JobTimes, after: int, until: int) -> int | None:
    """Return the last due time with ``after`` < time <= ``until``; None if there is none."""
    try:
        found = times.previous(until + 1)
    except NotASet:
        found = _last_of_chain(times, after, until)
    except CrondorError:
        return None
    return found if found > after else None


def _last_of_chain(times: JobTimes, after: int, until: int) -> int:
    """Return the last answer up to ``until`` of a schedd asked repeatedly; ``after`` if there is none."""
    for span in _SPANS:
        begin = max(after, until - span)
        found = max(due_between(times, begin, until), default=after)
        if found > after or begin == after:
            return found
    return after


def next_due(times: JobTimes, after: int) -> int | None:
    """Return the first due time after ``after``; None if the job never runs, or runs only outside the calendar."""
    try:
        return int(times.next(after))
    except CrondorError:
        return None


def is_due(times: JobTimes, time: int) -> bool:
    """Return whether a job is meant to run at a time."""
    try:
        return times.is_run(time)
    except CrondorError:
        return False


def is_named(times: JobTimes, time: int) -> bool:
    """Return whether a time is in the schedule, even if requirements exclude it: a schedd sets those too."""
    try:
        return time in times.named(time - 1, time)
    except CrondorError:
        return False


_MOST_EVENTS: Final = 64  # entries of each kind stored for a job
_MOST_AT_ONCE: Final = 10_000  # entries accepted before pruning
_MOST_AT_REST: Final = 8, 4  # turns of a job that waits for its next due time, and entries of the other kinds
_MOST_OF_RUN: Final = 4  # turns from a start to its end
_SAME: Final = 2  # seconds by which two records of one start may differ
_ON_EXIT: Final = "The job attribute OnExitHold expression"  # HoldReason without on_exit_hold_reason
CLOCKS: Final = 2
"""Seconds by which a machine's clock may differ."""


# Facts from ads, logs and the history are inserted by their own times, in any order. Only as many are stored as a few
# due times need.
class JobCondition(Enum):
    """A job's condition: WAITING is on a machine before its program starts, RUNNING after that.

    UNSEEN: it was matched and released between two looks.
    """

    IDLE = "idle"
    WAITING = "waiting"
    RUNNING = "running"
    HELD = "held"
    ROUTED = "routed"
    GONE = "gone"
    UNSEEN = "unseen"


ON_MACHINES: Final = frozenset((JobCondition.WAITING, JobCondition.RUNNING))


class Turn(NamedTuple):
    """The start of a condition at ``time`` (epoch seconds); ``code`` and ``reason`` are those of a hold or an end.

    ``is_loss``: it ended a run before its time.
    """

    time: int
    condition: JobCondition
    code: int | None = None
    reason: str = ""
    is_loss: bool = False

    @property
    def is_own(self) -> bool:
        """Whether this is a hold after the program ended by itself (on_exit_hold)."""
        return self.reason.startswith(_ON_EXIT)


_CONDITIONS: Final = tuple(JobCondition)
_NUMBERS: Final = {condition: number for number, condition in enumerate(_CONDITIONS)}
_PLAIN: Final = (None, "", False)  # what most turns have after their condition


class Stay(NamedTuple):
    """A turn and its end; None: it lasts as far as is known."""

    turn: Turn
    until: int | None


class Start(NamedTuple):
    """The start of a program at ``time``; ``due`` is its DeferralTime, None if unknown."""

    time: int
    due: int | None = None


class Sighted(NamedTuple):
    """A DeferralTime seen in the ad from ``first`` to ``last``."""

    time: int
    first: int
    last: int


class JobHistory:
    """The turns, starts and DeferralTimes of one job, in the order of time."""

    __slots__ = ("_matches", "_seen", "_sighted", "_starts", "_turns", "entered", "success")

    def __init__(self) -> None:
        self.entered: int | None = None  # when the job entered the queue
        self.success: int | None = None  # end of the last program with exit code 0
        self._turns: list[Turn] = []
        self._seen: int | None = None  # time of the last look
        self._matches = 0  # number of matches at that time
        self._starts: list[Start] = []
        self._sighted: list[Sighted] = []

    def packed(self, *, is_whole: bool) -> tuple[object, ...]:
        """Return the history as values that JSON has; the last run is enough if each later due time is ahead."""
        most, others = (_MOST_EVENTS, _MOST_EVENTS) if is_whole else _MOST_AT_REST
        older, kept = self._turns[:-most], self._turns[-most:]
        if older and self._starts:  # the turns that tell how the last run ended, however long ago
            begin = max(0, self._index_after(self._starts[-1]) - 1)
            kept = older[begin : begin + _MOST_OF_RUN] + kept
        turns = [(turn.time, _NUMBERS[turn.condition], *(turn[2:] if turn[2:] != _PLAIN else ())) for turn in kept]
        starts, sighted = (kept[-others:] for kept in (self._starts, self._sighted))
        return self.entered, self.success, self._seen, self._matches, turns, starts, sighted

    @classmethod
    def unpacked(cls, values: Sequence[Any]) -> JobHistory:
        """Return the history of packed values."""
        made = cls()
        made.entered, made.success, made._seen, made._matches, turns, starts, sighted = values
        made._turns = [Turn(time, _CONDITIONS[number], *rest) for time, number, *rest in turns]
        made._starts = [Start(*start) for start in starts]
        made._sighted = [Sighted(*each) for each in sighted]
        return made

    # Inserting

    def turn(self, new: Turn) -> None:
        """Insert a turn, unless it is known or changes nothing."""
        turns = self._turns
        at = bisect_right(turns, new.time, key=_time_of)
        while new.condition is JobCondition.IDLE and at and _ends_at(turns[at - 1], new.time):
            at -= 1  # a log has the eviction first, then the hold
        before = turns[at - 1] if at else None
        if before is not None and _is_same(before, new):
            if new.is_loss and new.time - before.time <= _SAME:
                turns[at - 1] = before._replace(is_loss=True)
            return
        if any(each.condition is new.condition for each in turns[max(0, at - 3) : at] if each.time == new.time):
            return
        if new.code == MISSED_DEFERRED_EXECUTION_TIME and before is not None:
            self._unbegin(before, at - 1)
        turns.insert(at, new)
        del turns[:-_MOST_AT_ONCE]

    def match(self, time: int) -> None:
        """Record that an idle job was matched: its previous condition has ended."""
        at = bisect_right(self._turns, time, key=_time_of)
        if not any(
            turn.time == time and turn.condition is JobCondition.WAITING for turn in self._turns[max(0, at - 3) : at]
        ):
            self.turn(Turn(time, JobCondition.IDLE))
            self.turn(Turn(time, JobCondition.WAITING))

    def prune(self) -> None:
        """Forget old entries."""
        for kept in (self._turns, self._starts, self._sighted):
            if len(kept) > _MOST_EVENTS:
                del kept[:-_MOST_EVENTS]

    def _unbegin(self, before: Turn, at: int) -> None:
        """Take back the start before a hold of code 20: shadow and user log report one, but no program started."""
        if before.condition is JobCondition.RUNNING:
            self._turns[at] = before._replace(condition=JobCondition.WAITING)
            self._starts = [start for start in self._starts if abs(start.time - before.time) > _SAME]

    def start(self, new: Start) -> bool:
        """Insert a start, and return whether it is new."""
        starts = self._starts
        at = bisect_right(starts, new.time + _SAME, key=_time_of)
        if at and starts[at - 1].time >= new.time - _SAME:
            if starts[at - 1].due is None:
                starts[at - 1] = starts[at - 1]._replace(due=new.due)
            return False
        starts.insert(at, new)
        del starts[:-_MOST_AT_ONCE]
        return True

    def sight(self, time: int, now: int) -> None:
        """Record the DeferralTime of an ad seen at ``now``."""
        sighted = self._sighted
        if sighted and sighted[-1].time == time:
            sighted[-1] = sighted[-1]._replace(last=now)
            return
        sighted.append(Sighted(time, now, now))

    def succeed(self, time: int) -> None:
        """Record that a program ended with exit code 0."""
        self.success = time if self.success is None else max(self.success, time)

    def lose(self, start: Start) -> None:
        """Record that a run was evicted, if its end is known."""
        at = self._index_after(start)
        for number in range(at, len(self._turns)):
            if self._turns[number].condition not in ON_MACHINES:
                self._turns[number] = self._turns[number]._replace(is_loss=True)
                return

    def see(self, now: int, matches: int, told: list[int]) -> int | None:
        """Record a look, and return the time of the one before.

        ``matches`` is the number of the job's matches so far, ``told`` their times known from the ad. If it was matched
        more often since the look before, its condition from then on is unknown.
        """
        seen, self._seen = self._seen, now
        before, self._matches = self._matches, matches
        if seen is not None and matches - before > sum(seen < time <= now for time in told):
            self.turn(Turn(seen, JobCondition.UNSEEN))
        return seen

    def look_again(self, now: int) -> None:
        """Record a look that found no change."""
        seen, self._seen = self._seen, now
        if self._sighted and self._sighted[-1].last == seen:
            self._sighted[-1] = self._sighted[-1]._replace(last=now)

    # Asking

    @property
    def last(self) -> Turn | None:
        """The last turn."""
        return self._turns[-1] if self._turns else None

    @property
    def last_start(self) -> Start | None:
        """The last start."""
        return self._starts[-1] if self._starts else None

    @property
    def ends(self) -> tuple[int | None, int | None]:
        """The time of the last start, and the end of the last program with exit code 0."""
        return self._starts[-1].time if self._starts else None, self.success

    @property
    def gone(self) -> Turn | None:
        """The turn with which the job left the queue, None if it is still there."""
        return next((turn for turn in reversed(self._turns) if turn.condition is JobCondition.GONE), None)

    def stays(self, begin: int, end: int) -> list[Stay]:
        """Return the job's conditions from ``begin`` to ``end``, inclusive; before the first turn they are unknown."""
        turns = self._turns
        first = max(0, bisect_right(turns, begin, key=_time_of) - 1)
        past = bisect_right(turns, end, key=_time_of)
        return [Stay(turns[at], turns[at + 1].time if at + 1 < len(turns) else None) for at in range(first, past)]

    def sighted(self, begin: int, end: int) -> list[Sighted]:
        """Return the DeferralTimes seen from ``begin`` to ``end``."""
        return [each for each in self._sighted if each.last >= begin and each.first <= end]

    def starts_for(self, due: int, last_start: int, following: int | None) -> list[Start]:
        """Return the starts for a due time; ``following`` is the next due time, which has its own starts.

        A start with a known DeferralTime belongs to that time only. An evicted run may start again.
        """
        last = last_start + CLOCKS if following is None else min(last_start + CLOCKS, following - CLOCKS - 1)
        return [
            start
            for start in self._starts
            if start.due == due or (start.due is None and due - CLOCKS <= start.time <= last)
        ]

    def starts_since(self, time: int) -> list[Start]:
        """Return the starts at or after a time."""
        return self._starts[bisect_right(self._starts, time - 1, key=_time_of) :]

    def end_of(self, start: Start) -> Turn | None:
        """Return the turn that ended a run, None if it continues or that is unknown."""
        at = self._index_after(start)
        ends = [turn for turn in self._turns[at:] if turn.condition not in ON_MACHINES][:2]
        if len(ends) > 1 and _ends_at(ends[1], ends[0].time):
            return ends[1]  # the reason of the eviction
        return ends[0] if ends else None

    def _index_after(self, start: Start) -> int:
        """Return the index of the turn after the start of a program; past the last if it is forgotten."""
        past = bisect_right(self._turns, start.time + _SAME, key=_time_of) or len(self._turns)
        begun = next((at for at in reversed(range(past)) if _is_begin(self._turns[at], start)), None)
        return past if begun is None else begun + 1


def _is_begin(turn: Turn, start: Start) -> bool:
    return turn.condition is JobCondition.RUNNING and abs(turn.time - start.time) <= _SAME


def _is_same(before: Turn, new: Turn) -> bool:
    """Return whether a turn changes nothing: the same condition, and the same code of a hold."""
    return before.condition is new.condition and (new.condition is not JobCondition.HELD or before.code == new.code)


def _ends_at(turn: Turn, time: int) -> bool:
    return turn.time == time and turn.condition in (JobCondition.HELD, JobCondition.GONE)


def _time_of(each: Turn | Start) -> int:
    return each.time


_EXTERNAL: Final = "External"  # Managed: by a router or the gridmanager
_LONGEST: Final = 300  # characters of a reason
_AHEAD: Final = 60  # seconds by which a machine's clock may be ahead of ours
_THERE: Final = ON_MACHINE | {JobStatus.TRANSFERRING_OUTPUT}
_ENDS: Final = {
    JobStatus.IDLE: JobCondition.IDLE,
    JobStatus.HELD: JobCondition.HELD,
    JobStatus.REMOVED: JobCondition.GONE,
    JobStatus.COMPLETED: JobCondition.GONE,
}
COMPLETED: Final = "completed"


# A shadow sets JobCurrentStartExecutingDate when the program starts; it remains after the run. JobCurrentStartDate, the
# time of the match, becomes JobLastStartDate at the next match. A finished match lasted LastRemoteWallClockTime. Local
# jobs have all of these except JobCurrentStartExecutingDate: for a schedd that starts a job itself, that is a match
# (HTCondor 25.14, a personal pool).
def sight(
    history: JobHistory, queued: QueuedJob, now: int, *, sees_deferral_time: bool = True, is_logged: bool = False
) -> None:
    """Record an ad seen at ``now`` (epoch seconds); its DeferralTime only if it is seen without delay.

    ``is_logged``: a user log records each start, also between two looks.
    """
    status, ad = queued.status, queued.ad
    if status is None:
        return
    since = _past(integer(ad, "EnteredCurrentStatus"), now)
    if since is None:
        since = now  # without a date in the ad, only its present state is known
    due = integer(ad, "DeferralTime", Context(now=now)) if sees_deferral_time else None
    if due is not None and status not in (JobStatus.REMOVED, JobStatus.COMPLETED):
        history.sight(due, now)
    last, there = (_past(integer(ad, name), now) for name in ("JobLastStartDate", "JobCurrentStartDate"))
    matches = 0 if is_logged else count(ad, "NumShadowStarts")
    seen = history.see(now, matches, [time for time in (last, there) if time is not None])
    began = _began(queued, status, since, now)
    if last is not None and last <= since:
        is_unseen = not is_logged and began is not None and there is not None and began >= there
        if is_unseen and (seen is None or seen < last):
            history.turn(Turn(last, JobCondition.UNSEEN))  # no ad shows any longer when its program started
        else:
            history.match(last)
    was_held = not is_logged and seen is None and count(ad, "NumHolds") > 0
    away = JobCondition.UNSEEN if was_held else JobCondition.IDLE
    if status in _THERE:
        _sight_there(history, queued, since, began, due, away)
        return
    if there is not None and there <= since:
        history.match(there)
    if began is not None:
        _begin(history, began, _made_up(queued, began))
    if int32(ad, "LastJobStatus") not in _THERE:
        _end(history, queued, there, since, away)
    history.turn(_turn(queued, status, since))


def has_copy(queued: QueuedJob) -> bool:
    """Return whether a copy runs in place of a job: made by a router, or by the gridmanager in another schedd."""
    is_grid = (queued.string("GridResource") or "").lower().startswith("condor ")
    return "RoutedToJobId" in queued.ad or (is_grid and queued.integer("JobUniverse") == Universe.GRID)


def _sight_there(
    history: JobHistory, queued: QueuedJob, since: int, began: int | None, due: int | None, away: JobCondition
) -> None:
    """Record that a job is on a machine, and whether its program has started; ``away`` as for ``_end``."""
    there, last = (integer(queued.ad, name) for name in ("JobCurrentStartDate", "JobLastStartDate"))
    has_come = int32(queued.ad, "LastJobStatus") == JobStatus.IDLE
    if began is not None and _is_of_match(began, there, due):
        if has_come:
            history.match(since)
        made_up = _made_up(queued, began)
        _begin(history, began, due if made_up is None else made_up)
        return
    if began is not None:
        _begin(history, began, None)
    _end(history, queued, last, since, away)
    if there is None:
        history.turn(Turn(since, JobCondition.UNSEEN))  # a shortened ad does not show whether its program started
    elif has_come:
        history.match(since)
    else:
        history.turn(Turn(since, JobCondition.WAITING))


def _begin(history: JobHistory, began: int, due: int | None) -> None:
    history.start(Start(began, due))
    history.turn(Turn(began, JobCondition.RUNNING))


def _made_up(queued: QueuedJob, began: int) -> int | None:
    """Return the missed time that a run makes up, None if it is no such run (crondor.schedd.guard)."""
    time = queued.integer("CrondorCatchUpTime")
    if time is None or not time - CLOCKS <= began <= time + (queued.integer("DeferralWindow") or 0) + CLOCKS:
        return None
    return queued.integer("CrondorCaughtUp")


def _is_of_match(began: int, there: int | None, due: int | None) -> bool:
    """Return whether the last start belongs to the present match, and not to an earlier one.

    A run may have ended in the second of the next match; none starts before its DeferralTime.
    """
    return (there is None or began >= there) and (due is None or began >= due - CLOCKS)


def _began(queued: QueuedJob, status: JobStatus, since: int, now: int) -> int | None:
    """Return the start of the last program, None if unknown; a hold of code 20 means that none started."""
    began = integer(queued.ad, "JobCurrentStartExecutingDate")
    if began is None or not 0 < began <= now + _AHEAD:
        return None
    if status is not JobStatus.HELD:
        return began
    missed = queued.integer("HoldReasonCode") == MISSED_DEFERRED_EXECUTION_TIME
    there = integer(queued.ad, "JobCurrentStartDate")
    return None if missed and (there is None or began >= there) and began <= since else began


def _end(history: JobHistory, queued: QueuedJob, begin: int | None, since: int, away: JobCondition) -> None:
    """Record the end of the last finished match, which began at ``begin``, if the ad shows it.

    ``away`` is the condition from then to ``since``; if the job was held before the first look, that time is unknown.
    """
    length = integer(queued.ad, "LastRemoteWallClockTime")
    if begin is not None and length is not None and begin + length <= since:
        history.turn(Turn(begin + length, away))


def _turn(queued: QueuedJob, status: JobStatus, since: int) -> Turn:
    condition = _ENDS[status]
    if condition is JobCondition.HELD:
        return Turn(since, condition, queued.integer("HoldReasonCode"), _short(queued.string("HoldReason")))
    if status is JobStatus.REMOVED:
        return Turn(since, condition, reason=_short(queued.string("RemoveReason")) or "removed")
    if status is JobStatus.COMPLETED:
        return Turn(since, condition, reason=COMPLETED)
    has_manager = queued.string("Managed") == _EXTERNAL
    by_router = has_manager and ("RoutedToJobId" in queued.ad or queued.integer("JobUniverse") != Universe.GRID)
    return Turn(since, JobCondition.ROUTED if by_router else condition)


def _past(time: int | None, now: int) -> int | None:
    """Return a time from an ad, None if missing; a time ahead of our clock counts as now."""
    return None if time is None or time <= 0 else min(time, now)


def _short(text: str | None) -> str:
    return (text or "")[:_LONGEST]
