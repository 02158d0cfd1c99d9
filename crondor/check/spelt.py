"""What was probably meant by an expression that cannot be read: another operator, another unit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

# A string, in which nothing is an operator; one that is not closed takes the rest, and is looked at once.
STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*("?)')
_OPERATORS: Final = re.compile(
    r"===|!==|=>|=<|<>|(?<![=<>!?])=(?![=?!<>])|(?<![\w.$])(?:and|or|not)(?![\w.(])", re.IGNORECASE
)
_MEANT: Final[Mapping[str, str]] = {
    "=": "==",
    "===": "=?=",
    "!==": "=!=",
    "=>": ">=",
    "=<": "<=",
    "<>": "!=",
    "and": "&&",
    "or": "||",
    "not": "!",
}
_AMOUNT: Final = re.compile(
    r"(?<![\w.$])(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:\.\d*)?|\.\d+)[ \t]*(?P<unit>[A-Za-z]+)?(?![\w(.])"
)
_TIMES: Final = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86400),
    **dict.fromkeys(("w", "week", "weeks"), 604800),
}
_SIZES: Final = {letter: 1024**power for power, letter in enumerate("kmgtp", 1)}
_SIZE: Final = re.compile(
    r"(?P<letter>[kmgtp])(?:i?b{1,2}|bytes?|ib)?|(?P<word>kilo|mega|giga|tera|peta)(?:byte)?s?", re.IGNORECASE
)
_COUNTED: Final = re.compile(r"(?:cpu|core|thread|slot|gpu)s?", re.IGNORECASE)


class Replacement(NamedTuple):
    """What stands at an offset of a text, and what to write in its place."""

    start: int
    end: int
    text: str


def replaced(text: str, changes: Sequence[Replacement]) -> str:
    """Return a text with some of its pieces replaced; they are in order and do not overlap."""
    done, at = [], 0
    for change in changes:
        done += [text[at : change.start], change.text]
        at = change.end
    return "".join((*done, text[at:]))


def operators_of(text: str) -> list[Replacement]:
    """Return the operators of other languages in an expression, each with ClassAds' own."""
    found = _outside(text, _OPERATORS)
    return [Replacement(each.start(), each.end(), _MEANT[each[0].lower()]) for each in found]


def amounts(text: str, key: str) -> list[Replacement]:
    """Return the numbers with units, or with commas in them, each with the plain number that is meant.

    ``key`` is the command or attribute whose expression it is: it says what unit a plain number has.
    """
    found: list[Replacement] = []
    base, at = _base(key, 0), 0
    for each in _outside(text, _AMOUNT):
        number, unit = each["number"], each["unit"] or ""
        if not unit and "," not in number:
            continue
        base, at = _base(text[at : each.start()], base), each.start()
        plain = _plain(float(number.replace(",", "")), unit, base, key)
        if plain is not None:
            found.append(Replacement(each.start(), each.end(), plain))
    return found


def seconds_of(text: str) -> int | None:
    """Return the seconds of a length such as ``10 min`` or ``2h``, None for what is none."""
    each = re.fullmatch(_AMOUNT, text.strip())
    factor = _TIMES.get((each["unit"] or "").lower()) if each else None
    return None if each is None or factor is None else round(float(each["number"].replace(",", "")) * factor)


def _outside(text: str, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """Find a pattern in what is no string."""
    blank = STRING.sub(lambda piece: f'"{"_" * (len(piece[0]) - 2)}"' if piece[1] else piece[0], text)
    return list(pattern.finditer(blank))


def _base(before: str, earlier: int) -> int:
    """Return how many bytes one of what a number is compared with, or stands for, has: 0 where it is a time.

    ``earlier`` is what it is where nothing in ``before`` names it.
    """
    named = re.findall(r"(memory|disk|imagesize|residentsetsize)", before.lower())
    if not named:
        return earlier
    return 1024 * 1024 if named[-1] == "memory" else 1024


def _plain(number: float, unit: str, base: int, key: str) -> str | None:
    size = _SIZE.fullmatch(unit)
    if key in {"request_cpus", "request_gpus"}:
        return str(round(number)) if not unit or _COUNTED.fullmatch(unit) else None
    if size is not None and base:
        letter = (size["letter"] or size["word"][0]).lower()
        if key.startswith("request_"):
            if letter == "p":  # which condor_submit does not know
                number, letter = number * 1024, "t"
            return f"{number:g}{letter.upper()}B" if number < 1_000_000 else f"{round(number)}{letter.upper()}B"
        return str(round(number * _SIZES[letter] / base))
    if base:
        return None if unit else str(round(number))
    factor = _TIMES.get(unit.lower()) if unit else 1
    return None if factor is None else str(round(number * factor))
