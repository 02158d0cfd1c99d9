"""A rule, what it finds, and the edits that cure it: the same for every kind of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from types import ModuleType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from crondor.diagnostics import Diagnostic, Severity
from crondor.source import Source, Span

Subject = TypeVar("Subject")
MANY: Final = 200  # findings of one rule about one file that are shown


class TextEdit(NamedTuple):
    """One change of a file: ``text`` in the place of ``span``; an empty span inserts."""

    span: Span
    text: str


class Fix(NamedTuple):
    """A fix: ``title`` says what it does, ``edits`` how; an unsafe one changes what the author asked for."""

    title: str
    edits: tuple[TextEdit, ...]
    safe: bool = True


class RuleHit(NamedTuple):
    """What a rule's function yields; ``severity`` only where it is another than the rule's own."""

    message: str
    span: Span | None = None
    help: str | None = None
    fix: Fix | None = None
    severity: Severity | None = None


@dataclass(frozen=True, eq=False)
class Rule(Generic[Subject]):
    """One thing to look for: a stable code (``CRN101``), a name in kebab case, and the function that looks.

    ``title`` is the rule in one line, for lists; the page with example, cause, source and fix is ``page(code)``.
    ``misses``: it speaks of what is not there, so it is silent where lines may hide in a file that was not read.
    ``most`` is how often it speaks at all of one subject: nobody reads more, and a file may be made to have thousands.
    """

    code: str
    name: str
    severity: Severity
    title: str
    function: Callable[[Subject], Iterable[RuleHit]]
    misses: bool = False
    most: int | None = None

    def findings(self, subject: Subject) -> Iterator[Finding]:
        """Look at one subject."""
        for found in islice(self.function(subject), self.most):
            severity = found.severity or self.severity
            diagnostic = Diagnostic(self.code, found.message, severity, found.span, found.help)
            yield Finding(diagnostic, found.fix, self.name)


class Finding(NamedTuple):
    """What was found, under the code and the ``name`` of a rule, and the fix if there is one."""

    diagnostic: Diagnostic
    fix: Fix | None = None
    name: str = ""


def passed_on(
    code: str, name: str, severity: Severity, title: str, found: Callable[[Subject, str], Iterable[RuleHit]]
) -> Rule[Subject]:
    """Make a rule of what reading said under its code, and ``found`` yields."""
    return Rule(code, name, severity, title, lambda subject: found(subject, code))


def rule(
    code: str, name: str, severity: Severity, title: str, *, misses: bool = False, most: int | None = None
) -> Callable[[Callable[[Subject], Iterable[RuleHit]]], Rule[Subject]]:
    """Make a rule of the function below."""

    def make(function: Callable[[Subject], Iterable[RuleHit]]) -> Rule[Subject]:
        return Rule(code, name, severity, title, function, misses, most)

    return make


ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def distinct(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Keep one finding of each code and place, however many jobs and values share it."""
    places: dict[object, dict[str, Finding]] = {}
    for finding in findings:
        span = finding.diagnostic.span
        place = (finding.diagnostic.code, span and (span.source.name, span.start, span.end))
        places.setdefault(place, {}).setdefault(finding.diagnostic.message, finding)
    for found in places.values():
        first = next(iter(found.values()))
        others = len(found) - 1
        if others:
            more = f"{first.diagnostic.message}; and so for {others} other value{'s' if others > 1 else ''} of it"
            first = first._replace(diagnostic=replace(first.diagnostic, message=more), fix=None)
        yield first


def place(finding: Finding) -> tuple[str, int, int, str]:
    """Return what a finding is sorted by: its file, its place, its severity, its code."""
    span = finding.diagnostic.span
    at = ("", -1) if span is None else (span.source.name, span.start)
    return (*at, ORDER[finding.diagnostic.severity], finding.diagnostic.code)


class OverlappingEdits(ValueError):
    """Two edits that want the same characters."""


