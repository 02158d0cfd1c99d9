"""`crondor agenda`: the coming days of all jobs of some files, as a table, as JSON and as a picture."""

import os
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from zoneinfo import ZoneInfo

import pytest

from crondor.recurrence import Recurrence
from crondor.spec import CronSpec, Dialect
from tests.cli.conftest import Write
from tests.cli.running import EXAMPLES, NOW, Result, at_now, crondor, environment

MIDNIGHT = ("--from", "tomorrow")

SPAN_KEYS = ["zone", "now", "from", "until", "dialect", "job_count", "starts", "days", "first", "busiest"]
SPAN_KEYS += ["busiest_more", "collisions", "collisions_more", "collision_groups", "collision_groups_more"]
SPAN_KEYS += ["jobs", "invalid", "diagnostics"]


def agenda(*arguments: str, stdin: str = "") -> Result:
    """Run `crondor agenda` at NOW, in Berlin."""
    return at_now("agenda", "--tz", "Europe/Berlin", *arguments, stdin=stdin)


def data(*arguments: str) -> dict[str, Any]:
    """Return its JSON."""
    found: dict[str, Any] = agenda("--format", "json", *arguments).data
    return found


@pytest.fixture
def cron(write: Write) -> Callable[..., str]:
    """Return a function that writes a file for a crontab line and returns its path."""

    def make(line: str, *more: str, name: str = "job.sub", queue: str = "queue") -> str:
        names = ("minute", "hour", "day_of_month", "month", "day_of_week")
        fields = [f"cron_{field} = {text}" for field, text in zip(names, line.split(), strict=True)]
        return write(*fields, *more, queue, name=name)

    return make


def test_starts_that_requirements_exclude_are_none(write: Write) -> None:
    """Neither in the table nor as the first start, and a job of which all are excluded has no time."""
    path = write("cron_minute = 0", "requirements = DeferralTime % 7200 == 0", "queue")
    found = data("--days", "1", path)
    assert (found["starts"], [each["time"] % 7200 for each in found["first"]]) == (3, [0, 0, 0])
    never = write("deferral_time = 1795201200", "requirements = DeferralTime % 7200 == 0", "queue", name="never.sub")
    (job,) = data("--days", "1", never)["jobs"]
    assert (job["runs"], job["time"], job["local"]) == (0, None, None)
    assert "requirements exclude its times" in agenda("--days", "1", never).out


# Tables


def test_two_files_become_one_table(cron: Callable[..., str]) -> None:
    """The days and hours, the first starts, the busiest minutes and the collisions."""
    one = cron("0 6,18 * * *", name="a.sub", queue="queue 2")
    two = cron("0,30 6 * * 1-5", name="b.sub")
    result = agenda("--days", "3", one, two)
    assert result == (
        0,
        """\
3 jobs, 8 starts from Fri 2026-11-20 18:27:05 +0100 until Mon 2026-11-23 00:00 +0100
zone Europe/Berlin (from --tz; must be the submit host's zone), dialect manual

               00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23 all
Fri 2026-11-20                                                        .  .  .  .  .  .   .
Sat 2026-11-21  .  .  .  .  .  .  2  .  .  .  .  .  .  .  .  .  .  .  2  .  .  .  .  .   4
Sun 2026-11-22  .  .  .  .  .  .  2  .  .  .  .  .  .  .  .  .  .  .  2  .  .  .  .  .   4

First starts
  Sat 2026-11-21 06:00 +0100  in 11 h 32 min  2 starts  A:6 (2 jobs)
  Sat 2026-11-21 18:00 +0100  in 23 h 32 min  2 starts  A:6 (2 jobs)
  Sun 2026-11-22 06:00 +0100  in 1 d 11 h     2 starts  A:6 (2 jobs)
  Sun 2026-11-22 18:00 +0100  in 1 d 23 h     2 starts  A:6 (2 jobs)

Busiest minutes
  Sat 2026-11-21 06:00 +0100  in 11 h 32 min  2 starts  A:6 (2 jobs)
  Sat 2026-11-21 18:00 +0100  in 23 h 32 min  2 starts  A:6 (2 jobs)
  Sun 2026-11-22 06:00 +0100  in 1 d 11 h     2 starts  A:6 (2 jobs)
  Sun 2026-11-22 18:00 +0100  in 1 d 23 h     2 starts  A:6 (2 jobs)

Collisions, jobs that start in the same minute
  4 times  first Sat 2026-11-21 06:00 +0100  A:6 (2 jobs) with one another

No start in this time
  B:6  next Mon 2026-11-23 06:00 +0100

Leave the queue after the first run, without on_exit_remove = false
  A:6 (2 jobs)
  B:6
""".replace("A:", f"{one}:").replace("B:", f"{two}:"),
        "",
    )


