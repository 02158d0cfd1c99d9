"""`crondor route apply`: the routed ads."""

from __future__ import annotations

from collections.abc import Iterator

import click

from crondor.classad.ad import ClassAd
from crondor.diagnostics import printable
from crondor.router import Matcher, Route, RoutedAd, apply_route
from crondor_cli.common.command import Command
from crondor_cli.common.output import emit, say
from crondor_cli.common.route_options import complete_route
from crondor_cli.route import apply_text
from crondor_cli.route.asking import Asking, asking_options

EXAMPLE = """\
echo 'JOB_ROUTER_ROUTE_NAMES = A' > r.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS true' >> r.conf
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor route apply --config r.conf job.sub"""

EPILOG = """\b
Examples:
  crondor route apply --config 50-routes.conf jobs.ads > routed.ads
  crondor route apply --config 50-routes.conf job.sub --diff
  crondor route apply --config 50-routes.conf --route Site1 jobs.ads --trace
  crondor route apply --config 50-routes.conf job_queue.log --format table

What condor_job_router_info -route-jobs of HTCondor 25.14 does: each job that is matched is routed, and nothing is
submitted, spooled or changed. A job that a route edits in place gives no ad; --diff and json say what changes in it.
FILES are read as crondor route match reads them.

Exit status: 0 fine; 1 a job could not be routed or read, or routing is switched off; 2 wrong usage."""


@click.command(
    "apply", cls=Command, example=EXAMPLE, epilog=EPILOG, short_help="The routed ads of jobs, or what changes."
)
@asking_options("long", "json", "table")
@click.option(
    "--route",
    "route_name",
    metavar="NAME",
    shell_complete=complete_route,
    help="Take this route for all jobs, whether they match or not.",
)
@click.option("--diff", is_flag=True, help="Print what changes in each job instead of the routed ad.")
@click.option("--trace", is_flag=True, help="Say on stderr what each line of the rules does.")
@click.option("--faithful", is_flag=True, help="Word failures as HTCondor 25.14 does.")
def command(asking: Asking, format_: str, route_name: str | None, diff: bool, trace: bool, faithful: bool) -> None:
    """Route jobs, and print the routed copies."""
    table = asking.table
    if route_name is not None and table.route(route_name) is None:
        names = ", ".join(route.name for route in table.routes) or "none"
        raise click.UsageError(f"--route: there is no route '{printable(route_name)}' (routes: {printable(names)})")
    forms = {"long": apply_text.long, "json": apply_text.json_lines, "table": apply_text.table}
    shown = apply_text.diff if diff else forms[format_]
    routed = (
        (job, apply_route(table, route, ad, trace=trace, faithful=faithful))
        for job, ad, route in _matched(asking, route_name)
    )
    for text in shown(_said(asking, routed)):
        emit(text) if shown is apply_text.long else say(text, nl=False)
    asking.end()


def _matched(asking: Asking, route_name: str | None) -> Iterator[tuple[str, ClassAd, Route]]:
    """Yield each job that is to be routed with its route."""
    route = None if route_name is None else asking.table.route(route_name)
    if route is not None:
        yield from ((job.id, job.ad, route) for job in asking.jobs())
        return
    search = Matcher(asking.table, asking.owner).match(asking.jobs(), asking.route_state, asking.context)
    for match in search:
        if search.ad is not None:
            yield match.job, search.ad, match.route


def _said(asking: Asking, routed: Iterator[tuple[str, RoutedAd]]) -> Iterator[tuple[str, RoutedAd]]:
    """Pass on what was routed, and say on stderr what was done and what was wrong."""
    count = 0
    for job, each in routed:
        count += 1
        if each.trace:
            say(f"# job {job}, route {printable(each.route.name)}: {printable(', '.join(each.applied))}", err=True)
            for step in each.trace:
                say(printable(str(step)), err=True)
        asking.findings.add(each.diagnostics, counts=False)
        if each.failed:
            asking.findings.failed = True
            say(f"job {job} could not be routed by {printable(each.route.name)}", err=True)
        yield job, each
    if asking.count and not count:
        say("no job is routed; crondor route explain says why", err=True)
