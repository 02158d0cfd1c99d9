"""An ad: attributes by name ignoring case, and its values in Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

from crondor._types import wrong_type
from crondor.classad.compile import code_of, read
from crondor.classad.evaluate import EMPTY, begin, failed, members_in, run, value_of
from crondor.classad.expression import Expression
from crondor.classad.parser import unparse
from crondor.classad.printing import Format, Order, print_ad
from crondor.classad.scope import (
    OUT_OF_STEPS,
    AdValue,
    Attributes,
    Code,
    Codes,
    Context,
    EvaluationState,
    ListValue,
    Value,
    as_code,
    code_tree,
    to_tree,
)
from crondor.classad.text import lower, normal
from crondor.classad.tree import (
    ERROR,
    INT_MAX,
    INT_MIN,
    MAX_LIST,
    MAX_STEPS,
    UNDEFINED,
    AbsTime,
    AdNode,
    ClassAdSyntaxError,
    EvaluationFailed,
    Exceptional,
    ListNode,
    Literal,
    Node,
    RelTime,
    attribute_order,
)
from crondor.diagnostics import Diagnostic

_MAX_DEPTH: Final = 50  # lists in lists: far more than any ad has; ends lists that contain themselves

Plain: TypeAlias = "bool | int | float | str | Exceptional | AbsTime | RelTime | list[Plain] | dict[str, Plain]"


def to_code(value: object) -> Code:
    """Return a Python value as an expression: a ``str`` becomes a string, None undefined, a mapping an ad.

    Raises ClassAdSyntaxError for what no ad can hold: an integer beyond 64 bits, a NUL, a lone surrogate, an unknown
    type, lists nested too deeply.
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
        return Literal(int(value))  # the language has no other type for it: a member of an enum, a schedd's answer
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
    return _refuse(f"an ad cannot hold a {type(value).__name__}")


def _ad_node(value: Mapping[object, object], depth: int) -> AdNode:
    items: dict[str, tuple[str, Node]] = {}
    for name, part in value.items():
        if not isinstance(name, str):
            _refuse(f"the name of an attribute must be a string, not a {type(name).__name__}")
        checked_name(name)
        items[lower(name)] = (name, _node(part, depth + 1))
    return AdNode(tuple(sorted(items.values(), key=lambda item: attribute_order(item[0]))))


def checked_string(text: str) -> str:
    """Return a text as a string of the language. Raises ClassAdSyntaxError for a NUL or half of a surrogate pair."""
    if "\0" in text:
        _refuse("a string with a NUL character, where HTCondor would let it end")
    if text.isascii():
        return text
    try:
        return normal(text)
    except UnicodeEncodeError:
        return _refuse("half of a surrogate pair, which UTF-8 cannot encode")


def checked_name(name: str) -> None:
    """Raise ClassAdSyntaxError for an invalid attribute name."""
    if not name:
        _refuse("an attribute needs a name")
    checked_string(name)


def _refuse(message: str) -> NoReturn:
    raise ClassAdSyntaxError(Diagnostic("classad-value", message))


def to_python(value: Value, context: Context) -> Plain:
    """Return a value with the members of lists and ads evaluated: lists as ``list``, ads as ``dict``.

    A member without value is ERROR, and so is one nested deeper than in any ad. Raises EvaluationFailed for more than
    MAX_LIST members in all (ads that contain themselves twice are infinite), and for more than MAX_STEPS steps to
    evaluate them.
    """
    return _Plainer(context).plain(value, 0)


