"""`crondor check --baseline`: old findings stay quiet, new ones fail."""

import json
from pathlib import Path

import pytest

from tests.cli.running import Result, at_now, crondor

SIXTY = (
    "executable = /bin/true",
    "cron_minute = 60",
    "cron_hour = 4",
    "cron_window = 300",
    "on_exit_remove = ExitCode == 77",
)
LINES = (*SIXTY, "periodic_release = HoldReasonCode == 20", "queue")
KNOWN = "known.json"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with two submit files, each with a fault."""
    (tmp_path / "jobs").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        write(f"jobs/{name}.sub", *LINES)
    return tmp_path


def write(name: str, *lines: str) -> None:
    """Write a file of some lines."""
    Path(name).write_text("\n".join((*lines, "")), encoding="utf-8")


def check(*arguments: str, config: bool = False) -> Result:
    """Run `crondor check` at NOW."""
    return at_now("check", *([] if config else ["--no-config"]), *arguments)


def known(name: str = KNOWN) -> list[dict[str, object]]:
    """Return the findings of a baseline."""
    found: list[dict[str, object]] = json.loads(Path(name).read_text(encoding="ascii"))["findings"]
    return found


def test_a_project_takes_up_checking() -> None:
    """What was there is written down; lines move; a new fault fails, and only it is shown; what is mended is told."""
    assert check("jobs").status == 1
    written = check("jobs", "--baseline", KNOWN, "--update-baseline")
    assert (written.status, written.out) == (0, "known.json: 2 findings of 2 files recorded\n")
    quiet = check("jobs", "--baseline", KNOWN)
    assert (quiet.status, quiet.out) == (0, "2 files checked: no new findings; 2 in the baseline\n")
    write("jobs/a.sub", "# moved", "", *LINES[:-1], "cron_month = 13", "queue")
    found = check("jobs", "--baseline", KNOWN)
    assert found.status == 1
    assert [line for line in found.lines if "[CRN" in line] == [found.lines[0]]
    assert found.lines[0].startswith("jobs/a.sub:9:14: error: month 13 is out of range")
    assert found.lines[-1] == "2 files checked: 1 error; 2 more in the baseline"
    write("jobs/a.sub", *(line.replace("60", "0") for line in LINES))
    mended = check("jobs", "--baseline", KNOWN)
    assert (mended.status, mended.err) == (0, "1 finding of known.json is gone: --update-baseline removes them\n")
    check("jobs", "--baseline", KNOWN, "--update-baseline")
    assert [row["file"] for row in known()] == ["jobs/b.sub"]


def test_a_file_has_one_name_wherever_the_command_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As seen from the folder of the baseline."""
    check("jobs/a.sub", "--baseline", KNOWN, "--update-baseline")
    for path in ("jobs/a.sub", "./jobs/../jobs/a.sub", str(Path("jobs/a.sub").absolute())):
        assert check(path, "--baseline", KNOWN).status == 0
    monkeypatch.chdir("jobs")
    assert check("a.sub", "--baseline", f"../{KNOWN}").status == 0
    assert check("b.sub", "--baseline", f"../{KNOWN}").status == 1


def test_an_update_keeps_what_was_not_looked_at() -> None:
    """A hook that sees some files only must not forget the others; of files that are gone nothing is kept."""
    check("jobs", "--baseline", KNOWN, "--update-baseline")
    write("jobs/a.sub", *LINES[:-1], "cron_month = 13", "queue")
    check("jobs/a.sub", "--baseline", KNOWN, "--update-baseline")
    assert [(row["file"], row["line"]) for row in known()] == [
        ("jobs/a.sub", "cron_minute = 60"),
        ("jobs/a.sub", "cron_month = 13"),
        ("jobs/b.sub", "cron_minute = 60"),
    ]
    Path("jobs/b.sub").unlink()
    check("jobs/a.sub", "--baseline", KNOWN, "--update-baseline")
    assert {row["file"] for row in known()} == {"jobs/a.sub"}


