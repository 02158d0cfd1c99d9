"""Every knob of a job router's configuration: its type, its default, what it means; and the settings they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import NamedTuple, TypeVar

from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.expression import Expression
from crondor.config import Configuration, InvalidConfig
from crondor.diagnostics import Diagnostic, Severity, similar
from crondor.knowledge.slips import one_slip
from crondor.router.table.settings import RouterSettings, ScheddContact
from crondor.source import Source, Span

_T = TypeVar("_T")


class KnobKind(Enum):
    """What a knob's value is."""

    STRING = "string"
    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    EXPRESSION = "expression"
    NAMES = "list of names"
    TRANSFORM = "transform"
    CLASSADS = "ClassAds"


class RouterKnob(NamedTuple):
    """A knob: ``<name>`` in its name stands for any. ``default`` is as one would write it, empty: unset.

    ``is_removed``: HTCondor 25 does not look at it any more.
    """

    name: str
    kind: KnobKind
    default: str
    meaning: str
    is_removed: bool = False


_S, _I, _B, _N = KnobKind.STRING, KnobKind.INTEGER, KnobKind.BOOLEAN, KnobKind.NAMES
KNOBS = (
    RouterKnob("JOB_ROUTER_NAME", _S, "jobrouter", "who manages a job; it must not be empty"),
    RouterKnob("JOB_ROUTER_LOCK", _S, "$(LOCK)/$(JOB_ROUTER_NAME)Lock", "file that keeps a second router out"),
    RouterKnob("JOB_ROUTER_POLLING_PERIOD", _I, "10", "seconds between two looks at the queue"),
    RouterKnob("JOB_ROUTER_SOURCE_JOB_CONSTRAINT", KnobKind.EXPRESSION, "", "what any candidate must meet"),
    RouterKnob("JOB_ROUTER_ROUTE_NAMES", _N, "", "the routes in the order in which they are asked"),
    RouterKnob(
        "JOB_ROUTER_ROUTE_<name>", KnobKind.TRANSFORM, "", "one route; its macros are replaced when it is applied"
    ),
    RouterKnob("JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES", _N, "", "transforms before each route"),
    RouterKnob("JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES", _N, "", "transforms behind each route"),
    RouterKnob("JOB_ROUTER_TRANSFORM_<name>", KnobKind.TRANSFORM, "", "one of these transforms"),
    RouterKnob("JOB_ROUTER_MAX_JOBS", _I, "-1", "jobs managed at a time; negative: unlimited"),
    RouterKnob("JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE", _I, "100", "MaxJobs of a route without a valid one"),
    RouterKnob("JOB_ROUTER_DEFAULT_MAX_IDLE_JOBS_PER_ROUTE", _I, "50", "MaxIdleJobs of a route without a valid one"),
    RouterKnob("JOB_ROUTER_ROUND_ROBIN_SELECTION", _B, "false", "take the routes that match in turn, not the first"),
    RouterKnob("JOB_ROUTER_RELEASE_ON_HOLD", _B, "true", "release the source of a copy that went on hold"),
    RouterKnob("MAX_JOB_MIRROR_UPDATE_LAG", _I, "600", "seconds to wait for the queue's log to show what was done"),
    RouterKnob("JOB_ROUTER_ENTRIES_REFRESH", _I, "0", "seconds between two readings of the configuration; 0: never"),
    RouterKnob("JOB_ROUTER_SCHEDD1_NAME", _S, "", "the schedd whose jobs are routed"),
    RouterKnob("JOB_ROUTER_SCHEDD1_POOL", _S, "", "its pool"),
    RouterKnob("JOB_ROUTER_SCHEDD1_JOB_QUEUE_LOG", _S, "$(JOB_QUEUE_LOG)", "its queue's log"),
    RouterKnob("JOB_ROUTER_SCHEDD1_ADDRESS_FILE", _S, "$(SCHEDD_ADDRESS_FILE)", "the file with its address"),
    RouterKnob("JOB_ROUTER_SCHEDD1_SPOOL", _S, "", "old: the folder with both"),
    RouterKnob("JOB_ROUTER_SCHEDD2_NAME", _S, "", "the schedd that gets the copies; none: the same"),
    RouterKnob("JOB_ROUTER_SCHEDD2_POOL", _S, "", "its pool"),
    RouterKnob("JOB_ROUTER_SCHEDD2_JOB_QUEUE_LOG", _S, "", "its queue's log"),
    RouterKnob("JOB_ROUTER_SCHEDD2_ADDRESS_FILE", _S, "", "the file with its address"),
    RouterKnob("JOB_ROUTER_SCHEDD2_SPOOL", _S, "", "old: the folder with both"),
    RouterKnob(
        "PERIODIC_EXPR_INTERVAL", _I, "60", "seconds between two looks at the sources' periodic policy; 0: none"
    ),
    RouterKnob("MAX_PERIODIC_EXPR_INTERVAL", _I, "1200", "the most seconds between them"),
    RouterKnob("PERIODIC_EXPR_TIMESLICE", KnobKind.REAL, "0.01", "share of the time that they may take"),
    RouterKnob("UPDATE_INTERVAL", _I, "300", "seconds between two updates of the collector"),
    RouterKnob("JOB_ROUTER_HOOK_KEYWORD", _S, "", "the hooks of jobs that name none themselves"),
    RouterKnob(
        "<keyword>_ATTRS_TO_COPY", _N, "", "more attributes carried from copy to source, for jobs with these hooks"
    ),
    RouterKnob("CHIRP_DELAYED_UPDATE_PREFIX", _N, "Chirp*", "patterns of attributes carried from copy to source"),
    RouterKnob("JOB_ROUTER_CLASSAD_USER_MAP_NAMES", _N, "", "maps of userMap(), by CLASSAD_USER_MAPFILE_ knobs"),
    RouterKnob("JOB_ROUTER_CREATE_IDTOKEN_NAMES", _N, "", "tokens to make"),
    RouterKnob("JOB_ROUTER_CREATE_IDTOKEN_<name>", _S, "", "what is in one of them"),
    RouterKnob("JOB_ROUTER_IDTOKEN_REFRESH", _I, "0", "seconds between two makings of the tokens; 0: once"),
    RouterKnob("JOB_ROUTER_SEND_ROUTE_IDTOKENS", _S, "", "tokens sent along by routes without SendIDTokens"),
    RouterKnob(
        "JOB_ROUTER_USE_DEPRECATED_ROUTER_ENTRIES", _B, "false", "read the four knobs that follow", is_removed=True
    ),
    RouterKnob("JOB_ROUTER_DEFAULTS", KnobKind.CLASSADS, "", "what each entry begins with", is_removed=True),
    RouterKnob("JOB_ROUTER_ENTRIES", KnobKind.CLASSADS, "", "routes as ClassAds", is_removed=True),
    RouterKnob("JOB_ROUTER_ENTRIES_FILE", _S, "", "a file with such routes", is_removed=True),
    RouterKnob("JOB_ROUTER_ENTRIES_CMD", _S, "", "a command that prints such routes", is_removed=True),
    RouterKnob("MERGE_JOB_ROUTER_DEFAULT_ADS", _B, "false", "JOB_ROUTER_DEFAULTS may be several ads", is_removed=True),
)
REMOVED = tuple(knob.name for knob in KNOBS if knob.is_removed)
"""The knobs of ClassAd routes, which HTCondor 25 took out."""

