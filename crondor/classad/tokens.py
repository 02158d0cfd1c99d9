"""Text to tokens, by the rules of HTCondor's lexer under its daemons' semantics (classad::Lexer)."""

from __future__ import annotations

import re
from typing import Final

from crondor.classad.errors import syntax_error
from crondor.classad.limits import MAX_TEXT, MAX_TOKENS
from crondor.classad.text import normal
from crondor.classad.values import ERROR, INT_MAX, INT_MIN, UNDEFINED, Exceptional
from crondor.source import Source

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

# Strings side by side are one. A quote behind a string that closes nothing spoils both.
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
_HUGE = 1 << 70  # stands for all integers of more than 20 digits, which need not be computed
_NAMED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Tokens:
    """The tokens of a text as columns: kind, value, start, end.

    The kind of an operator is its text; the others are name, number, literal (a string or a reserved word),
    octal (an integer that is only one after a minus), bad and end. Reading stops at the first bad one, whose value
    is the message: a reader that takes only the beginning of a text never meets it.
    """

    __slots__ = ("ends", "kinds", "source", "starts", "values")

    def __init__(self, source: Source, *, old: bool = False) -> None:
        """Read all tokens.

        Raises ClassAdSyntaxError for a text that is too long, has too many tokens, a NUL or a lone surrogate.
        """
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
                message = "half of a surrogate pair, which no UTF-8 text can hold"
                raise syntax_error(source, problem.start, problem.end, message) from None

    def _read(self, text: str, grammar: re.Pattern[str], *, old: bool) -> None:
        """Read the tokens up to the end, or up to the first bad one; blanks may stand between them.

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


_KINDS = frozenset(
    [
        "&&",
        "||",
        "=?=",
        "=!=",
        "==",
        "!=",
        "<=",
        "<<",
        ">>>",
        ">>",
        ">=",
        ".",
        "-",
        "+",
        "*",
        "%",
        "^",
        "~",
        ";",
        ":",
        ",",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "&",
        "|",
        "<",
        ">",
        "=",
        "!",
        "?",
        "/",
        "?:",
    ]
)


def _operator(text: str) -> tuple[str, str]:
    """Return the kind of an operator with blanks or a doubled dot in it."""
    if text == "..":
        return ".", text
    return ("?:", text) if _SHORT.fullmatch(text) else ("bad", "there is no operator =? (=?= is one)")


def number(text: str) -> tuple[str, object]:
    """Return kind and value of a number token without sign (HTCondor: Lexer::tokenizeNumber).

    A leading zero is allowed in a real only (HTCondor, old semantics); with a minus sign in front, which is part of
    the number, its test misses the zero, and the digits before any x count.

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
            return "bad", "no integer begins with a zero"
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
    return "number", 0.0 if text.startswith("..") else float(text)  # ".." is one sign, and strtod stops at it


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
    """Return where a quoted token begins, or behind its end the quote that closes nothing and spoils it."""
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
    return "a character that begins no name, number or operator"
