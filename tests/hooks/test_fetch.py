"""Fetched work: a slot's decisions, crondor as the source of work, and the loop of both."""

import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from crondor.classad import ClassAd, Expression
from crondor.diagnostics import CrondorError
from crondor.hooks.fetch.driver import (
    FetchingSlot,
    SlotState,
    check_cod,
    conclude_fetch,
    decide,
    fetch_delay,
    fetch_keyword,
    slot_input,
)
from crondor.hooks.fetch.journal import FetchRunState, Journal, JournalFault, RunRecord
from crondor.hooks.fetch.source import KEY, FetchableJob, WorkSource
from crondor.hooks.kinds import (
    HookConsequence,
    HookType,
    conclude_starter,
    prepare_arguments,
    starter_keyword,
    update_intervals,
)
from crondor.hooks.runner import HookCall, HookRunner

Script = Callable[..., str]
ROOT = Path(__file__).resolve().parents[2]
ENVIRON = {"PATH": "/usr/bin:/bin"}
NOON = 1_795_608_000  # 2026-11-25 12:00 UTC
JOB = ClassAd({"Cmd": "/bin/true", "Owner": "alice", "Iwd": "/", "JobUniverse": 5, "CronMinute": "0"})
LENGTHS = {"DeferralPrepTime": 600, "DeferralWindow": 900}


def test_the_keyword_of_a_slot() -> None:
    """The slot's own comes first."""
    knobs = {"STARTD_JOB_HOOK_KEYWORD": "DATABASE", "SLOT4_JOB_HOOK_KEYWORD": "WEB"}
    assert [fetch_keyword(f"slot{n}", knobs) for n in (1, 4)] == ["DATABASE", "WEB"]
    assert fetch_keyword("slot1", {}) == ""


def test_the_keyword_of_a_job_on_the_machine() -> None:
    """A forced keyword, the job's, the default; a job's unknown one keeps the default away."""
    job = ClassAd({"HookKeyword": "NONE"})
    assert starter_keyword(job, {"STARTER_JOB_HOOK_KEYWORD": "A", "STARTER_DEFAULT_JOB_HOOK_KEYWORD": "B"}) == "A"
    assert starter_keyword(job, {"STARTER_DEFAULT_JOB_HOOK_KEYWORD": "B"}) == "NONE"
    assert starter_keyword(ClassAd(), {"STARTER_DEFAULT_JOB_HOOK_KEYWORD": "B"}) == "B"


def test_arguments_of_prepare_hooks() -> None:
    """Single quotes keep blanks, double quotes are characters."""
    knobs = {"K_HOOK_PREPARE_JOB_ARGS": "--one \"two three\" 'four five'"}
    assert prepare_arguments("K", knobs) == ("--one", '"two', 'three"', "four five")


def test_when_a_starter_updates() -> None:
    """After 8 seconds and then every 300, unless the configuration says otherwise."""
    first, between = "STARTER_INITIAL_UPDATE_INTERVAL", "STARTER_UPDATE_INTERVAL"
    assert update_intervals({}) == (8, 300)
    assert update_intervals({first: "20", between: "60"}) == (20, 60)
    assert update_intervals({between: "5"}) == (5, 5)
    assert update_intervals({first: "soon", between: "0"}) == (1, 1)


def test_the_delay_of_fetching() -> None:
    """The manual's example: 300 seconds, and none for a slot that is Claimed and Idle."""
    slot = ClassAd({"State": "Claimed", "Activity": "Idle"})
    text = 'ifThenElse(State == "Claimed" && Activity == "Idle", 0, 300)'
    slot["FetchWorkDelay"] = Expression(text)
    assert fetch_delay(slot) == 0
    slot["Activity"] = "Busy"
    assert fetch_delay(slot) == 300
    slot["FetchWorkDelay"] = "soon"
    assert fetch_delay(slot) == 300
    assert fetch_delay(ClassAd()) == 300


