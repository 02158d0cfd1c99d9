"""`crondor check --fix`: the changes as a diff, or made in the files."""

from __future__ import annotations

import difflib
import io
from dataclasses import replace

import click

from crondor.check import CheckReport
from crondor.check.fixing import fixed
from crondor.diagnostics import CrondorError, printable
from crondor.rights.replacing import Changed, replace_text
from crondor.source import Source
from crondor_cli.check.run import CheckResult
from crondor_cli.common.file_problem import file_problem
from crondor_cli.common.findings.result import STDIN
from crondor_cli.common.output import emit, say
from crondor_cli.common.show import show


def fix_files(result: CheckResult, *, write: bool, unsafe: bool) -> int:
    """Show or make the changes of every file; return the exit status.

    It is 1 where a change is shown, or where errors or warnings are left after writing.
    """
    changed = 0
    left: list[CheckReport] = []
    for report in result.reports:
        cured = fixed(report, result.settings, result.choose, unsafe=unsafe, read=result.read)
        left.append(cured.report)
        if cured.report.source.text == report.source.text:
            continue
        changed += 1
        if write:
            _write(report.source, cured.report.source)
            say(f"{printable(report.source.name)}: {', '.join(cured.titles)}")
        else:
            emit(_diff(report.source, cured.report.source))
    return _end(result, left, changed, write=write)


def _end(result: CheckResult, left: list[CheckReport], changed: int, *, write: bool) -> int:
    """Say what no fix has cured, and return the exit status."""
    after = replace(result, reports=tuple(left))
    show(finding.diagnostic for finding in after.all_findings)
    if not write and changed:
        say(f"{changed} file{'' if changed == 1 else 's'} would change: add --write to change them", err=True)
        return 2 if result.unread else 1
    if write:
        left_over = sum(1 for _ in after.all_findings)
        files = f"{changed} file{'' if changed == 1 else 's'}"
        say(f"{files} changed, {left_over} finding{'' if left_over == 1 else 's'} left", err=True)
    return after.status


def _diff(before: Source, after: Source) -> str:
    """Return a unified diff that patch(1) takes."""
    name = printable(before.name)
    return "".join(map(_ended, difflib.unified_diff(_lines(before.text), _lines(after.text), name, name)))


def _lines(text: str) -> list[str]:
    """Part a text where patch(1) and condor_submit do, and nowhere else."""
    return list(io.StringIO(text, newline="\n"))


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _write(before: Source, after: Source) -> None:
    """Replace a file's text in one step; raises UsageError where that cannot be done."""
    context = click.get_current_context(silent=True)
    shown = printable(before.name)
    if before.name == STDIN:
        raise click.UsageError("standard input cannot be changed: leave --write out to see the diff", context)
    try:
        replace_text(before.name, *(each.text.encode("utf-8", "surrogateescape") for each in (before, after)))
    except Changed:
        raise click.UsageError(f"'{shown}' has changed while it was checked; nothing was written", context) from None
    except CrondorError as error:
        reason = "; ".join(printable(each.message) for each in error.diagnostics)
        raise click.UsageError(f"cannot write '{shown}': {reason}", context) from None
    except OSError as error:
        raise file_problem("write", before.name, error) from None
