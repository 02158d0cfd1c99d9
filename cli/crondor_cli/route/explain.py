"""`crondor route explain`: explain which route takes each job, and why the others do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain, islice
from typing import TYPE_CHECKING

import click

from crondor.diagnostics import printable, shortened
from crondor.router import JobVerdict, Matcher, RouteOutcome, Search, why
from crondor.router.match.matcher import Judged, judge
from crondor_cli.kit.ads import NearAd
from crondor_cli.kit.command import Command
from crondor_cli.kit.parallel import sharing_options
from crondor_cli.kit.screen import echo_lines, emit, say, usage
from crondor_cli.kit.tables import echo_json, plural
from crondor_cli.route.asking import Asking, CandidateJob, asking_options, judged_data

if TYPE_CHECKING:
    from crondor_cli.route import results

EXAMPLE = """\
echo 'JOB_ROUTER_ROUTE_NAMES = A' > r.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS true' >> r.conf
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor route explain --config r.conf job.sub"""

EPILOG = """\b
Examples:
  crondor route explain --config 50-routes.conf job.sub
  crondor route explain --config 50-routes.conf jobs.ads
  condor_q -long | crondor route explain --config 50-routes.conf - --each
  crondor route explain --config 50-routes.conf --load Site1=100/50 \\
      jobs.ads --each
  crondor route explain \\
      --config 50-routes.conf /var/lib/condor/spool/job_queue.log \\
      --count-copies --summary --format json

FILES are submit files, ads in any form (-long, new, JSON, XML), or a job_queue.log; detected by the content. Jobs are
routed in order, and fill their routes, as in one poll of HTCondor 25.14's job router.

A single job is explained: each route matches, or has the shortest reason why not. Limits (full, idle limit, throttled)
are given as the reason only if the requirements of the route are met. For several jobs the matches are listed; --each
explains every job. JSON explains every job; --summary prints the matches and the load of the routes instead. --format
long lists the matches as condor_job_router_info -match-jobs -log-steps does.

Exit status: 0 fine; 1 routing is switched off, or a job cannot be read; 2 wrong usage."""

_HEAD = "Route Name               Source      Submitted/Max        Idle/Max     Throttle"
_LONGEST = 200  # characters of a reason; JSON has it in full
_WIDEST = 24  # columns for the names of routes


@click.command("explain", cls=Command, example=EXAMPLE, epilog=EPILOG)
@asking_options("table", "long", "json")
@click.option("--each", "is_each", is_flag=True, help="Explain every job (default for a single job, and for JSON).")
@click.option("--summary", "is_summary", is_flag=True, help="List the matches (default for several jobs).")
@sharing_options
def command(asking: Asking, format_: str, is_each: bool, is_summary: bool, jobs: int | None) -> None:
    """Explain which route takes each job, and why the others do not."""
    if is_each and (is_summary or format_ == "long"):
        other = "--summary" if is_summary else "--format long"
        raise usage(f"--each and {other}: choose one")
    if is_each or (format_ == "json" and not is_summary):
        _explain(asking, asking.jobs(), format_)
    else:
        _summarise(asking, format_, jobs, may_explain=format_ == "table" and not is_summary)
    asking.end()


def _explain(asking: Asking, jobs: Iterable[CandidateJob], form: str) -> None:
    """Print the route of each job, and each route's verdict."""
    table, route_state = asking.table, asking.route_state
    accepting = () if route_state.is_full(table) else route_state.accepting(table)
    data: list[results.Job] = []
    for job in jobs:
        told = why(table, job.ad, route_state, asking.context, owner=asking.owner, accepting=accepting)
        if told.chosen is not None:
            route_state = route_state.after({told.chosen.name: 1})
        row = explained(job, told)
        if form == "json":
            data.append(row)
        else:
            for line in lines(row, job, told):
                say(line)
    if form == "json":
        result: results.Explained = {"jobs": data, "rejected": [each.name for each in table.rejected]}
        echo_json(result)


def _summarise(asking: Asking, form: str, processes: int | None, *, may_explain: bool) -> None:
    """Print the matches of all jobs; a single job is explained if ``may_explain`` is set."""
    matcher = Matcher(asking.table, asking.owner)

    def judged(found: Iterator[CandidateJob]) -> Iterator[Judged[NearAd | None]]:
        for job, routes, ad in judge(matcher, found, asking.route_state, asking.context):
            yield job, routes, NearAd.of(ad) if may_explain else None

    with closing(asking.made(judged, processes)) as made:
        first = list(islice(made, 2)) if may_explain else []
        if len(first) == 1:
            job, _, near = first[0]
            if near is not None:
                _explain(asking, [CandidateJob(job, asking.near(near))], form)
                return
        search = Search(matcher, _counted(asking, chain(first, made)), asking.route_state)
        if form == "json":
            echo_json(_found(asking, search))
            return
        if form == "long":
            for line in _long(asking, search):
                emit(line, nl=True)
        else:
            echo_lines(_table(asking, search))