def test_what_a_slot_takes() -> None:
    """Its Requirements decide, and a running job is only preempted by a higher rank."""
    slot = ClassAd({"Requirements": Expression("TARGET.Good"), "Rank": Expression("TARGET.R")})
    good = ClassAd({"Good": True, "R": 5})
    assert decide(good, slot, SlotState.UNCLAIMED).accepted
    assert not decide(ClassAd(), slot, SlotState.UNCLAIMED).accepted
    assert not decide(good, slot, SlotState.PREEMPTING).accepted
    assert not decide(good, slot, SlotState.CLAIMED, 5).accepted
    assert decide(good, slot, SlotState.CLAIMED, 4).accepted
    assert decide(good, slot, SlotState.IDLE_FETCHED, 9).accepted


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("echo 'Cmd = \"/bin/true\"'; exit 7", HookConsequence.OFFER_JOB),
        ("echo 'Cmd = \"/bin/true\"'; echo bad line", HookConsequence.NO_WORK),
        ("true", HookConsequence.NO_WORK),
        ("echo", HookConsequence.OFFER_JOB),
        ("echo a name = 1", HookConsequence.OFFER_JOB),
        ("echo 'Cmd = \"/bin/true\"'; kill -9 $$", HookConsequence.NO_WORK),
    ],
)
def test_what_fetch_work_means(text: str, action: HookConsequence, script: Script) -> None:
    """The exit status does not count; one bad line voids the answer."""
    assert conclude_fetch(HookRunner().run(HookCall(script(text), environ=ENVIRON))).action is action


@pytest.mark.parametrize(
    ("text", "action", "code", "subcode"),
    [
        ("echo A = 1", HookConsequence.START_JOB, 0, 0),
        ("exit 2", HookConsequence.HOLD_JOB, 19, 2),
        ("echo HookStatusCode = 190", HookConsequence.HOLD_JOB, 19, 190),
        ("echo HookStatusCode = 390", HookConsequence.IDLE_JOB, 0, 0),
        ("echo HookStatusCode = 0; exit 5", HookConsequence.START_JOB, 0, 0),
        ("echo a name = 1; echo HookStatusCode = 6", HookConsequence.HOLD_JOB, 19, 6),
        ("echo HookStatusCode = 7.9", HookConsequence.HOLD_JOB, 19, 7),
        ("echo HookStatusCode = true", HookConsequence.HOLD_JOB, 19, 1),
        ("echo HookStatusCode = 4294967298", HookConsequence.HOLD_JOB, 19, 2),
        ("echo 'HookStatusCode = \"5\"'; exit 3", HookConsequence.HOLD_JOB, 19, 3),
        ("echo HookStatusCode = 5; kill -9 $$", HookConsequence.IDLE_JOB, 0, 0),
        ("echo A = 1; echo bad; echo HookStatusCode = 5", HookConsequence.START_JOB, 0, 0),
    ],
)
def test_what_prepare_job_means(text: str, action: HookConsequence, code: int, subcode: int, script: Script) -> None:
    """HookStatusCode wins over the status; what follows a bad line does not count."""
    run = HookRunner().run(HookCall(script(text), environ=ENVIRON))
    found = conclude_starter(HookType.PREPARE_JOB, run)
    assert (found.action, found.hold_code, found.hold_subcode) == (action, code, subcode)


def test_the_example_of_the_manual_replaces_cmd(script: Script) -> None:
    """JAVA5: a prepare hook overwrites the executable with that of a certain Java."""
    path = script("echo 'Cmd = \"/usr/java/java5/bin/java\"'")
    knobs = {"JAVA5_HOOK_PREPARE_JOB": path}
    slot = FetchingSlot("slot1", ClassAd({"Start": True}), knobs, _Job, ENVIRON, str(Path(path).parent))
    slot.job = ClassAd({"Cmd": "/bin/false", "Args": "MyClass", "HookKeyword": "JAVA5"})
    steps = list(slot._begin(0))
    assert slot.job.value("Cmd") == "/usr/java/java5/bin/java"
    assert steps[-1].text == '"/usr/java/java5/bin/java"'


