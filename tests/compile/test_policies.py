"""The policies of a submit file's schedule: read, compiled, checked and explained."""

from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import Expression
from crondor.classad.ad import ClassAd
from crondor.compile.markers import read_policies
from crondor.compile.meaning import read_schedule
from crondor.compile.writing.compiler import compile_schedule
from crondor.compile.writing.evaluation import Clause
from crondor.compile.writing.wish import LineOptions
from crondor.diagnostics import Source
from crondor.times import JobTimes
from crondor.zones import zone_of
from tests.cli.running import Result, crondor

NOW = ("--now", "2026-12-01", "--tz", "UTC")
START, END = 1796083200, 1811808000
JOB = "executable = report.sh\nrequirements = Memory > 5\non_exit_remove = (ExitCode == 77)\nqueue\n"
SCHEDULE = "# crondor: schedule = last Friday of the month at 18:00\n"
ALL = {"start_deadline": "10m", "catch_up": "once within 6h", "overlap": "queue", "suspended": "true"}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def text(schedule: str = SCHEDULE, job: str = JOB, **policies: str) -> str:
    """Return a submit file with policies."""
    return schedule + "".join(f"# crondor: {name} = {value}\n" for name, value in policies.items()) + job


def write(content: str, *options: str) -> Result:
    """Compile a file."""
    Path("job.sub").write_text(content, encoding="utf-8")
    return crondor("compile", "--write", "job.sub", *options, *NOW)


def found() -> dict[str, str]:
    """Return the messages of a check about the schedule, by code."""
    (file,) = crondor("check", "job.sub", "--no-files", "--format", "json", *NOW).data["files"]
    ours = ("CRN405", "CRN565", "CRN567")
    return {each["code"]: each["message"] for each in file["findings"] if each["code"] in ours}


def test_policies_become_submit_lines() -> None:
    """Each in HTCondor's words; a second time changes nothing, and a line removed is removed."""
    assert "missed runs: made up by crondor queue guard" in write(text(**ALL)).out
    compiled = Path("job.sub").read_text(encoding="utf-8")
    for line in ("cron_window = 600", "MY.CrondorCatchUp = 21600", 'MY.CrondorOverlap = "queue"', "hold = true"):
        assert f"\n{line}\n" in compiled
    assert "--window" not in compiled
    assert list(found()) == ["CRN405"]
    assert "suspended by this line" in found()["CRN405"]
    assert "nothing was written" in write(compiled).out
    for name, value in ALL.items():
        fewer = compiled.replace(f"# crondor: {name} = {value}\n", "")
        Path("job.sub").write_text(fewer, encoding="utf-8")
        assert name == "start_deadline" or "CRN565" in found()
        assert write(fewer).status == 0
        rest = {key: each for key, each in ALL.items() if key != name}
        fresh = Path("job.sub").read_text(encoding="utf-8")
        assert write(text(**rest)).status == 0
        assert Path("job.sub").read_text(encoding="utf-8") == fresh


def test_lines_without_makeup_are_those_of_htcondor() -> None:
    """`skip` is what HTCondor does, and `false` is its default."""
    write(text())
    plain = Path("job.sub").read_text(encoding="utf-8").split("# crondor: compiled")[1]
    write(text(overlap="skip", suspended="no"))
    assert Path("job.sub").read_text(encoding="utf-8").split("# crondor: compiled")[1] == plain


@pytest.mark.parametrize(
    ("name", "value", "message", "help_text"),
    [
        ("overlap", "allow", "the runs of one job cannot overlap", "submit several jobs"),
        ("overlap", "replace", "HTCondor does not end a run", "timeout(1)"),
        ("overlap", "sip", "overlap has no value `sip`", "write skip or queue"),
        ("suspended", "maybe", "suspended has no value", "write true or false"),
        ("start_deadline", "soon", "`soon` is not a length of time", "such as 10m"),
        ("start_deadline", "400d", "at most 366d", "such as 10m"),
        ("catch_up", "6h", "does not say how old", "write once within 6h"),
        ("catch_up", "once within 0", "does not say how old", "write once within 6h"),
        ("catch_up", "", "does not say how old", "write once within 6h"),
    ],
)
def test_a_bad_value_is_underlined(name: str, value: str, message: str, help_text: str) -> None:
    """With what to write; compile and check say the same."""
    refused = write(text(**{name: value}))
    assert refused.status == 1
    assert message in refused.err
    assert help_text in refused.err
    assert message in found()["CRN567"]


