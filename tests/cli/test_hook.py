"""`crondor hook` and `crondor queue advertise` on the command line."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import PROGRAM, SLOWEST, Result, crondor, environment
from tests.hooks.test_runner import ends

SLOT = 'Name = "slot1@here"\n'
JOB = 'Cmd = "/bin/date"\nJobUniverse = 5\nOwner = "alice"\n'
Made = Callable[[str, str], str]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Return a function that writes a file, executable where it is a script."""

    def write(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755 if text.startswith("#!") else 0o644)
        return str(path)

    return write


def run(*arguments: str) -> Result:
    """Run `crondor hook run` for JSON."""
    return crondor("hook", "run", *arguments, "--format", "json")


def test_a_translate_hook_that_does_well(made: Made) -> None:
    """It gets the route and the job, and its output is the copy."""
    script = made("translate", "#!/bin/sh\nsed 1,2d\necho Note = 1\n")
    found = run("translate_job", script, "--job", made("job", JOB), "--route", "R", "--universe", "12")
    data = json.loads(found.out)
    assert found.status == 0
    assert data["stdin"] == '[ Name = "R"; TargetUniverse = 12 ]\n------\n' + JOB
    assert data["consequence"]["action"] == "use-ad"
    assert data["consequence"]["ad"]["Note"] == "1"
    assert data["environment"]["PATH"] == "/usr/bin:/bin"


@pytest.mark.parametrize(
    ("lines", "name", "value"),
    [
        ("ExitBySignal = true\nExitSignal = 11\n", "_CONDOR_MAINJOB_EXIT_SIGNAL", "11"),
        ("ExitBySignal = false\nExitCode = 4\n", "_CONDOR_MAINJOB_EXIT_CODE", "4"),
    ],
)
def test_job_exit_hears_of_a_signal_or_a_code(lines: str, name: str, value: str, made: Made) -> None:
    """In its environment, as the starter tells it."""
    script = made("ended", "#!/bin/sh\nenv | grep MAINJOB\n")
    found = run("JOB_EXIT", script, "--job", made("job", JOB + lines))
    data = json.loads(found.out)
    assert data["stdout"] == f"{name}={value}\n"
    assert {each for each in data["environment"] if "MAINJOB" in each} == {name}


def test_a_prepare_hook_that_fails(made: Made) -> None:
    """The job is held; the starter's variables are there, and the files they name."""
    script = made("prepare", '#!/bin/sh\ncat "$_CONDOR_JOB_AD" "$_CONDOR_MACHINE_AD" >&2; echo "$1:$PWD"; exit 2\n')
    options = ("--job", made("job", JOB), "--slot", made("slot", SLOT), "--arg", "a b")
    found = run("PREPARE_JOB", script, *options)
    data = json.loads(found.out)
    assert found.status == 1
    assert data["stderr"] == JOB + SLOT
    assert data["stdout"] == f"a b:{data['environment']['_CONDOR_SCRATCH_DIR']}\n"
    assert data["environment"]["_CONDOR_SLOT"] == "slot1"
    assert (data["consequence"]["hold_reason_code"], data["consequence"]["hold_reason_subcode"]) == (19, 2)


def test_the_hooks_of_the_startd(made: Made) -> None:
    """FETCH_WORK gets the slot, REPLY_FETCH its answer and, where it accepts, the claim."""
    slot, job = made("slot", SLOT), made("job", JOB)
    found = run("FETCH_WORK", made("fetch", "#!/bin/sh\ncat >&2; echo 'Cmd = \"/bin/true\"'\n"), "--slot", slot)
    assert json.loads(found.out)["consequence"]["action"] == "offer-job"
    script = made("reply", '#!/bin/sh\necho "$1"\n')
    for answer, claim in (("accept", 'ClaimId = "c1"\n'), ("reject", "")):
        options = ("--slot", slot, "--job", job, "--answer", answer, "--claim", "c1")
        data = json.loads(run("REPLY_FETCH", script, *options).out)
        assert data["stdin"] == f"{JOB}-----\n{SLOT}{claim}"
        assert data["stdout"] == f"{answer}\n"


