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
_MOST_ALONE: Final = 8  # groups of jobs
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
        return self._live(prep_times, windows, watchers, listeners, progress)[0]

    def _live(
        self,
        prep_times: Terms | None,
        windows: Terms | None,
        watchers: Sequence[Watcher] = (),
        listeners: Sequence[Listener] = (),
        progress: Progress | None = None,
    ) -> tuple[list[Outcome], bool]:
        """Return the outcomes, and whether a job had to wait for another one's slot."""
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
        return [ledger[job] for job in jobs], world.matching.negotiator.has_kept_waiting

    def enough(self, progress: Progress | None = None, groups: Sequence[Sequence[int]] | None = None) -> list[Enough]:
        """Return what would have been enough for each job; each answer was lived through.

        What the jobs' gates and matches are late by in a world with wide windows is what has to be added; a job's
        delays belong to its runs, so that they are the same each time. ``groups`` are the numbers of jobs that are
        changed together (each job alone, where nothing is said) and get one answer. Where groups compete for slots, the
        first eight that have missed anything are each changed while the others stay as they are.
        """
        ads = [ad for cluster in self.clusters for ad in cluster]
        groups = [[n] for n in range(len(ads))] if groups is None else groups
        known = [
            [n for n in group if _number(ads[n], _PREP) is not None and _number(ads[n], _WINDOW) is not None]
            for group in groups
        ]
        found, is_contended = self._enough(ads, known, progress)
        if len(groups) > 1 and is_contended:
            outcomes = self.run(progress=progress)
            troubled = [group for group in known if not all(_is_early(outcomes[n]) for n in group)]
            for group in troubled[:_MOST_ALONE]:
                alone = self._smallest(group, self._enough(ads, [group], progress)[0], progress)
                for n in group:
                    found[n] = alone
        return found

    def _smallest(self, group: Sequence[int], found: Sequence[Enough], progress: Progress | None) -> Enough:
        """Return the smallest of the numbers around what was found for a group, whose slots come and go with them."""
        prep_times, windows = [found[n].prep_time for n in group], [found[n].window for n in group]

        def is_early(seconds: int) -> bool:
            outcomes = self.run(prep_times=dict.fromkeys(group, seconds), progress=progress)
            return all(_is_early(outcomes[n]) for n in group)

        def is_in_window(seconds: int) -> bool:
            outcomes = self.run(windows=dict.fromkeys(group, seconds), progress=progress)
            return all(_is_in_window(outcomes[n]) for n in group)

        return Enough(_least(prep_times, is_early), _least(windows, is_in_window))

    def _enough(
        self, ads: Sequence[ClassAd], groups: Sequence[Sequence[int]], progress: Progress | None
    ) -> tuple[list[Enough], bool]:
        """Return what would have been enough if these jobs are changed, and the others stay as they are.

        And whether a job had to wait for another one's slot when all runs had wide windows.
        """
        numbers = [n for group in groups for n in group]
        probe, is_contended = self._live(None, dict.fromkeys(numbers, _WIDE), progress=progress)
        prep_times = self._prep_times(ads, groups, probe, progress)
        windows = self._windows(groups, probe, progress)
        return [Enough(prep_times.get(n), windows.get(n)) for n in range(len(ads))], is_contended

    def _prep_times(
        self,
        ads: Sequence[ClassAd],
        groups: Sequence[Sequence[int]],
        probe: Sequence[Outcome],
        progress: Progress | None,
    ) -> dict[int, int]:
        numbers = [n for group in groups for n in group]
        tried = {n: _number(ads[n], _PREP) or 0 for n in numbers if probe[n].planned}
        if not tried:
            return {}
        windows = {n: _number(ads[n], _WINDOW) or 0 for n in tried}
        late = {n: _needed(probe[n].ready, windows[n]) for n in tried}
        for _ in range(_TRIES):
            tried = _level({n: max(0, prep + late[n]) for n, prep in tried.items()}, groups)
            found = self.run(prep_times=tried, progress=progress)
            late = {n: 0 if _is_early(found[n]) else max(0, _needed(found[n].ready, windows[n])) for n in tried}
            if not any(late.values()):
                break
        return {n: prep for n, prep in tried.items() if _is_early(found[n])}

    def _windows(
        self, groups: Sequence[Sequence[int]], probe: Sequence[Outcome], progress: Progress | None
    ) -> dict[int, int]:
        numbers = [n for group in groups for n in group]
        tried = _level({n: _widest(probe[n]) for n in numbers if probe[n].planned}, groups)
        if not tried:
            return {}
        for _ in range(_TRIES):
            found = self.run(windows=tried, progress=progress)
            short = {n: _widest(found[n]) for n in tried if not _is_in_window(found[n])}
            if all(tried[n] >= late for n, late in short.items()):
                break
            tried = _level(tried | short, groups)
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


def _least(found: Sequence[int | None], is_enough: Callable[[int], bool]) -> int | None:
    """Return a number that is enough and whose predecessor is not, from one that is known to be enough for all."""
    known = [number for number in found if number is not None]
    if not known or len(known) < len(found):
        return None
    low, high = -1, max(known)
    if high == 0 or not is_enough(high - 1):
        return high
    high -= 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _level(tried: Mapping[int, int], groups: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return the greatest of each group's numbers for all of its jobs."""
    made = {}
    for group in groups:
        jobs = [n for n in group if n in tried]
        made.update(dict.fromkeys(jobs, max((tried[n] for n in jobs), default=0)))
    return made


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
