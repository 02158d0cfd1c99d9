"""An expression ready to be evaluated: its tree, its value if it is a constant, and the closures made of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias

from crondor.classad.limits import MAX_DEPTH
from crondor.classad.scope import AdValue, ListValue, Run, State
from crondor.classad.tree import Binary, Call, Literal, Node, Reference, Ternary, Unary, children
from crondor.classad.values import LocalTime, RelTime, Simple, Value, truncate32


class _Unknown:
    __slots__ = ()


UNKNOWN: Final = _Unknown()
"""The ``const`` of an expression that has to be evaluated."""

Compiler: TypeAlias = Callable[[Node, int, bool], Run]
UNMEASURED: Final = 1 << 30
"""The ``height`` of an expression that has not been compiled."""
_SHORT: Final = 100  # characters of a string that is worth keeping as a constant


class Code:
    """An expression that is compiled when it is first evaluated.

    ``height`` is how deep its operators and names are nested: where that fits into what is left of HTCondor's bound,
    ``run`` evaluates without any count; where it does not, a second set of closures counts.
    ``cost`` is the number of its nodes.
    """

    __slots__ = ("_compiler", "_counting", "const", "cost", "height", "node", "run")

    def __init__(self, node: Node, compiler: Compiler, const: Value | _Unknown = UNKNOWN) -> None:
        """Take a tree and what compiles it, or a constant."""
        self.node = node
        self.const = const
        if isinstance(node, Literal) and const is UNKNOWN and not isinstance(node.value, LocalTime):
            self.const = literal_value(node.value)
        self.height = UNMEASURED
        self.cost = 1
        self.run: Run = self.evaluate
        self._compiler = compiler
        self._counting: Run | None = None

    def prepare(self) -> None:
        """Compile the expression."""
        self.height, self.cost = measure(self.node)
        self.run = self._compiler(self.node, 0, False)  # noqa: FBT003 - whether to count

    def evaluate(self, state: State) -> Value:
        """Return the value in the ad ``state`` is in.

        Raises Failure.
        """
        const = self.const
        if const is not UNKNOWN:
            return const  # type: ignore[return-value]
        if self.height is UNMEASURED:
            self.prepare()
        if state.used + self.height <= MAX_DEPTH:
            return self.run(state)
        if self._counting is None:
            self._counting = self._compiler(self.node, 0, True)  # noqa: FBT003
        return self._counting(state)


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
        work.extend((child, depth) for child in children(part))
    return height, cost


def literal_value(value: Simple) -> Value:
    """Return what a literal evaluates to: a literal relTime is a real, only relTime() of something else is not."""
    return value.seconds if isinstance(value, RelTime) else value


def no_compiler(node: Node, offset: int, counting: bool) -> Run:  # noqa: FBT001
    """Stand in where there is nothing to compile."""
    raise TypeError(f"a constant is not compiled: {node!r} {offset} {counting}")


def constant(value: Value) -> Code:
    """Return the expression that is a value."""
    if isinstance(value, (AdValue, ListValue)):
        return Code(Literal(False), no_compiler, value)  # noqa: FBT003 - never printed: the constant is
    if type(value) is str and len(value) < _SHORT:
        return _string(value)
    return Code(value_literal(value), no_compiler)


@lru_cache(maxsize=4096)
def _string(text: str) -> Code:
    return Code(Literal(text), no_compiler)


def value_literal(value: Simple) -> Literal:
    """Return a value as a literal; a length of time loses its fraction."""
    return Literal(RelTime(float(truncate32(value.seconds))) if isinstance(value, RelTime) else value)


def made_list(values: list[Value]) -> ListValue:
    """Return a list as functions make it."""
    return ListValue(tuple(map(constant, values)), None, made=True)
