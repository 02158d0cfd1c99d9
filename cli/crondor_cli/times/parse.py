"""Times typed by people: a small grammar for relative ones, python-dateutil for dates written in full."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

from crondor.source import Source
from crondor_cli.times.dates import FIRST_YEAR, LAST_YEAR, typed_date
from crondor_cli.times.tokens import (
    CALENDAR_UNITS,
    CLOCK_WORDS,
    DAY_STEPS,
    ELAPSED_UNITS,
    WEEKDAY_OF,
    WRITE_AN_OFFSET,
    ZONE_WORDS,
    SkippedTime,
    Token,
    TokenKind,
    UnreadableTime,
    clock_time,
    known,
    offset_zone,
    tokenize,
    unexpected,
    unreadable,
)
from crondor_cli.times.wall import Gap, instant, wall_clock

__all__ = ["UnreadableTime", "parse_time"]

_DAY = 86_400
_LAST = 7_289_654_399  # 2200-12-31 23:59:59 UTC
_EPOCH_DIGITS = 9  # from here up a bare number is epoch seconds: 1973 and later
_MILLISECOND_DIGITS = 13
_MOST_DIGITS = 15  # of a number that is counted with; far beyond every accepted time
_UNITS = "the units are seconds, minutes, hours, days and weeks: `in 90 min`, `in 2 days`"
_TWO_OFFSETS = "there is an offset already, and `UTC+3` is three hours ahead for some and behind for others"
_ABBREVIATION = re.compile("[A-Z]{3,5}")  # of a zone: CET, AEST
_NO_LENGTH = frozenset({"month", "months", "mo", "year", "years", "yr", "y"})


@dataclass(frozen=True)
class _Now:
    """What relative times are counted from."""

    epoch: int
    zone: tzinfo

    @property
    def wall(self) -> datetime:
        return wall_clock(self.epoch, self.zone)

    @property
    def today(self) -> date:
        return self.wall.date()


@dataclass(frozen=True)
class _Parts:
    """The tokens of a time: what says the day (or the distance), the time of day, the offset from UTC."""

    day: tuple[Token, ...]
    clock: Token | None
    offset: Token | None

    @property
    def all(self) -> tuple[Token, ...]:
        found = (*self.day, *(t for t in (self.clock, self.offset) if t))
        return tuple(sorted(found, key=lambda token: token.start))


def parse_time(text: str, now: int, zone: tzinfo, *, label: str = "<time>") -> int:
    """Return the instant (epoch seconds) that ``text`` names, for a reader in ``zone`` at ``now`` (epoch seconds).

    Read are, in any letter case and with the time of day before or after the day:

    - ``now``; ``today``, ``tomorrow``, ``yesterday``, with or without a time of day; a time of day alone is
      today's, even where it has passed. ``noon`` is 12:00, ``midnight`` the 00:00 a day begins with.
    - ``monday``, ``next mon``: the coming one, strictly after today, the same with and without ``next``.
    - ``in 90 min``, ``+2h``, ``in 1 h 30 min``, ``3 days ago``: seconds, minutes and hours elapse; days and weeks
      keep the time on the clock, or take a given one (``in 2 days at 06:00``), and are counted before hours.
    - ``2026-11-20``, ``20 Nov 2026 6:30pm``, ``Fri, 20 Nov 2026 06:30:00 +0100``: a whole date; its year has four
      digits. Z, UTC, GMT or an offset may follow its time of day.
    - a number of nine or more digits: epoch seconds.

    A day without a time of day means its beginning: 00:00, or what the clock shows first where it skips that. A
    time that the clock skips is refused; of one that it shows twice the first pass is taken, unless there is an
    offset. ``label`` is the name errors give to the text.

    Raises UnreadableTime for everything else, for dates with two readings (``03/04/2026``) and for instants
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
    """Return the instant of a number that stands alone.

    epoch_number = NUMBER
    """
    digits = token.text
    if len(digits) >= _MILLISECOND_DIGITS:
        message = f"{len(digits)} digits are too many for epoch seconds"
        help_ = "epoch seconds have ten digits today; thirteen are milliseconds: leave the last three out"
        raise unreadable("time-bare-number", message, (token,), help_)
    if len(digits) < _EPOCH_DIGITS:
        message = f"the number `{digits}` alone may mean a year, a date, a time of day or seconds"
        help_ = f"write a date as {today}, a time of day as 18:30; epoch seconds have {_EPOCH_DIGITS} digits or more"
        raise unreadable("time-bare-number", message, (token,), help_)
    return int(digits)


