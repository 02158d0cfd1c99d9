"""The jobs of the sources' queue that wait for a route."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.job.attributes import string
from crondor.job.status import JobStatus
from crondor.job_queue.keys import JobId
from crondor.router.daemon import runs
from crondor.router.daemon.context import RouterContext
from crondor.router.daemon.log import RouterEvent
from crondor.router.daemon.reading import EXTERNAL, ROUTED_BY, SCHEDD_DONE, status
from crondor.router.daemon.routed_job import RoutedJob
from crondor.router.match.candidates import Candidates
from crondor.router.match.matcher import Match, Matcher
from crondor.schedd.ads import job_id
from crondor.schedd.selection import Selection

_CHUNK: Final = 200
_FEW: Final = 64  # gates


class SourceQueue:
    """Idle jobs that nobody has: those that a route could take, and those that wait for their gate."""

    def __init__(self, context: RouterContext) -> None:
        """Begin without jobs."""
        self._context = context
        self._candidates = Candidates(Matcher(context.table, context.options.owner))
        self._known: set[JobId] = set()
        self._later: dict[JobId, tuple[int, ClassAd]] = {}
        self._gates: list[tuple[int, JobId]] = []

    def __contains__(self, job: JobId) -> bool:
        """Say whether a job waits here."""
        return job in self._known

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self._known)

    def opens(self, job: JobId) -> int | None:
        """Return when the gate of a job opens that waits for it (epoch seconds)."""
        known = self._later.get(job)
        return None if known is None else known[0]

    def forget_all(self) -> list[JobId]:
        """Forget all jobs and ask by the context's table from now on; return the jobs, which are to be seen anew."""
        known, self._known = sorted(self._known), set()
        self._candidates = Candidates(Matcher(self._context.table, self._context.options.owner))
        self._later, self._gates = {}, []
        return known

    def see(self, job: JobId, ad: ClassAd | None) -> None:
        """Take a job as it is now; None: it has left."""
        if ad is None or not self._may_wait(ad):
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
            self._wait(opens, job)
        else:
            self._candidates.put(str(job), ad, context.context)

    def drop(self, job: JobId) -> None:
        """Forget a job."""
        if job in self._known:
            self._known.discard(job)
            self._later.pop(job, None)
            self._candidates.drop(str(job))

    def find(self, most: int | None = None) -> Iterator[RoutedJob]:
        """Yield the jobs that routes take now, unclaimed, ``most`` of them; the ledger counts them where it is all."""
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

    def _wait(self, opens: int, job: JobId) -> None:
        """Note when a gate opens; those of jobs that have left, or wait for another one now, are left out in time."""
        if len(self._gates) > 2 * len(self._later) + _FEW:
            self._gates = [(until, each) for each, (until, _) in self._later.items()]
            heapq.heapify(self._gates)
        else:
            heapq.heappush(self._gates, (opens, job))

    def _open_gates(self) -> None:
        """Let those wait for a route whose gate has opened."""
        while self._gates and self._gates[0][0] <= self._context.now:
            opens, job = heapq.heappop(self._gates)
            known = self._later.get(job)
            if known is not None and known[0] == opens:
                self.see(job, known[1])

    def _may_wait(self, ad: ClassAd) -> bool:
        """Say whether a job could be a candidate at all; the rest is the matcher's to say."""
        return (
            status(ad) is JobStatus.IDLE
            and string(ad, "Managed") not in (EXTERNAL, SCHEDD_DONE)
            and string(ad, ROUTED_BY) != self._context.name
        )
