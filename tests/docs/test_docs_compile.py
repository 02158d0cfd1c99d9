"""docs/compile.md: what stands in one row of its table is one schedule, in every language."""

import pytest

from crondor.compile.meaning import read_schedule
from tests.cli.running import crondor
from tests.docs.test_docs import DOCS, bare, tables

TABLE = next(table for table in tables(DOCS / "compile.md") if table.columns[0] == "what is wanted")
NOW = 1_796_050_000  # 2026-11-30
COMPILED = next(table for table in tables(DOCS / "compile.md") if table.columns[-1] == "clause")


@pytest.mark.parametrize("row", TABLE.rows, ids=lambda row: row[0])
def test_a_row_is_one_schedule_in_every_language(row: list[str]) -> None:
    """The same instants in five years."""
    found: dict[str, list[int]] = {}
    for language, cell in zip(TABLE.columns[1:], row[1:], strict=True):
        if cell == "-":
            continue
        text = bare(cell)
        schedule = read_schedule(text, zone="UTC", name="nightly")
        found[language] = list(schedule.between(NOW, NOW + 5 * 365 * 86_400))
        assert found[language]
    assert len({tuple(instants) for instants in found.values()}) == 1


@pytest.mark.parametrize("text", [bare(cell) for row in TABLE.rows for cell in row[1:] if cell != "-"])
def test_compile_takes_each_cell_as_it_is_written(text: str) -> None:
    """None of the forms of the table is refused by the command."""
    assert compiled(text, "--until", "2027-12-01")


@pytest.mark.parametrize("row", COMPILED.rows, ids=lambda row: row[0])
def test_a_row_says_what_compile_writes(row: list[str]) -> None:
    """Its fields and its clause, for the text as it is written."""
    _, text, fields, clause = map(bare, row)
    found = dict(line.partition(" = ")[::2] for line in compiled(text) if not line.startswith("#"))
    names = ("cron_minute", "cron_hour", "cron_day_of_month", "cron_month", "cron_day_of_week")
    assert " ".join(found.get(name, "*") for name in names) == fields
    assert found.get("requirements", "none") == clause


def compiled(text: str, *options: str) -> list[str]:
    """Return the submit lines that the command prints for a text, on a host in UTC."""
    arguments = ("--tz", "UTC", "--now", str(NOW), "--name", "nightly", "--window", "60", "--format", "submit")
    result = crondor("compile", text, *arguments, *options)
    assert (result.status, result.err) == (0, "")
    return result.lines
