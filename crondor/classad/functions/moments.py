"""Functions of times: now and here according to the context, fields, and strftime's formats.

HTCondor: FunctionCall::getField, FunctionCall::splitTime, FunctionCall::formatTime.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import tzinfo
from typing import Final

from crondor.calendar import MONTHS, WEEKDAYS
from crondor.classad.functions.registry import CallArguments, builtin, special, wrong_count
from crondor.classad.scope import AdValue, EvaluationState, Run, Value, as_code, constant
from crondor.classad.text import normal
from crondor.classad.tokens import DAY, Civil, civil, days_of, mktime, offset_at, split_seconds, standard_name
from crondor.classad.tree import ERROR, UNDEFINED, AbsTime, Failure, RelTime, truncate32, wrap32

_DIRECTIVE: Final = re.compile(r"%([-_0^#]*)([0-9]*)([EO]?)([\s\S]|\Z)")
_LONGEST: Final = 1022
_WIDEST: Final = 4

_TEXTS: Final[dict[str, str]] = {
    "c": "%a %b %e %H:%M:%S %Y",
    "D": "%m/%d/%y",
    "x": "%m/%d/%y",
    "F": "%Y-%m-%d",
    "r": "%I:%M:%S %p",
    "R": "%H:%M",
    "T": "%H:%M:%S",
    "X": "%H:%M:%S",
}


def _name_at(names: tuple[str, ...], index: int) -> str:
    return names[index] if 0 <= index < len(names) else "?"


def _hour12(at: Civil) -> int:
    return (at.hour - 1) % 12 + 1 if at.hour > 12 else at.hour or 12


_WORDS: Final[dict[str, Callable[[Civil], str]]] = {
    "a": lambda at: _name_at(WEEKDAYS, at.weekday)[:3],
    "A": lambda at: _name_at(WEEKDAYS, at.weekday),
    "b": lambda at: _name_at(MONTHS[1:], at.month - 1)[:3],
    "B": lambda at: _name_at(MONTHS[1:], at.month - 1),
    "h": lambda at: _name_at(MONTHS[1:], at.month - 1)[:3],
    "p": lambda at: "PM" if at.hour > 11 else "AM",
    "P": lambda at: "pm" if at.hour > 11 else "am",
    "n": lambda _at: "\n",
    "t": lambda _at: "\t",
    "%": lambda _at: "%",
}
_NUMBERS: Final[dict[str, tuple[Callable[[Civil], int], int, str]]] = {
    "C": (lambda at: at.year // 100, 1, "0"),
    "d": (lambda at: at.day, 2, "0"),
    "e": (lambda at: at.day, 2, "_"),
    "g": (lambda at: iso_week(at)[0] % 100, 2, "0"),
    "G": (lambda at: iso_week(at)[0], 1, "0"),
    "H": (lambda at: at.hour, 2, "0"),
    "I": (_hour12, 2, "0"),
    "j": (lambda at: at.yearday + 1, 3, "0"),
    "k": (lambda at: at.hour, 2, "_"),
    "l": (_hour12, 2, "_"),
    "m": (lambda at: at.month, 2, "0"),
    "M": (lambda at: at.minute, 2, "0"),
    "S": (lambda at: at.second, 2, "0"),
    "u": (lambda at: (at.weekday - 1) % 7 + 1, 1, "0"),
    "U": (lambda at: (at.yearday - at.weekday + 7) // 7, 2, "0"),
    "V": (lambda at: iso_week(at)[1], 2, "0"),
    "w": (lambda at: at.weekday, 1, "0"),
    "W": (lambda at: (at.yearday - (at.weekday - 1) % 7 + 7) // 7, 2, "0"),
    "y": (lambda at: at.year % 100, 2, "0"),
    "Y": (lambda at: at.year, 1, "0"),
}
_KNOWN: Final = frozenset("szZ") | _TEXTS.keys() | _WORDS.keys() | _NUMBERS.keys()
_REFUSED: Final = {"E": frozenset("aAbBdDeFgGhHIjklmMSUVwW"), "O": frozenset("aAcDFxXY")}
_CHANGED: Final = frozenset("aAbBh")


def iso_week(at: Civil) -> tuple[int, int]:
    """Return the year and number of the week by ISO 8601."""
    thursday = days_of(at.year, 1, 1) + at.yearday - (at.weekday - 1) % 7 + 3
    year = at.year
    if thursday < days_of(year, 1, 1):
        year -= 1
    elif thursday >= days_of(year + 1, 1, 1):
        year += 1
    return year, (thursday - days_of(year, 1, 1)) // 7 + 1


def strftime(at: Civil, form: str, zone: tzinfo) -> str:
    """Return a formatted time; one that exceeds HTCondor's buffer is empty."""
    text = _DIRECTIVE.sub(lambda match: _directive(at, match, zone), form[: 8 * _LONGEST])
    return text if len(text) <= _LONGEST else ""


