"""Ads in brackets, one after the other or in a list: where each begins and ends, found without reading it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from crondor.classad.formats.pieces import Feed, Piece, error

_BLANK: Final = re.compile(r"[ \t\r\n\f\v]*")


class Brackets(NamedTuple):
    """How a form writes an ad and a list of ads.

    ``opening`` and ``closing`` stand around an ad; ``before``, ``between`` and ``after`` make a list. ``token``
    matches brackets and all in which brackets mean nothing; its group ``open`` what has begun and not ended.
    """

    opening: str
    closing: str
    before: str
    between: str
    after: str
    token: re.Pattern[str]


NEW: Final = Brackets(
    "[",
    "]",
    "{",
    ",",
    "}",
    re.compile(
        r"""[\[\]]|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|'[^'\\]*(?:\\[\s\S][^'\\]*)*'|//[^\n]*\n|/\*[\s\S]*?\*/"""
        r"""|(?P<open>["']|//|/\*|/\Z)"""
    ),
)
JSON: Final = Brackets("{", "}", "[", ",", "]", re.compile(r'[{}]|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|(?P<open>")'))
LENIENT_JSON: Final = JSON._replace(
    token=re.compile(r"""[{}]|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|//[^\n]*\n|/\*[\s\S]*?\*/|(?P<open>"|//|/\*|/\Z)""")
)


def extents(feed: Feed, brackets: Brackets, *, tolerant: bool) -> Iterator[Piece]:
    """Return the text of each ad. ``tolerant`` ends in silence where something follows that is none.

    Raises ClassAdSyntaxError for what stands between ads, and for an ad that does not end.
    """
    inside = False
    while True:
        sign = _next_sign(feed, brackets)
        if not sign:
            return
        if sign == brackets.opening:
            end = _end_of_ad(feed, brackets)
            yield feed.piece(end)
            feed.skip(end)
        elif (inside and sign == brackets.after) or (not inside and sign == brackets.before):
            inside = not inside
            feed.skip(feed.at + 1)
        elif inside and sign == brackets.between:
            feed.skip(feed.at + 1)
        elif tolerant:
            return
        else:
            piece = feed.piece(min(len(feed.buffer), feed.at + 80))
            line_end = piece.text.find("\n")
            message = f"an ad is expected here, which begins with {brackets.opening}"
            raise error(piece, 0, 1 if line_end == 0 else max(1, line_end), message)


def _next_sign(feed: Feed, brackets: Brackets) -> str:
    """Go to the next character that is no blank and in no comment, and return it; an empty text is the end."""
    while True:
        match = _BLANK.match(feed.buffer, feed.at)
        if match is not None:
            feed.skip(match.end())
        if feed.at >= len(feed.buffer) - 1 and feed.more():
            continue
        sign = feed.buffer[feed.at : feed.at + 1]
        if sign != "/" or brackets is JSON:
            return sign
        comment = brackets.token.match(feed.buffer, feed.at)
        if comment is not None and comment["open"] is None:
            feed.skip(comment.end())
        elif not feed.more():
            return "" if feed.buffer.startswith("//", feed.at) else sign


def _end_of_ad(feed: Feed, brackets: Brackets) -> int:
    """Return the offset after the bracket that closes the ad beginning here; the feed may read on for that."""
    depth, at = 0, feed.at
    find = brackets.token.search
    while True:
        match = find(feed.buffer, at)
        if match is None or match["open"] is not None:
            known = (len(feed.buffer) if match is None else match.start()) - feed.at
            if not feed.more():
                raise error(feed.piece(len(feed.buffer)), 0, 1, f"this {brackets.opening} is never closed")
            at = feed.at + known
            continue
        at = match.end()
        found = match[0]
        if found == brackets.opening:
            depth += 1
        elif found == brackets.closing:
            depth -= 1
            if not depth:
                return at
