"""Common to all readers: strictness, pieces of a long text with their places, and the ends of ads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from enum import Enum
from typing import Final, NamedTuple, TextIO, TypeAlias

from crondor._types import expect
from crondor.classad.ad import ClassAd
from crondor.classad.tree import ClassAdSyntaxError
from crondor.diagnostics import Diagnostic, Source

MAX_AD: Final = 16 << 20
"""Characters of one ad's text, in any format."""

MAX_DEPTH: Final = 200
"""Nesting of lists and ads in JSON and XML; HTCondor's expressions end at 165."""

DEEP: Final = 100
"""Nesting of lists and ads from which it is checked whether the whole can be read as an expression."""

_CHUNK: Final = 1 << 16
_KEPT: Final = 1 << 12  # characters of a line that are kept to be shown with a fault

Text: TypeAlias = "str | Source | TextIO | Iterable[str]"
Report: TypeAlias = Callable[[Diagnostic], None]


UNFINISHED: Final = "classad-unfinished"
"""The code of the fault that a text ends inside an ad: it was cut off, or is still being written."""


class ReadMode(Enum):
    """How strict a reader is.

    STRICT reads every expression and finds every fault. LAZY finds faults of the format (lines, brackets) and keeps
    expressions as texts: an invalid one is found on use. DAEMON acts like HTCondor's own reader: lines after a bad one
    of a ``-long`` ad are silently dropped, text after a complete expression or ad is ignored.
    """

    STRICT = "strict"
    LAZY = "lazy"
    DAEMON = "daemon"


