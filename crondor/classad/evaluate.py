"""One complete evaluation, and an explanation of its value.

HTCondor: ClassAd::EvaluateAttr, ClassAd::EvaluateExpr.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from crondor.classad.compile import code_of, compile_node, read
from crondor.classad.operators import truth
from crondor.classad.parser import unparse
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
    code_tree,
    link,
    print_value,
)
from crondor.classad.tree import (
    ERROR,
    MAX_STEPS,
    UNDEFINED,
    AdNode,
    Binary,
    ClassAdSyntaxError,
    EvaluationFailed,
    Exhausted,
    Failure,
    ListNode,
    Literal,
    Node,
    Reference,
    StackExhausted,
    Ternary,
    Unary,
    bare,
    children,
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
    """Return the value of an expression. Raises EvaluationFailed."""
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
    """Return the value of an expression in a state. Raises EvaluationFailed."""
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
    """Return whether an expression is true or a nonzero number; False if it has no value.

    An expression that refers to an attribute with an invalid text has no value.
    """
    try:
        return truth(value_of(code, my, target, context)) is True
    except (EvaluationFailed, ClassAdSyntaxError):
        return False


def matches(my: Attributes, target: Attributes, context: Context) -> bool:
    """Return whether an ad's Requirements accept another ad; without Requirements they do not."""
    code = my.codes.get("requirements")
    if code is None:
        return False
    try:
        asked = code if isinstance(code, Code) else read(code)
    except ClassAdSyntaxError:
        return False
    return holds(asked, my, target, context)


def symmetric_match(left: Attributes, right: Attributes, context: Context) -> bool:
    """Return whether two ads accept each other."""
    return matches(left, right, context) and matches(right, left, context)


def references_of(code: Code, ad: Attributes, *, internal: bool) -> list[str] | None:
    """Return the names an expression takes from its ad (``internal``) or leaves to others, sorted ignoring case.

    None: HTCondor finds no answer, for a circle or for a selection from something that is not an ad.
    """
    state = begin(ad, None, Context())
    walk = Internal if internal else External
    try:
        return walk.of(state, state.my, code_tree(code), compile_node, free=True)
    except (RecursionError, StackExhausted, Exhausted):
        return None


def members(value: ListValue, context: Context) -> list[Value]:
    """Return the values of a list's members, each in the ad where the list was found; a failing one is error."""
    return members_in(value, begin(EMPTY, None, context))


def members_in(value: ListValue, state: EvaluationState) -> list[Value]:
    """Return the values of a list's members within the rest of a state's work."""
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


_MOST = 2000  # parts shown of one expression
_DEEPEST = 60
_WORK = 200_000  # characters of parts, each of which is printed and evaluated as a whole


class Explanation(NamedTuple):
    """A part of an expression with its value and its own parts.

    ``value`` is None if evaluation fails or does not reach it (``reached`` is then false).
    """

    text: str
    value: Value | None
    parts: tuple[Explanation, ...] = ()
    reached: bool = True
    failure: str | None = None
    op: str | None = None

    @property
    def true(self) -> bool:
        """Whether the part counts as true."""
        return self.value is not None and truth(self.value) is True

    @property
    def shown(self) -> str:
        """The value as text."""
        if self.value is None:
            return self.failure or "not evaluated"
        return print_value(self.value)

    def reason(self) -> str | None:
        """Return the shortest reason why the whole is not true; None if it is.

        ``TARGET.Memory >= RequestMemory: 2048 >= 4096``
        """
        return None if self.true else "; ".join(_reasons(self))

    def lines(self, depth: int = 0) -> Iterator[str]:
        """Yield the tree as lines of text, parts indented under their whole."""
        yield f"{'  ' * depth}{self.text} -> {self.shown}"
        for part in self.parts:
            yield from part.lines(depth + 1)


