"""The five fields and the reading of one field's text in the MANUAL and UNIX dialects: bits, or None for a fault."""

from __future__ import annotations

import re
from enum import Enum

from crondor.calendar import SHORT_MONTHS, SHORT_WEEKDAYS


class Dialect(str, Enum):
    """How a cron_* value is read; docs/dialects.md calls them the three readings."""

    MANUAL = "manual"  # as HTCondor's manual says
    HTCONDOR = "htcondor"  # as the schedd of HTCondor 25.14 really does
    UNIX = "unix"  # as Vixie and Debian cron do


class Field:
    """One of the five: where it stands, what it is called, and the values it takes."""

    __slots__ = ("attribute", "command", "high", "index", "low", "name", "names")

    def __init__(
        self, index: int, name: str, command: str, attribute: str, low: int, high: int, names: tuple[str, ...] = ()
    ) -> None:
        """Take the place from 0, the three names, the lowest and the highest value, and the names of values."""
        self.index = index
        self.name = name
        self.command = command
        self.attribute = attribute
        self.low = low
        self.high = high
        self.names = names

    def __repr__(self) -> str:
        """Return the name."""
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


MONTH_NAMES = tuple(name.upper() for name in SHORT_MONTHS[1:])
DAY_NAMES = tuple(name.upper() for name in SHORT_WEEKDAYS)

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

# Every number people write, so that reading one is a look-up; anything else takes the slow way.
_NUMBERS = {str(n): n for n in range(60)} | {f"{n:02}": n for n in range(10)}
BLANK_BETWEEN = r"(?<!\w)(\w+) +(\w+)"  # compiled by the re module where a blank is met
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
    """Return the value of ASCII digits, None for any other text; a number of absurd length is just large.

    number = [0-9]+
    """
    if not (text.isascii() and text.isdecimal()):
        return None
    digits = text.lstrip("0")
    return int(digits or "0") if len(digits) <= 18 else 10**18  # what fits a 64-bit integer


def read_field(text: str, field: Field, dialect: Dialect) -> tuple[int, bool] | None:
    """Return the bits of a field and its star flag, or None when the text is not valid in the dialect.

    MANUAL raises the flag of minute and hour when any item is ``*`` or ``*/n`` (the schedule follows real time),
    of the other fields when any item is ``*`` or ``*/1`` (the field restricts nothing). UNIX raises it when the
    text begins with ``*`` (Debian's rule).

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
    """Say whether blanks stand at the ends and beside operators only: between digits they would join two numbers."""
    return " " not in part or re.search(BLANK_BETWEEN, part) is None


def _read_item(item: str, field: Field, *, unix: bool) -> tuple[int, bool] | None:
    """Return the bits and the star of an item without blanks; only UNIX takes a step behind one value.

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
        return None  # the manual gives steps to ranges and to * only
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
