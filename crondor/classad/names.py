"""The closures that find a name and evaluate what it stands for (HTCondor: AttributeReference::FindExpr)."""

from __future__ import annotations

from crondor.classad.code import (
    constant,
)
from crondor.classad.errors import Exhausted
from crondor.classad.limits import MAX_DEPTH
from crondor.classad.lookup import find, find_bare, root_of
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
)
from crondor.classad.values import (
    ERROR,
    UNDEFINED,
)


def enter(state: EvaluationState, place: AdValue, name: str, code: Code, offset: int) -> Value:
    """Return the value of an attribute found in an ad; one that is under way already is undefined.

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
    """Return what evaluates ``name``."""

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
        # What follows is enter(), written out: a chain of attributes must not cost two of Python's frames a link.
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
    """Return what evaluates ``TARGET.name``; ``generic`` evaluates TARGET where it has to be searched for."""
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
    """Return what evaluates ``MY.name``; an attribute called MY itself is evaluated by ``generic``."""
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
    """Return what evaluates ``.name``, a name of the outermost ad."""

    def absolute(state: EvaluationState) -> Value:
        found = find(state, root_of(state), name)
        return UNDEFINED if found is None else enter(state, found[0], name, found[1], offset)

    return absolute


def select(run: Run, name: str, offset: int, *, counting: bool) -> Run:
    """Return what evaluates ``expression.name``."""

    def chosen(state: EvaluationState) -> Value:
        value = run(state)
        if not isinstance(value, AdValue) or value.__class__ is CopiedAd:
            return selected(state, value, name, offset)
        # As in selected(), which would cost a frame of Python's more for each ad in an ad.
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
    """Return a value taken out of its ad: names in it are no longer looked up around it."""
    if isinstance(value, AdValue):
        return AdValue(value.codes, value.names, NOWHERE)
    if isinstance(value, ListValue):
        return ListValue(value.members, None, made=value.made)
    return value
