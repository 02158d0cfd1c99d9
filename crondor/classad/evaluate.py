"""One evaluation from beginning to end: an expression in an ad, alone or matched with another."""

from __future__ import annotations

from crondor.classad.code import UNKNOWN, Code
from crondor.classad.compile import compile_node, read
from crondor.classad.errors import EvaluationFailed, Failure
from crondor.classad.lookup import link
from crondor.classad.operators import truth
from crondor.classad.references import External, Internal
from crondor.classad.scope import AdValue, Attributes, Context, State
from crondor.classad.show import code_tree
from crondor.classad.values import Value
from crondor.diagnostics import Diagnostic

EMPTY = AdValue({}, {})
_EXPLODED = "names and operators nest deeper than can be evaluated"


def begin(my: Attributes, target: Attributes | None, context: Context) -> State:
    """Return the state of an evaluation in one ad, or in a match of two."""
    place = AdValue(my.codes, my.names)
    if target is not None:
        link(place, AdValue(target.codes, target.names))
    return State(context, place, read)


def value_of(code: Code, my: Attributes, target: Attributes | None, context: Context) -> Value:
    """Return the value of an expression.

    Raises EvaluationFailed.
    """
    if code.const is not UNKNOWN:
        return code.const  # type: ignore[return-value]
    return run(code, begin(my, target, context))


def run(code: Code, state: State) -> Value:
    """Return the value of an expression in a state.

    Raises EvaluationFailed.
    """
    try:
        return code.evaluate(state)
    except Failure as failure:
        raise failed(str(failure)) from None
    except RecursionError:
        raise failed(_EXPLODED) from None


def failed(message: str) -> EvaluationFailed:
    """Return the error for an evaluation without a value."""
    return EvaluationFailed(Diagnostic("classad-evaluation", message))


def matched(code: Code | None, my: Attributes, target: Attributes, context: Context) -> bool:
    """Say whether a Requirements is true in a match: no Requirements, no value and no boolean are not."""
    if code is None:
        return False
    try:
        return truth(value_of(code, my, target, context)) is True
    except EvaluationFailed:
        return False


def references_of(code: Code, ad: Attributes, *, internal: bool) -> list[str] | None:
    """Return the names an expression takes from its ad (``internal``) or leaves to others, sorted without case.

    None: HTCondor finds no answer, for a circle or for a selection from what is no ad.
    """
    state = begin(ad, None, Context())
    walk = Internal if internal else External
    try:
        return walk.of(state, state.my, code_tree(code), compile_node)
    except RecursionError:
        return None
