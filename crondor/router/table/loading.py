"""A routing table from a configuration, its knobs and values, as a job router of HTCondor 25.14 makes it.

HTCondor: JobRouter::config, JobRouter::SetRoutingTable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, ParamSpec, TypeVar

from crondor._types import expect
from crondor.classad.ad import ClassAd
from crondor.classad.expression import Expression
from crondor.classad.scope import Context
from crondor.classad.tree import ClassAdSyntaxError
from crondor.config import Configuration, InvalidConfig, Knob
from crondor.diagnostics import Diagnostic, Severity, Source, Span, similar
from crondor.knowledge.words import JOB_ROUTER, config_knobs, one_slip
from crondor.macro import LogicalLine, MacroError
from crondor.macro.evaluated import as_integer, as_real
from crondor.macro.reader import is_name, split
from crondor.router.table.route import (
    DEFAULT_FAILURE_RATE,
    DEFAULT_MAX_IDLE_JOBS,
    DEFAULT_MAX_JOBS,
    GRID,
    Rejected,
    Route,
    RouterSettings,
    RoutingTable,
    ScheddContact,
)
from crondor.transform import InvalidTransform, RuleSource, Transform, TransformFacts
from crondor.transform.apply import TransformRun
from crondor.transform.expressions import universe_number

_T = TypeVar("_T")
_P = ParamSpec("_P")

KNOBS: Final = tuple(knob for knob in config_knobs() if knob.whose == JOB_ROUTER)
"""All knobs that a job router reads, from crondor.knowledge."""

REMOVED = tuple(knob.name for knob in KNOBS if knob.is_removed)
"""The knobs of ClassAd routes, which HTCondor 25 removed."""

# Knobs of any daemon, with the daemon's name before or after; and those that HTCondor-CE generates.
_OF_ANY_DAEMON = re.compile(
    r"job_router(?:_log|_debug|_args|_environment|_host|_address_file|_daemon_ad_file|_not_responding_timeout"
    r"|_defaults_generated|_timeout_multiplier|_userid|_attrs|_exprs|_super_address_file|_log_keep_open|_.*_log)?"
)
_PATTERNS = tuple(
    re.compile(re.escape(knob.name.lower()).replace("<name>", ".+")) for knob in KNOBS if "<name>" in knob.name
)
_NAMES = {knob.name.lower(): knob for knob in KNOBS}


def unknown_knobs(configuration: Configuration) -> Iterator[Diagnostic]:
    """Yield a warning for each JOB_ROUTER_ knob that a router does not know."""
    for key, knob in configuration.knobs.items():
        name = key.removeprefix(f"{configuration.subsystem.lower()}.")
        meant = _mistyped_begin(name)
        if meant is not None:
            written = f"{_BEGIN.upper()}{meant.upper() if _BEGIN + meant in _NAMES else knob.name[-len(meant) :]}"
            message = f"HTCondor has no knob {knob.name}"
            yield _warning("route-knob-unknown", message, knob.name_span, f"did you mean {written}?", written)
            continue
        if not name.startswith(("job_router", "jobrouter")) or name in _NAMES or _OF_ANY_DAEMON.fullmatch(name):
            continue
        if any(pattern.fullmatch(name) for pattern in _PATTERNS):
            continue
        prefix, own = knob.name[: -len(name)], knob.name[-len(name) :]
        near = _nearest(own)
        help_text = f"did you mean {near}?" if near else "docs/router-files.md has a link to all knobs of a router"
        fix = prefix + near if near is not None and "<" not in near else None
        message = f"HTCondor has no knob {knob.name}"
        yield _warning("route-knob-unknown", message, knob.name_span, help_text, fix)


def _mistyped_begin(name: str) -> str | None:
    """Return the text after a mistyped ``job_router_`` in a knob's lower-case name, None for any other name."""
    for length in range(len(_BEGIN) - 1, len(_BEGIN) + 2):
        begin, rest = name[:length], name[length:]
        is_knob = rest in {"route_names", "entries"} or rest.startswith(("route_", "transform_", "pre_", "post_"))
        if is_knob and one_slip(begin, _BEGIN):
            return rest
    return None