def test_a_finding_in_a_shared_file_is_known_to_all_that_include_it() -> None:
    """It is one of that file, and forgotten when it is mended there."""
    write("jobs/common.inc", "cron_minute = 60")
    for name in ("a", "b"):
        write(f"jobs/{name}.sub", "include : common.inc", *(line for line in LINES if "60" not in line))
    check("jobs", "--baseline", KNOWN, "--update-baseline")
    assert [(row["file"], row["count"]) for row in known()] == [("jobs/common.inc", 1)]
    assert check("jobs", "--baseline", KNOWN).status == 0
    write("jobs/common.inc", "cron_minute = 6")
    check("jobs", "--baseline", KNOWN, "--update-baseline")
    assert known() == []


def test_what_is_known_is_counted_and_not_shown() -> None:
    """In all forms."""
    check("jobs", "--baseline", KNOWN, "--update-baseline")
    files = check("jobs", "--baseline", KNOWN, "--format", "json").data["files"]
    assert [(file["findings"], file["baseline"]) for file in files] == [([], 1), ([], 1)]
    assert check("jobs", "--baseline", KNOWN, "--format", "sarif").data["runs"][0]["results"] == []
    assert check("jobs", "--baseline", KNOWN, "--format", "github").out == ""
    assert check("jobs", "--baseline", KNOWN, "--statistics").lines == [
        "2 files checked: no new findings; 2 in the baseline"
    ]


def test_what_is_known_is_not_cured() -> None:
    """--fix leaves it alone, as everything that is not shown."""
    write("jobs/a.sub", *(line.replace("cron_minute = 60", "cron_minutes = 0") for line in LINES))
    assert "+cron_minute = 0" in check("jobs", "--fix").out
    check("jobs", "--baseline", KNOWN, "--update-baseline")
    assert check("jobs", "--fix", "--baseline", KNOWN).out == ""


def test_the_setting_names_a_baseline_below_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read for all commands below; it is never one to write."""
    check("jobs", "--baseline", KNOWN, "--update-baseline")
    write("crondor.toml", "[check]", f'baseline = "{KNOWN}"')
    monkeypatch.chdir("jobs")
    assert check(config=True).status == 0
    refused = check("--update-baseline", config=True)
    assert refused.status == 2
    assert "a setting cannot choose a file to write" in refused.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--update-baseline",), "--update-baseline needs --baseline FILE"),
        (("--baseline", "none.json"), "there is no baseline 'none.json': create it with --update-baseline"),
        (("--baseline", "jobs/a.sub"), "jobs/a.sub:1:1: this is not JSON"),
        (("--baseline", "jobs/a.sub", "--update-baseline"), "jobs/a.sub:1:1: this is not JSON"),
        (("--baseline", "jobs"), "cannot read 'jobs'"),
        (("--baseline", "no/where.json", "--update-baseline"), "cannot write 'no/where.json'"),
        (("--baseline", KNOWN, "--update-baseline", "--fix"), "one after the other"),
    ],
)
def test_wrong_usage_says_what_is_wrong(arguments: tuple[str, ...], message: str) -> None:
    """With 2; a file that is something else is not written over."""
    before = Path("jobs/a.sub").read_bytes()
    result = check("jobs", *arguments)
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert Path("jobs/a.sub").read_bytes() == before


def test_routes_have_baselines_too() -> None:
    """With the same options."""
    write("r.conf", "JOB_ROUTER_ROUTE_NAMES = Nowhere")
    words = ("route", "check", "--no-config", "--config", "r.conf", "--baseline", KNOWN)
    assert crondor(*words, "--update-baseline").status == 0
    assert known()
    assert crondor(*words).status == 0
    write("r.conf", "# moved", "JOB_ROUTER_ROUTE_NAMES = Nowhere Else")
    assert crondor(*words).status == 1
