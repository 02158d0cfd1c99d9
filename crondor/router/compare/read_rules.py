"""What the rules of a table read of a job: names, conditions, patterns, as far as their texts tell.

It errs on the side of too much: each word of a rule may be an attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.expression import Expression
from crondor.classad.text import lower
from crondor.classad.tree import Node
from crondor.router.compare.models import distinct, of_job
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable
from crondor.transform import Transform
from crondor.transform.program import Requirements

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MACRO = re.compile(r"\$(?P<function>[A-Za-z_]*)\((?P<inside>[^()]*)")
_SIMPLE = re.compile(r"\$\((?P<name>[A-Za-z0-9_.+-]+)(?::(?P<default>[^()]*))?\)")
_NESTED = re.compile(r"\$[A-Za-z_]*\([^()]*\$\(")
_OPENING = re.compile(r"(?i)\b(?:eval|evalInEachContext|countMatches|unparse|unresolved)[ \t]*\(")
_COMMAND = re.compile(
    r"[ \t]*(?P<keyword>SET|DEFAULT|EVALSET|EVALMACRO|COPY|RENAME|DELETE)[ \t]+(?P<target>[^ \t]+)"
    r"(?:[ \t]+(?:[=,][ \t]+)?(?P<value>.*))?",
    re.IGNORECASE,
)
_PATTERN = re.compile(r"[ \t]*(?:COPY|RENAME|DELETE)[ \t]+/(?P<pattern>[^/]*)/", re.IGNORECASE)
_IF = re.compile(r"(?i)[ \t]*(?:if|elif)[ \t]+(?P<condition>.*)")
_ASSIGNED = re.compile(r"[ \t]*(?P<name>[A-Za-z_+-][A-Za-z0-9_.]*)[ \t]*=(?P<value>.*)")
_SCOPES = frozenset(("my", "target", "self", "true", "false", "undefined", "error"))
_MOST_ROUNDS = 8  # macros within macros


@dataclass(frozen=True)
class ReadRules:
    """The lines of some transforms, and what they stand in."""

    transforms: tuple[Transform, ...]
    knobs: dict[str, str]
    tests: tuple[Expression, ...] = ()

    @classmethod
    def of_table(cls, table: RoutingTable) -> ReadRules:
        """Take all transforms of a table, and all that is asked beside."""
        transforms = (*table.before, *(route.transform for route in table.routes), *table.after)
        constraint = table.settings.source_constraint
        asked = [Expression.of(of_job(constraint.tree))] if constraint is not None else []
        asked += [test for route in table.routes for test in tests_of(route)]
        return cls(transforms, dict(table.facts.knobs), tuple(asked))

    @classmethod
    def of_route(cls, table: RoutingTable, route: Route) -> ReadRules:
        """Take a route with the transforms around it."""
        before, after = (table.before, table.after) if route.takes_transforms else ((), ())
        return cls((*before, route.transform, *after), dict(table.facts.knobs), tuple(tests_of(route)))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """All lines that are no comments."""
        found = (line.text for transform in self.transforms for line in transform.lines)
        return tuple(line for line in found if not line.lstrip().startswith("#"))

    @cached_property
    def used_knobs(self) -> dict[str, str]:
        """The knobs of the configuration that the lines may read, those that these read with them."""
        found: dict[str, str] = {}
        work = list(self.lines)
        while work:
            for word in _macro_words(work.pop()):
                if word in self.knobs and word not in found:
                    found[word] = self.knobs[word]
                    work.append(found[word])
        return found

    @cached_property
    def names(self) -> dict[str, str]:
        """The words that may be names of attributes, as they are spelled first, by name in lower case."""
        found: dict[str, str] = {}
        texts = (*self.lines, *self.used_knobs.values(), *(str(each.expression) for each in self._requirements))
        for text in (*texts, *(str(test) for test in self.tests)):
            for word in _WORD.findall(text):
                found.setdefault(lower(word), word)
        return {key: word for key, word in found.items() if key not in _SCOPES}

    @property
    def _requirements(self) -> Iterator[Requirements]:
        return (each.requirements for each in self.transforms if each.requirements is not None)

    @property
    def requirements(self) -> tuple[str, ...]:
        """The texts of the requirements of all transforms."""
        return tuple(each.text for each in self._requirements)

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """The regular expressions by which rules choose names."""
        found = (_PATTERN.match(line) for line in self.lines)
        return tuple(dict.fromkeys(each["pattern"] for each in found if each is not None))

    @cached_property
    def is_open(self) -> bool:
        """Whether what is read cannot be told from the texts: a name is put together, or a text is evaluated."""
        texts = (*self.lines, *self.used_knobs.values(), *(str(test) for test in self.tests))
        return any(_NESTED.search(text) or _OPENING.search(text) for text in texts)

    @cached_property
    def conditions(self) -> tuple[Node, ...]:
        """The expressions that decide something: requirements, tests, what is evaluated, and conditions of ``if``."""
        trees = [each.expression.tree for each in self._requirements]
        trees += [test.tree for test in self.tests]
        for transform in self.transforms:
            macros = {**self.knobs, **_assigned(transform)}
            trees += [tree for text in _evaluated(transform) if (tree := _parsed(text, macros)) is not None]
        return distinct(trees)

    @cached_property
    def touched(self) -> tuple[str, ...]:
        """The attributes that commands name and macros read, as they are spelled."""
        found: dict[str, str] = {}
        for line in (*self.lines, *self.used_knobs.values()):
            for name in (*_my_names(line), *_named(line)):
                found.setdefault(lower(name), name)
        return tuple(found.values())


def tests_of(route: Route) -> list[Expression]:
    """Return what a route asks of its jobs beside its requirements, before it copies them."""
    asked = (
        *(route.job_should_be_sandboxed, route.edit_job_in_place, route.use_shared_x509_user_proxy),
        *(route.shared_x509_user_proxy, route.send_id_tokens),
    )
    return [each for each in asked if each is not None]


def _macro_words(text: str) -> Iterator[str]:
    for found in _MACRO.finditer(text):
        yield from (lower(word) for word in re.findall(r"[A-Za-z_][A-Za-z0-9_.]*", found["inside"]))
    found_if = _IF.match(text)
    if found_if is not None:
        yield from (lower(word) for word in _WORD.findall(found_if["condition"]))


def _my_names(text: str) -> Iterable[str]:
    return re.findall(r"(?i)\bMY\.([A-Za-z_][A-Za-z0-9_]*)", text)


def _named(line: str) -> Iterator[str]:
    found = _COMMAND.match(line)
    if found is None:
        return
    target = found["target"].strip('",=')
    if found["keyword"].upper() != "EVALMACRO" and _WORD.fullmatch(target):
        yield target


def _assigned(transform: Transform) -> dict[str, str]:
    """Return the macros that a transform defines, by the last assignment of each."""
    found = (_ASSIGNED.match(line.text) for line in transform.lines)
    return {lower(each["name"].lstrip("+")): each["value"].strip() for each in found if each is not None}


def _evaluated(transform: Transform) -> Iterator[str]:
    """Yield the texts of a transform that are evaluated in the job, or decide."""
    for line in transform.lines:
        found = _COMMAND.match(line.text)
        if found is not None and found["keyword"].upper() in {"EVALSET", "EVALMACRO"}:
            yield found["value"] or ""
        condition = _IF.match(line.text)
        if condition is not None:
            yield re.sub(r"(?i)^[ \t]*(?:!|defined\b)[ \t]*", "", condition["condition"])


def _parsed(text: str, macros: dict[str, str]) -> Node | None:
    """Return an expression whose macros are replaced as far as they are plain; None where it is none."""

    def replaced(found: re.Match[str]) -> str:
        name = lower(found["name"])
        if name.startswith("my."):
            return f"MY.{found['name'][3:]}"
        return macros.get(name) or found["default"] or ""

    for _ in range(_MOST_ROUNDS):
        text, count = _SIMPLE.subn(replaced, text[:10_000])
        if not count:
            break
    try:
        return Expression(text).tree if text.strip() else None
    except ClassAdSyntaxError:
        return None
