"""Sessions: a world whose programs really run, by the real clock."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from crondor.job.attributes import JobStatus
from crondor.job_queue import JobId
from crondor.pool.daemons.events import PoolEvent, PoolEventKind
from crondor.pool.daemons.starter import GRACE, Process, killing_of, process_of
from crondor.pool.local import supervisor
from crondor.pool.local.run_records import Records, RunState
from crondor.pool.local.session import Session, SessionPlan
from crondor.pool.settings import Exit, PoolSettings
from crondor.schedd.protocol import Hold
from tests.hooks.test_runner import ends

SLOWEST = 180.0  # seconds; whatever takes longer hangs, on a machine with much else to do as well


class Clock:
    """The real clock, which can be set."""

    def __init__(self) -> None:
        """Begin with the machine's."""
        self.ahead = 0.0

    def __call__(self) -> float:
        """Return epoch seconds."""
        return time.time_ns() / 1e9 + self.ahead


@pytest.fixture
def clock() -> Clock:
    """Return a clock."""
    return Clock()


@contextmanager
def session(folder: Path, clock: Clock, *ads: ClassAd, plan: SessionPlan = SessionPlan()) -> Iterator[Session]:  # noqa: B008 - frozen
    """Give a session with some jobs."""
    with Session(folder / "state", PoolSettings(), clock, plan) as made:
        if ads:
            made.submit("test", ads, range(len(ads)))
        made.begin()
        yield made


def job(folder: Path, script: str, **attributes: object) -> ClassAd:
    """Return the ad of a job that runs a script."""
    ad = ClassAd({"JobUniverse": 12, "Cmd": "/bin/sh", "Iwd": str(folder), "JobStatus": 1})
    ad.set("Arguments", f"-c '{script}'")
    for name, value in attributes.items():
        ad.set(name, value)
    return ad


def until(session: Session, holds: Callable[[], bool]) -> None:
    """Let time pass until something holds."""
    end = time.monotonic() + SLOWEST
    while not holds():
        assert time.monotonic() < end
        session.step(0.05)


def pids(path: Path) -> list[int]:
    """Return the numbers in a file."""
    return [int(line) for line in path.read_text(encoding="utf-8").split()] if path.exists() else []


# The signal ends the sleeper, and the shell only says that it was asked.
GROUP = 'trap "echo asked >> asked" USR1; sleep 300 & echo $! >> pids; echo $$ >> pids; while :; do wait; sleep 1; done'


@pytest.mark.parametrize("how", ["remove", "hold", "vacate"])
def test_a_program_taken_off_ends_with_its_group(how: str, tmp_path: Path, clock: Clock) -> None:
    """First by the signal the job names, then, when its time is up, by SIGKILL."""
    signals = {"RemoveKillSig": "SIGUSR1", "HoldKillSig": "SIGUSR1", "KillSig": "SIGUSR1", "KillSigTimeout": 3600}
    ad = job(tmp_path, GROUP, **signals)
    with session(tmp_path, clock, ad) as made:
        until(made, lambda: len(pids(tmp_path / "pids")) >= 2)
        group = pids(tmp_path / "pids")
        made.close()
        pool = made.pool
        done = {
            "remove": lambda: pool.remove(JobId(1, 0), "by test"),
            "hold": lambda: pool.hold(JobId(1, 0), Hold("by test")),
            "vacate": lambda: pool.vacate(JobId(1, 0)),
        }[how]()
        assert done
        until(made, (tmp_path / "asked").exists)
        assert any(map(supervisor.start_time, group))
        clock.ahead = 3600.0
        until(made, lambda: not made.has_more)
        assert all(map(ends, group))


DAEMON = "env -i sleep 300 & echo $! >> pids; echo $$ >> pids; wait"


