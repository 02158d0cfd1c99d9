"""Files and tables that two processes share: the clock with `--jobs 2` beside that with one, in turn."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.check import texts
from benchmarks.queues import COMMANDS as ON_QUEUES
from benchmarks.queues import SETS, Cost, Row, cost, crondor
from benchmarks.route_diff import configuration
from benchmarks.routes import CONFIG
from benchmarks.transform import RULES
from benchmarks.unique_ads import texts as ads

FILES = 2000
ADS = 10_000
_ROUNDS = 5
_NOW = ("--now", "2026-11-20 12:00", "--tz", "UTC")


class Command(NamedTuple):
    """A command with its arguments; those that are files come after it.

    ``most`` is how many times it may take by the clock what it takes alone, where two cores are free.
    """

    name: str
    words: tuple[str, ...]
    most: float
    takes_files: bool = True


COMMANDS = (
    Command(f"check of {FILES:,} files", ("check", *_NOW), 0.75),
    Command(f"agenda of {FILES:,} files", ("agenda", *_NOW), 1.0),
    Command(f"route diff over {ADS:,} ads", ("route", "diff", "old", "new", "--ads", "ads"), 0.75, takes_files=False),
    *(
        Command(
            f"{command.name} of {ADS:,} ads ({kind.__name__})", (*command.ours, kind.__name__), 0.72, takes_files=False
        )
        for kind, _ in SETS
        for command in ON_QUEUES[:2]
    ),
)


def rows() -> Iterator[Row]:
    """Measure in turn, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for number, text in enumerate(islice(cycle(texts()), FILES)):
            (place / f"{number}.sub").write_text(text, encoding="utf-8", newline="")
        for name in ("old", "new"):
            (place / name).write_text(configuration(is_new=name == "new"))
        (place / "rules").write_text(RULES)
        (place / "routes").write_text(CONFIG)
        for kind in (ads, *(kind for kind, _ in SETS)):
            (place / ("ads" if kind is ads else kind.__name__)).write_text("\n".join(kind(ADS)))
        for command in COMMANDS:
            yield _row(command, place)


def _row(command: Command, place: Path) -> Row:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0  # before our own
    files = [f"{number}.sub" for number in range(FILES)] if command.takes_files else []
    one, two = list[Cost](), list[Cost]()
    for _ in range(_ROUNDS):
        for jobs, found in ((1, one), (2, two)):
            found.append(cost([*crondor(), *command.words, *files, "--jobs", str(jobs)], place))
    ratio = median(both.wall / alone.wall for both, alone in zip(two, one, strict=True))
    spent = median(both.seconds / alone.seconds for both, alone in zip(two, one, strict=True))
    walls = [median(each.wall for each in costs) for costs in (two, one)]
    figure = (
        f"{walls[0]:.2f} s by the clock, alone {walls[1]:.2f}: {ratio:.2f} times; of the processors {spent:.2f} times "
        f"what one takes (load {load:.1f})"
    )
    goal = f"at most {command.most:.2g} times" + (" where two cores are free: not judged" if load >= 1 else "")
    return Row(f"{command.name}, --jobs 2", figure, goal, ratio <= command.most or load >= 1)
