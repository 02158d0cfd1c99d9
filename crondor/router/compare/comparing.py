"""Two routing tables over jobs: jobs that are alike for both are routed and copied once.

Jobs are read one by one, and what is kept is bounded: what the distinct jobs come to, and some jobs as witnesses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from crondor.classad.ad import ClassAd
from crondor.classad.compile import read
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.printing import prints_as_it_is
from crondor.classad.scope import UNKNOWN, Code, Context
from crondor.classad.text import lower
from crondor.router.compare.copying import Copier, CopyDifference, copy_differences
from crondor.router.compare.found import (
    CopyChange,
    Overlap,
    RouteChange,
    TablesComparison,
    TextPair,
    Unreached,
    Witness,
)
from crondor.router.compare.listed import listed_changes, setting_changes
from crondor.router.compare.placing import Placing
from crondor.router.compare.read_rules import ReadRules
from crondor.router.match.dependence import needs_of
from crondor.router.match.reasons import RouteOutcome, why
from crondor.router.match.route_state import RouteState
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable

MOST_ROWS = 10_000
"""Differences of one kind that are told apart; of others it is said that there are more."""
_MOST_TEXTS = 2_000_000  # texts in the keys of what is remembered
_MOST_PAIRS = 3
_CONVERTED = ("transferoutputremaps", "jobuniverse", "owner")


def compare_tables(
    old: RoutingTable,
    new: RoutingTable,
    jobs: Iterable[tuple[str, ClassAd]],
    context: Context | None = None,
    *,
    owner: str | None = None,
    counts: Callable[[Route, CopyDifference], bool] | None = None,
) -> TablesComparison:
    """Say what a new table does otherwise with jobs, each with its id, while no route is full or throttled.

    ``context`` has the clock of both, None: that of the new table. ``owner`` is that of Matcher. ``counts`` says of
    what differs in the copies of a route of ``new`` whether that is a difference, None: all is. No job is changed.
    """
    comparing = _Comparing(old, new, context or new.facts.context, owner, counts)
    for job, ad in jobs:
        comparing.look(job, ad)
    return comparing.end()


class _Group:
    """Jobs that come to the same in both tables: the rows that count them."""

    __slots__ = ("jobs", "rows")

    def __init__(self, rows: tuple[_Row, ...]) -> None:
        self.rows = rows
        self.jobs = 0


class _Reach:
    """How many jobs go on a route, and one that it wants and another one takes."""

    __slots__ = ("jobs", "taken_by", "witness")

    def __init__(self) -> None:
        self.jobs = 0
        self.taken_by: str | None = None
        self.witness: Witness | None = None


_Key = TypeVar("_Key", bound=Hashable)
_Kept = TypeVar("_Kept")
_Row = RouteChange | CopyChange | Overlap | _Reach


class _More(NamedTuple):
    """Names that a key has to have besides, for its texts are expressions that read them; None: nobody can tell."""

    names: tuple[str, ...] | None


class _Comparing:
    """One comparison on its way."""

    def __init__(
        self,
        old: RoutingTable,
        new: RoutingTable,
        context: Context,
        owner: str | None,
        counts: Callable[[Route, CopyDifference], bool] | None,
    ) -> None:
        self._old, self._new, self._context, self._owner, self._counts = old, new, context, owner, counts
        self._placings = (Placing(old, context, owner), Placing(new, context, owner))
        self._copiers = (Copier(old, context), Copier(new, context))
        reads = [ReadRules.of_table(table) for table in (old, new)]
        names = {name for each in self._placings for name in each.matcher.clusters.names}
        self._is_open = any(each.is_open for each in reads)
        self._names = tuple(sorted(names.union(_CONVERTED, *(each.names for each in reads))))
        self._patterns = _patterns(reads)
        self._groups: dict[object, _Group | _More] = {}
        self._texts = 0
        self._same: dict[tuple[int, int], bool] = {}
        self._moved: dict[tuple[str | None, str | None], RouteChange] = {}
        self._copies: dict[tuple[str, str, str], CopyChange] = {}
        self._overlaps: dict[tuple[str, str, bool], Overlap] = {}
        self._reach: tuple[dict[str, _Reach], dict[str, _Reach]] = ({}, {})
        self._is_cut = False
        self.jobs = self.candidates = 0

    def look(self, job: str, ad: ClassAd) -> None:
        """Route and copy a job in both tables, or count it with those that are alike."""
        self.jobs += 1
        group = None if self._is_open else self._known(ad)
        get = ad.codes.get
        proc = get("procid")
        owners = self._placings[1].matcher.clusters.owners
        is_plain = proc.__class__ is str and proc.isdigit() and get("owner") in owners
        if not (is_plain and get("stageinstart") is None) and not self._placings[1].is_candidate(ad):
            return
        self.candidates += 1
        if group is not None:
            group.jobs += 1
            return
        if self._texts > _MOST_TEXTS:
            self._flush()
        is_shared, rows = self._rows(job, ad)
        group = _Group(rows)
        group.jobs = 1
        if self._is_open or not is_shared or not self._remember(ad, group):
            self._count(group)

    def _known(self, ad: ClassAd) -> _Group | None:
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

    def _remember(self, ad: ClassAd, group: _Group) -> bool:
        """Remember a group under all that its texts read; return whether that can be told."""
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
                return False
            beyond = tuple(sorted(more - seen))
            if not beyond:
                self._groups[key] = group
                return True
            self._groups[key] = _More(beyond)
            seen.update(beyond)
            texts = tuple(map(get, beyond))
            self._texts += len(texts)
            key = (key, texts)

    def _flush(self) -> None:
        for group in self._groups.values():
            if isinstance(group, _Group):
                self._count(group)
        self._groups.clear()
        self._texts = 0

    @staticmethod
    def _count(group: _Group) -> None:
        for row in group.rows:
            row.jobs += group.jobs
        group.jobs = 0

    def _rows(self, job: str, ad: ClassAd) -> tuple[bool, tuple[_Row, ...]]:
        """Return what counts a job, and whether equal jobs come to the same."""
        witness = Witness(job, ad)
        (was, was_shared), (now, now_shared) = (placing.place(ad) for placing in self._placings)
        rows: list[_Row | None] = []
        for side, routes in enumerate((was, now)):
            taken = self._placings[side].taken(routes)
            rows += (self._reached(side, route) for route in taken)
            for route in routes[len(taken) :]:
                self._wanted(side, route, taken[0], witness)
        rows += self._overlapping(was, now, witness)
        old, new = (placing.taken(routes) for placing, routes in zip(self._placings, (was, now), strict=True))
        if _named(old) != _named(new):
            rows.append(self._row(self._moved, (_turns(old), _turns(new)), _moved_row, witness))
        for first, second in _pairs(old, new):
            if not self._copies_alike(first, second):
                rows += self._copied(first, second, job, ad)
        return was_shared and now_shared, tuple(row for row in rows if row is not None)

    def _reached(self, side: int, route: Route) -> _Reach:
        return self._reach[side].setdefault(lower(route.name), _Reach())

    def _wanted(self, side: int, route: Route, taken: Route, witness: Witness) -> None:
        found = self._reached(side, route)
        if found.witness is None:
            found.witness, found.taken_by = witness, taken.name

    def _overlapping(
        self, was: tuple[Route, ...], now: tuple[Route, ...], witness: Witness
    ) -> Iterator[Overlap | None]:
        """Yield the pairs of routes, of which the first takes the job and the second would."""
        for side, routes in enumerate((was, now)):
            for each in routes[1:]:
                if lower(each.name) != lower(routes[0].name):
                    yield self._row(self._overlaps, (routes[0].name, each.name, bool(side)), _overlap_row, witness)

    def _copied(self, old: Route, new: Route, job: str, ad: ClassAd) -> Iterator[CopyChange | None]:
        made = copy_differences(self._copiers[0].copy(old, ad), self._copiers[1].copy(new, ad))
        for each in made:
            if self._counts is not None and not self._counts(new, each):
                continue
            row = self._row(self._copies, (old.name, new.name, each.name), _copy_row, Witness(job, ad))
            if row is not None:
                _note(row, each, job)
            yield row

    def _row(
        self, rows: dict[_Key, _Kept], key: _Key, kind: Callable[[_Key, Witness], _Kept], witness: Witness
    ) -> _Kept | None:
        """Return what counts a difference, new with its witness; None: there are too many."""
        row = rows.get(key)
        if row is None:
            if len(rows) >= MOST_ROWS:
                self._is_cut = True
                return None
            row = rows[key] = kind(key, witness)
        return row

    def _copies_alike(self, old: Route, new: Route) -> bool:
        """Say whether two routes make the same of every job, for all they consist of is the same."""
        key = (id(old), id(new))
        if key not in self._same:
            self._same[key] = _are_same(self._old, old, self._new, new)
        return self._same[key]

    def end(self) -> TablesComparison:
        """Return what differs."""
        self._flush()
        for moved in self._moved.values():
            moved.why = self._why(moved)
        listed = listed_changes(self._old, self._new)
        shown = {lower(name) for row in self._copies.values() for name in (row.old_route, row.new_route)}
        shown |= {lower(name) for row in self._moved.values() for name in (row.old, row.new) if name is not None}
        return TablesComparison(
            self.jobs,
            self.candidates,
            listed,
            tuple(sorted(self._moved.values(), key=lambda each: -each.jobs)),
            tuple(self._copies.values()),
            tuple(self._unreached()),
            self._one_sided(),
            tuple(setting_changes(self._old, self._new)),
            tuple(self._unproven(shown)),
            self._is_cut,
        )

    def _one_sided(self) -> tuple[Overlap, ...]:
        """Return the pairs of routes that overlap in one table alone."""
        sides = [
            {frozenset((lower(a), lower(b))) for a, b, side in self._overlaps if side is at} for at in (False, True)
        ]
        return tuple(
            row
            for row in self._overlaps.values()
            if frozenset((lower(row.first), lower(row.second))) not in sides[not row.is_new]
        )

    def _unreached(self) -> Iterator[Unreached]:
        old_names = {lower(route.name) for route in self._old.routes}
        for route in {lower(each.name): each for each in self._new.routes}.values():
            before, now = (reach.get(lower(route.name), _Reach()) for reach in self._reach)
            is_added = lower(route.name) not in old_names
            if not now.jobs and (before.jobs or (is_added and self.candidates)):
                yield Unreached(route.name, is_added, before.jobs, now.taken_by, now.witness)

    def _unproven(self, shown: set[str]) -> Iterator[str]:
        for route in self._new.routes:
            was = self._old.route(route.name)
            if was is not None and lower(route.name) not in shown and not self._copies_alike(was, route):
                yield route.name

    def _why(self, moved: RouteChange) -> str:
        """Return why a job does not go where it went, or why it did not go before."""
        if moved.old is None:
            table, name = self._old, moved.new
            before = "before: "
        else:
            table, name, before = self._new, moved.old, ""
        if name is None or " by turns" in name:
            return ""
        route = table.route(name)
        if route is None:
            rejected = next((each for each in table.rejected if lower(each.name) == lower(name)), None)
            if rejected is not None and rejected.diagnostics:
                return f"{before}{name} is left out: {rejected.diagnostics[0].message}"
            return f"{before}there is no route {name}"
        verdict = why(table, moved.witness.ad, RouteState(), self._context, owner=self._owner)
        of_route = next(each for each in verdict.verdicts if each.route is route)
        if of_route.outcome is RouteOutcome.MATCHED:
            taker = verdict.chosen.name if verdict.chosen is not None else "another route"
            return f"{before}{taker} is asked before {name}, and takes it"
        return f"{before}{of_route.reason or of_route.outcome.value}"


def _moved_row(key: tuple[str | None, str | None], witness: Witness) -> RouteChange:
    return RouteChange(*key, witness)


def _copy_row(key: tuple[str, str, str], witness: Witness) -> CopyChange:
    return CopyChange(*key, witness)


def _overlap_row(key: tuple[str, str, bool], witness: Witness) -> Overlap:
    return Overlap(*key, witness)


def _note(row: CopyChange, found: CopyDifference, job: str) -> None:
    if any((pair.old, pair.new) == (found.old, found.new) for pair in row.pairs):
        return
    if len(row.pairs) >= _MOST_PAIRS:
        row.is_cut = True
    else:
        row.pairs.append(TextPair(found.old, found.new, job))


def _named(routes: tuple[Route, ...]) -> tuple[str, ...]:
    return tuple(lower(route.name) for route in routes)


def _turns(routes: tuple[Route, ...]) -> str | None:
    if not routes:
        return None
    return routes[0].name if len(routes) == 1 else f"{', '.join(route.name for route in routes)} by turns"


def _pairs(old: tuple[Route, ...], new: tuple[Route, ...]) -> Iterator[tuple[Route, Route]]:
    """Yield the routes whose copies are compared: those of one name, or the first ones."""
    if not old or not new:
        return
    by_name = {lower(route.name): route for route in old}
    same = [(by_name[lower(route.name)], route) for route in new if lower(route.name) in by_name]
    yield from same or [(old[0], new[0])]


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
