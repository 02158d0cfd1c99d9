"""Jobs made from what routes ask for, and expectations to test a table with.

The constants of the requirements, of the transforms' conditions and of the tests give values on both sides of each
comparison; conjunctions and disjunctions give a job for each branch; what transforms read is varied one by one, and
together. The jobs are the same each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from math import prod
from typing import NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.expression import Expression
from crondor.classad.scope import Context
from crondor.classad.text import lower
from crondor.classad.tree import Binary, Call, ClassAdSyntaxError, Node, Ternary, Unary, bare, measure, nodes
from crondor.router.applying import RoutedAd
from crondor.router.compare.models import (
    MOST_NODES,
    Assignment,
    ReadRules,
    ValuePool,
    distinct,
    in_turn,
    merged,
    of_job,
    references,
    samples,
)
from crondor.router.compare.outcomes import Copier, Placing, failure, made_ad
from crondor.router.match.matcher import RouteState
from crondor.router.match.reasons import JobVerdict, RouteOutcome, why
from crondor.router.match.umbrella import meets
from crondor.router.table.route import DELETED, RESET, Route, RoutingTable, id_text
from crondor.transform import Changes

MOST_MADE = 5000
"""The maximum number of jobs made."""
_MOST_ASKED = 1_000_000  # jobs times routes
_MOST_NAMES = 200  # attributes of one route that are varied
_MOST_MIXED = 24  # jobs of one route in which all attributes differ, if there are many
_FEW = 200  # combinations of values that are all tried
_MOST_PAIRS = 500
_MOST_DECIDING = 200  # parts of one expression
_MOST_BEGUN = 3  # jobs of one route that are varied
_PRIMES = (1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)
_ANY: tuple[str | None, ...] = ("3", '"text"', "true", "1 + 1", "undefined", None)
_KEPT = frozenset(("jobstatus", "managed", "routedby", "clusterid", "procid", "owner", "stageinstart"))
_BASE = {
    "JobUniverse": "5",
    "JobStatus": "1",
    "Owner": '"alice"',
    "User": '"alice@example.org"',
    "Cmd": '"/bin/true"',
    "Arguments": '"1"',
    "Iwd": '"/home/alice"',
    "In": '"/dev/null"',
    "Out": '"out"',
    "Err": '"err"',
    "UserLog": '"log"',
    "QDate": "1700000000",
    "RequestCpus": "1",
    "RequestMemory": "128",
    "RequestDisk": "1024",
    "ImageSize": "100",
    "DiskUsage": "100",
    "Requirements": "true",
    "Rank": "0.0",
    "JobPrio": "0",
    "Environment": '"A=1"',
    "ShouldTransferFiles": '"IF_NEEDED"',
    "WhenToTransferOutput": '"ON_EXIT"',
    "LeaveJobInQueue": "false",
    "OnExitRemove": "true",
    "OnExitHold": "false",
    "PeriodicRemove": "false",
    "PeriodicHold": "false",
    "PeriodicRelease": "false",
    "NumJobStarts": "0",
    "CurrentHosts": "0",
    "MinHosts": "1",
    "MaxHosts": "1",
}
_PLAINEST = ClassAd.of_texts({"ClusterId": "1", "ProcId": "0", **_BASE})


class MadeJob(NamedTuple):
    """A job that was made: its id, its ad, and its differences from the plainest one; None: removed."""

    id: str
    ad: ClassAd
    chosen: dict[str, str | None]


def made_jobs(tables: Sequence[RoutingTable], context: Context | None = None, most: int = MOST_MADE) -> list[MadeJob]:
    """Make jobs that reach the branches of some tables, at most ``most``, all different.

    The first is the plainest job. Results of functions without constants may not be covered.
    """
    context = context or (tables[0].facts.context if tables else Context())
    return list(_Maker(tables, context, most).jobs())


class _Maker:
    """One making of jobs."""

    def __init__(self, tables: Sequence[RoutingTable], context: Context, most: int) -> None:
        self._tables = tables
        self._context = context
        routes = sum(len(table.routes) for table in tables)
        self._most = min(most, max(100, _MOST_ASKED // max(1, routes)))
        self._asked = _MOST_ASKED
        self._read = [ReadRules.of_table(table) for table in tables]
        conditions = [condition for read in self._read for condition in read.conditions]
        self._pool = ValuePool(conditions, context)
        self._spelled = {lower(name): name for read in self._read for name in read.touched}
        self._spelled.update(self._pool.spelled)
        self._spelled.update({lower(name): name for name in _BASE})

    def jobs(self) -> Iterator[MadeJob]:
        """Yield the jobs."""
        seen: set[tuple[tuple[str, str | None], ...]] = set()
        for chosen in self._interleaved():
            key = tuple(sorted(chosen.items()))
            if key in seen:
                continue
            seen.add(key)
            shown = {self._spelled.get(each, each): text for each, text in chosen.items()}
            ad = self._ad(chosen, len(seen))
            yield MadeJob(id_text(ad, self._context) or f"{len(seen)}.0", ad, shown)
            if len(seen) >= self._most:
                return

    def _interleaved(self) -> Iterator[Assignment]:
        """Yield attributes of jobs: for choosing routes, and then, from each route in turn, those its rules read."""
        yield {}
        reached = [[self._reached(table, at) for at in range(len(table.routes))] for table in self._tables]
        for of_table in reached:
            for found in of_table:
                yield from found
        for table in self._tables:
            yield from self._on_both_sides(table)
            yield from islice(self._of_two(table), _MOST_PAIRS)
        varied = [
            self._varied(table, route, found)
            for table, of_table in zip(self._tables, reached, strict=True)
            for route, found in zip(table.routes, of_table, strict=True)
        ]
        yield from in_turn(varied)

    def _constraint(self, table: RoutingTable) -> list[Assignment]:
        asked = table.settings.source_constraint
        return [{}] if asked is None else self._pool.models(of_job(asked.tree), want=True) or [{}]

    def _wanted(self, table: RoutingTable, route: Route, *, want: bool) -> list[Assignment]:
        """Return assignments that meet a route's requirements (or not), and the source constraint."""
        asked = route.transform.requirements
        if asked is None:
            return self._constraint(table) if want else []
        found = self._pool.models(asked.expression.tree, want=want)
        both = list(merged(found, self._constraint(table)))
        return [each for each in both or found if not _is_spoilt(each)]

    def _on_both_sides(self, table: RoutingTable) -> Iterator[Assignment]:
        for route in table.routes:
            for want in (True, False):
                yield from self._wanted(table, route, want=want)

    def _of_two(self, table: RoutingTable) -> Iterator[Assignment]:
        """Yield assignments for two routes, and no earlier one if possible."""
        for at, first in enumerate(table.routes):
            for second in table.routes[at + 1 :]:
                if self._asked <= 0:
                    return
                self._asked -= 100
                ones, others = self._wanted(table, first, want=True), self._wanted(table, second, want=True)
                yield from islice(merged(ones, others), 1)

    def _reached(self, table: RoutingTable, at: int) -> list[Assignment]:
        """Return assignments with which a job reaches a route, past those before it."""
        found = []
        for begun in self._wanted(table, table.routes[at], want=True):
            made = self._past(table, at, begun)
            if made is not None:
                found.append(made)
        return found

    def _past(self, table: RoutingTable, at: int, begun: Assignment) -> Assignment | None:
        made = begun
        for _ in range(2 * at + 1):
            ad = self._ad(made, 1)
            earlier = next((route for route in table.routes[:at] if self._meets(route, ad)), None)
            if earlier is None:
                return made
            asked = self._wanted(table, earlier, want=False)
            changed = (
                {**each, **begun, **{name: text for name, text in made.items() if name not in begun}} for each in asked
            )
            better = (each for each in (*changed, *({**made, **each, **begun} for each in asked)) if each != made)
            following = next((each for each in better if not self._meets(earlier, self._ad(each, 1))), None)
            if following is None:
                return None
            made = following
        return None

    def _meets(self, route: Route, ad: ClassAd) -> bool:
        self._asked -= 1
        return self._asked > 0 and meets(route, ad, self._context)

    def _varied(self, table: RoutingTable, route: Route, found: list[Assignment]) -> Iterator[Assignment]:
        """Yield jobs of a route with other values of what its rules read."""
        begun = found or self._wanted(table, route, want=True)[:1]
        if not begun:
            return
        pairs = ((other, other.route(route.name)) for other in self._tables)
        reads = [ReadRules.of_route(other, same) for other, same in pairs if same is not None]
        conditions = distinct(condition for read in reads for condition in read.conditions)
        for node in distinct(each for condition in conditions for each in islice(_deciding(condition), _MOST_DECIDING)):
            for model in (*self._pool.models(node, want=True), *self._pool.models(node, want=False)):
                for basis in begun[:_MOST_BEGUN]:
                    yield {**model, **basis}
                yield {**begun[0], **model}
        names = self._names(reads)
        for name in names:
            for value in self._values(name):
                for basis in begun[:_MOST_BEGUN]:
                    yield {**basis, name: value}
        for number, mixed in enumerate(self._mixed(names)):
            yield {**mixed, **begun[number % len(begun)]}

    def _mixed(self, names: list[str]) -> Iterator[Assignment]:
        """Yield combined values of all attributes: each combination if they are few, else some of them."""
        values = [self._values(name) for name in names]
        if prod(map(len, values)) <= _FEW:
            yield from (dict(zip(names, each, strict=True)) for each in product(*values))
            return
        for number in range(min(_MOST_MIXED, 3 * len(names))):
            places = (number * _PRIMES[place % len(_PRIMES)] + place for place in range(len(names)))
            yield {name: each[at % len(each)] for name, each, at in zip(names, values, places, strict=True)}

    def _names(self, reads: list[ReadRules]) -> list[str]:
        found = dict.fromkeys(lower(name) for read in reads for name in read.touched)
        conditions = (condition for read in reads for condition in read.conditions)
        found.update(dict.fromkeys(name for condition in conditions for name in references(condition)))
        for pattern in (pattern for read in reads for pattern in read.patterns):
            for made in samples(pattern):
                if made.isidentifier() and made.isascii():
                    found.setdefault(lower(made))
                    self._spelled.setdefault(lower(made), made)
        return [name for name in found if name not in _KEPT][:_MOST_NAMES]

    def _values(self, name: str) -> list[str | None]:
        return list(dict.fromkeys((*self._pool.of(name)[:8], *_ANY)))

    def _ad(self, chosen: Assignment, number: int) -> ClassAd:
        return plain_job({self._spelled.get(name, name): text for name, text in chosen.items()}, number)


