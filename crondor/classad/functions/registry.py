"""How a built-in function is declared; the functions of types and numbers.

HTCondor: FunctionCall::RegisterFunctions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from crondor.classad.operators import divide
from crondor.classad.scope import (
    AdValue,
    Compiler,
    EvaluationState,
    ListValue,
    Run,
    Value,
    leading_number,
    to_integer,
    to_real,
    to_string,
    word,
)
from crondor.classad.tree import (
    ERROR,
    INT_MIN,
    UNDEFINED,
    AbsTime,
    Failure,
    Node,
    RelTime,
    truncate,
    truncate32,
    wrap,
    wrap32,
)


class CallArguments(NamedTuple):
    """A call as it is compiled: the function's name in lower case, its arguments as trees and as closures.

    ``offset`` is how many operators the call is below its expression's top; ``compiler`` makes closures of trees.
    """

    name: str
    nodes: tuple[Node, ...]
    runs: tuple[Run, ...]
    offset: int
    compiler: Compiler


Maker: TypeAlias = Callable[[CallArguments], Run]
Plain: TypeAlias = Callable[..., Value]

FUNCTIONS: Final[dict[str, Maker]] = {}


def wrong_count(_state: EvaluationState) -> Value:
    """Return error: a function is called with too few arguments, or too many."""
    return ERROR


def attempt(state: EvaluationState, run: Run) -> Value:
    """Return a value, or error if evaluation fails; the state is then restored."""
    cur, used, height = state.cur, state.used, len(state.stack)
    try:
        return run(state)
    except Failure:
        del state.stack[height:]
        return ERROR
    finally:
        state.cur, state.used = cur, used


def builtin(name: str, low: int, high: int | None = None) -> Callable[[Plain], Plain]:
    """Declare a function of the values of its arguments: ``f(state, first, ...)``.

    All arguments are evaluated; with a wrong number of them the call is error, and none is.
    """
    most = low if high is None else high

    def declare(function: Plain) -> Plain:
        def make(call: CallArguments) -> Run:
            if not low <= len(call.runs) <= most:
                return wrong_count
            return _apply(function, call.runs)

        FUNCTIONS[name.lower()] = make
        return function

    return declare


def _apply(function: Plain, runs: tuple[Run, ...]) -> Run:
    if not runs:
        return function
    if len(runs) == 1:
        (only,) = runs
        return lambda state: function(state, only(state))
    if len(runs) == 2:
        first, second = runs
        return lambda state: function(state, first(state), second(state))
    return lambda state: function(state, *[run(state) for run in runs])


def special(*names: str) -> Callable[[Maker], Maker]:
    """Declare a function that makes its own closure from the call."""

    def declare(maker: Maker) -> Maker:
        for name in names:
            FUNCTIONS[name.lower()] = maker
        return maker

    return declare


_TESTS: dict[str, Plain] = {
    "isUndefined": lambda _, value: value is UNDEFINED,
    "isError": lambda _, value: value is ERROR,
    "isString": lambda _, value: isinstance(value, str),
    "isInteger": lambda _, value: type(value) is int,
    "isReal": lambda _, value: type(value) is float,
    "isList": lambda _, value: isinstance(value, ListValue),
    "isClassAd": lambda _, value: isinstance(value, AdValue),
    "isBoolean": lambda _, value: type(value) is bool,
    "isAbsTime": lambda _, value: isinstance(value, AbsTime),
    "isRelTime": lambda _, value: isinstance(value, RelTime),
}


# HTCondor: FunctionCall::isType, FunctionCall::convInt.
for _name, _test in _TESTS.items():
    builtin(_name, 1)(_test)


@builtin("int", 1)
def _int(_state: EvaluationState, value: Value) -> Value:
    if isinstance(value, str):  # lax: ignores blanks before and anything after the number
        number = leading_number(value)
        return ERROR if number is None else truncate(number)
    return to_integer(value)


@builtin("real", 1)
def _real(_state: EvaluationState, value: Value) -> Value:
    if value is UNDEFINED:
        return UNDEFINED
    number = to_real(value)
    return ERROR if number is None else number


builtin("string", 1)(to_string)


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


# HTCondor: FunctionCall::doRound, FunctionCall::doMath2, FunctionCall::random.
def _rounded(_state: EvaluationState, value: Value, how: Callable[[float], int]) -> Value:
    if type(value) is int:
        return value
    real = to_real(value)
    if real is None:
        return ERROR
    if not math.isfinite(real):
        return INT_MIN
    return truncate(float(how(real)))


for _name, _how in (("floor", math.floor), ("ceil", math.ceil), ("ceiling", math.ceil), ("round", round)):
    builtin(_name, 1)(partial(_rounded, how=_how))


@builtin("pow", 2)
def _pow(_state: EvaluationState, base: Value, exponent: Value) -> Value:
    """Return a power; for two integers it is computed as a real plus a half, as in HTCondor."""
    if type(base) is int and type(exponent) is int and exponent >= 0:
        return truncate(_power(float(base), float(exponent)) + 0.5)
    one, two = to_real(base), to_real(exponent)
    return ERROR if one is None or two is None else _power(one, two)


def _power(base: float, exponent: float) -> float:
    odd = exponent % 2 == 1 if math.isfinite(exponent) else False
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:
        if base != 0:
            return math.nan
        return -math.inf if odd and math.copysign(1.0, base) < 0 else math.inf


_NOTHING = 1e-8


@builtin("quantize", 2)
def _quantize(state: EvaluationState, value: Value, step: Value) -> Value:
    """Return the next multiple of a step, or the first of a list of steps that is not less."""
    real = to_real(value)
    if real is None:
        return ERROR
    if isinstance(step, ListValue):
        last: Value = 0.0
        state.spend(len(step.members))
        for code in step.members:
            last = code.evaluate(state)
            bound = to_real(last)
            if bound is None:
                return ERROR
            if bound >= real:
                return last
        step = last
    return _multiple(value, real, step)


def _multiple(value: Value, real: float, step: Value) -> Value:
    by = to_real(step)
    if by is None:
        return ERROR
    if type(step) is int:
        if step == 0:
            return value
        if type(value) is int:
            total = wrap(value + step - 1)
            quotient = abs(total) // abs(step) * (-1 if (total < 0) is not (step < 0) else 1)
            return wrap(quotient * step)
    elif -_NOTHING <= by <= _NOTHING:
        return value
    return _ceil(divide(real, by)) * by


def _ceil(real: float) -> float:
    return math.copysign(float(math.ceil(real)), real) if math.isfinite(real) else real  # the sign of a zero stays


_BIGGEST = (1 << 31) - 1


@builtin("random", 0, 1)
def _random(state: EvaluationState, most: Value = 1.0) -> Value:
    if type(most) is int:
        bound = wrap32(most)
        if bound <= 0:
            raise Failure("random() of a number that is not positive")
        return state.random.getrandbits(31) % bound
    if type(most) is float:
        if most <= 0:
            raise Failure("random() of a number that is not positive")
        return most * (state.random.getrandbits(31) / _BIGGEST)
    return ERROR
