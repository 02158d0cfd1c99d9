"""Trees to closures: each node, and each way to find a name, becomes a function of the state."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from crondor.classad import operators, shapes
from crondor.classad import text as texts
from crondor.classad.functions import CallArguments, find_function
from crondor.classad.operators import joined, operation
from crondor.classad.parser import parse_expression
from crondor.classad.scope import (
    BEYOND,
    NOWHERE,
    OUT_OF_STEPS,
    UNKNOWN,
    UNMEASURED,
    AdValue,
    Code,
    CopiedAd,
    CopiedList,
    EvaluationState,
    ListValue,
    Run,
    Value,
    constant,
    find,
    find_bare,
    literal_value,
    root_of,
)
from crondor.classad.tokens import settle
from crondor.classad.tree import (
    DEEPER,
    ERROR,
    MAX_CACHED,
    MAX_CACHED_TEXT,
    MAX_DEPTH,
    UNDEFINED,
    AdNode,
    Binary,
    Call,
    Exhausted,
    Failure,
    ListNode,
    Literal,
    LocalTime,
    Node,
    Reference,
    Ternary,
    Unary,
    wrap32,
)
from crondor.diagnostics import Source


def enter(state: EvaluationState, place: AdValue, name: str, code: Code, offset: int) -> Value:
    """Return the value of an attribute found in an ad; one that is being evaluated already is undefined.

    Raises Failure, Exhausted.
    """
    const = code.const
    if const is not UNKNOWN:
        return const  # type: ignore[return-value]
    stack = state.stack
    for ad, under_way in stack:
        if ad is place and under_way == name:
            return UNDEFINED
    state.steps -= code.cost
    if state.steps < 0:
        raise Exhausted(OUT_OF_STEPS)
    if code.height is UNMEASURED:
        code.prepare()
    cur, used = state.cur, state.used
    stack.append((place, name))
    state.cur = place
    state.used = depth = used + offset + 1
    value = code.run(state) if depth + code.height <= MAX_DEPTH else code.evaluate(state)
    state.cur = cur
    state.used = used
    stack.pop()
    return value


def bare_name(name: str, offset: int) -> Run:
    """Return a closure that evaluates ``name``."""

    def bare(state: EvaluationState) -> Value:
        place = state.cur
        code = place.codes.get(name)
        if code.__class__ is not Code:
            found = find_bare(state, place, name)
            if found is None:
                return UNDEFINED
            place, code = found
        const = code.const
        if const is not UNKNOWN:
            return const  # type: ignore[return-value]
        # This is enter(), inlined: a chain of attributes must not cost two of Python's frames a link.
        stack = state.stack
        for ad, under_way in stack:
            if ad is place and under_way == name:
                return UNDEFINED
        state.steps -= code.cost
        if state.steps < 0:
            raise Exhausted(OUT_OF_STEPS)
        if code.height is UNMEASURED:
            code.prepare()
        cur, used = state.cur, state.used
        stack.append((place, name))
        state.cur = place
        state.used = depth = used + offset + 1
        value = code.run(state) if depth + code.height <= MAX_DEPTH else code.evaluate(state)
        state.cur = cur
        state.used = used
        stack.pop()
        return value

    return bare


def target_name(name: str, offset: int, generic: Run) -> Run:
    """Return a closure for ``TARGET.name``; ``generic`` evaluates TARGET if it has to be searched for."""
    beyond = name in BEYOND

    def target(state: EvaluationState) -> Value:
        place = state.cur.target
        if place is None:
            return selected(state, generic(state), name, offset)
        code = place.codes.get(name)
        if code.__class__ is not Code:
            if code is None and not beyond:
                return UNDEFINED
            found = find(state, place, name)
            if found is None:
                return UNDEFINED
            place, code = found
        const = code.const
        if const is not UNKNOWN:
            return const  # type: ignore[return-value]
        return enter(state, place, name, code, offset)

    return target


def my_name(name: str, which: str, offset: int, generic: Run) -> Run:
    """Return a closure for ``MY.name``; an attribute called MY itself is evaluated by ``generic``."""
    beyond = name in BEYOND

    def my(state: EvaluationState) -> Value:
        place = state.cur
        if which in place.codes or place is NOWHERE:
            return selected(state, generic(state), name, offset)
        code = place.codes.get(name)
        if code.__class__ is not Code:
            if code is None and not beyond and place.matched:
                return UNDEFINED
            found = find(state, place, name)
            if found is None:
                return UNDEFINED
            place, code = found
        const = code.const
        if const is not UNKNOWN:
            return const  # type: ignore[return-value]
        return enter(state, place, name, code, offset)

    return my


def root_name(name: str, offset: int) -> Run:
    """Return a closure for ``.name``, a name of the outermost ad."""

    def absolute(state: EvaluationState) -> Value:
        found = find(state, root_of(state), name)
        return UNDEFINED if found is None else enter(state, found[0], name, found[1], offset)

    return absolute


def select(run: Run, name: str, offset: int, *, counting: bool) -> Run:
    """Return a closure for ``expression.name``."""

    def chosen(state: EvaluationState) -> Value:
        value = run(state)
        if not isinstance(value, AdValue) or value.__class__ is CopiedAd:
            return selected(state, value, name, offset)
        # As in selected(), which would cost one more Python frame for each nested ad.
        found = find(state, value, name)
        return UNDEFINED if found is None else enter(state, found[0], name, found[1], offset)

    def counted(state: EvaluationState) -> Value:
        return ERROR if state.used + offset >= MAX_DEPTH else chosen(state)

    return counted if counting else chosen


def selected(state: EvaluationState, value: Value, name: str, offset: int) -> Value:
    """Return an attribute of an ad and of the ads around it, or the list of that attribute of a list's members."""
    if value.__class__ in _COPIED and name not in _OUTERMOST:
        return UNDEFINED
    if isinstance(value, AdValue):
        found = find(state, value, name)
        return UNDEFINED if found is None else enter(state, found[0], name, found[1], offset)
    if isinstance(value, ListValue):
        return _mapped(state, value, name, offset)
    return UNDEFINED if value is UNDEFINED else ERROR


