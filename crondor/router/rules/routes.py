"""CRN61.: routes that the router leaves out."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from crondor.check.rule import Rule, RuleHit
from crondor.diagnostics import Severity
from crondor.router.rules.reported import said
from crondor.router.rules.subject import CheckedTable

_OTHERS = ("CRN611", "CRN613", "CRN614")


def _rejected(code: str, name: str, title: str, *, but: Collection[str] = ()) -> Rule[CheckedTable]:
    """Make a rule of the reasons for which routes are rejected: those of its code, or all ``but`` some."""

    def look(table: CheckedTable) -> Iterator[RuleHit]:
        for route in table.table.rejected:
            for each in route.diagnostics:
                if each.code not in but if but else each.code == code:
                    yield RuleHit(f"route {route.name} is left out: {each.message}", each.span, each.help)

    return Rule(code, name, Severity.ERROR, title, look)


ROUTE_RULES: tuple[Rule[CheckedTable], ...] = (
    _rejected("CRN611", "missing-route", "a listed route that is not defined"),
    _rejected("CRN612", "rejected-route", "a route that HTCondor does not load", but=_OTHERS),
    _rejected("CRN613", "classad-route", "a route written as a ClassAd"),
    _rejected("CRN614", "no-requirements", "a route that does not say which jobs it takes"),
    said("CRN615", "listed-twice", Severity.WARNING, "a route that is listed twice"),
)
