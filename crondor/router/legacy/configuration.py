"""A table of converted routes as a text of HTCondor's configuration."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from enum import Enum
from itertools import islice
from typing import NamedTuple

from crondor.classad import lower
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.macro.expand import MacroKind, Scanner
from crondor.macro.files import Files
from crondor.router.legacy.corrected import convert_mended
from crondor.router.legacy.table import (
    DEFAULTS,
    ENTRIES,
    ENTRIES_FILE,
    MERGE,
    NAMES,
    REFRESH,
    ROUTE,
    LegacyTable,
    RouterKnobs,
    Texts,
    knobs_of,
    live_name,
    read_defaults,
)
from crondor.router.table.loading import load_table
from crondor.transform.classad_form import (
    Ad,
    EntryAttributes,
    LegacyEntry,
    Macros,
    MalformedAd,
    Placed,
    convert_faithfully,
    read_ads,
)
from crondor.transform.compiled import from_outside

_NO_NAME = re.compile(r"[^A-Za-z0-9_]+")


# HTCondor: ConvertJobRouterRoutes in src/condor_tools/transform_ads.cpp.
class ConversionMode(Enum):
    """CONFIG takes the knobs of the configuration, expanded; FILE the entries of one file as written."""

    CONFIG = "config"
    FILE = "file"


class Printed(NamedTuple):
    """A printed route: its ad and knob, its name, its knob's name (only FILE), its text."""

    knob: str
    number: int
    name: str
    tag: str
    text: str


class ToolOutput(NamedTuple):
    """The output. ``names`` are those of JOB_ROUTER_ROUTE_NAMES, None if no such line is printed."""

    mode: ConversionMode
    routes: tuple[Printed, ...]
    names: tuple[str, ...] | None
    file: str
    diagnostics: tuple[Diagnostic, ...]

    def __str__(self) -> str:
        """Return the output, numbering entries without the empty ones."""
        out: list[str] = []
        for number, each in enumerate(self.routes, start=1):
            if self.mode is ConversionMode.FILE:
                body = "".join(f"   {line}\n" for line in each.text.split("\n"))
                out.append(f"\n##### Route {number}\nJOB_ROUTER_ROUTE_{each.tag} @=jre\n{body}@jre\n")
            else:
                out.append(f"\n##### {each.knob} [{each.number}] #####\n{each.text}\n")
        if self.mode is ConversionMode.FILE and self.file:
            out.append(f"need {ENTRIES_FILE} {self.file}\n")
        if self.names is not None:
            out.append(f"\n{NAMES} = {' '.join(self.names)}\n")
        return "".join(out)


def tag_of(name: str) -> str:
    """Return a route's name without characters that are not allowed in an attribute's name."""
    return _NO_NAME.sub("", name)


def convert_as_tool(
    *texts: Texts, mode: ConversionMode = ConversionMode.FILE, files: Files | None = None
) -> ToolOutput:
    """Convert like HTCondor's own tool, including its defects; never raises."""
    return _Tool(knobs_of(*texts), mode, files).run()


class _Tool:
    """One run."""

    def __init__(self, knobs: RouterKnobs, mode: ConversionMode, files: Files | None) -> None:
        self._knobs = knobs
        self._mode = mode
        self._files = files
        self._found: list[Diagnostic] = []
        self._defaults = EntryAttributes(None, Placed(()))

    def run(self) -> ToolOutput:
        knobs = self._knobs
        self._defaults = self._read_defaults(DEFAULTS, is_merged=knobs.holds(MERGE))
        if self._mode is ConversionMode.FILE:
            generated = self._read_defaults("JOB_ROUTER_DEFAULTS_GENERATED", is_merged=False).ad()
            ad = self._defaults.ad()
            for name in generated:
                if name in ad and ad[name] == generated[name]:
                    key = name.lower()
                    del self._defaults.codes[key], self._defaults.names[key]
        routes: list[Printed] = []
        macros = Macros.RAW if self._mode is ConversionMode.FILE else Macros.EXPANDED
        entries = knobs.expanded(ENTRIES, macros)
        if entries is not None:
            routes += self._convert(ENTRIES, entries)
        path = knobs.text(ENTRIES_FILE)
        if path and self._mode is ConversionMode.CONFIG and (placed := self._file(path)) is not None:
            routes += self._convert(ENTRIES_FILE, placed)
        names = None
        listed = knobs.configuration.find(NAMES)
        if self._mode is ConversionMode.FILE and (listed is None or listed.is_default):
            names = tuple(each.tag for each in routes)
        return ToolOutput(self._mode, tuple(routes), names, path, (*knobs.diagnostics, *self._found))

    def _read_defaults(self, knob: str, *, is_merged: bool) -> EntryAttributes:
        made = EntryAttributes(None, Placed(()))
        placed = self._knobs.expanded(knob, Macros.EXPANDED)
        if placed is None:
            return made
        for each in read_defaults(placed, is_merged=is_merged, faithful=True):
            if isinstance(each, Diagnostic):
                self._found.append(each)
            else:
                made = made.updated(each)
        return made

    def _file(self, path: str) -> Placed | None:
        try:
            return None if self._files is None else Placed.of(self._files.read(path))
        except CrondorError as error:
            self._found += error.diagnostics
            return None

    def _convert(self, knob: str, placed: Placed) -> Iterator[Printed]:
        number = 0
        for each in read_ads(placed, knob, faithful=True):
            if isinstance(each, Diagnostic):
                self._found.append(each)
                continue
            made = convert_faithfully(
                self._entry(each, placed, knob), name_as=tag_of if self._mode is ConversionMode.FILE else None
            )
            if made is None:
                continue
            name, text = made
            tag = tag_of(name)
            if tag or self._mode is ConversionMode.CONFIG:
                number += 1
                yield Printed(knob, number, name, tag, text)

    def _entry(self, ad: Ad, placed: Placed, knob: str) -> LegacyEntry:
        merged = self._defaults.updated(EntryAttributes(ad, placed))
        return LegacyEntry("", merged.ad(), knob, 0, placed.span(ad.start, ad.end), merged.places)


