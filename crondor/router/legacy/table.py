"""JOB_ROUTER_DEFAULTS, JOB_ROUTER_ENTRIES and their kin as a table of routes, by the rules of HTCondor 23.10.

HTCondor: LoadJobRouterDefaultsAd.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from crondor.classad import lower
from crondor.classad.operators import truth
from crondor.classad.tree import UNDEFINED
from crondor.config import Configuration, InvalidConfig, Knob, read_config
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span
from crondor.macro.evaluated import as_boolean
from crondor.macro.expand import expand
from crondor.macro.files import Files
from crondor.macro.lines import BLANKS, Budget, LineReader, LogicalLine, MacroError
from crondor.transform.classad_form import (
    Ad,
    EntryAttributes,
    LegacyEntry,
    Macros,
    MalformedAd,
    Placed,
    Segment,
    read_ads,
)

Texts = Configuration | Source | str | Mapping[str, str]
"""A configuration, read or not, or knobs by name."""


@dataclass
class RouterKnobs:
    """The knobs of a configuration; ``diagnostics`` collects the faults of those that are used."""

    configuration: Configuration
    diagnostics: list[Diagnostic] = field(default_factory=list)
    budget: Budget = field(default_factory=Budget)

    def get(self, name: str) -> Placed | None:
        """Return the text of a knob as written, None if it is not set."""
        knob = self.configuration.find(name)
        return _placed(knob) if knob is not None and not knob.is_default and knob.text.strip() else None

    def text(self, name: str) -> str:
        """Return the text of a knob with its macros replaced, empty if it is not set."""
        try:
            return self.configuration.string(name) or ""
        except InvalidConfig as error:
            self.diagnostics += error.diagnostics
            return ""

    def holds(self, name: str) -> bool:
        """Return whether a knob is true."""
        return as_boolean(self.text(name), self.configuration.context) is True

    def expanded(self, name: str, macros: Macros) -> Placed | None:
        """Return the text of a knob with its macros replaced, None if it is not set or they cannot be replaced."""
        placed = self.get(name)
        if placed is None:
            return None
        try:
            return placed.expanded(self.fill, macros)
        except MacroError as error:
            for each in error.diagnostics:
                self.diagnostics.append(
                    Diagnostic(each.kind, f"{name}: {each.message}", span=placed.span(), help=each.help)
                )
            return None

    def fill(self, text: str) -> str:
        """Return a text with the knobs in it. Raises MacroError."""
        return expand(text, self.configuration.lookup, self.budget, self.configuration.around())

    def routes(self) -> list[Knob]:
        """Return the knobs JOB_ROUTER_ROUTE_<name> that are set, in order."""
        begin = "job_router_route_"
        found = self.configuration.knobs
        return [
            knob
            for key, knob in found.items()
            if key.startswith(begin) and key not in {begin, f"{begin}names"} and knob.text.strip()
        ]


def knobs_of(*texts: Texts) -> RouterKnobs:
    """Read configurations, the later ones override the earlier."""
    made: Configuration | None = None
    for text in texts:
        if not isinstance(text, Configuration):
            made = read_config(text, base=made)
        elif made is None:
            made = text
        else:
            merged = {**made.knobs, **text.knobs}
            made = Configuration(merged, text.defaults, (*made.diagnostics, *text.diagnostics), environ=text.environ)
    return RouterKnobs(Configuration() if made is None else made)


def placed_knob(knob: Knob) -> Placed:
    """Return the text of a knob with the places of its lines."""
    return _placed(knob)


def _placed(knob: Knob) -> Placed:
    lines = knob.lines()
    if lines:
        return _joined(lines)
    return Placed.of(knob.source) if knob.span is None else _added(knob, knob.span)


def _joined(lines: Iterable[LogicalLine]) -> Placed:
    """Return lines with line ends between them."""
    segments: list[Segment] = []
    for line in lines:
        if segments:
            end = len(segments[-1].text)
            segments.append(Segment("\n", span=segments[-1].place(end, end)))
        segments.append(Segment(line.text, line))
    return Placed(segments)


def _added(knob: Knob, span: Span) -> Placed:
    """Return a text that was appended to the knob's earlier one, which replaces the knob's own name."""
    reader = LineReader(span.source, span.start)
    lines: list[LogicalLine] = []
    while reader.at < span.end and (line := reader.statement()) is not None:
        lines.append(line)
    own = _joined(lines)
    found = re.search(rf"(?i)\$\({re.escape(knob.name)}\)", own.text)
    before, after = (own.text[: found.start()], own.text[found.end() :]) if found else ("", own.text)
    size = len(knob.text) - len(after)
    if not (knob.text.startswith(before) and knob.text.endswith(after) and len(before) <= size):
        return Placed([Segment(knob.text, span=span)])
    middle = Segment(knob.text[len(before) : size], span=own.span(*found.span()) if found else span)
    behind = len(own.text) - len(after)
    return Placed([*own.segments(0, len(before)), middle, *own.segments(behind, len(own.text))])


DEFAULTS = "JOB_ROUTER_DEFAULTS"
ENTRIES = "JOB_ROUTER_ENTRIES"
ENTRIES_FILE = "JOB_ROUTER_ENTRIES_FILE"
ENTRIES_CMD = "JOB_ROUTER_ENTRIES_CMD"
REFRESH = "JOB_ROUTER_ENTRIES_REFRESH"
MERGE = "MERGE_JOB_ROUTER_DEFAULT_ADS"
GENERATED = "JOB_ROUTER_DEFAULTS_GENERATED"
_KEPT = frozenset(("maxjobs", "maxidlejobs", "requirements"))
NAMES = "JOB_ROUTER_ROUTE_NAMES"
ROUTE = "JOB_ROUTER_ROUTE_"
_SOURCES = {ENTRIES: "entries", ENTRIES_FILE: "file", ENTRIES_CMD: "cmd"}
MOST = 1000  # findings kept

Runner = Callable[[str], str]
"""Runs a command line and returns its output."""


@dataclass(frozen=True)
class LegacyTable:
    """The routes of an old configuration, in the order in which they are tried.

    ``refresh`` is JOB_ROUTER_ENTRIES_REFRESH in seconds, 0: the table is read once. ``modern`` are the names of the
    routes that are written as transforms already; ``order`` has the names of all, in order. ``is_enabled`` false: the
    defaults are invalid, and HTCondor routes nothing. ``configuration`` is what was read, ``malformed`` are the invalid
    routes.
    """

    entries: tuple[LegacyEntry, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    refresh: int = 0
    modern: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    is_enabled: bool = True
    configuration: Configuration = field(default_factory=Configuration, compare=False, repr=False)
    malformed: tuple[MalformedAd, ...] = ()

    def entry(self, name: str) -> LegacyEntry | None:
        """Return the route of a name, ignoring case."""
        return next((each for each in self.entries if lower(each.name) == lower(name)), None)


def read_legacy(
    *texts: Texts,
    files: Files | None = None,
    run: Runner | None = None,
    macros: Macros = Macros.EXPANDED,
    without_generated: bool = False,
) -> LegacyTable:
    """Read the routes that configurations (texts, sources, or knobs by name) have in the deprecated syntax.

    ``files`` opens JOB_ROUTER_ENTRIES_FILE; ``run`` runs only JOB_ROUTER_ENTRIES_CMD, and may raise OSError or
    CrondorError. ``macros`` is the treatment of macros in the ads. ``without_generated`` drops from the defaults what
    HTCondor-CE had generated, which its transforms do since version 6. Never raises: faults are in ``diagnostics``.
    """
    reader = _Reader(knobs_of(*texts), files, run, macros)
    reader.without_generated = without_generated
    return reader.read()


def live_name(entry: LegacyEntry) -> str:
    """Return HTCondor 23's name of a route: without Name its number in the source, from 0."""
    name = entry.value("Name")
    if entry.is_knob or (isinstance(name, str) and name):
        return entry.name
    return f"{_SOURCES.get(entry.knob, 'entries')}:{entry.number - 1}"


