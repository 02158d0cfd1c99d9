"""The pieces of a line's value that mean something: macros, and in expressions names, functions, texts, numbers."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

from crondor.editing.kinds import TextKind
from crondor.editing.outline import LineKind, WrittenLine
from crondor.knowledge import submit_commands
from crondor.knowledge.commands import CommandType
from crondor.macro.scan import MacroKind, Scanner
from crondor.source import Span

LONGEST: Final = 20_000
"""Characters of a line whose words are looked at; editors colour no longer ones."""

_TOKEN: Final = re.compile(
    r"\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|(?P<number>[0-9][0-9A-Za-z_.]*)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)(?P<call>[ \t]*\()?",
    re.DOTALL,
)
_ARGUMENT: Final = re.compile(r"[ \t]*([A-Za-z0-9_./]+)")
_LITERALS: Final = frozenset(("true", "false", "undefined", "error", "is", "isnt"))
_SCOPES: Final = frozenset(("my", "target", "parent"))
_WITHOUT_NAMES: Final = frozenset(("ENV", "RANDOM_CHOICE", "RANDOM_INTEGER"))
_EXPRESSIONS: Final = frozenset(
    (
        CommandType.EXPRESSION,
        CommandType.BOOLEAN,
        CommandType.INTEGER,
        CommandType.COUNT,
        CommandType.MIB,
        CommandType.KIB,
    )
)
_OF_CONFIG: Final = re.compile(
    r"(?:\w+\.)?(?:start|rank|preempt|suspend|continue|kill|want_\w+|\w*(?:expr|requirements?|constraint)\w*|system_periodic_\w+|\w*_hold_reason)"
).fullmatch


class PieceKind(Enum):
    """What a piece is."""

    MACRO = "macro"
    MACRO_FUNCTION = "macro function"
    ATTRIBUTE = "attribute"
    FUNCTION = "function"
    SCOPE = "scope"
    LITERAL = "literal"
    NUMBER = "number"
    STRING = "string"


class Piece(NamedTuple):
    """A piece of a line's text: its name (of a macro in lower case, else as it is written), and where that stands."""

    kind: PieceKind
    name: str
    start: int
    end: int


def pieces(written: WrittenLine, kind: TextKind) -> list[Piece]:
    """Return the pieces of a line's value in their order; none of a line that is too long for people."""
    text = written.line.text
    if len(text) > LONGEST:
        return []
    begin = written.value
    macros = list(_macros(text, begin)) if kind not in {TextKind.AD, TextKind.CRONTAB} else []
    if not is_expression(written, kind):
        return [piece for piece, _ in macros]
    covered = _reaches(macros)
    found = [piece for piece, _ in macros]
    attribute = written.attribute
    found += (piece for piece in _tokens(text, attribute[1] if attribute else begin) if not _inside(piece, covered))
    return sorted(found, key=lambda piece: piece.start)


def is_expression(written: WrittenLine, kind: TextKind) -> bool:
    """Say whether the value of a line is a ClassAd expression."""
    if kind is TextKind.AD:
        return True
    if written.kind is LineKind.COMMAND:
        return written.key in {"set", "default", "evalset", "evalmacro", "requirements"}
    if written.kind is not LineKind.ASSIGNMENT:
        return False
    if kind is TextKind.SUBMIT:
        command = submit_commands().get(written.key)
        return written.key.startswith("my.") or (command is not None and command.type in _EXPRESSIONS)
    return kind is TextKind.CONFIG and _OF_CONFIG(written.key) is not None


def macro_uses(written: WrittenLine, kind: TextKind) -> Iterator[tuple[str, Span]]:
    """Yield the macros that a line uses, by lower-case name, with the place of the name."""
    if kind in {TextKind.AD, TextKind.CRONTAB} or len(written.line.text) > LONGEST:
        return
    for piece, _ in _macros(written.line.text, 0):
        if piece.kind is PieceKind.MACRO:
            yield piece.name, written.line.span(piece.start, piece.end)


def _macros(text: str, begin: int) -> Iterator[tuple[Piece, tuple[int, int]]]:
    """Yield the macros of a text, each with all that it reaches over; those in defaults and arguments as well."""
    scanner = Scanner(text)
    at = text.find("$", begin)
    while at >= 0:
        found = scanner.scan(at)
        if found.kind is MacroKind.MACRO:
            start = text.index("(", at) + 1
            yield Piece(PieceKind.MACRO, found.name, start, start + len(found.name)), (at, found.end)
            at = text.find("$", start)
        elif found.kind is MacroKind.FUNCTION:
            start = at + 1
            yield Piece(PieceKind.MACRO_FUNCTION, found.name, start, start + len(found.name)), (at, found.end)
            inner = start + len(found.name) + 1
            argument = _ARGUMENT.match(text, inner)
            if argument and found.name not in _WITHOUT_NAMES and not argument[1].isdigit():
                yield Piece(PieceKind.MACRO, argument[1].lower(), *argument.span(1)), (at, found.end)
            at = text.find("$", inner)
        else:
            at = text.find("$", at + 1)


def _tokens(text: str, begin: int) -> Iterator[Piece]:
    for found in _TOKEN.finditer(text, begin):
        if found["number"]:
            yield Piece(PieceKind.NUMBER, found["number"], *found.span())
        elif not found["word"]:
            yield Piece(PieceKind.STRING, found[0], *found.span())
        else:
            word = found["word"]
            if found["call"]:
                kind = PieceKind.FUNCTION
            elif word.lower() in _LITERALS:
                kind = PieceKind.LITERAL
            elif word.lower() in _SCOPES and text.startswith(".", found.end()):
                kind = PieceKind.SCOPE
            else:
                kind = PieceKind.ATTRIBUTE
            yield Piece(kind, word, *found.span("word"))


def _reaches(found: list[tuple[Piece, tuple[int, int]]]) -> list[tuple[int, int]]:
    """Return what macros reach over, those inside of others with them, in order."""
    outer: list[tuple[int, int]] = []
    for _, (low, high) in found:
        if outer and low < outer[-1][1]:
            outer[-1] = outer[-1][0], max(high, outer[-1][1])
        else:
            outer.append((low, high))
    return outer


def _inside(piece: Piece, covered: list[tuple[int, int]]) -> bool:
    """Say whether a piece stands inside a macro; a text may have macros in it."""
    if piece.kind is PieceKind.STRING:
        return False
    number = bisect_right(covered, (piece.start, sys.maxsize)) - 1
    return number >= 0 and piece.start < covered[number][1]
