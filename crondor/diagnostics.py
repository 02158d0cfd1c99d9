"""Texts with places, the diagnostics about them, and the error that carries a list of diagnostics."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import Enum
from typing import NamedTuple, NoReturn

from crondor._types import Made, expect
from crondor.codes import CODES


class Source(Made):
    """A text and its name for the user (a path, ``<stdin>``, a field's name).

    Sources are equal if both name and text are equal: equal texts in two files are two places.
    """

    __slots__ = ("_line_starts", "name", "text")

    text: str
    name: str
    _line_starts: list[int]

    def __init__(self, text: str, name: str = "<text>") -> None:
        expect("text", text, str, "text", "for bytes bytes.decode()")
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_line_starts", [])

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Raise: a source is immutable."""
        message = f"Source is immutable: {name}"
        raise AttributeError(message)

    def _made_of(self) -> tuple[str, str]:
        return self.text, self.name

    def __repr__(self) -> str:
        return f"<Source {self.name!r}, {len(self.text)} characters>"

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """Return the piece from offset ``start`` to ``end`` (characters, end excluded; None: to the end)."""
        size = len(self.text)
        end = size if end is None else end
        start = max(0, min(start, size))
        return Span(self, start, max(start, min(end, size)))

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column (both from 1, columns in characters) of an offset."""
        starts = self._starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return the text of a line (from 1), without its line end."""
        starts = self._starts()
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    def _starts(self) -> list[int]:
        if not self._line_starts:
            starts, at = [0], self.text.find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = self.text.find("\n", at + 1)
            self._line_starts.extend(starts)
        return self._line_starts


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends, split only at line feeds, like HTCondor and patch(1)."""
    parts = text.split("\n")
    last = parts.pop()
    return [*(f"{part}\n" for part in parts), *([last] if last else [])]


class Span(NamedTuple):
    """The characters ``start`` to ``end`` (end excluded) of a source."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters themselves."""
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        """The line the span begins on, from 1."""
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        """The column the span begins at, from 1, in characters."""
        return self.source.position(self.start)[1]

    @property
    def location(self) -> str:
        """``name:line:column``, as editors and compilers write it."""
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"

    def part(self, start: int, end: int | None = None) -> Span:
        """Return a piece of this span, offsets counted from its beginning and kept inside it."""
        low = min(self.start + max(0, start), self.end)
        high = self.end if end is None else min(self.start + max(0, end), self.end)
        return Span(self.source, low, max(low, high))


_CONTEXT = 60  # characters of a long line shown on either side of the underlined piece
_UNDERLINE = 80  # a longer piece is underlined only up to here
_LEAST_ROOM = 20  # characters of a line shown on any terminal, however narrow
_CUT = "..."


class Severity(str, Enum):
    """How bad it is: an ERROR stops, a WARNING is a probable surprise, a NOTE explains."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Diagnostic:
    """One diagnostic.

    ``kind`` is the reader's own name for it, in kebab case; ``message`` says what is wrong and why; ``help`` says what
    to write instead; ``fix`` is the replacement of the span, if only one is right.
    """

    kind: str
    message: str
    severity: Severity = Severity.ERROR
    span: Span | None = None
    help: str | None = None
    fix: str | None = None

    @property
    def code(self) -> str:
        """The stable code that is printed, selected and silenced: that of its rule, or else ``kind``."""
        return CODES.get(self.kind, self.kind)

    def relocated(self, onto: Span) -> Diagnostic:
        """Return this diagnostic of a value with the place where the value is written.

        ``onto`` is the value in its file. If the file has another text there (a macro), all of it is underlined and the
        message names the expanded text.
        """
        if self.span is None:
            return replace(self, span=onto)
        value = self.span.source.text
        if onto.text == value:
            return replace(self, span=onto.part(self.span.start, self.span.end))
        shown = shortened(value, _CONTEXT)
        return replace(self, span=onto, message=f"{self.message} (the value is {shown!r})", fix=None)


class CrondorError(Exception):
    """Base of all errors of the package, with one or more diagnostics: all faults of an input at once."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        """Keep the diagnostics in the order given; at least one."""
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        super().__init__(found)
        self.diagnostics: tuple[Diagnostic, ...] = found

    def __str__(self) -> str:
        return "\n".join(render(d) for d in self.diagnostics)

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle with all attributes, whatever the arguments of the class."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[CrondorError], args: tuple[object, ...], state: dict[str, object]) -> CrondorError:
    make = OSError if issubclass(kind, OSError) else CrondorError  # an OSError has another memory layout
    made = make.__new__(kind)
    made.args = args
    made.__dict__.update(state)
    return made


def render(diagnostic: Diagnostic, columns: int | None = None) -> str:
    """Return a diagnostic as plain text: place, message, the line with the piece underlined, help.

    ``columns`` is the width of the terminal: a longer line of the file is cut around the piece.
    """
    head = f"{diagnostic.severity.value}: {printable(diagnostic.message)} [{diagnostic.code}]"
    lines = [head]
    if diagnostic.span is not None:
        lines[0] = f"{printable(diagnostic.span.location)}: {head}"
        if diagnostic.span.source.text:
            lines += _excerpt(diagnostic.span, columns)
    if diagnostic.help:
        lines.append(f"    = help: {printable(diagnostic.help)}")
    return "\n".join(lines)


def printable(text: str) -> str:
    r"""Return text with all characters that affect a terminal (control, format, surrogate) as escapes.

    A surrogate that stands for a non-UTF-8 byte (PEP 383) is written as that byte: ``\xfc``.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def shortened(text: str, most: int = 300) -> str:
    """Return a text of at most ``most`` characters, cut at the end of a word or number."""
    if len(text) <= most + len(_CUT):
        return text
    end = most
    while end and text[end - 1 : end + 1].isalnum() and end > most // 2:
        end -= 1
    return f"{text[: end if end > most // 2 else most].rstrip()}{_CUT}"


def _escape(sign: str) -> str:
    if "\udc80" <= sign <= "\udcff":
        return f"\\x{ord(sign) - 0xDC00:02x}"
    return sign.encode("unicode_escape", "replace").decode("ascii")


def similar(word: str, known: Iterable[str], likeness: float = 0.6, most: int = 1) -> list[str]:
    """Return the known words that a mistyped word may mean, the most similar first; a likeness of 1 is equality."""
    return get_close_matches(word, list(known), most, likeness)


def _excerpt(span: Span, columns: int | None) -> list[str]:
    number, column = span.source.position(span.start)
    line = span.source.line(number)
    gutter = f"{number:>4} | "
    blank = " " * (len(gutter) - 2) + "| "
    room = _UNDERLINE + 2 * _CONTEXT if columns is None else max(_LEAST_ROOM, columns - len(gutter) - 2 * len(_CUT))
    begin = column - 1
    end = min(max(begin + (span.end - span.start), begin + 1), max(len(line), begin + 1), begin + _UNDERLINE)
    while True:
        end = min(end, begin + room)
        beside = max(0, room - (end - begin))
        low = max(0, begin - min(_CONTEXT, max(beside // 2, beside - (len(line) - end))))
        high = min(len(line), end + min(_CONTEXT, beside - (begin - low)))
        before = (_CUT if low else "") + _shown(line[low:begin])
        piece = _shown(line[begin:end])
        after = _shown(line[end:high]) + (_CUT if high < len(line) else "")
        over = 0 if columns is None else columns_of(f"{gutter}{before}{piece}{after}") - columns
        if over <= 0 or room <= _LEAST_ROOM:
            break
        room = max(_LEAST_ROOM, room - over)  # escapes and wide characters take more than one column
    return [f"{gutter}{before}{piece}{after}", f"{blank}{' ' * columns_of(before)}{'^' * max(1, columns_of(piece))}"]


def _shown(text: str) -> str:
    return printable(text.replace("\t", " "))


def columns_of(text: str) -> int:
    """Return the terminal columns of printable text: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth  # noqa: PLC0415 - 15 ms, for text beyond ASCII only

    width = wcswidth(text)
    return width if width >= 0 else len(text)


def has_error(found: Iterable[Diagnostic]) -> bool:
    """Return whether some diagnostics include an error."""
    return any(each.severity is Severity.ERROR for each in found)
