"""The findings of `crondor check` for people: blocks with the line underlined, a summary, or a count by rule."""

from __future__ import annotations

import sys
from collections import Counter

import click

from crondor.diagnostics import Severity, render
from crondor.lint import Finding, Fix
from crondor_cli.common.findings.changes import change_lines
from crondor_cli.common.findings.counting import counted
from crondor_cli.common.findings.forms import COUNTS, FORMS
from crondor_cli.common.findings.result import ChosenReports
from crondor_cli.kit.screen import SCREEN, coloured, echo_lines, say, screen_columns, whole

_FIXABLE = "[*]"  # marks what --fix cures


def print_report(result: ChosenReports, form: str, *, quiet: bool = False) -> None:
    """Print the findings of all files in one of the forms; ``quiet`` leaves the summary of those for people out."""
    if form in {"text", "concise"}:
        _print_text(result, is_concise=form == "concise", quiet=quiet)
    else:
        FORMS[form](result)


def _print_text(result: ChosenReports, *, is_concise: bool, quiet: bool) -> None:
    colour, columns = SCREEN.wants_colour(sys.stdout), screen_columns(sys.stdout)
    count: Counter[Severity] = Counter()
    cures: Counter[bool] = Counter()
    for finding in result.all_findings:
        head, *more = render(finding.diagnostic, columns).split("\n")
        if finding.fix is not None:
            head += f" {_FIXABLE}" if finding.fix.safe else ""
            more += [f"    = fix: {finding.fix.title} ({_option(finding)})"]
            cures[finding.fix.safe] += 1
        text = head if is_concise else "\n".join([head, *more])
        say(coloured(text) if colour else text)
        if finding.fix is not None and not is_concise:
            echo_lines(whole(f"        {line}") for line in _change_lines(finding.fix))
        count[finding.diagnostic.severity] += 1
    if not quiet:
        say(_summary(len(result.reports), count, cures, sum(map(result.quiet, result.reports))))


def _change_lines(fix: Fix) -> list[str]:
    return change_lines(fix)


def _option(finding: Finding) -> str:
    return "--fix" if finding.fix is not None and finding.fix.safe else "--fix --unsafe"


def _summary(files: int, count: Counter[Severity], cures: Counter[bool], known: int = 0) -> str:
    checked = _many(files, "file")
    if not count:
        return f"{checked} checked: " + (f"nothing new; the baseline knows {known}" if known else "nothing found")
    found = ", ".join(_many(count[severity], severity.value) for severity in Severity if count[severity])
    cured = f"; {_FIXABLE} --fix cures {cures[True]}" if cures[True] else ""
    more = f"{',' if cured else ';'} --fix --unsafe {cures.total()}" if cures[False] else ""
    quiet = f"; the baseline knows {known} more" if known else ""
    return f"{checked} checked: {found}{cured}{more}{quiet}"


def _many(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def print_statistics(result: ChosenReports, form: str, *, quiet: bool = False) -> None:
    """Print how often each rule found something, the most frequent first; ``quiet`` leaves the summary out.

    The form ``github`` is Markdown, for the summary of a job. Raises UsageError for one that has no counts.
    """
    rows = counted(result.all_findings)
    if form not in {"text", "concise"}:
        if form not in COUNTS:
            message = f"--statistics counts, and --format {form} has no place for that: text, json or github"
            raise click.UsageError(message, click.get_current_context(silent=True))
        COUNTS[form](result, rows)
        return
    width = max((len(str(row.count)) for row in rows), default=1)
    for row in rows:
        rule = result.rules[row.code]
        mark = f" {_FIXABLE}" if row.fixable else ""
        say(f"{row.count:>{width}}  {row.code}  {rule.name}: {rule.title}{mark}")
    if not quiet:
        say(summary(result))


def summary(result: ChosenReports) -> str:
    """Return the line that ends a report."""
    findings = list(result.all_findings)
    count = Counter(finding.diagnostic.severity for finding in findings)
    cures = Counter(finding.fix.safe for finding in findings if finding.fix is not None)
    return _summary(len(result.reports), count, cures, sum(map(result.quiet, result.reports)))