class Piece(Source):
    """A piece of a longer text: lines are counted from the beginning of that text."""

    __slots__ = ("_column", "_line")

    _line: int
    _column: int

    def __init__(self, text: str, name: str = "<text>", line: int = 1, column: int = 1) -> None:
        super().__init__(text, name)
        object.__setattr__(self, "_line", line)
        object.__setattr__(self, "_column", column)

    def __reduce__(self) -> tuple[type[Source], tuple[str, str]]:
        return Piece, (self.text, self.name, self._line, self._column)  # type: ignore[return-value]

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset in the longer text."""
        line, column = super().position(offset)
        return line + self._line - 1, column + (self._column - 1 if line == 1 else 0)

    def line(self, number: int) -> str:
        """Return the text of a line of the longer text, with blanks for what is not in this piece."""
        found = super().line(number - self._line + 1)
        return " " * (self._column - 1) + found if number == self._line else found


def fault(source: Source, start: int, end: int, message: str, hint: str | None = None) -> Diagnostic:
    """Return the finding that a piece of text does not belong to an ad."""
    return Diagnostic("classad-ad", message, span=source.span(start, end), help=hint)


def error(source: Source, start: int, end: int, message: str, hint: str | None = None) -> ClassAdSyntaxError:
    """Return the error with one finding."""
    return ClassAdSyntaxError(fault(source, start, end, message, hint))


def tell(problem: ClassAdSyntaxError, report: Report | None) -> None:
    """Report a fault, or raise it without ``report``."""
    if report is None:
        raise problem
    for diagnostic in problem.diagnostics:
        report(diagnostic)


def check_characters(source: Source) -> None:
    """Raise ClassAdSyntaxError for NUL and lone surrogates, which no ad can hold."""
    found = bad_character(source.text)
    if found is not None:
        raise error(source, *found)


def bad_character(text: str) -> tuple[int, int, str] | None:
    """Return the place of the first character that no ad can hold, and its description."""
    at = text.find("\0")
    if at >= 0:
        return at, at + 1, "a NUL character: HTCondor would take the text to end here"
    if not text.isascii():
        try:
            text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as problem:
            return problem.start, problem.end, "half of a surrogate pair, which UTF-8 cannot encode"
    return None


class Feed:
    """A text that comes in chunks, with the line and column of the first unused character.

    ``plain``: the buffer has neither carriage returns nor banners; ``is_part``: the text is part of a longer one.
    """

    def __init__(self, text: Text, name: str, line: int | None = None) -> None:
        self.name = name
        self.buffer = ""
        self.at = 0
        self.is_part = line is not None
        self.line = line or 1
        self.column = 1
        self.done = False
        self.plain = True
        if isinstance(text, Source):
            text = text.text
        self._whole = text if isinstance(text, str) else None
        self._chunks = iter(()) if isinstance(text, str) else _chunks(text)

    def more(self) -> bool:
        """Read on, at least as much as is buffered; return whether there was anything.

        Raises ClassAdSyntaxError if one ad would become too long.
        """
        if self.done:
            return False
        if self._whole is not None:  # a text in memory comes at once
            self.buffer, self._whole, self.done = self._whole, None, True
            self._look()
            return bool(self.buffer)
        have = len(self.buffer) - self.at
        self.check_size(have)
        parts = [self.buffer[self.at :]]
        wanted = max(_CHUNK, have)
        while wanted > 0:
            chunk = next(self._chunks, None)
            if chunk is None:
                self.done = True
                break
            expect("a piece of the text", chunk, str, "text: open the file without 'b', or decode its bytes")
            parts.append(chunk)
            wanted -= len(chunk)
        self.buffer = "".join(parts)
        self.at = 0
        self._look()
        return len(self.buffer) > have

    def _look(self) -> None:
        """Determine whether the buffer is plain."""
        self.plain = "\r" not in self.buffer and "\n***" not in self.buffer and "\n-- " not in self.buffer

    def skip(self, end: int) -> None:
        """Go on to an offset of the buffer."""
        lines = self.buffer.count("\n", self.at, end)
        if lines:
            self.line += lines
            self.column = end - self.buffer.rfind("\n", self.at, end)
        else:
            self.column += end - self.at
        self.at = end

    def piece(self, end: int) -> Piece:
        """Return the text from here to an offset of the buffer. Raises ClassAdSyntaxError if it is too long."""
        self.check_size(end - self.at)
        return Piece(self.buffer[self.at : end], self.name, self.line, self.column)

    def beginning(self) -> Piece:
        """Return the line that begins here, or the first characters of a long one, for a message."""
        end = self.buffer.find("\n", self.at, self.at + _KEPT)
        return Piece(self.buffer[self.at : end if end >= 0 else self.at + _KEPT], self.name, self.line, self.column)

    def check_size(self, size: int) -> None:
        """Raise ClassAdSyntaxError for an ad with too many characters."""
        if size > MAX_AD:
            message = f"an ad of more than {MAX_AD} characters"
            raise error(Piece("", self.name, self.line, self.column), 0, 0, message)


def _chunks(text: Iterable[str]) -> Iterator[str]:
    read = getattr(text, "read", None)
    if read is None:
        yield from text
        return
    while True:
        chunk = read(_CHUNK)
        if not chunk:
            return
        yield chunk


def name_of(text: Text, name: str | None) -> str:
    """Return the name of a text in messages."""
    if name is not None:
        return name
    if isinstance(text, Source):
        return text.name
    found = getattr(text, "name", None)
    return found if isinstance(found, str) else "<text>"


_SHOWN: Final = 80  # characters of a text between ads that are shown
_MARGIN: Final = 2  # characters at the end of a buffer that may begin an ad
_DTD: Final = "a DTD inside the document: an ad needs none, and its entities could grow without limit"


# An ad that is never closed would include everything after it. Reading resumes at the next line that begins like this
# ad: printed streams have one there, and never inside an ad.
class Syntax(NamedTuple):
    """How a format writes an ad and a list of ads.

    ``begin`` matches the beginning of an ad. ``between`` matches what may come between ads, and its group tells the
    kind: ``blank`` (also a header or a comment), ``ad``, ``before``, ``comma`` and ``after`` (of a list), or ``open``,
    which has begun and not ended; ``plain`` is the same without comments. ``within`` matches tokens inside an ad:
    ``begin`` and ``end``, an ad that is ``whole``, and text in which these mean nothing, with ``open`` as before.
    ``list_sign`` matches the beginning and the end of a list. ``shown`` and ``list_shown`` are the names of the
    beginnings in messages. ``told``: the reader of an ad knows best why it does not end.
    """

    begin: re.Pattern[str]
    between: re.Pattern[str]
    plain: re.Pattern[str]
    within: re.Pattern[str]
    list_sign: re.Pattern[str]
    shown: str
    list_shown: str
    told: bool = False


def _brackets(ad: str, of_list: str, texts: str, unclosed: str, *, comments: bool) -> Syntax:
    """Return the syntax of a format with brackets, two for an ad and two for a list.

    ``texts`` and ``unclosed`` are patterns of text inside an ad whose brackets mean nothing.
    """
    opening, closing, before, after = map(re.escape, ad + of_list)
    signs = rf"|(?P<ad>{opening})|(?P<before>{before})|(?P<comma>,)|(?P<after>{after})"
    plain = re.compile(rf"(?P<blank>[ \t\r\n\f\v]+){signs}")
    comment = r"|//[^\n]*\n|/\*[\s\S]*?\*/" if comments else ""
    return Syntax(
        re.compile(opening),
        re.compile(rf"(?P<blank>[ \t\r\n\f\v]+{comment}){signs}|(?P<open>//|/\*|/\Z)") if comments else plain,
        plain,
        re.compile(rf"(?P<begin>{opening})|(?P<end>{closing})|{texts}{comment}|(?P<open>{unclosed})"),
        re.compile(f"{before}|{after}"),
        ad[0],
        of_list[0],
    )


_STRING: Final = r'"[^"\\]*(?:\\[\s\S][^"\\]*)*"'
_NAME: Final = r"'[^'\\]*(?:\\[\s\S][^'\\]*)*'"
NEW: Final = _brackets("[]", "{}", f"{_STRING}|{_NAME}", r"""["']|//|/\*|/\Z""", comments=True)
JSON: Final = _brackets("{}", "[]", _STRING, '"', comments=False)
LENIENT_JSON: Final = _brackets("{}", "[]", _STRING, r'"|//|/\*|/\Z', comments=True)
_XML_BLANK: Final = r"[ \t\r\n]+|<\?[^<>]*\?>|<!DOCTYPE\s[^<>\[\]]*>|<classads\s*/>"
_XML_SIGNS: Final = r"|(?P<ad><c(?=[\s/>]))|(?P<before><classads(?:\s[^<>]*)?>)|(?P<after></classads\s*>)"
XML: Final = Syntax(
    re.compile(r"<c(?=[\s/>])"),
    re.compile(rf"(?P<blank>{_XML_BLANK}|<!--[\s\S]*?-->){_XML_SIGNS}|(?P<open><!--|<[^<>]*\Z)"),
    re.compile(rf"(?P<blank>{_XML_BLANK}){_XML_SIGNS}"),
    re.compile(
        r"<(?:(?P<begin>c(?:\s[^<>]*)?(?<!/)>)|(?P<end>/c\s*>)|(?P<whole>c(?:\s[^<>]*)?/>)"
        r"|!--[\s\S]*?-->|!\[CDATA\[[\s\S]*?\]\]>|\?[\s\S]*?\?>|(?P<open>!--|!\[CDATA\[|\?|c\s[^<>]*<|[^<>]*\Z))"
    ),
    re.compile(r"</?classads\b"),
    "<c>",
    "<classads>",
    told=True,
)


