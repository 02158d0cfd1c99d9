"""Files of expectations: which route a job takes, and what its copy looks like."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from crondor._toml import error_place, parse_toml
from crondor.classad.expression import Expression
from crondor.classad.parser import print_string
from crondor.classad.tree import ClassAdSyntaxError, Literal, Unary, bare
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, similar
from crondor.router.compare import Expectation

_KEYS = ("config", "test")

_TEST_KEYS = (
    *("name", "job", "job_expressions", "job_without", "route", "no_route"),
    *("copy", "copy_expressions", "copy_without"),
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*").fullmatch
_BARE = re.compile(r"[A-Za-z0-9_-]+").fullmatch
_TEST = re.compile(r"(?m)^[ \t]*\[\[[ \t]*test[ \t]*\]\]")


# A file has `config`, names of configuration files next to it, and a table [[test]] for each expectation. `job` and
# `copy` are attributes with values, `job_expressions` and `copy_expressions` with ClassAd expressions; `job_without`
# and `copy_without` name missing attributes. `route` is a name; `no_route` is true, or a part of the reason.
class BadExpectations(CrondorError, ValueError):
    """A file of expectations that cannot be used."""


class PlacedExpectation(NamedTuple):
    """An expectation and its place."""

    expectation: Expectation
    span: Span


class ExpectationFile(NamedTuple):
    """The expectations of a file, and the configuration files that it names, as paths."""

    source: Source
    config: tuple[str, ...]
    tests: tuple[PlacedExpectation, ...]


def read_expectations(source: Source) -> ExpectationFile:
    """Read a file. Raises BadExpectations with all faults."""
    try:
        data = parse_toml(source.text)
    except RecursionError:
        raise BadExpectations([_fault("the file is nested too deeply", source.span(0, 1))]) from None
    except ValueError as error:
        message = re.sub(r" \(at .*\)$", "", str(error))
        raise BadExpectations([_fault(f"this is not TOML: {message}", error_place(source, str(error)))]) from None
    return _Reader(source).read(data)


class _Reader:
    """One reading; continues after a fault, so that all are found."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._begins = [found.start() for found in _TEST.finditer(source.text)]
        self._faults: list[Diagnostic] = []

    def read(self, data: Mapping[str, Any]) -> ExpectationFile:
        """Read all. Raises BadExpectations."""
        for key in data:
            if key not in _KEYS:
                self._unknown(key, _KEYS, self._key(-1, key))
        config = data.get("config", [])
        names = [config] if isinstance(config, str) else config
        if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
            self._say('config is a list of file names: config = ["50-routes.conf"]', self._key(-1, "config"))
            names = []
        tests = data.get("test", [])
        if not isinstance(tests, list) or not all(isinstance(each, dict) for each in tests):
            self._say("a test is a table: write [[test]]", self._key(-1, "test"))
            tests = []
        elif not tests and not self._faults:
            self._say("the file has no [[test]]", self._source.span(0, 0))
        made = [PlacedExpectation(self._test(at, each), self._head(at)) for at, each in enumerate(tests)]
        if self._faults:
            raise BadExpectations(self._faults)
        folder = Path(self._source.name).parent
        return ExpectationFile(self._source, tuple(str(folder / name) for name in names), tuple(made))

    def _test(self, at: int, data: Mapping[str, Any]) -> Expectation:
        for key in data:
            if key not in _TEST_KEYS:
                self._unknown(key, _TEST_KEYS, self._key(at, key))
        name = data.get("name", f"test {at + 1}")
        if not isinstance(name, str):
            self._say("name must be a string", self._key(at, "name"))
        route, none = data.get("route"), data.get("no_route")
        if (route is None) == (none is None):
            self._say('say where the job goes: route = "NAME", or no_route = true', self._head(at))
        elif route is not None and not isinstance(route, str):
            self._say("route must be the name of a route", self._key(at, "route"))
        elif none is not None and none is not True and not isinstance(none, str):
            self._say("no_route must be true, or a part of the reason", self._key(at, "no_route"))
        copy = self._attributes(at, data, "copy")
        if copy and route is None:
            self._say("a job that no route takes has no copy", self._key(at, "copy"))
        reason = none if isinstance(none, str) else ""
        return Expectation(str(name), self._attributes(at, data, "job"), route, reason, copy)

    def _attributes(self, at: int, data: Mapping[str, Any], prefix: str) -> dict[str, str | None]:
        """Return attributes with their texts: values, expressions, and None for missing ones."""
        found: dict[str, str | None] = {}
        for key in (prefix, f"{prefix}_expressions"):
            table = data.get(key, {})
            if not isinstance(table, dict):
                self._say(
                    f"{key} must be a table of attributes: {key} = {{ RequestMemory = 2048 }}", self._key(at, key)
                )
                continue
            for name, value in table.items():
                text = self._text(at, key, name, value)
                if text is not None and self._named(at, key, name):
                    found[name] = text
        without = data.get(f"{prefix}_without", [])
        if not isinstance(without, list) or not all(isinstance(each, str) for each in without):
            self._say(f"{prefix}_without must be a list of attributes", self._key(at, f"{prefix}_without"))
            return found
        found.update((name, None) for name in without if self._named(at, f"{prefix}_without", name))
        return found

    def _text(self, at: int, key: str, name: str, value: object) -> str | None:
        if not key.endswith("_expressions"):
            text = value_text(value)
            if text is None:
                self._say(f"{name} has a value that is not possible in a ClassAd", self._key(at, key))
            return text
        if not isinstance(value, str):
            self._say(f'an expression is a text: {name} = "RequestMemory * 2"', self._key(at, key))
            return None
        try:
            return str(Expression(value))
        except ClassAdSyntaxError as error:
            self._say(f"{name} is no expression: {error.diagnostics[0].message}", self._key(at, key))
            return None

    def _named(self, at: int, key: str, name: str) -> bool:
        if _NAME(name):
            return True
        self._say(f"{name} is not an attribute name", self._key(at, key))
        return False

    def _unknown(self, key: str, known: Iterable[str], span: Span) -> None:
        found = similar(key, known)
        meant = f"did you mean {found[0]}?" if found else f"the keys are {', '.join(known)}"
        self._faults.append(_fault(f"unknown key {key}", span, meant))

    def _say(self, message: str, span: Span) -> None:
        self._faults.append(_fault(message, span))

    def _head(self, at: int) -> Span:
        if at >= len(self._begins):
            return self._source.span(0, 0)
        begin = self._begins[at]
        return self._source.span(begin, self._source.text.index("]]", begin) + 2)

    def _key(self, at: int, key: str) -> Span:
        """Return the place of a key of a test; at -1 of the file itself."""
        ends = [*self._begins, len(self._source.text)]
        begin, end = (0, ends[0]) if at < 0 or at >= len(self._begins) else (ends[at], ends[at + 1])
        pattern = re.compile(rf"(?m)^[ \t]*\[{{0,2}}[ \t]*(?:test\.)?[\"']?({re.escape(key)})\b")
        found = pattern.search(self._source.text, begin, end)
        return self._head(max(at, 0)) if found is None else self._source.span(found.start(1), found.end(1))