def test_one_job_has_no_collisions_and_no_busiest_minute(cron: Callable[..., str]) -> None:
    """What can only be nothing is a sentence, or left out."""
    path = cron("0 6 * * *")
    lines = agenda("--days", "2", path).lines
    leaving = ["", "Leave the queue after the first run, without on_exit_remove = false", f"  {path}:6"]
    assert lines[-3:] == leaving
    assert lines[-6:-3] == [
        f"  Sat 2026-11-21 06:00 +0100  in 11 h 32 min  1 start  {path}:6",
        "",
        "Busiest minutes: no minute has more than one start",
    ]
    two = agenda("--days", "2", path, cron("0 7 * * *", name="b.sub")).lines
    assert two[-5] == "Collisions: no two jobs start in the same minute"


def test_the_first_day_is_what_is_left_of_it(cron: Callable[..., str]) -> None:
    """A start at --from counts, one at the end does not: whole days from a midnight on."""
    path = cron("0 0,23 * * *")
    found = data("--days", "2", *MIDNIGHT, path)
    assert [day["starts"] for day in found["days"]] == [2, 2]
    assert found["first"][0]["local"] == "2026-11-21T00:00:00+01:00"
    assert found["until"] - found["from"] == 2 * 86400
    assert agenda("--days", "1", path).lines[4].split() == ["Fri", "2026-11-20", ".", ".", ".", ".", ".", "1", "1"]
    minute = cron("* * * * *", name="dense.sub")
    assert data("--days", "1", minute)["days"][0]["hours"][18:20] == [32, 60]  # 18:28 to 18:59


def test_a_start_in_the_minute_that_has_begun_is_past(cron: Callable[..., str]) -> None:
    """At 18:27:05 the run of 18:27 is over; at 18:27:00 it is the first."""
    path = cron("27 18 * * *")
    assert data("--days", "1", path)["starts"] == 0
    assert data("--days", "1", "--from", "18:27", path)["starts"] == 1


@pytest.mark.parametrize(
    ("queue", "first", "second", "said"),
    [
        (1, "Sat 2026-11-21 60 60", " 1441", None),
        (4, "Sat 21 240 240", " 5761", None),
        (2000, "Sat 21 120 120", " 2880", "counts are thousands, truncated; --format json has the numbers"),
        (9_000_000, "Sat 21 540 540", " 12960", "counts are millions, truncated; --format json has the numbers"),
    ],
)
def test_the_table_is_narrow(queue: int, first: str, second: str, said: str | None, cron: Callable[..., str]) -> None:
    """Under 110 columns whatever the counts; numbers are exact or said to be cut off."""
    path = cron("* * * * *", queue=f"queue {queue}")
    lines = agenda("--days", "2", *MIDNIGHT, path, cron("0 12 * * *", name="b.sub")).lines
    assert max(len(line) for line in lines[3:6]) < 110
    assert len({len(line) for line in lines[3:6]}) == 1
    assert re.sub(" +", " ", lines[4]).startswith(first)
    assert lines[4].endswith(second)
    assert (lines[6] or None) == said