class _Plainer:
    """Makes plain values up to a total size.

    An ad is evaluated separately, so that each attribute and list is evaluated once: ads that contain themselves cost
    space, but no evaluation. All evaluations together have the work of one.
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


_NOW_UNKNOWN = Context()
_EXACT = 1 << 63
_PLAIN = re.compile(r"[ !#-\[\]-~]*").fullmatch


class Place(NamedTuple):
    """Where an ad was read: the name of the text and the line it begins on, from 1."""

    name: str
    line: int


class ClassAd(MutableMapping[str, Expression]):
    """An ad as a mapping from names, ignoring case, to expressions; it keeps their spelling and order.

    ``ad["Memory"]`` is the Expression, read on first use; ``ad.value("Memory")`` its value; ``ad.text("Memory")`` its
    text. ``ad["Memory"] = 1024`` sets a value: a ``str`` becomes a string, and an expression is set as
    ``Expression("Disk / 2")`` or by ``ad.set_text("Memory", "Disk / 2")``.

    An ad may be chained to a parent (a proc ad to its cluster ad): missing attributes are looked up there, an attribute
    that is set to undefined hides the parent's, and deleting a parent's attribute sets it so. ``parent`` is that ad.

    ``place`` is where it was read. Two ads are equal if they have the same names with the same expressions; the order
    and the spelling of the names do not count. It has the ``codes`` and ``names`` for evaluation.
    """

    __slots__ = ("_codes", "_names", "_names_are_shared", "_parent", "place")

    def __init__(self, attributes: Mapping[str, object] | Iterable[tuple[str, object]] = ()) -> None:
        """Set Python values or Expressions by name. Raises ClassAdSyntaxError for a name or value no ad can hold."""
        self._begin({}, {}, None)
        self._names_are_shared = False
        if isinstance(attributes, Mapping):
            pairs: Iterable[tuple[str, object]] = attributes.items()
        else:
            given: object = attributes
            if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
                raise wrong_type("attributes", attributes, "a mapping, or pairs", "read_ad() reads text")
            pairs = attributes
        for pair in pairs:
            each: object = pair
            if not (isinstance(each, (tuple, list)) and len(each) == 2 and isinstance(each[0], str)):
                raise wrong_type("an attribute", each, "a pair of a name and a value")
            self.set(*each)

    def _begin(self, codes: dict[str, Code | str], names: dict[str, str], place: Place | None) -> ClassAd:
        self._codes, self._names, self.place = codes, names, place
        self._names_are_shared = True
        self._parent: ClassAd | None = None
        return self

    @classmethod
    def of(cls, codes: dict[str, Code | str], names: dict[str, str], place: Place | None = None) -> ClassAd:
        """Return an ad of expressions and spellings by lower-case name; ``names`` may be shared by many ads."""
        return cls._begin(cls.__new__(cls), codes, names, place)

    @classmethod
    def of_texts(cls, texts: Mapping[str, str]) -> ClassAd:
        """Return an ad of expression texts in new syntax, read when needed.

        Raises ClassAdSyntaxError for an invalid name.
        """
        made = cls()
        for name, text in texts.items():
            made._set(name, text)
        return made

    @property
    def codes(self) -> Codes:
        """The expressions by name in lower case, as texts until first used; the parent's below its own."""
        return self._codes if self._parent is None else _Chained(self._codes, self._parent)

    @property
    def names(self) -> Mapping[str, str]:
        """The spelling of the names by name in lower case; a parent's come first, unless they are overridden."""
        if self._parent is None:
            return self._names
        own = self._names
        return {**{key: name for key, name in self._parent.names.items() if key not in own}, **own}

    @property
    def parent(self) -> ClassAd | None:
        """The ad in which missing attributes are looked up."""
        return self._parent

    def chain(self, parent: ClassAd | None) -> ClassAd:
        """Make an ad this one's parent, or None; return this one. Raises ValueError for an ad below this one."""
        above = parent
        while above is not None:
            if above is self:
                raise ValueError("an ad cannot be above itself")
            above = above.parent
        self._parent = parent
        return self

    def flat(self) -> ClassAd:
        """Return a copy without parent that has all attributes itself."""
        return ClassAd.of(dict(self.codes), dict(self.names), self.place)

    def copy(self) -> ClassAd:
        """Return a copy with the same parent; changes of one do not affect the other."""
        made = ClassAd.of(self._codes.copy(), self._names, self.place)
        self._names_are_shared = True
        return made.chain(self._parent)

    def __getitem__(self, name: str) -> Expression:
        """Return an attribute's expression. Raises KeyError, and ClassAdSyntaxError for an invalid expression."""
        return Expression.of(self.code(name))

    def __setitem__(self, name: str, value: object) -> None:
        """Set an attribute to an Expression or a Python value. Raises ClassAdSyntaxError."""
        self.set(name, value)

    def __delitem__(self, name: str) -> None:
        """Remove an attribute; one of the parent becomes undefined. Raises KeyError."""
        key = lower(name)
        if self._parent is not None and key in self._parent:
            self._set(self._parent.names[key], "undefined")
            return
        del self._codes[key]
        self._own_names()
        del self._names[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names.values())

    def __len__(self) -> int:
        return len(self._codes) if self._parent is None else len(self.names)

    def __contains__(self, name: object) -> bool:
        """Return whether there is an attribute of this name, whatever its value."""
        return isinstance(name, str) and (
            lower(name) in self._codes or (self._parent is not None and name in self._parent)
        )

    def __eq__(self, other: object) -> bool:
        """Compare names and expressions; an invalid text equals only itself."""
        if not isinstance(other, ClassAd):
            return NotImplemented
        mine, theirs = dict(self.codes), dict(other.codes)
        return mine.keys() == theirs.keys() and all(_same(code, theirs[key]) for key, code in mine.items())

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __copy__(self) -> ClassAd:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> ClassAd:
        """Return a copy whose parent is a copy."""
        made = self.copy()
        memo[id(self)] = made
        parent = self._parent
        if parent is not None:
            found = memo.get(id(parent))
            made.chain(found if isinstance(found, ClassAd) else parent.__deepcopy__(memo))
        return made

    def __reduce__(self) -> tuple[object, ...]:
        texts = {name: self._text(self._codes[key]) for key, name in self._names.items()}
        return _restored, (texts, self._parent, self.place)

    def __repr__(self) -> str:
        place = "" if self.place is None else f" of {self.place.name}:{self.place.line}"
        return f"<ClassAd{place}: {', '.join(list(self)[:8])}{', ...' if len(self) > 8 else ''}>"

    def __str__(self) -> str:
        """Return the ad in new syntax on one line. Raises ClassAdSyntaxError."""
        return self.print()

    def code(self, name: str) -> Code:
        """Return an expression as evaluation uses it. Raises KeyError, ClassAdSyntaxError for an invalid one."""
        key = lower(name)
        found = self._codes.get(key)
        if found is None:
            if self._parent is None:
                raise KeyError(name)
            return self._parent.code(name)
        if isinstance(found, str):
            found = self._codes[key] = read(found)
        return found

    def text(self, name: str) -> str:
        """Return an attribute's text in new syntax: as written until its expression is used, then as printed.

        Raises KeyError.
        """
        key = lower(name)
        found = self._codes.get(key)
        if found is None:
            if self._parent is None:
                raise KeyError(name)
            return self._parent.text(name)
        return self._text(found)

    def _text(self, code: Code | str) -> str:
        return code if isinstance(code, str) else unparse(code_tree(code))

    def set(self, name: str, value: object) -> None:
        """Set an attribute to an Expression or a Python value; a new one comes last, an old one keeps its spelling.

        Raises ClassAdSyntaxError.
        """
        if value.__class__ is int and -_EXACT < value < _EXACT:
            self._set(name, str(value))
        elif value.__class__ is str and _PLAIN(value):
            self._set(name, f'"{value}"')
        else:
            self._set(name, to_code(value))

    def set_text(self, name: str, text: str) -> None:
        """Set an attribute to an expression in new syntax. Raises ClassAdSyntaxError."""
        self._set(name, read(text))

    def _set(self, name: str, code: Code | str) -> None:
        key = lower(name) if name.isascii() else _lowered(name)
        if key not in self._codes:
            checked_name(name)
            self._own_names()
            self._names[key] = name
        self._codes[key] = code

    def put(self, name: str, code: Code | str) -> None:
        """Set an attribute to an expression or a text in new syntax, without checking either."""
        key = lower(name)
        if key not in self._codes:
            self._own_names()
            self._names[key] = name
        self._codes[key] = code

    def prune(self, name: str) -> None:
        """Remove the ad's own attribute, if any; the parent's becomes visible again."""
        key = lower(name)
        if key in self._codes:
            del self._codes[key]
            self._own_names()
            del self._names[key]

    def parts(self) -> tuple[dict[str, Code | str], dict[str, str]]:
        """Return the ad's own expressions and spellings by lower-case name, for fast writers.

        A writer must change both consistently, and write valid expressions.
        """
        self._own_names()
        return self._codes, self._names

    def shared_parts(self) -> tuple[dict[str, Code | str], dict[str, str]]:
        """Return the ad's own expressions and spellings; the spellings are shared from now on.

        After changing the expressions call ``share_names`` with the new names.
        """
        self._names_are_shared = True
        return self._codes, self._names

    def share_names(self, names: dict[str, str]) -> None:
        """Set the spellings by lower-case name of all the ad's own attributes; other ads may share the mapping."""
        self._names = names
        self._names_are_shared = True

    def own(self) -> ClassAd:
        """Return a copy without parent that has only the ad's own attributes."""
        made = ClassAd.of(self._codes.copy(), self._names, self.place)
        self._names_are_shared = True
        return made

    def _own_names(self) -> None:
        if self._names_are_shared:
            self._names = self._names.copy()
            self._names_are_shared = False

    def value(self, name: str, target: Attributes | None = None, context: Context = _NOW_UNKNOWN) -> Value:
        """Return an attribute's value, else UNDEFINED. Raises EvaluationFailed, ClassAdSyntaxError if invalid."""
        code = self._codes.get(lower(name))
        if code.__class__ is not Code:
            if name not in self:
                return UNDEFINED
            code = self.code(name)
        return value_of(code, self, target, context)

    def python(self, name: str, target: Attributes | None = None, context: Context = _NOW_UNKNOWN) -> Plain:
        """Return an attribute's value with lists as ``list`` and ads as ``dict``, their members evaluated.

        Raises EvaluationFailed and ClassAdSyntaxError.
        """
        return to_python(self.value(name, target, context), context)

    def evaluate(
        self, expression: Expression | str, target: Attributes | None = None, context: Context = _NOW_UNKNOWN
    ) -> Value:
        """Return the value of an expression in this ad. Raises EvaluationFailed and ClassAdSyntaxError."""
        code = read(expression) if isinstance(expression, str) else expression.code
        return value_of(code, self, target, context)

    def print(self, form: Format = Format.NEW, order: Order = Order.LIBRARY, *, faithful: bool = False) -> str:
        """Return the ad as HTCondor prints it; ``faithful``: also if that cannot be read back.

        Raises ClassAdSyntaxError for an attribute whose text is invalid.
        """
        return print_ad(self, form, order, faithful=faithful)


