"""What `crondor monitor` keeps of scheduled jobs in logs, each alone in its cluster: bytes of a job, seconds of a look.

``python -m benchmarks.watching [SCHEDDS [JOBS [OTHERS]]]`` watches so many logs of so many scheduled jobs and others.
What a log of a hundred scheduled jobs among others takes, which is made first, counts as fixed. Seconds are of the CPU.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from datetime import timezone
from pathlib import Path

from benchmarks.queue_logs import lone_job
from crondor.monitor.queue_watch import job_filter
from crondor.monitor.watched import Wanted, WatchedQueue
from crondor.schedd.protocol import Selection
from crondor.schedd.reading import QueueLogSchedd
from crondor_cli.kit.options import Clock, QueueOptions

NOW = 1_795_250_000


def resident() -> int:
    """Return the bytes of memory that this process has now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * 4096


def watched(path: Path, jobs: int, others: int) -> WatchedQueue:
    """Write a log, and return it watched."""
    with path.open("w", encoding="utf-8") as file:
        file.write("107 7 CreationTimestamp 1700000000\n")
        for job in range(1, jobs + others + 1):
            file.write(lone_job(job, is_crontab=job <= jobs))
    wanted = Wanted(QueueOptions(log=str(path)), Selection(), None, None, 60, None, (), ())

    def opened() -> QueueLogSchedd:
        return QueueLogSchedd(path, clock=lambda: NOW, only=job_filter(has_logs=False))

    return WatchedQueue(path.stem, wanted, Clock(NOW, "UTC", timezone.utc), opened)


def main() -> None:
    """Print what it costs."""
    schedds, jobs, others = (int(word) for word in (*sys.argv[1:], *("1", "5000", "0")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as folder:
        first = watched(Path(folder) / "first.log", 100, 1500)
        first.look(Clock(NOW, "UTC", timezone.utc))
        queues = [watched(Path(folder) / f"{number}.log", jobs, others) for number in range(schedds)]
        before = resident()
        print(f"{before / 1e6:.0f} MB fixed")
        for step in range(12):
            began = time.process_time()
            clock = Clock(NOW + 30 * step, "UTC", timezone.utc)
            news = 0
            for queue in queues:
                look = queue.look(clock)
                news += 0 if look is None else len(look.runs)
            took = time.process_time() - began
            kept = resident() - before
            each = kept / schedds / max(1, jobs)
            print(f"look {step}: {took:6.2f} s, {news} news, {kept / 1e6:.1f} MB more, {each:.0f} bytes a job")
        print(f"{resident() / 1e6:.0f} MB in all")


if __name__ == "__main__":
    main()
