"""The findings of `crondor check` as JSON; `crondor schema check` has the keys."""

from __future__ import annotations

from collections import Counter

from crondor.check import Finding, Fix
from crondor.diagnostics import Severity
from crondor.source import Span
from crondor_cli.common.findings.result import ChosenReports
from crondor_cli.common.streaming import echo_json


def print_json(result: ChosenReports) -> None:
    """Print one object with the files in the order named."""
    counted = Counter(finding.diagnostic.severity for finding in result.all_findings)
    data = {
        "files": [
            {
                "name": report.source.name,
                "findings": [_finding(finding, result) for finding in result.findings(report)],
                "silenced": len(report.silenced),
            }
            for report in result.reports
        ],
        "summary": {severity.value: counted[severity] for severity in Severity},
    }
    echo_json(data)


def _finding(finding: Finding, result: ChosenReports) -> dict[str, object]:
    diagnostic = finding.diagnostic
    return {
        "code": diagnostic.code,
        "name": result.rules[diagnostic.code].name,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "place": diagnostic.span and place(diagnostic.span),
        "fix": finding.fix and _fix(finding.fix),
    }


def place(span: Span) -> dict[str, object]:
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
    edits = [{"place": place(edit.span), "text": edit.text} for edit in fix.edits]
    return {"title": fix.title, "safe": fix.safe, "edits": edits}