def test_a_starter_ends_where_a_hook_may_not_be_called(script: Script) -> None:
    """Nothing is prepared, updated or run then; nor without Cmd, nor with arguments that cannot be read."""
    good, bad = script("true"), script("true", name="bad")
    Path(bad).chmod(0o777)
    ad, folder = ClassAd({"Start": True}), str(Path(good).parent)
    for added, job in (
        ({"K_HOOK_JOB_EXIT": bad}, ClassAd({"Cmd": "/bin/true"})),
        ({"K_HOOK_PREPARE_JOB_ARGS": "'"}, ClassAd({"Cmd": "/bin/true"})),
        ({}, ClassAd({"Owner": "alice"})),
    ):
        slot = FetchingSlot("slot1", ad, {"K_HOOK_PREPARE_JOB": good, **added}, _Job, ENVIRON, folder)
        slot.job = ClassAd({**job, "HookKeyword": "K"})
        assert [step.what for step in slot._begin(0)] == ["not started"]
        assert slot.state is SlotState.UNCLAIMED


def test_a_fetching_slot_tells_its_state(script: Script, tmp_path: Path) -> None:
    """FetchWorkDelay goes by State and Activity; a fetch after a job counts from the last one."""
    log = tmp_path / "log"
    program = script(f"grep -E '^(State|Activity) ' >> {log}; [ -e {log}.2 ] || echo 'Cmd = \"/bin/true\"'; > {log}.2")
    delay = 'ifThenElse(State == "Claimed" && Activity == "Idle", 3, 60)'
    ad = ClassAd({"Start": True, "FetchWorkDelay": Expression(delay)})
    knobs = {"STARTD_JOB_HOOK_KEYWORD": "K", "K_HOOK_FETCH_WORK": program}
    slot = FetchingSlot("slot1", ad, knobs, _Job, ENVIRON, str(tmp_path))
    steps = [(now, step.what) for now in (0, 10, 12) for step in slot.step(now)]
    assert [each for each in steps if each[1] == "FETCH_WORK"] == [(0, "FETCH_WORK"), (10, "FETCH_WORK")]
    states = [line.split(" = ")[1] for line in log.read_text().splitlines()]
    assert states == ['"Idle"', '"Unclaimed"', '"Idle"', '"Claimed"']


def test_an_answer_that_is_void_leaves_the_claim(script: Script, tmp_path: Path) -> None:
    """Only an answer without work makes a slot give up an idle claim (FetchClient::hookExited)."""
    knobs = {"STARTD_JOB_HOOK_KEYWORD": "K", "K_HOOK_FETCH_WORK": script("echo bad line")}
    slot = FetchingSlot("slot1", ClassAd({"Start": True}), knobs, _Job, ENVIRON, str(tmp_path))
    slot.state = SlotState.IDLE_FETCHED
    assert [step.what for step in slot.step(0)] == ["FETCH_WORK"]
    assert slot.state is SlotState.IDLE_FETCHED


def test_attributes_of_a_fetched_job() -> None:
    """What the starter needs, and of which type."""
    assert check_cod(JOB) == []
    bad = ClassAd({"Cmd": "true", "Iwd": 5, "RequestCpus": "one", "JobUniverse": 9})
    messages = " ".join(d.message for d in check_cod(bad, is_partitionable=True))
    for part in ("no Owner", "no RequestDisk", "Iwd = 5", 'RequestCpus = "one"', "not a full path", "JobUniverse = 9"):
        assert part in messages


def test_the_claim_is_a_line_that_can_be_read() -> None:
    """HTCondor prints the quotes inside a claim as they are."""
    text = slot_input(ClassAd({"A": 1}), ClassAd({"B": 2}), '<x>#[E="NO";]')
    assert text == 'A = 1\n-----\nB = 2\nClaimId = "<x>#[E=\\"NO\\";]"\n'


def source(tmp_path: Path, *names: str, **attributes: object) -> WorkSource:
    """Return a source of jobs that run at each full hour, from ten minutes before to fifteen after."""
    ad = JOB.copy()
    for name, value in {**LENGTHS, **attributes}.items():
        ad[name] = value
    return WorkSource([FetchableJob(name, ad) for name in names or ("a.sub#0",)], Journal(tmp_path / "state"), "UTC")


