"""Tokens to the tree; what HTCondor's recursive descent accepts, without its recursion in the common cases.

HTCondor: ClassAdParser::parseExpression down to parsePrimaryExpression (src/classad/source.cpp). Each method states the
rule it reads in EBNF; words in capitals are kinds of tokens, and BINARY is an operator of that table.
"""

from __future__ import annotations

from typing import Final, NoReturn

from crondor.classad.errors import StackExhausted, syntax_error
from crondor.classad.limits import MAX_NESTING
from crondor.classad.times import read_abstime, read_reltime
from crondor.classad.tokens import Tokens, integer
from crondor.classad.tree import (
    AdNode,
    Binary,
    Call,
    ListNode,
    Literal,
    Node,
    Reference,
    Ternary,
    Unary,
    attribute_order,
)
from crondor.classad.values import AbsTime, LocalTime, RelTime
from crondor.source import Source

_BINARY: Final[dict[str, int]] = {  # operator: how tightly it binds
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

    ``old`` takes strings by the rules of ``-long`` ads. ``partial`` takes the longest beginning that is an
    expression, as HTCondor does with the right side of a ``-long`` line. ``open_choice`` passes over what follows a
    ``? :``, whose end alone HTCondor 25.14 does not look at when it reads a whole text (ClassAdParser).
    Raises ClassAdSyntaxError.
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
    """Return the tree of an ad ``[ name = expression; ... ]``; ``partial`` ignores what follows it.

    Raises ClassAdSyntaxError.
    """
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


_TOO_DEEP: Final = "nested deeper than HTCondor reads (165 parentheses, lists or calls; 497 signs or conditions)"


class _Parser:
    """Reads by position ``at`` in the columns of the tokens; ``depth`` counts as HTCondor's parser does."""

    __slots__ = ("at", "ends", "kinds", "source", "starts", "values")

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
            message, hint = "no integer begins with a zero", "write it without; 0x and octal numbers do not exist"
        elif kind == "=":
            hint = "compare with == or =?="
        raise syntax_error(self.source, start, end, message, hint)

    def too_deep(self) -> NoReturn:
        start = self.starts[self.at]
        raise syntax_error(self.source, start, start + 1, _TOO_DEEP)

    def no_stack(self) -> NoReturn:
        """Give up where Python's own stack ends: at a text that is too deep, or in a caller that is."""
        start = self.starts[self.at]
        raise StackExhausted(syntax_error(self.source, start, start + 1, _TOO_DEEP).diagnostics)

    def expression(self, depth: int) -> Node:
        """Read operands and binary operators by precedence, then ``? :`` whose last part continues here.

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
        """Read an operand with its signs; a minus right before a digit belongs to the number.

        operand = ("!" | "-" | "+" | "~")* postfix
        """
        kinds = self.kinds
        kind = kinds[self.at]
        if kind == "name" and kinds[self.at + 1] not in _SUFFIX and depth < MAX_NESTING - 2:
            at = self.at
            self.at = at + 1
            return Reference(None, self.values[at], False, self.starts[at], self.ends[at])  # type: ignore[arg-type]  # noqa: FBT003
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
        """Say whether the minus here is the sign of a number: it is where it stands right before a digit."""
        after = self.at + 1
        if self.kinds[after] not in ("number", "octal") or self.starts[after] != self.ends[self.at]:
            return False
        return not self.source.text.startswith("..", self.starts[after])

    def postfix(self, depth: int) -> Node:
        """Read a value and what is done to it from behind.

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
                node = Reference(node, name, False, node.start, self.ends[self.at - 1])  # noqa: FBT003
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
        """Read a name, plain or in quotes; ``message`` says what is missing where there is none.

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
            return Reference(None, str(value), False, start, self.ends[at])  # noqa: FBT003
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
        """Read what few values are; no blank may stand behind the minus.

        rare = "-" (NUMBER | OCTAL) | "." name | ad
        """
        if kind == "-" and self.signed_number():
            self.at += 2
            value = integer(self.values[self.at - 1], negative=True)
            return Literal(value, start, self.ends[self.at - 1])  # type: ignore[arg-type]
        if kind == ".":
            self.at += 1
            name = self.name("a name must follow the dot")
            return Reference(None, name, True, start, self.ends[self.at - 1])  # noqa: FBT003
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
        """Read what list and call have inside, up to the closing sign."""
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
        """Read the arguments of a function whose name was read.

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
        """Return the value of a time with a literal text, which HTCondor makes while it parses."""
        text = str(argument.value)
        found = read_abstime(text) if name.lower() == "abstime" else read_reltime(text)
        if found is None:
            form = "2025-12-31T23:59:59+01:00" if name.lower() == "abstime" else "1+12:00:00"
            message = f"{text!r} is no time for {name}"
            raise syntax_error(self.source, argument.start, argument.end, message, f"write it as {form}")
        return found

    def ad(self, depth: int) -> AdNode:
        """Read an ad; of a name that comes twice the last value counts.

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
