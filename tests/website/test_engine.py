"""The playground's engine: its answers are those of the library and the command."""

import json
import sys
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from crondor import CronSpec, Recurrence
from crondor.classad import regexp
from website.play import engine

ROOT = Path(__file__).resolve().parents[2]
NOW = 1_795_172_400  # Fri 2026-11-20 12:00 in Berlin
FAULTY = "executable = weekly.sh\ncron_minutes = 0\ncron_hour = 6\ncron_day_of_week = MON\nqueue\n"


def ask(kind: str, **question: object) -> dict[str, Any]:
    """Return the answer to a question, as the page gets it."""
    answer: dict[str, Any] = json.loads(
        engine.answer(json.dumps({"kind": kind, "zone": "Europe/Berlin", "now": NOW} | question))
    )
    return answer


@pytest.mark.parametrize("line", ["30 2 * * *", "*/15 8-17 * * 1-5", "0 6 1-10/3 * 1", "0 0 29 2 *"])
def test_a_line_has_the_instants_of_the_library(line: str) -> None:
    """The next runs, and the year's."""
    answer = ask("schedule", text=line)
    runs = Recurrence(CronSpec.from_line(line), "Europe/Berlin")
    times = [run["manual"]["time"] for run in answer["next"]["runs"] if run["manual"]]
    assert times == list(islice(runs.upcoming(NOW), engine.RUNS))
    zone = ZoneInfo("Europe/Berlin")
    start, end = (int(datetime(year, 1, 1, tzinfo=zone).timestamp()) for year in (2026, 2027))
    assert sum(answer["year"]["days"]) == runs.count(start - 1, end - 1)
    assert len(answer["year"]["days"]) == 365


def test_words_count_by_days_of_the_zone() -> None:
    """A run just after midnight counts on its own day; a day that the clocks make longer stays one."""
    midnight = ask("schedule", text="every day at 00:00 except 2027-03-29", year=2027)
    assert midnight["year"]["days"] == [day != 88 for day in range(1, 366)]
    fridays = ask("schedule", text="last Friday of the month at 18:00")
    assert fridays["words"] == "at 18:00 on the last Friday of the month"
    assert sum(fridays["year"]["days"]) == 12
    assert fridays["times"] == sorted(fridays["times"])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("cron_hour = 6\ncron_minute=0", "0 6 * * *"),
        ("CronDayOfWeek = 1-5\nCronHour=7", "* 7 * * 1-5"),
        ("minute = */5", "*/5 * * * *"),
        ("0 7 * * MON", "0 7 * * 1"),
        ("@daily", "0 0 * * *"),
    ],
)
def test_other_spellings_become_a_line(text: str, line: str) -> None:
    """Lines of fields, names, nicknames."""
    assert ask("schedule", text=text)["line"] == line


@pytest.mark.parametrize(
    ("text", "code"), [("60 7 * * MON", "CRN101"), ("every mondy", "schedule-words"), ("0 6 * *", None), ("", None)]
)
def test_no_schedule_is_an_answer(text: str, code: str | None) -> None:
    """With its faults; never an exception."""
    answer = ask("schedule", text=text)
    assert answer["refused"]
    assert code is None or code in {each["code"] for each in answer["findings"]}


def test_submit_lines_are_those_that_were_asked_for() -> None:
    """What is copied says what was typed, window and preparation too."""
    answer = ask("schedule", text="30 2 * * 1", window="900", prep="600")
    lines = [line.replace(" ", "") for line in answer["submit"].splitlines()]
    assert {"cron_minute=30", "cron_hour=2", "cron_day_of_week=1", "cron_window=900", "cron_prep_time=600"} <= set(
        lines
    )
    first = answer["next"]["runs"][0]["manual"]
    assert (first["time"] - first["match_opens"], first["last_start"] - first["time"]) == (900, 900)


@pytest.mark.parametrize(
    ("line", "now"),
    [
        ("0 6 * * 1", NOW),
        ("30 7 * * 1-5", NOW + 15 * 86_400),  # no month ends among the runs that are shown
        ("*/7 2 * * 0,3", NOW),
        ("0 6 1-10/3 * 1", NOW),
        ("0 */5 */3 */2 *", NOW),
    ],
)
def test_submit_lines_have_what_the_page_says_is_needed(line: str, now: int) -> None:
    """Each line or clause, so that the real schedd runs the job at the manual's times, and check has no error left."""
    answer = ask("schedule", text=line, now=now)
    needed = [each["write"] for each in answer["differences"] if each["write"]]
    assert needed
    blank = answer["submit"].replace(" ", "")
    assert all(text.replace(" ", "") in blank for text in needed)
    again = ask("submit", text=f"executable = job.sh\n{answer['submit']}", now=now)
    assert not [each["code"] for each in again["findings"] if each["severity"] == "error"]
    runs = again["jobs"][0]["runs"]
    assert len(runs) == engine.RUNS
    assert not any(run["differs"] for run in runs)
    times = [run["manual"]["time"] for run in runs]
    assert times == list(islice(Recurrence(CronSpec.from_line(line), "Europe/Berlin").upcoming(now), engine.RUNS))


def test_words_become_submit_lines() -> None:
    """Those of `crondor compile`; what cannot be said has its reason, and a text is never taken for an option."""
    lines = ask("compile", text="last Friday of the month at 18:00", window="60")["submit"]
    assert "cron_day_of_week = 5\n" in lines
    assert "cron_window = 60\n" in lines
    assert ask("compile", text="--write=x.sub")["errors"]


def test_fixes_mend_what_was_found() -> None:
    """The places count as browsers do, also after letters of two units."""
    text = f"# \N{ALARM CLOCK}\N{MUSICAL SYMBOL G CLEF}\n{FAULTY}"
    findings = ask("submit", text=text)["findings"]
    units = text.encode("utf-16-le")
    places = {each["code"]: each["place"] for each in findings if each["place"]}
    start, end = places["CRN104"]["start"], places["CRN104"]["end"]
    assert units[2 * start : 2 * end].decode("utf-16-le") == "MON"
    index = [each["code"] for each in findings].index("CRN104")
    assert "cron_day_of_week = 1\n" in ask("fix", text=text, index=index)["text"]


def test_routes_are_explained_and_applied() -> None:
    """By the command, from texts."""
    config, jobs = ((ROOT / "examples" / name).read_text("utf-8") for name in ("routes.conf", "routable.ads"))
    answer = ask("route", config=config, jobs=jobs)
    assert [each["route"] for each in answer["jobs"]] == ["Slurm", None, "Neighbours", None]
    assert "@@ 71.0 -> Slurm @@" in answer["copies"]
    assert "more.conf" in ask("route", config="include : more.conf\n", jobs=jobs)["errors"]


def test_a_missing_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the browser, where there is no pcre2."""
    regexp._library.cache_clear()  # another test may have loaded it
    monkeypatch.setitem(sys.modules, "pcre2", None)
    config = 'JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A = REQUIREMENTS regexp("^unseen[0-9]x", Owner)\n'
    jobs = 'ClusterId = 1\nProcId = 0\nOwner = "alice"\nJobStatus = 1\nJobUniverse = 5\n'
    assert "does not run in a browser" in ask("route", config=config, jobs=jobs)["refused"]


def test_long_texts_are_refused() -> None:
    """A link cannot make the page hang."""
    assert "at most" in ask("submit", text="x" * (engine.LIMIT + 1))["refused"]
