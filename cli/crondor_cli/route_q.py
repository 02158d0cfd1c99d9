"""`crondor route q`: the routed copies of a queue, as condor_router_q shows them."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final

import click

from crondor.diagnostics import Severity, printable
from crondor_cli.options import clock_of, clock_options
from crondor_cli.schedd_queue import Asked, read_jobs, selection_of, source_options
from crondor_cli.show import show

if TYPE_CHECKING:
    from crondor.classad.ad import ClassAd

EPILOG = """\b
Examples:
  crondor route q -S
  crondor route q -idle --route Site1 --log /var/lib/condor/spool/job_queue.log
  condor_q -all -long | crondor route q -S --ads -

-S, -R, -I and -H print how many copies each route has in each state. As in condor_router_q, -I counts whatever does
not run, held jobs too; -idle is JobStatus 1 alone.

Exit status: 0 fine, 1 a finding (a queue that cannot be read), 2 wrong usage."""

_BASE: Final = "RouteName =!= UNDEFINED"
_LETTERS: Final = "UIRXCHE"


@click.command("q", epilog=EPILOG, short_help="The routed copies of a queue, or how many each route has.")
@click.option("-S", "summary", is_flag=True, help="A summary of all copies.")
@click.option("-R", "running", is_flag=True, help="A summary of those that run.")
@click.option("-I", "not_running", is_flag=True, help="A summary of those that do not run.")
@click.option("-H", "on_hold", is_flag=True, help="A summary of those on hold.")
@click.option("-idle", "--idle", "idle", is_flag=True, help="Idle copies only.")
@click.option("-held", "--held", "held", is_flag=True, help="Held copies only.")
@click.option("-route", "-site", "--route", "route", metavar="NAME", help="Copies of this route only.")
@click.option("-constraint", "--constraint", "constraint", metavar="EXPR", help="Copies for which this is true.")
@source_options
@clock_options
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", help="How to print.")
def command(
    summary: bool,
    running: bool,
    not_running: bool,
    on_hold: bool,
    idle: bool,
    held: bool,
    route: str | None,
    constraint: str | None,
    queue: str | None,
    log: str | None,
    live: bool,
    name: str | None,
    pool: str | None,
    ads: str | None,
    now: str | None,
    tz: str | None,
    format_: str,
) -> None:
    """Show the copies that job routers have made: their sources, routes and states."""
    from crondor.classad import print_string  # noqa: PLC0415 - after what can go wrong

    parts = [_BASE]
    parts += ["JobStatus == 2"] if running else []
    parts += ["JobStatus != 2"] if not_running else []
    parts += ["JobStatus == 5"] if on_hold or held else []
    parts += ["JobStatus == 1"] if idle else []
    parts += [f"RouteName =?= {print_string(route)}"] if route is not None else []
    if constraint is not None:
        selection_of((), constraint)  # a fault in it is shown where it was typed
        parts.append(f"({constraint})")
    chosen = selection_of((), " && ".join(parts))
    found = read_jobs(Asked(queue, log, live, name, pool, ads), chosen, clock_of(now, tz))
    show(dict.fromkeys(found.findings))
    if summary or running or not_running or on_hold:
        _print_summary(found.ads, format_)
    else:
        _print_jobs(found.ads, format_)
    if any(finding.severity is Severity.ERROR for finding in found.findings):
        raise click.exceptions.Exit(1)


def _print_summary(ads: list[ClassAd], format_: str) -> None:
    counts = Counter((_text(ad, "RouteName"), _letter(ad), _text(ad, "GridResource")) for ad in ads)
    if format_ == "json":
        data = [
            {"count": count, "status": letter, "route": route, "grid_resource": resource}
            for (route, letter, resource), count in sorted(counts.items())
        ]
        click.echo(json.dumps({"routes": data}, indent=2))
        return
    lines = [f"{'JOBS':>7} {'ST':>2} {'Route':<20} GridResource"]
    lines += [
        f"{count:7d} {letter:>2} {printable(route):<20} {printable(resource)}".rstrip()
        for (route, letter, resource), count in sorted(counts.items())
    ]
    click.echo("\n".join(lines))


def _print_jobs(ads: list[ClassAd], format_: str) -> None:
    from crondor.schedd.ads import job_id  # noqa: PLC0415 - the same

    rows = [
        (str(job_id(ad)), _text(ad, "Owner"), _letter(ad), _text(ad, "RouteName"), _text(ad, "RoutedFromJobId"))
        for ad in ads
    ]
    if format_ == "json":
        names = ("id", "owner", "status", "route", "source")
        click.echo(json.dumps({"jobs": [dict(zip(names, row, strict=True)) for row in rows]}, indent=2))
        return
    click.echo(f"{'ID':<10} {'OWNER':<12} ST {'ROUTE':<20} SOURCE")
    for job, owner, letter, route, source in rows:
        click.echo(f"{job:<10} {printable(owner):<12} {letter:>2} {printable(route):<20} {printable(source)}".rstrip())


def _letter(ad: ClassAd) -> str:
    from crondor.schedd.actions import integer  # noqa: PLC0415 - the same

    number = integer(ad, "JobStatus")
    return _LETTERS[number] if number is not None and 0 <= number < len(_LETTERS) else "?"


def _text(ad: ClassAd, name: str) -> str:
    from crondor.queued import QueuedJob  # noqa: PLC0415 - the same

    return QueuedJob(ad).string(name) or ""
