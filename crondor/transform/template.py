"""A text whose macros are replaced again and again: found once, looked up each time."""

from __future__ import annotations

from collections.abc import Callable, Container

from crondor.macro.scan import MacroKind, Scanner

_LONG = 1 << 16  # characters beyond which the text is expanded by the rules that bound it
_Piece = tuple[str, str, str]
"""The text before a macro, its lower-case name, its default."""


class MacroTemplate:
    """A text with its macros; ``text`` is the text itself, ``is_plain`` says that it has none."""

    __slots__ = ("_end", "_pieces", "is_plain", "text")

    def __init__(self, text: str) -> None:
        """Find the macros."""
        self.text = text
        self.is_plain = "$" not in text
        self._pieces, self._end = ((), text) if self.is_plain else _pieces(text)

    @property
    def is_simple(self) -> bool:
        """Whether its macros are all to be put in place as they are."""
        return bool(self._pieces)

    def asks_only(self, known: Container[str]) -> bool:
        """Say whether its macros are all to be put in place as they are, and all are known."""
        return bool(self._pieces) and all(name in known for _, name, _ in self._pieces)

    def fill(self, lookup: Callable[[str], str | None], expand: Callable[[str], str]) -> str:
        """Return the text with its macros replaced; ``expand`` does what is more than putting values in place."""
        if not self._pieces:
            return self.text if self.is_plain else expand(self.text)
        done = ""
        for before, name, default in self._pieces:
            value = lookup(name) or default
            if "$" in value:
                return expand(self.text)
            done += before + value
            if len(done) > _LONG:
                return expand(self.text)
        return done + self._end


def _pieces(text: str) -> tuple[tuple[_Piece, ...], str]:
    """Return the parts of a text that has only plain macros; no parts for one that has to be read by the rules."""
    pieces: list[_Piece] = []
    begin, at = 0, text.find("$")
    scanner = Scanner(text)
    while at >= 0:
        found = scanner.scan(at)
        default = text[found.default : found.end - 1] if found.default >= 0 else ""
        if found.kind is not MacroKind.MACRO or found.name == "dollar" or "$" in default:
            return (), text
        pieces.append((text[begin:at], found.name, default))
        begin, at = found.end, text.find("$", found.end)
    return tuple(pieces), text[begin:]
