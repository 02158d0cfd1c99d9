r"""Regular expressions by PCRE2, HTCondor's own library, on bytes like HTCondor and with its limits.

The binding is the package ``pcre2``; it is imported when the first expression is compiled. Its interpreter counts the
calls of a match and gives up after ten million, the same number everywhere: no clock, no endless backtracking. But it
counts separately from each place of the text where a match may begin, so a search is charged for each of them: first
with a low limit, which nearly all searches keep, then with higher ones. Two options the binding sets change the dialect
(``\u`` and ``\x`` as in JavaScript, no ``\C``); ``_dialect`` corrects that.

HTCondor: regexp_helper in src/classad/fnCall.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from threading import local
from typing import Any, Final, Protocol

from crondor.classad.scope import EvaluationState
from crondor.classad.text import to_bytes
from crondor.classad.tree import MAX_STRING, Failure

Spend = Callable[[int], None]
"""Subtracts steps of about a microsecond from the rest, or raises what ends the search."""


class RegexpMatch(Protocol):
    """The part used of a match."""

    def span(self, group: int = 0) -> tuple[int, int]:
        """Return begin and end of a group."""

    def group(self, group: int = 0) -> bytes | None:
        """Return the text of a group; None: it did not take part."""


class _Compiled(Protocol):
    """The part used of the binding's compiled expression."""

    @property
    def groups(self) -> int:
        """The number of groups."""

    def search(self, text: bytes) -> RegexpMatch | None:
        """Return the first match."""

    def finditer(self, text: bytes) -> Iterator[RegexpMatch]:
        """Yield all matches, left to right; after an empty one a longer one may begin at the same place."""


class _Meter(local):
    """The price of each place where the present search may begin a match, for this thread."""

    at = -1
    price = 0
    spend: Spend | None = None


_LIMITS: Final = (64, 1024, 1 << 14, 1 << 18, 10_000_000)  # the last is PCRE2's own, and HTCondor's
_CALLS: Final = 20  # of the matcher in a step
_METER: Final = _Meter()


def _begin(block: RegexpMatch) -> None:
    """Charge for one more beginning; called by a callout before the expression, also when it recurs."""
    at = block.span()[0]
    if _METER.spend is not None and at != _METER.at:
        _METER.at = at
        _METER.spend(_METER.price)


@cache
def _library() -> Any:  # noqa: ANN401 - it ships no types
    import pcre2  # noqa: PLC0415 - 3 ms, and few ads have expressions

    return pcre2


class Regex:
    """An expression whose searches are charged for their possible cost. ``groups`` is the number of its groups."""

    def __init__(self, pattern: bytes, flags: int, groups: int) -> None:
        verbs = _VERBS.match(pattern)
        self._verbs = verbs[0] if verbs else b""
        self._pattern = pattern[len(self._verbs) :]
        self._flags = flags
        self._known: dict[int, _Compiled] = {}
        self.groups = groups

    def first(self, text: bytes, spend: Spend) -> RegexpMatch | None:
        """Return the first match. Raises GivenUp, and whatever ``spend`` raises."""
        found = self._found(text, spend, lambda compiled: [compiled.search(text)])
        return found[0]

    def all(self, text: bytes, spend: Spend) -> list[RegexpMatch]:
        """Return all matches, left to right; after an empty one a longer one may begin at the same place.

        Raises GivenUp, and whatever ``spend`` raises.
        """

        def matches(compiled: _Compiled) -> list[RegexpMatch | None]:
            found: list[RegexpMatch | None] = []
            for match in compiled.finditer(text):
                spend(_MATCH)
                found.append(match)
            return found

        return [match for match in self._found(text, spend, matches) if match is not None]

    def _found(
        self, text: bytes, spend: Spend, search: Callable[[_Compiled], list[RegexpMatch | None]]
    ) -> list[RegexpMatch | None]:
        pcre2 = _library()

        spend(_SEARCH + (len(text) >> 4))
        _METER.spend = spend
        try:
            for limit in _LIMITS:
                _METER.at = -1
                _METER.price = 1 + limit // _CALLS + (len(text) >> 10)
                try:
                    return search(self._compiled(limit))
                except (pcre2.LibraryError, pcre2.PatternError):  # a limit, or a pattern that was almost too long
                    continue
        finally:
            _METER.spend = None
        spend(_GIVEN_UP)
        raise GivenUp

    def _compiled(self, limit: int) -> _Compiled:
        if limit not in self._known:
            pattern = b"(*LIMIT_MATCH=%d)%b(?C1)%b" % (limit, self._verbs, self._pattern)
            self._known[limit] = _library().compile(pattern, self._flags, jit=False, callout=_begin)
        return self._known[limit]


class GivenUp(Exception):
    """A search that PCRE2 has given up."""


_SEARCH: Final = 20
_MATCH: Final = 4
_GIVEN_UP: Final = 200_000
_VERBS: Final = re.compile(rb"(?:\(\*[A-Z0-9_]+(?:=[0-9]+)?\))*")  # they only count at the very beginning
# Few patterns need this one, or those of braces: compiled only for them.
_PIECE: Final = rb"\\Q[\s\S]*?(?:\\E|\Z)|\\x\{|\\x[0-9a-fA-F]{0,2}|\\[\s\S]|\\|\[\^?\]?|\]|\{|[^\\\[\]{]+"
_OPTIONS: Final = {"i": "IGNORECASE", "m": "MULTILINE", "s": "DOTALL", "x": "VERBOSE"}
MAX_PATTERN: Final = 1 << 16


