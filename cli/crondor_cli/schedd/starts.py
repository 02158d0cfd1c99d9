"""The coming starts of the jobs of a queue, all together in order of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice
from typing import NamedTuple

from crondor.deferral import Deferral
from crondor.diagnostics import CrondorError
from crondor.schedd.status import ScheduledJob


class Start(NamedTuple):
    """One start of one job."""

    job: str
    owner: str | None
    cmd: str | None
    deferral: Deferral


def starts_of(looks: Iterable[ScheduledJob], count: int) -> list[Start]:
    """Return the first ``count`` starts; a crontab job that stays in the queue has more than one."""
    return list(islice(merge(*map(_starts, looks), key=lambda start: start.deferral.time), count))


def _starts(look: ScheduledJob) -> Iterator[Start]:
    owner, cmd = look.queued.string("Owner"), look.queued.string("Cmd")
    for deferral in _deferrals(look):
        yield Start(look.id, owner, cmd, deferral)


def _deferrals(look: ScheduledJob) -> Iterator[Deferral]:
    found, times = look.next, look.times
    while found is not None and times is not None:
        yield found
        if times.schedule.recurrence is None or look.queued.leaves:
            return
        try:
            found = times.deferral(times.next(found.time), found.time)
        except CrondorError:  # beyond the calendar
            return