def test_the_attributes_of_a_fetched_job_are_checked(made: Made) -> None:
    """What the starter cannot do without; a slot that is divided must be told how much."""
    script = made("fetch", "#!/bin/sh\necho 'Cmd = \"/bin/true\"'; echo 'Owner = \"alice\"'; echo JobUniverse = 5\n")
    found = run("FETCH_WORK", script, "--slot", made("slot", SLOT))
    assert (found.status, json.loads(found.out)["diagnostics"]) == (0, [])
    found = run("FETCH_WORK", script, "--slot", made("divided", f"{SLOT}PartitionableSlot = true\n"))
    assert found.status == 1
    missing = [d["message"].split()[-1] for d in json.loads(found.out)["diagnostics"]]
    assert missing == ["RequestCpus", "RequestMemory", "RequestDisk"]


def test_a_program_that_may_not_be_called_is_no_hook(made: Made) -> None:
    """The router routes by itself; the starter, which HTCondor ends for it, holds the job here."""
    job, script = made("job", JOB), made("hook", "#!/bin/sh\n")
    Path(script).chmod(0o777)
    found = run("TRANSLATE_JOB", script, "--job", job)
    assert (found.status, json.loads(found.out)["consequence"]["action"]) == (1, "no-hook")
    said = json.loads(run("PREPARE_JOB", script, "--job", job).out)["consequence"]
    assert (said["action"], said["htcondor"]) == (
        "hold-job",
        "ends the starter before, and the job is Idle again, forever",
    )


def test_a_misspelt_hook_is_answered_with_the_nearest(made: Made) -> None:
    """The names are in capitals; one that is like none gets them all."""
    job = made("job", JOB)
    assert "did you mean TRANSLATE_JOB?" in crondor("hook", "run", "translate", "/bin/true", "--job", job).err
    assert "it is one of TRANSLATE_JOB, " in crondor("hook", "run", "xyz", "/bin/true", "--job", job).err
    options = ("--specs", str(Path(job).parent), "--as", "FETCHWORK")
    assert "did you mean FETCH_WORK?" in crondor("hook", "fetch-work", *options).err


def test_a_hook_that_hangs_is_ended(made: Made) -> None:
    """--timeout bounds it."""
    script = made("hang", "#!/bin/sh\nsleep 1000\n")
    data = json.loads(run("UPDATE_JOB_INFO", script, "--copy", made("job", JOB), "--timeout", "0.05").out)
    assert data["ended"] == "timed-out"
    assert data["consequence"]["action"] == "skip-poll"


@pytest.mark.parametrize(
    "arguments", [("FETCH_WORK",), ("JOB_FINALIZE",), ("PREPARE_JOB",), ("NO_HOOK",), ("EVICT_CLAIM", "--slot", "-")]
)
def test_what_is_missing_is_wrong_usage(arguments: tuple[str, ...]) -> None:
    """An ad that the hook needs, a type that is none."""
    found = crondor("hook", "run", arguments[0], "/bin/true", *arguments[1:])
    assert found.status == 2
    assert "Traceback" not in found.err


def test_cron_jobs_with_faults(made: Made) -> None:
    """A job that cannot run is a finding, and the others run."""
    good = made("good", "#!/bin/sh\necho A = 1\n")
    text = f"""STARTD_CRON_JOBLIST = GOOD BAD GONE
STARTD_CRON_GOOD_EXECUTABLE = {good}
STARTD_CRON_GOOD_MODE = OneShot
STARTD_CRON_BAD_EXECUTABLE = {good}
STARTD_CRON_BAD_MODE = Never
STARTD_CRON_GONE_EXECUTABLE = {good}.gone
STARTD_CRON_GONE_MODE = OneShot
"""
    found = crondor("hook", "daemon-cron", "--config", made("cron.conf", text), "--once", "--format", "json")
    lines = [json.loads(line) for line in found.lines]
    assert found.status == 1
    assert "hook-cron-mode" in found.err
    assert "hook-missing" in found.err
    assert lines[-1]["attributes"]["A"] == "1"
    assert crondor("hook", "daemon-cron", "--config", made("none.conf", "A = 1\n")).status == 2


