"""What a rule of `crondor check` is, and what it finds: a code, a place, a reason, and often a fix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

from crondor.diagnostics import Diagnostic, Severity
from crondor.source import Span

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

    ``title`` is the rule in one line, for lists; the page with example, cause, source and fix is ``pages.page(code)``.
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
            yield Finding(Diagnostic(self.code, found.message, severity, found.span, found.help), found.fix)


class Finding(NamedTuple):
    """What was found, under the rule's code, and the fix if there is one."""

    diagnostic: Diagnostic
    fix: Fix | None = None


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
