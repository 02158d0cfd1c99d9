"""Making a plan: a clock that goes from one event to the next."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import tzinfo
from enum import IntEnum
from typing import Final

from crondor._types import expect
from crondor.classad.ad import ClassAd
from crondor.classad.parser import unparse
from crondor.classad.scope import Context
from crondor.classad.text import lower
from crondor.classad.tree import Literal
from crondor.config import Configuration
from crondor.deferral import Deferral
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.job.attributes import JobStatus, int32, integer
from crondor.job.policy import Act, QueuedJob, at_exit, ended, known_at_exit
from crondor.router.applying import RoutedAd, apply_route, one_run
from crondor.router.match.matcher import Matcher
from crondor.router.plan.copy_schedule import (
    CopySchedule,
    LastAsked,
    Load,
    Manner,
    Plannable,
    PlannedJob,
    PlannedOutcome,
    PlannedRun,
    PlanOptions,
    jobs_of,
    manner_of,
)
from crondor.router.plan.remarks import Cure, TakenJob, cure, remarks, waits_for_rejection, without_runs
from crondor.router.table.loading import load_table
from crondor.router.table.route import Route, RoutingTable
from crondor.times import JobTimes
from crondor.transform import TransformFacts
from crondor.transform.loading import as_warnings
from crondor.zones import zone_of


class Copy:
    """A copy on a route. ``starts`` and ``ends`` (epoch seconds) are None for never."""

    __slots__ = ("ad", "ends", "is_idle", "manner", "route", "starts", "stays")

    def __init__(self, route: Route, manner: Manner, ad: ClassAd) -> None:
        self.route = route
        self.manner = manner
        self.ad = ad
        self.is_idle = True
        self.stays = False
        self.starts: int | None = None
        self.ends: int | None = None

    def matched(self, run: Deferral, ready: int) -> int:
        """Return when the copy, ready then, is no longer idle (epoch seconds).

        It has JobStatus 2 while its starter waits for the time of the run.
        """
        starts = self.starts or 0
        if self.manner.conduct is CopySchedule.AT_ONCE:
            return starts
        return min(starts, max(ready, starts - (run.time - run.match_opens)))


class JobProgress:
    """A job and its coming runs; ``token`` identifies valid events."""

    def __init__(self, number: int, job: PlannedJob, now: int, until: int | None, count: int | None) -> None:
        """Start with the first run after ``now``, or the one whose window is open."""
        self.number = number
        self.job = job
        self.ad = job.ad.copy()
        self.token = 0
        self.run: Deferral | None = None
        self.copy: Copy | None = None
        self.asked: LastAsked | None = None
        self.taken: int | None = None
        self.next_ask = 0
        self.starts = _count_of(job.ad)
        self.rest = PlannedOutcome.GONE
        self.number_of_rows = 0
        self._runs = self._deferrals(job, now)
        self._ahead: Deferral | None = None
        self._until = until
        self._left = count
        self.told: set[tuple[object, ...]] = set()
        self._said: set[Diagnostic] = set()
        self._once: ClassAd | None = None

    def pull(self) -> Deferral | None:
        """Make the next planned run the present one and return it; None if there is none."""
        self.run = None
        if self._left == 0:
            return None
        run = self._ahead if self._ahead is not None else next(self._runs, None)
        self._ahead = None
        if run is None or (self._until is not None and run.time > self._until):
            return None
        if self._left is not None:
            self._left -= 1
        self.run = run
        return run

    def peek(self) -> Deferral | None:
        """Return the run after the present one, planned or not; None if there is none."""
        if self._ahead is None:
            self._ahead = next(self._runs, None)
        return self._ahead

    def changed(self) -> None:
        """Record that the ad has changed, apart from its DeferralTime."""
        self._once = None

    def one_run(self, run: Deferral) -> ClassAd:
        """Return the job for one run; the ads of all runs share the names of their attributes."""
        if self._once is None:
            self._once = _with_texts(one_run(self.ad, run))
        made = self._once.copy()
        made.set("DeferralTime", run.time)
        return made

    def new(self, findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return the findings that were not reported for this job yet."""
        found = tuple(each for each in dict.fromkeys(findings) if each not in self._said)
        self._said.update(found)
        return found

    def _deferrals(self, job: PlannedJob, now: int) -> Iterator[Deferral]:
        schedule = job.schedule
        if schedule is None:
            return
        try:
            queued = QueuedJob(job.ad)
            times = JobTimes(schedule, queued.requirements, queued.present)
            if schedule.recurrence is None:
                run = schedule.next(now)
                if not times.excludes(run.time):
                    yield run
                return
            present = queued.present
            if present is not None and present <= now and not times.excludes(present):
                run = schedule.deferral(present, now)
                if now <= run.last_match:
                    yield run
            for time in times.runs(now):
                yield schedule.deferral(int(time), now)
        except CrondorError:  # reported for the job before, or the end of the supported years
            return


