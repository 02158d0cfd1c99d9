"""What a job did, as far as it was seen: one condition after the other, its starts, the DeferralTimes it had.

What comes from ads, logs and the history is put in by its own time, in whatever order it is found. Of each only so much
is kept as a few due times need.
"""

from __future__ import annotations

from bisect import bisect_right
from enum import Enum
from typing import Final, NamedTuple

from crondor.hold_codes import MISSED_DEFERRED_EXECUTION_TIME

_MOST: Final = 64  # of each kind that a job keeps
_MOST_AT_ONCE: Final = 10_000  # that it may take in between
_SAME: Final = 2  # seconds by which two reports of one start may differ
_ON_EXIT: Final = "The job attribute OnExitHold expression"  # HoldReason, where on_exit_hold_reason says nothing else
CLOCKS: Final = 2
"""Seconds by which the clock of a machine may be ahead or behind."""


class JobCondition(Enum):
    """What a job does: on a machine, WAITING is before its program begins, RUNNING after that.

    UNSEEN: it came to machines and went, and nobody looked.
    """

    IDLE = "idle"
    WAITING = "waiting"
    RUNNING = "running"
    HELD = "held"
    ROUTED = "routed"
    GONE = "gone"
    UNSEEN = "unseen"


_ON_MACHINE: Final = frozenset((JobCondition.WAITING, JobCondition.RUNNING))


class Turn(NamedTuple):
    """From ``time`` on (epoch seconds) a job is in a condition; ``code`` and ``reason`` are those of a hold or an end.

    ``is_loss``: a run was cut off by it.
    """

    time: int
    condition: JobCondition
    code: int | None = None
    reason: str = ""
    is_loss: bool = False

    @property
    def is_own(self) -> bool:
        """Whether it is the hold of a job whose program had ended by itself (on_exit_hold)."""
        return self.reason.startswith(_ON_EXIT)


class Stay(NamedTuple):
    """A turn, and until when it lasted: None, as far as is known."""

    turn: Turn
    until: int | None


class Start(NamedTuple):
    """A program began at ``time``; ``due`` is the DeferralTime it was for, None where that is not known."""

    time: int
    due: int | None = None


class Sighted(NamedTuple):
    """A DeferralTime that the ad had from ``first`` to ``last``, as far as it was looked at."""

    time: int
    first: int
    last: int