@lru_cache(maxsize=256)
def compiled(pattern: str, options: str) -> Regex | None:
    """Return an expression with the options among ``imsx``; None if it is invalid."""
    pcre2 = _library()
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
        return Regex(source, flags, pcre2.compile(source, flags, jit=False).groups)
    except (pcre2.PatternError, pcre2.LibraryError):
        return None


def _dialect(pattern: bytes) -> bytes | None:
    r"""Return a pattern with the meaning in the binding that the original has in PCRE2; None: PCRE2 refuses it.

    PCRE2 by itself has no ``\u`` and ``\U``; its ``\x`` takes up to two digits or some in braces; ``\C`` is a byte.
    HTCondor's is older than 10.43: ``{,2}`` and ``{1, 2}`` are not repetitions but characters.
    """
    if b"\\" not in pattern and b"{" not in pattern:
        return pattern
    out: list[bytes] = []
    in_class = False
    for match in re.finditer(_PIECE, pattern):
        piece = match[0]
        if piece in (b"\\u", b"\\U", b"\\"):
            return None
        if not in_class and piece == b"{" and re.compile(_NEW_REPETITION).match(pattern, match.start()):
            piece = b"\\{"
        elif not in_class and piece == b"\\C":
            piece = b"(?s:.)"
        elif piece[:2] == b"\\x" and len(piece) < 4 and piece != b"\\x{":
            piece = b"\\x" + piece[2:].rjust(2, b"0") if len(piece) > 2 else b"\\000"
        in_class = piece != b"]" if in_class else piece[:1] == b"["
        out.append(piece)
    return _braces(b"".join(out))


_NEW_REPETITION: Final = rb"\{(?![0-9]+(?:,[0-9]*)?\})[ \t]*(?:[0-9]+[ \t]*)?(?:,[ \t]*(?:[0-9]+[ \t]*)?)?\}"
_BRACED: Final = rb"(\\\\)|\\x\{([0-9a-fA-F]+)\}"


def _braces(pattern: bytes) -> bytes | None:
    for match in re.finditer(_BRACED, pattern):
        if match[2] and int(match[2], 16) > 255:
            return None
    return re.sub(_BRACED, lambda match: match[0] if match[1] else b"\\x%02x" % int(match[2], 16), pattern)


def searched(state: EvaluationState, expression: Regex, text: str, *, empty: bool = True) -> bool | None:
    """Return whether an expression matches somewhere; None: PCRE2 gave up. ``empty`` allows a match of nothing."""
    data = to_bytes(text)
    try:
        if empty:
            return expression.first(data, state.spend) is not None
        return any(match.span()[0] != match.span()[1] for match in expression.all(data, state.spend))
    except GivenUp:
        return None


def matches(state: EvaluationState, expression: Regex, text: str) -> bool:
    """Return whether an expression matches somewhere; False if PCRE2 gives up."""
    return searched(state, expression, text) is True


def replaced(
    state: EvaluationState, expression: Regex, text: str, new: str, *, whole: bool, every: bool
) -> bytes | None:
    r"""Return the text with matches replaced (``whole``), or only their replacements; None: error.

    ``\0`` to ``\9`` in ``new`` are groups; one beyond those that matched is an error. If all are replaced, an empty
    match at the end of the text counts too: HTCondor steps over the end. Raises Failure for a result that is too long.
    """
    data, template = to_bytes(text), to_bytes(new)
    out: list[bytes] = []
    at, was_empty, left = 0, False, _MOST_BYTES
    try:
        found = expression.all(data, state.spend) if every else _first(expression, data, state.spend)
    except GivenUp:
        return None
    for match in found:
        begin, end = match.span()
        state.spend(4 + (len(template) >> 4) + (expression.groups >> 4))
        if was_empty and begin > at:
            out.append(data[at : at + 1])
            at += 1
        if whole:
            out.append(data[at:begin])
        piece = _filled(template, match, expression.groups, left)
        if piece is None:
            return None
        left -= len(piece)
        out.append(piece)
        at, was_empty = end, begin == end
    if was_empty and every:
        if at >= len(data):
            return None
        out.append(data[at : at + 1])
        at += 1
    return b"".join([*out, data[at:]]) if whole else b"".join(out)


def _first(expression: Regex, data: bytes, spend: Spend) -> list[RegexpMatch]:
    match = expression.first(data, spend)
    return [] if match is None else [match]


_GROUP: Final = re.compile(rb"\\([0-9])")
_MOST_BYTES: Final = 4 * MAX_STRING  # of the characters that a string may have


def _filled(template: bytes, match: RegexpMatch, groups: int, most: int) -> bytes | None:
    """Return a replacement with its groups filled in; None: it names one beyond the last that matched.

    Raises Failure for more than ``most`` bytes.
    """
    numbers = [int(number) for number in _GROUP.findall(template)]
    if not numbers:
        return template
    last = max((number for number in range(1, groups + 1) if match.group(number) is not None), default=0)
    if any(number > last for number in numbers):
        return None
    parts = {number: match.group(number) or b"" for number in set(numbers)}
    if len(template) + sum(len(parts[number]) - 2 for number in numbers) > most:
        raise Failure(f"a string grows beyond {MAX_STRING} characters")
    return _GROUP.sub(lambda found: parts[int(found[1])], template)