_COPIED = frozenset((CopiedAd, CopiedList))
_OUTERMOST = frozenset(("root", "toplevel"))


def _mapped(state: EvaluationState, value: ListValue, name: str, offset: int) -> Value:
    state.spend(40 * len(value.members))
    state.used += offset + 1
    found = [_unbound(selected(state, member.evaluate(state), name, 0)) for member in value.members]
    state.used -= offset + 1
    return ListValue(tuple(map(constant, found)), None)


def _unbound(value: Value) -> Value:
    """Return a value removed from its ad: names in it are no longer looked up around it."""
    if isinstance(value, AdValue):
        return AdValue(value.codes, value.names, NOWHERE)
    if isinstance(value, ListValue):
        return ListValue(value.members, None, made=value.made)
    return value


def read(text: str, *, old: bool = False) -> Code:
    """Return the expression of a text, cached; ``old`` is that of parse_expression. Raises ClassAdSyntaxError."""
    if len(text) > MAX_CACHED_TEXT:
        return code_of(parse_expression(Source(text), old=old))
    return _read_old(text) if old else _read(text)


@lru_cache(maxsize=MAX_CACHED)
def _read(text: str) -> Code:
    code = code_of(shapes.literal(text) or parse_expression(Source(text)))
    code.text = text
    return code


@lru_cache(maxsize=MAX_CACHED)
def _read_old(text: str) -> Code:
    return code_of(parse_expression(Source(text), old=True))


def code_of(node: Node) -> Code:
    """Return a tree as an expression to evaluate."""
    return Code(node, compile_node)


def compile_node(node: Node, offset: int, *, counting: bool = False) -> Run:
    """Return the closure of a node that is ``offset`` operators below its expression's top.

    ``counting`` closures compare the depth with HTCondor's limit where its evaluator does.
    """
    return _COMPILERS[type(node)](node, offset, counting=counting)


