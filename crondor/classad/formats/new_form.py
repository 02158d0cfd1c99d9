"""Ads in new syntax: ``[ a = 1; b = a + 1 ]``, one after the other, or ``{ [ ... ], [ ... ] }``."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.classad.ad import ClassAd, Place
from crondor.classad.compile import code_of
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.formats.extents import NEW, extents
from crondor.classad.formats.pieces import Feed, Mode, Piece, Report
from crondor.classad.parser import parse_ad
from crondor.classad.scope import Code
from crondor.classad.text import lower


def read_new(feed: Feed, mode: Mode, report: Report | None) -> Iterator[ClassAd]:
    """Return the ads of a text one by one; an ad with a fault is refused as a whole.

    Raises ClassAdSyntaxError.
    """
    for piece in extents(feed, NEW, tolerant=mode is Mode.DAEMON):
        try:
            found = _ad(piece)
        except ClassAdSyntaxError as problem:
            if report is None:
                raise
            for diagnostic in problem.diagnostics:
                report(diagnostic)
            continue
        yield found


def _ad(piece: Piece) -> ClassAd:
    tree = parse_ad(piece)
    codes: dict[str, Code | str] = {lower(name): code_of(part) for name, part in tree.items}
    return ClassAd.of(codes, {lower(name): name for name, _ in tree.items}, Place(piece.name, piece.position(0)[0]))
