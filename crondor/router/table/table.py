"""The routing table: routes in their order, the transforms around them, and what was rejected."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from crondor.diagnostics import Diagnostic
from crondor.router.table.compiled_route import CompiledRoute
from crondor.router.table.route import Route
from crondor.router.table.settings import RouterSettings
from crondor.source import Source, Span
from crondor.transform import Transform, TransformFacts
from crondor.transform.circular import find_circles
from crondor.transform.facts import NOTHING


@dataclass(frozen=True)
class Rejected:
    """A route that is listed but not taken: its name, why, and its text if it has one, with the place of that."""

    name: str
    diagnostics: tuple[Diagnostic, ...]
    source: Source | None = None
    place: Span | None = None


@dataclass(frozen=True, repr=False)
class RoutingTable:
    """Routes in the order in which they are asked, one that is listed twice twice; names have no case.

    ``before`` and ``after`` are the transforms around each route. ``is_enabled`` false: routing is switched off, by a
    configuration without routes or with a transform that does not load; ``diagnostics`` say why. ``facts`` are the
    knobs, clock and files that the transforms may see. ``idle`` are the routes of a table that is switched off by
    nothing but the value of a knob: they are there, and nothing goes on them.
    """

    routes: tuple[Route, ...] = ()
    before: tuple[Transform, ...] = ()
    after: tuple[Transform, ...] = ()
    settings: RouterSettings = field(default_factory=RouterSettings)
    rejected: tuple[Rejected, ...] = ()
    is_enabled: bool = True
    diagnostics: tuple[Diagnostic, ...] = ()
    facts: TransformFacts = NOTHING
    idle: tuple[Route, ...] = ()
    _courses: dict[int, CompiledRoute] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        """Return the names of the routes, or why there are none."""
        names = ", ".join(each.name for each in self.routes) or ("none" if self.is_enabled else "switched off")
        return f"<RoutingTable: {names}>"

    def __getstate__(self) -> dict[str, object]:
        """Return what it was made of; compiled routes are compiled again."""
        return {**self.__dict__, "_courses": {}}

    def route(self, name: str) -> Route | None:
        """Return the route of a name, None if there is none."""
        key = name.lower()
        return next((each for each in self.routes if each.name.lower() == key), None)

    @cached_property
    def circles(self) -> tuple[Diagnostic, ...]:
        """What refers to itself after the transforms before routes, a route, and those after it, whatever the job."""
        ways = [] if any(each.takes_transforms for each in self.routes) else [(*self.before, *self.after)]
        for route in {id(each): each for each in self.routes}.values():
            around = (self.before, self.after) if route.takes_transforms else ((), ())
            ways.append((*around[0], route.transform, *around[1]))
        return tuple(dict.fromkeys(each for way in ways for each in find_circles(way, self.facts)))

    def course(self, route: Route) -> CompiledRoute:
        """Return how plain jobs go on a route."""
        found = self._courses.get(id(route))
        if found is None or found.route is not route:
            before, after = (self.before, self.after) if route.takes_transforms else ((), ())
            found = CompiledRoute(route, before, after, self.settings)
            if len(self._courses) > len(self.routes):
                self._courses.clear()
            self._courses[id(route)] = found
        return found
