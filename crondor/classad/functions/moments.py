"""Functions of times: now and here as the context says, fields, formats.

HTCondor: FunctionCall::getField, FunctionCall::splitTime, FunctionCall::formatTime.
"""

from __future__ import annotations

from typing import Final

from crondor.classad.code import constant
from crondor.classad.errors import Failure
from crondor.classad.functions.registry import CallArguments, builtin, special
from crondor.classad.functions.strftime import strftime
from crondor.classad.lookup import as_code
from crondor.classad.scope import AdValue, EvaluationState, Run, Value
from crondor.classad.text import normal
from crondor.classad.times import Civil, civil, days_of, offset_at, split_seconds
from crondor.classad.values import (
    ERROR,
    UNDEFINED,
    AbsTime,
    RelTime,
    truncate32,
    wrap32,
)


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
    days, hours, minutes, rest = split_seconds(abs(seconds) if seconds < 0 else seconds)
    if seconds < 0:
        if days > 0:
            days = -days
        elif hours > 0:
            hours = -hours
        elif minutes > 0:
            minutes = -minutes
        else:
            rest = -rest
    return _ad({"Type": "RelativeTime", "Days": days, "Hours": hours, "Minutes": minutes, "Seconds": rest})


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

    return format_time if len(runs) < 3 else lambda _state: ERROR


def _formatted(state: EvaluationState, at: Civil, form: str) -> Value:
    return normal(strftime(at, form, state.context.zone))


def _from_fields(state: EvaluationState, fields: AdValue) -> Civil:
    """Return the fields of an ad, those that are no integers as zero; weekday and day of the year follow from them."""
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

    return abs_time if len(runs) < 3 else lambda _state: ERROR


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
