"""The forms of findings that are for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from crondor_cli.common.findings.data import print_json
from crondor_cli.common.findings.github import print_github
from crondor_cli.common.findings.result import ChosenReports
from crondor_cli.common.findings.sarif import print_sarif
from crondor_cli.common.streaming import echo_json

FORMS: dict[str, Callable[[ChosenReports], None]] = {"json": print_json, "sarif": print_sarif, "github": print_github}


def print_counts(result: ChosenReports, rows: Iterable[tuple[str, int]]) -> None:
    """Print one object with the rules that found something, by code, and how often."""
    data = [
        {
            "code": code,
            "name": result.rules[code].name,
            "severity": result.rules[code].severity.value,
            "count": number,
        }
        for code, number in rows
    ]
    echo_json({"files": len(result.reports), "statistics": data})
