"""Where jobs go on a table whose routes are all empty: which routes match, in their order."""

from __future__ import annotations

from crondor.classad.scope import Attributes, Context
from crondor.router.match.matcher import Matcher, Taking
from crondor.router.match.route_state import RouteState
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable


class Placing:
    """Finds the routes of jobs, as a router does that has none yet."""

    def __init__(self, table: RoutingTable, context: Context, owner: str | None = None) -> None:
        """Take a table; ``owner`` is that of Matcher."""
        self.table = table
        self.matcher = Matcher(table, owner)
        self._context = context
        self._accepting = Taking(table, RouteState()).accepting

    def place(self, ad: Attributes) -> tuple[tuple[Route, ...], bool]:
        """Return the routes that match a job and ever take one, and whether equal jobs come to the same.

        Whether the job itself is a candidate, ``is_candidate`` says.
        """
        cluster, is_shared = self.matcher.clusters.find(ad, self._context)
        found = cluster.matched & self._accepting
        if not found or not self.matcher.passes(cluster, self._accepting):
            return (), is_shared
        routes = self.table.routes
        return tuple(routes[at] for at in range(found.bit_length()) if found >> at & 1), is_shared

    def is_candidate(self, ad: Attributes) -> bool:
        """Say whether what is asked of each job by itself holds: its ids, its owner, its spooling."""
        return self.matcher.clusters.is_candidate(ad, ad.codes, self._context)

    def taken(self, routes: tuple[Route, ...]) -> tuple[Route, ...]:
        """Return the routes of those that match that a job may go on: the first, or with round robin each."""
        return routes if self.table.settings.round_robin else routes[:1]
