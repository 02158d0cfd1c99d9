"""Fetched work over crashes: a process that ends at any point of the journal, and a slot over a day of virtual time."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from crondor.classad import ClassAd
from crondor.hooks.fetch.driver import FetchingSlot
from crondor.hooks.fetch.journal import FetchRunState, Journal, JournalFault
from crondor.hooks.fetch.source import KEY, FetchableJob, WorkSource
from crondor.hooks.kinds import HookType
from tests.hooks.crashing import crashing

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked and crash")

ROOT = Path(__file__).resolve().parents[2]
NOON = 1_795_608_000  # 2026-11-25 12:00 UTC
HOUR = 3600
JOB = ClassAd(
    {
        "Cmd": "/bin/true",
        "Owner": "alice",
        "Iwd": "/",
        "JobUniverse": 5,
        "CronMinute": "0",
        "DeferralPrepTime": 600,
        "DeferralWindow": 900,
    }
)


def source(folder: Path, *names: str) -> WorkSource:
    """Return a source of jobs of each full hour."""
    return WorkSource([FetchableJob(name, JOB) for name in names or ("a.sub#0",)], Journal(folder), "UTC")


def offered(work: WorkSource, now: int = NOON) -> str:
    """Return which run is offered, empty: none."""
    job = work.offer(None, now).job
    return "" if job is None else str(job.value(KEY))


def test_a_run_is_offered_at_most_once_wherever_a_process_ends(tmp_path: Path) -> None:
    """Before the journal has it, it is offered later; from then on never again, and other jobs are not kept waiting."""
    totals: list[int] = []
    is_crash = True
    while is_crash:
        folder = tmp_path / str(len(totals))
        is_crash, first = crashing(len(totals), lambda: offered(source(folder)))  # noqa: B023 - called at once
        after = [offered(source(folder)), offered(source(folder))]
        heard = [key for key in (first, *after) if key]
        assert heard in ([], [f"a.sub#0@{NOON}"])
        assert offered(source(folder, "b.sub#0")) == f"b.sub#0@{NOON}"
        assert offered(source(folder), NOON + HOUR) == f"a.sub#0@{NOON + HOUR}"
        totals.append(len(heard))
    assert totals[0] == totals[-1] == 1
    assert 0 in totals
    assert len(totals) > 8


@pytest.mark.parametrize(
    ("hook", "accepted", "state"),
    [
        (HookType.REPLY_FETCH, True, FetchRunState.ACCEPTED),
        (HookType.REPLY_FETCH, False, FetchRunState.REJECTED),
        (HookType.PREPARE_JOB, True, FetchRunState.PREPARED),
        (HookType.JOB_EXIT, True, FetchRunState.EXITED),
    ],
)
def test_what_a_hook_tells_is_lost_or_whole(
    hook: HookType, accepted: bool, state: FetchRunState, tmp_path: Path
) -> None:
    """After a crash the run stands where it stood or where it is now, and nothing runs twice."""
    is_crash, points, seen = True, 0, set()
    while is_crash:
        work = source(tmp_path / str(points))
        job = work.offer(None, NOON).job
        assert job is not None
        told = job

        def tell(work: WorkSource = work, told: ClassAd = told) -> str:
            run = work.hear(hook, told, NOON + 1, accepted=accepted).run
            return "" if run is None else run.state.value

        is_crash, _ = crashing(points, tell)
        found = work.journal.read()[f"a.sub#0@{NOON}"].state
        assert found in {FetchRunState.OFFERED, state}
        seen.add(found)
        again = offered(work, NOON + 2)
        assert bool(again) is (found is FetchRunState.REJECTED)
        if not again:
            run = work.hear(hook, job, NOON + 3, accepted=accepted).run
            assert run is not None
            assert run.state is state
        points += 1
    assert seen == {FetchRunState.OFFERED, state}


def test_a_long_journal_is_shortened_or_left_as_it_was(tmp_path: Path) -> None:
    """Whoever has a run keeps it wherever the process ends that shortens the journal."""
    is_crash, points = True, 0
    while is_crash:
        work = source(tmp_path / str(points), "b.sub#0")
        job = source(tmp_path / str(points)).offer(None, NOON).job
        assert job is not None
        work.hear(HookType.PREPARE_JOB, job, NOON)
        with work.journal.path.open("a", encoding="utf-8") as file:
            line = '{"key": "old", "state": "exited", "time": 1, "last_start": 1, "x": "%s"}\n'
            file.write(line % ("x" * 200_000) * 6)
        is_crash, first = crashing(points, lambda: offered(work))  # noqa: B023 - called at once
        heard = [key for key in (first, offered(work), offered(work)) if key]
        assert heard in ([], [f"b.sub#0@{NOON}"])
        assert work.journal.read()[f"a.sub#0@{NOON}"].state is FetchRunState.PREPARED
        points += 1
    assert set(work.journal.read()) == {f"a.sub#0@{NOON}", f"b.sub#0@{NOON}"}
    assert points > 12


def test_a_disk_that_is_full_gives_no_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is on disk in part was not offered, and is cut off."""
    work = source(tmp_path)
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, data: real(file, data[:20]))
        with pytest.raises(JournalFault, match="No space left"):
            work.offer(None, NOON)
    assert offered(work) == f"a.sub#0@{NOON}"


