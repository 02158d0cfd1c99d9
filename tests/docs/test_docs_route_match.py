"""docs/route.md: its options, outcomes and JSON keys are those of the program."""

from crondor.router import RouteOutcome
from tests.cli.running import ROOT
from tests.docs.test_docs import DOCS, bare, tables

TABLES = list(tables(DOCS / "route.md"))
ASKED = ("--config", str(ROOT / "examples" / "routes.conf"), str(ROOT / "examples" / "routable.ads"))


def rows(*columns: str) -> list[list[str]]:
    """Return the rows of the tables with these columns."""
    return [row for table in TABLES if tuple(table.columns) == columns for row in table.rows]


def test_the_outcomes_are_those_documented() -> None:
    """In their order."""
    assert [bare(name) for name, _ in rows("outcome", "meaning")] == [each.value for each in RouteOutcome]
