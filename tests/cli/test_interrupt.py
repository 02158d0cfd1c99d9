"""Ctrl-C typed at a terminal: what is left on the screen is what was said, and nothing of a picture or of ^C."""

import os
from pathlib import Path

import pytest

from crondor.classad import ClassAd
from crondor.schedd.embedded import EmbeddedSchedd
from crondor_cli.kit import services
from crondor_cli.kit.services import PATIENCE, LockWait
from tests.cli.running import NOW, NOW_EPOCH, crondor
from tests.cli.terminal import CTRL_C, Seen, on_screen

LATER = "deferral_time = 4000000000"
ROUTE = "JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A = REQUIREMENTS true\n"
CRON = "STARTD_CRON_JOBLIST = A\nSTARTD_CRON_A_MODE = Periodic\nSTARTD_CRON_A_PERIOD = 1h\n"


def interrupted(
    folder: Path,
    *arguments: str,
    at: tuple[str, ...],
    columns: int = 80,
    term: str = "xterm",
    claimed: str | None = None,
) -> Seen:
    """Type Ctrl-C each time a line with the next of some texts has ended: a key within a line would erase it."""
    left = list(at)
    behind = 0

    def react(sent: str, keys: int) -> None:
        nonlocal behind
        if left and "\n" in sent[behind:].partition(left[0])[2]:
            behind = len(sent)
            left.pop(0)
            os.write(keys, CTRL_C)

    seen = on_screen(*arguments, folder=folder, react=react, columns=columns, env={"TERM": term, "COLUMNS": claimed})
    assert left == []
    assert "^C" in seen.sent
    return seen


def submit(folder: Path, *lines: str) -> None:
    """Write job.sub."""
    (folder / "job.sub").write_text("\n".join(["universe = local", *lines, "queue", ""]), encoding="utf-8")


def test_a_waiting_run_leaves_no_picture(tmp_path: Path) -> None:
    """What happened, and how to go on."""
    submit(tmp_path, "executable = /bin/true", LATER)
    seen = interrupted(tmp_path, "run", "job.sub", at=("waits for",))
    assert seen.status == 0
    assert seen.screen[0].endswith("  1.0    job.sub:4  submitted")
    assert seen.screen[1:] == ["1 idle in .crondor/job.sub: crondor run continues with it"]


def test_a_picture_with_wide_letters_goes_too(tmp_path: Path) -> None:
    """A line that is wider than the terminal would begin another one, of which nobody knows; COLUMNS may say more."""
    submit(tmp_path, "executable = /bin/true", LATER)
    wide = "日本語日本語日.sub"
    (tmp_path / "job.sub").rename(tmp_path / wide)
    seen = interrupted(tmp_path, "run", wide, at=("waits",), columns=40, claimed="80")
    assert "waits" not in "\n".join(seen.screen)


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_two_of_them_end_what_runs(tmp_path: Path, term: str) -> None:
    """The first waits for the programs, the second does not."""
    submit(tmp_path, "executable = /bin/sleep", "arguments = 1000", "deferral_time = 1", "deferral_window = 4000000000")
    seen = interrupted(tmp_path, "run", "job.sub", at=("started", "ending:"), term=term)
    assert seen.status == 130
    assert [line for line in seen.screen if line.startswith(("ending", "ended"))] == [
        "ending: 1 program still runs; another Ctrl-C ends it at once",
        "ended at once",
    ]
    assert ("^C" in "\n".join(seen.screen)) == (term == "dumb")  # which takes nothing back, and begins a line


def test_a_router_leaves_a_clean_line(tmp_path: Path) -> None:
    """It ends between two polls."""
    submit(tmp_path, "executable = /bin/true")
    (tmp_path / "r.conf").write_text(ROUTE, encoding="utf-8")
    crondor("queue", "submit", "--queue", str(tmp_path / "q"), str(tmp_path / "job.sub"))
    words = ("route", "run", "--config", "r.conf", "--queue", "q")
    seen = interrupted(tmp_path, *words, at=("JobRouter",), columns=200)
    assert seen.status == 0
    assert "^C" not in "\n".join(seen.screen)


def test_daemon_cron_shows_its_ads(tmp_path: Path) -> None:
    """Which begin a line."""
    (tmp_path / "c.conf").write_text(f"{CRON}STARTD_CRON_A_EXECUTABLE = /bin/true\n", encoding="utf-8")
    seen = interrupted(tmp_path, "hook", "daemon-cron", "--config", "c.conf", at=("ended",))
    assert seen.status == 0
    assert "^C" not in "\n".join(seen.screen)
    assert "slot1@localhost" in seen.screen


def test_watching_ends_with_130(tmp_path: Path) -> None:
    """And leaves what it has shown."""
    submit(tmp_path, "executable = /bin/true", "cron_hour = 3", "cron_minute = 0")
    seen = interrupted(tmp_path, "next", "job.sub", "--watch", at=("Ctrl-C ends it.",))
    assert (seen.status, seen.screen[-1]) == (130, "Watching 1 folder; Ctrl-C ends it.")


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
