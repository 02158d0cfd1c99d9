"""Whole queues through whole commands, beside HTCondor's own programs: seconds of the processor, on ads that differ.

``CRONDOR_BENCH_CONDOR`` names the folder of an HTCondor 25.14 (its ``bin`` is in there); ``CONDOR_CONFIG`` is what its
programs read, if anything. Without it HTCondor's library stands in, which reads and prints the same ads: the programs
take known parts of that.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.routes import CONFIG
from benchmarks.transform import RULES
from benchmarks.unique_ads import expressions, texts, types

ADS = 10_000
MANY = 100_000
MOST_GROWTH = 11.0  # times as long for ten times as many ads
MOST_MEMORY = 300  # MB
_ROUNDS = 5
_COPY = """
import sys
import htcondor2
from classad2 import ParserType, parseOne
for text in open(sys.argv[1]).read().split("\\n\\n"):
    sys.stdout.write(parseOne(text, ParserType.Old).printOld() + "\\n")
"""


class Command(NamedTuple):
    """A command of crondor's, the program that does the same, and how many times its time ours may be.

    ``part`` is how many times that of the library's copying it may be where there is no such program.
    """

    name: str
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    most: float
    part: float


COMMANDS = (
    Command(
        "classad transform",
        ("classad", "transform", "--rules", "rules"),
        ("condor_transform_ads", "-rules", "rules"),
        1.6,
        0.7,
    ),
    Command(
        "route explain",
        ("route", "explain", "--summary", "--config", "routes"),
        ("condor_job_router_info", "-match-jobs", "-jobads"),
        1.0,
        0.74,
    ),
    Command(
        "route apply",
        ("route", "apply", "--config", "routes"),
        ("condor_job_router_info", "-route-jobs", "routed", "-jobads"),
        1.0,
        1.2,
    ),
)
SETS = (  # ads whose attributes change their type, and how many times the peer's time each command may take on them
    (types, (1.7, 1.1)),
    (expressions, (2.6, 1.9)),
)


class Cost(NamedTuple):
    """Seconds of the processor, the most memory in MB of any process so far, and seconds by the clock."""

    seconds: float
    memory: float
    wall: float


class Row(NamedTuple):
    """A figure with its goal."""

    name: str
    figure: str
    goal: str
    good: bool


def rows() -> Iterator[Row]:
    """Measure in turn, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "rules").write_text(RULES)
        (place / "routes").write_text(CONFIG)
        (place / "ads").write_text("\n".join(texts(ADS)))
        (place / "many").write_text("\n".join(texts(MANY)))
        for command in COMMANDS:
            yield _beside(command, place)
        for command in COMMANDS:
            yield _shared(command, place)
        for ads, limits in SETS:
            (place / "ads").write_text("\n".join(ads(ADS)))
            for command, most in zip(COMMANDS, limits, strict=False):
                allowed = command._replace(most=most, part=command.part * most / command.most)
                row = _beside(allowed, place)
                yield row._replace(name=f"{row.name} ({ads.__name__})")
        (place / "ads").write_text("\n".join(texts(ADS)))
        for command in COMMANDS:
            yield _growth(command, place)
        yield _together(COMMANDS[0], place)


class _Peer(NamedTuple):
    """What is measured beside ours: its name, how it is called and where, and how many times its time ours may be."""

    name: str
    words: tuple[str, ...]
    environ: Mapping[str, str]
    most: float


def _peer(command: Command, place: Path) -> _Peer:
    built = os.environ.get("CRONDOR_BENCH_CONDOR")
    if built is None:
        return _Peer("classad2 reading and printing", _copying(), {}, command.part)
    words = (str(Path(built) / "bin" / command.theirs[0]), *command.theirs[1:])
    return _Peer(command.theirs[0], words, _surroundings(place), command.most)


