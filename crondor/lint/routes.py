"""Applying the rules to a configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from crondor.config import Configuration
from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.lint.fixing import Checked, Choose, Cure, Cured, Kind, cured
from crondor.lint.report import COMMENT_RULES, CheckReport, report
from crondor.lint.rule import Finding, Rule, distinct, rules_of
from crondor.lint.rules import route_matches, route_words
from crondor.lint.table import CheckedTable

TABLE_RULES = rules_of(route_matches, route_words)
"""Rules for a configuration and its table of routes."""

ROUTE_RULES: dict[str, Rule[Any]] = {each.code: each for each in (*TABLE_RULES, *COMMENT_RULES)}
"""All rules of a router's configuration, by code."""


class CheckedRoutes(NamedTuple):
    """A report for each named file, including the files it includes, and the table itself."""

    reports: tuple[CheckReport, ...]
    table: CheckedTable


def check_routes(configuration: Configuration, sources: Sequence[Source] = ()) -> CheckedRoutes:
    """Apply every rule to a configuration.

    ``sources`` are the named files in their order; without them there is one report, for the first source. Findings in
    an included file, or without a place, are in the report of the last file.
    """
    table = CheckedTable.of(configuration)
    named = tuple(sources) or configuration.sources[:1] or (Source("", "configuration"),)
    shares: dict[Source, list[Finding]] = {source: [] for source in named}
    for each in distinct(finding for rule in TABLE_RULES for finding in rule.findings(table)):
        span = each.diagnostic.span
        at = span.source if span is not None and span.source in shares else named[-1]
        shares[at].append(each)
    is_whole = configuration.is_valid
    return CheckedRoutes(
        tuple(report(source, found, ROUTE_RULES, is_whole=is_whole) for source, found in shares.items()), table
    )


def refused_routes(name: str, faults: Sequence[Diagnostic]) -> CheckReport:
    """Return the report of a file that could not be read as text."""
    rule = ROUTE_RULES["CRN601"]
    found = (Finding(replace(each, kind=rule.code), None, rule.name) for each in faults)
    return CheckReport(Source("", name), tuple(found))


def fixed_routes(
    sources: Sequence[Source], check: Callable[[Sequence[Source]], CheckedRoutes], choose: Choose = tuple
) -> list[Cured]:
    """Apply the safe fixes of the findings that ``choose`` keeps in the named files, and check again.

    ``check`` reads a configuration from the texts of these files, in their order, and applies the rules. Return for
    each file its new report, the applied fixes, and the fixes left out. A configuration that cannot be read is not
    changed. Applying it again changes nothing. Raises what ``check`` raises.
    """

    def checked(texts: Sequence[Source]) -> Checked[bool]:
        found = check(texts)
        reports = tuple(next(each for each in found.reports if each.source is text) for text in texts)
        return Checked(reports, found.table.configuration.is_valid, 4)

    def chosen(findings: Iterable[Finding]) -> Iterable[Finding]:
        names = {source.name for source in sources}
        for each in choose(findings):
            if each.fix is not None and all(edit.span.source.name in names for edit in each.fix.edits):
                yield each

    def objection(before: Checked[bool], after: Checked[bool], _: object, cures: Sequence[Cure]) -> str | None:
        had, has = before.grave(Severity.NOTE), after.grave(Severity.NOTE)
        if not after.read:
            return "the configuration could not be read any more"
        more = has.total() > had.total() - len(cures)
        return f"the configuration would then have {', '.join(sorted(has - had))}" if more else None

    begun = checked(sources)
    return cured(Kind("configuration", checked, objection), begun, chosen if begun.read else lambda _: ())
