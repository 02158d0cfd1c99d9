"""Ads in new syntax: ``[ a = 1; b = a + 1 ]``, one after the other, or ``{ [ ... ], [ ... ] }``.

HTCondor: ClassAdParser::ParseClassAd.
"""

from __future__ import annotations

from collections.abc import Iterator

from crondor.classad.ad import ClassAd, Place
from crondor.classad.compile import code_of
from crondor.classad.formats.pieces import NEW, Feed, Piece, ReadMode, Report, read_pieces
from crondor.classad.parser import parse_ad
from crondor.classad.printing import prints_as_it_is
from crondor.classad.scope import Code
from crondor.classad.text import lower
from crondor.classad.tree import Literal, Node


def read_new(feed: Feed, mode: ReadMode, report: Report | None) -> Iterator[ClassAd]:
    """Return the ads of a text one by one; an ad with a fault is refused as a whole.

    ads = (ad | "{" (ad | ",")* "}")*

    Raises ClassAdSyntaxError.
    """
    return read_pieces(feed, NEW, _ad, report, tolerant=mode is ReadMode.DAEMON)


def _ad(piece: Piece) -> ClassAd:
    tree = parse_ad(piece)
    codes = {lower(name): _code(piece.text, part) for name, part in tree.items}
    return ClassAd.of(codes, {lower(name): name for name, _ in tree.items}, Place(piece.name, piece.position(0)[0]))


def _code(text: str, part: Node) -> Code | str:
    """Return an attribute's expression; a plain literal as its text, which identifies similar jobs."""
    if type(part) is Literal:
        written = text[part.start : part.end]
        if prints_as_it_is(written):
            return written
    return code_of(part)
