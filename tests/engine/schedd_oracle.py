"""What a schedd's process answers, by the words of docs/dialects.md and the C library's own localtime and mktime.

As a program it reads a JSON list of questions from standard input, ``[{zone, fields, after, length}, ...]`` with the
values of the five fields, and prints the list of answers; each question is put to a process of its own.
"""

import json
import os
import subprocess
import sys
import time
import zoneinfo
from calendar import monthrange
from collections.abc import Sequence
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import NamedTuple


class Question(NamedTuple):
    """A chain of answers that is asked for: the zone, the values of each field, from when on, and how many."""

    zone: str
    fields: Sequence[Sequence[int]]
    after: int
    length: int


def answers(questions: Sequence[Question]) -> list[list[int]]:
    """Return the chain of answers to each question, in a process that asks nothing else."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.schedd_oracle"],
        input=json.dumps(questions),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: list[list[int]] = json.loads(done.stdout)
    return found


def chain(question: Question) -> list[int]:
    """Answer as a fresh process: each answer is the next start."""
    os.environ["TZ"] = f":{_rules(question.zone)}"
    time.tzset()
    found = []
    after = question.after
    for _ in range(question.length):
        after = answer(question.fields, after)
        found.append(after)
    return found


def answer(fields: Sequence[Sequence[int]], after: int) -> int:
    """Return what the schedd sets when it is asked at ``after``."""
    start = after + 60 - after % 60
    now = time.localtime(start)  # noqa: TID251 - the C library's reading of an instant is the subject
    at = first(fields, (now.tm_year, now.tm_mon, now.tm_mday, now.tm_hour, now.tm_min))
    found = int(time.mktime(time.struct_time((*at, 0, 0, 0, -1))))
    return found if found >= start else after + 120


def first(fields: Sequence[Sequence[int]], now: tuple[int, ...]) -> tuple[int, ...]:
    """Return the first year, month, day, hour and minute in order that are not before those of the start.

    A day 0 comes before all others of its month.
    """
    minutes, hours, days, months, weekdays = fields
    wanted = [0] if len(days) == 31 and 0 < len(weekdays) < 7 else days
    for year in count(now[0]):
        for month in months:
            first_weekday, length = monthrange(year, month)
            by_weekday = (day for day in range(1, length + 1) if (first_weekday + day) % 7 in weekdays)
            for day in sorted({*(day for day in wanted if day <= length), *by_weekday}):
                if (year, month, day) >= now[:3]:
                    for hour in hours:
                        for minute in minutes:
                            if (year, month, day, hour, minute) >= now:
                                return year, month, day, hour, minute
    raise AssertionError


def _rules(zone: str) -> Path:
    """Return the file of rules that zoneinfo reads, so that both know the same clock changes."""
    for folder in zoneinfo.TZPATH:
        if (Path(folder) / zone).is_file():
            return Path(folder) / zone
    return Path(str(files("tzdata"))) / "zoneinfo" / zone


def main() -> None:
    """Answer the questions, each in a process of its own: mktime remembers what it was asked before."""
    found = []
    for question in json.load(sys.stdin):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            with os.fdopen(writer, "w") as out:
                json.dump(chain(Question(*question)), out)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as told:
            found.append(json.load(told))
        os.waitpid(child, 0)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
