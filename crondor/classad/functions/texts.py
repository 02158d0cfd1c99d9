"""Functions of strings: case, parts, comparison, regular expressions, lists written in a string.

HTCondor: stringListSize_func and its kin in src/condor_utils/compat_classad.cpp.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from crondor.classad import regexp
from crondor.classad import text as texts
from crondor.classad.functions.registry import CallArguments, attempt, builtin, special, wrong_count
from crondor.classad.scope import (
    Code,
    EvaluationState,
    ListValue,
    Run,
    Value,
    constant,
    grown,
    grown_list,
    leading_number,
    made_list,
    to_integer,
    to_string,
)
from crondor.classad.text import from_bytes, lower
from crondor.classad.tree import ERROR, MAX_STRING, UNDEFINED, Exceptional, Failure, truncate, wrap32

_SHORT = 200  # characters of texts whose pieces and order are cached
BLANKS = " \t\n\r\f\v"


# HTCondor: FunctionCall::strCat, FunctionCall::subString, FunctionCall::compareVersion.
@special("strcat")
def _strcat(call: CallArguments) -> Run:
    runs = call.runs

    def strcat(state: EvaluationState) -> Value:
        pieces: list[str] = []
        size = 0
        for run in runs:
            piece = to_string(state, run(state))
            if not isinstance(piece, str):
                return piece
            pieces.append(piece)
            size += len(piece)
            if size > MAX_STRING:
                raise Failure(f"a string grows beyond {MAX_STRING} characters")
        return texts.normal(grown(state, "".join(pieces)))

    return strcat


@special("join")
def _join(call: CallArguments) -> Run:
    """Join strings by the first argument; one list, alone or after a separator, gives its members instead."""
    runs = call.runs

    def join(state: EvaluationState) -> Value:
        sources = list(runs)
        if 0 < len(runs) <= 2:
            whole = runs[-1](state)
            if isinstance(whole, ListValue):
                grown_list(state, len(whole))
                before = runs[0] if len(runs) == 2 else constant("").evaluate
                sources = [before, *(member.evaluate for member in whole.members)]
        return _joined(state, sources)

    return join


def _joined(state: EvaluationState, sources: list[Run]) -> Value:
    pieces: list[str] = []
    separator, begun, defined, undefined = "", False, False, False
    size = 0
    for number, run in enumerate(sources):
        piece = to_string(state, run(state))
        if piece is UNDEFINED:
            undefined = True
        elif not isinstance(piece, str):
            return ERROR
        elif number == 0:
            separator = piece
        else:
            size += len(separator) + len(piece)
            if size > MAX_STRING:
                raise Failure(f"a string grows beyond {MAX_STRING} characters")
            if begun:
                pieces.append(separator)
            pieces.append(piece)
            begun = begun or piece != ""
            defined = True
    if undefined and not defined:
        return UNDEFINED
    return texts.normal(grown(state, "".join(pieces)))


def _cased(state: EvaluationState, value: Value, change: Callable[[str], str]) -> Value:
    text = to_string(state, value)
    return change(text) if isinstance(text, str) else text


builtin("toUpper", 1)(partial(_cased, change=texts.upper))
builtin("toLower", 1)(partial(_cased, change=texts.lower))


@builtin("substr", 2, 3)
def _substr(_state: EvaluationState, text: Value, offset: Value, *rest: Value) -> Value:
    if text is UNDEFINED or offset is UNDEFINED or UNDEFINED in rest:
        return UNDEFINED
    if not isinstance(text, str) or type(offset) is not int or any(type(value) is not int for value in rest):
        return ERROR
    data = texts.to_bytes(text)
    size, start = len(data), wrap32(offset)
    start = max(0, size + start) if start < 0 else min(start, size)
    length = size - start
    if rest:
        wanted = wrap32(int(rest[0]))  # type: ignore[arg-type]
        length = max(0, length + wanted) if wanted < 0 else min(wanted, length)
    return texts.from_bytes(data[start : start + length])


def _compared(state: EvaluationState, left: Value, right: Value, order: Callable[[str, str], int]) -> int | Exceptional:
    if left.__class__ is str and right.__class__ is str:
        return order(left, right)
    if left is UNDEFINED or right is UNDEFINED:
        return UNDEFINED
    first, second = to_string(state, left), to_string(state, right)
    return order(first, second) if isinstance(first, str) and isinstance(second, str) else ERROR


builtin("strcmp", 2)(partial(_compared, order=texts.compare))
builtin("stricmp", 2)(partial(_compared, order=texts.compare_folded))

_DIGITS = frozenset(b"0123456789")


def natural_order(left: str, right: str) -> int:
    """Return what versioncmp() does."""
    if left == right:
        return 0
    return _known_order(left, right) if len(left) + len(right) <= _SHORT else _order(left, right)


def _order(left: str, right: str) -> int:
    """Return how HTCondor orders two version strings: runs of digits by value, longer runs of zeros first."""
    one, two = texts.to_bytes(left) + b"\0", texts.to_bytes(right) + b"\0"
    at = next((at for at, (byte, other) in enumerate(zip(one, two, strict=False)) if byte != other), -1)
    if at < 0:
        return 0
    plain = _signed(one[at]) - _signed(two[at])
    begin = at
    while begin and one[begin - 1] in _DIGITS:
        begin -= 1
    if begin == at and not (one[at] in _DIGITS and two[at] in _DIGITS):
        return plain
    zeros, other_zeros = _zeros(one, begin), _zeros(two, begin)
    if zeros != other_zeros:
        return other_zeros - zeros
    if zeros:
        return plain
    digits, other_digits = _digits(one, begin), _digits(two, begin)
    return digits - other_digits or plain


_known_order = lru_cache(maxsize=1024)(_order)  # few versions, compared again and again


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def _zeros(data: bytes, begin: int) -> int:
    end = begin
    while data[end] == 48:
        end += 1
    return end - begin - 1 if end > begin and data[end] not in _DIGITS else end - begin


def _digits(data: bytes, begin: int) -> int:
    end = begin
    while data[end] in _DIGITS:
        end += 1
    return end - begin


builtin("versioncmp", 2)(partial(_compared, order=natural_order))


def _version(state: EvaluationState, left: Value, right: Value, test: Callable[[int, int], bool]) -> Value:
    order = _compared(state, left, right, natural_order)
    return order if isinstance(order, Exceptional) else test(order, 0)


for _which in ("LE", "LT", "GE", "GT", "EQ"):
    builtin(f"version{_which}", 2)(partial(_version, test=getattr(operator, _which.lower())))


@builtin("version_in_range", 3)
def _version_in_range(state: EvaluationState, tested: Value, least: Value, most: Value) -> Value:
    if least is UNDEFINED or most is UNDEFINED:
        return UNDEFINED
    version, low, high = to_string(state, tested), to_string(state, least), to_string(state, most)
    if not (isinstance(version, str) and isinstance(low, str) and isinstance(high, str)):
        return ERROR
    return natural_order(low, version) <= 0 and natural_order(version, high) <= 0


@builtin("interval", 1)
def _interval(_state: EvaluationState, value: Value) -> Value:
    number = to_integer(value)
    if type(number) is not int:
        return ERROR
    total = wrap32(number)
    sign, total = (-1 if total < 0 else 1), abs(total)
    days, total = divmod(total, 86400)
    hours, total = divmod(total, 3600)
    minutes, seconds = divmod(total, 60)
    if days:
        return f"{sign * days}+{hours:02d}:{minutes:02d}:{seconds:02d}"
    if hours:
        return f"{sign * hours}:{minutes:02d}:{seconds:02d}"
    return f"{sign * minutes}:{seconds:02d}" if minutes else str(sign * seconds)


@builtin("splitUserName", 1)
def _split_user_name(_state: EvaluationState, name: Value) -> Value:
    if not isinstance(name, str):
        return ERROR
    user, _, domain = name.partition("@")
    return made_list([user, domain])


@builtin("splitSlotName", 1)
def _split_slot_name(_state: EvaluationState, name: Value) -> Value:
    if not isinstance(name, str):
        return ERROR
    slot, at, machine = name.partition("@")
    return made_list([slot, machine] if at else ["", slot])


@lru_cache(maxsize=64)
def separator_class(separators: str) -> re.Pattern[str]:
    """Return what finds one of a string's characters."""
    return re.compile("[" + re.escape(separators) + "]")


