"""The library's answers in the words of the protocol."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lsprotocol import types

from crondor.editing.completing import Completion, WordKind, completions, documentation
from crondor.editing.hints import hints
from crondor.editing.hovering import hover
from crondor.editing.names import definitions, references, renameable, renamed
from crondor.editing.reading import ReadText
from crondor.editing.schedules import counted, moment, schedules
from crondor.editing.structure import ColouredWord, Part, PartKind, WordClass, folds, links, parts, words
from crondor.source import Span
from crondor_cli.common.columns import plural
from crondor_cli.lsp.actions import edit_of
from crondor_cli.lsp.positions import Positions, TextOnScreen

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
    """Return what is said of the word at a position."""
    found = hover(text, screen.places.offset(position))
    if found is None:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, found.text), screen.places.range_of(found.span))


def completed(screen: TextOnScreen, text: ReadText, position: types.Position) -> types.CompletionList:
    """Return what may stand at a position; what each means is asked for by ``documented``."""
    found = completions(text, screen.places.offset(position))
    places = {each.span: screen.places.range_of(each.span) for each in found[:1]}
    return types.CompletionList(
        is_incomplete=False,
        items=[_item(each, places.get(each.span) or screen.places.range_of(each.span)) for each in found],
    )


def documented(item: types.CompletionItem) -> types.CompletionItem:
    """Return an item with what it means."""
    data = item.data
    if isinstance(data, list) and len(data) == 2 and data[0] in {kind.value for kind in WordKind}:
        said = documentation(WordKind(data[0]), str(data[1]))
        if said is not None:
            item.documentation = types.MarkupContent(types.MarkupKind.Markdown, said)
    return item


def defined(screen: TextOnScreen, text: ReadText, position: types.Position) -> list[types.Location]:
    """Return where what stands at a position is defined."""
    return [_location(span, screen) for span in definitions(text, screen.places.offset(position))]


def referred(
    screen: TextOnScreen, text: ReadText, position: types.Position, context: types.ReferenceContext
) -> list[types.Location]:
    """Return where what stands at a position is used."""
    offset = screen.places.offset(position)
    found = references(text, offset, with_definitions=context.include_declaration)
    return [_location(span, screen) for span in found]


def highlighted(screen: TextOnScreen, text: ReadText, position: types.Position) -> list[types.DocumentHighlight]:
    """Return where in the text itself what stands at a position stands as well."""
    found = references(text, screen.places.offset(position))
    return [types.DocumentHighlight(screen.places.range_of(span)) for span in found if span.source is screen.source]


def may_rename(screen: TextOnScreen, text: ReadText, position: types.Position) -> types.PrepareRenamePlaceholder | None:
    """Return what can be given another name at a position."""
    spot = renameable(text, screen.places.offset(position))
    return None if spot is None else types.PrepareRenamePlaceholder(screen.places.range_of(spot.span), spot.span.text)


def with_new_name(screen: TextOnScreen, text: ReadText, position: types.Position, name: str) -> types.WorkspaceEdit:
    """Return what gives what stands at a position another name. Raises CannotRename."""
    edits = renamed(text, screen.places.offset(position), name)
    return edit_of(screen, [types.TextEdit(screen.places.range_of(edit.span), edit.text) for edit in edits])


def outlined(screen: TextOnScreen, text: ReadText) -> list[types.DocumentSymbol]:
    """Return the parts of a text."""
    return [_symbol(part, screen) for part in parts(text)]


def folded(screen: TextOnScreen, text: ReadText) -> list[types.FoldingRange]:
    """Return what can be folded."""
    found = []
    for span, is_comment in folds(text):
        place = screen.places.range_of(span)
        if place.end.line > place.start.line:
            kind = types.FoldingRangeKind.Comment if is_comment else types.FoldingRangeKind.Region
            found.append(types.FoldingRange(place.start.line, place.end.line, kind=kind))
    return found


def coloured(screen: TextOnScreen, text: ReadText) -> types.SemanticTokens:
    """Return what the words of a text are: five numbers each, as the protocol packs them."""
    data: list[int] = []
    last = types.Position(0, 0)
    for start, size, word in _tokens(screen, words(text)):
        column = start.character - last.character if start.line == last.line else start.character
        data += (start.line - last.line, column, size, _CLASSES[word.kind], int(word.is_definition))
        last = start
    return types.SemanticTokens(data)


def linked(screen: TextOnScreen, text: ReadText) -> list[types.DocumentLink]:
    """Return what names a file that is there."""
    folder = os.path.dirname(screen.source.name)
    return [
        types.DocumentLink(
            screen.places.range_of(span), target=Path(os.path.abspath(os.path.join(folder, path))).as_uri()
        )
        for span, path in links(text)
    ]


def hinted(screen: TextOnScreen, text: ReadText, place: types.Range) -> list[types.InlayHint]:
    """Return what stands in grey behind the lines of a place."""
    start, end = screen.places.line_start(place.start.line), screen.places.line_end(place.end.line)
    return [
        types.InlayHint(screen.places.position(hint.offset), hint.text, padding_left=True, tooltip=hint.tooltip or None)
        for hint in hints(text, start, end)
    ]


def lenses(screen: TextOnScreen, text: ReadText) -> list[types.CodeLens]:
    """Return, above each queue statement, how many jobs it makes, and when the first of them starts."""
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


def _tokens(screen: TextOnScreen, found: list[ColouredWord]) -> Iterator[tuple[types.Position, int, ColouredWord]]:
    for word in found:
        place = screen.places.range_of(word.span)
        if place.start.line == place.end.line and place.end.character > place.start.character:
            yield place.start, place.end.character - place.start.character, word
