"""Values made into expressions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from crondor.classad.scope import AdValue, Code, ListValue, Run, Value
from crondor.classad.tree import Literal, Node
from crondor.classad.values import (
    RelTime,
    Simple,
    truncate32,
)

_SHORT: Final = 100  # characters of a string that is worth keeping as a constant


def no_compiler(node: Node, offset: int, counting: bool) -> Run:  # noqa: FBT001
    """Stand in where there is nothing to compile."""
    raise TypeError(f"a constant is not compiled: {node!r} {offset} {counting}")


def constant(value: Value) -> Code:
    """Return the expression that is a value."""
    if type(value) is str and len(value) < _SHORT:
        return _string(value)
    if isinstance(value, (AdValue, ListValue)):
        return Code(Literal(False), no_compiler, value)  # noqa: FBT003 - never printed: the constant is
    return Code(value_literal(value), no_compiler)


@lru_cache(maxsize=4096)
def _string(text: str) -> Code:
    return Code(Literal(text), no_compiler)


def value_literal(value: Simple) -> Literal:
    """Return a value as a literal; a length of time loses its fraction."""
    return Literal(RelTime(float(truncate32(value.seconds))) if isinstance(value, RelTime) else value)


def made_list(values: Sequence[Value]) -> ListValue:
    """Return a list as functions make it."""
    return ListValue(tuple(map(constant, values)), None, made=True)
