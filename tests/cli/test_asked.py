"""--schedule TEXT: next, prev, explain, diff, agenda and export asked about a schedule in any language."""

import json
from pathlib import Path

import pytest

from tests.cli.running import crondor

NOW = ("--now", "2026-12-01", "--tz", "UTC")
LAST_FRIDAY = """\
executable = x.sh
cron_minute = 0
cron_hour = 18
cron_day_of_week = 5
requirements = int(formatTime(DeferralTime + 604800, "%d")) <= 7
queue
"""


def test_next_shows_the_runs_in_both_zones() -> None:
    """The schedule's own clock, and the submit host's beside it."""
    result = crondor("next", "--schedule", "0 18 * * 5L except holidays:CH", "-n", "2", "--zone", "Europe/Zurich", *NOW)
    assert result.status == 0
    assert "at 18:00 on the last Friday of the month, except on public holidays of Switzerland" in result.out
    assert "Fri 2027-01-29 18:00 +0100" in result.out
    assert "Fri 2027-01-29 17:00 +0000" in result.out
    assert "2026-12-25" not in result.out


def test_next_and_prev_as_data() -> None:
    """JSON, CSV and epoch seconds."""
    data = json.loads(crondor("next", "--schedule", "every day at 9am", "-n", "1", "--format", "json", *NOW).out)
    assert data["jobs"] == []
    assert data["schedules"][0]["runs"] == [{"time": 1796115600, "local": "2026-12-01T09:00:00+00:00"}]
    assert crondor("next", "--schedule", "every day at 9am", "-n", "1", "--format", "epoch", *NOW).out == "1796115600\n"
    line = "every day at 9am,,1,1796115600,2026-12-01T09:00:00+00:00,,,,,\n"
    assert line in crondor("next", "--schedule", "every day at 9am", "-n", "1", "--format", "csv", *NOW).out
    data = json.loads(crondor("next", "--previous", "--schedule", "every day at 9am", "--format", "json", *NOW).out)
    assert data["schedules"][0]["runs"][0]["local"] == "2026-11-30T09:00:00+00:00"


