"""Files that fixes have changed: the changes as a diff, or made in the files; and what no fix has cured."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace

import click

from crondor.diagnostics import Source, printable
from crondor.lint import CheckReport
from crondor.lint.fixing import Cured
from crondor_cli.common.changed_text import diff_of, write_source
from crondor_cli.common.findings.result import ChosenReports
from crondor_cli.kit.screen import emit, in_order, reads_commands, say, shown


def report_fixed(result: ChosenReports, cures: Iterable[tuple[CheckReport, Cured]], *, write: bool) -> int:
    """Show or make the changes of every file, each as it was and as it is cured; return the exit status.

    It is 1 where a change is shown, or where errors or warnings are left after writing.
    """
    changed = 0
    left: list[Cured] = []
    failed: list[click.UsageError] = []
    for report, cured in cures:
        if cured.report.source.text != report.source.text:
            try:
                _show_or_write(report.source, cured, write=write)
                changed += 1
            except click.UsageError as problem:
                failed.append(problem)
                left.append(Cured(report, ()))
                continue
        left.append(cured)
    status = _end(result, left, changed, write=write)
    for error in failed:
        say(f"Error: {error.message}", err=True)
    return 2 if failed else status


def _show_or_write(before: Source, cured: Cured, *, write: bool) -> None:
    """Show or make the changes of a file. Raises UsageError where it cannot be written."""
    if write:
        write_source(before, cured.report.source)
        say(f"{printable(before.name)}: {', '.join(cured.titles)}")
        return
    diff = diff_of(before, cured.report.source)
    if reads_commands():
        say(diff, nl=False, fits=False)
    else:
        emit(diff.encode("utf-8", "surrogateescape"))


def _end(result: ChosenReports, left: list[Cured], changed: int, *, write: bool) -> int:
    """Say what no fix has cured, and why a fix was left out; return the exit status."""
    after = replace(result, reports=tuple(cured.report for cured in left))
    reasons = {
        (each.diagnostic.code, each.diagnostic.span): f"    = not fixed: {each.fix.title}: {each.reason}"
        for cured in left
        for each in cured.left
    }
    for each in in_order(finding.diagnostic for finding in after.all_findings):
        say(shown(each, sys.stderr), err=True)
        if (each.code, each.span) in reasons:
            say(printable(reasons[each.code, each.span]), err=True)
    if not write and changed:
        say(f"{changed} file{'' if changed == 1 else 's'} would change: add --write to change them", err=True)
        return 2 if result.unread else 1
    if write:
        left_over = sum(1 for _ in after.all_findings)
        files = f"{changed} file{'' if changed == 1 else 's'}"
        say(f"{files} changed, {left_over} finding{'' if left_over == 1 else 's'} left", err=True)
    return after.status
