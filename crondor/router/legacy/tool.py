"""All that condor_transform_ads -convertoldroutes of HTCondor 25.14 prints, but for entries with nothing in them.

HTCondor: ConvertJobRouterRoutes in src/condor_tools/transform_ads.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.macro.files import Files
from crondor.router.legacy.knobs import RouterKnobs, Texts, knobs_of
from crondor.router.legacy.table import DEFAULTS, ENTRIES, ENTRIES_FILE, MERGE, NAMES, read_defaults
from crondor.transform.classad_form.ads import Ad, read_ads
from crondor.transform.classad_form.entry import EntryAttributes, LegacyEntry
from crondor.transform.classad_form.placed import Macros, Placed
from crondor.transform.classad_form.verbatim import convert_faithfully

_NO_NAME = re.compile(r"[^A-Za-z0-9_]+")


class ConversionMode(Enum):
    """CONFIG takes the knobs of the configuration, expanded; FILE the entries of one file as they are written."""

    CONFIG = "config"
    FILE = "file"


class Printed(NamedTuple):
    """A route as it is printed: which ad of which knob, its name, its knob's name (FILE alone), its text."""

    knob: str
    number: int
    name: str
    tag: str
    text: str


class ToolOutput(NamedTuple):
    """What is printed. ``names`` are those of JOB_ROUTER_ROUTE_NAMES, None where no such line is printed."""

    mode: ConversionMode
    routes: tuple[Printed, ...]
    names: tuple[str, ...] | None
    file: str
    diagnostics: tuple[Diagnostic, ...]

    def __str__(self) -> str:
        """Return the output, with entries counted without the empty ones."""
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
    """Return a route's name without all that no attribute's name has."""
    return _NO_NAME.sub("", name)


def convert_as_tool(
    *texts: Texts, mode: ConversionMode = ConversionMode.FILE, files: Files | None = None
) -> ToolOutput:
    """Convert as HTCondor's own tool does, its defects included; never raises."""
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
            self._drop_generated()
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

    def _drop_generated(self) -> None:
        """Leave out of the defaults what HTCondor-CE generated: its new syntax has transforms for that."""
        generated = self._read_defaults("JOB_ROUTER_DEFAULTS_GENERATED", is_merged=False).ad()
        ad = self._defaults.ad()
        for name in generated:
            if name in ad and ad[name] == generated[name]:
                key = name.lower()
                del self._defaults.codes[key], self._defaults.names[key]

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