def _split(tokens: tuple[Token, ...]) -> _Parts:
    """Tell the day (or the distance), the time of day and the offset apart, in whatever order they stand.

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
                raise unreadable("time-second-clock", "there is a time of day already", (token,), "leave one out")
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
    """Refuse what stands in an offset's place but is none: `+1`, `CET`, the end of `UTC+3`."""
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
        message = f"`{token.written}` is no offset: abbreviations of zones have several meanings"
        raise unreadable("time-offset", message, (token,), f"{WRITE_AN_OFFSET}, or nothing and choose the zone apart")


def _is_clock(token: Token) -> bool:
    """Tell whether a token is a time of day.

    clock = CLOCK | CLOCK_WORDS
    """
    return token.kind is TokenKind.CLOCK or token.is_word(*CLOCK_WORDS)


def _is_glue(token: Token, previous: Token | None, following: Token | None) -> bool:
    """Tell whether a token only joins its neighbours: a comma, at, on, and the T of ISO 8601.

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
    """Return the instant of a day with or without a time of day.

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
        message = "an offset goes with a whole date: today and tomorrow are those of the local zone"
        raise unreadable("time-offset", message, (parts.offset,), f"write {day} before the time of day")
    return _on(day, parts, now.zone)


def _relative_day(tokens: tuple[Token, ...], today: date) -> date | None:
    """Return the day that today, tomorrow, (next) monday or nothing at all stand for; None for a date.

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
            raise unreadable("time-next", "`next` goes with a weekday only", tokens, help_)
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
    """Tell whether a token is a unit, be it one without a fixed length.

    unit = ELAPSED_UNITS | CALENDAR_UNITS
    """
    return token.is_word(*ELAPSED_UNITS, *CALENDAR_UNITS, *_NO_LENGTH)


def _distance(parts: _Parts, now: _Now) -> int:
    """Return the instant of ``in 2 days``, ``+90m`` or ``3 h ago``; a time of day goes with days alone.

    distance = ("in" | "+" | "-") counted clock? | counted "ago" clock? | clock ("in" counted | counted "ago")
    """
    tokens = parts.day
    ahead = tokens[0].is_word("in") or tokens[0].is_mark("+")
    behind = tokens[0].is_mark("-") or tokens[-1].is_word("ago")
    if not (ahead or behind):
        written = f"{tokens[0].written} {tokens[1].written}"
        help_ = f"write `in {written}` or `{written} ago`"
        raise unreadable("time-direction", "is this to come, or gone by?", tokens, help_)
    counted = tokens[1:] if ahead or tokens[0].is_mark("-") else tokens[:-1]
    days, seconds, has_hours = _counted(counted, tokens)
    if parts.offset:
        raise unreadable("time-offset", "an offset goes with a whole date", (parts.offset,), WRITE_AN_OFFSET)
    if parts.clock and has_hours:
        raise unreadable("time-of-day", "only days and weeks go with a time of day", (parts.clock,), "leave it out")
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
    """Return the days and the seconds that pairs of number and unit add up to, and whether there are seconds.

    counted = (NUMBER unit)+
    """
    if not tokens:
        raise unreadable("time-amount", "how long is missing", whole, _UNITS)
    days = seconds = 0
    elapsed = False
    for i in range(0, len(tokens), 2):
        number, unit = tokens[i], tokens[i + 1] if i + 1 < len(tokens) else None
        if not number.text.isdigit() or (unit and unit.is_mark(".", ",")):
            raise unreadable("time-amount", "this is not a whole number", tokens[i : i + 3], _UNITS)
        if unit is None or not _unit_like(unit):
            raise unreadable("time-unit", f"`{number.written}` of what?", tokens[i : i + 2], _UNITS)
        if unit.text in _NO_LENGTH:
            message = f"`{unit.written}` has no fixed length"
            raise unreadable("time-unit", message, (unit,), "count in days or weeks, or write the date")
        # An instant out of range whatever the rest says; int() of more digits would take its time, too.
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