def test_a_journal_that_is_none_stops_nobody(tmp_path: Path) -> None:
    """A pipe, a link, a folder in its place: said at once."""
    makes: tuple[Callable[[Path], None], ...] = (os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero"))
    for number, make in enumerate(makes):
        work = source(tmp_path / str(number))
        work.journal.path.parent.mkdir()
        make(work.journal.path)
        with pytest.raises(JournalFault):
            work.offer(None, NOON)
        with pytest.raises(JournalFault):
            work.journal.read()


def test_a_writer_that_has_stopped_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook that hangs would hold its slot."""
    monkeypatch.setattr("crondor.hooks.fetch.journal._WAIT", 0.01)
    work = source(tmp_path)
    with work.journal.writing(is_first=True), pytest.raises(JournalFault, match="another process"):
        work.offer(None, NOON)
    assert offered(work)


class _Job:
    """A job of ten minutes that waits for its time."""

    def __init__(self, job: ClassAd, now: float) -> None:
        self.until = max(now, float(str(job.value("DeferralTime")))) + 600

    def attributes(self, now: float) -> Mapping[str, object]:
        return {"JobState": "Running", "RemoteUserCpu": now}

    def ended(self, now: float) -> Mapping[str, object] | None:
        return {"ExitBySignal": False, "ExitCode": 0} if now >= self.until else None

    def stop(self, now: float) -> None:
        self.until = now


HOOKS = ("FETCH_WORK", "REPLY_FETCH", "PREPARE_JOB", "JOB_EXIT")


def test_a_slot_over_the_day_runs_each_due_job_once(tmp_path: Path) -> None:
    """Each hook is a process that reads a virtual clock; in some hours one of them ends in the middle of its writing.

    None has its run twice, and only that is lost which a crash has cost: the journal says of each how far it came.
    """
    specs = tmp_path / "specs"
    specs.mkdir()
    text = "executable = /bin/true\ntransfer_executable = false\nrequirements = true\nrequest_disk = 1\n"
    (specs / "hourly.sub").write_text(f"{text}cron_minute = 0\ncron_window = 2400\nqueue\n", encoding="utf-8")
    program, clock, plan = Path(__file__).with_name("crashing.py"), tmp_path / "clock", tmp_path / "plan"
    knobs = {"STARTD_JOB_HOOK_KEYWORD": "CRONDOR"}
    for name in HOOKS:
        path = tmp_path / name
        options = f'--specs {specs} --state {tmp_path / "state"} --tz UTC --now "$(cat {clock})" --owner alice'
        path.write_text(
            f'#!/bin/sh\nexec {sys.executable} {program} hook fetch-work {options} --as {name} "$@"\n', encoding="utf-8"
        )
        path.chmod(0o755)
        knobs[f"CRONDOR_HOOK_{name}"] = str(path)
    matched = {"Arch": "X86_64", "OpSys": "LINUX", "Memory": 9000, "Disk": 10**9, "HasJobDeferral": True}
    matched |= {"HasFileTransfer": True, "Start": True, "Requirements": True, "FetchWorkDelay": 1800}
    matched["CondorVersion"] = "$CondorVersion: 25.14.0 2026-11-20 $"
    started: list[int] = []

    def execute(job: ClassAd, now: float) -> _Job:
        started.append(int(str(job.value("DeferralTime"))))
        return _Job(job, now)

    environ = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT}:{ROOT / 'cli'}", "PLAN": str(plan)}

    def slot() -> FetchingSlot:
        ad = ClassAd({"Name": "slot1@here", **matched})
        return FetchingSlot("slot1", ad, knobs, execute, environ, str(tmp_path))

    crashes = {
        1: "FETCH_WORK 1",  # in the middle of its line: offered at the next fetch
        2: "FETCH_WORK 9",  # written down, and not told
        3: "PREPARE_JOB 1",
        4: "JOB_EXIT 1",
    }
    one = slot()
    for hour in range(6):
        if hour in crashes:
            plan.write_text(crashes[hour], encoding="utf-8")
        if hour == 5:
            one = slot()  # the startd itself begins anew, and knows of no claim
        for minute in (0, 30):
            clock.write_text(f"2026-11-25 {12 + hour}:{minute:02}:05", encoding="utf-8")
            list(one.step(NOON + hour * HOUR + minute * 60 + 5))
        assert not plan.exists(), hour
    assert [(time - NOON) // HOUR for time in started] == [0, 1, 4, 5]
    runs = {(run.last_start - NOON) // HOUR: run.state for run in Journal(tmp_path / "state").read().values()}
    exited = dict.fromkeys((0, 1, 5), FetchRunState.EXITED)
    assert runs == exited | {2: FetchRunState.OFFERED, 3: FetchRunState.LOST, 4: FetchRunState.LOST}
