"""The crontab bookkeeping of a schedd: a pass after a reconfig against a bare loop, and passes in steady state.

And what the commands cost that look at a large log in which few jobs have a schedule, beside a bare loop over its
lines; seconds are those of the processor.

``python benchmarks/schedd.py`` prints the table by itself; `make bench` joins it.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.job_queue import Row
from benchmarks.queue_logs import large_log
from crondor.job_queue import JobId
from crondor.job_queue.mirror import AdChange, ChangeKind, Mirror
from crondor.job_queue.records import Op, Record
from crondor.schedd.cron_tabs import CronEdit, CronTabs
from crondor.spec import Dialect

JOBS = 100_000
LOGGED = 100_000
FEW = 1_000
SCHEDULES = 1_000
DUE = 100
NOW = 1_795_195_625
_ROUNDS = 7
_PASSES = 200
_MOST = 20  # times a bare loop
_LOOKS = 3
_MOST_LOOKING = 6.0  # times a loop that splits each line
_LOOKING = ("queue status", "queue recalc", "queue advertise")
_LAST = """
import atexit, re, sys, time
def last():
    print(time.process_time(), re.search(r"VmHWM:\\s+([0-9]+)", open("/proc/self/status").read())[1], file=sys.stderr)
atexit.register(last)
"""
_LOOP = "for line in open(sys.argv[1]): line.split(' ', 3)"
_COMMAND = "from crondor_cli.main import main; main()"
_MOST_STEADY = 1.3  # a pass over many jobs, times one over few: what the clock's noise allows


def queue(jobs: int) -> Mirror:
    """Return a queue of idle crontab jobs, ten in a cluster, with a thousand schedules by turns."""
    mirror = Mirror()
    for number in range(jobs):
        cluster, proc = divmod(number, 10)
        key = f"{cluster + 1}.{proc}"
        if not proc:
            mirror.apply(Record(Op.NEW, f"0{cluster + 1}.-1", "Job"))
        mirror.apply(Record(Op.NEW, key, "Job"))
        minute, hour = divmod(number % SCHEDULES, 24)
        texts = {"JobStatus": "1", "CronMinute": f'"{minute}"', "CronHour": f'"{hour}"', "DeferralWindow": "60"}
        for name, text in texts.items():
            mirror.apply(Record(Op.SET, key, name, text))
    mirror.settle()
    return mirror


def rows() -> list[Row]:
    """Measure everything."""
    return [*_reconfig(Dialect.MANUAL), *_reconfig(Dialect.HTCONDOR), _steady(), *_looking()]


def _reconfig(dialect: Dialect) -> list[Row]:
    """Measure the pass that computes every job anew, at another time each round so that every job gets an edit."""
    mirror = queue(JOBS)
    book = CronTabs(mirror, dialect=dialect)
    own = [mirror.own(job) for job in mirror]
    keys = [str(job) for job in mirror]
    ads = dict(mirror.ads)
    first = _timed(lambda: book.recalculate(NOW - 1))
    bare, read, spent = [], [], []
    for number in range(_ROUNDS):
        bare.append(_timed(lambda: [texts["cronminute"] for texts in own]))
        read.append(_timed(lambda: [ads[key]["cronminute"] for key in keys]))
        book.reconfig()
        now = NOW + number * 86_400
        found: list[CronEdit] = []
        spent.append(_timed(lambda found=found, now=now: found.extend(book.recalculate(now))))  # type: ignore[misc]
        if len(found) != JOBS:
            raise RuntimeError(f"every job should get a time, and {len(found)} did")
    book.close()
    name = f"after a reconfig, {JOBS:,} jobs, {SCHEDULES:,} schedules, {dialect.value}"
    pass_, loop, walk = median(spent), median(bare), median(read)
    figure = f"{pass_ * 1e3:.0f} ms; a loop that reads an attribute of each {walk * 1e3:.1f} ms: {pass_ / walk:.1f}"
    tight = f"{loop * 1e3:.1f} ms: {pass_ / loop:.1f}"
    start = f"{first * 1e3:.0f} ms: {first / walk:.1f}"
    return [
        Row(name, figure, f"{_MOST}", pass_ / walk <= _MOST),
        Row("the same against a loop over the ads' own dictionaries", tight, f"{_MOST}", pass_ / loop <= _MOST),
        Row("the first pass, which parses the schedules", start, f"{_MOST}", first / walk <= _MOST),
    ]


def _steady() -> Row:
    """Measure passes that find a hundred jobs due, by turns in a large queue and a small one."""
    queues = {jobs: _Steady(jobs) for jobs in (JOBS, FEW)}
    spent: dict[int, list[float]] = {jobs: [] for jobs in queues}
    for _ in range(_PASSES):
        for jobs, steady in queues.items():
            spent[jobs].append(steady.spent())
    many, few = (median(spent[jobs]) * 1e6 for jobs in (JOBS, FEW))
    figure = f"{many:.0f} us, of {FEW:,}: {few:.0f} us; {many / few:.2f}"
    good = many / few <= _MOST_STEADY
    return Row(f"a pass with {DUE} due of {JOBS:,} jobs", figure, f"{_MOST_STEADY}", good)


class _Steady:
    """A queue whose jobs all wait for a time far ahead, but for a hundred at each pass, whose time has passed."""

    def __init__(self, jobs: int) -> None:
        self._mirror = queue(jobs)
        self._book = CronTabs(self._mirror, dialect=Dialect.MANUAL)
        self._now = NOW
        self._jobs = list(self._mirror)
        self._next = 0
        self._apply(self._book.recalculate(NOW))

    def spent(self) -> float:
        """Make a hundred jobs due, and return the seconds of the pass that finds them."""
        due = [self._jobs[(self._next + step) % len(self._jobs)] for step in range(DUE)]
        self._next += DUE
        for job in due:  # an edited time that is past, as condor_qedit leaves it
            self._set(job, str(self._now - 1000))
        found: list[CronEdit] = []
        spent = _timed(lambda: found.extend(self._book.recalculate(self._now)))
        if len(found) != DUE:
            raise RuntimeError(f"{DUE} jobs were due, and {len(found)} were found")
        self._apply(found)
        return spent

    def _apply(self, edits: list[CronEdit]) -> None:
        for edit in edits:
            self._set(edit.job, str(edit.time))

    def _set(self, job: JobId, text: str) -> None:
        self._mirror.apply(Record(Op.SET, str(job), "DeferralTime", text))
        self._mirror.tell((AdChange(str(job), ChangeKind.CHANGED, frozenset(("deferraltime",))),))


def _looking() -> list[Row]:
    """Measure the commands on a log of many jobs, of which one in a hundred has a schedule."""
    with tempfile.TemporaryDirectory() as name:
        log = Path(name) / "job_queue.log"
        with log.open("w") as file:
            file.writelines(large_log(LOGGED))
        options = ["--now", "2026-11-20 12:00", "--tz", "UTC"]
        spent: dict[str, list[float]] = {command: [] for command in _LOOKING}
        loop: list[float] = []
        most = 0.0
        for _ in range(_LOOKS):
            loop.append(_process(_LOOP, str(log))[0])
            for command, times in spent.items():
                seconds, peak = _process(_COMMAND, *command.split(), "--log", str(log), *options)
                times.append(seconds)
                most = max(most, peak)
        empty = _process(_COMMAND, "queue", "status", "--queue", f"{name}/none", *options)[1]
        above = (most - empty - log.stat().st_size) / LOGGED
    bare = median(loop)
    found = [
        Row("the most memory that these take", f"{above:.0f} bytes a job above the log's own size", "600", above <= 600)
    ]
    for command, times in spent.items():
        took = median(times)
        figure = f"{took:.2f} s; a loop that splits its lines {bare:.2f} s: {took / bare:.2f}"
        good = took / bare <= _MOST_LOOKING
        found.insert(-1, Row(f"crondor {command}, a log of {LOGGED:,} jobs", figure, f"{_MOST_LOOKING}", good))
    return found


def _process(program: str, *arguments: str) -> tuple[float, float]:
    """Return the processor's seconds of a program that ends with a line of the most memory it had, and that, bytes."""
    command = [sys.executable, "-c", _LAST + program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"})
    seconds, kilobytes = done.stderr.split()[-2:]
    return float(seconds), int(kilobytes) * 1024


def _timed(work: Callable[[], object]) -> float:
    """Return the seconds that some work takes; the collector of cycles rests meanwhile, as in timeit."""
    gc.collect()
    gc.disable()
    try:
        begun = perf_counter()
        work()
        return perf_counter() - begun
    finally:
        gc.enable()


def main() -> None:
    """Print the table."""
    for row in rows():
        print(f"schedd, {row.name}: {row.figure} (goal {row.goal}){'' if row.good else '  missed'}", flush=True)


if __name__ == "__main__":
    main()
