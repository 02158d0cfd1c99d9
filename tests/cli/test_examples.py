"""The submit files of examples/, and the commands that show them off."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.running import EXAMPLES, ROOT, at_now, process


def test_there_are_examples() -> None:
    """One for each usual need, each listed in examples/README.md."""
    assert len(EXAMPLES) >= 10
    listed = re.findall(r"\[(\S+\.sub)\]\(\1\)", (ROOT / "examples" / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == [path.name for path in EXAMPLES]


def given(path: Path) -> tuple[str, ...]:
    """Return the file as an option; compiled lines that say so are for a host in UTC."""
    is_utc = "on a host in UTC" in path.read_text(encoding="utf-8")
    return ("--spec", str(path), *(("--tz", "UTC") if is_utc else ()))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs(path: Path) -> None:
    """Status 0, nothing to complain of, and at least one run for each of its jobs."""
    result = at_now("next", *given(path), "--format", "json")
    assert (result.status, result.err) == (0, "")
    assert result.data["diagnostics"] == []
    assert result.jobs
    assert all(job["runs"] and not job["diagnostics"] for job in result.jobs)
    table = at_now("next", *given(path))
    assert table.status == 0
    assert re.search(r"^ +1  \w{3} 20\d\d-\d\d-\d\d \d\d:\d\d [+-]\d{4}  in ", table.out, re.MULTILINE)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_schedd_runs_an_example_as_the_manual_says(path: Path) -> None:
    """The spellings are portable, and the requirements of the one that needs it keep the wrong times out."""
    codes = {
        difference["code"]
        for job in at_now("next", *given(path), "-n", "60", "--format", "json").jobs
        for difference in job["differences"]
    }
    assert codes == set()


def test_the_cure_of_the_weekdays_is_the_clause_that_is_printed(tmp_path: Path) -> None:
    """The example without its requirements gets a cure with the same effect: the manual's runs, and no others."""
    text = (ROOT / "examples" / "weekdays.sub").read_text(encoding="utf-8")
    path = tmp_path / "job.sub"
    path.write_text(re.sub("(?m)^requirements.*", "", text), encoding="utf-8")
    job = at_now("next", "--spec", str(path), "--format", "json").jobs[0]
    assert job["kept_out"] is None
    field, clause = (difference["write"] for difference in job["differences"])
    path.write_text(re.sub("(?m)^requirements.*", f"{field}\nrequirements = {clause}", text), encoding="utf-8")
    cured = at_now("next", "--spec", str(path), "-n", "60", "--format", "json").jobs[0]
    own = at_now("next", "--spec", str(ROOT / "examples" / "weekdays.sub"), "-n", "60", "--format", "json").jobs[0]
    assert cured["differences"] == []
    times = [[row["htcondor"]["time"] for row in each["runs"] if row["htcondor"]] for each in (cured, own)]
    assert times[0] == times[1]


def test_the_command_of_make_demo_works() -> None:
    """As the Makefile has it, from the root of the repository."""
    recipe = re.search(r"^demo:.*\n\t\$\(BIN\)/crondor (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None
    ended = process(*shlex.split(recipe[1]), folder=ROOT)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"  schedule   at 02:30 every day\n" in ended.stdout
