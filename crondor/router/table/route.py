"""A route and its compiled form: conversions, changed names, remaps, ids and settings; and the table of routes.

HTCondor: JobRoute.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.expression import Expression
from crondor.classad.parser import print_string
from crondor.classad.printing import Spelling
from crondor.classad.scope import Attributes, Code, Context
from crondor.classad.text import lower
from crondor.diagnostics import Diagnostic, Severity, Source, Span
from crondor.job.attributes import job_numbers, string
from crondor.macro import MacroError
from crondor.transform import Transform, TransformFacts
from crondor.transform.apply import TransformRun
from crondor.transform.expressions import NOTHING, Stop, universe_name, universe_number
from crondor.transform.loading import find_circles
from crondor.transform.plan import NamePlan, Unplanned

VANILLA = 5
GRID = 9
DEFAULT_MAX_JOBS = 100
DEFAULT_MAX_IDLE_JOBS = 50
DEFAULT_FAILURE_RATE = 0.03
"""Failures a second from which a route is throttled: 18 in a window of 600 s."""


@dataclass(frozen=True)
class Route:
    """One route of a table, as loaded.

    ``transform`` are its commands, with REQUIREMENTS in ``transform.requirements`` (None: every candidate matches).
    ``universe`` is the number of the copy's universe; ``grid_resource`` is only read for GRID. ``max_jobs`` negative:
    the route never accepts; ``max_idle_jobs`` negative: unlimited. ``failure_rate_threshold`` is in failures a second.
    The expressions are evaluated in the source job's ad alone (HTCondor 25.14); None: not given. ``takes_transforms``
    is false for a route of JOB_ROUTER_ENTRIES, to which the transforms before and after routes do not apply.
    ``is_legacy``: it was written as a ClassAd and converted. ``source`` is its text, named like its knob; ``place`` is
    the place of that text in a file, None if it is not there literally.
    """

    name: str
    source: Source
    transform: Transform
    universe: int = GRID
    grid_resource: str | None = None
    max_jobs: int = DEFAULT_MAX_JOBS
    max_idle_jobs: int = DEFAULT_MAX_IDLE_JOBS
    failure_rate_threshold: float = DEFAULT_FAILURE_RATE
    job_failure_test: Expression | None = None
    job_should_be_sandboxed: Expression | None = None
    edit_job_in_place: Expression | None = None
    use_shared_x509_user_proxy: Expression | None = None
    shared_x509_user_proxy: Expression | None = None
    send_id_tokens: Expression | None = None
    takes_transforms: bool = True
    is_legacy: bool = False
    place: Span | None = None


_MOST = 64  # mappings of names that are cached


class NameChanges:
    """Names that are deleted, and names that exist afterwards."""

    __slots__ = ("_added", "_deleted", "_known")

    def __init__(self, deleted: Iterable[str], added: Iterable[str]) -> None:
        """Take the names as spelled; a name that an ad has already keeps its spelling and its place."""
        self._deleted = tuple(map(lower, deleted))
        self._added = {lower(name): name for name in added}
        self._known: dict[int, tuple[dict[str, str], tuple[str, ...], dict[str, str]]] = {}

    def make(self, ad: ClassAd) -> dict[str, Code | str]:
        """Change the names of an ad without parent, and return its expressions: the added ones must be set."""
        codes, names = ad.shared_parts()
        known = self._known.get(id(names))
        if known is None or known[0] is not names:
            known = self._learn(names)
        _, gone, left = known
        for key in gone:
            del codes[key]
        ad.share_names(left)
        return codes

    def _learn(self, names: dict[str, str]) -> tuple[dict[str, str], tuple[str, ...], dict[str, str]]:
        gone = tuple(key for key in self._deleted if key in names)
        added = {key: name for key, name in self._added.items() if key not in names}
        left = Spelling({**{key: name for key, name in names.items() if key not in set(gone)}, **added})
        if len(self._known) >= _MOST:
            self._known.clear()
        found = self._known[id(names)] = (names, gone, left)
        return found


_MOST_REMAPS = 128
"""MAX_REMAP_RECURSIONS."""

_SPACES = " \t\n\v\f\r"


# HTCondor: filename_remap_find.
class EndlessRemaps(ValueError):
    """Rules that lead to each other endlessly."""


def remapped(rules: str, name: str) -> str | None:
    """Return the new name of the file ``name``, None if no rule is about it.

    The result of a rule is looked up again. A rule about the folder of a file moves the file too. Backslashes before
    ``=`` and ``;`` make them part of a name. Raises EndlessRemaps beyond 128 steps (HTCondor 25.14).
    """
    return _remapped(dict(reversed(_rules(rules))), name, 0)


def _remapped(rules: dict[str, str], name: str, level: int) -> str | None:
    if level > _MOST_REMAPS:
        raise EndlessRemaps(name)
    found = rules.get(name)
    if found is not None:
        further = _remapped(rules, found, level + 1)
        return found if further is None else further
    folder, slash, entry = name.rpartition("/")
    if not slash:
        return None
    moved = _remapped(rules, folder, level + 1)
    return None if moved is None else f"{moved}/{entry}"


def _rules(text: str) -> list[tuple[str, str]]:
    """Return the rules in their order; of two about a name the first counts."""
    text = text.translate({ord("\t"): None, ord("\n"): None})
    found: list[tuple[str, str]] = []
    at = 0
    while True:
        begin = at
        name, at = _piece(text, begin, "=")
        if at < 0:
            return found
        semicolon = name.find(";")
        if semicolon >= 0:  # an item without = is skipped
            at = begin + semicolon + 1
            continue
        place, at = _piece(text, at, ";")
        found.append((name, place))
        if at < 0:
            return found


def _piece(text: str, at: int, stop: str) -> tuple[str, int]:
    """Return the text up to an unescaped character, trimmed, and the offset after; -1: the end."""
    parts: list[str] = []
    while at < len(text):
        letter = text[at]
        if letter == "\\" and text[at + 1 : at + 2] == stop:
            parts.append(stop)
            at += 2
            continue
        if letter == stop:
            return "".join(parts).strip(_SPACES), at + 1
        parts.append(letter)
        at += 1
    return "".join(parts).strip(_SPACES), -1


_DELETED_NAMES = """
    ClusterId ProcId BufferBlockSize BufferSize CondorPlatform CondorVersion CoreSize GlobalJobId User OsUser QDate
    RemoteWallClockTime LastRemoteWallClockTime ServerTime AutoClusterId AutoClusterAttrs TotalSubmitProcs
    StageInFinish StageInStart UserLog UserLogUseXML DAGManNodesLog DAGManNodesMask TimerRemove SUBMIT_Iwd
