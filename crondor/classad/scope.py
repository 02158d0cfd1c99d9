"""The state of an evaluation: values, ads, expressions, lookup of names, conversion and display.

HTCondor: EvalState.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timezone, tzinfo
from functools import lru_cache
from random import Random
from typing import Final, NamedTuple, Protocol, TypeAlias

from crondor.classad.parser import UnparseForm, parse_expression, unparse
from crondor.classad.text import lower
from crondor.classad.tokens import print_abstime, print_reltime
from crondor.classad.tree import (
    ERROR,
    MAX_DEPTH,
    MAX_LIST,
    MAX_STEPS,
    MAX_STRING,
    UNDEFINED,
    AbsTime,
    AdNode,
    Exhausted,
    Failure,
    ListNode,
    Literal,
    LocalTime,
    Node,
    Reference,
    RelTime,
    Simple,
    attribute_order,
    measure,
    truncate,
    truncate32,
)
from crondor.diagnostics import Source

Value: TypeAlias = "Simple | ListValue | AdValue"
Run: TypeAlias = "Callable[[EvaluationState], Value]"
Codes: TypeAlias = "Mapping[str, Code | str]"

SPECIAL: Final = frozenset(("self", "my", "parent", "root", "toplevel", "currenttime"))
_CONTEXT: Final = frozenset(("other", "target", "my", "ad"))
_MATCH_NAMES: Final = (
    "symmetricmatch leftmatchesright rightmatchesleft leftrankvalue rightrankvalue left right lctx rctx"
)
_MATCH: Final = frozenset(_MATCH_NAMES.split())
BEYOND: Final = SPECIAL | _CONTEXT | _MATCH
"""Names that mean more than the attributes of the two ads; for all others two look-ups are enough."""


class Attributes(Protocol):
    """The parts of an ad that evaluation needs: expressions by name in lower case (text until used), and spellings."""

    @property
    def codes(self) -> Codes:
        """The expressions."""

    @property
    def names(self) -> Mapping[str, str]:
        """The names as written, by name in lower case."""


@dataclass(slots=True, eq=False, repr=False)
class AdValue:
    """An ad as a value and as a place to look names up.

    ``codes`` maps names in lower case to expressions (text until used); ``names`` has their spelling. ``parent`` is the
    ad around it. ``other`` is where a missing bare name is looked up next: the other ad of a match. ``target`` is the
    ad that TARGET means, if known without a search.
    """

    codes: Codes
    names: Mapping[str, str]
    parent: AdValue | None = None
    other: AdValue | None = field(default=None, init=False)
    target: AdValue | None = field(default=None, init=False)
    matched: bool = field(default=False, init=False)

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"<ad of {', '.join(self.names.values())}>"


@dataclass(slots=True, eq=False, repr=False)
class ListValue:
    """A list as a value: its members are expressions until one of them is used.

    ``scope`` is the ad in which a member's names are looked up when it is selected by a subscript; None is no ad at
    all. ``made`` marks the result of a function: in HTCondor such lists have another type, which affects ``=?=``.
    """

    members: tuple[Code, ...]
    scope: AdValue | None
    made: bool = field(default=False, kw_only=True)

    def __len__(self) -> int:
        return len(self.members)

    def __repr__(self) -> str:
        return f"<list of {len(self.members)}>"


class CopiedAd(AdValue):
    """An ad from a subscript by a name, as in HTCondor: no ad is around it, and ``.name`` finds nothing."""

    __slots__ = ()


class CopiedList(ListValue):
    """A list from such a subscript: nothing is found in the ads and lists that are its members."""

    __slots__ = ()


NOWHERE: Final = AdValue({}, {})
"""A missing ad: nothing is found in it, not even MY."""


class Effort(Protocol):
    """The cost limit of all evaluations that share it; a step is about a microsecond."""

    left: int

    def __hash__(self) -> int: ...


class Allowance:
    """An effort of so many steps."""

    def __init__(self, steps: int) -> None:
        self.left = steps


@dataclass(frozen=True)
class Context:
    """The inputs of an evaluation besides its ads.

    ``now`` is the time in seconds since 1970; ``zone`` the local zone of formatTime and similar functions. ``seed``
    starts random(): the same numbers for the same seed. ``current_time``: CurrentTime, if no ad has it, is the time.
    ``maps`` serves userMap(map, user): a function from map and user to the groups separated by commas, or None.
    ``effort`` limits the cost of this evaluation and others together. ``faithful``: a name selected from the result of
    a subscript by a name (``v["q"].z``) is undefined, as in HTCondor 25.14, which looks it up in freed memory.
    """

    now: int = 0
    zone: tzinfo = timezone.utc
    seed: int = 0
    current_time: bool = True
    maps: Callable[[str, str], str | None] | None = field(default=None, compare=False)
    effort: Effort | None = field(default=None, compare=False)
    faithful: bool = False


ENCLOSED: Final = -1
OUT_OF_STEPS: Final = f"the evaluation takes more than {MAX_STEPS} steps"


class Inlining(NamedTuple):
    """How flattening replaces names by the expressions of attributes that have no value yet.

    ``parentheses`` keeps the replacement together, unlike HTCondor 25.14: for ``m * 2`` with ``m = x + 1`` it prints
    ``2 * x + 1``. ``open`` are functions, in lower case, that are not computed now: the clock and the dice.
    """

    parentheses: bool = True
    open: frozenset[str] = frozenset(("time", "random", "currenttime"))


class EvaluationState:
    """The state of one evaluation.

    ``cur`` is the ad whose expression is evaluated; ``root`` the outermost ad (None: that of a match, not needed yet);
    ``used`` the depth used; ``stack`` the attributes being evaluated. ``free`` is the depth at which an ad literal
    belongs to no ad (ENCLOSED: it always belongs to the one it is written in): HTCondor takes references from, and
    flattens, an expression that is not in the ad, so that names inside such a literal do not reach MY. ``inlining``:
    how flattening replaces names by their expressions, None: not at all.
    """

    __slots__ = ("_random", "ads", "context", "cur", "free", "inlining", "my", "read", "root", "stack", "steps", "used")

    def __init__(self, context: Context, my: AdValue, read: Callable[[str], Code]) -> None:
        """Start in the ad ``my``; ``read`` turns a text into an expression."""
        self.context = context
        self.my = my
        self.cur = my
        self.root: AdValue | None = None if my.matched else my
        self.read = read
        self.used = 0
        self.free = ENCLOSED
        self.inlining: Inlining | None = None
        self.steps = MAX_STEPS if context.effort is None else min(MAX_STEPS, context.effort.left)
        self.stack: list[tuple[AdValue, str]] = []
        self.ads: dict[tuple[int, int], AdValue] | None = None
        self._random: Random | None = None

    def spend(self, steps: int) -> None:
        """Subtract work from the rest. Raises Exhausted."""
        self.steps -= steps
        if self.steps < 0:
            raise Exhausted(OUT_OF_STEPS)

    def around(self) -> AdValue | None:
        """Return the ad around an ad literal here."""
        return None if self.used == self.free and self.cur is self.my else self.cur

    @property
    def random(self) -> Random:
        """The generator of random numbers, started with the context's seed."""
        if self._random is None:
            self._random = Random(self.context.seed)  # noqa: S311 - a simulation's dice, no secret
        return self._random


