"""Compile many random schedules and hold them against HTCondor's library: ``python -m tests.compile --count 200``.

Prints the counts and each fault; status 1 if there was one.
"""

from __future__ import annotations

import argparse
import sys
from random import Random
from time import perf_counter

from tests.compile.cases import KINDS
from tests.compile.compiled import trial, tried


def main() -> None:
    """Try each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="schedules of each kind")
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument("--days", type=int, default=1100, help="the horizon")
    parser.add_argument("--times", type=int, default=1000, help="times of a job that the library evaluates")
    options = parser.parse_args()
    bad = 0
    for kind in KINDS:
        begin = perf_counter()
        numbers = range(options.first, options.first + options.count)
        tally = tried([trial(kind, n, options.days) for n in numbers], options.times, Random(kind))  # noqa: S311 - a sample
        bad += len(tally.faults)
        exact = ", ".join(f"{n} in {jobs}" for jobs, n in sorted(tally.exact.items()))
        refused = ", ".join(f"{n} {reason}" for reason, n in sorted(tally.refused.items()))
        times = f"{tally.times:,} times, {perf_counter() - begin:.0f} s"
        say(f"{kind}: exact {sum(tally.exact.values())} ({exact}); refused {refused or 'none'}; {times}")
        for fault in tally.faults:
            say(f"  FAULT {fault}")
    sys.exit(bool(bad))


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
