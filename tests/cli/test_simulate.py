"""`crondor simulate`: counts, what would be enough, the line to change, events, logs, pictures, and wrong usage."""

import re
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from crondor.event_log import read_events
from crondor_cli.simulate.shown import TimeAxis
from tests.cli.conftest import Write
from tests.cli.running import Result, at_now

HOURLY = ("executable = /bin/true", "cron_minute = 0", "on_exit_remove = false")
EXACT = ("--match-delay", "10", "--run-time", "20", "--tz", "UTC")


def simulate(*arguments: str, stdin: str | bytes = b"") -> Result:
    """Run `crondor simulate` at NOW in a pool without chance."""
    return at_now("simulate", *EXACT, *arguments, stdin=stdin)


def job(*arguments: str) -> dict[str, Any]:
    """Return the only job of the first reading."""
    found: dict[str, Any] = simulate("--format", "json", *arguments).data["readings"][0]["jobs"][0]
    return found


def test_all_runs_start(write: Write) -> None:
    """Status 0, and the figures of the table."""
    result = simulate("--spec", write(*HOURLY, "queue"), "--days", "2")
    assert result.status == 0
    row = next(line for line in result.lines if line.startswith("job.sub") or "job.sub:4  " in line)
    assert row.split()[1:4] == ["48", "48", "0"]


def test_what_the_schedd_computes_stands_beside_what_the_fields_name(write: Write) -> None:
    """A weekly job: the retries of day 0 are no planned runs; without them there is nothing to tell apart."""
    weekly = ("executable = /bin/true", "cron_minute = 0", "cron_hour = 6", "cron_day_of_week = 1")
    path = write(*weekly, "on_exit_remove = false", "queue")
    result = simulate(path, "--days", "30", "--dialect", "manual")
    head, row = result.lines[4:6]
    assert head.split()[:3] == ["planned", "computed", "on"]
    assert row.split()[1:3] == ["4", "930"]
    assert "  the fields mean 4 runs, but the schedd computes 930 times: see crondor next" in result.lines
    assert result.lines[-1].split()[1:3] == ["4", "4"]
    assert (job(path, "--days", "30")["named"], job(path, "--days", "30")["planned"]) == (4, 930)
    monthly = write(*weekly[:3], "cron_day_of_month = 1", "on_exit_remove = false", "queue", name="m.sub")
    assert "computed" not in simulate(monthly, "--days", "40").out
    leaving = write(*weekly, "queue", name="l.sub")
    assert simulate(leaving, "--days", "30").lines[4:6][0].split()[:2] == ["planned", "on"]


def test_the_dates_below_a_timeline_are_round(write: Write) -> None:
    """Hours and days of the zone's clock, whatever the time of the simulation's start."""
    path = write(*HOURLY, "queue")
    for days, expected in (("1", r"(00|03|06|09|12|15|18|21):00"), ("7", "00:00"), ("40", "00:00")):
        (*_, dates) = simulate(path, "--tz", "Europe/Berlin", "--days", days, "--timeline").lines
        found = re.findall(r"\d\d-\d\d (\d\d:\d\d)", dates)
        assert found
        assert all(re.fullmatch(expected, time) for time in found)


@pytest.mark.parametrize(
    ("start", "apart", "expected"),
    [
        ("2026-03-28T19:09", 21_600, ["29 00:00", "29 06:00", "29 12:00", "29 18:00", "30 00:00", "30 06:00"]),
        ("2026-03-28T22:00", 1_800, ["28 22:00", "28 22:30", "28 23:00", "28 23:30", "29 00:00", "29 00:30"]),
        ("2026-03-29T01:09", 3_600, ["29 03:00", "29 04:00", "29 05:00", "29 06:00", "29 07:00", "29 08:00"]),
        ("2026-10-24T20:00", 10_000, ["24 21:00", "25 00:00", "25 03:00", "25 06:00", "25 09:00", "25 12:00"]),
        ("2026-11-20T19:09", 90_000, ["21 00:00", "23 00:00", "25 00:00", "27 00:00", "29 00:00", "01 00:00"]),
        ("2026-11-20T19:09", 600_000, ["23 00:00", "30 00:00", "07 00:00", "14 00:00", "21 00:00", "28 00:00"]),
    ],
)
def test_ticks_are_round_times_of_the_zone(start: str, apart: int, expected: list[str]) -> None:
    """Around clock changes as well; in weeks they are Mondays."""
    zone = ZoneInfo("Europe/Berlin")
    begin = int(datetime.fromisoformat(start).replace(tzinfo=zone).timestamp())
    axis = TimeAxis(begin, begin + 60 * 86_400, zone, "Europe/Berlin")
    found = [datetime.fromtimestamp(time, zone) for time in axis.ticks(apart)]
    assert [f"{moment:%d %H:%M}" for moment in found[:6]] == expected
    assert all(low < high for low, high in pairwise(found))


