"""Rules out of what was said while a configuration was read and loaded: under the codes of those rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from crondor.check.rule import Rule, RuleHit, passed_on
from crondor.diagnostics import Diagnostic, Severity
from crondor.router.rules.subject import CheckedTable


def told(found: Iterable[Diagnostic], code: str, others: Collection[str] = ()) -> Iterator[RuleHit]:
    """Yield the findings that have a code, and those of some other kinds."""
    for each in found:
        if each.code == code or each.kind in others:
            yield RuleHit(each.message, each.span, each.help, severity=each.severity)


def said(code: str, name: str, severity: Severity, title: str) -> Rule[CheckedTable]:
    """Make a rule of what was said on loading under its code."""
    return passed_on(code, name, severity, title, lambda table, code: told(table.diagnostics, code))