_BEGIN = "job_router_"


def unread_files(configuration: Configuration) -> Iterator[Diagnostic]:
    """Yield a warning for each knob that names further files of the configuration, if none of them was read.

    HTCondor reads them after the files that name them; here the caller has to.
    """
    if configuration.is_followed:
        return
    read = {source.name for source in configuration.sources}
    for name, help_text in _FURTHER.items():
        knob = configuration.find(name)
        if knob is None or knob.is_default or not knob.text:
            continue
        try:
            is_command = knob.text.rstrip().endswith("|")
            paths = (knob.text,) if is_command else configuration.names(name)
        except InvalidConfig:
            continue
        for path in paths:
            begin = path.rstrip("/") + "/" if name == "LOCAL_CONFIG_DIR" else path
            if path not in read and not any(each.startswith(begin) for each in read):
                message = (
                    f"HTCondor reads {path[:60]} too, because of {name}, and crondor does not: its settings are unknown"
                )
                yield _warning("config-hidden", message, knob.span, help_text)


_CONSTRAINT = "JOB_ROUTER_SOURCE_JOB_CONSTRAINT"
_FURTHER = {
    "LOCAL_CONFIG_FILE": "name it as well, after this file",
    "LOCAL_CONFIG_DIR": "name its files as well, after this one and in the order of their names",
}


def removed_knobs(configuration: Configuration) -> Iterator[Diagnostic]:
    """Yield a warning for each knob that HTCondor 25 removed and that is set here."""
    for name in REMOVED:
        knob = configuration.find(name)
        if knob is None or knob.is_default or not knob.text:
            continue
        message = (
            f"{name} is no longer supported: the configuration syntax for the job router is JOB_ROUTER_ROUTE_NAMES"
            " and JOB_ROUTER_ROUTE_<name>"
        )
        yield _warning("route-knob-removed", message, knob.name_span or knob.span, "crondor route convert converts it")


def _nearest(name: str) -> str | None:
    """Return the knob that is probably meant, with this one's words for its variable parts."""
    found = similar(name[:80].lower(), _NAMES, 0.8)
    if not found:
        return None
    near = _NAMES[found[0]].name
    begin = near.removesuffix("<name>")
    own = "_".join(name.split("_")[begin.count("_") :])
    return near if begin == near or not own else begin + own


def _warning(
    code: str, message: str, span: Span | None, advice: str | None = None, fix: str | None = None
) -> Diagnostic:
    return Diagnostic(code, message, Severity.WARNING, span, advice, fix)


