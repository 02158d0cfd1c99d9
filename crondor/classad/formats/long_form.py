"""Ads in the old form: a line ``Name = expression`` for each attribute, a blank line or a banner between ads.

Ads as HTCondor writes them are read with one regular expression per block of lines, and most values are literals that
need no parser. Only other blocks are read line by line.

HTCondor: InsertLongFormAttrValue, CondorClassAdFileParseHelper::PreParse.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Final

from crondor.classad.ad import ClassAd, Place
from crondor.classad.compile import code_of
from crondor.classad.formats.pieces import Feed, Piece, ReadMode, Report, bad_character, check_characters, error, fault
from crondor.classad.parser import parse_expression
from crondor.classad.printing import Spelling, prints_as_it_is, remember_as_written
from crondor.classad.scope import Code
from crondor.classad.shapes import is_expression, pattern_like
from crondor.classad.text import lower
from crondor.classad.tree import MAX_TEXT, ClassAdSyntaxError
from crondor.diagnostics import Diagnostic, Source

_FEW: Final = 8  # lines of an ad that is read as fast line by line
_MANY: Final = 500  # lines of an ad that is too large for a template
_LONG: Final = 1 << 14  # characters of such an ad
_MOST_NAMES: Final = 16
_MOST_TEMPLATES: Final = 4
_LEAST: Final = 12  # ads read line by line that justify a template,
_PART: Final = 200  # or one for so many characters
_MANY_READ: Final = 100  # ads that a template must have read to justify another
_MOST_PATTERNS: Final = 8  # of one attribute
_ANY: Final = r"[^\n]*"


# The ads of a queue or a pool have the same attributes in the same order, many with the same value, and the others with
# similar values: literals, and expressions of few shapes. Ads read line by line show which.
class Unusual(Exception):
    """A line has to be examined: HTCondor does not write it like this, or it has a fault."""


class AdTemplate:
    """Ads as one regular expression: the constant lines, and the shapes of the values in the others.

    ``patterns`` has for each line that varies the patterns of its values; none: any text, which is read separately.
    ``read`` counts the ads that matched.
    """

    __slots__ = ("_codes", "_keys", "_match", "_others", "_plain", "lines", "read")

    def __init__(
        self,
        lines: Sequence[str],
        keys: Sequence[str],
        codes: Sequence[Code | str],
        patterns: Mapping[int, Sequence[str]],
    ) -> None:
        self.lines = len(lines)
        self.read = 0
        self._codes = dict(zip(keys, codes, strict=True))
        numbers = sorted(patterns)
        self._keys = [keys[at] for at in numbers]
        self._others = [(place, _beginning(lines[at])) for place, at in enumerate(numbers) if not patterns[at]]
        self._plain = _taker([place for place, at in enumerate(numbers) if patterns[at]], len(numbers))
        made = [re.escape(line) for line in lines]
        for at in numbers:
            made[at] = f"{re.escape(_beginning(lines[at]))}({'|'.join(patterns[at]) or _ANY})"
        self._match = re.compile("\n".join(made)).fullmatch

    def codes(self, block: str, known: Mapping[str, tuple[str, Code | str]]) -> dict[str, Code | str] | None:
        """Return the expressions of an ad, None if it does not match; ``known`` reads lines that may be anything.

        Raises Unusual and ClassAdSyntaxError for one of these.
        """
        match = self._match(block)
        if match is None:
            return None
        texts = match.groups()
        made = self._codes.copy()
        made.update(zip(self._keys, texts, strict=True))
        for place, before in self._others:
            made[self._keys[place]] = known[before + texts[place]][1]
        self.read += 1
        remember_as_written(texts if self._plain is None else self._plain(texts), len(block))
        return made


def _taker(places: Sequence[int], size: int) -> Callable[[Sequence[str]], Sequence[str]] | None:
    """Return a function that selects the texts at these places; None if that is all of them."""
    if len(places) == size:
        return None
    return itemgetter(*places) if len(places) > 1 else lambda texts: [texts[at] for at in places]


def _beginning(line: str) -> str:
    return line[: line.index(" = ") + 3]


class _SameNames:
    """The ads with the same names in the same order that were read line by line since the last template."""

    def __init__(self, names: dict[str, str], size: int) -> None:
        self.names = names  # kept so that its id is not reused
        self._price = self._waits = max(_LEAST, size // _PART)
        self._seen: list[Sequence[str]] = []
        self._last: list[Sequence[str]] = []  # an ad with the constant lines of the template
        self._patterns: dict[int, tuple[str, ...]] = {}
        self._template: AdTemplate | None = None

    def add(self, lines: Sequence[str], keys: Sequence[str], codes: Sequence[Code | str]) -> AdTemplate | None:
        """Add an ad; return a template for the next ones when there have been enough."""
        self._seen.append(lines)
        if len(self._seen) < self._waits:
            return None
        for at, column in enumerate(zip(*self._seen, *self._last, strict=True)):
            if at in self._patterns or len(set(column)) > 1:
                self._learn(at, column)
        self._seen, self._last = [], [lines]
        before = self._template
        self._waits = self._price if before is None or before.read >= _MANY_READ else 2 * self._waits
        self._template = AdTemplate(lines, keys, codes, self._patterns)
        return self._template

    def _learn(self, at: int, lines: Iterable[str]) -> None:
        """Record the shapes of the values of a line that varies."""
        known = self._patterns.get(at)
        if known == ():
            return
        patterns = dict.fromkeys(known or ())
        for line in dict.fromkeys(lines):
            pattern = pattern_like(line[len(_beginning(line)) :])
            if pattern is None or len(patterns) >= _MOST_PATTERNS:
                self._patterns[at] = ()
                return
            patterns[pattern] = None
        self._patterns[at] = tuple(patterns)


_Ad = tuple[Sequence[str], Sequence[str], dict[str, str], Sequence[Code | str]]
"""Lines, keys, spellings and expressions of an ad."""

_NOTHING: Final[_Ad] = (), (), {}, ()


class Alike:
    """The templates of one text, made of ads that were read line by line."""

    def __init__(self, known: Mapping[str, tuple[str, Code | str]]) -> None:
        """Start without templates; ``known`` has the name and the expression of a line."""
        self._known = known
        self._first: _Ad | None = None
        self._by_names: dict[int, _SameNames] = {}
        self._templates: list[tuple[AdTemplate, dict[str, str]]] = []

    def read(self, block: str) -> tuple[dict[str, Code | str], dict[str, str], int] | None:
        """Return the expressions, the spellings and the number of lines of an ad similar to earlier ones."""
        for number, (template, names) in enumerate(self._templates):
            try:
                codes = template.codes(block, self._known)
            except (Unusual, ClassAdSyntaxError):
                return None
            if codes is not None:
                if number:
                    self._templates.insert(0, self._templates.pop(number))
                return codes, names, template.lines
        return None

    def learn(
        self, lines: Sequence[str], keys: Sequence[str], names: dict[str, str], codes: Sequence[Code | str]
    ) -> None:
        """Learn from an ad that was read line by line; ``names`` is the same object for all ads of the same names."""
        if not _FEW <= len(lines) <= _MANY or len(names) != len(lines):
            return
        same = self._by_names.get(id(names))
        if same is None:
            if self._first is None:  # most texts have one ad: nothing to learn from
                self._first = lines, keys, names, codes
                return
            first, self._first = self._first, _NOTHING
            if first is not _NOTHING:
                self.learn(*first)
                self.learn(lines, keys, names, codes)
                return
            size = sum(map(len, lines))
            if size > _LONG:
                return
            if len(self._by_names) >= _MOST_NAMES:
                self._by_names.clear()
            same = self._by_names[id(names)] = _SameNames(names, size)
        template = same.add(lines, keys, codes)
        if template is not None:
            kept = [each for each in self._templates if each[1] is not names]
            self._templates = [(template, names), *kept[: _MOST_TEMPLATES - 1]]


_LITERAL: Final = re.compile(r'"[^"\\]*"|-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,20})?|true|false|undefined').fullmatch
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_QUOTED_NAME: Final = re.compile(r"'((?:[^'\\]|\\.)*)'\Z")
_ADJACENT: Final = re.compile(r'"[ \t\r\f\v]*"(?:[ \t\r\f\v]*")?')
_QUOTED_BEGINNING: Final = re.compile(r"[ \t\r\f\v]*'(?:[^'\\]|\\.)*'[ \t]*=")
# One without an end extends to the end of the text, so that it is read only once.
_OLD_STRING: Final = re.compile(r'"[^"\\]*(?:\\(?:"(?!\Z)|(?!")|(?="\Z))[^"\\]*)*("?)')
_COMMENT_OR_NAME: Final = re.compile(r"/[/*]|'")
_BLANK: Final = " \t\r\n\f\v"
_EMPTY_LINES: Final = re.compile(r"(?:[ \t\r\f\v]*\n)+")
_ONLY_BLANKS: Final = re.compile(r"[ \t\r\n\f\v]*\Z")
_BANNERS: Final = ("***", "-- ")
_WINDOW: Final = 1 << 16
_MAX_KNOWN: Final = 1 << 14
_MAX_KNOWN_TEXT: Final = 512
_SHORT: Final = 1 << 16  # characters of an ad whose names are worth caching and comparing
_place: Final = tuple.__new__  # the call of a NamedTuple takes twice as long


def read_long(feed: Feed, mode: ReadMode, report: Report | None) -> Iterator[ClassAd]:
    """Return the ads of a text one by one.

    ads = (block | between)*

    Raises ClassAdSyntaxError.
    """
    known_lines = _LINES[mode]
    alike = _PARTS_ALIKE[mode] if feed.is_part else Alike(known_lines)
    while True:
        blocks = _plain_blocks(feed) if feed.plain else []
        left = len(blocks)
        for block in blocks:
            left -= 1
            line = feed.line
            known = alike.read(block)
            if known is not None:
                feed.line = line + known[2] + 1
                yield ClassAd.of(known[0], known[1], _place(Place, (feed.name, line)))
                continue
            feed.line = line + block.count("\n") + 2
            found = _whole(block, known_lines, _place(Place, (feed.name, line)), alike)
            if found is not None:
                yield found
            elif block:
                last = mode is ReadMode.DAEMON and not left and feed.at >= len(feed.buffer) and not feed.more()
                yield from _by_line(Piece(block, feed.name, line), mode, report, last=last)
        if blocks:
            continue
        following = _next_block(feed, banners=mode is not ReadMode.DAEMON)
        if following is None:
            return
        piece, last = following
        text = piece.text.replace("\r\n", "\n").rstrip("\r\n")
        place = Place(feed.name, piece.position(0)[0])
        known = alike.read(text)
        found = _whole(text, known_lines, place, alike) if known is None else ClassAd.of(known[0], known[1], place)
        if found is not None:
            yield found
        else:
            yield from _by_line(piece, mode, report, last=last)


def _plain_blocks(feed: Feed) -> list[str]:
    """Take as many whole blocks as are available, of a text with only blank lines between them."""
    end = feed.buffer.rfind("\n\n", feed.at, feed.at + _WINDOW)
    if end < 0:
        rest = feed.buffer[feed.at : feed.at + _WINDOW]
        if len(rest) == _WINDOW or not rest or feed.more():
            return []
        feed.at = len(feed.buffer)
        return [rest.rstrip("\n")]
    last = end
    while end > feed.at and feed.buffer[end - 1] == "\n":
        end -= 1
    if end == feed.at:  # only blank lines: all of them at once, two a block
        end = last - (last - end) % 2
    blocks = feed.buffer[feed.at : end].split("\n\n")
    feed.at = end + 2
    feed.column = 1
    return blocks


def _next_block(feed: Feed, *, banners: bool) -> tuple[Piece, bool] | None:
    """Take the next block, up to a blank line or a banner; also return whether nothing follows it."""
    if not _skip_between(feed, banners=banners):
        return None
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
    piece = feed.piece(end)
    feed.skip(min(end + width, len(feed.buffer)))
    return piece, not width or (feed.at >= len(feed.buffer) and not feed.more())


def _find_end(feed: Feed, at: int, *, banners: bool) -> tuple[int, int]:
    """Return where a block ends, and how many of its final line ends and blanks do not belong to the next one."""
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
    r"""Go to the first line of the next block; return whether there is one.

    between = EMPTY_LINES | BANNERS [^\n]* "\n"
    """
    while True:
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


def _whole(block: str, known: _Lines, place: Place, alike: Alike) -> ClassAd | None:
    """Return the ad of lines that are all as HTCondor writes them; None if there is another one, or a fault."""
    lines = block.split("\n")
    try:
        pairs = list(map(known.__getitem__, lines))
    except (Unusual, ClassAdSyntaxError):
        return None
    names, values = zip(*pairs, strict=True)
    if len(block) > _SHORT or len(names) > _MANY:
        keys, spelled = _shaped(names)
    else:
        keys, spelled = _shape(names)
        alike.learn(lines, keys, spelled, values)
    return ClassAd.of(dict(zip(keys, values, strict=True)), spelled, place)


@lru_cache(maxsize=512)
def _shape(names: tuple[str, ...]) -> tuple[tuple[str, ...], Spelling]:
    keys, spelled = _shaped(names)
    return keys, Spelling(spelled)


def _shaped(names: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return names in lower case, and the first spelling of each."""
    keys = tuple(map(str.lower, names))
    spelled: dict[str, str] = {}
    for key, name in zip(keys, names, strict=True):
        spelled.setdefault(key, name)
    return keys, spelled


