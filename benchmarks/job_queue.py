"""A job queue of a million records: read against HTCondor's parser, followed, and written against SQLite.

``python benchmarks/job_queue.py [--peer PYTHON-WITH-BINDINGS]`` prints the table by itself. Each reading runs in a
process of its own; seconds are those of the processor, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from crondor.job_queue import Follower, JobQueue
from tests.golden.big_log import big_log

RECORDS = 1_000_000
SMALL = 1_000
_ROUNDS = 3
_TRANSACTIONS = 300
_CHANGES = ("JobStatus", "EnteredCurrentStatus", "NumJobStarts")

_OURS = """
import gc, sys, time
from pathlib import Path
from crondor.job_queue import read_log
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
gc.collect()
before, begun = resident(), time.process_time()
reading = read_log(sys.argv[1])
spent = time.process_time() - begun
print(spent, (resident() - before) / reading.records, reading.records)
"""
_PEER = """
import os, sys, time
os.environ["CONDOR_CONFIG"] = "/dev/null"
import htcondor2, classad2
values = [line.split(" ", 3)[3] for line in open(sys.argv[1]).read().split("\\n") if line.startswith("103 ")]
begun = time.process_time()
for value in values:
    classad2.ExprTree(value)
print(time.process_time() - begun, len(values))
"""


@dataclass(frozen=True)
class Row:
    """A figure, what it may be at most or at least, and whether it is."""

    name: str
    figure: str
    goal: str
    good: bool


def rows(peer: str = sys.executable) -> list[Row]:
    """Measure everything; the folder for temporary files is on the disk that is measured."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log, small = folder / "large.log", folder / "small.log"
        log.write_text("".join(big_log(1, RECORDS)))
        small.write_text("".join(big_log(1, SMALL)))
        compacted = folder / "compacted.log"
        compacted.write_bytes(log.read_bytes())
        JobQueue(compacted, now=0, rotations=0).close()
        found = [row for path in (log, compacted) for row in _reading(path, peer)]
        return [*found, _following(log, small), _writing(folder)]


def _reading(log: Path, peer: str) -> list[Row]:
    ours, theirs, memory = [], [], []
    records = values = 0.0
    for _ in range(_ROUNDS):
        spent, each, records = _run(sys.executable, _OURS, log)
        ours.append(spent)
        memory.append(each)
        try:
            spent, values = _run(peer, _PEER, log)
        except subprocess.CalledProcessError as error:
            print(f"no peer: {error.stderr.strip().splitlines()[-1]}")
            continue
        theirs.append(spent)
    name = f"{log.stem} log, {int(records):,} records"
    found = [Row(f"{name}: memory", f"{median(memory):.0f} bytes a record", "400", median(memory) <= 400)]
    if theirs:
        ratio = median(ours) / median(theirs)
        figure = f"{median(ours):.2f} s; classad2, {int(values):,} values alone: {median(theirs):.2f} s; {ratio:.2f}"
        found.insert(0, Row(f"{name}: read", figure, "1", ratio <= 1))
    return found


def _run(python: str, program: str, log: Path) -> list[float]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    done = subprocess.run(
        [python, "-c", program, str(log)], capture_output=True, text=True, check=True, env=environment
    )
    return [float(word) for word in done.stdout.split()]


def _following(large: Path, small: Path) -> Row:
    """Measure a poll that finds one new record, in both logs by turns."""
    followers = {path: Follower(path) for path in (large, small)}
    spent: dict[Path, list[float]] = {large: [], small: []}
    for follower in followers.values():
        follower.poll()
    for number in range(200):
        for path, follower in followers.items():
            job = next(iter(follower.mirror))
            with path.open("a") as file:
                file.write(f"103 {job} DeferralTime {number}\n")
            begun = perf_counter()
            poll = follower.poll()
            spent[path].append(perf_counter() - begun)
            if len(poll.changes) != 1:
                raise RuntimeError(f"{path}: one change was expected, not {poll.changes}")
    one, other = (median(spent[path]) * 1e6 for path in (large, small))
    figure = f"{one:.0f} us, in a log of {SMALL:,}: {other:.0f} us; {one / other:.2f}"
    return Row(f"one new record in {RECORDS:,}", figure, "1.3", one / other <= 1.3)


def _writing(folder: Path) -> Row:
    """Measure durable transactions of three changes each, by turns."""
    path = folder / "queue.log"
    with JobQueue(path, now=0) as queue:
        with queue.transaction() as change:
            cluster = change.new_cluster()
            jobs = [change.new_proc(cluster) for _ in range(100)]

        def ours() -> None:
            for number in range(_TRANSACTIONS):
                with queue.transaction() as change:
                    for name in _CHANGES:
                        change.set(jobs[number % 100], name, number)

        database = sqlite3.connect(folder / "queue.db", isolation_level=None)
        database.execute("pragma journal_mode=WAL")
        database.execute("pragma synchronous=FULL")
        database.execute("create table ads (key text, name text, value text, primary key (key, name))")

        def theirs() -> None:
            for number in range(_TRANSACTIONS):
                database.execute("begin")
                for name in _CHANGES:
                    values = (str(jobs[number % 100]), name, str(number))
                    database.execute("insert or replace into ads values (?, ?, ?)", values)
                database.execute("commit")

        pairs = [(_rate(ours), _rate(theirs)) for _ in range(9)]
        database.close()
    one, other = (median(rates) for rates in zip(*pairs, strict=True))
    ratio = median(mine / peer for mine, peer in pairs)
    figure = f"{one:,.0f} a second; SQLite (WAL, FULL) {other:,.0f}; {ratio:.2f}"
    return Row("durable transactions", figure, "at least 0.8", ratio >= 0.8)


def _rate(work: Callable[[], None]) -> float:
    begun = perf_counter()
    work()
    return _TRANSACTIONS / (perf_counter() - begun)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--peer", default=sys.executable, help="a Python that has HTCondor's bindings")
    for row in rows(options.parse_args().peer):
        print(f"job queue, {row.name}: {row.figure} (goal {row.goal}){'' if row.good else '  missed'}", flush=True)


if __name__ == "__main__":
    main()
