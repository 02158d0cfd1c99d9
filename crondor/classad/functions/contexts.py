"""Functions that see expressions and not only their values: choice, evaluation elsewhere, texts, maps.

HTCondor: FunctionCall::ifThenElse, FunctionCall::eval, evalInEachContext_func, userMap_func.
"""

from __future__ import annotations

from crondor.classad.code import (
    made_list,
)
from crondor.classad.convert import to_string
from crondor.classad.errors import ClassAdSyntaxError, Failure, StackExhausted
from crondor.classad.functions.registry import CallArguments, builtin, special
from crondor.classad.limits import MAX_DEPTH
from crondor.classad.lookup import find, find_bare, root_of
from crondor.classad.operators import truth
from crondor.classad.parser import parse_expression
from crondor.classad.references import External
from crondor.classad.regexp import compiled, searched
from crondor.classad.scope import NOWHERE, AdValue, Code, Compiler, EvaluationState, ListValue, Run, Value
from crondor.classad.show import code_tree
from crondor.classad.text import lower
from crondor.classad.tree import ListNode, Reference, Ternary
from crondor.classad.unparse import UnparseForm, unparse
from crondor.classad.values import (
    ERROR,
    UNDEFINED,
)
from crondor.source import Source


def _error(_state: EvaluationState) -> Value:
    return ERROR


@special("ifThenElse")
def _if_then_else(call: CallArguments) -> Run:
    if len(call.runs) != 3:
        return _error
    test, yes, no = call.runs

    def if_then_else(state: EvaluationState) -> Value:
        value = test(state)
        chosen = value if value.__class__ is bool else truth(value)
        if chosen is None:
            return UNDEFINED if value is UNDEFINED else ERROR
        return yes(state) if chosen else no(state)

    return if_then_else


@builtin("debug", 1)
def _debug(_state: EvaluationState, value: Value) -> Value:
    return value


@special("eval")
def _eval(call: CallArguments) -> Run:
    if len(call.runs) != 1:
        return _error
    (run,) = call.runs
    offset = call.offset

    def evaluated(state: EvaluationState) -> Value:
        text = to_string(state, run(state))
        if not isinstance(text, str):
            return ERROR
        if state.used + offset >= MAX_DEPTH:
            raise Failure("eval() of eval() without end")
        code = _read(state, text, call.compiler)
        if code is None:
            return ERROR
        state.used += offset + 1
        state.spend(code.cost)
        value = code.evaluate(state)
        state.used -= offset + 1
        return value

    return evaluated


def _read(state: EvaluationState, text: str, compiler: Compiler) -> Code | None:
    """Return the expression of a text; after a conditional HTCondor does not look whether more follows."""
    try:
        return state.read(text)
    except StackExhausted:
        raise
    except ClassAdSyntaxError:
        pass
    try:
        node = parse_expression(Source(text), partial=True)
    except ClassAdSyntaxError:
        return None
    return Code(node, compiler) if isinstance(node, Ternary) else None


@special("unparse")
def _unparse(call: CallArguments) -> Run:
    """Return the text of an attribute of the ad at hand; the argument's own text is its name, MY.x and all."""
    if len(call.nodes) != 1 or not isinstance(call.nodes[0], Reference):
        return _error
    name = lower(unparse(call.nodes[0], UnparseForm.PRETTY, faithful=True))

    def unparsed(state: EvaluationState) -> Value:
        code = state.cur.codes.get(name)
        return "" if code is None else unparse(code_tree(code), UnparseForm.PRETTY, faithful=True)

    return unparsed


def _dereferenced(state: EvaluationState, node: Reference, scope: Run | None) -> tuple[AdValue, Code] | None:
    """Return what a reference refers to.

    As HTCondor does, what follows goes on in the ad where it was found, or in the last one searched.
    """
    name = lower(node.name)
    start = state.cur
    if scope is not None:
        value = scope(state)
        if not isinstance(value, AdValue):
            return None
        start = value
    elif node.absolute:
        start = root_of(state)
    if start is NOWHERE:
        return None
    found = find_bare(state, start, name) if scope is None and not node.absolute else find(state, start, name)
    state.cur = found[0] if found is not None else _outermost(state, start)
    return found


def _outermost(state: EvaluationState, place: AdValue) -> AdValue:
    root = root_of(state)
    while place is not root and place.parent is not None:
        place = place.parent
    return place