def value_text(value: object) -> str | None:
    """Return a TOML value as the text of a ClassAd, None if that is impossible."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(Expression.of(Literal(value)))
    if isinstance(value, str):
        return print_string(value)
    if isinstance(value, list):
        parts = [value_text(each) for each in value]
        return None if None in parts else f"{{ {', '.join(map(str, parts))} }}"
    return None


def written(tests: Iterable[Expectation], config: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a file."""
    yield f"config = [{', '.join(map(_string, config))}]"
    for each in tests:
        yield ""
        yield "[[test]]"
        yield f"name = {_string(each.name)}"
        yield from _written(each.job, "job")
        if each.route is None:
            yield f"no_route = {_string(each.reason) if each.reason else 'true'}"
        else:
            yield f"route = {_string(each.route)}"
            yield from _written(each.copy, "copy")


def _written(attributes: Mapping[str, str | None], prefix: str) -> Iterator[str]:
    values = {name: value for name, text in attributes.items() if (value := _value(text)) is not None}
    expressions = {name: text for name, text in attributes.items() if text is not None and name not in values}
    without = [name for name, text in attributes.items() if text is None]
    if values:
        yield f"{prefix} = {{ {', '.join(f'{_key(name)} = {value}' for name, value in values.items())} }}"
    if expressions:
        shown = (f"{_key(name)} = {_string(text)}" for name, text in expressions.items())
        yield f"{prefix}_expressions = {{ {', '.join(shown)} }}"
    if without:
        yield f"{prefix}_without = [{', '.join(map(_string, without))}]"


def _value(text: str | None) -> str | None:
    """Return the text of a plain literal as TOML, None for anything else."""
    if text is None:
        return None
    try:
        node = bare(Expression(text).tree)
    except ClassAdSyntaxError:
        return None
    sign = ""
    if isinstance(node, Unary) and node.op == "-":
        node, sign = bare(node.operand), "-"
    value = node.value if isinstance(node, Literal) else None
    if isinstance(value, bool):
        return None if sign else str(value).lower()
    if isinstance(value, int):
        return f"{sign}{value}"
    if isinstance(value, float):
        return f"{sign}{value!r}" if isfinite(value) else None
    return _string(value) if isinstance(value, str) and not sign else None


def _key(name: str) -> str:
    return name if _BARE(name) else _string(name)


def _string(text: str) -> str:
    """Return a text as a TOML string, which is that of JSON, except for DEL and surrogates."""
    safe = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(safe, ensure_ascii=False).replace("\x7f", "\\u007f")


def _fault(message: str, span: Span, help_text: str | None = None) -> Diagnostic:
    return Diagnostic("route-test", message, Severity.ERROR, span, help_text)