"""
DELETED = tuple(_DELETED_NAMES.split())
"""Attributes removed from the copy."""

RESET = (
    ("JobStatus", "1"),
    ("RemoteUserCpu", "0.0"),
    ("RemoteSysCpu", "0.0"),
    ("ExitStatus", "0"),
    ("CompletionDate", "0"),
    ("NumCkpts", "0"),
    ("NumRestarts", "0"),
    ("NumSystemHolds", "0"),
    ("CommittedTime", "0"),
    ("CommittedSlotTime", "0"),
    ("CumulativeSlotTime", "0"),
    ("TotalSuspensions", "0"),
    ("LastSuspensionTime", "0"),
    ("CumulativeSuspensionTime", "0"),
    ("CommittedSuspensionTime", "0"),
    ("ExitBySignal", "false"),
)
"""Initial attributes of every copy."""

UNIVERSE, OLD_UNIVERSE = "JobUniverse", "Remote_JobUniverse"
_PLAIN = re.compile(r'"([^"\\]*)"').fullmatch
_ALWAYS = (*(name for name, _ in RESET), UNIVERSE, OLD_UNIVERSE)
NAMES = (NameChanges(DELETED, _ALWAYS), NameChanges((*DELETED, "CurrentHosts"), (*_ALWAYS, "GridResource")))
"""The name changes of the conversion; the second for a copy in the grid universe."""
AFTERWARDS = NameChanges(["RoutedToJobId"], ["RoutedFromJobId", "RoutedBy", "RouteName"])
"""Attributes set after all transforms."""


# HTCondor: VanillaToGrid::vanillaToGrid.
def constants(universe: int, grid_resource: str | None) -> dict[str, Code | str]:
    """Return the initial attributes of every copy for a universe, by name in lower case."""
    codes: dict[str, Code | str] = {lower(name): text for name, text in RESET}
    codes["jobuniverse"] = str(universe)
    if universe == GRID:
        codes["gridresource"] = print_string(grid_resource or "")
    return codes


def convert(
    ad: ClassAd, universe: int, grid_resource: str | None, context: Context, *, is_sandboxed: bool
) -> list[Diagnostic]:
    """Change a copy of a job's ad into one for a universe, and return the findings.

    The ad has no parent. With an ERROR among the findings there is no JobUniverse, and no copy can be made; HTCondor's
    daemon ends there, with all its other jobs.
    """
    old = ad.codes.get("jobuniverse")
    if old is None:
        help_text = "HTCondor's job router ends at such a job, and again each time it is started; give it a JobUniverse"
        return [Diagnostic("no-universe", "the job has no JobUniverse: it cannot be routed", help=help_text)]
    codes = NAMES[universe == GRID].make(ad)
    codes.update(constants(universe, grid_resource))
    codes["remote_jobuniverse"] = old
    if universe != GRID:
        return []
    return [] if is_sandboxed else list(_unremapped(ad, context))


def _unremapped(ad: ClassAd, context: Context) -> Iterator[Diagnostic]:
    """Give Out and Err their names from TransferOutputRemaps, and delete that.

    A grid job writes where its ad says; only the output of a sandboxed copy is fetched and moved.
    """
    rules = string(ad, "TransferOutputRemaps", context)
    if not rules:
        return
    ad.prune("TransferOutputRemaps")
    for name in ("Out", "Err"):
        file = string(ad, name, context)
        if file is None:
            continue
        try:
            found = remapped(rules, file)
        except EndlessRemaps:
            message = f"TransferOutputRemaps lead on from {file} endlessly: {name} stays as it is"
            yield Diagnostic("endless-remaps", message, Severity.WARNING, help="let each rule lead to a file itself")
            continue
        if found is not None:
            ad.set(name, found)


def forget_routing(ad: ClassAd) -> None:
    """Return a job to its state before it was routed, like condor_job_router_info -ignore-prior-routing."""
    for name in ("Managed", "RoutedBy", "StageInStart", "StageInFinish"):
        if name in ad:
            del ad[name]
    ad.set("JobStatus", 1)


_PLAIN_ID = re.compile(r"(?:0|[1-9][0-9]{0,17})\.(?:0|[1-9][0-9]{0,17})").fullmatch


def id_text(ad: Attributes, context: Context | None = None) -> str | None:
    """Return the id of a job's ad, ``cluster.proc``; None if one of them is not an integer.

    ``crondor.schedd.reading.job_id`` returns the same as a JobId, if a queue could have such a job.
    """
    get = ad.codes.get
    plain = plain_id(get("clusterid"), get("procid"))
    if plain is not None:
        return plain
    numbers = job_numbers(ad, context or Context())
    return None if numbers is None else f"{numbers[0]}.{numbers[1]}"


def plain_id(cluster: Code | str | None, proc: Code | str | None) -> str | None:
    """Return the id if both expressions are integers as HTCondor writes them, else None."""
    if isinstance(cluster, str) and isinstance(proc, str):
        made = f"{cluster}.{proc}"
        if _PLAIN_ID(made):
            return made
    return None


# HTCondor: JobRouter::config.
class ScheddContact(NamedTuple):
    """How to find a schedd: its name, its pool, the paths of its queue's log and of its address; empty: not given."""

    name: str = ""
    pool: str = ""
    job_queue_log: str = ""
    address_file: str = ""


