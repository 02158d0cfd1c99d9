"""docs/route-plan.md: its outcomes and conducts are those of the program."""

from crondor.router_bridge import CopySchedule, PlannedOutcome
from tests.docs.test_docs import DOCS, bare, tables

TABLES = list(tables(DOCS / "route-plan.md"))


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
    assert {CopySchedule(bare(name)) for name, *_ in rows("conduct", "the copy", "result")} == set(CopySchedule)