def _counted(run: Run, deepest: int) -> Run:
    def count(state: EvaluationState) -> Value:
        if state.used + deepest >= MAX_DEPTH:
            raise Failure(TOO_DEEP)
        return run(state)

    return count


TOO_DEEP: Final = f"evaluation goes deeper than the {MAX_DEPTH} operators and attributes HTCondor allows"


def _literal(node: Literal, *_: int, **__: bool) -> Run:
    value = node.value
    if isinstance(value, LocalTime):
        time = value
        return lambda state: settle(time, state.context.zone)
    found = literal_value(value)
    return lambda _state: found


def _unary(node: Unary, offset: int, *, counting: bool) -> Run:
    signs: list[str] = []
    inner: Node = node
    while isinstance(inner, Unary):
        signs.append(inner.op)
        inner = inner.operand
    depth = offset + len(signs)
    if counting and depth > MAX_DEPTH:
        return _fail
    run = _applied([sign for sign in signs if sign != "()"], compile_node(inner, depth, counting=counting))
    return _counted(run, depth - 1) if counting else run


def _applied(signs: list[str], operand: Run) -> Run:
    if not signs:
        return operand
    if signs == ["!"]:

        def negation(state: EvaluationState) -> Value:
            value = operand(state)
            return not value if value.__class__ is bool else operators.unary("!", value)

        return negation
    inside_out = tuple(reversed(signs))

    def signed(state: EvaluationState) -> Value:
        value = operand(state)
        for sign in inside_out:
            value = operators.unary(sign, value)
        return value

    return signed


def _fail(_state: EvaluationState) -> Value:
    raise Failure(TOO_DEEP)


def _binary(node: Binary, offset: int, *, counting: bool) -> Run:
    if node.op in ("&&", "||"):
        return _logical(node, offset, counting=counting)
    if node.op == "?:":
        return _elvis(node, offset, counting=counting)
    if node.op == "[]":
        return _postfix(node, offset, counting=counting)
    parts: list[tuple[str, Node]] = []
    inner: Node = node
    while isinstance(inner, Binary) and inner.op in _PLAIN:
        parts.append((inner.op, inner.right))
        inner = inner.left
    count = len(parts)
    if counting and offset + count > MAX_DEPTH:
        return _fail
    run = compile_node(inner, offset + count, counting=counting)
    steps = [(op, part, compile_node(part, offset + at, counting=counting)) for at, (op, part) in enumerate(parts, 1)]
    if count <= _NESTED_STEPS:
        for op, part, right in reversed(steps):
            run = operation(op, run, part, right)
    else:
        run = _chain(run, tuple((op, right) for op, _, right in reversed(steps)))
    return _counted(run, offset + count - 1) if counting else run


_NESTED_STEPS: Final = 4  # longer chains are walked in a loop, since nested closures use Python's stack
_PLAIN: Final = frozenset(
    ["+", "-", "*", "/", "%", "<<", ">>", ">>>", "<", "<=", ">", ">=", "==", "!=", "=?=", "=!=", "&", "|", "^"]
)


def _chain(first: Run, steps: tuple[tuple[str, Run], ...]) -> Run:
    binary = operators.binary

    def chain(state: EvaluationState) -> Value:
        value = first(state)
        for op, part in steps:
            value = binary(op, value, part(state))
        return value

    return chain


def _logical(node: Binary, offset: int, *, counting: bool) -> Run:
    parts: list[Node] = []
    inner: Node = node
    while isinstance(inner, Binary) and inner.op == node.op:
        parts.append(inner.right)
        inner = inner.left
    count = len(parts)
    if counting and offset + count > MAX_DEPTH:
        return _fail
    runs = [compile_node(part, offset + at + 1, counting=counting) for at, part in enumerate(parts)]
    runs.append(compile_node(inner, offset + count, counting=counting))
    run = joined(tuple(reversed(runs)), ends=node.op == "||")
    return _counted(run, offset + count - 1) if counting else run


