"""`crondor run`: real programs on the real clock; killed at any point and started again, each runs once."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, NoReturn
from zoneinfo import ZoneInfo

import pytest

from crondor.job_queue import read_history
from crondor.pool.daemons import pool as life
from crondor.pool.local import programs, run_records, session
from crondor.pool.local import programs as real_programs
from crondor.pool.local import session as local_clock
from crondor.schedd import embedded
from crondor_cli.kit import schedules
from crondor_cli.main import main
from crondor_cli.run import command as run_command
from crondor_cli.run import loop as run_loop
from tests.cli.running import PROGRAM, SLOWEST, ZONE, Result, crondor, environment
from tests.cli.schemas import check_output
from tests.cli.test_process import on_terminal
from tests.hooks.test_runner import ends

LOADED = (schedules, run_command, run_loop)  # here, so that no copy of this process has to
SOON = 1  # seconds from the writing of a submit file to its deferral_time
WINDOW = 3600  # seconds; no machine is as slow as that
# Says that it runs, runs for a while, says that it has, and fails.
LASTING = "echo $$ >> started; sleep 0.1; echo $$ >> ended; exit 7"
LET_GO = "go"  # the file that lets a program end
HELD_UP = f"echo $$ >> started; until [ -e {LET_GO} ]; do sleep 0.05; done; echo $$ >> ended; exit 7"


class Point(NamedTuple):
    """Where crondor run is killed: as it calls a function, or when that has returned."""

    owner: object
    name: str
    after: bool = False


POINTS = {
    "before the jobs are in the queue": Point(embedded.EmbeddedSchedd, "submit"),
    "before they are brought in": Point(session.Session, "begin"),
    "before anything is told": Point(session.Session, "_note"),
    "before anything is written into it": Point(programs.KeptQueue, "write"),
    "between the mark and the supervisor": Point(real_programs.RealPrograms, "start"),
    "before the supervisor knows what to do": Point(real_programs, "_ask"),
    "between the start and its telling": Point(real_programs.RealPrograms, "start", after=True),
    "when the program has begun": Point(real_programs.RealPrograms, "poll"),
    "before its end is recorded": Point(session.Session, "_ended"),
    "before its end has an effect": Point(life.Pool, "ended"),
    "before the job leaves": Point(programs.KeptQueue, "leave"),
    "before its records go": Point(run_records.Records, "forget"),
}


def run(folder: Path, *arguments: str, kill: Point | None = None) -> Result:
    """Run the command in a copy of this process, which takes a tenth of a new one; ``kill`` is where it dies."""
    pid = os.fork()
    if pid == 0:
        _become(folder, arguments, kill)
    _, status = os.waitpid(pid, 0)
    out, err = (folder / name for name in ("stdout", "stderr"))
    result = Result(os.waitstatus_to_exitcode(status), out.read_text(), err.read_text())
    if kill is None:
        check_output(["run", *arguments], result.status, result.out)
    return result


def dying(function: Callable[..., object], *, after: bool) -> Callable[..., object]:
    """Return a function that kills this process, before another one is called or after it has been."""

    def die(*arguments: object, **options: object) -> object:
        if after:
            function(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)
        return None

    return die


def _become(folder: Path, arguments: tuple[str, ...], kill: Point | None) -> NoReturn:
    try:
        os.chdir(folder)
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        sys.stdout, sys.stderr = open(1, "w", encoding="utf-8"), open(2, "w", encoding="utf-8")  # noqa: SIM115 - descriptors
        os.environ.update(TZ=ZONE)
        if kill is not None:
            setattr(kill.owner, kill.name, dying(getattr(kill.owner, kill.name), after=kill.after))
        sys.argv = ["crondor", "run", "--spec", *arguments]
        main()
    except SystemExit as end:
        sys.stderr.flush()
        os._exit(end.code if isinstance(end.code, int) else 1)
    except BaseException:  # noqa: BLE001 - nothing may get back into pytest
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(99)


def job(folder: Path, script: str, *lines: str, name: str = "job.sub") -> Path:
    """Write a submit file of one job in a folder of its own, which runs a script."""
    program = folder / "program.sh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    path = folder / name
    text = ["universe = local", "executable = program.sh", "log = user.log", "output = out", "error = err", *lines]
    path.write_text("".join(f"{line}\n" for line in (*text, "queue")))
    return path


def epoch() -> int:
    """Return the time of the real clock (epoch seconds)."""
    return time.time_ns() // 10**9


def at(seconds: int, window: int = WINDOW) -> tuple[str, str]:
    """Return the lines of a job whose time is some seconds from now."""
    return f"deferral_time = {epoch() + seconds}", f"deferral_window = {window}"


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file, none where it is not there."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def wait_for(path: Path, text: str = "") -> None:
    """Return when a file is there and not empty, with a text in it."""
    end = time.monotonic() + SLOWEST
    while time.monotonic() < end:
        if path.exists() and path.stat().st_size and text in path.read_text(encoding="utf-8"):
            return
        time.sleep(0.01)
    pytest.fail(f"{path.name} never came")


def wait_to_hear(running: subprocess.Popen[bytes], text: bytes) -> None:
    """Read what a process says on stderr, until it says a text."""
    assert running.stderr is not None
    said = b""
    for line in iter(running.stderr.readline, b""):  # an iterator over the file would read ahead
        said += line
        if text in line:
            return
    pytest.fail(f"it never said {text!r}: {said!r}")


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Give a running crondor run."""
    with subprocess.Popen(
        [*PROGRAM, "run", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment(),
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def logged(path: Path) -> list[tuple[int, dict[str, object]]]:
    """Return the events that the official reader finds in a user log."""
    code = (
        "import htcondor2, json, sys\n"
        "print(json.dumps([(int(e.type), {k: v for k, v in e.items() if isinstance(v, (int, str, bool))})"
        " for e in htcondor2.JobEventLog(sys.argv[1]).events(stop_after=0)]))"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=True, timeout=SLOWEST)
    return [(number, said) for number, said in json.loads(ended.stdout)]


def past(folder: Path, name: str = "job.sub") -> list[dict[str, object]]:
    """Return some attributes of the jobs that have left."""
    path = folder / ".crondor" / name / "history"
    names = ("JobStatus", "ExitCode", "ExitBySignal", "NumJobStarts")
    ads = read_history(path) if path.exists() else ()
    return [{each: ad.value(each) for each in names} for ad in ads]


def test_a_program_starts_at_its_time(tmp_path: Path) -> None:
    """With its arguments, its environment, its files, its folder; and its log is what the official reader expects."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "in").write_text("from the file\n")
    script = 'date +%s; pwd; cat; echo "$A|$HOME|$#|$2"; echo bad >&2; exit 3'
    when = at(SOON)
    path = job(
        tmp_path,
        script,
        "initialdir = sub",
        "input = in",
        "arguments = \"one 'two; $(DOLLAR)(touch it)' 'it''s'\"",
        "environment = \"A='x y'\"",
        *when,
    )
    ended = run(tmp_path, path.name, "--format", "json")
    assert (ended.status, ended.err) == (1, "")
    moment, folder, stdin, said = lines_of(tmp_path / "sub" / "out")
    due = int(when[0].split()[-1])
    assert due <= int(moment) <= due + WINDOW
    assert (folder, stdin, said) == (str(tmp_path / "sub"), "from the file", "x y||3|two; $(touch it)")
    assert lines_of(tmp_path / "sub" / "err") == ["bad"]
    events = [json.loads(line) for line in ended.out.splitlines()]
    assert [event["what"] for event in events] == ["submitted", "matched", "arrived", "started", "ended", "completed"]
    assert events[-2]["exit_code"] == 3
    numbers = logged(tmp_path / "sub" / "user.log")
    assert [number for number, _ in numbers] == [0, 1, 5]
    assert numbers[-1][1]["TerminatedNormally"] is True
    assert numbers[-1][1]["ReturnValue"] == 3
    assert past(tmp_path) == [{"JobStatus": 4, "ExitCode": 3, "ExitBySignal": False, "NumJobStarts": 1}]


@pytest.mark.parametrize("point", POINTS)
def test_killed_at_any_point_it_goes_on(point: str, tmp_path: Path) -> None:
    """Started again, the program has run once, and how it ended is known."""
    path = job(tmp_path, LASTING, *at(0))
    assert run(tmp_path, path.name, kill=POINTS[point]).status == -signal.SIGKILL
    again = run(tmp_path, path.name)
    assert again.status == int(point not in {"before the job leaves", "before its records go"}), again.err
    assert "Traceback" not in again.err
    assert (len(lines_of(tmp_path / "started")), len(lines_of(tmp_path / "ended"))) == (1, 1)
    assert past(tmp_path) == [{"JobStatus": 4, "ExitCode": 7, "ExitBySignal": False, "NumJobStarts": 1}]
    assert [number for number, _ in logged(tmp_path / "user.log")] == [0, 1, 5]


def test_a_run_is_not_repeated_within_its_window(tmp_path: Path) -> None:
    """Not by the same session begun again, not by the file submitted once more."""
    path = job(tmp_path, LASTING, *at(0))
    assert run(tmp_path, path.name, kill=POINTS["before its records go"]).status == -signal.SIGKILL
    assert "the earlier session is over" in run(tmp_path, path.name).err
    assert "1 job of job.sub already ran at this deferral_time" in run(tmp_path, path.name).err
    assert len(lines_of(tmp_path / "started")) == 1


def test_a_changed_file_is_not_mixed_with_its_jobs(tmp_path: Path) -> None:
    """The jobs in the queue go on as they were, and that is said."""
    path = job(tmp_path, LASTING, *at(3600))
    assert run(tmp_path, path.name, "--until", "0s").status == 0
    path.write_text(path.read_text() + "queue 2\n")
    ended = run(tmp_path, path.name, "--until", "0s")
    assert (ended.status, ended.err.count("from the earlier file")) == (0, 1)


def test_killed_while_it_waits_or_runs(tmp_path: Path) -> None:
    """Before the time, and from outside while the program runs, which the next session finds again."""
    path = job(tmp_path, HELD_UP, *at(SOON))
    waits = Point(session.Session, "step")  # the job is in the queue, and nothing has been started, however slow it is
    assert run(tmp_path, path.name, kill=waits).status == -signal.SIGKILL
    assert not (tmp_path / "started").exists()
    with started(tmp_path, "--spec", path.name) as second:
        wait_for(tmp_path / "started")
        wait_for(tmp_path / "user.log", "\n001 ")  # a kill before it is told loses this line, as docs/run.md says
        second.kill()
    with started(tmp_path, "--spec", path.name) as third:
        wait_to_hear(third, b"1 earlier program still running")
        (tmp_path / LET_GO).touch()
        third.communicate(timeout=SLOWEST)
    assert len(lines_of(tmp_path / "started")) == len(lines_of(tmp_path / "ended")) == 1
    assert past(tmp_path) == [{"JobStatus": 4, "ExitCode": 7, "ExitBySignal": False, "NumJobStarts": 1}]
    assert [number for number, _ in logged(tmp_path / "user.log")] == [0, 1, 5]


def test_a_run_whose_end_nobody_saw_is_not_repeated(tmp_path: Path) -> None:
    """Program and supervisor were killed too, as when the machine stops: the job is held, and says why."""
    path = job(tmp_path, "echo $$ $PPID >> started; sleep 300", *at(0))
    with started(tmp_path, "--spec", path.name) as running:
        wait_for(tmp_path / "started")
        running.kill()
    program, supervisor = lines_of(tmp_path / "started")[0].split()
    os.kill(int(supervisor), signal.SIGKILL)
    os.killpg(int(program), signal.SIGKILL)
    again = run(tmp_path, path.name)
    assert again.status == 1
    assert "its result is unknown" in again.err
    assert len(lines_of(tmp_path / "started")) == 1


def test_ctrl_c_lets_programs_end(tmp_path: Path) -> None:
    """What runs is waited for, what waits is not started."""
    path = job(tmp_path, HELD_UP, "queue", *at(WINDOW))
    with started(tmp_path, "--spec", path.name) as running:
        wait_for(tmp_path / "started")
        running.send_signal(signal.SIGINT)
        wait_to_hear(running, b"ending: 1 program still runs")
        (tmp_path / LET_GO).touch()
        _, err = running.communicate(timeout=SLOWEST)
    assert b"1 idle in .crondor" in err
    assert running.returncode == 1  # of the program
    assert len(lines_of(tmp_path / "started")) == len(lines_of(tmp_path / "ended")) == 1


def test_a_second_ctrl_c_ends_programs(tmp_path: Path) -> None:
    """The whole process group goes, at once."""
    path = job(tmp_path, "trap '' TERM; sleep 300 & echo $! >> started; echo $$ >> started; wait; wait", *at(0))
    with started(tmp_path, "--spec", path.name) as running:
        wait_for(tmp_path / "started")
        running.send_signal(signal.SIGINT)
        wait_to_hear(running, b"ending")
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=SLOWEST)
    assert running.returncode == 130
    assert all(ends(int(pid)) for pid in lines_of(tmp_path / "started"))
    assert [number for number, _ in logged(tmp_path / "user.log")] == [0, 1, 4, 12]


def test_once_and_until(tmp_path: Path) -> None:
    """Once: a job that would be queued again has its next run only. Until: nothing starts from then on."""
    path = job(tmp_path, "echo $$ >> started", "on_exit_remove = false")
    assert run(tmp_path, path.name, "--once").status == 0
    assert len(lines_of(tmp_path / "started")) == 1
    hour = (datetime.fromtimestamp(epoch(), ZoneInfo(ZONE)).hour + 12) % 24
    later = job(tmp_path, "echo $$ >> started", "cron_minute = 0", f"cron_hour = {hour}", name="later.sub")
    ended = run(tmp_path, later.name, "--until", "0s")
    assert ended.status == 0
    assert "next run" in ended.err
    assert len(lines_of(tmp_path / "started")) == 1


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("executable = nothing-here", 6, "Failed to execute"),
        ("output = no/such/folder/out", 7, "Failed to open the output file"),
        ("input = nothing-here", 8, "Failed to open the input file"),
        ("initialdir = nothing-here", 14, "Failed to enter the directory"),
    ],
)
def test_what_cannot_be_started_is_held(line: str, code: int, said: str, tmp_path: Path) -> None:
    """With the reason, in the log too."""
    path = job(tmp_path, LASTING, line, f"log = {tmp_path}/user.log")
    ended = run(tmp_path, path.name)
    assert ended.status == 1
    assert f"held (code {code}): {said}" in ended.err
    assert "errno=2: 'No such file or directory'" in ended.err
    assert not (tmp_path / "started").exists()
    numbers = logged(tmp_path / "user.log")
    assert [number for number, _ in numbers] == [0, 12]
    assert numbers[-1][1]["HoldReasonCode"] == code


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    """What runs ends, nothing more starts, and nobody hears of it."""
    path = job(tmp_path, LASTING)
    with started(tmp_path, "--spec", path.name, "--format", "json") as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.stderr is not None
        err = running.stderr.read()
        running.wait(SLOWEST)
    assert err == b""
    assert len(lines_of(tmp_path / "started")) == len(lines_of(tmp_path / "ended"))


def test_two_sessions_of_one_queue_are_refused(tmp_path: Path) -> None:
    """Two writers would destroy it."""
    path = job(tmp_path, HELD_UP)
    with started(tmp_path, "--spec", path.name):
        wait_for(tmp_path / "started")
        ended = run(tmp_path, path.name)
        (tmp_path / LET_GO).touch()
    assert ended.status == 1
    assert "another process writes this queue" in ended.err


def test_what_runs_is_held_and_removed(tmp_path: Path) -> None:
    """By the commands that change a queue: crondor run does it for them."""
    path = job(tmp_path, "echo $$ >> started; exec sleep 300", "queue")
    queue = ("--queue", str(tmp_path / ".crondor" / "job.sub"))
    with started(tmp_path, "--spec", path.name) as running:
        end = time.monotonic() + SLOWEST
        while len(lines_of(tmp_path / "started")) < 2:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert crondor("queue", "hold", "1.0", "9.9", "--reason", "not now", *queue).out == "1 job held\n"
        ended = crondor("queue", "edit", "1.1", "--set", "JobStatus=5", *queue)
        assert (ended.status, ended.err.count("JobStatus belongs to the schedd")) == (1, 1)
        assert (
            crondor("queue", "edit", "1", "--set", "JobPrio=5", "--if", "ProcId == 1", *queue).out == "1 job edited\n"
        )
        assert crondor("queue", "rm", "1.1", *queue).status == 0
        _, err = running.communicate(timeout=SLOWEST)
    assert b"held (code 1): not now" in err
    assert running.returncode == 1
    assert [number for number, _ in logged(tmp_path / "user.log")] == [0, 0, 1, 1, 4, 12, 4, 9]
    assert all(ends(int(pid)) for pid in lines_of(tmp_path / "started"))


def test_a_held_job_says_what_to_do(tmp_path: Path) -> None:
    """Each time, until it is released."""
    path = job(tmp_path, LASTING, "executable = later.sh")
    release = "this lets the next crondor run continue with it:\n  crondor queue release --queue .crondor/job.sub 1.0\n"
    assert release in run(tmp_path, path.name).err
    ended = run(tmp_path, path.name)
    assert ended.status == 1
    assert "job 1.0 is held: Failed to execute" in ended.err
    assert release in ended.err
    (tmp_path / "program.sh").rename(tmp_path / "later.sh")
    assert crondor("queue", "release", "1.0", "--queue", str(tmp_path / ".crondor" / "job.sub")).status == 0
    assert run(tmp_path, path.name).status == 1  # of the program
    assert len(lines_of(tmp_path / "ended")) == 1


def test_a_job_that_stays_held_keeps_nobody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its periodic_hold asks for the time, and has no say any more; its periodic_release is false for good."""
    monkeypatch.setattr(run_command, "PERIODIC_INTERVAL", 1)
    monkeypatch.setattr(local_clock, "_PAUSE", 1)
    lines = ("periodic_hold = time() > 0", "periodic_release = NumHolds < 2", 'periodic_hold_reason = "no"')
    path = job(tmp_path, "exec sleep 300", *lines)
    ended = run(tmp_path, path.name)
    assert (ended.status, ended.err.count("held (code 3): no"), ended.err.count("released")) == (1, 2, 1)


def test_a_removed_queue_is_noticed(tmp_path: Path) -> None:
    """Nothing more starts, what runs is waited for, and a session begun meanwhile is left alone."""
    path = job(tmp_path, HELD_UP, "queue", *at(WINDOW))
    with started(tmp_path, "--spec", path.name) as running:
        wait_for(tmp_path / "started")
        shutil.rmtree(tmp_path / ".crondor")
        (tmp_path / LET_GO).touch()
        _, err = running.communicate(timeout=SLOWEST)
    assert b"the queue in .crondor/job.sub has been removed" in err
    assert b"Traceback" not in err
    assert running.returncode == 1
    assert not (tmp_path / ".crondor").exists()


def test_a_slip_is_said(tmp_path: Path) -> None:
    """A misspelt cron field would start the job at once, a time that is over would start nothing."""
    path = job(tmp_path, LASTING, "cron_minutes = 3")
    ended = run(tmp_path, path.name, "--until", "2001-01-01")
    assert "did you mean cron_minute?" in ended.err
    assert "--until 2001-01-01 is past" in ended.err
    assert not (tmp_path / "started").exists()


def test_a_terminal_sees_what_waits_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the lines of what happened."""
    path = job(tmp_path, HELD_UP, "queue", *at(WINDOW))
    monkeypatch.chdir(tmp_path)

    enough = tmp_path / "enough"

    def react(seen: bytes, running: subprocess.Popen[bytes]) -> None:
        if b"waits for" in seen and b"runs, process" in seen:
            (tmp_path / LET_GO).touch()
        if b"exited with 7" in seen and not enough.exists():
            enough.touch()
            running.send_signal(signal.SIGINT)

    seen = on_terminal("run", "--spec", str(path), react=react)
    assert "1 idle in " in " ".join(seen.split())


# What is refused, in this process


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["universe = grid", "grid_resource = batch slurm"], "a grid universe job cannot run here"),
        (["universe = docker", "docker_image = x"], "cannot run here"),
        (["cron_minute = 61"], "minute 61"),
        (["max_materialize = 2"], "made later"),
    ],
)
def test_what_cannot_run_is_refused(lines: list[str], said: str, tmp_path: Path) -> None:
    """Before anything is in the queue."""
    path = job(tmp_path, LASTING, *lines)
    ended = crondor("run", "--spec", str(path))
    assert ended.status == 1
    assert said in ended.err
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give a submit file"),
        (["--spec", "-"], "needs --state DIR"),
        (["--spec", "nothing-here.sub"], "cannot read"),
        (["--spec", "x.sub", "--until", "someday"], "someday"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Status 2, and no folder is made."""
    monkeypatch.chdir(tmp_path)
    ended = crondor("run", *arguments)
    assert ended.status == 2
    assert said in ended.err
    assert not list(tmp_path.iterdir())


def test_a_vanilla_job_is_treated_as_local(tmp_path: Path) -> None:
    """With a warning."""
    path = job(tmp_path, LASTING, "universe = vanilla", *at(0))
    ended = run(tmp_path, path.name)
    assert ended.status == 1  # of the program
    assert "vanilla universe jobs run here as in the local universe" in ended.err
    assert len(lines_of(tmp_path / "ended")) == 1
