"""Which type a value has, and conversions from one to another.

HTCondor: FunctionCall::isType, FunctionCall::convInt.
"""

from __future__ import annotations

from collections.abc import Callable

from crondor.classad.convert import leading_number, to_integer, to_real, to_string, word
from crondor.classad.functions.registry import builtin
from crondor.classad.scope import AdValue, EvaluationState, ListValue, Value
from crondor.classad.values import (
    ERROR,
    UNDEFINED,
    AbsTime,
    RelTime,
    truncate,
    truncate32,
)

_TESTS: dict[str, Callable[[Value], bool]] = {
    "isUndefined": lambda value: value is UNDEFINED,
    "isError": lambda value: value is ERROR,
    "isString": lambda value: isinstance(value, str),
    "isInteger": lambda value: type(value) is int,
    "isReal": lambda value: type(value) is float,
    "isList": lambda value: isinstance(value, ListValue),
    "isClassAd": lambda value: isinstance(value, AdValue),
    "isBoolean": lambda value: type(value) is bool,
    "isAbsTime": lambda value: isinstance(value, AbsTime),
    "isRelTime": lambda value: isinstance(value, RelTime),
}


def _declare(name: str, test: Callable[[Value], bool]) -> None:
    @builtin(name, 1)
    def has_type(_state: EvaluationState, value: Value) -> Value:
        return test(value)


for _name, _test in _TESTS.items():
    _declare(_name, _test)


@builtin("int", 1)
def _int(_state: EvaluationState, value: Value) -> Value:
    if isinstance(value, str):  # lax: blanks before and anything after the number
        number = leading_number(value)
        return ERROR if number is None else truncate(number)
    return to_integer(value)


@builtin("real", 1)
def _real(_state: EvaluationState, value: Value) -> Value:
    if value is UNDEFINED:
        return UNDEFINED
    number = to_real(value)
    return ERROR if number is None else number


@builtin("string", 1)
def _string(state: EvaluationState, value: Value) -> Value:
    return to_string(state, value)


@builtin("bool", 1)
def _bool(_state: EvaluationState, value: Value) -> Value:
    if isinstance(value, (bool, int, float)):
        return value != 0
    if isinstance(value, str):
        known = word(value)
        return UNDEFINED if known is None else known
    if isinstance(value, RelTime):
        return truncate32(value.seconds) != 0
    return UNDEFINED if value is UNDEFINED else ERROR
