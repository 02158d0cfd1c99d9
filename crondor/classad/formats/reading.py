"""Ads from texts and files, in whatever form (HTCondor: CondorClassAdFileIterator::next)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from crondor._types import expect
from crondor.classad.ad import ClassAd
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.formats.json_form import read_json
from crondor.classad.formats.long_form import read_long
from crondor.classad.formats.new_form import read_new
from crondor.classad.formats.pieces import Feed, ReadMode, Report, Text, error, name_of, tell
from crondor.classad.formats.xml_form import read_xml
from crondor.classad.printing import Format
from crondor.source import Source, lines_of

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
    """Return the form of a text by how it begins: LONG, NEW, JSON or XML.

    ``faithful``: as HTCondor 25.14's parseAds with ParserType.Auto, which tells only LONG and NEW apart.
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
    """Return the ads of a text, a file or lines one by one, holding no more than one of them.

    The form is told by the beginning if none is given. An ad with faults raises ClassAdSyntaxError with all of them,
    and reading ends there; so does a text that is no ad. If ``report`` is given it is called with each fault instead,
    and nothing is raised: a ``-long`` ad keeps its good lines, an ad in another form is left out, and reading goes on
    with the next ad. After an ad that is never closed, that is the next line that begins an ad. Only more than MAX_AD
    characters without an ad in them end the reading; and where the mode is DAEMON, what HTCondor's reader ends at.
    ``line`` is where a part of a longer text begins there, a text of whole ads that is read by itself.
    """
    expect("text", text, (str, Source, Iterable), "text, a Source, or an open text file")
    feed = Feed(text, name_of(text, name), line)
    ads = _ads(feed, form, mode, report)
    return ads if report is None else _told(ads, report)


def _ads(feed: Feed, form: Format | None, mode: ReadMode, report: Report | None) -> Iterator[ClassAd]:
    feed.more()
    if feed.line == 1 and feed.buffer.startswith("\ufeff"):  # what Windows editors put before the first character
        feed.at = 1
    while form is None and feed.buffer[feed.at :].isspace() and feed.more():
        pass
    chosen = detect(feed.buffer[feed.at :] if len(feed.buffer) < _SHORT else _beginning(feed)) if form is None else form
    yield from _READERS[chosen](feed, mode, report)


def _told(ads: Iterator[ClassAd], report: Report) -> Iterator[ClassAd]:
    """Return ads up to a fault that ends the reading."""
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
    """Return the one ad of a text; DAEMON returns the first and ignores what follows.

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