@pytest.mark.parametrize(
    ("columns", "queue", "date", "rows"),
    [
        (120, 1, "Sat 2026-11-21 ", 1),
        (84, 1, "Sat 21 ", 1),
        (81, 1, "Sa21 ", 1),
        (80, 1, "Sat 2026-11-21 ", 2),
        (80, 4, "Sat 2026-11-21 ", 2),
        (60, 4, "Sat 21 ", 2),
        (40, 1, "Sat 21 ", 3),
        (30, 4, "Sat 21 ", 6),
    ],
)
def test_the_table_fits_its_screen(columns: int, queue: int, date: str, rows: int, cron: Callable[..., str]) -> None:
    """Dates give way first, then a day is several rows, the last of which has the sum."""
    path = cron("* * * * *", queue=f"queue {queue}")
    seen = crondor("agenda", "--now", NOW, "--tz", "Europe/Berlin", "--days", "1", *MIDNIGHT, path, columns=columns)
    days = [row for row in seen.lines if row.startswith(date)]
    assert len(days) == rows
    assert all(len(row) <= columns for row in days)
    assert days[-1].split()[-1] == str(1440 * queue)


def test_less_than_a_unit_is_not_nothing(cron: Callable[..., str]) -> None:
    """A start beside thousands is `<1`, and no start a dot."""
    lines = agenda(
        "--days", "1", *MIDNIGHT, cron("0 3 * * *", queue="queue 5000"), cron("0 4 * * *", name="b.sub")
    ).lines
    assert lines[4].split()[2:8] == [".", ".", ".", "5", "<1", "."]


# Clock changes


@pytest.mark.parametrize(
    ("zone", "start", "row", "hours", "note"),
    [
        (
            "Europe/Berlin",
            "2027-03-27",
            "Sun 2027-03-28  2  2  -  3  2",
            23,
            "Sun 2027-03-28 has 23 h: the clock goes from 02:00 to 03:00",
        ),
        (
            "Europe/Berlin",
            "2026-10-24",
            "Sun 2026-10-25  2  2  5  2  2",
            25,
            "Sun 2026-10-25 has 25 h: the clock goes from 03:00 back to 02:00, and that time counts twice",
        ),
        (
            "Australia/Lord_Howe",
            "2026-10-03",
            "Sun 2026-10-04  2  2  2  2  2",
            23.5,
            "Sun 2026-10-04 has 23 h 30 min: the clock goes from 02:00 to 02:30",
        ),
        (
            "America/Havana",
            "2024-03-09",
            "Sun 2024-03-10  -  2  3  2  2",
            23,
            "Sun 2024-03-10 has 23 h: the clock goes from 00:00 to 01:00",
        ),
    ],
)
def test_days_of_clock_changes_are_honest(
    zone: str, start: str, row: str, hours: float, note: str, cron: Callable[..., str]
) -> None:
    """A skipped hour is a dash, a repeated one counts both passes, and a line says so."""
    files = [cron("*/30 * * * *"), cron("45 2 * * *", name="b.sub")]
    options = ("--days", "3", "--from", start, "--tz", zone, "--format")
    table = at_now("agenda", *options, "table", *files)
    assert any(line.startswith(row) for line in table.lines), table.out
    assert note in table.lines
    found = at_now("agenda", *options, "json", *files).data
    assert found["days"][1]["seconds"] == hours * 3600
    assert [day["starts"] for day in found["days"]][::2] == [49, 49]
    assert found["starts"] == sum(day["starts"] for day in found["days"])


def test_a_day_that_a_zone_leaves_out_has_no_row(cron: Callable[..., str]) -> None:
    """Apia had no 30 December 2011."""
    path = cron("0 * * * *")
    options = ("--days", "3", "--from", "2011-12-29", "--tz", "Pacific/Apia", "--format", "json", path)
    found = at_now("agenda", *options).data
    assert [day["date"] for day in found["days"]] == ["2011-12-29", "2011-12-31"]
    assert [day["starts"] for day in found["days"]] == [24, 24]


# Against brute force


