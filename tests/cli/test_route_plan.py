"""`crondor route plan`: status 0 fine or notes, 1 a warning or an error, 2 wrong usage."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import PROGRAM, ROOT, SLOWEST, Result, crondor, environment

CONFIG = """\
JOB_ROUTER_SOURCE_JOB_CONSTRAINT = true
JOB_ROUTER_ROUTE_NAMES = Pool Grid
JOB_ROUTER_ROUTE_Pool @=end
UNIVERSE VANILLA
MaxJobs = 1
@end
JOB_ROUTER_ROUTE_Grid @=end
REQUIREMENTS RequestMemory > 1000
UNIVERSE GRID
GridResource = batch slurm
@end
"""

JOB = """\
executable = /bin/true
cron_minute = 30
cron_hour = 2
cron_window = 900
on_exit_remove = false
queue
"""


@pytest.fixture
def config(tmp_path: Path) -> str:
    """Return the path of a configuration."""
    path = tmp_path / "routes.conf"
    path.write_text(CONFIG)
    return str(path)


@pytest.fixture
def job(tmp_path: Path) -> str:
    """Return the path of a submit file."""
    path = tmp_path / "job.sub"
    path.write_text(JOB)
    return str(path)


def plan(*arguments: str, stdin: str = "") -> Result:
    """Run the command at noon UTC."""
    return crondor("route", "plan", "--now", "2026-11-20 12:00", "--tz", "UTC", *arguments, stdin=stdin)


def test_the_table_shows_what_the_daemon_does(config: str, job: str) -> None:
    """A line for each run, the findings after them on stderr, and the status of a warning."""
    result = plan("--config", config, "--spec", job, "-n", "3")
    assert result.status == 1
    assert result.lines[0].startswith("HTCondor's job router: it routes the whole job at its next poll (every 10 s)")
    assert result.lines[2].split() == (
        [
            "1.0",
            "Sat",
            "2026-11-21",
            "02:30",
            "+0000",
            "Pool",
            "Fri",
            "12:00:10",
            "02:30",
            "1/1",
            "1/50",
            "schedules",
            "itself",
        ]
    )
    assert result.lines[3].endswith("by its copy")
    assert result.lines[5:] == [
        "3 runs: 1 routed, 2 by its copy",
        "  schedules itself: the copy keeps the Cron attributes, and its schedd computes its times",
        "  by its copy: an earlier copy does this run",
        "  JOBS, IDLE: the route's jobs then, with this one, and its idle ones, of MaxJobs and MaxIdleJobs",
    ]
    assert "[plan-taken-at-once]" in result.err
    assert "job.sub:2:15: warning: route Pool: the copy keeps CronMinute, CronHour" in result.err


def test_a_plan_without_findings_is_fine(config: str, job: str) -> None:
    """A router that waits, and a pool."""
    result = plan("--config", config, job, "--at-gate", "--days", "2", "--run-time", "600")
    assert (result.status, result.err) == (0, "")
    assert result.lines[0] == "A waiting router: it routes a job for one run, when that run's gate opens."
    assert "2 runs: 2 routed" in result.lines


def test_a_run_that_stays_says_why(config: str, job: str) -> None:
    """Each reason once, as long as it is the same."""
    result = plan("--config", config, "--spec", job, "--at-gate", "-n", "2", "--load", "Pool=1/0")
    assert result.lines[3:5] == [
        "  Pool: full: 1 jobs, MaxJobs = 1",
        "  Grid: no match: RequestMemory > 1000: 128 > 1000",
    ]
    assert "2 runs: 2 local" in result.lines


def test_runs_that_are_alike_are_counted(config: str, job: str) -> None:
    """What follows a lost job is one line and a number."""
    Path(job).write_text(JOB.replace("on_exit_remove = false\n", ""), encoding="utf-8")
    result = plan("--config", config, "--spec", job)
    assert result.lines[3].endswith("job is gone")
    assert result.lines[4:6] == ["1.0: 8 more runs like the last one", "10 runs: 1 routed, 9 job is gone"]


def test_the_cure_is_applied_and_printed(config: str, job: str) -> None:
    """The lines can be put at the end of the route as they are."""
    result = plan("--config", config, "--spec", job, "--cure")
    head, *lines = result.lines
    assert head == "# Pool: the copy of 1.0 schedules itself; with these lines it starts at once, and runs once"
    assert lines[0] == "# (the Requirements are those of 1.0: for other jobs write theirs)"
    cured = CONFIG.replace("MaxJobs = 1\n", "MaxJobs = 1\n" + "\n".join(lines) + "\n")
    Path(config).write_text(cured, encoding="utf-8")
    assert "starts at once" in plan("--config", config, "--spec", job).lines[2]


def test_json_has_everything(config: str, job: str) -> None:
    """The routed ad, the moments, what is left, and the findings."""
    result = plan("--config", config, "--spec", job, "-n", "2", "--at-gate", "--format", "json")
    data = result.data
    first, second = data["runs"]
    assert (first["time"], second["number"]) == (1_795_228_200, 2)
    assert first["taken"] - first["match_opens"] in range(10)
    assert first["ad"]["DeferralTime"] == first["time"]
    assert first["room"] == {"jobs": 1, "max_jobs": 1, "idle": 1, "max_idle_jobs": 50, "managed": 1, "max_managed": -1}
    assert (data["diagnostics"], data["at_gate"], result.status) == ([], True, 0)
    assert plan("--config", config, "--spec", job, "--until", "13:00", "--format", "json").data["runs"] == []


def test_long_prints_the_routed_ads(config: str, job: str) -> None:
    """One for each run that a route takes."""
    result = plan("--config", config, "--spec", job, "-n", "2", "--at-gate", "--format", "long")
    ads = result.out.strip().split("\n\n")
    assert [line for ad in ads for line in ad.split("\n") if line.startswith("DeferralTime =")] == [
        "DeferralTime = 1795228200",
        "DeferralTime = 1795314600",
    ]


def test_jobs_of_a_queue(config: str, tmp_path: Path) -> None:
    """Ads, a job_queue.log and the folder of an embedded queue."""
    ads = str(ROOT / "examples" / "queue.long")
    result = plan("--config", config, "--ads", ads, "-n", "1")
    assert {line.split()[0] for line in result.lines[2:-1]} >= {"41.0", "44.0"}
    assert "the job is held" in result.err
    folder = str(tmp_path / "queue")
    job = tmp_path / "cron.sub"
    job.write_text(JOB)
    assert crondor("queue", "submit", str(job), "--queue", folder, "--now", "2026-11-20 12:00").status == 0
    for queue in (folder, f"{folder}/job_queue.log"):
        assert plan("--config", config, "--queue", queue, "--at-gate", "-n", "1").lines[3] == "1 run: 1 routed"


def test_copies_in_the_queue_are_counted(config: str, job: str, tmp_path: Path) -> None:
    """They have their places on the routes."""
    copy = tmp_path / "copy.ads"
    copy.write_text('ClusterId = 5\nProcId = 0\nJobStatus = 2\nRoutedBy = "jobrouter"\nRouteName = "Pool"\n')
    result = plan("--config", config, job, "--ads", str(copy), "--count-copies", "--at-gate", "-n", "1")
    assert result.lines[3] == "  Pool: full: 1 jobs, MaxJobs = 1"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give the jobs: FILES, --ads FILE or --queue PATH"),
        (("--spec", "-", "--ads", "-"), "standard input (-) can be read only once"),
        (("--spec", "JOB", "--until", "13:00", "--days", "1"), "choose one"),
        (("--spec", "JOB", "--until", "2026-11-19"), "--until is not later than now"),
        (("--spec", "JOB", "--load", "None=1"), "there is no route 'None'"),
        (("--spec", "absent.sub"), "cannot read 'absent.sub'"),
        (("--spec", "JOB", "--run-time", "0"), "--run-time"),
    ],
)
def test_wrong_usage(config: str, job: str, arguments: tuple[str, ...], said: str) -> None:
    """Status 2, nothing on stdout."""
    result = plan("--config", config, *(job if each == "JOB" else each for each in arguments))
    assert (result.status, result.out) == (2, "")
    assert said in result.err


def test_a_file_with_faults_has_no_plan(config: str, job: str) -> None:
    """They are shown at their places."""
    Path(job).write_text(JOB.replace("30", "99"), encoding="utf-8")
    result = plan("--config", config, job)
    assert (result.status, result.lines[1:]) == (1, ["no job with a schedule that can be planned"])
    assert "job.sub:2:15: error" in result.err
    Path(job).write_text("executable = /bin/true\nqueue\n", encoding="utf-8")
    result = plan("--config", config, job)
    assert (result.status, "[not-deferred]" in result.err) == (0, True)


def test_a_misspelt_command_is_said_to_be_none(config: str, job: str) -> None:
    """As crondor check says it."""
    Path(job).write_text("executable = /bin/true\ncron_minte = 5\nqueue\n", encoding="utf-8")
    result = plan("--config", config, job)
    assert result.status == 1
    assert "help: did you mean cron_minute?" in result.err


def test_a_router_that_is_switched_off_is_a_finding(config: str, job: str) -> None:
    """A route that is rejected is named."""
    Path(config).write_text("JOB_ROUTER_ROUTE_NAMES = Absent\n", encoding="utf-8")
    result = plan("--config", config, job, "-n", "1")
    assert (result.status, result.err) == (0, "rejected: Absent; see crondor route check\n")
    Path(config).write_text("JOB_ROUTER_NAME = east\n", encoding="utf-8")
    result = plan("--config", config, job, "-n", "1")
    assert result.status == 1
    assert "[plan-disabled]" in result.err


def test_a_closed_pipe_ends_a_long_plan(config: str, tmp_path: Path) -> None:
    """Every minute of ten years is planned as far as someone reads."""
    job = tmp_path / "every.sub"
    job.write_text(JOB.replace("30", "*").replace("cron_hour = 2", "cron_hour = *"))
    command = [
        *PROGRAM,
        "route",
        "plan",
        "--config",
        config,
        str(job),
        "--at-gate",
        "--run-time",
        "9",
        "--days",
        "3650",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        head = [process.stdout.readline() for _ in range(5)]
        process.stdout.close()
        process.wait(SLOWEST)
        assert process.stderr.read() == ""
    assert head[-1].strip()


def test_the_json_of_nothing_is_json(config: str) -> None:
    """An empty list of runs."""
    data = json.loads(plan("--config", config, "--ads", "-", "--format", "json", stdin="").out)
    assert (data["jobs"], data["runs"]) == ([], [])
