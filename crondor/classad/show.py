"""Values to trees and to text."""

from __future__ import annotations

from crondor.classad.code import (
    value_literal,
)
from crondor.classad.parser import parse_expression
from crondor.classad.scope import AdValue, Code, ListValue, Value
from crondor.classad.tree import AdNode, ListNode, Literal, Node, attribute_order
from crondor.classad.unparse import UnparseForm, unparse
from crondor.source import Source


def to_tree(value: Value) -> Node:
    """Return the tree whose value this is; the members of lists and ads as they are written, not evaluated."""
    if isinstance(value, ListValue):
        return ListNode(tuple(code_tree(code) for code in value.members))
    if isinstance(value, AdValue):
        spelled = sorted(value.names.items(), key=lambda item: attribute_order(item[1]))
        return AdNode(tuple((name, code_tree(value.codes[key])) for key, name in spelled))
    return value_literal(value)


def code_tree(code: Code | str) -> Node:
    """Return the tree of an expression, read if it is still a text."""
    if isinstance(code, str):
        return parse_expression(Source(code))
    if isinstance(code.const, (AdValue, ListValue)) and isinstance(code.node, Literal):
        return to_tree(code.const)
    return code.node


def print_value(value: Value, form: UnparseForm = UnparseForm.COMPACT, *, faithful: bool = False) -> str:
    """Return a value as text."""
    return unparse(to_tree(value), form, faithful=faithful)
