"""Typed times, such as `tomorrow 6:30`, read without guessing."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from enum import Enum, auto
from typing import NamedTuple

from crondor.calendar import MONTHS, SHORT_MONTHS, SHORT_WEEKDAYS, WEEKDAYS
from crondor.diagnostics import CrondorError, Diagnostic, Source, similar

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SECOND = timedelta(seconds=1)


class Gap(NamedTuple):
    """Wall-clock times that a zone skips.

    ``begin`` is the first skipped time and ``end`` the first that exists again, at ``instant`` (epoch seconds).
    """

    begin: datetime
    end: datetime
    instant: int


def wall_clock(epoch: int, zone: tzinfo) -> datetime:
    """Return the naive time in ``zone`` at ``epoch`` (seconds). Raises OverflowError outside the years 1 to 9999."""
    return (_EPOCH + timedelta(seconds=epoch)).astimezone(zone).replace(tzinfo=None)


def instant(wall: datetime, zone: tzinfo) -> int | Gap:
    """Return the epoch seconds when a clock in ``zone`` shows ``wall`` (no zone, whole seconds).

    For a time shown twice, the first is returned; for a skipped time, its gap.
    Raises OverflowError next to the years 1 and 9999.
    """
    found = _epoch(wall.replace(tzinfo=zone, fold=0))
    if wall_clock(found, zone) == wall:
        return found
    # In a gap, fold=0 uses the offset before the change, and so ends after it; fold=1 is the reverse.
    before, after = _epoch(wall.replace(tzinfo=zone, fold=1)), found
    shift = _shift(before, zone)
    while after - before > 1:
        middle = (before + after) // 2
        if _shift(middle, zone) == shift:
            before = middle
        else:
            after = middle
    return Gap(wall_clock(before, zone) + _SECOND, wall_clock(after, zone), after)


def _epoch(moment: datetime) -> int:
    return (moment - _EPOCH) // _SECOND


def _shift(epoch: int, zone: tzinfo) -> timedelta:
    return wall_clock(epoch, zone) - wall_clock(epoch, timezone.utc)


LONGEST = 100  # characters; far longer than any sensible time, and bounds all later work

MONTH_OF = dict(zip(" ".join((*SHORT_MONTHS, *MONTHS)).lower().split(), (*range(1, 13), *range(1, 13)), strict=True))
MONTH_OF["sept"] = 9
WEEKDAY_OF = dict(zip(" ".join((*SHORT_WEEKDAYS, *WEEKDAYS)).lower().split(), (6, *range(6)) * 2, strict=True))
WEEKDAY_OF |= {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}  # Monday is 0
CLOCK_WORDS = {"midnight": time(0), "noon": time(12)}
ZONE_WORDS = frozenset({"z", "utc", "gmt"})
DAY_STEPS = {"yesterday": -1, "today": 0, "tomorrow": 1}

_SECONDS = ("s", "sec", "secs", "second", "seconds")
_MINUTES = ("m", "min", "mins", "minute", "minutes")
_HOURS = ("h", "hr", "hrs", "hour", "hours")
ELAPSED_UNITS = dict.fromkeys(_SECONDS, 1) | dict.fromkeys(_MINUTES, 60) | dict.fromkeys(_HOURS, 3600)  # word: seconds
CALENDAR_UNITS = dict.fromkeys(("d", "day", "days"), 1) | dict.fromkeys(("w", "wk", "week", "weeks"), 7)  # word: days

_VOCABULARY = (
    "now", "next", "at", "in", "ago", *DAY_STEPS, *CLOCK_WORDS, *WEEKDAY_OF, *MONTH_OF, *ELAPSED_UNITS, *CALENDAR_UNITS,
)  # fmt: skip
_SHORTEST_GUESS = 4  # characters; a shorter word is similar to everything
_LIKENESS = 0.7
_AFTERNOON = 12  # hours added by pm

WRITE_A_TIME = "write a time such as `now`, `tomorrow 06:30`, `monday`, `in 90 min`, `2026-11-20 06:30` or `18:00`"
WRITE_A_CLOCK = "a time of day is written 06:30, 06:30:15, 6:30pm or 6am"
WRITE_AN_OFFSET = "after a full date and time of day write Z, UTC or an offset such as +01:00"


class UnreadableTime(CrondorError, ValueError):
    """A typed time that cannot be read, or does not define a time."""


class SkippedTime(UnreadableTime):
    """A time that the clock skips: ``wall`` was typed, and the clock goes from ``begin`` to ``end`` at ``instant``."""

    def __init__(self, fault: Diagnostic, wall: datetime, gap: Gap) -> None:
        super().__init__(fault)
        self.wall = wall
        self.gap = gap


class TokenKind(Enum):
    """The kind of a token."""

    CLOCK = auto()
    DATE = auto()
    NUMBER = auto()
    WORD = auto()
    OFFSET = auto()
    MARK = auto()


class Token(NamedTuple):
    """A piece of a typed time: its kind, its text in lower case, and its place in ``source``."""

    kind: TokenKind
    text: str
    source: Source
    start: int
    end: int

    @property
    def written(self) -> str:
        """The piece as it was typed."""
        return self.source.text[self.start : self.end]

    def is_word(self, *words: str) -> bool:
        """Return whether this is one of some (lower-case) words."""
        return self.kind is TokenKind.WORD and self.text in words

    def is_mark(self, *marks: str) -> bool:
        """Return whether this is one of some punctuation marks."""
        return self.kind is TokenKind.MARK and self.text in marks


_HALF = r"(?P<half>[ap])(?:m(?![a-z])|\.m\.)"
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2}))?(?P<fraction>[.,]\d+)?(?![\d:])"
    rf"(?:\s*{_HALF})?|\s*{_HALF.replace('half', 'bare_half')})"
)
_OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>\d{2})(?::?(?P<minutes>\d{2})(?::?(?P<seconds>\d{2}))?)?(?![\d:])")
_PATTERNS = (
    (TokenKind.CLOCK, _CLOCK),
    (TokenKind.DATE, re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?!\d)")),
    (TokenKind.NUMBER, re.compile(r"\d+(?:(?:st|nd|rd|th)(?![a-z]))?")),
    (TokenKind.WORD, re.compile(r"[a-z]+")),
    (TokenKind.MARK, re.compile(r"\S")),
)
_BLANK = re.compile(r"\s*")


def unreadable(code: str, message: str, where: tuple[Token, ...] | Source, help_: str) -> UnreadableTime:
    """Return the error for some tokens (underlined from the first to the last), or for a whole text."""
    span = where.span() if isinstance(where, Source) else where[0].source.span(where[0].start, where[-1].end)
    return UnreadableTime(Diagnostic(code, message, span=span, help=help_))


def tokenize(source: Source) -> tuple[Token, ...]:
    """Return the tokens of a typed time, at least one, in order.

    Raises UnreadableTime for a blank text, one longer than LONGEST characters, and one with characters other
    than ASCII letters, digits, punctuation and blanks.
    """
    text = _clean(source)
    tokens: list[Token] = []
    at = len(text) - len(text.lstrip())
    while at < len(text):
        token = _token(source, text, at, tokens[-1] if tokens else None)
        tokens.append(token)
        blank = _BLANK.match(text, token.end)
        at = blank.end() if blank else token.end
    return tuple(tokens)


def clock_time(token: Token) -> time:
    """Return the time of day of a CLOCK token, or of the word noon or midnight.

    Raises UnreadableTime if there is no such time of day, or if it has a fraction of a second.
    """
    if token.text in CLOCK_WORDS:
        return CLOCK_WORDS[token.text]
    found = _CLOCK.fullmatch(token.text)
    if found is None or found["fraction"]:
        raise unreadable("time-fraction", "a time here has whole seconds", (token,), WRITE_A_CLOCK)
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    half = found["half"] or found["bare_half"]
    if half and not 1 <= hour <= _AFTERNOON:
        message = f"`{token.written}`: with am or pm the hour is 1 to 12"
        raise unreadable("time-of-day", message, (token,), WRITE_A_CLOCK)
    if half:
        hour = hour % _AFTERNOON + (_AFTERNOON if half == "p" else 0)
    try:
        return time(hour, minute, second)
    except ValueError:
        message = f"`{token.written}` is not a time of day: they run from 00:00:00 to 23:59:59"
        help_ = f"{WRITE_A_CLOCK}; for 24:00 write 00:00 of the next day"
        raise unreadable("time-of-day", message, (token,), help_) from None


def offset_zone(token: Token) -> timezone:
    """Return the fixed zone of an OFFSET token, or of the word Z, UTC or GMT.

    Raises UnreadableTime for offsets of 16 hours and more, which no place has ever had.
    """
    if token.text in ZONE_WORDS:
        return timezone.utc
    found = _OFFSET.fullmatch(token.text)
    hours, minutes, seconds = (int(found[part] or 0) if found else 99 for part in ("hours", "minutes", "seconds"))
    if hours > 15 or minutes > 59 or seconds > 59:
        raise unreadable("time-offset", f"`{token.written}` is not an offset from UTC", (token,), WRITE_AN_OFFSET)
    size = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return timezone(-size if token.text.startswith("-") else size)


def known(token: Token) -> bool:
    """Return whether a token is a word that a time may contain."""
    return token.is_word(*_VOCABULARY, *ZONE_WORDS, "on", "of")


def unexpected(token: Token) -> UnreadableTime:
    """Return the error for a token that is not allowed in its place."""
    message = f"cannot read `{token.written}` here"
    if token.kind is TokenKind.NUMBER or token.is_mark(":") or token.is_word("at", "t"):
        return unreadable("time-unexpected", message, (token,), WRITE_A_CLOCK)
    if token.kind is TokenKind.WORD and not known(token):
        long_enough = len(token.text) >= _SHORTEST_GUESS
        near = similar(token.text, _VOCABULARY, _LIKENESS) if long_enough else []
        help_ = f"did you mean `{near[0]}`?" if near else WRITE_A_TIME
        return unreadable("time-unknown-word", f"`{token.written}` is not a word of a time", (token,), help_)
    return unreadable("time-unexpected", message, (token,), WRITE_A_TIME)


def _clean(source: Source) -> str:
    text = source.text
    if not text.strip():
        raise unreadable("time-blank", "the time is missing", source, WRITE_A_TIME)
    if len(text) > LONGEST:
        message = f"a time of {len(text)} characters is too long to be one (at most {LONGEST})"
        raise unreadable("time-too-long", message, source, WRITE_A_TIME)
    strange = next((i for i, c in enumerate(text) if not (c.isascii() and (c.isprintable() or c.isspace()))), None)
    if strange is not None:
        message = f"the character {text[strange]!a} is not allowed in a time"
        span = source.span(strange, strange + 1)
        raise UnreadableTime(Diagnostic("time-character", message, span=span, help=WRITE_A_TIME))
    return text.lower()


def _token(source: Source, text: str, at: int, previous: Token | None) -> Token:
    if previous is not None and (previous.kind is TokenKind.CLOCK or previous.is_word(*ZONE_WORDS, *CLOCK_WORDS)):
        offset = _OFFSET.match(text, at)
        if offset:
            return Token(TokenKind.OFFSET, offset.group(), source, at, offset.end())
    for kind, pattern in _PATTERNS:
        found = pattern.match(text, at)
        if found:
            return Token(kind, found.group(), source, at, found.end())
    msg = f"a blank at {at}"  # tokenize steps over them
    raise AssertionError(msg)


FIRST_YEAR = 1970
LAST_YEAR = 2200

_YEAR_DIGITS = 4
_DAY_DIGITS = 2
_MOST_NUMBERS = 2  # with a month's name: the day and the year
_SEPARATORS = ("-", "/", ".")
# The date is read with two different defaults: parts that differ were not typed. Both are leap years, for `29 Feb`.
_FILLERS = (datetime(2000, 1, 1, tzinfo=timezone.utc), datetime(2004, 2, 2, tzinfo=timezone.utc))


def typed_date(tokens: tuple[Token, ...], today: date) -> date:
    """Return the date that ``tokens`` (without a time of day) specify completely.

    date = WEEKDAY_OF? (DATE | NUMBER "of"? MONTH_OF NUMBER | MONTH_OF NUMBER NUMBER)

    ``today`` is used only in help texts. Raises UnreadableTime for a date that is invalid, incomplete, ambiguous,
    contradicts its weekday, or is more than a year outside FIRST_YEAR to LAST_YEAR.
    """
    weekdays = tuple(t for t in tokens if t.is_word(*WEEKDAY_OF))
    rest = tuple(t for t in tokens if t not in weekdays)
    if len(weekdays) > 1:
        raise unreadable("time-second-weekday", "a date has one weekday", weekdays[1:], "write one, or none")
    _check_tokens(rest)
    numeric = next((t for t in rest if t.kind is TokenKind.DATE), None)
    found = _numeric(numeric, rest) if numeric else _with_month_name(rest, today)
    if not FIRST_YEAR - 1 <= found.year <= LAST_YEAR + 1:  # at the boundary the offset from UTC decides
        message = f"the year {found.year:04} is outside {FIRST_YEAR} to {LAST_YEAR}"
        raise unreadable("time-out-of-range", message, rest, f"write a year from {FIRST_YEAR} to {LAST_YEAR}")
    if weekdays and found.weekday() != WEEKDAY_OF[weekdays[0].text]:
        actual = WEEKDAYS[found.isoweekday() % 7]
        message = f"{found} is a {actual}, not a {weekdays[0].written}"
        raise unreadable("time-weekday", message, weekdays, f"omit the weekday, or write {actual} or another date")
    return found


def _check_tokens(tokens: tuple[Token, ...]) -> None:
    """Reject tokens that dateutil would skip, or read in its own way."""
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
    from dateutil.parser import ParserError, parse  # noqa: PLC0415 - 18 ms, and rarely needed

    text = "".join(("" if i == 0 or tokens[i - 1].end == t.start else " ") + t.text for i, t in enumerate(tokens))
    try:
        one, other = (parse(text, default=filler, ignoretz=True, fuzzy=False).date() for filler in _FILLERS)
    except (ParserError, OverflowError):  # the exceptions documented for strings
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
    message = f"`{written}` is not a date of the calendar"
    return unreadable("time-no-such-date", message, tokens, "write a date that exists, such as 2026-11-20")


def _short_year(tokens: tuple[Token, ...]) -> UnreadableTime:
    return unreadable("time-year-digits", "a year has four digits", tokens, "write a date such as 2026-11-20")


_DAY = 86_400
_LAST = 7_289_654_399  # 2200-12-31 23:59:59 UTC
_EPOCH_DIGITS = 9  # from here up a bare number is epoch seconds: 1973 and later
_MILLISECOND_DIGITS = 13
_MOST_DIGITS = 15  # of a number used in calculations; far beyond every accepted time
_UNITS = "the units are seconds, minutes, hours, days and weeks: `in 90 min`, `in 2 days`"
_TWO_OFFSETS = "an offset was given already, and `UTC+3` is three hours ahead for some and behind for others"
_ABBREVIATION = re.compile("[A-Z]{3,5}")  # zones such as CET, AEST
_NO_LENGTH = frozenset({"month", "months", "mo", "year", "years", "yr", "y"})


class _Now(NamedTuple):
    """The reference of relative times."""

    epoch: int
    zone: tzinfo

    @property
    def wall(self) -> datetime:
        return wall_clock(self.epoch, self.zone)

    @property
    def today(self) -> date:
        return self.wall.date()


class _Parts(NamedTuple):
    """The tokens of a time: the day (or the distance), the time of day, the offset from UTC."""

    day: tuple[Token, ...]
    clock: Token | None
    offset: Token | None

    @property
    def all(self) -> tuple[Token, ...]:
        found = (*self.day, *(t for t in (self.clock, self.offset) if t))
        return tuple(sorted(found, key=lambda token: token.start))


def parse_time(text: str, now: int, zone: tzinfo, *, label: str = "<time>") -> int:
    """Return the time (epoch seconds) that ``text`` means, for a user in ``zone`` at ``now`` (epoch seconds).

    Accepted, in any letter case and with the time of day before or after the day:

    - ``now``; ``today``, ``tomorrow``, ``yesterday``, with or without a time of day; a time of day alone is
      today's, even where it has passed. ``noon`` is 12:00, ``midnight`` the 00:00 a day begins with.
    - ``monday``, ``next mon``: the coming one, strictly after today, the same with and without ``next``.
    - ``in 90 min``, ``+2h``, ``in 1 h 30 min``, ``3 days ago``: seconds, minutes and hours elapse; days and weeks
      keep the time on the clock, or take a given one (``in 2 days at 06:00``), and are counted before hours.
    - ``2026-11-20``, ``20 Nov 2026 6:30pm``, ``Fri, 20 Nov 2026 06:30:00 +0100``: a whole date; its year has four
      digits. Z, UTC, GMT or an offset may follow its time of day.
    - a number of nine or more digits: epoch seconds.

    A day without a time of day means its start: 00:00, or the first time that the clock shows if it skips that. A time
    that the clock skips is rejected; for a time that it shows twice the first is used, unless there is an offset.
    ``label`` is the name of the text in errors.

    Raises UnreadableTime for everything else, for ambiguous dates (``03/04/2026``) and for times
    outside the years 1970 to 2200 (UTC).

    time = epoch_number | moment | distance
    """
    tokens = tokenize(Source(text, label))
    clock = _Now(now, zone)
    if len(tokens) == 1 and tokens[0].text.isdigit():
        return _within(_epoch_number(tokens[0], clock.today), tokens)
    parts = _split(tokens)
    return _within(_distance(parts, clock) if _is_distance(parts.day) else _moment(parts, clock), tokens)


def _within(epoch: int, tokens: tuple[Token, ...]) -> int:
    if not 0 <= epoch <= _LAST:
        message = f"this is outside the years {FIRST_YEAR} to {LAST_YEAR}"
        raise unreadable("time-out-of-range", message, tokens, "write a time within them")
    return epoch


def _epoch_number(token: Token, today: date) -> int:
    """Return the time of a number alone.

    epoch_number = NUMBER
    """
    digits = token.text
    if len(digits) >= _MILLISECOND_DIGITS:
        message = f"{len(digits)} digits are too many for epoch seconds"
        help_ = "epoch seconds have ten digits today; thirteen are milliseconds: omit the last three"
        raise unreadable("time-bare-number", message, (token,), help_)
    if len(digits) < _EPOCH_DIGITS:
        message = f"the number `{digits}` alone may mean a year, a date, a time of day or seconds"
        help_ = f"write a date as {today}, a time of day as 18:30; epoch seconds have {_EPOCH_DIGITS} digits or more"
        raise unreadable("time-bare-number", message, (token,), help_)
    return int(digits)


def _split(tokens: tuple[Token, ...]) -> _Parts:
    """Split the tokens into the day (or the distance), the time of day and the offset, in any order.

    parts = (clock offset? | glue | NUMBER | DATE | WORD | MARK)*
    offset = OFFSET | ZONE_WORDS
    """
    day: list[Token] = []
    clock: Token | None = None
    offset: Token | None = None
    for i, token in enumerate(tokens):
        previous = tokens[i - 1] if i else None
        following = tokens[i + 1] if i + 1 < len(tokens) else None
        _refuse_half_offset(token, previous)
        if _is_clock(token):
            if clock:
                raise unreadable("time-second-clock", "there is a time of day already", (token,), "omit one")
            clock = token
        elif token.kind is TokenKind.OFFSET or token.is_word(*ZONE_WORDS):
            if offset:
                raise unreadable("time-offset", _TWO_OFFSETS, (offset, token), WRITE_AN_OFFSET)
            if clock is None or previous is not clock:
                raise unreadable("time-offset", "an offset follows a time of day", (token,), WRITE_AN_OFFSET)
            offset = token
        elif not _is_glue(token, previous, following):
            day.append(token)
    return _Parts(tuple(day), clock, offset)


def _refuse_half_offset(token: Token, previous: Token | None) -> None:
    """Reject incomplete offsets: `+1`, `CET`, the end of `UTC+3`."""
    if previous is None:
        return
    after_zone = previous.kind is TokenKind.OFFSET or previous.is_word(*ZONE_WORDS)
    if token.is_mark("+", "-") and (after_zone or _is_clock(previous)):
        message = _TWO_OFFSETS if after_zone else "an offset has two digits for the hours"
        raise unreadable("time-offset", message, (previous, token), WRITE_AN_OFFSET)
    if (
        _is_clock(previous)
        and token.kind is TokenKind.WORD
        and _ABBREVIATION.fullmatch(token.written)
        and not known(token)
    ):
        message = f"`{token.written}` is not an offset: abbreviations of zones are ambiguous"
        raise unreadable("time-offset", message, (token,), f"{WRITE_AN_OFFSET}, or omit it and set the zone separately")


def _is_clock(token: Token) -> bool:
    """Return whether a token is a time of day.

    clock = CLOCK | CLOCK_WORDS
    """
    return token.kind is TokenKind.CLOCK or token.is_word(*CLOCK_WORDS)


def _is_glue(token: Token, previous: Token | None, following: Token | None) -> bool:
    """Return whether a token only joins its neighbours: a comma, at, on, and the T of ISO 8601.

    glue = "at" | "on" | "t" | ","
    """
    if following is None:
        return False
    if token.is_word("at"):
        return _is_clock(following)
    if token.is_word("on"):
        return following.kind in (TokenKind.DATE, TokenKind.NUMBER) or (
            following.kind is TokenKind.WORD and not _is_clock(following)
        )
    if token.is_word("t"):
        return previous is not None and previous.kind is TokenKind.DATE and following.kind is TokenKind.CLOCK
    return token.is_mark(",") and previous is not None and not previous.is_mark(",")


def _moment(parts: _Parts, now: _Now) -> int:
    """Return the time of a day with or without a time of day.

    moment = "now" | relative_day clock? | clock relative_day? | date (clock offset?)? | clock offset? date
    """
    if parts.day and parts.day[0].is_word("now"):
        for token in parts.all[1:]:
            raise unexpected(token)
        return now.epoch
    day = _relative_day(parts.day, now.today)
    if day is None:
        return _on(typed_date(parts.day, now.today), parts, now.zone)
    if parts.offset:
        message = "an offset needs a whole date: today and tomorrow are those of the local zone"
        raise unreadable("time-offset", message, (parts.offset,), f"write {day} before the time of day")
    return _on(day, parts, now.zone)


def _relative_day(tokens: tuple[Token, ...], today: date) -> date | None:
    """Return the day of today, tomorrow, (next) monday or no words at all; None for a date.

    relative_day = DAY_STEPS | "next"? WEEKDAY_OF
    """
    if not tokens:
        return today
    first, rest = tokens[0], tokens[1:]
    if first.is_word(*DAY_STEPS):
        for token in rest:
            raise unexpected(token)
        return today + timedelta(days=DAY_STEPS[first.text])
    if first.is_word("next"):
        if len(rest) != 1 or not rest[0].is_word(*WEEKDAY_OF):
            help_ = "write `next monday` (the coming one, same as `monday`), `in 1 week` or a date"
            raise unreadable("time-next", "`next` needs a weekday", tokens, help_)
        first, rest = rest[0], ()
    if first.is_word(*WEEKDAY_OF) and not rest:
        return today + timedelta(days=(WEEKDAY_OF[first.text] - today.weekday() - 1) % 7 + 1)
    return None


def _on(day: date, parts: _Parts, zone: tzinfo) -> int:
    wall = datetime.combine(day, clock_time(parts.clock) if parts.clock else time(0))
    found = instant(wall, offset_zone(parts.offset) if parts.offset else zone)
    if isinstance(found, int):
        return found
    if parts.clock is None and found.end.date() == day:
        return found.instant
    raise _skipped(wall, found, parts.all)


def _is_distance(tokens: tuple[Token, ...]) -> bool:
    if not tokens:
        return False
    counts = len(tokens) > 1 and tokens[0].kind is TokenKind.NUMBER and _unit_like(tokens[1])
    return counts or tokens[0].is_word("in") or tokens[0].is_mark("+", "-") or tokens[-1].is_word("ago")


def _unit_like(token: Token) -> bool:
    """Return whether a token is a unit, even one without a fixed length.

    unit = ELAPSED_UNITS | CALENDAR_UNITS
    """
    return token.is_word(*ELAPSED_UNITS, *CALENDAR_UNITS, *_NO_LENGTH)


def _distance(parts: _Parts, now: _Now) -> int:
    """Return the time of ``in 2 days``, ``+90m`` or ``3 h ago``; a time of day is allowed only with days.

    distance = ("in" | "+" | "-") counted clock? | counted "ago" clock? | clock ("in" counted | counted "ago")
    """
    tokens = parts.day
    ahead = tokens[0].is_word("in") or tokens[0].is_mark("+")
    behind = tokens[0].is_mark("-") or tokens[-1].is_word("ago")
    if not (ahead or behind):
        written = f"{tokens[0].written} {tokens[1].written}"
        help_ = f"write `in {written}` or `{written} ago`"
        raise unreadable("time-direction", "is this in the future or in the past?", tokens, help_)
    counted = tokens[1:] if ahead or tokens[0].is_mark("-") else tokens[:-1]
    days, seconds, has_hours = _counted(counted, tokens)
    if parts.offset:
        raise unreadable("time-offset", "an offset needs a whole date", (parts.offset,), WRITE_AN_OFFSET)
    if parts.clock and has_hours:
        raise unreadable("time-of-day", "only days and weeks can have a time of day", (parts.clock,), "omit it")
    sign = -1 if behind else 1
    _within(now.epoch + sign * (days * _DAY + seconds), tokens)
    if not days and not parts.clock:
        return now.epoch + sign * seconds
    return _some_days_on(sign * days, parts, now) + sign * seconds


def _some_days_on(days: int, parts: _Parts, now: _Now) -> int:
    wall = now.wall + timedelta(days=days)
    if parts.clock:
        wall = datetime.combine(wall.date(), clock_time(parts.clock))
    found = instant(wall, now.zone)
    if isinstance(found, Gap):
        raise _skipped(wall, found, parts.all)
    return found


def _counted(tokens: tuple[Token, ...], whole: tuple[Token, ...]) -> tuple[int, int, bool]:
    """Return the sums of days and seconds of pairs of number and unit, and whether there are seconds.

    counted = (NUMBER unit)+
    """
    if not tokens:
        raise unreadable("time-amount", "the length is missing", whole, _UNITS)
    days = seconds = 0
    elapsed = False
    for i in range(0, len(tokens), 2):
        number, unit = tokens[i], tokens[i + 1] if i + 1 < len(tokens) else None
        if not number.text.isdigit() or (unit and unit.is_mark(".", ",")):
            raise unreadable("time-amount", "this is not a whole number", tokens[i : i + 3], _UNITS)
        if unit is None or not _unit_like(unit):
            raise unreadable("time-unit", f"`{number.written}` needs a unit", tokens[i : i + 2], _UNITS)
        if unit.text in _NO_LENGTH:
            message = f"`{unit.written}` has no fixed length"
            raise unreadable("time-unit", message, (unit,), "count in days or weeks, or write the date")
        # The time is out of range whatever follows; int() of more digits would also be slow.
        amount = int(number.text) if len(number.text) <= _MOST_DIGITS else _LAST * _DAY
        days += amount * CALENDAR_UNITS.get(unit.text, 0)
        seconds += amount * ELAPSED_UNITS.get(unit.text, 0)
        elapsed = elapsed or unit.text in ELAPSED_UNITS
    return days, seconds, elapsed


def _skipped(wall: datetime, gap: Gap, tokens: tuple[Token, ...]) -> UnreadableTime:
    last = gap.begin - timedelta(seconds=1)
    message = f"{wall} does not exist here: the clock goes from {gap.begin} straight to {gap.end}"
    error = unreadable("time-skipped", message, tokens, f"write {last} (before the gap) or {gap.end} (after it)")
    return SkippedTime(error.diagnostics[0], wall, gap)