def test_a_report_that_cannot_be_left_holds_no_job(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PREPARE_JOB exits with 0 where the journal is another user's, too; JOB_EXIT with 1."""
    made("hourly.sub", "executable = /bin/true\ncron_minute = 0\nqueue\n")
    options = ["hook", "fetch-work", "--specs", str(tmp_path), "--state", str(tmp_path / "state"), "--tz", "UTC"]
    options += ["--now", "2026-11-25 12:00"]
    job = crondor(*options).out + "ExitCode = 3\n"
    monkeypatch.setattr("crondor.hooks.fetch.journal.Journal._open", _not_permitted)
    for hook, status in (("PREPARE_JOB", 0), ("UPDATE_JOB_INFO", 1), ("JOB_EXIT", 1)):
        found = crondor(*options, "--as", hook, stdin=job)
        assert (found.status, "fetch-report" in found.err, found.out) == (status, True, "")
    (tmp_path / "state" / "reports").mkdir()
    found = crondor(*options, "--as", "JOB_EXIT", "exit", stdin=job)
    assert (found.status, found.out, found.err) == (0, "", "")
    monkeypatch.undo()
    (line,) = crondor(*options, "--list").out.splitlines()
    assert (line.split()[1], line[-8:]) == ("exited", "status 3")


@pytest.mark.parametrize(("lines", "folder"), [("", ""), ("initialdir = night\n", "/night"), ("iwd = /srv\n", None)])
def test_fetched_work_runs_in_its_folder(made: Made, tmp_path: Path, lines: str, folder: str | None) -> None:
    """The initialdir of a file is relative to the file's own folder, as its program is."""
    made("hourly.sub", f"executable = run\n{lines}cron_minute = 0\nqueue\n")
    options = ("--specs", str(tmp_path), "--state", str(tmp_path / "state"), "--tz", "UTC")
    fetched = crondor("hook", "fetch-work", *options, "--now", "2026-11-25 12:00").lines
    assert f'Iwd = "{"/srv" if folder is None else f"{tmp_path}{folder}"}"' in fetched
    assert f'Cmd = "{tmp_path}/run"' in fetched


def test_work_is_fetched_once(made: Made, tmp_path: Path) -> None:
    """The second slot gets nothing, and the list says who has it."""
    made("hourly.sub", "executable = /bin/true\ntransfer_executable = false\ncron_minute = 0\nqueue\n")
    made("bad.sub", "cron_minute = 99\nqueue\n")
    options = ("--specs", str(tmp_path), "--state", str(tmp_path / "state"), "--owner", "bob", "--tz", "UTC")
    now = ("--now", "2026-11-25 12:00")
    first = crondor("hook", "fetch-work", *options, *now)
    assert 'CrondorRun = "hourly.sub#0@1795608000"' in first.out
    assert 'Owner = "bob"' in first.out
    assert crondor("hook", "fetch-work", *options, *now).out == ""
    assert "offered" in crondor("hook", "fetch-work", *options, *now, "--list").out
    assert crondor("hook", "fetch-work", *options, "--as", "REPLY_FETCH").status == 2
    prepared = crondor("hook", "fetch-work", *options, "--as", "PREPARE_JOB", stdin="A = 1\n")
    assert (prepared.status, "fetch-unknown" in prepared.err) == (0, True)
    assert crondor("hook", "fetch-work", *options, "--as", "JOB_EXIT", "exit", stdin="A = 1\n").status == 1
    made("many.sub", "executable = /bin/true\ncron_minute = 0\nqueue 100000\n")
    assert "fetch-many" in crondor("hook", "fetch-work", *options, *now).err
    told = ("--state", str(tmp_path / "none"), "--specs", str(tmp_path / "none"))
    prepared = crondor("hook", "fetch-work", *told, "--as", "PREPARE_JOB", stdin=first.out)
    assert (prepared.status, "there is no journal" in prepared.err) == (0, True)
    (tmp_path / "state" / "fetched.journal").write_text("garbage\n", encoding="utf-8")
    damaged = crondor("hook", "fetch-work", *options, *now)
    assert (damaged.status, damaged.out) == (1, "")
    assert "fetch-journal" in damaged.err


def test_a_submit_file_advertises_each_of_its_jobs(made: Made) -> None:
    """As condor_q would count them; very many are refused."""
    text = "executable = /bin/date\ncron_minute = 0\nqueue "
    found = crondor(
        "queue", "advertise", "--spec", made("two.sub", f"{text}2\n"), "--now", "2026-11-25 12:30", "--tz", "UTC"
    )
    assert found.lines[:2] == ["CrondorJobs = 2", "CrondorIdle = 2"]
    assert all(f'Job = "1.{process}"' in found.lines[-2] for process in (0, 1))
    found = crondor("queue", "advertise", "--spec", made("many.sub", f"{text}1001\n"))
    assert (found.status, found.out) == (1, "")
    assert "has 1001 jobs" in found.err


def test_an_empty_queue_advertises_nothing_next(made: Made) -> None:
    """There is no Next without a start."""
    found = crondor("queue", "advertise", "--ads", made("none.ads", ""))
    assert found.status == 0
    assert found.lines[0] == "CrondorJobs = 0"
    assert "Next" not in found.out
    assert crondor("queue", "advertise", "--spec", made("a.sub", "queue\n"), "--ads", "-").status == 2


def test_files_that_are_no_jobs_stop_no_others(made: Made, tmp_path: Path) -> None:
    """A pipe, a folder, a link to nowhere, a file that anybody may write: each is said, and the good one is offered."""
    good = "executable = /bin/true\ntransfer_executable = false\n"
    made("hourly.sub", f"{good}cron_minute = 0\nqueue\n")
    Path(made("open.sub", f"{good}cron_minute = 0\nqueue\n")).chmod(0o666)
    made("moving.sub", f"{good}deferral_time = (CurrentTime + 60)\nqueue\n")
    made("nul.sub", "\0")
    os.mkfifo(tmp_path / "pipe.sub")
    (tmp_path / "folder.sub").mkdir()
    (tmp_path / "link.sub").symlink_to("nowhere")
    options = ("--specs", str(tmp_path), "--state", str(tmp_path / "state"), "--owner", "bob", "--tz", "UTC")
    found = crondor("hook", "fetch-work", *options, "--now", "2026-11-25 12:00")
    assert found.status == 1
    assert 'CrondorRun = "hourly.sub#0@' in found.out
    for name in ("open", "pipe", "folder", "link"):
        assert f"error: {name}.sub: " in found.err
    assert "moving.sub#0: its DeferralTime differs at each evaluation" in found.err
    assert "CRN002" in found.err
    tmp_path.chmod(0o777)
    found = crondor("hook", "fetch-work", *options, "--now", "2026-11-25 13:00")
    assert (found.status, found.out) == (1, "")
    assert "world-writable" in found.err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="links are for administrators there")
