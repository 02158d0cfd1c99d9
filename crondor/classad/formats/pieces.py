"""What all readers share: how strict they are, pieces of a long text with their place in it, bounds and faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Final, TextIO, TypeAlias

from crondor._types import expect
from crondor.classad.errors import ClassAdSyntaxError
from crondor.diagnostics import Diagnostic
from crondor.source import Source

MAX_AD: Final = 16 << 20
"""Characters of one ad's text, whatever its form."""

MAX_DEPTH: Final = 200
"""Lists and ads within one another in JSON and XML; HTCondor's expressions end at 165."""

DEEP: Final = 100
"""Lists and ads within one another from which on it is looked whether the whole can be read as an expression."""

_CHUNK: Final = 1 << 16
_KEPT: Final = 1 << 12  # characters of a line that are kept to be shown with a fault

Text: TypeAlias = "str | Source | TextIO | Iterable[str]"
Report: TypeAlias = Callable[[Diagnostic], None]


UNFINISHED: Final = "classad-unfinished"
"""The code of the fault that a text ends inside an ad: it was cut off, or is still being written."""


class ReadMode(Enum):
    """How strict a reader is.

    STRICT reads every expression and finds every fault. LAZY finds the faults of the form (lines, brackets) and takes
    expressions as texts: a bad one is found by whoever asks for it. DAEMON does as HTCondor's own reader: what comes
    after a bad line of a ``-long`` ad is dropped in silence, text after a complete expression or ad is ignored.
    """

    STRICT = "strict"
    LAZY = "lazy"
    DAEMON = "daemon"


class Piece(Source):
    """A piece of a longer text: its lines are counted from where it begins there."""

    __slots__ = ("_column", "_line")

    _line: int
    _column: int

    def __init__(self, text: str, name: str = "<text>", line: int = 1, column: int = 1) -> None:
        """Take the text, and the line and the column it begins at."""
        super().__init__(text, name)
        object.__setattr__(self, "_line", line)
        object.__setattr__(self, "_column", column)

    def __reduce__(self) -> tuple[type[Source], tuple[str, str]]:
        """Pickle and copy by text, name and place."""
        return Piece, (self.text, self.name, self._line, self._column)  # type: ignore[return-value]

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset in the longer text."""
        line, column = super().position(offset)
        return line + self._line - 1, column + (self._column - 1 if line == 1 else 0)

    def line(self, number: int) -> str:
        """Return the text of a line of the longer text, blanks in place of what is no part of this piece."""
        found = super().line(number - self._line + 1)
        return " " * (self._column - 1) + found if number == self._line else found


def fault(source: Source, start: int, end: int, message: str, hint: str | None = None) -> Diagnostic:
    """Return the finding that a piece of text is no part of an ad."""
    return Diagnostic("classad-ad", message, span=source.span(start, end), help=hint)


def error(source: Source, start: int, end: int, message: str, hint: str | None = None) -> ClassAdSyntaxError:
    """Return the error with one finding."""
    return ClassAdSyntaxError(fault(source, start, end, message, hint))


def tell(problem: ClassAdSyntaxError, report: Report | None) -> None:
    """Report what is wrong, or raise it where nobody listens."""
    if report is None:
        raise problem
    for diagnostic in problem.diagnostics:
        report(diagnostic)


def check_characters(source: Source) -> None:
    """Refuse NUL and lone surrogates, which no ad can hold.

    Raises ClassAdSyntaxError.
    """
    found = bad_character(source.text)
    if found is not None:
        raise error(source, *found)


def bad_character(text: str) -> tuple[int, int, str] | None:
    """Return where the first character stands that no ad can hold, and what it is."""
    at = text.find("\0")
    if at >= 0:
        return at, at + 1, "a NUL character: HTCondor would take the text to end here"
    if not text.isascii():
        try:
            text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as problem:
            return problem.start, problem.end, "half of a surrogate pair, which no UTF-8 text can hold"
    return None


class Feed:
    """A text that comes in chunks, with the line and the column of the first character that is not used up.

    ``plain`` says that what is here has neither carriage returns nor banners.
    """

    __slots__ = ("_chunks", "_whole", "at", "buffer", "column", "done", "line", "name", "plain")

    def __init__(self, text: Text, name: str) -> None:
        """Take a text, a file or lines."""
        self.name = name
        self.buffer = ""
        self.at = 0
        self.line = 1
        self.column = 1
        self.done = False
        self.plain = True
        if isinstance(text, Source):
            text = text.text
        self._whole = text if isinstance(text, str) else None
        self._chunks = iter(()) if isinstance(text, str) else _chunks(text)

    def more(self) -> bool:
        """Read on, at least as much as is here already; say whether there was anything.

        Raises ClassAdSyntaxError if one ad would become too long.
        """
        if self.done:
            return False
        if self._whole is not None:  # a text that is here already comes at once
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
        """Find out whether what is here is plain."""
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
        """Return the text from here to an offset of the buffer.

        Raises ClassAdSyntaxError if it is too long.
        """
        self.check_size(end - self.at)
        return Piece(self.buffer[self.at : end], self.name, self.line, self.column)

    def beginning(self) -> Piece:
        """Return the line that begins here, or the first characters of a long one, for a message."""
        end = self.buffer.find("\n", self.at, self.at + _KEPT)
        return Piece(self.buffer[self.at : end if end >= 0 else self.at + _KEPT], self.name, self.line, self.column)

    def check_size(self, size: int) -> None:
        """Refuse an ad of more characters than one may have.

        Raises ClassAdSyntaxError.
        """
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
    """Return the name people know a text by."""
    if name is not None:
        return name
    if isinstance(text, Source):
        return text.name
    found = getattr(text, "name", None)
    return found if isinstance(found, str) else "<text>"
