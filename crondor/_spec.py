"""The five fields: how each dialect reads them, their faults, and their shortest text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from itertools import combinations, islice
from math import gcd
from typing import Final, NamedTuple

from crondor.calendar import MONTHS, SHORT_MONTHS, SHORT_WEEKDAYS, WEEKDAYS
from crondor.diagnostics import Diagnostic, Span, shortened


class Dialect(str, Enum):
    """How a cron_* value is read; docs/dialects.md calls them the three readings."""

    MANUAL = "manual"  # as HTCondor's manual says
    HTCONDOR = "htcondor"  # as the schedd of HTCondor 25.14 does
    UNIX = "unix"  # as Vixie and Debian cron do


class Field:
    """One of the five fields: its position, its names, and its range of values."""

    __slots__ = ("attribute", "command", "high", "index", "low", "name", "names")

    def __init__(
        self, index: int, name: str, command: str, attribute: str, low: int, high: int, names: tuple[str, ...] = ()
    ) -> None:
        """Take the index from 0, the three names, the lowest and the highest value, and the names of values."""
        self.index = index
        self.name = name
        self.command = command
        self.attribute = attribute
        self.low = low
        self.high = high
        self.names = names

    def __repr__(self) -> str:
        return f"<Field {self.name}>"

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle as the constant: fields are compared by identity."""
        return _field_named, (self.name,)

    @property
    def title(self) -> str:
        """The name as words: "day of month"."""
        return self.name.replace("_", " ")

    @property
    def full(self) -> int:
        """The bit set of every value (day of week: 0 to 6, Sunday is 0)."""
        return FULL[self.index]


MONTH_NAMES = tuple(map(str.upper, SHORT_MONTHS[1:]))
DAY_NAMES = tuple(map(str.upper, SHORT_WEEKDAYS))

MINUTE = Field(0, "minute", "cron_minute", "CronMinute", 0, 59)
HOUR = Field(1, "hour", "cron_hour", "CronHour", 0, 23)
DAY_OF_MONTH = Field(2, "day_of_month", "cron_day_of_month", "CronDayOfMonth", 1, 31)
MONTH = Field(3, "month", "cron_month", "CronMonth", 1, 12, MONTH_NAMES)
DAY_OF_WEEK = Field(4, "day_of_week", "cron_day_of_week", "CronDayOfWeek", 0, 7, DAY_NAMES)
FIELDS = (MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK)

NICKNAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


def _field_named(name: str) -> Field:
    return next(field for field in FIELDS if field.name == name)


FULL = ((1 << 60) - 1, (1 << 24) - 1, (1 << 32) - 2, (1 << 13) - 2, (1 << 7) - 1)

# Usual numbers, so that reading one is a look-up; all others take the slow way.
_NUMBERS = {str(n): n for n in range(60)} | {f"{n:02}": n for n in range(10)}
BLANK_BETWEEN = r"(?<!\w)(\w+) +(\w+)"  # compiled by the re module when a blank is found
_NAMED = {name: n for n, name in enumerate(MONTH_NAMES, 1)}, {name: n for n, name in enumerate(DAY_NAMES)}
_EVERY = tuple(sum(1 << k for k in range(0, 60, n)) if n else 0 for n in range(60))


def stepped(low: int, high: int, step: int) -> int:
    """Return the bits low, low + step, ... up to high (step from 1; low and high below 60)."""
    pattern = _EVERY[step] if step < 60 else 1  # no field has 60 values or more
    return (pattern << low) & ((2 << high) - 1)


def fold_sunday(bits: int) -> int:
    """Return day-of-week bits with 7 moved to 0."""
    return (bits | 1) & 0x7F if bits >> 7 else bits


def number(text: str) -> int | None:
    """Return the value of ASCII digits, None for any other text; very long numbers are just large.

    number = [0-9]+
    """
    if not (text.isascii() and text.isdecimal()):
        return None
    digits = text.lstrip("0")
    return int(digits or "0") if len(digits) <= 18 else 10**18  # the digits of a 64-bit integer


