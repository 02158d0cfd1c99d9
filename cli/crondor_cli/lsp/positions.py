"""Places of a text as a client of the protocol counts them, and as offsets in characters."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from lsprotocol.types import Position, PositionEncodingKind, Range

from crondor.source import Source, Span

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_CODECS: Final = {PositionEncodingKind.Utf8.value: ("utf-8", 1), PositionEncodingKind.Utf16.value: ("utf-16-le", 2)}
_UTF8_BOUNDS: Final = (0x80, 0x800, 0x10000)


class Positions:
    """The lines of one text; columns are counted in the units of ``encoding``.

    A line ends with LF, CR LF or CR, as the protocol has it. A place behind the end of a line, or of the text, is that
    end.
    """

    def __init__(self, text: str, encoding: str = PositionEncodingKind.Utf16.value) -> None:
        """Look for the lines."""
        self._text = text
        self._encoding = encoding
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
        self._is_plain = encoding == PositionEncodingKind.Utf32.value or text.isascii()

    @property
    def line_count(self) -> int:
        """How many lines there are; a text that ends with a line end has an empty last one."""
        return len(self._starts)

    def line_start(self, line: int) -> int:
        """Return the offset at which a line (from 0) begins."""
        return self._starts[line] if line < len(self._starts) else len(self._text)

    def line_end(self, line: int) -> int:
        """Return the offset of the end of a line, its line end aside."""
        if line + 1 >= len(self._starts):
            return len(self._text)
        end = self._starts[line + 1]
        return end - (2 if self._text.endswith("\r\n", 0, end) else 1)

    def offset(self, position: Position) -> int:
        """Return the offset of a place."""
        if position.line >= len(self._starts):
            return len(self._text)
        start, end = self._starts[position.line], self.line_end(position.line)
        if self._is_plain:
            return min(start + position.character, end)
        left, at = position.character, start
        while at < end and left > 0:
            left -= self._units(self._text[at])
            at += left >= 0  # a place inside a character is before it
        return at

    def position(self, offset: int) -> Position:
        """Return the place of an offset."""
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        offset = min(offset, self.line_end(line))
        if self._is_plain:
            return Position(line, offset - start)
        codec, size = _CODECS[self._encoding]
        return Position(line, len(self._text[start:offset].encode(codec, "surrogatepass")) // size)

    def range(self, start: int, end: int) -> Range:
        """Return the places of two offsets."""
        return Range(self.position(start), self.position(end))

    def range_of(self, span: Span) -> Range:
        """Return the places of a piece of the text."""
        return self.range(span.start, span.end)

    def _units(self, character: str) -> int:
        code = ord(character)
        if self._encoding == PositionEncodingKind.Utf8.value:
            return 1 + sum(code >= bound for bound in _UTF8_BOUNDS)
        return 1 + (code >= 0x10000)


class TextOnScreen:
    """One version of a text that is open in an editor; each change makes another."""

    def __init__(self, uri: str, source: Source, version: int | None, language: str, encoding: str) -> None:
        """Take the text; ``source`` is called as its file."""
        self.uri = uri
        self.source = source
        self.version = version
        self.language = language
        self.encoding = encoding
        self.places = Positions(source.text, encoding)

    def changed(self, place: Range | None, text: str, version: int | None) -> TextOnScreen:
        """Return the text with a piece replaced, or (None) all of it."""
        if place is not None:
            start, end = sorted((self.places.offset(place.start), self.places.offset(place.end)))
            text = self.source.text[:start] + text + self.source.text[end:]
        return TextOnScreen(self.uri, Source(text, self.source.name), version, self.language, self.encoding)
