"""`crondor route match`: which job goes on which route."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import click

from crondor.router import Matcher
from crondor.router.match.judging import Judged, JudgedSearch, judge
from crondor_cli.common.command import Command
from crondor_cli.common.output import emit, say
from crondor_cli.common.parallel import jobs_option
from crondor_cli.route import match_text
from crondor_cli.route.asking import Asking, asking_options
from crondor_cli.route.jobs import CandidateJob

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
@jobs_option
def command(asking: Asking, format_: str, jobs: int | None) -> None:
    """Find the jobs that a router would take now, and the route of each."""
    shown = {"table": match_text.table, "long": match_text.long, "json": match_text.data}[format_]
    matcher = Matcher(asking.table, asking.owner)

    def judged(found: Iterator[CandidateJob]) -> Iterator[Judged]:
        for job, routes, _ in judge(matcher, found, asking.route_state, asking.context):
            yield Judged(job, routes)

    with closing(asking.made(judged, jobs)) as made:
        search = JudgedSearch(matcher, made, asking.route_state, asking.context)
        for text in shown(asking, search):
            emit(text, nl=True) if format_ == "long" else say(text, fits=format_ == "table")
    asking.end()
