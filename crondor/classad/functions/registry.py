"""How a built-in function is declared: how many arguments it takes, and whether it sees their values or their trees.

HTCondor: FunctionCall::RegisterFunctions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from crondor.classad.scope import Compiler, EvaluationState, Run, Value
from crondor.classad.tree import Node
from crondor.classad.values import (
    ERROR,
)


class CallArguments(NamedTuple):
    """A call as it is compiled: the function's name in lower case, its arguments as trees and as closures.

    ``offset`` is how many operators the call stands below its expression's top; ``compiler`` makes closures of trees.
    """

    name: str
    nodes: tuple[Node, ...]
    runs: tuple[Run, ...]
    offset: int
    compiler: Compiler


Maker: TypeAlias = Callable[[CallArguments], Run]
Plain: TypeAlias = Callable[..., Value]

FUNCTIONS: Final[dict[str, Maker]] = {}


def _wrong_count(_state: EvaluationState) -> Value:
    return ERROR


def builtin(name: str, low: int, high: int | None = None) -> Callable[[Plain], Plain]:
    """Declare a function of the values of its arguments: ``f(state, first, ...)``.

    All arguments are evaluated; with another number of them the call is error, and none is.
    """
    most = low if high is None else high

    def declare(function: Plain) -> Plain:
        def make(call: CallArguments) -> Run:
            if not low <= len(call.runs) <= most:
                return _wrong_count
            return _apply(function, call.runs)

        FUNCTIONS[name.lower()] = make
        return function

    return declare


def _apply(function: Plain, runs: tuple[Run, ...]) -> Run:
    if not runs:
        return function
    if len(runs) == 1:
        (only,) = runs
        return lambda state: function(state, only(state))
    if len(runs) == 2:
        first, second = runs
        return lambda state: function(state, first(state), second(state))
    return lambda state: function(state, *[run(state) for run in runs])


def special(*names: str) -> Callable[[Maker], Maker]:
    """Declare a function that makes its own closure from the call."""

    def declare(maker: Maker) -> Maker:
        for name in names:
            FUNCTIONS[name.lower()] = maker
        return maker

    return declare
