"""Ads in the old form: a line ``Name = expression`` for each attribute, a blank line or a banner between ads.

What HTCondor writes is read by one regular expression a block of lines, and most values are literals that need no
parser. Only a block that holds anything else is read line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from crondor.classad.ad import ClassAd, Place
from crondor.classad.compile import code_of
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.formats.pieces import Feed, Mode, Piece, Report, check_characters, error, fault
from crondor.classad.limits import MAX_CACHED, MAX_CACHED_TEXT
from crondor.classad.parser import parse_expression
from crondor.classad.scope import Code
from crondor.classad.text import lower
from crondor.diagnostics import Diagnostic
from crondor.source import Source

_HEADS: Final = re.compile(r"\n([A-Za-z_][A-Za-z0-9_]*) = ")
_LITERAL: Final = re.compile(r'"[^"\\]*"|-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,20})?|true|false|undefined').fullmatch
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_QUOTED_NAME: Final = re.compile(r"'((?:[^'\\]|\\.)*)'\Z")
_ADJACENT: Final = re.compile(r'"[ \t\r\f\v]*"(?:[ \t\r\f\v]*")?')
_QUOTED_BEGINNING: Final = re.compile(r"[ \t\r\f\v]*'(?:[^'\\]|\\.)*'[ \t]*=")
_OLD_STRING: Final = re.compile(r'"(?:[^"\\]|\\(?:"(?!\Z)|(?!")|(?="\Z)))*"')
_COMMENT_OR_NAME: Final = re.compile(r"/[/*]|'")
_BLANK: Final = " \t\r\n\f\v"
_EMPTY_LINES: Final = re.compile(r"(?:[ \t\r\f\v]*\n)+")
_ONLY_BLANKS: Final = re.compile(r"[ \t\r\n\f\v]*\Z")
_BANNERS: Final = ("***", "-- ")
_MAX_KNOWN: Final = 1 << 14
_MAX_KNOWN_TEXT: Final = 512
_KNOWN: Final[dict[str, Code | str]] = {}
_MANY: Final = 500  # attributes of an ad whose names are not worth keeping


def read_long(feed: Feed, mode: Mode, report: Report | None) -> Iterator[ClassAd]:
    """Return the ads of a text one by one.

    Raises ClassAdSyntaxError.
    """
    for end, last in _blocks(feed, banners=mode is not Mode.DAEMON):
        found = _whole(feed.buffer[feed.at : end], mode, Place(feed.name, feed.line))
        if found is not None:
            yield found
        elif mode is Mode.DAEMON:
            yield from _as_daemon(feed.piece(end), last=last)
        else:
            yield from _by_line(feed.piece(end), mode, report)


def _blocks(feed: Feed, *, banners: bool) -> Iterator[tuple[int, bool]]:
    """Return where the block that begins at the feed's place ends, and whether nothing at all follows it.

    Blocks stand between blank lines, and between banners.
    """
    while _skip_between(feed, banners=banners):
        searched = feed.at
        while True:
            end, width = _find_end(feed, searched, banners=banners)
            if end >= 0:
                break
            here = len(feed.buffer) - feed.at
            if not feed.more():
                end, width = len(feed.buffer), 0
                break
            searched = max(0, here - 3)
        size = end - feed.at
        last = not width or (feed.at + size + width >= len(feed.buffer) and not feed.more())
        feed.check_size(size)
        yield feed.at + size, last
        feed.skip(min(feed.at + size + width, len(feed.buffer)))


def _find_end(feed: Feed, at: int, *, banners: bool) -> tuple[int, int]:
    """Return where a block ends, and how many line ends and blanks of that are no part of the next one."""
    text = feed.buffer
    end = text.find("\n\n", at)
    width = 2
    if feed.plain:
        return end, width
    for sign, skipped in (("\r\n\r\n", 4), *((("\n***", 1), ("\n-- ", 1)) if banners else ())):
        other = text.find(sign, at, len(text) if end < 0 else end + 1)
        if other >= 0:
            end, width = other, skipped
    return end, width


def _skip_between(feed: Feed, *, banners: bool) -> bool:
    """Go to the first line of the next block; say whether there is one."""
    while True:
        if feed.plain and feed.buffer[feed.at : feed.at + 1].isalpha():
            return True
        match = _EMPTY_LINES.match(feed.buffer, feed.at)
        if match is not None:
            feed.skip(match.end())
        if len(feed.buffer) - feed.at < len(_BANNERS[0]) and feed.more():
            continue
        if feed.done and _ONLY_BLANKS.match(feed.buffer, feed.at):
            return False
        if not (banners and feed.buffer.startswith(_BANNERS, feed.at)):
            return True
        end = feed.buffer.find("\n", feed.at)
        while end < 0:
            if not feed.more():
                return False
            end = feed.buffer.find("\n", feed.at)
        feed.skip(end + 1)


def _whole(block: str, mode: Mode, place: Place) -> ClassAd | None:
    """Return the ad of a block in which every line is as HTCondor writes it; None: it has to be read by line."""
    if "\r" in block or block[-1] == "\n":
        block = block.replace("\r\n", "\n").rstrip("\r\n")
    parts = _HEADS.split("\n" + block)
    names = tuple(parts[1::2])
    if parts[0] or len(names) != block.count("\n") + 1 or "\0" in block or not _encodable(block):
        return None
    values: list[Code | str | None] = list(map(_KNOWN.get, parts[2::2]))
    if None in values and not _fill(values, parts, mode):
        return None
    keys, spelled = _shape(names) if len(names) <= _MANY else _shaped(names)
    return ClassAd.of(dict(zip(keys, values, strict=True)), spelled, place)  # type: ignore[arg-type]


def _fill(values: list[Code | str | None], parts: list[str], mode: Mode) -> bool:
    """Put expressions in place of None, the values not seen lately; say whether all could be read.

    ``parts`` has the texts as they are written, each after its name.
    """
    at = values.index(None)
    while True:
        text = parts[2 * at + 2]
        value: Code | str | None = text
        literal = _LITERAL(text)
        if not literal:
            value = _READERS[mode](text)
            if value is None:
                return False
        if literal or mode is Mode.STRICT or (mode is Mode.DAEMON and value is text):
            _keep(text, value)
        values[at] = value
        try:
            at = values.index(None, at + 1)
        except ValueError:
            return True


def _keep(text: str, value: Code | str | None) -> None:
    """Remember the expression of an old text that is one, so that nobody reads it again."""
    if value is not None and len(text) <= _MAX_KNOWN_TEXT:
        if len(_KNOWN) >= _MAX_KNOWN:
            _KNOWN.clear()
        _KNOWN[text] = value


def _encodable(block: str) -> bool:
    if block.isascii():
        return True
    try:
        block.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=512)
def _shape(names: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, str]]:
    return _shaped(names)


def _shaped(names: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return names in lower case, and the first spelling of each."""
    keys = tuple(map(str.lower, names))
    spelled: dict[str, str] = {}
    for key, name in zip(keys, names, strict=True):
        spelled.setdefault(key, name)
    return keys, spelled