def key(source: WorkSource, now: int, slot: ClassAd | None = None) -> str | None:
    """Return which run is offered."""
    job = source.offer(slot, now).job
    value = None if job is None else job.value(KEY)
    return value if isinstance(value, str) else None


def told(work: WorkSource, hook: HookType, job: ClassAd, now: int, **more: Any) -> RunRecord:  # noqa: ANN401 - of hear
    """Return what became of a run when a hook told of it."""
    run = work.hear(hook, job, now, **more).run
    assert run is not None
    return run


def test_a_run_is_offered_in_its_time_and_once(tmp_path: Path) -> None:
    """From the prep time before it until the end of the window; a new process knows it, too."""
    assert key(source(tmp_path), NOON - 601) is None
    assert key(source(tmp_path), NOON - 600) == f"a.sub#0@{NOON}"
    assert key(source(tmp_path), NOON - 599) is None
    assert key(source(tmp_path), NOON + 900) is None
    assert key(source(tmp_path, "b.sub#0"), NOON + 900) == f"b.sub#0@{NOON}"
    assert key(source(tmp_path, "c.sub#0"), NOON + 901) is None


def test_a_fetched_job_has_one_time_and_no_schedule(tmp_path: Path) -> None:
    """The starter waits for DeferralTime by itself."""
    job = source(tmp_path).offer(None, NOON - 5).job
    assert job is not None
    assert job.value("DeferralTime") == NOON
    assert "CronMinute" not in job


def test_a_refused_run_goes_to_another_slot(tmp_path: Path) -> None:
    """It comes after those that nobody has refused."""
    work = source(tmp_path, "a.sub#0", "b.sub#0")
    job = work.offer(ClassAd({"Name": "slot1"}), NOON).job
    assert job is not None
    assert told(work, HookType.REPLY_FETCH, job, NOON, accepted=False).rejections == 1
    assert key(work, NOON) == f"b.sub#0@{NOON}"
    assert key(work, NOON) == f"a.sub#0@{NOON}"
    assert key(work, NOON) is None


def test_a_run_that_does_not_fit_the_slot_stays(tmp_path: Path) -> None:
    """The startd does not look at what the job requires, so crondor does."""
    work = source(tmp_path, Requirements=Expression("TARGET.Memory > 100"))
    (finding,) = work.offer(ClassAd({"Memory": 50}), NOON).findings
    assert (finding.kind, finding.help) == ("fetch-no-match", "a.sub#0: TARGET.Memory > 100: 50 > 100")
    assert key(work, NOON, ClassAd({"Memory": 500})) == f"a.sub#0@{NOON}"


def test_what_the_hooks_tell_is_kept_in_order(tmp_path: Path) -> None:
    """Late and repeated hooks change nothing that is further along."""
    work = source(tmp_path)
    job = work.offer(None, NOON).job
    assert job is not None
    assert told(work, HookType.REPLY_FETCH, job, NOON).state is FetchRunState.ACCEPTED
    assert told(work, HookType.REPLY_FETCH, job, NOON, accepted=False).state is FetchRunState.ACCEPTED
    assert told(work, HookType.UPDATE_JOB_INFO, job, NOON).state is FetchRunState.PREPARED
    assert told(work, HookType.PREPARE_JOB, job, NOON).state is FetchRunState.PREPARED
    job["JobState"] = "Running"
    assert told(work, HookType.UPDATE_JOB_INFO, job, NOON).state is FetchRunState.RUNNING
    job["ExitCode"] = 3
    ended = told(work, HookType.JOB_EXIT, job, NOON + 9, reason="exit")
    assert ended.state is FetchRunState.EXITED
    assert ended.said["ExitCode"] == "3"
    assert told(work, HookType.UPDATE_JOB_INFO, job, NOON + 10).state is FetchRunState.EXITED
    assert key(work, NOON + 20) is None
    with pytest.raises(CrondorError, match="nothing is known"):
        told(work, HookType.JOB_EXIT, ClassAd({KEY: "other"}), NOON)


