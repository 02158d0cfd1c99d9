"""``--cluster``: a Dask cluster prints the same bytes as one process, also if a worker is killed."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from crondor_cli.kit import ads
from tests.cli.running import crondor

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

    def end(self) -> None:
        """End all."""
        for each in (*self.workers, *self._processes):
            each.kill()
            each.wait()

    @staticmethod
    def _start(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:], "--no-dashboard"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


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
def test_a_worker_that_differs_is_named(cluster: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another release would give other answers."""
    release = metadata.version
    monkeypatch.setattr(
        "crondor_cli.kit.cluster._release", lambda name: "2999.1" if name == "tzdata" else release(name)
    )
    found = crondor(*COMMANDS[0], "--cluster", cluster.address)
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


@pytest.mark.usefixtures("queue")
def test_a_killed_worker_is_made_up_for(cluster: Workers) -> None:
    """The other worker does what it had."""
    words = COMMANDS[0]
    expected = crondor(*words, "--jobs", "1")
    victim = cluster.workers[0]
    killing = threading.Timer(0.3, victim.kill)
    killing.start()
    assert crondor(*words, "--cluster", cluster.address) == expected
    killing.join()
