"""What is asked for much at once: thousands of runs shown, in processes of their own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.queues import cost, crondor

_ROOT = Path(__file__).resolve().parent.parent
_ROUNDS = 3
_NOW = "2026-11-25 14:00"
RUNS = 100_000
JOBS = 200
_HOURLY = "executable = /bin/true\ncron_minute = 0\non_exit_remove = false\n" + "queue\n" * JOBS
_SIMULATE = ("simulate", "-", "--days", "7", "--now", _NOW, "--tz", "UTC")
_MANY = "executable = /bin/true\ncron_minute = 0\non_exit_remove = false\nqueue 1000\n"
_MONTH = ("simulate", "-", "--days", "30", "--run-time", "20-120", "--no-advice", "--now", _NOW, "--tz", "UTC")
_MINUTELY = "executable = /bin/true\ncron_minute = *\non_exit_remove = false\n+WantJobRouter = true\nqueue\n"
_PLAN = (
    *("route", "plan", "-", "--config", str(_ROOT / "examples/routes-nightly.conf")),
    *("--at-gate", "--run-time", "20", "--days", "7", "--now", _NOW, "--tz", "UTC"),
)
_NEXT = ("next", "--crontab", "*/7 * * * *", "-n", str(RUNS), "--now", _NOW, "--tz", "Europe/Berlin", "--format")


class Task(NamedTuple):
    """A command with its standard input, and how many seconds of the processor and how many MB it may take, if any."""

    name: str
    arguments: tuple[str, ...]
    seconds: float | None
    megabytes: float | None
    given: str = ""


TASKS = (
    Task(f"next -n {RUNS:,}, a table", (*_NEXT, "table"), 1.0, 60),
    Task(f"next -n {RUNS:,}, CSV", (*_NEXT, "csv"), 1.0, 60),
    Task(f"next -n {RUNS:,}, epoch seconds", (*_NEXT, "epoch"), 1.0, 60),
    Task(f"next -n {RUNS:,}, JSON", (*_NEXT, "json"), None, 60),
    Task("route plan --at-gate, 10,080 runs", _PLAN, 1.0, None, _MINUTELY),
    *(
        Task(
            f"simulate 1,000 hourly jobs for a month in {slots:,} slots",
            (*_MONTH, "--slots", str(slots)),
            15.0,
            None,
            _MANY,
        )
        for slots in (1000, 999, 500, 100, 1)
    ),
    Task(f"simulate {JOBS} hourly jobs for a week in one slot, with advice", _SIMULATE, 6.0, None, _HOURLY),
)


class Measured(NamedTuple):
    """Median seconds of the processor, and the most memory in MB."""

    task: Task
    seconds: float
    megabytes: float

    @property
    def is_missed(self) -> bool:
        """Say whether a goal is not reached."""
        task = self.task
        slow = task.seconds is not None and self.seconds > task.seconds
        return slow or (task.megabytes is not None and self.megabytes > task.megabytes)


def measured(task: Task) -> Measured:
    """Run a command some times."""
    with tempfile.TemporaryDirectory() as place:
        found = [cost((*crondor(), *task.arguments), Path(place), given=task.given) for _ in range(_ROUNDS)]
    return Measured(task, median(each.seconds for each in found), max(each.memory for each in found))