@builtin("split", 1, 2)
def _split(state: EvaluationState, text: Value, separators: Value = ", \t") -> Value:
    """Split at separators; two equal adjacent ones, except blanks, have an empty string between them."""
    if not isinstance(text, str) or not isinstance(separators, str):
        return ERROR
    members = _split_short(text, separators) if len(text) <= _SHORT else _split_members(text, separators)
    grown_list(state, 4 * len(members))
    return ListValue(members, None, made=True)


def _split_members(text: str, separators: str) -> tuple[Code, ...]:
    pieces = separator_class(separators).split(text) if separators else [text]
    if "" in pieces:
        pieces = list(_without_blanks(pieces, text))
    return tuple(map(constant, pieces))


_split_short = lru_cache(maxsize=1024)(_split_members)  # the versions and names of a pool's machines are repeated


def _without_blanks(pieces: list[str], text: str) -> Iterator[str]:
    """Yield the pieces between separators, and an empty one between two equal adjacent separators, except blanks."""
    end, before = 0, ""
    for piece in pieces:
        end += len(piece)
        character = text[end : end + 1]  # the separator after the piece; none after the last one
        if piece or (character and character == before and character not in BLANKS):
            yield piece
        if character not in BLANKS:
            before = character
        end += 1


def _checked(*values: Value) -> Value | None:
    """Return the result of wrong arguments: error before undefined; None: all are usable."""
    if ERROR in values:
        return ERROR
    return UNDEFINED if UNDEFINED in values else None


