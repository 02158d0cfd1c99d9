"""Ads from texts and files in any format (HTCondor: CondorClassAdFileIterator::next), and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from crondor._types import expect
from crondor.classad.ad import ClassAd, Place
from crondor.classad.compile import code_of
from crondor.classad.formats.json_form import read_json
from crondor.classad.formats.long_form import read_long
from crondor.classad.formats.pieces import NEW, Feed, Piece, ReadMode, Report, Text, error, name_of, read_pieces, tell
from crondor.classad.formats.xml_form import read_xml
from crondor.classad.parser import parse_ad
from crondor.classad.printing import Format, Order, print_ad, prints_as_it_is
from crondor.classad.scope import Attributes, Code
from crondor.classad.text import lower
from crondor.classad.tree import ClassAdSyntaxError, Literal, Node
from crondor.diagnostics import Source, lines_of


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


_FIRST: Final = re.compile(r"(?:\ufeff)?[ \t\r\n\f\v]*([^ \t\r\n\f\v])[ \t\r\n\f\v]*(.?)")
_READERS: Final = {
    Format.LONG: read_long,
    Format.NEW: read_new,
    Format.PRETTY: read_new,
    Format.JSON: read_json,
    Format.JSON_LINES: read_json,
    Format.XML: read_xml,
}


def detect(text: str, *, faithful: bool = False) -> Format:
    """Return the format of a text from its beginning: LONG, NEW, JSON or XML.

    ``faithful``: like HTCondor 25.14's parseAds with ParserType.Auto, which only tells LONG and NEW apart.
    """
    if faithful:
        return Format.NEW if text.lstrip(" \t\r\n\f\v").startswith(("[", "/")) else Format.LONG
    match = _FIRST.match(text)
    if match is None:
        return Format.LONG
    first, second = match.groups()
    if first == "<":
        return Format.XML
    if first == "{":
        return Format.NEW if second == "[" else Format.JSON
    if first == "[":
        return Format.JSON if second in ("{", "]") else Format.NEW
    return Format.NEW if first == "/" else Format.LONG


def read_ads(
    text: Text,
    form: Format | None = None,
    mode: ReadMode = ReadMode.STRICT,
    *,
    name: str | None = None,
    report: Report | None = None,
    line: int | None = None,
) -> Iterator[ClassAd]:
    """Return the ads of a text, a file or lines one by one, holding at most one of them.

    The format is detected if none is given. An ad with faults raises ClassAdSyntaxError with all of them, and reading
    ends; so does a text that is not an ad. If ``report`` is given it is called with each fault instead, and nothing is
    raised: a ``-long`` ad keeps its good lines, an ad in another format is skipped, and reading continues with the next
    ad, or after an unclosed ad with the next line that begins one. Only more than MAX_AD characters without an ad end
    the reading, and in mode DAEMON what ends HTCondor's reader. ``line`` is the first line of a part of a longer text
    that consists of whole ads.
    """
    expect("text", text, (str, Source, Iterable), "text, a Source, or an open text file")
    feed = Feed(text, name_of(text, name), line)
    ads = _ads(feed, form, mode, report)
    return ads if report is None else _told(ads, report)


def _ads(feed: Feed, form: Format | None, mode: ReadMode, report: Report | None) -> Iterator[ClassAd]:
    feed.more()
    if feed.line == 1 and feed.buffer.startswith("\ufeff"):  # which Windows editors put before the first character
        feed.at = 1
    while form is None and feed.buffer[feed.at :].isspace() and feed.more():
        pass
    chosen = detect(feed.buffer[feed.at :] if len(feed.buffer) < _SHORT else _beginning(feed)) if form is None else form
    yield from _READERS[chosen](feed, mode, report)


def _told(ads: Iterator[ClassAd], report: Report) -> Iterator[ClassAd]:
    """Yield ads up to a fault that ends the reading."""
    try:
        yield from ads
    except ClassAdSyntaxError as problem:
        tell(problem, report)


_SHORT: Final = 4096


def _beginning(feed: Feed) -> str:
    return feed.buffer[feed.at :].lstrip()[:_SHORT]


def read_ad(
    text: str | Source, form: Format | None = None, mode: ReadMode = ReadMode.STRICT, *, name: str | None = None
) -> ClassAd:
    """Return the one ad of a text; DAEMON returns the first and ignores the rest.

    Raises ClassAdSyntaxError, also if there is none or another one.
    """
    expect("text", text, (str, Source), "text or a Source", "for a file read_ads(file)")
    source = text if isinstance(text, Source) else Source(text, "<text>" if name is None else name)
    ads = read_ads(source, form, mode, name=name)
    found = next(ads, None)
    if found is None:
        raise error(source, 0, 1, "there is no ad in this text")
    other = None if mode is ReadMode.DAEMON else next(ads, None)
    if other is not None and other.place is not None:
        start = sum(map(len, lines_of(source.text)[: other.place.line - 1]))
        raise error(source, start, start + 1, "another ad begins here; one is expected")
    return found


_XML_HEAD: Final = '<?xml version="1.0"?>\n<!DOCTYPE classads SYSTEM "classads.dtd">\n<classads>\n'


class Frame(NamedTuple):
    """The text of a stream before the ads, between two, and after them; and the stream without ads."""

    before: str = ""
    between: str = ""
    after: str = ""
    empty: str = ""

    def around(self, printed: Iterable[str]) -> Iterator[str]:
        """Yield the stream for texts that hold one ad or several."""
        head = self.before
        is_empty = True
        for text in printed:
            yield head + text if head else text
            head, is_empty = self.between, False
        end = self.empty if is_empty else self.after
        if end:
            yield end


_FRAMES: Final = {
    Format.JSON: Frame("[\n", ",\n", "\n]\n", "[\n]\n"),
    Format.PRETTY: Frame("{\n", ",\n", "\n}\n", "{\n}\n"),
    Format.XML: Frame(_XML_HEAD, "", "</classads>\n", f"{_XML_HEAD}</classads>\n"),
}
_PLAIN: Final = Frame()


def frame_of(form: Format) -> Frame:
    """Return the text around the ads of a stream."""
    return _FRAMES.get(form, _PLAIN)


def print_among(ad: Attributes, form: Format, order: Order = Order.LIBRARY, *, faithful: bool = False) -> str:
    """Return an ad as printed in a stream. Raises ClassAdSyntaxError for an attribute whose text is invalid."""
    text = print_ad(ad, form, order, faithful=faithful)
    if form is Format.PRETTY:
        return text.lstrip("\n")
    return text if form in _FRAMES else text + "\n"


def write_ads(
    ads: Iterable[Attributes], form: Format = Format.LONG, order: Order = Order.LIBRARY, *, faithful: bool = False
) -> Iterator[str]:
    """Return the text of ads piece by piece.

    LONG ends each ad with an empty line, NEW and JSON_LINES write an ad a line, JSON and PRETTY a list over several
    lines, XML a document with HTCondor's header. ``faithful`` is that of print_ad. Raises ClassAdSyntaxError for an
    attribute whose text is invalid.
    """
    yield from frame_of(form).around(print_among(ad, form, order, faithful=faithful) for ad in ads)
