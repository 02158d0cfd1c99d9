"""The closures of the operators that matter for speed: integers and strings without a detour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from crondor.classad import operators
from crondor.classad import text as texts
from crondor.classad.scope import Run, State, Value
from crondor.classad.values import (
    INT_MAX,
    INT_MIN,
)


def equals_string(left: Run, text: str, op: str) -> Run:
    """Return what compares an operand with a string that is written out, by ``==`` or ``!=``."""
    folded = texts.lower(text)
    equal = op == "=="

    def equals(state: State) -> Value:
        value = left(state)
        if value.__class__ is str:
            return (value == text or texts.lower(value) == folded) is equal
        return operators.binary(op, value, text)

    return equals


def _less(left: Run, right: Run) -> Run:
    def less(state: State) -> Value:
        a, b = left(state), right(state)
        if a.__class__ is int and b.__class__ is int:
            return a < b
        return operators.binary("<", a, b)

    return less


def _less_equal(left: Run, right: Run) -> Run:
    def less_equal(state: State) -> Value:
        a, b = left(state), right(state)
        if a.__class__ is int and b.__class__ is int:
            return a <= b
        return operators.binary("<=", a, b)

    return less_equal


def _greater(left: Run, right: Run) -> Run:
    def greater(state: State) -> Value:
        a, b = left(state), right(state)
        if a.__class__ is int and b.__class__ is int:
            return a > b
        return operators.binary(">", a, b)

    return greater


def _greater_equal(left: Run, right: Run) -> Run:
    def greater_equal(state: State) -> Value:
        a, b = left(state), right(state)
        if a.__class__ is int and b.__class__ is int:
            return a >= b
        return operators.binary(">=", a, b)

    return greater_equal


def _add(left: Run, right: Run) -> Run:
    def add(state: State) -> Value:
        a, b = left(state), right(state)
        if a.__class__ is int and b.__class__ is int:
            result = a + b
            if INT_MIN <= result <= INT_MAX:
                return result
        return operators.binary("+", a, b)

    return add


def _subtract(left: Run, right: Run) -> Run:
    def subtract(state: State) -> Value:
        a, b = left(state), right(state)
        if a.__class__ is int and b.__class__ is int:
            result = a - b
            if INT_MIN <= result <= INT_MAX:
                return result
        return operators.binary("-", a, b)

    return subtract


def _equal(left: Run, right: Run) -> Run:
    def equal(state: State) -> Value:
        a, b = left(state), right(state)
        if a.__class__ is int and b.__class__ is int:
            return a == b
        return operators.binary("==", a, b)

    return equal


def _identical(left: Run, right: Run) -> Run:
    meta = operators.meta
    return lambda state: meta(left(state), right(state), negated=False)


def _different(left: Run, right: Run) -> Run:
    meta = operators.meta
    return lambda state: meta(left(state), right(state), negated=True)


FAST: Final[dict[str, Callable[[Run, Run], Run]]] = {
    "<": _less,
    "<=": _less_equal,
    ">": _greater,
    ">=": _greater_equal,
    "+": _add,
    "-": _subtract,
    "==": _equal,
    "=?=": _identical,
    "=!=": _different,
}
"""The makers of the closures of two operands, by operator; for the others ``operators.binary`` serves."""
