"""A rule, its findings, and the edits that fix them: the same for every kind of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from types import ModuleType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from crondor.diagnostics import Diagnostic, Severity, Source, Span
from crondor.submit.edits import TextEdit

Subject = TypeVar("Subject")
MANY: Final = 200  # findings of one rule in one file that are shown


class Fix(NamedTuple):
    """A fix: ``title`` names the change, ``edits`` make it; an unsafe fix may change the author's intent."""

    title: str
    edits: tuple[TextEdit, ...]
    safe: bool = True


class RuleHit(NamedTuple):
    """What a rule's function yields; ``severity`` only if it differs from the rule's own."""

    message: str
    span: Span | None = None
    help: str | None = None
    fix: Fix | None = None
    severity: Severity | None = None


@dataclass(frozen=True, eq=False)
class Rule(Generic[Subject]):
    """One rule: a stable code (``CRN101``), a name in kebab case, and the function that checks.

    ``title`` is the rule in one line, for lists; the page with example, cause, source and fix is ``page_of(rule)``.
    ``misses``: it reports something missing, so it is silent if a file that was not read may contain it. ``most``
    limits its findings per subject: nobody reads more, and a hostile file could cause thousands. ``url`` and ``text``
    are the address and the page (Markdown) of a rule that is not crondor's own.
    """

    code: str
    name: str
    severity: Severity
    title: str
    function: Callable[[Subject], Iterable[RuleHit]]
    misses: bool = False
    most: int | None = None
    url: str = ""
    text: str = ""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        """Check one subject."""
        for found in islice(self.function(subject), self.most):
            severity = found.severity or self.severity
            diagnostic = Diagnostic(self.code, found.message, severity, found.span, found.help)
            yield Finding(diagnostic, found.fix, self.name, self.url)


class Finding(NamedTuple):
    """A problem found, with the code, ``name`` and ``url`` of its rule, and the fix if there is one."""

    diagnostic: Diagnostic
    fix: Fix | None = None
    name: str = ""
    url: str = ""


def passed_on(
    code: str, name: str, severity: Severity, title: str, found: Callable[[Subject, str], Iterable[RuleHit]]
) -> Rule[Subject]:
    """Make a rule of the diagnostics that reading gave its code, which ``found`` yields."""
    return Rule(code, name, severity, title, lambda subject: found(subject, code))


def rule(
    code: str,
    name: str,
    severity: Severity,
    title: str,
    *,
    misses: bool = False,
    most: int | None = None,
    url: str = "",
) -> Callable[[Callable[[Subject], Iterable[RuleHit]]], Rule[Subject]]:
    """Make a rule of the decorated function."""

    def make(function: Callable[[Subject], Iterable[RuleHit]]) -> Rule[Subject]:
        return Rule(code, name, severity, title, function, misses, most, url)

    return make


ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def distinct(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Keep one finding per code and place, the gravest, however many jobs and values share it."""
    places: dict[object, dict[str, Finding]] = {}
    for finding in findings:
        span = finding.diagnostic.span
        place = (finding.diagnostic.code, span and (span.source.name, span.start, span.end))
        places.setdefault(place, {}).setdefault(finding.diagnostic.message, finding)
    for found in places.values():
        first = min(found.values(), key=lambda finding: ORDER[finding.diagnostic.severity])
        others = len(found) - 1
        if others:
            more = f"{first.diagnostic.message}; the same for {others} other value{'s' if others > 1 else ''}"
            first = first._replace(diagnostic=replace(first.diagnostic, message=more), fix=None)
        yield first


def place(finding: Finding) -> tuple[str, int, int, str]:
    """Return the sort key of a finding: its file, its place, its severity, its code."""
    span = finding.diagnostic.span
    at = ("", -1) if span is None else (span.source.name, span.start)
    return (*at, ORDER[finding.diagnostic.severity], finding.diagnostic.code)


def compatible(source: Source, fixes: Iterable[Fix]) -> list[Fix]:
    """Return the fixes that can be applied to a source together: each that overlaps none before it.

    The others can be found and applied after these.
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
    """Return whether two edits conflict: they touch the same characters, or insert one command at one place."""
    a, b = one.span, other.span
    if a.start == a.end == b.start == b.end:
        return one.text.partition("=")[0] == other.text.partition("=")[0]
    return a.start < b.end and b.start < a.end


def rules_of(*modules: ModuleType) -> tuple[Rule[Any], ...]:
    """Return the rules that some modules define, singly or in tuples, in the order of their codes."""
    found: dict[str, Rule[Any]] = {}
    for module in modules:
        for value in vars(module).values():
            for each in value if isinstance(value, tuple) else (value,):
                if isinstance(each, Rule):
                    found[each.code] = each
    return tuple(map(found.__getitem__, sorted(found)))
