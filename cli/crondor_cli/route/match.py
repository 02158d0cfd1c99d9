"""`crondor route match`: which job goes on which route."""

from __future__ import annotations

import click

from crondor.router import Matcher
from crondor_cli.common.command import Command
from crondor_cli.common.output import emit, say
from crondor_cli.route import match_text
from crondor_cli.route.asking import Asking, asking_options

EXAMPLE = """\
echo 'JOB_ROUTER_ROUTE_NAMES = A' > r.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS true' >> r.conf
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor route match --config r.conf job.sub"""

EPILOG = """\b
Examples:
  crondor route match --config 50-routes.conf jobs.ads
  crondor route match \\
      --config 50-routes.conf /var/lib/condor/spool/job_queue.log \\
      --count-copies
  condor_q -long | crondor route match --config 50-routes.conf -
  crondor route match --config 50-routes.conf \\
      --load Site1=100/50 job.sub --format json

FILES are submit files, ads in any form (-long, new, JSON, XML), or a job_queue.log, told by what is in them. Jobs are
taken in their order, and count on their routes, as HTCondor 25.14's job router does in one poll; table shows the
matches, long says them in the words of condor_job_router_info -match-jobs -log-steps.

Exit status: 0 fine; 1 routing is switched off, or a job cannot be read; 2 wrong usage."""


@click.command("match", cls=Command, example=EXAMPLE, epilog=EPILOG, short_help="Which job goes on which route.")
@asking_options("table", "long", "json")
def command(asking: Asking, format_: str) -> None:
    """Find the jobs that a router would take now, and the route of each."""
    shown = {"table": match_text.table, "long": match_text.long, "json": match_text.data}[format_]
    search = Matcher(asking.table, asking.owner).match(asking.jobs(), asking.route_state, asking.context)
    for text in shown(asking, search):
        emit(text, nl=True) if format_ == "long" else say(text)
    asking.end()
