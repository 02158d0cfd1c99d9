"""Ads as text: ``-long``, new syntax, JSON and XML, one ad or streams of them.

``read_ads(text)`` returns the ads of a text, a file or lines one by one; ``read_ad(text)`` the only one. The format is
detected from the beginning of the text, or given as a ``Format``. ``ReadMode`` sets how strict reading is; every fault
is a Diagnostic with its line and column. ``write_ads(ads, Format.JSON)`` returns pieces of text; ``ad.print(...)`` one
ad.
"""

from crondor.classad.formats.pieces import MAX_AD, MAX_DEPTH, ReadMode
from crondor.classad.formats.reading import detect, read_ad, read_ads, write_ads
from crondor.classad.printing import Format, Order, print_ad

__all__ = [
    "MAX_AD",
    "MAX_DEPTH",
    "Format",
    "Order",
    "ReadMode",
    "detect",
    "print_ad",
    "read_ad",
    "read_ads",
    "write_ads",
]
