r"""Regular expressions by PCRE2, HTCondor's own library, on bytes as HTCondor uses it and with its limits.

The binding is the package ``pcre2``; it is imported when the first expression is compiled. Its interpreter counts
the calls of a match and gives up after ten million, the same number everywhere: no clock, no endless backtracking.
Two options the binding sets change the dialect (``\u`` and ``\x`` as in JavaScript, no ``\C``); ``_dialect`` puts it
right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Protocol

from crondor.classad.scope import State
from crondor.classad.text import to_bytes


class Match(Protocol):
    """What is used of a match."""

    def span(self, group: int = 0) -> tuple[int, int]:
        """Return begin and end of a group."""

    def group(self, group: int = 0) -> bytes | None:
        """Return the text of a group; None: it took no part."""


class Expression(Protocol):
    """What is used of a compiled expression."""

    @property
    def groups(self) -> int:
        """The number of groups."""

    @property
    def pattern(self) -> bytes:
        """The text it was compiled from."""

    def search(self, text: bytes) -> Match | None:
        """Return the first match."""

    def finditer(self, text: bytes) -> Iterator[Match]:
        """Yield all matches, left to right; after an empty one a longer one may begin at the same place."""


_PIECE: Final = re.compile(rb"\\Q[\s\S]*?(?:\\E|\Z)|\\x\{|\\x[0-9a-fA-F]{0,2}|\\[\s\S]|\\|\[\^?\]?|\]|\{|[^\\\[\]{]+")
_OPTIONS: Final = {"i": "IGNORECASE", "m": "MULTILINE", "s": "DOTALL", "x": "VERBOSE"}
MAX_PATTERN: Final = 1 << 16


@lru_cache(maxsize=256)
def compiled(pattern: str, options: str) -> Expression | None:
    """Return an expression with the options among ``imsx``; None: it is none."""
    import pcre2  # noqa: PLC0415 - few ads have expressions, and the import costs 5 ms

    if len(pattern) > MAX_PATTERN:
        return None
    flags = pcre2.RegexFlag(0)
    for letter, name in _OPTIONS.items():
        if letter in options:
            flags |= getattr(pcre2.RegexFlag, name)
    source = _dialect(to_bytes(pattern))
    if source is None:
        return None
    try:
        made: Expression = pcre2.compile(source, flags, jit=False)
    except (pcre2.PatternError, pcre2.LibraryError):
        return None
    return made


def _dialect(pattern: bytes) -> bytes | None:
    r"""Return a pattern that means to the binding what the original means to PCRE2; None: PCRE2 refuses it.

    PCRE2 by itself has no ``\u`` and ``\U``; its ``\x`` takes up to two digits or some in braces; ``\C`` is a byte.
    HTCondor's is older than 10.43: ``{,2}`` and ``{1, 2}`` are no repetitions but characters.
    """
    if b"\\" not in pattern and b"{" not in pattern:
        return pattern
    out: list[bytes] = []
    in_class = False
    for match in _PIECE.finditer(pattern):
        piece = made = match[0]
        if piece in (b"\\u", b"\\U", b"\\"):
            return None
        if piece == b"{" and not in_class and _NEW_REPETITION.match(pattern, match.start()):
            made = b"\\{"
        if piece[:1] == b"[" and not in_class:
            in_class = True
        elif piece == b"]":
            in_class = False
        elif piece == b"\\C" and not in_class:
            made = b"(?s:.)"
        elif piece[:2] == b"\\x" and len(piece) < 4 and piece != b"\\x{":
            made = b"\\x" + piece[2:].rjust(2, b"0") if len(piece) > 2 else b"\\000"
        out.append(made)
    return _braces(b"".join(out))


_NEW_REPETITION: Final = re.compile(rb"\{(?![0-9]+(?:,[0-9]*)?\})[ \t]*[0-9]*[ \t]*(?:,[ \t]*[0-9]*[ \t]*)?\}")
_BRACED: Final = re.compile(rb"(\\\\)|\\x\{([0-9a-fA-F]+)\}")


def _braces(pattern: bytes) -> bytes | None:
    for match in _BRACED.finditer(pattern):
        if match[2] and int(match[2], 16) > 255:
            return None
    return _BRACED.sub(lambda match: match[0] if match[1] else b"\\x%02x" % int(match[2], 16), pattern)


_REPEATED_GROUP: Final = re.compile(rb"\)[*+{]|\)\?[*+]")
_REPEATED: Final = re.compile(rb"[*+}]")
_GIVEN_UP: Final = 200_000


def _charge(state: State, expression: Expression, data: bytes) -> None:
    """Take the work a match may be from what is left: far more where repetitions are nested or many."""
    many = len(_REPEATED.findall(expression.pattern))
    work = 1 << min(len(data), 24) if _REPEATED_GROUP.search(expression.pattern) else len(data) ** min(many, 6)
    state.spend(20 + (len(data) >> 4) + min(work, 10_000_000) // 1000)


def searched(state: State, expression: Expression, text: str, *, empty: bool = True) -> bool | None:
    """Say whether an expression matches somewhere; None: PCRE2 gave up. ``empty`` allows a match of nothing."""
    import pcre2  # noqa: PLC0415

    data = to_bytes(text)
    _charge(state, expression, data)
    try:
        if empty:
            return expression.search(data) is not None
        return any(match.span()[0] != match.span()[1] for match in expression.finditer(data))
    except pcre2.LibraryError:
        state.spend(_GIVEN_UP)
        return None


def matches(state: State, expression: Expression, text: str) -> bool:
    """Say whether an expression matches somewhere; where PCRE2 gives up it does not."""
    return searched(state, expression, text) is True


def replaced(state: State, expression: Expression, text: str, new: str, *, whole: bool, every: bool) -> bytes | None:
    r"""Return the text with matches replaced (``whole``), or only what replaces them; None: error.

    ``\0`` to ``\9`` in ``new`` are groups; one beyond those that matched is an error. A match of nothing at the end of
    the text is one too when all are replaced: HTCondor steps over the end.
    """
    import pcre2  # noqa: PLC0415

    data, template = to_bytes(text), to_bytes(new)
    out: list[bytes] = []
    at, was_empty = 0, False
    _charge(state, expression, data)
    try:
        for match in expression.finditer(data) if every else _first(expression, data):
            begin, end = match.span()
            state.spend(4 + (len(template) >> 4))
            if was_empty and begin > at:
                out.append(data[at : at + 1])
                at += 1
            if whole:
                out.append(data[at:begin])
            piece = _filled(template, match, expression.groups)
            if piece is None:
                return None
            out.append(piece)
            at, was_empty = end, begin == end
    except pcre2.LibraryError:
        state.spend(_GIVEN_UP)
        return None
    if was_empty and every:
        if at >= len(data):
            return None
        out.append(data[at : at + 1])
        at += 1
    return b"".join([*out, data[at:]]) if whole else b"".join(out)


def _first(expression: Expression, data: bytes) -> list[Match]:
    match = expression.search(data)
    return [] if match is None else [match]


_GROUP: Final = re.compile(rb"\\([0-9])")


def _filled(template: bytes, match: Match, groups: int) -> bytes | None:
    """Return a replacement with its groups filled in; None: it names one beyond the last that matched."""
    if b"\\" not in template:
        return template
    last = max((number for number in range(1, groups + 1) if match.group(number) is not None), default=0)
    if any(int(number) > last for number in _GROUP.findall(template)):
        return None
    return _GROUP.sub(lambda found: match.group(int(found[1])) or b"", template)