class _Unknown:
    __slots__ = ()


UNKNOWN: Final = _Unknown()
"""The ``const`` of an expression that has to be evaluated."""

Compiler: TypeAlias = Callable[..., Run]
UNMEASURED: Final = 1 << 30
"""The ``height`` of an expression that has not been compiled."""


def literal_value(value: Simple) -> Value:
    """Return the value of a literal: a literal relTime is a real, unlike relTime() of an expression."""
    return value.seconds if isinstance(value, RelTime) else value


class Code:
    """An expression that is compiled when it is first evaluated.

    ``height`` is the nesting depth of its operators and names: if that is within the rest of HTCondor's limit, ``run``
    evaluates without counting; otherwise a second set of closures counts. ``cost`` is the number of its nodes. ``text``
    is what it was read from, None: it was made otherwise.
    """

    __slots__ = ("_compiler", "_counting", "const", "cost", "height", "node", "run", "text")

    def __init__(self, node: Node, compiler: Compiler, const: Value | _Unknown = UNKNOWN) -> None:
        self.node = node
        self.text: str | None = None
        self.const = const
        if isinstance(node, Literal) and const is UNKNOWN and not isinstance(node.value, LocalTime):
            self.const = literal_value(node.value)
        self.height = UNMEASURED
        self.cost = 1
        self.run: Run = self.evaluate
        self._compiler = compiler
        self._counting: Run | None = None

    def __repr__(self) -> str:
        return f"<Code of a {type(self.node).__name__}>"

    def __reduce__(self) -> tuple[object, ...]:
        return Code, (self.node, self._compiler, *(() if self.const is UNKNOWN else (self.const,)))

    def prepare(self) -> None:
        """Compile the expression."""
        self.height, self.cost = measure(self.node)
        self.run = self._compiler(self.node, 0)

    def evaluate(self, state: EvaluationState) -> Value:
        """Return the value in the ad ``state`` is in. Raises Failure."""
        const = self.const
        if const is not UNKNOWN:
            return const  # type: ignore[return-value]
        if self.height is UNMEASURED:
            self.prepare()
        if state.used + self.height <= MAX_DEPTH:
            return self.run(state)
        if self._counting is None:
            self._counting = self._compiler(self.node, 0, counting=True)
        return self._counting(state)


