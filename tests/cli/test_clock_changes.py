"""Commands beside clock changes: each shows the runs that the clock on the wall has, minute by minute."""

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from crondor.preview.agenda import first_start, members, starts
from crondor.preview.span import AgendaSpan
from crondor.recurrence import Policy
from crondor.schedule import JobSchedule
from crondor.spec import CronSpec
from crondor.times import JobTimes
from tests.cli.running import crondor
from tests.engine.clock_oracle import DAY, GRID, Change, grid_id, runs
from tests.examples import some

ROUTES = """\
JOB_ROUTER_SOURCE_JOB_CONSTRAINT = true
JOB_ROUTER_ROUTE_NAMES = Pool
JOB_ROUTER_ROUTE_Pool @=end
UNIVERSE VANILLA
@end
"""
LINES = ["*/20 {hour} {day} {month} *", "30 {hour},{end} * {month} {weekday}", "*/30 */2 * {month} *"]
ASKED = [
    (zone, change)
    for zone, change in GRID
    if zone in {"Africa/Cairo", "America/St_Johns", "Antarctica/Troll", "Asia/Beirut", "Australia/Lord_Howe"}
    or zone in {"America/Havana", "America/Sao_Paulo", "Europe/Berlin", "Europe/Dublin", "Pacific/Apia"}
]


def lines(change: Change) -> list[str]:
    """Return crontab lines for the hours and days of a change."""
    low, high = change.touched
    days = sorted({low.date(), high.date()})
    values = {"hour": low.hour, "end": high.hour, "month": low.month}
    return [
        line.format(**values, day=",".join(str(day.day) for day in days), weekday=low.isoweekday() % 7)
        for line in LINES
    ]


def of_clock(line: str, zone: str, policy: Policy, change: Change) -> list[int]:
    """Return the runs from two days before a change to two days after it."""
    spec = CronSpec.from_line(line)
    return list(runs(spec, zone, policy, change.instant - 2 * DAY, change.instant + 2 * DAY))


@pytest.mark.parametrize("policy", list(Policy))
@pytest.mark.parametrize(("zone", "change"), ASKED, ids=grid_id)
def test_an_agenda_has_the_starts_of_the_clock(zone: str, change: Change, policy: Policy) -> None:
    """Its bit sets, made day by day, hold the runs of the days about a change and no other."""
    for line in lines(change):
        expected = of_clock(line, zone, policy, change)
        times = JobTimes(JobSchedule(CronSpec.from_line(line), zone=zone, policy=policy))
        for ask in (-DAY, -3600, 0, 1800):
            span = AgendaSpan(max(0, change.instant + ask), 2, zone)
            found = starts(times, first_start(times, span, span.start), span)
            within = [run for run in expected if span.start <= run < span.end]
            assert list(members(found)) == [span.minute(run) for run in within]


@pytest.mark.parametrize(("zone", "change"), some(ASKED, 6), ids=grid_id)
def test_next_prev_and_explain_say_what_the_clock_says(zone: str, change: Change) -> None:
    """The times after an hour before a change, those before an hour after it, and why there is one, in each policy."""
    for line in lines(change):
        for policy in Policy:
            expected = of_clock(line, zone, policy, change)
            low, high = change.instant - 3600, change.instant + 7200
            common = ("--crontab", line, "--tz", zone, "--policy", policy.value, "--format", "json")
            asked = ("--now", str(low), "--dialect", "manual")
            coming = [run for run in expected if run > low]
            (job,) = crondor("next", *common, *asked, "-n", str(max(1, len(coming)))).jobs
            assert [run["manual"]["time"] for run in job["runs"]][: len(coming)] == coming
            past = [run for run in expected if run < high]
            (job,) = crondor("next", "--previous", *common, "--now", str(high), "-n", str(max(1, len(past)))).jobs
            assert [run["time"] for run in job["runs"]][: len(past)] == past[::-1]
            for at in [run for run in expected if low <= run <= high][:2]:
                (job,) = crondor("explain", *common, *asked, "--at", str(at)).jobs
                assert job["at"]["fires"]


@pytest.mark.parametrize(("zone", "change"), some(ASKED, 15), ids=grid_id)
def test_a_plan_of_routes_has_the_runs_of_the_clock(zone: str, change: Change, tmp_path: Path) -> None:
    """From an hour before a change on, whatever becomes of them."""
    config, job = tmp_path / "routes.conf", tmp_path / "job.sub"
    config.write_text(ROUTES)
    for line in lines(change):
        expected = [r for r in of_clock(line, zone, Policy.COMPATIBLE, change) if r > change.instant - 3600]
        names = ("minute", "hour", "day_of_month", "month", "day_of_week")
        fields = [f"cron_{name} = {text}\n" for name, text in zip(names, line.split(), strict=True)]
        job.write_text("".join(["executable = a.sh\n", *fields, "on_exit_remove = false\ncron_window = 60\nqueue\n"]))
        asked = ("--now", str(change.instant - 3600), "--tz", zone, "-n", str(max(1, len(expected))))
        result = crondor("route", "plan", "--config", str(config), "--spec", str(job), *asked, "--format", "json")
        assert [run["time"] for run in result.data["runs"]][: len(expected)] == expected


def test_a_rare_run_behind_a_change_is_shown() -> None:
    """On the morning of the change the run of that day is next, and not that of the year after it."""
    result = crondor(
        "next", "--crontab", "30 2 4 11 *", "--tz", "America/New_York", "--now", "2012-11-04 00:30", "-n", "1"
    )
    expected = datetime(2012, 11, 4, 2, 30, tzinfo=ZoneInfo("America/New_York"))
    assert expected.strftime("%a %Y-%m-%d %H:%M %z") in result.out
