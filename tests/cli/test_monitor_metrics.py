"""`crondor monitor --metrics` and `--alerts`: what is served, where, and what the written files know."""

import gc
import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from importlib.resources import files
from pathlib import Path
from unittest.mock import patch

import click
import pytest
from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from crondor.monitor.metrics import FAMILIES, MOST_CONNECTIONS, Address, Metrics
from crondor.router.daemon import RouterReport
from crondor.router.daemon.lock import RouterLock
from crondor_cli.monitor.command import read_address
from tests.cli.running import PROGRAM, SLOWEST, crondor, environment
from tests.monitor.made import SIX
from tests.monitor.prometheus.made_metrics import LATER, looked

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(metrics: Metrics) -> Samples:
    """Return what is served, as Prometheus reads it."""
    registry = CollectorRegistry()
    registry.register(metrics)
    text = generate_latest(registry).decode()
    return {
        (each.name, tuple(sorted(each.labels.items()))): each.value
        for family in text_string_to_metric_families(text)
        for each in family.samples
    }


def labels(**given: str) -> tuple[tuple[str, str], ...]:
    """Return labels as the samples have them."""
    return tuple(sorted(given.items()))


def test_a_look_as_metrics(tmp_path: Path) -> None:
    """Counts, gauges of the queue, and the series of each job."""
    metrics = Metrics()
    metrics.update(*looked(tmp_path))
    found = samples(metrics)
    queue = labels(schedd="ads")
    assert found["crondor_last_poll_timestamp_seconds", ()] == LATER
    assert found["crondor_queue_up", queue] == 1
    assert found["crondor_runs_due_total", queue] == 4
    assert found["crondor_runs_started_total", queue] == 1
    assert found["crondor_runs_missed_total", labels(schedd="ads", cause="held-20")] == 1
    assert found["crondor_runs_missed_total", labels(schedd="ads", cause="day-0")] == 0
    assert found["crondor_jobs", labels(schedd="ads", state="idle")] == 2
    assert found["crondor_jobs_trouble", queue] == 1
    assert found["crondor_guard_corrections", queue] == 1
    assert (
        found["crondor_job_next_start_timestamp_seconds", labels(schedd="ads", job_id="7.0", owner="alice")]
        == SIX + 3600
    )
    assert found["crondor_job_last_start_timestamp_seconds", labels(schedd="ads", job_id="9.0", owner="alice")] == SIX
    assert found["crondor_job_missed", labels(schedd="ads", job_id="8.0", owner='b"\\ob', cause="held-20")] == 1
    assert ("crondor_job_missed", labels(schedd="ads", job_id="9.0", owner="alice", cause="no-match")) not in found


def test_a_queue_that_cannot_be_read_is_down(tmp_path: Path) -> None:
    """Its counts stay."""
    looks, now = looked(tmp_path)
    metrics = Metrics()
    metrics.update(dict.fromkeys(looks), now)
    found = samples(metrics)
    assert found["crondor_queue_up", labels(schedd="ads")] == 0
    assert found["crondor_runs_due_total", labels(schedd="ads")] == 4
    assert not [name for name, _ in found if name.startswith("crondor_job")]


