"""What a preview is made of: runs, rows of two readings side by side, and reasons for their difference.

A preview may have 100,000 rows: only the times of runs are kept, and rows are made as often as they are asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple, TypeVar

from crondor.calendar import DAY
from crondor.deferral import Deferral
from crondor.recurrence import ClockMark, Recurrence, ScheddAnswer
from crondor.spec import Dialect

_RETRY = 120  # seconds by which the schedd puts a job off
_MOST_RETRIES = 10_000  # that are taken as one run with others
_Item = TypeVar("_Item")
_Key = TypeVar("_Key", bound=Hashable)


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
        excludes: Callable[[int], bool] | None = None,
        *,
        most: int | None = None,
        is_one: bool = False,
    ) -> None:
        """Take times of the recurrence, None for a job without one, and how a time becomes a run.

        ``excludes`` says which times of the recurrence are no runs, None where all are. Of ``most`` times, a series of
        retries ``is_one``, or as many as it has.
        """
        self._deferral_at = deferral_at
        self._recurrence = recurrence
        self._excludes = excludes
        self._is_chain = recurrence is not None and recurrence.spec.dialect is Dialect.HTCONDOR
        # Most answers of a schedd say no more than their time, and are made again.
        self._odd: dict[int, ScheddAnswer | None] = {}
        self.rest = 0  # retries that are one with another
        if self._is_chain:
            self.times = array("q")
            self.is_cut = self._take(times, most, _MOST_RETRIES if is_one else 0)
        else:
            self.times = array("q", islice(times, most))
            self.is_cut = len(self.times) == most

    def _take(self, times: Iterable[int], most: int | None, free: int) -> bool:
        """Take a schedd's answers; so many retries that follow another are ``free``. Say whether there are ``most``."""
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

    def last_retry(self, time: int) -> int | None:
        """Return the last of the schedd's retries that follow one at ``time``, None where fewer than two do."""
        return None if self._recurrence is None else last_retry(self._recurrence, time, self._excludes)


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

    A side that was cut says nothing about later times: the schedd's cell is then not compared, and
    a run that only the schedd has is left out.
    """

    def __init__(self, ours: Runs, theirs: Runs | None = None) -> None:
        """Take the runs of the reading asked for, and of the schedd where it is compared with them."""
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

    def folded(self) -> Iterator[tuple[RunRow, int | None]]:
        """Yield the rows with None, a series of the schedd's retries as its first with the time of its last."""

        def retry_of(row: RunRow) -> tuple[Runs, int] | None:
            if row.run is None:
                return (self._theirs, row.schedd.time) if self._theirs and row.schedd and row.schedd.is_retry else None
            return (self._ours, row.run.time) if row.schedd is None and row.run.is_retry else None

        return folded(self, retry_of, Runs.last_retry)

    @property
    def shown(self) -> int:
        """How many rows ``folded`` yields."""
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
    """Say whether a time is the next retry of the series that the one before it belongs to."""
    if not (isinstance(before, ScheddAnswer) and isinstance(time, ScheddAnswer)):
        return False
    return before.is_retry and time.is_retry and time == before + _RETRY


def folded(
    items: Iterable[_Item],
    retry_of: Callable[[_Item], tuple[_Key, int] | None],
    last_of: Callable[[_Key, int], int | None],
) -> Iterator[tuple[_Item, int | None]]:
    """Yield items with None, and of each series of retries the first alone, with the time of the series' last one.

    ``retry_of`` returns whose retry an item is, and its time; ``last_of`` is ``last_retry`` of such a one.
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
    """Return the last of the schedd's retries that follow one at ``time`` every two minutes.

    None where fewer than two do.
    """
    last = time
    for answer in recurrence.upcoming(time):
        is_next = isinstance(answer, ScheddAnswer) and answer.is_retry and answer == last + _RETRY
        if not is_next or last > time + DAY or (excludes is not None and excludes(answer)):
            break
        last = int(answer)
    return last if last > time + _RETRY else None


class DialectReason(NamedTuple):
    """Why the real schedd differs, and what to write so that it does not."""

    code: str
    why: str
    write: str | None = None
    is_clause: bool = False  # to be added to requirements, not to replace a line
