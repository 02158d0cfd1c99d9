"""Conversions between types, as int(), real() and string() make them.

HTCondor: convertValueToIntegerValue and its kin in src/classad/value.cpp.
"""

from __future__ import annotations

import math
import re
from typing import Final

from crondor.classad.errors import Failure
from crondor.classad.limits import MAX_LIST, MAX_STRING
from crondor.classad.scope import EvaluationState, Value
from crondor.classad.show import print_value
from crondor.classad.text import lower
from crondor.classad.times import print_abstime, print_reltime
from crondor.classad.values import (
    ERROR,
    UNDEFINED,
    AbsTime,
    RelTime,
    truncate,
    truncate32,
)

_NUMBER: Final = (  # compiled for the first text that is to be a number
    r"[ \t\n\r\f\v]*([+-]?)(?:(0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?)"
    r"|((?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?i:(inf(?:inity)?)|(nan(?:\([A-Za-z0-9_]*\))?)))"
)


def leading_number(text: str) -> float | None:
    """Return the number a text begins with, as strtod reads it; None: with none."""
    match = re.match(_NUMBER, text)
    if match is None:
        return None
    sign, hexadecimal, decimal, infinity, _ = match.groups()
    if hexadecimal:
        try:
            number = float.fromhex(hexadecimal)
        except OverflowError:
            number = math.inf
    elif decimal:
        number = float(decimal)
    else:
        number = math.inf if infinity else math.nan
    return -number if sign == "-" else number


def to_real(value: Value) -> float | None:
    """Return a value as a real; None: it is none."""
    kind = type(value)
    if kind is float:
        return value  # type: ignore[return-value]
    if kind is int or kind is bool:
        return float(value)  # type: ignore[arg-type]
    if isinstance(value, str):
        return leading_number(value)
    if isinstance(value, AbsTime):
        return float(value.seconds)
    if isinstance(value, RelTime):
        return float(truncate32(value.seconds))
    return None


def to_integer(value: Value) -> Value:
    """Return a value as int() does."""
    if type(value) is int:
        return value
    if isinstance(value, AbsTime):
        return value.seconds
    real = to_real(value)
    if real is None:
        return UNDEFINED if value is UNDEFINED else ERROR
    return truncate(real)


def to_string(state: EvaluationState, value: Value) -> Value:
    """Return a value as string() does: undefined and error stay, reals have their long form."""
    if isinstance(value, str) or value is UNDEFINED or value is ERROR:
        return value
    if isinstance(value, AbsTime):
        return print_abstime(value)
    if isinstance(value, RelTime):
        return print_reltime(float(truncate32(value.seconds)))
    return grown(state, print_value(value, faithful=True))


def word(value: str) -> bool | None:
    """Return the boolean a word means."""
    return {"true": True, "false": False}.get(lower(value))


def grown(state: EvaluationState, text: str) -> str:
    """Return a string an expression made, if it is not too long; its length is work.

    Raises Failure, Exhausted.
    """
    state.spend(len(text) >> 4)
    if len(text) > MAX_STRING:
        raise Failure(f"a string grows beyond {MAX_STRING} characters")
    return text


def grown_list(state: EvaluationState, count: int) -> None:
    """Check the length of a list an expression makes or walks; its members are work.

    Raises Failure, Exhausted.
    """
    state.spend(2 * count)
    if count > MAX_LIST:
        raise Failure(f"a list grows beyond {MAX_LIST} members")