@pytest.mark.parametrize("value", [f"{'1' * 200}x", f"{'1  ' * 200}x", f"1{' ' * 50_000}x"])
def test_a_long_bad_value_is_refused_at_once(value: str) -> None:
    """Neither digits nor blanks are tried in every grouping: each of these took minutes or longer."""
    assert len(read_policies(Source(f"# crondor: start_deadline = {value}\n")).faults) == 1


def test_all_faults_are_reported_at_once() -> None:
    """Twice the same line, an unknown value, and the file's own command."""
    job = f"hold = false\ncron_window = 60\n{JOB}"
    content = text(job=job, **{**ALL, "overlap": "allow"}) + "# crondor: catch_up = once within 1h\n"
    faults = read_policies(Source(content, "job.sub")).faults
    assert sorted((each.span.line, each.span.text) for each in faults if each.span) == [
        (4, "allow"),
        (6, "hold"),
        (7, "cron_window"),
        (12, "once within 1h"),
    ]


def test_what_conflicts_is_refused() -> None:
    """Another window on the command line, a later command, several jobs, no schedule."""
    assert "different windows" in write(text(start_deadline="10m"), "--window", "300").err
    assert write(text(start_deadline="10m"), "--window", "600").status == 0
    later = text(job=f"{JOB}hold = false\nqueue\n", suspended="true")
    assert "hold" in write(later).err
    often = "# crondor: schedule = every 5 minutes except 2026-12-24T10:00..2026-12-24T14:00\n"
    assert "the schedule takes 2 jobs" in write(text(often, overlap="skip")).err
    Path("job.sub").write_text(text("", catch_up="once within 6h"), encoding="utf-8")
    assert "catch_up has no effect" in found()["CRN567"]


def test_an_unknown_line_gets_a_proposal() -> None:
    """As for commands; the known ones are no mistakes."""
    Path("job.sub").write_text(text(catchup="once within 6h", **ALL), encoding="utf-8")
    said = crondor("check", "job.sub", "--no-files", *NOW)
    assert said.out.count("CRN902") == 1
    assert "did you mean catch_up = ...?" in said.out


@pytest.mark.parametrize("command", [("next", "--spec"), ("agenda",), ("explain",)])
def test_a_suspended_job_is_said_not_to_run(command: tuple[str, ...]) -> None:
    """Also where the file has only hold = true."""
    Path("job.sub").write_text(f"cron_hour = 3\nhold = true\n{JOB}", encoding="utf-8")
    assert "it runs at none of its times until it is released" in crondor(*command, "job.sub", *NOW).err
    Path("job.sub").write_text(f"cron_hour = 3\nhold = false\n{JOB}", encoding="utf-8")
    assert "released" not in crondor(*command, "job.sub", *NOW).err


SCHEDULES = ("0 18 * * 5L", "every 2 days at 06:00 from 2026-12-01", "weekdays at 09:00")


@lru_cache
def compiled(schedule: str, zone: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the lines of a schedule without and with runs that are made up; both have the same proof."""
    host = zone_of(zone)
    wish = LineOptions().wish(read_schedule(schedule, zone=host), host, START, END)
    plain, opened = compile_schedule(wish), compile_schedule(wish._replace(makes_up=True))
    assert opened.proof == plain.proof
    (before,), (after,) = plain.commands, opened.commands
    assert {**before, "requirements": ""} == {**after, "requirements": ""}
    return before, after


@given(st.sampled_from(SCHEDULES), st.sampled_from(("UTC", "Europe/Berlin")), st.lists(st.integers(START, END)))
def test_only_the_made_up_time_is_added(schedule: str, zone: str, times: list[int]) -> None:
    """The oracle is the clause without the exception, at single instants, in whole days, and for the job's times."""
    before, after = compiled(schedule, zone)
    clause, other, host = before["requirements"], after["requirements"], zone_of(zone)
    day, whole = min(times, default=START) // 86400, (1 << 1440) - 1
    assert Clause(other, host).minutes(day, whole) == Clause(clause, host).minutes(day, whole)
    for time in times:
        ad = ClassAd({"DeferralTime": time})
        meant = Expression(clause).holds(ad)
        assert Expression(other).holds(ad) is meant
        assert JobTimes.from_submit(after, zone=zone).excludes(time) is not meant
        ad["CrondorCatchUpTime"] = time
        assert Expression(other).holds(ad)
        ad["CrondorCatchUpTime"] = time + 60
        assert Expression(other).holds(ad) is meant
