"""Applying the cures of a report, round after round, until none is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from crondor.check.edit import apply, compatible
from crondor.check.engine import Read, Report, check
from crondor.check.rule import Finding
from crondor.check.subject import Settings
from crondor.source import Source
from crondor.submit import read_submit

_ROUNDS = 10  # a cure may bring another finding to light; one that never ends is a fault of its rule

Choose = Callable[[Iterable[Finding]], Iterable[Finding]]


@dataclass(frozen=True)
class Cured:
    """The report of the changed text, and what was done, in order."""

    report: Report
    titles: tuple[str, ...]


def fixed(
    report: Report, settings: Settings, choose: Choose = tuple, *, unsafe: bool = False, read: Read = read_submit
) -> Cured:
    """Apply the safe cures of the findings that ``choose`` leaves, with ``unsafe`` all of them, and check again.

    Where two cures touch the same place the first one goes, and the other waits for the next round.
    """
    titles: dict[str, None] = {}
    for _ in range(_ROUNDS):
        fixes = [f.fix for f in choose(report.findings) if f.fix is not None and (f.fix.safe or unsafe)]
        taken = compatible(report.source, fixes)
        if not taken:
            break
        titles.update(dict.fromkeys(fix.title for fix in taken))
        edits = [edit for fix in taken for edit in fix.edits]
        report = check(Source(apply(report.source, edits), report.source.name), settings, read)
    return Cured(report, tuple(titles))
