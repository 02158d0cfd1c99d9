"""What a preview is made of: runs, rows of two readings side by side, and reasons for their difference.

A preview may have 100,000 rows: only the times of runs are kept, and rows are made as often as they are asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator

from crondor._named_tuple import NamedTuple
from crondor.deferral import Deferral
from crondor.recurrence import ClockMark, Recurrence, ScheddAnswer
from crondor.spec import Dialect


class RunSide(NamedTuple):
    """One side of a row, at ``time`` (epoch seconds); ``answer`` is the schedd's own, which says whether it is a retry.

    ``mark`` says what a clock change did to it.
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
        """What stands behind its time: nothing for most."""
        said = "retry" if self.is_retry else "" if self.mark is None else str(self.mark)
        return f" ({said})" if said else ""

    @property
    def is_retry(self) -> bool:
        """Say whether the schedd put the job off by two minutes."""
        return self.answer is not None and self.answer.is_retry


class Runs:
    """The runs of one reading in order; ``times`` are epoch seconds."""

    def __init__(
        self,
        times: Iterable[int] = (),
        deferral_at: Callable[[int], Deferral] = Deferral,
        recurrence: Recurrence | None = None,
    ) -> None:
        """Take times of the recurrence, None for a job without one, and how a time becomes a run."""
        self._deferral_at = deferral_at
        self._recurrence = recurrence
        self._is_chain = recurrence is not None and recurrence.spec.dialect is Dialect.HTCONDOR
        # Most answers of a schedd say no more than their time, and are made again.
        self._odd: dict[int, ScheddAnswer | None] = {}
        if not self._is_chain:
            self.times = array("q", times)
            return
        self.times = array("q")
        for time in times:
            self.times.append(time)
            if not isinstance(time, ScheddAnswer):
                self._odd[time] = None
            elif not time.is_plain:
                self._odd[time] = time

    def __len__(self) -> int:
        """Return their number."""
        return len(self.times)

    def __iter__(self) -> Iterator[RunSide]:
        """Yield the runs."""
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


class RunRow(NamedTuple):
    """A run in the dialect asked for, or in MANUAL, and beside it what the real schedd does at that time.

    ``compared`` is False where there is nothing to compare with: one dialect only, or a chain that was cut before.
    """

    number: int
    run: RunSide | None
    schedd: RunSide | None = None
    compared: bool = False

    @property
    def differs(self) -> bool:
        """Say whether the two sides part."""
        if not self.compared:
            return False
        return (self.run and self.run.time) != (self.schedd and self.schedd.time)


class Rows:
    """The rows of two readings, paired by time, or of one alone.

    A side that was cut at ``count`` runs says nothing about later times: the schedd's cell is then not compared, and
    a run that only the schedd has is left out.
    """

    def __init__(self, ours: Runs, theirs: Runs | None = None, count: int | None = None) -> None:
        """Take the runs of the reading asked for, and of the schedd where it is compared with them."""
        self._ours, self._theirs = ours, theirs
        self._last = ours.times[-1] if len(ours) == count else None
        self._reached = theirs.times[-1] if theirs is not None and len(theirs) == count else None
        self._number = len(ours)
        self.differing = 0
        if theirs is not None and ours.times != theirs.times:
            self._number = 0
            for mine, other in self._paired(theirs):
                self._number += 1
                self.differing += mine != other and self._is_compared(mine or other or 0)

    def __len__(self) -> int:
        """Return their number."""
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


class DialectReason(NamedTuple):
    """Why the real schedd differs, and what to write so that it does not."""

    code: str
    why: str
    write: str | None = None
    is_clause: bool = False  # to be added to requirements, not to replace a line
