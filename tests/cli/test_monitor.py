"""`crondor monitor`: what was due, what started, and why the rest did not."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from crondor.classad.printing import Format
from crondor.schedd.embedded import EmbeddedSchedd
from tests.cli.running import NOW, NOW_EPOCH, PROGRAM, SLOWEST, Result, crondor, environment
from tests.monitor.made import SIX, MadeJob
from tests.schedd.conftest import StandIn

LATER = SIX + 120
UTC = ("--tz", "UTC")
AT = ("--now", "2026-11-25 06:02", *UTC)

Monitor = Callable[..., Result]


@pytest.fixture
def ads(tmp_path: Path) -> Callable[..., str]:
    """Return a function that writes made jobs as condor_q prints them, and returns the file's name."""

    def write(*jobs: MadeJob) -> str:
        path = tmp_path / "queue.long"
        path.write_text("\n".join(job.ad.print(Format.LONG) for job in jobs), encoding="utf-8")
        return str(path)

    return write


def once(*arguments: str) -> Result:
    """Make one look a little after SIX."""
    return crondor("monitor", "--once", *AT, *arguments)


def test_a_table_says_what_was_due_and_why_it_did_not_start(ads: Callable[..., str]) -> None:
    """A row for each job, its cause below, and the sum."""
    held = MadeJob(ClusterId=8, JobStatus=5, HoldReasonCode=20, HoldReason="Job missed deferred execution time")
    result = once("--ads", ads(MadeJob(), held))
    assert result.status == 1
    head, first, why, second, held_why, total = result.lines
    assert head.split() == ["job", "owner", "verdict", "due", "started", "next", "start"]
    assert first.split()[:7] == ["7.0", "alice", "missed", "Wed", "2026-11-25", "06:00", "+0000"]
    assert why.strip() == "no-match: it was idle, and no machine took it in its window"
    assert second.split()[:3] == ["8.0", "alice", "missed"]
    assert held_why.strip().startswith("held-20: ")
    assert total == "2 jobs: 2 missed"


def test_verdicts_and_states_are_in_colour_for_people(ads: Callable[..., str]) -> None:
    """And the severity of what is wrong below them; a name that is such a word does not matter."""
    held = MadeJob(ClusterId=8, JobStatus=5, HoldReasonCode=1, HoldReason="by alice", Owner="held")
    path = ads(MadeJob(), held)
    shown = crondor("--color", "always", "monitor", "--once", *AT, "--ads", path).out
    assert "\x1b[31m\x1b[1mmissed\x1b[0m" in shown
    status = crondor("--color", "always", "queue", "status", *AT, "--ads", path).out
    assert "8.0  held   \x1b[31m\x1b[1mheld\x1b[0m" in status
    assert "      \x1b[33m\x1b[1mwarning\x1b[0m: held (code 1)" in status
    assert "\x1b" not in once("--ads", path).out


@pytest.mark.parametrize(
    ("words", "status"),
    [("missed", 1), ("missed,late", 1), ("late", 0), ("none", 0), (" lost , unknown", 0), ("trouble", 0), ("", 0)],
)
def test_the_exit_status_is_what_a_check_asks_for(ads: Callable[..., str], words: str, status: int) -> None:
    """Each word of --fail-on, and nothing else."""
    assert once("--ads", ads(MadeJob()), "--fail-on", words).status == status


def test_a_job_without_a_due_time_is_ahead(ads: Callable[..., str]) -> None:
    """It came after the last one; trouble is shown and counts by itself."""
    new = MadeJob(QDate=SIX + 60, EnteredCurrentStatus=SIX + 60)
    result = once("--ads", ads(new), "--format", "json")
    (row,) = [json.loads(line) for line in result.lines]
    assert (result.status, row["verdict"], row["due"], row["next"]["time"]) == (0, "ahead", None, SIX + 3600)
    wrong = MadeJob(CronMinute="zz", JobStatus=5, HoldReasonCode=25, HoldReason="Invalid cron schedule parameters")
    assert once("--ads", ads(wrong)).status == 1
    assert once("--ads", ads(wrong), "--fail-on", "missed,lost").status == 0


