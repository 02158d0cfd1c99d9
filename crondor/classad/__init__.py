"""The ClassAd language with the meaning HTCondor's daemons give it, a clock that is an argument, and no way to crash.

Reading and printing
    ``Expression(text)`` reads new syntax (read once for each distinct text); ``Expression.parse(Source(text, name))``
    names the place in errors and reads the right sides of ``-long`` ads (``old=True``, ``partial=True``).
    ``parse_ad(Source(text))`` returns the tree of ``[ a = 1; ... ]``. ``expression.unparse(UnparseForm.COMPACT)`` is as
    HTCondor prints it; ``UnparseForm.PRETTY`` by lines, ``UnparseForm.OLD`` as in ``-long`` ads. ``print_name``
    and ``print_string`` quote. What cannot be read raises ClassAdSyntaxError, with the piece underlined.

Evaluating
    ``expression.evaluate(my, target, Context(now=...))`` returns a ``Value``: bool, int, float, str, ``UNDEFINED``,
    ``ERROR``, ``AbsTime``, ``RelTime``, ``ListValue`` or ``AdValue`` (these two keep their members unevaluated:
    ``members(value, context)`` evaluates a list's). It raises EvaluationFailed where HTCondor has no value at all.
    ``print_value(value)`` prints one, ``to_tree(value)`` makes it a tree, ``truth(value)`` says what it counts as.
    ``expression.holds(...)``, ``matches(my, target, context)`` and ``symmetric_match`` answer yes or no.

Ads
    ``ClassAd({"Memory": 1024})`` is a mapping from names without case to expressions; ``Place`` is where one was read.
    ``read_ads(text)`` reads ``-long``, new syntax, JSON and XML ad by ad, ``read_ad(text)`` the only one, ``detect``
    tells a ``Format`` by its beginning, ``ReadMode`` (STRICT, LAZY, DAEMON) how strict to be. ``write_ads(ads, form)``
    and ``print_ad(ad, form, order)`` write in an ``Order``. These are imported when they are first asked for.

Looking into
    ``expression.references(ad)``, ``expression.flatten(ad)``, ``expression.explain(my, target, context)``.

An ad, to all of these, is whatever has ``codes`` and ``names`` (the protocol ``Attributes``): two mappings by name in
lower case (``lower(name)``, ASCII only), the one to expression text or ``Code``, the other to the spelling. A text is
read when evaluation asks for it and, where ``codes`` is a dict, kept there in place of the text. A chained ad gives a
``codes`` whose ``get`` falls back to its parent. ``read(text)`` is the cached reader of one value; ``code_tree(code)``
its tree. ``AdValue(codes, names)`` is the plainest ad.

A string is the ``str`` of its UTF-8 bytes; bytes that are not UTF-8 are surrogate escapes (``to_bytes``,
``from_bytes``). size(), substr() and comparisons see the bytes, as in HTCondor.
"""

from typing import TYPE_CHECKING

from crondor._types import late
from crondor.classad.compile import code_of, read
from crondor.classad.evaluate import Explanation, matches, members, symmetric_match
from crondor.classad.expression import Expression, References
from crondor.classad.operators import truth
from crondor.classad.parser import UnparseForm, parse_ad, parse_expression, print_name, print_string, unparse
from crondor.classad.scope import AdValue, Attributes, Code, Context, ListValue, Value, code_tree, print_value, to_tree
from crondor.classad.text import from_bytes, lower, to_bytes
from crondor.classad.tree import (
    ERROR,
    UNDEFINED,
    AbsTime,
    CircularReference,
    ClassAdSyntaxError,
    EvaluationFailed,
    Exceptional,
    RelTime,
)

if TYPE_CHECKING:
    from crondor.classad.ad import ClassAd, Place
    from crondor.classad.formats import ReadMode, detect, read_ad, read_ads, write_ads
    from crondor.classad.printing import Format, Order, print_ad

__all__ = [
    "ERROR",
    "UNDEFINED",
    "AbsTime",
    "AdValue",
    "Attributes",
    "CircularReference",
    "ClassAd",
    "ClassAdSyntaxError",
    "Code",
    "Context",
    "EvaluationFailed",
    "Exceptional",
    "Explanation",
    "Expression",
    "Format",
    "ListValue",
    "Order",
    "Place",
    "ReadMode",
    "References",
    "RelTime",
    "UnparseForm",
    "Value",
    "code_of",
    "code_tree",
    "detect",
    "from_bytes",
    "lower",
    "matches",
    "members",
    "parse_ad",
    "parse_expression",
    "print_ad",
    "print_name",
    "print_string",
    "print_value",
    "read",
    "read_ad",
    "read_ads",
    "symmetric_match",
    "to_bytes",
    "to_tree",
    "truth",
    "unparse",
    "write_ads",
]

"""Lazily imported names, which evaluation alone does not need: whole ads and their formats."""

_HOMES = {
    "crondor.classad.ad": "ClassAd Place",
    "crondor.classad.formats": "ReadMode detect read_ad read_ads write_ads",
    "crondor.classad.printing": "Format Order print_ad",
}
__getattr__, __dir__ = late(__name__, _HOMES)