def test_missed_runs_say_which_line_to_change(write: Write) -> None:
    """Each change is enough by itself: the file changed so has no missed run."""
    path = write(*HOURLY, "cron_prep_time = 20", "cron_window = 0", "queue")
    arguments = ("--transfer", "6m", "--days", "1")
    result = simulate("--spec", path, *arguments)
    assert result.status == 1
    assert f"{path}:5: change cron_window = 0 to cron_window = 50" in result.out
    assert f"{path}:4: change cron_prep_time = 20 to cron_prep_time = 70" in result.out
    for change in ("cron_window = 50", "cron_prep_time = 70"):
        name = change.split(" ")[0]
        lines = [change if line.startswith(name) else line for line in Path(path).read_text("utf-8").splitlines()]
        assert simulate("--spec", write(*lines), *arguments).status == 0


def test_a_line_to_add(write: Write) -> None:
    """Before the queue statement, in the words of the file."""
    path = write("executable = /bin/true", "deferral_time = 1795199230", "queue")
    assert f"{path}:3: add before it: deferral_window = 6" in simulate("--spec", path).out
    found = job("--spec", path)
    assert (found["missed_idle"], found["enough_prep_time"], found["enough_window"]) == (1, None, 6)


def test_a_line_of_several_queue_statements_is_changed_to_one_number(write: Write) -> None:
    """It is enough for all of them; a line of its own has its own number."""
    second = ("cron_minute = 15", "cron_window = 7", "queue")
    path = write(*HOURLY, "cron_prep_time = 20", "cron_window = 3", "queue", *second)
    arguments = ("--transfer", "3m-9m", "--slots", "3", "--days", "2")
    lines = [line.strip() for line in simulate("--spec", path, *arguments).lines]
    changes = [line for line in lines if ": change " in line]
    assert len(changes) == 4
    assert len(set(changes)) == 3
    (prep_time,) = {line.rpartition(" = ")[2] for line in changes if f"{path}:4: " in line}
    write(*HOURLY, f"cron_prep_time = {prep_time}", "cron_window = 3", "queue", *second)
    assert simulate("--spec", path, *arguments).status == 0
    write(*HOURLY, f"cron_prep_time = {int(prep_time) - 1}", "cron_window = 0", "queue", *second[:1], "queue")
    assert simulate("--spec", path, *arguments).status == 1


def test_what_nothing_would_cure_is_said(write: Write) -> None:
    """In words that nobody takes for a length of nothing."""
    path = write(*HOURLY, "request_cpus = 2", "queue")
    said = simulate("--spec", path, "--machine", "cpus=1").out
    assert "no prep time and no window would have been sufficient" in said
    assert "enough for all runs" not in said


def test_files_share_the_slots(write: Write) -> None:
    """The second job misses what the first one runs."""
    paths = [write(*HOURLY, "queue", name=f"{name}.sub") for name in "ab"]
    readings = simulate("--spec", *paths, "--days", "1", "--format", "json").data["readings"]
    first, second = readings[0]["jobs"]
    assert (first["on_time"], first["missed"]) == (24, 0)
    assert second["on_time"] + second["late"] < 24
    assert simulate("--spec", *paths, "--days", "1", "--slots", "2").status == 0