class _Values(dict[str, "Code | str"]):
    """The expressions of recent values, by their text; a new one is read, or ClassAdSyntaxError raised."""

    __slots__ = ("_read",)

    def __init__(self, reader: Callable[[str], Code | str]) -> None:
        super().__init__()
        self._read = reader

    def __missing__(self, text: str) -> Code | str:
        value = text if len(text) <= MAX_TEXT and _LITERAL(text) else self._read(text)
        if len(text) <= _MAX_KNOWN_TEXT:
            if len(self) >= _MAX_KNOWN:
                self.clear()
            self[text] = value
        return value


class _Lines(dict[str, "tuple[str, Code | str]"]):
    """Names and expressions of recent lines; a new one is read.

    Unusual or ClassAdSyntaxError is raised for any that HTCondor would not write like this.
    """

    __slots__ = ("_values",)

    def __init__(self, values: _Values) -> None:
        super().__init__()
        self._values = values

    def __missing__(self, line: str) -> tuple[str, Code | str]:
        name, _, text = line.partition(" = ")
        if (
            not (text and name.isidentifier() and name.isascii())
            or "\0" in line
            or "\r" in line
            or len(text) > MAX_TEXT
        ):
            raise Unusual
        if not (line.isascii() or _encodable(line)):
            raise Unusual
        found = (sys.intern(name), text if prints_as_it_is(text) else self._values[text])
        if len(line) <= _MAX_KNOWN_TEXT:
            if len(self) >= _MAX_KNOWN:
                self.clear()
            self[line] = found
        return found


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _exact(text: str) -> Code | str:
    """Return a value's expression. Raises ClassAdSyntaxError unless there is exactly one."""
    if is_expression(text):
        return text
    parse_expression(Source(text), old=True)
    return _new_text(text)


