"""Text to tokens by the rules of HTCondor's lexer (classad::Lexer), and the literals of times."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo
from math import isnan
from typing import Final, NamedTuple

from crondor.classad.text import normal
from crondor.classad.tree import (
    ERROR,
    INT_MAX,
    INT_MIN,
    MAX_TEXT,
    MAX_TOKENS,
    UNDEFINED,
    AbsTime,
    Exceptional,
    LocalTime,
    RelTime,
    syntax_error,
    truncate32,
    wrap32,
)
from crondor.diagnostics import Source

_BLANK = r"[ \t\n\r\f\v]*"
_QUOTED = r'[^"\\]*(?:\\[\s\S][^"\\]*)*'
_ALONE = _QUOTED.replace('"', "'")
_HEXADECIMAL = r"0[xX][0-9a-fA-F]+\.[0-9]+(?:[eE][+-]?[0-9]+)?"
_NUMBER = _HEXADECIMAL + r"|0[xX][0-9a-fA-F]*|(?:[0-9]+(?:\.[0-9]*)?|\.\.?[0-9]+)(?:[eE][+-]?[0-9]*)?"
_OPERATOR = r"&&|\|\||=\?=|=!=|==|!=|<=|<<|>>>|>>|>=|\?[ \t\n\r\f\v]*:|\.\.?|=\?|[-+*%^~;:,\[\](){}&|<>=!?]|/(?![/*])"
_STRINGS = {'"': rf'"{_QUOTED}"(?:{_BLANK}"{_QUOTED}")*', "'": rf"'{_ALONE}'(?:{_BLANK}'{_ALONE}')*"}
# An old string ends at a quote without a backslash before it, or with one at the end of the line.
_OLD = r'"[^"\\]*(?:\\(?:"(?!\n|\Z)|(?!")|(?="(?:\n|\Z)))[^"\\]*)*"'


def _tokens(*strings: str) -> re.Pattern[str]:
    comment = r"//[^\n]*|/\*[\s\S]*?\*/"
    parts = (r"[A-Za-z_][A-Za-z0-9_]*", _NUMBER, _OPERATOR, *strings, comment, r"\Z", r"[\s\S]")
    return re.compile(_BLANK + "(?:" + "|".join(f"({part})" for part in parts) + ")")


_NEW = _tokens(_STRINGS['"'], _STRINGS["'"])
_OLD_STYLE = _tokens(_OLD, _OLD.replace('"', "'"))
_NAME, _NUM, _OP, _STRING, _QUOTED_NAME, _COMMENT, _END, _BAD = range(1, 9)
_PIECES = {mark: re.compile(f"{mark}({body}){mark}") for mark, body in (('"', _QUOTED), ("'", _ALONE))}

# Adjacent strings are joined. A quote after a string that closes nothing spoils both.
_AGAIN = {mark: re.compile(_BLANK + mark) for mark in "\"'"}

_WORDS: Final[dict[str, tuple[str, bool | Exceptional | None]]] = {
    "true": ("literal", True),
    "false": ("literal", False),
    "undefined": ("literal", UNDEFINED),
    "error": ("literal", ERROR),
    "is": ("=?=", None),
    "isnt": ("=!=", None),
}
WORDS: Final = frozenset(_WORDS)
_SHORT: Final = re.compile(r"\?\s+:")
_ESCAPE = re.compile(r"\\([0-7]{1,3}|[\s\S])")
_HUGE = 1 << 70  # represents all integers of more than 20 digits, which need not be computed
_NAMED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Tokens:
    """The tokens of a text as columns: kind, value, start, end.

    The kind of an operator is its text; the others are name, number, literal (a string or a reserved word), octal (an
    integer that is only one after a minus), bad and end. Reading stops at the first bad one, whose value is the
    message: a reader of the beginning of a text never reaches it.
    """

    def __init__(self, source: Source, *, old: bool = False) -> None:
        """Read all tokens. Raises ClassAdSyntaxError: too long, too many tokens, a NUL or a lone surrogate."""
        self.source = source
        self.kinds: list[str] = []
        self.values: list[object] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self._check(source)
        self._read(source.text, _OLD_STYLE if old else _NEW, old=old)

    def _check(self, source: Source) -> None:
        text = source.text
        if len(text) > MAX_TEXT:
            raise syntax_error(source, 0, 1, f"the text has {len(text)} characters; {MAX_TEXT} are allowed")
        at = text.find("\0")
        if at >= 0:
            raise syntax_error(source, at, at + 1, "a NUL character: HTCondor would take the text to end here")
        if not text.isascii():
            try:
                text.encode("utf-8", "surrogateescape")
            except UnicodeEncodeError as problem:
                message = "half of a surrogate pair, which UTF-8 cannot encode"
                raise syntax_error(source, problem.start, problem.end, message) from None

    def _read(self, text: str, grammar: re.Pattern[str], *, old: bool) -> None:
        """Read the tokens up to the end, or up to the first bad one, separated by optional blanks.

        tokens = (NAME | number | octal | OP | string | quoted_name | COMMENT)* END
        """
        kinds, values, starts, ends = self.kinds, self.values, self.starts, self.ends
        for match in grammar.finditer(text):
            group = match.lastindex or _END
            start, end = match.span(group)
            value: object = match[group]
            if group == _NAME:
                kind, value = _WORDS.get(match[_NAME].lower(), ("name", value))
            elif group == _OP:
                kind = match[_OP]
                if kind not in _KINDS:
                    kind, value = _operator(kind)
            elif group == _NUM:
                kind, value = number(match[_NUM])
            elif group == _COMMENT:
                continue
            elif group == _END:
                break
            else:
                start = _spoiled(text, start, end, group, old=old)
                kind, value = _quoted(text, start, end, group, old=old)
            kinds.append(kind)
            values.append(value)
            starts.append(start)
            ends.append(end)
            if kind == "bad":
                return
        if len(kinds) > MAX_TOKENS:
            raise syntax_error(self.source, starts[MAX_TOKENS], ends[MAX_TOKENS], f"more than {MAX_TOKENS} tokens")
        kinds.append("end")
        values.append(None)
        starts.append(len(text.rstrip(" \t\n\r\f\v")))
        ends.append(len(text))


_SIGNS = "&& || =?= =!= == != <= << >>> >> >= . - + * % ^ ~ ; : , [ ] ( ) { } & | < > = ! ? / ?:"
_KINDS = frozenset(_SIGNS.split())


def _operator(text: str) -> tuple[str, str]:
    """Return the kind of an operator with blanks or a doubled dot in it."""
    if text == "..":
        return ".", text
    return ("?:", text) if _SHORT.fullmatch(text) else ("bad", "there is no operator =? (=?= is one)")


def number(text: str) -> tuple[str, object]:
    """Return kind and value of a number token without sign (HTCondor: Lexer::tokenizeNumber).

    A leading zero is only allowed in a real (HTCondor, old semantics); after a minus sign, which is part of the number,
    its test misses the zero, and the digits before any x count.

    number = "0" | [1-9] [0-9]* | real
    octal = "0" [0-7]+ | "0" [xX] [0-9a-fA-F]+
    real = [0-9]+ exponent
         | ([0-9]+ "." | "."? ".") [0-9]+ exponent?
         | "0" [xX] [0-9a-fA-F]+ "." [0-9]+ exponent?
    exponent = [eE] [-+]? [0-9]+
    """
    if text.isdigit():
        if text[0] != "0" or len(text) == 1:
            return "number", int(text) if len(text) <= 20 else _HUGE
        if text.strip("01234567"):
            return "bad", "an integer cannot begin with a zero"
        return "octal", text
    if text[:2].lower() == "0x":
        if "." in text:  # the reader of reals knows hexadecimal ones, and stops at the sign of an exponent
            return "number", float.fromhex(re.split("[+-]", text)[0])
        return ("octal", "0") if len(text) > 2 else ("bad", "no digits after 0x")
    mantissa, exponent, digits = text.lower().partition("e")
    if mantissa.endswith("."):
        return "bad", "a real needs a digit after its point"
    if exponent and not digits.strip("+-"):
        return "bad", "a real needs digits after its e"
    return "number", 0.0 if text.startswith("..") else float(text)  # ".." is one token, and strtod stops at it


def integer(found: object, *, negative: bool) -> object:
    """Return the value of a number token with its sign: integers beyond 64 bits become 0."""
    if isinstance(found, float):
        return -found if negative else found
    if isinstance(found, str):
        found = int(found) if len(found.lstrip("0")) <= 20 else _HUGE
    whole = found if isinstance(found, int) else 0
    whole = -whole if negative else whole
    return whole if INT_MIN <= whole <= INT_MAX else 0


def _spoiled(text: str, start: int, end: int, group: int, *, old: bool) -> int:
    """Return where a quoted token begins, or after its end the quote that closes nothing and spoils it."""
    behind = None if old or group == _BAD else _AGAIN[text[start]].match(text, end)
    return start if behind is None else behind.end() - 1


def _quoted(text: str, start: int, end: int, group: int, *, old: bool) -> tuple[str, object]:
    r"""Return kind and value of a string, or of a name in quotes; several side by side are one.

    string = ('"' ([^"\\] | escape)* '"')+
    quoted_name = ("'" ([^'\\] | escape)* "'")+
    escape = "\" ([0-7] [0-7]? [0-7]? | [^0-7])

    HTCondor: Lexer::tokenizeString, Lexer::tokenizeStringOld.
    """
    mark = text[start]
    if group == _BAD or start >= end:
        return "bad", _complaint(text, start)
    kind = "literal" if mark == '"' else "name"
    if old:
        body = text[start + 1 : end - 1].replace("\\" + mark, mark)
        return kind, normal(body)
    raw = text[start + 1 : end - 1]
    if mark in raw:
        raw = "".join(_PIECES[mark].findall(text[start:end]))
    if "\\" in raw:
        raw = _ESCAPE.sub(_unescape, raw)
        if "\0" in raw:
            return "bad", "an escape that stands for a NUL character"
    return kind, normal(raw)


def _unescape(match: re.Match[str]) -> str:
    escaped = match[1]
    if not "0" <= escaped[0] <= "7":
        return _NAMED.get(escaped, escaped)
    digits = escaped if int(escaped[:2], 8) < 0x20 else escaped[:2]
    code = int(digits, 8)
    character = chr(code) if code < 0x80 else chr(0xDC00 + code)
    return character + escaped[len(digits) :]


def _complaint(text: str, at: int) -> str:
    character = text[at]
    if character in "\"'":
        return "a string without its closing quote" if character == '"' else "a quoted name without its closing quote"
    if text.startswith("/*", at):
        return "a comment without its end */"
    return "a character that does not begin a name, number or operator"


DAY: Final = 86400
_LAST = 253402214400  # the last day of the year 9999, where Python's zones end
_FIRST = -62135510400  # the second day of the year 1


# HTCondor: Literal::MakeAbsTime, Literal::MakeRelTime.
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
    """Return the offset of a zone from UTC at a moment; beyond the years 1 to 9999 the nearest one in them."""
    return _whole(_local(zone, seconds).utcoffset())


def mktime(fields: int, zone: tzinfo) -> int:
    """Return the moment of fields in standard time, like C's mktime; ``fields`` are its seconds in UTC."""
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

    They are read in standard time; HTCondor then subtracts an hour in summer, even if summer time is half an hour.
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
    return number if abs(number) >= 1e15 or isnan(number) else float(number // 1)


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

    Missing fields are zero, even the day, which is then the last of the month before.

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
    if seconds == -1:  # mktime's result for an error
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
