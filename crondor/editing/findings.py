"""What is wrong with a text: exactly what the commands find, each by its own rules or its own reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from crondor.classad import ReadMode, read_ads
from crondor.crontab.file import is_system_crontab, read_crontab
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.editing.kinds import TextKind
from crondor.editing.reading import ReadText
from crondor.lint import CheckReport, Finding, page, select
from crondor.lint.routes import check_routes
from crondor.lint.submit import report_of
from crondor.source import Source, Span
from crondor.transform import Transform, TransformFacts
from crondor.transform.circular import find_circles

_ROUTER = "job_router"  # a configuration that says nothing of it is no router's
_READING = ("CRN601", "CRN602", "CRN603", "CRN9")  # what is found of any configuration


@dataclass(frozen=True)
class CheckedText:
    """The findings of a text; their places are of ``source`` itself, or of a file that it includes.

    ``report`` is that of a submit description, whose fixes can be applied one after the other.
    """

    source: Source
    findings: tuple[Finding, ...]
    report: CheckReport | None = None


def check_text(text: ReadText) -> CheckedText:
    """Return what is wrong with a text; raises nothing, runs nothing, and is bounded as the commands are."""
    found = _CHECKS[text.kind](text)
    return replace(found, findings=tuple(_at_home(found.findings, text.source)))


def _submit(text: ReadText) -> CheckedText:
    source, settings = text.source, text.settings
    report = report_of(text.to_check())
    found: Iterable[Finding] = select(report.findings, settings.chosen, settings.ignored)
    kept = tuple(found if settings.new is None else settings.new(found))
    return CheckedText(source, kept, report)


def _config(text: ReadText) -> CheckedText:
    source, configuration = text.source, text.configuration
    reports = check_routes(configuration, [source]).reports
    is_router = any(name.startswith(_ROUTER) for name in configuration.knobs)
    chosen = () if is_router else _READING
    found = tuple(select((each for report in reports for each in report.findings), chosen, ()))
    return CheckedText(source, found)


def _transform(text: ReadText) -> CheckedText:
    source, settings = text.source, text.settings
    facts = TransformFacts(environ=settings.environ, context=settings.context, files=settings.files)
    try:
        made = Transform.parse(source, facts=facts, strict=False)
    except CrondorError as error:
        return _said(source, error.diagnostics)
    return _said(source, (*made.faults, *made.warnings, *find_circles([made], facts)))


def _ad(text: ReadText) -> CheckedText:
    source = text.source
    found: dict[Diagnostic, None] = {}
    for _ad in read_ads(
        source.text, None, ReadMode.STRICT, name=source.name, report=lambda each: found.update([(each, None)])
    ):
        continue
    return _said(source, found)


def _crontab(text: ReadText) -> CheckedText:
    source = text.source
    return _said(source, read_crontab(source, has_users=is_system_crontab(source.name)).diagnostics)


def _said(source: Source, found: Iterable[Diagnostic]) -> CheckedText:
    return CheckedText(source, tuple(map(Finding, found)))


_CHECKS: Mapping[TextKind, Callable[[ReadText], CheckedText]] = {
    TextKind.SUBMIT: _submit,
    TextKind.CONFIG: _config,
    TextKind.TRANSFORM: _transform,
    TextKind.AD: _ad,
    TextKind.CRONTAB: _crontab,
}


def _at_home(findings: Iterable[Finding], source: Source) -> Iterator[Finding]:
    """Yield findings with the places of pieces of a text as places of the text."""
    starts: list[int] = []
    for finding in findings:
        span = finding.diagnostic.span
        if span is None or span.source is source or span.source.name != source.name:
            yield finding
            continue
        starts = starts or [0, *(found.end() for found in re.finditer("\n", source.text))]
        start, end = (_offset(starts, source, *span.source.position(at)) for at in (span.start, span.end))
        yield finding._replace(diagnostic=replace(finding.diagnostic, span=Span(source, start, max(start, end))))


def _offset(starts: Sequence[int], source: Source, line: int, column: int) -> int:
    """Return the offset of a line and a column (both from 1), kept inside the text."""
    size = len(source.text)
    return min(starts[line - 1] + column - 1, size) if line <= len(starts) else size


def explanation(code: str) -> str | None:
    """Return the page of a rule (Markdown), None for a code that is no rule's."""
    try:
        return page(code)
    except KeyError:
        return None
