"""Which times of a job are due: those its schedule means, whatever the schedd makes of it.

That is the manual's reading. Where the manual refuses a field that the schedd takes, as minute 60, it is the schedd's.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from crondor.diagnostics import CrondorError
from crondor.recurrence import NotASet, Recurrence

_MOST: Final = 100_000  # due times of one job between two looks
_SPANS: Final = tuple(3600 * hours for hours in (1, 24, 24 * 32, 24 * 400))  # in which a schedd's last answer is sought


def due_between(recurrence: Recurrence, after: int, until: int) -> Iterator[int]:
    """Yield the due times with ``after`` < time <= ``until`` (epoch seconds); none for a schedule that never runs."""
    try:
        yield from islice(recurrence.between(after, until), _MOST)
    except CrondorError:
        return


def last_due(recurrence: Recurrence, after: int, until: int) -> int | None:
    """Return the last due time with ``after`` < time <= ``until``; None where there is none."""
    try:
        found = recurrence.previous(until + 1)
    except NotASet:
        found = _last_of_chain(recurrence, after, until)
    except CrondorError:
        return None
    return found if found > after else None


def _last_of_chain(recurrence: Recurrence, after: int, until: int) -> int:
    """Return the last answer up to ``until`` of a schedd asked again and again; ``after`` where there is none."""
    for span in _SPANS:
        begin = max(after, until - span)
        found = max(due_between(recurrence, begin, until), default=after)
        if found > after or begin == after:
            return found
    return after


def next_due(recurrence: Recurrence, after: int) -> int | None:
    """Return the first due time behind ``after``; None for a schedule that never runs, and beyond the calendar."""
    try:
        return int(recurrence.next(after))
    except CrondorError:
        return None


def is_due(recurrence: Recurrence, time: int) -> bool:
    """Say whether a time is one of the schedule's."""
    try:
        return recurrence.next(time - 1) == time
    except CrondorError:
        return False
