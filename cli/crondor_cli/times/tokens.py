"""The words, numbers and marks of a typed time, and the error that points at them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta, timezone
from enum import Enum, auto

from crondor.calendar import MONTHS, WEEKDAYS
from crondor.diagnostics import CrondorError, Diagnostic, similar
from crondor.source import Source
from crondor_cli.times.wall import Gap

LONGEST = 100  # characters; every sensible time is far shorter, and all later work is bounded by it

_MONTHS = [name.lower() for name in MONTHS[1:]]
_WEEKDAYS = [name.lower() for name in (*WEEKDAYS[1:], WEEKDAYS[0])]
MONTH_OF = {name: n % 12 + 1 for n, name in enumerate([*(name[:3] for name in _MONTHS), *_MONTHS])} | {"sept": 9}
WEEKDAY_OF = {name: n % 7 for n, name in enumerate([*(name[:3] for name in _WEEKDAYS), *_WEEKDAYS])}  # Monday is 0
WEEKDAY_OF |= {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}
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
_SHORTEST_GUESS = 4  # characters; a shorter word is close to everything
_LIKENESS = 0.7
_AFTERNOON = 12  # hours added by pm

WRITE_A_TIME = "write a time such as `now`, `tomorrow 06:30`, `monday`, `in 90 min`, `2026-11-20 06:30` or `18:00`"
WRITE_A_CLOCK = "a time of day is written 06:30, 06:30:15, 6:30pm or 6am"
WRITE_AN_OFFSET = "after a full date and time of day write Z, UTC or an offset such as +01:00"


class UnreadableTime(CrondorError, ValueError):
    """A typed time that cannot be read, or that names no instant."""


class SkippedTime(UnreadableTime):
    """A time that the clock skips: ``wall`` was typed, and it goes from ``begin`` to ``end`` at ``instant`` (epoch)."""

    def __init__(self, fault: Diagnostic, wall: datetime, gap: Gap) -> None:
        """Take what is wrong, and where the clock goes instead."""
        super().__init__(fault)
        self.wall = wall
        self.gap = gap


class TokenKind(Enum):
    """What a token is."""

    CLOCK = auto()
    DATE = auto()
    NUMBER = auto()
    WORD = auto()
    OFFSET = auto()
    MARK = auto()


@dataclass(frozen=True)
class Token:
    """A piece of a typed time: its kind, its text in lower case, and where it stands in ``source``."""

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
        """Tell whether this is one of some (lower-case) words."""
        return self.kind is TokenKind.WORD and self.text in words

    def is_mark(self, *marks: str) -> bool:
        """Tell whether this is one of some punctuation marks."""
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
    """Return the time of day that a CLOCK token, or the word noon or midnight, stands for.

    Raises UnreadableTime where there is no such time of day, or where it has a fraction of a second.
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
    """Return the fixed zone that an OFFSET token, or the word Z, UTC or GMT, stands for.

    Raises UnreadableTime for an offset that no place on earth has ever had: from 16 hours up.
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
    """Tell whether a token is a word that some time may contain."""
    return token.is_word(*_VOCABULARY, *ZONE_WORDS, "on", "of")


def unexpected(token: Token) -> UnreadableTime:
    """Return the error for a token that has no place where it stands."""
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
        raise unreadable("time-blank", "no time is given", source, WRITE_A_TIME)
    if len(text) > LONGEST:
        message = f"a time of {len(text)} characters is too long to be one (at most {LONGEST})"
        raise unreadable("time-too-long", message, source, WRITE_A_TIME)
    strange = next((i for i, c in enumerate(text) if not (c.isascii() and (c.isprintable() or c.isspace()))), None)
    if strange is not None:
        message = f"the character {text[strange]!a} cannot stand in a time"
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
