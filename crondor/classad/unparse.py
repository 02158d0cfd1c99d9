"""Trees and constants to text, as HTCondor prints them (HTCondor: ClassAdUnParser::UnparseAux)."""

from __future__ import annotations

import math
import re
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from crondor.classad.text import to_bytes
from crondor.classad.times import print_abstime, print_reltime
from crondor.classad.tokens import WORDS
from crondor.classad.tree import AdNode, Binary, Call, ListNode, Literal, Node, Reference, Ternary, Unary
from crondor.classad.values import AbsTime, Constant, Exceptional, LocalTime, RelTime


class UnparseForm(Enum):
    """COMPACT is one line of new syntax; PRETTY breaks lists and ads into lines; OLD is the right side of ``-long``."""

    COMPACT = "compact"
    PRETTY = "pretty"
    OLD = "old"


_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ESCAPES: Final = {
    **{code: f"\\{code:03o}" for code in (*range(32), 127)},
    **{ord(sign): f"\\{letter}" for sign, letter in zip("\a\b\f\n\r\t\v", "abfnrtv", strict=True)},
    ord("\\"): "\\\\",
}
_IN_STRING: Final = {**_ESCAPES, ord('"'): '\\"'}
_IN_NAME: Final = {**_ESCAPES, ord("'"): "\\'"}
_OLD_NAMES: Final = {"=?=": " =?= ", "=!=": " =!= "}
_NEW_NAMES: Final = {"=?=": " is ", "=!=": " isnt "}
_PLAIN = re.compile(r"[ !#-\[\]-~]*\Z")


class _Indent(NamedTuple):
    """A change of the indentation, with a new line or without."""

    change: int
    line: bool = True


_Piece: TypeAlias = Node | str | _Indent


def unparse(node: Node, form: UnparseForm = UnparseForm.COMPACT, *, faithful: bool = False) -> str:
    """Return the text of a tree.

    ``faithful``: as HTCondor 25.14 prints it, which leaves the quotes out of a name after a dot (``a.'b c'`` is
    ``a.b c``) and before the parentheses of a call, so that the text does not read back. Without it they stay.
    """
    out: list[str] = []
    work: list[_Piece] = [node]
    indent = 0
    while work:
        piece = work.pop()
        if isinstance(piece, str):
            out.append(piece)
        elif isinstance(piece, _Indent):
            indent += piece.change
            if piece.line:
                out.append("\n" + " " * indent)
        elif type(piece) is Literal:
            out.append(print_constant(piece.value, form))
        elif type(piece) is Reference and piece.scope is None:
            out.append(("." if piece.absolute else "") + print_name(piece.name, form))
        else:
            work.extend(reversed(_pieces(piece, form, faithful=faithful)))
    return "".join(out)


def _pieces(node: Node, form: UnparseForm, *, faithful: bool) -> list[_Piece]:
    if isinstance(node, Binary):
        if node.op == "[]":
            return [node.left, "[", node.right, "]"]
        names = _OLD_NAMES if form is UnparseForm.OLD else _NEW_NAMES
        return [node.left, names.get(node.op) or f" {node.op} ", node.right]
    if isinstance(node, Unary):
        return ["(", node.operand, ")"] if node.op == "()" else [f" {node.op}", node.operand]
    if isinstance(node, Call):
        return [
            _after_dot(node.name, form, faithful=faithful) + "(",
            *_joined(list(node.arguments), ","),
            ")",
        ]
    if isinstance(node, Ternary):
        return [node.test, " ? ", node.yes, " : ", node.no]
    if isinstance(node, ListNode):
        return _block("{", [[item] for item in node.items], ",", "}", 3 if form is UnparseForm.PRETTY else 0)
    if isinstance(node, AdNode):
        rows: list[list[_Piece]] = [[print_name(name, form) + " = ", part] for name, part in node.items]
        return _block("[", rows, "; ", "]", 4 if form is UnparseForm.PRETTY else 0)
    if isinstance(node, Reference) and node.scope is not None:
        return [node.scope, "." + _after_dot(node.name, form, faithful=faithful)]
    return []


def _joined(nodes: list[Node], separator: str) -> list[_Piece]:
    pieces: list[_Piece] = []
    for node in nodes:
        pieces += (node, separator)
    return pieces[:-1]


def _block(opening: str, rows: list[list[_Piece]], separator: str, closing: str, step: int) -> list[_Piece]:
    if not step:
        pieces: list[_Piece] = [opening + " "]
        for row in rows:
            pieces += (*row, separator)
        return [*(pieces[:-1] if rows else pieces), " " + closing]
    pieces = [_Indent(step), opening, _Indent(step, line=False)]
    for row in rows:
        pieces += (_Indent(0), *row, separator)
    return [*(pieces[:-1] if rows else pieces), _Indent(-step), closing, _Indent(-step, line=False)]


def print_constant(value: Constant, form: UnparseForm = UnparseForm.COMPACT) -> str:
    """Return the text of a constant."""
    kind = type(value)
    if kind is str:
        return print_string(value, form)  # type: ignore[arg-type]
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    if kind is float:
        return print_real(value, form)  # type: ignore[arg-type]
    if isinstance(value, AbsTime):
        return f'absTime("{print_abstime(value)}")'
    if isinstance(value, RelTime):
        return f'relTime("{print_reltime(value.seconds)}")'
    if isinstance(value, LocalTime):  # as on a machine whose zone is UTC
        return f'absTime("{print_abstime(AbsTime(value.seconds, 0))}")'
    if isinstance(value, Exceptional):
        return str(value)
    raise TypeError(f"no ClassAd value: {value!r}")


def print_string(text: str, form: UnparseForm = UnparseForm.COMPACT) -> str:
    """Return a string in quotes; the old form escapes only the quote, the new one also all that is not ASCII."""
    if _PLAIN.match(text):
        return f'"{text}"'
    if form is UnparseForm.OLD:
        return '"' + text.replace('"', '\\"') + '"'
    return '"' + _escaped(text, _IN_STRING) + '"'


def print_name(name: str, form: UnparseForm = UnparseForm.COMPACT) -> str:
    """Return an attribute's name, in quotes where it is no plain name or is a reserved word."""
    if _IDENTIFIER.match(name):
        return f"'{name}'" if name.lower() in _RESERVED else name
    escaped = name.replace("'", "\\'") if form is UnparseForm.OLD else _escaped(name, _IN_NAME)
    return f"'{escaped}'"


_RESERVED: Final = WORDS | {"parent"}


def _after_dot(name: str, form: UnparseForm, *, faithful: bool) -> str:
    return name if faithful or name.lower() == "parent" else print_name(name, form)


def _escaped(text: str, table: dict[int, str]) -> str:
    escaped = text.translate(table)
    if text.isascii():
        return escaped
    return "".join(chr(byte) if byte < 128 else f"\\{byte:03o}" for byte in to_bytes(escaped))


def print_real(real: float, form: UnparseForm = UnparseForm.COMPACT) -> str:
    """Return a real with HTCondor's 16 digits, one too few for some values to read back as themselves."""
    if real == 0.0:
        return "-0.0" if math.copysign(1.0, real) < 0 else "0.0"
    if math.isfinite(real):
        if form is not UnparseForm.OLD:
            return f"{real:.15E}"
        text = f"{real:.16G}"
        return text if "." in text or "E" in text else text + ".0"
    return 'real("NaN")' if math.isnan(real) else f'real("{"-" if real < 0 else ""}INF")'
