"""What is left of findings: one of each place, in the order of the lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from crondor.check.rule import Finding
from crondor.diagnostics import Severity

ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def distinct(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Keep one finding of each code and place, however many jobs and values share it."""
    places: dict[object, dict[str, Finding]] = {}
    for finding in findings:
        span = finding.diagnostic.span
        place = (finding.diagnostic.code, span and (span.source.name, span.start, span.end))
        places.setdefault(place, {}).setdefault(finding.diagnostic.message, finding)
    for found in places.values():
        first = next(iter(found.values()))
        others = len(found) - 1
        if others:
            more = f"{first.diagnostic.message}; and so for {others} other value{'s' if others > 1 else ''} of it"
            first = first._replace(diagnostic=replace(first.diagnostic, message=more), fix=None)
        yield first


def place(finding: Finding) -> tuple[str, int, int, str]:
    """Return what a finding is sorted by: its file, its place, its severity, its code."""
    span = finding.diagnostic.span
    at = ("", -1) if span is None else (span.source.name, span.start)
    return (*at, ORDER[finding.diagnostic.severity], finding.diagnostic.code)