def _tolerant(text: str) -> Code | str:
    """Return the expression at the beginning of a value, as the daemon reads it. Raises ClassAdSyntaxError."""
    if len(text) > MAX_TEXT and _LITERAL(text.strip(_BLANK)):
        return text
    try:
        return _exact(text)
    except ClassAdSyntaxError:
        return code_of(parse_expression(Source(text), old=True, partial=True))


def _new_text(text: str) -> Code | str:
    """Return an old value in new syntax. Raises ClassAdSyntaxError for an invalid text that must be parsed."""
    if "\\" not in text and "'" not in text and not _ADJACENT.search(text):
        return text
    if _COMMENT_OR_NAME.search(_OLD_STRING.sub(_empty_string, text)) or _ADJACENT.search(text):
        return code_of(parse_expression(Source(text), old=True))
    return _OLD_STRING.sub(_new_string, text)


def _empty_string(match: re.Match[str]) -> str:
    return '""' if match[1] else match[0]


def _new_string(match: re.Match[str]) -> str:
    if not match[1]:
        return match[0]
    return '"' + match[0][1:-1].replace('\\"', '"').replace("\\", "\\\\").replace('"', '\\"') + '"'


_VALUES: Final = {
    ReadMode.STRICT: _Values(_exact),
    ReadMode.LAZY: _Values(_new_text),
    ReadMode.DAEMON: _Values(_tolerant),
}
_EXACT, _LAZY = _VALUES[ReadMode.STRICT], _VALUES[ReadMode.LAZY]
_LINES: Final = {mode: _Lines(values) for mode, values in _VALUES.items()}
_PARTS_ALIKE: Final = {
    mode: Alike(lines) for mode, lines in _LINES.items()
}  # what one part of a text tells about the next


