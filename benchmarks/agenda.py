"""`crondor agenda` on thousands of files over a week, against the reading of those files alone."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple
from zoneinfo import ZoneInfo

from crondor.preview.agenda import Agenda
from crondor.preview.span import AgendaSpan
from crondor.spec import Dialect
from crondor_cli.agenda.command import read_each
from crondor_cli.kit.options import Clock
from crondor_cli.kit.schedules import ScheduleRequest

FILES = 2000
_START = 1795132925  # 2026-11-20 00:02:05 UTC
_ZONE = ZoneInfo("America/New_York")
_ROUNDS = 5


class Measured(NamedTuple):
    """Medians in seconds: the files read into schedules, and the whole agenda; and how many starts it counts."""

    name: str
    reading: float
    whole: float
    starts: int
    goal: float  # times the reading, at most

    @property
    def ratio(self) -> float:
        """How many times the reading the whole takes."""
        return self.whole / self.reading


def cases() -> list[Measured]:
    """Measure files that all differ, files of dense schedules that all differ, and files that run every minute."""
    rng = random.Random(7)
    daily = [f"{n % 60} {n // 60 % 24} * * {rng.choice(['*', '1-5', '0,6'])}" for n in range(FILES)]
    minutes = (",".join(map(str, sorted(rng.sample(range(60), 30)))) for _ in range(FILES))
    return [
        _measure("each another time of day", daily, 2.0),
        # Two million pairs, and every one collides thousands of times.
        _measure("each another 30 minutes of every hour", [f"{chosen} * * * *" for chosen in minutes], 8.0),
        _measure("every minute", ["* * * * *"] * FILES, 2.0),
    ]


def _measure(name: str, lines: list[str], goal: float) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        paths = [_write(Path(folder), number, line) for number, line in enumerate(lines)]
        times: dict[str, list[float]] = {"reading": [], "whole": []}
        total = 0
        for _ in range(_ROUNDS):
            start = perf_counter()
            for request in map(_request, paths):
                for job in request.jobs()[0]:
                    job.read(Dialect.MANUAL)
            between = perf_counter()
            total = _agenda(paths)
            times["reading"].append(between - start)
            times["whole"].append(perf_counter() - between)
    return Measured(name, median(times["reading"]), median(times["whole"]), total, goal)


def _write(folder: Path, number: int, line: str) -> str:
    minute, hour, *_, weekday = line.split()
    path = folder / f"{number}.sub"
    fields = f"cron_minute = {minute}\ncron_hour = {hour}\ncron_day_of_week = {weekday}\ncron_window = 600\n"
    path.write_text(f"executable = /bin/date\nlog = job.log\nrequest_cpus = 1\n{fields}queue\n", encoding="ascii")
    return str(path)


def _request(*paths: str) -> ScheduleRequest:
    return ScheduleRequest(Clock(_START, "America/New_York", _ZONE), paths, dialect=Dialect.MANUAL)


def _agenda(paths: list[str]) -> int:
    """Do all that the command does but print."""
    agenda = Agenda(AgendaSpan(_START, 7, _ZONE), Dialect.MANUAL)
    agenda.read(read_each(_request(*paths), 1))
    for day in agenda.span.days:
        agenda.in_day(day)
    agenda.soonest()
    agenda.busiest()
    agenda.collisions(10)
    return agenda.total
