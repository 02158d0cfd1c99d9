"""Python values to expressions, and values of the language to plain Python ones."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final, NoReturn, TypeAlias

from crondor.classad.compile import code_of, read
from crondor.classad.errors import ClassAdSyntaxError, EvaluationFailed
from crondor.classad.evaluate import EMPTY, begin, failed, members_in, run
from crondor.classad.expression import Expression
from crondor.classad.limits import MAX_LIST, MAX_STEPS
from crondor.classad.lookup import as_code
from crondor.classad.scope import OUT_OF_STEPS, AdValue, Attributes, Code, Context, EvaluationState, ListValue, Value
from crondor.classad.show import code_tree, to_tree
from crondor.classad.text import lower, normal
from crondor.classad.tree import AdNode, ListNode, Literal, Node, attribute_order
from crondor.classad.values import ERROR, INT_MAX, INT_MIN, UNDEFINED, AbsTime, Exceptional, RelTime
from crondor.diagnostics import Diagnostic

_MAX_DEPTH: Final = 50  # lists in lists: far beyond any ad, and it ends those that contain themselves

Plain: TypeAlias = "bool | int | float | str | Exceptional | AbsTime | RelTime | list[Plain] | dict[str, Plain]"


def to_code(value: object) -> Code:
    """Return a Python value as an expression: a ``str`` becomes a string, None undefined, a mapping an ad.

    Raises ClassAdSyntaxError for what no ad can hold: an integer beyond 64 bits, a NUL, half of a surrogate pair, a
    type that is none of the language's, lists too deep in one another.
    """
    if isinstance(value, Expression):
        return value.code
    if isinstance(value, Code):
        return value
    return code_of(_node(value, 0))


def _node(value: object, depth: int) -> Node:  # noqa: C901 - a type is a line
    if depth > _MAX_DEPTH:
        _refuse(f"lists and mappings are nested deeper than {_MAX_DEPTH}, or contain themselves")
    if value is None:
        return Literal(UNDEFINED)
    if isinstance(value, str):
        return Literal(checked_string(str.__str__(value)))
    if isinstance(value, (bool, Exceptional, AbsTime, RelTime)):
        return Literal(value)
    if isinstance(value, float):
        return Literal(float(value))
    if isinstance(value, int):
        if not INT_MIN <= value <= INT_MAX:
            _refuse("an integer beyond 64 bits, which HTCondor would take for 0")
        return Literal(int(value))  # the language knows no type beside its own: an enum's, a schedd's answer
    if isinstance(value, (AdValue, ListValue)):
        return to_tree(value)
    if isinstance(value, Expression):
        return value.tree
    if isinstance(value, Code):
        return code_tree(value)
    if isinstance(value, (list, tuple)):
        return ListNode(tuple(_node(item, depth + 1) for item in value))
    if isinstance(value, Mapping):
        return _ad_node(value, depth)
    return _refuse(f"no ad holds a {type(value).__name__}")


def _ad_node(value: Mapping[object, object], depth: int) -> AdNode:
    items: dict[str, tuple[str, Node]] = {}
    for name, part in value.items():
        if not isinstance(name, str):
            _refuse(f"the name of an attribute is a text, not a {type(name).__name__}")
        checked_name(name)
        items[lower(name)] = (name, _node(part, depth + 1))
    return AdNode(tuple(sorted(items.values(), key=lambda item: attribute_order(item[0]))))


def checked_string(text: str) -> str:
    """Return a text as a string of the language.

    Raises ClassAdSyntaxError for a NUL or half of a surrogate pair.
    """
    if "\0" in text:
        _refuse("a string with a NUL character, where HTCondor would let it end")
    if text.isascii():
        return text
    try:
        return normal(text)
    except UnicodeEncodeError:
        return _refuse("half of a surrogate pair, which no UTF-8 text can hold")


def checked_name(name: str) -> None:
    """Refuse what cannot be an attribute's name.

    Raises ClassAdSyntaxError.
    """
    if not name:
        _refuse("an attribute needs a name")
    checked_string(name)


def _refuse(message: str) -> NoReturn:
    raise ClassAdSyntaxError(Diagnostic("classad-value", message))


def to_python(value: Value, context: Context) -> Plain:
    """Return a value with the members of lists and ads evaluated: lists as ``list``, ads as ``dict``.

    A member without value is ERROR, and so is one nested deeper than any ad's.
    Raises EvaluationFailed for more than MAX_LIST members altogether (ads that hold themselves twice have no end),
    and for more than MAX_STEPS steps to evaluate them all.
    """
    return _Plainer(context).plain(value, 0)


class _Plainer:
    """Makes plain values as long as there is room for them.

    An ad is evaluated by itself, so that each attribute and list has one value however often it is come upon: what
    holds itself costs room, and no evaluation. All evaluations together have the work of one.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.left = MAX_LIST
        self.steps = MAX_STEPS
        self.ads: dict[int, tuple[Attributes, dict[str, Value]]] = {}
        self.lists: dict[int, tuple[ListValue, list[Value]]] = {}

    def plain(self, value: Value, depth: int) -> Plain:
        if not isinstance(value, (ListValue, AdValue)):
            return value
        if depth > _MAX_DEPTH:
            return ERROR
        self.left -= len(value)
        if self.left < 0:
            raise failed(f"the value has more than {MAX_LIST} members, counting those of its members")
        if isinstance(value, ListValue):
            return [self.plain(member, depth + 1) for member in self.members(value)]
        found = self.attributes(value)
        return {name: self.plain(found[key], depth + 1) for key, name in value.names.items()}

    def members(self, value: ListValue) -> list[Value]:
        known = self.lists.get(id(value))
        if known is None:
            state = self.begin(EMPTY)
            known = self.lists[id(value)] = (value, members_in(value, state))
            self.end(state)
        return known[1]

    def attributes(self, ad: AdValue) -> dict[str, Value]:
        known = self.ads.get(id(ad.codes))
        if known is None:
            known = self.ads[id(ad.codes)] = (ad, {key: self.attribute(ad, key) for key in ad.names})
        return known[1]

    def attribute(self, ad: AdValue, key: str) -> Value:
        code = as_code(read, ad.codes, key, ad.codes[key])
        state = self.begin(ad)
        value: Value = ERROR
        with suppress(EvaluationFailed):
            value = run(code, state)
        self.end(state)
        return value

    def begin(self, ad: Attributes) -> EvaluationState:
        state = begin(ad, None, self.context)
        state.steps = self.steps
        return state

    def end(self, state: EvaluationState) -> None:
        self.steps = state.steps
        if self.steps < 0:
            raise failed(OUT_OF_STEPS)
