"""Alert rules for Prometheus and a dashboard for Grafana, over the metrics of `crondor monitor`: `--alerts`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, Final

from crondor_cli.common.file_problem import file_problem
from crondor_cli.common.options import refuse_existing
from crondor_cli.common.output import say
from crondor_cli.common.replacing import write_file

RULES: Final = "crondor.rules.yml"
DASHBOARD: Final = "crondor-dashboard.json"

ALERT_RULES: Final = """\
# Alert rules for the metrics of crondor monitor. Take them into prometheus.yml under rule_files.
groups:
  - name: crondor
    rules:
      - alert: CrondorRunMissed
        expr: crondor_job_missed == 1
        labels:
          severity: warning
        annotations:
          summary: 'Job {{ $labels.job_id }} of {{ $labels.owner }} has missed a run ({{ $labels.cause }})'
          description: 'The last due time of the job was missed or lost on {{ $labels.schedd }}: {{ $labels.cause }}.'
      - alert: CrondorRunLate
        expr: crondor_job_late == 1
        for: 5m
        labels:
          severity: warning
        annotations:
          summary: 'Job {{ $labels.job_id }} of {{ $labels.owner }} is late'
          description: 'It was due more than five minutes ago on {{ $labels.schedd }}, and its window is still open.'
      - alert: CrondorManyMissed
        expr: sum by (schedd) (increase(crondor_runs_missed_total[1h])) > 10
        labels:
          severity: critical
        annotations:
          summary: '{{ $value | humanize }} runs missed in an hour on {{ $labels.schedd }}'
      - alert: CrondorUnplannedStarts
        expr: increase(crondor_starts_unplanned_total[1h]) > 0
        labels:
          severity: warning
        annotations:
          summary: 'Jobs on {{ $labels.schedd }} start at times that their schedules do not mean'
          description: 'The schedd reads a schedule otherwise, or has its day-0 defect; see crondor queue guard.'
      - alert: CrondorWrongTimes
        expr: crondor_guard_corrections > 0
        for: 15m
        labels:
          severity: warning
        annotations:
          summary: '{{ $value }} jobs on {{ $labels.schedd }} wait for a time that their schedules do not mean'
      - alert: CrondorJobsInTrouble
        expr: crondor_jobs_trouble > 0
        for: 15m
        labels:
          severity: warning
        annotations:
          summary: '{{ $value }} scheduled jobs on {{ $labels.schedd }} are kept from running'
          description: 'crondor queue status says which, and why.'
      - alert: CrondorQueueUnreadable
        expr: crondor_queue_up == 0
        for: 5m
        labels:
          severity: critical
        annotations:
          summary: 'The queue of {{ $labels.schedd }} cannot be read'
      - alert: CrondorMonitorStuck
        expr: time() - crondor_last_poll_timestamp_seconds > 600
        labels:
          severity: critical
        annotations:
          summary: 'crondor monitor has not looked for {{ $value | humanizeDuration }}'
      - alert: CrondorMonitorAbsent
        expr: absent(crondor_last_poll_timestamp_seconds)
        for: 10m
        labels:
          severity: critical
        annotations:
          summary: 'There is no crondor monitor'
      - alert: CrondorRouterDown
        expr: crondor_router_up == 0
        for: 5m
        labels:
          severity: critical
        annotations:
          summary: 'The router {{ $labels.router }} does not run, or its queues do not answer'
      - alert: CrondorRouterFailures
        expr: sum by (router, cause) (increase(crondor_router_failures_total[30m])) > 0
        for: 15m
        labels:
          severity: warning
        annotations:
          summary: 'The router {{ $labels.router }} fails: {{ $labels.cause }}'