def lines_of(rng: random.Random, count: int) -> list[str]:
    """Return crontab lines, rare and dense ones."""
    minutes = ["0", "*", "*/7", "15,45", "30", "0-20/5", "59"]
    hours = ["*", "2", "1-3", "*/6", "0", "23", "2,14"]
    days = ["*", "*", "*", "25", "1-31/2"]
    weekdays = ["*", "*", "0", "1-5", "6,0"]
    return [" ".join(map(rng.choice, (minutes, hours, days, ["*", "10,11,3"], weekdays))) for _ in range(count)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("zone", "start"),
    [
        ("Europe/Berlin", "2026-10-23 17:31:20"),
        ("Europe/Berlin", "2027-03-26 00:00"),
        ("Australia/Lord_Howe", "2026-04-03 12:00"),
        ("America/St_Johns", "2026-10-30 01:02"),
        ("America/Havana", "2026-10-31"),
    ],
)
def test_everything_is_what_enumeration_says(zone: str, start: str, seed: int, cron: Callable[..., str]) -> None:
    """Hours, first and busiest minutes, and collisions, of random jobs around clock changes."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    lines = lines_of(rng, 12)
    counts = [rng.choice([1, 1, 3]) for _ in lines]
    files = [cron(line, name=f"{n}.sub", queue=f"queue {counts[n]}") for n, line in enumerate(lines)]
    options = ("--days", "4", "--from", start, "--tz", zone, "--pairs", "1000", "--format", "json")
    found = at_now("agenda", *options, *files).data
    info = ZoneInfo(zone)
    low, high = found["from"], found["until"]
    runs = [list(Recurrence(CronSpec.from_line(line), zone).between(low - 1, high - 1)) for line in lines]
    cells: Counter[tuple[str, int]] = Counter()
    minutes: Counter[int] = Counter()
    who: dict[int, list[int]] = defaultdict(list)
    for number, times in enumerate(runs):
        for time in times:
            local = datetime.fromtimestamp(time, info)
            cells[local.date().isoformat(), local.hour] += counts[number]
            minutes[time] += counts[number]
            who[time].append(number)
    assert found["starts"] == minutes.total()
    for day in found["days"]:
        assert [count or 0 for count in day["hours"]] == [cells[day["date"], hour] for hour in range(24)]
    first = [(m["time"], m["starts"], m["jobs"]) for m in found["first"]]
    assert first == [(time, minutes[time], who[time]) for time in sorted(minutes)[:5]]
    busy = [(m["time"], m["starts"]) for m in found["busiest"]]
    assert busy == sorted(minutes.items(), key=lambda item: (-item[1], item[0]))[:5]
    assert found["busiest_more"] == sum(n == busy[-1][1] for n in minutes.values()) - sum(
        n == busy[-1][1] for _, n in busy
    )
    pairs = [(n, n) for n, count in enumerate(counts) if count > 1] + list(combinations(range(len(lines)), 2))
    expected = {}
    for a, b in pairs:
        common = set(runs[a]) & set(runs[b])
        if common:
            expected[a, b] = (len(common), min(common))
    assert {tuple(c["jobs"]): (c["count"], c["time"]) for c in found["collisions"]} == expected
    assert found["collisions_more"] == 0
    crowds: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for time, numbers in who.items():
        if minutes[time] > 1:
            crowds[tuple(numbers)].append(time)
    assert {tuple(c["jobs"]): (c["count"], c["time"], c["starts"]) for c in found["collision_groups"]} == {
        numbers: (len(times), min(times), minutes[min(times)]) for numbers, times in crowds.items()
    }
    assert found["collision_groups_more"] == 0
    assert [job["runs"] for job in found["jobs"]] == [len(times) for times in runs]


def test_the_schedds_dialect_is_its_chain(cron: Callable[..., str]) -> None:
    """The same times as `crondor next --dialect htcondor`, the retries of day 0 among them."""
    path = cron("30 7 * * 1-5")
    options = ("--dialect", "htcondor", "--format", "json")
    mine = data("--days", "11", *options, path)
    chain = at_now("next", "--spec", path, "-n", "2000", "--until", str(mine["until"] - 1), *options).jobs[0]["runs"]
    assert mine["dialect"] == "htcondor"
    assert mine["starts"] == len(chain) > 100
    assert [m["time"] for m in mine["first"]] == [row["htcondor"]["time"] for row in chain[:5]]
    whole = data("--days", "1", "--from", "2026-11-23 07:30", *options, path)
    assert whole["first"][0]["local"] == "2026-11-23T07:30:00+01:00"
    assert Dialect.UNIX.value in agenda("--dialect", "unix", path).lines[1]


def test_collisions_name_all_jobs_of_a_minute(cron: Callable[..., str]) -> None:
    """Not pair by pair: the jobs that start together are one line, with how often and when first."""
    daily = [cron("0 6 * * *", name=f"{n}.sub") for n in range(5)]
    hourly = cron("0 6-8 * * *", name="h.sub", queue="queue 2")
    other = cron("0 8 * * *", name="o.sub")
    lines = agenda("--days", "2", *MIDNIGHT, *daily, hourly, other).lines
    at = lines.index("Collisions, jobs that start in the same minute")
    names = ", ".join(f"{path}:6" for path in daily)
    assert lines[at + 1 : lines.index("", at)] == [
        f"  2 times  first Sat 2026-11-21 06:00 +0100  7 jobs: {names}, {hourly}:6 (2 jobs)",
        f"  2 times  first Sat 2026-11-21 07:00 +0100  {hourly}:6 (2 jobs) with one another",
        f"  2 times  first Sat 2026-11-21 08:00 +0100  3 jobs: {hourly}:6 (2 jobs), {other}:6",
    ]
    (first, *_) = data("--days", "2", *MIDNIGHT, "--pairs", "1", *daily, hourly, other)["collision_groups"]
    assert (first["jobs"], first["starts"], first["count"]) == ([0, 1, 2, 3, 4, 5], 7, 2)


# Jobs


def test_equal_files_count_one_by_one(cron: Callable[..., str]) -> None:
    """Fifty files of ten jobs are 500 starts a minute, 1,225 pairs, and fifty crowds."""
    files = [cron("0 6 * * *", name=f"{n:02}.sub", queue="queue 10") for n in range(50)]
    found = data("--days", "3", "--pairs", "3", *files)
    assert (found["job_count"], found["starts"]) == (500, 1000)
    assert found["busiest"][0]["starts"] == 500
    assert found["busiest"][0]["jobs"] == list(range(50))
    assert [c["jobs"] for c in found["collisions"]] == [[0, 0], [1, 1], [2, 2]]
    assert found["collisions_more"] == 50 + 50 * 49 // 2 - 3
    table = agenda("--days", "3", "--pairs", "0", *files)
    assert "  1 group" in table.lines
    assert table.lines[-1] == "  and 40 more"
    assert any(line.endswith("02.sub:6 (10 jobs) and 47 more") for line in table.lines)


def test_jobs_of_one_statement_are_numbered(write: Write) -> None:
    """Their name alone would not tell them apart."""
    path = write("cron_minute = $(M)", "queue M in (0, 20, 40)")
    assert [line.rpartition("  ")[2] for line in agenda("--days", "1", path).lines[7:10]] == [
        f"{path}:2 #3",
        f"{path}:2 #1",
        f"{path}:2 #2",
    ]
    assert [job["canonical"] for job in data(path)["jobs"]] == ["0 * * * *", "20 * * * *", "40 * * * *"]


def test_deferral_times_take_part(write: Write, cron: Callable[..., str]) -> None:
    """To the minute: a time with seconds collides with the run of its minute."""
    once = write("deferral_time = 1795240807", "queue", name="once.sub")  # Sat 2026-11-21 07:00:07
    found = data(once, cron("0 7 * * *", name="b.sub"))
    assert found["jobs"][0] == {
        "name": once,
        "line": 2,
        "count": 1,
        "canonical": None,
        "runs": 1,
        "leaves": False,
        "time": 1795240807,
        "local": "2026-11-21T07:00:07+01:00",
    }
    assert [(c["jobs"], c["local"]) for c in found["collisions"]] == [([0, 1], "2026-11-21T07:00:00+01:00")]


def test_jobs_without_a_start_are_listed(write: Write, cron: Callable[..., str]) -> None:
    """With their next one; that is no fault, and ten of them are enough."""
    files = [cron(f"0 6 {n} 12 *", name=f"{n}.sub") for n in range(1, 13)]
    result = agenda(*files)
    assert result.status == 0
    assert result.lines[0].startswith("12 jobs, 0 starts from")
    assert result.lines[3] == "No start in this time"
    assert result.lines[4] == f"  {files[0]}:6   next Tue 2026-12-01 06:00 +0100"
    assert result.lines[-1] == "  and 2 more"
    far = agenda(write("deferral_time = 99999999999999", "queue"))
    assert far.status == 1
    assert "after the year 9999" in far.err


def test_a_time_that_is_past_is_a_finding(write: Write) -> None:
    """Such a job stays idle for ever; within its window it is not, and has no start either."""
    past = agenda(write("deferral_time = 1795195000", "queue"))
    assert past.status == 1
    assert "[CRN307]" in past.err
    assert past.lines[-1].endswith("was Fri 2026-11-20 18:16:40 +0100")
    late = agenda(write("deferral_time = 1795195000", "deferral_window = 3600", "queue"))
    assert late.status == 0
    assert "[CRN307]" in late.err


# Faults


def test_invalid_files_and_jobs_are_left_out_and_said(write: Write, cron: Callable[..., str]) -> None:
    """The errors go to stderr, the others are shown, and the status is 1."""
    good = cron("0 6 * * *", name="good.sub")
    files = [
        good,
        write("if true", "log = x", name="open.sub"),
        write("cron_minute = 60", "queue", "cron_minute = 5", "queue", name="mixed.sub"),
        write("cron_day_of_month = 31", "cron_month = 2", "queue", name="never.sub"),
        write("deferral_time = Unknown + 60", "queue", name="unknown.sub"),
        write("executable = /bin/date", "queue", name="plain.sub"),
        write("universe = scheduler", "cron_minute = 5", "queue", name="scheduler.sub"),
    ]
    result = agenda("--days", "1", *files)
    assert result.status == 1
    codes = re.findall(r"\[([A-Za-z0-9-]+)\]$", result.err, re.MULTILINE)
    assert codes == ["CRN013", "CRN101", "CRN201", "CRN313", "bad-value", "not-deferred", "CRN504"]
    left_out = [f"  {files[1]}", f"  {files[2]}:2", f"  {files[3]}:3", f"  {files[4]}:2", f"  {files[6]}:3"]
    assert result.lines[-6:] == ["Skipped because of the errors above", *left_out]
    assert result.lines[0].startswith("2 jobs, ")
    found = data("--days", "1", *files)
    assert found["invalid"] == [
        {"name": files[1], "line": None},
        {"name": files[2], "line": 2},
        {"name": files[3], "line": 3},
        {"name": files[4], "line": 2},
        {"name": files[6], "line": 3},
    ]
    assert [d["code"] for d in found["diagnostics"]] == codes


def test_nothing_with_a_time_is_a_finding(write: Write) -> None:
    """No table, a note, status 1; JSON is there."""
    path = write("executable = /bin/date", "queue")
    result = agenda(path)
    assert (result.status, result.out) == (1, "")
    assert "[not-deferred]" in result.err
    assert (data(path)["jobs"], data(path)["starts"]) == ([], 0)


def test_a_schedule_that_the_schedd_hangs_on_is_left_out(cron: Callable[..., str]) -> None:
    """The dialect decides what is wrong."""
    result = agenda("--dialect", "htcondor", cron("0 0 31 2 *"), cron("60 0 * * *", name="b.sub"), "--days", "1")
    assert result.status == 1
    assert result.lines[0].startswith("1 job, ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give the schedule in one way: FILES"),
        (["docs"], "'docs' has no *.sub"),
        (["*/5 * * * *"], "'*/5 * * * *' is not a file: put a crontab line in quotes after --crontab"),
        (["no.sub"], "cannot read 'no.sub': No such file"),
        (["a\0b"], "cannot read 'a\\x00b'"),
        (["-", "-"], "standard input (-) can be read only once"),
        (["-", "--days", "0"], "0 is not in the range"),
        (["-", "--days", "367"], "367 is not in the range"),
        (["-", "--format", "csv"], "'csv' is not one of 'table', 'json'"),
        (["-", "--plot", "week.pdf"], "--plot draws .svg and .png; 'week.pdf' is neither"),
        (["-", "--plot", "svg"], "'svg' is neither"),
        (["-", "--from", "tomorow"], "`tomorow` is not a word of a time"),
        (["-", "--tz", "Berln"], "did you mean Europe/Berlin?"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str) -> None:
    """Status 2, nothing on stdout, and what would do."""
    result = crondor("agenda", *arguments, stdin="cron_minute = 5\nqueue\n")
    assert (result.status, result.out) == (2, "")
    assert said in result.err


@pytest.mark.parametrize(("start", "status"), [("9000-01-01", 2), ("1960-01-01", 2), ("2200-12-31 12:00", 0)])
def test_years_without_schedules_are_refused(start: str, status: int, cron: Callable[..., str]) -> None:
    """The years of crondor are 1970 to 2200."""
    result = agenda("--from", start, cron("0 6,18 * * *"))
    assert result.status == status
    assert result.status == 0 or not result.out
    assert "Traceback" not in result.err


def test_a_file_comes_from_stdin() -> None:
    """`-` is standard input, beside other files."""
    result = agenda("-", str(EXAMPLES[0]), "--days", "1", stdin="cron_minute = 5\ncron_minutes = 6\nqueue\n")
    assert result.status == 0
    assert "<stdin>:3" in result.out
    assert "did you mean cron_minute?" in result.err


def test_the_policy_is_heeded(cron: Callable[..., str]) -> None:
    """`skip` drops the run that the clock skips."""
    options = ("--days", "1", "--from", "2027-03-28", cron("30 2 * * *"))
    assert [data(*options, "--policy", policy)["starts"] for policy in ("compatible", "skip")] == [1, 0]


# JSON


def test_json_keys_are_stable(cron: Callable[..., str]) -> None:
    """These and no others, in this order."""
    found = data("--days", "2", cron("0 6 * * *"), cron("0 6 * * *", name="b.sub"))
    assert list(found) == SPAN_KEYS
    assert list(found["days"][0]) == ["date", "weekday", "seconds", "starts", "hours"]
    assert list(found["first"][0]) == list(found["busiest"][0]) == ["time", "local", "starts", "jobs"]
    assert list(found["collisions"][0]) == ["jobs", "count", "time", "local"]
    assert list(found["collision_groups"][0]) == ["time", "local", "starts", "jobs", "count"]
    assert list(found["jobs"][0]) == ["name", "line", "count", "canonical", "runs", "leaves", "time", "local"]
    assert found["days"][0]["hours"] == [None] * 18 + [0] * 6


# Pictures


def svg(path: Path) -> ET.Element:
    """Read a picture; a broken one raises."""
    return ET.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314 - our own file


def lanes(path: Path) -> int:
    """Return how many lanes a picture has."""
    return sum(element.get("id", "").startswith("lane-") for element in svg(path).iter())


@pytest.mark.parametrize(("jobs", "expected"), [(2, 2), (4, 4), (6, 4), (0, 0)])
def test_a_picture_has_a_lane_for_each_job(
    jobs: int, expected: int, cron: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are too many share the last one; jobs without a start, and invalid ones, have none."""
    monkeypatch.setattr("crondor_cli.agenda.plot.MOST_LANES", 4)
    path = tmp_path / "plot.svg"
    files = [cron(f"{n} {n} * * *", "cron_window = QDate", name=f"{n}.sub") for n in range(jobs)]
    files += [cron("0 0 1 1 *", name="idle.sub"), cron("60 0 1 1 *", name="bad.sub")]
    assert agenda(*files, "--days", "1", *MIDNIGHT, "--plot", str(path)).status == 1
    assert lanes(path) == expected


