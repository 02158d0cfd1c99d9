"""Findings in a text, the same as from the commands, with their edits, comments and compiled lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from crondor.classad import ReadMode, read_ads
from crondor.compile.markers import BEGIN, END, is_order, read_policies
from crondor.compile.meaning import WrittenSchedule, read_schedule, schedule_line
from crondor.compile.writing.wish import LineOptions, Wish, default_end
from crondor.compiled_text import compile_text
from crondor.crontab.file import is_system_crontab, read_crontab
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span, lines_of
from crondor.editing.reading import EditSettings, LineKind, ReadText, TextKind
from crondor.lint import CheckReport, Finding, TextEdit, page, select
from crondor.lint.dags import check_dag
from crondor.lint.routes import check_routes
from crondor.lint.subject import CheckEffort
from crondor.lint.submit import fixed, report_of
from crondor.submit.edits import line_end
from crondor.transform import Transform, TransformFacts
from crondor.transform.loading import find_circles
from crondor.zones import zone_of

_ROUTER = "job_router"  # a configuration that does not mention it is not a router's
_READING = ("CRN601", "CRN602", "CRN603", "CRN9")  # findings that any configuration may have


@dataclass(frozen=True)
class CheckedText:
    """The findings of a text; their places are in ``source`` itself, or in an included file.

    ``report`` is that of a submit description, whose fixes can be applied one after the other.
    """

    source: Source
    findings: tuple[Finding, ...]
    report: CheckReport | None = None


def check_text(text: ReadText) -> CheckedText:
    """Return the findings of a text; raises nothing, runs nothing, and has the limits of the commands."""
    found = _CHECKS[text.kind](text)
    return replace(found, findings=tuple(_at_home(found.findings, text.source)))


def _submit(text: ReadText) -> CheckedText:
    source, settings = text.source, text.settings
    report = report_of(replace(text.jobs, effort=CheckEffort()))
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


def _dag(text: ReadText) -> CheckedText:
    source, settings = text.source, text.settings
    reports = check_dag(source, settings.check, settings.files, settings.read_node)
    found = select((each for report in reports for each in report.findings), settings.chosen, settings.ignored)
    return CheckedText(source, tuple(found if settings.new is None else settings.new(found)))


def _said(source: Source, found: Iterable[Diagnostic]) -> CheckedText:
    return CheckedText(source, tuple(map(Finding, found)))


_CHECKS: Mapping[TextKind, Callable[[ReadText], CheckedText]] = {
    TextKind.SUBMIT: _submit,
    TextKind.CONFIG: _config,
    TextKind.TRANSFORM: _transform,
    TextKind.AD: _ad,
    TextKind.CRONTAB: _crontab,
    TextKind.DAG: _dag,
}


def _at_home(findings: Iterable[Finding], source: Source) -> Iterator[Finding]:
    """Yield findings with places in pieces of a text moved to the text."""
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
    """Return the page of a rule (Markdown), None for a code without one."""
    try:
        return page(code)
    except KeyError:
        return None


_ORDER: Final = re.compile(r"[ \t]*#[ \t]*crondor[ \t]*:[ \t]*ignore[ \t]*\[([^\[\]\r\n]*)\][ \t]*\r?")


def safe_fixes(checked: CheckedText, settings: EditSettings) -> TextEdit | None:
    """Return the edit with all safe fixes of a submit description, None if there are none.

    They are those of `crondor check --fix`: none makes the text worse.
    """
    if checked.report is None or not any(each.fix is not None and each.fix.safe for each in checked.findings):
        return None
    cured = fixed(
        checked.report,
        settings.check,
        lambda found: select(found, settings.chosen, settings.ignored),
        read=settings.read,
    )
    return difference(checked.source, cured.report.source.text)


def difference(source: Source, new: str) -> TextEdit | None:
    """Return the one edit that turns one text into another, without their common beginning and end; None if equal."""
    old = source.text
    if old == new:
        return None
    most = min(len(old), len(new))
    begin = next((at for at in range(most) if old[at] != new[at]), most)
    end = next((at for at in range(most - begin) if old[-1 - at] != new[-1 - at]), most - begin)
    return TextEdit(source.span(begin, len(old) - end), new[begin : len(new) - end])


def silenced(source: Source, at: int, code: str) -> TextEdit | None:
    """Return the edit that silences a rule at an offset: a comment above it, or its code in an existing one.

    None if there can be no comment above it.
    """
    text = source.text
    begin = text.rfind("\n", 0, at) + 1
    while begin and text[: begin - 1].removesuffix("\r").endswith("\\"):
        begin = text.rfind("\n", 0, begin - 1) + 1
    above = text.rfind("\n", 0, max(0, begin - 1)) + 1
    order = _ORDER.fullmatch(text, above, max(above, begin - 1)) if begin else None
    if order is not None:
        end = order.end(1)
        return TextEdit(source.span(end, end), f", {code}")
    margin = re.compile(r"[ \t]*").match(text, begin)
    blanks = margin[0] if margin else ""
    return TextEdit(source.span(begin, begin), f"{blanks}# crondor: ignore[{code}]{line_end(text, begin)}")


_ZONE: Final = re.compile(r"(?i)\bzone[ \t]+(\S+)")
_OF_CRONTABS: Final = frozenset(("cron_tz", "tz"))


def schedule_at(text: ReadText, offset: int) -> Span | None:
    """Return the text of the description's own schedule if an offset is in its line, else None."""
    if text.kind is not TextKind.SUBMIT:
        return None
    try:
        line = schedule_line(text.source)
    except CrondorError:
        return None
    begin = text.source.text.rfind("\n", 0, line.start) + 1 if line is not None else 0
    return line if line is not None and begin <= offset <= line.end else None


