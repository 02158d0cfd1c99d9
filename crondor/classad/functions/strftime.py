"""The C library's strftime in the C locale, for fields that need not be a date (HTCondor: make_formatted_time)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import tzinfo
from typing import Final

from crondor.calendar import MONTHS, WEEKDAYS
from crondor.classad.times import DAY, Civil, days_of, mktime, standard_name

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
    "a": lambda at: _name(WEEKDAYS, at.weekday)[:3],
    "A": lambda at: _name(WEEKDAYS, at.weekday),
    "b": lambda at: _name(MONTHS[1:], at.month - 1)[:3],
    "B": lambda at: _name(MONTHS[1:], at.month - 1),
    "h": lambda at: _name(MONTHS[1:], at.month - 1)[:3],
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
    """Return a time as a format says; one that grows beyond HTCondor's buffer is cut to nothing."""
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
    if letter == "z":  # the fields say nothing of an offset
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
    """Return a number with zeros before it (``0``), blanks (``_``) or nothing (``-``)."""
    if pad == "-":
        return str(number)
    return str(number).rjust(size) if pad == "_" else str(number).zfill(size)


def _cased(text: str, flags: str, letter: str = "") -> str:
    """Return a text as ``^`` (capitals) and ``#`` (the other case) want it."""
    changed = "#" in flags
    if letter == "P" or (changed and letter in ("p", "Z")):
        return text.lower()
    return text.upper() if "^" in flags or (changed and letter in _CHANGED) else text
