"""Applying the fixes of a report, round after round, until none is left that fixes anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from crondor.check.edit import TextChange, changed, compatible
from crondor.check.engine import CheckReport, Read, check_submit
from crondor.check.rule import Finding, Fix
from crondor.check.subject import CheckSettings
from crondor.diagnostics import Diagnostic, Severity
from crondor.source import Source
from crondor.submit import read_submit

_ROUNDS = 40  # a fix may bring another finding to light; whoever goes in a circle changes nothing
_READING = "CRN0"  # with what such codes have found nobody can read a text, or, with the next, submit it
_REFUSED = "CRN017"
_VALUES = ("CRN1", "CRN3")  # of values: those of cron fields, and those of expressions and numbers

Choose = Callable[[Iterable[Finding]], Iterable[Finding]]


@dataclass(frozen=True)
class Cured:
    """The report of the changed text, and what was done, in order."""

    report: CheckReport
    titles: tuple[str, ...]


def fixed(
    report: CheckReport,
    settings: CheckSettings,
    choose: Choose = tuple,
    *,
    unsafe: bool = False,
    read: Read = read_submit,
) -> Cured:
    """Apply the safe fixes of the findings that ``choose`` leaves, with ``unsafe`` all of them, and check again.

    Where two fixes touch the same place the first one goes, and the other waits for the next round. Each new text is
    read and checked before it counts: a fix is dropped after which its finding is still there, the value that it
    wrote is wrong, or the text cannot be read any more. So a second time changes nothing.
    """
    begun = report
    fixing = _Fixing(settings, read)
    titles: dict[str, None] = {}
    for _ in range(_ROUNDS):
        cures = [
            _Cure(finding.diagnostic, finding.fix)
            for finding in choose(report.findings)
            if finding.fix is not None and (finding.fix.safe or unsafe)
        ]
        taken, report = fixing.round(report, cures)
        if not taken:
            return Cured(report, tuple(titles))
        titles.update(dict.fromkeys(fix.title for fix in taken))
    return Cured(begun, ())


class _Cure(NamedTuple):
    """A fix, and the finding that it fixes."""

    found: Diagnostic
    fix: Fix

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart from others when it comes again: its code and title, and the line it is found in."""
        span = self.found.span
        return self.found.code, self.fix.title, "" if span is None else span.source.line(span.line)


class _Fixing:
    """One run of fixes, with those that turned out to be none."""

    def __init__(self, settings: CheckSettings, read: Read) -> None:
        self._settings = settings
        self._read = read
        self._dropped: set[tuple[str, str, str]] = set()

    def round(self, report: CheckReport, cures: Iterable[_Cure]) -> tuple[list[Fix], CheckReport]:
        """Return the fixes that were applied, and the report of the text after them; none, and the same report."""
        left = [cure for cure in cures if cure.key not in self._dropped]
        after = self._together(report, left)
        if after is None and len(left) > 1:
            left = [cure for cure in left if self._holds(report, cure)]
            after = self._together(report, left) or self._together(report, left[:1])
        if after is None:
            self._dropped.update(cure.key for cure in left)
            return [], report
        return after

    def _holds(self, report: CheckReport, cure: _Cure) -> bool:
        """Say whether a fix is one by itself; one that is none is not tried again."""
        holds = self._after(report, [cure]) is not None
        if not holds:
            self._dropped.add(cure.key)
        return holds

    def _together(self, report: CheckReport, cures: list[_Cure]) -> tuple[list[Fix], CheckReport] | None:
        """Return those of some fixes that can be applied at once, and the report after them; None: they do not hold."""
        fixes = compatible(report.source, [cure.fix for cure in cures])
        after = self._after(report, [cure for cure in cures if any(cure.fix is fix for fix in fixes)])
        return None if after is None else (fixes, after)

    def _after(self, report: CheckReport, cures: Sequence[_Cure]) -> CheckReport | None:
        """Return the report of the text after some fixes, None where they do not fix, or make something worse."""
        edits = [edit for cure in cures for edit in cure.fix.edits]
        if not edits:
            return None
        change = changed(report.source, edits)
        after = check_submit(Source(change.text, report.source.name), self._settings, self._read)
        found = {(each.diagnostic.code, each.diagnostic.message, _start(each, after)) for each in after.findings}
        for cure in cures:
            at = _start(Finding(cure.found), report)
            if (cure.found.code, cure.found.message, None if at is None else change.place(at)) in found:
                return None
        return None if _is_worse(report, after, change) else after


def _start(finding: Finding, report: CheckReport) -> int | None:
    span = finding.diagnostic.span
    return span.start if span is not None and span.source is report.source else None


def _is_worse(before: CheckReport, after: CheckReport, change: TextChange) -> bool:
    """Say whether a text cannot be read any more, or a value is wrong that was written."""
    had, faults = _errors(before), _errors(after)
    known = {each.code for each in had}
    hidden = any(code.startswith(_READING) and code != _REFUSED for code in known)  # nothing else was seen of the text
    if not hidden and any(each.code.startswith(_READING) and each.code not in known for each in faults):
        return True
    wrong = [each.span for each in faults if each.code.startswith(_VALUES)]
    spans = [span for span in wrong if span is not None and span.source is after.source]
    return any(span.start < end and start < span.end for span in spans for _, (start, end) in change.written)


def _errors(report: CheckReport) -> list[Diagnostic]:
    found = [each.diagnostic for each in (*report.findings, *report.silenced)]
    return [each for each in found if each.severity is Severity.ERROR]