def test_json_is_a_line_for_each_due_time(ads: Callable[..., str]) -> None:
    """With --from of all since then; the keys are always the same."""
    rows = [json.loads(line) for line in once("--ads", ads(MadeJob()), "--format", "json", "--from", "04:30").lines]
    assert [(row["due"]["time"] - SIX, row["verdict"], row["reason"]) for row in rows] == [
        (-3600, "missed", "no-match"),
        (0, "missed", "no-match"),
    ]
    assert rows[0]["message"] == "it was idle, and no machine took it in its window"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--fail-on", "mised"), "'mised' is not one of missed, lost"),
        (("--ads", "-", "--log", "x"), "choose one"),
        (("--all-schedds", "--log", "x"), "--all-schedds needs --pool"),
        (("--from", "yesterdy"), "yesterdy"),
        (("12.x",), "12.x"),
    ],
)
def test_a_slip_is_told(arguments: tuple[str, ...], said: str) -> None:
    """With what to write instead; nothing is looked at."""
    result = once(*arguments)
    assert (result.status, result.out) == (2, "")
    assert said in result.err


def test_ads_are_one_look() -> None:
    """Nobody waits for a file to change."""
    result = crondor("monitor", "--ads", "-")
    assert (result.status, "--ads is read once: add --once" in result.err) == (2, True)


def test_a_queue_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    """And no table says that all is well."""
    result = once("--log", str(tmp_path / "none"))
    assert (result.status, result.out) == (1, "")
    assert "cannot be followed" in result.err


def test_an_empty_queue_is_fine_and_a_missing_one_is_not(tmp_path: Path) -> None:
    """A slip in a path must not look like a queue without a miss."""
    missing = once("--queue", str(tmp_path / "q"))
    assert (missing.status, missing.out) == (1, "")
    assert "error: there is no queue yet" in missing.err
    with EmbeddedSchedd(tmp_path / "q", clock=lambda: SIX, zone="UTC"):
        pass
    empty = once("--queue", str(tmp_path / "q"))
    assert (empty.status, empty.out) == (0, "no job with a schedule\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("000 (007.000.000) 2026-11-18 06:00:00 Job submitted from host: <127.0.0.1:9618>\n...\n", "--allow-dir DIR"),
        ('ClusterId = 7\nCronMinute = "0"\n', "--ads FILE"),
        ("# notes\n", "JOB_QUEUE_LOG"),
    ],
)
def test_another_file_is_no_queue_without_a_miss(tmp_path: Path, text: str, said: str) -> None:
    """It is said what it seems to be, and which option reads that."""
    (tmp_path / "some.log").write_text(text, encoding="utf-8")
    for command in (("monitor", "--once"), ("queue", "status")):
        result = crondor(*command, "--log", str(tmp_path / "some.log"), *AT)
        assert (result.status, result.out) == (1, "")
        assert "error: this is not a job_queue.log" in result.err
        assert said in result.err


@pytest.mark.parametrize(
    "command",
    [("monitor", "--once"), ("monitor",), ("queue", "status"), ("next", "--list"), ("queue", "recalc"),
     ("queue", "history"), ("queue", "hold", "1.0"), ("queue", "submit", "x.sub"),
     ("queue", "advertise"), ("route", "q")],
)  # fmt: skip
def test_which_queue_is_asked(command: tuple[str, ...]) -> None:
    """No command looks into a queue that nobody named."""
    result = crondor(*command, env={"CRONDOR_QUEUE": ""})
    assert (result.status, result.out) == (2, "")
    assert "give the queue: --live (the schedd that runs here)" in result.err


LOG = """\
000 (007.000.000) 2026-11-18 06:00:00 Job submitted from host: <127.0.0.1:9618>
...
001 (007.000.000) 2026-11-25 06:00:00 Job executing on host: <127.0.0.1:9618>
...
004 (007.000.000) 2026-11-25 06:00:09 Job was evicted.
\t(0) Job terminated and was requeued
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage
\t(1) Normal termination (return value 0)
...
"""


def test_user_logs_are_read_below_the_folders_that_are_allowed(ads: Callable[..., str], tmp_path: Path) -> None:
    """Elsewhere they are not looked at, and that is told; a link does not lead out."""
    (tmp_path / "in").mkdir()
    (tmp_path / "job.log").write_text(LOG, encoding="utf-8")
    (tmp_path / "in" / "link.log").symlink_to(tmp_path / "job.log")
    job = MadeJob(Iwd=str(tmp_path), UserLog="job.log", EnteredCurrentStatus=SIX + 9)
    read = once("--ads", ads(job), "--allow-dir", str(tmp_path), "--format", "json")
    row = json.loads(read.out)
    assert (read.status, row["verdict"], row["started"]) == (0, "started", SIX)
    for name in ("job.log", "in/link.log"):
        refused = once("--ads", ads(job.set(UserLog=name)), "--allow-dir", str(tmp_path / "in"), "--format", "json")
        assert json.loads(refused.out)["verdict"] == "unknown"
        assert "--allow-dir" in refused.err