@pytest.mark.parametrize("how", ["exits", "is removed"])
def test_a_daemon_that_a_program_leaves_behind_ends_with_it(how: str, tmp_path: Path, clock: Clock) -> None:
    """A session of its own, another parent and an empty environment do not hide it."""
    (tmp_path / "daemon").write_text(DAEMON)
    script = "(setsid sh daemon </dev/null >/dev/null 2>&1 &); while [ ! -e leave ]; do sleep 0.01; done"
    with session(tmp_path, clock, job(tmp_path, script)) as made:
        until(made, lambda: len(pids(tmp_path / "pids")) >= 2)
        daemon = pids(tmp_path / "pids")
        if how == "exits":
            (tmp_path / "leave").touch()
        else:
            assert made.pool.remove(JobId(1, 0), "by test")
        made.close()
        until(made, lambda: not made.has_more)
        assert not any(map(supervisor.start_time, daemon))


def test_a_released_job_never_has_two_programs(tmp_path: Path, clock: Clock) -> None:
    """What is left of the one before goes at once when the next one starts."""
    script = 'trap "" TERM; echo $$ >> pids; while :; do sleep 0.05; done'
    with session(tmp_path, clock, job(tmp_path, script)) as made:
        until(made, lambda: len(pids(tmp_path / "pids")) >= 1)
        made.pool.hold(JobId(1, 0), Hold("by test"))
        made.pool.release(JobId(1, 0), "by test")
        clock.ahead = 6.0  # a job that asks for no time waits some seconds between two turns
        until(made, lambda: len(pids(tmp_path / "pids")) >= 2)
        first, second = pids(tmp_path / "pids")
        assert (supervisor.start_time(first), bool(supervisor.start_time(second))) == ("", True)
        made.leave()
        assert not supervisor.start_time(second)


def test_policies_see_how_a_program_ended(tmp_path: Path, clock: Clock) -> None:
    """OnExitHold and OnExitRemove; a signal is an end as well."""
    ads = [job(tmp_path, script) for script in ("exit 4", "kill -9 $$", "exit 0")]
    ads[0].set_text("OnExitHold", "ExitCode == 4")
    ads[1].set_text("OnExitRemove", "ExitBySignal =!= true || ExitSignal =!= 9")
    ads[2].set_text("LeaveJobInQueue", "true")
    with session(tmp_path, clock, *ads, plan=SessionPlan(once=True)) as made:
        until(made, lambda: not made.has_more)
        jobs = {ad.value("ProcId"): ad for ad in made.embedded.jobs()}
    assert [jobs[n].value("JobStatus") for n in range(3)] == [JobStatus.HELD, JobStatus.IDLE, JobStatus.COMPLETED]
    assert jobs[1].value("ExitSignal") == 9
    assert [float(str(jobs[0].value(name))) >= 0 for name in ("RemoteUserCpu", "RemoteSysCpu")] == [True, True]


def test_a_program_that_fails_is_tried_again_as_often_as_max_retries_says(tmp_path: Path, clock: Clock) -> None:
    """Its completions are counted, which the schedd does not do for local jobs: there it would never end."""
    ad = job(tmp_path, "echo $$ >> pids; exit 3")
    ad.set_text("OnExitRemove", "NumJobCompletions > JobMaxRetries || ExitCode =?= 0")
    ad.set("JobMaxRetries", 2)
    with session(tmp_path, clock, ad) as made:

        def is_over() -> bool:
            clock.ahead += 10  # the time between two tries; how many a step sees does not matter
            return not made.has_more

        until(made, is_over)
        assert made.embedded.jobs() == []
    assert len(pids(tmp_path / "pids")) == 3


def test_a_periodic_expression_removes_a_running_job(tmp_path: Path, clock: Clock) -> None:
    """And its program ends."""
    ad = job(tmp_path, "echo $$ >> pids; sleep 300")
    ad.set_text("PeriodicRemove", "JobStatus == 2 && time() - JobCurrentStartDate >= 100")
    with session(tmp_path, clock, ad) as made:
        until(made, lambda: len(pids(tmp_path / "pids")) >= 1)
        clock.ahead = 200.0
        until(made, lambda: not made.has_more)
        assert not made.embedded.jobs()
    assert not supervisor.start_time(pids(tmp_path / "pids")[0])


