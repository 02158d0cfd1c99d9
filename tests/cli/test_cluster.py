"""``--cluster``: a Dask cluster prints the same bytes as one process, also if a worker is killed."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

from crondor_cli.kit import ads
from crondor_cli.kit.parallel import Sharing
from tests.cli.running import PROGRAM, SLOWEST, crondor, environment

ROUTES = """JOB_ROUTER_ROUTE_NAMES = A, B
JOB_ROUTER_ROUTE_A @=r
  REQUIREMENTS WantRoute =?= true && RequestMemory < 50
  UNIVERSE VANILLA
  MaxJobs = 100000
  MaxIdleJobs = 100000
@r
JOB_ROUTER_ROUTE_B @=r
  REQUIREMENTS Owner == "u3"
  SET Requirements TARGET.HasX
@r
"""
JOBS = 1500


class Workers:
    """A scheduler of Dask and its workers, each a process."""

    def __init__(self) -> None:
        """Start the scheduler."""
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self._processes = [self._start("scheduler", "--host", "127.0.0.1", "--port", str(port))]
        self.workers: list[subprocess.Popen[bytes]] = []

    def add(self, name: str) -> None:
        """Start a worker."""
        self.workers.append(self._start("worker", self.address, "--nthreads", "1", "--name", name, "--no-nanny"))

    def client(self) -> Any:  # noqa: ANN401 - distributed has no types
        """Connect to the scheduler."""
        make: Any = Client
        return make(self.address, set_as_default=False)

    def end(self) -> None:
        """End all."""
        for each in (*self.workers, *self._processes):
            each.kill()
            each.wait()

    @staticmethod
    def _start(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:], "--no-dashboard"]
        return subprocess.Popen(command, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Workers]:
    """Two workers."""
    made = Workers()
    for name in ("w1", "w2"):
        made.add(name)
    yield made
    made.end()


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some routes and jobs, in chunks so small that there are many."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ads, "SIZE", 1 << 12)
    Path("routes.conf").write_text(ROUTES, encoding="utf-8")
    Path("one.conf").write_text(ROUTES.replace("< 50", "< 40"), encoding="utf-8")
    Path("rules.txt").write_text("SET Route strcat(Owner, RequestMemory)\n", encoding="utf-8")
    lines = [
        f'ClusterId = {n}\nProcId = 0\nOwner = "u{n % 7}"\nJobStatus = 1\nWantRoute = {"true" if n % 3 else "false"}\n'
        f"RequestMemory = {n % 100 if n % 500 else '7 +'}\n"
        for n in range(1, JOBS)
    ]
    Path("jobs.ads").write_text("\n".join(lines), encoding="utf-8")


COMMANDS = (
    ("route", "explain", "--config", "routes.conf", "--ads", "jobs.ads", "--summary"),
    ("route", "explain", "--config", "routes.conf", "--ads", "jobs.ads", "--summary", "--format", "json"),
    ("route", "diff", "routes.conf", "one.conf", "--ads", "jobs.ads"),
    ("classad", "transform", "--rules", "rules.txt", "jobs.ads"),
)


@pytest.mark.usefixtures("queue")
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_a_cluster_prints_what_one_process_prints(cluster: Workers, words: tuple[str, ...]) -> None:
    """Output, findings and exit status are the same."""
    found = crondor(*words, "--cluster", cluster.address)
    assert found == crondor(*words, "--jobs", "1")
    assert len(found.lines) > 4


@pytest.mark.usefixtures("queue")
@pytest.mark.parametrize("words", [COMMANDS[0], *((each, "one.sub") for each in ("check", "agenda", "simulate"))])
def test_a_worker_that_differs_is_named(
    cluster: Workers, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Another release would give other answers."""
    release = metadata.version
    monkeypatch.setattr(
        "crondor_cli.kit.cluster._release", lambda name: "2999.1" if name == "tzdata" else release(name)
    )
    Path("one.sub").write_text("shell = date\ncron_hour = 3\nqueue\n", encoding="utf-8")
    found = crondor(*words, "--cluster", cluster.address)
    assert (found.status, found.out) == (2, "")
    assert "worker w1 (tcp://127.0.0.1:" in found.err
    assert f"tzdata 2999.1 is needed, it has {release('tzdata')}" in found.err


