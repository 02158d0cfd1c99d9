"""docs/route-plan.md: its options, outcomes, conducts, codes and JSON keys are those of the program."""

from __future__ import annotations

import re

from crondor.router_bridge import CopySchedule, PlannedOutcome
from tests.cli.running import ROOT
from tests.docs.test_docs import DOCS, bare, tables

TABLES = list(tables(DOCS / "route-plan.md"))
ASKED = (*("--config", str(ROOT / "examples" / "routes-nightly.conf")), str(ROOT / "examples" / "routed-nightly.sub"))


def rows(*columns: str) -> list[list[str]]:
    """Return the rows of the tables with these columns."""
    return [row for table in TABLES if tuple(table.columns) == columns for row in table.rows]


def test_the_outcomes_and_conducts_are_those_documented() -> None:
    """All of them."""
    assert [bare(name) for name, _ in rows("outcome", "meaning")] == [
        each.value
        for each in (
            PlannedOutcome.ROUTED,
            PlannedOutcome.BY_COPY,
            PlannedOutcome.LOCAL,
            PlannedOutcome.EDITED,
            PlannedOutcome.FAILED,
            PlannedOutcome.BUSY,
            PlannedOutcome.STUCK,
            PlannedOutcome.GONE,
        )
    ]
    assert set(PlannedOutcome) == {PlannedOutcome(bare(name)) for name, _ in rows("outcome", "meaning")}
    assert {CopySchedule(bare(name)) for name, *_ in rows("conduct", "the copy", "what it means")} == set(CopySchedule)


def test_the_codes_are_those_documented() -> None:
    """Those that the program knows, and no other."""
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "crondor/router/plan").glob("*.py"))
    documented = [bare(row[0]) for row in rows("code", "severity", "about")]
    assert sorted(documented) == sorted(set(re.findall(r'"(plan-[a-z-]+)"', source)))
