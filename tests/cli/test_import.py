"""`crondor import crontab`."""

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Write
from tests.cli.running import NOW, ZONE, at_now, crondor

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
