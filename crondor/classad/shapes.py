"""Shapes: expressions that differ in their literals alone share everything but these.

The expressions of a queue are written by few hands: most have one of a few hundred shapes. The shape of a text is the
text without its plain literals, which are its slots. Of a shape it is found out once, on a probe whose literals are
all different, whether it is an expression and how it is printed; any other literals may stand in the slots then.

A literal is plain, and a slot, only where neither the parser nor the printer looks at its value: it is a token of its
own in new and old syntax alike, and is printed as it is written. All else stays a part of the shape, so that what is
not understood makes a shape more, and no mistake. A text that has no shape is read as ever by whoever asks.

This is the only module that knows of shapes. Others ask whether a text is an expression, how it is printed, and for a
regular expression of the texts that are printed as they are written; docs/design.md tells who and why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from crondor.classad.parser import UnparseForm, parse_expression, unparse
from crondor.classad.tree import ClassAdSyntaxError, Literal
from crondor.diagnostics import Source

_STRING: Final = r'"[ !#-\[\]-~]{0,400}"'
_INTEGER: Final = r"[1-9][0-9]{0,17}"  # no zero, which loses its minus sign
_REAL: Final = (
    r"(?:0|[1-9][0-9]{0,11})\.(?:0|5|25|75)"  # of which all digits are in the double: it is printed with them
)
_SLOT: Final = re.compile(rf"({_STRING}|(?<![\w.])(?:{_REAL}|{_INTEGER})(?![\w.]))")
_PATTERNS: Final = {"s": _STRING, "i": _INTEGER, "r": _REAL}
# What a shape cannot have: quotes and escapes that may change where a string ends, comments, and the functions that
# the parser calls with a literal.
_DOUBTFUL: Final = re.compile(r"""["'\\]|/[/*]|[^\t -~]|(?i:abstime|reltime)""").search
_LITERAL: Final = rf"(?:{_STRING}|-?{_REAL}|-?{_INTEGER}|0|true|false|undefined)"
_is_literal: Final = re.compile(_LITERAL).fullmatch
_MOST: Final = 4096  # shapes that are remembered
_LONGEST: Final = 4096  # characters of a text that has a shape
_MOST_SLOTS: Final = 100


class Shape:
    """What is known of the texts of one shape; ``printed`` is what stands around the slots in the old form."""

    __slots__ = ("_kinds", "_pieces", "_printed")

    def __init__(self, pieces: tuple[str, ...], kinds: str, printed: tuple[str, ...]) -> None:
        self._pieces = pieces
        self._kinds = kinds
        self._printed = printed

    @property
    def is_printed_as_written(self) -> bool:
        """Whether the old form is the text itself."""
        return self._pieces == self._printed

    def printed(self, parts: list[str]) -> str:
        """Return the old form of a text that was split into pieces and literals."""
        parts[::2] = self._printed
        return "".join(parts)

    def pattern(self) -> str:
        """Return a regular expression that matches the texts of this shape."""
        made = [re.escape(self._pieces[0])]
        for kind, piece in zip(self._kinds, self._pieces[1:], strict=True):
            made += [_PATTERNS[kind], re.escape(piece)]
        return "".join(made)


_SHAPES: Final[dict[tuple[str, ...], Shape | None]] = {}


def literal(text: str) -> Literal | None:
    """Return the tree of a text that is a plain literal; None: it is another text."""
    if not _is_literal(text):
        return None
    if text[0] == '"':
        return Literal(text[1:-1], 0, len(text))
    return None if text[0] in "tfu" else Literal(float(text) if "." in text else int(text), 0, len(text))


def is_expression(text: str) -> bool:
    """Return whether a text is known to be an expression, the same in old syntax as in new; False: it is not known."""
    return _find(text)[0] is not None


def printed_old(text: str) -> str | None:
    """Return how the old form prints an expression's text; None: it is not known."""
    shape, parts = _find(text)
    return None if shape is None else shape.printed(parts)


def pattern_like(text: str) -> str | None:
    """Return a regular expression for texts like this, all of which are expressions that the old form does not change.

    It has no groups, matches no line end, and takes time proportional to the text. None: there is none.
    """
    if _is_literal(text):
        return _LITERAL
    shape, _ = _find(text)
    return None if shape is None or not shape.is_printed_as_written else shape.pattern()


def _find(text: str) -> tuple[Shape | None, list[str]]:
    """Return the shape of a text, and its pieces and literals in turn."""
    if len(text) > _LONGEST:
        return None, []
    parts = _SLOT.split(text)
    kinds = _kinds(parts[1::2])
    key = (kinds, *parts[::2])
    try:
        return _SHAPES[key], parts
    except KeyError:
        pass
    if len(_SHAPES) >= _MOST:
        _SHAPES.clear()
    found = _SHAPES[key] = _made(tuple(parts[::2]), kinds)
    return found, parts


def _kinds(literals: Iterable[str]) -> str:
    return "".join(["s" if text[0] == '"' else "r" if "." in text else "i" for text in literals])


def _made(pieces: tuple[str, ...], kinds: str) -> Shape | None:
    """Return a shape; None where a text of it is no expression, or its literals are not all there is to tell apart.

    The probe's literals are all different: if the printed text has them in their order, each has its own slot there.
    """
    if len(kinds) > _MOST_SLOTS or any(map(_DOUBTFUL, pieces)) or _has_strings_side_by_side(pieces, kinds):
        return None
    literals = [_probe(kind, number) for number, kind in enumerate(kinds)]
    try:
        tree = parse_expression(Source(_joined(pieces, literals)), old=True)
    except ClassAdSyntaxError:
        return None
    printed = _SLOT.split(unparse(tree, UnparseForm.OLD))
    return Shape(pieces, kinds, tuple(printed[::2])) if printed[1::2] == literals else None


def _has_strings_side_by_side(pieces: tuple[str, ...], kinds: str) -> bool:
    """Return whether new syntax may read two strings as one."""
    between = zip(kinds, pieces[1:-1], kinds[1:], strict=False)
    return any(left == right == "s" and not piece.strip() for left, piece, right in between)


def _probe(kind: str, number: int) -> str:
    """Return the literal of a slot that no other slot has, nor a shape's own text."""
    return {"s": f'"probe {number}"', "i": f"{987_654_321_000 + number}", "r": f"{98_765_432_000 + number}.25"}[kind]


def _joined(pieces: tuple[str, ...], literals: list[str]) -> str:
    parts = [pieces[0]]
    for literal, piece in zip(literals, pieces[1:], strict=True):
        parts += (literal, piece)
    return "".join(parts)
