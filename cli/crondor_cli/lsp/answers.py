"""The language server's answers as protocol objects: findings, fixes, hovers, names, completions."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from lsprotocol import types
from lsprotocol.types import (
    CodeAction,
    CodeActionContext,
    CodeActionKind,
    CodeDescription,
    Command,
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    Location,
    OptionalVersionedTextDocumentIdentifier,
    Position,
    PositionEncodingKind,
    Range,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from crondor.diagnostics import Severity, Source, Span
from crondor.editing import CheckedText, ReadText
from crondor.editing.completing import Completion, WordKind, completions, documentation
from crondor.editing.findings import safe_fixes, says_schedule, silenced
from crondor.editing.hovering import counted, hints, hover, moment, schedules
from crondor.editing.structure import (
    Part,
    PartKind,
    WordClass,
    definitions,
    folds,
    links,
    parts,
    references,
    renameable,
    renamed,
    words,
)
from crondor.lint import Finding, address
from crondor.lint.report import page_file
from crondor_cli.kit.tables import plural

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_CODECS: Final = {PositionEncodingKind.Utf8.value: ("utf-8", 1), PositionEncodingKind.Utf16.value: ("utf-16-le", 2)}
_UTF8_BOUNDS: Final = (0x80, 0x800, 0x10000)


class Positions:
    """The lines of a text, with columns in the units of ``encoding``.

    A line ends with LF, CR LF or CR, as in the protocol. A position after the end of a line or of the text means that
    end.
    """

    def __init__(self, text: str, encoding: str = PositionEncodingKind.Utf16.value) -> None:
        self._text = text
        self._encoding = encoding
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
        self._is_plain = encoding == PositionEncodingKind.Utf32.value or text.isascii()

    def line_start(self, line: int) -> int:
        """Return the offset at which a line (from 0) starts."""
        return self._starts[line] if line < len(self._starts) else len(self._text)

    def line_end(self, line: int) -> int:
        """Return the offset of the end of a line, without its line end."""
        if line + 1 >= len(self._starts):
            return len(self._text)
        end = self._starts[line + 1]
        return end - (2 if self._text.endswith("\r\n", 0, end) else 1)

    def offset(self, position: Position) -> int:
        """Return the offset of a position."""
        if position.line >= len(self._starts):
            return len(self._text)
        start, end = self._starts[position.line], self.line_end(position.line)
        if self._is_plain:
            return min(start + position.character, end)
        left, at = position.character, start
        while at < end and left > 0:
            left -= self._units(self._text[at])
            at += left >= 0  # a position inside a character is before it
        return at

    def position(self, offset: int) -> Position:
        """Return the position of an offset."""
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        offset = min(offset, self.line_end(line))
        if self._is_plain:
            return Position(line, offset - start)
        codec, size = _CODECS[self._encoding]
        return Position(line, len(self._text[start:offset].encode(codec, "surrogatepass")) // size)

    def range(self, start: int, end: int) -> Range:
        """Return the range between two offsets."""
        return Range(self.position(start), self.position(end))

    def range_of(self, span: Span) -> Range:
        """Return the range of a span of the text."""
        return self.range(span.start, span.end)

    def _units(self, character: str) -> int:
        code = ord(character)
        if self._encoding == PositionEncodingKind.Utf8.value:
            return 1 + sum(code >= bound for bound in _UTF8_BOUNDS)
        return 1 + (code >= 0x10000)


class TextOnScreen:
    """One version of a text open in an editor; each change makes another."""

    def __init__(self, uri: str, source: Source, version: int | None, language: str, encoding: str) -> None:
        """Take the text; ``source`` has the name of its file."""
        self.uri = uri
        self.source = source
        self.version = version
        self.language = language
        self.encoding = encoding
        self.places = Positions(source.text, encoding)

    def changed(self, place: Range | None, text: str, version: int | None) -> TextOnScreen:
        """Return the text with a range replaced, or (None) all of it."""
        if place is not None:
            start, end = sorted((self.places.offset(place.start), self.places.offset(place.end)))
            text = self.source.text[:start] + text + self.source.text[end:]
        return TextOnScreen(self.uri, Source(text, self.source.name), version, self.language, self.encoding)


SOURCE: Final = "crondor"
MOST: Final = 1000  # findings of one text; a file may have thousands, and editors show no more
_SEVERITIES: Final = {
    Severity.ERROR: DiagnosticSeverity.Error,
    Severity.WARNING: DiagnosticSeverity.Warning,
    Severity.NOTE: DiagnosticSeverity.Information,
}


def shown(finding: Finding, text: TextOnScreen) -> Diagnostic:
    """Return a finding; a finding in an included file is at the line that includes it, and names its place."""
    found = finding.diagnostic
    span = found.span
    related = None
    start = end = 0
    message = found.message
    if span is not None and span.source is text.source:
        start, end = span.start, span.end
    elif span is not None:
        start, end = _naming(text, span.source.name)
        place = Location(
            Path(os.path.abspath(span.source.name)).as_uri(), Positions(span.source.text, text.encoding).range_of(span)
        )
        related = [DiagnosticRelatedInformation(place, message)]
        message = f"{span.location}: {message}"
    return Diagnostic(
        range=text.places.range(start, end),
        message=f"{message}\nhelp: {found.help}" if found.help else message,
        severity=_SEVERITIES[found.severity],
        code=found.code,
        code_description=CodeDescription(finding.url) if finding.url else _description(found.code),
        source=SOURCE,
        related_information=related,
    )


def page_uri(code: str) -> str | None:
    """Return the URI of a rule's page, on the web or installed; None if it has no page."""
    web = address(code)
    if web.startswith(("http://", "https://")):
        return web
    page = page_file(code)
    return page.as_uri() if page.is_file() else None