class JobHistory:
    """The turns, starts and DeferralTimes of one job, in the order of time."""

    __slots__ = ("_matches", "_seen", "_sighted", "_starts", "_turns", "success")

    def __init__(self) -> None:
        """Know nothing."""
        self.success: int | None = None  # when the last program ended that ended with exit code 0
        self._turns: list[Turn] = []
        self._seen: int | None = None  # when it was looked at last
        self._matches = 0  # how often it had come to a machine by then
        self._starts: list[Start] = []
        self._sighted: list[Sighted] = []

    # Putting in

    def turn(self, new: Turn) -> None:
        """Take a turn in; one that is known, or changes nothing, is left out."""
        turns = self._turns
        at = bisect_right(turns, new.time, key=_time_of)
        while new.condition is JobCondition.IDLE and at and _ends_at(turns[at - 1], new.time):
            at -= 1  # a log tells of the eviction first, and then of the hold
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
        """Take in that an idle job has come to a machine: whatever it did before had ended."""
        at = bisect_right(self._turns, time, key=_time_of)
        if not any(
            turn.time == time and turn.condition is JobCondition.WAITING for turn in self._turns[max(0, at - 3) : at]
        ):
            self.turn(Turn(time, JobCondition.IDLE))
            self.turn(Turn(time, JobCondition.WAITING))

    def prune(self) -> None:
        """Forget what is old."""
        for kept in (self._turns, self._starts, self._sighted):
            if len(kept) > _MOST:
                del kept[:-_MOST]

    def _unbegin(self, before: Turn, at: int) -> None:
        """Take back the start before a hold of code 20: shadow and user log tell of one, and no program began."""
        if before.condition is JobCondition.RUNNING:
            self._turns[at] = before._replace(condition=JobCondition.WAITING)
            self._starts = [start for start in self._starts if abs(start.time - before.time) > _SAME]

    def start(self, new: Start) -> bool:
        """Take a start in, and say whether it was not known."""
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
        """Take note of the DeferralTime of an ad that was looked at ``now``."""
        sighted = self._sighted
        if sighted and sighted[-1].time == time:
            sighted[-1] = sighted[-1]._replace(last=now)
            return
        sighted.append(Sighted(time, now, now))

    def succeed(self, time: int) -> None:
        """Take note that a program ended with exit code 0."""
        self.success = time if self.success is None else max(self.success, time)

    def lose(self, start: Start) -> None:
        """Take note that a run was cut off, where its end is known."""
        at = self._behind(start)
        for number in range(at, len(self._turns)):
            if self._turns[number].condition not in _ON_MACHINE:
                self._turns[number] = self._turns[number]._replace(is_loss=True)
                return

    def see(self, now: int, matches: int, told: list[int]) -> int | None:
        """Take note of a look, and return when the one before was.

        ``matches`` is how often the job has come to a machine so far, and ``told`` when, as far as the ad tells. Where
        it came more often since the look before, what it did from then on is not known.
        """
        seen, self._seen = self._seen, now
        before, self._matches = self._matches, matches
        if seen is not None and matches - before > sum(seen < time <= now for time in told):
            self.turn(Turn(seen, JobCondition.UNSEEN))
        return seen

    def look_again(self, now: int) -> None:
        """Take note of a look that found the same as the one before."""
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
    def gone(self) -> Turn | None:
        """The turn by which the job has left, None while it is there."""
        return next((turn for turn in reversed(self._turns) if turn.condition is JobCondition.GONE), None)

    def stays(self, begin: int, end: int) -> list[Stay]:
        """Return what the job did from ``begin`` to ``end``, both included; that before the first turn is not known."""
        turns = self._turns
        first = max(0, bisect_right(turns, begin, key=_time_of) - 1)
        past = bisect_right(turns, end, key=_time_of)
        return [Stay(turns[at], turns[at + 1].time if at + 1 < len(turns) else None) for at in range(first, past)]

    def sighted(self, begin: int, end: int) -> list[Sighted]:
        """Return the DeferralTimes seen from ``begin`` to ``end``."""
        return [each for each in self._sighted if each.last >= begin and each.first <= end]

    def starts_for(self, due: int, last_start: int, following: int | None) -> list[Start]:
        """Return the starts that are a due time's; ``following`` is the next due time, which takes what is its own.

        A start whose DeferralTime is known is that one's and no other's. A run that was cut off may begin again.
        """
        last = last_start + CLOCKS if following is None else min(last_start + CLOCKS, following - CLOCKS - 1)
        return [
            start
            for start in self._starts
            if start.due == due or (start.due is None and due - CLOCKS <= start.time <= last)
        ]

    def starts_since(self, time: int) -> list[Start]:
        """Return the starts from a time on."""
        return self._starts[bisect_right(self._starts, time - 1, key=_time_of) :]

    def end_of(self, start: Start) -> Turn | None:
        """Return the turn that ended a run, None while it goes on or where that is not known."""
        at = self._behind(start)
        ends = [turn for turn in self._turns[at:] if turn.condition not in _ON_MACHINE][:2]
        if len(ends) > 1 and _ends_at(ends[1], ends[0].time):
            return ends[1]  # what it was evicted for
        return ends[0] if ends else None

    def _behind(self, start: Start) -> int:
        """Return the number of the turn behind the one by which a program began."""
        past = bisect_right(self._turns, start.time + _SAME, key=_time_of)
        begun = next((at for at in reversed(range(past)) if _is_begin(self._turns[at], start)), None)
        return past if begun is None else begun + 1


def _is_begin(turn: Turn, start: Start) -> bool:
    return turn.condition is JobCondition.RUNNING and abs(turn.time - start.time) <= _SAME


def _is_same(before: Turn, new: Turn) -> bool:
    """Say whether a turn changes nothing: the condition is the same, and of a hold its code."""
    return before.condition is new.condition and (new.condition is not JobCondition.HELD or before.code == new.code)


def _ends_at(turn: Turn, time: int) -> bool:
    return turn.time == time and turn.condition in (JobCondition.HELD, JobCondition.GONE)


def _time_of(each: Turn | Start) -> int:
    return each.time
