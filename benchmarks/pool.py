"""The simulated pool: starts a second and memory of many jobs, time against the number of runs, a job's year."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from time import perf_counter
from typing import NamedTuple

from benchmarks.measure import Case, measure
from crondor.classad.ad import ClassAd
from crondor.diagnostics import Source
from crondor.pool.settings import Lengths, PoolSettings
from crondor.pool.simulate.simulation import Simulation
from crondor.submit import job_ads, read_submit

START = 1_795_608_000  # 2026-11-25 12:00 UTC
DAY = 86_400
IMPORTS = 50
"""How many times `import click` a year of an hourly job may take."""

_HOURLY = "executable = /bin/true\ncron_minute = 0\non_exit_remove = false\nqueue {}\n"


class Figures(NamedTuple):
    """What a simulation took: seconds, starts, and the most bytes of Python objects at once."""

    seconds: float
    starts: int
    peak: int


def ads(text: str, count: int) -> list[ClassAd]:
    """Return the ads of some equal jobs."""
    file = read_submit(Source(text.format(count), "job.sub"), now=START)
    return [ad for jobs, ad in job_ads(file) for _ in range(jobs.count)]


def simulation(jobs: int, days: int) -> Simulation:
    """Return hourly jobs in a pool with a slot for each of them."""
    settings = PoolSettings(slots=jobs, run_time=Lengths(20, 120))
    return Simulation(settings, [ads(_HOURLY, jobs)], START, START + days * DAY)


def live(jobs: int, days: int, *, memory: bool = False) -> Figures:
    """Live through it; ``memory`` watches the memory, which makes it slow."""
    made = simulation(jobs, days)
    if memory:
        tracemalloc.start()
    begin = perf_counter()
    outcomes = made.run()
    seconds = perf_counter() - begin
    peak = tracemalloc.get_traced_memory()[1] if memory else 0
    tracemalloc.stop()
    return Figures(seconds, sum(outcome.starts for outcome in outcomes), peak)


def year() -> tuple[float, float]:
    """Return the seconds of one hourly job's year, and of IMPORTS times `import click`, taken in turn."""
    made = simulation(1, 365)
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}

    def imports() -> None:
        subprocess.run([sys.executable, "-c", "import click"], check=True, env=environ)

    case = Case("a year of an hourly job", {"world": made.run, "click": imports}, 1)
    found = measure(case, rounds=3)
    return found["world"] / 1e6, found["click"] * IMPORTS / 1e6
