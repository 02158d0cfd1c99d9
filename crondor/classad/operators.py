"""The operators: on two values, on three-valued logic, and as closures for the frequent cases.

HTCondor: Operation::doComparison, Operation::doArithmetic, Operation::doBitwise.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from crondor.classad import text as texts
from crondor.classad.scope import AdValue, EvaluationState, ListValue, Run, Value
from crondor.classad.tree import (
    ERROR,
    INT_MAX,
    INT_MIN,
    UNDEFINED,
    AbsTime,
    Exceptional,
    Literal,
    Node,
    RelTime,
    truncate32,
    wrap,
)

_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NO_NUMBERS: Final = (str, AbsTime, RelTime, ListValue, AdValue)


def truth(value: Value) -> bool | None:
    """Return a value as a boolean: numbers count, strings do not (None)."""
    kind = type(value)
    if kind is bool:
        return value  # type: ignore[return-value]
    if kind is int or kind is float:
        return value != 0
    return None


def unary(op: str, value: Value) -> Value:
    """Return the value of ``op value``."""
    if isinstance(value, Exceptional):
        return value
    if op == "!":
        known = truth(value)
        return ERROR if known is None else not known
    kind = type(value)
    if op == "~":
        return ~value if kind is int else ERROR  # type: ignore[operator]
    if kind is int or kind is float:
        return value if op == "+" else wrap(-value) if kind is int else -value  # type: ignore[operator, arg-type]
    if isinstance(value, RelTime):
        return value if op == "+" else RelTime(-value.seconds)
    return ERROR


def binary(op: str, left: Value, right: Value) -> Value:
    """Return the value of ``left op right`` for the operators that evaluate both sides."""
    if op in ("=?=", "=!="):
        return meta(left, right, negated=op == "=!=")
    if isinstance(left, Exceptional) or isinstance(right, Exceptional):
        return ERROR if left is ERROR or right is ERROR else UNDEFINED
    if op in _COMPARE:
        return compare(op, left, right)
    if op in _BITS:
        return _BITS[op](left, right) if type(left) is int and type(right) is int else ERROR
    return arithmetic(op, left, right)


def meta(left: Value, right: Value, *, negated: bool) -> Value:
    """Return ``left =?= right``: no promotion, case matters; two lists or two ads cannot be compared."""
    if type(left) is not type(right):
        return negated
    if isinstance(left, ListValue) and isinstance(right, ListValue):
        return negated if left.made is not right.made else ERROR
    if isinstance(left, AdValue):
        return ERROR
    return (left == right) is not negated


def compare(op: str, left: Value, right: Value) -> Value:
    """Return a comparison of two values that are neither undefined nor error."""
    if isinstance(left, str) and isinstance(right, str):
        return _COMPARE[op](texts.compare_folded(left, right), 0)
    if isinstance(left, AbsTime) and isinstance(right, AbsTime):
        return _COMPARE[op](left.seconds, right.seconds)
    if isinstance(left, RelTime) and isinstance(right, RelTime):
        return _COMPARE[op](left.seconds, right.seconds)
    if isinstance(left, _NO_NUMBERS) or isinstance(right, _NO_NUMBERS):
        return ERROR
    if isinstance(left, float) or isinstance(right, float):
        return _COMPARE[op](float(left), float(right))  # type: ignore[arg-type]
    return _COMPARE[op](left, right)


def arithmetic(op: str, left: Value, right: Value) -> Value:
    """Return ``+ - * / %`` of two values that are neither undefined nor error (HTCondor: Operation::doArithmetic)."""
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        if isinstance(left, float) or isinstance(right, float):
            return _real(op, float(left), float(right))
        return _integer(op, int(left), int(right))
    rule = _TIMES.get((op, type(left), type(right)))
    return ERROR if rule is None else rule(left, right)


def _integer(op: str, left: int, right: int) -> Value:
    if op == "+":
        return wrap(left + right)
    if op == "-":
        return wrap(left - right)
    if op == "*":
        return wrap(left * right)
    if right == 0:
        return ERROR
    quotient = abs(left) // abs(right)
    if (left < 0) is not (right < 0):
        quotient = -quotient
    if op == "/":
        return min(quotient, INT_MAX)  # the one overflow, -2**63 / -1, saturates
    return left - quotient * right


def _real(op: str, left: float, right: float) -> Value:
    if op == "+":
        result = left + right
    elif op == "-":
        result = left - right
    elif op == "*":
        result = left * right
    elif op == "/":
        result = divide(left, right)
    else:
        return ERROR
    return ERROR if result == math.inf else result  # -infinity and NaN are values


def divide(left: float, right: float) -> float:
    """Return the quotient of two reals by IEEE 754."""
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _moved(moment: AbsTime, seconds: int) -> AbsTime:
    return AbsTime(wrap(moment.seconds + seconds), moment.offset)


_TIMES: Final[dict[tuple[str, type, type], Callable[[Any, Any], Value]]] = {
    ("+", RelTime, RelTime): lambda left, right: RelTime(left.seconds + right.seconds),
    ("-", RelTime, RelTime): lambda left, right: RelTime(left.seconds - right.seconds),
    ("-", AbsTime, AbsTime): lambda left, right: RelTime(float(wrap(left.seconds - right.seconds))),
    ("+", RelTime, AbsTime): lambda left, right: _moved(right, truncate32(left.seconds)),
    ("+", AbsTime, RelTime): lambda left, right: _moved(left, truncate32(right.seconds)),
    ("-", AbsTime, RelTime): lambda left, right: _moved(left, -truncate32(right.seconds)),
    **{("*", RelTime, number): lambda left, right: RelTime(left.seconds * float(right)) for number in (int, float)},
    **{("*", number, RelTime): lambda left, right: RelTime(float(left) * right.seconds) for number in (int, float)},
    **{
        ("/", RelTime, number): lambda left, right: RelTime(divide(left.seconds, float(right)))
        for number in (int, float)
    },
}


_BITS: Final[dict[str, Callable[[Any, Any], int]]] = {
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": lambda left, right: wrap(left << (right & 63)),  # the processor uses six bits of the count; undefined in C
    ">>": lambda left, right: left >> (right & 63 if left >= 0 else min(64, max(right, 0))),
    ">>>": lambda left, right: left >> (right & 63) if left >= 0 else (left >> 1 & INT_MAX) >> (right - 1 & 63),
}


# HTCondor: Operation::doLogical, Operation::shortCircuit.
def joined(parts: tuple[Run, ...], *, ends: bool) -> Run:
    """Return a closure for ``a && b && ...``, which false ends, or for ``a || b || ...``, which true ends.

    An error ends both; undefined continues.
    """
    continues = not ends

    def decided(state: EvaluationState) -> Value:
        known = True
        for part in parts:
            value = part(state)
            if value is continues:
                continue
            if value is ends:
                return ends
            if value is UNDEFINED:
                known = False
                continue
            fact = truth(value)
            if fact is None:
                return _wrong(state, value, part, parts)
            if fact is ends:
                return ends
        return continues if known else UNDEFINED

    return decided


def _wrong(state: EvaluationState, value: Value, part: Run, parts: tuple[Run, ...]) -> Value:
    """Return error for an operand that is not a boolean; only after the first one is the next still evaluated."""
    if part is parts[0] and value is not ERROR:
        parts[1](state)
    return ERROR


Maker: TypeAlias = Callable[[Run, Run], Run]


def operation(op: str, left: Run, right_node: Node, right: Run) -> Run:
    """Return a closure for ``left op right``; a literal right side is not evaluated each time."""
    if isinstance(right_node, Literal):
        value = right_node.value
        if isinstance(value, str) and op in ("==", "!="):
            return _equals_string(left, value, op)
        if isinstance(value, Exceptional) and op in ("=?=", "=!="):
            negated = op == "=!="
            return lambda state: (left(state) is value) is not negated
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
    "=?=": lambda left, right: lambda state: meta(left(state), right(state), negated=False),
    "=!=": lambda left, right: lambda state: meta(left(state), right(state), negated=True),
}