_SHORT: Final = 100  # characters of a string that is worth keeping as a constant


def no_compiler(node: Node, offset: int, *, counting: bool = False) -> Run:
    """Compile nothing: the compiler of constants."""
    raise TypeError(f"a constant is not compiled: {node!r} {offset} {counting}")


def constant(value: Value) -> Code:
    """Return the expression of a value."""
    if type(value) is str and len(value) < _SHORT:
        return _string(value)
    if isinstance(value, (AdValue, ListValue)):
        return Code(Literal(ERROR), no_compiler, value)  # the literal is never printed: the constant is
    return Code(value_literal(value), no_compiler)


@lru_cache(maxsize=4096)
def _string(text: str) -> Code:
    return Code(Literal(text), no_compiler)


def value_literal(value: Simple) -> Literal:
    """Return a value as a literal; a length of time loses its fraction."""
    return Literal(RelTime(float(truncate32(value.seconds))) if isinstance(value, RelTime) else value)


def made_list(values: Sequence[Value]) -> ListValue:
    """Return a list like those that functions make."""
    return ListValue(tuple(map(constant, values)), None, made=True)


def to_tree(value: Value) -> Node:
    """Return the tree of a value; the members of lists and ads as written, not evaluated."""
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


_NUMBER: Final = (  # compiled when a text is first read as a number
    r"[ \t\n\r\f\v]*([+-]?)(?:(0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?)"
    r"|((?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?i:(inf(?:inity)?)|(nan(?:\([A-Za-z0-9_]*\))?)))"
)


# HTCondor: convertValueToIntegerValue and its kin in src/classad/value.cpp.
def leading_number(text: str) -> float | None:
    """Return the number at the beginning of a text, like strtod; None if there is none."""
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
    """Return a value as a real; None if it is not one."""
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
    """Return a value like int()."""
    if type(value) is int:
        return value
    if isinstance(value, AbsTime):
        return value.seconds
    real = to_real(value)
    if real is None:
        return UNDEFINED if value is UNDEFINED else ERROR
    return truncate(real)


def to_string(state: EvaluationState, value: Value) -> Value:
    """Return a value like string(): undefined and error stay, reals have their long form."""
    if isinstance(value, str) or value is UNDEFINED or value is ERROR:
        return value
    if isinstance(value, AbsTime):
        return print_abstime(value)
    if isinstance(value, RelTime):
        return print_reltime(float(truncate32(value.seconds)))
    return grown(state, print_value(value, faithful=True))


def word(value: str) -> bool | None:
    """Return the boolean that a word means."""
    return {"true": True, "false": False}.get(lower(value))


def grown(state: EvaluationState, text: str) -> str:
    """Return a string made by an expression unless it is too long; its length is charged. Raises Failure, Exhausted."""
    state.spend(len(text) >> 4)
    if len(text) > MAX_STRING:
        raise Failure(f"a string grows beyond {MAX_STRING} characters")
    return text