class SettingsReader:
    """The settings of a configuration; ``faults`` are the values at which HTCondor fails."""

    def __init__(self, configuration: Configuration) -> None:
        self._from = configuration
        self.faults: list[Diagnostic] = []

    def tried(self, instead: _T, read: Callable[_P, _T], *args: _P.args, **options: _P.kwargs) -> _T:
        """Return the result of a reading; for a bad value, add the fault and return ``instead``."""
        try:
            return read(*args, **options)
        except InvalidConfig as error:
            self.faults += error.diagnostics
            return instead

    def integer(self, name: str, default: int, least: int = -(1 << 31)) -> int:
        """Return an integer."""
        return self.tried(default, self._from.integer, name, default, least)

    def boolean(self, name: str, *, default: bool) -> bool:
        """Return a truth value."""
        return self.tried(default, self._from.boolean, name, default=default)

    def string(self, name: str, default: str = "") -> str:
        """Return a text."""
        return self.tried(default, self._from.string, name) or default

    def names(self, name: str) -> tuple[str, ...]:
        """Return a list of names."""
        return self.tried((), self._from.names, name)

    def settings(self) -> RouterSettings:
        """Read all settings of the router itself."""
        took, name = self._from, self.string("JOB_ROUTER_NAME")
        if not name:
            knob = took.find("JOB_ROUTER_NAME")
            span = None if knob is None else knob.span
            message = "JOB_ROUTER_NAME must not be empty"
            help_text = "the router marks its own jobs with this name; remove the line for jobrouter"
            self.faults.append(Diagnostic("route-router-name", message, span=span, help=help_text))
        constraint = self.tried(None, self._constraint)
        chirp = "CHIRP_DELAYED_UPDATE_PREFIX"
        prefixes = ("Chirp*",) if took.find(chirp) is None else self.names(chirp)
        return RouterSettings(
            name=name,
            polling_period=self.integer("JOB_ROUTER_POLLING_PERIOD", 10),
            source_constraint=constraint,
            source_constraint_text=self.string(_CONSTRAINT) if constraint is not None else "",
            max_jobs=self.integer("JOB_ROUTER_MAX_JOBS", -1),
            round_robin=self.boolean("JOB_ROUTER_ROUND_ROBIN_SELECTION", default=False),
            release_on_hold=self.boolean("JOB_ROUTER_RELEASE_ON_HOLD", default=True),
            update_lag=self.integer("MAX_JOB_MIRROR_UPDATE_LAG", 600),
            entries_refresh=self.integer("JOB_ROUTER_ENTRIES_REFRESH", 0),
            periodic_interval=self.integer("PERIODIC_EXPR_INTERVAL", 60),
            update_interval=self.integer("UPDATE_INTERVAL", 300),
            hook_keyword=self.string("JOB_ROUTER_HOOK_KEYWORD"),
            attributes_to_copy=tuple(self._attributes_to_copy()),
            delayed_update_prefix=prefixes,
            route_id_tokens=self.string("JOB_ROUTER_SEND_ROUTE_IDTOKENS"),
            id_token_refresh=self.integer("JOB_ROUTER_IDTOKEN_REFRESH", 0),
            max_periodic_interval=self.integer("MAX_PERIODIC_EXPR_INTERVAL", 1200),
            periodic_timeslice=self.tried(0.01, took.real, "PERIODIC_EXPR_TIMESLICE", 0.01, 0, 1),
            lock=self.string("JOB_ROUTER_LOCK"),
            source_schedd=self._schedd("JOB_ROUTER_SCHEDD1", "JOB_QUEUE_LOG", "SCHEDD_ADDRESS_FILE"),
            destination_schedd=self._schedd("JOB_ROUTER_SCHEDD2"),
            id_tokens=tuple(self._id_tokens()),
        )

    def _constraint(self) -> Expression | None:
        """Return the source constraint; the umbrella constraint is read in new syntax, where a backslash escapes."""
        text = self._from.string(_CONSTRAINT)
        if text is None:
            return None
        try:
            found = Expression.parse(Source(text, _CONSTRAINT))
        except ClassAdSyntaxError:
            return self._from.expression(_CONSTRAINT)
        try:
            Expression.parse(Source(f"({text}) && true"))
        except ClassAdSyntaxError:
            knob = self._from.find(_CONSTRAINT)
            message = "a comment hides what HTCondor adds after the constraint: its router ends at the first poll"
            help_text = "remove the comment; a line that begins with # may have it"
            span = None if knob is None else knob.span
            raise InvalidConfig(Diagnostic("knob-value", message, span=span, help=help_text)) from None
        return found

    def has_constraint(self) -> bool:
        """Return whether there is a source constraint, valid or not.

        The routes then need no REQUIREMENTS: HTCondor 25.14 (JobRouter::config) reads the constraint at its first poll,
        and ends there if it cannot.
        """
        try:
            return bool(self._from.string(_CONSTRAINT))
        except InvalidConfig:
            return True

    def _attributes_to_copy(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        suffix = "_attrs_to_copy"
        for key, knob in self._from.knobs.items():
            if key.endswith(suffix) and len(key) > len(suffix):
                yield knob.name[: -len(suffix)], self.names(knob.name)

    def _schedd(self, prefix: str, log: str = "", address: str = "") -> ScheddContact:
        spool = self.string(f"{prefix}_SPOOL")
        of_spool = (f"{spool}/job_queue.log", f"{spool}/.schedd_address") if spool else ("", "")
        name, pool = self.string(f"{prefix}_NAME"), self.string(f"{prefix}_POOL")
        is_local = not (name or pool)  # unlike HTCondor, whose router follows the local log for a schedd elsewhere too
        others = (self.string(log) if is_local and log else "", self.string(address) if is_local and address else "")
        return ScheddContact(
            name,
            pool,
            self.string(f"{prefix}_JOB_QUEUE_LOG") or of_spool[0] or others[0],
            self.string(f"{prefix}_ADDRESS_FILE") or of_spool[1] or others[1],
        )

    def _id_tokens(self) -> Iterator[tuple[str, str]]:
        for name in dict.fromkeys(self.names("JOB_ROUTER_CREATE_IDTOKEN_NAMES")):
            text = self.string(f"JOB_ROUTER_CREATE_IDTOKEN_{name}")
            if text and name.upper() != "NAMES":
                yield name, text


Warn = Callable[[str, str, "Span | None", "str | None"], None]
"""Takes a warning: its code, its message, its place, and what to write instead."""


class _Asked(TransformRun):
    """Expands the macros of a route; ``failed`` are the functions for which HTCondor prints an error."""

    def __init__(
        self, ad: ClassAd | None, facts: TransformFacts, macros: dict[str, str], defaults: Mapping[str, str]
    ) -> None:
        super().__init__(ad, facts, macros, defaults)
        self.failed: list[tuple[str, str | None]] = []

    def warn(self, code: str, message: str, help: str | None) -> None:  # noqa: ARG002 - as Run's
        """Record a failure outside the lines of the rules."""
        self.failed.append((message, help))


class RouteValues:
    """The settings of a route in its macros, read once it is loaded, without any job."""

    def __init__(self, name: str, knob: Knob, transform: Transform, facts: TransformFacts, warn: Warn) -> None:
        """Take the macros of a route; ``warn`` takes the findings."""
        self._name = name
        self._knob = knob
        self._context = facts.context
        self._say = warn
        self._run = _Asked(None, facts, transform.definitions(facts), facts.defaults(iterates=False))

    def place(self, name: str) -> Span:
        """Return the last line that assigns a macro, or has a keyword; the whole value if none does."""
        found = [line for line in self._knob.lines() if split(line.text).name.lower() == name.lower()]
        return found[-1].span() if found else self._knob.place()

    def text(self, name: str) -> str | None:
        """Return a macro's text, its own macros replaced; None if it is not defined."""
        raw = self._run.lookup(name.lower())
        if raw is None:
            return None
        self._run.failed.clear()
        text = None
        try:
            text = self._run.expand(raw)
        except MacroError as error:
            for fault in error.diagnostics:
                self._warn("route-macro", f"{name}: {fault.message}", name, fault.help)
        for message, help_text in self._run.failed:
            self._warn("route-macro", f"{name}: {message}", name, help_text)
        return text

    def integer(self, name: str, default: Callable[[], int]) -> int:
        """Return an integer; an invalid one silently gives the default, as in HTCondor."""
        text = self.text(name)
        if text is None:
            return default()
        value = as_integer(text, self._context)
        if value is None:
            instead = default()
            message = f"{name} = {text[:40]} is not an integer: it becomes {instead}"
            advice = "write a number; macros of the job are unknown when a route loads"
            self._warn("route-limit", message, name, advice)
            return instead
        return max(-(1 << 31), min(value, (1 << 31) - 1))

    def real(self, name: str, default: float) -> float:
        """Return a number; an invalid one gives the default."""
        text = self.text(name)
        value = None if text is None else as_real(text, self._context)
        if text is not None and value is None:
            message = f"{name} = {text[:40]} is not a number: it becomes {default:g}"
            self._warn("route-limit", message, name, "write a number")
        return default if value is None else value

    def unquoted(self, name: str) -> str | None:
        """Return a text without the quotes around it."""
        text = self.text(name)
        if text is None:
            return None
        text = text.strip()
        return text[1:-1] if text and text[0] == text[-1] == '"' else text

    def expression(self, name: str, *, empty: str = "") -> Expression | None:
        """Return an expression; an invalid one counts as missing. ``empty`` is used for an empty text."""
        text = self.text(name)
        text = None if text is None else text.strip() or empty
        try:
            return Expression.parse(Source(text, name), old=True, open_choice=True) if text else None
        except ClassAdSyntaxError as error:
            why = error.diagnostics[0]
            self._warn(
                "route-expression", f"{name} is not an expression, and never holds: {why.message}", name, why.help
            )
            return None

    def _warn(self, code: str, message: str, name: str, advice: str | None) -> None:
        self._say(code, f"{self._name}: {message}", self.place(name), advice)


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

    ``context`` has the clock and the seed of the transforms' expressions, None: those of the configuration. A faulty
    route is rejected alone; an unreadable configuration, a transform before or after routes that does not load, a knob
    with an invalid value, and a missing JOB_ROUTER_ROUTE_NAMES disable routing: the table then has no routes, and its
    ``diagnostics`` say why. ``keep_routes`` keeps them anyway, for tools that route nothing. Never fails.
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
        self._has_old_routes = any(map(configuration.is_set, _OLD_ROUTES))

    def load(self, *, keep_routes: bool) -> RoutingTable:
        """Make the table; the findings are in HTCondor's order."""
        settings = self.reader.settings()
        self.found += unread_files(self.took)
        self.found += removed_knobs(self.took)
        self.found += unknown_knobs(self.took)
        listed = self._listed()
        before, after = tuple(self._transforms(BEFORE)), tuple(self._transforms(AFTER))
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
            self._fault("route-many", f"crondor reads no more than {MOST_ROUTES} routes", self._place(NAMES))
            return names[:MOST_ROUTES]
        return names

    def _to_list(self) -> str:
        """Return what to write if there is no list of routes."""
        if self._has_old_routes:
            return (
                "the routes here are ClassAds: --legacy routes by them like HTCondor up to 24, crondor route convert "
                "converts them"
            )
        named = (knob.name for key, knob in self.took.knobs.items() if key.startswith(ROUTE.lower()))
        defined = [name[len(ROUTE) :] for name in named if not is_misspelt_list(name)]
        shown = ", ".join(defined[:_MOST_SHOWN]) + (", ..." if len(defined) > _MOST_SHOWN else "")
        return f"list the routes: {NAMES} = {shown or 'A, B'}"

    def _transforms(self, list_knob: str) -> Iterator[Transform]:
        """Load the transforms of a list; any that fails disables routing."""
        by_key: dict[str, str] = {}
        for name in self.reader.names(list_knob):
            by_key.setdefault(name.lower(), name)
        for name in by_key.values():
            knob = self._knob(TRANSFORM + name)
            if knob is None or not knob.text:
                message = f"{TRANSFORM}{name} not found"
                help_text = f"define it, or remove {name} from {list_knob}; otherwise nothing is routed"
                self._fault("route-transform", message, self._place(list_knob, name), help_text)
                continue
            try:
                yield Transform.parse(
                    knob.source, name=name, form=RuleSource.KNOB, facts=self.facts, strict=False, lines=lines_of(knob)
                )
            except InvalidTransform as error:
                for fault in error.diagnostics:
                    message = f"{TRANSFORM}{name} load error: {fault.message}"
                    self._fault("route-transform", message, fault.span, fault.help)

    def _routes(self, listed: Sequence[str], *, needs_requirements: bool) -> tuple[Route, ...]:
        """Load the routes of a list; a later entry of the same name replaces an earlier one."""
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
                self._warn("route-twice", message, self._place(NAMES, name), f"{NAMES} lists it twice: remove one")
            loaded[name.lower()] = route
        return tuple(loaded[name.lower()] for name in listed if name.lower() in loaded)

    def _route(self, name: str, *, needs_requirements: bool) -> Route | None:
        knob = self._knob(ROUTE + name)
        if name.upper() == "NAMES":
            self._reject(name, None, _error("route-name", "NAMES cannot be the name of a route: HTCondor skips it"))
        elif knob is None:
            message = f"route '{name}' from {NAMES} not found in the routing table"
            help_text = self._near(name) or f"{ROUTE}{name} is not defined; set it, or remove {name} from the list"
            if self._has_old_routes:
                help_text = "if it is a ClassAd of JOB_ROUTER_ENTRIES: crondor route convert converts it"
            if not is_name(name):
                help_text = "a name has letters, digits, _ . and /; names are separated by commas or blanks"
                if name.startswith("#"):
                    help_text = "a comment needs a line of its own: this is part of the list"
            self._reject(name, None, _error("route-missing", message, self._place(NAMES, name), help_text))
        elif not knob.text.strip():
            message = f"{ROUTE}{name} definition is empty, ignoring"
            self._reject(name, knob, _error("route-empty", message, knob.name_span, "write its commands, or remove it"))
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
            help_text = "HTCondor 25 takes no ClassAd routes any more; crondor route convert converts it"
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
            message = f"UNIVERSE {transform.universe[:40]} is not a universe: it counts as not given"
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
        """Return the default limit of routes, which is only read if a route has none of its own."""
        if name not in self._limits:
            self._limits[name] = self.reader.integer(name, default)
        return self._limits[name]

    def _near(self, name: str) -> str | None:
        """Guess what is meant by a name without a knob; used for a few names only."""
        if len(self.rejected) >= _MOST_GUESSES:
            return None
        defined = {key[len(ROUTE) :]: knob for key, knob in self.took.knobs.items() if key.startswith(ROUTE.lower())}
        found = similar(name[:40].lower(), list(defined)[:_MOST_GUESSES], 0.7)
        return f"did you mean {defined[found[0]].name[len(ROUTE) :]}, which is defined?" if found else None

    def _knob(self, name: str) -> Knob | None:
        """Return a knob that has a text."""
        knob = self.took.find(name)
        return knob if knob is not None and not knob.is_default else None

    def _place(self, name: str, word: str = "") -> Span | None:
        """Return the place of a knob's value, or of the last occurrence of a word in it."""
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

    def _warn(self, code: str, message: str, span: Span | None, advice: str | None = None) -> None:
        self.found.append(_warning(code, message, span, advice))

    def _fault(self, code: str, message: str, span: Span | None, advice: str | None = None) -> None:
        self.found.append(_error(code, message, span, advice))
        self.is_enabled = False


class TableDifference(NamedTuple):
    """The changes of another configuration, by route; the throttle of a route is kept by its name."""

    added: tuple[Route, ...]
    dropped: tuple[Route, ...]
    changed: tuple[tuple[Route, Route], ...]
    unchanged: tuple[Route, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no route differs."""
        return not (self.added or self.dropped or self.changed)


def difference(old: RoutingTable, new: RoutingTable) -> TableDifference:
    """Compare two tables, route by route, by names ignoring case.

    ``changed`` has the old route and the new one if anything that affects routing differs, except the order of the
    routes. A disabled table has no routes; HTCondor then continues with the old one.
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
    """Return whether the name of a route's or a transform's knob is almost that of their list."""
    last = name.rpartition("_")[2].lower()
    return last != "names" and bool(similar(last[:20], ("names",), 0.8))


def lines_of(knob: Knob) -> tuple[LogicalLine, ...]:
    """Return the lines of a transform's knob in its file, none if they are not there literally."""
    lines = knob.lines()
    return () if any("\r" in line.text for line in lines) else lines


def sets(transform: Transform, name: str) -> bool:
    """Return whether a transform has a command that sets an attribute of a lower-case name."""
    pattern = re.compile(rf"(?im)^[ \t]*(?:SET|EVALSET|DEFAULT|COPY[ \t]+[^ \t]+|RENAME[ \t]+[^ \t]+)[ \t]+{name}\b")
    return pattern.search(transform.source.text) is not None


def _error(code: str, message: str, span: Span | None = None, advice: str | None = None) -> Diagnostic:
    return Diagnostic(code, message, span=span, help=advice)


_OLD_ROUTES = ("JOB_ROUTER_ENTRIES", "JOB_ROUTER_ENTRIES_FILE", "JOB_ROUTER_ENTRIES_CMD")
_NOWHERE = Source("", "")
_NOTHING = Transform.parse(_NOWHERE)