def _lazily(text: str) -> Code | str | None:
    """Return a value in new syntax without reading it; None: that takes reading, and it cannot be read."""
    if "\\" not in text and '"' not in text and "'" not in text:
        return text
    try:
        return _new_text(text)
    except ClassAdSyntaxError:
        return None


def _exact(text: str) -> Code | str | None:
    """Return a value's expression; None: the text is no expression, or more than one."""
    try:
        return _read_exact(text)
    except ClassAdSyntaxError:
        return None


def _read_exact(text: str) -> Code | str:
    parse_expression(Source(text), old=True)
    return _new_text(text)


def _tolerant(text: str) -> Code | str | None:
    """Return the expression a value begins with, as the daemon reads it."""
    return _tolerant_kept(text) if len(text) <= MAX_CACHED_TEXT else _read_tolerant(text)


@lru_cache(maxsize=MAX_CACHED)
def _tolerant_kept(text: str) -> Code | str | None:
    return _read_tolerant(text)


def _read_tolerant(text: str) -> Code | str | None:
    try:
        return _read_exact(text)
    except ClassAdSyntaxError:
        pass
    try:
        return code_of(parse_expression(Source(text), old=True, partial=True))
    except ClassAdSyntaxError:
        return None


def _new_text(text: str) -> Code | str:
    """Return an old value in new syntax; its strings are all that is different.

    Raises ClassAdSyntaxError for a text that has to be parsed for that, and cannot be.
    """
    if "\\" not in text and "'" not in text and not _ADJACENT.search(text):
        return text
    if _COMMENT_OR_NAME.search(_OLD_STRING.sub('""', text)) or _ADJACENT.search(text):
        return code_of(parse_expression(Source(text), old=True))
    return _OLD_STRING.sub(_new_string, text)


def _new_string(match: re.Match[str]) -> str:
    return '"' + match[0][1:-1].replace('\\"', '"').replace("\\", "\\\\").replace('"', '\\"') + '"'


_READERS: Final = {Mode.STRICT: _exact, Mode.LAZY: _lazily, Mode.DAEMON: _tolerant}


