"""Which jobs the router looks at: HTCondor's umbrella constraint, and jobs that are alike to it.

HTCondor: JobRouter::GetCandidateJobs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from crondor.classad.compile import read
from crondor.classad.evaluate import holds
from crondor.classad.expression import Expression
from crondor.classad.parser import print_string
from crondor.classad.printing import prints_as_it_is
from crondor.classad.scope import BEYOND, UNKNOWN, AdValue, Attributes, Code, Codes, Context, code_tree
from crondor.classad.text import lower
from crondor.classad.tree import Call, ClassAdSyntaxError, Literal, LocalTime, Node, Reference, children
from crondor.router.table.route import Route, RoutingTable

_REQUIREMENTS = {"requirements": "Requirements"}
_ASKED = Expression("MY.Requirements").code
EVERY = "True"
"""The text used for a route without REQUIREMENTS."""


class Clause(str, Enum):
    """A condition that a job has to meet before any route is tried."""

    SOURCE_CONSTRAINT = "JOB_ROUTER_SOURCE_JOB_CONSTRAINT"
    ROUTES = "the requirements of the routes, evaluated with the job as TARGET"
    JOB = "it is a job"
    IDLE = "it is idle"
    NOT_SPOOLING = "its input is not being spooled"
    NOT_DONE = "no manager has finished it"
    NOT_EXTERNAL = "no other manager has it"
    OWNED = "it has an Owner"
    NOT_COPY = "it is not a copy that this router made"
    OWN = "it belongs to the user that the router runs as"


class BuiltIn(NamedTuple):
    """A fixed clause and its expression."""

    clause: Clause
    text: str
    expression: Expression


def built_in(name: str, owner: str | None = None) -> tuple[BuiltIn, ...]:
    """Return the clauses that HTCondor 25.14 adds, in its order.

    ``name`` is JOB_ROUTER_NAME. ``owner``: whose jobs are considered, None if the router runs as root.
    """
    texts = [
        (Clause.JOB, "target.ProcId >= 0"),
        (Clause.IDLE, "target.JobStatus == 1"),
        (Clause.NOT_SPOOLING, "(target.StageInStart is undefined || target.StageInFinish isnt undefined)"),
        (Clause.NOT_DONE, 'target.Managed isnt "ScheddDone"'),
        (Clause.NOT_EXTERNAL, 'target.Managed isnt "External"'),
        (Clause.OWNED, "target.Owner isnt Undefined"),
        (Clause.NOT_COPY, f"target.RoutedBy isnt {print_string(name)}"),
    ]
    if owner is not None:
        texts.append((Clause.OWN, f"(target.Owner == {print_string(owner)})"))
    return tuple(BuiltIn(clause, text, Expression(text)) for clause, text in texts)


def umbrella_text(table: RoutingTable, accepting: Iterable[Route], owner: str | None = None) -> str:
    """Return the umbrella constraint as HTCondor writes it, for the routes that accept jobs now."""
    clauses = built_in(table.settings.name, owner)
    inner = " && ".join(each.text for each in clauses if each.clause is not Clause.OWN)
    own = "".join(f" && {each.text}" for each in clauses if each.clause is Clause.OWN)
    return f"{routes_text(table, accepting)} && ({inner}){own}"


def routes_text(table: RoutingTable, accepting: Iterable[Route], *, reprinted: bool = False) -> str:
    """Return the configured part of the umbrella constraint: the source constraint and the routes.

    Routes are in the order of their names, each text once. ``reprinted``: as crondor prints expressions.
    """
    texts = dict.fromkeys(
        _text(route, reprinted=reprinted) for route in sorted(accepting, key=lambda route: route.name.lower())
    )
    constraint, written = table.settings.source_constraint, table.settings.source_constraint_text
    head = "" if constraint is None else f"({written if written and not reprinted else constraint.unparse()}) && "
    return f"{head}( {' || '.join(f'({text})' for text in texts)} )"


def _text(route: Route, *, reprinted: bool) -> str:
    required = route.transform.requirements
    if required is None:
        return EVERY
    return required.expression.unparse() if reprinted else required.text


class UmbrellaQuestion:
    """The configured part of the umbrella constraint as an expression evaluated for many jobs, each as TARGET.

    MY is an ad with only this expression as its Requirements, as in HTCondor's query.
    """

    def __init__(self, table: RoutingTable, accepting: Iterable[Route]) -> None:
        """Read the text, with strings in new syntax, as in knobs."""
        routes = tuple(accepting)
        try:
            code = Expression(routes_text(table, routes)).code
        except ClassAdSyntaxError:  # a text that can only be read in old syntax
            code = Expression(routes_text(table, routes, reprinted=True)).code
        self._code = code
        self._my = AdValue({"requirements": code}, _REQUIREMENTS)

    def holds(self, job: Attributes, context: Context) -> bool:
        """Return whether a job passes."""
        return holds(_ASKED, self._my, job, context)

    def reason(self, job: Attributes, context: Context) -> str | None:
        """Return the shortest reason why a job does not pass, None if it does."""
        return Expression.of(self._code).explain(self._my, job, context).reason()


_SCOPES = frozenset(("my", "self", "target", "other"))
_TIMED_NAMES = """
    abstime currenttime daytime formattime getdayofmonth getdayofweek getdayofyear getdays gethours getminutes
    getmonth getseconds getyear interval random reltime splittime time timezoneoffset
