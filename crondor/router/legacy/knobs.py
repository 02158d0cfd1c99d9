"""The knobs of some configuration texts, each with the places its text was written at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from crondor.diagnostics import Diagnostic, Severity
from crondor.macro.conditions import ConditionError, Conditions, IfStack
from crondor.macro.errors import Budget, MacroError
from crondor.macro.expand import expand
from crondor.macro.lines import LineReader, LogicalLine
from crondor.macro.scan import Kind, scan
from crondor.macro.statement import conditional, is_name, split
from crondor.router.legacy.placed import Placed, Segment
from crondor.source import Source

VERSION = (23, 10, 0)
"""What ``if version`` compares with: the last HTCondor that reads routes written as ClassAds."""

MAX_KNOB = 16 << 20
"""Characters of one knob, its earlier text included."""

Texts = Source | str | Mapping[str, str]
"""A configuration, or knobs by name."""


@dataclass
class Knobs:
    """Knobs by name in lower case, unexpanded; ``names`` has their spelling."""

    placed: dict[str, Placed] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    budget: Budget = field(default_factory=Budget)

    def lookup(self, name: str) -> str | None:
        """Return the unexpanded text of a knob by its lower-case name."""
        found = self.placed.get(name)
        return None if found is None else found.text

    def get(self, name: str) -> Placed | None:
        """Return the unexpanded text of a knob that is not empty."""
        found = self.placed.get(name.lower())
        return found if found is not None and found.text.strip() else None

    def text(self, name: str) -> str:
        """Return the expanded text of a knob without blanks around it, nothing where it is not set."""
        found = self.get(name)
        if found is None:
            return ""
        try:
            return expand(found.text, self.lookup, self.budget).strip()
        except MacroError as error:
            self.diagnostics += (_at(each, found) for each in error.diagnostics)
            return ""

    def holds(self, name: str, *, default: bool = False) -> bool:
        """Return a knob that is true or false."""
        word = self.text(name).lower()
        return word in {"true", "yes", "t", "1"} if word else default


def read_knobs(texts: Iterable[Texts]) -> Knobs:
    """Read assignments and conditionals; what is included from elsewhere is reported and left out."""
    knobs = Knobs()
    for text in texts:
        if isinstance(text, Mapping):
            for name, value in text.items():
                knobs.placed[name.lower()] = Placed.of(Source(value, name))
                knobs.names[name.lower()] = name
        else:
            _Reader(Source(text, "<configuration>") if isinstance(text, str) else text, knobs).read()
    return knobs


class _Reader:
    """One text."""

    def __init__(self, source: Source, knobs: Knobs) -> None:
        self._source = source
        self._knobs = knobs
        self._lines = LineReader(source)
        self._ifs = IfStack()
        self._conditions = Conditions(knobs.lookup, self._expand, VERSION)

    def _expand(self, text: str) -> str:
        try:
            return expand(text, self._knobs.lookup, self._knobs.budget)
        except MacroError:
            return ""

    def read(self) -> None:
        nul = self._source.text.find("\0")
        if nul >= 0:
            self._say("not-text", "a configuration is text, and this has a NUL", nul)
            return
        while (line := self._lines.statement()) is not None:
            keyword = conditional(line.text)
            if keyword:
                self._condition(keyword, line)
                continue
            parts = split(line.text)
            if parts.operator == "@=":
                self._heredoc(parts.name, "@" + line.text[parts.value :])
            elif not self._ifs.holds:
                continue
            elif parts.operator == "=" and not parts.is_sentence and is_name(parts.name):
                self._define(parts.name, [*Placed([Segment(line.text, line)]).segments(parts.value, len(line.text))])
            elif parts.name.lstrip("@").lower() in {"include", "use"}:
                message = f"{parts.name} is not followed here: what it would bring is missing"
                self._say("legacy-include", message, line.span().start, Severity.WARNING)

    def _condition(self, keyword: str, line: LogicalLine) -> None:
        try:
            self._ifs.enter(keyword, line.text[len(keyword) :].strip(), self._conditions)
        except ConditionError as error:
            self._say("condition", str(error), line.span().start)

    def _heredoc(self, name: str, tag: str) -> None:
        """Read the lines of a value up to its tag."""
        text, begin = self._source.text, self._lines.at
        at = begin
        while at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            if text[at:end].strip() == tag:
                self._lines = LineReader(self._source, end + 1)
                break
            at = end + 1
        else:
            self._say("heredoc", f"Found end-of-file while scanning for '{tag[:80]}'", begin)
            self._lines = LineReader(self._source, len(text))
            return
        body = text[begin : max(begin, at - 1)]
        if self._ifs.holds and is_name(name):
            self._define(name, [Segment(body, LogicalLine(self._source, body, (0,), (begin,)))])

    def _define(self, name: str, segments: list[Segment]) -> None:
        """Set a knob; its own name in the text is its earlier text."""
        key = name.lower()
        placed = Placed(segments)
        earlier = self._knobs.placed.get(key)
        parts: list[Segment] = []
        text = placed.text
        begin, at = 0, text.find("$")
        while at >= 0:
            found = scan(text, at)
            if found.kind is Kind.MACRO and found.name == key:
                parts += placed.segments(begin, at)
                if earlier is not None:
                    parts += earlier.segments(0, len(earlier.text))
                begin = found.end
            at = text.find("$", max(found.resume, at + 1))
        if begin:
            placed = Placed([*parts, *placed.segments(begin, len(text))])
        if len(placed.text) > MAX_KNOB:
            self._say("macro-size", f"{name} grows beyond {MAX_KNOB} characters", self._lines.at - 1)
            return
        self._knobs.placed[key] = placed
        self._knobs.names.setdefault(key, name)

    def _say(self, code: str, message: str, at: int, severity: Severity = Severity.ERROR) -> None:
        if len(self._knobs.diagnostics) < 100:
            self._knobs.diagnostics.append(Diagnostic(code, message, severity, self._source.span(at, at + 1)))


def _at(found: Diagnostic, placed: Placed) -> Diagnostic:
    return found.relocated(placed.span()) if found.span is None else found