def test_what_requirements_keep_out_is_no_start(write: Write) -> None:
    """Of an hour's minutes those that a compiled clause lets match, as `crondor next` has them."""
    lines = ("executable = /bin/true", "cron_minute = *", "cron_hour = 6", "requirements = DeferralTime / 60 % 15 == 0")
    path = write(*lines, "on_exit_remove = false", "queue")
    data = agenda(path, *MIDNIGHT, "--days", "1", "--format", "json").data
    assert data["starts"] == 4
    assert len(agenda(path, *MIDNIGHT, "--days", "1", "--dialect", "htcondor", "--format", "json").data["busiest"]) == 4


def test_a_picture_is_the_same_every_time(cron: Callable[..., str], tmp_path: Path) -> None:
    """No date, no random ids; it is drawn beside the table, which does not change."""
    options = (cron("0 6 * * *"), "--days", "1", *MIDNIGHT)
    drawn = []
    for name in ("a.svg", "b.SVG"):
        result = agenda(*options, "--plot", str(tmp_path / name))
        assert result == agenda(*options)
        drawn.append((tmp_path / name).read_bytes())
    assert drawn[0] == drawn[1]
    assert b"<dc:date>" not in drawn[0]


def test_png_and_odd_names(cron: Callable[..., str], tmp_path: Path) -> None:
    """Formulas, letters without a glyph, very long names, a clock change, dense jobs and many days."""
    names = ["$x$ [1]{}.sub", "日本.sub", f"{'long' * 40}.sub", "_hidden.sub"]
    files = [cron("* * * * *", name=name, queue="queue 5000") for name in names]
    files.append(cron("30 2 * * *", "cron_window = 1 + 1", name="window.sub"))
    path = tmp_path / "plot.png"
    result = agenda(*files, "--days", "11", "--from", "2027-03-26 13:00", "--plot", str(path))
    assert (result.status, result.err) == (0, "")
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_a_picture_that_cannot_be_written_is_wrong_usage(cron: Callable[..., str], tmp_path: Path) -> None:
    """Nothing is printed then."""
    path = str(tmp_path / "none" / "plot.svg")
    result = agenda(cron("0 6 * * *"), "--plot", path)
    assert (result.status, result.out) == (2, "")
    assert f"cannot write '{path}': No such file or directory" in result.err


