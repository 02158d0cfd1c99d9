"""What a check found, as its views show it: the reports of files, and the findings of them that were chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crondor.diagnostics import Severity
from crondor.lint import RULES, CheckReport, Finding, Rule, select

STDIN = "<stdin>"  # the name of the text of standard input


@dataclass(frozen=True, eq=False)
class ChosenReports:
    """The reports in the order of the files, and what of them was chosen.

    ``unread`` says of each file that could not be read why; ``new`` leaves out what a baseline keeps quiet.
    """

    reports: tuple[CheckReport, ...]
    chosen: tuple[str, ...]
    ignored: tuple[str, ...]
    strict: bool
    unread: tuple[str, ...] = ()
    new: Callable[[Iterable[Finding]], list[Finding]] | None = None

    @property
    def rules(self) -> Mapping[str, Rule[Any]]:
        """The rules by code."""
        return RULES

    def findings(self, report: CheckReport) -> tuple[Finding, ...]:
        """Return the findings of a report that --select, --ignore and --baseline leave."""
        return self.choose(report.findings)

    def quiet(self, report: CheckReport) -> int:
        """Return how many findings of a report the baseline keeps quiet."""
        return len(self._selected(report.findings)) - len(self.findings(report))

    def choose(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Leave out the findings that --select and --ignore do not want, and those that the baseline knows."""
        selected = self._selected(findings)
        return selected if self.new is None else tuple(self.new(selected))

    def _selected(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        return tuple(select(findings, self.chosen, self.ignored))

    @property
    def all_findings(self) -> Iterator[Finding]:
        """The findings of all files; one about a file that several include, once."""
        seen = set()
        for report in self.reports:
            for finding in self.findings(report):
                span = finding.diagnostic.span
                key = (finding.diagnostic.code, finding.diagnostic.message, span and (span.source.name, span.start))
                if span is None or span.source.name == STDIN or key not in seen:
                    seen.add(key)
                    yield finding

    @property
    def status(self) -> int:
        """The exit status."""
        if self.unread:
            return 2
        counted = set(Severity) if self.strict else {Severity.ERROR, Severity.WARNING}
        return int(any(finding.diagnostic.severity in counted for finding in self.all_findings))