def test_a_line_cut_short_by_a_crash_is_cut_off(tmp_path: Path) -> None:
    """What was whole before it counts, and the next event stands on a line of its own."""
    work = source(tmp_path)
    assert key(work, NOON) is not None
    path = work.journal.path
    whole = path.read_bytes()
    for cut in range(1, len(whole)):
        path.write_bytes(whole + whole[:cut])
        assert key(source(tmp_path), NOON) is None
    assert path.read_bytes() == whole


def test_a_journal_that_is_damaged_gives_no_work(tmp_path: Path) -> None:
    """Otherwise a run might have its second time."""
    work = source(tmp_path)
    work.journal.path.parent.mkdir()
    for damage in (b"{}\n", b"garbage\n", b"\x00\xff\n", b'{"key": 1, "state": "x", "time": 1, "last_start": 1}\n'):
        work.journal.path.write_bytes(damage)
        with pytest.raises(JournalFault, match="line 1 is not an event"):
            work.offer(None, NOON)


def test_many_slots_at_a_time_get_a_run_once(tmp_path: Path) -> None:
    """Eight slots ask at once for five runs."""
    names = [f"{name}.sub#0" for name in "abcde"]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: key(source(tmp_path, *names), NOON), range(8)))
    assert sorted(each for each in found if each) == [f"{name}@{NOON}" for name in names]


def test_a_long_journal_forgets_what_is_over(tmp_path: Path) -> None:
    """Runs that nobody can be offered any more are left out when it is compacted."""
    work = source(tmp_path)
    with work.journal.writing(is_first=True) as writer:
        for n in range(20):
            writer.write(f"old{n}", FetchRunState.EXITED, n, n, said="x" * 60_000)
    assert key(work, NOON) is not None
    assert list(work.journal.read()) == [f"a.sub#0@{NOON}"]
    assert key(work, NOON) is None


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links are for administrators there")
def test_a_link_beside_a_long_journal_is_not_followed(tmp_path: Path) -> None:
    """Whose the folder is could have root write the journal over any file."""
    other = tmp_path / "other"
    other.write_text("precious")
    work = _long(tmp_path)
    work.journal.path.with_suffix(".new").symlink_to(other)
    assert key(work, NOON) is not None
    assert list(work.journal.read()) == [f"a.sub#0@{NOON}"]
    assert (other.read_text(), work.journal.path.is_symlink()) == ("precious", False)


def test_a_run_is_offered_where_the_journal_cannot_be_shortened(tmp_path: Path) -> None:
    """It is written down already: a fault after that would have nobody run it."""
    work = _long(tmp_path)
    work.journal.path.with_suffix(".new").mkdir()
    assert key(work, NOON) is not None
    assert work.journal.read()[f"a.sub#0@{NOON}"].state is FetchRunState.OFFERED
    assert key(work, NOON) is None


def _long(folder: Path) -> WorkSource:
    work = source(folder)
    with work.journal.writing(is_first=True) as writer:
        for n in range(20):
            writer.add(f"old{n}", FetchRunState.EXITED, n, n, said="x" * 60_000)
    return work


class _Ended:
    """A job that has ended in some way."""

    def __init__(self, ending: dict[str, object]) -> None:
        self.ending = ending

    def attributes(self, now: float) -> Mapping[str, object]:
        return {"JobState": "Running", "Now": now}

    def ended(self, now: float) -> Mapping[str, object] | None:
        return {**self.ending, "Now": now}

    def stop(self, now: float) -> None:
        self.ending["Now"] = now


