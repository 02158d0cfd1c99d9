"""One shape for everything that is wrong or surprising, and the error that carries a list of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from crondor.codes import CODES
from crondor.source import Span

_CONTEXT = 60  # characters of a long line shown on either side of the underlined piece
_UNDERLINE = 80  # a longer piece is underlined only so far


class Severity(str, Enum):
    """How bad it is: an ERROR stops, a WARNING will surprise, a NOTE explains."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Diagnostic:
    """One finding.

    ``kind`` is the reader's own name for it, in kebab case; ``message`` says what and why; ``help`` says what to write
    instead; ``fix`` is the text that would replace the span, where there is one right answer.
    """

    kind: str
    message: str
    severity: Severity = Severity.ERROR
    span: Span | None = None
    help: str | None = None
    fix: str | None = None

    @property
    def code(self) -> str:
        """The stable code that is printed, selected and silenced: that of its rule, ``kind`` where there is none."""
        return CODES.get(self.kind, self.kind)

    def relocated(self, onto: Span) -> Diagnostic:
        """Return this finding about a value as a finding about the place the value was written at.

        ``onto`` is the value as it stands in a file. Where the file says something else (a macro), the whole
        of it is underlined and the message names the expanded text.
        """
        if self.span is None:
            return replace(self, span=onto)
        value = self.span.source.text
        if onto.text == value:
            return replace(self, span=onto.part(self.span.start, self.span.end))
        shown = value if len(value) <= _CONTEXT else value[:_CONTEXT] + "..."
        return replace(self, span=onto, message=f"{self.message} (the value is {shown!r})", fix=None)


class CrondorError(Exception):
    """Base of all errors of the package: one or more diagnostics, all faults of an input at once."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        """Keep the diagnostics in the order given; at least one."""
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        super().__init__(found)
        self.diagnostics: tuple[Diagnostic, ...] = found

    def __str__(self) -> str:
        """Render every diagnostic as text, with the piece of source underlined."""
        return "\n".join(render(d) for d in self.diagnostics)


def render(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as lines of plain text: place, what, the line with the piece underlined, help."""
    head = f"{diagnostic.severity.value}: {printable(diagnostic.message)} [{diagnostic.code}]"
    lines = [head]
    if diagnostic.span is not None:
        lines[0] = f"{printable(diagnostic.span.location)}: {head}"
        if diagnostic.span.source.text:
            lines += _excerpt(diagnostic.span)
    if diagnostic.help:
        lines.append(f"    = help: {printable(diagnostic.help)}")
    return "\n".join(lines)


def printable(text: str) -> str:
    """Return text with everything a terminal would act on (control, format, surrogate) written as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode("ascii") for c in text)


def similar(word: str, known: Iterable[str], likeness: float = 0.6, most: int = 1) -> list[str]:
    """Return which of the known words a mistyped one may mean, the nearest first; a likeness of 1 is equality."""
    from difflib import get_close_matches  # noqa: PLC0415 - 1 ms of every command, and needed for a mistake only

    return get_close_matches(word, list(known), most, likeness)


def _excerpt(span: Span) -> list[str]:
    number, column = span.source.position(span.start)
    line = span.source.line(number)
    begin = column - 1
    end = min(max(begin + (span.end - span.start), begin + 1), max(len(line), begin + 1), begin + _UNDERLINE)
    low = max(0, begin - _CONTEXT)
    high = min(len(line), end + _CONTEXT)
    before = ("..." if low else "") + printable(line[low:begin].replace("\t", " "))
    piece = printable(line[begin:end].replace("\t", " "))
    after = printable(line[end:high].replace("\t", " ")) + ("..." if high < len(line) else "")
    gutter = f"{number:>4} | "
    blank = " " * (len(gutter) - 2) + "| "
    return [f"{gutter}{before}{piece}{after}", f"{blank}{' ' * _width(before)}{'^' * max(1, _width(piece))}"]


def _width(text: str) -> int:
    """Terminal columns of printable text: East Asian wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) != 0 for c in text)


def has_error(found: Iterable[Diagnostic]) -> bool:
    """Say whether an error is among findings."""
    return any(each.severity is Severity.ERROR for each in found)
