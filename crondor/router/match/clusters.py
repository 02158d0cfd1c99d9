"""Jobs that no route can tell apart: told by the texts of the attributes that requirements refer to.

The key of a job is the tuple of these texts. Where one of them is an expression, the attributes that it refers to
belong to the key as well, and so on; HTCondor's schedd calls such a set of jobs an autocluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from crondor.classad.compile import read
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.evaluate import holds
from crondor.classad.expression import Expression
from crondor.classad.printing import prints_as_it_is
from crondor.classad.scope import UNKNOWN, AdValue, Attributes, Code, Codes, Context
from crondor.router.match.dependence import Needs, needs_of
from crondor.router.match.umbrella import BuiltIn, Clause, UmbrellaQuestion, built_in
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable

_BY_JOB = frozenset((Clause.JOB, Clause.NOT_SPOOLING, Clause.OWNED, Clause.OWN))
MOST_KEYS = 100_000
"""Keys that are remembered; beyond that all are found out anew."""

_CANDIDATE_NAMES = ("jobstatus", "managed", "routedby")

Key: TypeAlias = "tuple[Code | str | None, ...]"
_Known: TypeAlias = "dict[Key, AlikeJobs | _Deeper]"


class AlikeJobs:
    """Jobs that are alike: whether they are candidates as far as the key tells, and which routes they match.

    ``matched`` has a bit for each route of the table. ``is_timed``: this holds at one time only.
    """

    __slots__ = ("_ad", "_context", "_passes", "is_candidate", "is_timed", "matched")

    def __init__(self, ad: Attributes, context: Context, *, is_timed: bool) -> None:
        """Take what the jobs have in common."""
        self._ad = ad
        self._context = context
        self._passes: dict[int, bool] = {}
        self.is_timed = is_timed
        self.is_candidate = False
        self.matched = 0

    def ask(self, routes: Sequence[Route], clauses: Clauses, context: Context) -> AlikeJobs:
        """Find out what holds, and return this cluster."""
        self._context = context
        self._passes.clear()
        self.is_candidate = clauses.hold(self._ad, context)
        self.matched = 0
        if self.is_candidate:
            self.matched = sum(1 << at for at, route in enumerate(routes) if meets(route, self._ad, context))
        return self

    def passes(self, accepting: int, asked: UmbrellaQuestion) -> bool:
        """Say whether the umbrella constraint of some routes holds, its part of single jobs aside."""
        found = self._passes.get(accepting)
        if found is None:
            found = self._passes[accepting] = asked.holds(self._ad, self._context)
        return found

    def is_of(self, context: Context) -> bool:
        """Say whether what is known here is so at another time too."""
        return not self.is_timed or self._context == context


class Clauses:
    """The clauses that are asked of jobs that are alike; what literals come to is remembered."""

    __slots__ = ("_clauses", "_known")

    def __init__(self, clauses: Iterable[BuiltIn]) -> None:
        """Take the clauses, which ask for _CANDIDATE_NAMES alone."""
        self._clauses = tuple(clauses)
        self._known: dict[Key, bool] = {}

    def hold(self, job: Attributes, context: Context) -> bool:
        """Say whether all hold for a job."""
        key = tuple(map(job.codes.get, _CANDIDATE_NAMES))
        found = self._known.get(key)
        if found is None:
            found = all(holds(each.expression.code, _NO_AD, job, context) for each in self._clauses)
            if all(text is None or _literal(text) for text in key):
                if len(self._known) >= MOST_KEYS:
                    self._known.clear()
                self._known[key] = found
        return found


class _Deeper:
    """More names are needed to tell jobs apart whose texts are these."""

    __slots__ = ("is_timed", "known", "names")

    def __init__(self, names: tuple[str, ...], *, is_timed: bool) -> None:
        self.names = names
        self.is_timed = is_timed
        self.known: _Known = {}


class Autoclusters:
    """Tells which jobs are alike for a routing table.

    ``owner``: whose jobs alone are candidates, None: everybody's, as where the router runs as root.
    """

    def __init__(self, table: RoutingTable, owner: str | None = None) -> None:
        """Find out what the requirements refer to."""
        self.routes = table.routes
        clauses = built_in(table.settings.name, owner)
        self._of_job = tuple(each for each in clauses if each.clause in _BY_JOB)
        self._of_key = Clauses(each for each in clauses if each.clause not in _BY_JOB)
        asked = [each.transform.requirements.expression for each in table.routes if each.transform.requirements]
        if table.settings.source_constraint is not None:
            asked.append(table.settings.source_constraint)
        needs = _joined(asked)
        self._is_timed, self._is_open = needs.is_timed, needs.is_open
        self.names = tuple(sorted({*_CANDIDATE_NAMES, *needs.names}))
        self.owners: set[Code | str] = set()  # texts of Owner that are known to be a candidate's
        self.known: _Known = {}
        self._count = 0

    def __len__(self) -> int:
        """Return the number of keys that are remembered, those that lead to longer ones included."""
        return self._count

    def find(self, ad: Attributes, context: Context) -> tuple[AlikeJobs, bool]:
        """Return a job's cluster, and whether it may be kept for jobs that are alike."""
        if self._is_open:
            return self._alone(ad, context), False
        codes = ad.codes
        if self._count >= MOST_KEYS:
            self.known.clear()
            self._count = 0
        names, known = self.names, self.known
        seen = set(names)
        is_timed = self._is_timed
        while True:
            key = tuple(map(codes.get, names))
            found = known.get(key)
            if found is None:
                needs = _needs_of_texts(key)
                if needs.is_open:
                    return self._alone(ad, context), False
                more = tuple(sorted(set(needs.names) - seen))
                is_timed = is_timed or needs.is_timed
                if more:
                    found = _Deeper(more, is_timed=is_timed)
                else:
                    found = AlikeJobs(_part(ad, seen), context, is_timed=is_timed)
                    found.ask(self.routes, self._of_key, context)
                known[key] = found
                self._count += 1
            if isinstance(found, AlikeJobs):
                return self.renew(found, context), True
            is_timed = found.is_timed
            seen.update(found.names)
            names, known = found.names, found.known

    def renew(self, cluster: AlikeJobs, context: Context) -> AlikeJobs:
        """Find out anew what depends on the time, where that is another one, and return the cluster."""
        return cluster if cluster.is_of(context) else cluster.ask(self.routes, self._of_key, context)

    def _alone(self, ad: Attributes, context: Context) -> AlikeJobs:
        return AlikeJobs(ad, context, is_timed=True).ask(self.routes, self._of_key, context)

    def is_candidate(self, ad: Attributes, codes: Codes, context: Context) -> bool:
        """Say whether the clauses hold that are asked of each job by itself: its ids, its owner, its spooling."""
        owner = codes.get("owner")  # before evaluation puts its expression in place of the text
        proc = codes.get("procid")
        if proc.__class__ is str and proc.isdigit() and owner in self.owners and codes.get("stageinstart") is None:
            return True
        if not all(holds(each.expression.code, _NO_AD, ad, context) for each in self._of_job):
            return False
        if isinstance(owner, str) and prints_as_it_is(owner):
            if len(self.owners) >= MOST_KEYS:
                self.owners.clear()
            self.owners.add(owner)
        return True

    def is_fixed(self, codes: Codes) -> bool:
        """Say whether these clauses hold at all times if they do now: all their attributes are literals."""
        texts = tuple(map(codes.get, ("procid", "owner", "stageinstart", "stageinfinish")))
        proc, owner, *staged = texts
        if proc.__class__ is str and proc.isdigit() and owner in self.owners and staged == [None, None]:
            return True
        return all(text is None or _literal(text) for text in texts)