def test_the_manuals_reading_stands_beside(write: Write) -> None:
    """The schedd's own is always there, and decides about the status."""
    path = write("executable = /bin/true", "cron_minute = 1-10/3", "on_exit_remove = false", "queue")
    data = simulate("--spec", path, "--days", "1", "--format", "json", "--dialect", "manual").data
    assert [(side["dialect"], side["jobs"][0]["planned"]) for side in data["readings"]] == [
        ("htcondor", 72),
        ("manual", 96),
    ]


def test_events_and_the_user_log_tell_the_same(write: Write, tmp_path: Path) -> None:
    """The log is HTCondor's, and a file that is there is not overwritten."""
    path, log = write(*HOURLY, "queue"), tmp_path / "job.log"
    arguments = ("--spec", path, "--days", "1", "--events", "--log", str(log))
    result = simulate(*arguments)
    assert sum("  started" in line for line in result.lines) == 24
    events = list(read_events(log.read_text(encoding="utf-8")))
    assert sum(event.number == 1 for event in events) == 24
    assert simulate(*arguments).status == 2
    data = simulate("--spec", path, "--days", "1", "--events", "--format", "json").data
    assert data["events"][0]["what"] == "submitted"
    assert len(data["events"]) == sum(": " in line or "  1.0" in line for line in result.lines if "1.0" in line)


def test_a_line_of_time(write: Write) -> None:
    """Missed runs are seen in it."""
    path = write(*HOURLY, "cron_prep_time = 0", "queue")
    result = simulate("--spec", path, "--schedd-interval", "5", "--timeline", "--days", "1")
    lane, dates = result.lines[-2:]
    assert dates.split()[:2] == ["11-21", "00:00"]
    assert lane.count("M") >= 20
    assert "r" not in lane.split("  ")[-1]


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_picture(write: Write, tmp_path: Path, suffix: str) -> None:
    """The same simulation gives the same picture."""
    path = write(*HOURLY, "queue")
    files = [tmp_path / f"{number}.{suffix}" for number in range(2)]
    for file in files:
        assert simulate("--spec", path, "--days", "2", "--plot", str(file)).status == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].stat().st_size > 1000


def test_what_is_not_simulated_is_said(write: Write) -> None:
    """A grid job, Requirements of a machine that is not there, an invalid file beside a good one."""
    grid = write("universe = grid", "grid_resource = condor a b", *HOURLY, "queue", name="grid.sub")
    assert "leaves for another system" in simulate("--spec", grid).err
    picky = write(*HOURLY, "requirements = TARGET.Colour == 3", "queue", name="picky.sub")
    assert "no simulated machine meets" in simulate("--spec", picky, "--days", "1").err
    bad = write("executable = /bin/true", "deferral_time = -5", "queue", name="bad.sub")
    both = simulate("--spec", bad, write(*HOURLY, "queue"), "--days", "1")
    assert both.status == 1
    assert "deferral_time = -5 is invalid" in both.err
    assert "job.sub" in both.out


def test_an_invalid_crontab_line_is_a_finding(write: Write) -> None:
    """The files are simulated."""
    file = write("executable = /bin/true", "cron_minute = 0", "queue")
    result = simulate(file, "--crontab", "99 2 * * *", "--format", "json")
    assert result.status == 1
    assert (len(result.data["readings"][0]["jobs"]), len(result.data["diagnostics"])) == (1, 1)


def test_an_invalid_schedule_is_held(write: Write) -> None:
    """As the schedd holds it."""
    found = job("--spec", write("executable = /bin/true", "cron_minute = abc", "queue"))
    assert found["hold_reason"] == "Invalid cron schedule parameters: Invalid parameter value 'abc' for CronMinute"
    assert found["planned"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give at least one submit file"),
        (("--spec", "-", "-"), "only once"),
        (("--spec", "x.sub"), "cannot read"),
        (("--spec", "-", "--run-time", "5 parsecs"), "not a length of time"),
        (("--spec", "-", "--plot", "x.pdf"), "neither"),
        (("--spec", "-", "--days", "0"), "--days"),
        (("--spec", "-", "--slots", "2", "--machine", "cpus=2"), "choose one"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], said: str) -> None:
    """Status 2, and a word on stderr."""
    result = simulate(*arguments)
    assert result.status == 2
    assert said in result.err


