"""Rules out of what was said while a configuration was read and loaded: a code of ours for several of its codes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from crondor.check.rule import Rule, RuleHit
from crondor.diagnostics import Diagnostic, Severity
from crondor.router.rules.subject import CheckedTable

Gathered = Callable[[CheckedTable], Iterable[Diagnostic]]


def told(found: Iterable[Diagnostic], codes: Collection[str]) -> Iterator[RuleHit]:
    """Yield the findings that have one of some codes."""
    for each in found:
        if each.code in codes:
            yield RuleHit(each.message, each.span, each.help, severity=each.severity)


def said(code: str, name: str, severity: Severity, title: str, codes: Collection[str]) -> Rule[CheckedTable]:
    """Make a rule of what was said on loading under some codes."""
    return Rule(code, name, severity, title, lambda table: told(table.diagnostics, codes))
