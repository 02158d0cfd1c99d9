"""`crondor route status`: show a router's state, and why jobs are not routed now."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crondor.classad import Format
from crondor.classad.scope import Context
from crondor.diagnostics import CrondorError, Diagnostic, Severity, has_error, printable
from crondor.job_queue import JobId
from crondor.router import RoutingTable
from crondor.router.daemon import Because, QueueStatus, RouteNow, RouteReason, RouterOptions, RouterReport
from crondor.router.daemon.lock import is_locked
from crondor.router.daemon.routed_job import public_ad
from crondor.router.match.matcher import WINDOW
from crondor.router.table.route import ScheddContact
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command
from crondor_cli.kit.configs import config_option, legacy_option, load_config, load_route_table
from crondor_cli.kit.options import Clock, ConfigFiles, QueueOptions, folder_of
from crondor_cli.kit.queues import read_jobs, selection_of, unknown_job
from crondor_cli.kit.screen import emit, say, show
from crondor_cli.kit.services import state_folder
from crondor_cli.kit.tables import cell, echo_json, plural, print_rows
from crondor_cli.kit.times import local_text

if TYPE_CHECKING:
    from crondor_cli.route import results


destination_options = opts.options_of(
    click.option("--destination-queue", metavar="PATH", help="Copies go into this embedded queue."),
    click.option("--destination-name", metavar="NAME", help="Copies go to the live schedd of this name."),
    click.option("--destination-pool", metavar="HOST", help="The collector of its pool."),
)
"""The queue of the copies: --destination-queue, --destination-name, --destination-pool."""


def destination_of(
    source: QueueOptions,
    table: RoutingTable,
    queue: str | None,
    name: str | None,
    pool: str | None,
    log: str | None = None,
) -> QueueOptions | None:
    """Return the queue of the copies, None if it is that of the sources.

    Between live schedds, JOB_ROUTER_SCHEDD2_NAME and JOB_ROUTER_SCHEDD2_POOL are the default. Raises UsageError.
    """
    if all(option is None for option in (queue, name, pool, log)):
        return _configured(source, table)
    asked = QueueOptions(queue, log, bool(name or pool), name, pool)
    if len([each for each in (queue, name or pool, log) if each]) > 1:
        raise click.UsageError("the --destination options exclude each other: choose one")
    if asked.kind == source.kind == "queue" and folder_of(asked.queue).resolve() == folder_of(source.queue).resolve():
        return None
    return asked


def _configured(source: QueueOptions, table: RoutingTable) -> QueueOptions | None:
    """Return the copies' live schedd from the configuration, if any."""
    contact = table.settings.destination_schedd
    if source.kind != "live" or not any((contact.name, contact.pool, contact.address_file)):
        return None
    return _contacted(QueueOptions(live=True), contact)


def source_of(asked: QueueOptions, table: RoutingTable) -> QueueOptions:
    """Return the queue of the sources: --live alone means JOB_ROUTER_SCHEDD1_NAME and JOB_ROUTER_SCHEDD1_POOL."""
    contact = table.settings.source_schedd
    if asked.kind != "live" or asked.name or asked.pool:
        return asked
    return _contacted(asked, contact)


def _contacted(asked: QueueOptions, contact: ScheddContact) -> QueueOptions:
    """Return a live schedd as in the configuration."""
    return asked._replace(
        name=contact.name or None, pool=contact.pool or None, address_file=contact.address_file or None
    )


def lock_path(asked: QueueOptions, table: RoutingTable) -> Path:
    """Return JOB_ROUTER_LOCK, or else a file next to the embedded queue, or for a live one in the user's state folder.

    Its default is $(LOCK)/..., which is in the root folder if LOCK is not set.
    """
    settings = table.settings
    path = Path(settings.lock)
    if not settings.lock or path.parent == Path(path.anchor):
        folder = state_folder("queue", "JOB_ROUTER_LOCK") if asked.kind == "live" else folder_of(asked.queue)
        return folder / f"{settings.name}Lock"
    return path


def report_path(lock: Path) -> Path:
    """Return the path of the report of the router that holds a lock."""
    return lock.with_name(f"{lock.name}.status")


_REASONS = [each.value for each in RouteReason]
_SETTLED = (RouteReason.ROUTED.value, RouteReason.COPY.value)


def _result(survey: QueueStatus, report: RouterReport | None) -> results.StatusResult:
    router: results.Router | None = None
    if report is not None:
        pause, answered = report.pause, report.answered
        router = {"started": report.started, "polled": report.polled, "answered": answered, "pause": pause}
    jobs = sorted(survey.summary().items(), key=lambda each: (each[0][0].name, each[0]))
    return {
        "name": survey.name,
        "now": survey.now,
        "router": router,
        "routes": [_route(now, survey.now, is_known=report is not None) for now in survey.routes()],
        "jobs": [{"reason": why.value, "route": route or None, "count": count} for (why, route), count in jobs],
        "unpaired": [str(each) for each in survey.unpaired],
        "rejected": [each.name for each in survey.table.rejected],
    }