# What any daemon may have, for which HTCondor puts the daemon's name before or behind; and what HTCondor-CE generates.
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
            message = f"no job router of HTCondor looks at {knob.name}"
            yield _said("route-knob-unknown", message, knob.name_span, f"did you mean {written}?", written)
            continue
        if not name.startswith(("job_router", "jobrouter")) or name in _NAMES or _OF_ANY_DAEMON.fullmatch(name):
            continue
        if any(pattern.fullmatch(name) for pattern in _PATTERNS):
            continue
        prefix, own = knob.name[: -len(name)], knob.name[-len(name) :]
        near = _nearest(own)
        help_text = f"did you mean {near}?" if near else "crondor's docs/route.md lists the knobs of a router"
        fix = prefix + near if near is not None and "<" not in near else None
        yield _said(
            "route-knob-unknown", f"no job router of HTCondor looks at {knob.name}", knob.name_span, help_text, fix
        )


def _mistyped_begin(name: str) -> str | None:
    """Return what stands behind a mistyped ``job_router_`` in a knob's lower-case name, None for any other name."""
    for length in range(len(_BEGIN) - 1, len(_BEGIN) + 2):
        begin, rest = name[:length], name[length:]
        is_knob = rest in {"route_names", "entries"} or rest.startswith(("route_", "transform_", "pre_", "post_"))
        if is_knob and one_slip(begin, _BEGIN):
            return rest
    return None


_BEGIN = "job_router_"


