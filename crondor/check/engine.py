"""Applying the rules to a submit description."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from crondor.check.rule import Finding
from crondor.check.rules import COMMENT_RULES, FILE_RULES, JOB_RULES, RULES
from crondor.check.rules.comments import Silence
from crondor.check.subject import CheckedFile, Settings
from crondor.check.suppress import Comments, Order
from crondor.diagnostics import CrondorError, Severity
from crondor.source import Source
from crondor.submit import SubmitFile, read_submit

_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}

Read = Callable[[Source], SubmitFile]


@dataclass(frozen=True)
class Report:
    """What was found in one description, in the order of its lines, and what its comments silenced."""

    source: Source
    findings: tuple[Finding, ...]
    silenced: tuple[Finding, ...] = ()

    @property
    def worst(self) -> Severity | None:
        """The gravest severity among the findings, None where there are none."""
        return min((finding.diagnostic.severity for finding in self.findings), key=_ORDER.__getitem__, default=None)


def check(source: Source, settings: Settings, read: Read = read_submit) -> Report:
    """Apply every rule to a submit description; ``read`` is how to read it (files it may include, for example)."""
    try:
        file = CheckedFile(source, settings, read(source))
    except CrondorError as error:
        file = CheckedFile(source, settings, None, error.diagnostics)
    return _report(file)


def refused(name: str, error: CrondorError, settings: Settings) -> Report:
    """Return the report of a file that could not be taken for text at all."""
    return _report(CheckedFile(Source("", name), settings, None, error.diagnostics))


def _report(file: CheckedFile) -> Report:
    found, silenced = _heard(file, _distinct(_findings(file)))
    return Report(file.source, tuple(sorted(found, key=_place)), tuple(silenced))


def _findings(file: CheckedFile) -> Iterator[Finding]:
    job_rules = [each for each in JOB_RULES if file.is_whole or not each.misses]
    for job in file.looked_at():
        for job_rule in job_rules:
            yield from job_rule.findings(job)
    for file_rule in FILE_RULES:  # behind the jobs, since one of them says how many were looked at
        yield from file_rule.findings(file)


def _heard(file: CheckedFile, findings: Iterable[Finding]) -> tuple[list[Finding], list[Finding]]:
    """Part the findings that comments silence from the others, and add what is wrong with the comments."""
    comments: dict[Source, Comments] = {file.source: Comments(file.source)}
    used: set[Order] = set()
    found: list[Finding] = []
    silenced: list[Finding] = []
    for finding in findings:
        span = finding.diagnostic.span
        orders: list[Order] = []
        if span is not None:
            source = span.source
            if source not in comments:
                comments[source] = Comments(source)
            orders = list(comments[source].covering(finding.diagnostic.code, span.line))
        used.update(orders)
        (silenced if orders else found).append(finding)
    silence = Silence(comments[file.source], frozenset(used), frozenset(RULES), file.is_checked)
    for comment_rule in COMMENT_RULES:
        found += comment_rule.findings(silence)
    return found, silenced


def _distinct(findings: Iterable[Finding]) -> Iterator[Finding]:
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


def _place(finding: Finding) -> tuple[str, int, int, str]:
    span = finding.diagnostic.span
    place = ("", -1) if span is None else (span.source.name, span.start)
    return (*place, _ORDER[finding.diagnostic.severity], finding.diagnostic.code)


def select(findings: Iterable[Finding], chosen: tuple[str, ...], ignored: tuple[str, ...]) -> Iterator[Finding]:
    """Keep the findings whose code begins with one of ``chosen`` (all, where that is empty) and none of ``ignored``.

    The longer prefix wins where both name a code, as in other linters.
    """
    for finding in findings:
        code = finding.diagnostic.code
        taken = max((len(prefix) for prefix in chosen if code.startswith(prefix)), default=-1 if chosen else 0)
        left = max((len(prefix) for prefix in ignored if code.startswith(prefix)), default=-1)
        if taken > left:
            yield finding
