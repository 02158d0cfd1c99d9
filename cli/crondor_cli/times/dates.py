"""Absolute calendar dates as people write them, read by python-dateutil and held to one reading."""

from __future__ import annotations

from datetime import date, datetime, timezone

from crondor.calendar import WEEKDAYS
from crondor_cli.times.tokens import MONTH_OF, WEEKDAY_OF, Token, TokenKind, UnreadableTime, unexpected, unreadable

FIRST_YEAR = 1970
LAST_YEAR = 2200

_YEAR_DIGITS = 4
_DAY_DIGITS = 2
_MOST_NUMBERS = 2  # beside a month's name: the day and the year
_SEPARATORS = ("-", "/", ".")
# Read twice, with nothing in common: what differs afterwards was not written. Both are leap years, for `29 Feb`.
_FILLERS = (datetime(2000, 1, 1, tzinfo=timezone.utc), datetime(2004, 2, 2, tzinfo=timezone.utc))


def typed_date(tokens: tuple[Token, ...], today: date) -> date:
    """Return the date that ``tokens`` (no time of day among them) write out in full.

    date = WEEKDAY_OF? (DATE | NUMBER "of"? MONTH_OF NUMBER | MONTH_OF NUMBER NUMBER)

    ``today`` only serves the help texts. Raises UnreadableTime for what is no date, is incomplete, can be read
    in two ways, contradicts its weekday, or lies more than a year outside FIRST_YEAR to LAST_YEAR.
    """
    weekdays = tuple(t for t in tokens if t.is_word(*WEEKDAY_OF))
    rest = tuple(t for t in tokens if t not in weekdays)
    if len(weekdays) > 1:
        raise unreadable("time-second-weekday", "a date has one weekday", weekdays[1:], "write one, or none")
    _check_tokens(rest)
    numeric = next((t for t in rest if t.kind is TokenKind.DATE), None)
    found = _numeric(numeric, rest) if numeric else _with_month_name(rest, today)
    if not FIRST_YEAR - 1 <= found.year <= LAST_YEAR + 1:  # next to the border the offset from UTC decides
        message = f"the year {found.year:04} is outside {FIRST_YEAR} to {LAST_YEAR}"
        raise unreadable("time-out-of-range", message, rest, f"write a year from {FIRST_YEAR} to {LAST_YEAR}")
    if weekdays and found.weekday() != WEEKDAY_OF[weekdays[0].text]:
        actual = WEEKDAYS[found.isoweekday() % 7]
        message = f"{found} is a {actual}, not a {weekdays[0].written}"
        raise unreadable("time-weekday", message, weekdays, f"leave the weekday out, or write {actual} or another date")
    return found


def _check_tokens(tokens: tuple[Token, ...]) -> None:
    """Refuse what dateutil would skip, or read in a sense of its own."""
    months = 0
    for i, token in enumerate(tokens):
        inside = 0 < i < len(tokens) - 1
        if token.is_word(*MONTH_OF):
            months += 1
        elif token.kind in (TokenKind.DATE, TokenKind.NUMBER) or (inside and token.is_word("of")):
            continue
        elif not (inside and token.is_mark(*_SEPARATORS) and tokens[i + 1].kind is not TokenKind.MARK):
            raise unexpected(token)
    if months > 1:
        raise unreadable("time-second-month", "a date has one month", tokens, "write a date such as 20 Nov 2026")


def _numeric(token: Token, tokens: tuple[Token, ...]) -> date:
    for other in tokens:
        if other is not token:
            raise unexpected(other)
    separator = next(c for c in token.text if not c.isdigit())
    parts = token.text.split(separator)
    first, middle, last = (int(part) for part in parts)
    if len(parts[0]) == _YEAR_DIGITS and len(parts[2]) <= _DAY_DIGITS:
        readings = [_date(first, middle, last)]
    elif len(parts[2]) == _YEAR_DIGITS and len(parts[0]) <= _DAY_DIGITS:
        readings = sorted({_date(last, middle, first), _date(last, first, middle)} - {None}, key=str)
    else:
        raise _short_year((token,))
    if len(readings) > 1:
        message = f"`{token.written}` can be read as {readings[0]} or as {readings[1]}"
        raise unreadable("time-ambiguous-date", message, (token,), f"write {readings[0]} or {readings[1]}")
    found = readings[0] if readings else None
    if found is None:
        raise _no_such_date((token,))
    return found


def _with_month_name(tokens: tuple[Token, ...], today: date) -> date:
    numbers = tuple(t for t in tokens if t.kind is TokenKind.NUMBER)
    if not any(t.is_word(*MONTH_OF) for t in tokens):
        raise unreadable(
            "time-unreadable", "this is not a date", tokens, f"write a date such as {today} or {_spoken(today)}"
        )
    if len(numbers) > _MOST_NUMBERS:
        raise unexpected(numbers[_MOST_NUMBERS])
    sizes = [len(t.text.rstrip("stndrh")) for t in numbers]
    strange = [t for t, size in zip(numbers, sizes, strict=True) if size not in (1, _DAY_DIGITS, _YEAR_DIGITS)]
    if strange or (len(numbers) == _MOST_NUMBERS and _YEAR_DIGITS not in sizes):
        raise _short_year(tuple(strange[:1]) or tokens)
    one, other = _by_dateutil(tokens)
    for part in ("year", "month", "day"):
        if getattr(one, part) != getattr(other, part):
            message = f"the {part} is missing"
            raise unreadable(f"time-{part}-missing", message, tokens, f"write the whole date, such as {_spoken(today)}")
    return one


def _by_dateutil(tokens: tuple[Token, ...]) -> tuple[date, date]:
    from dateutil.parser import ParserError, parse  # noqa: PLC0415 - 18 ms, and most times are words or numbers

    text = "".join(("" if i == 0 or tokens[i - 1].end == t.start else " ") + t.text for i, t in enumerate(tokens))
    try:
        one, other = (parse(text, default=filler, ignoretz=True, fuzzy=False).date() for filler in _FILLERS)
    except (ParserError, OverflowError):  # all that parse() promises to raise for a string
        raise _no_such_date(tokens) from None
    return one, other


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _spoken(day: date) -> str:
    return f"{day.day} {tuple(MONTH_OF)[day.month - 1].title()} {day.year}"


def _no_such_date(tokens: tuple[Token, ...]) -> UnreadableTime:
    written = tokens[0].source.text[tokens[0].start : tokens[-1].end]
    message = f"`{written}` is no date of the calendar"
    return unreadable("time-no-such-date", message, tokens, "write a date that exists, such as 2026-11-20")


def _short_year(tokens: tuple[Token, ...]) -> UnreadableTime:
    return unreadable("time-year-digits", "a year has four digits", tokens, "write a date such as 2026-11-20")
