"""Tokens to the tree, by HTCondor's recursive descent, and the tree back to text.

HTCondor: ClassAdParser::parseExpression down to parsePrimaryExpression (src/classad/source.cpp). Each method has its
rule in EBNF; words in capitals are kinds of tokens, and BINARY is an operator of that table.
"""

from __future__ import annotations

import math
import re
from enum import Enum
from typing import Final, NamedTuple, NoReturn, TypeAlias

from crondor.classad.text import to_bytes
from crondor.classad.tokens import WORDS, Tokens, integer, print_abstime, print_reltime, read_abstime, read_reltime
from crondor.classad.tree import (
    MAX_NESTING,
    AbsTime,
    AdNode,
    Binary,
    Call,
    Constant,
    Exceptional,
    ListNode,
    Literal,
    LocalTime,
    Node,
    Reference,
    RelTime,
    StackExhausted,
    Ternary,
    Unary,
    attribute_order,
    syntax_error,
)
from crondor.diagnostics import Source

_BINARY: Final[dict[str, int]] = {  # operator: its precedence
    **dict.fromkeys(("*", "/", "%"), 10),
    **dict.fromkeys(("+", "-"), 9),
    **dict.fromkeys(("<<", ">>", ">>>"), 8),
    **dict.fromkeys(("<", "<=", ">", ">="), 7),
    **dict.fromkeys(("==", "!=", "=?=", "=!="), 6),
    "&": 5,
    "^": 4,
    "|": 3,
    "&&": 2,
    "||": 1,
}
_SUFFIX: Final = frozenset((".", "[", "(", "?:"))
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}


def parse_expression(source: Source, *, old: bool = False, partial: bool = False, open_choice: bool = False) -> Node:
    """Return the tree of an expression.

    ``old`` reads strings by the rules of ``-long`` ads. ``partial`` reads the longest prefix that is an expression, as
    HTCondor does for a ``-long`` line. ``open_choice`` ignores text after a ``? :``, which is the only case where
    HTCondor 25.14 does not check the end of a whole text (ClassAdParser). Raises ClassAdSyntaxError.
    """
    parser = _Parser(Tokens(source, old=old))
    try:
        node = parser.expression(1)
    except RecursionError:
        parser.no_stack()
    if not partial and not (open_choice and isinstance(node, Ternary)):
        parser.finish()
    return node


def parse_ad(source: Source, *, partial: bool = False) -> AdNode:
    """Return the tree of ``[ name = expression; ... ]``; ``partial`` ignores the rest. Raises ClassAdSyntaxError."""
    parser = _Parser(Tokens(source))
    if parser.kinds[0] != "[":
        parser.fail("an ad begins with [")
    try:
        node = parser.ad(0)
    except RecursionError:
        parser.no_stack()
    if not partial:
        parser.finish()
    return node


_MEANT: Final = {
    "and": "write &&",
    "or": "write ||",
    **dict.fromkeys(("kb", "mb", "gb", "tb"), "write a number: MB for memory, KB for disk"),
}
_TOO_DEEP: Final = "nested deeper than HTCondor reads (165 parentheses, lists or calls; 497 signs or conditions)"


