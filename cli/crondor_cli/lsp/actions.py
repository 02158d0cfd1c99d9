"""What can be done about findings: each fix, all safe ones, keeping quiet, explaining."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol.types import (
    CodeAction,
    CodeActionContext,
    CodeActionKind,
    Command,
    OptionalVersionedTextDocumentIdentifier,
    Range,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from crondor.check import Finding, Fix
from crondor.editing import CheckedText, EditSettings, ReadText
from crondor.editing.changes import safe_fixes, silenced
from crondor.editing.compiling import says_schedule
from crondor_cli.lsp.positions import TextOnScreen
from crondor_cli.lsp.showing import shown

EXPLAIN = "crondor.explain"
COMPILE = "crondor.compileSchedule"
_OF_SCHEDULES = frozenset(("CRN565", "CRN566"))  # cured by compiling again


def actions(
    text: TextOnScreen, checked: CheckedText, read: ReadText, place: Range, context: CodeActionContext
) -> list[CodeAction]:
    """Return what can be done at a place; ``context.only`` are the kinds that are asked for."""
    start, end = text.places.offset(place.start), text.places.offset(place.end)
    here = [each for each in checked.findings if _touches(each, text, start, end)]
    found: list[CodeAction] = []
    if _wanted(context, CodeActionKind.QuickFix):
        found += _fixes(text, here)
        found += _others(text, checked, here)
    if _wanted(context, CodeActionKind.SourceFixAll):
        found += _all(text, checked, read.settings)
    return [*found, *_compiling(text, read, here, start, context)]


def _compiling(
    text: TextOnScreen, read: ReadText, here: Iterable[Finding], at: int, context: CodeActionContext
) -> Iterator[CodeAction]:
    """Yield the compiling of a schedule, which takes a while, and is begun only when it is wanted."""
    cured = [shown(each, text) for each in here if each.diagnostic.code in _OF_SCHEDULES]
    kind = CodeActionKind.QuickFix if cured else CodeActionKind.RefactorRewrite
    if _wanted(context, kind) and says_schedule(read, at):
        line = text.places.position(at).line
        command = Command(title="Compile this schedule", command=COMPILE, arguments=[text.uri, line])
        yield CodeAction(command.title, kind, cured or None, command=command)


def edit_of(text: TextOnScreen, edits: Iterable[TextEdit]) -> WorkspaceEdit:
    """Return edits of a text, good for this version of it alone."""
    identifier = OptionalVersionedTextDocumentIdentifier(uri=text.uri, version=text.version)
    return WorkspaceEdit(document_changes=[TextDocumentEdit(identifier, list(edits))])


def _fixes(text: TextOnScreen, here: Iterable[Finding]) -> Iterator[CodeAction]:
    for finding in here:
        fix = finding.fix
        if fix is None or any(edit.span.source is not text.source for edit in fix.edits):
            continue
        yield CodeAction(
            title=fix.title if fix.safe else f"{fix.title} (changes what was asked for)",
            kind=CodeActionKind.QuickFix,
            diagnostics=[shown(finding, text)],
            is_preferred=fix.safe,
            edit=edit_of(text, _edits(text, fix)),
        )


def _edits(text: TextOnScreen, fix: Fix) -> Iterator[TextEdit]:
    for edit in fix.edits:
        yield TextEdit(text.places.range_of(edit.span), edit.text)


def _others(text: TextOnScreen, checked: CheckedText, here: Iterable[Finding]) -> Iterator[CodeAction]:
    """Yield, for each rule once, the comment that keeps it quiet here, and its page."""
    by_code: dict[str, list[Finding]] = {}
    for finding in here:
        if finding.diagnostic.code in checked.rules:
            by_code.setdefault(finding.diagnostic.code, []).append(finding)
    for code, findings in by_code.items():
        diagnostics = [shown(each, text) for each in findings]
        span = findings[0].diagnostic.span
        change = silenced(text.source, span.start, code) if span is not None and span.source is text.source else None
        if change is not None:
            edit = TextEdit(text.places.range_of(change.span), change.text)
            yield CodeAction(
                f"Keep {code} quiet here", CodeActionKind.QuickFix, diagnostics, edit=edit_of(text, [edit])
            )
        command = Command(title=f"Explain {code}", command=EXPLAIN, arguments=[code])
        yield CodeAction(command.title, CodeActionKind.QuickFix, diagnostics, command=command)


def _all(text: TextOnScreen, checked: CheckedText, settings: EditSettings) -> Iterator[CodeAction]:
    change = safe_fixes(checked, settings)
    if change is not None:
        edit = TextEdit(text.places.range_of(change.span), change.text)
        yield CodeAction("Make all safe fixes", CodeActionKind.SourceFixAll, edit=edit_of(text, [edit]))


def _touches(finding: Finding, text: TextOnScreen, start: int, end: int) -> bool:
    """Say whether a finding is of the lines of a place."""
    place = shown(finding, text).range
    first, last = text.places.position(start).line, text.places.position(end).line
    return place.start.line <= last and first <= place.end.line


def _wanted(context: CodeActionContext, kind: CodeActionKind) -> bool:
    """Say whether a kind of action is asked for; a fix of everything is only where it is named."""
    if not context.only:
        return True
    asked = map(_text, context.only)
    return any(f"{kind.value}.".startswith(f"{each}.") or f"{each}." == f"{kind.value}.crondor." for each in asked)


def _text(kind: CodeActionKind | str) -> str:
    return kind.value if isinstance(kind, CodeActionKind) else kind