def plain_job(chosen: Mapping[str, str | None] | None = None, number: int = 1) -> ClassAd:
    """Return the plainest job of a queue, with texts of attributes set or (None) removed. Raises ClassAdSyntaxError."""
    ad = _PLAINEST.copy()
    ad.set_text("ClusterId", str(number))
    for name, text in (chosen or {}).items():
        if text is None:
            ad.prune(name)
        else:
            ad.set_text(name, text)
    return ad


def _is_spoilt(chosen: Assignment) -> bool:
    """Return whether a job could not be a candidate."""
    return (
        chosen.get("jobstatus", "1") != "1"
        or chosen.get("managed") is not None
        or chosen.get("owner", "") is None
        or chosen.get("procid", "0") is None
    )


def _deciding(condition: Node) -> Iterator[Node]:
    """Yield the parts of an expression that choose between others, and those that are conditions themselves."""
    if measure(condition)[1] > MOST_NODES:
        return
    for node in (bare(condition), *nodes(condition)):
        if isinstance(node, Ternary):
            yield bare(node.test)
        elif isinstance(node, Call) and node.name.lower() == "ifthenelse" and node.arguments:
            yield bare(node.arguments[0])
        elif isinstance(node, Binary) and node.op == "?:":
            yield bare(node.left)
        elif _is_truth(node):
            yield node


