"""Ads to text in every format HTCondor prints: ``-long``, new syntax, JSON and XML.

HTCondor: sPrintAd, ClassAdXMLUnParser::Unparse, ClassAdJsonUnParser::Unparse.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from crondor.classad.parser import UnparseForm, print_constant, print_name, print_real, print_string, unparse
from crondor.classad.scope import Attributes, Code, Codes, code_tree, literal_value
from crondor.classad.shapes import literal, printed
from crondor.classad.text import lower
from crondor.classad.tree import ERROR, UNDEFINED, AdNode, ListNode, Literal, Node, RelTime, attribute_order

if TYPE_CHECKING:
    Getter = Callable[[Codes], Sequence[Code | str]]

_FEW: Final = 8  # values that are printed as fast one by one
_SHORT: Final = 1 << 15  # characters of an ad that is worth remembering
_PRICE: Final = 4  # ads printed whole before common parts are looked for again
_DEAREST: Final = 512


class Spelling(dict[str, str]):
    """The spelling of an ad's names by name in lower case. It is immutable, so that ads can share it.

    ``frames`` has what is known about printing these ads, by the order of the names.
    """

    __slots__ = ("frames",)

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__(names)
        self.frames: dict[str, Frame] = {}

    def __reduce__(self) -> tuple[type[Spelling], tuple[dict[str, str]]]:
        return Spelling, (dict(self),)


class Frame:
    """The text of ads with the same names: most of their values are the same too.

    ``get`` selects all values in their order from an ad's expressions; ``blank`` is the text with gaps for them: every
    other piece is one. ``some`` makes a function that selects the values at certain places; ``printed`` has the text of
    each value.
    """

    def __init__(
        self, get: Getter, blank: list[str], some: Callable[[Sequence[int]], Getter], printed: Mapping[Code | str, str]
    ) -> None:
        self._get = get
        self._blank = blank
        self._some = some
        self._printed = printed
        self._last: Sequence[Code | str] = ()
        self._price = _PRICE
        self._waits = 1
        self._known: Sequence[Code | str] = ()
        self._others: set[int] = set()
        self._common: tuple[Getter, Sequence[Code | str], Getter, list[str]] | None = None

    def text(self, codes: Codes) -> str:
        """Return the text of an ad. Raises ClassAdSyntaxError."""
        common = self._common
        if common is None:
            return self._whole(codes)
        same, values, others, frame = common
        if same(codes) != values:
            return self._whole(codes)
        pieces = frame.copy()
        pieces[1::2] = map(self._printed.__getitem__, others(codes))
        return "".join(pieces)

    def _whole(self, codes: Codes) -> str:
        values = self._get(codes)
        pieces = self._blank.copy()
        pieces[1::2] = map(self._printed.__getitem__, values)
        text = "".join(pieces)
        if len(values) > _FEW and len(text) <= _SHORT:
            self._learn(values, pieces)
        return text

    def _learn(self, values: Sequence[Code | str], pieces: list[str]) -> None:
        """Find the common parts of an ad, the one before, and the last examined; ever less often, for speed."""
        last, self._last = self._last, values
        self._waits -= 1
        if self._waits >= 0 or not last:
            return
        self._waits, self._price = self._price, min(2 * self._price, _DEAREST)
        known, self._known = self._known or last, values
        differing = {
            at for at, (one, *others) in enumerate(zip(values, last, known, strict=True)) if others != [one, one]
        }
        most = len(values) * 3 // 4
        self._others = differing if len(self._others | differing) > most else self._others | differing
        if len(self._others) > most:
            self._common = None
            return
        others = sorted(self._others)
        same = [at for at in range(len(values)) if at not in self._others]
        made, begin = [], 0
        for at in others:
            made += ["".join(pieces[begin : 2 * at + 1]), ""]
            begin = 2 * at + 2
        made.append("".join(pieces[begin:]))
        self._common = self._some(same), tuple(values[at] for at in same), self._some(others), made


class Format(Enum):
    """The formats of an ad; PRETTY is NEW over several lines, JSON_LINES is JSON with one ad a line."""

    LONG = "long"
    NEW = "new"
    PRETTY = "pretty"
    JSON = "json"
    JSON_LINES = "jsonl"
    XML = "xml"


class Order(Enum):
    """The order of an ad's attributes in print.

    LIBRARY: by length, then ignoring case, as HTCondor stores them. NAME: by the bytes of the names in lower case, as
    its tools print ``-long``. KEPT: as they were read or set.
    """

    LIBRARY = "library"
    NAME = "name"
    KEPT = "kept"


_AS_IT_IS: Final = re.compile(r'"[^"\\]*"|0|-?[1-9][0-9]{0,17}|true|false|undefined|error').fullmatch
_SIMPLE_STRING: Final = re.compile(r'"(?:[^"\\]|\\["\\])*"').fullmatch
_REAL: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,20}").fullmatch
_MAX_KNOWN: Final = 1 << 14
_MAX_SIZE: Final = 1 << 23
_MAX_KNOWN_TEXT: Final = 512
_LARGE: Final = 500  # attributes of an ad whose layout is not worth caching
_LONG: Final = 1 << 15  # characters of its names

_Layout = tuple["Getter", list[str], tuple[str, ...]]


def print_ad(ad: Attributes, form: Format = Format.NEW, order: Order = Order.LIBRARY, *, faithful: bool = False) -> str:
    """Return an ad as HTCondor prints it.

    A quoted name after a dot or before parentheses keeps its quotes, so that the text can be read back; ``faithful``:
    it loses them, as HTCondor 25.14 prints it.

    LONG and XML end with a line end, the others do not. A string with a line end makes a ``-long`` text that cannot be
    read back: HTCondor prints it raw, and so does this. Raises ClassAdSyntaxError for an attribute whose text is
    invalid.
    """
    codes, names = ad.codes, ad.names
    if form is Format.PRETTY:
        tree = AdNode(tuple((name, code_tree(codes[lower(name)])) for name in _ordered(tuple(names.values()), order)))
        return unparse(tree, UnparseForm.PRETTY, faithful=faithful)
    key = form._value_ + order._value_
    if names.__class__ is Spelling and not faithful:
        frame = names.frames.get(key)
        if frame is not None:
            return frame.text(codes)
    spelled = tuple(names.values())
    if not spelled:
        return _EMPTY[form]
    get, blank, keys = _LAYOUTS[key].get(spelled) or _lay_out(spelled, form, order)
    if isinstance(names, Spelling) and not faithful:
        names.frames[key] = Frame(get, blank, lambda places: _getter([keys[at] for at in places]), _PRINTED[form])
    pieces = blank.copy()
    pieces[1::2] = map((_FAITHFUL if faithful else _PRINTED)[form].__getitem__, get(codes))
    return "".join(pieces)


def _ordered(names: tuple[str, ...], order: Order) -> list[str]:
    if order is Order.LIBRARY:
        return sorted(names, key=attribute_order)
    return (
        sorted(names, key=lambda name: lower(name).encode("utf-8", "surrogateescape"))
        if order is Order.NAME
        else [*names]
    )


_FLAT: Final = (Format.LONG, Format.NEW, Format.JSON, Format.JSON_LINES, Format.XML)
_LAYOUTS: Final[dict[str, dict[tuple[str, ...], _Layout]]] = {
    form.value + order.value: {} for form in _FLAT for order in Order
}
_MOST_LAYOUTS: Final = 256
_AROUND: Final = {
    Format.LONG: ("", "\n", "\n"),
    Format.NEW: ("[ ", "; ", " ]"),
    Format.JSON: ("{\n  ", ",\n  ", "\n}"),
    Format.JSON_LINES: ("{", ",", "}"),
    Format.XML: ("<c>\n    ", "</a>\n    ", "</a>\n</c>\n"),
}
_EMPTY: Final = {
    Format.LONG: "\n",
    Format.NEW: "[  ]",
    Format.JSON: "{\n}",
    Format.JSON_LINES: "{}",
    Format.XML: "<c>\n</c>\n",
}


def _head(name: str, form: Format) -> str:
    """Return the text of a name before its value."""
    if form is Format.XML:
        return f'<a n="{_xml_name(name)}">'
    if form in (Format.JSON, Format.JSON_LINES):
        return f"{_json_string(name)}: "
    return print_name(name, UnparseForm.OLD if form is Format.LONG else UnparseForm.COMPACT) + " = "


def _lay_out(names: tuple[str, ...], form: Format, order: Order) -> _Layout:
    """Return a selector of the values in their order, the text with gaps for them, and the lower-case names.

    Every other piece of the text is a value. It is cached, unless it is large.
    """
    spelled = _ordered(names, order)
    keys = tuple(lower(name) for name in spelled)
    begin, between, end = _AROUND[form]
    blank: list[str] = []
    for name in spelled:
        blank += ((between if blank else begin) + _head(name, form), "")
    blank.append(end)
    found = _getter(keys), blank, keys
    if len(names) <= _LARGE and sum(map(len, names)) <= _LONG:
        known = _LAYOUTS[form.value + order.value]
        if len(known) >= _MOST_LAYOUTS:
            known.clear()
        known[names] = found
    return found


def _getter(keys: Sequence[str]) -> Getter:
    """Return a function that selects the values of names from an ad's expressions."""
    if len(keys) > 1:
        return itemgetter(*keys)
    return lambda codes: tuple(codes[key] for key in keys)


