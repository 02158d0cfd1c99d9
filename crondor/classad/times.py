"""Times as ClassAds read and print them; seconds are since 1970, UTC, and any integer is allowed.

HTCondor: Literal::MakeAbsTime, Literal::MakeRelTime.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo
from typing import Final, NamedTuple

from crondor.classad.values import AbsTime, LocalTime, RelTime, truncate32, wrap32

DAY: Final = 86400
_LAST = 253402214400  # the last day of the year 9999, where Python's zones end
_FIRST = -62135510400  # the second day of the year 1


class Civil(NamedTuple):
    """A moment as calendar fields; ``weekday`` from Sunday = 0, ``yearday`` from 0."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    weekday: int
    yearday: int


def days_of(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a date of the Gregorian calendar; month and day may be out of range."""
    year += (month - 1) // 12
    month = (month - 1) % 12 + 1
    shifted = year - (month < 3)
    era, of_era = divmod(shifted, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468 + day - 1


def civil(seconds: int) -> Civil:
    """Return the calendar fields of seconds since 1970."""
    days, rest = divmod(seconds, DAY)
    era, of_era = divmod(days + 719468, 146097)
    years = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * years + years // 4 - years // 100)
    moon = (5 * of_year + 2) // 153
    day = of_year - (153 * moon + 2) // 5 + 1
    month = moon + 3 if moon < 10 else moon - 9
    year = era * 400 + years + (month <= 2)
    hour, rest = divmod(rest, 3600)
    minute, second = divmod(rest, 60)
    return Civil(year, month, day, hour, minute, second, (days + 4) % 7, days - days_of(year, 1, 1))


def offset_at(zone: tzinfo, seconds: int) -> int:
    """Return the offset of a zone from UTC at a moment; beyond the years 1 to 9999 that of the nearest one in them."""
    return _whole(_local(zone, seconds).utcoffset())


def mktime(fields: int, zone: tzinfo) -> int:
    """Return the moment of fields taken as standard time, as C's mktime does; ``fields`` are its seconds in UTC."""
    moment = _local(zone, fields)
    return fields - _whole(moment.utcoffset()) + _whole(moment.dst())


def standard_name(zone: tzinfo, seconds: int) -> str:
    """Return the name of a zone's standard time at a moment, or the last one before it."""
    for months in range(24):
        moment = _local(zone, seconds - months * 30 * DAY)
        if not moment.dst():
            return moment.tzname() or ""
    return ""


def _local(zone: tzinfo, seconds: int) -> datetime:
    return datetime.fromtimestamp(max(_FIRST, min(seconds, _LAST)), zone)


def _whole(delta: timedelta | None) -> int:
    return 0 if delta is None else int(delta.total_seconds())


def settle(time: LocalTime, zone: tzinfo) -> AbsTime:
    """Return the moment of fields given without an offset.

    They are those of standard time; HTCondor then takes an hour off in summer, also where summer time is half an hour.
    """
    seconds = mktime(time.seconds, zone)
    moment = _local(zone, seconds)
    offset = _whole(moment.utcoffset())
    return AbsTime(seconds - (3600 if moment.dst() else 0), offset)


def print_abstime(time: AbsTime) -> str:
    """Return ``2020-01-31T12:00:00-00:00``; an offset of zero has a minus sign."""
    at = civil(time.seconds + time.offset)
    sign, size = ("+", time.offset) if time.offset > 0 else ("-", -time.offset)
    zone = f"{sign}{size // 3600:02d}:{size // 60 % 60:02d}"
    return f"{at.year}-{at.month:02d}-{at.day:02d}T{at.hour:02d}:{at.minute:02d}:{at.second:02d}{zone}"


def split_seconds(seconds: float) -> tuple[int, int, int, float]:
    """Return days, hours, minutes and seconds with fraction of a length that is not negative, in C's 32 bits."""
    whole = truncate32(seconds)
    hours = _rest(whole, DAY)
    minutes = _rest(hours, 3600)
    fraction = seconds - _floor(seconds)
    return _part(whole, DAY), _part(hours, 3600), _part(minutes, 60), _rest(minutes, 60) + fraction


def _part(number: int, by: int) -> int:
    return abs(number) // by * (-1 if number < 0 else 1)


def _rest(number: int, by: int) -> int:
    return abs(number) % by * (-1 if number < 0 else 1)


def _floor(number: float) -> float:
    return number if abs(number) >= 1e15 or number != number else float(number // 1)  # noqa: PLR0124 - a NaN


def print_reltime(time: float) -> str:
    """Return ``days+hh:mm:ss`` without the leading parts that are zero; a fraction is printed with %g."""
    sign = "-" if time < 0 else ""
    time = abs(time) if time < 0 else time
    days, hours, minutes, seconds = split_seconds(time)
    exact = time - _floor(time) == 0
    last = f"{truncate32(seconds):02d}" if exact else f"{seconds:02g}"
    if days:
        return f"{sign}{days}+{hours:02d}:{minutes:02d}:{last}"
    if hours:
        return f"{sign}{hours:02d}:{minutes:02d}:{last}"
    return f"{sign}{minutes:02d}:{last}" if minutes else sign + last


_ZONE = re.compile(r"([+-])([0-9]{2}):?([0-9]{2})\Z")
_SPACE = " \t\n\r\f\v"


def read_abstime(text: str) -> AbsTime | LocalTime | None:
    """Read a year and up to five fields of two digits, with or without an offset; None: not a time.

    The fields missing are zero, also the day, which is then the last of the month before.

    abstime = [^0-9]* year ([^0-9]* field)* [^0-9]* offset?
    year = field field
    field = [0-9] [0-9]
    offset = [zZ] | [-+] field ":"? field
    """
    offset: int | None = None
    end = len(text.rstrip(_SPACE)) - 1
    zone = _ZONE.search(text)
    if end > 0 and text[end] in "zZ":
        text, offset = text[:end] + text[end + 1 :], 0
    elif zone is not None and zone.start() > 0:
        text = text[: zone.start()]
        offset = (int(zone[2]) * 3600 + int(zone[3]) * 60) * (-1 if zone[1] == "-" else 1)
    fields = _fields(text)
    if fields is None or offset == -1:
        return None
    year, month, day, hour, minute, second = fields
    seconds = days_of(year, month, day) * DAY + hour * 3600 + minute * 60 + second
    if seconds == -1:  # what mktime answers for an error
        return None
    return LocalTime(seconds) if offset is None else AbsTime(seconds - offset, offset)


_DIGITS = re.compile(r"[0-9]+")


def _fields(text: str) -> list[int] | None:
    at = _next_digit(text, 0)
    if at > len(text) - 4:
        return None
    found = [_leading(text[at : at + 4])]
    at = _next_digit(text, at + 4)
    while len(found) < 6 and at <= len(text) - 2:
        found.append(_leading(text[at : at + 2]))
        at = _next_digit(text, at + 2)
    if at < len(text):
        return None
    defaults = [0, 1, 0, 0, 0, 0]
    return found + defaults[len(found) :]


def _next_digit(text: str, at: int) -> int:
    while at < len(text) and not "0" <= text[at] <= "9":
        at += 1
    return at


def _leading(text: str) -> int:
    digits = _DIGITS.match(text)
    return int(digits[0]) if digits else 0


def read_reltime(text: str) -> RelTime | None:
    """Read ``[-][[[days+]hh:]mm:]ss[.fff]`` or with the letters d, h, m, s; None: not a length of time.

    reltime = "-"? ([0-9]+ [dD+])? ([0-9]+ [hH:])? ([0-9]+ [mM:])? ([0-9]+ ("." [0-9]+)? [sS]?)?
    """
    rest = text.rstrip(_SPACE)
    seconds = 0.0
    if rest and rest[-1] in "sS0123456789":
        if rest[-1] in "sS":
            rest = rest[:-1]
        rest, seconds = _seconds(rest.rstrip(_SPACE))
    total = [0, 0, 0]
    for place, marks in enumerate(("mM:", "hH:", "dD+")):
        rest = rest.rstrip(_SPACE)
        if rest and rest[-1] in marks:
            rest, total[place] = _whole_number(rest[:-1].rstrip(_SPACE))
    rest = rest.rstrip(_SPACE)
    negative = rest.endswith("-")
    if negative:
        rest = rest[:-1].rstrip(_SPACE)
    if rest:
        return None
    minutes, hours, days = total
    whole = wrap32(wrap32(wrap32(days * DAY) + wrap32(hours * 3600)) + wrap32(minutes * 60))
    return RelTime((-1 if negative else 1) * (whole + seconds))


def _seconds(rest: str) -> tuple[str, float]:
    digits = len(rest) - len(rest.rstrip("0123456789"))
    before = rest[: len(rest) - digits]
    if before.endswith("."):
        before = before[:-1].rstrip("0123456789")
    number = rest[len(before) :]
    return before, float(number) if number.strip(".") else 0.0


def _whole_number(rest: str) -> tuple[str, int]:
    before = rest.rstrip("0123456789")
    number = int(rest[len(before) :] or 0) if len(rest) - len(before) < 20 else 1 << 31
    return before, number if number < 1 << 31 else 0
