"""Recognition of one macro in a text: the rules of HTCondor's configuration language, seen from a dollar sign.

HTCondor: next_config_macro.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

_HEAD = re.compile(r"\$(\$?)([A-Za-z0-9_]*)(\()?")
_NAME = re.compile(r"[A-Za-z0-9_./]*")
_DEFAULT = re.compile(r"[A-Za-z0-9_./$ ,\\:]*")  # what may stand behind the colon, beside one level of parentheses
_FILE_FUNCTION = re.compile(r"F[pnxdqabfwuPNXDQABFWU]*")
_FUNCTIONS = frozenset(
    (
        "BASENAME",
        "CHOICE",
        "DIRNAME",
        "ENV",
        "EVAL",
        "INT",
        "RANDOM_CHOICE",
        "RANDOM_INTEGER",
        "REAL",
        "STRING",
        "SUBSTR",
    )
)


class MacroKind(Enum):
    """What a dollar sign turned out to begin."""

    PLAIN = 0  # nothing
    NESTED = 1  # $(name with another dollar sign in the name
    CUT = 2  # the text ends before it is decided
    MACRO = 3
    FUNCTION = 4


class MacroFound(NamedTuple):
    """One result: ``at`` to ``end`` was looked at, the search goes on at ``resume``.

    ``name`` is in lower case for a macro, as written for a function; ``default`` is where a default begins, or -1.
    """

    kind: MacroKind
    at: int
    end: int
    resume: int
    name: str = ""
    default: int = -1


class Scanner:
    """Says of the dollar signs of one text what they begin; never fails.

    What it has read on the way to a closing parenthesis it remembers, so that all of them together cost no more than
    the text is long.
    """

    __slots__ = ("_close", "_closed", "_ends", "text")

    def __init__(self, text: str) -> None:
        """Take the text."""
        self.text = text
        self._closed, self._close = 0, -1  # no parenthesis closes between the two, but at the second
        self._ends: dict[int, int] = {}

    def scan(self, at: int) -> MacroFound:
        """Say what the dollar sign at offset ``at`` begins.

        macro = "$(" body
        function = "$" (FUNCTIONS | FILE_FUNCTION) "(" [^)]* ")" | "$ENV(" body
        """
        text = self.text
        head = _HEAD.match(text, at)
        if head is None or not head[3]:
            end = at + 1 if head is None else head.end()
            return MacroFound(
                MacroKind.CUT if end == len(text) else MacroKind.PLAIN, at, _with_next(text, head, end), end
            )
        double, function = head[1], head[2]
        if double or (function and not _is_function(function)):
            return MacroFound(MacroKind.PLAIN, at, head.end(), head.end())
        if function and function != "ENV":
            close = self._closing(head.end())
            if close == len(text):
                return MacroFound(MacroKind.CUT, at, len(text), head.end())
            return MacroFound(MacroKind.FUNCTION, at, close + 1, close, function)
        return self._body(at, head.end(), function)

    def _body(self, at: int, begin: int, function: str) -> MacroFound:
        """Read a name and its default up to the closing parenthesis.

        body = NAME (":" default)? ")"
        """
        text = self.text
        end = _end(_NAME, text, begin)
        name, default = text[begin:end], -1
        if text[end : end + 1] == ":":
            default, end = end + 1, self._default_end(end + 1)
        if end >= len(text):
            return MacroFound(MacroKind.CUT, at, len(text), begin)
        if text[end] == ")":
            if function:
                return MacroFound(MacroKind.FUNCTION, at, end + 1, end, function, default)
            return MacroFound(MacroKind.MACRO, at, end + 1, end, name.lower(), default)
        if text[end] == "$" and default < 0:
            return MacroFound(MacroKind.NESTED, at, end, end)
        return MacroFound(MacroKind.PLAIN, at, end, begin)

    def _default_end(self, at: int) -> int:
        """Return where a default ends: at its closing parenthesis, at a character it may not have, or with the text.

        default = DEFAULT ("(" [^)]* ")" DEFAULT)*
        """
        text = self.text
        end = _end(_DEFAULT, text, at)
        closes: list[int] = []
        while text[end : end + 1] == "(":
            close = self._closing(end + 1)
            if close in self._ends:
                end = self._ends[close]
                break
            closes.append(close)
            end = len(text) if close == len(text) else _end(_DEFAULT, text, close + 1)
        self._ends.update(dict.fromkeys(closes, end))
        return end

    def _closing(self, at: int) -> int:
        """Return where the next parenthesis closes, the length of the text where none does."""
        if not self._closed <= at <= self._close:
            found = self.text.find(")", at)
            self._closed, self._close = at, len(self.text) if found < 0 else found
        return self._close


def _is_function(name: str) -> bool:
    return name in _FUNCTIONS or _FILE_FUNCTION.fullmatch(name) is not None


def _with_next(text: str, head: re.Match[str] | None, end: int) -> int:
    """Return an end that takes in a dollar sign behind the name of a function: its macro may give the parenthesis."""
    is_open = head is not None and text.startswith("$", end) and not head[1] and _is_function(head[2])
    return end + 1 if is_open else end


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