def _counted(asking: Asking, judged: Iterable[Judged[NearAd | None]]) -> Iterator[Judged[NearAd | None]]:
    """Count the jobs as the search reads them; some were read before."""
    for asking.count, each in enumerate(judged, start=1):
        yield each


def lines(row: results.Job, job: CandidateJob, told: JobVerdict) -> Iterator[str]:
    """Yield a block for a job: its route, why it is not a candidate, and each route's verdict."""
    place = "" if job.ad.place is None else f" ({job.ad.place.name}:{job.ad.place.line})"
    fate = "no route" if row["route"] is None else f"goes to {row['route']}"
    yield printable(f"job {row['job']}{place}: {fate}")
    for missed in row["missed"]:
        yield f"  not a candidate: {shortened(printable(missed['reason']), _LONGEST)}"
    width = min(_WIDEST, max((len(each.route.name) for each in told.verdicts), default=0))
    for verdict, route in zip(row["routes"], (each.route for each in told.verdicts), strict=True):
        name, outcome, reason = verdict["route"], verdict["outcome"], verdict["reason"]
        every = "" if route.transform.requirements is not None else " (without REQUIREMENTS every candidate matches)"
        if outcome == RouteOutcome.NOT_CANDIDATE.value:
            said = f"matched, if it were a candidate{every}"
        elif reason is None:
            said = f"matched{'' if name == row['route'] else ', but another route takes it'}{every}"
        else:
            said = f"{outcome}: {shortened(printable(reason), _LONGEST)}"
        yield f"  {printable(name):<{width}}  {said}"


def explained(job: CandidateJob, told: JobVerdict) -> results.Job:
    """Return the --format json output for a job."""
    return {"job": job.id, "route": None if told.chosen is None else told.chosen.name, **judged_data(told)}


def _table(asking: Asking, search: Search[NearAd | None]) -> Iterator[str]:
    """Yield a line for each match, and the number of matches."""
    count = 0
    for match in search:
        if not count:
            yield f"{'JOB':<12} ROUTE"
        count += 1
        yield f"{match.job:<12} {printable(match.route.name)}"
    jobs = plural(asking.count, "job")
    if search.umbrella is None:
        yield "no route takes jobs: no job was examined"
    elif search.is_stopped:
        yield f"{count:,} of the first {jobs} go to a route; then all routes are full"
    else:
        yield f"{count:,} of {jobs} go{'es' if 1 in (count, asking.count) else ''} to a route"


def _long(asking: Asking, search: Search[NearAd | None]) -> Iterator[str]:
    """Yield the output of condor_job_router_info -match-jobs -log-steps."""
    yield "Checking for candidate jobs. routing table is:"
    yield _HEAD
    for route in asking.table.routes:
        load, throttle = asking.route_state.load(route), asking.route_state.throttle(route)
        yield (
            f"{printable(route.name):<24} {printable(route.name):<11} {load.jobs:>7}/{route.max_jobs:>7} "
            f"{load.idle:>7}/{route.max_idle_jobs:>7} {throttle!s:>8}"
        )
    yield ""
    if search.umbrella is not None:
        yield f"Umbrella constraint: {printable(search.umbrella)}"
    count = 0
    for match in search:
        count += 1
        yield f"Found candidate job src={match.job},route={printable(match.route.name)}"
    yield f"{count} candidate jobs found"


def _found(asking: Asking, search: Search[NearAd | None]) -> results.Matches:
    """Return the --format json output with --summary."""
    matches: list[results.Match] = [{"job": match.job, "route": match.route.name} for match in search]
    route_state = search.route_state
    routes: list[results.RouteLoad] = [
        {
            "route": route.name,
            "jobs": route_state.load(route).jobs,
            "idle": route_state.load(route).idle,
            "limit": limit and limit.value,
        }
        for route in asking.table.routes
        for limit in (route_state.limit(route),)
    ]
    return {
        "umbrella": search.umbrella,
        "matches": matches,
        "jobs_read": asking.count,
        "is_stopped": search.is_stopped,
        "routes": routes,
        "rejected": [each.name for each in asking.table.rejected],
    }
