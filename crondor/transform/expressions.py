"""Texts of commands as expressions, read once for each distinct text."""

from __future__ import annotations

from functools import lru_cache

from crondor.classad.errors import ClassAdSyntaxError, EvaluationFailed
from crondor.classad.evaluate import value_of
from crondor.classad.expression import Expression
from crondor.classad.printing import prints_as_it_is
from crondor.classad.scope import Attributes, Code, Context, Value
from crondor.classad.show import code_tree, print_value
from crondor.classad.tree import Literal, Unary
from crondor.classad.unparse import Form, print_real, unparse
from crondor.classad.values import RelTime
from crondor.diagnostics import Diagnostic
from crondor.source import Source

_MANY = 4096


@lru_cache(maxsize=_MANY)
def settled(text: str) -> str | None:
    """Return what SET stores for a text, in new syntax; None: it is no expression. Strings are read as in -long ads."""
    if prints_as_it_is(text):
        return text
    try:
        return unparse(Expression.parse(Source(text), old=True).tree)
    except ClassAdSyntaxError:
        return None


def why_not(text: str) -> Diagnostic | None:
    """Return what is wrong with a text that SET cannot store."""
    try:
        Expression.parse(Source(text), old=True)
    except ClassAdSyntaxError as error:
        return error.diagnostics[0]
    return None


@lru_cache(maxsize=_MANY)
def _readable(text: str) -> Code | None:
    try:
        return Expression.parse(Source(text), partial=True).code
    except ClassAdSyntaxError:
        return None


def evaluated(text: str, ad: Attributes, context: Context) -> Value | None:
    """Return the value of the longest beginning of a text that is an expression, as EVALSET sees it; None: no value."""
    code = _readable(text)
    if code is None:
        return None
    try:
        return value_of(code, ad, None, context)
    except (EvaluationFailed, ClassAdSyntaxError):
        return None


def stored(value: Value) -> str:
    """Return the text in new syntax that EVALSET stores for a value."""
    if value.__class__ is int:
        return str(value)
    if isinstance(value, RelTime):
        return print_real(value.seconds)
    return print_value(value)


def as_macro(value: Value) -> str:
    """Return the text that EVALMACRO gives its macro: a string without quotes."""
    return value if isinstance(value, str) else print_value(value, Form.OLD)


def as_text(code: Code | str) -> str:
    """Return what $(MY.name) stands for: a literal string without quotes, all else as it is written."""
    if isinstance(code, str):
        if code[:1] == '"' and "\\" not in code and code.find('"', 1) == len(code) - 1:
            return code[1:-1]
        if prints_as_it_is(code):
            return code
    tree = bare = code_tree(code)
    while isinstance(bare, Unary) and bare.op == "()":
        bare = bare.operand
    if isinstance(bare, Literal) and isinstance(bare.value, str):
        return bare.value
    return unparse(tree, Form.OLD)
