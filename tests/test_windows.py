"""What can be shown without Windows: commands and library run where what it has not is gone (tests/as_windows.py)."""

from __future__ import annotations

import ntpath
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from crondor.macro import files
from crondor.macro.files import FileRefused, Files

ROOT = Path(__file__).resolve().parent.parent
SUBMIT = "executable = /bin/date\r\ninclude : when.inc\r\ncron_window = 600\r\nqueue\r\n"
BAD = "executable = /bin/date\r\ncron_minutes = 0\r\ncron_hour = 3\r\nqueue\r\n"
ROUTES = """\
JOB_ROUTER_ROUTE_NAMES = Site
JOB_ROUTER_ROUTE_Site @=end
  REQUIREMENTS true
  UNIVERSE vanilla
  SET Site "ä"
@end
"""
ADS = 'ClusterId = 7\nProcId = 0\nOwner = "bob"\nJobStatus = 1\nJobUniverse = 5\nWantJobRouter = true\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a submit file, what it includes, an ad, a route and a transform."""
    for name, text in {
        "job.sub": SUBMIT,
        "when.inc": "cron_hour = 3\r\n",
        "bad.sub": BAD,
        "jobs.ads": ADS,
        "routes.conf": ROUTES,
        "set.xform": 'SET Grey "ü"\n',
        "crontab": "30 2 * * * /usr/bin/backup\n",
    }.items():
        (tmp_path / name).write_bytes(text.encode())
    return tmp_path


def as_windows(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command there."""
    program = [sys.executable, "-X", "warn_default_encoding", str(ROOT / "tests/as_windows.py")]
    return subprocess.run(
        [*program, *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env={"HOME": str(folder), "USERNAME": "bob", "PATH": os.defpath},
        check=False,
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("next job.sub -n 1", "02:50        03:10"),
        ("next --previous job.sub -n 1", "03:59"),
        ("next --at tomorrow", "deferral_time"),
        ("explain job.sub", "every minute"),
        ("diff job.sub job.sub", "same"),
        ("agenda job.sub", "job.sub:4"),
        ("simulate job.sub", "job.sub:4"),
        ("preview job.sub", "accepted"),
        ("compile daily", "cron_hour"),
        ("import crontab crontab", "cron_hour"),
        ("export job.sub --to crontab", "* 3 * * *"),
        ("classad eval 1+2", "3"),
        ("classad transform --rules set.xform jobs.ads", "ü"),
        ("route explain --summary --config routes.conf jobs.ads", "Site"),
        ("route apply --config routes.conf jobs.ads", "ä"),
        ("queue submit --queue queue job.sub", "1 job submitted"),
        ("queue status --queue queue", "no job"),
        ("queue advertise job.sub", "CrondorNext"),
        ("config", "simulate.skew"),
        ("config schema next", "$schema"),
    ],
)
def test_commands_work(line: str, said: str, folder: Path) -> None:
    """Each does its work, and says nothing else: an included file is read, whatever line ends it has."""
    name, *rest = line.split()
    timed = ["--now", "2026-11-20T12:00", "--tz", "UTC"] if {"job.sub", "--at"}.intersection(rest) else []
    done = as_windows(folder, name, *rest, *timed)
    assert (done.returncode, said in done.stdout) == (0, True), done.stdout + done.stderr
    assert "Traceback" not in done.stderr


LIBRARY = """
from pathlib import Path
from types import SimpleNamespace

import crondor
from crondor.classad import ClassAd, Expression
from crondor.compile.meaning import read_schedule
from crondor.config import read_config
from crondor.router import load_table
from crondor.transform import Transform

now = 1795195625
text = "executable = /bin/date\\ncron_hour = 25\\nqueue\\n"
settings = crondor.CheckSettings(now=now, zone="UTC")
print(*(finding.diagnostic.code for finding in crondor.check_submit(text, settings).findings))
file = crondor.read_submit(crondor.Source(text.replace("25", "3"), "job.sub"))
print(*(made.ad.text("CronHour") for made in crondor.job_ads(file)))
print(Expression.parse(crondor.Source("strcat(1, 2)")).evaluate())
print(crondor.Recurrence(crondor.CronSpec.from_line("0 6 * * *"), "UTC").next(now))
print(read_schedule("every day at 06:00", zone="UTC").next(now))
print(Transform.parse("SET Big true\\n").apply(ClassAd()).ad.text("Big"))
table = load_table(read_config(Path("routes.conf").read_text(encoding="utf-8")))
print(*(route.name for route in table.routes))
"""


def test_the_library_works(folder: Path) -> None:
    """Engine, check, submit files, ClassAds, schedules in words, transforms, routes."""
    (folder / "program.py").write_text(LIBRARY, encoding="utf-8")
    done = as_windows(folder, "program.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["CRN101", "CRN401", '"3"', "12", "1795240800", "1795240800", "true", "Site"]


def test_a_fix_is_written(folder: Path) -> None:
    """The file is put in the place of the old one, with its line ends."""
    done = as_windows(folder, "check", "--fix", "--write", "--no-files", "bad.sub")
    assert "1 file changed" in done.stderr, done.stdout + done.stderr
    assert (folder / "bad.sub").read_bytes() == BAD.replace("minutes", "minute").encode()


@pytest.mark.parametrize("line", ["run job.sub", "route run --once --config routes.conf --queue queue"])
def test_what_needs_unix_says_so(line: str, folder: Path) -> None:
    """One line and status 2."""
    done = as_windows(folder, *line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert "needs a system with processes as Linux has them" in done.stderr


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("more.inc", r"C:\lab\jobs\more.inc"),
        ("sub/more.inc", r"C:\lab\jobs\sub\more.inc"),
        (r"sub\more.inc", r"C:\lab\jobs\sub\more.inc"),
        (r"C:\lab\jobs\more.inc", r"C:\lab\jobs\more.inc"),
        ("../more.inc", None),
        (r"..\jobs2\more.inc", None),
        (r"D:\more.inc", None),
    ],
)
def test_files_are_looked_for_below_a_folder_of_windows(
    path: str, real: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Backslashes and drives are no way out, and no reason to refuse."""
    monkeypatch.setattr(files, "os", SimpleNamespace(path=ntpath, sep="\\"))
    below = Files([r"C:\lab\jobs"], base=r"C:\lab\jobs")
    if real is not None:
        assert below.real(path) == real
        return
    with pytest.raises(FileRefused) as refused:
        below.real(path)
    assert refused.value.is_outside