def _directive(at: Civil, match: re.Match[str], zone: tzinfo) -> str:
    """Return what one directive prints; flags, width and modifiers are those of glibc."""
    flags, digits, modifier, letter = match.groups()
    pad = next((flag for flag in reversed(flags) if flag in "-_0"), "")
    width = min(int(digits[:_WIDEST] or 0), _LONGEST + 1)
    filler = "0" if pad == "0" else " "
    if letter in _REFUSED.get(modifier, ()) or letter not in _KNOWN:
        return _cased(match[0], flags, letter if letter in ("b", "h") else "").rjust(width, filler)
    if letter in _NUMBERS:
        value, least, usual = _NUMBERS[letter]
        return _number(value(at), max(least, width), pad or usual).rjust(width)
    if letter == "z":  # the fields have no offset
        return "+".rjust(width, filler) + _number(0, max(4, width), pad or "0").rjust(width)
    if letter in _TEXTS:
        text = _DIRECTIVE.sub(lambda inner: _directive(at, inner, zone), _TEXTS[letter])
    elif letter in _WORDS:
        text = _WORDS[letter](at)
    else:
        seconds = days_of(at.year, at.month, at.day) * DAY + at.hour * 3600 + at.minute * 60 + at.second
        text = str(mktime(seconds, zone)) if letter == "s" else standard_name(zone, seconds)
    return _cased(text, flags, letter).rjust(width, filler)


def _number(number: int, size: int, pad: str) -> str:
    """Return a number padded with zeros (``0``), blanks (``_``) or nothing (``-``)."""
    if pad == "-":
        return str(number)
    return str(number).rjust(size) if pad == "_" else str(number).zfill(size)


def _cased(text: str, flags: str, letter: str = "") -> str:
    """Return a text in capitals for the flag ``^`` or in the other case for ``#``."""
    changed = "#" in flags
    if letter == "P" or (changed and letter in ("p", "Z")):
        return text.lower()
    return text.upper() if "^" in flags or (changed and letter in _CHANGED) else text


@builtin("time", 0)
def _time(state: EvaluationState) -> Value:
    return state.context.now


@builtin("currentTime", 0)
def _current_time(state: EvaluationState) -> Value:
    now = state.context.now
    return AbsTime(now, offset_at(state.context.zone, now))


@builtin("timeZoneOffset", 0)
def _time_zone_offset(state: EvaluationState) -> Value:
    return RelTime(float(offset_at(state.context.zone, state.context.now)))


def _local(state: EvaluationState, seconds: int) -> Civil:
    return civil(seconds + offset_at(state.context.zone, seconds))


@builtin("dayTime", 0)
def _day_time(state: EvaluationState) -> Value:
    at = _local(state, state.context.now)
    return RelTime(float(at.hour * 3600 + at.minute * 60 + at.second))


_FIELDS: Final = {
    "getYear": "year",
    "getMonth": "month",
    "getDayOfYear": "yearday",
    "getDayOfMonth": "day",
    "getDayOfWeek": "weekday",
    "getHours": "hour",
    "getMinutes": "minute",
    "getSeconds": "second",
    "getDays": "",
}
_LENGTHS: Final = {
    "getDays": (1 << 40, 86400),
    "getHours": (86400, 3600),
    "getMinutes": (3600, 60),
    "getSeconds": (60, 1),
}


def _declare_field(name: str, field: str) -> None:
    @builtin(name, 1)
    def get_field(state: EvaluationState, value: Value) -> Value:
        if isinstance(value, AbsTime) and field:
            return int(getattr(_local(state, value.seconds), field))
        if isinstance(value, RelTime) and name in _LENGTHS:
            within, unit = _LENGTHS[name]
            seconds = truncate32(value.seconds)
            return abs(seconds) % within // unit * (-1 if seconds < 0 else 1)
        return ERROR


for _name, _field in _FIELDS.items():
    _declare_field(_name, _field)


@builtin("splitTime", 1)
def _split_time(state: EvaluationState, value: Value) -> Value:
    if value is UNDEFINED:
        return UNDEFINED
    fields = None if isinstance(value, AdValue) else _split(state, value)
    return ERROR if fields is None else fields