@pytest.mark.usefixtures("queue")
def test_a_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named, with exit status 2; so is a clash of options."""
    monkeypatch.setattr("crondor_cli.kit.cluster._PATIENCE", 1)
    found = crondor(*COMMANDS[0], "--cluster", "tcp://127.0.0.1:1")
    assert (found.status, found.out) == (2, "")
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in found.err
    clash = crondor(*COMMANDS[0], "--cluster", "tcp://127.0.0.1:1", "--jobs", "2")
    assert (clash.status, "choose one" in clash.err) == (2, True)


INCLUDED = "arguments = $(Process)\ncron_minute = {minute}\n"
FILES = {
    "jobs/a/common.inc": INCLUDED.format(minute=5),
    "jobs/b/common.inc": INCLUDED.format(minute="*/7"),
    "jobs/a/items.txt": "x\ny\n",
    "jobs/a/run.sh": "#!/bin/sh\n",
    "jobs/a/data.0": "",
    "jobs/a/latin.sub": "# \0\n",
    "jobs/a/odd.sub": "executable = run.sh\ncron_hour = 99\nqueue\n",
    "jobs/a/loop.sub": "include : loop.sub\nqueue\n",
    "jobs/b/outside.sub": "include : ../../secret.inc\nqueue\n",
    "secret.inc": "executable = /bin/true\n",
    "base.json": '{"crondor_baseline": 1, "findings": [{"file": "jobs/a/common.inc", "code": "CRN303", '
    '"line": "cron_minute = 5", "severity": "note", "count": 1}]}\n',
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Submit files that include, name and match other files, in two folders, some of them wrong."""
    monkeypatch.chdir(tmp_path)
    for name in ("jobs/a", "jobs/b"):
        Path(name).mkdir(parents=True)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("jobs/a/run.sh").chmod(0o755)
    for n in range(16):
        lines = (
            f"shell = run.sh\ninput = data.$(Process)\ncron_hour = {n % 26}\ninclude : common.inc\nqueue 2\n",
            "executable = runs.sh\ntransfer_input_files = data.0, itms.txt\nqueue x from items.txt\n",
            "executable = run.sh\ncron_minute = 1\nqueue name matching files data.*\n",
            f"executable = /bin/true\nmax_retires = 3\ndeferral_time = {n} +\nqueue\n",
        )
        Path(f"jobs/{'ab'[n % 2]}/{n:02}.sub").write_text(lines[n % 4], encoding="utf-8")


CLOCK = ("--now", "2026-11-28 12:00", "--tz", "Europe/Berlin")
OF_FILES = (
    ("check", "jobs"),
    ("check", "--format", "json", "jobs", "missing.sub"),
    ("check", "--format", "sarif", "--strict", "jobs"),
    ("check", "--fix", "jobs"),
    ("check", "--fix", "--unsafe", "jobs/a"),
    ("check", "--statistics", "--select", "CRN1,CRN2", "jobs"),
    ("check", "--baseline", "base.json", "--no-files", "jobs"),
    ("check", "--allow-dir", ".", "--pool-config", "pool.conf", "jobs", "-"),
    ("agenda", "jobs"),
    ("agenda", "--format", "json", "jobs", "-"),
    ("agenda", "--suggest", "--dialect", "htcondor", "jobs"),
    ("agenda", "jobs", "missing.sub"),
    ("simulate", "--days", "2", "jobs"),
    ("simulate", "--days", "1", "--format", "json", "--events", "--crontab", "5 * * * *", "jobs", "-"),
    ("simulate", "--days", "1", "--pool-config", "pool.conf", "--timeline", "--dialect", "manual", "jobs"),
    ("simulate", "jobs", "missing.sub"),
)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", OF_FILES, ids=" ".join)
def test_a_cluster_finds_what_one_process_finds(cluster: Workers, words: tuple[str, ...]) -> None:
    """The workers run in another folder, and see none of the files."""
    Path("pool.conf").write_text("SCHEDD_INTERVAL = 60\nJOB_DEFAULT_REQUESTMEMORY = 7\n", encoding="utf-8")
    typed = "executable = /bin/true\ncron_minute = 70\nqueue\n"
    found = crondor(*words, *CLOCK, "--cluster", cluster.address, stdin=typed)
    assert found == crondor(*words, *CLOCK, "--jobs", "1", stdin=typed)
    assert len(found.out + found.err) > 20


@pytest.mark.usefixtures("folder")
def test_ctrl_c_ends_the_command_but_not_the_cluster(cluster: Workers) -> None:
    """It waits for standard input, after the files were checked."""
    words = ("check", "jobs", "-", *CLOCK, "--cluster", cluster.address)
    with cluster.client() as client:
        before = client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.clients))
        process = subprocess.Popen(
            [*PROGRAM, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        )
        end = time.monotonic() + SLOWEST
        while client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.clients)) <= before:
            assert time.monotonic() < end
            time.sleep(0.05)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=SLOWEST)
    assert (process.returncode, out, said) == (130, b"", b"")
    assert crondor(*words, stdin="").lines


@pytest.mark.usefixtures("queue", "folder")
@pytest.mark.parametrize("words", [COMMANDS[0], *((each, "jobs") for each in ("check", "agenda", "simulate"))])
def test_a_killed_worker_is_made_up_for(
    cluster: Workers, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """The others do what it had when the first results came."""
    clock = CLOCK if words[0] != "route" else ()
    expected = crondor(*words, *clock, "--jobs", "1")
    cluster.add("victim")
    with cluster.client() as client:
        client.wait_for_workers(3, timeout=SLOWEST)
    taken = Sharing._taken

    def after_a_kill(sharing: Any, task: object, answer: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever is shared
        cluster.workers[-1].kill()
        return taken(sharing, task, answer)

    monkeypatch.setattr(Sharing, "_taken", after_a_kill)
    assert crondor(*words, *clock, "--cluster", cluster.address) == expected