def unread_files(configuration: Configuration) -> Iterator[Diagnostic]:
    """Yield a warning for each knob that names further files of the configuration, if none of them was read.

    HTCondor reads them after the files that name them; here they are the caller's to read.
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
                    f"HTCondor reads {path[:60]} too, as {name} says, and crondor does not: what it sets is not known"
                )
                yield _said("config-hidden", message, knob.span, help_text)


_CONSTRAINT = "JOB_ROUTER_SOURCE_JOB_CONSTRAINT"
_FURTHER = {
    "LOCAL_CONFIG_FILE": "name it as well, behind this file",
    "LOCAL_CONFIG_DIR": "name its files as well, behind this one and in the order of their names",
}


def removed_knobs(configuration: Configuration) -> Iterator[Diagnostic]:
    """Yield a warning for each knob that HTCondor 25 took out and that is set here."""
    for name in REMOVED:
        knob = configuration.find(name)
        if knob is None or knob.is_default or not knob.text:
            continue
        message = (
            f"{name} is no longer supported: the configuration syntax for the job router is JOB_ROUTER_ROUTE_NAMES"
            " and JOB_ROUTER_ROUTE_<name>"
        )
        yield _said("route-knob-removed", message, knob.name_span or knob.span, "crondor route convert writes it new")


def _nearest(name: str) -> str | None:
    """Return the knob that is probably meant, with the words of this one where any may stand."""
    found = similar(name[:80].lower(), _NAMES, 0.8)
    if not found:
        return None
    near = _NAMES[found[0]].name
    begin = near.removesuffix("<name>")
    own = "_".join(name.split("_")[begin.count("_") :])
    return near if begin == near or not own else begin + own


def _said(code: str, message: str, span: Span | None, help: str, fix: str | None = None) -> Diagnostic:  # noqa: A002 - Diagnostic's word
    return Diagnostic(code, message, Severity.WARNING, span, help, fix)


class SettingsReader:
    """The settings of a configuration; ``faults`` are the values over which HTCondor gives up."""

    def __init__(self, configuration: Configuration) -> None:
        """Begin."""
        self._from = configuration
        self.faults: list[Diagnostic] = []

    def tried(self, read: Callable[[], _T], default: _T) -> _T:
        """Return what a reading gives, the default where the value is wrong, which is noted."""
        try:
            return read()
        except InvalidConfig as error:
            self.faults += error.diagnostics
            return default

    def integer(self, name: str, default: int, least: int = -(1 << 31)) -> int:
        """Return an integer."""
        return self.tried(lambda: self._from.integer(name, default, least), default)

    def boolean(self, name: str, *, default: bool) -> bool:
        """Return a truth value."""
        return self.tried(lambda: self._from.boolean(name, default=default), default)

    def string(self, name: str, default: str = "") -> str:
        """Return a text."""
        return self.tried(lambda: self._from.string(name) or default, default)

    def names(self, name: str) -> tuple[str, ...]:
        """Return a list of names."""
        return self.tried(lambda: self._from.names(name), ())

    def settings(self) -> RouterSettings:
        """Read all that concerns the router itself."""
        took, name = self._from, self.string("JOB_ROUTER_NAME")
        if not name:
            knob = took.find("JOB_ROUTER_NAME")
            span = None if knob is None else knob.span
            message = "JOB_ROUTER_NAME must not be empty"
            help_text = "the router knows its own jobs by this name; leave the line out for jobrouter"
            self.faults.append(Diagnostic("route-router-name", message, span=span, help=help_text))
        constraint = self.tried(self._constraint, None)
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
            periodic_timeslice=self.tried(lambda: took.real("PERIODIC_EXPR_TIMESLICE", 0.01, 0, 1), 0.01),
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
            message = "a comment hides what HTCondor puts behind the constraint: its router ends at the first poll"
            help_text = "take the comment out; a line that begins with # may have it"
            span = None if knob is None else knob.span
            raise InvalidConfig(Diagnostic("knob-value", message, span=span, help=help_text)) from None
        return found

    def has_constraint(self) -> bool:
        """Say whether there is a source constraint, be it one that can be read or not.

        The routes need no REQUIREMENTS then: HTCondor 25.14 (JobRouter::config) reads the constraint at its first
        poll, and ends there if it cannot.
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
        others = (self.string(log) if log else "", self.string(address) if address else "")
        return ScheddContact(
            self.string(f"{prefix}_NAME"),
            self.string(f"{prefix}_POOL"),
            self.string(f"{prefix}_JOB_QUEUE_LOG") or of_spool[0] or others[0],
            self.string(f"{prefix}_ADDRESS_FILE") or of_spool[1] or others[1],
        )

    def _id_tokens(self) -> Iterator[tuple[str, str]]:
        for name in dict.fromkeys(self.names("JOB_ROUTER_CREATE_IDTOKEN_NAMES")):
            text = self.string(f"JOB_ROUTER_CREATE_IDTOKEN_{name}")
            if text and name.upper() != "NAMES":
                yield name, text
