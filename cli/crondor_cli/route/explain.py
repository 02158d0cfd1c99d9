"""`crondor route explain`: why a job goes on a route, or does not."""

from __future__ import annotations

import click

from crondor.router import RouteState, why
from crondor_cli.common.command import Command
from crondor_cli.common.output import say
from crondor_cli.common.streaming import echo_json
from crondor_cli.route import explain_text
from crondor_cli.route.asking import Asking, asking_options

EXAMPLE = """\
echo 'JOB_ROUTER_ROUTE_NAMES = A' > r.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS true' >> r.conf
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor route explain --config r.conf job.sub"""

EPILOG = """\b
Examples:
  crondor route explain --config 50-routes.conf job.sub
  crondor route explain --config 50-routes.conf --load Site1=100/50 jobs.ads
  crondor route explain \\
      --config 50-routes.conf /var/lib/condor/spool/job_queue.log \\
      --count-copies --format json

For each job and route: matched, or the shortest reason why not. Whether a route's requirements are met is said first;
full, idle limit and throttled are reasons of a route whose requirements are met. Jobs are taken in their order, and
count on their routes; FILES are read as crondor route match reads them.

Exit status: 0 fine; 1 routing is switched off, or a job cannot be read; 2 wrong usage."""


@click.command(
    "explain",
    cls=Command,
    example=EXAMPLE,
    epilog=EPILOG,
    short_help="For each job and route: matched, or the reason why not.",
)
@asking_options("table", "json")
def command(asking: Asking, format_: str) -> None:
    """Say of each job which route takes it, and why the others do not."""
    table, route_state = asking.table, asking.route_state
    accepting = () if route_state.is_full(table) else route_state.accepting(table)
    data = []
    for job in asking.jobs():
        told = why(table, job.ad, route_state, asking.context, owner=asking.owner, accepting=accepting)
        if told.chosen is not None:
            route_state = _after(route_state, told.chosen.name)
        if format_ == "json":
            data.append(explain_text.data(job, told))
        else:
            for line in explain_text.lines(job, told):
                say(line)
    if format_ == "json":
        echo_json({"jobs": data, "rejected": [each.name for each in table.rejected]})
    asking.end()


def _after(route_state: RouteState, name: str) -> RouteState:
    return route_state.after({name: 1})
