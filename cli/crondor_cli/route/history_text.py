"""Routed jobs that have left, as condor_router_history prints them, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from crondor.diagnostics import Diagnostic
from crondor.router.tools import EndedJob, Period, RouteHistory, heading, record_lines, site_lines, sites_of
from crondor_cli.common.data import diagnostic_data
from crondor_cli.common.options import Clock
from crondor_cli.common.output import say
from crondor_cli.common.streaming import echo_json


def print_report(jobs: Sequence[EndedJob], period: Period, clock: Clock, *, records: bool, iwd: bool) -> None:
    """Print the jobs one by one, or the summary by route."""
    say(f"{heading(period, clock.zone)}\n")
    for line in record_lines(jobs, iwd=iwd) if records or iwd else site_lines(sites_of(jobs)):
        say(line)


def print_json(jobs: Sequence[EndedJob], period: Period, clock: Clock, findings: Sequence[Diagnostic]) -> None:
    """Print both as JSON."""
    data = {
        "zone": clock.zone_name,
        "now": clock.now,
        "from": int(period.start),
        "until": int(period.end),
        "routes": [_site(site) for site in sites_of(jobs)],
        "jobs": [_job(job) for job in jobs],
        "diagnostics": [diagnostic_data(finding) for finding in findings],
    }
    echo_json(data)


def _job(job: EndedJob) -> dict[str, object]:
    return {
        "job": job.id,
        "state": job.state,
        "route": job.route,
        "run_time": job.runtime,
        "iwd": job.iwd,
        "time": job.time,
    }


def _site(site: RouteHistory) -> dict[str, object]:
    return {
        "route": site.name,
        "completed": site.completed,
        "aborted": site.aborted,
        "completed_seconds": int(site.seconds),
    }