def _is_truth(node: Node) -> bool:
    if isinstance(node, Call):
        return node.name.lower().startswith(("is", "regexp", "stringlist"))
    if isinstance(node, Binary):
        return node.op not in {"+", "-", "*", "/", "%", "[]"}
    return isinstance(node, Unary) and node.op == "!"


_UNTOLD = frozenset(
    lower(name)
    for name in (
        *(*DELETED, *(name for name, _ in RESET), "CurrentHosts", "Remote_JobUniverse"),
        *("RoutedBy", "RoutedFromJobId", "RouteName", "RoutedToJobId"),
    )
)
_READ_ALWAYS = ("JobUniverse", "JobStatus", "Managed", "RoutedBy", "Owner")
_IDS = frozenset(("clusterid", "procid"))
_MOST_RECORDED = 4  # of one route and one set of changes
_MOST_TESTS = 500
_MOST_CHOSEN = 60


# An expectation only lists a job's differences from the plainest one, and the relevant attributes of its copy.
@dataclass(frozen=True)
class Expectation:
    """A job and its expected result; texts are ClassAd expressions, None: a missing attribute.

    ``route`` None: no route takes it, and ``reason`` is part of why. ``copy`` are attributes of the routed copy, or of
    the job that is edited.
    """

    name: str
    job: dict[str, str | None] = field(default_factory=dict)
    route: str | None = None
    reason: str = ""
    copy: dict[str, str | None] = field(default_factory=dict)


class Unmet(NamedTuple):
    """A difference from an expectation: its kind (``route``, ``reason``, ``copy``, an attribute), and both values."""

    what: str
    expected: str
    found: str


def unmet(table: RoutingTable, expected: Expectation, context: Context | None = None) -> list[Unmet]:
    """Return the differences from an expectation, with all routes empty; none if it is met."""
    return list(_Trial(table, context or table.facts.context).unmet(expected))


def record(
    table: RoutingTable, jobs: Iterable[tuple[str, dict[str, str | None]]], context: Context | None = None
) -> list[Expectation]:
    """Return the present results of a table for jobs, each a name and its chosen attributes; a few of each kind."""
    return list(_Trial(table, context or table.facts.context).recorded(jobs))