def _route(found: RouteNow, now: int, *, is_known: bool) -> results.StatusRoute:
    route, load, throttle, limit, text = found
    return {
        "route": route.name,
        "jobs": load.jobs,
        "max_jobs": route.max_jobs,
        "idle": load.idle,
        "max_idle_jobs": route.max_idle_jobs,
        "limit": None if limit is None else limit.value,
        "text": text or None,
        "throttle": throttle.jobs / WINDOW if is_known and throttle.jobs > 0 else None,
        "window": throttle.begin if is_known else None,
        "routed": throttle.routed if is_known else None,
        "failed": throttle.failed if is_known else None,
        "succeeded": throttle.succeeded if is_known else None,
        "failure_rate": throttle.failed / max(1, now - throttle.begin) if is_known else None,
        "failure_rate_threshold": route.failure_rate_threshold,
    }


def _asked(job: JobId, found: Because) -> results.Asked:
    return {
        "job": str(job),
        "reason": found.reason.value,
        "text": found.text or None,
        "routes": [
            {"route": each.route.name, "outcome": each.outcome.value, "reason": each.reason} for each in found.verdicts
        ],
    }


def _print_table(data: results.StatusResult, unpaired: int, clock: Clock) -> None:
    """Print the routes, and the number of jobs not routed now per reason."""
    name, router = printable(data["name"]), data["router"]
    if router is None:
        say(f"{name}: no running router found, so throttles are unknown; the rest is counted from the queue")
    else:
        failed = "" if router["answered"] else ", and the queue did not answer"
        more = f"; nothing is written there for {plural(router['pause'], 'more poll')}" if router["pause"] else ""
        say(f"{name}: a router runs here; its last poll was {local_text(router['polled'], clock.zone)}{failed}{more}")
    rows = [_row(route) for route in data["routes"]]
    if rows:
        say()
        print_rows(["route", "jobs", "idle", "throttle", "failed", "succeeded", "takes jobs"], rows)
    left = [each for each in data["jobs"] if each["reason"] not in _SETTLED]
    say(f"\nnot routed now: {plural(sum(each['count'] for each in left), 'job')}")
    for each in sorted(left, key=lambda each: (_REASONS.index(each["reason"]), each["route"] or "")):
        route = f" ({printable(each['route'])})" if each["route"] else ""
        say(f"  {each['count']:>7}  {each['reason']}{route}")
    if unpaired:
        say(
            f"{plural(unpaired, 'source')} of this router {'has' if unpaired == 1 else 'have'} no copy: a router that"
            " runs will submit it, or give the job back"
        )


def _row(route: results.StatusRoute) -> list[str]:
    idle = f"{route['idle']}/{route['max_idle_jobs']}" if route["max_idle_jobs"] >= 0 else f"{route['idle']}"
    counts = ["-", "-", "-"]
    if route["failure_rate"] is not None:
        failed = f"{route['failed']} ({route['failure_rate']:.3g}/s of {route['failure_rate_threshold']:g}/s)"
        throttle = "none" if route["throttle"] is None else f"{route['throttle']:g} jobs/sec"
        counts = [throttle, failed, str(route["succeeded"])]
    return [cell(route["route"]), f"{route['jobs']}/{route['max_jobs']}", idle, *counts, route["text"] or "yes"]


def _print_job(found: results.Asked) -> None:
    """Print why a job is not routed now."""
    text = "" if found["text"] is None else f": {printable(found['text'])}"
    say(f"job {found['job']}: {found['reason']}{text}")
    width = min(24, max((len(each["route"]) for each in found["routes"]), default=0))
    for each in found["routes"]:
        reason = "" if each["reason"] is None else f": {printable(each['reason'])}"
        say(f"  {printable(each['route']):<{width}}  {each['outcome']}{reason}")


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

The command reads the queue and needs no running router. Only a running crondor route run knows the counts of a
throttle.

Exit status: 0 fine; 1 routing is switched off, a queue cannot be read, or there is no such job; 2 wrong usage."""


@click.command("status", cls=Command, example=EXAMPLE, epilog=EPILOG)
@config_option
@legacy_option
@opts.source_options
@click.option("--destination-log", metavar="FILE", help="Copies are in the queue of this job_queue.log.")
@destination_options
@click.option("--job", metavar="C.P", help="Explain why this job is not routed now.")
@click.option("--owner", metavar="USER", help="The router takes only this user's jobs.")
@click.option("--wait-for-gates", is_flag=True, help="The router waits for the gates of crontab and deferral jobs.")
@opts.clock_options
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
    clock: Clock,
    format_: str,
) -> None:
    """Count the jobs of each route, and explain why the others are not routed; --format ad: the collector's ad."""
    if format_ == "ad":
        configuration = load_config(config, allow_dirs)
        host = configuration.string("FULL_HOSTNAME") or socket.gethostname()
        ad, faults = public_ad(configuration, host, clock.now)
        show(faults)
        emit(ad.print(Format.LONG))
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
        data = _result(survey, report)
        if wanted is not None:
            data["job"] = _asked(wanted, survey.why(wanted))
        echo_json(data)
    elif job is None:
        _print_table(_result(survey, report), len(survey.unpaired), clock)
    elif wanted is not None:
        _print_job(_asked(wanted, survey.why(wanted)))
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
    """Return the report of the router that runs over a queue; None if none runs, or the report is invalid."""
    lock = lock_path(source, table)
    try:
        found = RouterReport.read(report_path(lock))
    except CrondorError as error:
        findings += error.diagnostics
        return None
    return found if found is not None and found.name == table.settings.name and is_locked(lock) else None