def test_the_history_says_what_has_left(ads: Callable[..., str], tmp_path: Path) -> None:
    """By a file that is named."""
    job = MadeJob(JobStatus=3, EnteredCurrentStatus=SIX - 60, RemoveReason="via condor_rm (by user alice)")
    history = tmp_path / "history"
    history.write_text(f"{job.ad.print(Format.LONG)}*** Offset = 0 ClusterId = 7\n", encoding="utf-8")
    result = once("--ads", ads(), "--history", str(history), "--from", "05:30")
    assert result.status == 1
    assert "left-queue: it had left the queue: via condor_rm (by user alice)" in result.out


def test_a_queue_of_ones_own_from_submission_to_a_miss(tmp_path: Path) -> None:
    """The embedded queue is read as the manual says, with its history."""
    queue = str(tmp_path / "q")
    (tmp_path / "job.sub").write_text("executable = /bin/date\ncron_minute = 0\non_exit_remove = false\nqueue\n")
    crondor("queue", "submit", str(tmp_path / "job.sub"), "--queue", queue, "--now", NOW)
    early = crondor("monitor", "--once", "--queue", queue, "--now", NOW)
    assert (early.status, early.lines[-1]) == (0, "1 job: 1 ahead")
    late = crondor("monitor", "--once", "--queue", queue, "--now", "2026-11-20 19:01")
    assert (late.status, late.lines[-1]) == (1, "1 job: 1 missed")


def test_following_tells_news_until_it_is_ended(tmp_path: Path) -> None:
    """A line for each verdict; SIGTERM is a good end, Ctrl-C the usual one."""
    queue = tmp_path / "q"
    with EmbeddedSchedd(queue, clock=lambda: NOW_EPOCH, zone="Europe/Berlin") as schedd:
        schedd.submit([ClassAd({"Cmd": "/bin/date", "CronMinute": "*", "DeferralWindow": 0, "DeferralPrepTime": 60})])
    for number, status in ((signal.SIGTERM, 0), (signal.SIGINT, 130)):
        command = [*PROGRAM, "monitor", "--queue", str(queue), "--poll", "1", "--format", "json"]
        command += ["--now", "2026-11-20 18:30"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True) as process:
            assert process.stdout is not None
            first = json.loads(process.stdout.readline())
            process.send_signal(number)
            process.communicate(timeout=SLOWEST)
        assert (process.returncode, first["verdict"], first["job"]) == (status, "due", "1.0")


def test_all_schedds_of_a_collector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is asked by its name; one that does not answer is told, and the others are shown."""
    stand_in = StandIn(tmp_path / "stand_in.json")
    for name, value in stand_in.environment.items():
        monkeypatch.setenv(name, value)
    stand_in.add(MadeJob(ClusterId=None, ProcId=None).ad)
    result = once("--all-schedds", "--pool", "cm.example.org")
    assert (result.status, result.lines[-1]) == (1, "2 jobs: 2 missed")
    assert [line.split()[0] for line in result.lines[1:-1:2]] == ["one@example.org", "two@example.org"]
    asked = ["locate one@example.org in cm.example.org", "locate two@example.org in cm.example.org"]
    assert sorted(call for call in stand_in.read()["calls"] if "locate" in call) == asked
    stand_in.fail((asked[0], "crash"), (asked[0], "crash"))
    result = once("--all-schedds", "--pool", "cm.example.org")
    assert (result.status, result.lines[-1]) == (1, "1 job: 1 missed")
    assert re.match("error: one@example.org: the process ", result.err)


def test_a_closed_pipe_ends_it() -> None:
    """Nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    job = MadeJob().ad.print(Format.LONG)
    command = [*PROGRAM, "monitor", "--once", "--ads", "-", *AT]
    done = subprocess.run(
        command, input=job.encode(), stdout=writer, stderr=subprocess.PIPE, env=environment(), check=False
    )
    os.close(writer)
    assert b"Traceback" not in done.stderr