def test_a_router_is_told_by_the_file_it_leaves(tmp_path: Path) -> None:
    """While its lock is held; a file that is none is a finding, and no fault of the metrics."""
    lock, path = tmp_path / "lock", tmp_path / "lock.status"
    counts = {"claimed": 5, "submitted": 4, "not_claimed": 2}
    RouterReport("jobrouter", 1, 2, counts=counts, poll_seconds=0.5).write(path)
    metrics = Metrics([str(path)])
    router = labels(router=str(path))
    metrics.update({}, 3)
    assert samples(metrics)["crondor_router_up", router] == 0
    with RouterLock(lock, "jobrouter"):
        metrics.update({}, 3)
        found = samples(metrics)
        path.write_text("{}")
        metrics.update({}, 3)
    assert found["crondor_router_up", router] == 1
    assert found["crondor_router_claims_total", router] == 5
    assert found["crondor_router_copies_total", router] == 4
    assert found["crondor_router_failures_total", labels(router=str(path), cause="not_claimed")] == 2
    assert found["crondor_router_poll_seconds", router] == 0.5
    assert [each.kind for each in metrics.findings] == ["router-report"]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("9811", ("127.0.0.1", 9811)),
        (":9811", ("127.0.0.1", 9811)),
        ("0.0.0.0:1", ("0.0.0.0", 1)),  # noqa: S104 - whoever asks for it
        ("[::1]:0", ("::1", 0)),
        ("host.example.org:65535", ("host.example.org", 65535)),
        ("65536", None),
        ("host", None),
        ("::1:80", None),
        ("", None),
    ],
)
def test_an_address_is_this_machine_unless_it_names_another(text: str, address: tuple[str, int] | None) -> None:
    """A port alone is enough."""
    context, parameter = click.Context(click.Command("x")), click.Option(["--metrics"])
    if address is None:
        with pytest.raises(click.BadParameter, match="is neither HOST:PORT"):
            read_address(context, parameter, text)
    else:
        assert read_address(context, parameter, text) == Address(*address)


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    """And nothing is watched."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = crondor("monitor", "--queue", str(tmp_path), "--metrics", str(port))
    assert (result.status, f"127.0.0.1:{port}" in result.err) == (1, True)


def test_metrics_need_their_package(tmp_path: Path) -> None:
    """That is said, with how to get it; a single look serves nothing."""
    with patch.dict(sys.modules, {"prometheus_client": None}):
        result = crondor("monitor", "--queue", str(tmp_path), "--metrics", "0")
    assert (result.status, "pip install '.[monitor]'" in result.err) == (2, True)
    once = crondor("monitor", "--once", "--queue", str(tmp_path), "--metrics", "0")
    assert (once.status, "omit --once" in once.err) == (2, True)


def test_the_command_serves_them_on_this_machine(tmp_path: Path) -> None:
    """It says where, and ends by SIGTERM."""
    command = [*PROGRAM, "monitor", "--queue", str(tmp_path / "q"), "--metrics", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment(), text=True) as process:
        assert process.stderr is not None
        where = process.stderr.readline()
        found = re.fullmatch(r"metrics on http://127\.0\.0\.1:(\d+)/metrics\n", where)
        assert found is not None, where
        connection = HTTPConnection("127.0.0.1", int(found[1]), timeout=SLOWEST)
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Content-Type"].split(";")[0]) == (200, "text/plain")
        connection.close()
        process.terminate()
        process.communicate(timeout=SLOWEST)
    assert process.returncode == 0


def scraped(port: int, seconds: float) -> int:
    """Return the status of a scrape."""
    connection = HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", "/metrics")
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("sent", [b"", b"GET /met", b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"])
def test_connections_that_take_nothing_keep_no_scrape_waiting(tmp_path: Path, sent: bytes) -> None:
    """300 of them: some are closed, and neither threads nor descriptors grow with their number."""
    metrics = Metrics()
    metrics.update(*looked(tmp_path))
    with ExitStack() as stack:
        port = stack.enter_context(metrics.served(Address("127.0.0.1", 0)))
        assert scraped(port, SLOWEST) == 200
        threads, before = threading.active_count(), len(selectable())
        for _ in range(300):
            idle = stack.enter_context(socket.create_connection(("127.0.0.1", port), SLOWEST))
            with suppress(ConnectionError):  # one that is closed already
                idle.sendall(sent)
        assert scraped(port, SLOWEST) == 200
        assert threading.active_count() == threads
        assert len(selectable()) - before - 300 <= MOST_CONNECTIONS
    assert threading.active_count() < threads


def test_a_scrape_is_not_pushed_out_before_it_has_asked(tmp_path: Path) -> None:
    """Where all others wait for an answer, one that has only connected is not the one to close."""
    may_answer = threading.Event()

    class Slow(Metrics):
        def collect(self) -> Iterator[Metric]:
            may_answer.wait(SLOWEST)
            return super().collect()

    metrics = Slow()
    metrics.update(*looked(tmp_path))
    with ExitStack() as stack:
        port = stack.enter_context(metrics.served(Address("127.0.0.1", 0)))
        stack.callback(may_answer.set)
        opened = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), SLOWEST)) for _ in range(MOST_CONNECTIONS)
        ]
        for each in opened:
            each.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        scrape = HTTPConnection("127.0.0.1", port, timeout=SLOWEST)
        stack.callback(scrape.close)
        scrape.connect()
        assert opened[0].recv(1) == b""  # the oldest has been closed for it
        scrape.request("GET", "/metrics")
        may_answer.set()
        assert scrape.getresponse().status == 200


def selectable() -> list[int]:
    """Return the open sockets of this process, by what its collector of garbage knows."""
    return [each.fileno() for each in gc.get_objects() if isinstance(each, socket.socket) and each.fileno() >= 0]


def test_a_connection_that_says_nothing_is_closed(tmp_path: Path) -> None:
    """After ten seconds, by a clock that is far ahead at once."""
    metrics = Metrics()
    metrics.update(*looked(tmp_path))
    with ExitStack() as stack:
        port = stack.enter_context(metrics.served(Address("127.0.0.1", 0)))
        idle = stack.enter_context(socket.create_connection(("127.0.0.1", port), SLOWEST))
        assert scraped(port, SLOWEST) == 200
        with patch("waitress.server.time.time", return_value=4e9):
            assert scraped(port, SLOWEST) == 200
            assert idle.recv(1) == b""


def _shipped(name: str) -> str:
    """Return a file that the monitor writes."""
    return files("crondor_cli.monitor").joinpath(name).read_text(encoding="utf-8")


def test_rules_and_dashboard_know_every_metric_and_no_other() -> None:
    """What is asked for is served; what is served for alerts and pictures is asked for."""
    board = json.loads(_shipped("crondor-dashboard.json"))
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    queries += re.findall(r"^ +expr: (.*)", _shipped("crondor.rules.yml"), re.MULTILINE)
    asked = {name for query in queries for name in re.findall(r"crondor_\w+", query)}
    assert asked <= set(FAMILIES)
    assert set(FAMILIES) - asked == {
        "crondor_runs_unknown_total",
        "crondor_job_last_start_timestamp_seconds",
        "crondor_job_gate_open",
        "crondor_router_last_poll_timestamp_seconds",
    }


def test_panels_do_not_overlap() -> None:
    """Each has its place on Grafana's grid, and an id of its own."""
    panels = json.loads(_shipped("crondor-dashboard.json"))["panels"]
    cells = [
        (x, y)
        for panel in panels
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23
    assert [panel["id"] for panel in panels] == list(range(1, len(panels) + 1))


def test_alerts_are_written_once(tmp_path: Path) -> None:
    """What exists stays, unless it is forced."""
    folder = tmp_path / "new"
    result = crondor("monitor", "--alerts", "-o", str(folder))
    assert result.lines == [f"written: {folder / name}" for name in ("crondor.rules.yml", "crondor-dashboard.json")]
    assert json.loads((folder / "crondor-dashboard.json").read_text())["title"] == "crondor: scheduled jobs"
    again = crondor("monitor", "--alerts", "-o", str(folder))
    assert (again.status, "--force overwrites" in again.err) == (2, True)
    assert crondor("monitor", "--alerts", "-o", str(folder), "--force").status == 0
    assert crondor("monitor", "--alerts", "-o", str(folder / "crondor.rules.yml")).status == 2