def apply(source: Source, edits: Iterable[TextEdit]) -> str:
    """Return the text after some edits of it, in whatever order they come; equal edits count once.

    Several insertions at one place stand there in the order given. Raises OverlappingEdits, and ValueError for an
    edit of another source.
    """
    return changed(source, edits).text


class TextChange(NamedTuple):
    """A text after some edits: for each, by its place, where it began and ended before, and what it wrote does now."""

    text: str
    written: tuple[tuple[tuple[int, int], tuple[int, int]], ...]

    def place(self, at: int) -> int:
        """Return where a place of the old text is now; one that was written over is where that begins."""
        moved = 0
        for (start, end), (new, new_end) in self.written:
            if at < start:
                break
            if at < end or at == start:
                return new
            moved = new_end - end
        return at + moved


def changed(source: Source, edits: Iterable[TextEdit]) -> TextChange:
    """Return the text after some edits as ``apply`` does, and what it takes to find a place again."""
    text = source.text
    ordered = sorted(dict.fromkeys(edits), key=lambda edit: (edit.span.start, edit.span.end))
    pieces: list[str] = []
    written: list[tuple[tuple[int, int], tuple[int, int]]] = []
    at = size = 0
    for span, new in ordered:
        if span.source is not source:
            raise ValueError(f"an edit of {span.source.name}, not of {source.name}")
        if span.start < at:
            raise OverlappingEdits(f"{span.location}: two edits of the same characters")
        pieces += text[at : span.start], new
        size += span.start - at
        written.append(((span.start, span.end), (size, size + len(new))))
        size += len(new)
        at = span.end
    return TextChange("".join((*pieces, text[at:])), tuple(written))


def compatible(source: Source, fixes: Iterable[Fix]) -> list[Fix]:
    """Return the fixes that can be applied to a source at once: each that overlaps none taken before it.

    What is left out can be found again, and applied, once the others are.
    """
    taken: dict[TextEdit, None] = {}
    chosen: list[Fix] = []
    for fix in fixes:
        new = [edit for edit in fix.edits if edit not in taken]
        if all(edit.span.source is source and not any(_meet(edit, other) for other in taken) for edit in new):
            taken.update(dict.fromkeys(new))
            chosen.append(fix)
    return chosen


def _meet(one: TextEdit, other: TextEdit) -> bool:
    """Say whether two edits cannot both be made: of the same characters, or insertions of one command at one place."""
    a, b = one.span, other.span
    if a.start == a.end == b.start == b.end:
        return one.text.partition("=")[0] == other.text.partition("=")[0]
    return a.start < b.end and b.start < a.end


def literal_value(source: Source, name: str, value: str | None, span: Span | None) -> Span | None:
    """Return the place of a command's value where the text of ``source`` there is that value, as ``literal`` does."""
    if span is None or not value or span.source is not source or span.text != value or "\n" in value:
        return None
    line = source.text[source.text.rfind("\n", 0, span.start) + 1 : span.start]
    written, equals, rest = line.partition("=")
    return span if equals and not rest.strip() and key_of(written) == name else None


def line_end(text: str, at: int) -> str:
    """Return what ends a new line at a place: what ends the line above it, or else the first of the text."""
    ends = text.rfind("\n", 0, at)
    if ends < 0:
        ends = text.find("\n")
    return "\r\n" if ends > 0 and text[ends - 1] == "\r" else "\n"


def key_of(written: str) -> str:
    """Return the lower-case key of a name as it is written: ``+X`` is my.x."""
    name = written.strip().lower()
    return f"my.{name[1:]}" if name.startswith("+") else name


def rules_of(*modules: ModuleType) -> tuple[Rule[Any], ...]:
    """Return the rules that some modules define, alone or in tuples, in the order of their codes."""
    values = (value for module in modules for value in vars(module).values())
    rules = (rule for value in values for rule in (value if isinstance(value, tuple) else (value,)))
    return tuple(
        sorted({each.code: each for each in rules if isinstance(each, Rule)}.values(), key=lambda each: each.code)
    )