def _shared(command: Command, place: Path) -> Row:
    """Time whole seconds of two processes, of one and of the peer in turn; they tell only where two cores are free."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0  # before our own
    peer = _peer(command, place)
    part = 1.0 if "CRONDOR_BENCH_CONDOR" in os.environ else command.part / command.most
    two, one, theirs = [], [], []
    for _ in range(_ROUNDS):
        two.append(cost([*crondor(), *command.ours, "ads", "--jobs", "2"], place))
        one.append(cost([*crondor(), *command.ours, "ads", "--jobs", "1"], place))
        theirs.append(cost([*peer.words, "ads"], place, peer.environ))
    ratio = median(our.wall / their.wall for our, their in zip(two, theirs, strict=True))
    spent = median(both.seconds / alone.seconds for both, alone in zip(two, one, strict=True))
    walls = [median(each.wall for each in costs) for costs in (two, one, theirs)]
    figure = (
        f"{walls[0]:.2f} s by the clock, alone {walls[1]:.2f}, {peer.name} {walls[2]:.2f}: {ratio:.2f} times; of the "
        f"processors {spent:.2f} times what one takes (load {load:.1f})"
    )
    goal = f"at most {part:.2g} times" if load < 1 else f"at most {part:.2g} times where two cores are free: not judged"
    return Row(f"{command.name} of {ADS:,} ads, --jobs 2", figure, goal, ratio <= part or load >= 1)


def _together(command: Command, place: Path) -> Row:
    """Measure the memory of all processes together, shared pages counted once."""
    words = [*crondor(), *command.ours, "many", "--jobs", "2"]
    most = 0.0
    with (place / "out").open("wb") as out, subprocess.Popen(words, cwd=place, stdout=out) as process:
        while process.poll() is None:
            most = max(most, _memory(process.pid))
            time.sleep(0.05)
    figure = f"{most:.0f} MB in sum" if most else "not known on this system"
    return Row(f"{command.name} of {MANY:,} ads, --jobs 2", figure, f"{MOST_MEMORY} MB", most <= MOST_MEMORY)


def _memory(pid: int) -> float:
    """Return the MB that a process and its children take: of pages that several have each its part."""
    size = 0
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
        for each in (str(pid), *children):
            lines = Path(f"/proc/{each}/smaps_rollup").read_text(encoding="utf-8").splitlines()
            size += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return size / 1024


def _beside(command: Command, place: Path) -> Row:
    """Time rounds of ours and of the peer in turn."""
    what, peer, environ, most = _peer(command, place)
    ours, theirs = [], []
    for _ in range(_ROUNDS):
        ours.append(cost([*crondor(), *command.ours, "ads", "--jobs", "1"], place).seconds)
        theirs.append(cost([*peer, "ads"], place, environ).seconds)
    ratio = median(our / their for our, their in zip(ours, theirs, strict=True))
    figure = f"{median(ours):.2f} s, {what} {median(theirs):.2f} s: {ratio:.2f} times"
    return Row(f"{command.name} of {ADS:,} ads", figure, f"at most {most:g} times", ratio <= most)


def _growth(command: Command, place: Path) -> Row:
    """Compare many ads with a tenth of them; memory is that of the larger run, the largest of all so far."""
    few = median(cost([*crondor(), *command.ours, "ads", "--jobs", "1"], place).seconds for _ in range(3))
    many = cost([*crondor(), *command.ours, "many", "--jobs", "1"], place)
    times = many.seconds / few
    figure = f"{many.seconds:.1f} s, {times:.1f} times that of {ADS:,}; {many.memory:.0f} MB"
    good = times <= MOST_GROWTH and many.memory <= MOST_MEMORY
    return Row(f"{command.name} of {MANY:,} ads", figure, f"{MOST_GROWTH:g} times, {MOST_MEMORY} MB", good)


def crondor() -> tuple[str, ...]:
    """Return the words that begin a command of ours, as the installed program begins it."""
    return sys.executable, "-c", "from crondor_cli.main import script; script()"


def _copying() -> tuple[str, ...]:
    return sys.executable, "-c", _COPY


def _surroundings(place: Path) -> Mapping[str, str]:
    """Return the environment of HTCondor's programs: the configuration that is there, and the routes."""
    given = os.environ.get("CONDOR_CONFIG")
    both = (Path(given).read_text(encoding="utf-8") if given else "") + "\n" + CONFIG
    (place / "condor_config").write_text(both)
    return {"CONDOR_CONFIG": str(place / "condor_config")}


_MEASURED = """
import resource, subprocess, sys, time
begun = time.perf_counter()
with open("out", "wb") as out:
    subprocess.run(sys.argv[1:], stdout=out, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
wall = time.perf_counter() - begun
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, wall)
"""


def cost(command: Sequence[str], place: Path, environ: Mapping[str, str] | None = None, *, given: str = "") -> Cost:
    """Run a command in a folder and return what it cost; a process of its own counts that of its child alone."""
    around = {**os.environ, **(environ or {})}
    around.pop("PYTHONDONTWRITEBYTECODE", None)  # imports are compiled once, as they are for users
    line = [sys.executable, "-c", _MEASURED, *command]
    done = subprocess.run(line, cwd=place, env=around, input=given, capture_output=True, text=True, check=True)
    seconds, memory, wall = map(float, done.stdout.split())
    if not (place / "out").stat().st_size and "routed" not in command:
        raise ValueError(f"{command} printed nothing")
    return Cost(seconds, memory, wall)
