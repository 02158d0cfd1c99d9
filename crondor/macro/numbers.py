"""A text as a number or a string: a literal, or else a ClassAd expression evaluated on its own.

HTCondor: string_is_long_param, string_is_double_param.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crondor.macro.lines import NOTHING, Around, Budget

if TYPE_CHECKING:
    from crondor.macro.evaluated import Evaluated

_INTEGER = re.compile(r"[ \t\r\n\v\f]*([-+]?[0-9]+)[ \t\r\n\v\f]*")
_LEADING = re.compile(r"[ \t\r\n\v\f]*([-+]?[0-9]+)")
_REAL = (  # compiled where a text is to be one
    r"[ \t\r\n\v\f]*([-+]?(?:0[xX][0-9A-Fa-f]+(?:\.[0-9A-Fa-f]*)?(?:[pP][-+]?[0-9]+)?"
    r"|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|(?i:inf|infinity|nan)))[ \t\r\n\v\f]*"
)
_MOST_DIGITS = 4000  # Python reads no longer integer by itself; C takes the largest number for all of them
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def as_integer(text: str, around: Around = NOTHING, budget: Budget | None = None) -> int | None:
    """Return a text as a 64 bit integer, None where it is none and evaluates to none.

    A real number is cut to its whole part and a truth value is 0 or 1, as in HTCondor (string_is_long_param).
    ``around`` has the clock of the expression. Raises MacroError where the value depends on what is not known.
    ``budget`` pays for the evaluation.
    """
    literal = _INTEGER.fullmatch(text)
    if literal is not None:
        return _bounded(literal[1])
    return _evaluated(text, around, budget).integer


def as_real(text: str, around: Around = NOTHING, budget: Budget | None = None) -> float | None:
    """Return a text as a real number, None where it is none and evaluates to none (string_is_double_param)."""
    literal = re.fullmatch(_REAL, text)
    if literal is not None:
        return _real(literal[1])
    return _evaluated(text, around, budget).real


def as_string(text: str, around: Around = NOTHING, budget: Budget | None = None) -> str | None:
    """Return the string that a text evaluates to, None where it is no expression or its value is no string."""
    value = _evaluated(text, around, budget).value
    return value if isinstance(value, str) else None


def evaluate(text: str, around: Around = NOTHING, budget: Budget | None = None) -> str | None:
    """Return the value of an expression as text, a string without its quotes; None where there is no value."""
    return _evaluated(text, around, budget).printed


def leading_integer(text: str) -> int | None:
    """Return the number a text begins with, whatever follows, as C's strtol does; None where it begins with none."""
    found = _LEADING.match(text)
    return _bounded(found[1]) if found else None


def leading_int(text: str) -> int:
    """Return the 32 bit integer that a text begins with, 0 where it begins with none (C's atoi)."""
    return (((leading_integer(text) or 0) + 2**31) & 0xFFFFFFFF) - 2**31


def _real(text: str) -> float:
    if "x" not in text.lower():
        return float(text)
    try:
        return float.fromhex(text)
    except OverflowError:
        return float("-inf" if text[0] == "-" else "inf")


def _bounded(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        return _LEAST if digits[0] == "-" else _MOST
    return max(_LEAST, min(int(digits), _MOST))


def _evaluated(text: str, around: Around, budget: Budget | None) -> Evaluated:
    from crondor.macro.evaluated import Evaluated  # noqa: PLC0415 - the engine takes 17 ms, and a plain file needs no expression

    return Evaluated(text, around, budget)
