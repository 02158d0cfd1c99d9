"""A routing table out of a configuration, as a job router of HTCondor 25.14 makes it.

HTCondor: JobRouter::config, JobRouter::SetRoutingTable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from crondor._types import expect
from crondor.classad.scope import Context
from crondor.config import Configuration, Knob
from crondor.diagnostics import Diagnostic, Severity, similar
from crondor.macro import LogicalLine
from crondor.macro.statement import is_name
from crondor.router.table.knobs import SettingsReader, removed_knobs, unknown_knobs, unread_files
from crondor.router.table.route import (
    DEFAULT_FAILURE_RATE,
    DEFAULT_MAX_IDLE_JOBS,
    DEFAULT_MAX_JOBS,
    GRID,
    Route,
)
from crondor.router.table.route_values import RouteValues
from crondor.router.table.table import Rejected, RoutingTable
from crondor.source import Source, Span
from crondor.transform import InvalidTransform, RuleSource, Transform, TransformFacts
from crondor.transform.universes import universe_number

ROUTE = "JOB_ROUTER_ROUTE_"
TRANSFORM = "JOB_ROUTER_TRANSFORM_"
NAMES = "JOB_ROUTER_ROUTE_NAMES"
BEFORE = "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES"
AFTER = "JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES"
MOST_ROUTES = 10_000
_MOST_GUESSES = 100
_MOST_SHOWN = 5


def load_table(
    configuration: Configuration, *, context: Context | None = None, keep_routes: bool = False
) -> RoutingTable:
    """Make the routing table of a configuration.

    ``context`` has the clock and the seed of the transforms' expressions, None: those of the configuration. What is
    wrong with one route rejects it alone; a configuration that HTCondor does not read, a transform before or behind
    routes that does not load, a knob with a value that it does not take, and a missing JOB_ROUTER_ROUTE_NAMES switch
    routing off: the table then has no routes, and its ``diagnostics`` say why. ``keep_routes`` leaves them in it all
    the same, for who looks at them and routes nothing. Never fails.
    """
    expect("configuration", configuration, Configuration, "a Configuration", "write read_config(text)")
    return _Loader(configuration, context or configuration.context).load(keep_routes=keep_routes)


class _Loader:
    """One loading."""

    def __init__(self, configuration: Configuration, context: Context) -> None:
        self.took = configuration
        self.facts = TransformFacts(
            configuration.texts(), environ=configuration.environ, context=context, version=configuration.version
        )
        self.reader = SettingsReader(configuration)
        self.found: list[Diagnostic] = []
        self.is_enabled = configuration.is_valid
        self.rejected: dict[str, Rejected] = {}
        self._words: dict[str, dict[str, tuple[int, int]]] = {}
        self._limits: dict[str, int] = {}
        self._has_old_routes = any(configuration.is_set(name) for name in _OLD_ROUTES)

    def load(self, *, keep_routes: bool) -> RoutingTable:
        """Make the table; what is found stands in the order in which HTCondor comes to it."""
        settings = self.reader.settings()
        self.found += unread_files(self.took)
        self.found += removed_knobs(self.took)
        self.found += unknown_knobs(self.took)
        listed = self._listed()
        before, after = (tuple(self._transforms(knob)) for knob in (BEFORE, AFTER))
        routes = self._routes(listed, needs_requirements=not self.reader.has_constraint())
        is_idle = self.is_enabled and bool(self.reader.faults)
        self.is_enabled = self.is_enabled and not is_idle
        return RoutingTable(
            routes if self.is_enabled or keep_routes else (),
            before,
            after,
            settings,
            tuple(self.rejected.values()),
            self.is_enabled,
            (*self.took.diagnostics, *self.reader.faults, *self.found),
            self.facts,
            routes if is_idle else (),
        )

    def _listed(self) -> tuple[str, ...]:
        faults = len(self.reader.faults)
        names = self.reader.names(NAMES)
        if not names and len(self.reader.faults) == faults:
            message = f"{NAMES} is not defined, so job routing will not take place"
            begin = self.took.sources[0].span(0, 0) if self.took.sources else None
            self._fault("route-names", message, self._place(NAMES) or begin, self._to_list())
        if len(names) > MOST_ROUTES:
            self._fault("route-many", f"crondor takes no more than {MOST_ROUTES} routes", self._place(NAMES))
            return names[:MOST_ROUTES]
        return names

    def _to_list(self) -> str:
        """Return what to write where no list of routes is."""
        if self._has_old_routes:
            return (
                "the routes here are ClassAds: --legacy routes by them as HTCondor up to 24 does,"
                " crondor route convert writes them new"
            )
        named = (knob.name for key, knob in self.took.knobs.items() if key.startswith(ROUTE.lower()))
        defined = [name[len(ROUTE) :] for name in named if not is_misspelt_list(name)]
        shown = ", ".join(defined[:_MOST_SHOWN]) + (", ..." if len(defined) > _MOST_SHOWN else "")
        return f"list the routes: {NAMES} = {shown or 'A, B'}"

    def _transforms(self, list_knob: str) -> Iterator[Transform]:
        """Load the transforms of a list; any that fails switches routing off."""
        by_key: dict[str, str] = {}
        for name in self.reader.names(list_knob):
            by_key.setdefault(name.lower(), name)
        for name in by_key.values():
            knob = self._knob(TRANSFORM + name)
            if knob is None or not knob.text:
                message = f"{TRANSFORM}{name} not found"
                help_text = f"define it, or take {name} out of {list_knob}; without it nothing is routed"
                self._fault("route-transform", message, self._place(list_knob, name), help_text)
                continue
            try:
                yield Transform.parse(
                    knob.source, name=name, form=RuleSource.KNOB, facts=self.facts, strict=False, lines=lines_of(knob)
                )
            except InvalidTransform as error:
                for fault in error.diagnostics:
                    self._fault(
                        "route-transform", f"{TRANSFORM}{name} load error: {fault.message}", fault.span, fault.help
                    )

    def _routes(self, listed: Sequence[str], *, needs_requirements: bool) -> tuple[Route, ...]:
        """Load the routes of a list; a later entry of the same name takes the place of an earlier one."""
        loaded: dict[str, Route] = {}
        for name in listed:
            route = self._route(name, needs_requirements=needs_requirements)
            if route is None:
                continue
            earlier = loaded.get(name.lower())
            if earlier is not None:
                message = (
                    f"while parsing {ROUTE}{name} found and overwrite a route from {earlier.name} with the same name"
                )
                self._warn("route-twice", message, self._place(NAMES, name), f"{NAMES} lists it twice: leave one out")
            loaded[name.lower()] = route
        return tuple(loaded[name.lower()] for name in listed if name.lower() in loaded)

    def _route(self, name: str, *, needs_requirements: bool) -> Route | None:
        knob = self._knob(ROUTE + name)
        if name.upper() == "NAMES":
            self._reject(name, None, _error("route-name", "NAMES is no name for a route: HTCondor skips it", None))
        elif knob is None:
            message = f"route '{name}' from {NAMES} not found in the routing table"
            help_text = self._near(name) or f"{ROUTE}{name} is not defined; set it, or take {name} out of the list"
            if self._has_old_routes:
                help_text = "if it is a ClassAd of JOB_ROUTER_ENTRIES: crondor route convert writes it new"
            if not is_name(name):
                help_text = "a name has letters, digits, _ . and /; commas or blanks stand between two"
                if name.startswith("#"):
                    help_text = "a comment needs a line of its own: this is a part of the list"
            self._reject(name, None, _error("route-missing", message, self._place(NAMES, name), help_text))
        elif not knob.text.strip():
            message = f"{ROUTE}{name} definition is empty, ignoring"
            self._reject(
                name, knob, _error("route-empty", message, knob.name_span, "write its commands, or take it out")
            )
        else:
            return self._parsed(name, knob, needs_requirements=needs_requirements)
        return None

    def _parsed(self, name: str, knob: Knob, *, needs_requirements: bool) -> Route | None:
        text = knob.text.strip()
        if len(text) < 2:
            self._reject(name, knob, _error("route-short", "HTCondor loads no route of one character", knob.place()))
            return None
        if text.startswith(("[", "/*")):
            word = re.split(r"\s", text, maxsplit=1)[0]
            message = f"{word[:40]} is not a valid transform keyword: this route is written as a ClassAd"
            help_text = "HTCondor 25 takes no ClassAd routes any more; crondor route convert writes it new"
            self._reject(name, knob, _error("route-classad", message, knob.place().part(0, len(word)), help_text))
            return None
        try:
            transform = Transform.parse(
                knob.source, name=name, form=RuleSource.KNOB, facts=self.facts, lines=lines_of(knob)
            )
            route = self._made(name, knob, transform)
        except InvalidTransform as error:
            self._reject(name, knob, *error.diagnostics)
            return None
        if transform.requirements is None and needs_requirements:
            message = "Missing Requirements in job route"
            help_text = f"write REQUIREMENTS and an expression, or set {_CONSTRAINT}"
            self._reject(name, knob, _error("route-requirements", message, knob.place(), help_text))
            return None
        return route

    def _made(self, name: str, knob: Knob, transform: Transform) -> Route:
        said = RouteValues(name, knob, transform, self.facts, self._warn)
        universe = universe_number(transform.universe or "")
        if transform.universe and not universe:
            message = f"UNIVERSE {transform.universe[:40]} is no universe: it counts as not given"
            self._warn("route-universe", message, said.place("universe"), "write a name like GRID or VANILLA")
        universe = universe or said.integer("TargetUniverse", lambda: GRID)
        resource = said.unquoted("GridResource") if universe == GRID else None
        if universe == GRID and resource is None:
            message = "Missing or invalid GridResource in job route. Jobs will fail if it's not set in routed job ad."
            severity = Severity.NOTE if sets(transform, "gridresource") else Severity.WARNING
            self.found.append(Diagnostic("route-grid-resource", f"{name}: {message}", severity, knob.name_span))
        return Route(
            name,
            Source(knob.text, ROUTE + name),
            transform,
            universe,
            resource,
            said.integer("MaxJobs", lambda: self._limit("JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE", DEFAULT_MAX_JOBS)),
            said.integer(
                "MaxIdleJobs", lambda: self._limit("JOB_ROUTER_DEFAULT_MAX_IDLE_JOBS_PER_ROUTE", DEFAULT_MAX_IDLE_JOBS)
            ),
            said.real("FailureRateThreshold", DEFAULT_FAILURE_RATE),
            said.expression("JobFailureTest"),
            said.expression("JobShouldBeSandboxed"),
            said.expression("EditJobInPlace"),
            said.expression("UseSharedX509UserProxy"),
            said.expression("SharedX509UserProxy"),
            said.expression("SendIDTokens", empty='""'),
            place=knob.span if knob.lines() else None,
        )

    def _limit(self, name: str, default: int) -> int:
        """Return the limit of routes without one of their own, which is looked at only for such a route."""
        if name not in self._limits:
            self._limits[name] = self.reader.integer(name, default)
        return self._limits[name]

    def _near(self, name: str) -> str | None:
        """Guess at what is meant by a name without a knob; asked of a few names only."""
        if len(self.rejected) >= _MOST_GUESSES:
            return None
        defined = {key[len(ROUTE) :]: knob for key, knob in self.took.knobs.items() if key.startswith(ROUTE.lower())}
        found = similar(name[:40].lower(), list(defined)[:_MOST_GUESSES], 0.7)
        return f"did you mean {defined[found[0]].name[len(ROUTE) :]}? That is defined" if found else None

    def _knob(self, name: str) -> Knob | None:
        """Return a knob that has a text."""
        knob = self.took.find(name)
        return knob if knob is not None and not knob.is_default else None

    def _place(self, name: str, word: str = "") -> Span | None:
        """Return where a knob's value stands, or the last place of a word in it."""
        if name not in self._words:
            knob = self.took.find(name)
            text = knob.span.text if knob is not None and knob.span is not None else ""
            self._words[name] = {each[0]: each.span() for each in re.finditer(r"[^, \t\r\n]+", text)}
        knob = self.took.find(name)
        if knob is None or knob.span is None:
            return None
        place = self._words[name].get(word)
        return knob.span if place is None else knob.span.part(*place)

    def _reject(self, name: str, knob: Knob | None, *why: Diagnostic) -> None:
        source = Source(knob.text, ROUTE + name) if knob is not None else None
        self.rejected[name.lower()] = Rejected(name, why, source, knob.span if knob is not None else None)

    def _warn(self, code: str, message: str, span: Span | None, help: str | None = None) -> None:  # noqa: A002 - Diagnostic's word
        self.found.append(Diagnostic(code, message, Severity.WARNING, span, help))

    def _fault(self, code: str, message: str, span: Span | None, help: str | None = None) -> None:  # noqa: A002
        self.found.append(_error(code, message, span, help))
        self.is_enabled = False