def _lowered(name: str) -> str:
    try:
        return lower(name)
    except UnicodeEncodeError:
        checked_name(name)
        raise


def _same(mine: Code | str, theirs: Code | str) -> bool:
    if isinstance(mine, str) and mine == theirs:
        return True
    try:
        return unparse(code_tree(mine)) == unparse(code_tree(theirs))
    except ValueError:
        return False


def _restored(texts: Mapping[str, str], parent: ClassAd | None, place: Place | None) -> ClassAd:
    made = ClassAd.of_texts(texts).chain(parent)
    made.place = place
    return made


class _Chained(Mapping[str, "Code | str"]):
    """The expressions of an ad over those of its parent."""

    __slots__ = ("_above", "_codes")

    def __init__(self, codes: dict[str, Code | str], parent: ClassAd) -> None:
        self._codes = codes
        self._above = parent.codes

    def get(self, key: str, default: object = None) -> object:  # type: ignore[override]
        found = self._codes.get(key)
        return self._above.get(key, default) if found is None else found

    def __getitem__(self, key: str) -> Code | str:
        found = self._codes.get(key)
        return self._above[key] if found is None else found

    def __iter__(self) -> Iterator[str]:
        own = self._codes
        yield from (key for key in self._above if key not in own)
        yield from own

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, key: object) -> bool:
        return key in self._codes or key in self._above
