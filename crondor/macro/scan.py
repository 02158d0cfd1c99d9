"""Recognition of one macro in a text: the rules of HTCondor's configuration language, seen from a dollar sign."""

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


class Kind(Enum):
    """What a dollar sign turned out to begin."""

    PLAIN = 0  # nothing
    NESTED = 1  # $(name with another dollar sign in the name
    CUT = 2  # the text ends before it is decided
    MACRO = 3
    FUNCTION = 4


class Found(NamedTuple):
    """One result: ``at`` to ``end`` was looked at, the search goes on at ``resume``.

    ``name`` is in lower case for a macro, as written for a function; ``default`` is where a default begins, or -1.
    """

    kind: Kind
    at: int
    end: int
    resume: int
    name: str = ""
    default: int = -1


def scan(text: str, at: int) -> Found:
    """Say what the dollar sign at offset ``at`` begins; never fails, and looks at each character once."""
    head = _HEAD.match(text, at)
    if head is None or not head[3]:
        end = at + 1 if head is None else head.end()
        return Found(Kind.CUT if end == len(text) else Kind.PLAIN, at, _with_next(text, head, end), end)
    double, function = head[1], head[2]
    if double or (function and not _is_function(function)):
        return Found(Kind.PLAIN, at, head.end(), head.end())
    if function and function != "ENV":
        close = text.find(")", head.end())
        if close < 0:
            return Found(Kind.CUT, at, len(text), head.end())
        return Found(Kind.FUNCTION, at, close + 1, close, function)
    return _body(text, at, head.end(), function)


def _is_function(name: str) -> bool:
    return name in _FUNCTIONS or _FILE_FUNCTION.fullmatch(name) is not None


def _with_next(text: str, head: re.Match[str] | None, end: int) -> int:
    """Return an end that takes in a dollar sign behind the name of a function: its macro may give the parenthesis."""
    is_open = head is not None and text.startswith("$", end) and not head[1] and _is_function(head[2])
    return end + 1 if is_open else end


def _body(text: str, at: int, begin: int, function: str) -> Found:
    """Read a name and its default up to the closing parenthesis."""
    end = _end(_NAME, text, begin)
    name, default = text[begin:end], -1
    if text[end : end + 1] == ":":
        default, end = end + 1, _default_end(text, end + 1)
    if end >= len(text):
        return Found(Kind.CUT, at, len(text), begin)
    if text[end] == ")":
        if function:
            return Found(Kind.FUNCTION, at, end + 1, end, function, default)
        return Found(Kind.MACRO, at, end + 1, end, name.lower(), default)
    if text[end] == "$" and default < 0:
        return Found(Kind.NESTED, at, end, end)
    return Found(Kind.PLAIN, at, end, begin)


def _default_end(text: str, at: int) -> int:
    """Return where a default ends: at its closing parenthesis, at a character it may not have, or with the text."""
    end = _end(_DEFAULT, text, at)
    while text[end : end + 1] == "(":
        close = text.find(")", end + 1)
        if close < 0:
            return len(text)
        end = _end(_DEFAULT, text, close + 1)
    return end


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
