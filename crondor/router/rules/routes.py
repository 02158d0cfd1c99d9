"""CRN61.: routes that the router leaves out."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from crondor.check.rule import Rule, RuleHit
from crondor.diagnostics import Severity
from crondor.router.rules.reported import said
from crondor.router.rules.subject import CheckedTable

_MISSING = ("route-missing", "route-empty", "route-name", "route-short")
_OTHERS = frozenset((*_MISSING, "route-classad", "route-requirements"))


def _rejected(code: str, name: str, title: str, codes: Collection[str], *, but: bool = False) -> Rule[CheckedTable]:
    """Make a rule of the reasons for which routes are rejected; ``but``: of all reasons other than ``codes``."""

    def look(table: CheckedTable) -> Iterator[RuleHit]:
        for route in table.table.rejected:
            for each in route.diagnostics:
                if (each.code in codes) is not but:
                    yield RuleHit(f"route {route.name} is left out: {each.message}", each.span, each.help)

    return Rule(code, name, Severity.ERROR, title, look)


ROUTE_RULES: tuple[Rule[CheckedTable], ...] = (
    _rejected("CRN611", "missing-route", "a listed route that is not defined", _MISSING),
    _rejected("CRN612", "rejected-route", "a route that HTCondor does not load", _OTHERS, but=True),
    _rejected("CRN613", "classad-route", "a route written as a ClassAd", ("route-classad",)),
    _rejected("CRN614", "no-requirements", "a route that does not say which jobs it takes", ("route-requirements",)),
    said("CRN615", "listed-twice", Severity.WARNING, "a route that is listed twice", ("route-twice",)),
)
