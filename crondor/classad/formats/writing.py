"""Streams of ads to text, as HTCondor's tools write them (HTCondor: CondorClassAdListWriter::appendAd)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from crondor.classad.printing import Format, Order, print_ad
from crondor.classad.scope import Attributes

_XML_HEAD: Final = '<?xml version="1.0"?>\n<!DOCTYPE classads SYSTEM "classads.dtd">\n<classads>\n'
_LIST: Final = {Format.JSON: ("[\n", ",\n", "\n]\n"), Format.PRETTY: ("{\n", ",\n", "\n}\n")}


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
    printed = (print_ad(ad, form, order, faithful=faithful) for ad in ads)
    if form in _LIST:
        yield from _listed(printed, form)
    elif form is Format.XML:
        yield _XML_HEAD
        yield from printed
        yield "</classads>\n"
    else:
        for text in printed:
            yield text + "\n"


def _listed(printed: Iterable[str], form: Format) -> Iterator[str]:
    before, between, after = _LIST[form]
    head = before
    for text in printed:
        yield head + (text.lstrip("\n") if form is Format.PRETTY else text)
        head = between
    yield after if head is between else before + after.lstrip("\n")
