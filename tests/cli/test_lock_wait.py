"""Commands that change a queue wait for the one that has it, say so, and give up after some seconds."""

from pathlib import Path

import pytest

from crondor.classad import ClassAd
from crondor.schedd.embedded import EmbeddedSchedd
from crondor_cli.kit import services
from crondor_cli.kit.services import PATIENCE, LockWait
from tests.cli.running import NOW, NOW_EPOCH, crondor

JOB = "executable = /bin/date\ncron_minute = 0\nqueue\n"
COMMANDS = (
    ("submit", ("queue", "submit", "job.sub")),
    ("hold", ("queue", "hold", "1.0")),
    ("release", ("queue", "release", "1.0")),
    ("edit", ("queue", "edit", "1.0", "--set", "JobPrio=5")),
    ("recalc", ("queue", "recalc", "--apply")),
    ("guard", ("queue", "guard", "--once", "--apply")),
    ("rm", ("queue", "rm", "1.0")),
    ("route rm", ("route", "rm", "-all")),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a queue with a job that was routed, and has no DeferralTime yet."""
    (tmp_path / "job.sub").write_text(JOB)
    with EmbeddedSchedd(tmp_path / "queue", clock=lambda: NOW_EPOCH) as schedd:
        schedd.submit([ClassAd({"Owner": "alice", "RouteName": "A", "CronMinute": "0"})])
    return tmp_path


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_a_command_waits_for_the_queue(
    folder: Path, name: str, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says what it waits for, and does its work when the other one has done."""
    other = EmbeddedSchedd(folder / "queue", clock=lambda: NOW_EPOCH)
    wait = LockWait.__call__

    def done_meanwhile(self: LockWait) -> bool:
        goes_on = wait(self)
        other.close()
        return goes_on

    monkeypatch.setattr(LockWait, "__call__", done_meanwhile)
    monkeypatch.chdir(folder)
    result = crondor(*command, "--queue", "queue", "--now", NOW)
    assert result.err.count("another process writes the queue in") == result.err.count("waiting up to") == 1
    assert "queue-locked" not in result.err
    assert (result.status, bool(result.out)) == (name == "release", True)


def test_it_gives_up_when_its_time_is_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By a clock that it was given."""
    now = 100.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    wait = LockWait(tmp_path, lambda: now, sleep)
    tries = 0
    while wait():
        tries += 1
    assert PATIENCE <= now - 100 < PATIENCE + 1
    assert tries > 10
    assert capsys.readouterr().err.count("waiting up to") == 1


def test_a_queue_that_stays_taken_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the lock's place, and nothing is changed."""
    monkeypatch.setattr(services, "PATIENCE", 0.0)
    with EmbeddedSchedd(folder / "queue", clock=lambda: NOW_EPOCH):
        before = (folder / "queue" / "job_queue.log").read_bytes()
        for _, command in COMMANDS:
            names = [str(folder / word) if word.endswith(".sub") else word for word in command]
            result = crondor(*names, "--queue", str(folder / "queue"), "--now", NOW)
            assert (result.status, result.out) == (1, "")
            assert "queue-locked" in result.err
            assert result.err.count("waiting up to") == 1
    assert (folder / "queue" / "job_queue.log").read_bytes() == before