class _Printed(dict["Code | str", str]):
    """Recently printed texts of attributes in a form; parsed expressions are printed each time."""

    __slots__ = ("faithful", "form", "size")

    def __init__(self, form: Format, *, faithful: bool) -> None:
        super().__init__()
        self.form = form
        self.faithful = faithful
        self.size = 0  # characters of what was cached automatically

    def __missing__(self, value: Code | str) -> str:
        if isinstance(value, Code):
            if value.text is not None:
                return self[value.text]
            return self._print(code_tree(value))
        found = self._old(value) if self.form is Format.LONG else self._new(value)
        if len(value) <= _MAX_KNOWN_TEXT:
            if len(self) >= _MAX_KNOWN:
                self.clear()
            self[value] = found
        return found

    def _new(self, text: str) -> str:
        tree = literal(text)
        known = printed(text) if tree is None else None
        if known is None:
            return self._print(tree or code_tree(text))
        if self.form is Format.NEW:
            return known
        return _xml_expression(known) if self.form is Format.XML else _json_expression(known)

    def _old(self, text: str) -> str:
        if _AS_IT_IS(text):
            return text
        if _SIMPLE_STRING(text):
            return text.replace("\\\\", "\\")
        if _REAL(text):
            return print_real(float(text), UnparseForm.OLD)
        known = printed(text, UnparseForm.OLD)
        return self._print(code_tree(text)) if known is None else known

    def _print(self, tree: Node) -> str:
        if self.form is Format.LONG:
            if tree.__class__ is Literal:
                return print_constant(tree.value, UnparseForm.OLD)
            return unparse(tree, UnparseForm.OLD, faithful=self.faithful)
        if self.form is Format.NEW:
            return unparse(tree, faithful=self.faithful)
        if self.form is Format.XML:
            return _xml(tree, faithful=self.faithful)
        return _json(tree, one_line=self.form is Format.JSON_LINES, faithful=self.faithful)


