"""The matches of jobs and routes: for people, in the words of HTCondor's tool, and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator

from crondor.classad.ad import ClassAd
from crondor.diagnostics import printable
from crondor.router import Search
from crondor_cli.route.asking import Asking

_HEAD = "Route Name               Source      Submitted/Max        Idle/Max     Throttle"


def table(asking: Asking, search: Search[ClassAd]) -> Iterator[str]:
    """Yield a line for each match, and how many there were."""
    count = 0
    for match in search:
        if not count:
            yield f"{'JOB':<12} ROUTE"
        count += 1
        yield f"{match.job:<12} {printable(match.route.name)}"
    jobs = f"{asking.count:,} job{'' if asking.count == 1 else 's'}"
    if search.umbrella is None:
        yield "no route takes jobs: none was looked at"
    elif search.is_stopped:
        yield f"{count:,} of the first {jobs} go on a route; then nothing takes any more"
    else:
        yield f"{count:,} of {jobs} go{'es' if 1 in (count, asking.count) else ''} on a route"


def long(asking: Asking, search: Search[ClassAd]) -> Iterator[str]:
    """Yield what condor_job_router_info -match-jobs -log-steps says."""
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


def data(asking: Asking, search: Search[ClassAd]) -> Iterator[str]:
    """Yield one object; `crondor schema route match` has the keys."""
    matches = [{"job": match.job, "route": match.route.name} for match in search]
    route_state = search.route_state
    routes = [
        {
            "route": route.name,
            "jobs": route_state.load(route).jobs,
            "idle": route_state.load(route).idle,
            "limit": limit and limit.value,
        }
        for route in asking.table.routes
        for limit in (route_state.limit(route),)
    ]
    found = {
        "umbrella": search.umbrella,
        "matches": matches,
        "jobs_read": asking.count,
        "is_stopped": search.is_stopped,
        "routes": routes,
        "rejected": [each.name for each in asking.table.rejected],
    }
    yield json.dumps(found, indent=2)
