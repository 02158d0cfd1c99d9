"""The expressions that a description writes into its jobs, read once for all rules about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from crondor.check.given import LONGEST, MATCHING, MOST, GivenValue, is_expression, is_plain
from crondor.classad import ClassAdSyntaxError, Expression
from crondor.classad.tree import AdNode, Binary, Literal, Node, Reference, bare, children, nodes
from crondor.source import Source, Span


class WrittenExpression(NamedTuple):
    """The value of a command or attribute that is an expression; ``tree`` is None where it cannot be read."""

    value: GivenValue
    tree: Node | None

    @property
    def sees_machine(self) -> bool:
        """Whether it is evaluated with a machine's ad as TARGET."""
        return self.value.key in MATCHING

    def place(self, node: Node) -> Span:
        """Return where a part of it is written."""
        return self.value.place(node.start, node.end)


def written(values: Iterable[GivenValue]) -> Iterator[WrittenExpression]:
    """Read the expressions among some values; plain constants are left out."""
    looked_at = (value for value in values if is_expression(value.key) and not is_plain(value.key, value.text))
    for value in islice(looked_at, MOST):
        if len(value.text) <= LONGEST:
            yield WrittenExpression(value, parsed(value.text))


@lru_cache(1024)
def parsed(text: str) -> Node | None:
    """Return the tree of an expression as condor_submit parses it, None where it cannot."""
    try:
        return Expression.parse(Source(text), old=True).tree
    except ClassAdSyntaxError:
        return None


class Comparison(NamedTuple):
    """An attribute compared with a constant, the attribute on the left: ``node`` is the whole."""

    attribute: Reference
    op: str
    constant: Literal
    node: Binary


_TURNED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
EQUAL: Final = frozenset(("==", "=?=", "is"))
UNEQUAL: Final = frozenset(("!=", "=!=", "isnt"))
ORDERED: Final = frozenset(("<", "<=", ">", ">="))
COMPARED: Final = EQUAL | UNEQUAL | ORDERED


def comparison(node: Node) -> Comparison | None:
    """Return what a node compares, None for one that does not compare an attribute with a constant."""
    node = bare(node)
    if not isinstance(node, Binary) or node.op.lower() not in COMPARED:
        return None
    left, right, op = bare(node.left), bare(node.right), node.op.lower()
    if isinstance(left, Reference) and isinstance(right, Literal):
        return Comparison(left, op, right, node)
    if isinstance(left, Literal) and isinstance(right, Reference):
        return Comparison(right, _TURNED.get(op, op), left, node)
    return None


def comparisons(tree: Node) -> Iterator[Comparison]:
    """Yield all comparisons of attributes with constants in an expression, in the order of the text."""
    found = (comparison(node) for node in nodes(tree) if isinstance(node, Binary))
    yield from sorted((each for each in found if each is not None), key=lambda each: each.node.start)


def joined_by(tree: Node, op: str) -> list[Node]:
    """Return the parts that one operator (``&&`` or ``||``) joins, without parentheses; the tree itself if none."""
    parts: list[Node] = []
    left = [tree]
    while left:
        node = bare(left.pop())
        if isinstance(node, Binary) and node.op == op:
            left += [node.right, node.left]
        else:
            parts.append(node)
    return parts


def attribute_of(node: Reference) -> str:
    """Return the lower-case name of the attribute that is asked, without MY. or TARGET. before it."""
    return node.name.lower()


def scope_of(node: Reference) -> str:
    """Return ``my`` or ``target`` where the reference says whose attribute it is, else nothing."""
    scope = node.scope
    is_name = isinstance(scope, Reference) and scope.scope is None
    return scope.name.lower() if is_name and isinstance(scope, Reference) else ""


def references(tree: Node) -> Iterator[Reference]:
    """Yield the attributes of the job or the machine that an expression asks, in the order of the text.

    Those of another ad, ``x.y``, are left out, and so are attributes of ads and lists within the expression.
    """
    found: list[Reference] = []
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, Reference):
            found += [node] if node.scope is None or scope_of(node) in {"my", "target"} else []
        elif not isinstance(node, AdNode):
            left += children(node)
    yield from sorted(found, key=lambda each: each.start)
