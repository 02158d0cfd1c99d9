"""Two routing tables over jobs: what each comes to, counted, with some jobs that show it.

Jobs are read one by one, and what is kept is bounded: what the distinct jobs come to, and some jobs as witnesses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.classad.text import lower
from crondor.router.compare.outcomes import (
    LIMITS,
    UNCHANGED,
    CopyChange,
    CopyDifference,
    JobOutcome,
    JobOutcomes,
    Overlap,
    Renames,
    RouteChange,
    RouteListChange,
    SettingChange,
    TablesComparison,
    TextPair,
    Unreached,
    Witness,
)
from crondor.router.match.matcher import RouteState
from crondor.router.match.reasons import RouteOutcome, why
from crondor.router.table.loading import difference
from crondor.router.table.route import Route, RoutingTable

_OF_ROUTE = tuple(zip(LIMITS, ("max_jobs", "max_idle_jobs", "failure_rate_threshold", "job_failure_test"), strict=True))
_OF_ROUTER = (
    ("JOB_ROUTER_NAME", "name"),
    ("JOB_ROUTER_MAX_JOBS", "max_jobs"),
    ("JOB_ROUTER_ROUND_ROBIN_SELECTION", "round_robin"),
    ("JOB_ROUTER_SOURCE_JOB_CONSTRAINT", "source_constraint"),
    ("JOB_ROUTER_POLLING_PERIOD", "polling_period"),
    ("JOB_ROUTER_RELEASE_ON_HOLD", "release_on_hold"),
)


def listed_changes(old: RoutingTable, new: RoutingTable, called: Renames = UNCHANGED) -> RouteListChange:
    """Return the routes added, removed, newly rejected, and a changed order; ``called`` are the renamed routes."""
    found = difference(old, new)
    were = {lower(each.name) for each in old.rejected}
    rejected = [
        (each.name, each.diagnostics[0].message if each.diagnostics else "")
        for each in new.rejected
        if lower(each.name) not in were
    ]
    gone, come = {lower(was) for was, _ in called.pairs}, {lower(now) for _, now in called.pairs}
    added = tuple(route.name for route in found.added if lower(route.name) not in come)
    dropped = tuple(route.name for route in found.dropped if lower(route.name) not in gone)
    orders = [
        tuple(route.name for route in table.routes if route.name not in other)
        for table, other in ((old, dropped), (new, added))
    ]
    is_same = [lower(name) for name in orders[0]] == [called.before(name) for name in orders[1]]
    return RouteListChange(added, dropped, tuple(rejected), None if is_same else (orders[0], orders[1]), called.pairs)


def setting_changes(old: RoutingTable, new: RoutingTable, called: Renames = UNCHANGED) -> Iterator[SettingChange]:
    """Yield the values that differ: of the router, and of the routes that both have."""
    if old.is_enabled != new.is_enabled:
        yield SettingChange(None, "routing", *("on" if table.is_enabled else "off" for table in (old, new)))
    yield from _changes(None, _OF_ROUTER, old.settings, new.settings)
    seen: set[str] = set()
    for route in new.routes:
        was = old.route(called.before(route.name))
        if was is not None and lower(route.name) not in seen:
            seen.add(lower(route.name))
            yield from _changes(route.name, _OF_ROUTE, was, route)


def _changes(route: str | None, names: Iterable[tuple[str, str]], old: object, new: object) -> Iterator[SettingChange]:
    for name, key in names:
        texts = [_text(getattr(each, key)) for each in (old, new)]
        if texts[0] != texts[1]:
            yield SettingChange(route, name, *texts)


def _text(value: object) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


MOST_ROWS = 10_000
"""Differences of one kind that are listed; for the others it is only reported that there are more."""
_MOST_PAIRS = 3
_MOST_KNOWN = 10_000  # outcomes whose rows are cached


def compare_tables(
    old: RoutingTable,
    new: RoutingTable,
    jobs: Iterable[tuple[str, ClassAd]],
    context: Context | None = None,
    *,
    owner: str | None = None,
    counts: Callable[[Route, CopyDifference], bool] | None = None,
    called: Renames | None = None,
) -> TablesComparison:
    """Return how a new table treats jobs (each with its id) differently, while no route is full or throttled.

    ``context`` has the clock of both, None: that of the new table. ``owner`` is that of Matcher. ``counts`` tells
    whether a difference in the copies of a route of ``new`` counts, None: all do. ``called`` are the renamed routes of
    ``new``, None: those found by ``renames``. No job is changed.
    """
    outcomes = JobOutcomes(old, new, context or new.facts.context, owner, counts, called=called)
    comparing: Comparing[ClassAd] = Comparing(outcomes, lambda ad: ad)
    for job, ad in jobs:
        comparing.take(job, outcomes.of(ad), ad)
    return comparing.end()


class _Reach:
    """The number of jobs on a route, and a job that it wants and another one takes."""

    def __init__(self) -> None:
        self.jobs = 0
        self.taken_by: str | None = None
        self.witness: Witness | None = None


_Near = TypeVar("_Near")
_Key = TypeVar("_Key", bound=tuple[object, ...])
_Kept = TypeVar("_Kept")
_Row = RouteChange | CopyChange | Overlap | _Reach


class Comparing(Generic[_Near]):
    """A comparison in progress: results of jobs are added in their order.

    ``ad_of`` returns the ad of a job, from the argument of ``take``, if it becomes a witness.
    """

    def __init__(self, outcomes: JobOutcomes, ad_of: Callable[[_Near], ClassAd]) -> None:
        self._outcomes = outcomes
        self._old, self._new = outcomes.old, outcomes.new
        self._ad_of = ad_of
        self._known: dict[int, tuple[JobOutcome, tuple[_Row, ...]]] = {}
        self._moved: dict[tuple[str | None, str | None], RouteChange] = {}
        self._copies: dict[tuple[str, str, str], CopyChange] = {}
        self._overlaps: dict[tuple[str, str, bool], Overlap] = {}
        self._reach: tuple[dict[str, _Reach], dict[str, _Reach]] = ({}, {})
        self._is_cut = False
        self.jobs = self.candidates = 0

    def take(self, job: str, outcome: JobOutcome | None, near: _Near) -> None:
        """Count a job; ``outcome`` is its result, None if it is not a candidate."""
        self.jobs += 1
        if outcome is None:
            return
        self.candidates += 1
        known = self._known.get(id(outcome))
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[id(outcome)] = outcome, self._rows(job, outcome, near)
        for row in known[1]:
            row.jobs += 1

    def _rows(self, job: str, outcome: JobOutcome, near: _Near) -> tuple[_Row, ...]:
        """Return the rows that count a job."""
        rows: list[_Row | None] = [self._reach[side].setdefault(name, _Reach()) for side, name in outcome.reached]

        def witness() -> Witness:
            return Witness(job, self._ad_of(near))

        for side, name, taker in outcome.wanted:
            found = self._reach[side].setdefault(name, _Reach())
            if found.witness is None:
                found.witness, found.taken_by = witness(), taker
        rows += [self._row(self._overlaps, key, Overlap, witness) for key in outcome.overlaps]
        if outcome.moved is not None:
            rows.append(self._row(self._moved, outcome.moved, RouteChange, witness))
        for key, old, new in outcome.copies:
            row = self._row(self._copies, key, CopyChange, witness)
            if row is not None:
                _note(row, TextPair(old, new, job))
            rows.append(row)
        return tuple(row for row in rows if row is not None)

    def _row(
        self, rows: dict[_Key, _Kept], key: _Key, kind: Callable[..., _Kept], witness: Callable[[], Witness]
    ) -> _Kept | None:
        """Return the row that counts a difference, a new one with its witness; None: there are too many."""
        row = rows.get(key)
        if row is None:
            if len(rows) >= MOST_ROWS:
                self._is_cut = True
                return None
            row = rows[key] = kind(*key, witness())
        return row

    def end(self) -> TablesComparison:
        """Return what differs."""
        for moved in self._moved.values():
            moved.why = self._why(moved)
        listed = listed_changes(self._old, self._new, self._outcomes.called)
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
            tuple(setting_changes(self._old, self._new, self._outcomes.called)),
            tuple(self._unproven(shown)),
            self._is_cut,
        )

    def _one_sided(self) -> tuple[Overlap, ...]:
        """Return the pairs of routes that overlap in only one table."""

        def pair(key: tuple[str, str, bool]) -> frozenset[str]:
            return frozenset(self._outcomes.called.before(name) if key[2] else lower(name) for name in key[:2])

        sides = [{pair(key) for key in self._overlaps if key[2] is at} for at in (False, True)]
        return tuple(row for key, row in self._overlaps.items() if pair(key) not in sides[not row.is_new])

    def _unreached(self) -> Iterator[Unreached]:
        old_names = {lower(route.name) for route in self._old.routes}
        for route in {lower(each.name): each for each in self._new.routes}.values():
            was = self._outcomes.called.before(route.name)
            before, now = self._reach[0].get(was, _Reach()), self._reach[1].get(lower(route.name), _Reach())
            is_added = was not in old_names
            if not now.jobs and (before.jobs or (is_added and self.candidates)):
                yield Unreached(route.name, is_added, before.jobs, now.taken_by, now.witness)

    def _unproven(self, shown: set[str]) -> Iterator[str]:
        for route in self._new.routes:
            was = self._old.route(self._outcomes.called.before(route.name))
            if was is not None and lower(route.name) not in shown and not self._outcomes.rules_alike(was, route):
                yield route.name

    def _why(self, moved: RouteChange) -> str:
        """Return why a job does not take its old route, or why it did not take the new one before."""
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
        verdict = why(table, moved.witness.ad, RouteState(), self._outcomes.context, owner=self._outcomes.owner)
        of_route = next(each for each in verdict.verdicts if each.route is route)
        if of_route.outcome is RouteOutcome.MATCHED:
            taker = verdict.chosen.name if verdict.chosen is not None else "another route"
            return f"{before}{taker} is asked before {name}, and takes it"
        return f"{before}{of_route.reason or of_route.outcome.value}"


def _note(row: CopyChange, found: TextPair) -> None:
    if any((pair.old, pair.new) == (found.old, found.new) for pair in row.pairs):
        return
    if len(row.pairs) >= _MOST_PAIRS:
        row.is_cut = True
    else:
        row.pairs.append(found)
