"""A rehearsal of a job router: jobs, routes, sites, crashes and reconfigurations, on a virtual clock."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.text import lower
from crondor.codes import FAILED_TO_CREATE_PROCESS, MISSED_DEFERRED_EXECUTION_TIME
from crondor.deferral import MISSED_REASON
from crondor.diagnostics import CrondorError, Diagnostic, Source
from crondor.job.attributes import JobStatus, count, ending, exact_integer, integer, string
from crondor.job_queue.mirror import AdChange, ChangeKind
from crondor.job_queue.records import JobId
from crondor.pool.daemons.pool_job import Timetable, TimetableEntry
from crondor.pool.settings import Lengths, chance, share
from crondor.router.daemon.context import RouterOptions
from crondor.router.daemon.log import LogEntry
from crondor.router.daemon.routed_job import ROUTE_NAME, ROUTED_FROM, status
from crondor.router.daemon.router import Router
from crondor.router.table.route import RoutingTable
from crondor.schedd.embedded import EmbeddedSchedd, MemorySchedd
from crondor.schedd.protocol import Hold, entered, job_changes

_HOLD: Final = Hold("the site does not want this job", FAILED_TO_CREATE_PROCESS, 0)
_MISSED: Final = Hold(MISSED_REASON, MISSED_DEFERRED_EXECUTION_TIME, 0)
_DELAY, _RUN_TIME, _HABIT = range(3)  # what is drawn
_GONE: Final = "the site has removed this job"


# A small model: a site has slots, starts an idle copy after a delay, and each run takes the same time. It writes into a
# copy's ad what HTCondor's schedd and shadow write; everything else around the router is real.
class SiteFault(Enum):
    """What a site does with its copies."""

    RUNS = "runs"
    FAILS = "fails"
    SWALLOWS = "swallows"
    HOLDS = "holds"
    REMOVES = "removes"


class InvalidSite(CrondorError, ValueError):
    """A text that does not describe a site."""


@dataclass(frozen=True)
class Site:
    """One site, which runs the copies of the route of the same name.

    Durations are seconds, constant or drawn: ``delay`` until an idle copy starts in a free slot, ``run_time`` of a run.
    ``share`` is the percentage of copies with the fault; the others run well. A site that FAILS ends each run with
    ``exit_code``, a site that HOLDS or REMOVES does so when a run would start, a site that SWALLOWS never starts a run.
    """

    name: str
    slots: int = 1
    delay: int | Lengths = 5
    run_time: int | Lengths = 60
    fault: SiteFault = SiteFault.RUNS
    exit_code: int = 1
    share: int = 100

    @classmethod
    def parse(cls, text: str, base: Site | None = None, name: str = "<site>") -> Site:
        """Read ``Site1=fail:30%,slots=4,delay=30,run-time=5m-20m``; omitted settings are those of ``base``.

        Raises InvalidSite with all faults.
        """
        source = Source(text, name)
        head, *pieces = text.split(",")
        found = _HEAD(head)
        faults = []
        if found is None or found[2].lower() not in _FAULTS:
            span = source.span(0, len(head))
            faults.append(Diagnostic("site", "this is not a site: start with ROUTE=HABIT", span=span, help=_SITE_HELP))
        values: dict[str, Any] = {}
        at = len(head) + 1
        for piece in pieces:
            span = source.span(at, at + len(piece))
            at += len(piece) + 1
            try:
                values |= _setting(piece)
            except CrondorError as error:
                faults += [Diagnostic("site", each.message, span=span, help=each.help) for each in error.diagnostics]
        if faults or found is None:
            raise InvalidSite(faults)
        fault = _FAULTS[found[2].lower()]
        values |= {"name": found[1], "fault": fault, "share": int(found[3] or 100)}
        return replace(base or cls(found[1]), **values)

    def __str__(self) -> str:
        """Return the site in the syntax of ``parse``."""
        word = next(word for word, fault in _FAULTS.items() if fault is self.fault)
        some = "" if self.share == 100 else f":{self.share}%"
        parts = [f"{self.name}={word}{some}", f"slots={self.slots}", f"delay={self.delay}", f"run-time={self.run_time}"]
        return ",".join(parts)


_FAULTS: Final = {
    "run": SiteFault.RUNS,
    "fail": SiteFault.FAILS,
    "swallow": SiteFault.SWALLOWS,
    "hold": SiteFault.HOLDS,
    "remove": SiteFault.REMOVES,
}
_HEAD: Final = re.compile(r"([^=,\s]+)=([A-Za-z]+)(?::(100|[1-9]?[0-9])%)?").fullmatch
_SLOTS: Final = re.compile(r"[1-9][0-9]{0,6}").fullmatch
_CODE: Final = re.compile(r"[1-9][0-9]{0,2}").fullmatch
_SITE_HELP: Final = (
    "write ROUTE=run, or fail, swallow, hold, remove, for some copies with fail:30%; then ,slots=4 ,delay=30"
    " ,run-time=5m-20m ,exit-code=2"
)


def _setting(piece: str) -> dict[str, object]:
    """Return the value of a setting after the fault. Raises CrondorError."""
    key, _, value = piece.strip().partition("=")
    if key == "slots" and _SLOTS(value):
        return {"slots": int(value)}
    if key == "exit-code" and _CODE(value) and int(value) < 256:
        return {"exit_code": int(value)}
    if key == "delay":
        return {"delay": Lengths.parse(value)}
    if key == "run-time":
        return {"run_time": Lengths.parse(value)}
    raise InvalidSite(Diagnostic("site", f"{piece.strip()[:40]!r} is not a setting of a site", help=_SITE_HELP))


def _seconds(length: int | Lengths, *parts: int) -> int:
    return length if isinstance(length, int) else length.draw(*parts)


class SiteRun(NamedTuple):
    """A run of a copy: its source, its place, and its start (epoch seconds)."""

    source: str
    copy: JobId
    site: str
    time: int


@dataclass
class _Place:
    site: Site
    waiting: dict[JobId, None] = field(default_factory=dict)
    running: set[JobId] = field(default_factory=set)


class Sites:
    """The sites of a queue of copies.

    ``runs`` are all started runs, ``ended`` the numbers of sources whose runs ended well. Copies of routes without a
    site stay idle. Random values depend on the copy and on ``seed``.
    """

    def __init__(self, schedd: EmbeddedSchedd, sites: Iterable[Site], now: int, *, seed: int = 0) -> None:
        """Watch the copies of the queue, running copies included, from ``now`` (epoch seconds) on."""
        self._schedd = schedd
        self._seed = seed
        self._places = {lower(site.name): _Place(site) for site in sites}
        self._timetable = Timetable(now)
        self._entries: dict[JobId, TimetableEntry] = {}
        self._touched: dict[JobId, None] = dict.fromkeys(sorted(schedd.mirror))
        self.runs: list[SiteRun] = []
        self.ended: list[str] = []
        self.close = schedd.mirror.subscribe(self._note)

    @property
    def now(self) -> int:
        """The current time (epoch seconds)."""
        return self._timetable.now

    def change(self, site: Site) -> None:
        """Change a site's behavior from now on, also for the copies it has."""
        self._places[lower(site.name)].site = site
        self._touched |= dict.fromkeys(sorted(self._schedd.mirror))

    def advance(self, until: int) -> None:
        """Advance the time to ``until`` (epoch seconds), inclusive; finished jobs leave the queue."""
        self._settle()
        while (time := self._timetable.next_time) is not None and time <= until:
            self._timetable.advance(time)
            self._settle()
        self._timetable.advance(until)
        self._schedd.clear_finished()
        self._settle()

    def _note(self, changes: tuple[AdChange, ...]) -> None:
        for change in job_changes(self._schedd.mirror, changes):
            self._touched[change.job] = None

    def _settle(self) -> None:
        """Process all changed jobs."""
        while self._touched:
            touched, self._touched = self._touched, {}
            for job in touched:
                self._look(job)

    def _look(self, job: JobId) -> None:
        mirror = self._schedd.mirror
        ad = mirror.ad(job) if job in mirror else None
        route = None if ad is None else string(ad, "RouteName")
        place = self._places.get(lower(route)) if route is not None and route.isascii() else None
        if ad is None or place is None:
            self._stop(job)
            return
        status = exact_integer(ad, "JobStatus")  # the router's conditions compare it with =?=
        if status == JobStatus.IDLE and self._fault_of(job, place) is SiteFault.SWALLOWS:
            self._stop(job)
        elif status == JobStatus.IDLE and job not in place.waiting:
            self._stop(job)
            place.waiting[job] = None
        elif status == JobStatus.RUNNING and job not in place.running:
            self._stop(job)
            place.running.add(job)
            began = integer(ad, "JobCurrentStartDate")
            left = self._run_time(job, place) - (0 if began is None else self.now - began)
            self._later(job, max(0, left), lambda: self._end(job, place))
        elif status not in (JobStatus.IDLE, JobStatus.RUNNING):
            self._stop(job)
        self._fill(place)

    def _stop(self, job: JobId) -> None:
        """Remove a job from its slot or waiting list."""
        self._timetable.cancel(self._entries.pop(job, None))
        for place in self._places.values():
            place.waiting.pop(job, None)
            if job in place.running:
                place.running.discard(job)
                self._fill(place)

    def _fill(self, place: _Place) -> None:
        """Give free slots to waiting jobs."""
        while place.waiting and len(place.running) < place.site.slots:
            job = next(iter(place.waiting))
            del place.waiting[job]
            place.running.add(job)
            delay = _seconds(place.site.delay, self._seed, _DELAY, *job)
            self._later(job, delay, lambda job=job, place=place: self._start(job, place))  # type: ignore[misc]

    def _later(self, job: JobId, seconds: int, call: Callable[[], None]) -> None:
        self._entries[job] = self._timetable.at(self.now + seconds, lambda _: call())

    def _start(self, job: JobId, place: _Place) -> None:
        schedd, ad = self._schedd, self._ad(job)
        if ad is None:
            return
        if self._fault_of(job, place) is SiteFault.SWALLOWS:
            self._stop(job)
            return
        deferral = integer(ad, "DeferralTime")
        if deferral is not None and deferral > self.now:  # its starter waits, holding the slot
            self._later(job, deferral - self.now, lambda: self._start(job, place))
            return
        if deferral is not None and deferral + (integer(ad, "DeferralWindow") or 0) < self.now:
            schedd.hold(job, _MISSED)
            return
        if self._fault_of(job, place) is SiteFault.HOLDS:
            schedd.hold(job, _HOLD)
            return
        if self._fault_of(job, place) is SiteFault.REMOVES:
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
            self.runs.append(SiteRun(string(ad, "RoutedFromJobId") or "", job, place.site.name, self.now))
            self._later(job, self._run_time(job, place), lambda: self._end(job, place))

    def _end(self, job: JobId, place: _Place) -> None:
        ad = self._ad(job)
        if ad is None:
            return
        has_failed = self._fault_of(job, place) is SiteFault.FAILS
        began = integer(ad, "JobCurrentStartDate")
        edits = {
            **entered(ad, JobStatus.COMPLETED, self.now),
            "CompletionDate": self.now,
            "ExitBySignal": False,
            "ExitCode": place.site.exit_code if has_failed else 0,
            "RemoteWallClockTime": float(0 if began is None else self.now - began),
            "JobFinishedHookDone": self.now,
        }
        if self._schedd.edit_if(job, "JobStatus =?= 2", edits) and not has_failed:
            self.ended.append(string(ad, "RoutedFromJobId") or "")

    def _fault_of(self, job: JobId, place: _Place) -> SiteFault:
        """Return the fault that a copy meets."""
        site = place.site
        if site.share < 100 and share(chance(self._seed, _HABIT, *job)) * 100 >= site.share:
            return SiteFault.RUNS
        return site.fault

    def _run_time(self, job: JobId, place: _Place) -> int:
        return _seconds(place.site.run_time, self._seed, _RUN_TIME, *job)

    def _ad(self, job: JobId) -> ClassAd | None:
        return self._schedd.mirror.ad(job) if job in self._schedd.mirror else None


