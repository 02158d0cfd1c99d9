"""A search in two parts: what each job comes to by itself, and who takes it, which hangs on the jobs before.

``judge(matcher, jobs, route_state, context)`` is the first and long part; it can be done for any jobs of a queue at any
place, by another process too. ``JudgedSearch`` goes over what came of it in the order of the jobs, and finds the same
matches as ``Matcher.match`` on the jobs themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Attributes, Context
from crondor.router.match.clusters import MOST_KEYS, AlikeJobs, Key
from crondor.router.match.matcher import LAST_TURN, NOBODY, Match, Matcher, Search, Taking
from crondor.router.match.route_state import RouteState

_Ad = TypeVar("_Ad", bound=Attributes)


class Judged(NamedTuple):
    """A job, by its id, and the routes that it matches: a bit for each place in the table, none for no candidate.

    ``kept`` is what whoever goes over the matches is to get with this one.
    """

    job: str
    routes: int
    kept: object = None


def judge(
    matcher: Matcher, jobs: Iterable[tuple[str, _Ad]], route_state: RouteState, context: Context
) -> Iterator[tuple[str, int, _Ad]]:
    """Yield each job with the bits of the routes that it matches, and its ad.

    ``route_state`` is that of the begin of the search: the umbrella constraint is of the routes that take jobs then.
    """
    clusters = matcher.clusters
    names, find, is_candidate = clusters.names, clusters.find, clusters.is_candidate
    accepting = Taking(matcher.table, route_state).accepting
    known: dict[Key, int] = {}
    for job, ad in jobs:
        codes = ad.codes
        key = tuple(map(codes.get, names))
        routes = known.get(key)
        if routes is None:
            cluster = find(ad, context)[0]
            routes = cluster.matched if matcher.passes(cluster, accepting) else 0
            if isinstance(clusters.known.get(key), AlikeJobs):  # the key tells by itself
                if len(known) >= MOST_KEYS:
                    known.clear()
                known[key] = routes
        yield job, (routes if routes and is_candidate(ad, codes, context) else 0), ad


class JudgedSearch(Search[ClassAd]):
    """A search among jobs that were judged. ``kept`` is that of the last match; there is no ``ad``."""

    def __init__(self, matcher: Matcher, judged: Iterable[Judged], route_state: RouteState, context: Context) -> None:
        """Begin; nothing is looked at before someone asks for the matches."""
        super().__init__(matcher, (), route_state, context, NOBODY)
        self._judged = judged
        self.kept: object = None

    @property
    def accepting(self) -> int:
        """The routes that take jobs when the search begins, as bits."""
        return self._at_first

    def __iter__(self) -> Iterator[Match]:
        """Yield the matches in the order of the jobs."""
        taking = self._taking
        routes = taking.routes
        turn = self._begun.turn if self._matcher.table.settings.round_robin else None
        self.is_stopped = not taking.room
        for job, matched, kept in self._judged if taking.room else ():
            left = matched & taking.accepting
            if not left:
                continue
            at = (left & -left).bit_length() - 1
            if turn is not None:
                among = [place for place in range(left.bit_length()) if left >> place & 1]
                at = among[turn % len(among)]
                turn = (turn + 1) & LAST_TURN
            self.kept = kept
            is_room = taking.give(at)
            yield Match(job, routes[at])
            if not is_room:
                self.is_stopped = True
                return
