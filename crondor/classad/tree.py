"""The syntax tree of an expression with the offsets of its text, its values, limits and errors."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from crondor.classad.text import lower, to_bytes
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span


class Exceptional(Enum):
    """The two exceptional values: ``undefined`` and ``error``. Both are false."""

    UNDEFINED = "undefined"
    ERROR = "error"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return self.name

    def __str__(self) -> str:
        return str(self.value)


UNDEFINED: Final = Exceptional.UNDEFINED
ERROR: Final = Exceptional.ERROR


class AbsTime(NamedTuple):
    """A moment: seconds since 1970 (UTC) and the offset from UTC, in seconds, it is shown with."""

    seconds: int
    offset: int


class RelTime(NamedTuple):
    """A length of time in seconds."""

    seconds: float


class LocalTime(NamedTuple):
    """A literal ``absTime("...")`` without offset: the seconds its fields would have in UTC.

    Only the tree has it: HTCondor reads such a text in the zone of the machine, which comes from the evaluation
    context.
    """

    seconds: int


Simple: TypeAlias = bool | int | float | str | Exceptional | AbsTime | RelTime
Constant: TypeAlias = Simple | LocalTime

INT_MIN: Final = -(1 << 63)
INT_MAX: Final = (1 << 63) - 1


def wrap(number: int) -> int:
    """Return an integer cut to 64 bits, as C overflows."""
    if INT_MIN <= number <= INT_MAX:
        return number
    return ((number + (1 << 63)) & 0xFFFFFFFFFFFFFFFF) - (1 << 63)


def wrap32(number: int) -> int:
    """Return an integer cut to 32 bits."""
    return ((number + 0x80000000) & 0xFFFFFFFF) - 0x80000000


def truncate(real: float) -> int:
    """Return a real as 64-bit integer; out of range (NaN, infinities) gives the minimum, as x86 does."""
    if -9.3e18 < real < 9.3e18:  # false for NaN
        number = int(real)
        if INT_MIN <= number <= INT_MAX:
            return number
    return INT_MIN


def truncate32(real: float) -> int:
    """Return a real as 32-bit integer; out of range gives the minimum."""
    if -2147483649.0 < real < 2147483648.0:
        return int(real)
    return -0x80000000


class Literal(NamedTuple):
    """A value as written."""

    value: Constant
    start: int = 0
    end: int = 0


class Reference(NamedTuple):
    """``name``, ``.name`` (absolute) or ``scope.name``."""

    scope: Node | None
    name: str
    start: int = 0
    end: int = 0
    absolute: bool = False


class Unary(NamedTuple):
    """``op operand``; parentheses are the operator ``()``, since HTCondor keeps them."""

    op: str
    operand: Node
    start: int = 0
    end: int = 0


class Binary(NamedTuple):
    """``left op right``; also ``left ?: right`` and, as the operator ``[]``, ``left[right]``."""

    op: str
    left: Node
    right: Node
    start: int = 0
    end: int = 0


class Ternary(NamedTuple):
    """``test ? yes : no``."""

    test: Node
    yes: Node
    no: Node
    start: int = 0
    end: int = 0


class Call(NamedTuple):
    """``name(arguments)``."""

    name: str
    arguments: tuple[Node, ...]
    start: int = 0
    end: int = 0


class ListNode(NamedTuple):
    """``{ items }``."""

    items: tuple[Node, ...]
    start: int = 0
    end: int = 0


class AdNode(NamedTuple):
    """``[ name = expression; ... ]``, each name once and in HTCondor's order: by length, then without case."""

    items: tuple[tuple[str, Node], ...]
    start: int = 0
    end: int = 0


DEEPER: Final = frozenset(("strcat", "join"))
"""The functions whose arguments HTCondor counts as one deeper than the call; those of others are as deep."""

Node: TypeAlias = Literal | Reference | Unary | Binary | Ternary | Call | ListNode | AdNode


def children(node: Node) -> tuple[Node, ...]:
    """Return the parts of a node, left to right."""
    if isinstance(node, Binary):
        return (node.left, node.right)
    if isinstance(node, Unary):
        return (node.operand,)
    if isinstance(node, Call):
        return node.arguments
    if isinstance(node, Reference):
        return () if node.scope is None else (node.scope,)
    if isinstance(node, Ternary):
        return (node.test, node.yes, node.no)
    if isinstance(node, ListNode):
        return node.items
    if isinstance(node, AdNode):
        return tuple(part for _, part in node.items)
    return ()