def test_owner_and_text_are_of_one_file(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose a link's target is counts for what is read, also where the link leads elsewhere a moment later."""
    options = ("--specs", str(tmp_path), "--state", str(tmp_path / "state"), "--tz", "UTC")
    texts = ("executable = /bin/true", "executable = /bin/false")
    first, second = (made(f"{n}.txt", f"{text}\ncron_minute = 0\nqueue\n") for n, text in enumerate(texts))
    link, number = tmp_path / "a.sub", Path(first).stat().st_ino
    link.symlink_to(first)

    def swapping(name: str) -> None:
        look = getattr(os, name)

        def looked(*path: object, **more: object) -> os.stat_result:
            found: os.stat_result = look(*path, **more)
            if found.st_ino == number and link.is_symlink() and link.readlink() != Path(second):
                link.unlink()
                link.symlink_to(second)
            return found

        monkeypatch.setattr(os, name, looked)

    swapping("stat")
    swapping("fstat")
    found = crondor("hook", "fetch-work", *options, "--now", "2026-11-25 12:00")
    assert link.readlink() == Path(second)
    assert 'Cmd = "/bin/true"' in found.out


def test_a_user_without_a_home_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No entry in the password file says where it could be."""

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", home)
    found = crondor("hook", "fetch-work", "--specs", str(tmp_path))
    assert (found.status, "with --state" in found.err) == (2, True)


def test_a_refusal_told_twice_takes_nothing_from_another_slot(made: Made, tmp_path: Path) -> None:
    """The second slot has the run by then."""
    made("hourly.sub", "executable = /bin/true\ncron_minute = 0\nrequirements = true\nqueue\n")
    options = ["hook", "fetch-work", "--specs", str(tmp_path), "--state", str(tmp_path / "state"), "--tz", "UTC"]
    options += ["--now", "2026-11-25 11:59:30"]

    def slot(number: int) -> str:
        version = 'CondorVersion = "$CondorVersion: 25.14.0 2026-01-01 $"'
        facts = 'OpSys = "LINUX"\nArch = "X86_64"\nDisk = 99999999\nMemory = 99999\nCpus = 8\nHasFileTransfer = true\n'
        return f'Name = "slot{number}@here"\n{version}\nHasJobDeferral = true\n{facts}'

    job = crondor(*options, stdin=slot(1)).out
    assert "CrondorRun" in job
    replies = [f"{job}-----\n{slot(number)}" for number in (1, 2)]
    reject = (*options, "--as", "REPLY_FETCH", "reject")
    assert crondor(*reject, stdin=replies[0]).status == 0
    assert crondor(*options, stdin=slot(2)).out == job
    assert crondor(*reject, stdin=replies[0]).status == 0
    assert crondor(*options, stdin=slot(3)).out == ""
    assert crondor(*reject, stdin=replies[1]).status == 0
    assert crondor(*options, stdin=slot(3)).out == job


def test_two_slots_ask_at_once(made: Made, tmp_path: Path) -> None:
    """Of two processes one gets the run."""
    made("hourly.sub", "executable = /bin/true\ntransfer_executable = false\ncron_minute = 0\nqueue\n")
    options = ["hook", "fetch-work", "--specs", str(tmp_path), "--state", str(tmp_path / "state"), "--tz", "UTC"]
    options += ["--owner", "bob", "--now", "2026-11-25 12:00"]
    both = [
        subprocess.Popen([*PROGRAM, *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment())
        for _ in range(2)
    ]
    said = [process.communicate(timeout=SLOWEST)[0] for process in both]
    assert sorted(text.count(b"CrondorRun") for text in said) == [0, 1]
    assert [process.returncode for process in both] == [0, 0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_hook_first(number: signal.Signals, made: Made, tmp_path: Path) -> None:
    """Whoever ends the command leaves nothing running."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    script = made("hang", f"#!/bin/sh\nsleep 1000 &\necho $! > {pipe}\nsleep 1000\n")
    command = [*PROGRAM, "hook", "run", "PREPARE_JOB", script, "--job", made("job", JOB)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        child = int(pipe.read_text(encoding="ascii"))
        process.send_signal(number)
        out, err = process.communicate(timeout=SLOWEST)
    assert (process.returncode, out, err) == (128 + number, b"", b"")
    assert ends(child)


def test_what_a_flood_shows_is_short(made: Made) -> None:
    """A line of four megabytes is cut; what HTCondor would do is about floods, not about signals."""
    script = made("flood", "#!/bin/sh\nhead -c 9000000 /dev/zero\n")
    found = crondor("hook", "run", "UPDATE_JOB_INFO", script, "--copy", made("job", JOB))
    assert found.status == 1
    assert len(found.out) < 20_000
    assert "more characters" in found.out
    assert "HTCondor     reads 10240 bytes of it" in found.out


def _not_permitted(*_: object, **__: object) -> int:
    raise PermissionError(13, "Permission denied")