class _Job:
    """A job that takes ten seconds."""

    def __init__(self, job: ClassAd, now: float) -> None:
        self.job, self.until = job, now + 10

    def attributes(self, now: float) -> Mapping[str, object]:
        return {"JobState": "Running", "RemoteUserCpu": now}

    def ended(self, now: float) -> Mapping[str, object] | None:
        return {"ExitBySignal": False, "ExitCode": 0} if now >= self.until else None

    def stop(self, now: float) -> None:
        self.until = now


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        ({"ExitBySignal": True, "ExitSignal": 9, "ExitCode": 0}, "EXIT_SIGNAL=9"),
        ({"ExitBySignal": False, "ExitCode": 3}, "EXIT_CODE=3"),
        ({"ExitCode": 0}, "EXIT_CODE=0"),
        ({"ExitSignal": 15, "ExitBySignal": True}, "EXIT_SIGNAL=15"),
        ({"ExitCode": 3.9, "ExitBySignal": 0}, "EXIT_CODE=3"),
        ({"ExitBySignal": True, "ExitCode": 1}, ""),
        ({"ExitCode": "three"}, ""),
    ],
)
def test_job_exit_is_told_how_the_program_ended(ending: dict[str, object], said: str, script: Script) -> None:
    """By its signal, else its exit code, never both; no other hook hears of it."""
    path = script("env | grep -o 'EXIT_.*=.*' || true")
    knobs = {"STARTER_JOB_HOOK_KEYWORD": "K", "STARTD_JOB_HOOK_KEYWORD": "K"}
    knobs |= {f"K_HOOK_{kind}": path for kind in ("FETCH_WORK", "PREPARE_JOB", "UPDATE_JOB_INFO", "JOB_EXIT")}
    slot = FetchingSlot("slot1", ClassAd({"Requirements": True}), knobs, _Job, ENVIRON, "/")
    slot.job, slot._running = JOB, _Ended(ending)
    told = {step.what: step.run.stdout.strip() for step in slot.step(0) if step.run is not None}
    assert told == {"UPDATE_JOB_INFO": "", "JOB_EXIT": said, "FETCH_WORK": ""}


def test_a_slot_pulls_crontab_work_from_crondor(tmp_path: Path) -> None:
    """The whole loop, each hook a process of its own: fetched, accepted, prepared, updated, ended, and never again."""
    specs = tmp_path / "specs"
    specs.mkdir()
    text = (
        "executable = /bin/true\ntransfer_executable = false\nrequirements = true\ncron_minute = 0\ncron_window = 60\n"
    )
    (specs / "hourly.sub").write_text(f"{text}queue\n", encoding="utf-8")
    knobs = {"STARTD_JOB_HOOK_KEYWORD": "CRONDOR"}
    hooks = ("FETCH_WORK", "REPLY_FETCH", "PREPARE_JOB", "UPDATE_JOB_INFO", "JOB_EXIT", "EVICT_CLAIM")
    program = f"{sys.executable} -c 'from crondor_cli.main import main; main()' hook fetch-work"
    for name in hooks:
        path = tmp_path / name
        options = f"--specs {specs} --state {tmp_path / 'state'} --tz UTC --now '2026-11-25 12:00:05' --owner alice"
        path.write_text(f'#!/bin/sh\nexec {program} {options} --as {name} "$@"\n', encoding="utf-8")
        path.chmod(0o755)
        knobs[f"CRONDOR_HOOK_{name}"] = str(path)
    matched = {"Arch": "X86_64", "OpSys": "LINUX", "Memory": 9000, "Disk": 10**9, "HasJobDeferral": True}
    matched |= {"HasFileTransfer": True, "Start": True, "Requirements": True}
    matched["CondorVersion"] = "$CondorVersion: 25.14.0 2026-11-20 $"
    slot_ad = ClassAd({"Name": "slot1@here", "FetchWorkDelay": 5, **matched})
    environ = {**ENVIRON, "PYTHONPATH": f"{ROOT}:{ROOT / 'cli'}"}
    slot = FetchingSlot("slot1", slot_ad, knobs, _Job, environ, str(tmp_path))
    words = [step.what for now in (0, 8, 10, 16) for step in slot.step(now)]
    assert words == [
        *("FETCH_WORK", "accepted", "REPLY_FETCH", "UPDATE_JOB_INFO", "PREPARE_JOB", "started"),
        *("UPDATE_JOB_INFO", "FETCH_WORK"),
        *("ended", "UPDATE_JOB_INFO", "JOB_EXIT"),
        *("FETCH_WORK", "claim given up"),
    ]
    assert slot.state is SlotState.UNCLAIMED
    runs = list(Journal(tmp_path / "state").read().values())
    assert [(run.key, run.state, run.slot) for run in runs] == [
        (f"hourly.sub#0@{NOON}", FetchRunState.EXITED, "slot1@here")
    ]
