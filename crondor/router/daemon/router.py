"""The router: poll its queues, find candidates, and advance each job by one step (HTCondor: JobRouter::Poll)."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, TypeVar

from crondor.classad import CircularReference, ClassAdSyntaxError, EvaluationFailed
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.job.attributes import JobStatus, string
from crondor.job.policy import TERMS
from crondor.job_queue.records import JobId
from crondor.router.daemon import runs
from crondor.router.daemon.context import RouteCounts, RouterContext, RouterOptions, live
from crondor.router.daemon.finish import Orphans, finalise, finish, is_forgotten
from crondor.router.daemon.follow import apply_policy, check_status, claim_together, submit, take_over
from crondor.router.daemon.log import RouterEvent
from crondor.router.daemon.routed_job import (
    EXTERNAL,
    ROUTED_BY,
    SCHEDD_DONE,
    Patient,
    Refusals,
    RoutedCopies,
    RoutedJob,
    RoutedState,
    status,
)
from crondor.router.daemon.status import (
    DECIDING,
    Because,
    QueueView,
    RouteNow,
    RouteReason,
    RouterReport,
    Seen,
    because,
    queue_parts,
    routes_now,
    summed,
)
from crondor.router.match.matcher import Match, Matcher, RouteState
from crondor.router.match.reasons import Candidates
from crondor.router.table.route import RoutingTable
from crondor.schedd.protocol import Clock, Narrowing, Schedd, Selection
from crondor.schedd.reading import job_id
from crondor.zones import zone_of

_CHUNK: Final = 200
_FEW: Final = 64  # gates


class SourceQueue:
    """Idle jobs that no router manages: those that a route could take, and those that wait for their gate."""

    def __init__(self, context: RouterContext) -> None:
        self._context = context
        self._matcher = Matcher(context.table, context.options.owner)
        self._candidates = Candidates(self._matcher)
        self._known: set[JobId] = set()
        self._later: dict[JobId, tuple[int, ClassAd]] = {}
        self._gates: list[tuple[int, JobId]] = []

    def __contains__(self, job: JobId) -> bool:
        return job in self._known

    def names(self) -> tuple[str, ...] | None:
        """Return the attributes that decide whether a route could take a job; None: any may."""
        clusters = self._matcher.clusters
        return None if clusters.is_open or self._context.options.waits_for_gates else clusters.names

    def keep(self, job: JobId) -> None:
        """Let a job wait that no route takes, in case of another table."""
        self._known.add(job)
        self._candidates.number(str(job))

    def has(self, job: JobId) -> bool:
        """Return whether a route may take a job later, or was refused it."""
        return job in self._later or self._context.refusals.until(job) > 0 or self._candidates.may_match(str(job))

    def forget_all(self) -> list[JobId]:
        """Forget all jobs and use the context's current table; return the jobs, which must be seen again."""
        known, self._known = sorted(self._known), set()
        self._matcher = Matcher(self._context.table, self._context.options.owner)
        self._candidates = Candidates(self._matcher)
        self._later, self._gates = {}, []
        return known

    def see(self, job: JobId, ad: ClassAd | None) -> None:
        """Update a job; None: it has left."""
        if ad is None or not (
            status(ad) is JobStatus.IDLE
            and string(ad, "Managed") not in (EXTERNAL, SCHEDD_DONE)
            and string(ad, ROUTED_BY) != self._context.name
        ):
            self.drop(job)
            self._context.refusals.forget(job)
            return
        self._known.add(job)
        context = self._context
        opens = (runs.opens(ad, context.now, context.options.zone) or 0) if context.options.waits_for_gates else 0
        opens = max(opens, context.refusals.until(job))
        self._later.pop(job, None)
        if opens > context.now:
            self._candidates.drop(str(job))
            self._later[job] = opens, ad
            if len(self._gates) > 2 * len(self._later) + _FEW:
                self._gates = [(until, each) for each, (until, _) in self._later.items()]
                heapq.heapify(self._gates)
            else:
                heapq.heappush(self._gates, (opens, job))
        else:
            self._candidates.put(str(job), ad, context.context)

    def drop(self, job: JobId) -> None:
        """Forget a job."""
        if job in self._known:
            self._known.discard(job)
            self._later.pop(job, None)
            self._candidates.drop(str(job))

    def find(self, most: int | None = None) -> Iterator[RoutedJob]:
        """Yield up to ``most`` jobs that routes take now, unclaimed; the ledger counts them only without ``most``."""
        context = self._context
        self._open_gates()
        found = self._candidates.poll(context.ledger.route_state, context.context)
        matches = {job: match for match in found.matches if (job := JobId.parse(match.job)) is not None}
        jobs = list(matches)[:most]
        if len(jobs) == len(matches):
            context.ledger.route_state = found.route_state
        for job in list(matches)[len(jobs) :]:
            context.look_again(job)
        for start in range(0, len(jobs), _CHUNK):
            chunk = tuple(jobs[start : start + _CHUNK])
            try:
                ads = context.source.jobs(Selection(jobs=chunk))
            except CrondorError as error:
                context.failed(RouterEvent.UNREACHABLE, "", error)
                for job in jobs[start:]:
                    context.look_again(job)
                return
            for ad in ads:
                job_found = job_id(ad)
                if job_found is not None:
                    yield from self._found(job_found, ad, matches[job_found])

    def _found(self, job: JobId, ad: ClassAd, match: Match) -> Iterator[RoutedJob]:
        context, route = self._context, match.route
        if context.options.waits_for_gates and (runs.opens(ad, context.now, context.options.zone) or 0) > context.now:
            self.see(job, ad)
            return
        context.say(RouterEvent.FOUND, "", f" src={job},route={route.name}")
        in_place = route.edit_job_in_place
        sandboxed = route.job_should_be_sandboxed
        yield RoutedJob(
            job,
            ad,
            route.name,
            is_in_place=in_place is not None and in_place.holds(ad, None, context.context),
            is_sandboxed=sandboxed is not None and sandboxed.holds(ad, None, context.context),
            found_at_poll=context.polls,
        )

    def _open_gates(self) -> None:
        """Let jobs whose gate has opened wait for a route."""
        while self._gates and self._gates[0][0] <= self._context.now:
            opens, job = heapq.heappop(self._gates)
            known = self._later.get(job)
            if known is not None and known[0] == opens:
                self.see(job, known[1])