class TableDifference(NamedTuple):
    """What another configuration changes, by route; the throttle of a route is kept by its name."""

    added: tuple[Route, ...]
    dropped: tuple[Route, ...]
    changed: tuple[tuple[Route, Route], ...]
    unchanged: tuple[Route, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no route differs."""
        return not (self.added or self.dropped or self.changed)


def difference(old: RoutingTable, new: RoutingTable) -> TableDifference:
    """Compare two tables, route by route, by names without case.

    ``changed`` has the old route and the new one where anything that decides on routing differs, the order of the
    routes aside. A table that is switched off has no routes; HTCondor then goes on with the old one.
    """
    were = {route.name.lower(): route for route in old.routes}
    are = {route.name.lower(): route for route in new.routes}
    both = [(were[key], route) for key, route in are.items() if key in were]
    return TableDifference(
        tuple(route for key, route in are.items() if key not in were),
        tuple(route for key, route in were.items() if key not in are),
        tuple(pair for pair in both if _content(pair[0]) != _content(pair[1])),
        tuple(new_route for old_route, new_route in both if _content(old_route) == _content(new_route)),
    )


def _content(route: Route) -> tuple[object, ...]:
    said = replace(route, source=_NOWHERE, transform=_NOTHING, place=None)
    return (said, route.source.text)


def is_misspelt_list(name: str) -> bool:
    """Say whether the name of a route's or a transform's knob is almost that of their list."""
    last = name.rpartition("_")[2].lower()
    return last != "names" and bool(similar(last[:20], ("names",), 0.8))


def lines_of(knob: Knob) -> tuple[LogicalLine, ...]:
    """Return the lines of a transform's knob where they stand in its file, none where they cannot be taken from it."""
    lines = knob.lines()
    return () if any("\r" in line.text for line in lines) else lines


def sets(transform: Transform, name: str) -> bool:
    """Say whether a transform has a command that sets an attribute of a lower-case name."""
    pattern = re.compile(rf"(?im)^[ \t]*(?:SET|EVALSET|DEFAULT|COPY[ \t]+[^ \t]+|RENAME[ \t]+[^ \t]+)[ \t]+{name}\b")
    return pattern.search(transform.source.text) is not None


def _error(code: str, message: str, span: Span | None, help: str | None = None) -> Diagnostic:  # noqa: A002 - Diagnostic's word
    return Diagnostic(code, message, Severity.ERROR, span, help)


_OLD_ROUTES = ("JOB_ROUTER_ENTRIES", "JOB_ROUTER_ENTRIES_FILE", "JOB_ROUTER_ENTRIES_CMD")
_CONSTRAINT = "JOB_ROUTER_SOURCE_JOB_CONSTRAINT"
_NOWHERE = Source("", "")
_NOTHING = Transform.parse(_NOWHERE)
