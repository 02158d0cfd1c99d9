"""A span of virtual time for some jobs, once or again with other windows and prep times; and which would be enough."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from crondor.classad import EvaluationFailed
from crondor.classad.ad import ClassAd
from crondor.job_queue import JobId
from crondor.world.flow.messages import Listener
from crondor.world.happenings import Watcher
from crondor.world.life import World
from crondor.world.outcome import Fate, Lateness, Ledger, Outcome
from crondor.world.settings import Settings

Progress = Callable[[int], None]
"""Called with the virtual time that was reached (epoch seconds)."""

_STEPS: Final = 20_000  # of the world between two calls of the progress
_WIDE: Final = 7 * 86400  # the window of a run that is to show how late a job would be
_TRIES: Final = 4
_OBJECTS: Final = 100_000  # made and not freed between two searches for garbage
_LATE: Final = (Fate.LATE, Fate.MISSED, Fate.MISSED_HELD, Fate.MISSED_IDLE)
_PREP: Final = "DeferralPrepTime"
_WINDOW: Final = "DeferralWindow"

Terms = Mapping[int, int]
"""Another prep time or window (seconds) for jobs, by their number."""


class Enough(NamedTuple):
    """The smallest prep time and the smallest window (seconds) that would have been enough for all runs of a job.

    Each is for the other one as it is. None: none would have been, as where the files need longer than a schedule's
    gaps, or where a job was submitted too late.
    """

    prep_time: int | None
    window: int | None


@dataclass(frozen=True)
class Simulation:
    """Jobs submitted together, cluster by cluster, from ``start`` to ``end`` (epoch seconds)."""

    settings: Settings
    clusters: Sequence[Sequence[ClassAd]]
    start: int
    end: int

    def run(
        self,
        *,
        prep_times: Terms | None = None,
        windows: Terms | None = None,
        watchers: Sequence[Watcher] = (),
        listeners: Sequence[Listener] = (),
        progress: Progress | None = None,
    ) -> list[Outcome]:
        """Live through it, and return what became of each job, in the order of the ads. Raises UnknownZone.

        ``watchers`` are told what happens, ``listeners`` which message goes from one daemon to another.
        """
        settings = self.settings
        if listeners:
            settings = replace(settings, flow=replace(settings.flow, is_kept=True))
        world = World(settings, self.start)
        if world.flow is not None:
            world.flow.listeners += listeners
        ledger = Ledger(world)
        world.watchers += watchers
        jobs: list[JobId] = []
        for ads in self.clusters:
            made = [ad.copy() for ad in ads]
            for number, ad in enumerate(made, start=len(jobs)):
                for name, terms in ((_PREP, prep_times), (_WINDOW, windows)):
                    if terms is not None and number in terms and name in ad:
                        ad.set(name, terms[number])
            jobs += world.submit(made)
        with _few_collections():
            while not world.advance(self.end, _STEPS):
                if progress is not None:
                    progress(world.now)
        ledger.close()
        return [ledger[job] for job in jobs]

    def enough(self, progress: Progress | None = None) -> list[Enough]:
        """Return what would have been enough for each job; each answer was lived through.

        What the jobs' gates and matches are late by in a world with wide windows is what has to be added; a job's
        delays belong to its runs, so that they are the same each time.
        """
        ads = [ad for cluster in self.clusters for ad in cluster]
        numbers = [n for n, ad in enumerate(ads) if _number(ad, _PREP) is not None and _number(ad, _WINDOW) is not None]
        probe = self.run(windows=dict.fromkeys(numbers, _WIDE), progress=progress)
        prep_times = self._prep_times(ads, numbers, probe, progress)
        windows = self._windows(numbers, probe, progress)
        return [Enough(prep_times.get(n), windows.get(n)) for n in range(len(ads))]

    def _prep_times(
        self, ads: Sequence[ClassAd], numbers: Sequence[int], probe: Sequence[Outcome], progress: Progress | None
    ) -> dict[int, int]:
        tried = {n: _number(ads[n], _PREP) or 0 for n in numbers if probe[n].planned}
        if not tried:
            return {}
        windows = {n: _number(ads[n], _WINDOW) or 0 for n in tried}
        late = {n: _needed(probe[n].ready, windows[n]) for n in tried}
        for _ in range(_TRIES):
            tried = {n: max(0, prep + late[n]) for n, prep in tried.items()}
            found = self.run(prep_times=tried, progress=progress)
            late = {n: 0 if _is_early(found[n]) else max(0, _needed(found[n].ready, windows[n])) for n in tried}
            if not any(late.values()):
                break
        return {n: prep for n, prep in tried.items() if _is_early(found[n])}

    def _windows(self, numbers: Sequence[int], probe: Sequence[Outcome], progress: Progress | None) -> dict[int, int]:
        tried = {n: _widest(probe[n]) for n in numbers if probe[n].planned}
        if not tried:
            return {}
        for _ in range(_TRIES):
            found = self.run(windows=tried, progress=progress)
            short = {n: _widest(found[n]) for n in tried if not _is_in_window(found[n])}
            if all(tried[n] >= late for n, late in short.items()):
                break
            tried |= short
        return {n: window for n, window in tried.items() if _is_in_window(found[n])}


@contextmanager
def _few_collections() -> Iterator[None]:
    """Look for circles of garbage less often: a run leaves none, and looking takes a quarter of the time."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _OBJECTS) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _is_early(outcome: Outcome) -> bool:
    """Say whether nothing was late or missed."""
    return not any(outcome.counts[fate] for fate in _LATE)


def _is_in_window(outcome: Outcome) -> bool:
    return not any(outcome.counts[fate] for fate in _LATE[1:])


def _needed(late: Lateness, window: int) -> int:
    """Return by how much earlier the latest run must be matched to arrive in time, and its match, which is strict."""
    arrival = 0 if late.arrival is None else late.arrival
    return arrival if late.match is None else max(arrival, late.match + 1 - window)


def _widest(outcome: Outcome) -> int:
    """Return the window that lets the latest arrival start, and the latest match be made."""
    found = [0]
    for late in (outcome.ready, outcome.unready):
        found += [late.arrival] if late.arrival is not None else []
        found += [late.match + 1] if late.match is not None else []
    return max(found)


def _number(ad: ClassAd, name: str) -> int | None:
    try:
        value = ad.value(name) if name in ad else None
    except EvaluationFailed:
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
