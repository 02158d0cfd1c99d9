"""The findings of `crondor check` as JSON; `crondor config schema check` has the keys."""

from __future__ import annotations

from collections import Counter

from crondor.diagnostics import Severity
from crondor.lint.report import finding_data
from crondor_cli.common.findings.result import ChosenReports
from crondor_cli.kit.tables import echo_json


def print_json(result: ChosenReports) -> None:
    """Print one object with the files in the order named."""
    counted = Counter(finding.diagnostic.severity for finding in result.all_findings)
    data = {
        "files": [
            {
                "name": report.source.name,
                "findings": [finding_data(finding) for finding in result.findings(report)],
                "silenced": len(report.silenced),
                "baseline": result.quiet(report),
            }
            for report in result.reports
        ],
        "summary": {severity.value: counted[severity] for severity in Severity},
    }
    echo_json(data)
