"""All rules about a router's configuration, in the order of their codes."""

from __future__ import annotations

from crondor.check.rule import Rule
from crondor.router.rules import knobs, limits, matching, routes, slips, traps
from crondor.router.rules.subject import CheckedTable

TABLE_RULES: tuple[Rule[CheckedTable], ...] = tuple(
    sorted(
        (
            *knobs.KNOB_RULES,
            *routes.ROUTE_RULES,
            *traps.TRAP_RULES,
            *matching.MATCHING_RULES,
            *limits.LIMIT_RULES,
            *slips.WORD_RULES,
        ),
        key=lambda each: each.code,
    )
)