class _Reading:
    """One ad being read line by line."""

    __slots__ = ("codes", "faults", "names", "place")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.codes: dict[str, Code | str] = {}
        self.names: dict[str, str] = {}
        self.faults: list[Diagnostic] = []

    def add(self, name: str, code: Code | str) -> None:
        key = lower(name)
        self.names.setdefault(key, name)
        self.codes[key] = code

    def finished(self, report: Report | None) -> ClassAd | None:
        if self.faults:
            if report is None:
                raise ClassAdSyntaxError(self.faults)
            for found in self.faults:
                report(found)
        return ClassAd.of(self.codes, self.names, self.place) if self.codes else None


def _lines(piece: Piece) -> Iterator[tuple[int, int, str]]:
    """Return number and offset of each line, and its text without line end."""
    at, number, text = 0, piece.position(0)[0], piece.text
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        yield number, at, line.removesuffix("\r")
        at, number = end + 1, number + 1


def _by_line(piece: Piece, mode: Mode, report: Report | None) -> Iterator[ClassAd]:
    """Return the ads of a block; every line that is none of an ad is a fault."""
    check_characters(piece)
    reading: _Reading | None = None
    for number, at, line in _lines(piece):
        if not line.strip(_BLANK) or line.startswith(_BANNERS):
            found = None if reading is None else reading.finished(report)
            if found is not None:
                yield found
            reading = None
        elif line.lstrip(" \t")[0] != "#":
            reading = reading or _Reading(Place(piece.name, number))
            _read_line(reading, piece, at, line, mode)
    found = None if reading is None else reading.finished(report)
    if found is not None:
        yield found


def _read_line(reading: _Reading, piece: Piece, at: int, line: str, mode: Mode) -> None:
    blanks = len(line) - len(line.lstrip(_BLANK))
    quoted = _QUOTED_BEGINNING.match(line)
    before, sign, right = (quoted[0][:-1], "=", line[quoted.end() :]) if quoted else line.partition("=")
    if not sign:
        hint = "an attribute is a line: Name = expression"
        reading.faults.append(fault(piece, at + blanks, at + len(line), "this line has no =", hint))
        return
    name = _name(before.strip(_BLANK))
    if name is None:
        message = "no attribute has this name" if before.strip(_BLANK) else "an attribute needs a name before its ="
        hint = "a name is letters, digits and _; any other stands in single quotes"
        reading.faults.append(
            fault(piece, at + blanks, at + max(blanks + 1, len(before.rstrip(_BLANK))), message, hint)
        )
        return
    start = len(line) - len(right.lstrip(_BLANK))
    text = line[start:].rstrip(_BLANK) if not line.endswith('\\"') else line[start:]
    try:
        reading.add(name, _read_value(text, mode))
    except ClassAdSyntaxError as problem:
        for found in problem.diagnostics:
            span = found.span
            low, high = (0, len(text)) if span is None else (span.start, span.end)
            where = piece.span(at + start + low, at + start + high)
            reading.faults.append(Diagnostic(found.code, found.message, span=where, help=found.help))


def _name(text: str) -> str | None:
    """Return the name a text spells; None: none."""
    if _NAME.match(text):
        return text
    quoted = _QUOTED_NAME.match(text)
    return quoted[1].replace("\\'", "'") or None if quoted else None


def _read_value(text: str, mode: Mode) -> Code | str:
    if _LITERAL(text):
        return text
    if mode is Mode.LAZY and text:
        return _new_text(text)
    return _read_exact(text)


def _as_daemon(piece: Piece, *, last: bool) -> Iterator[ClassAd]:
    """Return the ads HTCondor finds in a block.

    Raises ClassAdSyntaxError where it stops with an error: an ad without any attribute, and something after it.
    """
    check_characters(piece)
    reading: _Reading | None = None
    dropping = False
    start = 0
    for number, at, line in _lines(piece):
        if not line.strip(_BLANK):
            if reading is not None:
                _end_as_daemon(reading, piece, start, last=last and at + len(line) + 1 >= len(piece.text))
                if reading.codes:
                    yield ClassAd.of(reading.codes, reading.names, reading.place)
            reading, dropping = None, False
            continue
        if reading is None:
            reading, start = _Reading(Place(piece.name, number)), at
        if not dropping and line.lstrip(" \t")[0] != "#":
            dropping = not _line_as_daemon(reading, line)
    if reading is not None:
        _end_as_daemon(reading, piece, start, last=last)
        if reading.codes:
            yield ClassAd.of(reading.codes, reading.names, reading.place)


def _line_as_daemon(reading: _Reading, line: str) -> bool:
    before, sign, right = line.lstrip(_BLANK).partition("=")
    name = before.rstrip(" ")
    code = _tolerant(right) if sign and name else None
    if code is None:
        return False
    reading.add(name, code)
    return True


def _end_as_daemon(reading: _Reading, piece: Piece, start: int, *, last: bool) -> None:
    if not reading.codes and not last:
        message = "HTCondor's reader stops here: this ad has no attribute it can read, and more text follows"
        raise error(piece, start, start + 1, message)