NOBODY = ScheddContact()


@dataclass(frozen=True)
class RouterSettings:
    """The settings of a router, with the defaults of HTCondor 25.14; times in seconds.

    ``max_jobs`` negative: unlimited. ``source_constraint`` None: none. ``update_lag`` is MAX_JOB_MIRROR_UPDATE_LAG.
    ``periodic_interval`` of 0 or less: the source's periodic policy is not evaluated.
    """

    name: str = "jobrouter"
    polling_period: int = 10
    source_constraint: Expression | None = None
    source_constraint_text: str = ""
    """As written, with macros replaced; empty: as crondor prints it."""
    max_jobs: int = -1
    round_robin: bool = False
    release_on_hold: bool = True
    update_lag: int = 600
    entries_refresh: int = 0
    periodic_interval: int = 60
    update_interval: int = 300
    hook_keyword: str = ""
    attributes_to_copy: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(keyword, attributes) of each <KEYWORD>_ATTRS_TO_COPY."""
    delayed_update_prefix: tuple[str, ...] = ("Chirp*",)
    route_id_tokens: str = ""
    id_token_refresh: int = 0
    max_periodic_interval: int = 1200
    periodic_timeslice: float = 0.01
    lock: str = ""
    source_schedd: ScheddContact = NOBODY
    destination_schedd: ScheddContact = NOBODY
    """Without a log of its own it is the source schedd."""
    id_tokens: tuple[tuple[str, str], ...] = ()
    """(name, properties as attribute lines) of each token of JOB_ROUTER_CREATE_IDTOKEN_NAMES."""

    def copied_for(self, keyword: str | None) -> tuple[str, ...]:
        """Return the attributes of <KEYWORD>_ATTRS_TO_COPY for a job with a HookKeyword; None: it has none.

        The knob counts whether hooks are run or not; its name ignores case.
        """
        wanted = lower(self.hook_keyword if keyword is None else keyword)
        return next((names for each, names in self.attributes_to_copy if lower(each) == wanted), ())


_STRING = re.compile(r'"[^"\\]*"').fullmatch
_MOST_NAMES = 64  # mappings of names that are cached
_LONGEST = 1000  # names of an ad that is worth a plan
_MOST_TRUST = 64
_PRICE = 4  # planned jobs needed per failed one, or the next are not tried
_REST = 32  # jobs that are not tried then


# If a job is not plain (it is chained to its cluster's ad, its output is to be renamed, a line of a transform fails),
# there is no result, and ``crondor.router.applying`` goes step by step.
class CompiledRoute:
    """A route with the transforms around it, for jobs that only need changed attributes.

    ``is_open``: some jobs can be processed like this.
    """

    def __init__(
        self, route: Route, before: Sequence[Transform], after: Sequence[Transform], settings: RouterSettings
    ) -> None:
        self.route = route
        asks = (route.job_should_be_sandboxed, route.edit_job_in_place, route.use_shared_x509_user_proxy)
        self.is_open = all(each is None for each in (*asks, route.send_id_tokens)) and not settings.route_id_tokens
        self._settings = settings
        self._stretches = [_Stretch(None)]
        self._stretches[0].parts.append(self._convert)
        for transform in (*before, route.transform, *after):
            if transform is not route.transform and transform.requirements is not None:
                self._stretches += (_Stretch(transform), _Stretch(None))
            else:
                self._stretches[-1].parts.append(transform.plan)
                self._stretches[-1].applied += (transform.name,)
        self._stretches[-1].parts.append(self._end)
        self._trust = _MOST_TRUST
        self._rests = 0

    def run(self, source: ClassAd, facts: TransformFacts) -> tuple[ClassAd, tuple[str, ...]] | None:
        """Return the routed copy of a job and the names of the transforms that ran; None: the job is not plain."""
        if self._rests:
            self._rests -= 1
            return None
        made = self._made(source, facts)
        if made is not None:
            self._trust += self._trust < _MOST_TRUST
            return made
        self._trust -= _PRICE
        if self._trust < 0:
            self._trust, self._rests = 0, _REST
        return None

    def _made(self, source: ClassAd, facts: TransformFacts) -> tuple[ClassAd, tuple[str, ...]] | None:
        if source.parent is not None:
            return None
        get = source.codes.get
        job = plain_id(get("clusterid"), get("procid"))
        if job is None or get("jobuniverse") is None or get("transferoutputremaps") is not None:
            return None
        copy = source.copy()
        codes, names = copy.shared_parts()
        run = TransformRun(copy, facts, {}, facts.defaults(iterates=False))
        applied: tuple[str, ...] = ()
        try:
            for stretch in self._stretches:
                if stretch.asked is None or stretch.asked.matches(copy, facts.context):
                    plan = stretch.known.get(id(names)) or stretch.learn(names)
                    plan.run(run, codes)
                    names = plan.after
                    copy.share_names(names)
                    applied = applied + stretch.applied if applied else stretch.applied
        except (Unplanned, MacroError, Stop):
            return None
        owner = codes.get("owner")
        if not (isinstance(owner, str) and _STRING(owner)):
            return None
        codes["routedfromjobid"] = f'"{job}"'
        return copy, applied

    def _convert(self, plan: NamePlan) -> None:
        """Add the default conversion, as in crondor.router.table.route."""
        is_grid = self.route.universe == GRID
        for name in (*DELETED, "CurrentHosts") if is_grid else DELETED:
            plan.delete(name)
        for name, text in RESET:
            plan.put(name, text)
        plan.copy(UNIVERSE, OLD_UNIVERSE)
        plan.put(UNIVERSE, str(self.route.universe))
        if is_grid:
            plan.put("GridResource", print_string(self.route.grid_resource or ""))

    def _end(self, plan: NamePlan) -> None:
        """Add what is set after all transforms; the job's id is set in each copy."""
        plan.delete("RoutedToJobId")
        plan.put("RoutedFromJobId", "undefined")
        plan.put("RoutedBy", print_string(self._settings.name))
        plan.put("RouteName", print_string(self.route.name))