def read_field(text: str, field: Field, dialect: Dialect) -> tuple[int, bool] | None:
    """Return the bits of a field and its star flag, or None if the text is invalid in the dialect.

    MANUAL raises the flag of minute and hour when any item is ``*`` or ``*/n`` (the schedule follows real time), of the
    other fields when any item is ``*`` or ``*/1`` (the field restricts nothing). UNIX raises it when the text begins
    with ``*`` (Debian's rule).

    field = item ("," item)*
    """
    index = field.index
    if text == "*":
        return FULL[index], True
    unix = dialect is Dialect.UNIX
    bits = 0
    star = False
    for part in text.split(","):
        read = _read_item(part.replace(" ", ""), field, unix=unix) if _blanks_are_harmless(part) else None
        if read is None:
            return None
        bits |= read[0]
        star = star or read[1]
    if unix:
        star = text.lstrip(" ").startswith("*")
    return (fold_sunday(bits) if index == DAY_OF_WEEK.index else bits), star


def _blanks_are_harmless(part: str) -> bool:
    """Return whether all blanks are at the ends or beside operators: between digits they would join two numbers."""
    return " " not in part or re.search(BLANK_BETWEEN, part) is None


def _read_item(item: str, field: Field, *, unix: bool) -> tuple[int, bool] | None:
    """Return the bits and the star of an item without blanks; only UNIX allows a step after one value.

    item = ("*" | value "-" value | value) ("/" number)?
    """
    value = _NUMBERS.get(item)
    if value is not None:
        return (1 << value, False) if field.low <= value <= field.high else None
    body, slash, step_text = item.partition("/")
    step = (_NUMBERS.get(step_text) or number(step_text) or 0) if slash else 1
    if step == 0:
        return None
    if body == "*":
        return stepped(field.low, field.high, step), step == 1 or field.index < DAY_OF_MONTH.index
    first, dash, last = body.partition("-")
    low = value_of(first, field, unix=unix)
    high = value_of(last, field, unix=unix) if dash else (field.high if slash else low)
    if low is None or high is None or not field.low <= low <= high <= field.high:
        return None
    if slash and not dash and not unix:
        return None  # the manual only allows steps after ranges and *
    return stepped(low, high, step), False


def value_of(text: str, field: Field, *, unix: bool) -> int | None:
    """Return a value by its number, or in UNIX by the name of a month or a weekday.

    value = number | MONTH_NAMES | DAY_NAMES
    """
    value = _NUMBERS.get(text)
    if value is None:
        value = number(text)
        if value is None and unix and field.names:
            value = _NAMED[field.index == DAY_OF_WEEK.index].get(text.upper())
    return value


_LONG_ENOUGH = 4  # values of a progression that is worth its own item
_MOST_PROGRESSIONS = 8


@lru_cache(maxsize=4096)  # a queue has few different fields
def field_text(bits: int, field: Field, dialect: Dialect, *, star: bool) -> str:
    """Return the canonical text; ``*`` and ``*/n`` only if the star flag requires them."""
    if not star:
        return _listed(bits, bits, field, dialect)
    if bits == field.full:
        return "*"
    return _starred(bits, field, dialect)


@lru_cache(maxsize=1 << 12)  # many schedules share them
def values(bits: int) -> tuple[int, ...]:
    """Return the members of a bit set in order."""
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return tuple(found)


def _starred(bits: int, field: Field, dialect: Dialect) -> str:
    """Return ``*/n`` items first, as many as make it shorter, then the rest as a list."""
    steps: dict[int, int] = {}
    for n in range(2, field.high + 2):
        covered = stepped(field.low, field.high, n)
        covered = fold_sunday(covered) if field.index == DAY_OF_WEEK.index else covered
        if covered & ~bits == 0 and not any(covered & ~other == 0 for other in steps.values()):
            steps[n] = covered
    best = ""
    for chosen in (*combinations(steps, 1), *combinations(steps, 2)):
        rest = bits
        for n in chosen:
            rest &= ~steps[n]
        text = ",".join(f"*/{n}" for n in chosen) + ("," + _joined(rest, bits, field, dialect) if rest else "")
        if not best or len(text) < len(best):
            best = text
    return best


