"""CRN0..: what condor_submit would refuse, and what crondor cannot know; every code of the reader has its rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from crondor.check.edit import line_end
from crondor.check.rule import Fix, Rule, RuleHit, TextEdit
from crondor.check.rules.queues import swallowed
from crondor.check.subject import CheckedFile
from crondor.diagnostics import Diagnostic, Severity
from crondor.knowledge.releases import OLDEST, Release

Cure = Callable[[CheckedFile, Diagnostic], Fix | None]

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING

# The first releases that go on: with one job of a file without a queue statement, without a macro's value.
_GOES_ON_SINCE = {"no-queue": Release(25, 14), "macro-function": Release(25, 13)}

_READING = frozenset(f"CRN{number:03}" for number in range(1, 17))


def owner(fault: Diagnostic) -> str:
    """Return the rule that speaks for a fault of the reader: CRN001 takes what no other does."""
    return fault.code if fault.code in _READING else "CRN001"


def _said(rule: str, cure: Cure | None, severity: Severity | None, file: CheckedFile) -> Iterator[RuleHit]:
    """Pass on what reading said under the codes of a rule; ``severity`` where crondor, not the file, is at its end."""
    for fault in file.all_faults:
        if owner(fault) == rule and not (fault.kind == "no-queue" and _is_swallowed(file)):
            fix = cure(file, fault) if cure is not None else None
            is_refused = file.settings.target < _GOES_ON_SINCE.get(fault.kind, OLDEST)
            graver = Severity.ERROR if is_refused else fault.severity
            yield RuleHit(fault.message, fault.span, fault.help, fix, severity or graver)


def _is_swallowed(file: CheckedFile) -> bool:
    """Say whether the queue statement is part of a value, of which CRN593 speaks."""
    return any("queue" in hit.message for hit in swallowed.function(file))


def _equals(file: CheckedFile, fault: Diagnostic) -> Fix | None:
    """Return the fix of a colon where = is meant."""
    if fault.kind != "colon" or fault.span is None or fault.span.source is not file.source:
        return None
    return Fix("write =", (TextEdit(fault.span, "="),))


def _queue(file: CheckedFile, _: Diagnostic) -> Fix:
    """Return the line that releases before 25.14 need."""
    text = file.source.text
    at = file.source.span(len(text))
    end = line_end(text, len(text))
    return Fix("end the file with queue", (TextEdit(at, f"{'' if text.endswith(chr(10)) else end}queue{end}"),))


def _ends(file: CheckedFile, fault: Diagnostic) -> Fix | None:
    """Return the fix of a byte order mark, or of a last line without an end."""
    if fault.span is None or fault.span.source is not file.source:
        return None
    if fault.kind == "byte-order-mark":
        return Fix("remove the byte order mark", (TextEdit(fault.span, ""),))
    text = file.source.text
    return Fix("end the last line", (TextEdit(file.source.span(len(text)), line_end(text, len(text))),))


def _rule(
    code: str,
    name: str,
    severity: Severity,
    title: str,
    cure: Cure | None = None,
    *,
    is_limit: bool = False,
) -> Rule[CheckedFile]:
    return Rule(code, name, severity, title, partial(_said, code, cure, severity if is_limit else None))


READING_RULES: tuple[Rule[CheckedFile], ...] = (
    _rule("CRN001", "unreadable", _ERROR, "a line that condor_submit refuses", _equals),
    _rule("CRN002", "not-text", _ERROR, "a file that is no text"),
    _rule("CRN003", "runs-command", _WARNING, "a command that condor_submit runs, and crondor never does"),
    _rule("CRN004", "outside", _WARNING, "a file outside the folders that crondor may read"),
    _rule("CRN005", "macro", _ERROR, "a macro that cannot be expanded"),
    _rule("CRN006", "no-queue", _WARNING, "a file without a queue statement", _queue),
    _rule("CRN007", "after-queue", _WARNING, "a command behind the last queue statement"),
    _rule("CRN008", "odd-list", _WARNING, "a queue statement that makes other jobs than it seems"),
    _rule("CRN009", "comment-in-line", _WARNING, "a comment inside a continued line"),
    _rule("CRN010", "file-ends", _ERROR, "a byte order mark, or a last line without its end", _ends),
    _rule("CRN011", "said-by-file", _WARNING, "an error or warning that the file itself states"),
    _rule("CRN012", "too-many", _WARNING, "more jobs that differ than crondor looks at", is_limit=True),
    _rule("CRN013", "conditional", _ERROR, "an if that is not closed, or whose condition cannot be read"),
    _rule("CRN014", "queue", _ERROR, "a queue statement that condor_submit refuses"),
    _rule("CRN015", "missing-file", _ERROR, "a file that is not there"),
    _rule("CRN016", "unknown", _WARNING, "a value that only the moment or place of submission gives", is_limit=True),
)
