"""The forms of findings that are for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from crondor_cli.common.findings.counting import RuleCount
from crondor_cli.common.findings.data import print_json
from crondor_cli.common.findings.github import print_github, print_job_summary
from crondor_cli.common.findings.result import ChosenReports
from crondor_cli.common.findings.sarif import print_sarif
from crondor_cli.kit.tables import echo_json

FORMS: dict[str, Callable[[ChosenReports], None]] = {"json": print_json, "sarif": print_sarif, "github": print_github}


def _print_counts(result: ChosenReports, rows: Iterable[RuleCount]) -> None:
    """Print one object with the rules that found something, by code, and how often."""
    data = [
        {
            "code": row.code,
            "name": result.rules[row.code].name,
            "severity": result.rules[row.code].severity.value,
            "count": row.count,
            "files": row.files,
            "fixable": row.fixable,
        }
        for row in rows
    ]
    echo_json({"files": len(result.reports), "statistics": data})


COUNTS: dict[str, Callable[[ChosenReports, Sequence[RuleCount]], None]] = {
    "json": _print_counts,
    "github": print_job_summary,
}
