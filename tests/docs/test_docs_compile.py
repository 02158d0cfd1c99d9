"""docs/compile.md: what stands in one row of its table is one schedule, in every language."""

from __future__ import annotations

import pytest

from crondor.compile.text import read_schedule
from tests.docs.test_docs import DOCS, bare, tables

TABLE = next(table for table in tables(DOCS / "compile.md") if table.columns[0] == "what is wanted")
NOW = 1_796_050_000  # 2026-11-30
START = "2026-12-01T09:00"
STARTS = {
    "every second week": "2026-12-07T09:00",
    "every 90 minutes": "2026-12-01T00:00",
    "some years": "2027-01-01T09:00",
}


@pytest.mark.parametrize("row", TABLE.rows, ids=lambda row: row[0])
def test_a_row_is_one_schedule_in_every_language(row: list[str]) -> None:
    """The same instants in five years; a rule of RFC 5545 begins where the others do."""
    found: dict[str, list[int]] = {}
    for language, cell in zip(TABLE.columns[1:], row[1:], strict=True):
        if cell == "-":
            continue
        text = bare(cell)
        if language == "RFC 5545":
            text = f"RRULE:{text} from {STARTS.get(row[0], START)}"
        schedule = read_schedule(text, zone="UTC", name="nightly")
        found[language] = list(schedule.between(NOW, NOW + 5 * 365 * 86_400))
        assert found[language]
    assert len({tuple(instants) for instants in found.values()}) == 1
