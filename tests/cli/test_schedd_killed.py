"""`crondor queue edit`, hold and release are all or nothing, whenever the process is killed."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from crondor.classad import ClassAd
from crondor.job_queue import read_log
from crondor.schedd.embedded import LOG, EmbeddedSchedd
from tests.cli.running import NOW, NOW_EPOCH, PROGRAM, SLOWEST, environment

JOBS = 100
KILLS = int(os.environ.get("CRONDOR_KILLS", "6"))
COMMANDS = (
    ("edit", "--constraint", "true", "--set", "Mark={}", "--set", "Note=strcat(Owner, {})"),
    ("hold", "--constraint", "true", "--reason", "{}"),
    ("release", "--constraint", "true", "--reason", "{}"),
)


def _start(folder: Path, number: int) -> subprocess.Popen[bytes]:
    name, *options = COMMANDS[number % len(COMMANDS)]
    arguments = ["queue", name, "--queue", str(folder), "--now", NOW, *(each.format(number) for each in options)]
    return subprocess.Popen(
        [*PROGRAM, *arguments], env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _states(folder: Path) -> set[tuple[str | None, ...]]:
    """Return the different states that the jobs are in, as whoever reads the log sees them."""
    mirror = read_log(folder / LOG).mirror
    names = ("Mark", "Note", "JobStatus", "HoldReason", "ReleaseReason", "NumHolds")
    assert sum(1 for _ in mirror) == JOBS
    return {tuple(mirror.text(job, name) for name in names) for job in mirror}


@pytest.mark.skipif(os.name != "posix", reason="a process is killed by a signal")
def test_all_jobs_are_changed_or_none_whenever_the_command_is_killed(tmp_path: Path) -> None:
    """Every job has what the last command that came so far has written; CRONDOR_KILLS says how many are killed."""
    folder = tmp_path / "queue"
    with EmbeddedSchedd(folder, clock=lambda: NOW_EPOCH) as schedd:
        schedd.submit([ClassAd({"Owner": "alice", "ProcId": number}) for number in range(JOBS)])
    begun = time.monotonic()
    with _start(folder, 0) as whole:
        assert whole.wait(SLOWEST) == 0
    length = time.monotonic() - begun
    dice = random.Random(0)  # noqa: S311 - test data
    killed = 0
    for number in range(1, KILLS + 1):
        with _start(folder, number) as child:
            try:
                child.wait(length * dice.uniform(0.3, 1.1))
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                killed += 1
            child.wait(SLOWEST)
        assert len(_states(folder)) == 1, number
    assert killed