def test_next_says_where_knowledge_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A calendar file of single events is known to its end."""
    monkeypatch.chdir(tmp_path)
    event = "BEGIN:VEVENT\nDTSTART:20261202T090000Z\nDTEND:20261202T100000Z\nUID:1\nEND:VEVENT\n"
    Path("downtimes.ics").write_text(f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n{event}END:VCALENDAR\n", "utf-8")
    result = crondor("next", "--schedule", "every hour except downtimes.ics", "-n", "100", *NOW)
    assert "Wed 2026-12-02 08:00 +0000" in result.out
    assert "Wed 2026-12-02 09:00 +0000" not in result.out
    assert "no run is known beyond: the last event of downtimes.ics ends 2026-12-02 10:00" in result.err
    result = crondor("next", "--schedule", "every hour except ../elsewhere.ics", *NOW)
    assert result.status == 1
    assert "is outside of the folders" in result.err


def test_a_zone_that_is_none_does_not_silence_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of the zone database or a long name in a calendar is an error of the file that names it."""
    monkeypatch.chdir(tmp_path)
    for number, zone in enumerate(("America", "Z" * 300)):
        event = f"BEGIN:VEVENT\nDTSTART;TZID={zone}:20261202T090000\nUID:1\nEND:VEVENT\n"
        Path(f"{number}.ics").write_text(f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n{event}END:VCALENDAR\n", "utf-8")
        schedule = f"# crondor: schedule = every hour except {number}.ics\n"
        Path(f"{number}.sub").write_text(f"{schedule}executable = /bin/true\ncron_minute = 0\nqueue\n", "utf-8")
    Path("z.sub").write_text("executable = /bin/true\ncron_minute = 77\nqueue\n", "utf-8")
    result = crondor("check", "0.sub", "1.sub", "z.sub", *NOW)
    assert result.status == 1
    assert result.out.count("unknown zone") == 2
    assert "z.sub:2" in result.out


def test_a_text_that_is_no_schedule_is_a_finding() -> None:
    """All its faults at once, with places; and the other options are refused."""
    result = crondor("next", "--schedule", "every mondy at 25:00 except holidays:XX", *NOW)
    assert result.status == 1
    assert result.err.count("error: ") == 3
    assert "did you mean `monday`?" in result.err
    assert crondor("next", "--schedule", "@daily", "--crontab", "* * * * *").status == 2
    assert crondor("next", "--zone", "UTC", "--crontab", "* * * * *").status == 2
    assert "did you mean Europe/Berlin?" in crondor("next", "--schedule", "@daily", "--zone", "Berlin").err


def test_explain_says_how_often_and_whether_it_fires() -> None:
    """With --at the answer for one time."""
    result = crondor("explain", "--schedule", "Mon..Fri 09:00 except holidays:DE", "--at", "2026-12-25 09:00", *NOW)
    assert result.status == 0
    assert "2026-12-25 09:00 +0000: it does not fire" in result.out
    data = json.loads(crondor("explain", "--schedule", "@daily", "--format", "json", *NOW).out)
    assert data["schedules"][0]["canonical"] == "0 0 * * *"
    assert data["schedules"][0]["year"]["runs"] == 365


def test_diff_is_the_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file whose requirements leave the last Fridays runs as was asked; with holidays it does not."""
    monkeypatch.chdir(tmp_path)
    Path("nightly.sub").write_text(LAST_FRIDAY, "utf-8")
    result = crondor("diff", "--schedule", "0 18 * * 5L", "nightly.sub", *NOW)
    assert result.status == 0
    assert "the same: both have the same 120 times" in result.out
    result = crondor("diff", "--schedule", "0 18 * * 5L except 2026-12-25", "nightly.sub", "--format", "json", *NOW)
    assert result.status == 1
    partings = json.loads(result.out)["schedules"][0]["partings"]
    assert partings == [{"time": 1798221600, "local": "2026-12-25T18:00:00+00:00", "fires": "second"}]
    assert crondor("diff", "--schedule", "@daily", "a", "b").status == 2
    assert crondor("diff", "--schedule", "no schedule", "nightly.sub").status == 2
    assert crondor("diff", "--schedule", "@daily", "none.sub").status == 2


def test_diff_sees_what_the_real_schedd_does_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its dialect a weekly job runs on the last day of a month as well, which these requirements do not stop."""
    monkeypatch.chdir(tmp_path)
    Path("nightly.sub").write_text(LAST_FRIDAY, "utf-8")
    schedd = ("--dialect", "htcondor", "--until", "2027-02-01", "-n", "1")
    result = crondor("diff", "--schedule", "0 18 * * 5L", "nightly.sub", *schedd, *NOW)
    assert result.status == 1
    assert ">  Thu 2026-12-31 18:00 +0000" in result.out
    assert "1 time up to there is the same" in result.out


def test_diff_joins_the_jobs_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of several jobs may have a part of the times."""
    monkeypatch.chdir(tmp_path)
    head = "executable = x.sh\ncron_minute = 0\n"
    Path("two.sub").write_text(f"{head}cron_hour = 9\nqueue\ncron_hour = 17\nqueue\n", "utf-8")
    assert crondor("diff", "--schedule", "every day at 09:00 and 17:00", "two.sub", *NOW).status == 0
    result = crondor("diff", "--schedule", "every day at 09:00", "two.sub", "-n", "1", *NOW)
    assert result.status == 1
    assert ">  Tue 2026-12-01 17:00 +0000" in result.out


def test_agenda_counts_it_with_the_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone, or beside files."""
    monkeypatch.chdir(tmp_path)
    Path("nightly.sub").write_text(LAST_FRIDAY, "utf-8")
    text = "every 90 minutes from 2026-12-01"
    alone = json.loads(crondor("agenda", "--schedule", text, "--days", "1", "--format", "json", *NOW).out)
    assert (alone["job_count"], alone["starts"]) == (1, 15)  # the one at this moment is no coming one
    month = ("--days", "30", "--format", "json", *NOW)
    both = json.loads(crondor("agenda", "--schedule", text, "nightly.sub", *month).out)
    assert both["job_count"] == 2
    assert [collision["local"] for collision in both["collisions"]] == ["2026-12-25T18:00:00+00:00"]


def test_export_writes_a_calendar_or_a_line() -> None:
    """A crontab line only where five fields say it."""
    out = crondor("export", "--schedule", "every 2 weeks from 2026-12-01", "--to", "ics", "-n", "2", *NOW).out
    assert [line for line in out.splitlines() if line.startswith("DTSTART")] == [
        "DTSTART:20261215T000000Z",
        "DTSTART:20261229T000000Z",
    ]
    assert crondor("export", "--schedule", "@daily", "--to", "crontab", "--command", "x", *NOW).out.endswith(
        "0 0 * * * x\n"
    )
    result = crondor("export", "--schedule", "0 18 * * 5L", "--to", "crontab", "--command", "x", *NOW)
    assert result.status == 1
    assert "five cron fields cannot express this schedule" in result.err
