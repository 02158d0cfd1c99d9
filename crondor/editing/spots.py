"""What stands at a place of a text: a command, a macro, an attribute, a function, a route's name."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

from crondor.editing.kinds import TextKind
from crondor.editing.outline import LineKind, Outline, WrittenLine
from crondor.editing.pieces import PieceKind, pieces
from crondor.source import Span

ROUTE: Final = "job_router_route_"
TRANSFORM: Final = "job_router_transform_"
LISTS: Final = {
    "job_router_route_names": ROUTE,
    "job_router_pre_route_transform_names": TRANSFORM,
    "job_router_post_route_transform_names": TRANSFORM,
    "job_transform_names": "job_transform_",
}
"""Knobs that list names, and what the names of the knobs begin with that they stand for."""

_LISTED: Final = re.compile(r"[^, \t]+")


class SpotKind(Enum):
    """What stands there."""

    NAME = "name"  # that a line assigns: a command, a knob, a macro, an attribute
    COMMAND = "command"  # of a transform
    KEYWORD = "keyword"
    MACRO = "macro"
    MACRO_FUNCTION = "macro function"
    ATTRIBUTE = "attribute"
    FUNCTION = "function"
    LISTED = "listed"  # a route or a transform in a list; ``name`` is its knob's


class Spot(NamedTuple):
    """What stands at a place: its name in lower case, where it stands, and in which line."""

    kind: SpotKind
    name: str
    span: Span
    written: WrittenLine


_PIECES: Final = {
    PieceKind.MACRO: SpotKind.MACRO,
    PieceKind.MACRO_FUNCTION: SpotKind.MACRO_FUNCTION,
    PieceKind.ATTRIBUTE: SpotKind.ATTRIBUTE,
    PieceKind.FUNCTION: SpotKind.FUNCTION,
}
_NAMES: Final = {
    LineKind.COMMAND: SpotKind.COMMAND,
    LineKind.KEYWORD: SpotKind.KEYWORD,
    LineKind.QUEUE: SpotKind.KEYWORD,
}


def spot_at(outline: Outline, offset: int) -> Spot | None:
    """Return what stands at an offset, None where nothing does of which there is anything to say."""
    written = outline.at(offset)
    if written is None:
        return None
    at = written.character(offset)
    low, high = written.name
    if low <= at <= high and written.key and written.kind is not LineKind.OTHER:
        return Spot(_NAMES.get(written.kind, SpotKind.NAME), written.key, written.name_span, written)
    found = _piece_at(written, outline.kind, at)
    return found if found is not None else _word_at(written, outline.kind, offset, at)


def _piece_at(written: WrittenLine, kind: TextKind, at: int) -> Spot | None:
    for piece in pieces(written, kind):
        spot = _PIECES.get(piece.kind)
        if spot is not None and piece.start <= at <= piece.end:
            name = piece.name if spot is SpotKind.MACRO_FUNCTION else piece.name.lower()
            return Spot(spot, name, written.line.span(piece.start, piece.end), written)
    return None


def _word_at(written: WrittenLine, kind: TextKind, offset: int, at: int) -> Spot | None:
    """Return the loop variable, the attribute of a command, or the word of a list at a place."""
    for name, span in written.variables():
        if span.start <= offset <= span.end:
            return Spot(SpotKind.NAME, name, span, written)
    attribute = written.attribute
    if attribute and attribute[0] <= at <= attribute[1]:
        span = written.line.span(*attribute)
        return Spot(SpotKind.ATTRIBUTE, span.text.lower(), span, written)
    words = listed(written) if kind is TextKind.CONFIG and written.key in LISTS else []
    here = next(((word, span) for word, span in words if span.start <= offset <= span.end), None)
    return None if here is None else Spot(SpotKind.LISTED, LISTS[written.key] + here[0], here[1], written)


def listed(written: WrittenLine) -> list[tuple[str, Span]]:
    """Return the words of a list in lower case, with their places; none where macros stand between them."""
    text = written.line.text
    if "$" in text:
        return []
    return [(word[0].lower(), written.line.span(*word.span())) for word in _LISTED.finditer(text, written.value)]