def test_a_time_that_passed_while_the_machine_slept_is_missed(tmp_path: Path, clock: Clock) -> None:
    """The program does not start beyond its window: the job is held with code 20."""
    ad = job(tmp_path, "echo $$ >> pids", DeferralTime=int(clock()) + 100, DeferralWindow=5)
    with session(tmp_path, clock, ad) as made:
        made.step(0)
        assert made.embedded.jobs()[0].value("JobStatus") == JobStatus.RUNNING
        clock.ahead = 106.0
        made.step(0)
        (held,) = made.embedded.jobs()
    assert (held.value("JobStatus"), held.value("HoldReasonCode")) == (JobStatus.HELD, 20)
    assert not (tmp_path / "pids").exists()


def test_within_the_window_a_late_start_is_made_up(tmp_path: Path, clock: Clock) -> None:
    """A crontab job whose session was not there at its time runs when it is, before it gets another time."""
    ad = job(tmp_path, "echo $$ >> pids", CronMinute="0", CronHour="0", DeferralWindow=3000, DeferralPrepTime=0)
    clock.ahead = -(clock() % 86_400) - 3600  # an hour before midnight (UTC)
    ad.set("ScheddInterval", 300)
    with session(tmp_path, clock, ad) as made:
        made.step(0)
        made.close()
    clock.ahead += 3600 + 1000
    with session(tmp_path, clock) as made:
        until(made, (tmp_path / "pids").exists)
        until(made, lambda: not made.has_more)
    assert len(pids(tmp_path / "pids")) == 1


def test_a_suspended_program_stands_still(tmp_path: Path, clock: Clock) -> None:
    """And goes on."""
    held_up = "until [ -e go ]; do :; done"  # no vfork, whose parent would wait for a child that stands still
    seen: list[PoolEvent] = []
    with session(tmp_path, clock, job(tmp_path, "echo $$ >> pids; read x")) as made:
        made.pool.watchers.append(seen.append)
        until(made, lambda: len(pids(tmp_path / "pids")) >= 1 or not made.has_more)
        until(made, lambda: not made.has_more)
    assert [each.what for each in seen][-2:] == [
        PoolEventKind.ENDED,
        PoolEventKind.COMPLETED,
    ]  # nothing to read: it ends by itself
    seen.clear()
    (tmp_path / "pids").unlink()
    with session(tmp_path, clock, job(tmp_path, f"echo $$ >> pids; {held_up}; echo $$ >> pids")) as made:
        until(made, lambda: len(pids(tmp_path / "pids")) >= 1)
        made.pool.suspend(JobId(2, 0))
        (pid,) = pids(tmp_path / "pids")
        until(made, lambda: Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "T")
        (tmp_path / "go").touch()
        made.pool.resume(JobId(2, 0))
        until(made, lambda: not made.has_more)
    assert pids(tmp_path / "pids") == [pid, pid]


def test_a_session_that_finds_programs_no_job_wants_ends_them(tmp_path: Path, clock: Clock) -> None:
    """As when the queue was edited between two sessions."""
    with session(tmp_path, clock, job(tmp_path, "echo $$ >> pids; sleep 300")) as made:
        until(made, lambda: len(pids(tmp_path / "pids")) >= 1)
        made.embedded.remove(None, "by somebody else")
    with session(tmp_path, clock) as made:
        assert made.programs.running == 1
        until(made, lambda: not made.has_more)
    assert not supervisor.start_time(pids(tmp_path / "pids")[0])
    assert not list((tmp_path / "state" / "runs").iterdir())


