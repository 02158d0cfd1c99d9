"""Routes that have another name in a new table, and are the same ones: by what they say, or by their own NAME line.

HTCondor knows a route by the name of its knob. A conversion of ClassAd routes writes down what they were called before
in a line ``NAME``, where that can be no knob's name, or is another route's.
"""

from __future__ import annotations

import re
from typing import Final

from crondor.classad.text import lower
from crondor.router.table.loading import difference
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable

LIMITS: Final = ("MaxJobs", "MaxIdleJobs", "FailureRateThreshold", "JobFailureTest")
"""What a route says of how many jobs it takes, and not of which, nor of their copies."""

_NAME: Final = re.compile(r"^[ \t]*NAME[ \t]+(.+?)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)  # which no knob needs
_LIMIT: Final = re.compile(rf"[ \t]*(?:{'|'.join(LIMITS)})[ \t]*=.*", re.IGNORECASE)


class Renames:
    """Names of routes in an old table and in a new one: ``pairs``, in the order of the new one."""

    __slots__ = ("_before", "pairs")

    def __init__(self, pairs: tuple[tuple[str, str], ...] = ()) -> None:
        """Take the pairs."""
        self.pairs = pairs
        self._before = {lower(new): lower(old) for old, new in pairs}

    def before(self, name: str) -> str:
        """Return what a route of the new table was called, in lower case."""
        key = lower(name)
        return self._before.get(key, key)


UNCHANGED: Final = Renames()
"""Every route is called as it was."""


def renames(old: RoutingTable, new: RoutingTable) -> Renames:
    """Return the routes that the new table calls otherwise.

    One whose NAME line has the name of a route that is not there any more is that one. Of the others those are the same
    whose universe, grid resource, requirements and rules are the same texts, as many in both tables; limits aside.
    """
    found = difference(old, new)
    gone = {lower(route.name): route for route in found.dropped}
    come = list(found.added)
    pairs: dict[str, str] = {}
    for route in come:
        own = _NAME.search(route.source.text)
        was = None if own is None else gone.get(lower(own[1]))
        if was is not None:
            del gone[lower(was.name)]
            pairs[route.name] = was.name
    alike: dict[object, tuple[list[Route], list[Route]]] = {}
    for side, routes in enumerate((list(gone.values()), [route for route in come if route.name not in pairs])):
        for route in routes:
            alike.setdefault(_rules(route), ([], []))[side].append(route)
    for one, other in alike.values():
        if len(one) == len(other):
            pairs |= {now.name: was.name for was, now in zip(one, other, strict=True)}
    return Renames(tuple((pairs[route.name], route.name) for route in come if route.name in pairs))


def _rules(route: Route) -> object:
    """Return what a route consists of, but for its name and its limits."""
    asked = route.transform.requirements
    lines = tuple(line.text for line in route.transform.lines if _LIMIT.fullmatch(line.text) is None)
    return route.universe, route.grid_resource, None if asked is None else asked.text, lines