def _elvis(node: Binary, offset: int, *, counting: bool) -> Run:
    tries: list[tuple[int, Run]] = []
    inner: Node = node
    while isinstance(inner, Binary) and inner.op == "?:":
        offset += 1
        tries.append((offset - 1, compile_node(inner.left, offset, counting=counting)))
        inner = inner.right
    tries.append((offset - 1, compile_node(inner, offset, counting=counting)))

    def elvis(state: EvaluationState) -> Value:
        value: Value = UNDEFINED
        for depth, part in tries:
            if counting and state.used + depth >= MAX_DEPTH:
                raise Failure(TOO_DEEP)
            value = part(state)
            if value is not UNDEFINED:
                break
        return value

    return elvis


def _ternary(node: Ternary, offset: int, *, counting: bool) -> Run:
    arms: list[tuple[int, Run, Run]] = []
    inner: Node = node
    while isinstance(inner, Ternary):
        offset += 1
        test = compile_node(inner.test, offset, counting=counting)
        arms.append((offset - 1, test, compile_node(inner.yes, offset, counting=counting)))
        inner = inner.no
    last = compile_node(inner, offset, counting=counting)

    def ternary(state: EvaluationState) -> Value:
        for at, (depth, test, yes) in enumerate(arms):
            if counting and state.used + depth >= MAX_DEPTH:
                raise Failure(TOO_DEEP)
            value = test(state)
            chosen = operators.truth(value)
            if chosen:
                return yes(state)
            if chosen is None:
                if value is UNDEFINED or value is ERROR:
                    return value
                return _no_test(state, yes, arms[at + 1 :], last)
        return last(state)

    return ternary


def _no_test(state: EvaluationState, yes: Run, rest: list[tuple[int, Run, Run]], last: Run) -> Value:
    """Return error for a test that is not a boolean; both choices are evaluated, for they may fail."""
    yes(state)
    if rest:
        rest[0][1](state)
    else:
        last(state)
    return ERROR


def _reference(node: Reference, offset: int, *, counting: bool) -> Run:
    name = texts.lower(node.name)
    if node.scope is None:
        run = root_name(name, offset) if node.absolute else bare_name(name, offset)
        return _counted(run, offset) if counting else run
    scope = node.scope
    if isinstance(scope, Reference) and scope.scope is None and not scope.absolute and not counting:
        which = texts.lower(scope.name)
        if which == "target":
            return target_name(name, offset, bare_name("target", offset + 1))
        if which in ("my", "self"):
            return my_name(name, which, offset, bare_name(which, offset + 1))
    return _postfix(node, offset, counting=counting)


def _postfix(node: Node, offset: int, *, counting: bool) -> Run:
    """Compile ``a.b[c].d`` from the inside out, so that a long one does not use Python's stack."""
    steps: list[Reference | Binary] = []
    inner = node
    while True:
        if isinstance(inner, Reference) and inner.scope is not None:
            steps.append(inner)
            inner = inner.scope
        elif isinstance(inner, Binary) and inner.op == "[]":
            steps.append(inner)
            inner = inner.left
        else:
            break
    if offset + len(steps) > MAX_DEPTH:
        return _fail if any(isinstance(step, Binary) for step in steps) else lambda _state: ERROR
    run = compile_node(inner, offset + len(steps), counting=counting)
    for at in range(len(steps) - 1, -1, -1):
        step, depth = steps[at], offset + at
        if isinstance(step, Reference):
            run = select(run, texts.lower(step.name), depth, counting=counting)
        else:
            run = _subscript(run, compile_node(step.right, depth + 1, counting=counting), depth)
            run = _counted(run, depth) if counting else run
    return run


def _subscript(left: Run, right: Run, offset: int) -> Run:
    def subscript(state: EvaluationState) -> Value:
        whole, index = left(state), right(state)
        if whole is ERROR or index is ERROR:
            return ERROR
        if whole is UNDEFINED or index is UNDEFINED:
            return UNDEFINED
        if isinstance(whole, ListValue) and index.__class__ is int:
            return _member(state, whole, wrap32(index), offset)
        if isinstance(whole, AdValue) and isinstance(index, str):
            value = _attribute(state, whole, texts.lower(index))
            return _copied(value) if state.context.faithful else value
        return ERROR

    return subscript