class _Reading:
    """One ad being read line by line."""

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
    """Yield number and offset of each line, and its text without line end."""
    at, number, text = 0, piece.position(0)[0], piece.text
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        yield number, at, line.removesuffix("\r")
        at, number = end + 1, number + 1


def _by_line(piece: Piece, mode: ReadMode, report: Report | None, *, last: bool) -> Iterator[ClassAd]:
    r"""Return the ads of a block; every line that is none of an ad is a fault, unless it is read as the daemon does.

    block = (line | comment | between)*
    comment = [ \t]* "#" [^\n]*
    """
    if mode is ReadMode.DAEMON:
        check_characters(piece)
        yield from _as_daemon(piece, last=last)
        return
    doubtful = bad_character(piece.text) is not None
    reading: _Reading | None = None
    for number, at, line in _lines(piece):
        if not line.strip(_BLANK) or line.startswith(_BANNERS):
            found = None if reading is None else reading.finished(report)
            if found is not None:
                yield found
            reading = None
        elif line.lstrip(" \t")[0] != "#":
            reading = reading or _Reading(Place(piece.name, number))
            bad = bad_character(line) if doubtful else None
            if bad is None:
                _read_line(reading, piece, at, line, mode)
            else:
                reading.faults.append(fault(piece, at + bad[0], at + bad[1], bad[2]))
    found = None if reading is None else reading.finished(report)
    if found is not None:
        yield found