@cache
def _description(code: str) -> CodeDescription | None:
    uri = page_uri(code) if code.isalnum() else None
    return None if uri is None else CodeDescription(uri)


def _naming(text: TextOnScreen, name: str) -> tuple[int, int]:
    """Return the range of a text that names a file, or its first line."""
    last = os.path.basename(name)
    at = text.source.text.find(last) if last else -1
    return (at, at + len(last)) if at >= 0 else (0, text.places.line_end(0))


EXPLAIN = "crondor.explain"
COMPILE = "crondor.compileSchedule"
_OF_SCHEDULES = frozenset(("CRN565", "CRN566"))  # fixed by compiling again


def actions(
    text: TextOnScreen, checked: CheckedText, read: ReadText, place: Range, context: CodeActionContext
) -> list[CodeAction]:
    """Return the actions at a place; ``context.only`` are the requested kinds."""
    start, end = text.places.offset(place.start), text.places.offset(place.end)
    first, last = text.places.position(start).line, text.places.position(end).line
    ranges = [(each, shown(each, text).range) for each in checked.findings]
    here = [each for each, range_ in ranges if range_.start.line <= last and first <= range_.end.line]
    found: list[CodeAction] = []
    if _wanted(context, CodeActionKind.QuickFix):
        found += _fixes(text, here)
        found += _others(text, here)
    change = safe_fixes(checked, read.settings) if _wanted(context, CodeActionKind.SourceFixAll) else None
    if change is not None:
        edit = edit_of(text, [TextEdit(text.places.range_of(change.span), change.text)])
        found.append(CodeAction("Make all safe fixes", CodeActionKind.SourceFixAll, edit=edit))
    return [*found, *_compiling(text, read, here, start, context)]


def _compiling(
    text: TextOnScreen, read: ReadText, here: Iterable[Finding], at: int, context: CodeActionContext
) -> Iterator[CodeAction]:
    """Yield the action that compiles a schedule, which takes a while and runs on request."""
    cured = [shown(each, text) for each in here if each.diagnostic.code in _OF_SCHEDULES]
    kind = CodeActionKind.QuickFix if cured else CodeActionKind.RefactorRewrite
    if _wanted(context, kind) and says_schedule(read, at):
        line = text.places.position(at).line
        command = Command(title="Compile this schedule", command=COMPILE, arguments=[text.uri, line])
        yield CodeAction(command.title, kind, cured or None, command=command)


def edit_of(text: TextOnScreen, edits: Iterable[TextEdit]) -> WorkspaceEdit:
    """Return edits of a text, valid for this version only."""
    identifier = OptionalVersionedTextDocumentIdentifier(uri=text.uri, version=text.version)
    return WorkspaceEdit(document_changes=[TextDocumentEdit(identifier, list(edits))])


def _fixes(text: TextOnScreen, here: Iterable[Finding]) -> Iterator[CodeAction]:
    for finding in here:
        fix = finding.fix
        if fix is None or any(edit.span.source is not text.source for edit in fix.edits):
            continue
        yield CodeAction(
            title=fix.title if fix.safe else f"{fix.title} (changes the meaning)",
            kind=CodeActionKind.QuickFix,
            diagnostics=[shown(finding, text)],
            is_preferred=fix.safe,
            edit=edit_of(text, [TextEdit(text.places.range_of(edit.span), edit.text) for edit in fix.edits]),
        )


