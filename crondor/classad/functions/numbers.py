"""Functions of numbers: rounding, powers, multiples, chance.

HTCondor: FunctionCall::doRound, FunctionCall::doMath2, FunctionCall::random.
"""

from __future__ import annotations

import math

from crondor.classad.convert import to_real
from crondor.classad.errors import Failure
from crondor.classad.functions.registry import builtin
from crondor.classad.operators import divide
from crondor.classad.scope import EvaluationState, ListValue, Value
from crondor.classad.values import (
    ERROR,
    INT_MIN,
    truncate,
    wrap,
    wrap32,
)


def _rounded(value: Value, how: str) -> Value:
    if type(value) is int:
        return value
    real = to_real(value)
    if real is None:
        return ERROR
    if not math.isfinite(real):
        return INT_MIN
    whole = math.floor(real) if how == "floor" else math.ceil(real) if how == "ceil" else round(real)
    return truncate(float(whole))


@builtin("floor", 1)
def _floor(_state: EvaluationState, value: Value) -> Value:
    return _rounded(value, "floor")


@builtin("ceil", 1)
@builtin("ceiling", 1)
def _ceiling(_state: EvaluationState, value: Value) -> Value:
    return _rounded(value, "ceil")


@builtin("round", 1)
def _round(_state: EvaluationState, value: Value) -> Value:
    return _rounded(value, "round")


@builtin("pow", 2)
def _pow(_state: EvaluationState, base: Value, exponent: Value) -> Value:
    """Return a power; that of two integers goes through a real plus a half, as in HTCondor."""
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
