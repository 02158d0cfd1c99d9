"""The jobs of a queue as candidates that are kept: a poll costs what has changed, and what the routes take.

HTCondor: JobRouter::GetCandidateJobs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from heapq import heapify, heappop, heapreplace
from typing import NamedTuple

from crondor.classad.scope import Attributes, Context
from crondor.router.match.clusters import AlikeJobs
from crondor.router.match.matcher import NOBODY, Match, Matcher, Taking
from crondor.router.match.route_state import RouteState


class MatchPoll(NamedTuple):
    """What a poll came to: the matches in the order in which the jobs were put, and how the router stands then."""

    matches: tuple[Match, ...]
    route_state: RouteState


class _Bucket:
    """Jobs that are alike, with the number that each was given when it was first put."""

    __slots__ = ("_gone", "cluster", "jobs", "last")

    def __init__(self, cluster: AlikeJobs) -> None:
        self.cluster = cluster
        self.jobs: dict[str, int] = {}
        self.last = 0  # the number of the last job; more than any job's where they are not in order
        self._gone = 0

    def add(self, job: str, number: int) -> None:
        self.jobs[job] = number
        self.last = number if number >= self.last else 1 << 62

    def remove(self, job: str) -> None:
        """Take a job out, and at times the places too that a dict keeps of those that have gone."""
        del self.jobs[job]
        self._gone += 1
        if self._gone > len(self.jobs):
            self.jobs = dict(self.jobs.items())
            self._gone = 0

    def in_order(self) -> Iterator[tuple[str, int]]:
        if self.last == 1 << 62:
            self.jobs = dict(sorted(self.jobs.items(), key=lambda item: item[1]))
            self.last = max(self.jobs.values(), default=0)
        return iter(self.jobs.items())


class Candidates:
    """Keeps the jobs of a queue for polls, one after the other.

    ``put`` tells that there is a job, or that its ad is another; ``drop`` that it has gone. A job that was matched is
    not looked at again before it is put again.
    """

    def __init__(self, matcher: Matcher) -> None:
        """Begin without jobs."""
        self._matcher = matcher
        self._numbers: dict[str, int] = {}
        self._places: dict[str, _Bucket] = {}
        self._buckets: dict[AlikeJobs, _Bucket] = {}
        self._ready: dict[int, list[_Bucket]] = {}
        self._doubtful: dict[str, Attributes] = {}
        self._count = 0

    def __len__(self) -> int:
        """Return the number of jobs, candidates or not."""
        return len(self._numbers)

    def put(self, job: str, ad: Attributes, context: Context) -> None:
        """Take a job's ad, chained to its cluster's; it may be changed only if the job is put again."""
        self._leave(job)
        number = self._numbers.get(job)
        if number is None:
            self._count += 1
            number = self._numbers[job] = self._count
        clusters = self._matcher.clusters
        codes = ad.codes
        is_fixed = clusters.is_fixed(codes)
        cluster, is_shared = clusters.find(ad, context)
        if not is_fixed or not is_shared:
            self._doubtful[job] = ad
        elif (cluster.is_timed or cluster.is_candidate) and clusters.is_candidate(ad, codes, context):
            self._enter(job, number, cluster)

    def drop(self, job: str) -> None:
        """Forget a job; one that is not known is none."""
        self._leave(job)
        self._numbers.pop(job, None)

    def poll(self, route_state: RouteState, context: Context, *, managed: Collection[str] = NOBODY) -> MatchPoll:
        """Give jobs to routes; ``managed`` are the ids of jobs that the router has already."""
        taking = Taking(self._matcher.table, route_state)
        if not taking.room:
            return MatchPoll((), route_state)
        turn = route_state.turn if self._matcher.table.settings.round_robin else None
        found: list[Match] = []
        for job, cluster in self._in_order(taking, context, managed):
            among = taking.among(cluster)
            at = among[0 if turn is None else turn % len(among)]
            turn = None if turn is None else turn + 1
            found.append(Match(job, taking.routes[at]))
            if not taking.give(at):
                break
        for match in found:
            self._leave(match.job)
        return MatchPoll(tuple(found), route_state.after(taking.given()))

    def _enter(self, job: str, number: int, cluster: AlikeJobs) -> None:
        bucket = self._buckets.get(cluster)
        if bucket is None:
            bucket = self._buckets[cluster] = _Bucket(cluster)
        if not bucket.jobs:
            self._ready.clear()
        bucket.add(job, number)
        self._places[job] = bucket

    def _leave(self, job: str) -> None:
        bucket = self._places.pop(job, None)
        if bucket is not None:
            bucket.remove(job)
        self._doubtful.pop(job, None)

    def _in_order(self, taking: Taking, context: Context, managed: Collection[str]) -> Iterator[tuple[str, AlikeJobs]]:
        """Yield the jobs that a route takes now, with what they are like; ``taking`` may change on the way."""
        heads: list[tuple[int, str, AlikeJobs, Iterator[tuple[str, int]]]] = []
        at_first = taking.accepting
        buckets = [bucket for bucket in self._at(at_first, context) if bucket.cluster.matched & at_first]
        for bucket in buckets:
            rest = bucket.in_order()
            job, number = next(rest)
            heads.append((number, job, bucket.cluster, rest))
        for job, ad in self._doubtful.items():
            cluster, _ = self._matcher.clusters.find(ad, context)
            if self._matcher.passes(cluster, at_first) and self._matcher.clusters.is_candidate(ad, ad.codes, context):
                heads.append((self._numbers[job], job, cluster, iter(())))
        heapify(heads)
        while heads:
            _, job, cluster, rest = heads[0]
            if not cluster.matched & taking.accepting:
                heappop(heads)
                continue
            if job not in managed:
                yield job, cluster
            following = next(rest, None)
            if following is None:
                heappop(heads)
            else:
                heapreplace(heads, (following[1], following[0], cluster, rest))

    def _at(self, accepting: int, context: Context) -> list[_Bucket]:
        """Return the buckets with jobs that pass the umbrella constraint of some routes."""
        ready = self._ready.get(accepting)
        if ready is None:
            self._buckets = {each: bucket for each, bucket in self._buckets.items() if bucket.jobs}
            passes = self._matcher.passes
            ready = [
                bucket for cluster, bucket in self._buckets.items() if cluster.is_timed or passes(cluster, accepting)
            ]
            self._ready[accepting] = ready
        return [bucket for bucket in ready if bucket.jobs and self._passes_now(bucket.cluster, accepting, context)]

    def _passes_now(self, cluster: AlikeJobs, accepting: int, context: Context) -> bool:
        if not cluster.is_timed:
            return True
        self._matcher.clusters.renew(cluster, context)
        return self._matcher.passes(cluster, accepting)