def _others(text: TextOnScreen, here: Iterable[Finding]) -> Iterator[CodeAction]:
    """Yield, for each rule once, the comment that silences it here, and its page."""
    by_code: dict[str, list[Finding]] = {}
    for finding in here:
        if finding.name:
            by_code.setdefault(finding.diagnostic.code, []).append(finding)
    for code, findings in by_code.items():
        diagnostics = [shown(each, text) for each in findings]
        span = findings[0].diagnostic.span
        change = silenced(text.source, span.start, code) if span is not None and span.source is text.source else None
        if change is not None:
            edit = TextEdit(text.places.range_of(change.span), change.text)
            yield CodeAction(f"Silence {code} here", CodeActionKind.QuickFix, diagnostics, edit=edit_of(text, [edit]))
        command = Command(title=f"Explain {code}", command=EXPLAIN, arguments=[code])
        yield CodeAction(command.title, CodeActionKind.QuickFix, diagnostics, command=command)


def _wanted(context: CodeActionContext, kind: CodeActionKind) -> bool:
    """Return whether a kind of action is requested; fixing everything must be requested by name."""
    if not context.only:
        return True
    asked = map(_text, context.only)
    return any(f"{kind.value}.".startswith(f"{each}.") or f"{each}." == f"{kind.value}.crondor." for each in asked)


def _text(kind: CodeActionKind | str) -> str:
    return kind.value if isinstance(kind, CodeActionKind) else kind


_LONGEST_NAME: Final = 60
_ITEMS: Final = {
    WordKind.COMMAND: types.CompletionItemKind.Property,
    WordKind.KNOB: types.CompletionItemKind.Property,
    WordKind.MACRO: types.CompletionItemKind.Variable,
    WordKind.MACRO_FUNCTION: types.CompletionItemKind.Function,
    WordKind.ATTRIBUTE: types.CompletionItemKind.Field,
    WordKind.FUNCTION: types.CompletionItemKind.Function,
    WordKind.RULE: types.CompletionItemKind.Keyword,
    WordKind.NAME: types.CompletionItemKind.Variable,
    WordKind.KEYWORD: types.CompletionItemKind.Keyword,
    WordKind.VALUE: types.CompletionItemKind.EnumMember,
}
_SYMBOLS: Final = {
    PartKind.JOBS: types.SymbolKind.Event,
    PartKind.COMMAND: types.SymbolKind.Property,
    PartKind.MACRO: types.SymbolKind.Variable,
    PartKind.ATTRIBUTE: types.SymbolKind.Field,
    PartKind.KNOB: types.SymbolKind.Property,
    PartKind.ROUTE: types.SymbolKind.Object,
    PartKind.RULE: types.SymbolKind.Operator,
    PartKind.ENTRY: types.SymbolKind.Event,
}
LEGEND: Final = types.SemanticTokensLegend([kind.value for kind in WordClass], ["definition"])
_CLASSES: Final = {kind: number for number, kind in enumerate(WordClass)}


def hovered(screen: TextOnScreen, text: ReadText, position: types.Position) -> types.Hover | None:
    """Return the hover text of the word at a position."""
    found = hover(text, screen.places.offset(position))
    if found is None:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, found.text), screen.places.range_of(found.span))


def completed(screen: TextOnScreen, text: ReadText, position: types.Position) -> types.CompletionList:
    """Return the completions at a position; ``documented`` adds their meaning."""
    found = completions(text, screen.places.offset(position))
    places = {each.span: screen.places.range_of(each.span) for each in found[:1]}
    return types.CompletionList(
        is_incomplete=False,
        items=[_item(each, places.get(each.span) or screen.places.range_of(each.span)) for each in found],
    )


def documented(item: types.CompletionItem) -> types.CompletionItem:
    """Return an item with its meaning."""
    data = item.data
    if isinstance(data, list) and len(data) == 2 and data[0] in {kind.value for kind in WordKind}:
        said = documentation(WordKind(data[0]), str(data[1]))
        if said is not None:
            item.documentation = types.MarkupContent(types.MarkupKind.Markdown, said)
    return item


def defined(screen: TextOnScreen, text: ReadText, position: types.Position) -> list[types.Location]:
    """Return the definitions of the name at a position."""
    return [_location(span, screen) for span in definitions(text, screen.places.offset(position))]


def referred(
    screen: TextOnScreen, text: ReadText, position: types.Position, context: types.ReferenceContext
) -> list[types.Location]:
    """Return the uses of the name at a position."""
    offset = screen.places.offset(position)
    found = references(text, offset, with_definitions=context.include_declaration)
    return [_location(span, screen) for span in found]


def highlighted(screen: TextOnScreen, text: ReadText, position: types.Position) -> list[types.DocumentHighlight]:
    """Return all places of the name at a position in the same text."""
    found = references(text, screen.places.offset(position))
    return [types.DocumentHighlight(screen.places.range_of(span)) for span in found if span.source is screen.source]


