"""A real Prometheus scrapes a real monitor, and its alerts fire."""

import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any
from urllib.parse import quote

from crondor.classad.ad import ClassAd
from crondor.schedd.embedded import EmbeddedSchedd
from tests.cli.running import NOW_EPOCH, PROGRAM, SLOWEST, crondor, environment

CONFIG = """\
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: crondor
    static_configs: [{{targets: ['127.0.0.1:{port}']}}]
"""


def free_port() -> int:
    """Return a port that nobody has."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port: int = made.getsockname()[1]
        return port


@contextmanager
def started(*command: str, stderr: int | None = subprocess.DEVNULL) -> Iterator[subprocess.Popen[str]]:
    """Start a program, and end it with the block."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, env=environment(), text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def asked(port: int, path: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Ask a server on this machine; None while it does not answer."""
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())["data"]
    except (OSError, ValueError, KeyError):
        return None
    finally:
        connection.close()


def test_a_real_server_scrapes_and_its_rules_fire(tmp_path: Path) -> None:
    """A job on hold misses a time that is over: its series is there, and CrondorRunMissed fires with its labels."""
    queue = tmp_path / "q"
    with EmbeddedSchedd(queue, clock=lambda: NOW_EPOCH, zone="Europe/Berlin") as schedd:
        job = ClassAd({"Cmd": "/bin/date", "CronMinute": "*", "DeferralWindow": 0, "DeferralPrepTime": 60})
        job["Owner"], job["JobStatus"], job["HoldReasonCode"] = "alice", 5, 1
        schedd.submit([job])
    crondor("monitor", "--alerts", "-o", str(tmp_path))
    command = (*PROGRAM, "monitor", "--queue", str(queue), "--poll", "1", "--metrics", "0")
    with started(*command, "--now", "2026-11-20 18:30:50", stderr=subprocess.PIPE) as monitor:
        assert monitor.stderr is not None
        port = int(monitor.stderr.readline().rpartition("/metrics")[0].rpartition(":")[2])
        config = tmp_path / "prometheus.yml"
        config.write_text(CONFIG.format(rules=tmp_path / "crondor.rules.yml", port=port), encoding="utf-8")
        own = free_port()
        data = f"--storage.tsdb.path={tmp_path / 'data'}"
        with started("prometheus", f"--config.file={config}", data, f"--web.listen-address=127.0.0.1:{own}"):
            query = f"/api/v1/query?query={quote('crondor_job_missed')}"
            end, found, alerts = monotonic() + SLOWEST, None, []
            while monotonic() < end and not (found and found["result"] and alerts):
                Event().wait(0.2)
                found = asked(own, query)
                alerts = [
                    each for each in (asked(own, "/api/v1/alerts") or {"alerts": []})["alerts"]
                    if each["labels"]["alertname"] == "CrondorRunMissed" and each["state"] == "firing"
                ]  # fmt: skip
    assert found is not None
    labels = found["result"][0]["metric"]
    assert (labels["job"], labels["job_id"], labels["owner"]) == ("crondor", "1.0", "alice")
    assert alerts[0]["annotations"]["summary"] == "Job 1.0 of alice has missed a run (held)"