def grown_list(state: EvaluationState, count: int) -> None:
    """Check the length of a list an expression makes or walks; its members are charged. Raises Failure, Exhausted."""
    state.spend(2 * count)
    if count > MAX_LIST:
        raise Failure(f"a list grows beyond {MAX_LIST} members")


_LEFT = Reference(None, "LEFT", absolute=True)
_RIGHT = Reference(None, "RIGHT", absolute=True)


# HTCondor: ClassAd::LookupInScope, MatchClassAd::InitMatchClassAd.
def find(state: EvaluationState, start: AdValue, name: str) -> tuple[AdValue, Code] | None:
    """Look a lower-case name up in an ad and the ads around it.

    Attributes come first at every level; then HTCondor's reserved names; then the ad around.
    """
    place = start
    while True:
        code = place.codes.get(name)
        if code is not None:
            return place, as_code(state.read, place.codes, name, code)
        if state.root is None:
            root_of(state)
        around = None if place is state.root else place.parent
        if name in SPECIAL:
            return _special(state, place, around, name)
        if around is None:
            return None
        place = around


def find_bare(state: EvaluationState, start: AdValue, name: str) -> tuple[AdValue, Code] | None:
    """Look a name without scope up: in MY and around it, then in the other ad of the match and around that."""
    if start is NOWHERE:
        return None
    if name in BEYOND or not start.matched:
        found = find(state, start, name)
        if found is not None or start.other is None:
            return found
        return find(state, start.other, name)
    for place in (start, start.other):
        code = None if place is None else place.codes.get(name)
        if code is not None and place is not None:
            return place, as_code(state.read, place.codes, name, code)
    return None


def as_code(read: Callable[[str], Code], codes: Codes, name: str, found: Code | str) -> Code:
    """Return an attribute's expression; a text is read on first use, and stored in its ad."""
    if isinstance(found, Code):
        return found
    code = read(found)
    if isinstance(codes, dict):
        codes[name] = code
    return code


def _special(state: EvaluationState, place: AdValue, around: AdValue | None, name: str) -> tuple[AdValue, Code] | None:
    if place is NOWHERE:
        return None
    if name in ("self", "my"):
        return place, constant(place)
    if name == "parent":
        return None if around is None or around is NOWHERE else (place, constant(around))
    if name == "currenttime":
        return (place, constant(state.context.now)) if state.context.current_time else None
    return place, constant(root_of(state))


def link(my: AdValue, target: AdValue) -> None:
    """Make two ads a match: missing names of one are looked up in the other. Ads around them are built when needed."""
    my.other, target.other = target, my
    my.matched = target.matched = True
    my.target = None if "target" in my.codes else target
    target.target = None if "target" in target.codes else my


_AROUND = {
    "symmetricMatch": "RIGHT.requirements && LEFT.requirements",
    "leftMatchesRight": "RIGHT.requirements",
    "rightMatchesLeft": "LEFT.requirements",
    "leftRankValue": "LEFT.rank",
    "rightRankValue": "RIGHT.rank",
}


def root_of(state: EvaluationState) -> AdValue:
    """Return the outermost ad: MY, or in a match the ad that HTCondor puts around the two.

    That ad's attributes can be named by an expression in either ad, for instance LEFT.
    """
    if state.root is not None:
        return state.root
    my = state.my
    target = my if my.other is None else my.other
    around = AdValue({}, {})
    left, right = _side(around, my, target, left=True), _side(around, target, my, left=False)
    my.parent, target.parent = left, right
    sides = {"LEFT": my, "RIGHT": target, "lCtx": left, "rCtx": right}
    around.names = {name.lower(): name for name in (*_AROUND, *sides)}
    around.codes = {name.lower(): text for name, text in _AROUND.items()}
    around.codes |= {name.lower(): constant(ad) for name, ad in sides.items()}
    state.root = around
    return around


def _side(around: AdValue, ad: AdValue, other: AdValue, *, left: bool) -> AdValue:
    mine, theirs = (_LEFT, _RIGHT) if left else (_RIGHT, _LEFT)
    codes: dict[str, Code | str] = {name: Code(theirs, no_compiler, other) for name in ("other", "target")}
    codes |= {name: Code(mine, no_compiler, ad) for name in ("my", "ad")}
    return AdValue(codes, {name: name for name in codes}, around)