def may_rename(screen: TextOnScreen, text: ReadText, position: types.Position) -> types.PrepareRenamePlaceholder | None:
    """Return the name at a position that can be renamed."""
    spot = renameable(text, screen.places.offset(position))
    return None if spot is None else types.PrepareRenamePlaceholder(screen.places.range_of(spot.span), spot.span.text)


def with_new_name(screen: TextOnScreen, text: ReadText, position: types.Position, name: str) -> types.WorkspaceEdit:
    """Return the edits that rename the name at a position. Raises CannotRename."""
    edits = renamed(text, screen.places.offset(position), name)
    return edit_of(screen, [types.TextEdit(screen.places.range_of(edit.span), edit.text) for edit in edits])


def outlined(screen: TextOnScreen, text: ReadText) -> list[types.DocumentSymbol]:
    """Return the parts of a text."""
    return [_symbol(part, screen) for part in parts(text)]


def folded(screen: TextOnScreen, text: ReadText) -> list[types.FoldingRange]:
    """Return the foldable ranges."""
    found = []
    for span, is_comment in folds(text):
        place = screen.places.range_of(span)
        if place.end.line > place.start.line:
            kind = types.FoldingRangeKind.Comment if is_comment else types.FoldingRangeKind.Region
            found.append(types.FoldingRange(place.start.line, place.end.line, kind=kind))
    return found


def coloured(screen: TextOnScreen, text: ReadText) -> types.SemanticTokens:
    """Return the kinds of the words of a text: five numbers each, as the protocol packs them."""
    data: list[int] = []
    last = types.Position(0, 0)
    for word in words(text):
        place = screen.places.range_of(word.span)
        start, end = place.start, place.end
        size = end.character - start.character
        if start.line != end.line or size <= 0:
            continue
        column = start.character - last.character if start.line == last.line else start.character
        data += (start.line - last.line, column, size, _CLASSES[word.kind], int(word.is_definition))
        last = start
    return types.SemanticTokens(data)


def linked(screen: TextOnScreen, text: ReadText) -> list[types.DocumentLink]:
    """Return links to the existing files that a text names."""
    folder = os.path.dirname(screen.source.name)
    return [
        types.DocumentLink(
            screen.places.range_of(span), target=Path(os.path.abspath(os.path.join(folder, path))).as_uri()
        )
        for span, path in links(text)
    ]


def hinted(screen: TextOnScreen, text: ReadText, place: types.Range) -> list[types.InlayHint]:
    """Return the hints shown in grey after the lines of a range."""
    start, end = screen.places.line_start(place.start.line), screen.places.line_end(place.end.line)
    return [
        types.InlayHint(screen.places.position(hint.offset), hint.text, padding_left=True, tooltip=hint.tooltip or None)
        for hint in hints(text, start, end)
    ]


def lenses(screen: TextOnScreen, text: ReadText) -> list[types.CodeLens]:
    """Return, above each queue statement, its number of jobs and the start of the first one."""
    zone = text.settings.check.zone
    nexts: dict[Span, int] = {}
    for shown in schedules(text, 1):
        if shown.queue is not None and shown.runs:
            nexts[shown.queue] = min(shown.runs[0], nexts.get(shown.queue, shown.runs[0]))
    found = []
    for span, jobs in counted(text):
        start = f", next start {moment(nexts[span], zone)}" if span in nexts else ""
        count = "? jobs" if jobs is None else plural(jobs, "job")
        command = types.Command(title=f"{count}{start}", command="")
        found.append(types.CodeLens(screen.places.range_of(span), command))
    return found


def _item(found: Completion, place: types.Range) -> types.CompletionItem:
    return types.CompletionItem(
        label=found.label,
        kind=_ITEMS[found.kind],
        detail=found.detail or None,
        text_edit=types.TextEdit(place, found.text),
        filter_text=found.label,
        data=[found.kind.value, found.label],
    )


def _location(span: Span, screen: TextOnScreen) -> types.Location:
    if span.source is screen.source:
        return types.Location(screen.uri, screen.places.range_of(span))
    places = Positions(span.source.text, screen.encoding)
    return types.Location(Path(os.path.abspath(span.source.name)).as_uri(), places.range_of(span))


def _symbol(part: Part, screen: TextOnScreen) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=part.name[:_LONGEST_NAME] or " ",
        kind=_SYMBOLS[part.kind],
        range=screen.places.range_of(part.whole),
        selection_range=screen.places.range_of(part.named),
        detail=part.detail or None,
        children=[_symbol(each, screen) for each in part.parts] or None,
    )