TRANSFORM = "JOB_TRANSFORM_"
AROUND = ("JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES", "JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES")
CONSTRAINT = "JOB_ROUTER_SOURCE_JOB_CONSTRAINT"
_MOST_MACROS = 1000
_LINE_END = re.compile(r"[\r\n]")


class NewRoute(NamedTuple):
    """A converted route: its entry, its new name, and its commands."""

    entry: LegacyEntry
    name: str
    text: str


class NewTable(NamedTuple):
    """A converted table.

    ``names`` are all routes in order, including those that were transforms already. ``macros`` are the knobs that the
    routes refer to, and JOB_ROUTER_SOURCE_JOB_CONSTRAINT if a route needs it, as written. ``diagnostics`` are those of
    the old table, and the changes. ``malformed`` are invalid routes, which become comments. ``transforms`` are knobs
    JOB_TRANSFORM_<name> that were ClassAds.
    """

    routes: tuple[NewRoute, ...]
    names: tuple[str, ...]
    macros: tuple[tuple[str, str], ...]
    diagnostics: tuple[Diagnostic, ...]
    malformed: tuple[MalformedAd, ...] = ()
    transforms: tuple[NewRoute, ...] = ()

    def __str__(self) -> str:
        """Return the configuration: macros, routes, and their order."""
        out = [_assignment(name, text) for name, text in self.macros]
        if out:
            out.append("\n")
        for knob, route in (
            *((f"{ROUTE}{route.name}", route) for route in self.routes),
            *((f"{TRANSFORM}{route.name}", route) for route in self.transforms),
        ):
            tag = _tag("jre", route.text)
            body = "".join(f"   {line}\n" for line in route.text.split("\n"))
            out.append(f"{knob} @={tag}\n{body}@{tag}\n\n")
        out += map(_commented, self.malformed)
        if self.names:
            out.append(" ".join([NAMES, "=", *self.names]) + "\n")
        return "".join(out)


def convert_table(table: LegacyTable, variables: Collection[str] = ()) -> NewTable:
    """Convert all routes of a table into knobs JOB_ROUTER_ROUTE_<name>; never fails.

    Knobs JOB_TRANSFORM_<name> that are ClassAds are converted too. ``variables`` are the lower-case names of variables
    that transforms around the routes read, besides those of the table's own configuration.
    """
    found = list(table.diagnostics)
    around = _variables_around(table) | frozenset(variables)
    kept = [*table.modern, *(entry.name for entry in table.entries if entry.is_knob)]
    taken = {*map(lower, kept), "names"}
    routes: list[NewRoute] = []
    names: dict[str, str] = {lower(name): name for name in table.modern}
    for entry in table.entries:
        name = entry.name if entry.is_knob else _free(tag_of(entry.name) or "route", taken)
        taken.add(lower(name))
        names[lower(entry.name)] = name
        if name != entry.name:
            message = f"the route {entry.name} is now called {name}, also in RouteName of its copies"
            found.append(Diagnostic("legacy-name", message, Severity.NOTE, entry.place("Name")))
        if live_name(entry) != entry.name:
            message = f"{name} has no Name: HTCondor 23.9 calls it {live_name(entry)}, also in RouteName of its copies"
            found.append(Diagnostic("legacy-name", message, Severity.NOTE, entry.span.part(0, 1)))
        made = convert_mended(entry, around)
        found += made.diagnostics
        # A knob with only comments is empty, and not a route.
        is_named = name != entry.name or not made.has_commands
        routes.append(NewRoute(entry, name, made.text(entry.name if is_named else "")))
    found += _around(table)
    ordered = tuple(names[lower(name)] for name in table.order if lower(name) in names)
    transforms = [*_transforms(table, found)]
    macros = _macros(table, [*routes, *transforms])
    return NewTable(tuple(routes), ordered, macros, tuple(dict.fromkeys(found)), table.malformed, tuple(transforms))


def _variables_around(table: LegacyTable) -> frozenset[str]:
    """Return the lower-case names of the variables that the transforms before and after routes read."""
    loaded = load_table(table.configuration, keep_routes=True)
    return frozenset(name for transform in (*loaded.before, *loaded.after) for name in from_outside(transform))


