"""The subject of rules about routes: a configuration, its table, and what its transforms change."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.expression import Expression
from crondor.classad.operators import truth
from crondor.classad.scope import Value
from crondor.classad.tree import CHANGING, CircularReference, EvaluationFailed, functions
from crondor.config import Configuration
from crondor.diagnostics import Diagnostic, Severity, Span
from crondor.lint.rule import Rule, RuleHit, passed_on
from crondor.macro import LogicalLine
from crondor.router.table.loading import ROUTE, lines_of, load_table
from crondor.router.table.route import Route, RoutingTable
from crondor.transform import InvalidTransform, RuleSource, Transform

CANDIDATE = ClassAd({"JobStatus": 1})
"""Known attributes of every job that the router considers."""
_COMMAND = re.compile(
    r"[ \t]*(SET|DEFAULT|EVALSET|EVALMACRO|COPY|RENAME|DELETE)[ \t]+([^ \t]+)(?:[ \t]+(?:[=,][ \t]+)?(.*))?",
    re.IGNORECASE,
)


class RuleLine(NamedTuple):
    """A command of a transform: its keyword in capitals, the attribute it changes in lower case (None: a pattern)."""

    keyword: str
    target: str | None
    value: str
    line: LogicalLine


@dataclass(frozen=True)
class CheckedTable:
    """A configuration and its table, which has its routes even if routing is switched off."""

    configuration: Configuration
    table: RoutingTable

    @classmethod
    def of(cls, configuration: Configuration) -> CheckedTable:
        """Load the table of a configuration."""
        return cls(configuration, load_table(configuration, keep_routes=True))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Diagnostics of loading."""
        return self.table.diagnostics

    @cached_property
    def routes(self) -> tuple[Route, ...]:
        """The routes, each once."""
        return tuple({id(route): route for route in self.table.routes}.values())

    @cached_property
    def transforms(self) -> tuple[Transform, ...]:
        """All transforms: before routes, routes, after routes."""
        return (*self.table.before, *(route.transform for route in self.routes), *self.table.after)

    @cached_property
    def readable(self) -> tuple[Transform, ...]:
        """All transforms, including the readable part of rejected routes, so that all traps are reported at once."""
        return (*self.transforms, *self._rejected())

    def _rejected(self) -> Iterator[Transform]:
        for route in self.table.rejected:
            knob = self.configuration.find(ROUTE + route.name)
            if knob is None or knob.is_default or any(each.kind == "route-classad" for each in route.diagnostics):
                continue
            try:
                yield Transform.parse(
                    knob.source,
                    name=route.name,
                    form=RuleSource.KNOB,
                    facts=self.table.facts,
                    strict=False,
                    lines=lines_of(knob),
                )
            except InvalidTransform:
                continue

    @cached_property
    def changed_around(self) -> frozenset[str | None]:
        """What the transforms before and after routes change."""
        return frozenset(
            each.target for transform in (*self.table.before, *self.table.after) for each in commands(transform)
        )

    def changed(self, route: Route) -> frozenset[str | None]:
        """Return the lower-case names that a route changes, with None for a pattern."""
        own = frozenset(each.target for each in commands(route.transform))
        return own | self.changed_around if route.takes_transforms else own

    @cached_property
    def unconditional(self) -> frozenset[int]:
        """The routes, by id(), that take every candidate."""
        return frozenset(id(route) for route in self.routes if always(route))

    def place(self, route: Route) -> Span | None:
        """Return the place of a route's REQUIREMENTS, else of the name of its knob."""
        asked = route.transform.requirements
        if asked is not None:
            return asked.span
        knob = self.configuration.find(route.source.name)
        return knob.name_span if knob is not None else None

    def assigned(self, route: Route, name: str) -> Span | None:
        """Return the last line of a route that sets a macro, None if none does."""
        pattern = re.compile(rf"[ \t]*{re.escape(name)}[ \t]*(?:=|@=|[+])", re.IGNORECASE)
        found = [line for line in route.transform.lines if pattern.match(line.text)]
        return found[-1].span() if found else None


def commands(transform: Transform) -> Iterator[RuleLine]:
    """Yield the commands of a transform."""
    for line in transform.lines:
        found = _COMMAND.match(line.text)
        if found is None:
            continue
        keyword, name, value = found[1].upper(), found[2], (found[3] or "").strip()
        if name.startswith("/") or "$" in name:
            yield RuleLine(keyword, None, value, line)
        elif keyword in {"COPY", "RENAME"}:
            yield RuleLine(keyword, None if "$" in value or not value else value.split()[0].lower(), value, line)
        else:
            yield RuleLine(keyword, name.strip('",=').lower(), value, line)


def constant(expression: Expression) -> Value | None:
    """Return the value of an expression if it is the same for every candidate, else None."""
    try:
        if functions(expression.tree) & CHANGING:
            return None
        left = expression.flatten(CANDIDATE)
        found = left.references()
        if "currenttime" in {name.lower() for name in found.external}:
            return None
        if {name.lower() for name in found.external} - {f"target.{name.lower()}" for name in found.target}:
            return None
        return left.evaluate(CANDIDATE)
    except (CircularReference, EvaluationFailed):
        return None


def always(route: Route) -> bool:
    """Return whether a route takes every candidate."""
    asked = route.transform.requirements
    if asked is None:
        return True
    value = constant(asked.expression)
    return value is not None and truth(value) is True


def is_false(expression: Expression) -> bool:
    """Return whether an expression is false, or not a truth value, for every candidate."""
    value = constant(expression)
    return value is not None and truth(value) is not True


def told(found: Iterable[Diagnostic], code: str, others: Collection[str] = ()) -> Iterator[RuleHit]:
    """Yield the findings that have a code, and those of some other kinds."""
    for each in found:
        if each.code == code or each.kind in others:
            yield RuleHit(each.message, each.span, each.help, severity=each.severity)


def said(code: str, name: str, severity: Severity, title: str) -> Rule[CheckedTable]:
    """Make a rule of the diagnostics of loading with its code."""
    return passed_on(code, name, severity, title, lambda table, code: told(table.diagnostics, code))
