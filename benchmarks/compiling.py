"""Ten years of a schedule compiled and proven, each in a process: processor seconds, and memory above the imports."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from time import process_time
from typing import NamedTuple

START = 1796083200  # 2026-12-01
YEARS = 10


class Task(NamedTuple):
    """A schedule, and how many seconds and megabytes it may take; ``interval`` is the schedd's."""

    name: str
    text: str
    seconds: float
    interval: int = 300
    megabytes: float = 50


TASKS = (
    Task("daily, not on holidays", "0 9 * * 1-5 except holidays:DE-BW", 0.2),
    Task("each minute, not in two weeks", "* * * * * except 2026-12-24..2027-01-06", 2, interval=5),
    Task("each minute, not at night or on Sundays", "(* 6-21 * * *) except (every Sunday)", 2, interval=5),
)


class Cost(NamedTuple):
    """What a task took, and how many times were compared."""

    task: Task
    seconds: float
    megabytes: float
    compared: int

    @property
    def is_missed(self) -> bool:
        """Whether it is more than it may be."""
        return self.seconds > self.task.seconds or self.megabytes > self.task.megabytes


def measured() -> list[Cost]:
    """Measure each task."""
    found = []
    for number, task in enumerate(TASKS):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.compiling", str(number)], capture_output=True, text=True, check=True
        )
        found.append(Cost(task, *json.loads(done.stdout)))
    return found


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Do one task, and print what it took."""
    from crondor.compile.meaning import read_schedule  # noqa: PLC0415 - what is imported does not count
    from crondor.compile.writing.compiler import compile_schedule  # noqa: PLC0415 - the same
    from crondor.compile.writing.wish import Timing, Wish  # noqa: PLC0415 - the same
    from crondor.zones import zone_of  # noqa: PLC0415 - the same

    task = TASKS[int(sys.argv[1])]
    schedule = read_schedule(task.text, zone="UTC", start=START)
    schedule.next(START)  # the calendar of holidays is another library's
    before, begin = _peak(), process_time()
    end = START + YEARS * 366 * 86400
    timing = Timing(0, 15, task.interval)
    found = compile_schedule(Wish(schedule, zone_of("UTC"), START, end, timing))
    spent = process_time() - begin
    if not found.exact:
        message = f"{task.text} is not exact"
        raise RuntimeError(message)
    print(json.dumps([spent, _peak() - before, found.proof.offered]))


if __name__ == "__main__":
    main()