"""
_PURE_NAMES = """
    allcompare anycompare argstolist avg bool ceil ceiling debug envv1tov2 floor identicalmember ifthenelse int
    isabstime isboolean isclassad iserror isinteger islist isreal isreltime isstring isundefined join listtoargs max
    member mergeenvironment min pow quantize real regexp regexpmember regexps replace replaceall round size split
    splitslotname splitusername strcat strcmp stricmp string stringlist_regexpmember stringlistavg stringlistimember
    stringlistisubsetmatch stringlistmax stringlistmember stringlistmin stringlistsintersect stringlistsize
    stringlistsubsetmatch stringlistsum substr sum tolower toupper version_in_range versioncmp versioneq versionge
    versiongt versionle versionlt
"""
_TIMED, _PURE = frozenset(_TIMED_NAMES.split()), frozenset(_PURE_NAMES.split())
_MOST = 1024  # expressions whose needs are cached


class Needs(NamedTuple):
    """What an expression depends on: names in lower case.

    ``is_timed``: also the clock, the zone or the dice. ``is_open``: other things are unknown, since it reads a text as
    an expression, or uses whole ads.
    """

    names: tuple[str, ...]
    is_timed: bool = False
    is_open: bool = False


@lru_cache(maxsize=_MOST)
def needs_of(code: Code) -> Needs:
    """Return what an expression itself depends on; the attributes that it names may depend on more."""
    names: dict[str, None] = {}
    is_timed = is_open = False
    work: list[Node] = [code_tree(code)]
    while work:
        node = work.pop()
        if isinstance(node, Reference):
            key, scope = lower(node.name), node.scope
            names[key] = None
            is_timed |= key == "currenttime"
            if node.absolute or (key in BEYOND and key != "currenttime"):
                is_open = True
            elif isinstance(scope, Reference) and scope.scope is None and not scope.absolute:
                key = lower(scope.name)
                names[key] = None  # an ad may have an attribute of that name
                is_open |= key in BEYOND and key not in _SCOPES
            elif scope is not None:
                work.append(scope)
            continue
        if isinstance(node, Call):
            name = node.name.lower()
            is_timed |= name in _TIMED
            is_open |= name not in _TIMED and name not in _PURE
        elif isinstance(node, Literal) and isinstance(node.value, LocalTime):
            is_timed = True
        work += children(node)
    return Needs(tuple(names), is_timed, is_open)


_BY_JOB = frozenset((Clause.JOB, Clause.NOT_SPOOLING, Clause.OWNED, Clause.OWN))
MOST_KEYS = 100_000
"""Keys that are cached; beyond that the cache starts again."""

_CANDIDATE_NAMES = ("jobstatus", "managed", "routedby")

Key: TypeAlias = "tuple[Code | str | None, ...]"
_Known: TypeAlias = "dict[Key, AlikeJobs | _Deeper]"


# The key of a job is the tuple of these texts. If one of them is an expression, the attributes that it refers to belong
# to the key too, and so on; HTCondor's schedd calls such a set of jobs an autocluster.
class AlikeJobs:
    """Similar jobs: whether they are candidates as far as the key tells, and which routes they match.

    ``matched`` has a bit for each route of the table. ``is_timed``: valid at one time only.
    """

    def __init__(self, ad: Attributes, context: Context, *, is_timed: bool) -> None:
        self._ad = ad
        self.context = context
        self._passes: dict[int, bool] = {}
        self.is_timed = is_timed
        self.is_candidate = False
        self.matched = 0

    def ask(self, routes: Sequence[Route], clauses: Clauses, context: Context) -> AlikeJobs:
        """Evaluate the clauses and routes, and return this cluster."""
        self.context = context
        self._passes.clear()
        self.is_candidate = clauses.hold(self._ad, context)
        self.matched = 0
        if self.is_candidate:
            self.matched = sum(1 << at for at, route in enumerate(routes) if meets(route, self._ad, context))
        return self

    def passes(self, accepting: int, asked: UmbrellaQuestion) -> bool:
        """Return whether the umbrella constraint of some routes holds, except its conditions on single jobs."""
        found = self._passes.get(accepting)
        if found is None:
            found = self._passes[accepting] = asked.holds(self._ad, self.context)
        return found


class Clauses:
    """The clauses for similar jobs; results for literals are cached."""

    def __init__(self, clauses: Iterable[BuiltIn]) -> None:
        """Take the clauses, which only use _CANDIDATE_NAMES."""
        self._clauses = tuple(clauses)
        self._known: dict[Key, bool] = {}

    def hold(self, job: Attributes, context: Context) -> bool:
        """Return whether all hold for a job."""
        key = tuple(map(job.codes.get, _CANDIDATE_NAMES))
        found = self._known.get(key)
        if found is None:
            found = all(holds(each.expression.code, NO_AD, job, context) for each in self._clauses)
            if all(text is None or _literal(text) for text in key):
                if len(self._known) >= MOST_KEYS:
                    self._known.clear()
                self._known[key] = found
        return found


class _Deeper:
    """More names are needed to tell jobs with these texts apart."""

    def __init__(self, names: tuple[str, ...], *, is_timed: bool) -> None:
        self.names = names
        self.is_timed = is_timed
        self.known: _Known = {}


class Autoclusters:
    """Groups similar jobs for a routing table.

    ``owner``: whose jobs are candidates, None: everybody's, for a router that runs as root.
    """

    def __init__(self, table: RoutingTable, owner: str | None = None) -> None:
        self.routes = table.routes
        clauses = built_in(table.settings.name, owner)
        self._of_job = tuple(each for each in clauses if each.clause in _BY_JOB)
        self._of_key = Clauses(each for each in clauses if each.clause not in _BY_JOB)
        asked = [each.transform.requirements.expression for each in table.routes if each.transform.requirements]
        if table.settings.source_constraint is not None:
            asked.append(table.settings.source_constraint)
        needs = needs_of_all(each.code for each in asked)
        self._is_timed, self.is_open = needs.is_timed, needs.is_open
        self.names = tuple(sorted({*_CANDIDATE_NAMES, *needs.names}))
        self.owners: set[Code | str] = set()  # texts of Owner that are known to be a candidate's
        self.known: _Known = {}
        self._count = 0

    def __len__(self) -> int:
        """Return the number of cached keys, including those that lead to longer ones."""
        return self._count

    def find(self, ad: Attributes, context: Context) -> tuple[AlikeJobs, bool]:
        """Return a job's cluster, and whether it may be cached for similar jobs."""
        if self.is_open:
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
                needs = needs_of_all(key)
                if needs.is_open:
                    return self._alone(ad, context), False
                more = tuple(sorted(set(needs.names) - seen))
                is_timed = is_timed or needs.is_timed
                if more:
                    found = _Deeper(more, is_timed=is_timed)
                else:
                    # Only the relevant attributes, so that the job's own ad may change.
                    held = {name: code for name in seen if (code := codes.get(name)) is not None}
                    part = AdValue(held, {name: ad.names.get(name, name) for name in held})
                    found = AlikeJobs(part, context, is_timed=is_timed)
                    found.ask(self.routes, self._of_key, context)
                known[key] = found
                self._count += 1
            if isinstance(found, AlikeJobs):
                return self.renew(found, context), True
            is_timed = found.is_timed
            seen.update(found.names)
            names, known = found.names, found.known

    def renew(self, cluster: AlikeJobs, context: Context) -> AlikeJobs:
        """Recompute what depends on the time, if that has changed, and return the cluster."""
        if not cluster.is_timed or cluster.context == context:
            return cluster
        return cluster.ask(self.routes, self._of_key, context)

    def _alone(self, ad: Attributes, context: Context) -> AlikeJobs:
        return AlikeJobs(ad, context, is_timed=True).ask(self.routes, self._of_key, context)

    def is_candidate(self, ad: Attributes, codes: Codes, context: Context) -> bool:
        """Return whether the clauses on single jobs hold: ids, owner, spooling."""
        owner = codes.get("owner")  # before evaluation replaces the text by its expression
        proc = codes.get("procid")
        if proc.__class__ is str and proc.isdigit() and owner in self.owners and codes.get("stageinstart") is None:
            return True
        if not all(holds(each.expression.code, NO_AD, ad, context) for each in self._of_job):
            return False
        if isinstance(owner, str) and prints_as_it_is(owner):
            if len(self.owners) >= MOST_KEYS:
                self.owners.clear()
            self.owners.add(owner)
        return True

    def is_fixed(self, codes: Codes) -> bool:
        """Return whether these clauses stay true if they are now: all their attributes are literals."""
        texts = tuple(map(codes.get, ("procid", "owner", "stageinstart", "stageinfinish")))
        proc, owner, *staged = texts
        if proc.__class__ is str and proc.isdigit() and owner in self.owners and staged == [None, None]:
            return True
        return all(text is None or _literal(text) for text in texts)


def meets(route: Route, job: Attributes, context: Context) -> bool:
    """Return whether a job meets the requirements of a route, evaluated in the job's ad alone.

    True or a nonzero number; without requirements, or if HTCondor cannot evaluate them, they count as met.
    """
    return route.transform.matches(job, context)


NO_AD = AdValue({}, {})


def needs_of_all(texts: Iterable[Code | str | None]) -> Needs:
    """Return what the expressions among some texts depend on; invalid ones depend on nothing."""
    names: set[str] = set()
    is_timed = is_open = False
    for text in texts:
        if text is None or _literal(text):
            continue
        try:
            needs = needs_of(read(text) if isinstance(text, str) else text)
        except ClassAdSyntaxError:
            continue
        names.update(needs.names)
        is_timed, is_open = is_timed or needs.is_timed, is_open or needs.is_open
    return Needs(tuple(names), is_timed, is_open)


def _literal(text: Code | str) -> bool:
    return prints_as_it_is(text) if isinstance(text, str) else text.const is not UNKNOWN