def chosen_of(table: RoutingTable, ad: ClassAd) -> dict[str, str | None]:
    """Return the attributes of a job that a table may read, as far as they differ from the plainest one."""
    plain = plain_job()
    names = dict(ReadRules.of_table(table).names)
    names.update((lower(name), name) for name in _READ_ALWAYS)
    if "transferoutputremaps" in ad.codes:
        names.update((lower(name), name) for name in ("TransferOutputRemaps", "Out", "Err"))
    found: dict[str, str | None] = {}
    for key, name in names.items():
        mine = ad.text(name) if key in ad.codes else None
        if mine != (plain.text(name) if key in plain.codes else None) and key not in _IDS:
            found[ad.names.get(key) or plain.names.get(key) or name] = mine
    return dict(list(found.items())[:_MOST_CHOSEN])


class _Trial:
    """A table on which jobs are tried."""

    def __init__(self, table: RoutingTable, context: Context) -> None:
        self._table, self._context = table, context
        self._placing, self._copier = Placing(table, context), Copier(table, context)

    def unmet(self, expected: Expectation) -> Iterator[Unmet]:
        ad = plain_job(expected.job)
        taken, told = self._tried(ad)
        if lower(taken or "") != lower(expected.route or ""):
            yield Unmet("route", expected.route or "none", self._found(taken, expected.route, told))
            return
        if taken is None:
            reasons = reasons_of(told)
            if expected.reason and not any(lower(expected.reason) in lower(each) for each in reasons):
                yield Unmet("reason", expected.reason, "; ".join(reasons) or "none")
            return
        routed = self._routed(taken, ad)
        if routed.failed:
            if expected.copy:
                yield Unmet("copy", "a routed copy", f"it cannot be made: {failure(routed)}")
            return
        made = made_ad(routed)
        for name, text in expected.copy.items():
            found = made.text(name) if name in made else None
            if not _same(text, found):
                yield Unmet(name, "nothing" if text is None else text, "nothing" if found is None else found)

    def recorded(self, jobs: Iterable[tuple[str, dict[str, str | None]]]) -> Iterator[Expectation]:
        seen: dict[object, int] = {}
        count = 0
        for name, chosen in jobs:
            ad = plain_job(chosen)
            taken, told = self._tried(ad)
            copy: dict[str, str | None] = {}
            reason = ""
            if taken is None:
                reason = next(iter(reasons_of(told)), "")
            else:
                routed = self._routed(taken, ad)
                if not routed.failed:
                    before = ad.flat()
                    changes = Changes(before, made_ad(routed))
                    copy = {each.name: each.after for each in changes if lower(each.name) not in _UNTOLD}
            key = (taken, reason if taken is None else tuple(copy.items()))
            seen[key] = seen.get(key, 0) + 1
            if seen[key] <= (1 if taken is None else _MOST_RECORDED):
                count += 1
                yield Expectation(name, chosen, taken, reason, copy)
                if count >= _MOST_TESTS:
                    return

    def _tried(self, ad: ClassAd) -> tuple[str | None, JobVerdict]:
        told = why(self._table, ad, RouteState(), self._context)
        return (told.chosen.name if told.chosen is not None else None), told

    def _routed(self, name: str, ad: ClassAd) -> RoutedAd:
        route = self._table.route(name)
        assert route is not None  # noqa: S101 - it took the job
        return self._copier.copy(route, ad)

    def _found(self, taken: str | None, wanted: str | None, told: JobVerdict) -> str:
        """Return where a job goes instead, and why not where expected."""
        if wanted is None:
            return str(taken)
        reason = next((each for each in reasons_of(told) if lower(each).startswith(f"{lower(wanted)}: ")), "")
        if self._table.route(wanted) is None:
            reason = f"there is no route {wanted}"
        elif not reason and taken is not None:
            reason = f"{taken} is asked before {wanted}"
        return f"{taken or 'none'}, since {reason}" if reason else taken or "none"


def reasons_of(told: JobVerdict) -> list[str]:
    """Return why a job takes no route: why it is not a candidate, then each route with its reason."""
    found = [each.reason for each in told.missed]
    found += [
        f"{each.route.name}: {each.reason}"
        for each in told.verdicts
        if each.reason is not None and each.outcome is not RouteOutcome.NOT_CANDIDATE
    ]
    return found


def _same(expected: str | None, found: str | None) -> bool:
    """Return whether two texts are the same expression."""
    if expected is None or found is None:
        return expected == found
    try:
        return Expression(expected) == Expression(found)
    except ClassAdSyntaxError:
        return expected == found