_SCHEDD_INTERVAL: Final = 300

Watcher = Callable[[LogEntry], None]


class Rehearsal:
    """A queue in memory with a router and sites; nothing outside is touched.

    The router polls every JOB_ROUTER_POLLING_PERIOD; every ``schedd_interval`` seconds the schedd evaluates
    DeferralTime. ``schedd`` is the queue: submit, hold, release and remove jobs there as users would. ``watchers`` are
    called with each entry of the router's log. All times are epoch seconds.
    """

    def __init__(
        self,
        table: RoutingTable,
        sites: Iterable[Site],
        now: int,
        *,
        options: RouterOptions | None = None,
        schedd_interval: int = _SCHEDD_INTERVAL,
        seed: int = 0,
    ) -> None:
        """Start at ``now`` with an empty queue. Raises UnknownZone."""
        self._timetable = Timetable(now)
        self._table = table
        self.entries: list[LogEntry] = []
        self.watchers: list[Watcher] = [self.entries.append]
        base = options or RouterOptions()
        self._options = replace(base, log=self._tell)
        self.schedd = MemorySchedd(clock=lambda: self.now, zone=base.zone)
        self.sites = Sites(self.schedd, sites, now, seed=seed)
        self.router = self._start()
        self._schedd_interval = schedd_interval
        self._timetable.at(now, self._poll)
        self._timetable.at(now, self._pass)

    @property
    def now(self) -> int:
        """The current time."""
        return self._timetable.now

    def at(self, time: int, call: Callable[[Rehearsal], None]) -> None:
        """Schedule a call at a time, as an action of a user or an administrator."""
        self._timetable.at(time, lambda _: call(self))

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Submit jobs, each in a cluster of its own."""
        return [self.schedd.submit([ad])[0] for ad in ads]

    def advance(self, until: int) -> None:
        """Advance the time to ``until``, inclusive."""
        self._timetable.advance(until)
        self.sites.advance(until)

    def crash(self) -> None:
        """End the router at once, and start another, which knows only the queue."""
        self.router = self._start()

    def reconfigure(self, table: RoutingTable) -> None:
        """Give the router another table."""
        self._table = table
        self.router.reload(table)

    def _start(self) -> Router:
        self.schedd.forget_changes()
        return Router(self._table, self.schedd, clock=lambda: self.now, options=self._options)

    def _tell(self, entry: LogEntry) -> None:
        for watcher in self.watchers:
            watcher(entry)

    def _poll(self, now: int) -> None:
        self.sites.advance(now)
        self.router.poll()
        self._timetable.at(now + max(1, self._table.settings.polling_period), self._poll)

    def _pass(self, now: int) -> None:
        self.schedd.recalculate()
        self._timetable.at(now + max(1, self._schedd_interval), self._pass)


class StatusStep(NamedTuple):
    """A change of a job's status at ``time`` (epoch seconds); status None: the job left the queue.

    ``source`` and ``route`` belong to a copy; they are None and empty for a source. ``is_failure``: the job completed,
    and its program ended with a signal or an exit code other than 0.
    """

    time: int
    job: JobId
    status: JobStatus | None
    source: JobId | None = None
    route: str = ""
    is_failure: bool = False


@dataclass
class JobEnds:
    """Counts of the outcomes of some jobs: ``now`` by their last status, and how many were submitted and run."""

    made: int = 0
    runs: int = 0
    done: int = 0
    failed: int = 0
    removed: int = 0
    now: Counter[JobStatus] = field(default_factory=Counter)

    def add(self, step: StatusStep) -> None:
        """Count a step, except in ``now``."""
        self.runs += step.status is JobStatus.RUNNING
        if step.status is JobStatus.COMPLETED:
            self.failed += step.is_failure
            self.done += not step.is_failure
        self.removed += step.status is JobStatus.REMOVED


class JobHistories:
    """Records each change of status in a rehearsal's queue.

    ``steps`` are all changes in order, ``happened`` the same mixed with the entries of the router's log.
    """

    def __init__(self, pool: Rehearsal) -> None:
        """Start recording; jobs already in the queue count with their current status."""
        self._pool = pool
        self._mirror = pool.schedd.mirror
        self._last: dict[JobId, StatusStep] = {}
        self.steps: list[StatusStep] = []
        self.happened: list[LogEntry | StatusStep] = []
        pool.watchers.append(self.happened.append)
        for job in self._mirror:
            self._see(job)
        self.close = self._mirror.subscribe(self._note)

    def last(self, job: JobId) -> StatusStep | None:
        """Return the last step of a job in the queue; for a job that left, the step before."""
        return self._last.get(job)

    def copies(self) -> list[StatusStep]:
        """Return the last step of each copy."""
        return [step for step in self._last.values() if step.source is not None]

    def fates(self) -> tuple[dict[JobId, JobEnds], dict[str, JobEnds]]:
        """Return the outcome of each source, including its copies and their runs, and of the copies of each route."""
        sources: dict[JobId, JobEnds] = {}
        routes: dict[str, JobEnds] = {}
        made: set[JobId] = set()
        for step in self.steps:
            if step.source is None:
                fates = sources.setdefault(step.job, JobEnds())
                if step.status is not JobStatus.RUNNING:  # the copy has the run
                    fates.add(step)
                continue
            route, of = routes.setdefault(step.route, JobEnds()), sources.setdefault(step.source, JobEnds())
            route.add(step)
            of.runs += step.status is JobStatus.RUNNING
            if step.job not in made:
                made.add(step.job)
                route.made += 1
                of.made += 1
        for job, step in self._last.items():
            if job in self._mirror and step.status is not None:
                into = sources[job] if step.source is None else routes[step.route]
                into.now[step.status] += 1
        return sources, routes

    def _note(self, changes: tuple[AdChange, ...]) -> None:
        for change in job_changes(self._mirror, changes):
            if change.kind is ChangeKind.DESTROYED:
                before = self._last.get(change.job)
                if before is not None:
                    self._take(before._replace(time=self._pool.sites.now, status=None, is_failure=False))
            elif change.kind is ChangeKind.CREATED or "jobstatus" in change.attributes:
                self._see(change.job)

    def _see(self, job: JobId) -> None:
        if job not in self._mirror:
            return
        ad = self._mirror.ad(job)
        source = JobId.parse(string(ad, ROUTED_FROM) or "")
        found = status(ad)
        step = StatusStep(
            self._pool.sites.now,
            job,
            found,
            source,
            (string(ad, ROUTE_NAME) or "") if source is not None else "",
            found is JobStatus.COMPLETED and _has_failed(ad),
        )
        self._last[job] = step
        self._take(step)

    def _take(self, step: StatusStep) -> None:
        self.steps.append(step)
        self.happened.append(step)


def _has_failed(ad: ClassAd) -> bool:
    found = ending(ad)
    return found is not None and (found.by_signal or found.number != 0)