Anything = TypeVar("Anything")

_NEEDED: Final = (*DECIDING, *TERMS)
"""Attributes that the router reads before it takes a job, in addition to those in the routes."""

_ADOPTING: Final = 5
"""The number of polls between searches for orphans, starting with the first poll."""


class Router:
    """A job router over one or two schedds, polled by its caller.

    All state is in the queues: a new router with the same name continues where another ended. Two of one name at a time
    would fight for their jobs: see ``RouterLock``. ``destination`` None: copies go into the queue of the sources.
    ``clock`` returns epoch seconds.
    """

    def __init__(
        self,
        table: RoutingTable,
        source: Schedd,
        destination: Schedd | None = None,
        *,
        clock: Clock,
        options: RouterOptions | None = None,
    ) -> None:
        """Take a table and schedds; they are not asked before the first poll. Raises UnknownZone."""
        self.options = RouterOptions() if options is None else options
        self.jobs: dict[JobId, RoutedJob] = {}
        self._clock = clock
        self._started, self._answered = clock(), False
        self._copies: dict[JobId, JobId] = {}
        copies = source if destination is None else destination
        self._is_one = copies is source
        self._sources = QueueView(source, self._cares, self._has)
        self._others = self._sources if self._is_one else QueueView(copies, self._cares_for_copy, self._cares_for_copy)
        asked = Patient(source)
        self._context = RouterContext(
            asked,
            asked if self._is_one else Patient(copies),
            table,
            RouteCounts(table, clock()),
            self.options,
            RoutedCopies(table.settings.name),
            Refusals(),
            self._sources.ask,
            zone_of(self.options.zone).info,
            now=clock(),
        )
        self._orphans = Orphans(self._context, self.jobs)
        self._queue = SourceQueue(self._context)
        self._policy_due = clock() + table.settings.periodic_interval
        self._sources.compare(self._queue.names())
        self._narrow()

    @property
    def table(self) -> RoutingTable:
        """The table in force."""
        return self._context.table

    @property
    def route_state(self) -> RouteState:
        """The loads and throttles of the routes, as of the last poll."""
        return self._context.ledger.route_state

    def reload(self, table: RoutingTable) -> None:
        """Use a new table from the next poll on; routed jobs stay, even if their route is gone.

        Existing routes keep their throttles. The router keeps its name, even if JOB_ROUTER_NAME has changed. A disabled
        table only stops routing, until an enabled table follows, as in HTCondor 25.14.
        """
        self._look_at_clock()
        before = self._context.table
        if not table.is_enabled:
            self._context.table = replace(before, is_enabled=False)
            self._context.say(RouterEvent.DISABLED)
        else:
            self._context.table = replace(table, settings=replace(table.settings, name=self._context.name))
            self._context.say(RouterEvent.RELOADED, "", _difference(before, table))
        self._context.ledger.replace(self._context.table, self._context.now)
        self._narrow()
        self._context.source.ask_again()
        self._context.destination.ask_again()
        for job in self._queue.forget_all():
            self._sources.ask(job)
        self._sources.compare(self._queue.names())

    def _narrow(self) -> None:
        """Let schedds that are asked at each poll return only the jobs that matter."""
        schedds = [view.schedd for view in {self._sources, self._others}]
        narrowing = [schedd for schedd in schedds if isinstance(schedd, Narrowing)]
        if not narrowing:
            return
        waiting, own = queue_parts(self._context.table, self.options.owner, _NEEDED)
        for schedd in narrowing:
            schedd.narrow((waiting, own) if schedd is self._sources.schedd else (own,))

    def poll(self) -> bool:
        """Read the queues, and advance every job as far as possible; return whether the queues worked.

        It returns False if they did not answer, if one accepts no edits, or if every job to be routed was refused. What
        a schedd refuses or does not answer is logged, and retried by a later poll; a schedd that refuses everything is
        left alone for some polls; a job with an expression that cannot be evaluated is skipped. No error of a schedd or
        of a job is raised; others are.
        """
        context = self._context
        self._look_at_clock()
        self._answered = False
        for schedd in (context.source, context.destination) if not self._is_one else (context.source,):
            schedd.begin_poll()
        try:
            self._refresh()
        except CrondorError as error:
            context.failed(RouterEvent.UNREACHABLE, "", error)
            context.end_poll()
            return False
        self._tick()
        context.begin_poll()
        if context.polls % _ADOPTING == 1 or self._orphans.is_due:
            self._orphans.adopt(self._track)
        context.ledger.recount(self.jobs.values(), context.now)
        self._apply_policies()
        self._find()
        table, is_quiet = context.table, context.options.hooks is None and context.options.delivery is None
        for job in list(self.jobs.values()):
            if context.is_hindered and not self._can_step(job):
                continue
            if not (is_quiet and job.is_settled(table)):
                self._guard(job.id, self._step, job)
        context.end_poll()
        self._answered = not context.is_hindered and not (context.refused and not context.routed)
        return self._answered

    def _can_step(self, job: RoutedJob) -> bool:
        """Return whether a job can proceed while a schedd is left alone; an unclaimed job waits for a later poll."""
        context = self._context
        if job.state is RoutedState.UNCLAIMED:
            self._orphans.is_due |= job.id in context.claimed_ahead
            context.claimed_ahead.discard(job.id)
            self._forget(job)
            return False
        is_alone = context.options.hooks is None and context.options.delivery is None
        return not context.source.is_left_alone and is_alone and job.state is RoutedState.SUBMITTED

    def _guard(self, job: JobId, act: Callable[[Anything], None], what: Anything) -> bool:
        """Process a job; if an expression of it cannot be evaluated, log that and return False.

        Every attribute has a defined reading, whatever is in the ad (crondor.job.attributes), and refusals of a schedd
        are handled where it is asked. That leaves ClassAdSyntaxError, EvaluationFailed and CircularReference.
        """
        try:
            act(what)
        except (ClassAdSyntaxError, EvaluationFailed, CircularReference) as error:
            self._context.failed(RouterEvent.PASSED_OVER, str(job), error)
            return False
        return True

    def _tick(self) -> None:
        context = self._context
        if context.options.delivery is None:
            return
        try:
            context.options.delivery.tick(context.now)
        except CrondorError as error:
            context.failed(RouterEvent.FILES_LEFT, "", error)

    @property
    def has_claimed_none(self) -> bool:
        """Return whether the last poll tried to claim jobs but got none."""
        return self._context.tried > 0 and not self._context.claimed

    def close(self) -> None:
        """End the running hooks; jobs stay as they are."""
        for job in self.jobs.values():
            if job.hook is not None:
                job.hook.cancel()
                job.hook = None

    def why(self, job: JobId) -> Because:
        """Return why a job gets no route now, by the counts of the last poll. Raises what the schedd raises."""
        return because(self._context, self.jobs, job, live(self._sources.schedd, job))

    def summary(self) -> Counter[tuple[RouteReason, str]]:
        """Return the reasons for all jobs of the sources' queue: the number of jobs per reason and route concerned.

        Raises what the schedd raises.
        """
        return summed(self._context, self.jobs, self._sources.schedd.jobs())

    def routes(self) -> list[RouteNow]:
        """Return the state of the routes at the last poll, in the order of the table."""
        return routes_now(self._context)

    def report(self) -> RouterReport:
        """Return a report of this router's state, for others to read while it runs."""
        route_state = self.route_state
        return RouterReport(
            self._context.name,
            self._started,
            self._context.now,
            self._answered,
            route_state.turn,
            route_state.throttles,
            max(self._context.source.pause, self._context.destination.pause),
            {what.name.lower(): count for what, count in self._context.counts.items()},
        )

    def _look_at_clock(self) -> None:
        """Read the clock. If it was set back, every wait keeps its remaining length."""
        now, before = self._clock(), self._context.now
        self._context.now = now
        if now >= before:
            return
        back = before - now
        self._context.say(RouterEvent.CLOCK_SET_BACK, "", f" by {back} seconds")
        self._policy_due -= back
        self._context.ledger.set_back(back)
        for job in self.jobs.values():
            job.since -= back
            job.retired -= back

    def _refresh(self) -> None:
        for seen in self._sources.refresh():
            is_done = self._guard(seen.job, self._see, seen)
            if self._is_one:
                is_done &= self._guard(seen.job, self._see_copy, seen)
            if is_done:
                self._sources.leave_out(seen, self._queue.keep if seen.job in self._queue else self._queue.drop)
        if not self._is_one:
            for seen in self._others.refresh():
                if self._guard(seen.job, self._see_copy, seen):
                    self._others.leave_out(seen, lambda _: None)

    def _has(self, job: JobId) -> bool:
        return job in self.jobs or self._cares_for_copy(job) or self._queue.has(job)

    def _cares(self, job: JobId) -> bool:
        return job in self.jobs or job in self._queue or (self._is_one and self._cares_for_copy(job))

    def _cares_for_copy(self, job: JobId) -> bool:
        return job in self._copies or job in self._orphans

    def _see(self, seen: Seen) -> None:
        """Update from what the sources' queue shows of a job."""
        job = self.jobs.get(seen.job)
        if job is not None:
            job.left = job.source if seen.ad is None and job.source is not None else job.left
            job.source = seen.ad
            self._queue.drop(seen.job)
        else:
            self._queue.see(seen.job, seen.ad)
        self._orphans.see_source(seen.job, seen.ad)

    def _see_copy(self, seen: Seen) -> None:
        """Update from what the copies' queue shows of a job."""
        source = self._copies.get(seen.job)
        job = None if source is None else self.jobs.get(source)
        if job is not None and job.copy_id == seen.job:
            job.see_copy(seen.ad)
        self._context.copies.see(seen.job, seen.ad)

    def _track(self, job: RoutedJob) -> None:
        self.jobs[job.id] = job
        self._queue.drop(job.id)
        if job.copy_id is not None:
            self._copies[job.copy_id] = job.id

    def _find(self) -> None:
        """Give candidates to routes; only one, if that is to test whether a schedd accepts jobs again."""
        context = self._context
        if context.is_hindered:
            return
        is_doubtful = context.source.is_doubtful or context.destination.is_doubtful
        found = list(self._queue.find(1 if is_doubtful else None))
        for job in found:
            self._track(job)
        if len(found) > 1:
            claim_together(context, found)

    def _apply_policies(self) -> None:
        interval = self._context.table.settings.periodic_interval
        if interval <= 0 or self._context.now < self._policy_due:
            return
        self._policy_due = self._context.now + interval
        for job in self.jobs.values():
            self._guard(job.id, lambda job: apply_policy(self._context, job), job)

    def _step(self, job: RoutedJob) -> None:
        context = self._context
        take_over(context, job)
        submit(context, job)
        if job.copy_id is not None:
            self._copies[job.copy_id] = job.id
        check_status(context, job)
        finalise(context, job)
        finish(context, job)
        if is_forgotten(context, job):
            self._forget(job)

    def _forget(self, job: RoutedJob) -> None:
        del self.jobs[job.id]
        if job.copy_id is not None:
            self._copies.pop(job.copy_id, None)
        self._sources.ask(job.id)


def _difference(before: RoutingTable, after: RoutingTable) -> str:
    """Return the added and removed routes as text for the log; empty if there are none."""
    old, new = ({each.name.lower(): each.name for each in made.routes} for made in (before, after))
    added = [name for low, name in new.items() if low not in old]
    dropped = [name for low, name in old.items() if low not in new]
    said = [f"{verb} {', '.join(names)}" for verb, names in (("adding", added), ("dropping", dropped)) if names]
    return f" ({'; '.join(said)})" if said else ""
