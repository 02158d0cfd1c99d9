"""`crondor check --fix`: the changes as a diff, or made in the files."""

from __future__ import annotations

from crondor.lint.submit import fixed
from crondor_cli.check.run import CheckResult
from crondor_cli.common.fixed_files import report_fixed


def fix_files(result: CheckResult, *, write: bool, unsafe: bool) -> int:
    """Show or make the changes of every file; return the exit status."""
    cures = (
        (report, fixed(report, result.settings, result.choose, unsafe=unsafe, read=result.read))
        for report in result.reports
    )
    return report_fixed(result, cures, write=write)