def _with_texts(ad: ClassAd) -> ClassAd:
    """Return an ad with its numbers and plain strings as texts, as in a queue: routes copy such ads faster."""
    for name in ad:
        code = ad.codes[lower(name)]
        constant = None if isinstance(code, str) else code.const
        if constant.__class__ in (int, str) and ad.text(name) == unparse(Literal(constant)):
            ad.set(name, constant)
    return ad


def stays(ad: ClassAd, now: int, starts: int, context: Context) -> bool:
    """Return whether a job that succeeds at ``now`` (epoch seconds) stays in its queue; ``starts`` is NumJobStarts."""
    if "OnExitRemove" not in ad:
        return False
    return (known_at_exit(ad) or at_exit(ended(ad, starts), now, context).act) is Act.STAY


def _count_of(ad: ClassAd) -> int:
    number = QueuedJob(ad).integer("NumJobStarts")
    return number if number is not None and number >= 0 else 0


_STEP: Final = 60
"""Seconds between two tries of a waiting job whose requirements depend on the clock."""
_MOST_STEPS: Final = 1000


def facts_at(table: RoutingTable, context: Context) -> TransformFacts:
    """Return the transform facts of a table at another time."""
    return table.facts.at(context)


class _What(IntEnum):
    """Events of the same time, in their order."""

    END = 0
    START = 1
    WAKE = 2
    ASK = 3
    GIVE_UP = 4
    PASS = 5


