"""`crondor export`."""

import sys
from pathlib import Path
from unittest.mock import patch

import icalendar
import pytest

from tests.cli.conftest import Write
from tests.cli.running import EXAMPLES, NOW, NOW_EPOCH, ROOT, ZONE, at_now, crondor

JOB = ("universe = local", "executable = /bin/df", "arguments = -h", "cron_minute = 30", "cron_hour = 6", "queue")


def events(text: str) -> list[icalendar.Event]:
    """Return the events of a calendar."""
    calendar = icalendar.Calendar.from_ical(text)
    assert isinstance(calendar, icalendar.Calendar)
    return list(calendar.events)


def test_a_job_becomes_a_line(write: Write) -> None:
    """With its schedule in words, and what is lost on stderr."""
    path = write(*JOB)
    result = at_now("export", "--spec", path, "--to", "crontab")
    assert result.status == 0
    assert result.lines == [f"# {path}:6:1: at 06:30 every day", "30 6 * * * /bin/df -h"]
    assert "[export-window]" in result.err


def test_every_job_has_a_line() -> None:
    """Of several queue items too."""
    result = at_now("export", "--spec", str(ROOT / "examples" / "several-jobs.sub"), "--to", "crontab")
    assert [line for line in result.lines if line[0] != "#"] == [
        "0 6 * * * /bin/echo morning",
        "30 12 * * * /bin/echo noon",
        "45 22 * * * /bin/echo evening",
    ]


@pytest.mark.parametrize("path", [path for path in EXAMPLES if path.name != "qdate.sub"], ids=lambda path: path.name)
def test_the_examples_have_calendars(path: Path) -> None:
    """Their events are the runs that next shows."""
    host = ("--tz", "UTC") if "on a host in UTC" in path.read_text(encoding="utf-8") else ()  # compiled for that
    result = at_now("export", "--spec", str(path), *host, "--to", "ics", "-n", "3")
    assert (result.status, result.err) == (0, "")
    runs = at_now("next", "--spec", str(path), *host, "-n", "3", "--dialect", "manual", "--format", "epoch").lines
    assert sorted(int(event["dtstart"].dt.timestamp()) for event in events(result.out)) == sorted(map(int, runs))


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (("executable = /bin/x", "deferral_time = 4000000000", "queue"), "export-once"),
        (("executable = /bin/x", "cron_day_of_month = 31", "cron_month = 2", "queue"), "CRN201"),
        (("cron_minute = 0", "queue"), "export-command"),
        (("executable = /bin/x", "deferral_time = QDate + 60", "queue"), "export-once"),
        (("executable = /bin/x", 'arguments = "a', "cron_minute = 0", "queue"), "CRN017"),
        (("executable = /bin/x", "cron_minute = 60", "queue"), "CRN101"),
    ],
)
def test_a_job_that_cron_cannot_run(write: Write, lines: tuple[str, ...], code: str) -> None:
    """Status 1, nothing printed, and the reason."""
    result = at_now("export", "--spec", write(*lines), "--to", "crontab")
    assert (result.status, result.out) == (1, "")
    assert "error: " in result.err
    assert f"[{code}]" in result.err


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (("universe = vanilla", "executable = /bin/x", "cron_minute = 0", "queue"), "export-universe"),
        (("executable = x", "cron_minute = 0", "queue"), "export-relative"),
        (("executable = /bin/x", "cron_minute = 0", "queue 3"), "export-count"),
        (("executable = /bin/x", "cron_minute = 0", "requirements = Memory > 1", "queue"), "export-left-out"),
        (("executable = /bin/x", "cron_minute = 30", "cron_hour = 2", "queue"), "clock-changes"),
    ],
)
def test_what_is_lost_is_said(write: Write, lines: tuple[str, ...], code: str) -> None:
    """The line is written nevertheless."""
    result = at_now("export", "--spec", write(*lines), "--to", "crontab")
    assert result.status == 0
    assert f"[{code}]" in result.err


