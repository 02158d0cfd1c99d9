"""A text whose macros are replaced again and again: found once, looked up each time."""

from __future__ import annotations

from collections.abc import Callable

from crondor.macro.scan import Kind, scan

_Piece = tuple[str, "str | None", str]
"""The text before a macro, its lower-case name (None: there is no macro), its default."""


class Template:
    """A text with its macros; ``text`` is the text itself, ``is_plain`` says that it has none."""

    __slots__ = ("_pieces", "is_plain", "text")

    def __init__(self, text: str) -> None:
        """Find the macros."""
        self.text = text
        self.is_plain = "$" not in text
        self._pieces = None if self.is_plain else _pieces(text)

    def fill(self, lookup: Callable[[str], str | None], expand: Callable[[str], str]) -> str:
        """Return the text with its macros replaced; ``expand`` does what is more than putting values in place."""
        if self.is_plain:
            return self.text
        if self._pieces is None:
            return expand(self.text)
        done: list[str] = []
        for before, name, default in self._pieces:
            done.append(before)
            if name is not None:
                value = lookup(name) or default
                if "$" in value:
                    return expand(self.text)
                done.append(value)
        return "".join(done)


def _pieces(text: str) -> tuple[_Piece, ...] | None:
    """Return the parts of a text that has only plain macros; None for one that has to be read by the rules."""
    pieces: list[_Piece] = []
    begin, at = 0, text.find("$")
    while at >= 0:
        found = scan(text, at)
        default = text[found.default : found.end - 1] if found.default >= 0 else ""
        if found.kind is not Kind.MACRO or found.name == "dollar" or "$" in default:
            return None
        pieces.append((text[begin:at], found.name, default))
        begin, at = found.end, text.find("$", found.end)
    pieces.append((text[begin:], None, ""))
    return tuple(pieces)