def nodes(tree: Node) -> Iterator[Node]:
    """Yield a node and everything in it, in arbitrary order."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        left += children(node)


CHANGING: Final = frozenset(("asktime", "currenttime", "formattime", "localtimestring", "random", "time", "usermap"))
"""Functions, and an attribute, whose value differs at another time or place."""


def functions(tree: Node) -> frozenset[str]:
    """Return the lower-case names of the functions that an expression calls."""
    return frozenset(node.name.lower() for node in nodes(tree) if isinstance(node, Call))


def attribute_order(name: str) -> tuple[int, bytes]:
    """Return the sort key of HTCondor's attribute order."""
    data = to_bytes(name)
    return len(data), data.lower()


def bare(node: Node) -> Node:
    """Return a node without the parentheses around it."""
    while isinstance(node, Unary) and node.op == "()":
        node = node.operand
    return node


def literal_text(node: Node) -> str | None:
    """Return the text of a string literal, with or without parentheses around it; None for anything else."""
    inner = bare(node)
    return inner.value if isinstance(inner, Literal) and isinstance(inner.value, str) else None


def plain_name(node: Node) -> str:
    """Return the lower-case name of a plain reference, "" for any other node."""
    if isinstance(node, Reference) and node.scope is None and not node.absolute:
        return lower(node.name)
    return ""


def measure(node: Node) -> tuple[int, int]:
    """Return how deep operators and names are nested, and the number of nodes."""
    height = cost = 0
    work = [(node, 0)]
    while work:
        part, depth = work.pop()
        cost += 1
        if isinstance(part, (Binary, Unary, Ternary, Reference)):
            depth += 1
            height = max(height, depth)
        elif not isinstance(part, Call):
            continue  # the members of lists and ads are expressions of their own
        elif part.name.lower() in DEEPER:
            depth += 1
            height = max(height, depth)
        work.extend((child, depth) for child in children(part))
    return height, cost


MAX_TEXT: Final = 4 << 20
"""Characters of one expression or ad."""

MAX_TOKENS: Final = 200_000
"""Tokens of one expression or ad."""

MAX_NESTING: Final = 500
"""HTCondor's limit on the depth of its recursive parser; a pair of parentheses takes three."""

MAX_DEPTH: Final = 400
"""HTCondor's limit on the depth of evaluation: operators and attributes being evaluated at the same time."""

MAX_STEPS: Final = 2_000_000
"""The work of one evaluation, counted in nodes: a second or two. HTCondor allows ten million, a third of a second."""

MAX_STRING: Final = 4 << 20
"""Characters of a string an expression makes. HTCondor has no limit."""

MAX_LIST: Final = 100_000
"""Members of a list an expression makes. HTCondor has no limit."""

MAX_CACHED_TEXT: Final = 16 << 10
"""Longer texts are not cached: few of them would fill the cache."""

MAX_CACHED: Final = 8192
"""Distinct texts kept read and compiled."""

MAX_REFERENCES: Final = 100_000
"""Attributes visited to collect the references of one expression."""


class ClassAdSyntaxError(CrondorError, ValueError):
    """A text is not an expression or an ad; the diagnostic underlines where it becomes invalid."""


class StackExhausted(ClassAdSyntaxError):
    """A text could not be read because the caller has left too little of Python's stack."""


class EvaluationFailed(CrondorError, ValueError):
    """An expression has no value at all: HTCondor's daemons treat it as missing.

    This is rarer than the value ``error``: recursion, work or growth beyond the limits, and a few wrong calls
    (``random(0)``).
    """


class CircularReference(CrondorError, ValueError):
    """The references of an expression cannot be determined: it leads back to itself, or selects from a non-ad."""


def syntax_error(source: Source, start: int, end: int, message: str, hint: str | None = None) -> ClassAdSyntaxError:
    """Return the error for the characters ``start`` to ``end`` of a source."""
    span: Span = source.span(start, max(end, start))
    return ClassAdSyntaxError(Diagnostic("classad-syntax", message, span=span, help=hint))


class Failure(Exception):
    """Inside the engine: the present evaluation fails. It leaves as ``EvaluationFailed``."""


class Exhausted(Exception):
    """Inside the engine: the work of one evaluation is used up; no function may turn this into a value."""
