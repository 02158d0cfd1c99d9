"""The running router: polls of a large queue against a full look at it, jobs end to end, memory for each job."""

from __future__ import annotations

import gc
import tempfile
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

from crondor.classad.ad import ClassAd
from crondor.config import read_config
from crondor.job_queue import JobId
from crondor.router import RoutingTable, load_table
from crondor.router.daemon import Router
from crondor.router.daemon.rehearsal import Site, Sites
from crondor.schedd.embedded import EmbeddedSchedd, MemorySchedd

NOW = 1_795_200_000
JOBS = 100_000
CLUSTER = 100  # jobs of a cluster
CHANGED = JOBS // 100
MANAGED = 2_000
ROUTED = {"in memory": 2_000, "on disk": 1_000}
LEAST_TIMES = 10.0  # a poll of 1 % of the jobs, faster than a look at all of them
LEAST_RATE = {"in memory": 300, "on disk": 150}  # jobs a second
MOST_FIRST = 5.0  # seconds for the first look
MOST_MEMORY = 25_000  # bytes for a managed job, source and copy in the queue not counted
_ROUNDS = 3
_ATTRIBUTES = 50


class Row(NamedTuple):
    """A figure with its goal."""

    name: str
    figure: str
    goal: str
    good: bool


def table(wanted: str = "WantJobRouter") -> RoutingTable:
    """Return a table with one route, which takes as many jobs as there are."""
    text = f"""
JOB_ROUTER_ROUTE_NAMES = Site1
JOB_ROUTER_ROUTE_Site1 @=end
  REQUIREMENTS {wanted}
  UNIVERSE vanilla
  MaxJobs = 1000000
  MaxIdleJobs = 1000000
  DELETE WantJobRouter
@end
"""
    return load_table(read_config(text))


def job(number: int, *, wants: bool) -> ClassAd:
    """Return a job of some fifty attributes."""
    ad = ClassAd(
        {
            "User": "alice@example.org",
            "Cmd": "/bin/true",
            "JobUniverse": 5,
            "Iwd": "/home/alice",
            "RequestCpus": 1,
            "RequestMemory": 128,
            "Owner": f"user{number % 20}",
            "WantJobRouter": wants,
        }
    )
    for each in range(_ATTRIBUTES - len(ad)):
        ad.set(f"Attribute{each}", f"value {each}")
    ad.set("Args", str(number))
    return ad


def rows() -> Iterator[Row]:
    """Measure one after the other."""
    yield from _polls()
    for kind in ROUTED:
        yield _end_to_end(kind)
    yield _managed()


def _queue(count: int, *, wants: bool) -> MemorySchedd:
    schedd = MemorySchedd(clock=lambda: NOW)
    for start in range(0, count, CLUSTER):
        schedd.submit([job(number, wants=wants) for number in range(start, min(count, start + CLUSTER))])
    return schedd


def _polls() -> Iterator[Row]:
    """Time polls of changed jobs, and full looks by new routers, in turn."""
    schedd = _queue(JOBS, wants=False)
    made, now = table(), [NOW]
    polls, looks = [], []
    jobs = sorted(schedd.mirror)
    for turn in range(_ROUNDS):
        schedd.forget_changes()
        router = Router(made, schedd, clock=lambda: now[0])
        looks.append(_timed(router))
        for found in jobs[turn::100]:
            schedd.edit_if(found, "true", {"JobPrio": turn + 1, "RequestMemory": 128 + turn})
        now[0] += 10
        polls.append(_timed(router))
    quiet = min(_timed(router) for _ in range(20))
    poll, look = median(polls), median(looks)
    times = look / poll
    yield Row(f"first look at {JOBS:,} jobs", f"{look:.1f} s", f"at most {MOST_FIRST:.0f} s", look <= MOST_FIRST)
    yield Row(
        f"a poll in which {CHANGED:,} of {JOBS:,} jobs have changed",
        f"{poll * 1e3:.0f} ms, a full look takes {times:.0f} times that",
        f"{LEAST_TIMES:.0f} times",
        times >= LEAST_TIMES,
    )
    yield Row(f"a poll of {JOBS:,} jobs without a change", f"{quiet * 1e6:.0f} us", "below 1 ms", quiet < 1e-3)


def _timed(router: Router) -> float:
    begin = process_time()
    if not router.poll() or router.jobs:
        raise ValueError("a poll went wrong")
    return process_time() - begin


def _end_to_end(kind: str) -> Row:
    """Time jobs from the router's first poll until they have left the queue, their runs at a site in between."""
    count, now = ROUTED[kind], [NOW]
    with ExitStack() as stack:
        if kind == "in memory":
            schedd: EmbeddedSchedd = MemorySchedd(clock=lambda: now[0])
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            schedd = stack.enter_context(EmbeddedSchedd(folder, clock=lambda: now[0]))
        schedd.submit([job(number, wants=True) for number in range(count)])
        sites = Sites(schedd, [Site("Site1", slots=count, delay=1, run_time=15)], NOW)
        router = Router(table(), schedd, clock=lambda: now[0])
        begin = perf_counter()
        while len(schedd.mirror):
            with schedd.together():
                sites.advance(now[0])
                router.poll()
                schedd.clear_finished()
            now[0] += 10
        spent = perf_counter() - begin
    if len(set(sites.ended)) != count:
        raise ValueError("not all jobs have run")
    rate, least = count / spent, LEAST_RATE[kind]
    return Row(f"{count:,} jobs routed end to end, {kind}", f"{rate:.0f} jobs/s", f"{least} jobs/s", rate >= least)


def _managed() -> Row:
    """Measure what the router itself keeps of the jobs that it has."""
    schedd = MemorySchedd(clock=lambda: NOW)
    schedd.submit([job(number, wants=True) for number in range(MANAGED)])
    now = [NOW]
    first = Router(table(), schedd, clock=lambda: now[0])
    for _ in range(3):
        first.poll()
        now[0] += 10
    del first
    schedd.forget_changes()
    gc.collect()
    tracemalloc.start()
    router = Router(table(), schedd, clock=lambda: now[0])
    for _ in range(3):
        router.poll()
        now[0] += 10
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    if len(router.jobs) != MANAGED or JobId(1, 0) not in router.jobs:
        raise ValueError("not all jobs are managed")
    each = kept / MANAGED
    return Row("memory for a managed job", f"{each:,.0f} bytes", f"at most {MOST_MEMORY:,}", each <= MOST_MEMORY)
