"""TOML, and where the keys of a file are: the readers of the standard library do not say."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from crondor.diagnostics import Source, Span, lines_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""


_KEYS = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"


_TABLE = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_KEYS})[ \t]*\]\]?")


_ASSIGNED = re.compile(rf"[ \t]*({_KEYS})[ \t]*=[ \t]*")


_PART = re.compile(_KEY)


_AT = re.compile(r"\(at line (\d+), column (\d+)\)")


class TomlPlaces:
    """The keys of a file and their places; keys in inline tables have the place of the table.

    After the name of an array of tables its keys have the number of a table: ``"0"``.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._found: dict[tuple[str, ...], Span] = {}
        for keys, span in _keys(source):
            self._found.setdefault(keys, span)

    def key(self, *keys: str) -> Span:
        """Return where a key is assigned, or its table; the whole first line if neither is found."""
        for count in range(len(keys), 0, -1):
            if keys[:count] in self._found:
                return self._found[keys[:count]]
        return self._source.span(0, len(self._source.line(1)))


def _keys(source: Source) -> Iterator[tuple[tuple[str, ...], Span]]:
    table: tuple[str, ...] = ()
    arrays: Counter[tuple[str, ...]] = Counter()
    at = 0
    for line in lines_of(source.text):
        if found := _TABLE.match(line):
            table, span = _parts(found[2]), source.span(at + found.start(2), at + found.end(2))
            yield table, span
            if found[1] == "[[":
                arrays[table] += 1
                table = (*table, str(arrays[table] - 1))
                yield table, span
        elif found := _ASSIGNED.match(line):
            keys = _parts(found[1])
            span = source.span(at + found.start(1), at + found.end(1))
            for count in range(1, len(keys) + 1):
                yield (*table, *keys[:count]), span
        at += len(line)


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(text))


def error_place(source: Source, message: str) -> Span:
    """Return the place named in tomllib's message of a syntax error; the end of the file if it names none."""
    found = _AT.search(message)
    if found is None:
        return source.span(len(source.text))
    before = source.text.split("\n", int(found[1]) - 1)[: int(found[1]) - 1]
    start = sum(len(line) + 1 for line in before) + int(found[2]) - 1
    return source.span(start, start + 1)


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text. Raises ValueError."""
    return tomllib.loads(text)
