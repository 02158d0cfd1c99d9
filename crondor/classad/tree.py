"""The syntax tree of an expression: immutable nodes, each with the offsets of its text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from crondor.classad.text import to_bytes
from crondor.classad.values import Constant


class Literal(NamedTuple):
    """A value as written."""

    value: Constant
    start: int = 0
    end: int = 0


class Reference(NamedTuple):
    """``name``, ``.name`` (absolute) or ``scope.name``."""

    scope: Node | None
    name: str
    absolute: bool = False
    start: int = 0
    end: int = 0


class Unary(NamedTuple):
    """``op operand``; parentheses are the operator ``()``, for HTCondor keeps them."""

    op: str
    operand: Node
    start: int = 0
    end: int = 0


class Binary(NamedTuple):
    """``left op right``; also ``left ?: right`` and, as the operator ``[]``, ``left[right]``."""

    op: str
    left: Node
    right: Node
    start: int = 0
    end: int = 0


class Ternary(NamedTuple):
    """``test ? yes : no``."""

    test: Node
    yes: Node
    no: Node
    start: int = 0
    end: int = 0


class Call(NamedTuple):
    """``name(arguments)``."""

    name: str
    arguments: tuple[Node, ...]
    start: int = 0
    end: int = 0


class ListNode(NamedTuple):
    """``{ items }``."""

    items: tuple[Node, ...]
    start: int = 0
    end: int = 0


class AdNode(NamedTuple):
    """``[ name = expression; ... ]``, each name once and in HTCondor's order: by length, then without case."""

    items: tuple[tuple[str, Node], ...]
    start: int = 0
    end: int = 0


DEEPER: Final = frozenset(("strcat", "join"))
"""The functions whose arguments HTCondor counts as one deeper than the call; those of all others are as deep."""

Node: TypeAlias = Literal | Reference | Unary | Binary | Ternary | Call | ListNode | AdNode


def children(node: Node) -> tuple[Node, ...]:
    """Return the parts of a node, left to right."""
    if isinstance(node, Binary):
        return (node.left, node.right)
    if isinstance(node, Unary):
        return (node.operand,)
    if isinstance(node, Call):
        return node.arguments
    if isinstance(node, Reference):
        return () if node.scope is None else (node.scope,)
    if isinstance(node, Ternary):
        return (node.test, node.yes, node.no)
    if isinstance(node, ListNode):
        return node.items
    if isinstance(node, AdNode):
        return tuple(part for _, part in node.items)
    return ()


def nodes(tree: Node) -> Iterator[Node]:
    """Yield a node and all that is in it, in no order that means anything."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        left += children(node)


CHANGING: Final = frozenset(("asktime", "currenttime", "formattime", "localtimestring", "random", "time", "usermap"))
"""Functions, and an attribute, whose value is another one at another time, or elsewhere."""


def functions(tree: Node) -> frozenset[str]:
    """Return the lower-case names of the functions that an expression calls."""
    return frozenset(node.name.lower() for node in nodes(tree) if isinstance(node, Call))


def attribute_order(name: str) -> tuple[int, bytes]:
    """Return the sort key of HTCondor's attribute order."""
    data = to_bytes(name)
    return len(data), data.lower()


def bare(node: Node) -> Node:
    """Return a node without the parentheses around it."""
    while isinstance(node, Unary) and node.op == "()":
        node = node.operand
    return node


def measure(node: Node) -> tuple[int, int]:
    """Return how deep operators and names are nested, and the number of nodes."""
    height = cost = 0
    work = [(node, 0)]
    while work:
        part, depth = work.pop()
        cost += 1
        if isinstance(part, (Binary, Unary, Ternary, Reference)):
            depth += 1
            height = max(height, depth)
        elif not isinstance(part, Call):
            continue  # the members of lists and ads are expressions of their own
        elif part.name.lower() in DEEPER:
            depth += 1
            height = max(height, depth)
        work.extend((child, depth) for child in children(part))
    return height, cost