def test_the_first_record_decides(tmp_path: Path) -> None:
    """A run that was called off cannot begin, and one that began cannot be called off."""
    records = Records(tmp_path)
    assert records.settle("late") is RunState.CALLED_OFF
    assert not supervisor.publish(str(tmp_path), "late.started", {"supervisor": [1, "1"]})
    me = [os.getpid(), supervisor.start_time(os.getpid())]
    assert supervisor.publish(
        str(tmp_path), "begun.started", {"supervisor": me, "program": me, "boot": supervisor.boot()}
    )
    assert records.settle("begun") is RunState.RUNS
    other = [os.getpid(), "1"]  # its number was given to another process
    supervisor.publish(
        str(tmp_path), "gone.started", {"supervisor": other, "program": other, "boot": supervisor.boot()}
    )
    assert records.settle("gone") is RunState.LOST
    supervisor.publish(str(tmp_path), "before.started", {"supervisor": me, "program": me, "boot": "of yesterday"})
    assert records.settle("before") is RunState.LOST
    supervisor.publish(str(tmp_path), "gone.ended", {"signal": 9, "user": 1.0, "system": 0.5})
    assert records.settle("gone") is RunState.ENDED
    ending = records.ending("gone")
    assert ending is not None
    assert ending.result == Exit(9, by_signal=True)


def test_what_an_ad_says_about_its_process() -> None:
    """Arguments and variables as HTCondor reads them, old syntax and new."""
    ad = ClassAd({"Cmd": "bin/x", "Iwd": "/here", "Args": "a 'b c' $(d)", "Env": "A=1;B=x y", "Err": "e", "Out": "e"})
    ad.set("AppendFiles", "e")
    made = process_of(ad)
    assert isinstance(made, Process)
    assert (made.executable, made.argv) == ("/here/bin/x", ["bin/x", "a", "'b", "c'", "$(d)"])
    assert made.environ == {"A": "1", "B": "x y", "_CONDOR_JOB_IWD": "/here"}
    assert [(what, path) for what, path, _ in made.files] == [("input", "/dev/null"), ("output", "e"), ("error", "e")]
    assert made.files[1][2] & os.O_APPEND
    ad.set("Arguments", "one 'two ''three''' four\"\"\"")
    made = process_of(ad)
    assert isinstance(made, Process)
    assert made.argv[1:] == ["one", "two 'three'", 'four"""']
    for name, value in (("Arguments", "'open"), ("Environment", "A=1 B"), ("Cmd", "")):
        bad = ad.copy()
        bad.set(name, value)
        refused = process_of(bad)
        assert isinstance(refused, Hold)
        assert refused.code == 6


def test_which_signal_ends_a_program() -> None:
    """The attribute's, else KillSig, else SIGTERM; what is no signal counts as not there."""
    ad = ClassAd({})
    assert killing_of(ad, "RemoveKillSig") == (signal.SIGTERM, GRACE)
    ad.set("KillSig", "SIGINT")
    ad.set("KillSigTimeout", 3)
    assert killing_of(ad, "RemoveKillSig") == (signal.SIGINT, 3)
    for value, expected in (("SIGUSR1", signal.SIGUSR1), (12, 12), ("nonsense", signal.SIGINT), (-1, signal.SIGINT)):
        ad.set("RemoveKillSig", value)
        assert killing_of(ad, "RemoveKillSig") == (expected, 3)


def test_a_program_of_a_job_that_was_released_meanwhile_goes_first(tmp_path: Path, clock: Clock) -> None:
    """Held and released while no session was there: the next one has only its own program."""
    script = 'trap "" TERM; echo $$ >> pids; while :; do sleep 0.05; done'
    with session(tmp_path, clock, job(tmp_path, script)) as made:
        until(made, lambda: len(pids(tmp_path / "pids")) >= 1)
        made.embedded.hold(None, Hold("by somebody else"))
        made.embedded.release(None, "by somebody else")
    with session(tmp_path, clock) as made:
        until(made, lambda: len(pids(tmp_path / "pids")) >= 2)
        first, second = pids(tmp_path / "pids")
        assert (supervisor.start_time(first), bool(supervisor.start_time(second))) == ("", True)
        made.leave()
