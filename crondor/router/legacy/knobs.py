"""The knobs of an old table out of a configuration, each character of their texts with its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from crondor.config import Configuration, InvalidConfig, Knob, read_config
from crondor.config.values import as_boolean
from crondor.diagnostics import Diagnostic
from crondor.macro.errors import Budget, MacroError
from crondor.macro.expand import expand
from crondor.macro.lines import LineReader, LogicalLine
from crondor.source import Source, Span
from crondor.transform.classad_form.placed import Macros, Placed, Segment

Texts = Configuration | Source | str | Mapping[str, str]
"""A configuration, read or to be read, or knobs by name."""


@dataclass
class RouterKnobs:
    """The knobs of a configuration; ``diagnostics`` gathers what is wrong with those that are asked for."""

    configuration: Configuration
    diagnostics: list[Diagnostic] = field(default_factory=list)
    budget: Budget = field(default_factory=Budget)

    def get(self, name: str) -> Placed | None:
        """Return the text of a knob as it is written, None where it is not set to anything."""
        knob = self.configuration.find(name)
        return _placed(knob) if knob is not None and not knob.is_default and knob.text.strip() else None

    def text(self, name: str) -> str:
        """Return the text of a knob with its macros replaced, nothing where it is not set."""
        try:
            return self.configuration.string(name) or ""
        except InvalidConfig as error:
            self.diagnostics += error.diagnostics
            return ""

    def holds(self, name: str) -> bool:
        """Say whether a knob is true; what is no truth value is not."""
        return as_boolean(self.text(name), self.configuration.context) is True

    def expanded(self, name: str, macros: Macros) -> Placed | None:
        """Return the text of a knob with its macros replaced, None where it is not set or they cannot be."""
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
        """Return the knobs JOB_ROUTER_ROUTE_<name> that somebody set, in order."""
        begin = "job_router_route_"
        found = self.configuration.knobs
        return [
            knob
            for key, knob in found.items()
            if key.startswith(begin) and key not in {begin, f"{begin}names"} and knob.text.strip()
        ]


def knobs_of(*texts: Texts) -> RouterKnobs:
    """Read configurations, the later ones over the earlier."""
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
    """Return a text that was added to the knob's earlier one, which stands where the knob's own name does."""
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