"""

_SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_WIDTH: Final = 24  # columns of Grafana's grid
_PANELS: Final[tuple[tuple[str, str, str, int, tuple[tuple[str, str], ...]], ...]] = (
    ("stat", "Missed now", "short", 4, (("sum(crondor_job_missed) or vector(0)", ""),)),
    ("stat", "Late now", "short", 4, (("sum(crondor_runs_late)", ""),)),
    ("stat", "In trouble", "short", 4, (("sum(crondor_jobs_trouble)", ""),)),
    ("stat", "Gates open", "short", 4, (("sum(crondor_gates_open)", ""),)),
    ("stat", "Next start", "dateTimeFromNow", 4, (("min(crondor_job_next_start_timestamp_seconds) * 1000", ""),)),
    ("stat", "Queues unreadable", "short", 4, (("count(crondor_queue_up == 0) or vector(0)", ""),)),
    (
        "timeseries",
        "Runs in an hour",
        "short",
        12,
        (
            ("sum(increase(crondor_runs_due_total[1h]))", "due"),
            ("sum(increase(crondor_runs_started_total[1h]))", "started"),
            ("sum(increase(crondor_starts_unplanned_total[1h]))", "unplanned"),
        ),
    ),
    (
        "timeseries",
        "Missed and lost in an hour, by cause",
        "short",
        12,
        (
            ("sum by (cause) (increase(crondor_runs_missed_total[1h])) > 0", "missed: {{cause}}"),
            ("sum by (cause) (increase(crondor_runs_lost_total[1h])) > 0", "lost: {{cause}}"),
        ),
    ),
    ("table", "Missed jobs", "short", 12, (("crondor_job_missed == 1", ""),)),
    ("table", "Since the last success", "s", 12, (("time() - crondor_job_last_success_timestamp_seconds", ""),)),
    ("timeseries", "Jobs, by state", "short", 8, (("sum by (state) (crondor_jobs)", "{{state}}"),)),
    ("timeseries", "Guard corrections", "short", 8, (("sum by (schedd) (crondor_guard_corrections)", "{{schedd}}"),)),
    ("timeseries", "Time of a look", "s", 8, (("crondor_poll_seconds", "{{schedd}}"),)),
    (
        "timeseries",
        "Router: claims and copies in an hour",
        "short",
        8,
        (
            ("sum by (router) (increase(crondor_router_claims_total[1h]))", "claims {{router}}"),
            ("sum by (router) (increase(crondor_router_copies_total[1h]))", "copies {{router}}"),
        ),
    ),
    (
        "timeseries",
        "Router: failures in an hour, by cause",
        "short",
        8,
        (("sum by (cause) (increase(crondor_router_failures_total[1h])) > 0", "{{cause}}"),),
    ),
    ("timeseries", "Router: time of a poll", "s", 8, (("crondor_router_poll_seconds", "{{router}}"),)),
)
"""Kind, title, unit, width and queries with their legends, as they follow each other in rows."""


def dashboard() -> dict[str, Any]:
    """Return the dashboard as Grafana imports it (schema version 39: Grafana 10 and later)."""
    panels: list[dict[str, Any]] = []
    left = top = 0
    for number, (kind, title, unit, width, queries) in enumerate(_PANELS, 1):
        height = 4 if kind == "stat" else 8
        panels.append(
            {
                "id": number,
                "type": kind,
                "title": title,
                "datasource": _SOURCE,
                "gridPos": {"x": left, "y": top, "w": width, "h": height},
                "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
                "targets": list(_targets(kind, queries)),
            }
        )
        left += width
        if left >= _WIDTH:
            left, top = 0, top + height
    source = {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    return {
        "uid": "crondor",
        "title": "crondor: scheduled jobs",
        "tags": ["crondor", "htcondor"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-24h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": [source]},
        "panels": panels,
    }


def _targets(kind: str, queries: Iterable[tuple[str, str]]) -> Iterable[dict[str, Any]]:
    for letter, (query, legend) in zip("ABCDEFG", queries, strict=False):
        made = {"refId": letter, "datasource": _SOURCE, "expr": query, "legendFormat": legend}
        yield {**made, "instant": True, "format": "table"} if kind == "table" else made


def write_alerts(folder: str, *, force: bool) -> None:
    """Write both files into a folder, and say where. Raises UsageError for files that exist, CrondorError."""
    texts = {RULES: ALERT_RULES, DASHBOARD: json.dumps(dashboard(), indent=2) + "\n"}
    paths = {os.path.join(folder, name): text for name, text in texts.items()}
    if not force:
        refuse_existing(paths)
    for path, text in paths.items():
        try:
            os.makedirs(folder, exist_ok=True)
        except (OSError, ValueError) as error:
            raise file_problem("write", folder, error) from None
        write_file(path, text.encode())
        say(f"written: {path}")