def _transforms(table: LegacyTable, found: list[Diagnostic]) -> Iterator[NewRoute]:
    """Yield the ClassAd knobs JOB_TRANSFORM_<name>, converted (JobTransforms::initAndReconfig, up to 25.7)."""
    configuration = table.configuration
    knobs = RouterKnobs(configuration)
    for key, knob in configuration.knobs.items():
        if not key.startswith(lower(TRANSFORM)) or not knob.text.lstrip().startswith("["):
            continue
        placed = knobs.expanded(knob.name, Macros.EXPANDED)
        for ad in () if placed is None else islice(read_ads(placed, knob.name), 1):
            if isinstance(ad, Diagnostic) or placed is None:
                found += [ad] if isinstance(ad, Diagnostic) else []
                continue
            read = EntryAttributes(ad, placed)
            name = knob.name[len(TRANSFORM) :]
            entry = LegacyEntry(name, read.ad(), knob.name, 1, placed.span(ad.start, ad.end), read.places, is_knob=True)
            made = convert_mended(entry, None)
            found += made.diagnostics
            text = made.text("" if made.has_commands else name)
            yield NewRoute(entry, name, text.replace("# autoconversion of route", "# autoconversion of transform", 1))
    found += knobs.diagnostics


def _free(name: str, taken: set[str]) -> str:
    number, made = 2, name
    while lower(made) in taken:
        made, number = f"{name}_{number}", number + 1
    return made


def _around(table: LegacyTable) -> list[Diagnostic]:
    """Yield the effects of the rest of the configuration on routes that are no longer ClassAds."""
    found: list[Diagnostic] = []
    configuration = table.configuration
    were_alone = any(not entry.is_knob for entry in table.entries)
    for name in AROUND:
        knob = configuration.find(name)
        if knob is not None and configuration.is_set(name) and were_alone:
            message = f"the transforms of {name} now also apply to the routes of entries; before they did not"
            help_text = "give those transforms REQUIREMENTS that exclude these jobs, if that is not intended"
            found.append(Diagnostic("legacy-around", message, Severity.WARNING, knob.place(), help_text))
    if not configuration.is_set(CONSTRAINT):
        for entry in table.entries:
            if "requirements" not in entry.ad:
                message = f"{entry.name} has no Requirements: HTCondor rejects it, as before, without {CONSTRAINT}"
                help_text = f"write Requirements = true, or set {CONSTRAINT}"
                span = entry.span.part(0, 1)
                found.append(Diagnostic("legacy-requirements", message, Severity.WARNING, span, help_text))
    if table.refresh:
        refresh = configuration.find(REFRESH)
        message = f"{REFRESH} = {table.refresh} reads the configuration again, which does not change these routes"
        help_text = "convert again when the table's source changes"
        place = None if refresh is None else refresh.place()
        found.append(Diagnostic("legacy-refresh", message, Severity.NOTE, place, help_text))
    return found


def _macros(table: LegacyTable, routes: list[NewRoute]) -> tuple[tuple[str, str], ...]:
    """Return the knobs that the routes need, directly or through others, and that are set."""
    found: dict[str, tuple[str, str]] = {}
    left = [each.text for each in routes if each.entry.expand is not None]
    constraint = table.configuration.find(CONSTRAINT)
    if constraint is not None and any("requirements" not in each.entry.ad for each in routes):
        found[lower(CONSTRAINT)] = (CONSTRAINT, constraint.text)  # those routes do not load without it
        left.append(constraint.text)
    while left and len(found) < _MOST_MACROS:
        text = left.pop()
        at = text.find("$")
        scanner = Scanner(text)
        while at >= 0:
            macro = scanner.scan(at)
            knob = table.configuration.find(macro.name) if macro.kind is MacroKind.MACRO else None
            if knob is not None and not knob.is_default and macro.name not in found:
                found[macro.name] = (knob.name, knob.text)
                left.append(knob.text)
            at = text.find("$", max(macro.resume, at + 1))
    return tuple(found[key] for key in sorted(found))


def _commented(ad: MalformedAd) -> str:
    """Return an invalid route as a comment; no line of it is continued by a backslash."""
    why = " ".join(ad.message.partition("; it begins ")[0].split())
    lines = [f"# {line.rstrip().rstrip(chr(92)).rstrip()}".rstrip() for line in _LINE_END.split(ad.text)]
    return "\n".join([f"# {why}:", *(line for line in lines if line != "#")]) + "\n\n"


def _assignment(name: str, text: str) -> str:
    if not _LINE_END.search(text) and not text.endswith("\\"):
        return f"{name} = {text}\n"
    tag = _tag("end", text)
    return f"{name} @={tag}\n{text}\n@{tag}\n"


def _tag(tag: str, text: str) -> str:
    """Return a word that is not a line of a text, as its tag: ``tag``, with as many x after it as needed."""
    taken = set(re.findall(rf"(?m)^[ \t]*@({tag}x*)[ \t]*$", text))
    while tag in taken:
        tag += "x"
    return tag