class Planning:
    """One computation of a plan."""

    def __init__(
        self, jobs: tuple[PlannedJob, ...], table: RoutingTable, now: int, until: int | None, options: PlanOptions
    ) -> None:
        """Start; nothing is planned before the runs are requested."""
        self.options = options
        self.table = table
        self.now = self.clock = now
        self.zone: tzinfo = zone_of(options.reading.zone).info
        self.load = Load(table, options.route_state)
        self.matcher = Matcher(table, options.owner)
        self.period = max(1, table.settings.polling_period)
        self.jobs = [
            JobProgress(number, job, now, until, options.count)
            for number, job in enumerate(jobs)
            if job.schedule is not None and job.schedule.is_deferred
        ]
        self._by_number = {progress.number: progress for progress in self.jobs}
        self._waiting: dict[int, JobProgress] = {}
        self._events: list[tuple[int, int, int, int]] = []
        self._wakes: set[int] = set()

    def runs(self) -> Iterator[PlannedRun]:
        """Process event after event."""
        for progress in self.jobs:
            yield from self._begin(progress)
        while self._events:
            time, what, number, token = heapq.heappop(self._events)
            self.clock = time
            if what in (_What.WAKE, _What.ASK):
                yield from self._poll(time, what, number, token)
                continue
            progress = self._by_number[number]
            if progress.token != token:
                continue
            if what == _What.START and progress.copy is not None:
                self.load.start(progress.copy.route)
                progress.copy.is_idle = False
                self._wake(time)
            elif what == _What.END:
                yield from self._ended(progress, time)
            elif what == _What.GIVE_UP:
                yield from self._local(progress)
            elif what == _What.PASS:
                yield from self._passed(progress)

    def _begin(self, progress: JobProgress) -> Iterator[PlannedRun]:
        """Have a job wait for its first run; one that runs already is idle after it."""
        status = int32(progress.ad, "JobStatus")
        if status in (JobStatus.IDLE, None):
            yield from self._next(progress, self.now)
            return
        progress.ad.set("JobStatus", int(JobStatus.IDLE))
        begun = max(self.now, integer(progress.ad, "DeferralTime") or 0)
        run = progress.peek()
        if run is not None and run.time <= begun:
            progress.starts += 1
            yield self._row(progress, progress.pull() or run, PlannedOutcome.LOCAL)
        yield from self._next(progress, begun + (self.options.run_time or 0), is_busy=True)

    # Time

    def _at(self, time: int, what: _What, progress: JobProgress) -> None:
        heapq.heappush(self._events, (time, what, progress.number, progress.token))

    def _poll_from(self, time: int) -> int:
        """Return the router's first poll at a time or later; the very first is a period from now."""
        return self.now + self.period * max(1, -(-(time - self.now) // self.period))

    def _wake(self, time: int) -> None:
        """Schedule all waiting jobs for the next poll, since a route has more room."""
        poll = self._poll_from(time)
        if self._waiting and poll not in self._wakes:
            self._wakes.add(poll)
            heapq.heappush(self._events, (poll, _What.WAKE, -1, 0))

    def _context(self, time: int) -> Context:
        return Context(now=time, zone=self.zone)

    # The course of a job

    def _next(self, progress: JobProgress, ready: int, *, is_busy: bool = False) -> Iterator[PlannedRun]:
        """Have an idle job wait for its next run; runs that came while it was busy are skipped."""
        progress.copy = None
        run = progress.pull()
        while run is not None and is_busy and run.time <= ready:
            yield self._row(progress, run, PlannedOutcome.BUSY)
            run = progress.pull()
        if run is None:
            return
        opens = self._poll_from(max(ready, run.match_opens) if self.options.at_gate else ready)
        progress.token += 1
        progress.asked, progress.next_ask = None, opens
        if opens > run.last_match and (self.options.at_gate or is_busy):
            self._at(max(run.last_match + 1, self.now), _What.GIVE_UP, progress)
            return
        self._at(opens, _What.ASK, progress)

    def _poll(self, time: int, what: int, number: int, token: int) -> Iterator[PlannedRun]:
        """Try the routes for all jobs whose turn it is at a time."""
        asked: dict[int, JobProgress] = {}
        while True:
            if what == _What.WAKE:
                self._wakes.discard(time)
                asked.update(self._waiting)
            elif self._by_number[number].token == token:
                asked[number] = self._by_number[number]
            if not self._events or self._events[0][0] != time or self._events[0][1] not in (_What.WAKE, _What.ASK):
                break
            _, what, number, token = heapq.heappop(self._events)
        context = self._context(time)
        jobs = [asked[each] for each in sorted(asked)]
        matched: dict[int, Route] = {}
        begun = self.load.route_state
        for match in self.matcher.match(self._ads(jobs, time), begun, context):
            matched[int(match.job)] = match.route
        for progress in jobs:
            route = matched.get(progress.number)
            if route is None:
                yield from self._refused(progress, time, context)
            else:
                yield from self._take(progress, route, time, context)

    def _ads(self, jobs: Iterable[JobProgress], time: int) -> Iterator[tuple[str, ClassAd]]:
        for progress in jobs:
            self._dress(progress, time)
            yield str(progress.number), progress.ad

    def _dress(self, progress: JobProgress, time: int) -> None:
        """Set the attributes in a job's ad for a time."""
        if self.options.at_gate and progress.run is not None:
            progress.ad.set("DeferralTime", progress.run.time)
        if self.options.rejected is not None and time >= self.now + self.options.rejected:
            progress.ad.set("LastRejMatchTime", self.now + self.options.rejected)
            progress.changed()

    def _refused(self, progress: JobProgress, time: int, context: Context) -> Iterator[PlannedRun]:
        """Have a job that no route has taken wait for room, or for the clock; otherwise leave it to the local pool."""
        self._dress(progress, time)
        run = progress.run
        if run is None:
            return
        progress.asked = LastAsked(self.table, progress.ad, self.load.route_state, context, self.options.owner)
        if progress.number in self._waiting and progress.next_ask > time:
            return  # it was tried since there is more room, and still there is none for it
        cluster, _ = self.matcher.clusters.find(progress.ad, context)
        rejection = self.now + (self.options.rejected or 0)
        later = [self._poll_from(rejection)] if self.options.rejected is not None and rejection > time else []
        if cluster.is_timed:
            later.append(self._poll_from(time + max(_STEP, (run.last_match - time) // _MOST_STEPS)))
        if time >= run.last_match or not (cluster.matched or later) or not self.table.is_enabled:
            yield from self._local(progress)
            return
        if progress.number not in self._waiting:
            self._waiting[progress.number] = progress
            self._at(run.last_match + 1, _What.GIVE_UP, progress)
        progress.next_ask = min(later, default=run.last_match + 1)
        if later:
            self._at(progress.next_ask, _What.ASK, progress)

    def _local(self, progress: JobProgress) -> Iterator[PlannedRun]:
        """Leave a run that no route has taken to the local pool, and continue with the next."""
        run = progress.run
        if run is None:
            return
        asked = None if progress.asked is None else progress.asked._replace(ad=progress.ad.copy())
        yield self._row(progress, run, PlannedOutcome.LOCAL, asked=asked)
        yield from self._after_local(progress, run)

    def _after_local(self, progress: JobProgress, run: Deferral) -> Iterator[PlannedRun]:
        self._waiting.pop(progress.number, None)
        progress.token += 1
        ended = max(run.time + (self.options.run_time or 0), self.clock)
        progress.starts += 1
        if stays(progress.ad, ended, progress.starts, self._context(ended)):
            yield from self._next(progress, ended, is_busy=True)
        else:
            self._rest(progress, PlannedOutcome.GONE)

    def _take(self, progress: JobProgress, route: Route, time: int, context: Context) -> Iterator[PlannedRun]:
        """Route a job, and begin its copy."""
        run = progress.run
        if run is None:
            return
        self._waiting.pop(progress.number, None)
        progress.token += 1
        facts = facts_at(self.table, context)
        source = progress.one_run(run) if self.options.at_gate else progress.ad.copy()
        routed = apply_route(self.table, route, source, facts=facts)
        if routed.failed or routed.ad is None:
            yield from self._not_copied(progress, route, run, time, routed)
            return
        room = self.load.take(route)
        manner = manner_of(routed.ad, time, self.zone)
        copy = Copy(route, manner, routed.ad)
        progress.copy, progress.taken = copy, time
        self._time(progress, copy, run, time)
        key = (route.name, manner.conduct, copy.stays, time < run.match_opens, progress.peek() is None)
        found = [] if key in progress.told else self._remarks(progress, routed, copy, run, time, facts)
        progress.told.add(key)
        yield self._row(
            progress,
            run,
            PlannedOutcome.ROUTED,
            route=route,
            taken=time,
            starts=copy.starts,
            ends=copy.ends,
            room=room,
            conduct=manner.conduct,
            stays=copy.stays,
            routed=routed,
            findings=progress.new(found),
        )
        if copy.ends is None:
            self._rest(progress, PlannedOutcome.STUCK)

    def _not_copied(
        self, progress: JobProgress, route: Route, run: Deferral, time: int, routed: RoutedAd
    ) -> Iterator[PlannedRun]:
        """Continue with a job that was edited in place, or whose routing failed: the local pool has it."""
        outcome = PlannedOutcome.FAILED if routed.failed else PlannedOutcome.EDITED
        if routed.in_place is not None:
            for change in routed.in_place:
                if change.after is None:
                    progress.ad.prune(change.name)
                else:
                    progress.ad.set_text(change.name, change.after)
            progress.changed()
        yield self._row(
            progress, run, outcome, route=route, taken=time, routed=routed, findings=progress.new(routed.diagnostics)
        )
        yield from self._after_local(progress, run)

    def _time(self, progress: JobProgress, copy: Copy, run: Deferral, time: int) -> None:
        """Compute when a copy starts and ends, and schedule the events."""
        ready = time + self.options.queue_time
        conduct = copy.manner.conduct
        if conduct is CopySchedule.AT_ONCE:
            copy.starts = ready
        elif conduct.waits and copy.manner.time is not None:
            copy.starts = max(ready, copy.manner.time)
        elif conduct.repeats:
            copy.starts = max(ready, run.time)
        else:
            return
        ends = self._end_of(progress, copy.starts)
        at = ends if ends is not None else copy.starts
        copy.stays = stays(copy.ad, at, progress.starts + 1, self._context(at))
        copy.ends = None if copy.stays and not conduct.repeats else ends
        # The poll that takes a job still counts it as idle, the next one sees its state.
        self._at(max(time + 1, copy.matched(run, ready)), _What.START, progress)
        if copy.ends is not None:
            self._at(copy.ends, _What.END, progress)

    def _end_of(self, progress: JobProgress, starts: int) -> int | None:
        if self.options.run_time is not None:
            return starts + max(1, self.options.run_time)
        following = progress.peek()
        if following is None:
            return None
        return max(starts + 1, following.match_opens if self.options.at_gate else following.time - 1)

    def _remarks(
        self, progress: JobProgress, routed: RoutedAd, copy: Copy, run: Deferral, time: int, facts: TransformFacts
    ) -> list[Diagnostic]:
        more = progress.peek() is not None
        taking = TakenJob(
            progress.job,
            routed,
            copy.manner,
            time,
            run.match_opens,
            run.time,
            copy.starts,
            copy.stays,
            more and not self.options.at_gate and not copy.stays and copy.manner.conduct.runs,
            self.options.at_gate,
            facts,
            self.zone,
        )
        return [*routed.diagnostics, *remarks(taking)]

    # The end of a run

    def _ended(self, progress: JobProgress, time: int) -> Iterator[PlannedRun]:
        """Remove a copy after its run, or have it wait for its next time if it stays."""
        copy = progress.copy
        if copy is None:
            return
        progress.starts += 1
        if copy.stays:
            self.load.wait(copy.route)
            copy.is_idle = True
            yield from self._again(progress, copy, time)
            return
        self.load.leave(copy.route, was_idle=copy.is_idle)
        self._wake(time)
        progress.token += 1
        if self.options.at_gate and stays(progress.ad, time, progress.starts, self._context(time)):
            yield from self._next(progress, time, is_busy=True)
        else:
            self._rest(progress, PlannedOutcome.GONE)

    def _again(self, progress: JobProgress, copy: Copy, time: int) -> Iterator[PlannedRun]:
        """Continue with a copy that schedules itself."""
        run = progress.pull()
        while run is not None and run.time <= time:
            yield self._row(progress, run, PlannedOutcome.BUSY, route=copy.route)
            run = progress.pull()
        if run is None:
            return
        progress.token += 1
        copy.starts = run.time
        copy.ends = self._end_of(progress, copy.starts)
        at = copy.ends if copy.ends is not None else copy.starts
        copy.stays = stays(copy.ad, at, progress.starts + 1, self._context(at))
        yield self._row(
            progress,
            run,
            PlannedOutcome.BY_COPY,
            route=copy.route,
            taken=progress.taken,
            starts=copy.starts,
            ends=copy.ends,
            conduct=copy.manner.conduct,
            stays=copy.stays,
        )
        self._at(copy.matched(run, time), _What.START, progress)
        if copy.ends is not None:
            self._at(copy.ends, _What.END, progress)
        else:
            self._rest(progress, PlannedOutcome.STUCK)

    def _rest(self, progress: JobProgress, outcome: PlannedOutcome) -> None:
        """Schedule the next run of a job without further decisions, to be reported at its time."""
        progress.rest = outcome
        run = progress.pull()
        if run is not None:
            self._at(max(run.time, self.now), _What.PASS, progress)

    def _passed(self, progress: JobProgress) -> Iterator[PlannedRun]:
        if progress.run is not None:
            is_out = progress.rest is PlannedOutcome.STUCK and progress.copy is not None
            yield self._row(
                progress, progress.run, progress.rest, route=progress.copy.route if is_out and progress.copy else None
            )
        self._rest(progress, progress.rest)

    def _row(self, progress: JobProgress, run: Deferral, outcome: PlannedOutcome, **more: object) -> PlannedRun:
        progress.number_of_rows += 1
        return PlannedRun(progress.job, progress.number_of_rows, run, outcome, **more)  # type: ignore[arg-type]


def plan(
    jobs: Plannable | Iterable[Plannable],
    routes: RoutingTable | Configuration,
    now: int,
    until: int | None = None,
    options: PlanOptions | None = None,
) -> RoutePlan:
    """Return the plan of the coming runs of jobs on the routes of a table, from ``now`` (epoch seconds) to ``until``.

    ``jobs`` are JobSchedules, submit files, ads, or a schedd with jobs, or several of these; those without a schedule
    are skipped. Iterate over the plan for its runs: they are computed one by one, in the order in which they are
    decided. Without ``until`` and without a count it continues to the year 2200. The model is in docs/route-plan.md.
    Raises InvalidSubmit, InvalidConfig, ScheddError, UnknownZone.
    """
    expect("routes", routes, (RoutingTable, Configuration), "a RoutingTable or a Configuration")
    expect("now", now, int, "epoch seconds")
    table = load_table(routes) if isinstance(routes, Configuration) else routes
    options = PlanOptions() if options is None else options
    return RoutePlan(tuple(jobs_of(jobs, now, options.reading)), table, now, until, options)


@dataclass(frozen=True)
class RoutePlan:
    """Jobs, routes and options of a plan; each iteration computes it again."""

    jobs: tuple[PlannedJob, ...]
    table: RoutingTable
    now: int
    until: int | None
    options: PlanOptions

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """Findings about the jobs and the routes before any run, each once."""
        found: dict[Diagnostic, None] = dict.fromkeys(as_warnings(self.table.circles))
        for job in self.jobs:
            found.update(dict.fromkeys(job.findings))
            if job.schedule is not None and self.options.rejected is None:
                found.update(dict.fromkeys(waits_for_rejection(job, self._texts)))
            found.update(dict.fromkeys(without_runs(job, self.now)))
        if not self.table.is_enabled:
            said = [each for each in self.table.diagnostics if each.severity is Severity.ERROR]
            message = "routing is switched off: no job is routed"
            found.update(dict.fromkeys(said))
            found[Diagnostic("plan-disabled", message, help="crondor route check shows why")] = None
        return tuple(found)

    @property
    def _texts(self) -> tuple[str, ...]:
        constraint = self.table.settings.source_constraint
        required = (each.transform.requirements for each in self.table.routes)
        return (
            *(each.text for each in required if each is not None),
            *(() if constraint is None else (str(constraint),)),
        )

    def __iter__(self) -> Iterator[PlannedRun]:
        return Planning(self.jobs, self.table, self.now, self.until, self.options).runs()

    def cure(self, run: PlannedRun) -> Cure | None:
        """Return the lines that remove the schedule from a run's copy; None for a run without its own copy."""
        if run.routed is None or run.routed.ad is None or run.taken is None:
            return None
        zone = zone_of(self.options.reading.zone).info
        return cure(run.routed, run.taken, zone, facts_at(self.table, Context(now=run.taken, zone=zone)))
