"""docs/route.md and docs/router-files.md: their rules and knobs are those of the program."""

from __future__ import annotations

from crondor.lint import RULES as OTHERS
from crondor.lint.routes import ROUTE_RULES
from crondor.router.table.loading import KNOBS
from tests.docs.test_docs import DOCS, bare, tables

TABLES = [table for page in ("route.md", "router-files.md") for table in tables(DOCS / page)]


def rows(*columns: str) -> list[list[str]]:
    """Return the rows of all tables with these columns."""
    return [row for table in TABLES if tuple(table.columns) == columns for row in table.rows]


def test_the_rules_are_those_documented() -> None:
    """In the order of their codes."""
    found = [
        (bare(code), severity, bare(name), title)
        for code, severity, name, title in rows("code", "severity", "name", "finds")
    ]
    rules = [
        (code, rule.severity.value, rule.name, rule.title) for code, rule in ROUTE_RULES.items() if code not in OTHERS
    ]
    assert found == rules


def test_the_knobs_are_those_documented() -> None:
    """With type and default."""
    found = [(bare(name), kind, bare(default)) for name, kind, default, _ in rows("knob", "type", "default", "meaning")]
    assert found == [(knob.name, knob.kind.value, knob.default) for knob in KNOBS]