_PRINTED: Final = {form: _Printed(form, faithful=False) for form in _FLAT}
_FAITHFUL: Final = {form: _Printed(form, faithful=True) for form in _FLAT}
_OLD: Final = _PRINTED[Format.LONG]


def remember_as_written(texts: Sequence[str], size: int) -> None:
    """Cache texts of ``size`` characters in all that the old form prints unchanged."""
    _OLD.size += size
    if len(_OLD) >= _MAX_KNOWN or _OLD.size > _MAX_SIZE:
        _OLD.clear()
        _OLD.size = size
    _OLD.update(zip(texts, texts, strict=True))


def prints_as_it_is(text: str) -> bool:
    """Return whether a value is a plain literal that the old form prints unchanged; if so, cache that."""
    if not _AS_IT_IS(text):
        return False
    if len(text) <= _MAX_KNOWN_TEXT:
        if len(_OLD) >= _MAX_KNOWN:
            _OLD.clear()
        _OLD[text] = text
    return True


_JSON_ESCAPES: Final = {
    **{code: f"\\u{code:04X}" for code in range(1, 32)},
    **{ord(sign): f"\\{letter}" for sign, letter in zip("\b\f\n\r\t", "bfnrt", strict=True)},
    ord("\\"): "\\\\",
    ord('"'): '\\"',
}
_XML_ESCAPES: Final = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}