class _Reader:
    """One reading."""

    def __init__(self, knobs: RouterKnobs, files: Files | None, run: Runner | None, macros: Macros) -> None:
        self._knobs = knobs
        self._files = files
        self._run = run
        self._macros = macros
        self._found: list[Diagnostic] = []
        self._rows: dict[str, LegacyEntry | str] = {}
        self._defaults = EntryAttributes(None, Placed(()))
        self._unnamed = 0
        self._malformed: list[MalformedAd] = []
        self.without_generated = False

    def read(self) -> LegacyTable:
        is_enabled = self._read_defaults()
        for knob, placed in self._texts():
            self._add_all(knob, placed)
        self._add_knobs()
        self._choose()
        rows = [*self._rows.values()]
        refresh = self._refresh()
        return LegacyTable(
            tuple(each for each in rows if isinstance(each, LegacyEntry)),
            tuple(dict.fromkeys([*self._knobs.configuration.diagnostics, *self._knobs.diagnostics, *self._found])),
            refresh,
            tuple(each for each in rows if isinstance(each, str)),
            tuple(each if isinstance(each, str) else each.name for each in rows),
            is_enabled,
            self._knobs.configuration,
            tuple(self._malformed),
        )

    def _say(self, code: str, message: str, severity: Severity, span: Span, help: str | None = None) -> None:
        if len(self._found) < MOST:
            self._found.append(Diagnostic(code, message, severity, span, help))

    def _refresh(self) -> int:
        try:
            return max(0, self._knobs.configuration.integer(REFRESH))
        except InvalidConfig as error:
            self._found += error.diagnostics
            return 0

    def _read_defaults(self) -> bool:
        placed = self._knobs.expanded(DEFAULTS, self._macros)
        if placed is None:
            return self._knobs.get(DEFAULTS) is None
        found = list(read_defaults(placed, is_merged=self._knobs.holds(MERGE)))
        for each in found:
            if isinstance(each, Diagnostic):
                self._found.append(each)
            else:
                self._defaults = self._defaults.updated(each)
        if self.without_generated:
            self._drop_generated(placed)
        if not any(isinstance(each, Diagnostic) and each.severity is Severity.ERROR for each in found):
            return True
        message = f"with {DEFAULTS} malformed HTCondor routes nothing; the routes are used without the lost attributes"
        self._say("legacy-defaults", message, Severity.ERROR, placed.span(0, 1))
        return False

    def _drop_generated(self, defaults: Placed) -> None:
        """Drop from the defaults what is as condor_ce_router_defaults generated it."""
        placed = self._knobs.expanded(GENERATED, self._macros)
        made = EntryAttributes(None, Placed(()))
        for each in () if placed is None else read_defaults(placed, is_merged=False):
            if not isinstance(each, Diagnostic):
                made = made.updated(each)
        ad, generated = self._defaults.ad(), made.ad()
        same = [name for name in generated if name in ad and ad[name] == generated[name] and lower(name) not in _KEPT]
        for key in map(lower, same):
            del self._defaults.codes[key], self._defaults.names[key]
        if same:
            message = f"{len(same)} attributes of {GENERATED} are dropped: transforms of HTCondor-CE set them since 6"
            self._say("legacy-generated", message, Severity.NOTE, defaults.span(0, 1))

    def _texts(self) -> Iterator[tuple[str, Placed]]:
        """Yield the texts of the table in HTCondor's order: of the command, of the file, of the knob."""
        command = self._knobs.get(ENTRIES_CMD)
        if command is not None and (printed := self._output(command)) is not None:
            yield ENTRIES_CMD, Placed.of(Source(printed, f"<{ENTRIES_CMD}>"))
        file = self._knobs.get(ENTRIES_FILE)
        if file is not None and (source := self._file(file)) is not None:
            yield ENTRIES_FILE, Placed.of(source)
        entries = self._knobs.expanded(ENTRIES, self._macros)
        if entries is not None:
            yield ENTRIES, entries

    def _output(self, command: Placed) -> str | None:
        if self._run is None:
            message = f"the command of {ENTRIES_CMD} is not run: its routes are missing"
            help_text = "run it yourself and pass its output"
            self._say("legacy-command", message, Severity.WARNING, command.span(), help_text)
            return None
        try:
            return self._run(self._knobs.text(ENTRIES_CMD))
        except (OSError, CrondorError) as error:
            reason = error.diagnostics[0].message if isinstance(error, CrondorError) else str(error)
            message = f"the command of {ENTRIES_CMD} failed: {reason}"
            self._say("legacy-command", message, Severity.ERROR, command.span())
            return None

    def _file(self, knob: Placed) -> Source | None:
        path = self._knobs.text(ENTRIES_FILE)
        if self._files is None:
            message = f"{ENTRIES_FILE} is not opened: its routes are missing"
            self._say("legacy-file", message, Severity.WARNING, knob.span(), "allow its folder")
            return None
        try:
            return self._files.read(path)
        except CrondorError as error:
            only = error.diagnostics[0]
            span = only.span if only.span is not None and only.span.source.text else knob.span()
            self._say("legacy-file", f"{ENTRIES_FILE}: {only.message}", Severity.ERROR, span, only.help)
            return None

    def _add_all(self, knob: str, placed: Placed) -> None:
        for number, each in enumerate(read_ads(placed, knob), start=1):
            if isinstance(each, Diagnostic):
                if len(self._found) < MOST:
                    self._found.append(each)
                    self._malformed += [each] if isinstance(each, MalformedAd) else []
            else:
                self._add(self._entry(each, placed, knob, number))

    def _entry(self, ad: Ad, placed: Placed, knob: str, number: int, name: str = "") -> LegacyEntry:
        merged = self._defaults.updated(EntryAttributes(ad, placed))
        span = placed.span(ad.start, ad.end)
        kept = self._macros is Macros.KEPT and knob not in {ENTRIES_FILE, ENTRIES_CMD}
        made = LegacyEntry(
            name, merged.ad(), knob, number, span, merged.places, self._filled if kept else None, is_knob=bool(name)
        )
        return made if name else self._named(made)

    def _filled(self, text: str) -> str:
        try:
            return self._knobs.fill(text)
        except MacroError:
            return text

    def _named(self, entry: LegacyEntry) -> LegacyEntry:
        """Return the entry with its name: Name, else GridResource, else a generated one."""
        given = next(
            (each for each in map(entry.value, ("Name", "GridResource")) if isinstance(each, str) and each), ""
        )
        name = " ".join((entry.expand(given) if entry.expand else given).split())
        if not name:
            self._unnamed += 1
            name = f"route_{self._unnamed}"
            message = f"this route has neither Name nor GridResource; it is named {name} here"
            self._say("legacy-name", message, Severity.WARNING, entry.span.part(0, 1), "give it a Name")
        return LegacyEntry(
            name, entry.ad, entry.knob, entry.number, entry.span, entry.places, entry.expand, entry.is_knob
        )

    def _add(self, entry: LegacyEntry) -> None:
        """Add a route to the table, by OverrideRoutingEntry if its name is taken."""
        key = lower(entry.name)
        earlier = self._rows.get(key)
        if isinstance(earlier, LegacyEntry):
            value = entry.value("OverrideRoutingEntry")
            wins = None if value is UNDEFINED else truth(value)
            span = entry.span.part(0, 1)
            if wins is False:
                message = f"a second route {entry.name} is ignored: its OverrideRoutingEntry is false"
                self._say("legacy-override", message, Severity.NOTE, span)
                return
            if wins is None:
                message = f"a second route {entry.name} replaces the one at {earlier.span.location}"
                help_text = "set OverrideRoutingEntry to true if that is intended, or give it another Name"
                self._say("legacy-override", message, Severity.WARNING, span, help_text)
        self._rows[key] = entry

    def _add_knobs(self) -> None:
        """Add the knobs JOB_ROUTER_ROUTE_<name>, which replace routes of the same name."""
        for knob in self._knobs.routes():
            placed = placed_knob(knob)
            name = knob.name[len(ROUTE) :]
            if not placed.text.lstrip().startswith(("[", "/*")):
                self._replaced(name, placed)
                self._rows[lower(name)] = name
                continue
            text = self._knobs.expanded(knob.name, self._macros)
            for each in () if text is None else islice(read_ads(text, knob.name), 1):
                if isinstance(each, Diagnostic):
                    self._found.append(each)
                elif text is not None:
                    self._replaced(name, placed)
                    self._rows[lower(name)] = self._entry(each, text, knob.name, 1, name)

    def _replaced(self, name: str, placed: Placed) -> None:
        earlier = self._rows.get(lower(name))
        if isinstance(earlier, LegacyEntry):
            message = f"{ROUTE}{name} replaces the route {earlier.name} at {earlier.span.location}"
            self._say("legacy-override", message, Severity.WARNING, placed.span(0, 1))

    def _choose(self) -> None:
        """Put the routes into the order of JOB_ROUTER_ROUTE_NAMES, dropping those it does not name."""
        placed = self._knobs.get(NAMES)
        if placed is None:
            return
        rows: dict[str, LegacyEntry | str] = {}
        for name in re.findall(r"[^,\s]+", self._knobs.text(NAMES)):
            key = lower(name)
            if key in self._rows:
                rows.setdefault(key, self._rows[key])
            elif key != "names":
                message = f"route '{name}' from {NAMES} not found in the routing table."
                self._say("legacy-order", message, Severity.WARNING, placed.span())
        for key, row in self._rows.items():
            if key not in rows and isinstance(row, LegacyEntry):
                message = f"the route {row.name} is not in {NAMES}: it is not used, and dropped"
                self._say("legacy-order", message, Severity.WARNING, row.span.part(0, 1))
        self._rows = rows


def read_defaults(placed: Placed, *, is_merged: bool, faithful: bool = False) -> Iterator[EntryAttributes | Diagnostic]:
    """Yield the attributes of the ads of JOB_ROUTER_DEFAULTS that count: the first, with ``is_merged`` all.

    Text that does not begin with a bracket is the inside of one ad.
    """
    begin = len(placed.text) - len(placed.text.lstrip(BLANKS))
    if not placed.text.startswith("[", begin):
        around = placed.span(0, 0)
        segments = placed.segments(0, len(placed.text))
        placed = Placed([Segment("[ ", span=around), *segments, Segment(" ]", span=around)])
        is_merged = False
    at = 0
    for each in read_ads(placed, DEFAULTS, faithful=faithful):
        if isinstance(each, Diagnostic):
            if at == 0 or is_merged:
                yield each
            return
        if at and not is_merged:
            if not faithful:
                message = f"only the first ad of {DEFAULTS} counts, since {MERGE} is not true"
                span = placed.span(each.start, each.start + 1)
                yield Diagnostic("legacy-defaults", message, Severity.WARNING, span)
            return
        yield EntryAttributes(each, placed)
        at = each.end
