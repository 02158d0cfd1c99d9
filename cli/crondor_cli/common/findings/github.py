"""The findings of `crondor check` as workflow commands of GitHub Actions, which shows them beside the lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crondor.diagnostics import Diagnostic, Severity, printable
from crondor_cli.common.findings.counting import RuleCount
from crondor_cli.common.findings.result import ChosenReports
from crondor_cli.kit.screen import emit, say, without_commands
from crondor_cli.kit.tables import plural

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def print_github(result: ChosenReports) -> None:
    """Print a line for each finding."""
    for finding in result.all_findings:
        emit(_line(finding.diagnostic, result), nl=True)


def print_job_summary(result: ChosenReports, rows: Sequence[RuleCount]) -> None:
    """Print the counts as Markdown, for the page of a job ($GITHUB_STEP_SUMMARY)."""
    files = len(result.reports)
    if not rows:
        say(f"crondor checked {plural(files, 'file')} and found nothing.")
        return
    total = sum(row.count for row in rows)
    say(f"crondor checked {plural(files, 'file')}: {plural(total, 'finding')}.\n")
    say("| findings | in files | rule | level | what | cured by --fix |\n|---:|---:|---|---|---|---:|", fits=False)
    for row in rows:
        rule = result.rules[row.code]
        title = rule.title.replace("*", "\\*").replace("|", "\\|")
        cells = (row.count, row.files, f"{row.code} {rule.name}", rule.severity.value, title, row.fixable)
        say(f"| {' | '.join(map(str, cells))} |", fits=False)


def _line(diagnostic: Diagnostic, result: ChosenReports) -> str:
    properties = {"title": f"{diagnostic.code} {result.rules[diagnostic.code].name}"}
    span = diagnostic.span
    if span is not None:
        end_line, end_column = span.source.position(span.end)
        properties |= {"file": span.source.name, "line": str(span.line), "endLine": str(end_line)}
        if end_line == span.line:  # GitHub takes columns within one line only
            properties |= {"col": str(span.column), "endColumn": str(end_column)}
    text = diagnostic.message + (f"\nhelp: {diagnostic.help}" if diagnostic.help else "")
    return github_line(_LEVELS[diagnostic.severity], properties, text)


def github_line(level: str, properties: Mapping[str, str], text: str) -> str:
    """Return a workflow command with a text and what belongs to it: title, file, line."""
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {said}::{_data(text)}"


def _data(text: str) -> str:
    """Escape as the runner unescapes a message; nothing in it acts on a terminal, or is a command of its own."""
    text = without_commands("".join(c if c in "\r\n" else printable(c) for c in text))
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