def zone_at(text: ReadText, offset: int) -> Span | None:
    """Return the name of a zone at an offset: in a schedule, or in a crontab's variable; None if there is none."""
    if text.kind is TextKind.CRONTAB:
        written = text.outline.at(offset)
        if written is None or written.kind is not LineKind.ASSIGNMENT or written.key.lower() not in _OF_CRONTABS:
            return None
        span = written.line.span(written.value)
        return span if span.start <= offset <= span.end else None
    line = schedule_at(text, offset)
    if line is None:
        return None
    spans = (line.part(*found.span(1)) for found in _ZONE.finditer(line.text))
    return next((span for span in spans if span.start <= offset <= span.end), None)


def read_said(said: str | Span, settings: EditSettings) -> WrittenSchedule:
    """Return the schedule of a text. Raises InvalidSchedule."""
    check = settings.check
    host = zone_of(check.zone)
    if check.policy is None:
        return read_schedule(said, zone=host, files=settings.files)
    return read_schedule(said, zone=host, files=settings.files, policy=check.policy)


_COMMENT: Final = re.compile(r"(?P<margin>[ \t]*#)[ \t]*(?P<text>[^\r\n]*?)[ \t]*\r?$", re.MULTILINE)
_LONGEST: Final = 500  # characters of a comment that may be a schedule


def says_schedule(text: ReadText, offset: int) -> bool:
    """Return whether the text at an offset can be compiled.

    That is the description's schedule line, a policy, its compiled lines, or, without such a line, a comment that is
    a valid schedule.
    """
    if text.kind is not TextKind.SUBMIT:
        return False
    try:
        line = schedule_line(text.source)
    except CrondorError:
        return False
    if line is not None:
        lines = (line, *read_policies(text.source).places.values())
        return any(_is_of(text.source, each, offset) for each in lines)
    return _commented(text, offset) is not None


def compiled(text: ReadText, offset: int) -> TextEdit | None:
    """Return the edit that adds the compiled lines of the schedule at an offset; None if the present ones match.

    They are those of `crondor compile --write`. Raises CrondorError for a schedule that cannot be read or compiled, and
    if other lines conflict.
    """
    source, settings = text.source, text.settings
    written = _commented(text, offset) if schedule_line(source) is None else None
    if written is not None:
        begin, end = written
        said = source.text[begin:end]
        source = Source(f"{source.text[:begin]}crondor: schedule = {said}{source.text[end:]}", source.name)
    line = schedule_line(source)
    if line is None:
        return None
    schedule = read_said(line, settings)
    made = compile_text(source, lambda universe, options: _wish(schedule, universe, options, settings), settings.read)
    return difference(text.source, made.text)


def _wish(schedule: WrittenSchedule, universe: str | None, options: LineOptions, settings: EditSettings) -> Wish:
    check = settings.check
    options = options.over(LineOptions(schedd_interval=check.schedd_interval))
    return options.wish(schedule, zone_of(check.zone), check.now, default_end(check.now), universe=universe)


def _commented(text: ReadText, offset: int) -> tuple[int, int] | None:
    """Return the place of the schedule in a comment at an offset, None if it has none."""
    whole = text.source.text
    found = _COMMENT.match(whole, whole.rfind("\n", 0, offset) + 1)
    if found is None or not found["text"] or len(found["text"]) > _LONGEST or is_order(found[0]):
        return None
    try:
        read_said(found["text"], text.settings)
    except CrondorError:
        return None
    return found.span("text")


def _is_of(source: Source, line: Span, offset: int) -> bool:
    """Return whether an offset is in the line of the schedule or a policy, or in the compiled lines."""
    text = source.text
    begin = text.rfind("\n", 0, line.start) + 1
    if begin <= offset <= line.end:
        return True
    inside, at = False, 0
    for each in lines_of(text):
        bare = each.rstrip("\r\n")
        is_end = END.fullmatch(bare) is not None
        inside = inside or BEGIN.fullmatch(bare) is not None
        if at <= offset < at + len(each):
            return inside
        inside = inside and not is_end
        at += len(each)
    return False