class _Stretch:
    """Consecutive changes for all jobs that meet the requirements of ``asked``, None: all jobs.

    ``known`` are the plans by the identity of their initial names, ``applied`` the names of transforms.
    """

    def __init__(self, asked: Transform | None) -> None:
        self.asked = asked
        self.parts: list[Callable[[NamePlan], None]] = [] if asked is None else [asked.plan]
        self.applied: tuple[str, ...] = () if asked is None else (asked.name,)
        self.known: dict[int, NamePlan] = {}
        self._seen: dict[int, dict[str, str]] = {}

    def learn(self, names: dict[str, str]) -> NamePlan:
        """Return the plan for names, made when they occur for the second time. Raises Unplanned: there is none."""
        if len(names) > _LONGEST:
            raise Unplanned
        if self._seen.pop(id(names), None) is None:
            if len(self._seen) >= _MOST_NAMES:
                self._seen.clear()
            self._seen[id(names)] = names
            raise Unplanned
        plan = NamePlan(names)
        for add in self.parts:
            add(plan)
        if len(self.known) >= _MOST_NAMES:
            self.known.clear()
        self.known[id(names)] = plan.close()
        return plan


@dataclass(frozen=True)
class Rejected:
    """A listed route that is not loaded: its name, the reason, and its text if it has one, with its place."""

    name: str
    diagnostics: tuple[Diagnostic, ...]
    source: Source | None = None
    place: Span | None = None


