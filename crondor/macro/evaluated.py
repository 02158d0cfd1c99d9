"""A text of a macro language evaluated as a ClassAd expression, in an empty ad."""

from __future__ import annotations

import re

from crondor.classad import ClassAdSyntaxError, Context, EvaluationFailed, Expression, Value, print_value
from crondor.classad.evaluate import EMPTY, begin, run
from crondor.classad.scope import leading_number
from crondor.classad.tree import MAX_STEPS
from crondor.diagnostics import Source
from crondor.job.attributes import boolean_of, integer_of, number_of
from crondor.macro.lines import Around, Budget, MacroError

_CLOCK = re.compile(r"(?i)(?:time|interval|currenttime)\b")
_DICE = re.compile(r"(?i)\brandom\b")
_STEP = 64  # the cost of an evaluation step in a budget
_NO_TIME = Context(now=0)
_INTEGER = re.compile(r"[ \t\r\n\v\f]*([-+]?[0-9]+)[ \t\r\n\v\f]*")
_REAL = re.compile(r"[ \t\r\n\v\f]*[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?[ \t\r\n\v\f]*")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1  # strtoll stops there


class Evaluated:
    """The ``value`` of an expression in an empty ad; None if it is invalid or has none."""

    def __init__(self, text: str, around: Around, budget: Budget | None) -> None:
        """Evaluate with the clock and dice of ``around``, charging ``budget``. Raises MacroError for an unknown one."""
        if around.now is None and _CLOCK.search(text):
            message = f"{text[:60]} depends on the time, which is not known here"
            raise MacroError("unknown-time", message, "write it out")
        draws = _DICE.search(text) is not None
        if around.dice is None and draws:
            raise MacroError("unknown-random", f"{text[:60]} is drawn again at each submission", "give a seed")
        seed = around.dice.randrange(1 << 32) if around.dice is not None and draws else 0
        self.value = _value(text, Context(now=around.now or 0, seed=seed), budget)

    @property
    def integer(self) -> int | None:
        """The value as an integer: a real cut to its whole part, a truth value as 0 or 1."""
        return integer_of(self.value)

    @property
    def real(self) -> float | None:
        """The value as a real number."""
        number = number_of(self.value)
        return None if number is None else float(number)

    @property
    def printed(self) -> str | None:
        """The value as text, a string without its quotes."""
        return self.value if self.value is None or isinstance(self.value, str) else print_value(self.value)


def _value(text: str, context: Context, budget: Budget | None) -> Value | None:
    try:
        code = Expression.parse(Source(text), old=True, open_choice=True).code
    except ClassAdSyntaxError:
        return None
    state = begin(EMPTY, None, context)
    try:
        return run(code, state)
    except EvaluationFailed:
        return None
    finally:
        if budget is not None:
            budget.spend(_STEP * (MAX_STEPS - state.steps))


# HTCondor: string_is_long_param, string_is_double_param, string_is_boolean_param.
def as_integer(text: str, context: Context = _NO_TIME) -> int | None:
    """Return the integer of a text (a real is truncated, a truth value is 1 or 0), None if it has none.

    A real that does not fit becomes the least integer, as HTCondor's processors do.
    """
    found = _INTEGER.fullmatch(text)
    if found is not None:
        return max(_LEAST, min(int(found[1][:40]), _MOST))
    return integer_of(_value(text, context, None))


def as_real(text: str, context: Context = _NO_TIME) -> float | None:
    """Return the number of a text, None if it has none."""
    if _REAL.fullmatch(text):
        return leading_number(text.strip())
    value = number_of(_value(text, context, None))
    return None if value is None else float(value)


def as_boolean(text: str, context: Context = _NO_TIME) -> bool | None:
    """Return the truth value of a text (a number counts), None if it has none."""
    literal = _TRUTH.get(text.rstrip().lower())
    return boolean_of(_value(text, context, None)) if literal is None else literal
