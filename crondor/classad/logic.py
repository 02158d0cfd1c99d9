"""``&&`` and ``||`` over a whole chain: left to right, three-valued, numbers as booleans.

HTCondor: Operation::doLogical, Operation::shortCircuit.
"""

from __future__ import annotations

from crondor.classad.operators import truth
from crondor.classad.scope import EvaluationState, Run, Value
from crondor.classad.values import (
    ERROR,
    UNDEFINED,
)


def conjunction(parts: tuple[Run, ...]) -> Run:
    """Return what evaluates ``a && b && ...``: false and error end it, undefined goes on."""

    def both(state: EvaluationState) -> Value:
        known = True
        for part in parts:
            value = part(state)
            if value is True:
                continue
            if value is False:
                return False
            if value is UNDEFINED:
                known = False
                continue
            fact = truth(value)
            if fact is None:
                return _wrong(state, value, part, parts)
            if not fact:
                return False
        return True if known else UNDEFINED

    return both


def disjunction(parts: tuple[Run, ...]) -> Run:
    """Return what evaluates ``a || b || ...``: true and error end it, undefined goes on."""

    def either(state: EvaluationState) -> Value:
        known = True
        for part in parts:
            value = part(state)
            if value is False:
                continue
            if value is True:
                return True
            if value is UNDEFINED:
                known = False
                continue
            fact = truth(value)
            if fact is None:
                return _wrong(state, value, part, parts)
            if fact:
                return True
        return False if known else UNDEFINED

    return either


def _wrong(state: EvaluationState, value: Value, part: Run, parts: tuple[Run, ...]) -> Value:
    """Return error for an operand that is no boolean; only after the first one is the next still evaluated."""
    if part is parts[0] and value is not ERROR:
        parts[1](state)
    return ERROR
