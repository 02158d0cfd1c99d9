"""Which times of a job are due: those at which it is meant to run, whatever the schedd makes of it.

That is the manual's reading, without the times that its requirements exclude. Where the manual refuses a field that the
schedd takes, as minute 60, it is the schedd's.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from crondor.diagnostics import CrondorError
from crondor.recurrence import NotASet
from crondor.times import JobTimes

_MOST: Final = 100_000  # due times of one job between two looks
_SPANS: Final = tuple(3600 * hours for hours in (1, 24, 24 * 32, 24 * 400))  # in which a schedd's last answer is sought


def due_between(times: JobTimes, after: int, until: int) -> Iterator[int]:
    """Yield the due times with ``after`` < time <= ``until`` (epoch seconds); none for a schedule that never runs."""
    try:
        yield from islice(times.runs(after, until), _MOST)
    except CrondorError:
        return


def last_due(times: JobTimes, after: int, until: int) -> int | None:
    """Return the last due time with ``after`` < time <= ``until``; None where there is none."""
    try:
        found = times.previous(until + 1)
    except NotASet:
        found = _last_of_chain(times, after, until)
    except CrondorError:
        return None
    return found if found > after else None


def _last_of_chain(times: JobTimes, after: int, until: int) -> int:
    """Return the last answer up to ``until`` of a schedd asked again and again; ``after`` where there is none."""
    for span in _SPANS:
        begin = max(after, until - span)
        found = max(due_between(times, begin, until), default=after)
        if found > after or begin == after:
            return found
    return after


def next_due(times: JobTimes, after: int) -> int | None:
    """Return the first due time after ``after``; None for a job that never runs, and beyond the calendar."""
    try:
        return int(times.next(after))
    except CrondorError:
        return None


def is_due(times: JobTimes, time: int) -> bool:
    """Say whether a time is one at which the job is meant to run."""
    try:
        return times.is_run(time)
    except CrondorError:
        return False


def is_named(times: JobTimes, time: int) -> bool:
    """Say whether a time is one of the schedule's: a schedd sets those that requirements exclude as well."""
    try:
        return time in times.named(time - 1, time)
    except CrondorError:
        return False