def _json(tree: Node, *, one_line: bool, faithful: bool) -> str:
    r"""Return an attribute's value as JSON: literals as such, all else as ``"\/Expr(...)\/"``."""
    out: list[str] = []
    work: list[tuple[Node | str, int]] = [(tree, 1)]
    while work:
        piece, depth = work.pop()
        if isinstance(piece, str):
            out.append(piece)
        elif isinstance(piece, (AdNode, ListNode)):
            rows: list[tuple[str, Node]] = (
                [(f"{_json_string(name)}: ", part) for name, part in piece.items]
                if isinstance(piece, AdNode)
                else [("", part) for part in piece.items]
            )
            signs = "{}" if isinstance(piece, AdNode) else "[]"
            inner, outer = ("", "") if one_line else ("\n" + "  " * (depth + 1), "\n" + "  " * depth)
            out.append(signs[0])
            work.append((outer + signs[1], depth))
            for at in range(len(rows) - 1, -1, -1):
                head, part = rows[at]
                work += [(part, depth + 1), (f"{',' if at else ''}{inner}{head}", depth)]
        else:
            out.append(_json_leaf(piece, faithful=faithful))
    return "".join(out)


def _json_leaf(node: Node, *, faithful: bool) -> str:
    if not isinstance(node, Literal):
        return _json_expression(unparse(node, faithful=faithful))
    value = node.value
    if value is UNDEFINED:
        return "null"
    if isinstance(value, RelTime):
        value = value.seconds  # a literal length of time evaluates to a number
    if isinstance(value, str):
        return _json_string(value)
    if isinstance(value, float) and math.isfinite(value):
        return print_real(value, UnparseForm.OLD)
    if isinstance(value, int):
        return unparse(Literal(value))
    return _json_expression(unparse(Literal(value)))


def _json_string(text: str) -> str:
    return f'"{text.translate(_JSON_ESCAPES)}"'


def _json_expression(text: str) -> str:
    return f'"\\/Expr({text.translate(_JSON_ESCAPES)})\\/"'


def _xml(tree: Node, *, faithful: bool) -> str:
    out: list[str] = []
    work: list[tuple[Node | str, int]] = [(tree, 4)]
    while work:
        piece, indent = work.pop()
        if isinstance(piece, str):
            out.append(piece)
        elif isinstance(piece, AdNode):
            work.append((" " * indent + "</c>", indent))
            for name, part in reversed(piece.items):
                head = f'{" " * (indent + 4)}<a n="{_xml_name(name)}">'
                work += [("</a>\n", 0), (part, indent + 4), (head, 0)]
            out.append("<c>\n")
        elif isinstance(piece, ListNode):
            work.append(("</l>", 0))
            work += [(part, indent) for part in reversed(piece.items)]
            out.append("<l>")
        else:
            out.append(_xml_leaf(piece, faithful=faithful))
    return "".join(out)


def _xml_name(name: str) -> str:
    return print_string(name)[1:-1].translate(_XML_ESCAPES).replace('\\"', "\\&quot;")


def _xml_leaf(node: Node, *, faithful: bool) -> str:
    if not isinstance(node, Literal):
        return _xml_expression(unparse(node, faithful=faithful))
    value = literal_value(node.value) if isinstance(node.value, RelTime) else node.value
    if isinstance(value, bool):
        return f'<b v="{"t" if value else "f"}"/>'
    if value is UNDEFINED or value is ERROR:
        return "<un/>" if value is UNDEFINED else "<er/>"
    if isinstance(value, str):
        return f"<s>{print_string(value)[1:-1].replace(_QUOTE, _PLAIN_QUOTE).translate(_XML_ESCAPES)}</s>"
    if isinstance(value, int):
        return f"<i>{value}</i>"
    if isinstance(value, float):
        return f"<r>{_xml_real(value)}</r>"
    return f"<at>{unparse(Literal(node.value))[9:-2]}</at>"


def _xml_expression(text: str) -> str:
    return f"<e>{text.translate(_XML_ESCAPES)}</e>"


_QUOTE: Final = '\\"'
_PLAIN_QUOTE: Final = '"'


def _xml_real(value: float) -> str:
    if math.isfinite(value):
        return "0.0" if value == 0 else print_real(value)
    return "NaN" if math.isnan(value) else ("-INF" if value < 0 else "INF")
