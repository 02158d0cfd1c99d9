"""Numbers and truth values out of a knob's text, by HTCondor's rules: a literal, else an expression without an ad.

HTCondor: string_is_long_param, string_is_double_param, string_is_boolean_param.
"""

from __future__ import annotations

import re

from crondor.classad.convert import leading_number
from crondor.classad.errors import CircularReference, ClassAdSyntaxError, EvaluationFailed
from crondor.classad.expression import Expression
from crondor.classad.scope import Context, Value
from crondor.classad.values import ERROR
from crondor.job.attributes import boolean_of, integer_of, number_of
from crondor.source import Source

_INTEGER = re.compile(r"[ \t\r\n\v\f]*([-+]?[0-9]+)[ \t\r\n\v\f]*")
_REAL = re.compile(r"[ \t\r\n\v\f]*[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?[ \t\r\n\v\f]*")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1  # strtoll stops there


def as_integer(text: str, context: Context) -> int | None:
    """Return the integer of a text (a real is cut, a truth value is 1 or 0), None where it has none.

    A real that no integer holds is the least of all, as HTCondor's processors cut it.
    """
    found = _INTEGER.fullmatch(text)
    if found is not None:
        digits = found[1]
        return max(_LEAST, min(int(digits[:40]), _MOST))
    return integer_of(_evaluated(text, context))


def as_real(text: str, context: Context) -> float | None:
    """Return the number of a text, None where it has none."""
    if _REAL.fullmatch(text):
        return leading_number(text.strip())
    value = number_of(_evaluated(text, context))
    return None if value is None else float(value)


def as_boolean(text: str, context: Context) -> bool | None:
    """Return the truth value of a text (a number counts), None where it has none."""
    literal = _TRUTH.get(text.rstrip().lower())
    if literal is not None:
        return literal
    return boolean_of(_evaluated(text, context))


def _evaluated(text: str, context: Context) -> Value:
    try:
        return Expression.parse(Source(text), old=True, open_choice=True).evaluate(context=context)
    except (ClassAdSyntaxError, EvaluationFailed, CircularReference):
        return ERROR
