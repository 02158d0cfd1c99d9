"""Ads as XML: ``<c><a n="Name"><i>1</i></a></c>``, inside ``<classads>`` or alone.

The parser is expat: it is in every Python, does not recurse, and fetches nothing. It gets one ad at a time, so that the
next one is read after any fault. Features that let a small text grow or reach elsewhere are refused: a DTD inside the
document, entities, external references. HTCondor's own header, which only names ``classads.dtd``, is accepted and that
file never opened.

HTCondor: ClassAdXMLParser::ParseClassAd.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final, NoReturn
from xml.parsers import expat

from crondor.classad.ad import ClassAd, Place
from crondor.classad.compile import read
from crondor.classad.formats.pieces import (
    DEEP,
    MAX_DEPTH,
    XML,
    Feed,
    Piece,
    ReadMode,
    Report,
    check_characters,
    fault,
    read_pieces,
)
from crondor.classad.parser import print_name, unparse
from crondor.classad.scope import Code, code_tree
from crondor.classad.text import lower
from crondor.classad.tree import ClassAdSyntaxError
from crondor.diagnostics import Diagnostic

_SHOWN: Final = 80  # characters of a tag without an end that are underlined
_ENTITY: Final = "an entity: an ad needs only &amp; &lt; &gt; &quot; &apos;"
_UNDEFINED: Final = expat.errors.codes[expat.errors.XML_ERROR_UNDEFINED_ENTITY]
_VALUES: Final = frozenset(("i", "r", "s", "b", "un", "er", "at", "rt", "l", "e", "c"))
_INSIDE: Final = {"": frozenset("c"), "c": frozenset("a"), "a": _VALUES, "l": _VALUES}
_WITH_TEXT: Final = frozenset(("i", "r", "s", "at", "rt", "e"))
_INTEGER: Final = re.compile(r"\s*(-?[0-9]+)\s*\Z")
_REAL: Final = re.compile(r"\s*(-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*\Z")
_NOT_FINITE: Final = {"INF": 'real("INF")', "-INF": 'real("-INF")', "NaN": 'real("NaN")'}
_ESCAPED_OR_QUOTE: Final = re.compile(r'\\[\s\S]|"|\\\Z')


class _Element:
    """An open element: its name, its attribute, its texts and the values inside it."""

    def __init__(self, tag: str, name: str) -> None:
        self.tag = tag
        self.name = name
        self.texts: list[str] = []
        self.values: list[tuple[str, str]] = []


def read_xml(feed: Feed, mode: ReadMode, report: Report | None) -> Iterator[ClassAd]:
    """Return the ads of a text one by one; an ad with a fault is refused as a whole.

    Documents may follow one another, as ``condor_q -xml`` of several schedds writes them. DAEMON equals STRICT:
    HTCondor's reader hangs or crashes on invalid XML.

    ads = (ad | "<classads>" ad* "</classads>")*

    Raises ClassAdSyntaxError.
    """
    return read_pieces(feed, XML, lambda piece: _Reader(piece, mode).ad(), report, tolerant=False)


class _Reader:
    """Turns expat's events into an ad."""

    def __init__(self, piece: Piece, mode: ReadMode) -> None:
        self.piece = piece
        self.mode = mode
        self.data = b""
        self.stack: list[_Element] = []
        self.found: list[tuple[str, str]] = []
        self.faults: list[Diagnostic] = []
        self.deep = False
        self.at = (0, 0)  # an offset in bytes and the same in characters
        parser = self.parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text
        parser.EntityDeclHandler = self.entity
        parser.ExternalEntityRefHandler = self.entity
        parser.SkippedEntityHandler = self.entity

    def ad(self) -> ClassAd:
        """Return the ad. Raises ClassAdSyntaxError with all its faults."""
        check_characters(self.piece)
        self.data = self.piece.text.encode("utf-8", "surrogateescape")
        try:
            self.parser.Parse(self.data, True)  # noqa: FBT003 - expat's own
        except expat.ExpatError as problem:
            message = _ENTITY if problem.code == _UNDEFINED else f"not XML: {expat.ErrorString(problem.code)}"
            raise ClassAdSyntaxError((*self.faults, self.finding(self.parser.ErrorByteIndex, message))) from None
        finally:
            del self.parser  # its handlers refer to this reader
        if self.faults:
            raise ClassAdSyntaxError(self.faults)
        codes: dict[str, Code | str] = {}
        names: dict[str, str] = {}
        for name, value in self.found:
            key = lower(name)
            names.setdefault(key, name)
            codes[key] = value
        return ClassAd.of(codes, names, Place(self.piece.name, self.piece.position(0)[0]))

    def finding(self, index: int, message: str) -> Diagnostic:
        """Return a finding at an offset in bytes."""
        before, at = self.at if index >= self.at[0] else (0, 0)
        at += len(self.data[before:index].decode("utf-8", "surrogateescape"))
        self.at = (index, at)
        text = self.piece.text
        end = text.find(">", at, at + _SHOWN) + 1 if text.startswith("<", at) else at + 1
        return fault(self.piece, at, end or at + _SHOWN, message)

    def fail(self, message: str) -> NoReturn:
        raise ClassAdSyntaxError((*self.faults, self.finding(self.parser.CurrentByteIndex, message)))

    def fault(self, message: str) -> None:
        """Add a fault of the ad being read; reading continues."""
        self.faults.append(self.finding(self.parser.CurrentByteIndex, message))

    def entity(self, *_details: object) -> NoReturn:
        self.fail(_ENTITY)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the beginning of an element that may stand here.

        ad = "<c>" attribute* "</c>"
        attribute = '<a n="' [^"]+ '">' value "</a>"
        """
        around = self.stack[-1].tag if self.stack else ""
        if tag not in _INSIDE.get(around, ()):
            self.fail(f"<{tag}> is not allowed in <{around}>")
        if len(self.stack) > 2 * MAX_DEPTH:
            self.fail(f"lists and ads are nested deeper than {MAX_DEPTH}")
        self.deep = self.deep or len(self.stack) > DEEP
        name = ""
        if tag == "a":
            name = self.attribute_name(attributes.get("n", ""))
        elif tag == "b":
            name = attributes.get("v", "").lower()
            if name not in ("t", "f"):
                self.fault('a truth value is <b v="t"/> or <b v="f"/>')
        self.stack.append(_Element(tag, name))

    def attribute_name(self, text: str) -> str:
        if not text:
            self.fault("an attribute needs a name: <a n=...>")
            return "_"
        if "\\" not in text:
            return text
        value = self.checked(_quoted(text))
        found = "_" if value is None else getattr(code_tree(read(value)), "value", "_")
        return str(found) or "_"

    def text(self, data: str) -> None:
        element = self.stack[-1]
        if element.tag in _WITH_TEXT:
            element.texts.append(data)
        elif data.strip():
            self.fail(f"text is not allowed in <{element.tag}>")

    def end(self, tag: str) -> None:
        element = self.stack.pop()
        if tag == "a":
            if len(element.values) != 1:
                self.fault(f"an attribute has one value; {element.name} has {len(element.values)}")
                return
            value = element.values[0][1]
            if self.deep and self.mode is not ReadMode.LAZY and len(self.stack) == 1:
                self.deep = False
                self.checked(value)
            self.stack[-1].values.append((element.name, value))
        elif not self.stack:
            self.found = element.values
        else:
            nested = any(part.tag in ("l", "c") for part in self.stack[1:])
            self.stack[-1].values.append(("", self.value(element, nested=nested)))

    def value(self, element: _Element, *, nested: bool) -> str:
        """Return a value as text in new syntax; one with a fault is an error value in an ad that is refused.

        value = ad | "<l>" value* "</l>" | "<un/>" | "<er/>" | '<b v="t"/>' | '<b v="f"/>'
              | "<i>" INTEGER "</i>" | "<r>" (REAL | NOT_FINITE) "</r>" | "<s>" [^<]* "</s>"
              | "<at>" [^<]* "</at>" | "<rt>" [^<]* "</rt>" | "<e>" expression "</e>"
        """
        tag = element.tag
        if tag in _WITH_TEXT:
            found = self.of_text(tag, "".join(element.texts), nested=nested)
            return "error" if found is None else found
        if tag == "l":
            return "{ " + ",".join(value for _, value in element.values) + " }"
        if tag == "c":
            rows = (f"{print_name(name)} = {value}" for name, value in element.values)
            return "[ " + "; ".join(rows) + " ]"
        if tag == "b":
            return "true" if element.name == "t" else "false"
        return "undefined" if tag == "un" else "error"

    def of_text(self, tag: str, text: str, *, nested: bool) -> str | None:
        """Return the value of an element that is text; None for a fault."""
        if tag == "s":
            quoted = _quoted(text)
            return self.checked(quoted) if "\\" in quoted else quoted
        if tag == "i":
            integer = _INTEGER.match(text)
            return self.error_value("not an integer") if integer is None else integer[1]
        if tag == "r":
            return self.real(text)
        if tag != "e":
            return self.checked(f"{'absTime' if tag == 'at' else 'relTime'}({_quoted(text)})")
        found = self.checked(text) if self.mode is not ReadMode.LAZY or nested else text
        return unparse(code_tree(read(found))) if nested and found is not None else found

    def checked(self, text: str) -> str | None:
        try:
            read(text)
        except ClassAdSyntaxError as problem:
            self.fault(f"the value cannot be read: {problem.diagnostics[0].message}")
            return None
        return text

    def real(self, text: str) -> str:
        stripped = text.strip()
        if stripped in _NOT_FINITE:
            return _NOT_FINITE[stripped]
        match = _REAL.match(text)
        if match is None:
            return self.error_value("not a real")
        value = float(match[1])
        return repr(value) if math.isfinite(value) else _NOT_FINITE["-INF" if value < 0 else "INF"]

    def error_value(self, message: str) -> str:
        self.fault(message)
        return "error"


def _quoted(text: str) -> str:
    """Return the text of a string element, whose quotes have no backslash, as a string of the language."""
    return '"' + _ESCAPED_OR_QUOTE.sub(lambda found: _ESCAPES.get(found[0], found[0]), text) + '"'


_ESCAPES: Final = {'"': '\\"', "\\": "\\\\"}
