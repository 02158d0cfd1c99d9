"""What can be shown without Windows: commands and library run where what it has not is gone (tests/as_windows.py)."""

import json
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a submit file, what it includes, an ad, a route and a transform."""
    made = tmp_path_factory.mktemp("windows")
    for name, text in {
        "job.sub": SUBMIT,
        "when.inc": "cron_hour = 3\r\n",
        "bad.sub": BAD,
        "jobs.ads": ADS,
        "routes.conf": ROUTES,
        "set.xform": 'SET Grey "ü"\n',
        "crontab": "30 2 * * * /usr/bin/backup\n",
    }.items():
        (made / name).write_bytes(text.encode())
    return made


def as_windows(folder: Path, program: str) -> str:
    """Run a program there, and return what it prints."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", str(ROOT / "tests/as_windows.py"), "program.py"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env={"HOME": str(folder), "USERNAME": "bob", "PATH": os.defpath},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


COMMANDS = """
import io
import json
import sys
from crondor_cli.main import main

found = []
screen = sys.stdout
for line in {lines!r}:
    sys.argv = ["crondor", *line.split()]
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    try:
        main()
    except SystemExit as end:
        found.append([end.code, *(each.buffer.getvalue().decode("utf-8") for each in (sys.stdout, sys.stderr))])
sys.stdout, sys.stderr = screen, sys.__stderr__
print(json.dumps(found))
"""
WORK = {
    "next job.sub -n 1": "02:50        03:10",
    "next --previous job.sub -n 1": "03:59",
    "next --at tomorrow": "deferral_time",
    "explain job.sub": "every minute",
    "diff job.sub job.sub": "same",
    "agenda job.sub": "job.sub:4",
    "simulate job.sub": "job.sub:4",
    "preview job.sub": "accepted",
    "compile daily": "cron_hour",
    "import crontab crontab": "cron_hour",
    "export job.sub --to crontab": "* 3 * * *",
    "classad eval 1+2": "3",
    "classad transform --rules set.xform jobs.ads": "ü",
    "route explain --summary --config routes.conf jobs.ads": "Site",
    "route apply --config routes.conf jobs.ads": "ä",
    "queue submit --queue queue job.sub": "1 job submitted",
    "queue status --queue other": "no job",
    "queue advertise job.sub": "CrondorNext",
    "config": "simulate.skew",
    "config schema next": "$schema",
    "check --fix --write --no-files bad.sub": "",
}
REFUSED = ("run job.sub", "route run --once --config routes.conf --queue queue")


@pytest.fixture(scope="module")
def ended(folder: Path) -> dict[str, tuple[int, str, str]]:
    """Return the status of each command, what it printed and what it said."""
    lines = [
        f"{line} --now 2026-11-20T12:00 --tz UTC" if {"job.sub", "--at"}.intersection(line.split()) else line
        for line in WORK
    ]
    found = json.loads(as_windows(folder, COMMANDS.format(lines=[*lines, *REFUSED])))
    return dict(zip((*WORK, *REFUSED), found, strict=True))


@pytest.mark.parametrize("line", WORK)
def test_commands_work(line: str, ended: dict[str, tuple[int, str, str]]) -> None:
    """Each does its work, and says nothing else: an included file is read, whatever line ends it has."""
    status, out, err = ended[line]
    assert (status, WORK[line] in out, "Traceback" in err) == (int("--fix" in line), True, False), out + err


def test_a_fix_is_written(ended: dict[str, tuple[int, str, str]], folder: Path) -> None:
    """The file is put in the place of the old one, with its line ends."""
    assert any("1 file changed" in err for _, _, err in ended.values())
    assert (folder / "bad.sub").read_bytes() == BAD.replace("minutes", "minute").encode()


@pytest.mark.parametrize("line", REFUSED)
def test_what_needs_unix_says_so(line: str, ended: dict[str, tuple[int, str, str]]) -> None:
    """One line and status 2."""
    status, out, err = ended[line]
    assert (status, out) == (2, "")
    assert "needs a system with Linux-like processes" in err


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
    expected = ["CRN101", "CRN401", '"3"', "12", "1795240800", "1795240800", "true", "Site"]
    assert as_windows(folder, LIBRARY).split() == expected


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