def test_schedules_without_a_file_need_a_command() -> None:
    """The text goes into the line as it is."""
    result = at_now("export", "--crontab", "0 6 * * 1", "--command", "a | b 50%", "--to", "crontab")
    assert (result.status, result.lines[-1]) == (0, "0 6 * * 1 a | b 50\\%")
    result = at_now("export", "--minute", "0", "--to", "crontab")
    assert result.status == 2
    assert "--command" in result.err


def test_an_imported_line_comes_back() -> None:
    """With its variables."""
    imported = crondor("import", "crontab", "-", stdin="A=1\n0 6 * * 1-5 x | y '$(z)' 50\\%\n").out
    result = at_now("export", "--spec", "-", "--to", "crontab", stdin=imported)
    assert [line for line in result.lines if line[0] != "#"] == [
        "PATH=/usr/bin:/bin",
        "SHELL=/bin/sh",
        "A=1",
        "0 6 * * 1-5 x | y '$(z)' 50\\%",
    ]


@pytest.mark.parametrize(
    ("fields", "written"),
    [("*/7 9 ? JAN *", "*/7 9 * 1 *"), ("0 6 * * 1-5", "0 6 * * 1-5"), ("0 18 * * 5L", None), ("0 0 */2 * 1", None)],
)
def test_a_compiled_file_is_exported_as_its_schedule_says(fields: str, written: str | None) -> None:
    """Its fields hold more times, from which a crontab cannot keep a job; what five fields cannot say is refused."""
    imported = crondor("import", "crontab", "-", "--tz", ZONE, "--now", NOW, stdin=f"{fields} x\n").out
    result = at_now("export", "--spec", "-", "--to", "crontab", stdin=imported)
    if written is None:
        assert (result.status, "five cron fields cannot express this schedule" in result.err) == (1, True)
    else:
        assert (result.status, result.lines[-1]) == (0, f"{written} x")


def test_calendars_end() -> None:
    """By count or by time; the stamp is now."""
    found = events(at_now("export", "--crontab", "0 6 * * *", "--to", "ics", "--until", "2026-11-23").out)
    assert [str(event.start) for event in found] == ["2026-11-21 06:00:00+01:00", "2026-11-22 06:00:00+01:00"]
    assert found[0]["dtstamp"].dt.timestamp() == NOW_EPOCH
    assert len(events(at_now("export", "--crontab", "0 6 * * *", "--to", "ics").out)) == 10


def test_a_rule_stands_for_all_runs() -> None:
    """Where there is one; otherwise the error says what to do."""
    (event,) = events(at_now("export", "--crontab", "0 6 * * 1", "--to", "ics", "--rrule", "-n", "5").out)
    assert event["rrule"].to_ical().decode() == "FREQ=DAILY;COUNT=5;BYMINUTE=0;BYHOUR=6;BYDAY=MO"
    result = at_now("export", "--crontab", "0 6 1 * 1", "--to", "ics", "--rrule")
    assert result.status == 1
    assert "[export-rule]" in result.err


def test_the_library_may_be_missing() -> None:
    """A sentence says what to install."""
    with patch.dict(sys.modules, {"icalendar": None}):
        result = at_now("export", "--crontab", "0 6 * * *", "--to", "ics")
    assert (result.status, result.out) == (1, "")
    assert "pip install '.[ics]'" in result.err


def test_output_goes_into_a_file(tmp_path: Path) -> None:
    """And a folder that is none is wrong usage."""
    path = tmp_path / "x.ics"
    result = at_now("export", "--crontab", "0 6 * * *", "--to", "ics", "-o", str(path))
    assert (result.status, result.out) == (0, "")
    assert len(events(path.read_text(encoding="utf-8"))) == 10
    assert at_now("export", "--crontab", "0 6 * * *", "--to", "ics", "-o", str(tmp_path / "a" / "b")).status == 2


@pytest.mark.parametrize("option", [("-n", "3"), ("--until", "tomorrow"), ("--rrule",)])
def test_a_crontab_has_no_end(option: tuple[str, ...]) -> None:
    """The options of a calendar are wrong usage."""
    assert at_now("export", "--crontab", "0 6 * * *", "--command", "x", "--to", "crontab", *option).status == 2
