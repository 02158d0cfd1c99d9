"""Functions of strings: joining, cutting, comparing, versions."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from crondor.classad import text as texts
from crondor.classad.code import constant, made_list
from crondor.classad.convert import grown, grown_list, to_integer, to_string
from crondor.classad.errors import Failure
from crondor.classad.functions.registry import Arguments, builtin, special
from crondor.classad.limits import MAX_STRING
from crondor.classad.scope import ListValue, Run, State, Value
from crondor.classad.values import (
    ERROR,
    UNDEFINED,
    Exceptional,
    wrap32,
)

BLANKS = " \t\n\r\f\v"


@special("strcat")
def _strcat(call: Arguments) -> Run:
    runs = call.runs

    def strcat(state: State) -> Value:
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
def _join(call: Arguments) -> Run:
    """Join strings by the first argument; one list, alone or after a separator, gives its members instead."""
    runs = call.runs

    def join(state: State) -> Value:
        sources = list(runs)
        if 0 < len(runs) <= 2:
            whole = runs[-1](state)
            if isinstance(whole, ListValue):
                grown_list(state, len(whole))
                before = runs[0] if len(runs) == 2 else constant("").evaluate
                sources = [before, *(member.evaluate for member in whole.members)]
        return _joined(state, sources)

    return join


def _joined(state: State, sources: list[Run]) -> Value:
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
def _to_upper(state: State, value: Value) -> Value:
    text = to_string(state, value)
    return texts.upper(text) if isinstance(text, str) else text


@builtin("toLower", 1)
def _to_lower(state: State, value: Value) -> Value:
    text = to_string(state, value)
    return texts.lower(text) if isinstance(text, str) else text


@builtin("substr", 2, 3)
def _substr(_state: State, text: Value, offset: Value, *rest: Value) -> Value:
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


def _compared(state: State, left: Value, right: Value, order: Callable[[str, str], int]) -> int | Exceptional:
    if left is UNDEFINED or right is UNDEFINED:
        return UNDEFINED
    first, second = to_string(state, left), to_string(state, right)
    return order(first, second) if isinstance(first, str) and isinstance(second, str) else ERROR


@builtin("strcmp", 2)
def _strcmp(state: State, left: Value, right: Value) -> Value:
    return _compared(state, left, right, texts.compare)


@builtin("stricmp", 2)
def _stricmp(state: State, left: Value, right: Value) -> Value:
    return _compared(state, left, right, texts.compare_folded)


def natural_order(left: str, right: str) -> int:
    """Return how HTCondor orders two version strings: runs of digits by value, longer runs of zeros first."""
    one, two = texts.to_bytes(left) + b"\0", texts.to_bytes(right) + b"\0"
    at = 0
    while one[at] == two[at]:
        if not one[at]:
            return 0
        at += 1
    plain = _signed(one[at]) - _signed(two[at])
    begin = at
    while begin and one[begin - 1 : begin].isdigit():
        begin -= 1
    if begin == at and not (one[at : at + 1].isdigit() and two[at : at + 1].isdigit()):
        return plain
    zeros, other_zeros = _zeros(one, begin), _zeros(two, begin)
    if zeros != other_zeros:
        return other_zeros - zeros
    if zeros:
        return plain
    digits, other_digits = _digits(one, begin), _digits(two, begin)
    return digits - other_digits or plain


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def _zeros(data: bytes, begin: int) -> int:
    end = begin
    while data[end] == 48:
        end += 1
    return end - begin - 1 if end > begin and not data[end : end + 1].isdigit() else end - begin


def _digits(data: bytes, begin: int) -> int:
    end = begin
    while data[end : end + 1].isdigit():
        end += 1
    return end - begin


def _declare_version(name: str) -> None:
    @builtin(name, 2)
    def version(state: State, left: Value, right: Value) -> Value:
        order = _compared(state, left, right, natural_order)
        which = name[-2:].upper()
        if isinstance(order, Exceptional) or which == "MP":
            return order
        return {"LE": order <= 0, "LT": order < 0, "GE": order >= 0, "GT": order > 0, "EQ": order == 0}[which]


for _name in ("versioncmp", "versionLE", "versionLT", "versionGE", "versionGT", "versionEQ"):
    _declare_version(_name)


@builtin("version_in_range", 3)
def _version_in_range(state: State, tested: Value, least: Value, most: Value) -> Value:
    if least is UNDEFINED or most is UNDEFINED:
        return UNDEFINED
    version, low, high = to_string(state, tested), to_string(state, least), to_string(state, most)
    if not (isinstance(version, str) and isinstance(low, str) and isinstance(high, str)):
        return ERROR
    return natural_order(low, version) <= 0 and natural_order(version, high) <= 0


@builtin("interval", 1)
def _interval(_state: State, value: Value) -> Value:
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
def _split_user_name(_state: State, name: Value) -> Value:
    if not isinstance(name, str):
        return ERROR
    user, _, domain = name.partition("@")
    return made_list([user, domain])


@builtin("splitSlotName", 1)
def _split_slot_name(_state: State, name: Value) -> Value:
    if not isinstance(name, str):
        return ERROR
    slot, at, machine = name.partition("@")
    return made_list([slot, machine] if at else ["", slot])


@lru_cache(maxsize=64)
def separator_class(separators: str) -> re.Pattern[str]:
    """Return what finds one of a string's characters."""
    return re.compile("[" + re.escape(separators) + "]")


@builtin("split", 1, 2)
def _split(state: State, text: Value, separators: Value = ", \t") -> Value:
    """Split at separators; two equal ones side by side, no blanks, have an empty string between them."""
    if not isinstance(text, str) or not isinstance(separators, str):
        return ERROR
    pieces: list[Value] = []
    last, before = 0, ""
    for match in separator_class(separators).finditer(text) if separators else ():
        at = match.start()
        character = match[0]
        if at > last:
            pieces.append(text[last:at])
        elif before == character and character not in BLANKS:
            pieces.append("")
        if character not in BLANKS:
            before = character
        last = at + 1
    if last < len(text):
        pieces.append(text[last:])
    grown_list(state, 4 * len(pieces))
    return made_list(pieces)
