"""The rules of `crondor check` on paper: a list, and the page of one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from crondor.codes import CODES
from crondor.diagnostics import printable, similar
from crondor.lint import RULES, Rule, page
from crondor.lint.routes import ROUTE_RULES
from crondor_cli.kit.screen import say


def list_rules(rules: Mapping[str, Rule[Any]] = RULES) -> None:
    """Print code, severity, name and title of every rule."""
    width = max(len(rule.name) for rule in rules.values())
    for code, rule in sorted(rules.items()):
        say(f"{code}  {rule.severity.value:<7}  {rule.name:<{width}}  {rule.title}")


def explain_rule(code: str) -> None:
    """Print the page of a rule: of submit files or of routes, by its code, its name or the kind of a fault.

    Raises UsageError for an unknown one.
    """
    asked = code.strip()
    wanted = CODES.get(asked.lower(), asked.upper())
    rules = {**ROUTE_RULES, **RULES}
    known = next((rule for rule in rules.values() if wanted == rule.code or asked.lower() == rule.name), None)
    if known is None:
        names = [*rules, *(rule.name for rule in rules.values())]
        close = similar(asked, names) or similar(asked.upper(), names)
        hint = f"did you mean {close[0]}?" if close else "--rules lists them"
        message = f"there is no rule {printable(asked)}: {hint}"
        raise click.UsageError(message, click.get_current_context(silent=True))
    say(page(known.code).rstrip("\n"))


def codes_of(given: Iterable[str], rules: Iterable[str]) -> tuple[str, ...]:
    """Return the codes of comma-separated lists in capitals; one that no rule begins with is a usage error."""
    known_codes = tuple(rules)
    codes = tuple(code.strip().upper() for text in given for code in text.split(",") if code.strip())
    for code in codes:
        if not any(known.startswith(code) for known in known_codes):
            message = f"no rule has a code that begins with {printable(code)}: --rules lists them"
            raise click.UsageError(message, click.get_current_context(silent=True))
    return codes
