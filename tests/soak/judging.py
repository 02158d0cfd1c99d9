"""What was measured of a process that runs for long, and whether it stays as it is or grows.

Of each number the first third of the samples after the warm-up is compared with the last third, by their medians: a
single high value, as while a file is read, is no growth.
"""

from collections.abc import Callable, Sequence
from statistics import median
from typing import Final, NamedTuple

FEWEST: Final = 6
"""Samples after the warm-up that a verdict needs."""


class Sample(NamedTuple):
    """One process at one moment; its helpers are the processes that it has started.

    ``second`` is since the begin, ``memory`` and ``helpers`` are RSS in MiB, ``cpu`` is seconds of both so far,
    ``poll`` how long its last poll took (seconds), ``series`` how many numbers its metrics have; None: it tells none.
    """

    second: float
    memory: float
    helpers: float
    descriptors: int
    threads: int
    cpu: float
    poll: float | None = None
    series: int | None = None


class _Bound(NamedTuple):
    """How much more the last third may be than the first: a share of it, and so much in any case."""

    share: float
    more: float


_CACHES: Final = 8
"""MiB by which what is remembered up to a bound, as texts of values and read expressions, may still grow in an hour.

Smaller growth is for test_growth.py to find, which looks at each object.
"""

_BOUNDS: Final[dict[str, tuple[Callable[[Sample], float | None], str, _Bound]]] = {
    "memory": (lambda each: each.memory, "MiB", _Bound(0.05, _CACHES)),
    "memory of its helpers": (lambda each: each.helpers, "MiB", _Bound(0.05, 2)),
    "descriptors": (lambda each: each.descriptors, "", _Bound(0, 0)),
    "threads": (lambda each: each.threads, "", _Bound(0, 0)),
    "time of a poll": (lambda each: each.poll, "s", _Bound(0.25, 0.2)),
    "series of its metrics": (lambda each: each.series, "", _Bound(0.05, 10)),
}


def growth(samples: Sequence[Sample], warm_up: float) -> list[str]:
    """Return what grew after the warm-up (seconds), a sentence each. Raises ValueError for too few samples."""
    late = [each for each in samples if each.second >= warm_up]
    if len(late) < FEWEST:
        raise ValueError(f"{len(late)} samples after the warm-up are too few: {FEWEST} are needed")
    third = len(late) // 3
    found: list[str] = []
    for name, (value, unit, bound) in _BOUNDS.items():
        first, last = (_middle(value, part) for part in (late[:third], late[-third:]))
        if first is not None and last is not None and last > first + max(bound.share * first, bound.more):
            found.append(f"{name} grew from {first:.4g} to {last:.4g} {unit}".rstrip())
    return found


def _middle(value: Callable[[Sample], float | None], samples: Sequence[Sample]) -> float | None:
    known = [number for number in map(value, samples) if number is not None]
    return median(known) if known else None


def slope(samples: Sequence[Sample], warm_up: float) -> float:
    """Return by how many MiB an hour the memory of a process grew after the warm-up, by least squares."""
    late = [(each.second, each.memory) for each in samples if each.second >= warm_up]
    middle = sum(second for second, _ in late) / len(late)
    mean = sum(memory for _, memory in late) / len(late)
    spread = sum((second - middle) ** 2 for second, _ in late)
    if not spread:
        return 0.0
    return 3600 * sum((second - middle) * (memory - mean) for second, memory in late) / spread


def table(name: str, samples: Sequence[Sample]) -> list[str]:
    """Return the samples as lines of text."""
    lines = [f"{name}", "minute  memory MiB  helpers MiB  descriptors  threads  cpu s  poll s  series"]
    for each in samples:
        poll = "-" if each.poll is None else f"{each.poll:.2f}"
        series = "-" if each.series is None else f"{each.series:,}"
        lines.append(
            f"{each.second / 60:6.1f}  {each.memory:10.1f}  {each.helpers:11.1f}  {each.descriptors:11}  "
            f"{each.threads:7}  {each.cpu:5.0f}  {poll:>6}  {series:>6}"
        )
    return lines
