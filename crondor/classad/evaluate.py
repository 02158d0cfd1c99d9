"""One evaluation from beginning to end: an expression in an ad, alone or matched with another.

HTCondor: ClassAd::EvaluateAttr, ClassAd::EvaluateExpr.
"""

from __future__ import annotations

from crondor.classad.compile import compile_node, read
from crondor.classad.errors import ClassAdSyntaxError, EvaluationFailed, Exhausted, Failure, StackExhausted
from crondor.classad.lookup import link
from crondor.classad.operators import truth
from crondor.classad.references import External, Internal
from crondor.classad.scope import (
    NOWHERE,
    UNKNOWN,
    AdValue,
    Attributes,
    Code,
    Context,
    EvaluationState,
    ListValue,
    Value,
)
from crondor.classad.show import code_tree
from crondor.classad.values import (
    ERROR,
)
from crondor.diagnostics import Diagnostic

EMPTY = AdValue({}, {})
_EXPLODED = "names and operators nest deeper than can be evaluated"


def begin(my: Attributes, target: Attributes | None, context: Context) -> EvaluationState:
    """Return the state of an evaluation in one ad, or in a match of two."""
    place = AdValue(my.codes, my.names)
    if target is not None:
        link(place, AdValue(target.codes, target.names))
    return EvaluationState(context, place, read)


def value_of(code: Code, my: Attributes, target: Attributes | None, context: Context) -> Value:
    """Return the value of an expression.

    Raises EvaluationFailed.
    """
    if code.const is not UNKNOWN:
        return code.const  # type: ignore[return-value]
    state = begin(my, target, context)
    effort = context.effort
    if effort is None:
        return run(code, state)
    before = state.steps
    try:
        return run(code, state)
    finally:
        effort.left -= before - state.steps


def run(code: Code, state: EvaluationState) -> Value:
    """Return the value of an expression in a state.

    Raises EvaluationFailed.
    """
    try:
        return code.evaluate(state)
    except (Failure, Exhausted) as failure:
        raise failed(str(failure)) from None
    except (RecursionError, StackExhausted):
        raise failed(_EXPLODED) from None


def failed(message: str) -> EvaluationFailed:
    """Return the error for an evaluation without a value."""
    return EvaluationFailed(Diagnostic("classad-evaluation", message))


def holds(code: Code, my: Attributes, target: Attributes | None, context: Context) -> bool:
    """Say whether an expression is true or a number that is not zero; no value is no.

    Nor has one that asks for an attribute whose text is no expression.
    """
    try:
        return truth(value_of(code, my, target, context)) is True
    except (EvaluationFailed, ClassAdSyntaxError):
        return False


def matches(my: Attributes, target: Attributes, context: Context) -> bool:
    """Say whether an ad's Requirements accept another ad; without Requirements they do not."""
    code = my.codes.get("requirements")
    if code is None:
        return False
    try:
        asked = code if isinstance(code, Code) else read(code)
    except ClassAdSyntaxError:
        return False
    return holds(asked, my, target, context)


def symmetric_match(left: Attributes, right: Attributes, context: Context) -> bool:
    """Say whether two ads accept each other."""
    return matches(left, right, context) and matches(right, left, context)


def references_of(code: Code, ad: Attributes, *, internal: bool) -> list[str] | None:
    """Return the names an expression takes from its ad (``internal``) or leaves to others, sorted without case.

    None: HTCondor finds no answer, for a circle or for a selection from what is no ad.
    """
    state = begin(ad, None, Context())
    walk = Internal if internal else External
    try:
        return walk.of(state, state.my, code_tree(code), compile_node, free=True)
    except (RecursionError, StackExhausted, Exhausted):
        return None


def members(value: ListValue, context: Context) -> list[Value]:
    """Return the values of a list's members, each in the ad the list was found in; a failing one is error."""
    return members_in(value, begin(EMPTY, None, context))


def members_in(value: ListValue, state: EvaluationState) -> list[Value]:
    """Return the values of a list's members with what is left of a state's work."""
    place = NOWHERE if value.scope is None else value.scope
    state.my = place
    state.root = None if place.matched else _outermost(place)
    found: list[Value] = []
    for code in value.members:
        state.cur = place
        try:
            found.append(run(code, state))
        except EvaluationFailed:
            found.append(ERROR)
            state.used = 0
            state.stack.clear()
    return found


def _outermost(place: AdValue) -> AdValue:
    while place.parent is not None:
        place = place.parent
    return place