def explain(code: Code, my: Attributes, target: Attributes | None, context: Context) -> Explanation:
    """Return the values of an expression's parts; none of them affects the others.

    Nested parts are shown as deep as the work allows: the longer the text, the fewer levels.
    """
    node = code_tree(code)
    deepest = max(1, min(_DEEPEST, _WORK // len(unparse(node))))
    return _Explainer(lambda: begin(my, target, context), deepest).part(node, 0)


class _Explainer:
    """Evaluates part after part, each from the beginning, with the work limit of one evaluation for all."""

    def __init__(self, begin_anew: Callable[[], EvaluationState], deepest: int) -> None:
        self.begin = begin_anew
        self.deepest = deepest
        self.left = _MOST
        self.steps = MAX_STEPS

    def part(self, node: Node, depth: int) -> Explanation:
        node = bare(node)
        self.left -= 1
        value, failure = self.value(node)
        parts: tuple[Explanation, ...] = ()
        if self.left > 0 and depth < self.deepest and not isinstance(node, (Literal, Reference, ListNode, AdNode)):
            parts = tuple(self.reached(node, depth))
        return Explanation(unparse(node), value, parts, failure=failure, op=_operator(node))

    def value(self, node: Node) -> tuple[Value | None, str | None]:
        state = self.begin()
        state.steps = self.steps
        try:
            return run(code_of(node), state), None
        except EvaluationFailed as problem:
            return None, problem.diagnostics[0].message
        finally:
            self.steps = state.steps

    def reached(self, node: Node, depth: int) -> Iterator[Explanation]:
        """Yield the parts in order; those that evaluation skips have no value."""
        done = False
        for at, child in enumerate(operands(node)):
            if done:
                yield Explanation(unparse(bare(child)), None, reached=False)
                continue
            found = self.part(child, depth + 1)
            yield found
            done = self.decides(node, found, at)

    def decides(self, node: Node, found: Explanation, at: int) -> bool:
        if isinstance(node, Binary) and node.op in ("&&", "||"):
            fact = None if found.value is None else truth(found.value)
            return found.value is ERROR or fact is (node.op == "||")
        if isinstance(node, Binary) and node.op == "?:":
            return found.value is not UNDEFINED
        return isinstance(node, Ternary) and at == 0 and found.value in (UNDEFINED, ERROR)


def operands(node: Node) -> list[Node]:
    """Return the operands of an operation; a chain of ``&&`` or ``||`` is one operation of many."""
    if isinstance(node, Ternary):
        return [node.test, node.yes, node.no]
    if not isinstance(node, Binary) or node.op not in ("&&", "||"):
        return list(children(node))
    found: list[Node] = []
    inner: Node = node
    while isinstance(inner, Binary) and inner.op == node.op:
        found.append(inner.right)
        inner = inner.left
        if isinstance(bare(inner), Binary):
            inner = bare(inner)
    return [inner, *reversed(found)]


def _operator(node: Node) -> str | None:
    if isinstance(node, (Binary, Unary)):
        return node.op
    return "? :" if isinstance(node, Ternary) else None


def _reasons(whole: Explanation) -> list[str]:
    """Return the parts that make the whole not true, each with its values."""
    parts = whole.parts
    if whole.op == "&&" and (decisive := _decisive(whole)):
        return min((_reasons(part) for part in decisive), key=lambda found: (len(found), len("".join(found))))
    if whole.op == "||" and parts:
        return [reason for part in parts if part.reached for reason in _reasons(part)]
    if whole.op == "? :" and len(parts) == 3:
        chosen = parts[1] if parts[0].true else parts[2]
        if chosen.reached:
            return _reasons(chosen)
    return [f"{whole.text}: {_operands_shown(whole)}"]


def _decisive(whole: Explanation) -> list[Explanation]:
    """Return the parts of an ``&&`` that are not true; for an undefined one those that are undefined, if any."""
    guilty = [part for part in whole.parts if part.reached and not part.true]
    return [part for part in guilty if whole.value is not UNDEFINED or part.value is UNDEFINED] or guilty


def _operands_shown(whole: Explanation) -> str:
    """Return the values of an operator's operands; for anything else the value of the whole."""
    parts = whole.parts
    if whole.op == "!" and parts:
        return parts[0].shown
    if len(parts) == 2 and whole.op not in (None, "[]", "?:"):
        return f"{parts[0].shown} {whole.op} {parts[1].shown}"
    return whole.shown
