"""Ads as XML: ``<c><a n="Name"><i>1</i></a></c>``, inside ``<classads>`` or alone.

The parser is expat: it is in every Python, does not recurse, and fetches nothing. What would let a small text
grow or reach elsewhere is refused: a DTD inside the document, entities, references to what is outside. HTCondor's
own header, which only names ``classads.dtd``, is accepted and that file never opened.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final, NoReturn
from xml.parsers import expat

from crondor.classad.ad import ClassAd, Place
from crondor.classad.compile import read
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.formats.pieces import DEEP, MAX_AD, MAX_DEPTH, Feed, Mode, Piece, Report, fault
from crondor.classad.scope import Code
from crondor.classad.show import code_tree
from crondor.classad.text import lower
from crondor.classad.unparse import print_name, unparse
from crondor.diagnostics import Diagnostic

_CHUNK: Final = 1 << 16
_HEAD: Final = "<?xml"
_KEPT: Final = 1 << 12  # characters of a line kept to be shown with a fault
_VALUES: Final = frozenset(("i", "r", "s", "b", "un", "er", "at", "rt", "l", "e", "c"))
_INSIDE: Final = {
    "": frozenset(("classads", "c")),
    "classads": frozenset("c"),
    "c": frozenset("a"),
    "a": _VALUES,
    "l": _VALUES,
}
_WITH_TEXT: Final = frozenset(("i", "r", "s", "at", "rt", "e"))
_INTEGER: Final = re.compile(r"\s*(-?[0-9]+)\s*\Z")
_REAL: Final = re.compile(r"\s*(-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*\Z")
_NOT_FINITE: Final = {"INF": 'real("INF")', "-INF": 'real("-INF")', "NaN": 'real("NaN")'}
_ESCAPED_OR_QUOTE: Final = re.compile(r'\\[\s\S]|"|\\\Z')


class _Element:
    """An element that is open: its name, the attribute it is, its texts and the values inside it."""

    __slots__ = ("name", "tag", "texts", "values")

    def __init__(self, tag: str, name: str) -> None:
        self.tag = tag
        self.name = name
        self.texts: list[str] = []
        self.values: list[tuple[str, str]] = []


def read_xml(feed: Feed, mode: Mode, report: Report | None) -> Iterator[ClassAd]:
    """Return the ads of a text one by one; an ad with a fault is refused as a whole.

    Documents may follow one another, as ``condor_q -xml`` of several schedds writes them. DAEMON is as STRICT:
    HTCondor's reader of XML hangs or dies on what is none.
    Raises ClassAdSyntaxError.
    """
    reader = _Reader(feed, mode, report)
    while not reader.stopped:
        while len(feed.buffer) - feed.at < _CHUNK + len(_HEAD) and feed.more():
            pass
        end = min(feed.at + _CHUNK, len(feed.buffer))
        if end == feed.at:
            break
        head = feed.buffer.find(_HEAD, feed.at, end + len(_HEAD))
        if head == feed.at and reader.begun:
            yield from reader.feed("", last=True)
            if not reader.stopped:
                reader = _Reader(feed, mode, report)
            continue
        head = feed.buffer.find(_HEAD, feed.at + 1, end + len(_HEAD))
        chunk = feed.buffer[feed.at : end if head < 0 else head]
        if not reader.begun and chunk.isspace():
            feed.skip(feed.at + len(chunk))
            reader = _Reader(feed, mode, report)
            continue
        feed.skip(feed.at + len(chunk))
        yield from reader.feed(chunk)
    if not reader.stopped:
        yield from reader.feed("", last=True)


class _Reader:
    """Turns expat's events into ads."""

    def __init__(self, feed: Feed, mode: Mode, report: Report | None) -> None:
        """Begin a document where the feed is."""
        self.name = feed.name
        self.first, self.column = feed.line, feed.column
        self.begun = False
        self.recent, self.recent_line = " " * (feed.column - 1), 1
        self.mode = mode
        self.report = report
        self.stopped = False
        self.stack: list[_Element] = []
        self.found: list[ClassAd] = []
        self.faults: list[Diagnostic] = []
        self.line = 1
        self.size = 0
        self.deep = False
        parser = self.parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text
        parser.StartDoctypeDeclHandler = self.doctype
        parser.EntityDeclHandler = self.entity
        parser.ExternalEntityRefHandler = self.entity
        parser.SkippedEntityHandler = self.entity

    def feed(self, chunk: str, *, last: bool = False) -> list[ClassAd]:
        """Return the ads that end in this chunk.

        Raises ClassAdSyntaxError.
        """
        self.found = []
        self.begun = True
        self.size += len(chunk)
        kept = self.recent.rpartition("\n")[2]
        self.recent_line += self.recent.count("\n")
        self.recent = (kept if len(kept) < _KEPT else " " * len(kept)) + chunk
        try:
            if self.size > MAX_AD:
                self.fail(f"an ad of more than {MAX_AD} characters")
            self.parser.Parse(self.encoded(chunk), last)
        except ClassAdSyntaxError as problem:
            self.stop(problem)
        except expat.ExpatError as problem:
            found = self.finding(problem.lineno, problem.offset, f"no XML: {_reason(problem.code)}")
            self.stop(ClassAdSyntaxError(found))
        return self.found

    def encoded(self, chunk: str) -> bytes:
        try:
            return chunk.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            self.fail("half of a surrogate pair, which no UTF-8 text can hold")

    def stop(self, problem: ClassAdSyntaxError) -> None:
        """End reading: after this nothing can be told apart."""
        self.stopped = True
        if self.report is None:
            if not self.found:
                raise problem
            self.found.clear()
            raise problem
        for diagnostic in (*self.faults, *problem.diagnostics):
            self.report(diagnostic)

    def finding(self, line: int, offset: int, message: str, hint: str | None = None) -> Diagnostic:
        """Return what is wrong at a line and a column, from 0, of the document."""
        column = offset + (self.column - 1 if line == 1 else 0)
        lines = self.recent.split("\n")
        at = line - self.recent_line
        text = lines[at] if 0 <= at < len(lines) else ""
        if column >= len(text) or not text[: column + 1].strip():
            return fault(Piece("", self.name, line + self.first - 1, column + 1), 0, 0, message, hint)
        end = text.find(">", column) + 1 if text[column] == "<" else column + 1
        return fault(Piece(text, self.name, line + self.first - 1), column, end or len(text), message, hint)

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        line, offset = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber
        raise ClassAdSyntaxError(self.finding(line, offset, message, hint))

    def fault(self, message: str) -> None:
        """Note what is wrong with the ad being read; reading goes on behind it."""
        self.faults.append(self.finding(self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber, message))

    def doctype(self, _name: str, _system: str | None, _public: str | None, has_subset: bool) -> None:  # noqa: FBT001
        if has_subset:
            self.fail("a DTD inside the document: an ad needs none, and its entities could grow without end")

    def entity(self, *_details: object) -> NoReturn:
        self.fail("an entity: an ad needs none but &amp; &lt; &gt; &quot; &apos;")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        around = self.stack[-1].tag if self.stack else ""
        if tag not in _INSIDE.get(around, ()):
            self.fail(f"<{tag}> has no place {f'in <{around}>' if around else 'here'}")
        if len(self.stack) > 2 * MAX_DEPTH:
            self.fail(f"lists and ads are nested deeper than {MAX_DEPTH}")
        self.deep = self.deep or len(self.stack) > DEEP
        if tag == "c" and around in ("", "classads"):
            self.line = self.parser.CurrentLineNumber + self.first - 1
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
            self.fail(f"text has no place in <{element.tag}>")

    def end(self, tag: str) -> None:
        element = self.stack.pop()
        if tag == "classads":
            return
        if tag == "a":
            if len(element.values) != 1:
                self.fault(f"an attribute has one value; {element.name} has {len(element.values)}")
                return
            value = element.values[0][1]
            if self.deep and self.mode is not Mode.LAZY and len(self.stack) <= 2:
                self.deep = False
                self.checked(value)
            self.stack[-1].values.append((element.name, value))
        elif tag == "c" and (not self.stack or self.stack[-1].tag == "classads"):
            self.finish(element)
        else:
            nested = any(part.tag in ("l", "c") for part in self.stack[1:] if part is not self.stack[0])
            self.stack[-1].values.append(("", self.value(element, nested=nested)))

    def value(self, element: _Element, *, nested: bool) -> str:
        """Return a value as text in new syntax; one with a fault is an error value in an ad that is refused."""
        tag, text = element.tag, "".join(element.texts)
        if tag == "l":
            return "{ " + ",".join(value for _, value in element.values) + " }"
        if tag == "c":
            rows = (f"{print_name(name)} = {value}" for name, value in element.values)
            return "[ " + "; ".join(rows) + " ]"
        fixed = {"b": "true" if element.name == "t" else "false", "un": "undefined", "er": "error"}.get(tag)
        if fixed is not None:
            return fixed
        if tag == "i":
            integer = _INTEGER.match(text)
            return self.error_value("no integer") if integer is None else integer[1]
        if tag == "r":
            return self.real(text)
        if tag == "s":
            quoted = _quoted(text)
            found = self.checked(quoted) if "\\" in quoted else quoted
        elif tag == "e":
            found = self.checked(text) if self.mode is not Mode.LAZY or nested else text
            if nested and found is not None:
                found = unparse(code_tree(read(found)))
        else:
            found = self.checked(f"{'absTime' if tag == 'at' else 'relTime'}({_quoted(text)})")
        return "error" if found is None else found

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
            return self.error_value("no real")
        value = float(match[1])
        return repr(value) if math.isfinite(value) else _NOT_FINITE["-INF" if value < 0 else "INF"]

    def error_value(self, message: str) -> str:
        self.fault(message)
        return "error"

    def finish(self, element: _Element) -> None:
        self.size = 0
        faults, self.faults = self.faults, []
        if faults:
            if self.report is None:
                raise ClassAdSyntaxError(faults)
            for found in faults:
                self.report(found)
            return
        codes: dict[str, Code | str] = {}
        names: dict[str, str] = {}
        for name, value in element.values:
            key = lower(name)
            names.setdefault(key, name)
            codes[key] = value
        self.found.append(ClassAd.of(codes, names, Place(self.name, self.line)))


def _quoted(text: str) -> str:
    """Return the text of a string element, whose quotes have no backslash, as a string of the language."""
    return '"' + _ESCAPED_OR_QUOTE.sub(lambda found: _ESCAPES.get(found[0], found[0]), text) + '"'


_ESCAPES: Final = {'"': '\\"', "\\": "\\\\"}


def _reason(code: int) -> str:
    return expat.ErrorString(code) or "not well-formed"