def meets(route: Route, job: Attributes, context: Context) -> bool:
    """Say whether a job meets the requirements of a route, evaluated in the job's ad alone.

    True or a number that is not zero; none at all counts as met, and so does what HTCondor cannot evaluate.
    """
    return route.transform.matches(job, context)


_NO_AD = AdValue({}, {})


def _joined(expressions: Iterable[Expression]) -> Needs:
    found = [needs_of(each.code) for each in expressions]
    names = {name for needs in found for name in needs.names}
    return Needs(tuple(sorted(names)), any(each.is_timed for each in found), any(each.is_open for each in found))


def _needs_of_texts(key: Key) -> Needs:
    """Return what the expressions among some texts ask for."""
    found = []
    for text in key:
        if text is None or _literal(text):
            continue
        try:
            found.append(needs_of(read(text) if isinstance(text, str) else text))
        except ClassAdSyntaxError:
            continue
    names = {name for needs in found for name in needs.names}
    return Needs(tuple(names), any(each.is_timed for each in found), any(each.is_open for each in found))


def _literal(text: Code | str) -> bool:
    return prints_as_it_is(text) if isinstance(text, str) else text.const is not UNKNOWN


def _part(ad: Attributes, names: Iterable[str]) -> AdValue:
    """Return the attributes that count, so that the job's own ad may change."""
    codes, spelled = ad.codes, ad.names
    held = {name: code for name in names if (code := codes.get(name)) is not None}
    return AdValue(held, _spelling(held, spelled))


def _spelling(held: Mapping[str, object], names: Mapping[str, str]) -> Mapping[str, str]:
    return {key: names.get(key, key) for key in held}
