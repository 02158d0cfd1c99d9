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
from tests.cli.running import crondor
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


def test_a_window_is_that_of_the_runs() -> None:
    """What was typed beside the schedule, window and preparation."""
    first = ask("schedule", text="30 2 * * 1", window="900", prep="600")["next"]["runs"][0]["manual"]
    assert (first["time"] - first["match_opens"], first["last_start"] - first["time"]) == (900, 900)


@pytest.mark.parametrize(
    "text",
    [
        *("0 6 * * 1", "30 7 * * 1-5", "*/7 2 * * 0,3", "0 6 1-10/3 * 1", "0 */5 */3 */2 *", "30 2 * * *"),
        *("@daily", "0 18 * * 5L", "Mon..Fri 09:00", "DTSTART:20261201T040000 RRULE:FREQ=WEEKLY"),
        *(
            "last Friday of the month at 18:00",
            "every weekday at 09:00 except holidays:DE",
            "every 90 minutes from 2026-12-01T06:00",
        ),
    ],
)
def test_submit_lines_are_those_of_compile(text: str) -> None:
    """Whole: in a file they have no error, and the real schedd runs the job at the times that were asked for."""
    common = ("--tz", "Europe/Berlin", "--now", str(NOW))
    made = ask("compile", text=text, window="60")
    nearest = ["--approximate"] * ("reason" in made)
    lines = made["submit"]
    assert lines == crondor("compile", text, "--window", "60", "--format", "submit", *nearest, *common).out
    assert "cron_window = 60\n" in lines
    again = ask("submit", text=f"executable = job.sh\nlog = job.log\n{lines}queue\n")
    assert not [each["message"] for each in again["findings"] if each["severity"] == "error"]
    found = ask("schedule", text=text)
    times = found.get("times") or [run["manual"]["time"] for run in found["next"]["runs"] if run["manual"]]
    assert nearest or [run["htcondor"]["time"] for run in again["jobs"][0]["runs"] if run["htcondor"]] == times
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
    copies = {each["job"]: {change["name"]: change for change in each["changes"]} for each in answer["copies"]}
    assert copies["71.0"]["RouteName"] == {"name": "RouteName", "before": None, "after": '"Slurm"'}
    assert ask("route", config="", jobs=jobs)["errors"] == "JobRouter is disabled."
    assert "more.conf" in ask("route", config="include : more.conf\n", jobs=jobs)["findings"][0]["message"]


def test_findings_of_a_router_have_their_places() -> None:
    """As browsers count, after letters of two units."""
    head = "# \N{ALARM CLOCK}\N{MUSICAL SYMBOL G CLEF}\n"
    config = f"{head}JOB_ROUTER_ROUTE_NAMES = A, B\nJOB_ROUTER_ROUTE_A = REQUIREMENTS true\n"
    (found,) = [each for each in ask("route", config=config, jobs="a = 1\n")["findings"] if each["code"] == "CRN611"]
    place = found["place"]
    assert config.encode("utf-16-le")[2 * place["start"] : 2 * place["end"]].decode("utf-16-le") == "B"


@pytest.mark.parametrize(
    ("jobs", "marked"),
    [
        ('ClusterId = 1\nProcId = 0\nOwner = "alice\n', '"'),
        ("# \N{ALARM CLOCK}\nexecutable /bin/true\nqueue\n", "executable /bin/true"),
        ('Owner = "x"\n', 'Owner = "x"'),
    ],
)
def test_mistakes_of_jobs_have_their_places_and_are_said_once(jobs: str, marked: str) -> None:
    """Of ads and of submit files."""
    answer = ask("route", config="JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A = REQUIREMENTS true\n", jobs=jobs)
    (found,) = answer["of_jobs"]
    start, end = (2 * found["place"][name] for name in ("start", "end"))
    assert jobs.encode("utf-16-le")[start:end].decode("utf-16-le") == marked
    assert not answer["errors"]
    assert not ask("submit", text="executable /bin/true\n")["errors"]


def test_a_missing_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the browser, where there is no pcre2."""
    regexp._library.cache_clear()  # another test may have loaded it
    monkeypatch.setitem(sys.modules, "pcre2", None)
    config = 'JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A = REQUIREMENTS regexp("^unseen[0-9]x", Owner)\n'
    jobs = 'ClusterId = 1\nProcId = 0\nOwner = "alice"\nJobStatus = 1\nJobUniverse = 5\n'
    assert "does not run in a browser" in ask("route", config=config, jobs=jobs)["refused"]


def test_lines_of_fields_are_taken_whole() -> None:
    """With their window and prep time, and a value as it is written: HTCondor takes a comment after it as a part."""
    answer = ask("schedule", text="cron_hour = 6, 12\ncron_minute = 0\ncron_window = 900\nCronPrepTime=60\n")
    assert (answer["line"], answer["window"], answer["prep"]) == ("0 6,12 * * *", "900", "60")
    assert (answer["next"]["window"], answer["next"]["prep_time"]) == (900, 60)
    assert ask("schedule", text="cron_window = 900\ncron_hour = 6", window=" 60")["window"] == "60"
    held = ask("schedule", text="cron_minute = 0 # x")["next"]["schedd_fault"]
    assert "'0 # x'" in held["hold_reason"]


@pytest.mark.parametrize("window", ["15m", "-5", "9" * 20, "\N{ARABIC-INDIC DIGIT THREE}"])
def test_a_window_is_a_number_of_seconds(window: str) -> None:
    """What is none is said in words of the page, and not in those of a command line."""
    for kind in ("schedule", "compile"):
        assert ask(kind, text="0 6 * * *", window=window)["refused"].endswith(f"not {window}.")


def test_words_are_not_told_to_be_a_crontab_line() -> None:
    """Names in one are, since the schedd does not take them."""
    assert ask("schedule", text="every 5 minutes")["findings"] == []
    assert [each["code"] for each in ask("schedule", text="0 6 * * MON")["findings"]] == ["CRN104"]


def test_words_of_other_languages_are_no_crontab_line() -> None:
    """Five words with one digit."""
    (found,) = ask("schedule", text="tous les jours \N{LATIN SMALL LETTER A WITH GRAVE} 6h")["findings"]
    assert found["code"] == "schedule-unknown"


@pytest.mark.parametrize("now", [-1, 31_536_000, 7_300_000_000, 253_402_300_799, 10**13])
def test_times_out_of_range_are_refused(now: int) -> None:
    """Of which the command or the calendar would fail."""
    assert "1974 to 2198" in ask("schedule", text="0 6 * * *", now=now)["refused"]


def test_long_texts_are_refused() -> None:
    """A link cannot make the page hang."""
    assert "at most" in ask("submit", text="x" * (engine.LIMIT + 1))["refused"]
