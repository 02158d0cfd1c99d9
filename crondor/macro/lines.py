"""Logical lines with the source position of each character; contexts, budgets and errors of macros.

HTCondor: getline_implementation in src/condor_utils/config.cpp.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random
from typing import NamedTuple, NoReturn

from crondor._files import LINE_WITH_BYTES
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span

BLANKS = " \t\r\n\v\f"  # C's isspace; str.strip() without arguments would also take Unicode blanks


@dataclass(slots=True, repr=False, unsafe_hash=True)
class LogicalLine:
    """One line after joining its continuations, without the blanks around each of its pieces.

    ``text`` is the line, whose pieces begin at ``_starts`` and come from ``_at`` in the source; ``unterminated``: the
    file ends inside it, without a line end; ``swallowed`` is a comment inside a continuation whose last character
    HTCondor reads as part of the line.
    """

    source: Source
    text: str
    _starts: tuple[int, ...]
    _at: tuple[int, ...]
    unterminated: bool = field(default=False, kw_only=True)
    swallowed: Span | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        return f"<LogicalLine {self.text[:60]!r} at {self.span(0, 0).location}>"

    def offset(self, index: int) -> int:
        """Return the offset in the source of the line's character ``index`` (the line's length: just after it)."""
        if len(self._at) == 1:
            return self._at[0] + index
        if index > 0 and index == len(self.text):
            return self.offset(index - 1) + 1
        piece = bisect_right(self._starts, index) - 1
        return self._at[piece] + index - self._starts[piece]

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """Return the piece of the source for characters ``start`` to ``end`` of the line.

        Across a continuation it is one contiguous piece, including the backslash and the line end.
        """
        return Span(self.source, *self.place(start, end))

    def place(self, start: int = 0, end: int | None = None) -> tuple[int, int]:
        """Return the two offsets of span()."""
        end = len(self.text) if end is None else end
        if len(self._at) == 1:
            return self._at[0] + start, self._at[0] + end
        low = self.offset(start)
        return low, self.offset(end - 1) + 1 if end > start else low

    def behind(self, index: int) -> LogicalLine:
        """Return the line from a character on, without blanks before it."""
        index += len(self.text) - index - len(self.text[index:].lstrip(BLANKS))
        first = max(0, bisect_right(self._starts, index) - 1)
        starts = tuple(max(0, start - index) for start in self._starts[first:])
        at = (self._at[first] + index - self._starts[first], *self._at[first + 1 :])
        text = self.text[index:]
        return LogicalLine(self.source, text, starts, at, unterminated=self.unterminated, swallowed=self.swallowed)

    def stripped(self) -> LogicalLine:
        """Return the line without final blanks, which stay if nothing is joined to it."""
        text = self.text.rstrip(BLANKS)
        return self if len(text) == len(self.text) else LogicalLine(self.source, text, self._starts, self._at)

    @property
    def extent(self) -> tuple[int, int] | None:
        """The two offsets of a line that is in its source unchanged, None for one that was joined."""
        return (self._at[0], self._at[0] + len(self.text)) if len(self._at) == 1 else None

    @property
    def is_ragged(self) -> bool:
        """Whether it is an indented last line without a line end: HTCondor does not strip blanks from such a line."""
        at = self._at[0]
        return self.unterminated and len(self._at) == 1 and at > 0 and self.source.text[at - 1] in " \t\r\v\f"

    def unstripped(self) -> LogicalLine:
        """Return the line with the blanks that HTCondor leaves around a last piece without a line end."""
        if not self.unterminated:
            return self
        low = self.source.text.rfind("\n") + 1
        text = self.text[: self._starts[-1]] + self.source.text[low:]
        return LogicalLine(self.source, text, self._starts, (*self._at[:-1], low), unterminated=True)

    @property
    def is_empty(self) -> bool:
        """Whether the line is blank or a comment."""
        return not self.text.strip(BLANKS) or self.text[0] == "#"


class LineReader:
    """The logical lines of a source, one after the other."""

    def __init__(self, source: Source, at: int = 0) -> None:
        """Start with the line at offset ``at``; a byte order mark is skipped."""
        self._source = source
        self._at = 1 if at == 0 and source.text.startswith("\ufeff") else at

    @property
    def at(self) -> int:
        """The offset where the next line begins."""
        return self._at

    def statement(self) -> LogicalLine | None:
        """Return the next line with content, None at the end; a comment is not continued by a backslash."""
        size = len(self._source.text)
        while self._at < size:
            begin = self._at
            start, body, terminated = self._physical()
            if not body or body[0] == "#":
                continue
            if body[-1] != "\\" or not terminated:
                return LogicalLine(self._source, body, (0,), (start,), unterminated=not terminated)
            self._at = begin
            line = self._join(comments=True)
            if not line.is_empty:
                return line
        return None

    def item(self) -> LogicalLine | None:
        """Return the next line of a list of queue items, also blank ones and comments; None at the end of the text.

        There a comment may be continued like any other line (HTCondor reads these lines by other rules).
        """
        begin = self._at
        if begin >= len(self._source.text):
            return None
        start, body, terminated = self._physical()
        if not body.endswith("\\") or not terminated:
            return LogicalLine(self._source, body, (0,), (start,), unterminated=not terminated)
        self._at = begin
        return self._join(comments=False)

    def _join(self, *, comments: bool) -> LogicalLine:
        source, text = self._source, self._source.text
        parts: list[str] = []
        at: list[int] = []
        solid: list[int] = []  # the numbers of parts that are not empty
        eaten: dict[int, int] = {}
        swallowed, terminated = None, True
        while self._at < len(text):
            start, body, terminated = self._physical()
            if parts and comments and body.startswith("#"):
                # HTCondor drops such a comment except its last character: harmless only if that is a backslash.
                if body[-1] != "\\":
                    swallowed = swallowed or source.span(start, start + len(body))
                start, body = start + len(body) - 1, body[-1]
            goes_on = terminated and body.endswith("\\")
            parts.append(body[:-1] if goes_on else body)
            at.append(start)
            if parts[-1]:
                solid.append(len(parts) - 1)
            if not body and terminated:
                goes_on = _eats_backslash(parts, solid, eaten)
            if not goes_on:
                break
        for number, count in eaten.items():
            parts[number] = parts[number][:-count]
        starts = (0, *accumulate(map(len, parts[:-1])))
        return LogicalLine(source, "".join(parts), starts, tuple(at), unterminated=not terminated, swallowed=swallowed)

    def _physical(self) -> tuple[int, str, bool]:
        """Skip one line of the file; return where its text begins, the text, and whether it has a line end."""
        text = self._source.text
        end = text.find("\n", self._at)
        terminated = end >= 0
        if not terminated:
            end = len(text)
        body = text[self._at : end].lstrip(BLANKS)
        self._at = end + 1
        return end - len(body), body.rstrip(BLANKS), terminated


def _eats_backslash(parts: list[str], solid: list[int], eaten: dict[int, int]) -> bool:
    """Return whether a blank line continues: HTCondor checks the end of all it has, which may be another backslash.

    ``eaten`` has how many characters at the ends of parts are gone by that, ``solid`` the parts with some left.
    """
    if not solid:
        return False
    last = solid[-1]
    count = eaten.get(last, 0)
    if parts[last][-1 - count] != "\\":
        return False
    eaten[last] = count + 1
    if eaten[last] == len(parts[last]):
        solid.pop()
    return True


MAX_BYTES = 16 * 1024 * 1024
_UTF32 = (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_COMMENT = re.compile(r"[ \t]*#").match
_EXCERPT = 4096  # bytes kept on either side of a bad byte, so that the message can show its line


class InvalidText(CrondorError, ValueError):
    """The bytes of a file are not readable text."""


def source_from_bytes(data: bytes, name: str, limit: int = MAX_BYTES) -> Source:
    """Return the text of a file, ``limit`` being the largest size in bytes.

    The text must be UTF-8, except in comments: there an invalid byte stays as a surrogate (surrogateescape), and
    ``odd_comment`` warns. A byte order mark stays in the text: the language decides whether it is allowed. Raises
    InvalidText for UTF-16 or UTF-32 with a byte order mark, a NUL byte, invalid UTF-8 elsewhere, or too many bytes.
    """
    if len(data) > limit:
        _refuse(name, "too-large", f"the file is larger than {limit} bytes, and crondor reads no more")
    if data.startswith(_UTF32) or data.startswith(_UTF16):
        width = 32 if data.startswith(_UTF32) else 16
        _refuse(name, "not-utf8", f"the file is written in UTF-{width}, and HTCondor reads UTF-8", "save it as UTF-8")
    nul = data.find(b"\0")
    if nul >= 0:
        message = "the file is not text: it has a NUL byte (a program, an archive, or UTF-16 without its mark)"
        _refuse_at(data, nul, name, "not-text", message)
    try:
        return Source(data.decode("utf-8"), name)
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
    for found in LINE_WITH_BYTES.finditer(text):
        if not _is_comment(text, found.start()):
            before = text[: found.end() - 1].encode("utf-8", "surrogateescape")
            message = f"the file is not UTF-8 text: byte 0x{data[len(before)]:02x} does not belong here"
            _refuse_at(data, len(before), name, "not-utf8", message, "save the file as UTF-8")
    return Source(text, name)


def _is_comment(text: str, begin: int) -> bool:
    """Return whether the line that begins there is a comment, and not part of a continued line."""
    end = begin - (2 if text.endswith("\r\n", 0, begin) else 1)
    return _COMMENT(text, begin) is not None and not text.endswith("\\", 0, max(0, end))


def _refuse(name: str, code: str, message: str, help: str | None = None) -> NoReturn:
    raise InvalidText(Diagnostic(code, message, span=Source("", name).span(), help=help))


def _refuse_at(data: bytes, at: int, name: str, code: str, message: str, help: str | None = None) -> NoReturn:
    # Line ends before the excerpt are kept, so that the line number is the file's own.
    low = max(0, at - _EXCERPT)
    before = "\n" * data.count(b"\n", 0, low) + data[low:at].decode("utf-8", "replace")
    after = data[at : at + _EXCERPT].decode("utf-8", "replace").replace("\0", "\ufffd")
    span = Source(before + after, name).span(len(before), len(before) + 1)
    raise InvalidText(Diagnostic(code, message, span=span, help=help)) from None


class MacroError(CrondorError, ValueError):
    """A text whose macros cannot be expanded: a cycle, too much of it, or a function that has no value.

    ``chain`` has the lower-case names of the macros being expanded, from the outermost to the one with the fault; it is
    empty if the fault is in the text itself.
    """

    def __init__(self, code: str, message: str, help: str | None = None) -> None:
        """Make one diagnostic without a place, which the caller knows."""
        super().__init__(Diagnostic(code, message, help=help))
        self.chain: tuple[str, ...] = ()

    @property
    def inside(self) -> str | None:
        """The macro with the fault, None if it is in the text itself."""
        return self.chain[-1] if self.chain else None

    def __reduce__(self) -> tuple[object, ...]:
        only = self.diagnostics[0]
        return MacroError, (only.kind, only.message, only.help), {"chain": self.chain}


class Budget:
    """Limits of expansion: work of all expansions that share the budget, and the size of one result.

    ``work`` counts characters moved plus a constant for each macro; ``size`` is in characters; ``depth`` is how deeply
    macros may be nested.
    """

    def __init__(self, work: int = 1 << 26, size: int = 1 << 20, depth: int = 100) -> None:
        self.left = work
        self.size = size
        self.depth = depth

    def spend(self, amount: int) -> None:
        """Subtract ``amount`` from the work left; raises MacroError when there is no more."""
        self.left -= amount
        if self.left < 0:
            raise MacroError("macro-work", "expanding the macros takes too long", "use fewer macros inside macros")


class Dice:
    """The source of $RANDOM_CHOICE() and $RANDOM_INTEGER(), by its seed; ``drawn`` is called before each number."""

    def __init__(self, seed: int | str, drawn: Callable[[], None] | None = None) -> None:
        self._seed = seed
        self._drawn = drawn
        self._random: Random | None = None

    def randrange(self, stop: int, /) -> int:
        """Return a number from 0 up to but not including ``stop``."""
        if self._random is None:
            self._random = Random(self._seed)  # noqa: S311 - a preview, no secret
        if self._drawn is not None:
            self._drawn()
        return self._random.randrange(stop)


class Around(NamedTuple):
    """The context of one expansion.

    ``environ`` is read by $ENV(), None if unknown. ``dice`` is the source of random numbers, None without a seed.
    ``folder`` is the prefix of $Ff() for a relative path, or a function that returns it. ``evaluate`` gives $EVAL() the
    printed value of an expression, None if it has none; without it the expression is evaluated in an empty ad. ``now``
    is the clock of ClassAd expressions in epoch seconds. ``soft`` takes the failures of functions that HTCondor prints
    and ignores; without it they are raised.
    """

    environ: Mapping[str, str] | None = None
    dice: Dice | Random | None = None
    folder: str | Callable[[], str] = ""
    evaluate: Callable[[str], str | None] | None = None
    now: int | None = None
    soft: Callable[[MacroError], None] | None = None


NOTHING = Around()
