"""Tables of the pages on routes, plans, compilation and queues: what they say is what the program does."""

import shlex
from collections import defaultdict
from pathlib import Path

import pytest

from crondor.compile.meaning import read_schedule
from crondor.router import RouteOutcome
from crondor.router_bridge import CopySchedule, PlannedOutcome
from tests.cli.running import ROOT, crondor
from tests.docs.json_types import unseen
from tests.docs.test_docs import DOCS, bare, tables


def rows(page: str, *columns: str) -> list[list[str]]:
    """Return the rows of a page's tables with these columns."""
    return [row for table in tables(DOCS / page) if tuple(table.columns) == columns for row in table.rows]


def test_the_outcomes_and_conducts_are_those_documented() -> None:
    """All of them."""
    assert [bare(name) for name, _ in rows("route-plan.md", "outcome", "meaning")] == [
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
    assert set(PlannedOutcome) == {
        PlannedOutcome(bare(name)) for name, _ in rows("route-plan.md", "outcome", "meaning")
    }
    assert {CopySchedule(bare(name)) for name, *_ in rows("route-plan.md", "conduct", "the copy", "result")} == set(
        CopySchedule
    )


ASKED = ("--config", str(ROOT / "examples" / "routes.conf"), str(ROOT / "examples" / "routable.ads"))


def test_the_outcomes_are_those_documented() -> None:
    """In their order."""
    assert [bare(name) for name, _ in rows("route.md", "outcome", "meaning")] == [each.value for each in RouteOutcome]


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


AT_NOON = ("--now", "2026-11-20 12:00")

FILES = {
    "report.sub": "executable = /bin/date\ncron_minute = 0\ncron_hour = 1-10/3\nqueue\n",
    "held.sub": "executable = /bin/date\ncron_minute = 61\nqueue\n",
    "once.sub": "executable = /bin/date\ndeferral_time = 1\ncron_minutes = 5\nqueue\n",
    "ads": 'ClusterId = 9\nProcId = 0\nCronMinute = "0"\nJobStatus = 5\n\nCronMinute = "0"\n\nCronMinute = ((\n\n'
    'ClusterId = 8\nProcId = 0\nCronMinute = "0"\nJobStatus = 1\n',
}
# Each line is a command; its output is looked at as JSON.
SESSION = (
    "status",
    "submit report.sub",
    "submit held.sub",
    "submit once.sub",
    "submit report.sub once.sub",
    "recalc --dialect htcondor",
    "recalc --dialect htcondor --apply",
    "guard --once",
    "edit 2.0 --set JobStatus=1 --set DeferralTime=5",
    "edit 1.0 9.0 --set A=1 --if JobStatus==7",
    "guard --once --apply",
    "edit 1.0 --set CrondorCatchUp=86400 --set QDate=1",
    "guard --once",
    "guard --once --apply",
    "edit 1.0 --set DeferralTime='\"x\"'",
    "guard --once",
    "status",
    "status 7.7",
    "status --ads ads",
    "recalc --ads ads",
    "next",
    "next 7.7",
    "next --ads ads",
    "recalc 2.0 7.7",
    "hold 1.0 7.7",
    "hold 1.0",
    "release 1.0 7.7",
    "rm 1.0 7.7",
    "history",
)


def test_json_keys_are_those_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key of real output is documented with its types, and each documented key occurs with all of them."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    (tmp_path / "queue").mkdir()
    odd = 'A = 1\n*** Offset = 0 ClusterId = -1 ProcId = -1 Owner = "?" CompletionDate = -1 CurrentTime = 0\n'
    (tmp_path / "queue" / "history").write_text(odd, encoding="utf-8")
    printed = defaultdict(list)
    for line in SESSION:
        name, *given = shlex.split(line)
        env = {"CRONDOR_QUEUE": str(tmp_path / "queue")}
        words = ("next", "--list") if name == "next" else ("queue", name)
        result = crondor(*words, *AT_NOON, *given, "--format", "json", env=env)
        assert result.out, (line, result.err)
        printed[name].append(result.data)
    starts = printed.pop("next")
    assert not [at for at in unseen("next", starts) if at[0] == "starts[]"]
    assert {name: missing for name, data in printed.items() if (missing := unseen(f"queue-{name}", data))} == {}
