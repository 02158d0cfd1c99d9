"""Streams of ads to text, as HTCondor's tools write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from crondor.classad.printing import Format, Order, print_ad
from crondor.classad.scope import Attributes

_XML_HEAD: Final = '<?xml version="1.0"?>\n<!DOCTYPE classads SYSTEM "classads.dtd">\n<classads>\n'
_LIST: Final = {Format.JSON: ("[\n", ",\n", "\n]\n"), Format.PRETTY: ("{\n", ",\n", "\n}\n")}


def write_ads(ads: Iterable[Attributes], form: Format = Format.LONG, order: Order = Order.LIBRARY) -> Iterator[str]:
    """Return the text of ads piece by piece.

    LONG ends each ad with an empty line, NEW and JSON_LINES write an ad a line, JSON and PRETTY a list over several
    lines, XML a document with HTCondor's header.
    Raises ClassAdSyntaxError for an attribute whose text is no expression.
    """
    if form in _LIST:
        yield from _listed(ads, form, order)
    elif form is Format.XML:
        yield _XML_HEAD
        for ad in ads:
            yield print_ad(ad, form, order)
        yield "</classads>\n"
    else:
        for ad in ads:
            yield print_ad(ad, form, order) + "\n"


def _listed(ads: Iterable[Attributes], form: Format, order: Order) -> Iterator[str]:
    before, between, after = _LIST[form]
    head = before
    for ad in ads:
        text = print_ad(ad, form, order)
        yield head + (text.lstrip("\n") if form is Format.PRETTY else text)
        head = between
    yield after if head is between else before + after.lstrip("\n")
