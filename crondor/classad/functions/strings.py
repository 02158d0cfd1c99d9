"""Functions of strings: joining, cutting, comparing, versions.

HTCondor: FunctionCall::strCat, FunctionCall::subString, FunctionCall::compareVersion.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from crondor.classad import text as texts
from crondor.classad.code import constant, made_list
from crondor.classad.convert import grown, grown_list, to_integer, to_string
from crondor.classad.errors import Failure
from crondor.classad.functions.registry import CallArguments, builtin, special
from crondor.classad.limits import MAX_STRING
from crondor.classad.scope import Code, EvaluationState, ListValue, Run, Value
from crondor.classad.values import (
    ERROR,
    UNDEFINED,
    Exceptional,
    wrap32,
)

_SHORT = 200  # characters of texts whose pieces and order are kept
BLANKS = " \t\n\r\f\v"


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


@builtin("toUpper", 1)
def _to_upper(state: EvaluationState, value: Value) -> Value:
    text = to_string(state, value)
    return texts.upper(text) if isinstance(text, str) else text


@builtin("toLower", 1)
def _to_lower(state: EvaluationState, value: Value) -> Value:
    text = to_string(state, value)
    return texts.lower(text) if isinstance(text, str) else text


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


@builtin("strcmp", 2)
def _strcmp(state: EvaluationState, left: Value, right: Value) -> Value:
    return _compared(state, left, right, texts.compare)


@builtin("stricmp", 2)
def _stricmp(state: EvaluationState, left: Value, right: Value) -> Value:
    return _compared(state, left, right, texts.compare_folded)


_DIGITS = frozenset(b"0123456789")


def natural_order(left: str, right: str) -> int:
    """Return what versioncmp() does."""
    if left == right:
        return 0
    return _known_order(left, right) if len(left) + len(right) <= _SHORT else _order(left, right)


def _order(left: str, right: str) -> int:
    """Return how HTCondor orders two version strings: runs of digits by value, longer runs of zeros first."""
    one, two = texts.to_bytes(left) + b"\0", texts.to_bytes(right) + b"\0"
    at = 0
    for at, (byte, other) in enumerate(zip(one, two, strict=False)):  # noqa: B007 - where they part
        if byte != other:
            break
        if not byte:
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


_known_order = lru_cache(maxsize=1024)(_order)  # of few versions, again and again


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


@builtin("versioncmp", 2)
def _version_order(state: EvaluationState, left: Value, right: Value) -> Value:
    return _compared(state, left, right, natural_order)


def _declare_version(which: str, test: Callable[[int, int], bool]) -> None:
    @builtin(f"version{which}", 2)
    def version(state: EvaluationState, left: Value, right: Value) -> Value:
        order = _compared(state, left, right, natural_order)
        return order if isinstance(order, Exceptional) else test(order, 0)


for _which in ("LE", "LT", "GE", "GT", "EQ"):
    _declare_version(_which, getattr(operator, _which.lower()))


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
    """Split at separators; two equal ones side by side, no blanks, have an empty string between them."""
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


_split_short = lru_cache(maxsize=1024)(_split_members)  # the versions and names of a pool's machines come again


def _without_blanks(pieces: list[str], text: str) -> Iterator[str]:
    """Yield the pieces between separators, and the empty ones that stand between two equal separators, no blanks."""
    end, before = 0, ""
    for piece in pieces:
        end += len(piece)
        character = text[end : end + 1]  # the separator after the piece; none after the last one
        if piece or (character and character == before and character not in BLANKS):
            yield piece
        if character not in BLANKS:
            before = character
        end += 1
