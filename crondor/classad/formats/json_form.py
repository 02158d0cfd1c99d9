r"""Ads as JSON objects: one after the other, one a line, or in a list (HTCondor: ClassAdJsonParser::parseClassAd).

A value becomes a text in new syntax: null is undefined, an object an ad, an array a list, and a string between
``\/Expr(`` and ``)\/`` (with those backslashes) an expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NoReturn

from crondor.classad.ad import ClassAd, Place
from crondor.classad.compile import read
from crondor.classad.formats.pieces import (
    DEEP,
    JSON,
    LENIENT_JSON,
    MAX_DEPTH,
    Feed,
    Piece,
    ReadMode,
    Report,
    check_characters,
    error,
    read_pieces,
)
from crondor.classad.parser import print_name, print_string, unparse
from crondor.classad.scope import code_tree
from crondor.classad.text import from_bytes, lower, normal
from crondor.classad.tree import ClassAdSyntaxError

_BODY: Final = r'[^"\\]*(?:\\[\s\S][^"\\]*)*'
_TOKEN: Final = re.compile(
    rf'[ \t\r\n]*(?:(?P<sign>[{{}}\[\]:,])|"(?P<string>{_BODY})"'
    r"|(?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.]))|(?P<word>[A-Za-z_][A-Za-z0-9_]*)|\Z)"
)
# HTCondor's reader accepts comments, adjacent strings, and numbers as in expressions.
_LENIENT: Final = re.compile(
    r"(?:[ \t\r\n\f\v]|//[^\n]*|/\*[\s\S]*?\*/)*(?:(?P<sign>[{}\[\]:,])"
    rf'|"(?P<string>{_BODY}(?:"[ \t\r\n\f\v]*"{_BODY})*)"'
    r"|(?P<number>-?(?:0[xX][0-9a-fA-F]+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.]))"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)|\Z)"
)
_LEADING_ZERO: Final = re.compile(r"-?0[0-9]")
_NO_OCTAL: Final = re.compile(r"-0[0-7]*[89][0-9]*\Z")  # HTCondor reads -010 as -10, and refuses -08
_STRING: Final = re.compile(f'"({_BODY})"?')  # there is always a quote at the end
_WORDS: Final = {"true": "true", "false": "false", "null": "undefined"}
_ESCAPE: Final = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([\s\S]))"
)
_LETTERS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_EXPRESSION: Final = re.compile(r"/Expr\(([\s\S]*)\)/\Z", re.IGNORECASE)
_PLAIN: Final = re.compile(r"[ !#-\[\]-~]*\Z")
_BAD_ESCAPE: Final = "JSON has no such escape"


def read_json(feed: Feed, mode: ReadMode, report: Report | None) -> Iterator[ClassAd]:
    """Return the ads of a text one by one; an ad with a fault is refused as a whole.

    DAEMON accepts doubled commas in an object, comments, adjacent strings, words in capitals and unknown escapes, reads
    an escape beyond ASCII as the same wrong bytes as HTCondor, and skips an empty object.

    ads = (ad | "[" (ad | ",")* "]")*

    Raises ClassAdSyntaxError.
    """
    daemon = mode is ReadMode.DAEMON
    syntax = LENIENT_JSON if daemon else JSON
    ads = read_pieces(feed, syntax, lambda piece: _Reader(piece, mode).ad(), report, tolerant=daemon)
    return (ad for ad in ads if ad.names or not daemon)


class _Reader:
    """Reads one object; lists and objects inside become text without recursion."""

    def __init__(self, piece: Piece, mode: ReadMode) -> None:
        check_characters(piece)
        self.piece = piece
        self.text = piece.text
        self.mode = mode
        self.daemon = mode is ReadMode.DAEMON
        self.tokens = _LENIENT if self.daemon else _TOKEN
        self.at = 0
        self.start = 0

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        raise error(self.piece, self.start, max(self.at, self.start + 1), message, hint)

    def token(self) -> tuple[str, str]:
        match = self.tokens.match(self.text, self.at)
        if match is None or match.lastgroup is None:
            self.start = self.at = len(self.text) - len(self.text[self.at :].lstrip(" \t\r\n"))
            self.fail("this does not begin a JSON value")
        kind = match.lastgroup
        self.start = match.start(kind) - (kind == "string")
        self.at = match.end()
        found = match[kind]
        if kind == "string" and self.daemon and '"' in found:
            found = "".join(_STRING.findall(f'"{found}"'))
        return kind, found

    def peek(self) -> str:
        """Return the next punctuation, or an empty text before a value."""
        match = self.tokens.match(self.text, self.at)
        return (match["sign"] or "") if match is not None else ""

    def ad(self) -> ClassAd:
        """Read the object that is the ad.

        ad = "{" (member ("," member)*)? "}"
        """
        place = Place(self.piece.name, self.piece.position(0)[0])
        names: dict[str, str] = {}
        codes: dict[str, str] = {}
        self.token()
        self.commas()
        while self.peek() != "}":
            name = self.name()
            key = lower(name)
            names.setdefault(key, name)
            codes[key] = self.value()
            self.separator("}")
        self.token()
        return ClassAd.of(dict(codes), names, place)

    def commas(self) -> None:
        """Skip extra commas, like HTCondor."""
        while self.daemon and self.peek() == ",":
            self.token()

    def separator(self, closing: str) -> None:
        sign = self.peek()
        if sign == ",":
            self.token()
            if closing == "}":
                self.commas()
            if self.peek() == closing and not (self.daemon and closing == "}"):
                self.fail("a comma and nothing after it")
        elif sign != closing:
            self.token()
            self.fail(f"a comma or {closing} is expected here")

    def name(self) -> str:
        """Read the name of a member and its colon.

        name = STRING ":"
        """
        kind, text = self.token()
        if kind != "string":
            self.fail("the name of an attribute is expected here, in double quotes")
        name = self.unescaped(text)
        if not name:
            self.fail("an attribute needs a name")
        start, self.start = self.start, self.at
        if self.token() != ("sign", ":"):
            self.fail("a colon is expected after a name")
        self.start = start
        return name

    def value(self) -> str:
        """Return the next value as text in new syntax.

        value = ad | "[" (value ("," value)*)? "]" | simple
        """
        out: list[str] = []
        open_: list[str] = []  # the closing tokens to come: a stack instead of recursion
        deep = False
        while True:
            kind, text = self.token()
            if kind == "sign":
                has_more = self.opens(text, open_, out)
                deep = deep or len(open_) > DEEP
                if has_more:
                    continue
            else:
                out.append(self.simple(kind, text, nested=bool(open_)))
            if open_:
                self.close(open_, out)
            if not open_:
                found = "".join(out)
                return self.expression(found, nested=False) if deep and not self.daemon else found

    def opens(self, sign: str, open_: list[str], out: list[str]) -> bool:
        """Begin a list or an object, and the name of its first member; return whether it has any."""
        if sign not in "{[":
            self.fail("a value is expected here")
        if len(open_) >= MAX_DEPTH:
            self.fail(f"lists and objects are nested deeper than {MAX_DEPTH}")
        closing = "}" if sign == "{" else "]"
        open_.append(closing)
        out.append("[ " if sign == "{" else "{ ")
        if closing == "}":
            self.commas()
        is_empty = self.peek() == closing
        if closing == "}" and not is_empty:
            out.append(self.member())
        return not is_empty

    def close(self, open_: list[str], out: list[str]) -> None:
        """Close what ends after a value, up to a container with another member, and begin that one's name."""
        while open_:
            closing = open_[-1]
            if self.peek() != closing:
                self.separator(closing)
                if self.peek() != closing:
                    out.append(f"; {self.member()}" if closing == "}" else ",")
                    return
            self.token()
            open_.pop()
            out.append(" ]" if closing == "}" else " }")

    def member(self) -> str:
        """Return the beginning of a member as text in new syntax; its value is read next.

        member = name value
        """
        return f"{print_name(self.name())} = "

    def simple(self, kind: str, text: str, *, nested: bool) -> str:
        """Return a simple value as text in new syntax.

        simple = NUMBER | WORD | STRING
        """
        if kind == "number":
            if _LEADING_ZERO.match(text) and (not self.daemon or text.isdigit() or _NO_OCTAL.match(text)):
                self.fail("an integer cannot begin with a zero")
            return text
        if kind == "word":
            word = _WORDS.get(text.lower() if self.daemon else text)
            return self.fail("true, false and null are the only words of JSON") if word is None else word
        if _PLAIN.match(text):
            return f'"{text}"'
        found = self.unescaped(text)
        if text.startswith("\\/") and text.endswith("\\/"):
            expression = _EXPRESSION.match(found)
            if expression is not None:
                return self.expression(expression[1], nested=nested)
        return print_string(found)

    def expression(self, text: str, *, nested: bool) -> str:
        """Return an expression's text; inside a list or an ad as printed, so that its end is unambiguous."""
        if self.mode is ReadMode.LAZY and not nested:
            return text
        try:
            code = read(text)
        except ClassAdSyntaxError as problem:
            self.fail(f"the expression cannot be read: {problem.diagnostics[0].message}")
        return unparse(code_tree(code)) if nested else text

    def unescaped(self, text: str) -> str:
        if "\\" not in text:
            return text
        found = _ESCAPE.sub(self.unescape, text)
        return normal(found).partition("\0")[0] if self.daemon else found

    def unescape(self, match: re.Match[str]) -> str:
        high, low, single, letter = match.groups()
        if self.daemon and (high or (single and int(single, 16) > 0x7F)):
            return "".join(_misread(int(code, 16)) for code in (high, low, single) if code)
        if high:
            return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF))
        if single:
            code = int(single, 16)
            if not code:
                self.fail("an escape that stands for a NUL character")
            if 0xD800 <= code < 0xE000:
                self.fail("half of a surrogate pair, which UTF-8 cannot encode")
            return chr(code)
        found = _LETTERS.get(letter)
        if found is None:
            if not self.daemon or letter == "u":
                self.fail(f"{_BAD_ESCAPE}: \\{letter}")
            return str(letter)
        return found


def _misread(code: int) -> str:
    """Return how HTCondor 25.14 (convert_escapes_json) reads an escape: its masks are hexadecimal, not binary."""
    if code < 0x80:
        return chr(code)
    if code < 0x800:
        return from_bytes(bytes((code >> 6, code & 0x11)))
    return from_bytes(bytes((code >> 12, code >> 6 & 0xFF | 0x11, code & 0xFF | 0x11)))