@special("unresolved")
def _unresolved(call: CallArguments) -> Run:
    """Return the names an attribute's expression leaves to others, or whether one of them matches a pattern."""
    if not 1 <= len(call.nodes) <= 2 or not isinstance(call.nodes[0], Reference):
        return _error
    node = call.nodes[0]
    scope = None if node.scope is None else Code(node.scope, call.compiler).evaluate

    def unresolved(state: EvaluationState) -> Value:
        found = _dereferenced(state, node, scope)
        if found is None:
            return UNDEFINED
        expression = None
        if len(call.runs) == 2:
            pattern = call.runs[1](state)
            if not isinstance(pattern, str):
                raise Failure("unresolved() with a pattern that is no string")
            expression = compiled(pattern, "i")
            if expression is None:
                return ERROR
        names = External.of(state, found[0], code_tree(found[1]), call.compiler, free=False) or []
        plain = [name[7:] if lower(name[:7]) == "target." else name for name in names]
        if expression is None:
            return ",".join(plain)
        return any(searched(state, expression, name, empty=False) for name in plain)

    return unresolved


@special("evalInEachContext", "countMatches")
def _each_context(call: CallArguments) -> Run:
    if len(call.nodes) != 2:
        return _error
    node, where = call.nodes
    scope = Code(node.scope, call.compiler).evaluate if isinstance(node, Reference) and node.scope is not None else None
    whole = Code(node, call.compiler)
    literal = tuple(Code(item, call.compiler) for item in where.items) if isinstance(where, ListNode) else None
    counting = call.name == "countmatches"

    def each_context(state: EvaluationState) -> Value:
        code = whole
        if isinstance(node, Reference):
            found = _dereferenced(state, node, scope)
            code = whole if found is None else found[1]
        places = literal
        if places is None:
            ads = _attempt(state, call.runs[1])
            if isinstance(ads, ListValue):
                places = ads.members
            elif ads is UNDEFINED:
                return 0 if counting else UNDEFINED
            else:
                return ERROR
        state.spend(len(places) * code.cost)
        values = [_in_context(state, code, place) for place in places]
        return sum(truth(value) is True for value in values) if counting else made_list(values)

    return each_context


def _attempt(state: EvaluationState, run: Run) -> Value:
    cur, used, height = state.cur, state.used, len(state.stack)
    try:
        return run(state)
    except Failure:
        del state.stack[height:]
        return ERROR
    finally:
        state.cur, state.used = cur, used


def _in_context(state: EvaluationState, code: Code, place: Code) -> Value:
    """Return the value of an expression in a nested ad, which in a match sees the other ad its own sees."""
    ad = _attempt(state, place.evaluate)
    if not isinstance(ad, AdValue):
        return UNDEFINED if ad is UNDEFINED else ERROR
    inside = AdValue(ad.codes, ad.names, ad.parent)
    around = ad.parent
    if around is not None and around.matched:
        inside.other = around.other
    elif ad.matched:
        inside = ad
    cur, used = state.cur, state.used
    state.cur, state.used = inside, used + 1
    value = _attempt(state, code.evaluate)
    state.cur, state.used = cur, used
    return value


@special("userMap")
def _user_map(call: CallArguments) -> Run:
    runs = call.runs
    if not 2 <= len(runs) <= 4:
        return _error

    def user_map(state: EvaluationState) -> Value:
        name, user, *rest = [run(state) for run in runs]
        default = rest[1] if len(rest) == 2 else UNDEFINED
        if not isinstance(name, str) or not isinstance(user, str):
            return ERROR if name is ERROR or user is ERROR else default
        groups = state.context.maps(name, user) if state.context.maps else None
        if groups is None:
            return default
        if not rest:
            return groups
        return _one_group(groups, rest[0]) or default

    return user_map


def _one_group(groups: str, wanted: Value) -> str | None:
    """Return a group of a list by its name, or else the first."""
    found = [group.strip() for group in groups.split(",") if group.strip()]
    preferred = [group for group in found if isinstance(wanted, str) and lower(group) == lower(wanted)]
    return next(iter(preferred or found), None)


@special("userHome")
def _user_home(call: CallArguments) -> Run:
    """Return the default, as HTCondor does for a user it does not find: the machine's users are not looked up."""
    runs = call.runs

    def user_home(state: EvaluationState) -> Value:
        if not 1 <= len(runs) <= 2:
            raise Failure("userHome() takes a user and a default")
        default = _attempt(state, runs[1]) if len(runs) == 2 else ""
        user = _attempt(state, runs[0])
        if isinstance(default, str) and default:
            return default
        return UNDEFINED if user is UNDEFINED or isinstance(user, str) else ERROR

    return user_home