class _Parser:
    """Reads tokens at position ``at``; ``depth`` counts as in HTCondor's parser."""

    def __init__(self, tokens: Tokens) -> None:
        self.source = tokens.source
        self.kinds = tokens.kinds
        self.values = tokens.values
        self.starts = tokens.starts
        self.ends = tokens.ends
        self.at = 0

    def finish(self) -> None:
        if self.kinds[self.at] != "end":
            self.fail("the expression is complete before this")

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        at = self.at
        kind, start, end = self.kinds[at], self.starts[at], self.ends[at]
        if kind == "bad":
            message, hint = str(self.values[at]), None
        elif kind == "octal":
            message, hint = "an integer cannot begin with a zero", "remove the zero; 0x and octal numbers do not exist"
        elif kind == "=":
            hint = "compare with == or =?="
        hint = hint or _MEANT.get(self.source.text[start:end].lower())
        raise syntax_error(self.source, start, end, message, hint)

    def too_deep(self) -> NoReturn:
        start = self.starts[self.at]
        raise syntax_error(self.source, start, start + 1, _TOO_DEEP)

    def no_stack(self) -> NoReturn:
        """Raise when Python's own stack ends: in a text that is too deep, or a caller that is."""
        start = self.starts[self.at]
        raise StackExhausted(syntax_error(self.source, start, start + 1, _TOO_DEEP).diagnostics)

    def expression(self, depth: int) -> Node:
        """Read operands and binary operators by precedence, then ``? :``, whose last part is read here.

        expression = operation ("?" expression ":" operation)*
        operation = operand (BINARY operand)*
        """
        kinds, ends = self.kinds, self.ends
        pending: list[tuple[int, str, Node]] = []
        arms: list[tuple[Node, Node]] = []
        while True:
            node = self.operand(depth)
            kind = kinds[self.at]
            rank = _BINARY.get(kind, 0)
            while pending and pending[-1][0] >= rank:
                _, op, left = pending.pop()
                node = Binary(op, left, node, left.start, node.end)
            if rank:
                pending.append((rank, kind, node))
                self.at += 1
            elif kind == "?":
                self.at += 1
                yes = self.expression(depth + 1)
                self.expect(":", "? needs a : and a second choice")
                arms.append((node, yes))
                depth += 1
                if depth > MAX_NESTING:
                    self.too_deep()
            else:
                break
        for test, yes in reversed(arms):
            node = Ternary(test, yes, node, test.start, ends[self.at - 1])
        return node

    def expect(self, kind: str, message: str) -> None:
        if self.kinds[self.at] != kind:
            self.fail(message)
        self.at += 1

    def operand(self, depth: int) -> Node:
        """Read an operand with its signs; a minus directly before a digit belongs to the number.

        operand = ("!" | "-" | "+" | "~")* postfix
        """
        kinds = self.kinds
        kind = kinds[self.at]
        if kind == "name" and kinds[self.at + 1] not in _SUFFIX and depth < MAX_NESTING - 2:
            at = self.at
            self.at = at + 1
            return Reference(None, self.values[at], self.starts[at], self.ends[at])  # type: ignore[arg-type]
        signs: list[int] = []
        while kind in ("!", "-", "+", "~") and not (kind == "-" and self.signed_number()):
            signs.append(self.at)
            self.at += 1
            kind = kinds[self.at]
        node = self.postfix(depth + len(signs) + 2)
        for at in reversed(signs):
            node = Unary(kinds[at], node, self.starts[at], node.end)
        return node

    def signed_number(self) -> bool:
        """Return whether the minus here is the sign of a number: directly before a digit."""
        after = self.at + 1
        if self.kinds[after] not in ("number", "octal") or self.starts[after] != self.ends[self.at]:
            return False
        return not self.source.text.startswith("..", self.starts[after])

    def postfix(self, depth: int) -> Node:
        """Read a value and its postfix operators.

        postfix = (list | primary) ("." name | "[" expression "]" | "?:" postfix)*
        """
        if depth > MAX_NESTING:
            self.too_deep()
        kind = self.kinds[self.at]
        node = self.list(depth) if kind == "{" else self.primary(kind, depth)
        while True:
            kind = self.kinds[self.at]
            if kind == ".":
                self.at += 1
                name = self.name("a name must follow the dot")
                node = Reference(node, name, node.start, self.ends[self.at - 1])
            elif kind == "[":
                self.at += 1
                index = self.expression(depth + 1)
                self.expect("]", "this subscript needs its ]")
                node = Binary("[]", node, index, node.start, self.ends[self.at - 1])
            elif kind == "?:":
                self.at += 1
                other = self.postfix(depth + 1)
                node = Binary("?:", node, other, node.start, other.end)
            else:
                return node

    def name(self, message: str) -> str:
        """Read a name, plain or in quotes; ``message`` is the error if there is none.

        name = NAME
        """
        if self.kinds[self.at] != "name":
            self.fail(message)
        self.at += 1
        return str(self.values[self.at - 1])

    def primary(self, kind: str, depth: int) -> Node:
        """Read a value.

        primary = name | call | NUMBER | LITERAL | "(" expression ")" | rare
        """
        at = self.at
        value, start = self.values[at], self.starts[at]
        if kind == "name":
            self.at = at + 1
            if self.kinds[self.at] == "(":
                return self.call(str(value), depth, start)
            return Reference(None, str(value), start, self.ends[at])
        if kind == "number":
            self.at = at + 1
            return Literal(integer(value, negative=False), start, self.ends[at])  # type: ignore[arg-type]
        if kind == "literal":
            self.at = at + 1
            return Literal(value, start, self.ends[at])  # type: ignore[arg-type]
        if kind == "(":
            self.at = at + 1
            node = self.expression(depth + 1)
            self.close(at)
            return Unary("()", node, start, self.ends[self.at - 1])
        return self.rare(kind, depth, start)

    def rare(self, kind: str, depth: int, start: int) -> Node:
        """Read a rare kind of value; no blank may follow the minus.

        rare = "-" (NUMBER | OCTAL) | "." name | ad
        """
        if kind == "-" and self.signed_number():
            self.at += 2
            value = integer(self.values[self.at - 1], negative=True)
            return Literal(value, start, self.ends[self.at - 1])  # type: ignore[arg-type]
        if kind == ".":
            self.at += 1
            name = self.name("a name must follow the dot")
            return Reference(None, name, start, self.ends[self.at - 1], absolute=True)
        if kind == "[":
            return self.ad(depth)
        if kind == "end":
            self.fail("an expression is expected, and the text ends")
        found = {"=?=": "is is an operator", "=!=": "isnt is an operator"}.get(kind) if kind.isalpha() else None
        return self.fail(found or "a name, a value or ( is expected here")

    def list(self, depth: int) -> Node:
        """Read a list.

        list = "{" (expression ("," expression)*)? "}"
        """
        opening = self.at
        self.at += 1
        items = self.items(opening, depth)
        return ListNode(items, self.starts[opening], self.ends[self.at - 1])

    def close(self, opening: int) -> None:
        kind = self.kinds[opening]
        if self.kinds[self.at] != _CLOSING[kind]:
            if self.kinds[self.at] == "end":
                self.at = opening
                self.fail(f"this {kind} is never closed")
            self.fail(f"an operator or {_CLOSING[kind]} is expected here")
        self.at += 1

    def items(self, opening: int, depth: int) -> tuple[Node, ...]:
        """Read the contents of a list or call, up to the closing token."""
        if self.kinds[self.at] == _CLOSING[self.kinds[opening]]:
            self.at += 1
            return ()
        separators = (",", ";") if self.kinds[opening] == "(" else (",",)
        found = [self.expression(depth + 1)]
        while self.kinds[self.at] in separators:
            self.at += 1
            found.append(self.expression(depth + 1))
        self.close(opening)
        return tuple(found)

    def call(self, name: str, depth: int, start: int) -> Node:
        """Read the arguments of a function after its name.

        call = name "(" (expression (("," | ";") expression)*)? ")"
        """
        opening = self.at
        self.at += 1
        arguments = self.items(opening, depth)
        end = self.ends[self.at - 1]
        only = arguments[0] if len(arguments) == 1 else None
        if isinstance(only, Literal) and isinstance(only.value, str) and name.lower() in ("abstime", "reltime"):
            return Literal(self.time(name, only), start, end)
        return Call(name, arguments, start, end)

    def time(self, name: str, argument: Literal) -> AbsTime | LocalTime | RelTime:
        """Return the value of a time with a literal text, computed by HTCondor's parser."""
        text = str(argument.value)
        found = read_abstime(text) if name.lower() == "abstime" else read_reltime(text)
        if found is None:
            form = "2025-12-31T23:59:59+01:00" if name.lower() == "abstime" else "1+12:00:00"
            message = f"{text!r} is not a time for {name}"
            raise syntax_error(self.source, argument.start, argument.end, message, f"write it as {form}")
        return found

    def ad(self, depth: int) -> AdNode:
        """Read an ad; the last value of a repeated name counts.

        ad = "[" (";"* attribute (";"+ attribute)* ";"*)? "]"
        attribute = name "=" expression
        """
        opening = self.at
        start = self.starts[opening]
        kinds = self.kinds
        self.at += 1
        found: dict[str, tuple[str, Node]] = {}
        while kinds[self.at] == ";":
            self.at += 1
            if kinds[self.at] == "]":
                self.fail("an ad needs an attribute, or nothing, between [ and ]")
        while kinds[self.at] != "]":
            name_at = self.at
            name = self.name("an attribute is expected: name = expression")
            if not name:
                self.at = name_at
                self.fail("an attribute needs a name")
            self.expect("=", "an attribute is expected: name = expression")
            node = self.expression(depth + 1)
            first = found.get(name.lower())
            found[name.lower()] = (name if first is None else first[0], node)
            if kinds[self.at] != ";":
                self.close(opening)
                break
            while kinds[self.at] == ";":
                self.at += 1
        else:
            self.at += 1
        items = tuple(sorted(found.values(), key=lambda item: attribute_order(item[0])))
        return AdNode(items, start, self.ends[self.at - 1])


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

    ``faithful``: as HTCondor 25.14 prints it, which drops the quotes of a name after a dot (``a.'b c'`` is ``a.b c``)
    and before the parentheses of a call, so that the text cannot be read back. Otherwise they stay.
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
        return [_after_dot(node.name, form, faithful=faithful) + "(", *_joined(list(node.arguments), ","), ")"]
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
    raise TypeError(f"not a ClassAd value: {value!r}")


def print_string(text: str, form: UnparseForm = UnparseForm.COMPACT) -> str:
    """Return a string in quotes; the old form escapes only the quote, the new one also everything beyond ASCII."""
    if _PLAIN.match(text):
        return f'"{text}"'
    if form is UnparseForm.OLD:
        return '"' + text.replace('"', '\\"') + '"'
    return '"' + _escaped(text, _IN_STRING) + '"'


def print_name(name: str, form: UnparseForm = UnparseForm.COMPACT) -> str:
    """Return an attribute's name, in quotes if it is not a plain name or is a reserved word."""
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
    """Return a real with HTCondor's 16 digits, one too few to read some values back exactly."""
    if real == 0.0:
        return "-0.0" if math.copysign(1.0, real) < 0 else "0.0"
    if math.isfinite(real):
        if form is not UnparseForm.OLD:
            return f"{real:.15E}"
        text = f"{real:.16G}"
        return text if "." in text or "E" in text else text + ".0"
    return 'real("NaN")' if math.isnan(real) else f'real("{"-" if real < 0 else ""}INF")'