def _listed(wanted: int, allowed: int, field: Field, dialect: Dialect) -> str:
    """Return the shortest list found that names ``wanted`` within ``allowed``: values, ranges and steps.

    Neighbours are joined optimally; in addition, up to two progressions that cross other values are tried. A Sunday may
    be written as 7.
    """
    found = _joined(wanted, allowed, field, dialect)
    lists = _progressions(wanted, allowed, field, dialect)
    for chosen in (*combinations(lists, 1), *combinations(lists, 2)):
        rest = wanted
        for text in chosen:
            rest &= ~lists[text]
        items = [*chosen, *([_joined(rest, allowed, field, dialect)] if rest else [])]
        text = ",".join(
            sorted(items, key=lambda item: int(item.partition("-")[0].partition(",")[0].replace("*/", "0")))
        )
        if len(text) < len(found):
            found = text
    if field.index == DAY_OF_WEEK.index and wanted & 1 and wanted >> 1:
        late = _joined(wanted ^ 1 | 1 << 7, allowed & ~1 | 1 << 7, field, dialect)
        found = late if len(late) < len(found) else found
    return found


def _progressions(wanted: int, allowed: int, field: Field, dialect: Dialect) -> dict[str, int]:
    """Return the longest stepped items within ``allowed``, with the bits they name, the most useful first."""
    lists: dict[str, int] = {}
    for step in range(2, field.high // 2 + 1):
        for start in range(field.low, min(field.low + step, field.high)):
            run = 0
            for value in range(start, field.high + 2, step):
                if value <= field.high and allowed >> value & 1:
                    run += 1
                    continue
                first, last = value - run * step, value - step
                if run >= _LONG_ENOUGH:
                    text = _item(first, last, step, allowed, field, dialect)
                    covered = stepped(first, last, step) & wanted
                    if text is not None and covered:
                        lists[text] = covered
                run = 0
    best = sorted(lists, key=lambda text: (len(text) - 3 * lists[text].bit_count(), text))
    return {text: lists[text] for text in best[:_MOST_PROGRESSIONS]}


def _joined(wanted: int, allowed: int, field: Field, dialect: Dialect) -> str:
    """Return the shortest list whose items do not interleave."""
    todo = values(wanted)
    best: list[tuple[int, str]] = [(0, "")]  # the cost and text of the first k values
    for k in range(1, len(todo) + 1):
        last = todo[k - 1]
        found = best[k - 1][0] + len(str(last)) + 1, f"{best[k - 1][1]},{last}" if k > 1 else str(last)
        step = 0
        for i in range(k - 2, -1, -1):
            step = gcd(step, todo[i + 1] - todo[i])
            item = _item(todo[i], last, step, allowed, field, dialect)
            if item is not None and best[i][0] + len(item) + 1 < found[0]:
                found = best[i][0] + len(item) + 1, f"{best[i][1]},{item}" if i else item
        best.append(found)
    return best[-1][1]


def _item(low: int, high: int, step: int, allowed: int, field: Field, dialect: Dialect) -> str | None:
    if stepped(low, high, 1) & ~allowed == 0:
        return f"{low}-{high}"
    weekday = field.index == DAY_OF_WEEK.index
    # The schedd's steps are multiples from zero, whatever the range begins with; and the step of Sunday is lost.
    if dialect is Dialect.HTCONDOR and (low % step or weekday):
        return None
    if stepped(low, high, step) & ~allowed:
        return None
    whole = low - step < field.low and high + step > field.high - weekday
    # If `*/n` raises no star flag, it is the shorter text for the same values.
    starless = dialect is Dialect.HTCONDOR or (dialect is Dialect.MANUAL and field.index >= DAY_OF_MONTH.index)
    if whole and starless and (dialect is Dialect.HTCONDOR or low == field.low) and not (weekday and 7 % step == 0):
        return f"*/{step}"
    return f"{low}-{high}/{step}"


MESSAGE: Final = "the value has a comment after it, which HTCondor reads as part of the value"
CURE: Final = "a # only starts a comment at the beginning of a line: move it to its own line"
_COMMENT = re.compile(r"(?<=[ \t])#")


def inline_comment(text: str) -> int | None:
    """Return where a comment begins after a value, None where there is none."""
    found = _COMMENT.search(text)
    return found.start() if found and text[: found.start()].strip() else None


MOST_FAULTS = 10  # of one field; a hostile text gets no longer list

_END_NOTES = {
    (MINUTE.index, 60): "a full hour is minute 0",
    (HOUR.index, 24): "midnight is hour 0",
    (DAY_OF_MONTH.index, 0): "the first day of a month is 1",
    (MONTH.index, 0): "January is 1, December is 12",
    (DAY_OF_WEEK.index, 8): "Saturday is 6",
}
_CHOSEN = "write a value yourself, or let crondor compile --name NAME choose one by the job's name"
_LETTERS = re.compile(r"[A-Za-z]+")
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uff0d"


def field_faults(text: str, span: Span, field: Field, dialect: Dialect) -> list[Diagnostic]:
    """Return the faults of a field that ``read_field`` rejected, at most ``MOST_FAULTS`` and a note about more."""
    whole = _whole_field(text, span, field)
    if whole is not None:
        return [whole]
    found: list[Diagnostic] = []
    at = 0
    for part in text.split(","):
        item = part.strip(" ")
        start = at + len(part) - len(part.lstrip(" ")) if item else at
        place = span.part(start, start + len(item)) if item else _empty_place(span, text, at, len(part))
        at += len(part) + 1
        if item and read_field(item, field, dialect) is not None:
            continue
        found.extend(islice(_item_faults(item, place, field, dialect), MOST_FAULTS + 1 - len(found)))
        if len(found) > MOST_FAULTS:
            more = f"and more faults in {field.title}; these are the first"
            return [*found[:MOST_FAULTS], Diagnostic("cron-more", more, span=found[-1].span)]
    return found or [_fault("syntax", f"{field.title} cannot be read", span, _grammar(field))]


def _fault(code: str, message: str, span: Span, help_text: str, fix: str | None = None) -> Diagnostic:
    return Diagnostic(f"cron-{code}", message, span=span, help=help_text, fix=fix)


def _short(text: str) -> str:
    return shortened(text, 24)


def _grammar(field: Field) -> str:
    return f"write numbers from {_limits(field)}, ranges such as {_example(field)}, `*`, steps such as `*/2`"


def _limits(field: Field) -> str:
    return f"{field.low} to {field.high}" + (" (Sunday is 0 or 7)" if field.index == DAY_OF_WEEK.index else "")


def _example(field: Field) -> str:
    return f"`{field.low}-{field.low + 4}`"


def _empty_place(span: Span, text: str, at: int, length: int) -> Span:
    """Return the place to underline for an empty item: its blanks, or the comma before or after it."""
    if length:
        return span.part(at, at + length)
    return span.part(at, at + 1) if at < len(text) else span.part(at - 1, at)


def _whole_field(text: str, span: Span, field: Field) -> Diagnostic | None:
    """Return the fault of a field as a whole, if there is one; its items are then not examined."""
    stripped = text.strip(" ")
    if not stripped:
        return _fault(
            "empty",
            f"{field.title} is empty",
            span,
            f"remove {field.command}, or write `*` for every {field.title}",
            "*",
        )
    comment = inline_comment(text)
    if comment is not None:
        return _fault("comment", MESSAGE, span.part(comment, len(text)), CURE)
    if stripped.startswith("@"):
        return _nickname(stripped, span, field)
    if stripped[0] in "\"'":
        bare = stripped.strip("\"'")
        return _fault(
            "quoted",
            "quotes become part of the value of a submit command",
            span,
            f"write {_short(bare)} without quotes",
            bare,
        )
    if "$(" in stripped:
        return _fault(
            "macro", f"{_short(stripped)} contains a macro that was not expanded", span, "write the value itself"
        )
    return None


def _nickname(word: str, span: Span, field: Field) -> Diagnostic:
    """Return the fault of a word such as @daily, with the fields it stands for."""
    line = NICKNAMES.get(word.lower())
    if line is None:
        return _fault("nickname", f"{_short(word)} looks like a crontab nickname, not a field", span, _grammar(field))
    commands = [
        f"{c} = {v}"
        for c, v in zip(("cron_minute", "cron_hour", "cron_day_of_month", "cron_month"), line.split(), strict=False)
        if v != "*"
    ] + (["cron_day_of_week = 0"] if line.endswith("0") else [])
    return _fault("nickname", f"{word} stands for a whole crontab line ({line})", span, f"write {', '.join(commands)}")


def _item_faults(item: str, span: Span, field: Field, dialect: Dialect) -> Iterator[Diagnostic]:
    if not item:
        yield _fault("empty-item", f"{field.title} has an empty list item", span, "remove the extra comma")
        return
    bad = list(islice(_bad_characters(item, span, field, dialect), MOST_FAULTS + 1))
    if bad:
        yield from bad
        return
    slash = item.find("/")
    body = _trimmed(span.part(0, slash if slash >= 0 else None))
    yield from _body_faults(body, field, dialect, has_step=slash >= 0)
    if slash >= 0:
        yield from _step_faults(body.text, _trimmed(span.part(slash + 1)), span, field, dialect)


def _bad_characters(item: str, span: Span, field: Field, dialect: Dialect) -> Iterator[Diagnostic]:
    between = re.search(BLANK_BETWEEN, item)
    if between:
        piece = span.part(*between.span())
        fix = f"{between[1]},{between[2]}"
        message = f"a blank inside {field.title} (the schedd would read {between[1]}{between[2]})"
        yield _fault("blank", message, piece, f"write {fix}", fix)
        return
    for word in _LETTERS.finditer(item):
        known = _known_word(word[0], field, dialect)
        if known is None:
            continue
        yield _fault(*known[:2], span.part(*word.span()), *known[2:])
        if known[0] != "name":
            return
    for at, character in enumerate(_LETTERS.sub(lambda word: "0" * len(word[0]), item)):
        if character not in "0123456789-*/ ":
            yield _odd_character(character, span.part(at, at + 1), field)
            return


def _known_word(word: str, field: Field, dialect: Dialect) -> tuple[str, str, str, str] | tuple[str, str, str] | None:
    """Return code, message, help (and fix) for letters in a field; None if they are valid."""
    upper = word.upper()
    months, days = _NAMED
    value = {MONTH.index: months, DAY_OF_WEEK.index: days}.get(field.index, {}).get(upper[:3])
    if value is not None and (
        len(upper) == 3 or upper.capitalize() in {*MONTHS[1:], *WEEKDAYS, "Sept", "Tues", "Thur", "Thurs"}
    ):
        if dialect is Dialect.UNIX and len(upper) == 3:
            return None
        why = "three letters are allowed" if dialect is Dialect.UNIX else "HTCondor reads numbers only"
        return "name", f"{word} is a name, and {why}", f"write {value} for {word}", str(value)
    if upper in {"L", "W", "LW"}:
        days_help = "crondor compile writes fields and a clause for this: crondor compile '0 6 L * *'"
        help_text = days_help if field.index == DAY_OF_MONTH.index else _grammar(field)
        return "unsupported", f"`{word}` (last or nearest day) belongs to other schedulers", help_text
    if upper in {"H", "R"}:
        return "unsupported", f"`{word}` (a value chosen for you) belongs to other schedulers", _CHOSEN
    where = [f.title for f, names in ((MONTH, months), (DAY_OF_WEEK, days)) if upper[:3] in names]
    if where and where[0] != field.title:
        return "name", f"{word} is a {where[0]}, and this is {field.title}", f"put it in {where[0]}, as a number"
    return "character", f"`{_short(word)}` is not a number", _grammar(field)


_ODD = {
    "?": ("unsupported", "`?` belongs to other schedulers", "write `*`, or leave it out", "*"),
    "#": (
        "unsupported",
        "`#` (the nth weekday) belongs to other schedulers",
        "crondor compile writes fields and a clause for this: crondor compile '0 6 * * 5#2'",
        None,
    ),
    ";": ("character", "`;` does not separate values", "write ,", ","),
    "~": ("unsupported", "`~` (a random value) belongs to other schedulers", _CHOSEN, None),
} | {dash: ("character", f"`{dash}` is a dash, not the hyphen of a range", "write -", "-") for dash in _DASHES}


def _odd_character(character: str, span: Span, field: Field) -> Diagnostic:
    digit = unicodedata.digit(character, None)
    if digit is not None:
        text = str(digit)
        return _fault("digit", f"`{character}` is not an ASCII digit", span, f"write {text}", text)
    if character == ".":
        return _fault("character", f"{field.title} takes whole numbers", span, "write a whole number")
    code, message, help_text, fix = _ODD.get(
        character, ("character", f"`{character}` is not allowed in {field.title}", _grammar(field), None)
    )
    return _fault(code, message, span, help_text, fix)


def _trimmed(span: Span) -> Span:
    """Return a span without blanks at its ends."""
    text = span.text
    return span.part(len(text) - len(text.lstrip(" ")), len(text.rstrip(" "))) if text.strip(" ") else span


def _body_faults(span: Span, field: Field, dialect: Dialect, *, has_step: bool) -> Iterator[Diagnostic]:
    body = span.text
    if body == "*":
        return
    dash = body.find("-")
    shown = f"`{_short(body)}`"
    if not body.strip(" "):
        slash = span.source.span(span.end, span.end + 1)
        help_text = "write `*/` and the step, or low-high/step"
        yield _fault("syntax", "a step needs `*` or a range before the slash", slash, help_text, "*/")
    elif "*" in body:
        help_text = "write `*` alone, or `*/n` for every nth value"
        yield _fault("syntax", f"{shown} mixes `*` with something else", span, help_text)
    elif dash >= 0 and "-" in body[dash + 1 :]:
        yield _fault("syntax", f"{shown} has more than one hyphen", span, f"write one range, such as {_example(field)}")
    elif dash >= 0 and not (body[:dash].strip(" ") and body[dash + 1 :].strip(" ")):
        yield _fault("syntax", f"{shown} is half a range", span, f"write both ends, such as {_example(field)}")
    else:
        ends = [span.part(0, dash), span.part(dash + 1)] if dash >= 0 else [span]
        yield from _end_faults(span, [_trimmed(end) for end in ends], field, dialect, has_step=has_step)


def _end_faults(
    span: Span, ends: list[Span], field: Field, dialect: Dialect, *, has_step: bool
) -> Iterator[Diagnostic]:
    consequence = ""
    if dialect is Dialect.MANUAL:
        consequence = (
            " (the schedd would cut the range)" if len(ends) > 1 else (" (the schedd would read it as every value)")
        )
    numbers = [_value(end.text, field, dialect) for end in ends]
    outside = [
        _outside(value, end, field, consequence)
        for value, end in zip(numbers, ends, strict=True)
        if not field.low <= value <= field.high
    ]
    yield from outside
    if not outside and numbers[0] > numbers[-1]:
        yield _reversed(numbers[0], numbers[-1], span, field, has_step=has_step)


def _value(text: str, field: Field, dialect: Dialect) -> int:
    value = number(text)
    if value is None and dialect is Dialect.UNIX:
        value = _NAMED[field.index == DAY_OF_WEEK.index].get(text.upper())
    return -1 if value is None else value


def _outside(value: int, span: Span, field: Field, consequence: str) -> Diagnostic:
    note = _END_NOTES.get((field.index, value))
    help_text = f"write {_limits(field)}" + (f"; {note}" if note else "")
    return _fault("range", f"{field.title} {_short(span.text)} is out of range{consequence}", span, help_text)


def _reversed(low: int, high: int, span: Span, field: Field, *, has_step: bool) -> Diagnostic:
    message = f"the range {_short(span.text)} runs backwards: a range does not wrap around"
    if has_step:
        return _fault("reversed", message, span, "swap the ends, or list the values")
    if field.index == DAY_OF_WEEK.index:
        fix = f"{low}-7" + (f",1-{high}" if high > 1 else ",1" if high else "")
        fix = fix.replace("7-7", "0")
    else:
        upper = f"{low}-{field.high}" if low < field.high else str(low)
        lower = f"{field.low}-{high}" if high > field.low else str(high)
        fix = f"{upper},{lower}"
    return _fault("reversed", message, span, f"write {fix} to go around, or swap the ends", fix)


def _step_faults(body: str, step: Span, item: Span, field: Field, dialect: Dialect) -> Iterator[Diagnostic]:
    text = step.text.strip(" ")
    value = number(text)
    if not text:
        slash = step.source.span(step.start - 1, step.start)
        yield _fault("syntax", "the step after the slash is missing", slash, "write a number from 1 up after `/`")
    elif value is None:
        yield _fault("syntax", f"`{_short(text)}` is not a step", step, "write one number from 1 up after `/`")
    elif value == 0:
        yield _fault("step-zero", "a step of 0 never advances", step, "write a step of 1 or more, or no step")
    elif dialect is not Dialect.UNIX and (start := number(body)) is not None and field.low <= start <= field.high:
        fix = f"{start}-{field.high}/{text}"
        message = f"a step follows a single value (the schedd reads {body}/{text} as {body} or as nothing)"
        yield _fault("single-step", message, item, f"write {fix}", fix)


_ALLOWED = frozenset("0123456789,-./* ")
_DIGITS = frozenset("0123456789")


# The engine is HTCondor 25.14's ``CronTab`` (condor_crontab.cpp).
class ScheddField(NamedTuple):
    """The bits of a field, or why the schedd holds the job.

    ``star``: the field was written with ``*`` and has every value; for the day of week: its list is empty. ``fault`` is
    None for a valid field, else ``character``, ``empty`` or ``step`` with the engine's ``error``.
    """

    bits: int
    star: bool
    fault: str | None = None
    error: str = ""


def read_schedd_field(text: str, field: Field) -> ScheddField:
    """Return how HTCondor 25.14 reads any text of a field (docs/dialects.md). HTCondor: CronTab::expandParameter."""
    if not _ALLOWED.issuperset(text):
        return ScheddField(
            0, star=False, fault="character", error=f"Invalid parameter value '{text}' for {field.attribute}"
        )
    packed = text.replace(" ", "")
    bits = 0
    for item in packed.split(","):
        if item:
            read = _read_schedd_item(item, field)
            if read is None:
                return ScheddField(0, star=False, fault="step")  # the engine returns at once without a message
            bits |= read
    if field.index == DAY_OF_WEEK.index:
        # An empty list means "unrestricted" there.
        return ScheddField(bits or field.full, star=not bits)
    if not bits:
        return ScheddField(0, star=False, fault="empty", error=f"Invalid cron attribute: {packed}")
    return ScheddField(bits, star="*" in text and bits == field.full)


def illegal_characters(text: str) -> list[tuple[int, int]]:
    """Return the runs (start, end) of characters that the engine rejects. HTCondor: CronTab::validateParameter."""
    runs: list[tuple[int, int]] = []
    for at, character in enumerate(text):
        if character in _ALLOWED:
            continue
        if runs and runs[-1][1] == at:
            runs[-1] = (runs[-1][0], at + 1)
        else:
            runs.append((at, at + 1))
    return runs


def zero_step(text: str) -> tuple[int, int]:
    """Return the place of the first step that evaluates to 0, including its slash."""
    start = 0
    for part in text.split(","):
        body, slash, step = part.partition("/")
        if slash and _atoi(step.replace(" ", "")) == 0:
            return start + len(body), start + len(part.rstrip(" "))
        start += len(part) + 1
    return 0, len(text)


def _read_schedd_item(item: str, field: Field) -> int | None:
    body, slash, step_text = item.partition("/")
    step = abs(_atoi(step_text)) if slash else 1
    if step == 0:
        return None
    low, high = field.low, field.high
    first, dash, last = body.partition("-")
    if dash:
        low, high = max(_atoi(first), low), min(_atoi(last), high)
    elif "*" in body:
        if field.index == DAY_OF_WEEK.index:
            return 0
    elif low <= (value := _atoi(body)) <= high:
        low = high = value
    if low > high:
        return 0
    # Only multiples of the step remain, whatever the range begins with; Sunday's 7 becomes 0 before that.
    multiples = stepped(0, 63, step) if step < 60 else 1  # no field reaches 60
    values = (2 << high) - (1 << low)
    return (fold_sunday(values) if field.index == DAY_OF_WEEK.index else values) & multiples


def _atoi(text: str) -> int:
    """Return what C's atoi returns: a sign and leading digits, 0 without any, saturated to 64 bits, cut to 32."""
    start = 1 if text.startswith("-") else 0
    end = start
    while end < len(text) and text[end] in _DIGITS:
        end += 1
    digits = text[start:end].lstrip("0")
    value = int(digits or "0") if len(digits) < 20 else 2**64
    value = max(-value, -(2**63)) if start else min(value, 2**63 - 1)
    return (value + 2**31) % 2**32 - 2**31