def _member(state: EvaluationState, whole: ListValue, index: int, offset: int) -> Value:
    if not 0 <= index < len(whole.members):
        return ERROR
    if state.used + offset + 1 >= MAX_DEPTH:  # a member is one deeper than the subscript
        return ERROR
    code = whole.members[index]
    if code.const is not UNKNOWN:
        value: Value = code.const  # type: ignore[assignment]
    else:
        value = isolated(state, code, NOWHERE if whole.scope is None else whole.scope, offset + 1)
    if whole.__class__ is CopiedList and isinstance(value, (AdValue, ListValue)):
        return _GONE if isinstance(value, AdValue) else CopiedList((), None)
    return value


def _copied(value: Value) -> Value:
    """Return the result of a subscript by a name in HTCondor 25.14 (Operation::_doOperation, ClassAd::EvaluateAttr).

    That is a copy, which belongs to no ad and is freed before a name is looked up in it.
    """
    if isinstance(value, AdValue):
        return CopiedAd(value.codes, value.names)
    if isinstance(value, ListValue):
        return CopiedList(value.members, None, made=value.made)
    return value


_GONE: Final = CopiedAd({}, {})


def isolated(state: EvaluationState, code: Code, place: AdValue, offset: int) -> Value:
    """Return the value of an expression in an ad; a failure is the value error, as in HTCondor's subscripts."""
    cur, used, height = state.cur, state.used, len(state.stack)
    state.cur, state.used = place, used + offset + 1
    try:
        return code.evaluate(state)
    except Failure:
        return ERROR
    finally:
        state.cur, state.used = cur, used
        del state.stack[height:]


def _attribute(state: EvaluationState, whole: AdValue, name: str) -> Value:
    code = whole.codes.get(name)
    if code is None:
        return UNDEFINED
    if (whole, name) in state.stack:
        return UNDEFINED
    state.stack.append((whole, name))
    value = isolated(state, code if isinstance(code, Code) else state.read(code), whole, 0)
    state.stack.pop()
    return value


def _call(node: Call, offset: int, *, counting: bool) -> Run:
    function = find_function(node.name)
    if function is None:
        return lambda _state: ERROR
    deeper = 1 if node.name.lower() in DEEPER else 0
    runs = tuple(compile_node(argument, offset + deeper, counting=counting) for argument in node.arguments)
    if deeper and counting:
        runs = tuple(_counted(run, offset) for run in runs)
    return function(CallArguments(node.name.lower(), node.arguments, runs, offset, compile_node))


def _list(node: ListNode, *_: int, **__: bool) -> Run:
    members = tuple(code_of(item) for item in node.items)
    nested = {at: compile_node(item, 0) for at, item in enumerate(node.items) if isinstance(item, _NESTED)}
    if not nested:
        return lambda state: ListValue(members, state.cur)

    def outer(state: EvaluationState) -> Value:
        # A nested list or ad belongs to the ad it is written in, wherever a function evaluates the members.
        made = [constant(nested[at](state)) if at in nested else code for at, code in enumerate(members)]
        return ListValue(tuple(made), state.cur)

    return outer


def _ad(node: AdNode, *_: int, **__: bool) -> Run:
    codes = {texts.lower(name): code_of(item) for name, item in node.items}
    names = {texts.lower(name): name for name, _ in node.items}

    def ad(state: EvaluationState) -> Value:
        # The same text in the same place is the same ad: circular references are detected by identity.
        key = (id(codes), id(state.cur))
        if state.ads is None:
            state.ads = {}
        made = state.ads.get(key)
        if made is None:
            made = state.ads[key] = AdValue(codes, names, state.around())
        return made

    return ad


_NESTED: Final = (ListNode, AdNode)
_COMPILERS: Final[dict[type, Callable[..., Run]]] = {
    Literal: _literal,
    Reference: _reference,
    Unary: _unary,
    Binary: _binary,
    Ternary: _ternary,
    Call: _call,
    ListNode: _list,
    AdNode: _ad,
}
