"""The making of a plan: a clock that goes from one event to the next."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from copy import copy as copied
from datetime import tzinfo
from enum import IntEnum
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.deferral import Deferral
from crondor.diagnostics import Diagnostic
from crondor.job.attributes import int32, integer
from crondor.job.status import JobStatus
from crondor.router.apply.applying import Routed, apply_route
from crondor.router.match.matcher import Matcher
from crondor.router.plan.copy_schedule import Conduct, manner_of
from crondor.router.plan.jobs import PlannedJob
from crondor.router.plan.loads import Load
from crondor.router.plan.options import PlanOptions
from crondor.router.plan.planned_job import Copy, JobProgress, stays
from crondor.router.plan.remarks import Taking, remarks
from crondor.router.plan.runs import LastAsked, Outcome, PlannedRun
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable
from crondor.transform import Facts
from crondor.zones import zone_of

_STEP: Final = 60
"""Seconds between two questions of a job that waits and whose requirements look at the clock."""
_MOST_STEPS: Final = 1000


def facts_at(table: RoutingTable, context: Context) -> Facts:
    """Return what the transforms of a table may see at another time."""
    facts: Facts = copied(table.facts)
    facts.context = context
    return facts


class _What(IntEnum):
    """Events of the same time, in the order in which they happen."""

    END = 0
    START = 1
    WAKE = 2
    ASK = 3
    GIVE_UP = 4
    PASS = 5


class Planning:
    """One making of a plan."""

    def __init__(
        self, jobs: tuple[PlannedJob, ...], table: RoutingTable, now: int, until: int | None, options: PlanOptions
    ) -> None:
        """Begin; nothing is planned before someone asks for the runs."""
        self.options = options
        self.table = table
        self.now = self.clock = now
        self.zone: tzinfo = zone_of(options.reading.zone).info
        self.load = Load(table, options.standing)
        self.matcher = Matcher(table, options.owner)
        self.period = max(1, table.settings.polling_period)
        self.lives = [
            JobProgress(number, job, now, until, options.count)
            for number, job in enumerate(jobs)
            if job.schedule is not None and job.schedule.is_deferred
        ]
        self._by_number = {life.number: life for life in self.lives}
        self._waiting: dict[int, JobProgress] = {}
        self._events: list[tuple[int, int, int, int]] = []
        self._wakes: set[int] = set()

    def runs(self) -> Iterator[PlannedRun]:
        """Go from event to event."""
        for life in self.lives:
            yield from self._begin(life)
        while self._events:
            time, what, number, token = heapq.heappop(self._events)
            self.clock = time
            if what in (_What.WAKE, _What.ASK):
                yield from self._poll(time, what, number, token)
                continue
            life = self._by_number[number]
            if life.token != token:
                continue
            if what == _What.START and life.copy is not None:
                self.load.start(life.copy.route)
                life.copy.is_idle = False
                self._wake(time)
            elif what == _What.END:
                yield from self._ended(life, time)
            elif what == _What.GIVE_UP:
                yield from self._local(life)
            elif what == _What.PASS:
                yield from self._passed(life)

    def _begin(self, life: JobProgress) -> Iterator[PlannedRun]:
        """Let a job wait for its first run; one that runs already is idle again when it has run."""
        status = int32(life.ad, "JobStatus")
        if status in (JobStatus.IDLE, None):
            yield from self._next(life, self.now)
            return
        life.ad.set("JobStatus", int(JobStatus.IDLE))
        begun = max(self.now, integer(life.ad, "DeferralTime") or 0)
        run = life.peek()
        if run is not None and run.time <= begun:
            life.starts += 1
            yield self._row(life, life.pull() or run, Outcome.LOCAL)
        yield from self._next(life, begun + (self.options.run_time or 0), is_busy=True)

    # Time

    def _at(self, time: int, what: _What, life: JobProgress) -> None:
        heapq.heappush(self._events, (time, what, life.number, life.token))

    def _poll_from(self, time: int) -> int:
        """Return the router's first poll at a time or later; the first of all is a period from now."""
        return self.now + self.period * max(1, -(-(time - self.now) // self.period))

    def _wake(self, time: int) -> None:
        """Ask for all that wait at the next poll, since a route has more room."""
        poll = self._poll_from(time)
        if self._waiting and poll not in self._wakes:
            self._wakes.add(poll)
            heapq.heappush(self._events, (poll, _What.WAKE, -1, 0))

    def _context(self, time: int) -> Context:
        return Context(now=time, zone=self.zone)

    # The way of a job

    def _next(self, life: JobProgress, ready: int, *, is_busy: bool = False) -> Iterator[PlannedRun]:
        """Let an idle job wait for its next run; runs that came while it was busy are passed over."""
        life.copy = None
        run = life.pull()
        while run is not None and is_busy and run.time <= ready:
            yield self._row(life, run, Outcome.BUSY)
            run = life.pull()
        if run is None:
            return
        opens = self._poll_from(max(ready, run.match_opens) if self.options.at_gate else ready)
        life.token += 1
        life.asked, life.next_ask = None, opens
        if opens > run.last_match and (self.options.at_gate or is_busy):
            self._at(max(run.last_match + 1, self.now), _What.GIVE_UP, life)
            return
        self._at(opens, _What.ASK, life)

    def _poll(self, time: int, what: int, number: int, token: int) -> Iterator[PlannedRun]:
        """Ask the routes about all jobs whose turn it is at a time."""
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
        lives = [asked[each] for each in sorted(asked)]
        matched: dict[int, Route] = {}
        begun = self.load.standing
        for match in self.matcher.match(self._ads(lives, time), begun, context):
            matched[int(match.job)] = match.route
        for life in lives:
            route = matched.get(life.number)
            if route is None:
                yield from self._refused(life, time, context)
            else:
                yield from self._take(life, route, time, context)

    def _ads(self, lives: Iterable[JobProgress], time: int) -> Iterator[tuple[str, ClassAd]]:
        for life in lives:
            self._dress(life, time)
            yield str(life.number), life.ad

    def _dress(self, life: JobProgress, time: int) -> None:
        """Put into a job's ad what it has at a time."""
        if self.options.at_gate and life.run is not None:
            life.ad.set("DeferralTime", life.run.time)
        if self.options.rejected is not None and time >= self.now + self.options.rejected:
            life.ad.set("LastRejMatchTime", self.now + self.options.rejected)
            life.changed()

    def _refused(self, life: JobProgress, time: int, context: Context) -> Iterator[PlannedRun]:
        """Let a job wait for room, or for the clock, that no route has taken; else leave it to the local pool."""
        self._dress(life, time)
        run = life.run
        if run is None:
            return
        life.asked = LastAsked(self.table, life.ad, self.load.standing, context, self.options.owner)
        if life.number in self._waiting and life.next_ask > time:
            return  # it was asked since there is more room, and still there is none for it
        cluster, _ = self.matcher.clusters.find(life.ad, context)
        rejection = self.now + (self.options.rejected or 0)
        later = [self._poll_from(rejection)] if self.options.rejected is not None and rejection > time else []
        if cluster.is_timed:
            later.append(self._poll_from(time + max(_STEP, (run.last_match - time) // _MOST_STEPS)))
        if time >= run.last_match or not (cluster.matched or later) or not self.table.is_enabled:
            yield from self._local(life)
            return
        if life.number not in self._waiting:
            self._waiting[life.number] = life
            self._at(run.last_match + 1, _What.GIVE_UP, life)
        life.next_ask = min(later, default=run.last_match + 1)
        if later:
            self._at(life.next_ask, _What.ASK, life)

    def _local(self, life: JobProgress) -> Iterator[PlannedRun]:
        """Give a run that no route has taken to the local pool, and go on with the next."""
        run = life.run
        if run is None:
            return
        asked = None if life.asked is None else life.asked._replace(ad=life.ad.copy())
        yield self._row(life, run, Outcome.LOCAL, asked=asked)
        yield from self._after_local(life, run)

    def _after_local(self, life: JobProgress, run: Deferral) -> Iterator[PlannedRun]:
        self._waiting.pop(life.number, None)
        life.token += 1
        ended = max(run.time + (self.options.run_time or 0), self.clock)
        life.starts += 1
        if stays(life.ad, ended, life.starts, self._context(ended)):
            yield from self._next(life, ended, is_busy=True)
        else:
            self._rest(life, Outcome.GONE)

    def _take(self, life: JobProgress, route: Route, time: int, context: Context) -> Iterator[PlannedRun]:
        """Route a job, and let its copy begin."""
        run = life.run
        if run is None:
            return
        self._waiting.pop(life.number, None)
        life.token += 1
        facts = facts_at(self.table, context)
        source = life.one_run(run) if self.options.at_gate else life.ad.copy()
        routed = apply_route(self.table, route, source, facts=facts)
        if routed.failed or routed.ad is None:
            yield from self._not_copied(life, route, run, time, routed)
            return
        room = self.load.take(route)
        manner = manner_of(routed.ad, time, self.zone)
        copy = Copy(route, manner, routed.ad)
        life.copy, life.taken = copy, time
        self._time(life, copy, run, time)
        key = (route.name, manner.conduct, copy.stays, time < run.match_opens, life.peek() is None)
        found = [] if key in life.told else self._remarks(life, routed, copy, run, time, facts)
        life.told.add(key)
        yield self._row(
            life,
            run,
            Outcome.ROUTED,
            route=route,
            taken=time,
            starts=copy.starts,
            ends=copy.ends,
            room=room,
            conduct=manner.conduct,
            stays=copy.stays,
            routed=routed,
            findings=life.new(found),
        )
        if copy.ends is None:
            self._rest(life, Outcome.STUCK)

    def _not_copied(
        self, life: JobProgress, route: Route, run: Deferral, time: int, routed: Routed
    ) -> Iterator[PlannedRun]:
        """Go on with a job that was edited where it is, or whose routing failed: the local pool has it."""
        outcome = Outcome.FAILED if routed.failed else Outcome.EDITED
        if routed.in_place is not None:
            for change in routed.in_place:
                if change.after is None:
                    life.ad.prune(change.name)
                else:
                    life.ad.set_text(change.name, change.after)
            life.changed()
        yield self._row(
            life, run, outcome, route=route, taken=time, routed=routed, findings=life.new(routed.diagnostics)
        )
        yield from self._after_local(life, run)

    def _time(self, life: JobProgress, copy: Copy, run: Deferral, time: int) -> None:
        """Find out when a copy starts and ends, and note the events."""
        ready = time + self.options.queue_time
        conduct = copy.manner.conduct
        if conduct is Conduct.AT_ONCE:
            copy.starts = ready
        elif conduct.waits and copy.manner.time is not None:
            copy.starts = max(ready, copy.manner.time)
        elif conduct.repeats:
            copy.starts = max(ready, run.time)
        else:
            return
        ends = self._end_of(life, copy.starts)
        at = ends if ends is not None else copy.starts
        copy.stays = stays(copy.ad, at, life.starts + 1, self._context(at))
        copy.ends = None if copy.stays and not conduct.repeats else ends
        # The poll that takes a job still counts it as idle, the next one sees what became of it.
        self._at(max(time + 1, copy.matched(run, ready)), _What.START, life)
        if copy.ends is not None:
            self._at(copy.ends, _What.END, life)

    def _end_of(self, life: JobProgress, starts: int) -> int | None:
        if self.options.run_time is not None:
            return starts + max(1, self.options.run_time)
        following = life.peek()
        if following is None:
            return None
        return max(starts + 1, following.match_opens if self.options.at_gate else following.time - 1)

    def _remarks(
        self, life: JobProgress, routed: Routed, copy: Copy, run: Deferral, time: int, facts: Facts
    ) -> list[Diagnostic]:
        more = life.peek() is not None
        taking = Taking(
            life.job,
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

    def _ended(self, life: JobProgress, time: int) -> Iterator[PlannedRun]:
        """Let a copy go when it has run, or wait for its next time where it stays."""
        copy = life.copy
        if copy is None:
            return
        life.starts += 1
        if copy.stays:
            self.load.wait(copy.route)
            copy.is_idle = True
            yield from self._again(life, copy, time)
            return
        self.load.leave(copy.route, was_idle=copy.is_idle)
        self._wake(time)
        life.token += 1
        if self.options.at_gate and stays(life.ad, time, life.starts, self._context(time)):
            yield from self._next(life, time, is_busy=True)
        else:
            self._rest(life, Outcome.GONE)

    def _again(self, life: JobProgress, copy: Copy, time: int) -> Iterator[PlannedRun]:
        """Go on with a copy that schedules itself."""
        run = life.pull()
        while run is not None and run.time <= time:
            yield self._row(life, run, Outcome.BUSY, route=copy.route)
            run = life.pull()
        if run is None:
            return
        life.token += 1
        copy.starts = run.time
        copy.ends = self._end_of(life, copy.starts)
        at = copy.ends if copy.ends is not None else copy.starts
        copy.stays = stays(copy.ad, at, life.starts + 1, self._context(at))
        yield self._row(
            life,
            run,
            Outcome.BY_COPY,
            route=copy.route,
            taken=life.taken,
            starts=copy.starts,
            ends=copy.ends,
            conduct=copy.manner.conduct,
            stays=copy.stays,
        )
        self._at(copy.matched(run, time), _What.START, life)
        if copy.ends is not None:
            self._at(copy.ends, _What.END, life)
        else:
            self._rest(life, Outcome.STUCK)

    def _rest(self, life: JobProgress, outcome: Outcome) -> None:
        """Note the next run of a job that has no more to decide, to be told when its time comes."""
        life.rest = outcome
        run = life.pull()
        if run is not None:
            self._at(max(run.time, self.now), _What.PASS, life)

    def _passed(self, life: JobProgress) -> Iterator[PlannedRun]:
        if life.run is not None:
            is_out = life.rest is Outcome.STUCK and life.copy is not None
            yield self._row(life, life.run, life.rest, route=life.copy.route if is_out and life.copy else None)
        self._rest(life, life.rest)

    def _row(self, life: JobProgress, run: Deferral, outcome: Outcome, **more: object) -> PlannedRun:
        life.number_of_rows += 1
        return PlannedRun(life.job, life.number_of_rows, run, outcome, **more)  # type: ignore[arg-type]
