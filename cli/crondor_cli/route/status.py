"""`crondor route status`: how a router stands, and why jobs are not routed now."""

from __future__ import annotations

import socket

import click

from crondor.classad import Format
from crondor.classad.scope import Context
from crondor.diagnostics import CrondorError, Diagnostic, Severity, has_error, printable
from crondor.job_queue import JobId
from crondor.router import RoutingTable
from crondor.router.daemon import QueueStatus, RouterOptions, RouterReport
from crondor.router.daemon.lock import is_locked
from crondor.router.daemon.public_ad import public_ad
from crondor_cli.common.command import Command
from crondor_cli.common.config_options import ConfigFiles
from crondor_cli.common.options import Clock, clock_of, clock_options
from crondor_cli.common.output import emit, say
from crondor_cli.common.queue import read_jobs, selection_of, unknown_job
from crondor_cli.common.queue_options import QueueOptions, source_options
from crondor_cli.common.route_options import config_option, legacy_option, load_config, load_route_table
from crondor_cli.common.show import show
from crondor_cli.route.queues import destination_of, destination_options, lock_path, report_path, source_of
from crondor_cli.route.status_text import print_job, print_json, print_table

EXAMPLE = """\
echo 'JOB_ROUTER_ROUTE_NAMES = A' > r.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS true' >> r.conf
crondor route status --config r.conf --queue q"""

EPILOG = """\b
Examples:
  crondor route status --config 50-routes.conf --queue ./queue
  crondor route status --config 50-routes.conf \\
      --log /var/lib/condor/spool/job_queue.log
  crondor route status --config 50-routes.conf --live --job 1234.0 \\
      --format json
  crondor route status --config 50-routes.conf --format ad

Which jobs are on which route stands in the queue, whether or not a router runs. What a throttle has counted is in the
router's memory only: it is taken from crondor route run where that runs over this queue, and is not known otherwise.

Exit status: 0 fine; 1 routing is switched off, a queue cannot be read, or there is no such job; 2 wrong usage."""


@click.command(
    "status",
    cls=Command,
    example=EXAMPLE,
    epilog=EPILOG,
)
@config_option
@legacy_option
@source_options
@click.option("--destination-log", metavar="FILE", help="Copies are in the queue of this job_queue.log.")
@destination_options
@click.option("--job", metavar="C.P", help="Say why this job is not routed now.")
@click.option("--owner", metavar="USER", help="The router takes this user's jobs only.")
@click.option("--wait-for-gates", is_flag=True, help="The router waits for the gates of crontab and deferral jobs.")
@clock_options
@click.option("--format", "format_", type=click.Choice(["table", "json", "ad"]), default="table", help="How to print.")
def command(
    config: ConfigFiles,
    allow_dirs: tuple[str, ...],
    legacy: bool,
    asked: QueueOptions,
    destination_log: str | None,
    destination_queue: str | None,
    destination_name: str | None,
    destination_pool: str | None,
    job: str | None,
    owner: str | None,
    wait_for_gates: bool,
    now: str | None,
    tz: str | None,
    format_: str,
) -> None:
    """Count the jobs of each route, and say why the others are not routed now; ad: what a collector is told."""
    clock = clock_of(now, tz)
    if format_ == "ad":
        _print_ad(config, allow_dirs, clock)
        return
    wanted = None if job is None else _job_of(job)
    table = load_route_table(config, allow_dirs, Context(now=clock.now, zone=clock.zone), legacy=legacy)
    source = source_of(asked, table)
    copies = destination_of(source, table, destination_queue, destination_name, destination_pool, destination_log)
    jobs, findings = read_jobs(source, clock)
    others, more = (None, []) if copies is None else read_jobs(copies, clock)
    findings += more
    report = _report(source, table, findings) if source.kind in {"queue", "live"} else None
    options = RouterOptions(owner=owner, waits_for_gates=wait_for_gates, zone=clock.zone)
    survey = QueueStatus(
        table,
        jobs,
        others,
        clock.now,
        options=options,
        throttles={} if report is None else report.throttles,
        turn=0 if report is None else report.turn,
    )
    if wanted is not None and wanted not in survey.ads:
        findings.append(unknown_job(str(wanted)))
        wanted = None
    findings += [each for each in table.diagnostics if each.severity is Severity.ERROR]
    show(dict.fromkeys(findings))
    if format_ == "json":
        print_json(survey, report, wanted)
    elif job is not None:
        print_job(survey, wanted)
    else:
        print_table(survey, report, clock)
    _say_what_is_off(table)
    if not table.is_enabled or has_error(findings):
        raise click.exceptions.Exit(1)


def _say_what_is_off(table: RoutingTable) -> None:
    if not table.is_enabled:
        say("JobRouter is disabled.", err=True)
    if table.rejected:
        rejected = ", ".join(printable(each.name) for each in table.rejected)
        say(f"rejected: {rejected}; see crondor route check", err=True)


def _job_of(text: str) -> JobId:
    chosen = selection_of((text,), None)
    if len(chosen.jobs) != 1:
        raise click.UsageError(f"--job {printable(text)}: write one job's number, like 12.0")
    return chosen.jobs[0]


def _report(source: QueueOptions, table: RoutingTable, findings: list[Diagnostic]) -> RouterReport | None:
    """Return what the router that runs over a queue has left; None where none does, or its file is no report."""
    lock = lock_path(source, table)
    try:
        found = RouterReport.read(report_path(lock))
    except CrondorError as error:
        findings += error.diagnostics
        return None
    return found if found is not None and found.name == table.settings.name and is_locked(lock) else None


def _print_ad(config: ConfigFiles, allow_dirs: tuple[str, ...], clock: Clock) -> None:
    configuration = load_config(config, allow_dirs)
    host = configuration.string("FULL_HOSTNAME") or socket.gethostname()
    ad, faults = public_ad(configuration, host, clock.now)
    show(faults)
    emit(ad.print(Format.LONG))
