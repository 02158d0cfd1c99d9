"""CRN0..: what condor_submit would refuse, and what crondor cannot know; every code of the reader has a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from crondor.calendar import DAY
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Span
from crondor.knowledge.releases import OLDEST, Release
from crondor.lint.made import MOST_JOBS
from crondor.lint.rule import Fix, Rule, RuleHit, rule
from crondor.lint.rules.deferral import bad_expression, bad_number, no_universe
from crondor.lint.rules.files import swallowed
from crondor.lint.rules.text import comment_behind
from crondor.lint.subject import CheckedFile
from crondor.submit.edits import TextEdit, line_end
from crondor.zones import Zone

if TYPE_CHECKING:
    from crondor.compile.writing.superset import Proof

Cure = Callable[[CheckedFile, Diagnostic], Fix | None]

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING

# The first releases that accept a file without a queue statement (one job), or a macro without a value.
_GOES_ON_SINCE = {"no-queue": Release(25, 14), "macro-function": Release(25, 13)}

_READING = frozenset(f"CRN{number:03}" for number in range(1, 17))


def owner(fault: Diagnostic) -> str:
    """Return the rule for a fault of the reader: CRN001 if no other rule has it."""
    return fault.code if fault.code in _READING else "CRN001"


def _said(rule: str, cure: Cure | None, severity: Severity | None, file: CheckedFile) -> Iterator[RuleHit]:
    """Pass on the reader's faults with the codes of a rule; ``severity`` if crondor, not the file, is the cause."""
    for fault in file.all_faults:
        if owner(fault) == rule and not (fault.kind == "no-queue" and _is_swallowed(file)):
            fix = cure(file, fault) if cure is not None else None
            is_refused = file.settings.target < _GOES_ON_SINCE.get(fault.kind, OLDEST)
            graver = Severity.ERROR if is_refused else fault.severity
            yield RuleHit(fault.message, fault.span, fault.help, fix, severity or graver)


def _is_swallowed(file: CheckedFile) -> bool:
    """Return whether the queue statement is part of a value, which CRN593 reports."""
    return any("queue" in hit.message for hit in swallowed.function(file))


def _equals(file: CheckedFile, fault: Diagnostic) -> Fix | None:
    """Return the fix of a colon that should be =."""
    if fault.kind != "colon" or fault.span is None or fault.span.source is not file.source:
        return None
    return Fix("write =", (TextEdit(fault.span, "="),))


def _queue(file: CheckedFile, _: Diagnostic) -> Fix:
    """Return the line that releases before 25.14 require."""
    text = file.source.text
    at = file.source.span(len(text))
    end = line_end(text, len(text))
    return Fix("end the file with queue", (TextEdit(at, f"{'' if text.endswith(chr(10)) else end}queue{end}"),))


def _ends(file: CheckedFile, fault: Diagnostic) -> Fix | None:
    """Return the fix of a byte order mark, or of a last line without a line end."""
    if fault.span is None or fault.span.source is not file.source:
        return None
    if fault.kind == "byte-order-mark":
        return Fix("remove the byte order mark", (TextEdit(fault.span, ""),))
    text = file.source.text
    return Fix("end the last line", (TextEdit(file.source.span(len(text)), line_end(text, len(text))),))


def _rule(
    code: str, name: str, severity: Severity, title: str, cure: Cure | None = None, *, is_limit: bool = False
) -> Rule[CheckedFile]:
    return Rule(code, name, severity, title, partial(_said, code, cure, severity if is_limit else None))


READING_RULES: tuple[Rule[CheckedFile], ...] = (
    _rule("CRN001", "unreadable", _ERROR, "a line that condor_submit refuses", _equals),
    _rule("CRN002", "not-text", _ERROR, "a file that is not text"),
    _rule("CRN003", "runs-command", _WARNING, "a command that condor_submit runs and crondor does not"),
    _rule("CRN004", "outside", _WARNING, "a file outside the folders that crondor may read"),
    _rule("CRN005", "macro", _ERROR, "a macro that cannot be expanded"),
    _rule("CRN006", "no-queue", _WARNING, "a file without a queue statement", _queue),
    _rule("CRN007", "after-queue", _WARNING, "a command after the last queue statement"),
    _rule("CRN008", "odd-list", _WARNING, "a queue statement that makes different jobs than intended"),
    _rule("CRN009", "comment-in-line", _WARNING, "a comment inside a continued line"),
    _rule("CRN010", "file-ends", _ERROR, "a byte order mark, or a last line without a line end", _ends),
    _rule("CRN011", "said-by-file", _WARNING, "an error or warning that the file itself states"),
    _rule("CRN012", "too-many", _WARNING, "more different jobs than crondor checks", is_limit=True),
    _rule("CRN013", "conditional", _ERROR, "an if that is not closed, or whose condition cannot be read"),
    _rule("CRN014", "queue", _ERROR, "a queue statement that condor_submit refuses"),
    _rule("CRN015", "missing-file", _ERROR, "a file that does not exist"),
    _rule("CRN016", "unknown", _WARNING, "a value that is known only at submission", is_limit=True),
)

_OF_TIMES = frozenset(("submit-number", "submit-scheduler"))  # CRN301 and CRN503