@dataclass(frozen=True, repr=False)
class RoutingTable:
    """Routes in the order in which they are tried, repeated if listed twice; names ignore case.

    ``before`` and ``after`` are the transforms around each route. ``is_enabled`` false: routing is disabled, by a
    configuration without routes or with a transform that does not load; ``diagnostics`` say why. ``facts`` are the
    knobs, clock and files for the transforms. ``idle`` are the routes of a table that is only disabled by the value of
    a knob: they exist, and no job takes them.
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
        """Return the names of the routes, or that routing is disabled."""
        names = ", ".join(each.name for each in self.routes) or ("none" if self.is_enabled else "switched off")
        return f"<RoutingTable: {names}>"

    def __getstate__(self) -> dict[str, object]:
        """Return its parts; compiled routes are compiled again."""
        return {**self.__dict__, "_courses": {}}

    def route(self, name: str) -> Route | None:
        """Return the route of a name, None if there is none."""
        key = name.lower()
        return next((each for each in self.routes if each.name.lower() == key), None)

    @cached_property
    def circles(self) -> tuple[Diagnostic, ...]:
        """Circles of references after the transforms before routes, a route, and those after it, for any job."""
        ways = [] if any(each.takes_transforms for each in self.routes) else [(*self.before, *self.after)]
        for route in {id(each): each for each in self.routes}.values():
            around = (self.before, self.after) if route.takes_transforms else ((), ())
            ways.append((*around[0], route.transform, *around[1]))
        return tuple(dict.fromkeys(each for way in ways for each in find_circles(way, self.facts)))

    def course(self, route: Route) -> CompiledRoute:
        """Return the compiled route for plain jobs."""
        found = self._courses.get(id(route))
        if found is None or found.route is not route:
            before, after = (self.before, self.after) if route.takes_transforms else ((), ())
            found = CompiledRoute(route, before, after, self.settings)
            if len(self._courses) > len(self.routes):
                self._courses.clear()
            self._courses[id(route)] = found
        return found


def printed_route(route: Route) -> list[str]:
    """Return the lines of a route's commands: NAME, UNIVERSE, REQUIREMENTS, then the others in their order."""
    return _printed(route.name, route.universe, route.transform)


def printed_transform(transform: Transform) -> list[str]:
    """Return the lines of a transform before or after routes."""
    return _printed(transform.name, universe_number(transform.universe or ""), transform)


def _printed(name: str, universe: int, transform: Transform) -> list[str]:
    head = [f"NAME {name}"] if name else []
    if universe:
        head.append(f"UNIVERSE {universe_name(universe)}")
    if transform.requirements is not None:
        head.append(f"REQUIREMENTS {transform.requirements.text}")
    return head + [line.text for line in transform.lines]