@builtin("regexp", 2, 3)
def _regexp(state: EvaluationState, pattern: Value, text: Value, options: Value = "") -> Value:
    wrong = _checked(pattern, text, options)
    if wrong is not None:
        return wrong
    if not (isinstance(pattern, str) and isinstance(text, str) and isinstance(options, str)):
        return ERROR
    expression = regexp.compiled(pattern, options)
    found = None if expression is None else regexp.searched(state, expression, text)
    return ERROR if found is None else found


@builtin("regexpMember", 2, 3)
def _regexp_member(state: EvaluationState, pattern: Value, whole: Value, options: Value = "") -> Value:
    wrong = _checked(pattern, whole, options)
    if wrong is not None:
        return wrong
    if not (isinstance(pattern, str) and isinstance(whole, ListValue) and isinstance(options, str)):
        return ERROR
    expression = regexp.compiled(pattern, options)
    unknown = False
    state.spend(len(whole.members))
    for code in whole.members:
        member = attempt(state, code.evaluate)
        if member is UNDEFINED:
            unknown = True
        elif not isinstance(member, str):
            return ERROR
        elif expression is not None and regexp.matches(state, expression, member):
            return True
    return UNDEFINED if unknown else False


def _declare_substitution(name: str, more: str) -> None:
    @builtin(name, 3, 4)
    def substitution(state: EvaluationState, pattern: Value, text: Value, new: Value, options: Value = "") -> Value:
        wrong = _checked(pattern, text, new, options)
        if wrong is not None:
            return wrong
        if not (isinstance(pattern, str) and isinstance(text, str)):
            return ERROR
        if not (isinstance(new, str) and isinstance(options, str)):
            return ERROR
        options += more
        expression = regexp.compiled(pattern, options)
        if expression is None:
            return ERROR
        made = regexp.replaced(state, expression, text, new, whole="f" in options, every="g" in options)
        return ERROR if made is None else grown(state, from_bytes(made))


for _pattern_name, _more in (("regexps", ""), ("replace", "f"), ("replaceAll", "fg")):
    _declare_substitution(_pattern_name, _more)

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


def _summary(name: str, _state: EvaluationState, text: Value, separators: Value = ", ") -> Value:
    if not isinstance(text, str) or not isinstance(separators, str):
        return ERROR
    found = items(text, separators)
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
        # The first limit is the greatest and the smallest positive float: an upstream defect, also in the daemons.
        total = _FLT_MAX if name == "stringListMin" else _FLT_MIN
        for number in numbers:
            better = number < total if name == "stringListMin" else number > total
            total = number if better else total
    real = any(item.strip("+-0123456789") for item in found)
    return total if real else truncate(total)


for _list_name in ("stringListSum", "stringListAvg", "stringListMin", "stringListMax"):
    builtin(_list_name, 1, 2)(partial(_summary, _list_name))


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


for _list_name in ("stringListMember", "stringListIMember", "stringListSubsetMatch", "stringListISubsetMatch"):
    _declare_membership(_list_name)


@builtin("stringList_regexpMember", 2, 4)
def _list_regexp_member(
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
    """Return whether two lists share an item; items keep their blanks, and a failing argument is only error."""
    runs = call.runs

    def intersect(state: EvaluationState) -> Value:
        values = [attempt(state, run) for run in runs]
        wrong = _checked(*values)
        if wrong is not None:
            return wrong
        if not all(isinstance(value, str) for value in values):
            return ERROR
        first, second, *rest = map(str, values)
        splitter = separator_class(rest[0] if rest and rest[0] else " ,")
        return not set(filter(None, splitter.split(first))).isdisjoint(filter(None, splitter.split(second)))

    return intersect if 2 <= len(runs) <= 3 else wrong_count
