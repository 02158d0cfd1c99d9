"""What a job comes to in two tables: where it goes, and what its copies differ in; jobs that are alike share it.

It hangs on no other job, so that any process can find it out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.compile import read
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.printing import prints_as_it_is
from crondor.classad.scope import UNKNOWN, Code, Context
from crondor.classad.text import lower
from crondor.router.compare.copying import Copier, CopyDifference, copy_differences
from crondor.router.compare.placing import Placing
from crondor.router.compare.read_rules import ReadRules
from crondor.router.compare.renames import Renames, renames
from crondor.router.match.dependence import needs_of
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable

_MOST_TEXTS = 2_000_000  # texts in the keys of what is remembered
_CONVERTED = ("transferoutputremaps", "jobuniverse", "owner")


class JobOutcome(NamedTuple):
    """What a candidate comes to.

    A side is 0 for the old table and 1 for the new one. ``reached`` are the routes that it goes on, ``wanted`` those
    that match, with the one that takes it before them, ``overlaps`` the pairs of which the first takes it. ``moved`` is
    where it goes in both tables, where that differs; ``copies`` has the routes, the attribute and its texts. The names
    of ``reached`` and ``wanted`` are in lower case, that of the taker is not.
    """

    reached: tuple[tuple[int, str], ...] = ()
    wanted: tuple[tuple[int, str, str], ...] = ()
    overlaps: tuple[tuple[str, str, bool], ...] = ()
    moved: tuple[str | None, str | None] | None = None
    copies: tuple[tuple[tuple[str, str, str], str | None, str | None], ...] = ()


class _More(NamedTuple):
    """Names that a key has to have besides, for its texts are expressions that read them; None: nobody can tell."""

    names: tuple[str, ...] | None


class JobOutcomes:
    """Finds out what jobs come to, and remembers it for those that are alike."""

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
        """Take both tables, the clock, whose jobs alone are routed, as Matcher does, and which differences count.

        ``called`` are the routes that have another name now, None: those that ``renames`` finds.
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
        """Return what a job comes to, None for no candidate."""
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
        """Return the group of a job, None where there is none yet."""
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
        """Remember what jobs come to under all that their texts read, where that can be told."""
        get = ad.codes.get
        key = self._key(ad)
        texts: tuple[Code | str | None, ...] = tuple(map(get, self._names))
        if self._patterns is not None:
            texts += tuple(map(get, filter(self._patterns.search, ad.codes)))
        seen = set(self._names)
        self._texts += len(texts)
        while True:
            more = _read_by(texts)
            if more is None:
                self._groups[key] = _More(None)
                return
            beyond = tuple(sorted(more - seen))
            if not beyond:
                self._groups[key] = outcome
                return
            self._groups[key] = _More(beyond)
            seen.update(beyond)
            texts = tuple(map(get, beyond))
            self._texts += len(texts)
            key = (key, texts)

    def _come_to(self, ad: ClassAd) -> tuple[bool, JobOutcome]:
        """Route and copy a job in both tables; say too whether equal jobs come to the same."""
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
        """Yield what differs between the copies of a job."""
        for first, second in self._pairs(old, new):
            if not self.copies_alike(first, second):
                for each in copy_differences(self._copiers[0].copy(first, ad), self._copiers[1].copy(second, ad)):
                    if self._counts is None or self._counts(second, each):
                        yield (first.name, second.name, each.name), each.old, each.new

    def _names_of(self, routes: tuple[Route, ...], side: int) -> tuple[str, ...]:
        """Return what routes of a side were called before, in lower case."""
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
        """Say whether two routes consist of the same, whatever they are called."""
        return self.copies_alike(old, new) or _are_same(self.old, old, self.new, replace(new, name=old.name))

    def copies_alike(self, old: Route, new: Route) -> bool:
        """Say whether two routes make the same of every job, for all they consist of is the same."""
        key = (id(old), id(new))
        if key not in self._same:
            self._same[key] = _are_same(self.old, old, self.new, new)
        return self._same[key]


def _turns(routes: tuple[Route, ...]) -> str | None:
    if not routes:
        return None
    return routes[0].name if len(routes) == 1 else f"{', '.join(route.name for route in routes)} by turns"


def _are_same(old_table: RoutingTable, old: Route, new_table: RoutingTable, new: Route) -> bool:
    """Say whether the rules and all that they read are the same texts."""
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


def _read_by(texts: tuple[Code | str | None, ...]) -> set[str] | None:
    """Return the names that the expressions among some texts read; None: nobody can tell."""
    found: set[str] = set()
    for text in texts:
        if text is None or (prints_as_it_is(text) if isinstance(text, str) else text.const is not UNKNOWN):
            continue
        try:
            needs = needs_of(read(text) if isinstance(text, str) else text)
        except ClassAdSyntaxError:
            continue
        if needs.is_open:
            return None
        found.update(needs.names)
    return found