@rule("CRN017", "refused", Severity.ERROR, "a job that condor_submit refuses")
def refused(file: CheckedFile) -> Iterator[RuleHit]:
    """The message is that of condor_submit 25.14, which then makes no job of the file."""
    faults = [] if file.made is None else [fault for fault in file.made.faults if fault.kind not in _OF_TIMES]
    said = _said_elsewhere(file) if faults else ()
    for fault in faults:
        is_refusal = fault.kind.startswith("submit-") or fault.code == "CRN005"
        if is_refusal and not any(_is_in(fault.span, span) for span in said):
            yield RuleHit(fault.message, fault.span or next((job.span() for job in file.jobs), None), fault.help)


def _said_elsewhere(file: CheckedFile) -> tuple[Span, ...]:
    """Return the places that other rules report."""
    rules = (bad_number, bad_expression, no_universe)
    found = {hit.span for job in file.jobs[:MOST_JOBS] for rule in rules for hit in rule.function(job)}
    behind = {hit.span for hit in comment_behind.function(file)}
    return tuple(span for span in (*found, *file.explained, *_values_of(file, behind)) if span is not None)


def _values_of(file: CheckedFile, spans: Iterable[Span | None]) -> Iterator[Span]:
    """Yield the places of the values that contain some places."""
    yield from (value.span for value in file.given.all if any(_is_in(span, value.span) for span in spans))


def _is_in(span: Span | None, said: Span) -> bool:
    return span is not None and span.source is said.source and said.start <= span.start <= said.end


_YEAR = 366 * DAY  # for which lines without markers are compared
_SOON = 60 * DAY


@rule("CRN565", "schedule-unlike", Severity.WARNING, "lines that no longer match the file's schedule")
def unlike(file: CheckedFile) -> Iterator[RuleHit]:
    """The lines, the schedule, a policy or a calendar was edited, and not compiled again."""
    _, _, block, _, faults, policies = file.own_schedule
    if block is not None and not faults and not all(map(policies.is_in, block.jobs)):
        place = next(iter(policies.places.values()), file.own_schedule.line)
        message = "the compiled lines do not have the file's policies"
        yield RuleHit(message, place, "compile again: crondor compile --write FILE")
    zone, proof = file.own_schedule.zone, _proof(file)
    if proof is None or proof.is_exact:
        return
    first = min((*proof.lost, *proof.wrong))
    said = "has a run that no job has" if first in proof.lost else "has no run when a job has one"
    many = len(proof.lost) + len(proof.wrong)
    more = f" ({many} such times until {_day(zone, proof.until)})" if many > 1 else ""
    message = f"the jobs do not follow the schedule: on {zone.moment(first):%Y-%m-%d %H:%M} it {said}{more}"
    yield RuleHit(message, file.own_schedule.line, "compile again: crondor compile --write FILE")


@rule("CRN566", "schedule-ends", Severity.WARNING, "compiled lines, or a calendar, that end soon")
def ends(file: CheckedFile) -> Iterator[RuleHit]:
    """After their end no time matches any more, and the job stays idle without a message."""
    line, schedule, block, zone, *_ = file.own_schedule
    if schedule is None:
        return
    now = file.settings.now
    if block is not None and block.until < now + _SOON:
        verb = "were" if block.until <= now else "are"
        message = f"the compiled lines {verb} proven until {_day(zone, block.until)}: after that, times may not match"
        help_text = "compile again: crondor compile --write FILE"
        if schedule.until is not None and schedule.until <= block.until:
            message += f" ({schedule.until_reason})"
            help_text = "bring the calendar up to date, and compile again: crondor compile --write FILE"
        yield RuleHit(message, line, help_text)
    elif schedule.until is not None and schedule.until < now + _SOON:
        message = f"the schedule is known until {_day(zone, schedule.until)} only: {schedule.until_reason}"
        yield RuleHit(message, line, "bring the calendar up to date, and compile again")


@rule("CRN567", "schedule-line", Severity.WARNING, "a schedule line or a policy that cannot be read")
def unreadable(file: CheckedFile) -> Iterator[RuleHit]:
    """To HTCondor it is a comment, but its author meant a schedule."""
    for fault in file.own_schedule.faults:
        yield RuleHit(fault.message, fault.span, fault.help)


def _proof(file: CheckedFile) -> Proof | None:
    """Compare the jobs with the schedule from now on; None if there are none, or they cannot be read."""
    _, schedule, block, zone, *_ = file.own_schedule
    if schedule is None:
        return None
    from crondor.compile.writing.compiler import WrittenJob, fit  # noqa: PLC0415 - 15 ms, and few files have a schedule of their own

    now = file.settings.now
    until = now + _YEAR if block is None else block.until
    jobs = [
        WrittenJob(job.crontab.manual, job.values.get("requirements", ""))
        for job in file.jobs
        if job.crontab.manual is not None
    ]
    if not jobs or len(jobs) < len(file.jobs) or until <= now:
        return None
    try:
        return fit(schedule, jobs, zone, now, until)
    except CrondorError:
        return None


def _day(zone: Zone, instant: int) -> str:
    return f"{zone.moment(instant):%Y-%m-%d}"
