"""Findings as plain values, for JSON: what `crondor check --format json` prints, and a service answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crondor.check.engine import CheckReport
from crondor.check.rule import Finding, Fix, Rule
from crondor.check.rules import RULES
from crondor.source import Span


def report_data(report: CheckReport) -> dict[str, object]:
    """Return what was found in one description: its name, the findings in the order of lines, how many are silenced."""
    findings = [finding_data(finding, RULES) for finding in report.findings]
    return {"name": report.source.name, "findings": findings, "silenced": len(report.silenced)}


def finding_data(finding: Finding, rules: Mapping[str, Rule[Any]] = RULES) -> dict[str, object]:
    """Return one finding; ``rules`` are those that may have made it, by code.

    The keys are those of docs/cli/check.md, "JSON". Raises KeyError for a code that is none of the rules.
    """
    diagnostic = finding.diagnostic
    return {
        "code": diagnostic.code,
        "name": rules[diagnostic.code].name,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "place": diagnostic.span and place_data(diagnostic.span),
        "fix": finding.fix and _fix(finding.fix),
    }


def place_data(span: Span) -> dict[str, object]:
    """Return file, lines and columns (from 1, the end excluded) of a piece of a source."""
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "end_line": end_line,
        "end_column": end_column,
    }


def _fix(fix: Fix) -> dict[str, object]:
    edits = [{"place": place_data(edit.span), "text": edit.text} for edit in fix.edits]
    return {"title": fix.title, "safe": fix.safe, "edits": edits}
