"""What `crondor check` prints as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor_cli.kit.results import Diagnostic, Findings, Result, Statistics


class TestedRule(TypedDict):
    """The results of the tests of a rule."""

    code: Annotated[str, "the rule: `SITE001`"]
    name: Annotated[str, "the rule's name"]
    passed: Annotated[int, "its tests that passed"]
    failed: Annotated[int, "its tests that failed"]


class TestedRules(TypedDict):
    """The tests of a site's rules; with --test-rules."""

    rules: Annotated[Iterable[TestedRule], "the rules in their order"]
    diagnostics: Annotated[Iterable[Diagnostic], "the tests that failed"]


_TITLE = "Findings by file; by rule; tests of rules"
RESULTS = {"check": Result(_TITLE, Findings | Statistics | TestedRules)}
