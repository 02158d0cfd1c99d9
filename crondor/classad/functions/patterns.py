"""Functions of regular expressions (HTCondor: FunctionCall::matchPattern, FunctionCall::substPattern)."""

from __future__ import annotations

from crondor.classad import regexp
from crondor.classad.convert import grown
from crondor.classad.errors import Failure
from crondor.classad.functions.registry import builtin
from crondor.classad.scope import Code, EvaluationState, ListValue, Value
from crondor.classad.text import from_bytes
from crondor.classad.values import (
    ERROR,
    UNDEFINED,
)


def _checked(*values: Value) -> Value | None:
    """Return the result that wrong arguments give: error before undefined; None: all can be used."""
    if ERROR in values:
        return ERROR
    return UNDEFINED if UNDEFINED in values else None


@builtin("regexp", 2, 3)
def _regexp(state: EvaluationState, pattern: Value, text: Value, options: Value = "") -> Value:
    wrong = _checked(pattern, text, options)
    if wrong is not None:
        return wrong
    if not (isinstance(pattern, str) and isinstance(text, str) and isinstance(options, str)):
        return ERROR
    expression = regexp.compiled(pattern, options)
    found = None if expression is None else regexp.searched(state, expression, text)
    return ERROR if found is None else found


@builtin("regexpMember", 2, 3)
def _regexp_member(state: EvaluationState, pattern: Value, whole: Value, options: Value = "") -> Value:
    wrong = _checked(pattern, whole, options)
    if wrong is not None:
        return wrong
    if not (isinstance(pattern, str) and isinstance(whole, ListValue) and isinstance(options, str)):
        return ERROR
    expression = regexp.compiled(pattern, options)
    unknown = False
    state.spend(len(whole.members))
    for code in whole.members:
        member = _value(state, code)
        if member is UNDEFINED:
            unknown = True
        elif not isinstance(member, str):
            return ERROR
        elif expression is not None and regexp.matches(state, expression, member):
            return True
    return UNDEFINED if unknown else False


def _value(state: EvaluationState, code: Code) -> Value:
    cur, used, height = state.cur, state.used, len(state.stack)
    try:
        return code.evaluate(state)
    except Failure:
        state.cur, state.used = cur, used
        del state.stack[height:]
        return ERROR


def _declare_substitution(name: str, more: str) -> None:
    @builtin(name, 3, 4)
    def substitution(state: EvaluationState, pattern: Value, text: Value, new: Value, options: Value = "") -> Value:
        wrong = _checked(pattern, text, new, options)
        if wrong is not None:
            return wrong
        if not (isinstance(pattern, str) and isinstance(text, str)):
            return ERROR
        if not (isinstance(new, str) and isinstance(options, str)):
            return ERROR
        options += more
        expression = regexp.compiled(pattern, options)
        if expression is None:
            return ERROR
        made = regexp.replaced(state, expression, text, new, whole="f" in options, every="g" in options)
        return ERROR if made is None else grown(state, from_bytes(made))


for _name, _more in (("regexps", ""), ("replace", "f"), ("replaceAll", "fg")):
    _declare_substitution(_name, _more)
