"""`crondor route run`: one poll, a dry one, and a router that runs until it is told to end."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.running import NOW, PROGRAM, SLOWEST, Result, crondor, environment

CONFIG = """JOB_ROUTER_ROUTE_NAMES = Site1
JOB_ROUTER_POLLING_PERIOD = 1
JOB_ROUTER_ROUTE_Site1 @=end
  REQUIREMENTS WantJobRouter
  UNIVERSE vanilla
@end
"""
JOB = "executable = /bin/true\nlog = job.log\n+WantJobRouter = true\nqueue\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a configuration and a queue of one job."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "routes.conf").write_text(CONFIG)
    (tmp_path / "job.sub").write_text(JOB)
    assert crondor("queue", "submit", "job.sub", "--queue", "queue", "--now", NOW).status == 0
    return tmp_path


def run(*arguments: str) -> Result:
    """Run the router over the folder's queue."""
    return crondor("route", "run", "--config", "routes.conf", "--queue", "queue", "--now", NOW, *arguments)


def jobs() -> list[str]:
    """Return the jobs of the queue, with who has them."""
    found = crondor("queue", "status", "--queue", "queue", "--format", "json", "--now", NOW)
    assert found.err == ""
    log = Path("queue/job_queue.log").read_text(encoding="utf-8")
    return [line.split(maxsplit=3)[3] for line in log.splitlines() if " Managed " in line]


@pytest.mark.usefixtures("folder")
def test_one_poll() -> None:
    """The job is taken over and its copy submitted; what is done is said."""
    found = run("--once")
    assert (found.status, found.err) == (0, "")
    assert [line.partition("JobRouter")[2] for line in found.lines[:3]] == [
        ": Found candidate job src=1.0,route=Site1",
        " (src=1.0,route=Site1): claimed job",
        " (src=1.0,dest=2.0,route=Site1): submitted job",
    ]
    assert jobs() == ['"External"']


@pytest.mark.usefixtures("folder")
def test_a_dry_poll_writes_nothing() -> None:
    """It says the same."""
    found = run("--dry-run")
    assert [line.rpartition(": ")[2] for line in found.lines[1:3]] == ["claimed job", "submitted job"]
    assert jobs() == []
    assert run("--dry-run").out == found.out


@pytest.mark.usefixtures("folder")
def test_the_log_as_json() -> None:
    """A line for each entry."""
    lines = [json.loads(line) for line in run("--once", "--log-format", "json").lines]
    assert [line["what"] for line in lines] == ["found", "claimed", "submitted", "not_yet"]
    assert lines[1] == {
        "time": 1795195625,
        "what": "claimed",
        "job": "src=1.0,route=Site1",
        "text": "JobRouter (src=1.0,route=Site1): claimed job",
    }


@pytest.mark.usefixtures("folder")
def test_what_cannot_be_routed() -> None:
    """A configuration without routes, a queue that is not there: status 1, and the reason."""
    Path("routes.conf").write_text("JOB_ROUTER_NAME = x\n", encoding="utf-8")
    found = run("--once")
    assert (found.status, found.out) == (1, "")
    assert "JobRouter is disabled." in found.err
    Path("routes.conf").write_text(CONFIG, encoding="utf-8")
    for option in ("--once", "--dry-run"):
        found = crondor("route", "run", "--config", "routes.conf", "--queue", "nowhere", option)
        assert (found.status, found.out) == (1, "")
        assert "there is no queue yet in nowhere" in found.err
    assert not Path("nowhere").exists()


@pytest.mark.usefixtures("folder")
def test_what_is_left_out_is_said() -> None:
    """A route that does not load, a clock that cannot be told: not in silence."""
    Path("routes.conf").write_text(
        CONFIG.replace("WantJobRouter", "WantJobRouter &&") + "JOB_ROUTER_ROUTE_NAMES = Site1 Site2", encoding="utf-8"
    )
    found = run("--once")
    assert (found.status, found.out) == (0, "")
    assert "routes.conf:4:32: error: route Site1 is left out: invalid REQUIREMENTS" in found.err
    assert "route Site2 is left out: " in found.err
    found = run()
    assert (found.status, found.out) == (2, "")
    assert "--now is for --once and --dry-run" in found.err