def _split(state: EvaluationState, value: Value) -> AdValue | None:
    """Return the ad of a time's fields; None: not a time."""
    if isinstance(value, RelTime):
        return _split_length(value.seconds)
    if type(value) is int or type(value) is float:
        seconds = value if type(value) is int else truncate32(value)
        value = AbsTime(int(seconds), offset_at(state.context.zone, int(seconds)))
    if not isinstance(value, AbsTime):
        return None
    at = civil(value.seconds + value.offset)
    fields: dict[str, Value] = {
        "Type": "AbsoluteTime",
        "Year": at.year,
        "Month": at.month,
        "Day": at.day,
        "Hours": at.hour,
        "Minutes": at.minute,
        "Seconds": at.second,
        "Offset": value.offset,
    }
    return _ad(fields)


def _split_length(seconds: float) -> AdValue:
    """Return the ad of a length's fields; only the highest that is not zero bears the sign, as in HTCondor."""
    parts: list[int | float] = list(split_seconds(abs(seconds) if seconds < 0 else seconds))
    if seconds < 0:
        highest = next((at for at, part in enumerate(parts[:-1]) if part > 0), -1)
        parts[highest] = -parts[highest]
    return _ad({"Type": "RelativeTime", **dict(zip(("Days", "Hours", "Minutes", "Seconds"), parts, strict=True))})


def _ad(fields: dict[str, Value]) -> AdValue:
    codes = {name.lower(): constant(value) for name, value in fields.items()}
    return AdValue(codes, {name.lower(): name for name in fields})


@special("formatTime")
def _format_time(call: CallArguments) -> Run:
    runs = call.runs

    def format_time(state: EvaluationState) -> Value:
        if not runs:
            return _formatted(state, _local(state, state.context.now), "%c")
        value = runs[0](state)
        if isinstance(value, RelTime):
            return ERROR
        fields = value if isinstance(value, AdValue) else _split(state, value)
        if fields is None:
            return ERROR
        form = runs[1](state) if len(runs) > 1 else "%c"
        return _formatted(state, _from_fields(state, fields), form) if isinstance(form, str) else ERROR

    return format_time if len(runs) < 3 else wrong_count


def _formatted(state: EvaluationState, at: Civil, form: str) -> Value:
    return normal(strftime(at, form, state.context.zone))


def _from_fields(state: EvaluationState, fields: AdValue) -> Civil:
    """Return the fields of an ad, zero for non-integers; weekday and day of the year are computed."""
    second, minute, hour, day, month, year = (
        _field_of(state, fields, name) for name in ("seconds", "minutes", "hours", "day", "month", "year")
    )
    year = 1900 if year is None else year
    month = 1 if month is None else month
    day = day or 0
    first = days_of(year, 1, 1)
    today = days_of(year, month, day)
    return Civil(year, month, day, hour or 0, minute or 0, second or 0, (today + 4) % 7, today - first)


def _field_of(state: EvaluationState, fields: AdValue, name: str) -> int | None:
    code = fields.codes.get(name)
    if code is None:
        return None
    cur = state.cur
    state.cur = fields
    try:
        value = as_code(state.read, fields.codes, name, code).evaluate(state)
    except Failure:
        return None
    finally:
        state.cur = cur
    return wrap32(value) if type(value) is int else None


@special("absTime")
def _abs_time(call: CallArguments) -> Run:
    runs = call.runs

    def abs_time(state: EvaluationState) -> Value:
        if not runs:
            return _current_time(state)
        value = runs[0](state)
        offset = None
        if len(runs) == 2:
            offset = _offset(runs[1](state))
            if offset is None:
                return ERROR
        return _moment(state, value, offset)

    return abs_time if len(runs) < 3 else wrong_count


def _offset(value: Value) -> int | None:
    if type(value) is int:
        return wrap32(value)
    if type(value) is float:
        return truncate32(value)
    return truncate32(value.seconds) if isinstance(value, RelTime) else None


def _moment(state: EvaluationState, value: Value, offset: int | None) -> Value:
    if isinstance(value, (AbsTime, str)) or value is UNDEFINED:
        return value  # a string that is not a literal is left alone
    if type(value) is int:
        seconds = wrap32(value)
    elif type(value) is float:
        seconds = truncate32(value)
    elif isinstance(value, RelTime):
        seconds = truncate32(value.seconds)
    else:
        return ERROR
    if offset is None:
        offset = offset_at(state.context.zone, seconds)
    if offset == -1 and type(value) is int:
        raise Failure("absTime() with an offset of -1")
    return AbsTime(seconds, offset)


@builtin("relTime", 1, 2)
def _rel_time(_state: EvaluationState, value: Value, *rest: Value) -> Value:
    if rest:
        return ERROR
    if isinstance(value, RelTime) or value is UNDEFINED:
        return value
    if type(value) is int:
        return RelTime(float(wrap32(value)))
    if type(value) is float:
        return RelTime(value)
    if isinstance(value, AbsTime):
        return RelTime(float(value.seconds))
    return RelTime(0.0) if isinstance(value, str) else ERROR
