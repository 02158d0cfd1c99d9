"""What jobs come to in two tables: where they go, what their copies differ in, which routes were renamed.

It hangs on no other job, so that any process can find it out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Attributes, Code, Context
from crondor.classad.text import lower
from crondor.diagnostics import Severity
from crondor.router.applying import RoutedAd, apply_route
from crondor.router.compare.models import ReadRules
from crondor.router.match.matcher import Matcher, RouteState, Taking
from crondor.router.match.umbrella import needs_of_all
from crondor.router.table.loading import difference
from crondor.router.table.route import Route, RoutingTable
from crondor.transform import Changes, TransformFacts


class CopyDifference(NamedTuple):
    """An attribute of the copy, or a property of it, with both texts; None: missing."""

    name: str
    old: str | None
    new: str | None


class Copier:
    """Applies the routes of a table at a given time."""

    def __init__(self, table: RoutingTable, context: Context) -> None:
        self._table = table
        facts = table.facts
        self._facts = TransformFacts(
            facts.knobs, environ=facts.environ, context=context, files=facts.files, version=facts.version
        )
        self._tokens = {name: f"{name}.file" for name, _ in table.settings.id_tokens}

    def copy(self, route: Route, ad: ClassAd) -> RoutedAd:
        """Return the routed copy of a job."""
        return apply_route(self._table, route, ad, facts=self._facts, id_tokens=self._tokens)


def copy_differences(old: RoutedAd, new: RoutedAd) -> Iterator[CopyDifference]:
    """Yield the differences between two copies of one job; RouteName is ignored if the routes have other names."""
    if old.failed or new.failed:
        if failure(old) != failure(new):
            yield CopyDifference("", failure(old), failure(new))
        return
    for name, first, last in (
        ("EditJobInPlace", _true(old.in_place is not None), _true(new.in_place is not None)),
        ("JobShouldBeSandboxed", _true(old.sandboxed), _true(new.sandboxed)),
        ("SharedX509UserProxy", old.proxy and old.proxy.file, new.proxy and new.proxy.file),
        ("SendIDTokens", ", ".join(old.id_tokens) or None, ", ".join(new.id_tokens) or None),
    ):
        if first != last:
            yield CopyDifference(name, first, last)
    is_renamed = lower(old.route.name) != lower(new.route.name)
    for each in Changes(made_ad(old), made_ad(new)):
        if not (is_renamed and each.name.lower() == "routename"):
            yield CopyDifference(each.name, each.before, each.after)


def made_ad(routed: RoutedAd) -> ClassAd:
    """Return the copy, or the edited job."""
    made = routed.edited if routed.ad is None else routed.ad
    return routed.source.flat() if made is None else made


def failure(routed: RoutedAd) -> str | None:
    """Return why a route fails for a job, None if it does not."""
    if not routed.failed:
        return None
    return next((each.message for each in routed.diagnostics if each.severity is Severity.ERROR), "it fails")


def _true(value: bool) -> str | None:  # noqa: FBT001 - a text for a value
    return "true" if value else None


class Placing:
    """Finds the routes of jobs, for a router without jobs."""

    def __init__(self, table: RoutingTable, context: Context, owner: str | None = None) -> None:
        """Take a table; ``owner`` is that of Matcher."""
        self.table = table
        self.matcher = Matcher(table, owner)
        self._context = context
        self._accepting = Taking(table, RouteState()).accepting

    def place(self, ad: Attributes) -> tuple[tuple[Route, ...], bool]:
        """Return the routes that match a job and accept jobs, and whether equal jobs have the same result.

        ``is_candidate`` tells whether the job itself is a candidate.
        """
        cluster, is_shared = self.matcher.clusters.find(ad, self._context)
        found = cluster.matched & self._accepting
        if not found or not self.matcher.passes(cluster, self._accepting):
            return (), is_shared
        routes = self.table.routes
        return tuple(routes[at] for at in range(found.bit_length()) if found >> at & 1), is_shared

    def is_candidate(self, ad: Attributes) -> bool:
        """Return whether the conditions on single jobs hold: ids, owner, spooling."""
        return self.matcher.clusters.is_candidate(ad, ad.codes, self._context)

    def taken(self, routes: tuple[Route, ...]) -> tuple[Route, ...]:
        """Return the matching routes that a job may take: the first, or with round robin each."""
        return routes if self.table.settings.round_robin else routes[:1]


LIMITS: Final = ("MaxJobs", "MaxIdleJobs", "FailureRateThreshold", "JobFailureTest")
"""Settings of a route that limit the number of jobs, but not which, nor their copies."""

_NAME: Final = re.compile(r"^[ \t]*NAME[ \t]+(.+?)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)  # unnecessary with a knob
_LIMIT: Final = re.compile(rf"[ \t]*(?:{'|'.join(LIMITS)})[ \t]*=.*", re.IGNORECASE)


# HTCondor knows a route by the name of its knob. A conversion of ClassAd routes writes the old name in a line ``NAME``,
# if it cannot be a knob's name, or is another route's.
class Renames:
    """Names of routes in an old table and in a new one: ``pairs``, in the order of the new one."""

    def __init__(self, pairs: tuple[tuple[str, str], ...] = ()) -> None:
        self.pairs = pairs
        self._before = {lower(new): lower(old) for old, new in pairs}

    def before(self, name: str) -> str:
        """Return the old name of a route of the new table, in lower case."""
        key = lower(name)
        return self._before.get(key, key)


UNCHANGED: Final = Renames()
"""No route was renamed."""


def renames(old: RoutingTable, new: RoutingTable) -> Renames:
    """Return the routes that were renamed in the new table.

    A route whose NAME line has the name of a missing route is that one. Of the others, routes are the same if universe,
    grid resource, requirements and rules are the same texts, and equally many in both tables; limits are ignored.
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
    """Return the contents of a route, except its name and its limits."""
    asked = route.transform.requirements
    lines = tuple(line.text for line in route.transform.lines if _LIMIT.fullmatch(line.text) is None)
    return route.universe, route.grid_resource, None if asked is None else asked.text, lines