@pytest.mark.usefixtures("folder")
def test_the_copies_of_a_queue() -> None:
    """As condor_router_q shows them: counts by route and state, or one by one."""
    run("--once")
    shown = crondor("route", "q", "-S", "--queue", "queue")
    assert (shown.status, shown.err) == (0, "")
    assert [line.rstrip() for line in shown.lines] == [
        "   JOBS ST Route                GridResource",
        "      1  I Site1",
    ]
    assert crondor("route", "q", "-R", "--queue", "queue").lines[1:] == []
    assert crondor("route", "q", "-I", "--queue", "queue").lines[1].split() == ["1", "I", "Site1"]
    (job,) = crondor("route", "q", "-idle", "-route", "Site1", "--queue", "queue", "--format", "json").jobs
    assert (job["job"], job["routed_from"]) == ("2.0", "1.0")
    assert crondor("route", "q", "-held", "--queue", "queue", "--format", "json").jobs == []
    data = crondor("route", "q", "-S", "--queue", "queue", "--format", "json").data
    assert data["summary"] == [{"jobs": 1, "state": "I", "route": "Site1", "grid_resource": ""}]
    assert crondor("route", "q", "-constraint", "1 +", "--queue", "queue").status == 2


@pytest.fixture
def router(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A router that runs until it is told to end."""
    with started(folder) as running:
        yield running


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a router over the folder's queue."""
    command = [*PROGRAM, "route", "run", "--config", "routes.conf", "--queue", "queue", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=environment(PYTHONUNBUFFERED="1")
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def wait_for(running: subprocess.Popen[bytes], words: bytes) -> None:
    """Read what a router says until it has said something."""
    assert running.stdout is not None
    end = time.monotonic() + SLOWEST
    while time.monotonic() < end:
        line = running.stdout.readline()
        if words in line:
            return
        assert line, f"it ended before it said {words!r}"
    pytest.fail(f"it never said {words!r}")


def test_signals(router: subprocess.Popen[bytes], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGHUP reads the configuration anew, SIGTERM ends it with status 0; its lock goes with it."""
    monkeypatch.setattr("crondor_cli.kit.services.PATIENCE", 0.0)
    wait_for(router, b"submitted job")
    assert (folder / "queue" / "jobrouterLock").exists()
    (folder / "routes.conf").write_text(CONFIG.replace("Site1", "Site2"))
    router.send_signal(signal.SIGHUP)
    wait_for(router, b"routing table replaced")
    assert run("--once").status == 1
    router.send_signal(signal.SIGTERM)
    out, err = router.communicate(timeout=SLOWEST)
    assert (router.returncode, err) == (0, b""), (out, os.fsdecode(err))
    assert not (folder / "queue" / "jobrouterLock").exists()


def test_hooks_are_read_anew_too(folder: Path) -> None:
    """SIGHUP takes the hooks of the new configuration."""
    hook = folder / "hook.sh"
    hook.write_text("#!/bin/sh\ncat > /dev/null\n")
    hook.chmod(0o700)
    with started(folder, "--hooks") as running:
        wait_for(running, b"UPDATE_JOB_INFO: UNDEFINED")
        (folder / "routes.conf").write_text(f"{CONFIG}JOB_ROUTER_HOOK_KEYWORD = X\nX_HOOK_UPDATE_JOB_INFO = {hook}\n")
        running.send_signal(signal.SIGHUP)
        wait_for(running, f"UPDATE_JOB_INFO: {hook}".encode())


def test_a_bad_configuration_does_not_end_a_router(router: subprocess.Popen[bytes], folder: Path) -> None:
    """The table stays as it was, and the reason is said: no route, no text, no file. Without routes none is taken."""
    wait_for(router, b"submitted job")
    assert router.stderr is not None
    for text, why in (
        (b"#", b"JobRouter is disabled: no more jobs are taken"),
        (b"X = @=end", b"error: "),
        (b"X = \xff", b"error: "),
        (None, b"cannot read"),
    ):
        if text is None:
            (folder / "routes.conf").unlink()
        else:
            (folder / "routes.conf").write_bytes(text)
        router.send_signal(signal.SIGHUP)
        said = b""
        while b"is unchanged" not in said:
            line = router.stderr.readline()
            assert line, said
            said += line
        assert why in said
    router.send_signal(signal.SIGTERM)
    assert router.wait(SLOWEST) == 0