def _read_line(reading: _Reading, piece: Piece, at: int, line: str, mode: ReadMode) -> None:
    """Read the line of an attribute, or add its fault.

    line = BLANK* name BLANK* "=" BLANK* value
    """
    blanks = len(line) - len(line.lstrip(_BLANK))
    quoted = _QUOTED_BEGINNING.match(line)
    before, sign, right = (quoted[0][:-1], "=", line[quoted.end() :]) if quoted else line.partition("=")
    if not sign:
        hint = "an attribute is a line: Name = expression"
        reading.faults.append(fault(piece, at + blanks, at + len(line), "this line has no =", hint))
        return
    name = _name(before.strip(_BLANK))
    if name is None:
        message = "this is not a valid name" if before.strip(_BLANK) else "an attribute needs a name before its ="
        hint = "a name is letters, digits and _; any other stands in single quotes"
        reading.faults.append(
            fault(piece, at + blanks, at + max(blanks + 1, len(before.rstrip(_BLANK))), message, hint)
        )
        return
    start = len(line) - len(right.lstrip(_BLANK))
    text, hint = line[start:].rstrip(_BLANK), ""
    if text.endswith('\\"') and line[-1] in _BLANK:
        text, hint = (
            line[start:],
            'a backslash takes the quote into the string; only as the last of a line \\" ends one',
        )
    try:
        reading.add(name, read_value(text, mode))
    except ClassAdSyntaxError as problem:
        for found in problem.diagnostics:
            span = found.span
            low, high = (0, len(text)) if span is None else (span.start, span.end)
            where = piece.span(at + start + low, at + start + high)
            reading.faults.append(Diagnostic(found.kind, found.message, span=where, help=hint or found.help))


def _name(text: str) -> str | None:
    """Return the name that a text spells, None if it is invalid.

    name = NAME | QUOTED_NAME
    """
    if _NAME.match(text):
        return text
    quoted = _QUOTED_NAME.match(text)
    return quoted[1].replace("\\'", "'") or None if quoted else None


def read_value(text: str, mode: ReadMode) -> Code | str:
    """Return the expression of an old value, as text in new syntax if possible.

    value = expression

    Raises ClassAdSyntaxError; where the mode is LAZY, only for a text that has to be parsed to be rewritten.
    """
    return _VALUES[mode if text else ReadMode.STRICT][text]  # an empty text is not read lazily


def read_lazily(text: str) -> Code | str:
    """Return the result of read_value in mode LAZY, a little faster."""
    return _LAZY[text] if text else _EXACT[text]


def _as_daemon(piece: Piece, *, last: bool) -> Iterator[ClassAd]:
    """Return the ads HTCondor finds in a block.

    Raises ClassAdSyntaxError where it stops with an error: at an ad without any attribute that more text follows.
    """
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
    """Read a line like HTCondor: any name is accepted, and text after the expression is skipped.

    line_as_daemon = BLANK* [^=]+ "=" value
    """
    before, sign, right = line.lstrip(_BLANK).partition("=")
    name = before.rstrip(" ")
    if not (sign and name):
        return False
    try:
        reading.add(name, _VALUES[ReadMode.DAEMON][right])
    except ClassAdSyntaxError:
        return False
    return True


def _end_as_daemon(reading: _Reading, piece: Piece, start: int, *, last: bool) -> None:
    if not reading.codes and not last:
        message = "HTCondor's reader stops here: this ad has no attribute it can read, and more text follows"
        raise error(piece, start, start + 1, message)
