"""What follows from comparisons with constants: which exclude each other, and which hold where another one does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from crondor.classad.tree import Binary, Literal, Node, Reference, Unary, bare, measure
from crondor.classad.unparse import unparse
from crondor.router.compare.models import name_of

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPERATORS = frozenset(("<", "<=", ">", ">=", "==", "!=", "=?=", "is", "=!=", "isnt"))
_LARGEST = 300  # nodes of an expression that is compared with another one
_Point: TypeAlias = "float | str"


class Comparison(NamedTuple):
    """An attribute, by its name in lower case, compared with a number or a text; ``text``, ``shown``: as written."""

    name: str
    operator: str
    value: _Point
    text: str
    shown: str

    def holds(self, point: _Point) -> bool:
        """Say whether it holds for a value of the same kind, as HTCondor compares: == without case, =?= with it."""
        if isinstance(point, str) or isinstance(self.value, str):
            mine, theirs = str(self.value), str(point)
            if self.operator in {"==", "!="}:
                mine, theirs = mine.lower(), theirs.lower()
            return (mine == theirs) is (self.operator in {"==", "=?=", "is"})
        operator, value = self.operator, self.value
        if operator in {"<", "<="}:
            return point < value or (operator == "<=" and point == value)
        if operator in {">", ">="}:
            return point > value or (operator == ">=" and point == value)
        return (point == value) is (operator in {"==", "=?=", "is"})


def comparison(node: Node) -> Comparison | None:
    """Return a comparison of an attribute with a number or a text, None for anything else."""
    whole = bare(node)
    if not isinstance(whole, Binary) or whole.op not in _OPERATORS:
        return None
    left, right, operator = bare(whole.left), bare(whole.right), whole.op
    if isinstance(left, Literal):
        left, right, operator = right, left, _FLIPPED.get(operator, operator)
    if not isinstance(left, Reference):
        return None
    name = name_of(left)
    value = right.value if isinstance(right, Literal) else None
    if name is None or isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str) and operator in _FLIPPED:
        return None
    return Comparison(name, operator, value, unparse(whole), left.name)


def parts(node: Node, operator: str) -> Iterator[Node]:
    """Yield the parts of a conjunction or a disjunction, the whole where it is none."""
    work = [node]
    while work:
        each = bare(work.pop())
        if isinstance(each, Binary) and each.op == operator:
            work += (each.right, each.left)
        else:
            yield each


def exclude_each_other(first: Comparison, second: Comparison) -> bool:
    """Say whether no value meets both."""
    if not _are_alike(first, second):
        return False
    return not any(first.holds(point) and second.holds(point) for point in _points(first, second))


def leave_nothing(first: Comparison, second: Comparison) -> bool:
    """Say whether every value of that kind meets one of both."""
    if not _are_alike(first, second):
        return False
    return all(first.holds(point) or second.holds(point) for point in _points(first, second))


class Conclusions:
    """Answers which of many conditions follow from which, as far as comparisons with constants tell.

    What was seen of a part is kept with the part, so that one of many routes is not printed for each of the others.
    """

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self._small: dict[int, tuple[Node, bool]] = {}
        self._seen: dict[int, _Part] = {}

    def implies(self, node: Node, other: Node) -> bool:
        """Say whether another condition is true wherever one is."""
        return self._is_small(node) and self._is_small(other) and self._implies(node, other)

    def _is_small(self, node: Node) -> bool:
        if id(node) not in self._small:
            self._small[id(node)] = node, max(measure(node)) <= _LARGEST
        return self._small[id(node)][1]

    def _part(self, node: Node) -> _Part:
        if id(node) not in self._seen:
            self._seen[id(node)] = _Part(node, unparse(node), comparison(node))
        return self._seen[id(node)]

    def _implies(self, node: Node, other: Node) -> bool:
        wanted = bare(other)
        if isinstance(wanted, Binary) and wanted.op == "&&":
            return all(self._implies(node, each) for each in parts(wanted, "&&"))
        choices = list(parts(node, "||"))
        if len(choices) > 1:
            return all(self._implies(each, other) for each in choices)
        if isinstance(wanted, Binary) and wanted.op == "||":
            return any(self._implies(node, each) for each in parts(wanted, "||"))
        return any(_follows(self._part(each), self._part(wanted)) for each in parts(node, "&&"))


class _Part(NamedTuple):
    """A part of a condition, as it is printed, and as a comparison if it is one."""

    node: Node
    text: str
    comparison: Comparison | None


def _follows(given: _Part, wanted: _Part) -> bool:
    if given.text == wanted.text or ('"' not in given.text and given.text.lower() == wanted.text.lower()):
        return True
    first, second = given.comparison, wanted.comparison
    if first is not None and second is not None and _are_alike(first, second):
        return all(second.holds(point) for point in _points(first, second) if first.holds(point))
    node = given.node
    return isinstance(wanted.node, Unary) and wanted.node.op == "!" and isinstance(node, Unary) and node == wanted.node


def _are_alike(first: Comparison, second: Comparison) -> bool:
    return first.name == second.name and isinstance(first.value, str) is isinstance(second.value, str)


def _points(first: Comparison, second: Comparison) -> list[_Point]:
    """Return values that stand for all: the constants, and what is below, between and above them."""
    one, other = first.value, second.value
    if isinstance(one, str) or isinstance(other, str):
        texts = [str(one), str(other)]
        return [*texts, *(text.swapcase() for text in texts), "".join(texts) + "x"]
    low, high = sorted((one, other))
    return [low - 1, low, (low + high) / 2, high, high + 1]
