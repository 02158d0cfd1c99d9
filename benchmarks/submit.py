"""Long submit descriptions: time for a line beside HTCondor's own parser, and growth with the items of a list."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from statistics import median
from time import perf_counter
from typing import NamedTuple

from crondor.diagnostics import Source
from crondor.schedule import COMMANDS
from crondor.submit import read_submit

LINES = 10_000
ITEMS = (10_000, 1_000_000)
_ROUNDS = 5

# In a process of its own: the library of the bindings changes the state of the one it is loaded into.
_PEER = """
import sys, time
import htcondor2
text = sys.stdin.read()
times = []
for _ in range(int(sys.argv[1])):
    start = time.perf_counter()
    htcondor2.Submit(text)
    times.append(time.perf_counter() - start)
print(sorted(times)[len(times) // 2])
"""


class Growth(NamedTuple):
    """What a list costs: items, seconds to read and ask for the jobs, bytes in use at most."""

    items: int
    seconds: float
    peak: int


def lines() -> str:
    """Return a description of many assignments, some with macros, and one queue statement."""
    made = (f"name_{n} = value {n}" if n % 4 else f"name_{n} = $(name_{n + 1}) and more" for n in range(LINES - 2))
    return "\n".join(("executable = x", *made, "queue", ""))


def listed(items: int) -> str:
    """Return a description with a list, whose schedules do not depend on the item."""
    rows = "".join(f"  file-{n}.dat\n" for n in range(items))
    return f"executable = x\narguments = $(name)\ncron_minute = 0\nqueue name from (\n{rows})\n"


def per_line() -> tuple[float, float | None]:
    """Return the median microseconds for a line of crondor, and of htcondor2.Submit (None where it is not there)."""
    text = lines()
    times = []
    for _ in range(_ROUNDS):
        start = perf_counter()
        read_submit(Source(text))
        times.append(perf_counter() - start)
    done = subprocess.run(
        [sys.executable, "-c", _PEER, str(_ROUNDS)],
        input=text,
        capture_output=True,
        check=False,
        text=True,
        env={"CONDOR_CONFIG": "/dev/null"},
    )
    peer = float(done.stdout) / LINES * 1e6 if done.returncode == 0 else None
    return median(times) / LINES * 1e6, peer


def growth() -> list[Growth]:
    """Return the cost of each list; memory is measured in a run of its own, which is slower."""
    return [_cost(items) for items in ITEMS]


def _cost(items: int) -> Growth:
    text = listed(items)
    start = perf_counter()
    _jobs(text)
    seconds = perf_counter() - start
    tracemalloc.start()
    _jobs(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return Growth(items, seconds, peak)


def _jobs(text: str) -> int:
    file = read_submit(Source(text))
    return sum(group.count for group in file.groups(COMMANDS))
