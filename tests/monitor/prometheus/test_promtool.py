"""What `crondor monitor --alerts` writes, and the metrics, as Prometheus' own promtool takes them."""

import json
import subprocess
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from crondor.monitor.metrics import Metrics
from crondor_cli.monitor.command import DASHBOARD, RULES
from tests.cli.running import SLOWEST, crondor
from tests.monitor.prometheus.made_metrics import looked

EXPECTED = """\
rule_files: [crondor.rules.yml]
evaluation_interval: 1m
tests:
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with what the command writes."""
    assert crondor("monitor", "--alerts", "-o", str(tmp_path)).status == 0
    return tmp_path


def promtool(*arguments: str, stdin: bytes = b"", folder: Path | None = None) -> str:
    """Run promtool, which must find no fault, and return what it says."""
    done = subprocess.run(
        ["promtool", *arguments],  # noqa: S607 - wherever it is installed
        input=stdin,
        cwd=folder,
        capture_output=True,
        timeout=SLOWEST,
        check=False,
    )
    said = done.stdout.decode() + done.stderr.decode()
    assert done.returncode == 0, said
    return said


def test_the_rules_are_rules(folder: Path) -> None:
    """All of them."""
    assert "SUCCESS: 11 rules found" in promtool("check", "rules", RULES, folder=folder)


def test_the_metrics_are_named_and_told_as_they_should(tmp_path: Path) -> None:
    """The linter has nothing to say."""
    registry = CollectorRegistry()
    metrics = Metrics()
    metrics.update(*looked(tmp_path))
    registry.register(metrics)
    assert promtool("check", "metrics", stdin=generate_latest(registry)) == ""


# What Prometheus sees each minute, when it is asked, and the alerts that must be there.
CASES = {
    "CrondorRunMissed": (
        'crondor_job_missed{schedd="s", job_id="7.0", owner="alice", cause="no-match"}',
        "1x20",
        "5m",
        'schedd: s, job_id: "7.0", owner: alice, cause: no-match, severity: warning',
    ),
    "CrondorRunLate": (
        'crondor_job_late{schedd="s", job_id="7.0", owner="alice"}',
        "1x20",
        "6m",
        'schedd: s, job_id: "7.0", owner: alice, severity: warning',
    ),
    "CrondorManyMissed": (
        'crondor_runs_missed_total{schedd="s", cause="no-match"}',
        "0+1x60",
        "59m",
        "schedd: s, severity: critical",
    ),
    "CrondorUnplannedStarts": (
        'crondor_starts_unplanned_total{schedd="s"}',
        "0 0 1 1 1 1",
        "5m",
        "schedd: s, severity: warning",
    ),
    "CrondorWrongTimes": ('crondor_guard_corrections{schedd="s"}', "2x20", "16m", "schedd: s, severity: warning"),
    "CrondorJobsInTrouble": ('crondor_jobs_trouble{schedd="s"}', "1x20", "16m", "schedd: s, severity: warning"),
    "CrondorQueueUnreadable": ('crondor_queue_up{schedd="s"}', "0x20", "6m", "schedd: s, severity: critical"),
    "CrondorMonitorStuck": ("crondor_last_poll_timestamp_seconds", "0x20", "12m", "severity: critical"),
    "CrondorMonitorAbsent": ('crondor_queue_up{schedd="s"}', "1x20", "11m", "severity: critical"),
    "CrondorRouterDown": ('crondor_router_up{router="r"}', "0x20", "6m", "router: r, severity: critical"),
    "CrondorRouterFailures": (
        'crondor_router_failures_total{router="r", cause="not_claimed"}',
        "0+1x40",
        "20m",
        "router: r, cause: not_claimed, severity: warning",
    ),
}


def test_every_alert_has_a_case(folder: Path) -> None:
    """None is without a test."""
    text = (folder / RULES).read_text("utf-8")
    assert [line.split()[-1] for line in text.splitlines() if "- alert:" in line] == list(CASES)


@pytest.mark.parametrize("alert", CASES)
def test_an_alert_fires_when_it_should_and_not_before(folder: Path, alert: str) -> None:
    """By promtool's unit tests of rules: there, and not without its cause."""
    series, values, when, labels = CASES[alert]
    firing = f'alertname="{alert}", alertstate="firing"'
    at_once = 1 if alert == "CrondorRunMissed" else 0
    case = f"""\
  - interval: 1m
    input_series:
      - series: '{series}'
        values: '{values}'
    promql_expr_test:
      - expr: count(ALERTS{{{firing}}}) or vector(0)
        eval_time: 0m
        exp_samples: [{{labels: '{{}}', value: {at_once}}}]
      - expr: ALERTS{{{firing}}}
        eval_time: {when}
        exp_samples: [{{labels: 'ALERTS{{{firing}, {_selector(labels)}}}', value: 1}}]
"""
    (folder / "tests.yml").write_text(EXPECTED + case, encoding="utf-8")
    assert "SUCCESS" in promtool("test", "rules", "tests.yml", folder=folder)


def _selector(labels: str) -> str:
    pairs = (each.split(": ") for each in labels.split(", "))
    return ", ".join(f'{name}="{value.strip(chr(34))}"' for name, value in pairs)


def test_each_query_of_the_dashboard_is_one(folder: Path) -> None:
    """As rules of their own, which Prometheus' parser reads."""
    board = json.loads((folder / DASHBOARD).read_text("utf-8"))
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    rules = [{"record": f"test:query{number}", "expr": query} for number, query in enumerate(queries)]
    (folder / "queries.yml").write_text(json.dumps({"groups": [{"name": "queries", "rules": rules}]}), encoding="utf-8")
    assert f"SUCCESS: {len(queries)} rules found" in promtool("check", "rules", "queries.yml", folder=folder)
