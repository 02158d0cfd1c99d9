"""The closures of the operators that matter for speed: integers and strings without a detour."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from crondor.classad import text as texts
from crondor.classad.operators import binary, meta
from crondor.classad.scope import EvaluationState, Run, Value
from crondor.classad.tree import Literal, Node
from crondor.classad.values import (
    INT_MAX,
    INT_MIN,
    Exceptional,
)

Maker: TypeAlias = Callable[[Run, Run], Run]


def operation(op: str, left: Run, right_node: Node, right: Run) -> Run:
    """Return what evaluates ``left op right``; a right side that is written out is not evaluated each time."""
    if isinstance(right_node, Literal):
        value = right_node.value
        if isinstance(value, str) and op in ("==", "!="):
            return _equals_string(left, value, op)
        if isinstance(value, Exceptional) and op in ("=?=", "=!="):
            return _is_exceptional(left, value, op)
    maker = _FAST.get(op)
    if maker is not None:
        return maker(left, right)
    return lambda state: binary(op, left(state), right(state))


def _equals_string(left: Run, text: str, op: str) -> Run:
    folded = texts.lower(text)
    equal = op == "=="

    def equals(state: EvaluationState) -> Value:
        value = left(state)
        if value.__class__ is str:
            return (value == text or texts.lower(value) == folded) is equal
        return binary(op, value, text)

    return equals


def _is_exceptional(left: Run, sought: Exceptional, op: str) -> Run:
    if op == "=?=":
        return lambda state: left(state) is sought
    return lambda state: left(state) is not sought


def _comparison(op: str, test: Callable[[Any, Any], bool]) -> Maker:
    compare_folded = texts.compare_folded

    def make(left: Run, right: Run) -> Run:
        def compared(state: EvaluationState) -> Value:
            a, b = left(state), right(state)
            if a.__class__ is int and b.__class__ is int:
                return test(a, b)
            if a.__class__ is str and b.__class__ is str:
                return test(compare_folded(a, b), 0)
            return binary(op, a, b)

        return compared

    return make


def _arithmetic(op: str, compute: Callable[[Any, Any], int]) -> Maker:

    def make(left: Run, right: Run) -> Run:
        def computed(state: EvaluationState) -> Value:
            a, b = left(state), right(state)
            if a.__class__ is int and b.__class__ is int:
                result = compute(a, b)
                if INT_MIN <= result <= INT_MAX:
                    return result
            return binary(op, a, b)

        return computed

    return make


def _divide(left: Run, right: Run) -> Run:
    def divide(state: EvaluationState) -> Value:
        a, b = left(state), right(state)
        if a.__class__ is int and b.__class__ is int and a >= 0 and b > 0:
            return a // b
        return binary("/", a, b)

    return divide


def _identical(left: Run, right: Run) -> Run:
    return lambda state: meta(left(state), right(state), negated=False)


def _different(left: Run, right: Run) -> Run:
    return lambda state: meta(left(state), right(state), negated=True)


_FAST: Final[dict[str, Maker]] = {
    "<": _comparison("<", operator.lt),
    "<=": _comparison("<=", operator.le),
    ">": _comparison(">", operator.gt),
    ">=": _comparison(">=", operator.ge),
    "==": _comparison("==", operator.eq),
    "!=": _comparison("!=", operator.ne),
    "+": _arithmetic("+", operator.add),
    "-": _arithmetic("-", operator.sub),
    "*": _arithmetic("*", operator.mul),
    "/": _divide,
    "=?=": _identical,
    "=!=": _different,
}
