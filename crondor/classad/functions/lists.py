"""Functions of lists: membership, totals, extremes, comparisons of all members.

HTCondor: FunctionCall::testMember, FunctionCall::sumAvg, FunctionCall::minMax.
"""

from __future__ import annotations

from crondor.classad import operators
from crondor.classad.functions.registry import builtin
from crondor.classad.scope import AdValue, EvaluationState, ListValue, Value
from crondor.classad.text import size
from crondor.classad.values import (
    ERROR,
    UNDEFINED,
)


@builtin("member", 2)
def _member(state: EvaluationState, value: Value, whole: Value) -> Value:
    if value is UNDEFINED:
        return UNDEFINED
    if value is ERROR and whole is not UNDEFINED:
        return ERROR
    return _among(state, "==", value, whole)


@builtin("identicalMember", 2)
def _identical_member(state: EvaluationState, value: Value, whole: Value) -> Value:
    return _among(state, "=?=", value, whole)


def _among(state: EvaluationState, op: str, value: Value, whole: Value) -> Value:
    if whole is UNDEFINED:
        return UNDEFINED
    if not isinstance(whole, ListValue) or isinstance(value, (ListValue, AdValue)):
        return ERROR
    state.spend(len(whole.members))
    return any(operators.binary(op, code.evaluate(state), value) is True for code in whole.members)


@builtin("size", 1)
def _size(_state: EvaluationState, value: Value) -> Value:
    if isinstance(value, str):
        return size(value)
    if isinstance(value, (ListValue, AdValue)):
        return len(value)
    return UNDEFINED if value is UNDEFINED else ERROR


def _numbers(state: EvaluationState, whole: Value) -> list[bool | int | float] | Value:
    """Return the members that are numbers, undefined ones left out; another value: the result of the call."""
    if not isinstance(whole, ListValue):
        return UNDEFINED if whole is UNDEFINED else ERROR
    found: list[bool | int | float] = []
    state.spend(len(whole.members))
    for code in whole.members:
        value = code.evaluate(state)
        if value is UNDEFINED:
            continue
        if not isinstance(value, (bool, int, float)):
            return ERROR
        found.append(value)
    return found


def _total(numbers: list[bool | int | float]) -> Value:
    total: Value = numbers[0] if numbers else 0
    for number in numbers[1:]:
        total = operators.binary("+", total, number)
    return total


@builtin("sum", 1)
def _sum(state: EvaluationState, whole: Value) -> Value:
    numbers = _numbers(state, whole)
    return _total(numbers) if isinstance(numbers, list) else numbers


@builtin("avg", 1)
def _avg(state: EvaluationState, whole: Value) -> Value:
    numbers = _numbers(state, whole)
    if not isinstance(numbers, list):
        return numbers
    return operators.binary("/", _total(numbers), float(len(numbers))) if numbers else 0


@builtin("min", 1)
def _min(state: EvaluationState, whole: Value) -> Value:
    return _extreme(state, whole, "<")


@builtin("max", 1)
def _max(state: EvaluationState, whole: Value) -> Value:
    return _extreme(state, whole, ">")


def _extreme(state: EvaluationState, whole: Value, op: str) -> Value:
    """Return the least or greatest member; each comparison promotes what it compares, the best so far too."""
    numbers = _numbers(state, whole)
    if not isinstance(numbers, list):
        return numbers
    if not numbers:
        return UNDEFINED
    best = numbers[0]
    for number in numbers[1:]:
        real = isinstance(number, float) or isinstance(best, float)
        one: int | float = float(number) if real else int(number)
        best = float(best) if real else int(best)
        if operators.compare(op, one, best) is True:
            best = one
    return best


_COMPARISONS = {"<": "<", "<=": "<=", "!=": "!=", "==": "==", ">": ">", ">=": ">=", "is": "=?=", "isnt": "=!="}


@builtin("anyCompare", 3)
def _any_compare(state: EvaluationState, op: Value, whole: Value, value: Value) -> Value:
    return _compare_all(state, op, whole, value, every=False)


@builtin("allCompare", 3)
def _all_compare(state: EvaluationState, op: Value, whole: Value, value: Value) -> Value:
    return _compare_all(state, op, whole, value, every=True)


def _compare_all(state: EvaluationState, op: Value, whole: Value, value: Value, *, every: bool) -> Value:
    """Compare each member with a value; the first undefined comparison ends the walk, with false."""
    if op is UNDEFINED:
        return UNDEFINED
    comparison = _COMPARISONS.get(op) if isinstance(op, str) else None
    if comparison is None:
        return ERROR
    if not isinstance(whole, ListValue):
        return UNDEFINED if whole is UNDEFINED else ERROR
    state.spend(len(whole.members))
    for code in whole.members:
        result = operators.binary(comparison, code.evaluate(state), value)
        if result is UNDEFINED:
            return False
        if type(result) is not bool:
            return ERROR
        if result is not every:
            return result
    return every
