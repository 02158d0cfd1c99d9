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


def implies(node: Node, other: Node) -> bool:
    """Say whether another condition is true wherever one is, as far as comparisons with constants tell."""
    return max(*measure(node), *measure(other)) <= _LARGEST and _implies(node, other)


def _implies(node: Node, other: Node) -> bool:
    wanted = bare(other)
    if isinstance(wanted, Binary) and wanted.op == "&&":
        return all(_implies(node, each) for each in parts(wanted, "&&"))
    choices = list(parts(node, "||"))
    if len(choices) > 1:
        return all(_implies(each, other) for each in choices)
    if isinstance(wanted, Binary) and wanted.op == "||":
        return any(_implies(node, each) for each in parts(wanted, "||"))
    return any(_follows(each, wanted) for each in parts(node, "&&"))


def _follows(given: Node, wanted: Node) -> bool:
    if unparse(given).lower() == unparse(wanted).lower() and '"' not in unparse(given):
        return True
    if unparse(given) == unparse(wanted):
        return True
    first, second = comparison(given), comparison(wanted)
    if first is not None and second is not None and _are_alike(first, second):
        return all(second.holds(point) for point in _points(first, second) if first.holds(point))
    return isinstance(wanted, Unary) and wanted.op == "!" and isinstance(given, Unary) and given == wanted


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
