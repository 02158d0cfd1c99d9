"""Simulated sites: where routed copies run, fail, or are never heard of again, on a clock that somebody else tells.

A small model: a site has slots, starts an idle copy after a while, and each run takes the same time. What it writes
into a copy's ad is what HTCondor's schedd and shadow write; the rest of the router's world is real.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.text import lower
from crondor.job_queue.keys import JobId
from crondor.job_queue.mirror import Change
from crondor.queued import JobStatus
from crondor.schedd.actions import count, entered, integer
from crondor.schedd.changes import job_changes
from crondor.schedd.embedded import EmbeddedSchedd
from crondor.schedd.protocol import Hold
from crondor.world.clock import Entry, Timetable

_HOLD: Final = Hold("the site does not want this job", 6, 0)  # CONDOR_HOLD_CODE FailedToCreateProcess
_GONE: Final = "the site has removed this job"


class Habit(Enum):
    """What a site does with a copy that it has."""

    RUNS = "runs"
    FAILS = "fails"
    SWALLOWS = "swallows"
    HOLDS = "holds"
    REMOVES = "removes"


@dataclass(frozen=True)
class Site:
    """One site, which takes the copies of the route of its name.

    Seconds: ``delay`` until an idle copy starts where a slot is free, ``run_time`` of a run; a site that FAILS ends
    each with ``exit_code``, one that HOLDS or REMOVES does so when a run would begin, one that SWALLOWS starts none.
    """

    name: str
    slots: int = 1
    delay: int = 5
    run_time: int = 60
    habit: Habit = Habit.RUNS
    exit_code: int = 1


class Run(NamedTuple):
    """A run of a copy that has begun: of which source, where, when (epoch seconds)."""

    source: str
    copy: JobId
    site: str
    time: int


@dataclass
class _Place:
    site: Site
    waiting: deque[JobId] = field(default_factory=deque)
    running: set[JobId] = field(default_factory=set)


class Sites:
    """The sites of a queue of copies.

    ``runs`` are all runs that have begun, ``ended`` the numbers of sources whose runs ended well. Copies of routes
    without a site stay idle.
    """

    def __init__(self, schedd: EmbeddedSchedd, sites: Iterable[Site], now: int) -> None:
        """Look at the copies that are there at ``now`` (epoch seconds), those that run included; at each that comes."""
        self._schedd = schedd
        self._places = {lower(site.name): _Place(site) for site in sites}
        self._timetable = Timetable(now)
        self._entries: dict[JobId, Entry] = {}
        self._touched: dict[JobId, None] = dict.fromkeys(sorted(schedd.mirror))
        self.runs: list[Run] = []
        self.ended: list[str] = []
        self.close = schedd.mirror.subscribe(self._note)

    @property
    def now(self) -> int:
        """How late it is."""
        return self._timetable.now

    def change(self, site: Site) -> None:
        """Have a site behave in another way from now on, also towards the copies that it has."""
        self._places[lower(site.name)].site = site
        self._touched |= dict.fromkeys(sorted(self._schedd.mirror))

    def advance(self, until: int) -> None:
        """Let time pass up to and including ``until`` (epoch seconds); finished jobs leave the queue."""
        self._settle()
        while (time := self._timetable.next_time) is not None and time <= until:
            self._timetable.advance(time)
            self._settle()
        self._timetable.advance(until)
        self._schedd.clear_finished()
        self._settle()

    def _note(self, changes: tuple[Change, ...]) -> None:
        for change in job_changes(self._schedd.mirror, changes):
            self._touched[change.job] = None

    def _settle(self) -> None:
        """Look at all jobs that have changed."""
        while self._touched:
            touched, self._touched = self._touched, {}
            for job in touched:
                self._look(job)

    def _look(self, job: JobId) -> None:
        mirror = self._schedd.mirror
        ad = mirror.ad(job) if job in mirror else None
        route = None if ad is None else ad.python("RouteName") if "RouteName" in ad else None
        place = self._places.get(lower(route)) if isinstance(route, str) and route.isascii() else None
        if ad is None or place is None:
            self._stop(job)
            return
        status = integer(ad, "JobStatus")
        if status == JobStatus.IDLE and job not in place.waiting and place.site.habit is not Habit.SWALLOWS:
            self._stop(job)
            place.waiting.append(job)
        elif status == JobStatus.RUNNING and job not in place.running:
            self._stop(job)
            place.running.add(job)
            began = integer(ad, "JobCurrentStartDate")
            left = place.site.run_time - (0 if began is None else self.now - began)
            self._later(job, max(0, left), lambda: self._end(job, place))
        elif status not in (JobStatus.IDLE, JobStatus.RUNNING):
            self._stop(job)
        self._fill(place)

    def _stop(self, job: JobId) -> None:
        """Take a job from wherever it is."""
        self._timetable.cancel(self._entries.pop(job, None))
        for place in self._places.values():
            if job in place.waiting:
                place.waiting.remove(job)
            if job in place.running:
                place.running.discard(job)
                self._fill(place)

    def _fill(self, place: _Place) -> None:
        """Give free slots to those who wait."""
        if place.site.habit is Habit.SWALLOWS:
            return
        while place.waiting and len(place.running) < place.site.slots:
            job = place.waiting.popleft()
            place.running.add(job)
            self._later(job, place.site.delay, lambda job=job, place=place: self._start(job, place))  # type: ignore[misc]

    def _later(self, job: JobId, seconds: int, call: Callable[[], None]) -> None:
        self._entries[job] = self._timetable.at(self.now + seconds, lambda _: call())

    def _start(self, job: JobId, place: _Place) -> None:
        schedd, ad = self._schedd, self._ad(job)
        if ad is None:
            return
        if place.site.habit is Habit.SWALLOWS:
            self._stop(job)
            return
        if place.site.habit is Habit.HOLDS:
            schedd.hold(job, _HOLD)
            return
        if place.site.habit is Habit.REMOVES:
            schedd.remove(job, _GONE)
            return
        edits: dict[str, object] = {
            **entered(ad, JobStatus.RUNNING, self.now),
            "JobCurrentStartDate": self.now,
            "JobCurrentStartExecutingDate": self.now,
            "JobRunCount": count(ad, "JobRunCount") + 1,
            "NumShadowStarts": count(ad, "NumShadowStarts") + 1,
            "NumJobStarts": count(ad, "NumJobStarts") + 1,
        }
        if "JobStartDate" not in ad:
            edits["JobStartDate"] = self.now
        if schedd.edit_if(job, "JobStatus =?= 1", edits):
            source = ad.python("RoutedFromJobId") if "RoutedFromJobId" in ad else ""
            self.runs.append(Run(str(source), job, place.site.name, self.now))
            self._later(job, place.site.run_time, lambda: self._end(job, place))

    def _end(self, job: JobId, place: _Place) -> None:
        ad = self._ad(job)
        if ad is None:
            return
        has_failed = place.site.habit is Habit.FAILS
        edits = {
            **entered(ad, JobStatus.COMPLETED, self.now),
            "CompletionDate": self.now,
            "ExitBySignal": False,
            "ExitCode": place.site.exit_code if has_failed else 0,
            "RemoteWallClockTime": float(place.site.run_time),
            "JobFinishedHookDone": self.now,
        }
        if self._schedd.edit_if(job, "JobStatus =?= 2", edits) and not has_failed:
            source = ad.python("RoutedFromJobId") if "RoutedFromJobId" in ad else ""
            self.ended.append(str(source))

    def _ad(self, job: JobId) -> ClassAd | None:
        return self._schedd.mirror.ad(job) if job in self._schedd.mirror else None
