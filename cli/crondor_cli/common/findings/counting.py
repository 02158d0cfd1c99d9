"""How often each rule found something."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crondor.lint import Finding


@dataclass(frozen=True)
class RuleCount:
    """The findings of one rule: how many, in how many files, and how many of them `--fix` cures."""

    code: str
    count: int
    files: int
    fixable: int


def counted(findings: Iterable[Finding]) -> list[RuleCount]:
    """Count findings by rule, the most frequent first."""
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.diagnostic.code, []).append(finding)
    rows = [
        RuleCount(
            code,
            len(found),
            len({each.diagnostic.span and each.diagnostic.span.source.name for each in found}),
            sum(each.fix is not None and each.fix.safe for each in found),
        )
        for code, found in by_code.items()
    ]
    return sorted(rows, key=lambda row: (-row.count, row.code))
