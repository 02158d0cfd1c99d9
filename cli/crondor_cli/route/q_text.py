"""Routed jobs as condor_router_q prints them, and as JSON (`crondor config schema route q` has the keys)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import click

from crondor.classad import Context, print_value
from crondor.classad.ad import ClassAd
from crondor.classad.printing import Format
from crondor.diagnostics import Diagnostic, printable
from crondor.job.attributes import value
from crondor.router.tools import (
    Listed,
    Totals,
    banner,
    batch_lines,
    job_lines,
    look_at,
    summarise,
    summary_lines,
    totals_lines,
)
from crondor_cli.common.data import diagnostic_data, iso
from crondor_cli.common.options import Clock
from crondor_cli.common.output import emit, say
from crondor_cli.common.queue_options import QueueOptions
from crondor_cli.common.streaming import echo_json
from crondor_cli.route.copies import queue_name

_OPTIONS = "jlrt,"


class ShownQueue(NamedTuple):
    """What there is to show; ``everybody`` counts all jobs of the queue, None where nobody asked."""

    ads: list[ClassAd]
    everybody: Totals | None
    asked: QueueOptions
    clock: Clock
    context: Context
    findings: tuple[Diagnostic, ...]


class Autoformat(NamedTuple):
    """What -af prints: attributes, and the letters of its options."""

    attributes: tuple[str, ...]
    options: str


def autoformat_of(options: str | None, attributes: tuple[str, ...]) -> Autoformat | None:
    """Return what -af asks for, None without it. Raises UsageError."""
    if options is None:
        if attributes:
            raise click.UsageError("--attribute belongs to -af", click.get_current_context(silent=True))
        return None
    odd = next((letter for letter in options if letter not in _OPTIONS), None)
    if odd is not None or not attributes:
        wrong = f"-af does not know the option {printable(odd)!r}" if odd is not None else "-af needs attributes"
        message = f"{wrong}: write -af:j RouteName JobStatus (j number, l name, r raw, t tabs, comma)"
        raise click.UsageError(message, click.get_current_context(silent=True))
    return Autoformat(attributes, options)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        say(line)


def print_summary(shown: ShownQueue) -> None:
    """Print condor_router_q -S."""
    _print(summary_lines(summarise(shown.ads, shown.context)))


def summary_data(shown: ShownQueue) -> None:
    """Print the rows of the summary as JSON."""
    rows = [row._asdict() for row in summarise(shown.ads, shown.context)]
    echo_json({**_head(shown), "summary": rows, "diagnostics": _findings(shown)})


def print_jobs(shown: ShownQueue, *, nobatch: bool) -> None:
    """Print condor_q's list, by batch or by job."""
    jobs = [look_at(ad, shown.context) for ad in shown.ads]
    _print(banner(queue_name(shown.asked), shown.clock.now, shown.clock.zone))
    _print((job_lines if nobatch else batch_lines)(jobs, shown.clock.zone))
    _print(totals_lines(Totals.of(shown.ads, shown.context), shown.everybody))


def print_ads(shown: ShownQueue) -> None:
    """Print the ads as condor_q -long does."""
    for ad in shown.ads:
        emit(ad.print(Format.LONG), nl=True)


def print_values(shown: ShownQueue, asked: Autoformat) -> None:
    """Print a line of values for each job, as condor_q -af does."""
    between = "\t" if "t" in asked.options else ", " if "," in asked.options else " "
    for ad in shown.ads:
        job = look_at(ad, shown.context)
        cells = [str(job.id)] if "j" in asked.options else []
        for name in asked.attributes:
            label = f"{printable(name)} = " if "l" in asked.options else ""
            cells.append(label + _value(ad, name, shown.context, raw="r" in asked.options))
        say(between.join(cells))


def _value(ad: ClassAd, name: str, context: Context, *, raw: bool) -> str:
    if name not in ad:
        return "undefined"
    found = ad.text(name) if raw else value(ad, name, context)
    return printable(found if isinstance(found, str) else print_value(found))


def jobs_data(shown: ShownQueue) -> None:
    """Print the jobs as JSON."""
    jobs = [_job(look_at(ad, shown.context), shown.clock) for ad in shown.ads]
    totals = {
        "query": Totals.of(shown.ads, shown.context)._asdict(),
        "all_users": None if shown.everybody is None else shown.everybody._asdict(),
    }
    echo_json({**_head(shown), "jobs": jobs, "totals": totals, "diagnostics": _findings(shown)})


def _head(shown: ShownQueue) -> dict[str, object]:
    return {"source": shown.asked.kind, "zone": shown.clock.zone_name, "now": shown.clock.now}


def _findings(shown: ShownQueue) -> list[dict[str, object]]:
    return [diagnostic_data(finding) for finding in shown.findings]


def _job(job: Listed, clock: Clock) -> dict[str, object]:
    return {
        "job": None if job.id is None else str(job.id),
        "owner": job.owner,
        "route": job.route,
        "routed_from": job.source or None,
        "grid_resource": job.grid_resource or None,
        "job_status": job.status,
        "submitted": job.submitted,
        "submitted_local": None if job.submitted is None else iso(job.submitted, clock.zone),
        "run_time": job.run_time,
        "priority": job.priority,
        "size_mb": job.size,
        "batch_name": job.batch_name,
        "cmd": job.description,
    }
