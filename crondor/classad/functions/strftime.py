"""The C library's strftime in the C locale, for fields that need not be a date."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, tzinfo
from typing import Final

from crondor.classad.times import DAY, Civil, days_of, settle
from crondor.classad.values import LocalTime

_DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
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


def _name(names: tuple[str, ...], index: int) -> str:
    return names[index] if 0 <= index < len(names) else "?"


def _hour12(at: Civil) -> int:
    return (at.hour - 1) % 12 + 1 if at.hour > 12 else at.hour or 12


_WORDS: Final[dict[str, Callable[[Civil], str]]] = {
    "a": lambda at: _name(_DAYS, at.weekday)[:3],
    "A": lambda at: _name(_DAYS, at.weekday),
    "b": lambda at: _name(_MONTHS, at.month - 1)[:3],
    "B": lambda at: _name(_MONTHS, at.month - 1),
    "h": lambda at: _name(_MONTHS, at.month - 1)[:3],
    "p": lambda at: "PM" if at.hour > 11 else "AM",
    "P": lambda at: "pm" if at.hour > 11 else "am",
    "n": lambda _at: "\n",
    "t": lambda _at: "\t",
    "%": lambda _at: "%",
    "z": lambda _at: "+0000",
}
_NUMBERS: Final[dict[str, tuple[Callable[[Civil], int], int, str]]] = {
    "C": (lambda at: at.year // 100, 2, "0"),
    "d": (lambda at: at.day, 2, "0"),
    "e": (lambda at: at.day, 2, " "),
    "g": (lambda at: iso_week(at)[0] % 100, 2, "0"),
    "G": (lambda at: iso_week(at)[0], 1, "0"),
    "H": (lambda at: at.hour, 2, "0"),
    "I": (_hour12, 2, "0"),
    "j": (lambda at: at.yearday + 1, 3, "0"),
    "k": (lambda at: at.hour, 2, " "),
    "l": (_hour12, 2, " "),
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
    """Return a time as a format says; one that grows beyond HTCondor's buffer is cut to nothing."""
    text = _DIRECTIVE.sub(lambda match: _directive(at, match, zone), form[: 8 * _LONGEST])
    return text if len(text) <= _LONGEST else ""


def _directive(at: Civil, match: re.Match[str], zone: tzinfo) -> str:
    flags, width, _, letter = match.groups()
    if letter in _TEXTS:
        text = _DIRECTIVE.sub(lambda inner: _directive(at, inner, zone), _TEXTS[letter])
        return _padded(text, flags, width, " ")
    if letter in _WORDS:
        return _padded(_WORDS[letter](at), flags, width, " ")
    if letter == "s":
        seconds = days_of(at.year, at.month, at.day) * DAY + at.hour * 3600 + at.minute * 60 + at.second
        moment = settle(LocalTime(seconds), zone)
        return _padded(str(moment.seconds), flags, width, "0")
    if letter == "Z":
        return _padded(_zone_name(zone), flags, width, " ")
    if letter not in _NUMBERS:
        return match[0]
    value, digits, pad = _NUMBERS[letter]
    number = value(at)
    if "-" in flags:
        return str(number)
    pad = " " if "_" in flags else "0" if "0" in flags else pad
    size = max(digits, min(int(width[:_WIDEST] or 0), _LONGEST + 1))
    sign, number = ("-", -number) if number < 0 else ("", number)
    body = str(number)
    return sign + body.rjust(size - len(sign), pad) if pad == "0" else (sign + body).rjust(size)


def _zone_name(zone: tzinfo) -> str:
    """Return the name of a zone's standard time: the fields say nothing of daylight saving."""
    for month in (1, 7):
        moment = datetime(1970, month, 1, tzinfo=zone)
        if not moment.dst():
            return moment.tzname() or ""
    return ""


def _padded(text: str, flags: str, width: str, pad: str) -> str:
    if "^" in flags:
        text = text.upper()
    elif "#" in flags:
        text = text.swapcase() if text.isupper() else text.upper()
    return text.rjust(min(int(width[:_WIDEST] or 0), _LONGEST + 1), "0" if "0" in flags else pad)