_MOST_TEXTS = 2_000_000  # texts in the keys of the cache
_CONVERTED = ("transferoutputremaps", "jobuniverse", "owner")


class JobOutcome(NamedTuple):
    """The result for a candidate.

    A side is 0 for the old table and 1 for the new one. ``reached`` are the routes that it takes, ``wanted`` those that
    match, with the one that takes it first, ``overlaps`` the pairs of which the first takes it. ``moved`` is its route
    in both tables, if that differs; ``copies`` has the routes, the attribute and its texts. The names of ``reached``
    and ``wanted`` are in lower case, that of the taker is not.
    """

    reached: tuple[tuple[int, str], ...] = ()
    wanted: tuple[tuple[int, str, str], ...] = ()
    overlaps: tuple[tuple[str, str, bool], ...] = ()
    moved: tuple[str | None, str | None] | None = None
    copies: tuple[tuple[tuple[str, str, str], str | None, str | None], ...] = ()


class _More(NamedTuple):
    """Further names needed in a key, since its texts are expressions that read them; None: unknown."""

    names: tuple[str, ...] | None


class JobOutcomes:
    """Computes the results of jobs, and caches them for similar jobs."""

    def __init__(
        self,
        old: RoutingTable,
        new: RoutingTable,
        context: Context,
        owner: str | None = None,
        counts: Callable[[Route, CopyDifference], bool] | None = None,
        *,
        called: Renames | None = None,
    ) -> None:
        """Take both tables, the clock, the owner whose jobs are routed (see Matcher), and which differences count.

        ``called`` are the renamed routes, None: those found by ``renames``.
        """
        self.called = renames(old, new) if called is None else called
        self._counts = counts
        self.old, self.new, self.context, self.owner = old, new, context, owner
        self._placings = (Placing(old, context, owner), Placing(new, context, owner))
        self._copiers = (Copier(old, context), Copier(new, context))
        reads = [ReadRules.of_table(table) for table in (old, new)]
        names = {name for each in self._placings for name in each.matcher.clusters.names}
        self._is_open = any(each.is_open for each in reads)
        self._names = tuple(sorted(names.union(_CONVERTED, *(each.names for each in reads))))
        self._patterns = _patterns(reads)
        self._groups: dict[object, JobOutcome | _More] = {}
        self._texts = 0
        self._same: dict[tuple[int, int], bool] = {}

    def of(self, ad: ClassAd) -> JobOutcome | None:
        """Return the result of a job, None if it is not a candidate."""
        found = None if self._is_open else self._known(ad)
        get = ad.codes.get
        proc = get("procid")
        owners = self._placings[1].matcher.clusters.owners
        is_plain = proc.__class__ is str and proc.isdigit() and get("owner") in owners
        if not (is_plain and get("stageinstart") is None) and not self._placings[1].is_candidate(ad):
            return None
        if found is not None:
            return found
        if self._texts > _MOST_TEXTS:
            self._groups.clear()
            self._texts = 0
        is_shared, made = self._come_to(ad)
        if is_shared and not self._is_open:
            self._remember(ad, made)
        return made

    def _known(self, ad: ClassAd) -> JobOutcome | None:
        """Return the group of a job, None if there is none yet."""
        get = ad.codes.get
        key = self._key(ad)
        found = self._groups.get(key)
        while isinstance(found, _More):
            if found.names is None:
                return None
            key = (key, tuple(map(get, found.names)))
            found = self._groups.get(key)
        return found

    def _key(self, ad: ClassAd) -> tuple[object, ...]:
        codes = ad.codes
        key = tuple(map(codes.get, self._names))
        if self._patterns is None:
            return key
        chosen = tuple(sorted(filter(self._patterns.search, codes)))
        return (key, chosen, tuple(map(codes.get, chosen)))

    def _remember(self, ad: ClassAd, outcome: JobOutcome) -> None:
        """Cache the result of jobs by all that their texts read, if that is known."""
        get = ad.codes.get
        key = self._key(ad)
        texts: tuple[Code | str | None, ...] = tuple(map(get, self._names))
        if self._patterns is not None:
            texts += tuple(map(get, filter(self._patterns.search, ad.codes)))
        seen = set(self._names)
        self._texts += len(texts)
        while True:
            needs = needs_of_all(texts)
            if needs.is_open:
                self._groups[key] = _More(None)
                return
            beyond = tuple(sorted(set(needs.names) - seen))
            if not beyond:
                self._groups[key] = outcome
                return
            self._groups[key] = _More(beyond)
            seen.update(beyond)
            texts = tuple(map(get, beyond))
            self._texts += len(texts)
            key = (key, texts)

    def _come_to(self, ad: ClassAd) -> tuple[bool, JobOutcome]:
        """Route and copy a job in both tables; also return whether equal jobs have the same result."""
        (was, was_shared), (now, now_shared) = (placing.place(ad) for placing in self._placings)
        old, new = (placing.taken(routes) for placing, routes in zip(self._placings, (was, now), strict=True))
        sides = ((0, was, old), (1, now, new))
        made = JobOutcome(
            tuple((side, lower(route.name)) for side, _, taken in sides for route in taken),
            tuple(
                (side, lower(route.name), taken[0].name)
                for side, routes, taken in sides
                for route in routes[len(taken) :]
            ),
            tuple(
                (routes[0].name, each.name, bool(side))
                for side, routes, _ in sides
                for each in routes[1:]
                if lower(each.name) != lower(routes[0].name)
            ),
            (_turns(old), _turns(new)) if self._names_of(old, 0) != self._names_of(new, 1) else None,
            tuple(self._copies(old, new, ad)),
        )
        return was_shared and now_shared, made

    def _copies(
        self, old: tuple[Route, ...], new: tuple[Route, ...], ad: ClassAd
    ) -> Iterator[tuple[tuple[str, str, str], str | None, str | None]]:
        """Yield the differences between the copies of a job."""
        for first, second in self._pairs(old, new):
            if not self.copies_alike(first, second):
                for each in copy_differences(self._copiers[0].copy(first, ad), self._copiers[1].copy(second, ad)):
                    if self._counts is None or self._counts(second, each):
                        yield (first.name, second.name, each.name), each.old, each.new

    def _names_of(self, routes: tuple[Route, ...], side: int) -> tuple[str, ...]:
        """Return the old names of routes of a side, in lower case."""
        return tuple(self.called.before(route.name) if side else lower(route.name) for route in routes)

    def _pairs(self, old: tuple[Route, ...], new: tuple[Route, ...]) -> Iterator[tuple[Route, Route]]:
        """Yield the routes whose copies are compared: those that are the same one, or the first ones."""
        if not old or not new:
            return
        by_name = dict(zip(self._names_of(old, 0), old, strict=True))
        same = [
            (by_name[name], route) for name, route in zip(self._names_of(new, 1), new, strict=True) if name in by_name
        ]
        yield from same or [(old[0], new[0])]

    def rules_alike(self, old: Route, new: Route) -> bool:
        """Return whether two routes have the same contents, whatever their names."""
        return self.copies_alike(old, new) or _are_same(self.old, old, self.new, replace(new, name=old.name))

    def copies_alike(self, old: Route, new: Route) -> bool:
        """Return whether two routes treat every job alike, since all their parts are equal."""
        key = (id(old), id(new))
        if key not in self._same:
            self._same[key] = _are_same(self.old, old, self.new, new)
        return self._same[key]


