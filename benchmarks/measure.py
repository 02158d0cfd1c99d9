"""Times peers in turn, round by round, so that a ratio holds when the machine's speed drifts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

ROUNDS = 9
_LEAST = 0.02  # seconds a round takes at least, so that the clock's grain does not count


@dataclass(frozen=True)
class Case:
    """One thing to measure: what each peer does for it, and how many times crondor should be faster than cronsim."""

    name: str
    peers: dict[str, Callable[[], object]]
    goal: float


def measure(case: Case, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the median microseconds of each peer."""
    loops = {name: _loops(work) for name, work in case.peers.items()}
    times: dict[str, list[float]] = {name: [] for name in case.peers}
    for _ in range(rounds):
        for name, work in case.peers.items():
            times[name].append(_round(work, loops[name]) / loops[name] * 1e6)
    return {name: median(found) for name, found in times.items()}


def _loops(work: Callable[[], object]) -> int:
    """Return how often to repeat the work in a round; the first calls warm up."""
    loops = 1
    while (spent := _round(work, loops)) < _LEAST:
        loops = max(loops * 2, int(loops * _LEAST / max(spent, 1e-9)))
    return loops


def _round(work: Callable[[], object], loops: int) -> float:
    start = perf_counter()
    for _ in range(loops):
        work()
    return perf_counter() - start
