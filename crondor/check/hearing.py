"""What is left of findings: one of each place, those that no comment silences, in the order of the lines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from crondor.check.rule import Finding, Rule
from crondor.check.rules.comments import Silence
from crondor.check.suppress import Comments, Order
from crondor.diagnostics import Severity
from crondor.source import Source

ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def heard(
    findings: Iterable[Finding],
    source: Source,
    rules: Iterable[Rule[Silence]],
    codes: Collection[str],
    *,
    is_whole: bool,
) -> tuple[list[Finding], list[Finding]]:
    """Part the findings that comments silence from the others, and add what is wrong with the comments of ``source``.

    ``rules`` are those about comments, ``codes`` all that a comment may name; ``is_whole``: the text could be read,
    so that what was not found is not there.
    """
    comments: dict[Source, Comments] = {source: Comments(source)}
    used: set[Order] = set()
    found: list[Finding] = []
    silenced: list[Finding] = []
    for finding in findings:
        span = finding.diagnostic.span
        orders: list[Order] = []
        if span is not None:
            if span.source not in comments:
                comments[span.source] = Comments(span.source)
            orders = list(comments[span.source].covering(finding.diagnostic.code, span.line))
        used.update(orders)
        (silenced if orders else found).append(finding)
    silence = Silence(comments[source], frozenset(used), frozenset(codes), is_whole)
    for comment_rule in rules:
        found += comment_rule.findings(silence)
    return found, silenced


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