def _turns(routes: tuple[Route, ...]) -> str | None:
    if not routes:
        return None
    return routes[0].name if len(routes) == 1 else f"{', '.join(route.name for route in routes)} by turns"


def _are_same(old_table: RoutingTable, old: Route, new_table: RoutingTable, new: Route) -> bool:
    """Return whether the rules and everything they read are the same texts."""
    if old is new and old_table is new_table:
        return True
    reads = ReadRules.of_route(old_table, old), ReadRules.of_route(new_table, new)
    if any(each.is_open for each in reads):
        return False
    said = [
        (route.name, route.universe, route.grid_resource, read.lines, read.used_knobs, read.tests, read.requirements)
        for route, read in zip((old, new), reads, strict=True)
    ]
    settings = [
        (table.settings.name, table.settings.route_id_tokens, table.settings.id_tokens)
        for table in (old_table, new_table)
    ]
    return said[0] == said[1] and settings[0] == settings[1]


def _patterns(reads: Iterable[ReadRules]) -> re.Pattern[str] | None:
    found = dict.fromkeys(pattern for each in reads for pattern in each.patterns)
    if not found:
        return None
    try:
        return re.compile("|".join(f"(?:{pattern})" for pattern in found), re.IGNORECASE)
    except re.error:
        return re.compile("")  # every name