def test_files_that_are_refused_make_no_table(write: Write) -> None:
    """What is wrong with them is all there is to say."""
    result = simulate("--spec", write(""))
    assert (result.status, result.out) == (1, "")
    assert "[CRN001]" in result.err
    assert simulate("--spec", write(""), "--format", "json").data["readings"][0]["jobs"] == []


def test_too_many_jobs_are_refused(write: Write) -> None:
    """Before any of them is made one by one."""
    result = simulate("--spec", write(*HOURLY, "queue 2000000"))
    assert result.status == 1
    assert "too many to simulate" in result.err


def test_the_flow_is_traced(write: Write) -> None:
    """Each message is a line, with its time to the second; in JSON, an object."""
    path = write(*HOURLY, "arguments = $$(Cpus)", "queue")
    arguments = ("--spec", path, "--days", "1", "--trace", "flow", "--fail", "starter-startd")
    lines = simulate(*arguments).lines
    assert any(line.endswith('Args = "128"') and "schedd -> shadow: start" in line for line in lines)
    assert any("starter -> startd: final, FAILED, " in line for line in lines)
    data = simulate(*arguments, "--format", "json").data
    assert {message["to"] for message in data["flow"]} >= {"shadow", "startd", "starter", "schedd", "router", "history"}
    from_starter = [message for message in data["flow"] if message["from"] == "starter"]
    assert all(message["arrived"] == (message["to"] != "startd") for message in from_starter)
    assert "flow" not in simulate("--spec", path, "--days", "1", "--format", "json").data


def test_a_trace_changes_nothing(write: Write) -> None:
    """The table is the same."""
    path = write(*HOURLY, "queue")
    plain = simulate("--spec", path, "--days", "2")
    traced = simulate("--spec", path, "--days", "2", "--trace", "flow")
    assert traced.out.endswith(plain.out)


def test_lost_updates_and_preemption_are_told(write: Write) -> None:
    """Below the table, and in JSON; the pool stands above it."""
    path = write(*HOURLY, "queue")
    lost = simulate("--spec", path, "--days", "1", "--fail", "shadow-schedd", "--no-advice")
    assert "shadow-schedd fails" in lost.out
    assert "24 runs ended without the schedd learning it: the job was queued again" in lost.out
    assert job("--spec", path, "--days", "1", "--preempt", "700", "--no-advice")["evicted"] == 0
    taken = ("--preempt", "700", "--run-time", "30m", "--no-advice")
    assert job("--spec", path, "--days", "1", *taken)["evicted"] == 24
    assert "24 runs evicted after the start" in simulate("--spec", path, "--days", "1", *taken).out


def test_exit_codes_machines_and_knobs(write: Write) -> None:
    """A job that leaves when it succeeds; two that do not fit on one machine; an interval."""
    text = ("executable = /bin/true", "cron_minute = 0", "on_exit_remove = ExitCode == 0", "queue")
    assert job("--spec", write(*text), "--days", "1", "--exit-code", "1")["starts"] == 24
    assert job("--spec", write(*text), "--days", "1", "--exit-code", "0")["starts"] == 1
    large = write(*HOURLY, "request_cpus = 3", "queue 2")
    assert job("--spec", large, "--days", "1", "--machine", "cpus=4,memory=8G")["starts"] == 24
    assert job("--spec", large, "--days", "1", "--machine", "cpus=6,memory=8G")["starts"] == 48
    none = simulate("--spec", large, "--days", "1", "--machine", "cpus=2,memory=8G")
    assert "no simulated machine meets" in none.err
    knob = ("--knob", "SHADOW_QUEUE_UPDATE_INTERVAL=5", "--trace", "flow")
    assert simulate("--spec", write(*HOURLY, "queue"), "--days", "1", *knob).out.count("shadow -> schedd: update") > 48


def test_all_wrong_options_are_said_at_once() -> None:
    """Each with its text underlined."""
    wrong = ("--fail", "x", "--machine", "cpu=3", "--exit-code", "300", "--knob", "A=1", "--preempt", "101%@5")
    result = simulate("--spec", "-", *wrong)
    assert result.status == 2
    for name in ("--fail:1:1", "--machine:1:1", "--exit-code:1:1", "--knob:1:1", "--preempt:1:1"):
        assert name in result.err
