"""`crondor export`."""

import re
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


LINES = ("# Every morning", "0 6 * * * report", "*/5 * * * * check")


def test_the_files_are_printed_one_after_the_other(write: Write) -> None:
    """Each under its name; all of it together is still a submit file."""
    result = crondor("import", "crontab", write(*LINES), "--tz", "UTC")
    assert (result.status, result.err) == (0, "")
    assert re.findall(r"^#### (.*)$", result.out, re.MULTILINE) == ["report.sub", "check.sub"]
    assert at_now("next", "--spec", "-", stdin=result.out).status == 0


def test_written_files_are_read_by_next(write: Write, tmp_path: Path) -> None:
    """In a folder that is made, named on stdout."""
    folder = tmp_path / "jobs"
    result = crondor("import", "crontab", write(*LINES), "-o", str(folder))
    assert (result.status, result.lines) == (0, [str(folder / "report.sub"), str(folder / "check.sub")])
    for name in result.lines:
        assert at_now("next", "--spec", name).status == 0


def test_no_file_is_overwritten(write: Write, tmp_path: Path) -> None:
    """Unless --force says so; nothing is written where one file exists."""
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / "check.sub").write_text("mine")
    result = crondor("import", "crontab", write(*LINES), "-o", str(folder))
    assert result.status == 2
    assert "check.sub' exists: nothing was written" in result.err
    assert [path.name for path in folder.iterdir()] == ["check.sub"]
    assert crondor("import", "crontab", write(*LINES), "-o", str(folder), "--force").status == 0
    assert "queue" in (folder / "check.sub").read_text()


def test_force_does_not_follow_links(write: Write, tmp_path: Path) -> None:
    """What a link leads to stays as it is."""
    folder = tmp_path / "jobs"
    folder.mkdir()
    (tmp_path / "outside").write_text("mine")
    (folder / "check.sub").symlink_to(tmp_path / "outside")
    assert crondor("import", "crontab", write(*LINES), "-o", str(folder), "--force").status == 2
    assert (tmp_path / "outside").read_text() == "mine"
    assert (folder / "check.sub").is_symlink()


def test_no_name_leaves_the_folder(tmp_path: Path) -> None:
    """Whatever the command is called."""
    text = "".join(f"0 6 * * * {name} x\n" for name in ("../../up", "/etc/passwd", "..", ".hidden", "a/../b", "~/c"))
    crondor("import", "crontab", "-", "-o", str(tmp_path / "jobs"), stdin=text)
    assert len(list((tmp_path / "jobs").iterdir())) == 6
    assert [path.name for path in tmp_path.iterdir()] == ["jobs"]


@pytest.mark.parametrize("target", ["file", "missing/deep"])
def test_a_folder_that_cannot_be_made(write: Write, tmp_path: Path, target: str) -> None:
    """It is wrong usage, with the reason."""
    (tmp_path / "file").write_text("")
    result = crondor("import", "crontab", write(*LINES), "-o", str(tmp_path / target))
    assert result.status == 2
    assert "cannot write" in result.err


def test_faults_have_places_and_the_rest_is_imported(write: Write) -> None:
    """Status 1, and the good line on stdout."""
    result = crondor("import", "crontab", write("0 25 * * * x", "@reboot y", "0 6 * * * report", name="tab"))
    assert result.status == 1
    assert re.findall(r"tab:(\d+:\d+): error: .*\[(.*)\]", result.err) == [("1:3", "CRN101"), ("2:1", "crontab-reboot")]
    assert "#### report.sub" in result.out


def test_the_name_of_the_file_says_whether_it_has_users(tmp_path: Path) -> None:
    """And --system or --user says otherwise."""
    folder = tmp_path / "cron.d"
    folder.mkdir()
    (folder / "x").write_text("0 6 * * * root run\n")
    path = str(folder / "x")
    commands = {
        option: crondor("import", "crontab", path, *option, "--format", "json").data["files"][0]["command"]
        for option in ((), ("--user",), ("--system",))
    }
    assert commands == {(): "run", ("--user",): "root run", ("--system",): "run"}


def test_options_reach_the_files(write: Write) -> None:
    """Universe, window, prep time and zone."""
    path = write("CRON_TZ=Asia/Tokyo", "0 6 * * * run")
    options = ("--universe", "vanilla", "--window", "70", "--prep-time", "80", "--tz", "Asia/Tokyo")
    result = crondor("import", "crontab", path, *options)
    assert result.err == ""
    (job,) = at_now("next", "--spec", "-", "--format", "json", stdin=result.out).jobs
    assert (job["universe"], job["window"], job["prep_time"]) == ("vanilla", 70, 80)
    elsewhere = crondor("import", "crontab", path, "--tz", ZONE, "--now", NOW)
    assert elsewhere.err == ""
    screen = at_now("next", "--spec", "-", "-n", "1", "--tz", ZONE, stdin=elsewhere.out).out
    assert "1  Fri 2026-11-20 22:00 +0100" in screen  # 06:00 in Tokyo
    (file,) = crondor("import", "crontab", path, "--tz", ZONE, "--now", NOW, "--format", "json").data["files"]
    assert (file["schedule"], file["is_exact"]) == ("0 6 * * * zone Asia/Tokyo", False)


def test_an_empty_crontab_is_a_finding() -> None:
    """It says so."""
    result = crondor("import", "crontab", "-", stdin="# nothing\n")
    assert (result.status, result.out) == (1, "")
    assert "[crontab-empty]" in result.err


@pytest.mark.parametrize("data", [b"\xff\xfe0", b"\0", b"\xff", b""])
def test_what_is_no_text_is_refused(data: bytes) -> None:
    """With a sentence."""
    result = crondor("import", "crontab", "-", stdin=data)
    assert result.status == 1
    assert "error: " in result.err