def read_pieces(
    feed: Feed, syntax: Syntax, read: Callable[[Piece], ClassAd], report: Report | None, *, tolerant: bool
) -> Iterator[ClassAd]:
    """Return the result of ``read`` for each ad's text. ``tolerant`` silently ends at anything else.

    Raises ClassAdSyntaxError for the first fault; with ``report`` each fault is reported instead, and reading continues
    with the next ad.
    """
    walk = _Walk(feed, syntax, report, tolerant=tolerant)
    for piece in walk.pieces():
        try:
            found = read(piece)
        except ClassAdSyntaxError as problem:  # noqa: PERF203 - a call costs nothing beside the reading of an ad
            walk.refuse(problem)
        else:
            walk.junk_line = 0
            yield found


class _Walk:
    """Walks through a text from ad to ad; ``junk_line`` is that of the last fault if no ad has followed it."""

    def __init__(self, feed: Feed, syntax: Syntax, report: Report | None, *, tolerant: bool) -> None:
        self.junk_line = 0
        self._feed = feed
        self._syntax = syntax
        self._between = syntax.between
        self._report = report
        self._tolerant = tolerant
        self._list: Piece | None = None  # the beginning of the open list
        self._is_torn = False  # a fault contained list tokens: it is unknown whether a list is open
        self._broken = 0  # number of next characters in which an ad is known not to end
        self._line_begin = syntax.begin  # what ends an ad in these
        self._unfinished = False  # the text ends inside the reported piece
        self._stopped = False

    def pieces(self) -> Iterator[Piece]:
        """Yield the text of each ad, and of an unclosed one if its reader reports that. Raises ClassAdSyntaxError."""
        while not self._stopped:
            kind = self._next()
            if kind == "ad":
                yield from self._ad()
            elif self._tolerant:
                return
            elif kind == "end":
                self._stopped = True
                if self._list is not None and not self._is_torn:
                    shown = self._syntax.list_shown
                    tell(error(self._list, 0, len(shown), f"this {shown} is never closed"), self._report)
            else:
                self._junk()

    def refuse(self, problem: ClassAdSyntaxError) -> None:
        """Report why an ad cannot be read, unless it is part of a reported fault between ads. May raise it."""
        found = problem.diagnostics
        if self._unfinished:
            problem = ClassAdSyntaxError((*found[:-1], replace(found[-1], kind=UNFINISHED)))
        if not self.junk_line or found[0].span is None or found[0].span.line != self.junk_line:
            tell(problem, self._report)

    def _skip(self, end: int) -> None:
        self._broken -= end - self._feed.at
        self._feed.skip(end)

    def _next(self) -> str:
        """Skip blanks and list tokens, and return what follows: ``ad``, ``end``, or nothing."""
        feed = self._feed
        while True:
            match = self._between.match(feed.buffer, feed.at)
            kind = None if match is None else match.lastgroup
            if match is None or kind == "open":
                if (kind or feed.at == len(feed.buffer)) and feed.more():
                    continue
                self._unfinished = bool(kind) and feed.done
                if kind:  # neither its end nor that of another one exists
                    self._between = self._syntax.plain
                    self._skip(len(feed.buffer) if match is not None and match[0] == "//" else feed.at)
                return "end" if feed.at == len(feed.buffer) else ""
            if kind == "ad" or not self._passes(kind):
                return kind if kind == "ad" else ""
            self._skip(match.end())

    def _passes(self, kind: str | None) -> bool:
        """Return whether a token may come here, recording the beginning or end of a list."""
        if kind == "before" and (self._list is None or self._is_torn):
            self._list = self._feed.beginning()
            return True
        if kind == "after" and (self._list is not None or self._is_torn):
            self._list = None
            return True
        return kind == "blank" or (kind == "comma" and (self._list is not None or self._is_torn))

    def _junk(self) -> None:
        """Report a text that is not an ad, and go to the next ad."""
        feed, begin = self._feed, self._syntax.begin
        while len(feed.buffer) - feed.at < _SHOWN and feed.more():
            pass
        found = begin.search(feed.buffer, feed.at)
        piece = feed.piece(min(len(feed.buffer) if found is None else found.start(), feed.at + _SHOWN))
        line = piece.text.partition("\n")[0]
        if feed.line != self.junk_line:
            self.refuse(error(piece, 0, max(1, len(line)), self._expected(line)))
        passed = 0
        while found is None:
            end = max(feed.at, len(feed.buffer) - _MARGIN)
            passed += end - feed.at
            self._look_for_list(end)
            self._skip(end)
            self._stopped = passed > MAX_AD or not feed.more()
            if self._stopped:
                return
            found = begin.search(feed.buffer, feed.at)
        self.junk_line = piece.position(0)[0]
        self._look_for_list(found.start())
        self._skip(found.start())

    def _look_for_list(self, end: int) -> None:
        """Record list tokens in skipped text."""
        self._is_torn = self._is_torn or bool(self._syntax.list_sign.search(self._feed.buffer, self._feed.at, end))

    def _expected(self, line: str) -> str:
        if line.startswith("<!DOCTYPE"):
            return _DTD
        if self._list is not None and line.startswith(self._syntax.list_shown):
            return f"another list begins here, and that of line {self._list.position(0)[0]} has not ended"
        return f"an ad is expected here, which begins with {self._syntax.shown}"

    def _ad(self) -> Iterator[Piece]:
        """Yield the ad that begins here, and go after it."""
        feed = self._feed
        end, why = self._end()
        self._unfinished = bool(why) and feed.done and end == len(feed.buffer)
        if not why or (self._syntax.told and end - feed.at <= MAX_AD):
            yield feed.piece(end)
        else:
            self.refuse(error(feed.beginning(), 0, len(self._syntax.shown), why))
        self._stopped = bool(why) and (self._tolerant or end == len(feed.buffer))
        self._skip(end)

    def _end(self) -> tuple[int, str]:
        """Return the offset after the ad that begins here, or where to continue and why, if it is never closed."""
        feed, find = self._feed, self._syntax.within.search
        why = f"this {self._syntax.shown} is never closed"
        limit = self._limit() if self._broken > 0 else None
        depth, at = 0, feed.at
        while True:
            match = find(feed.buffer, at) if limit is None else find(feed.buffer, at, limit)
            kind = None if match is None else match.lastgroup
            if match is None or kind == "open":
                if limit is not None:
                    return limit, why
                known = (len(feed.buffer) if match is None else match.start()) - feed.at
                try:
                    if not feed.more():
                        return self._resumed(), why
                except ClassAdSyntaxError as problem:
                    return self._resumed(), problem.diagnostics[0].message
                at = feed.at + known
                continue
            at = match.end()
            if kind in ("begin", "end"):
                depth += 1 if kind == "begin" else -1
            if depth <= 0 and kind:
                return at, ""

    def _resumed(self) -> int:
        """Return where to continue after an ad that is not closed in the buffer: the next line that begins one."""
        feed = self._feed
        pattern = rf"\n(?:[ \t]{{{feed.column - 1}}})?(?={self._syntax.begin.pattern})"
        self._line_begin = re.compile(pattern)
        if feed.done:
            self._broken = len(feed.buffer) - feed.at
        else:  # the last one may well end in text still to come
            for found in self._line_begin.finditer(feed.buffer, feed.at + 1):
                self._broken = found.end() - feed.at
        return self._limit()

    def _limit(self) -> int:
        found = self._line_begin.search(self._feed.buffer, self._feed.at + 1)
        return len(self._feed.buffer) if found is None else found.end()
