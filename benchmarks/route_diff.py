"""Two tables of 30 routes compared over 100,000 jobs, against one `crondor route explain`: whole processes, in turn."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from benchmarks.classad_ads import texts

ROUTES = 30
JOBS = 100_000
MOST = 2.5
_ROUNDS = 5
_COMMAND = (sys.executable, "-m", "crondor")


def configuration(*, is_new: bool) -> str:
    """Return a table of 30 routes by size; in the new one a tenth of them take other jobs and do something else."""
    lines = [
        "JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE = 100000000",
        "JOB_ROUTER_DEFAULT_MAX_IDLE_JOBS_PER_ROUTE = -1",
        f"JOB_ROUTER_ROUTE_NAMES = {' '.join(f'R{number}' for number in range(ROUTES))}",
        "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = Defaults",
        "JOB_ROUTER_TRANSFORM_Defaults = SET Tagged true",
    ]
    for number in range(ROUTES):
        moved = 5 if is_new and not number % 10 else 0
        asked = f"ImageSize < {(number + 1) * 35 + moved}" if number < ROUTES - 1 else "true"
        lines += [
            f"JOB_ROUTER_ROUTE_R{number} @=end",
            f"  REQUIREMENTS {asked}",
            "  GridResource = batch slurm",
            f'  SET BatchQueue "q{number}{"-new" if moved else ""}"',
            "  EVALSET Memory RequestCpus * 1024",
            "@end",
        ]
    return "\n".join(lines) + "\n"


class Diffing(NamedTuple):
    """Median seconds of one `route explain` and of one `route diff`, and the median ratio."""

    match: float
    diff: float
    ratio: float


def diffing(count: int = JOBS, rounds: int = _ROUNDS) -> Diffing:
    """Time both commands in turn over the same file. Raises ValueError where either does not do its work."""
    with tempfile.TemporaryDirectory() as folder:
        old, new, ads = (Path(folder, name) for name in ("old.conf", "new.conf", "jobs.ads"))
        old.write_text(configuration(is_new=False), encoding="utf-8")
        new.write_text(configuration(is_new=True), encoding="utf-8")
        some = texts()
        with ads.open("w", encoding="utf-8") as file:
            for number in range(count):
                file.write(some[number % len(some)].rstrip("\n") + "\n\n")
        matches, diffs = [], []
        for _ in range(rounds):
            matches.append(_timed(0, "explain", "--summary", "--config", str(old), "--ads", str(ads)))
            diffs.append(_timed(1, "diff", str(old), str(new), "--ads", str(ads)))
    ratio = median(diff / match for match, diff in zip(matches, diffs, strict=True))
    return Diffing(median(matches), median(diffs), ratio)


def _timed(status: int, *words: str) -> float:
    begin = perf_counter()
    done = subprocess.run((*_COMMAND, "route", *words), capture_output=True, check=False)
    taken = perf_counter() - begin
    if done.returncode != status:
        raise ValueError(done.stderr.decode(errors="replace")[-1000:])
    return taken