class Witness(NamedTuple):
    """A job as an example: its id and its ad."""

    job: str
    ad: ClassAd


@dataclass
class RouteChange:
    """Jobs that take another route; None: none. With round robin a side names all routes, in turn.

    ``why`` is the reason in the new table, for the witness; ``jobs`` is their number.
    """

    old: str | None
    new: str | None
    witness: Witness
    jobs: int = 0
    why: str = ""


class TextPair(NamedTuple):
    """An attribute's text in the old copy and in the new one, None if it is missing, and a job that has both."""

    old: str | None
    new: str | None
    job: str


@dataclass
class CopyChange:
    """An attribute of the routed copy that differs, for the jobs that go from one route to another, or stay on one.

    ``pairs`` are some of the texts; ``is_cut``: there are more. If it is not an attribute of the copy, ``name`` is that
    of the route's macro: EditJobInPlace, JobShouldBeSandboxed, and "" if a copy cannot be made.
    """

    old_route: str
    new_route: str
    name: str
    witness: Witness
    pairs: list[TextPair] = field(default_factory=list)
    jobs: int = 0
    is_cut: bool = False


@dataclass
class Overlap:
    """Jobs that the first route takes, and the second would take too, in only one of the tables."""

    first: str
    second: str
    is_new: bool
    witness: Witness
    jobs: int = 0


class Unreached(NamedTuple):
    """A route of the new table that no job takes: one that took jobs before, or is new.

    ``taken_by`` is the route that takes a job which this one wants, the witness; None: this one wants none.
    """

    route: str
    is_added: bool
    jobs_before: int
    taken_by: str | None
    witness: Witness | None


class SettingChange(NamedTuple):
    """A limit or another value that differs; ``route`` None: of the router. None: not given."""

    route: str | None
    name: str
    old: str | None
    new: str | None


class RouteListChange(NamedTuple):
    """Routes added, removed, or newly rejected; the order of the others, if it differs.

    ``renamed`` are the old and new names of renamed routes.
    """

    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    rejected: tuple[tuple[str, str], ...] = ()
    order: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    renamed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class TablesComparison:
    """All differences. ``jobs`` were read, ``candidates`` of them could be routed.

    ``unproven`` are the routes whose rules differ as texts while no job shows a difference, which does not count as
    one. ``is_cut``: there were more kinds of differences than are kept.
    """

    jobs: int
    candidates: int
    routes: RouteListChange
    moved: tuple[RouteChange, ...]
    copies: tuple[CopyChange, ...]
    unreached: tuple[Unreached, ...]
    overlaps: tuple[Overlap, ...]
    settings: tuple[SettingChange, ...]
    unproven: tuple[str, ...] = ()
    is_cut: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        listed = self.routes
        others = (self.moved, self.copies, self.unreached, self.overlaps, self.settings)
        return not (listed.added or listed.dropped or listed.rejected or listed.renamed or any(others))
