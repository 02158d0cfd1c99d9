"""Shapes: expressions that differ only in their literals share everything else.

The expressions of a queue are written by few people: most have one of a few hundred shapes. The shape of a text is the
text without its plain literals, which are its slots. For each shape it is determined once, on a probe with different
literals, whether it is an expression and how it is printed; the slots may then have any other literals.

A literal is plain, and a slot, only if neither the parser nor the printer depends on its value: it is a token of its
own in new and old syntax alike, and is printed unchanged. Everything else stays part of the shape, so that unknown text
makes one more shape, but no mistake. A text without a shape is read as usual.

Only this module knows of shapes. Others ask whether a text is an expression, how it is printed, and for a regular
expression of the texts that are printed unchanged; docs/design.md says who and why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from crondor.classad.parser import UnparseForm, parse_expression, unparse
from crondor.classad.tree import AdNode, ClassAdSyntaxError, ListNode, Literal
from crondor.diagnostics import Source

_STRING: Final = r'"[ !#-\[\]-~]{0,400}"'
_INTEGER: Final = r"[1-9][0-9]{0,17}"  # no zero, which loses its minus sign
_REAL: Final = r"(?:0|[1-9][0-9]{0,11})\.(?:0|5|25|75)"  # all their digits fit the double and are printed
_SLOT: Final = re.compile(rf"({_STRING}|(?<![\w.])(?:{_REAL}|{_INTEGER})(?![\w.]))")
_PATTERNS: Final = {"s": _STRING, "i": _INTEGER, "r": _REAL}
# Not in a shape: quotes and escapes that may change where a string ends, comments, and the functions that the parser
# evaluates with a literal.
_DOUBTFUL: Final = re.compile(r"""["'\\]|/[/*]|[^\t -~]|(?i:abstime|reltime)""").search
_LITERAL: Final = rf"(?:{_STRING}|-?{_REAL}|-?{_INTEGER}|0|true|false|undefined)"
_is_literal: Final = re.compile(_LITERAL).fullmatch
_MOST: Final = 4096  # shapes that are cached
_LONGEST: Final = 4096  # characters of a text that has a shape
_MOST_SLOTS: Final = 100


class Shape:
    """Facts about the texts of one shape; ``old`` and ``compact`` are the texts around the slots in these forms.

    ``compact`` is None for a constant, list or ad, and if the shape has reals, which that form prints differently.
    """

    def __init__(
        self, pieces: tuple[str, ...], kinds: str, old: tuple[str, ...], compact: tuple[str, ...] | None
    ) -> None:
        self._pieces = pieces
        self._kinds = kinds
        self._old = old
        self._compact = compact

    @property
    def is_printed_as_written(self) -> bool:
        """Return whether the old form is the text itself."""
        return self._pieces == self._old

    def printed(self, parts: list[str], form: UnparseForm) -> str | None:
        """Return a form of a text that was split into pieces and literals, None if unknown."""
        around = self._old if form is UnparseForm.OLD else self._compact
        if around is None:
            return None
        parts[::2] = around
        return "".join(parts)

    def pattern(self) -> str:
        """Return a regular expression that matches the texts of this shape."""
        made = [re.escape(self._pieces[0])]
        for kind, piece in zip(self._kinds, self._pieces[1:], strict=True):
            made += [_PATTERNS[kind], re.escape(piece)]
        return "".join(made)


_SHAPES: Final[dict[tuple[str, ...], Shape | None]] = {}


def literal(text: str) -> Literal | None:
    """Return the tree of a text that is a plain literal, None for any other."""
    if not _is_literal(text):
        return None
    if text[0] == '"':
        return Literal(text[1:-1], 0, len(text))
    return None if text[0] in "tfu" else Literal(float(text) if "." in text else int(text), 0, len(text))


def is_expression(text: str) -> bool:
    """Return whether a text is known to be an expression, the same in old and new syntax; False if unknown."""
    return _find(text)[0] is not None


def printed(text: str, form: UnparseForm = UnparseForm.COMPACT) -> str | None:
    """Return how the old or the compact form prints an expression's text, None if unknown.

    The compact form of constants, lists and ads is never known: they are not expressions in JSON and XML.
    """
    shape, parts = _find(text)
    return None if shape is None else shape.printed(parts, form)


def pattern_like(text: str) -> str | None:
    """Return a regular expression for similar texts, all of them expressions that the old form does not change.

    It has no groups, matches no line end, and takes linear time. None: there is none.
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
    """Return a shape; None if a text of it is not an expression, or its literals are not the only difference.

    The probe's literals are all different: if the printed text has them in their order, each has its own slot there.
    """
    if len(kinds) > _MOST_SLOTS or any(map(_DOUBTFUL, pieces)) or _has_strings_side_by_side(pieces, kinds):
        return None
    literals = [_probe(kind, number) for number, kind in enumerate(kinds)]
    try:
        tree = parse_expression(Source(_joined(pieces, literals)), old=True)
    except ClassAdSyntaxError:
        return None
    old, compact = (_SLOT.split(unparse(tree, form)) for form in (UnparseForm.OLD, UnparseForm.COMPACT))
    if old[1::2] != literals:
        return None
    is_same = compact[1::2] == literals and not isinstance(tree, (Literal, ListNode, AdNode))
    return Shape(pieces, kinds, tuple(old[::2]), tuple(compact[::2]) if is_same else None)


def _has_strings_side_by_side(pieces: tuple[str, ...], kinds: str) -> bool:
    """Return whether new syntax may read two strings as one."""
    between = zip(kinds, pieces[1:-1], kinds[1:], strict=False)
    return any(left == right == "s" and not piece.strip() for left, piece, right in between)


def _probe(kind: str, number: int) -> str:
    """Return the literal of a slot, which no other slot and no shape's own text has."""
    return {"s": f'"probe {number}"', "i": f"{987_654_321_000 + number}", "r": f"{98_765_432_000 + number}.25"}[kind]


def _joined(pieces: tuple[str, ...], literals: list[str]) -> str:
    parts = [pieces[0]]
    for literal, piece in zip(literals, pieces[1:], strict=True):
        parts += (literal, piece)
    return "".join(parts)
