"""What other processes ask of a running session: taken up once, answered, or taken back."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crondor.job.attributes import JobStatus
from crondor.job_queue import JobId
from crondor.pool.local import supervisor
from crondor.pool.local.run_records import FOLDER, Request
from crondor.pool.local.session import Session
from tests.pool.test_session import Clock, job, session, until

FIRST, SECOND = JobId(1, 0), JobId(1, 1)


@pytest.fixture
def clock() -> Clock:
    """Return a clock."""
    return Clock()


def asked(running: Session, what: str, *jobs: str, **more: object) -> dict[str, Any]:
    """Return what a session answers to a request."""
    request = {"what": what, "jobs": jobs, "constraint": None, "reason": "for a test", **more}
    asking = Request(running.folder, request)
    found: list[dict[str, Any]] = []

    def has_answered() -> bool:
        answer = asking.answer()
        if answer is not None:
            found.append(answer)
        return answer is not None

    until(running, has_answered)
    return found[0]


def status(running: Session, which: JobId) -> int:
    """Return the JobStatus of a job, as the disk has it."""
    return int(running.embedded.mirror.text(which, "JobStatus") or 0)


@pytest.fixture
def is_running(tmp_path: Path) -> Callable[[], bool]:
    """Return a function that says whether two programs have begun."""
    return lambda: (tmp_path / "pids").exists() and len((tmp_path / "pids").read_text().split()) > 1


def test_running_jobs_are_held_released_and_removed(
    tmp_path: Path, clock: Clock, is_running: Callable[[], bool]
) -> None:
    """Their programs end, they start again, they leave; what is named and not there is said."""
    ads = [job(tmp_path, "echo $$ >> pids; exec sleep 300") for _ in range(2)]
    with session(tmp_path, clock, *ads) as running:
        until(running, is_running)
        answer = asked(running, "hold", "1.0", "7", "8.1")
        assert (answer["done"], answer["not_found"], answer["missing"]) == (1, 2, ["8.1", "7"])
        assert (status(running, FIRST), status(running, SECOND)) == (JobStatus.HELD, JobStatus.RUNNING)
        assert running.embedded.mirror.ad(FIRST).value("HoldReason") == "for a test"
        assert asked(running, "hold", "1.0")["already"] == 1
        assert asked(running, "release", "1.1")["bad_status"] == 1
        assert asked(running, "release", "1.0")["done"] == 1
        until(running, lambda: len((tmp_path / "pids").read_text().split()) > 2)
        assert asked(running, "rm", constraint="ProcId >= 0")["done"] == 2
        until(running, lambda: not running.programs.running)
        assert not running.has_more
        assert not list(running.embedded.mirror)


def test_running_jobs_are_edited(tmp_path: Path, clock: Clock, is_running: Callable[[], bool]) -> None:
    """Under a condition; what the session itself goes by is refused."""
    ads = [job(tmp_path, "echo $$ >> pids; exec sleep 300") for _ in range(2)]
    with session(tmp_path, clock, *ads) as running:
        until(running, is_running)
        answer = asked(running, "edit", "1", condition="ProcId == 1", values={"JobPrio": "2 + 3"})
        assert answer == {"edited": ["1.1"], "unchanged": ["1.0"], "missing": []}
        assert running.embedded.mirror.ad(SECOND).value("JobPrio") == 5
        for name in ("JobStatus", "ProcId", "crondorruntoken"):
            assert asked(running, "edit", "1.0", condition="true", values={name: "1"})["faults"][0][0] == "schedd-fixed"
        asked(running, "rm", "1")


def test_a_new_schedule_counts_at_once(tmp_path: Path, clock: Clock) -> None:
    """Nobody has to begin the session anew."""
    ad = job(tmp_path, "true", CronMinute="0", CronHour="3", DeferralWindow=0, DeferralPrepTime=300)
    clock.ahead = 43_200 - clock() % 86_400  # noon (UTC): both times are those of the next day
    with session(tmp_path, clock, ad) as running:
        until(running, lambda: running.embedded.mirror.text(FIRST, "DeferralTime") is not None)
        before = running.embedded.mirror.text(FIRST, "DeferralTime")
        values = {"CronMinute": '"30"'}
        assert asked(running, "edit", "1.0", condition="true", values=values)["edited"] == ["1.0"]
        until(running, lambda: running.embedded.mirror.text(FIRST, "DeferralTime") != before)
        assert int(running.embedded.mirror.text(FIRST, "DeferralTime") or 0) - int(before or 0) == 1800


def test_what_is_taken_back_never_happens(tmp_path: Path, clock: Clock) -> None:
    """And what was taken up cannot be taken back."""
    request = {"what": "hold", "jobs": ["1.0"], "constraint": None, "reason": ""}
    with session(tmp_path, clock, job(tmp_path, "exec sleep 300")) as running:
        asking = Request(running.folder, request)
        assert asking.withdraw()
        assert not asking.withdraw()
        running.step(0)
        assert status(running, FIRST) == JobStatus.RUNNING
        asking = Request(running.folder, request)
        running.step(0)
        assert not asking.withdraw()
        assert asking.answer() is not None
        assert status(running, FIRST) == JobStatus.HELD


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100_000,
        '{"by": [1',
        "7",
        '{"what": "hold"}',
        json.dumps({"what": "nothing", "jobs": ["1.0"], "constraint": None, "reason": "", "by": ["PID", ""]}),
        json.dumps({"what": "hold", "jobs": 3, "constraint": None, "reason": "", "by": ["PID", ""]}),
        json.dumps({"what": "hold", "jobs": ["1.0"], "constraint": "((", "reason": "", "by": ["PID", ""]}),
        json.dumps({"what": "hold", "jobs": ["1.0"], "constraint": None, "reason": "", "by": ["PID", "1"]}),
    ],
)
def test_what_is_no_request_does_nothing(text: str, tmp_path: Path, clock: Clock) -> None:
    """Neither does that of a process which is no longer there."""
    with session(tmp_path, clock, job(tmp_path, "exec sleep 300")) as running:
        folder = running.folder / FOLDER
        (folder / "x.asked").write_text(text.replace('"PID"', str(os.getpid())))
        os.mkfifo(folder / "pipe.asked")
        (folder / "folder.asked").mkdir()
        running.step(0)
        assert status(running, FIRST) == JobStatus.RUNNING
        assert not (folder / "x.asked").exists()
        running.leave()


def test_a_removed_folder_ends_what_is_to_come(tmp_path: Path, clock: Clock) -> None:
    """Nothing more starts, and a program can still be ended: its records are gone, its process is not."""
    ads = [job(tmp_path, "echo $$ >> pids; exec sleep 300"), job(tmp_path, "true", DeferralTime=int(clock()) + 3600)]
    with session(tmp_path, clock, *ads) as running:
        until(running, (tmp_path / "pids").exists)
        running.step(0)
        running.folder.rename(tmp_path / "elsewhere")
        assert running.step(0)
        assert running.is_closed
        assert not running.is_there
        running.leave()
        assert not running.programs.running
    assert (tmp_path / "elsewhere" / "session").exists()  # it belongs to whoever has the folder now


def test_a_record_that_does_not_fit_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a record would be read as none, or as something else."""
    monkeypatch.setattr(os, "write", lambda _descriptor, text: len(text) - 1)
    with pytest.raises(OSError, match="No space left"):
        supervisor.publish(str(tmp_path), "x.asked", {"what": "hold"})
    assert not list(tmp_path.iterdir())
