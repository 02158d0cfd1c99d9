"""Streams of ads to text, as HTCondor's tools write them (HTCondor: CondorClassAdListWriter::appendAd)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from crondor.classad.printing import Format, Order, print_ad
from crondor.classad.scope import Attributes

_XML_HEAD: Final = '<?xml version="1.0"?>\n<!DOCTYPE classads SYSTEM "classads.dtd">\n<classads>\n'


class Frame(NamedTuple):
    """What a stream of ads has before them, between two, and after them; and what it is where there is none."""

    before: str = ""
    between: str = ""
    after: str = ""
    empty: str = ""

    def around(self, printed: Iterable[str]) -> Iterator[str]:
        """Yield the stream, of which each of the texts holds one ad or several, with what is between them."""
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
    """Return what stands around the ads of a stream."""
    return _FRAMES.get(form, _PLAIN)


def print_among(ad: Attributes, form: Format, order: Order = Order.LIBRARY, *, faithful: bool = False) -> str:
    """Return an ad as it stands in a stream.

    Raises ClassAdSyntaxError for an attribute whose text is no expression.
    """
    text = print_ad(ad, form, order, faithful=faithful)
    if form is Format.PRETTY:
        return text.lstrip("\n")
    return text if form in _FRAMES else text + "\n"


def write_ads(
    ads: Iterable[Attributes],
    form: Format = Format.LONG,
    order: Order = Order.LIBRARY,
    *,
    faithful: bool = False,
) -> Iterator[str]:
    """Return the text of ads piece by piece.

    LONG ends each ad with an empty line, NEW and JSON_LINES write an ad a line, JSON and PRETTY a list over several
    lines, XML a document with HTCondor's header. ``faithful`` is that of print_ad.
    Raises ClassAdSyntaxError for an attribute whose text is no expression.
    """
    yield from frame_of(form).around(print_among(ad, form, order, faithful=faithful) for ad in ads)
