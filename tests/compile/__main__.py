"""Compile many random schedules and let others try them: ``python -m tests.compile --count 200 --years 10``.

HTCondor's own library evaluates the clauses, at the times around every clock change and at others; a simulated pool
runs the jobs. Prints the counts and each fault; status 1 if there was one.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

from crondor.compile.writing.wish import Compiled
from tests.compile.cases import KINDS
from tests.compile.compiled import Trial, trial, tried
from tests.compile.simulated import simulated


def main() -> None:
    """Try each kind."""
    parser = argparse.ArgumentParser(prog="python -m tests.compile", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="schedules of each kind (default: 200)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first (default: 0)")
    parser.add_argument("--years", type=float, default=10, help="the horizon (default: 10)")
    parser.add_argument("--times", type=int, default=1000, help="times of a job far from clock changes (default: 1000)")
    parser.add_argument("--simulated", type=int, default=20, help="of each kind, run in a simulated pool (default: 20)")
    options = parser.parse_args()
    bad = 0
    for kind in KINDS:
        numbers = range(options.first, options.first + options.count)
        trials = [trial(kind, number, round(options.years * 365.25)) for number in numbers]
        faults = [*_judged(kind, trials, options.times), *_run(kind, trials, options.simulated)]
        for fault in faults:
            bad += 1
            say(f"  FAULT {fault}")
    sys.exit(bool(bad))


def _judged(kind: str, trials: list[Trial], times: int) -> list[str]:
    """Hold trials against the library; say the counts, and return the faults."""
    begin = perf_counter()
    tally = tried(trials, times, Random(kind))  # noqa: S311 - a sample
    exact = ", ".join(f"{n} in {jobs}" for jobs, n in sorted(tally.exact.items()))
    refused = ", ".join(f"{n} {reason}" for reason, n in sorted(tally.refused.items()))
    say(
        f"{kind}: exact {sum(tally.exact.values())} ({exact}); refused {refused or 'none'}; {tally.times:,} times, "
        f"{tally.changes:,} clock changes, {perf_counter() - begin:.0f} s"
    )
    return tally.faults


def _run(kind: str, trials: list[Trial], most: int) -> Iterator[str]:
    """Let a simulated pool run the first trials that can be compiled; say the counts, and yield the faults."""
    begin = perf_counter()
    schedules = jobs = runs = 0
    with TemporaryDirectory() as folder:
        for each in trials if most else ():
            compiled = each.compiled()
            if not isinstance(compiled, Compiled):
                continue
            found = simulated(each, compiled, Random(each.text), Path(folder))  # noqa: S311 - which time is simulated
            if found is None:
                continue
            schedules, jobs, runs = schedules + 1, jobs + len(compiled.jobs), runs + len(found.wanted)
            if found.started != found.wanted:
                differ = sorted({*found.started} ^ {*found.wanted})
                yield f"{each} simulated for {found.days} days from {found.begin}: {differ[:5]}"
            if schedules == most:
                break
    say(f"{kind}: {schedules} simulated, {jobs} jobs, {runs:,} runs wanted, {perf_counter() - begin:.0f} s")


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