def test_without_matplotlib_the_command_says_how_to_get_it(
    cron: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an extra."""
    for name in [
        name for name in sys.modules if re.match(r"matplotlib\b|crondor_cli\.agenda\.(plot|heat|lanes)", name)
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    path = cron("0 6 * * *")
    result = agenda(path, "--plot", str(tmp_path / "plot.svg"))
    assert (result.status, result.out) == (2, "")
    assert "--plot needs matplotlib, which is not installed: pip install '.[plot]' in a clone of crondor" in result.err
    assert agenda(path).status == 0


def test_matplotlib_is_imported_for_a_picture_only_and_needs_no_display(tmp_path: Path) -> None:
    """It is slow; whatever backend the environment asks for."""
    script = """
import sys
from crondor_cli.main import cli

def show(*more):
    cli(["agenda", sys.argv[1], "--days", "1", *more], standalone_mode=False)
    print([name in sys.modules for name in ("crondor_cli.agenda.shown", "matplotlib", "numpy")])

show()
show("--plot", sys.argv[2])
"""
    path = tmp_path / "plot.png"
    env = environment(DISPLAY=None, MPLBACKEND="TkAgg", MPLCONFIGDIR=os.environ.get("MPLCONFIGDIR"))
    command = [sys.executable, "-c", script, str(EXAMPLES[0]), str(path)]
    ended = subprocess.run(command, env=env, capture_output=True, check=True, text=True)
    assert re.findall(r"^\[.*\]$", ended.stdout, re.MULTILINE) == ["[True, False, False]", "[True, True, True]"]
    assert path.stat().st_size > 10_000
