"""`crondor hook daemon-cron` as a process: signals, configurations that change, templates."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crondor.diagnostics import Diagnostic
from crondor.hooks.cron.schedule import CronLoop, CronManager, CronStep, LiveProgram, LivePrograms
from crondor.hooks.cron.settings import CronJob, CronMode, CronSettings, Manager
from crondor.hooks.runner import RunningHook, wait
from tests.cli.running import PROGRAM, SLOWEST, crondor, environment
from tests.cli.schemas import faults
from tests.hooks.test_runner import ends

JOB = """#!/bin/sh
trap 'echo Ended = true; exit 0' TERM
trap 'echo Hup = true; echo -' HUP
echo Pid = $$
echo -
while :; do sleep 1000 & wait; done
"""
CONFIG = """STARTD_CRON_JOBLIST = J
STARTD_CRON_J_EXECUTABLE = {folder}/job
STARTD_CRON_J_MODE = OneShot
STARTD_CRON_J_RECONFIG = true
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a program that runs until SIGTERM, and a configuration of it."""
    (tmp_path / "job").write_text(JOB, encoding="utf-8")
    (tmp_path / "job").chmod(0o755)
    (tmp_path / "cron.conf").write_text(CONFIG.format(folder=tmp_path), encoding="utf-8")
    return tmp_path


@pytest.fixture
def daemon(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Return a process of the command, whose program has published."""
    command = [*PROGRAM, "hook", "daemon-cron", "--config", "cron.conf", "--format", "json"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        yield process
        process.kill()


def event(daemon: subprocess.Popen[str], what: str) -> dict[str, Any]:
    """Read on to an event."""
    assert daemon.stdout is not None
    for line in daemon.stdout:
        found: dict[str, Any] = json.loads(line)
        assert not faults("hook-daemon-cron", found)
        if found.get("what") == what:
            return found
    raise AssertionError(f"no {what}")


def test_programs_that_have_ended_wake_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they printed is published when they end, and not when the loop looks anyway."""
    (tmp_path / "job").write_text("#!/bin/sh\necho A = 1\n", encoding="utf-8")
    (tmp_path / "job").chmod(0o755)
    start = LivePrograms.start

    def ended(self: LivePrograms, job: CronJob, now: float) -> LiveProgram | Diagnostic:
        program = start(self, job, now)
        assert isinstance(program, LiveProgram)
        process = program.running._process
        assert process is not None
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        return program

    def pause(running: Iterable[RunningHook], seconds: float) -> None:
        hooks = list(running)
        assert [number for hook in hooks for number in hook.waits_for()]
        wait(hooks, seconds)

    monkeypatch.setattr(LivePrograms, "start", ended)
    jobs = tuple(CronJob(name, str(tmp_path / "job"), CronMode.ONE_SHOT) for name in "AB")
    settings = CronSettings(Manager.STARTD, jobs)
    manager = CronManager(settings, LivePrograms(settings, {"PATH": "/usr/bin:/bin"}, lambda: 0.0))
    loop = CronLoop([manager], 0.0, stands=True, read=lambda: None, ticks=time.monotonic)
    ends = [each.job for each in loop.events(pause, once=True, seconds=None) if each.what is CronStep.ENDED]
    assert ends == ["A", "B"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_programs_first(number: signal.Signals, daemon: subprocess.Popen[str]) -> None:
    """The program has SIGTERM and may say something; its ad is shown, the status is 0."""
    process = int(event(daemon, "published")["ad"]["attributes"]["Pid"])
    daemon.send_signal(number)
    out, err = daemon.communicate(timeout=SLOWEST)
    assert daemon.returncode == 0, err
    assert json.loads(out.splitlines()[-1])["attributes"]["Ended"] == "true"
    assert ends(process)


def test_a_program_that_ignores_sigterm_is_killed(folder: Path, daemon: subprocess.Popen[str]) -> None:
    """A second after SIGTERM."""
    process = int(event(daemon, "published")["ad"]["attributes"]["Pid"])
    (folder / "job").write_text("#!/bin/sh\ntrap '' TERM\necho Pid = $$\necho -\nsleep 1000\n", encoding="utf-8")
    with (folder / "cron.conf").open("a", encoding="utf-8") as file:
        file.write("STARTD_CRON_JOBLIST = K\nSTARTD_CRON_K_EXECUTABLE = $(STARTD_CRON_J_EXECUTABLE)\n")
        file.write("STARTD_CRON_K_MODE = OneShot\n")
    daemon.send_signal(signal.SIGHUP)
    assert event(daemon, "signalled")["job"] == "J"
    assert ends(process)
    process = int(event(daemon, "published")["ad"]["attributes"]["Pid"])
    daemon.terminate()
    assert [event(daemon, "signalled")["text"] for _ in range(2)] == ["SIGTERM", "SIGKILL"]
    daemon.communicate(timeout=SLOWEST)
    assert daemon.returncode == 0
    assert ends(process)


def test_sighup_reads_the_configuration_anew(folder: Path, daemon: subprocess.Popen[str]) -> None:
    """Jobs come and go, RECONFIG passes the signal on; a file that is gone changes nothing."""
    event(daemon, "published")
    path = folder / "cron.conf"
    with path.open("a", encoding="utf-8") as file:
        file.write("SCHEDD_CRON_JOBLIST = S\nSCHEDD_CRON_S_EXECUTABLE = /bin/echo\nSCHEDD_CRON_S_ARGS = A = 1\n")
        file.write("SCHEDD_CRON_S_PERIOD = 1h\n")
    daemon.send_signal(signal.SIGHUP)
    assert event(daemon, "signalled")["text"].startswith("SIGHUP")
    assert event(daemon, "started")["job"] == "S"
    event(daemon, "ended")
    path.rename(folder / "gone")
    daemon.send_signal(signal.SIGHUP)
    assert daemon.stderr is not None
    said = ""
    while "jobs are unchanged" not in said:
        said = daemon.stderr.readline()
        assert said
    (folder / "gone").rename(path)
    path.write_text(f"{path.read_text(encoding='utf-8')}STARTD_CRON_JOBLIST =\n", encoding="utf-8")
    daemon.send_signal(signal.SIGHUP)
    assert "taken away" in event(daemon, "signalled")["text"]
    daemon.terminate()
    out, err = daemon.communicate(timeout=SLOWEST)
    assert daemon.returncode == 0, err
    assert json.loads(out.splitlines()[-1])["attributes"]["A"] == "1"


def test_the_templates_of_cron_jobs(tmp_path: Path) -> None:
    """One line makes a job; what a template lacks is said."""
    path = tmp_path / "cron.conf"
    path.write_text("N = 1\nuse FEATURE : ScheddCronPeriodic(A, 1m, /bin/echo, X = $(N))\n", encoding="utf-8")
    found = crondor("hook", "daemon-cron", "--config", str(path), "--once", "--format", "json")
    assert (found.status, found.err) == (0, "")
    assert json.loads(found.lines[-1])["attributes"]["X"] == "1"
    lines = (
        "use FEATURE : StartdCronOneShot(A, /bin/echo, X = 1)",
        "use FEATURE : StartdCronContinuous(B, /bin/echo)",
        "use FEATURE : Monitor(C, WaitForExit, 300, /bin/echo, SUM:Cs, PEAK:CsMemory)",
        "use FEATURE : StartdCronOneShot(D)",
    )
    path.write_text("\n".join(lines), encoding="utf-8")
    found = crondor("hook", "daemon-cron", "--config", str(path), "--once", "--format", "json")
    assert found.status == 1
    assert "OneShotCronHook requires at least 3 arguments" in found.err
    begun = {json.loads(line)["job"] for line in found.lines if '"started"' in line}
    assert begun == {"A", "B", "C_MONITOR"}


def test_a_job_whose_condition_is_false_keeps_nobody_waiting(tmp_path: Path) -> None:
    """--once ends, and says why the job did not run."""
    path = tmp_path / "cron.conf"
    lines = ("use FEATURE : StartdCronOneShot(A, /bin/true)", "STARTD_CRON_A_CONDITION = false")
    path.write_text("\n".join(lines), encoding="utf-8")
    found = crondor("hook", "daemon-cron", "--config", str(path), "--once")
    assert found.status == 0
    assert "its CONDITION is not true" in found.out


def test_benchmarks_and_jobs_go_into_the_same_slots(tmp_path: Path) -> None:
    """A slot is shown once; the two benchmarks that HTCondor has are there without a list."""
    (tmp_path / "job").write_text('#!/bin/sh\necho "$NAME = 1"\n', encoding="utf-8")
    (tmp_path / "job").chmod(0o755)
    text = "STARTD_CRON_JOBLIST = A\nSTARTD_CRON_A_MODE = OneShot\n"
    for name in ("STARTD_CRON_A", "BENCHMARKS_MIPS", "BENCHMARKS_KFLOPS"):
        text += f"{name}_EXECUTABLE = {tmp_path}/job\n{name}_ENV = NAME={name}\n"
    (tmp_path / "cron.conf").write_text(text, encoding="utf-8")
    options = ("--config", str(tmp_path / "cron.conf"), "--benchmarks", "--once", "--format", "json")
    found = crondor("hook", "daemon-cron", *options)
    assert (found.status, found.err) == (0, "")
    (ad,) = [line for line in map(json.loads, found.lines) if "manager" in line]
    assert ad["attributes"].keys() == {"STARTD_CRON_A", "BENCHMARKS_MIPS", "BENCHMARKS_KFLOPS", "LastUpdate"}


def test_a_knob_that_nobody_reads_is_said(tmp_path: Path) -> None:
    """A misspelt one, one of a job that is not in the list; nothing else is kept from running."""
    path = tmp_path / "cron.conf"
    lines = (
        "use FEATURE : StartdCronOneShot(A, /bin/true)",
        "STARTD_CRON_A_PREFX = X_",
        "STARTD_CRON_B_MODE = OneShot",
        "SCHEDD_CRON_JOBLST = C",
    )
    path.write_text("\n".join(lines), encoding="utf-8")
    found = crondor("hook", "daemon-cron", "--config", str(path), "--once")
    assert found.status == 0
    assert "did you mean STARTD_CRON_A_PREFIX?" in found.err
    assert "STARTD_CRON_B_MODE is not read by HTCondor" in found.err
    assert "did you mean SCHEDD_CRON_JOBLIST?" in found.err
