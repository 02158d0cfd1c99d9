"""Functions of lists written in a string, ``"a, b, c"``.

HTCondor: stringListSize_func and its kin in src/condor_utils/compat_classad.cpp.
"""

from __future__ import annotations

from crondor.classad import regexp
from crondor.classad.convert import leading_number
from crondor.classad.errors import Failure
from crondor.classad.functions.registry import CallArguments, builtin, special
from crondor.classad.functions.strings import BLANKS, separator_class
from crondor.classad.scope import EvaluationState, Run, Value
from crondor.classad.text import lower
from crondor.classad.values import (
    ERROR,
    UNDEFINED,
    truncate,
)

_FLT_MAX = 3.4028234663852886e38
_FLT_MIN = 1.1754943508222875e-38


def items(text: str, separators: str) -> list[str]:
    """Return the items between separators, without the blanks around them and without empty ones."""
    pieces = separator_class(separators).split(text) if separators else [text]
    return [piece for piece in (piece.strip(BLANKS) for piece in pieces) if piece]


@builtin("stringListSize", 1, 2)
def _size(_state: EvaluationState, text: Value, separators: Value = ", ") -> Value:
    if not isinstance(text, str) or not isinstance(separators, str):
        return ERROR
    return len(items(text, separators))


def _declare_summary(name: str) -> None:
    @builtin(name, 1, 2)
    def summary(_state: EvaluationState, text: Value, separators: Value = ", ") -> Value:
        if not isinstance(text, str) or not isinstance(separators, str):
            return ERROR
        return _summary(name, items(text, separators))


for _name in ("stringListSum", "stringListAvg", "stringListMin", "stringListMax"):
    _declare_summary(_name)


def _summary(name: str, found: list[str]) -> Value:
    numbers: list[float] = []
    for item in found:
        number = leading_number(item)
        if number is None:
            return ERROR
        numbers.append(number)
    if not numbers:
        return 0.0 if name in ("stringListSum", "stringListAvg") else UNDEFINED
    if name in ("stringListSum", "stringListAvg"):
        total = 0.0
        for number in numbers:
            total += number
        total = total / len(numbers) if name == "stringListAvg" else total
    else:
        # The first bound is the greatest and the smallest positive float: upstream's defect, which reaches daemons.
        total = _FLT_MAX if name == "stringListMin" else _FLT_MIN
        for number in numbers:
            better = number < total if name == "stringListMin" else number > total
            total = number if better else total
    real = any(item.strip("+-0123456789") for item in found)
    return total if real else truncate(total)


_WHITE = ", \t\r\n"


def _strings(values: tuple[Value, ...]) -> list[str] | Value:
    """Return the arguments as strings, undefined as an empty one unless the first two both are."""
    if any(not isinstance(value, str) and value is not UNDEFINED for value in values):
        return ERROR
    if values[0] is UNDEFINED and values[1] is UNDEFINED:
        return UNDEFINED
    found = [value if isinstance(value, str) else "" for value in values]
    if len(values) < 3 or values[2] is UNDEFINED:
        found[2:] = [_WHITE]
    return found


def _declare_membership(name: str) -> None:
    folded = name[10] == "I"
    subset = "Subset" in name

    @builtin(name, 2, 3)
    def membership(_state: EvaluationState, *values: Value) -> Value:
        found = _strings(values)
        if not isinstance(found, list):
            return found
        fold = lower if folded else str
        sought, text, separators = found
        among = {fold(item) for item in items(text, separators)}
        if not subset:
            return fold(sought) in among
        if not sought:
            return True
        wanted = items(sought, separators)
        return bool(wanted) and all(fold(item) in among for item in wanted)


for _name in ("stringListMember", "stringListIMember", "stringListSubsetMatch", "stringListISubsetMatch"):
    _declare_membership(_name)


@builtin("stringList_regexpMember", 2, 4)
def _regexp_member(
    state: EvaluationState, pattern: Value, text: Value, separators: Value = ", ", options: Value = ""
) -> Value:
    if not (isinstance(pattern, str) and isinstance(text, str)):
        return ERROR
    if not (isinstance(separators, str) and isinstance(options, str)):
        return ERROR
    expression = regexp.compiled(pattern, options.lower())
    if expression is None:
        return ERROR
    found = items(text, separators)
    state.spend(len(found))
    if not found:
        return UNDEFINED
    return any(regexp.matches(state, expression, item) for item in found)


@special("stringListsIntersect")
def _intersect(call: CallArguments) -> Run:
    """Say whether two lists share an item; items keep their blanks, and a failing argument is only error."""
    runs = call.runs

    def intersect(state: EvaluationState) -> Value:
        cur, used, height = state.cur, state.used, len(state.stack)
        try:
            values = [run(state) for run in runs]
        except Failure:
            state.cur, state.used = cur, used
            del state.stack[height:]
            return ERROR
        if ERROR in values:
            return ERROR
        if UNDEFINED in values:
            return UNDEFINED
        if not all(isinstance(value, str) for value in values):
            return ERROR
        first, second, *rest = map(str, values)
        splitter = separator_class(rest[0] if rest and rest[0] else " ,")
        return not set(filter(None, splitter.split(first))).isdisjoint(filter(None, splitter.split(second)))

    return intersect if 2 <= len(runs) <= 3 else lambda _state: ERROR
